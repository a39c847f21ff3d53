# SPDX-License-Identifier: Apache-2.0
"""``set_joint_armature``: inertia added to freedoms."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import JointSelector


@operation
def set_joint_armature(
    context: OperationContext,
    choice: JointSelector,
    *,
    value: Annotated[Quantity, Field(ge=0, description="armature [kg, kg m^2]")],
) -> None:
    """Set the armature of degrees of freedom: inertia added to their diagonal."""
    builder = context.builder
    if context.is_compat:  # SAP Warp looks at the range only
        entries = list(context.cut_span(choice.span, len(builder.joint_armature), "joint_armature"))
    else:
        entries = context.choose_dofs(choice, "joint_armature")
    for entry in entries:
        builder.joint_armature[entry] = value
