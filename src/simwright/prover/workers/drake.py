# SPDX-License-Identifier: Apache-2.0
"""Drake: what its URDF parser makes of a file.

The plant is discrete, by default with the SAP solver, because only there a mimic joint is coupled to the joint it
follows.  The timestep is a property of the plant: every motion is done by a plant of its own.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import HalfSpace, ProximityProperties, RoleAssign
from pydrake.math import RigidTransform
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    CoulombFriction,
    DiscreteContactApproximation,
)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from .seen import (
    WORLD,
    Configuration,
    Evaluated,
    Moment,
    MotionOrder,
    Moved,
    NotAbleError,
    Seen,
    SeenFreedom,
    WorldSettings,
    bound,
    find_position,
    find_speed,
    has_mimics,
    name_of,
    pack_inertia,
    record,
    serve,
)

_KINDS = {"revolute": "hinge", "prismatic": "slide"}
_STEP = 0.001
_SOLVERS = {
    "": DiscreteContactApproximation.kSap,
    "sap": DiscreteContactApproximation.kSap,
    "tamsi": DiscreteContactApproximation.kTamsi,
}


class DrakeRobot:
    """A finalized plant that is asked."""

    def __init__(self, file: Path, world: WorldSettings, step: float = _STEP) -> None:
        self.file, self.world = file, world
        builder = DiagramBuilder()
        plant, scene = AddMultibodyPlantSceneGraph(builder, time_step=step)
        plant.set_discrete_contact_approximation(_SOLVERS[world.solver])
        (instance,) = Parser(plant).AddModels(str(file))
        plant.mutable_gravity_field().set_gravity_vector(np.array(world.gravity))
        if world.ground is not None:
            _add_ground(plant, scene, instance, CoulombFriction(world.ground, world.ground))
        plant.Finalize()
        self.plant, self.diagram = plant, builder.Build()
        self.whole = self.diagram.CreateDefaultContext()
        self.context = plant.GetMyMutableContextFromRoot(self.whole)
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
            "mimics": "Drake 1.51 does not expose its couplers in Python",
        }
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        plant, context = self.plant, self.context
        self._place(configuration)
        # Drake leaves gravity out of its bias term; the others have it in theirs
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        return Evaluated(self._read_poses(), plant.CalcMassMatrix(context).tolist(), bias.tolist())

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion, by a plant with the timestep that is asked for."""
        if order.targets:
            raise NotAbleError("URDF has no place for drives")
        if self.world.solver == "tamsi" and has_mimics(self.file):
            raise NotAbleError("Drake's TAMSI solver couples no joints")
        robot = DrakeRobot(self.file, self.world, order.step)
        robot._place(order.start)
        simulator = Simulator(robot.diagram, robot.whole)
        alone = {joint.velocity_start(): joint for joint in robot.joints if joint.type_name() in _KINDS}
        width = robot.plant.num_velocities()

        def read() -> Moment:
            positions = robot.plant.GetPositions(robot.context)
            joints = [
                float(positions[alone[row].position_start()]) if row in alone else None
                for row in range(width)
            ]
            return joints, robot._read_poses()

        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            # to a time, not by a time: what is rounded does not add up
            simulator.AdvanceTo(done * order.step)

        simulator.Initialize()
        return record(order, advance, read)

    def _place(self, configuration: Configuration) -> None:
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

    def _read_poses(self) -> dict[str, list[float]]:
        poses = {}
        for body in self.bodies:
            place = self.plant.EvalBodyPoseInWorld(self.context, body)
            turn = place.rotation().ToQuaternion().wxyz()
            poses[name_of(body.name())] = [*map(float, place.translation()), *map(float, turn)]
        return poses


def _add_ground(plant: Any, scene: Any, instance: Any, friction: Any) -> None:
    """A half space as the ground; the robot gets the same friction, which URDF has no place for."""
    inspector = scene.model_inspector()
    for index in plant.GetBodyIndices(instance):
        for shape in plant.GetCollisionGeometriesForBody(plant.get_body(index)):
            properties = ProximityProperties(inspector.GetProximityProperties(shape))
            properties.UpdateProperty("material", "coulomb_friction", friction)
            scene.AssignRole(plant.get_source_id(), shape, properties, RoleAssign.kReplace)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", friction)


def _describe_freedom(joint: Any, number: int, width: int) -> SeenFreedom:
    kind = _KINDS.get(joint.type_name()) or ("free" if width == 6 else "ball" if width == 3 else "axis")
    damping = joint.default_damping_vector()
    freedom = SeenFreedom(
        name_of(joint.name()),
        name_of(joint.child_body().name()),
        kind,
        # of a joint that floats, the first three are those of turning
        passive_damping=float(damping[number]) if len(damping) == width else 0.0,
        label=joint.name(),
    )
    if kind in ("hinge", "slide"):
        freedom.limit = (bound(joint.position_lower_limit()), bound(joint.position_upper_limit()))
    return freedom


if __name__ == "__main__":
    serve(DrakeRobot)
