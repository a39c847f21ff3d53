# SPDX-License-Identifier: Apache-2.0
"""Push the cube to the goal: go behind it, come down, push along the line, begin again when it slips away.

Where to come down is tried out beforehand: near enough behind the cube, but touching neither it nor the table.  Where
the place straight behind cannot be reached, the cube is pushed at an angle first.
"""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout

# how high above the cube the tool travels [m]
_CLEAR = 0.03
_NEAR = 0.015
# it has settled when it went no farther than that in each of so many actions [m]
_SETTLED, _STILL = 0.0015, 4
# how far the cube is to go in one action [m]
_PACE = 0.004
# how far the tool goes in one action where it comes down [m]
_DOWN = 0.008
# how far ahead of itself the tool is told to go at most while it pushes: a weak arm pushes with that [m]
_LEAD = 0.08
# how far the tool is raised at most where the cube is jammed between it and the table [m]
_LIFT = 0.03
# how fast a tool that is too high comes down while it pushes [m]
_SINK = 0.001
# actions after which a new way is looked for, from where the arm starts
_REST = 50
# actions after which a place that was not reached is given up
_PATIENCE = 80
# cosine of the angle at which the tool is no longer behind the cube
_LOST = 0.5
# how far from the cube it comes down [m]
_GAP = 0.006
# how far above the table it stays [m]
_OVER = 0.010
# as much more is as good [m]
_LOOSE = 0.004
# height of the tool above the cube's middle, in half cubes
_HEIGHT = 0.2
# distances behind the cube that are tried [m]
_BEHIND = (0.02, 0.035, 0.05, 0.07, 0.09)
_ANGLES = tuple(np.radians([0, 20, -20, 40, -40, 60, -60, 80, -80]))
# how far a joint may turn between the place above and the place behind the cube [rad or m]
_SWING = 1.6
# how far the cube is pushed at an angle before the way is looked at again [m]
_DETOUR = 0.06


