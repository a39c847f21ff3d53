# SPDX-License-Identifier: Apache-2.0
"""What all actions have in common: a battery, a delay, a chance of success."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import numpy as np

from simwright.worlds.acting.action import Result, Status, fail, refuse
from simwright.worlds.robots import ActionOptions, WorldRobot

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation

NOTHING_SAID = ActionOptions()
_NUMBERS = {"navigate": 1, "pick": 2, "place": 3, "detect": 4, "open": 5, "close": 6}


class SuccessDraws:
    """One generator for every robot and action: from the action's own ``rng_seed``, or from that of the simulation."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generators: dict[tuple[str, str], np.random.Generator] = {}

    def draw(self, robot: WorldRobot, number: int, action: str) -> bool:
        """Does it succeed this time?"""
        options = robot.actions.get(action)
        if options is None:
            return True
        key = (robot.name, action)
        if key not in self._generators:
            seed = (
                options.rng_seed
                if options.rng_seed is not None
                else (self._seed, number, _NUMBERS.get(action, 0))
            )
            self._generators[key] = np.random.default_rng(seed)
        return float(self._generators[key].random()) <= options.success_probability


def check_battery(robot: WorldRobot, action: str) -> Result | None:
    """An empty battery forbids everything."""
    if robot.battery_level <= 0.0:
        return refuse("no-battery", f"the battery of {robot.name!r} is empty, so it cannot {action}")
    return None


def attempt(
    simulation: WorldSimulation, robot: WorldRobot, action: str, check: Callable[[], Result | None]
) -> Generator[float, None, Result | None]:
    """Check, pay, wait, check again, and try one's luck; None where the action may have its effect.

    What can be done at the beginning may no longer be possible after the delay: another robot was faster.  An attempt
    that fails has cost its battery all the same.
    """
    refusal = check() or check_battery(robot, action)
    if refusal is not None:
        return refusal
    options = robot.actions.get(action, NOTHING_SAID)
    robot.spend(options.battery_usage)
    if options.delay > 0.0:
        yield options.delay
        refusal = check()
        if refusal is not None:
            return Result(Status.EXECUTION, refusal.code, refusal.message)
    if not simulation.draw_success(robot, action):
        return fail("chance", f"the attempt to {action} failed (success_probability)")
    return None
