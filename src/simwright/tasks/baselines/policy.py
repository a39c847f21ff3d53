# SPDX-License-Identifier: Apache-2.0
"""What a policy is: it sees a rollout at the start and an observation at each step, and gives an action.

A policy class may say which control mode it drives (``mode``; ``other_modes`` where it can drive others too) and which
task it is for (``task``); others come from packages with entry points in the group ``simwright.policies``.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from simwright.core.math3d import Array
from simwright.core.registry import Registry
from simwright.tasks.control import ActionController
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout

# share of what is left that is gone in one action
_REACH_SHARE = 0.5


class ReachPolicy:
    """For ``reach``: moves the tool, or with ``--control position`` the joints, which is what clones learn from."""

    mode = ControlMode.POSE
    other_modes = (ControlMode.POSITION,)
    task = "reach"

    def start(self, rollout: SimRollout) -> None:
        """How the tool is turned does not count."""
        from simwright.tasks.baselines.arm import ScriptedArm

        self._controller = rollout.controller
        self._arm = ScriptedArm(rollout) if rollout.mode is ControlMode.POSITION else None
        mover = rollout.controller.mover if self._arm is None else self._arm.mover
        assert mover is not None
        # arms of five joints cannot turn the tool at will; the goal is a point
        mover.weight = 0.0

    def act(self, observation: Observation) -> Array:
        """Straight on."""
        if self._arm is not None:
            return self._arm.go(observation, np.asarray(observation["goal"]))
        return make_tool_action(
            self._controller, _REACH_SHARE * (np.asarray(observation["goal"]) - observation["tool"][:3])
        )


class TaskPolicy(Protocol):
    """Drives a robot through an episode."""

    def start(self, rollout: SimRollout) -> None:
        """An episode begins."""

    def act(self, observation: Observation) -> Array:
        """The next action."""


@runtime_checkable
class BatchPolicy(Protocol):
    """Drives the same robot in many worlds at once."""

    def start(self, rollout: SimRollout) -> None:
        """Episodes begin; ``rollout`` is the one that all worlds are copies of."""

    def act_many(self, observation: Observation, count: int) -> Array:
        """The next actions, one row for each of ``count`` worlds."""


class HoldPolicy:
    """Does nothing: keeps the robot where it starts."""

    def start(self, rollout: SimRollout) -> None:
        """Remember the commands that hold it."""
        self._action = rollout.controller.hold()

    def act(self, observation: Observation) -> Array:  # noqa: ARG002 - it looks at nothing
        """The same again."""
        return self._action

    def act_many(self, observation: Observation, count: int) -> Array:  # noqa: ARG002 - it looks at nothing
        """The same in every world."""
        return np.tile(self._action, (count, 1))


class RandomPolicy:
    """Actions drawn evenly between the bounds, from its own seed."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def start(self, rollout: SimRollout) -> None:
        """Look up the bounds; where there is none, actions stay near what holds the robot."""
        low, high = rollout.controller.bounds
        hold = rollout.controller.hold()
        self._low, self._high = (
            np.where(np.isfinite(low), low, hold - 1.0),
            np.where(np.isfinite(high), high, hold + 1.0),
        )

    def act(self, observation: Observation) -> Array:  # noqa: ARG002 - it looks at nothing
        """Anything."""
        return self._rng.uniform(self._low, self._high)

    def act_many(self, observation: Observation, count: int) -> Array:  # noqa: ARG002 - it looks at nothing
        """Anything, in every world something else."""
        return self._rng.uniform(self._low, self._high, (count, len(self._low)))


def make_tool_action(
    controller: ActionController, shift: Array, turn: Array | None = None, *, grip: float = -1.0
) -> Array:
    """Move the tool by ``shift`` [m], turn it by ``turn`` [rad], as far as one action goes; ``grip``: 1 is open."""
    low, high = controller.bounds
    longest = float(np.linalg.norm(shift))
    limit = float(high[0])
    # shortened as a whole: clipping each axis would change the direction
    moved = shift * min(1.0, limit / longest) if longest > 0 else shift
    action = np.zeros(len(low))
    action[:3] = moved
    if turn is not None:
        angle = float(np.linalg.norm(turn))
        action[3:6] = turn * min(1.0, float(high[3]) / angle) if angle > 0 else turn
    if len(action) > 6:
        action[6] = grip
    return action


def make_policy(name: str, seed: int = 0) -> TaskPolicy:
    """The policy of a name; those that draw random numbers get the seed."""
    made = POLICIES.get(name)
    # plugins are made without arguments
    return RandomPolicy(seed) if made is RandomPolicy else made()


def find_mode(name: str) -> ControlMode | None:
    """The control mode that a policy drives; None for any."""
    mode = getattr(POLICIES.get(name), "mode", None)
    return None if mode is None else ControlMode(mode)


POLICIES: Registry[type[TaskPolicy]] = Registry(
    "policy",
    "simwright.policies",
    {
        "hold": "simwright.tasks.baselines.policy:HoldPolicy",
        "random": "simwright.tasks.baselines.policy:RandomPolicy",
        "reach": "simwright.tasks.baselines.policy:ReachPolicy",
        "push": "simwright.tasks.baselines.push:PushPolicy",
        "pick": "simwright.tasks.baselines.scripted:PickPlacePolicy",
        "stack": "simwright.tasks.baselines.scripted:StackPolicy",
        "insert": "simwright.tasks.baselines.scripted:PegInsertPolicy",
        "pull": "simwright.tasks.baselines.scripted:PullPolicy",
        "swing": "simwright.tasks.baselines.scripted:SwingPolicy",
    },
)
