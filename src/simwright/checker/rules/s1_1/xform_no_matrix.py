# SPDX-License-Identifier: Apache-2.0
"""No prim has a baked 4x4 matrix (xformOp:transform).

Why: a matrix hides scale, shear and mirroring behind sixteen numbers, and every simulator has to take it apart
at run time, each in its own way.

Fails: `xformOpOrder = ["xformOp:transform"]` on any prim: links, meshes, cameras, lights.
Passes: translate and orient (and scale on leaf geometry); a matrix attribute that xformOpOrder does not name,
because it has no effect.

Fix: safe where the matrix is a pose, or a pose and scale on leaf geometry; unsafe where it is animated or
scales what is below; none for shear, which no stack of translate, orient and scale can say.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinematics import is_leaf_geometry
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import XformOp, list_local, read_transforms
from simwright.checker.facts.wording import show_numbers
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable


@rule(
    "xform-no-matrix",
    "1.1",
    "must not",
    on="stage",
    fix="safe",
    fix_title="take the matrix apart into translate and orient",
)
def xform_no_matrix(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every matrix that is in use; one finding per prim."""
    seen: set[int] = set()
    for node, op in read_transforms(snapshot).matrices:
        if id(node) not in seen:
            seen.add(id(node))
            yield _make_finding(node, op, snapshot)


def _make_finding(node: PrimNode, op: XformOp, snapshot: StageSnapshot) -> Finding:
    local = list_local(node, snapshot)
    first = local[0]
    animated = len(local) > 1
    # no stack of translate, orient and scale can express shear, so there is nothing to write instead
    if any(found.sheared for found in local):
        hint = "the matrix shears: apply it to the points, or replace it by a pose"
        grade: Fixable | None = Fixable.NO
    else:
        hint = f"write translate = {show_numbers(first.pose.p)} and orient = {show_numbers(first.pose.q)}"
        rigid = all(found.is_rigid for found in local)
        if not rigid:
            hint += f", and scale = {show_numbers(first.scale)} on the leaf geometry"
        if animated:
            hint += ", and the same for every time sample"
        grade = None if not animated and (rigid or is_leaf_geometry(node, snapshot)) else Fixable.UNSAFE
    kind = "an animated" if animated else "a baked"
    return Finding(
        f"{op.name} is {kind} 4x4 matrix",
        hint=hint,
        at=node,
        prop=op.name,
        fix=grade,
    )
