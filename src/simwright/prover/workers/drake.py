# SPDX-License-Identifier: Apache-2.0
"""Drake: what its URDF parser makes of a file.

The plant is discrete with the SAP solver, because only there a mimic joint is coupled to the joint it follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant

from .seen import (
    WORLD,
    Configuration,
    Evaluated,
    Seen,
    SeenFreedom,
    bound,
    find_position,
    find_speed,
    name_of,
    pack_inertia,
    serve,
)

_KINDS = {"revolute": "hinge", "prismatic": "slide"}
_STEP = 0.001


class DrakeRobot:
    """A finalized plant that is asked."""

    def __init__(self, plant: Any, instance: Any) -> None:
        self.plant = plant
        self.context = plant.CreateDefaultContext()
        self.engine = f"Drake {version('drake')}"
        self.bodies = [plant.get_body(index) for index in plant.GetBodyIndices(instance)]
        self.joints = [plant.get_joint(index) for index in plant.GetJointIndices()]

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        plant, seen = self.plant, Seen(self.engine)
        for body in self.bodies:
            name, mass = name_of(body.name()), float(body.default_mass())
            if name == WORLD:
                continue
            seen.masses[name] = mass
            if mass > 0.0:
                whole = body.CalcSpatialInertiaInBodyFrame(self.context)
                about = whole.Shift(whole.get_com())
                tensor = about.CalcRotationalInertia().CopyToFullMatrix3()
                seen.inertias[name] = pack_inertia(whole.get_com(), tensor)
            if body.is_floating_base_body():
                seen.floating.append(name)
        rows: list[SeenFreedom | None] = [None] * plant.num_velocities()
        for joint in self.joints:
            width, start = joint.num_velocities(), joint.velocity_start()
            for number in range(width):
                rows[start + number] = _describe_freedom(joint, number, width)
        seen.freedoms = [row for row in rows if row is not None]
        seen.blank = {
            "friction": "Drake 1.51 has no joint friction",
            "mimics": "Drake 1.51 does not tell its couplers in Python",
        }
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """What does."""
        plant, context = self.plant, self.context
        plant.SetPositions(context, plant.GetDefaultPositions())
        plant.SetVelocities(context, np.zeros(plant.num_velocities()))
        for body in self.bodies:
            pose = configuration.get("roots", {}).get(name_of(body.name()))
            if body.is_floating_base_body() and pose is not None:
                turn = np.array(pose[3:]) / np.linalg.norm(pose[3:])
                plant.SetFreeBodyPose(context, body, RigidTransform(Quaternion(turn), np.array(pose[:3])))
        positions, speeds = plant.GetPositions(context), plant.GetVelocities(context)
        for joint in self.joints:
            if joint.type_name() in _KINDS:
                names = name_of(joint.name()), name_of(joint.child_body().name())
                positions[joint.position_start()] = find_position(configuration, *names)
                speeds[joint.velocity_start()] = find_speed(configuration, *names)
        plant.SetPositions(context, positions)
        plant.SetVelocities(context, speeds)
        poses = {}
        for body in self.bodies:
            place = plant.EvalBodyPoseInWorld(context, body)
            turn = place.rotation().ToQuaternion().wxyz()
            poses[name_of(body.name())] = [*map(float, place.translation()), *map(float, turn)]
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        return Evaluated(poses, plant.CalcMassMatrix(context).tolist(), bias.tolist())


def open_file(file: Path, gravity: Sequence[float]) -> DrakeRobot:
    """Parse and finalize; a root link called ``world`` is the world."""
    plant = MultibodyPlant(_STEP)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    (instance,) = Parser(plant).AddModels(str(file))
    plant.mutable_gravity_field().set_gravity_vector(np.array(gravity))
    plant.Finalize()
    return DrakeRobot(plant, instance)


def _describe_freedom(joint: Any, number: int, width: int) -> SeenFreedom:
    kind = _KINDS.get(joint.type_name()) or ("free" if width == 6 else "ball" if width == 3 else "axis")
    damping = joint.default_damping_vector()
    freedom = SeenFreedom(
        name_of(joint.name()),
        name_of(joint.child_body().name()),
        kind,
        # of a joint that floats, the first three are those of turning
        passive_damping=float(damping[number]) if len(damping) == width else 0.0,
    )
    if kind in ("hinge", "slide"):
        freedom.limit = (bound(joint.position_lower_limit()), bound(joint.position_upper_limit()))
    return freedom


if __name__ == "__main__":
    serve(open_file)
