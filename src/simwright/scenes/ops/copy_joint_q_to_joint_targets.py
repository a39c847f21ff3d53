# SPDX-License-Identifier: Apache-2.0
"""``copy_joint_q_to_joint_targets``: drives hold what is there now."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simwright.runtime.kinds import JointType
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import JointSelector

_QUATERNION_AT = {JointType.BALL: 0, JointType.FREE: 3, JointType.DISTANCE: 3}


@operation
def copy_joint_q_to_joint_targets(context: OperationContext, choice: JointSelector) -> None:
    """Make the current positions of joints their targets; of all joints, if none are chosen.

    A quaternion becomes the rotation vector that turns there.
    """
    builder = context.builder
    joints = context.choose_joints(choice)
    if joints is None:
        if context.is_compat:
            context.fail("copy_joint_q_to_joint_targets needs a joint selector")
        chosen = set(context.choose_dofs(choice, "joint_target_pos"))
        joints = [
            joint for joint in range(builder.joint_count) if chosen.intersection(builder.dofs_of(joint))
        ]
    for joint in joints:
        positions = [builder.joint_q[entry] for entry in builder.coords_of(joint)]
        start = _QUATERNION_AT.get(JointType(builder.joint_type[joint]))
        if start is not None and not context.is_compat:
            positions = [*positions[:start], *turn_to_vector(positions[start:])]
        # measured: SAP Warp copies the first numbers of the quaternion, for which there is room
        for entry, position in zip(builder.dofs_of(joint), positions, strict=False):
            builder.joint_target_pos[entry] = position


def turn_to_vector(quaternion: Sequence[float]) -> tuple[float, float, float]:
    """The rotation vector [rad] of a quaternion x, y, z, w, by the shorter way."""
    x, y, z, w = quaternion
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-12:
        return 0.0, 0.0, 0.0
    # q and -q are the same turn: the one of at most half a turn is meant
    sign = -1.0 if w < 0 else 1.0
    factor = 2.0 * math.atan2(length, abs(w)) / length * sign
    return x * factor, y * factor, z * factor
