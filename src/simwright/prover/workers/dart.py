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
    Seen,
    SeenFreedom,
    bound,
    find_position,
    find_speed,
    name_of,
    pack_inertia,
    serve,
)

_KINDS = {"RevoluteJoint": "hinge", "PrismaticJoint": "slide", "FreeJoint": "free", "BallJoint": "ball"}
_SCALAR = ("hinge", "slide")


class DartRobot:
    """A skeleton that is asked."""

    def __init__(self, skeleton: Any) -> None:
        self.skeleton = skeleton
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
        seen.blank["mimics"] = "dartpy 6.20 does not tell which joint a joint follows"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """What does."""
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
                positions[start : start + 6] = [*_find_rotation_vector(pose[3:]), *pose[:3]]
        skeleton.setPositions(positions)
        skeleton.setVelocities(speeds)
        poses = {}
        for body in self.bodies:
            place = body.getWorldTransform()
            turn = place.quaternion()
            poses[name_of(body.getName())] = [
                *map(float, place.translation()), *(float(value()) for value in (turn.w, turn.x, turn.y, turn.z)),
            ]  # fmt: skip
        matrix, bias = skeleton.getMassMatrix(), skeleton.getCoriolisAndGravityForces()
        return Evaluated(poses, np.array(matrix).tolist(), np.array(bias).tolist())


def open_file(file: Path, gravity: Sequence[float]) -> DartRobot:
    """Load it."""
    skeleton = dartpy.utils.DartLoader().parseSkeleton(str(file))
    if skeleton is None:
        raise ValueError(f"DART does not load {file.name}")
    skeleton.setGravity(np.array(gravity))
    return DartRobot(skeleton)


def _describe_freedom(joint: Any, number: int, body: str) -> SeenFreedom:
    kind = _KINDS.get(joint.getType(), "axis")
    freedom = SeenFreedom(
        name_of(joint.getName()),
        body,
        kind,
        passive_damping=float(joint.getDampingCoefficient(number)),
        friction=float(joint.getCoulombFriction(number)),
    )
    if kind in _SCALAR:
        low, high = joint.getPositionLowerLimit(number), joint.getPositionUpperLimit(number)
        freedom.limit = (bound(low), bound(high))
    return freedom


def _find_rotation_vector(quaternion: Sequence[float]) -> Any:
    """The logarithm of a rotation, which a free joint of DART has for coordinates."""
    turn = np.array(quaternion) / np.linalg.norm(quaternion)
    turn = turn if turn[0] >= 0.0 else -turn
    sine = float(np.linalg.norm(turn[1:]))
    angle = 2.0 * np.arctan2(sine, turn[0])
    return turn[1:] * (angle / sine) if sine > 0.0 else np.zeros(3)


if __name__ == "__main__":
    serve(open_file)
