# SPDX-License-Identifier: Apache-2.0
"""Push the cube to the goal: go behind it, come down, push along the line, begin again when it slips away."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array, quat_rotate
from simwright.tasks.baselines.policy import find_approach, make_tool_action, measure_tool
from simwright.tasks.rollout import Observation, SimRollout

_CLEAR = 0.10
"""How high above the cube the tool travels [m]."""
_BEHIND = 0.03
"""How far behind the cube's face the tool comes down [m]."""
_NEAR = 0.02
_PACE = 0.008
"""How far the tool goes in one action while it pushes [m]."""
_LOST = 0.5
"""Cosine of the angle at which the tool is no longer behind the cube."""


class Push:
    """For ``tabletop_push``, in the control mode ``pose``."""

    def start(self, rollout: SimRollout) -> None:
        """Begin above."""
        self._rollout = rollout
        self._controller = rollout.controller
        assert rollout.controller.mover is not None
        rollout.controller.mover.weight = 0.1
        self._phase = "above"
        self._approach = find_approach(rollout)
        self._half = float(rollout.options.cube_size[2])
        radius = measure_tool(rollout, self._approach)
        self._reach = float(np.linalg.norm(rollout.options.cube_size[:2])) + radius + _BEHIND

    def act(self, observation: Observation) -> Array:
        """One step of the phase it is in."""
        tool, cube, goal = (np.asarray(observation[key])[:3] for key in ("tool", "cube", "goal"))
        along = goal[:2] - cube[:2]
        distance = float(np.linalg.norm(along))
        along = along / distance if distance > 1e-6 else np.array([0.0, 1.0])
        low = cube[2] + 0.2 * self._half
        behind = np.array([*(cube[:2] - along * self._reach), low])
        above = behind + np.array([0.0, 0.0, _CLEAR])
        self._phase = self._choose(tool, cube, along, behind, above)
        if self._phase != "push":
            high = np.array([tool[0], tool[1], above[2]])
            target = {"rise": high, "above": above, "down": behind}[self._phase]
            return make_tool_action(self._controller, 0.4 * (target - tool), self._turn(observation))
        # a step along the line, drawn back to the line where the tool has left it
        side = tool[:2] - cube[:2]
        off = side - along * float(side @ along)
        step = along * min(_PACE, 0.3 * distance + 0.001) - 0.3 * off
        shift = np.array([*step, 0.3 * (low - tool[2])])
        return make_tool_action(self._controller, shift, self._turn(observation))

    def _choose(self, tool: Array, cube: Array, along: Array, behind: Array, above: Array) -> str:
        phase = self._phase
        if phase == "rise" and tool[2] > above[2] - _NEAR:
            return "above"
        if phase == "above" and float(np.linalg.norm(tool - above)) < _NEAR:
            return "down"
        if phase == "down" and float(np.linalg.norm(tool - behind)) < _NEAR:
            return "push"
        if phase == "push":
            side = cube[:2] - tool[:2]
            far = float(np.linalg.norm(side))
            if far > 2.0 * self._reach or float(side @ along) < _LOST * far:
                return "rise"
        return phase

    def _turn(self, observation: Observation) -> Array:
        """Towards pointing down."""
        points = quat_rotate(observation["tool"][3:], self._approach)
        axis = np.cross(points, (0.0, 0.0, -1.0))
        size = float(np.linalg.norm(axis))
        angle = float(np.arctan2(size, -points[2]))
        return 0.3 * angle * axis / size if size > 1e-6 else np.zeros(3)
