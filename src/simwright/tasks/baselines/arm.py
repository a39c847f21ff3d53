# SPDX-License-Identifier: Apache-2.0
"""An arm as scripted policies drive it: its tool is told to go somewhere, and the joints' targets are the action.

The policy's own inverse kinematics goes on from what was told last; what the arm sags by is made up for slowly.  Poses
can be tried out before they are driven to: can they be reached, and what would be touched there?
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import (
    Array,
    Pose,
    quat_from_axis_angle,
    quat_multiply,
    quat_rotate,
)
from simwright.engines.mujoco.queries import list_overlaps, measure_gap, pose_bodies, read_site
from simwright.tasks.inverse import ToolMover
from simwright.tasks.rollout import Observation, SimRollout

DOWN = np.array([0.0, 0.0, -1.0])
# how far the tool goes in one action where nothing is touched [m]
_PACE = 0.014
# how far the set point may run ahead of the tool [m]
_LAG = 0.05
# at most this is made up for [m]
_SAG = 0.08
_LEARN = 0.06
# a pose whose place is missed by more cannot be reached [m]
_MISSED = 0.006
# distances are measured up to this [m]
_FAR = 0.2
# a joint that is nearer to the tool than this only rolls it [m]
_ACROSS = 0.04


class ScriptedArm:
    """Drives the tool of a rollout's robot by joint positions."""

    def __init__(self, rollout: SimRollout) -> None:
        mover = rollout.controller.mover
        assert mover is not None, "pre-flight: the task needs a tool"
        self.rollout = rollout
        self.approach = find_approach(rollout)
        self.mover = ToolMover(rollout.model, mover.site, mover.joints, axis=self.approach)
        self.mover.reset(rollout.data)
        self.home = self.mover.rest.copy()
        start = read_site(rollout.data, mover.site)
        self.straight = _point(start, self.approach, DOWN)
        self.down = self.straight.copy()
        self.point = start.p.copy()
        """Where the tool is told to be [m]."""
        self.turn = start.q.copy()
        self._sag = np.zeros(3)
        self._hold = rollout.controller.hold()
        self._centre = rollout.read_base().p[:2]

    def go(
        self,
        observation: Observation,
        goal: Array,
        *,
        pace: float = _PACE,
        grip: float = -1.0,
        lag: float = _LAG,
    ) -> Array:
        """An action towards a place, pointing down, straight on; ``lag`` bounds how far the tool stays behind."""
        tool = np.asarray(observation["tool"])[:3]
        way = goal - self.point
        far = float(np.linalg.norm(way))
        if far > 0:
            self.point = self.point + way * min(1.0, pace / far)
        ahead = self.point - tool
        self.point = tool + ahead * min(1.0, lag / max(float(np.linalg.norm(ahead)), 1e-9))
        slow = 1.0 if far < pace else 0.3
        self._sag = np.clip(self._sag + slow * _LEARN * (self.point - tool), -_SAG, _SAG)
        return self._tell(grip)

    def travel(
        self, observation: Observation, goal: Array, *, pace: float = _PACE, grip: float = -1.0
    ) -> Array:
        """An action towards a place around the base, not through it: by angle and distance from it."""
        here, there = self.point[:2] - self._centre, goal[:2] - self._centre
        angle = math.atan2(here[1], here[0])
        left = (math.atan2(there[1], there[0]) - angle + math.pi) % (2.0 * math.pi) - math.pi
        near, far = float(np.linalg.norm(here)), float(np.linalg.norm(there))
        length = max(abs(left) * max(near, far), abs(far - near), 1e-9)
        share = min(1.0, 2.0 * pace / length)
        radius, angle = near + share * (far - near), angle + share * left
        spot = self._centre + radius * np.array([math.cos(angle), math.sin(angle)])
        return self.go(observation, np.array([*spot, goal[2]]), pace=pace, grip=grip)

    def is_at(self, observation: Observation, goal: Array, tolerance: float) -> bool:
        """Is the tool there?"""
        return float(np.linalg.norm(np.asarray(observation["tool"])[:3] - goal)) < tolerance

    def rest(self, *, pace: float = 0.05, grip: float = -1.0) -> Array:
        """An action towards where the arm started, joint by joint."""
        away = self.home - self.mover.told
        largest = float(np.abs(away).max())
        self.mover.told = self.mover.told + away * min(1.0, pace / largest if largest > 0 else 1.0)
        pose = self.mover.locate(self.rollout.data, self.mover.told)
        self.point, self.turn, self._sag = pose.p.copy(), pose.q.copy(), np.zeros(3)
        action = self._hold.copy()
        self._write(action, grip)
        return action

    def try_pose(self, goal: Array, start: Array | None = None) -> Array | None:
        """The joints that bring the tool there, pointing as well down as they can; None where it cannot be reached."""
        first = self.mover.told if start is None else start
        self.mover.rest = self.home
        joints = self.mover.find(self.rollout.data, Pose.of(goal, self.straight), first, rounds=60)
        found = self.mover.locate(self.rollout.data, joints)
        return joints if float(np.linalg.norm(found.p - goal)) < _MISSED else None

    def adopt(self, joints: Array) -> None:
        """From now on, keep to the posture of these joints: its turn, and what it does with spare freedom."""
        self.mover.rest = joints.copy()
        self.down = self.mover.locate(self.rollout.data, joints).q

    def measure_gap(self, joints: Array, geoms: list[int]) -> float:
        """How far from given geoms the robot would be at a pose; negative inside [m]."""
        posed = self.mover.pose(self.rollout.data, joints)
        least = _FAR
        for geom in self._list_own():
            for other in geoms:
                least = min(least, measure_gap(self.rollout.model, posed, geom, other, least))
        return least

    def is_folded(self, joints: Array) -> bool:
        """Would parts of the robot touch each other that do not where it starts?"""
        return bool(self._list_touching(joints) - self._list_touching(self.home))

    def _list_touching(self, joints: Array) -> set[tuple[int, int]]:
        model, last = self.rollout.model, self.rollout.composed.robot_nbody
        pairs = list_overlaps(model, self.mover.pose(self.rollout.data, joints))
        bodies = np.sort(np.asarray(model.geom_bodyid)[pairs], axis=1).reshape(-1, 2)
        return {(int(a), int(b)) for a, b in bodies if a >= 1 and b <= last}

    def _list_own(self) -> list[int]:
        """Geoms of the robot that collide and that its joints move."""
        model, first = self.rollout.model, int(self.mover.joints[0])
        top = int(model.jnt_bodyid[first])
        last = self.rollout.composed.robot_nbody
        return [
            geom
            for geom in range(model.ngeom)
            if top < model.geom_bodyid[geom] <= last
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]

    def _tell(self, grip: float) -> Array:
        action = self._hold.copy()
        turn = self.down if self.mover.axis is not None else self.turn
        self.mover.follow(self.rollout.data, Pose.of(self.point + self._sag, turn))
        self._write(action, grip)
        return action

    def _write(self, action: Array, grip: float) -> None:
        by_joint = dict(zip(self.mover.joints.tolist(), self.mover.told.tolist(), strict=True))
        controller = self.rollout.controller
        for number, actuator in enumerate(controller.actuators):
            if actuator.joint in by_joint:
                action[number] = actuator.scale * by_joint[actuator.joint] + actuator.offset
            elif controller.grip is not None and actuator.index in controller.grip[0]:
                _, opened, closed = controller.grip
                action[number] = closed + 0.5 * (grip + 1.0) * (opened - closed)


