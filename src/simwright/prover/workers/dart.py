# SPDX-License-Identifier: Apache-2.0
"""DART: what its URDF loader makes of a file.

A root link called ``world`` is the world there, and what is fixed to it is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dartpy
import numpy as np

from .seen import (
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
    name_of,
    pack_inertia,
    record,
    rotate,
    serve,
)

_KINDS = {"RevoluteJoint": "hinge", "PrismaticJoint": "slide", "FreeJoint": "free", "BallJoint": "ball"}
_SCALAR = ("hinge", "slide")
_WIDE = 100.0
"""Width of the ground [m]."""


class DartRobot:
    """A skeleton that is asked."""

    def __init__(self, skeleton: Any, world: WorldSettings) -> None:
        self.skeleton, self.world = skeleton, world
        self.engine = f"DART {dartpy.__version__}"
        self.bodies = [skeleton.getBodyNode(number) for number in range(skeleton.getNumBodyNodes())]
        self.joints = [body.getParentJoint() for body in self.bodies]

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        seen = Seen(self.engine)
        rows: list[SeenFreedom | None] = [None] * self.skeleton.getNumDofs()
        for body, joint in zip(self.bodies, self.joints, strict=True):
            name, inertia = name_of(body.getName()), body.getInertia()
            seen.masses[name] = float(body.getMass())
            seen.inertias[name] = pack_inertia(inertia.getLocalCOM(), inertia.getMoment())
            if joint.getType() == "FreeJoint":
                seen.floating.append(name)
            for number in range(joint.getNumDofs()):
                rows[joint.getIndexInSkeleton(number)] = _describe_freedom(joint, number, name)
        seen.freedoms = [row for row in rows if row is not None]
        seen.blank["mimics"] = "dartpy 6.20 does not report which joint a joint follows"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        self._place(configuration)
        matrix, bias = self.skeleton.getMassMatrix(), self.skeleton.getCoriolisAndGravityForces()
        return Evaluated(self._read_poses(), np.array(matrix).tolist(), np.array(bias).tolist())

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion in a world of its own."""
        if order.targets:
            raise NotAbleError("URDF has no place for drives")
        world = dartpy.simulation.World()
        world.setGravity(np.array(self.world.gravity))
        world.setTimeStep(order.step)
        world.addSkeleton(self.skeleton)
        if self.world.ground is not None:
            world.getConstraintSolver().setCollisionDetector(dartpy.collision.BulletCollisionDetector())
            world.addSkeleton(_make_ground(self.world.ground))
            for body in self.bodies:
                _set_friction(body, self.world.ground)
        self._place(order.start)
        # only joints with one coordinate are compared: those of a ball or free joint mean another thing in every engine
        alone = [None] * self.skeleton.getNumDofs()
        for joint in self.joints:
            if _KINDS.get(joint.getType()) in _SCALAR:
                alone[joint.getIndexInSkeleton(0)] = joint

        def advance(count: int) -> None:
            for _ in range(count):
                world.step()

        def read() -> Moment:
            positions = self.skeleton.getPositions()
            joints = [None if alone[row] is None else float(value) for row, value in enumerate(positions)]
            return joints, self._read_poses()

        return record(order, advance, read)

    def _place(self, configuration: Configuration) -> None:
        skeleton = self.skeleton
        positions, speeds = np.zeros(skeleton.getNumDofs()), np.zeros(skeleton.getNumDofs())
        for body, joint in zip(self.bodies, self.joints, strict=True):
            kind, name = _KINDS.get(joint.getType()), name_of(body.getName())
            pose = configuration.get("roots", {}).get(name)
            if kind in _SCALAR:
                place = joint.getIndexInSkeleton(0)
                positions[place] = find_position(configuration, name_of(joint.getName()), name)
                speeds[place] = find_speed(configuration, name_of(joint.getName()), name)
            elif kind == "free" and pose is not None:
                start = joint.getIndexInSkeleton(0)
                positions[start : start + 6] = _find_coordinates(joint, pose)
        skeleton.setPositions(positions)
        skeleton.setVelocities(speeds)

    def _read_poses(self) -> dict[str, list[float]]:
        poses = {}
        for body in self.bodies:
            place = body.getWorldTransform()
            turn = place.quaternion()
            poses[name_of(body.getName())] = [
                *map(float, place.translation()), *(float(value()) for value in (turn.w, turn.x, turn.y, turn.z)),
            ]  # fmt: skip
        return poses


