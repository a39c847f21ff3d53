# SPDX-License-Identifier: Apache-2.0
"""PyBullet: what its URDF loader makes of a file.

PyBullet takes the base for the first link; where the root link is ``world``, that is the base, and it is held.  Poses
of the base are those of its centre of mass, poses of other links can be had of the link's own frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pybullet

from .seen import (
    WORLD,
    Configuration,
    Evaluated,
    Seen,
    SeenFreedom,
    bound,
    find_position,
    find_root,
    find_speed,
    name_of,
    pack_inertia,
    rotate,
    serve,
)

_KINDS = {pybullet.JOINT_REVOLUTE: "hinge", pybullet.JOINT_PRISMATIC: "slide"}
_BASE_FREEDOMS = 6


class BulletRobot:
    """A loaded multibody that is asked."""

    def __init__(self, body: int) -> None:
        self.body = body
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
            )
            # a joint without limits has lower above upper
            if row[8] <= row[9]:
                freedom.limit = (bound(row[8]), bound(row[9]))
            seen.freedoms.append(freedom)
        seen.blank["mimics"] = "PyBullet 3.2 has no mimic joints"
        if self.floats:
            seen.blank["bias"] = "PyBullet 3.2 has inverse dynamics of bases that are held only"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """What does."""
        moving = [row for row in self.joints if row[2] in _KINDS]
        names = [(name_of(row[1].decode()), name_of(row[12].decode())) for row in moving]
        places = [find_position(configuration, *pair) for pair in names]
        speeds = [find_speed(configuration, *pair) for pair in names]
        for row, place, speed in zip(moving, places, speeds, strict=True):
            pybullet.resetJointState(self.body, row[0], place, speed)
        self._place_base(configuration)
        poses = {} if self.base == WORLD else {name_of(self.base): self._find_base()}
        for row in self.joints:
            state = pybullet.getLinkState(self.body, row[0], computeForwardKinematics=True)
            poses[name_of(row[12].decode())] = [*state[4], state[5][3], *state[5][:3]]
        matrix = pybullet.calculateMassMatrix(self.body, places) if moving else []
        bias = None
        # inverse dynamics of a base that floats answers with vectors of no documented order (3.2.7)
        if not self.floats and moving:
            rest = [0.0] * len(moving)
            bias = list(pybullet.calculateInverseDynamics(self.body, places, speeds, rest))
        return Evaluated(poses, [list(row) for row in matrix], bias)

    def _place_base(self, configuration: Configuration) -> None:
        pose = configuration.get("roots", {}).get(name_of(self.base))
        if self.floats and pose is not None:
            told = pybullet.getDynamicsInfo(self.body, -1)
            turn = [*pose[4:], pose[3]]
            pybullet.resetBasePositionAndOrientation(
                self.body, *pybullet.multiplyTransforms(pose[:3], turn, told[3], told[4])
            )

    def _find_base(self) -> list[float]:
        told = pybullet.getDynamicsInfo(self.body, -1)
        place, turn = pybullet.multiplyTransforms(
            *pybullet.getBasePositionAndOrientation(self.body), *pybullet.invertTransform(told[3], told[4])
        )
        return [*place, turn[3], *turn[:3]]


def open_file(file: Path, gravity: Sequence[float]) -> BulletRobot:
    """Load; inertias are those of the file, not those of the shapes."""
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(*gravity)
    held = find_root(file) == WORLD
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE
    return BulletRobot(pybullet.loadURDF(str(file), useFixedBase=held, flags=flags))


if __name__ == "__main__":
    serve(open_file)