def find_approach(rollout: SimRollout) -> Array:
    """The direction in which the tool reaches, in its own frame.

    Along the axis of the last joint where that only rolls the tool, else away from the last joint that turns it across.
    """
    data = pose_bodies(rollout.model, rollout.home.qpos)
    tool = data.site_xpos[rollout.tool_site]
    mover = rollout.controller.mover
    roll: Array | None = None
    away = np.zeros(3)
    for joint in reversed([] if mover is None else mover.joints.tolist()):
        away = np.asarray(tool - data.xanchor[joint])
        axis = np.asarray(data.xaxis[joint])
        across = away - axis * float(away @ axis)
        if np.linalg.norm(across) > _ACROSS:
            break
        roll = axis if roll is None else roll
    if roll is not None and abs(float(roll @ away)) > _ACROSS:
        away = roll * float(np.sign(roll @ away))
    frame = np.asarray(data.site_xmat[rollout.tool_site]).reshape(3, 3)
    size = float(np.linalg.norm(away))
    return np.asarray(frame.T @ away / size) if size > 0 else np.array([0.0, 0.0, 1.0])


def _point(pose: Pose, axis: Array, direction: Array) -> Array:
    """The orientation nearest to a pose's in which an axis of it points along a direction."""
    points = quat_rotate(pose.q, axis)
    across = np.cross(points, direction)
    size = float(np.linalg.norm(across))
    angle = math.atan2(size, float(points @ direction))
    if size < 1e-9:
        if angle < 1.0:
            return pose.q.copy()
        across, size = np.cross(points, np.eye(3)[int(np.argmin(np.abs(points)))]), 1.0
    return np.asarray(quat_multiply(quat_from_axis_angle(across / np.linalg.norm(across), angle), pose.q))
