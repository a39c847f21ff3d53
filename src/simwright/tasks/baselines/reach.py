# SPDX-License-Identifier: Apache-2.0
"""Bring the tool to the goal in a straight line; how the tool is turned does not matter."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.baselines.policy import make_tool_action
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout

_PACE = 0.5
"""Share of what is left that is gone in one action."""


class Reach:
    """For ``reach``."""

    mode = ControlMode.POSE
    task = "reach"

    def start(self, rollout: SimRollout) -> None:
        """How the tool is turned does not count."""
        self._controller = rollout.controller
        assert rollout.controller.mover is not None
        rollout.controller.mover.weight = 0.0

    def act(self, observation: Observation) -> Array:
        """Straight on."""
        return make_tool_action(
            self._controller, _PACE * (np.asarray(observation["goal"]) - observation["tool"][:3])
        )
