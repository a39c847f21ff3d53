# SPDX-License-Identifier: Apache-2.0
"""Pinocchio: what its URDF reader makes of a file.

A continuous joint has two coordinates there, cosine and sine of its angle, so that positions go through ``integrate``.
Links that are fixed to others are added to these; the frame of the fixed joint still has what was added.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from .seen import (
    WORLD,
    Configuration,
    Evaluated,
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
    name_of,
    pack_inertia,
    serve,
)

_ROOT_JOINT = "root_joint"
_ROUNDING = 1e-12
_FREE = 6
"""Freedoms of a joint that holds nothing."""


class PinocchioRobot:
    """A model that is asked; ``coupled`` is the same file with joints that follow others made one with these.

    It is a text where Pinocchio refuses that: a joint has to come after the one that it follows (4.1).
    """

    def __init__(self, model: Any, coupled: Any, root: str) -> None:
        self.model, self.coupled, self.root = model, coupled, root
        self.data = model.createData()
        self.engine = f"Pinocchio {pinocchio.__version__}"
        self.children = {
            joint: name_of(frame.name)
            for joint in range(1, model.njoints)
            for frame in reversed(list(model.frames))
            if frame.parentJoint == joint and frame.type == pinocchio.FrameType.BODY
        }

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        model, seen = self.model, Seen(self.engine)
        for number in range(1, model.njoints):
            seen.freedoms += self._describe_joint(number)
            # the root, or a tree that floats beside others below the link of the world
            if model.joints[number].nv == _FREE:
                seen.floating.append(self.children[number])
        for name, inertia in self._list_inertias().items():
            seen.masses[name] = float(inertia.mass)
            seen.inertias[name] = pack_inertia(inertia.lever, inertia.inertia)
        if isinstance(self.coupled, str):
            seen.blank["mimics"] = self.coupled
            return seen
        for follower, leader in zip(self.coupled.mimicking_joints, self.coupled.mimicked_joints, strict=True):
            ratio = float(self.coupled.joints[follower].extract().scaling)
            seen.mimics[name_of(self.coupled.names[follower])] = [name_of(self.coupled.names[leader]), ratio]
        return seen

    def _list_inertias(self) -> dict[str, Any]:
        """Of every link in its own frame: what moves with a joint, without what is fixed to its first link."""
        model = self.model
        left, found = [inertia.copy() for inertia in model.inertias], {}
        for frame in model.frames:
            if frame.type == pinocchio.FrameType.FIXED_JOINT and frame.parentJoint > 0:
                left[frame.parentJoint] -= frame.placement.act(frame.inertia)
        # a frame without mass keeps what rounding leaves of all that is fixed to it
        least = _ROUNDING * max((inertia.mass for inertia in model.inertias), default=0.0)
        left = [inertia if inertia.mass > least else pinocchio.Inertia.Zero() for inertia in left]
        for frame in model.frames:
            if frame.type == pinocchio.FrameType.BODY:
                above = model.frames[frame.parentFrame]
                fixed = above.type == pinocchio.FrameType.FIXED_JOINT
                found[name_of(frame.name)] = above.inertia if fixed else left[frame.parentJoint]
        return found

    def _describe_joint(self, number: int) -> list[SeenFreedom]:
        model, joint = self.model, self.model.joints[number]
        name, body = name_of(model.names[number]), self.children[number]
        if joint.nv > 1:
            return [SeenFreedom(f"{body}_free", body, "free") for _ in range(joint.nv)]
        freedom = SeenFreedom(
            name,
            body,
            "scalar",
            passive_damping=float(model.damping[joint.idx_v]),
            friction=float(model.friction[joint.idx_v]),
            label=model.names[number],
        )
        if joint.nq == 1:
            low, high = (row[joint.idx_q] for row in (model.lowerPositionLimit, model.upperPositionLimit))
            freedom.limit = (bound(low), bound(high))
        return [freedom]

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        model, data = self.model, self.data
        base, moved, speeds = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        pose = configuration.get("roots", {}).get(name_of(self.root))
        if self.root != WORLD and pose is not None:
            base[:7] = [*pose[:3], *pose[4:], pose[3]]
        for number in range(1, model.njoints):
            joint = model.joints[number]
            if joint.nv == 1:
                names = name_of(model.names[number]), self.children[number]
                moved[joint.idx_v] = find_position(configuration, *names)
                speeds[joint.idx_v] = find_speed(configuration, *names)
        q = pinocchio.integrate(model, base, moved)
        pinocchio.framesForwardKinematics(model, data, q)
        poses = {}
        for number, frame in enumerate(model.frames):
            if frame.type == pinocchio.FrameType.BODY:
                x, y, z, w = pinocchio.Quaternion(data.oMf[number].rotation).coeffs()
                place = data.oMf[number].translation
                poses[name_of(frame.name)] = [*map(float, place), float(w), float(x), float(y), float(z)]
        matrix = np.triu(pinocchio.crba(model, data, q))
        matrix += np.triu(matrix, 1).T
        bias = pinocchio.nonLinearEffects(model, data, q, speeds)
        return Evaluated(poses, matrix.tolist(), bias.tolist())

    def move(self, order: MotionOrder) -> Moved:
        """It has algorithms for dynamics, and no simulation."""
        del order
        raise NotAbleError("Pinocchio computes dynamics and simulates nothing")


def open_file(file: Path, world: WorldSettings) -> PinocchioRobot:
    """Read it twice: joints that follow others are joints of their own only where they are not coupled."""
    root = find_root(file)
    free = () if root == WORLD else (pinocchio.JointModelFreeFlyer(), _ROOT_JOINT)
    model = pinocchio.buildModelFromUrdf(str(file), *free)
    model.gravity.linear = np.array(world.gravity)
    try:
        coupled = pinocchio.buildModelFromUrdf(str(file), *free, mimic=True)
    except (ValueError, RuntimeError) as error:
        coupled = str(error)
    return PinocchioRobot(model, coupled, root)


if __name__ == "__main__":
    serve(open_file)