class PushPolicy:
    """For ``tabletop_push``."""

    mode = ControlMode.POSITION
    task = "tabletop_push"

    def start(self, rollout: SimRollout) -> None:
        """Look for a way."""
        self._arm = ScriptedArm(rollout)
        model = rollout.model
        self._half = np.asarray(rollout.options.cube_size)
        self._cube, self._table = int(model.geom("cube_geom").id), int(model.geom("table_top").id)
        self._top = float(rollout.options.table_top_z)
        self._high = self._top + 4.0 * float(self._half[2]) + _CLEAR
        self._phase, self._age, self._skip = "plan", 0, 0
        self._behind, self._low, self._reach = np.zeros(3), 0.0, 0.0
        self._angle, self._from, self._above = 0.0, np.zeros(2), self._arm.home
        self._last, self._was = np.zeros(2), np.zeros(3)
        self._lead, self._lift, self._there = 0.0, 0.0, 0

    def act(self, observation: Observation) -> Array:
        """One step of the phase it is in."""
        tool, cube, goal = (np.asarray(observation[key])[:3] for key in ("tool", "cube", "goal"))
        before, self._phase = self._phase, self._choose(observation, tool, cube, goal)
        self._age = self._age + 1 if self._phase == before else 0
        arm, behind = self._arm, self._behind
        match self._phase:
            case "rise":
                action = arm.go(observation, np.array([arm.point[0], arm.point[1], self._high]))
            case "rest":
                action = arm.rest()
            case "travel":
                action = arm.steer(self._above)
            case "down":
                action = arm.go(observation, behind, pace=_DOWN)
            case _:
                action = self._push(observation, tool, cube, goal)
        self._last, self._was = cube[:2].copy(), tool.copy()
        return action

    def _push(self, observation: Observation, tool: Array, cube: Array, goal: Array) -> Array:
        """Along the line through cube and goal; as far ahead of itself as it takes to move the cube at its pace."""
        along, distance = self._aim(cube, goal)
        wanted = min(_PACE, 0.15 * distance + 0.001)
        slow = wanted - float((cube[:2] - self._last) @ along)
        self._lead = float(np.clip(self._lead + 0.5 * slow, 0.0, _LEAD))
        jammed = self._lead >= 0.6 * _LEAD
        self._lift = float(np.clip(self._lift + (0.001 if jammed else -0.0005), 0.0, _LIFT))
        place = float((tool[:2] - cube[:2]) @ along)
        spot = cube[:2] + along * (place + self._lead)
        # a tool that is above where it is to be is not forced down: it may be on an edge of the cube, which it would
        # press into the table
        height = float(np.clip(tool[2] - _SINK, self._low + self._lift, self._low + _LIFT))
        return self._arm.go(observation, np.array([*spot, height]), pace=2.0 * _PACE, lag=2.0 * _LEAD)

    def _aim(self, cube: Array, goal: Array) -> tuple[Array, float]:
        """The direction to push in and how far it is to the goal."""
        along = goal[:2] - cube[:2]
        distance = float(np.linalg.norm(along))
        along = along / distance if distance > 1e-6 else np.array([0.0, 1.0])
        return _turn(along, self._angle), distance

    def _choose(self, observation: Observation, tool: Array, cube: Array, goal: Array) -> str:
        """The phase of the next action: plan or rest, travel, down, push; rise where something went wrong."""
        arm, behind = self._arm, self._behind
        match self._phase:
            case "travel" | "down" if self._age > _PATIENCE:
                self._skip += 1
                return "rise"
            case "rise" if not (tool[2] > self._high - _NEAR or self._age > _PATIENCE):
                return "rise"
            case "rise" | "plan":
                return self._start(cube, goal)
            case "rest" if arm.is_home or self._age >= _REST:
                self._age = 0
                return self._start(cube, goal)
            case "travel" if arm.is_at(observation, np.array([*behind[:2], self._high]), _NEAR):
                return "down"
            case "down" if self._has_settled(observation, tool):
                self._from, self._lead, self._lift = cube[:2].copy(), 0.0, 0.0
                return "push"
            case "push" if self._has_slipped(tool, cube, goal):
                return "rise"
        return self._phase

    def _has_settled(self, observation: Observation, tool: Array) -> bool:
        """Has the tool come down, and stands there?  One that still swings up and down would tilt the cube."""
        still = float(np.linalg.norm(tool - self._was)) < _SETTLED
        self._there = self._there + 1 if still and self._arm.is_at(observation, self._behind, _NEAR) else 0
        return self._there >= _STILL

    def _start(self, cube: Array, goal: Array) -> str:
        """Travel, or rest first where there is no way, or none that is free from here."""
        if not self._plan(cube, goal):
            return "rest"
        arm = self._arm
        return "travel" if arm.is_home or arm.is_free(self._above, [self._table, self._cube]) else "rest"

    def _has_slipped(self, tool: Array, cube: Array, goal: Array) -> bool:
        """Is the cube no longer before the tool, or a push at an angle long enough?"""
        side = cube[:2] - tool[:2]
        far = float(np.linalg.norm(side))
        along, _ = self._aim(cube, goal)
        gone = float(np.linalg.norm(cube[:2] - self._from))
        lost = far > 2.0 * self._reach or float(side @ along) < _LOST * far
        return lost or (self._angle != 0.0 and gone > _DETOUR)

    def _plan(self, cube: Array, goal: Array) -> bool:
        """Choose where to come down: straight behind where that can be reached, else at an angle."""
        first = self._skip % len(_ANGLES)
        for angle in _ANGLES[first:] + _ANGLES[:first]:
            self._angle = float(angle)
            along, _ = self._aim(cube, goal)
            if self._come_down(cube, along):
                return True
        self._angle = 0.0
        return False

    def _come_down(self, cube: Array, along: Array) -> bool:
        """Find the nearest place behind the cube where the tool touches nothing."""
        size, arm = float(np.linalg.norm(self._half[:2])), self._arm
        low = float(cube[2]) + _HEIGHT * float(self._half[2])
        for more in _BEHIND:
            spot = cube[:2] - along * (size + more)
            joints = arm.try_pose(np.array([*spot, low]))
            if joints is None:
                return False
            above = arm.measure_gap(joints, [self._table])
            if not _OVER <= above <= _OVER + _LOOSE:
                # what stands out below the tool's frame is to pass over the table, and no higher than it takes: a cube
                # that is pushed above its middle tips over
                low += _OVER - above
                joints = arm.try_pose(np.array([*spot, low]))
            if joints is None or arm.is_folded(joints):
                return False
            if arm.measure_gap(joints, [self._cube]) > _GAP:
                self._behind, self._low, self._reach = np.array([*spot, low]), low, size + more
                self._high = low + 2.0 * float(self._half[2]) + _CLEAR
                if not self._is_open(joints, spot):
                    return False
                arm.adopt(joints)
                return True
        return False

    def _is_open(self, joints: Array, spot: Array) -> bool:
        """Can the tool come straight down there, without the arm swinging over?"""
        above = self._arm.try_pose(np.array([*spot, self._high]), joints)
        if above is None or float(np.abs(above - joints).max()) > _SWING:
            return False
        self._above = above
        return True


def _turn(direction: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * direction[0] - s * direction[1], s * direction[0] + c * direction[1]])
