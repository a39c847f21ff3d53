# SPDX-License-Identifier: Apache-2.0
"""No KTX2 texture is named in the asset.

Why: standard OpenUSD has no reader for KTX, KTX2 or Basis files.  They are made from PNG and JPEG when glTF is
exported.

Fails: `inputs:file = @albedo.ktx2@`, in any layer and any variant; `albedo.png` that is KTX2 inside.
Passes: PNG or JPEG in OpenUSD, KTX2 in the glTF file made from it.

Fix: unsafe.  A PNG or JPEG of the same name that is beside it is named instead; else the source has to be exported.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import CONTAINERS, extension_of, read_image
from simwright.checker.rule import Finding, rule

_HINT = "name the PNG or JPEG it was made from; KTX2 belongs into the exported glTF"


@rule("tex-ktx2", "3.2", "must not", on="stage", fix="unsafe", fix_title="name the source PNG or JPEG")
def tex_ktx2(snapshot: StageSnapshot) -> Iterator[Finding]:
    """By name in every layer; by content for the textures of materials."""
    for facts in snapshot.layers:
        for asset in facts.asset_paths:
            if extension_of(asset.text) in CONTAINERS:
                found, data = f"{asset.text} is a KTX texture", {"path": asset.text}
                yield Finding(found, hint=_HINT, at=asset.path, layer=facts.layer, data=data)
    for texture in list_textures(snapshot):
        # told by its name already, in the loop above
        if extension_of(texture.path) in CONTAINERS:
            continue
        image = read_image(texture.path, texture.resolved, snapshot)
        if image.format in CONTAINERS:
            yield Finding(
                f"the texture {texture.path} is {image.name} inside",
                hint=_HINT,
                at=snapshot.node(texture.shader.GetPath()),
                prop=texture.prop,
                data={"path": texture.path},
            )
