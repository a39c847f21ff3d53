# SPDX-License-Identifier: Apache-2.0
"""A PointInstancer scatters leaf geometry with arrays that fit together.

Why: converters turn it into one GPU-instanced mesh.  A prototype of many parts, or arrays of different lengths, cannot
be turned into that, and renderers drop the whole instancer.

Fails: `protoIndices` and `positions` of different lengths; an index beyond the prototypes; a prototype with several
meshes, or none.
Passes: one mesh per prototype, `positions`, `orientations`, `scales` as long as `protoIndices`.

Fix: no.  Only the author knows which array is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pxr import Usd, UsdGeom

from simwright.checker.facts.meshes import as_ints
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_ARRAYS = ("positions", "orientations", "orientationsf", "scales", "ids")


@rule("inst-point", "3.5", "may", on="type:PointInstancer")
def inst_point(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Arrays, then indices, then prototypes."""
    targets = node.targets("prototypes")
    if not targets:
        yield Finding(
            "the PointInstancer has no prototypes",
            hint="write rel prototypes = [<mesh>] with the meshes to scatter",
            at=node,
            prop="prototypes",
        )
        return
    chosen = as_ints(node.value("protoIndices"))
    for name in _ARRAYS:
        length = _length(node.value(name))
        # the optional arrays may be absent, positions may not
        if length != len(chosen) and (length or name == "positions"):
            yield Finding(
                f"{name} has {length} entries, protoIndices has {len(chosen)}",
                hint="give both arrays one entry per copy",
                at=node,
                prop=name,
            )
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(targets)):
        worst = int(chosen.min()) if chosen.min() < 0 else int(chosen.max())
        yield Finding(
            f"protoIndices holds {worst}, but there are {len(targets)} prototypes",
            hint="indices count from 0 to the number of prototypes less one",
            at=node,
            prop="protoIndices",
        )
    for target in targets:
        found = _judge_prototype(snapshot.stage.GetPrimAtPath(target))
        if found:
            yield Finding(
                f"the prototype {target} {found}",
                hint="scatter single meshes; instance larger parts with instanceable = true",
                at=node,
                prop="prototypes",
            )


def _length(value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        return 0


def _judge_prototype(prim: Usd.Prim) -> str:
    if not prim:
        return "does not exist"
    below = [*Usd.PrimRange(prim, Usd.TraverseInstanceProxies(Usd.PrimAllPrimsPredicate))]
    if any(child.IsA(UsdGeom.PointInstancer) for child in below):
        return "holds another PointInstancer"
    shapes = sum(1 for child in below if child.IsA(UsdGeom.Gprim))
    if shapes == 1:
        return ""
    return f"holds {shapes} shapes, not one" if shapes else "holds no geometry"
