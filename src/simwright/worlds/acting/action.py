# SPDX-License-Identifier: Apache-2.0
"""An action of a robot, its result, and what all actions have in common: battery, delay, chance of success."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simwright.worlds.entities import ActionOptions, WorldRobot
from simwright.worlds.planning.goals import Goal
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


@dataclass(frozen=True, slots=True)
class Action:
    """What to do: the type, and what it is done to or where."""

    type: str
    target: Goal | None = None
    """Where to: the goal of ``navigate``; the place for ``place``, ``open`` and ``close`` where it is not obvious."""
    object: str = ""
    """What to ``pick`` or to ``detect``: a name, a category or a description."""
    pose: WorldPose | None = None
    """Where exactly to ``place``."""
    path: Path | None = None
    """The way to ``navigate``, instead of planning one."""

    def __str__(self) -> str:
        target = self.target if isinstance(self.target, str) else getattr(self.target, "name", None)
        if isinstance(self.target, WorldPose):
            target = f"({self.target.x:.3g}, {self.target.y:.3g})"
        return " ".join(str(word) for word in (self.type, self.object, target) if word)


class Status(StrEnum):
    """How an action ended."""

    SUCCESS = "success"
    PRECONDITION = "precondition"
    """It could not begin."""
    PLANNING = "planning"
    """No path, grasp or placement was found."""
    EXECUTION = "execution"
    """It began, and failed."""
    CANCELED = "canceled"


@dataclass(frozen=True, slots=True)
class Result:
    """How an action ended.  ``code`` is stable and empty on success; ``message`` is for people."""

    status: Status
    code: str = ""
    message: str = ""
    data: dict[str, Any] = field(default_factory=dict, compare=False)
    """``path``, ``grasp``, ``objects``, whatever came of it."""

    @property
    def ok(self) -> bool:
        """Did it succeed?"""
        return self.status is Status.SUCCESS


Steps: TypeAlias = Generator[float, None, Result]
"""An action in progress: yields how long to wait [s], and returns its result."""


def succeed(**data: Any) -> Result:
    """It worked."""
    return Result(Status.SUCCESS, data=data)


def refuse(code: str, message: str) -> Result:
    """It cannot begin."""
    return Result(Status.PRECONDITION, code, message)


def fail(code: str, message: str, **data: Any) -> Result:
    """It went wrong on the way."""
    return Result(Status.EXECUTION, code, message, data)


NOTHING_SAID = ActionOptions()
# part of the seeds of actions: renumbering them would change every recorded run
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
        # `<=` as in PyRoboSim: a chance of 1.0 always succeeds, one of 0.0 almost never
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
    # paid before the delay and the draw: an attempt that fails costs as much as one that succeeds
    robot.spend(options.battery_usage)
    if options.delay > 0.0:
        yield options.delay
        refusal = check()
        if refusal is not None:
            return Result(Status.EXECUTION, refusal.code, refusal.message)
    if not simulation.draw_success(robot, action):
        return fail("chance", f"the attempt to {action} failed (success_probability)")
    return None
