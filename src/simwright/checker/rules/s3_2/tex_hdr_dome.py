# SPDX-License-Identifier: Apache-2.0
"""High dynamic range images are .hdr files on dome lights.

Why: an environment map needs the range, and Radiance .hdr is what simulators read for it.  EXR is read by few,
and .hdr anywhere else by fewer.

Fails: `asset inputs:texture:file = @sky.exr@` on a DomeLight; an .hdr on a RectLight.
Passes: an .hdr, PNG or JPEG on a DomeLight.

Reading: ".hdr is permitted only for dome lights" makes it an error elsewhere, and another format of high dynamic
range on a dome light too; a picture without that range, such as TGA, is an info.  The texture of a light is an
attribute of the light, not a shader.  An .hdr in a material is reported by tex-prohibited or tex-png-jpeg.

Fix: unsafe.  Pictures of 8 bits are converted to PNG; OpenEXR has to be converted to .hdr by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.textures import PRODUCTION, read_image
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_DOME = frozenset({"hdr", "png", "jpeg"})
_PROP = "inputs:texture:file"


@rule(
    "tex-hdr-dome",
    "3.2",
    "must not",
    on=("type:DomeLight", "type:DomeLight_1", "type:RectLight"),
    fix="unsafe",
    fix_title="convert the environment map to .hdr",
)
def tex_hdr_dome(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the file's bytes; by its extension where there is no file."""
    value = node.authored(_PROP)
    if not isinstance(value, Sdf.AssetPath) or not value.path:
        return
    image = read_image(value.path, value.resolvedPath, snapshot)
    if node.type == "RectLight":
        if image.format == "hdr":
            yield Finding(
                f"the RectLight shows {value.path}: an .hdr file is for a dome light only",
                hint="use a PNG or JPEG here, or a DomeLight",
                at=node,
                prop=_PROP,
            )
        return
    # the unknown extension of a file that is not there proves nothing
    if image.format not in _DOME and (image.format != "unknown" or image.found):
        yield Finding(
            f"the environment map {value.path} is {image.name}",
            hint="convert it to Radiance .hdr",
            at=node,
            prop=_PROP,
            # the section forbids high dynamic range in other files; of pictures without it there it says nothing
            level=None if image.format in PRODUCTION else Level.INFO,
        )
