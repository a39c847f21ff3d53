# SPDX-License-Identifier: Apache-2.0
"""Normal, metallic, roughness and occlusion maps are PNG, not JPEG.

Why: these maps are numbers, not pictures.  JPEG artefacts bend normals and make metal flicker.

Fails: a JPEG whose texture node feeds `inputs:normal` of the surface, whatever the file is called.
Passes: PNG there; a JPEG that feeds `diffuseColor` only, also one called `platform_albedo.jpg`.

Reading: the role is the input of the surface that the texture feeds.  Opacity, displacement and clearcoat maps
are data too, but the REP does not list them: a warning.

Fix: unsafe.  The file is converted to PNG, which keeps its damage; better is to export the map again from its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import read_image
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_DATA = ("normal", "metallic", "roughness", "occlusion")
_ALSO = ("opacity", "displacement", "clearcoat", "clearcoatRoughness", "ior")


@rule(
    "tex-data-png",
    "3.2",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="convert the map to PNG",
)
def tex_data_png(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Reading the alpha of a JPEG is reported by tex-color-jpeg."""
    for texture in list_textures(snapshot):
        # the alpha of a JPEG is always 1: that finding says more
        roles = {role for role, output in texture.feeds if (role, output) != ("opacity", "a")}
        named = [role for role in (*_DATA, *_ALSO) if role in roles]
        if not named or read_image(texture.path, texture.resolved, snapshot).format != "jpeg":
            continue
        yield Finding(
            f"the texture {texture.path} is a JPEG and feeds {' and '.join(named)}",
            hint="export the map losslessly as PNG",
            at=snapshot.node(texture.shader.GetPath()),
            prop=texture.prop,
            level=None if named[0] in _DATA else Level.WARNING,
        )
