# SPDX-License-Identifier: Apache-2.0
"""PyBullet: what its URDF loader makes of a file.

PyBullet takes the base for the first link; where the root link is ``world``, that is the base, and it is held.  Poses
of the base are those of its centre of mass, poses of other links can be had of the link's own frame.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pybullet

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
    find_root,
    find_speed,
    has_mimics,
    name_of,
    pack_inertia,
    record,
    rotate,
    serve,
)

_KINDS = {pybullet.JOINT_REVOLUTE: "hinge", pybullet.JOINT_PRISMATIC: "slide"}
_BASE_FREEDOMS = 6


class BulletRobot:
    """A loaded multibody that is asked."""

    def __init__(self, body: int, *, follows: bool) -> None:
        self.body, self.follows = body, follows
        self.engine = f"PyBullet {version('pybullet')}"
        self.base = pybullet.getBodyInfo(body)[0].decode()
        self.joints = [pybullet.getJointInfo(body, number) for number in range(pybullet.getNumJoints(body))]
        self.floats = self.base != WORLD

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        seen = Seen(self.engine)
        names = [(-1, self.base), *((row[0], row[12].decode()) for row in self.joints)]
        for number, name in names:
            if name == WORLD:
                continue
            told = pybullet.getDynamicsInfo(self.body, number)
            seen.masses[name_of(name)] = told[0]
            # the frame of the centre of mass: x, y, z, w
            turn = rotate([told[4][3], *told[4][:3]])
            seen.inertias[name_of(name)] = pack_inertia(told[3], turn @ np.diag(told[2]) @ turn.T)
        if self.floats:
            name = name_of(self.base)
            seen.floating.append(name)
            seen.freedoms += [SeenFreedom(f"{name}_free", name, "free") for _ in range(_BASE_FREEDOMS)]
        for row in self.joints:
            kind = _KINDS.get(row[2])
            if kind is None:
                continue
            freedom = SeenFreedom(
                name_of(row[1].decode()),
                name_of(row[12].decode()),
                kind,
                passive_damping=row[6],
                friction=row[7],
                label=row[1].decode(),
            )
            # a joint without limits has lower above upper
            if row[8] <= row[9]:
                freedom.limit = (bound(row[8]), bound(row[9]))
            seen.freedoms.append(freedom)
        seen.blank["mimics"] = "PyBullet 3.2 has no mimic joints"
        if self.floats:
            seen.blank["bias"] = "PyBullet 3.2 has inverse dynamics of fixed bases only"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        moving = [row for row in self.joints if row[2] in _KINDS]
        places, speeds = self._place(configuration)
        poses = self._read_poses()
        matrix = pybullet.calculateMassMatrix(self.body, places) if moving else []
        bias = None
        # inverse dynamics of a base that floats answers with vectors of no documented order (3.2.7)
        if not self.floats and moving:
            rest = [0.0] * len(moving)
            bias = list(pybullet.calculateInverseDynamics(self.body, places, speeds, rest))
        return Evaluated(poses, [list(row) for row in matrix], bias)

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion; the motors that PyBullet puts on every joint, and its damping of all bodies, are off."""
        if order.targets:
            raise NotAbleError("URDF has no place for drives")
        if self.follows:
            raise NotAbleError("PyBullet 3.2 has no mimic joints")
        pybullet.setTimeStep(order.step)
        for row in self.joints:
            if row[2] in _KINDS:
                pybullet.setJointMotorControl2(self.body, row[0], pybullet.VELOCITY_CONTROL, force=0.0)
        for number in range(-1, len(self.joints)):
            pybullet.changeDynamics(self.body, number, linearDamping=0.0, angularDamping=0.0)
        self._place(order.start)

        def advance(count: int) -> None:
            for _ in range(count):
                pybullet.stepSimulation()

        def read() -> Moment:
            base: list[float | None] = [None] * _BASE_FREEDOMS if self.floats else []
            moving = [row[0] for row in self.joints if row[2] in _KINDS]
            return [*base, *(pybullet.getJointState(self.body, row)[0] for row in moving)], self._read_poses()

        return record(order, advance, read)

    def _place(self, configuration: Configuration) -> tuple[list[float], list[float]]:
        """Gives positions and speeds of joints that move."""
        moving = [row for row in self.joints if row[2] in _KINDS]
        names = [(name_of(row[1].decode()), name_of(row[12].decode())) for row in moving]
        places = [find_position(configuration, *pair) for pair in names]
        speeds = [find_speed(configuration, *pair) for pair in names]
        for row, place, speed in zip(moving, places, speeds, strict=True):
            pybullet.resetJointState(self.body, row[0], place, speed)
        self._place_base(configuration)
        return places, speeds

    def _read_poses(self) -> dict[str, list[float]]:
        poses = {} if self.base == WORLD else {name_of(self.base): self._find_base()}
        for row in self.joints:
            state = pybullet.getLinkState(self.body, row[0], computeForwardKinematics=True)
            poses[name_of(row[12].decode())] = [*state[4], state[5][3], *state[5][:3]]
        return poses

    def _place_base(self, configuration: Configuration) -> None:
        pose = configuration.get("roots", {}).get(name_of(self.base))
        if self.floats and pose is not None:
            told = pybullet.getDynamicsInfo(self.body, -1)
            turn = [*pose[4:], pose[3]]
            pybullet.resetBasePositionAndOrientation(
                self.body, *pybullet.multiplyTransforms(pose[:3], turn, told[3], told[4])
            )
            pybullet.resetBaseVelocity(self.body, [0.0] * 3, [0.0] * 3)

    def _find_base(self) -> list[float]:
        told = pybullet.getDynamicsInfo(self.body, -1)
        place, turn = pybullet.multiplyTransforms(
            *pybullet.getBasePositionAndOrientation(self.body), *pybullet.invertTransform(told[3], told[4])
        )
        return [*place, turn[3], *turn[:3]]


def open_file(file: Path, world: WorldSettings) -> BulletRobot:
    """Load; inertias are those of the file, not those of the shapes."""
    if pybullet.isConnected():
        pybullet.resetSimulation()
    else:
        pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(*world.gravity)
    held = find_root(file) == WORLD
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE
    body = pybullet.loadURDF(str(file), useFixedBase=held, flags=flags)
    if world.ground is not None:
        plane = pybullet.createMultiBody(0.0, pybullet.createCollisionShape(pybullet.GEOM_PLANE))
        # the friction of two materials is their product, and URDF has no place for that of the robot
        pybullet.changeDynamics(plane, -1, lateralFriction=1.0, restitution=0.0)
        for number in range(-1, pybullet.getNumJoints(body)):
            pybullet.changeDynamics(body, number, lateralFriction=world.ground, restitution=0.0)
    return BulletRobot(body, follows=has_mimics(file))


if __name__ == "__main__":
    serve(open_file)
