# SPDX-License-Identifier: Apache-2.0
"""A reward of seven for every step."""

from __future__ import annotations

from simwright.core.math3d import Array
from simwright.tasks.rewards import RewardStep, reward_time


def reward_sketch(step: RewardStep) -> Array:
    """As it says."""
    return 7.0 * reward_time(step)
