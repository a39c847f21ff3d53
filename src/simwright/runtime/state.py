# SPDX-License-Identifier: Apache-2.0
"""What changes while a model moves: state and control.

Poses are position and quaternion x, y, z, w.  Velocities of bodies are linear, of the centre of mass, then angular,
both along the axes of the world; so are those of free and distance joints, along the axes of their parent frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Self, cast

import numpy as np

from simwright.runtime.arrays import AnyArray, Floats, array, describe_arrays


class Cloning:
    """Copies of objects whose arrays are their own."""

    custom: dict[str, AnyArray]

    def clone(self) -> Self:
        """A copy that shares nothing."""
        # field by field: dataclasses.replace would share the arrays
        arrays = {name: getattr(self, name).copy() for name in describe_arrays(type(self))}
        custom = {name: values.copy() for name, values in self.custom.items()}
        return cast("Self", cast("Any", type(self))(**arrays, custom=custom))

    def assign(self, other: Self) -> None:
        """Take over the values of another one, in place."""
        for name in describe_arrays(type(self)):
            # in place: views of Warp stay valid
            np.copyto(getattr(self, name), getattr(other, name))
        for name, values in self.custom.items():
            np.copyto(values, other.custom[name])


@dataclass(slots=True, eq=False, kw_only=True)
class State(Cloning):
    """Positions, velocities and external forces.  ``custom`` has the custom arrays that are assigned to the state."""

    joint_q: Annotated[
        Floats,
        array(
            "joint_coord", "generalised positions, joint by joint; quaternions x, y, z, w", unit="m | rad | 1"
        ),
    ]
    joint_qd: Annotated[
        Floats, array("joint_dof", "generalised velocities; free joints linear first", unit="m/s | rad/s")
    ]
    body_q: Annotated[
        Floats, array("body", "pose in the world: position, quaternion x, y, z, w", unit="m, 1", row=(7,))
    ]
    body_qd: Annotated[
        Floats,
        array("body", "velocity: linear of the centre of mass, then angular", unit="m/s, rad/s", row=(6,)),
    ]
    body_f: Annotated[
        Floats,
        array("body", "external wrench at the centre of mass: force, then torque", unit="N, N m", row=(6,)),
    ]
    custom: dict[str, AnyArray] = field(default_factory=dict)

    def clear_forces(self) -> None:
        """Set external forces on bodies to zero."""
        self.body_f.fill(0.0)


@dataclass(slots=True, eq=False, kw_only=True)
class Control(Cloning):
    """What is asked of joints.  ``custom`` has the custom arrays that are assigned to the control."""

    joint_f: Annotated[Floats, array("joint_dof", "generalised force applied directly", unit="N | N m")]
    joint_target_pos: Annotated[Floats, array("joint_dof", "position targets of drives", unit="m | rad")]
    joint_target_vel: Annotated[Floats, array("joint_dof", "velocity targets of drives", unit="m/s | rad/s")]
    joint_act: Annotated[
        Floats, array("joint_dof", "feed-forward force added to that of drives", unit="N | N m")
    ]
    custom: dict[str, AnyArray] = field(default_factory=dict)

    def clear(self) -> None:
        """Set direct forces and all targets to zero."""
        for values in (self.joint_f, self.joint_target_pos, self.joint_target_vel, self.joint_act):
            values.fill(0.0)