def open_file(file: Path, world: WorldSettings) -> DartRobot:
    """Load a URDF file."""
    skeleton = dartpy.utils.DartLoader().parseSkeleton(str(file))
    if skeleton is None:
        raise ValueError(f"DART does not load {file.name}")
    skeleton.setGravity(np.array(world.gravity))
    return DartRobot(skeleton, world)


def _make_ground(friction: float) -> Any:
    """A box whose upper side is the ground: DART's plane is not a shape of its detectors."""
    ground = dartpy.dynamics.Skeleton("ground")
    _, body = ground.createWeldJointAndBodyNodePair()
    node = body.createShapeNode(dartpy.dynamics.BoxShape(np.array([_WIDE, _WIDE, 1.0])))
    node.createCollisionAspect()
    node.createDynamicsAspect()
    below = dartpy.math.Isometry3()
    below.set_translation([0.0, 0.0, -0.5])
    node.setRelativeTransform(below)
    _set_friction(body, friction)
    return ground


def _set_friction(body: Any, friction: float) -> None:
    for number in range(body.getNumShapeNodes()):
        aspect = body.getShapeNode(number).getDynamicsAspect()
        if aspect is not None:
            aspect.setFrictionCoeff(friction)
            aspect.setRestitutionCoeff(0.0)


def _describe_freedom(joint: Any, number: int, body: str) -> SeenFreedom:
    kind = _KINDS.get(joint.getType(), "axis")
    freedom = SeenFreedom(
        name_of(joint.getName()),
        body,
        kind,
        passive_damping=float(joint.getDampingCoefficient(number)),
        friction=float(joint.getCoulombFriction(number)),
        label=joint.getName(),
    )
    if kind in _SCALAR:
        low, high = joint.getPositionLowerLimit(number), joint.getPositionUpperLimit(number)
        freedom.limit = (bound(low), bound(high))
    return freedom


def _find_coordinates(joint: Any, pose: Sequence[float]) -> Any:
    """Those of a free joint, counted from the joint's own place, at which its body is at a pose of the world."""
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = rotate(pose[3:]), pose[:3]
    parent, child = (
        np.array(side.matrix())
        for side in (joint.getTransformFromParentBodyNode(), joint.getTransformFromChildBodyNode())
    )
    # DART: body = parent frame @ joint @ inverse of the child frame, solved for the joint
    moved = np.linalg.inv(parent) @ place @ child
    return [*_find_rotation_vector(_find_quaternion(moved[:3, :3])), *moved[:3, 3]]


def _find_quaternion(turn: Any) -> Any:
    """w, x, y, z of a matrix: the eigenvector of Bar-Itzhack's form, which has no bad case."""
    (a, b, c), (d, e, f), (g, h, i) = turn
    form = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    return np.linalg.eigh(form)[1][:, -1]


def _find_rotation_vector(quaternion: Sequence[float]) -> Any:
    """The logarithm of a rotation, which a free joint of DART has for coordinates."""
    turn = np.array(quaternion) / np.linalg.norm(quaternion)
    # q and -q are the same rotation; with w >= 0 the angle is at most half a turn
    turn = turn if turn[0] >= 0.0 else -turn
    sine = float(np.linalg.norm(turn[1:]))
    angle = 2.0 * np.arctan2(sine, turn[0])
    return turn[1:] * (angle / sine) if sine > 0.0 else np.zeros(3)


if __name__ == "__main__":
    serve(open_file)
