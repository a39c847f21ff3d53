# SPDX-License-Identifier: Apache-2.0
"""Unique texture coordinates lie within [0, 1].

Why: outside [0, 1] a texture that does not repeat shows its border, and an atlas shows the wrong part.

Fails: coordinates up to 2 with `wrapS = "clamp"`, or with no wrap mode authored.
Passes: coordinates in [0, 1]; or any coordinates where both axes have `repeat`.  Only coordinates that a texture of
the universal surface reads are checked, as its primvar reader names them and after any UsdTransform2d.

Reading: `useMetadata`, the fallback, is not a repeat mode: PNG and JPEG carry no such metadata.  Mirrored tiling is
reported by uv-tiling.

Fix: no.  Coordinates are repacked by a modelling tool.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.texcoords import list_uses
from simwright.checker.rule import Finding, rule


@rule("uv-atlas", "3.1", "must", on="stage")
def uv_atlas(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Once per mesh and primvar."""
    seen: set[tuple[str, str]] = set()
    for use in list_uses(snapshot):
        # mirror tiles as well, and is reported by uv-tiling
        outside = [(axis, wrap) for axis, wrap in use.outside if wrap not in ("repeat", "mirror")]
        key = (use.look.mesh.path, use.texture.primvar)
        if not outside or key in seen:
            continue
        seen.add(key)
        axis, wrap = outside[0]
        name = "wrapS" if axis == "u" else "wrapT"
        said = f"{name} is {wrap}" if wrap != "useMetadata" else f"{name} is not said"
        yield Finding(
            f"texture coordinates {use.texture.primvar!r} leave [0, 1] ({use.describe()}) and {said} on"
            f" {use.texture.shader.GetPath()}",
            hint=f'pack the coordinates into [0, 1]; if the texture is meant to tile, set {name} = "repeat"',
            at=use.look.mesh,
            prop=f"primvars:{use.texture.primvar}",
        )
