# SPDX-License-Identifier: Apache-2.0
"""``set_joint_q``: generalised positions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.context import OperationContext, put_position
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import JointSelector


@operation
def set_joint_q(
    context: OperationContext,
    choice: JointSelector,
    *,
    value: Annotated[Quantity, Field(description="position [m, rad]")],
    offset: Annotated[int, Field(ge=0, description="entry within each joint")] = 0,
) -> None:
    """Set positions: one entry of each joint chosen, or the entries of an index or range."""
    joints = context.choose_joints(choice)
    if joints is not None:
        for joint in joints:
            put_position(context, None, joint, offset, value)
        return
    if not choice.has_span:
        context.fail("set_joint_q needs 'index', 'range' or a joint")
    for entry in context.choose_coords(choice):
        put_position(context, entry, None, 0, value)
