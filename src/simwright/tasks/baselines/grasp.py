# SPDX-License-Identifier: Apache-2.0
"""Where a thing has to be in a gripper, and how far it has to be open, for the fingers to close on it.

The frame of a tool says little about that: fingers of equal length meet there, but a jaw closes against a fixed finger,
a jaw that is wide open is above a thing and not beside it, and tips are bent.  So it is tried out with the shapes: the
thing is put at places along the line on which the fingers close, and is between them where it is free and would touch a
part of the robot on either side.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array, Pose, quat_from_matrix, quat_multiply, quat_rotate
from simwright.engines.mujoco.queries import SLIDE, measure_gap, pose_bodies, read_site
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.grippers import drive_gripper
from simwright.tasks.rollout import SimRollout

# how far open grippers are tried: as the grip of a scripted arm, 1 is open
_GRIPS = (1.0, 0.4, -0.2)
# places along the tool's approach at which a thing is tried, in parts of its half size
_OFFSETS = (0.0, 0.25, 0.5, 0.75, 1.0)
# how far to either side of the tool it is tried, and how densely [m]
_SIDE, _STEP = 0.12, 0.003
# as much room on either side is enough, and more is not looked for [m]
_ROOM = 0.006
# distances are measured up to this [m]
_FAR = 0.1


@dataclass(frozen=True, slots=True)
class GraspPlan:
    """``place`` is where the middle of a thing has to be in the tool's frame, ``grip`` how far the gripper is open.

    ``room`` is what is free on either side of it then, negative where it would be inside of the body ``part`` [m].
    """

    place: Array
    grip: float
    room: float
    part: int


def plan_grasp(rollout: SimRollout, arm: ScriptedArm, thing: str) -> GraspPlan:
    """The best place for a thing between the fingers of a rollout's robot; it is turned along them."""
    assert rollout.controller.grip is not None
    indices, opened, closed = rollout.controller.grip
    told = [closed + 0.5 * (grip + 1.0) * (opened - closed) for grip in _GRIPS]
    trial = _GraspTrial(rollout, arm, thing)
    best: GraspPlan | None = None
    for grip, qpos in zip(_GRIPS, drive_gripper(rollout.model, rollout.qpos, indices, told), strict=True):
        for offset in _OFFSETS:
            found = trial.try_depth(qpos, grip, offset)
            if best is None or found.room > max(best.room, 0.0):
                best = found
            if best.room >= _ROOM:
                return best
    assert best is not None
    return best


class _GraspTrial:
    """Puts a thing at places in the gripper."""

    def __init__(self, rollout: SimRollout, arm: ScriptedArm, thing: str) -> None:
        self._model, self._arm, self._site = rollout.model, arm, rollout.tool_site
        model = self._model
        self._closing = find_closing(rollout, arm)
        self._turn = quat_from_matrix(
            np.stack([self._closing, np.cross(arm.approach, self._closing), arm.approach], axis=1)
        )
        self._address = int(model.jnt_qposadr[model.joint(thing).id])
        self._things = [
            geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == model.body(thing).id
        ]
        self._half = float(np.max(model.geom_size[self._things[0]]))
        self._own = arm.list_own()

    def try_depth(self, qpos: Array, grip: float, offset: float) -> GraspPlan:
        """The best place along the fingers' way, at a part of the thing's half size before the tool."""
        tool = read_site(pose_bodies(self._model, qpos), self._site)
        ahead = self._arm.approach * (offset * self._half)
        sides = np.arange(-_SIDE, _SIDE + 0.5 * _STEP, _STEP)
        found = [self._measure(qpos, tool, ahead + side * self._closing) for side in sides]
        index, room = find_middle(sides, np.array([gap for gap, _ in found]))
        return GraspPlan(ahead + sides[index] * self._closing, grip, room, found[index][1])

    def _measure(self, qpos: Array, tool: Pose, place: Array) -> tuple[float, int]:
        """How far the thing is from the robot at a place in the tool's frame [m], and from which body."""
        model, posed = self._model, np.array(qpos)
        at = slice(self._address, self._address + 7)
        posed[at] = (*(tool.p + quat_rotate(tool.q, place)), *quat_multiply(tool.q, self._turn))
        data = pose_bodies(model, posed)
        gap, geom = min(
            (measure_gap(model, data, mine, theirs, _FAR), mine)
            for mine in self._own
            for theirs in self._things
        )
        return gap, int(model.geom_bodyid[geom])


def find_middle(sides: Array, gaps: Array) -> tuple[int, float]:
    """Which of the places along a line is free between two parts and nearest to 0, and the room on either side of it.

    ``gaps`` are distances to the nearest part at places ``sides``, negative inside of one.  Where no place is free
    between two parts, it is 0 and how deep a thing would be inside there, or 0 where nothing is beside it.
    """
    taken = np.flatnonzero(gaps < 0.0)
    best, place = -np.inf, 0.0
    for low, high in itertools.pairwise(taken.tolist()):
        if high - low < 2:
            continue
        first, last = float(sides[low + 1]), float(sides[high - 1])
        room = 0.5 * (last - first)
        # no farther from where the fingers meet than it takes
        slack = max(0.0, room - _ROOM)
        spot = float(np.clip(0.0, 0.5 * (first + last) - slack, 0.5 * (first + last) + slack))
        if min(room, _ROOM) > min(best, _ROOM) or (room >= _ROOM and abs(spot) < abs(place)):
            best, place = room, spot
    index = int(np.argmin(np.abs(sides - place)))
    return index, best if best > -np.inf else min(float(gaps[index]), 0.0)


def find_closing(rollout: SimRollout, arm: ScriptedArm) -> Array:
    """The direction in which the fingers close, in the tool's frame, at right angles to its approach."""
    model, data = rollout.model, pose_bodies(rollout.model, rollout.home.qpos)
    frame = np.asarray(data.site_xmat[rollout.tool_site]).reshape(3, 3)
    grip = rollout.robot.facts.grip
    heads = () if grip is None else grip.fingers
    axis = np.zeros(3)
    for body in heads:
        joint = int(model.body_jntadr[body])
        if joint >= 0 and model.jnt_type[joint] == SLIDE:
            axis = frame.T @ np.asarray(data.xaxis[joint])
        elif joint >= 0:
            # a hinged finger moves across its axis
            axis = frame.T @ np.cross(data.xaxis[joint], frame @ arm.approach)
    # only the part across the approach tells how the tool is to be turned
    axis = axis - arm.approach * float(axis @ arm.approach)
    size = float(np.linalg.norm(axis))
    # no fingers, or they close along the approach: any direction across it will do
    if size < 1e-6:
        spare = np.eye(3)[int(np.argmin(np.abs(arm.approach)))]
        axis = np.cross(arm.approach, spare)
        size = float(np.linalg.norm(axis))
    return np.asarray(axis / size)
