# SPDX-License-Identifier: Apache-2.0
"""``set_joint_targets``: what drives freedoms, and how hard."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simwright.scenes.document_mechanics import Mode
from simwright.scenes.document_values import Quantity
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import JointSelector


@operation
def set_joint_targets(
    context: OperationContext,
    choice: JointSelector,
    *,
    mode: Annotated[
        Mode, Field(description="none, position, velocity, position_velocity, effort, or 0 to 4")
    ] = 1,
    ke: Annotated[
        Quantity | None, Field(ge=0, description="position gain [N/m, N m/rad]; as it is, if not said")
    ] = None,
    kd: Annotated[
        Quantity | None, Field(ge=0, description="velocity gain [N s/m, N m s/rad]; as it is, if not said")
    ] = None,
) -> None:
    """Set mode and gains of drives; gains that are not said stay."""
    builder = context.builder
    if context.is_compat:
        # measured: SAP Warp always overwrites the gains
        ke, kd = ke or 0.0, kd or 0.0
    for entry in context.choose_dofs(choice, "joint_target_mode"):
        builder.joint_target_mode[entry] = mode
        if ke is not None:
            builder.joint_target_ke[entry] = ke
        if kd is not None:
            builder.joint_target_kd[entry] = kd
