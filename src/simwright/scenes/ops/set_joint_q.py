# SPDX-License-Identifier: Apache-2.0
"""``set_joint_q``: generalised positions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.bench import Bench, put_position
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import JointSelector


@operation
def set_joint_q(
    bench: Bench,
    choice: JointSelector,
    *,
    value: Annotated[Quantity, Field(description="position [m, rad]")],
    offset: Annotated[int, Field(ge=0, description="entry within each joint")] = 0,
) -> None:
    """Set positions: one entry of each joint chosen, or the entries of an index or range."""
    joints = bench.choose_joints(choice)
    if joints is not None:
        for joint in joints:
            put_position(bench, None, joint, offset, value)
        return
    if not choice.has_span:
        bench.fail("set_joint_q needs 'index', 'range' or a joint")
    for entry in bench.choose_coords(choice):
        put_position(bench, entry, None, 0, value)
