# SPDX-License-Identifier: Apache-2.0
"""Colour, normal and ORM maps are not EXR, TIFF, HDR or another production format.

Why: these formats have no way to glTF and are many times larger than the PNG that shows the same.

Fails: an OpenEXR that feeds `normal`, a TIFF that feeds `diffuseColor`, also when called `albedo.png`.
Passes: PNG or JPEG there; an .hdr on a DomeLight.

Fix: unsafe.  TIFF and the like are converted, dropping bits.  What is brighter than 1 needs somebody to choose an
exposure; OpenEXR has to be exported from its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import PRODUCTION, read_image
from simwright.checker.rule import Finding, rule

_ROLES = ("diffuseColor", "normal", "occlusion", "roughness", "metallic")


@rule(
    "tex-prohibited", "3.2", "must not", on="stage", fix="unsafe", fix_title="convert the file to 8-bit PNG"
)
def tex_prohibited(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Other uses of such files are reported by tex-png-jpeg."""
    for texture in list_textures(snapshot):
        named = [role for role in _ROLES if role in texture.roles]
        if not named:
            continue
        image = read_image(texture.path, texture.resolved, snapshot)
        if image.format in PRODUCTION:
            # a renamed TIFF is the reason why a file works in one tool only
            inside = " inside" if image.extension_lies else ""
            yield Finding(
                f"the texture {texture.path} is {image.name}{inside} and feeds {named[0]}",
                hint="convert it to an 8-bit PNG and name that",
                at=snapshot.node(texture.shader.GetPath()),
                prop=texture.prop,
                data={"format": image.format},
            )
