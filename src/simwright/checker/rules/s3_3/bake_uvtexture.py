# SPDX-License-Identifier: Apache-2.0
"""The universal surface is fed by UsdUVTexture and primvar readers only.

Why: noise, math and image nodes of other libraries are not read by converters.  What they make is to be baked
into an image, or into a primvar of the mesh.

Fails: a UsdPreviewSurface whose `diffuseColor` comes from `ND_noise3d_color3`, or whose image is read by
`ND_image_color3`.
Passes: UsdUVTexture, UsdPrimvarReader_* and UsdTransform2d; anything at all on `outputs:mtlx:surface`.

Fix: no.  Baking is done by a renderer or a modelling tool.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import identify_shader, read_material
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_ALLOWED = ("UsdUVTexture", "UsdTransform2d", "UsdPrimvarReader_", "UsdPreviewSurface")


@rule("bake-uvtexture", "3.3", "must", on="type:Material")
def bake_uvtexture(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every shader behind the universal surface, node graphs looked through."""
    facts = read_material(node, snapshot)
    # an image node can be replaced by UsdUVTexture, a procedural one has to be baked
    reading = {texture.shader.GetPath() for texture in facts.textures}
    for shader in facts.network:
        name = identify_shader(shader)
        if name.startswith(_ALLOWED):
            continue
        shown = name or "a shader without info:id"
        if shader.GetPath() in reading:
            message = f"an image of the surface is read by {shown}, not by UsdUVTexture"
            hint = 'read the image with info:id = "UsdUVTexture" and inputs:file'
        else:
            message = f"the surface is fed by {shown}, which converters cannot evaluate"
            hint = "bake its result into an image read by UsdUVTexture, or into a primvar of the mesh"
        yield Finding(message, hint=hint, at=snapshot.node(shader.GetPath()) or node, prop="info:id")
