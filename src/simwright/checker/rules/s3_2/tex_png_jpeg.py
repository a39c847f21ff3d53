# SPDX-License-Identifier: Apache-2.0
"""Textures of materials are 8-bit PNG or JPEG files.

Why: these are what OpenUSD, glTF and light viewers all read.  A 16-bit PNG, a TGA or a WebP shows in one tool
and is black in the next.

Fails: `inputs:file = @albedo.tga@`; a PNG of 16 bits per channel; `albedo.png` that is a WebP inside.
Passes: 8-bit PNG (grey, colour, palette, with alpha or without) and 8-bit JPEG, whatever their extension.

Reading: the bytes decide, not the extension; a file that cannot be found is judged by its extension only (that it is
missing is reported by another rule).  KTX2, and production formats for colour, normal and ORM maps, are reported by
other rules.  Textures that only a renderer's own terminal uses are a warning.

Fix: unsafe.  Files are converted; 16 bits lose precision.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.shading import ShaderTexture, list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.textures import CONTAINERS, PRODUCTION, ImageFile, read_image
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_OWN_RULE = {"diffuseColor", "normal", "occlusion", "roughness", "metallic"}
"""Uses for which tex-prohibited reports production formats."""


@rule(
    "tex-png-jpeg",
    "3.2",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="convert the file to 8-bit PNG",
)
def tex_png_jpeg(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every texture of every material, once."""
    for texture in list_textures(snapshot):
        if "<" in texture.path:  # a tile set is reported by tex-no-udim
            continue
        image = read_image(texture.path, texture.resolved, snapshot)
        found, level = _judge(image, texture)
        if found:
            yield Finding(
                found,
                hint="convert it to an 8-bit PNG (or, for colour without alpha, JPEG) and name that",
                at=snapshot.node(texture.shader.GetPath()),
                prop=texture.prop,
                level=level,
                data={"format": image.format, "bits": image.bits},
            )


def _judge(image: ImageFile, texture: ShaderTexture) -> tuple[str, Level | None]:
    level = None if texture.is_universal else Level.WARNING
    if image.format in ("png", "jpeg"):
        # 0: the file is not there to be opened
        if image.bits in (0, 8):
            return "", None
        # fewer bits load everywhere, they only look banded
        milder = Level.WARNING if image.bits < 8 else level
        return (
            f"the texture {texture.path} is a {image.name} with {image.bits} bits per channel, not 8",
            milder,
        )
    if image.format in CONTAINERS or (image.format in PRODUCTION and texture.roles & _OWN_RULE):
        return "", None
    if image.format == "unknown" and not (image.found and texture.is_universal):
        return "", None
    inside = " inside" if image.extension_lies else ""
    return f"the texture {texture.path} is {image.name}{inside}, not PNG or JPEG", level
