# SPDX-License-Identifier: Apache-2.0
"""Matrices of the CAD source are converted to translate and orient.

Why: what a matrix means decides how it must be converted.  A pose becomes translate and orient as it is; a
scale has to move to the leaf geometry; a mirror cannot become a quaternion at all, and a converter that tries
gets a turned part instead of a mirrored one.

Fails: a matrix that holds a scale, a shear or a mirror (each is named); poses left as matrices (one finding
for all of them, since xform-no-matrix names each).
Passes: an asset without xformOp:transform.

Fix: as for xform-no-matrix; none for mirrors and shear above leaf geometry.
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
    "xform-etl-matrix",
    "1.1",
    "must",
    on="stage",
    fix="safe",
    fix_title="take the matrix apart into translate and orient",
)
def xform_etl_matrix(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Sort the matrices by what they hold."""
    seen: set[int] = set()
    poses: list[tuple[PrimNode, XformOp]] = []
    for node, op in read_transforms(snapshot).matrices:
        if id(node) in seen:
            continue
        seen.add(id(node))
        found = _judge(node, op, snapshot)
        if found is None:
            poses.append((node, op))
        else:
            yield found
    if poses:
        node, op = poses[0]
        many = (
            f"{len(poses)} matrices are poses that were"
            if len(poses) > 1
            else "the matrix is a pose that was"
        )
        yield Finding(
            f"{many} not converted to translate and orient",
            hint="let the converter write translate and orient; the values are in the findings of xform-no-matrix",
            at=node,
            prop=op.name,
            data={"count": len(poses)},
        )


def _judge(node: PrimNode, op: XformOp, snapshot: StageSnapshot) -> Finding | None:
    """A finding for a matrix that is more than a pose."""
    local = list_local(node, snapshot)
    # at any time sample: an animated matrix may be rigid at the default time
    odd = next((found for found in local if not found.is_rigid), None)
    if odd is None:
        return None
    leaf = is_leaf_geometry(node, snapshot)
    if odd.sheared:
        what, hint, grade = "shears", "apply the matrix to the points", Fixable.NO
    elif odd.mirrored:
        what = "mirrors, which no quaternion can express"
        hint = "apply the mirror to the points and turn the faces' winding; keep the pose as translate and orient"
        grade = Fixable.UNSAFE if leaf else Fixable.NO
    else:
        what = f"hides a scale of {show_numbers(odd.scale)}"
        hint = "write translate and orient, and put the scale on the leaf geometry"
        # with samples a decomposition per sample interpolates differently
        grade = Fixable.SAFE if leaf and len(local) == 1 else Fixable.UNSAFE
    return Finding(f"the matrix {op.name} {what}", hint=hint, at=node, prop=op.name, fix=grade)
