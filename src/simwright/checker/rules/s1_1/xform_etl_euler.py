# SPDX-License-Identifier: Apache-2.0
"""Rotations are quaternions (xformOp:orient); no Euler angles are left.

Why: Euler angles need an order, a unit and a convention, and converters get one of the three wrong.  URDF has
radians, OpenUSD degrees.  A quaternion has none of these questions and is what ROS messages hold.

Fails: `float3 xformOp:rotateXYZ = (0, 90, 0)` on a link (error), on a mesh, light or camera (warning).
Passes: `quatf xformOp:orient`; any of the rotate ops in a source asset (`asset-state = "source"`).

Fix: safe: the same rotation is written as orient.  Unsafe for animated angles: between two samples angles and
quaternions are interpolated differently.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinematics import list_kinematic
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import XformOp, list_local, list_values, read_transforms
from simwright.checker.facts.wording import show_numbers, show_value
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule(
    "xform-etl-euler",
    "1.1",
    "must",
    on="stage",
    fix="safe",
    fix_title="write the rotation as orient",
)
def xform_etl_euler(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every prim with a rotate op; one finding per prim."""
    if snapshot.settings.asset_state == "source":
        return
    ops: dict[int, tuple[PrimNode, list[XformOp]]] = {}
    for node, op in read_transforms(snapshot).eulers:
        ops.setdefault(id(node), (node, []))[1].append(op)
    # gathering them walks the ancestors of all bodies: only where something is found
    kinematic = list_kinematic(snapshot) if ops else {}
    for key, (node, found) in ops.items():
        yield _make_finding(node, found, snapshot, kinematic=key in kinematic)


def _make_finding(node: PrimNode, ops: list[XformOp], snapshot: StageSnapshot, *, kinematic: bool) -> Finding:
    local = list_local(node, snapshot)
    animated = len(local) > 1
    parts = []
    for op in dict.fromkeys(ops):
        values = list_values(node, op)
        parts.append(f"{op.name} = {show_value(values[0])}" if values else op.name)
    hint = f"write xformOp:orient = {show_numbers(local[0].pose.q)} instead"
    return Finding(
        f"{', '.join(parts)} [deg]: Euler angles, not a quaternion",
        hint=f"{hint}, and the same for every time sample" if animated else hint,
        at=node,
        prop=ops[0].name,
        level=None if kinematic else Level.WARNING,
        # angles are interpolated one by one, quaternions on the great circle: the motion between samples
        # differs
        fix=Fixable.UNSAFE if animated else None,
    )
