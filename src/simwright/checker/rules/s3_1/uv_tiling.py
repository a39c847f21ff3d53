# SPDX-License-Identifier: Apache-2.0
"""A texture that tiles beyond [0, 1] has the wrap mode repeat, not mirror.

Why: repeat is the one tiling mode REP-0158 names.  Mirrored tiling exists in glTF, but not in every simulator.

Fails: coordinates up to 4 with `wrapS = "mirror"`.
Passes: the same with `wrapS = "repeat"` and `wrapT = "repeat"`; any wrap mode inside [0, 1].

Reading: clamping or missing modes outside [0, 1] are reported by uv-atlas, as an error.

Fix: unsafe.  Setting repeat is right only if the image's borders match.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.texcoords import list_uses
from simwright.checker.rule import Finding, rule


@rule("uv-tiling", "3.1", "may", on="stage", fix="unsafe", fix_title="set the wrap modes to repeat")
def uv_tiling(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Once per texture: the wrap mode is the texture's, whoever wears it."""
    seen: set[str] = set()
    for use in list_uses(snapshot):
        mirrored = [axis for axis, wrap in use.outside if wrap == "mirror"]
        path = use.texture.shader.GetPath().pathString
        # the wrap mode is set on the shader, which many meshes share
        if not mirrored or path in seen:
            continue
        seen.add(path)
        name = "wrapS" if mirrored[0] == "u" else "wrapT"
        yield Finding(
            f"the texture tiles over {use.look.mesh.path} ({use.describe()}) with {name} = mirror",
            hint=f'set inputs:{name} = "repeat" with an image whose borders match',
            at=snapshot.node(path),
            prop=f"inputs:{name}",
        )
