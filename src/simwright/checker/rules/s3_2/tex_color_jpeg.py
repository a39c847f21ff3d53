# SPDX-License-Identifier: Apache-2.0
"""No material reads the alpha of a JPEG.

Why: JPEG has no alpha channel.  What is read as alpha is 1 everywhere, so that the cut-out or glass that was
meant is opaque.

Fails: `inputs:opacity.connect = <.../albedo.outputs:a>` where the file is a JPEG.
Passes: a JPEG read through `outputs:rgb` only; a PNG with alpha read through `outputs:a`.

Fix: unsafe.  The file is converted to a PNG whose alpha is 1, as it is read now; the alpha that was meant has to be
exported from the source.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import read_image
from simwright.checker.rule import Finding, rule


@rule("tex-color-jpeg", "3.2", "may", on="stage", fix="unsafe", fix_title="name a PNG with an alpha channel")
def tex_color_jpeg(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only where the alpha is connected."""
    for texture in list_textures(snapshot):
        # UsdUVTexture gives 1 for an alpha that the image does not have
        readers = [role for role, output in texture.feeds if output == "a"]
        if readers and read_image(texture.path, texture.resolved, snapshot).format == "jpeg":
            yield Finding(
                f"{readers[0]} reads the alpha of {texture.path}, a JPEG, which has none",
                hint="use a PNG with an alpha channel, or take the connection to outputs:a away",
                at=snapshot.node(texture.shader.GetPath()),
                prop=texture.prop,
            )
