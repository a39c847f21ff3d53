# SPDX-License-Identifier: Apache-2.0
"""What a step of a task is rewarded with: a weighted sum of small terms.

``dense``, the default, is ``progress + success``: the change of the score that the task gives (0 far away, 1 when it is
done), and 1 once more in the step that finishes it.  Changes add up to the difference between the last score and the
first, so nothing is won by waiting near the goal, and what is won by coming nearer is lost again by going away
(potential-based shaping with a discount of 1: Ng, Harada and Russell, 1999).  ``sparse`` is ``success`` alone.

A term is a function of :class:`RewardStep`; packages add theirs through entry points in ``simwright.rewards``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UnknownNameError
from simwright.core.math3d import Array
from simwright.core.registry import Registry
from simwright.tasks.scene import Verdict


@dataclass(frozen=True, slots=True)
class RewardStep:
    """One step of one world, or of many: every array has one entry for each world, or a row."""

    score: Array
    """How far the task is after the step; 0 where it was lost or the simulation broke down."""
    score_before: Array
    success: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.bool_]
    """Lost, or broken down."""
    action: Array
    """What was done, as a share of what the controls allow: -1 ... 1."""
    action_before: Array
    velocities: Array
    """Of the robot's joints [rad/s, m/s]."""


RewardTerm = Callable[[RewardStep], Array]


def reward_progress(step: RewardStep) -> Array:
    """How much nearer the task is to being done than before the step."""
    return step.score - step.score_before


def reward_success(step: RewardStep) -> Array:
    """1 in the step that finishes the task."""
    return step.success.astype(np.float64)


def reward_failure(step: RewardStep) -> Array:
    """1 in the step that loses the task; give it a negative weight."""
    return step.failed.astype(np.float64)


def reward_time(step: RewardStep) -> Array:
    """1 in every step; give it a negative weight."""
    return np.ones_like(step.score)


def reward_action(step: RewardStep) -> Array:
    """The mean square of the action; give it a negative weight."""
    return np.asarray(np.mean(step.action**2, axis=-1))


def reward_action_change(step: RewardStep) -> Array:
    """The mean square of how much the action differs from the one before; give it a negative weight."""
    return np.asarray(np.mean((step.action - step.action_before) ** 2, axis=-1))


def reward_speed(step: RewardStep) -> Array:
    """The mean square of the joint velocities [rad2/s2]; give it a negative weight."""
    return np.asarray(np.mean(step.velocities**2, axis=-1))


_HERE = "simwright.tasks.rewards"
REWARD_TERMS: Registry[RewardTerm] = Registry(
    "reward term",
    "simwright.rewards",
    {
        "progress": f"{_HERE}:reward_progress",
        "success": f"{_HERE}:reward_success",
        "failure": f"{_HERE}:reward_failure",
        "time": f"{_HERE}:reward_time",
        "action": f"{_HERE}:reward_action",
        "action_change": f"{_HERE}:reward_action_change",
        "speed": f"{_HERE}:reward_speed",
    },
)
PRESETS: dict[str, dict[str, float]] = {
    "dense": {"progress": 1.0, "success": 1.0},
    "sparse": {"success": 1.0},
}
"""Names that stand for terms and their weights."""

RewardChoice = str | Mapping[str, float]
"""The name of a preset, or a weight for each term."""


class RewardFunction:
    """Rewards of the steps of one rollout or of a batch; remembers the score and the action before."""

    def __init__(self, choice: RewardChoice, bounds: tuple[Array, Array]) -> None:
        self._terms = read_weights(choice)
        low, high = bounds
        # controls without bounds have no share: they are taken as they are
        bounded = np.isfinite(low) & np.isfinite(high) & (high > low)
        self._middle = np.where(
            bounded, 0.5 * (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)), 0.0
        )
        self._half = np.where(
            bounded, 0.5 * (np.where(bounded, high, 0.0) - np.where(bounded, low, 0.0)), 1.0
        )
        self._score: Array = np.zeros(())
        self._action: Array = np.zeros(())

    def start(self, verdict: Verdict, hold: Array, worlds: npt.NDArray[np.bool_] | None = None) -> None:
        """Episodes begin: in all worlds, or where ``worlds`` is true.  ``hold`` is the action before the first."""
        score, action = np.nan_to_num(verdict.score), self._scale(hold)
        action = np.broadcast_to(action, (*score.shape, action.shape[-1]))
        if worlds is None:
            self._score, self._action = score.copy(), action.copy()
        else:
            self._score[worlds], self._action[worlds] = score[worlds], action[worlds]

    def compute(
        self, verdict: Verdict, unstable: npt.NDArray[np.bool_], action: Array, velocities: Array
    ) -> Array:
        """The reward of a step that ended in ``verdict``; ``unstable`` tells where the simulation broke down."""
        failed = (verdict.failed & ~verdict.success) | unstable
        # a lost task is worth nothing any more; a broken world has no numbers at all
        score = np.where(failed, 0.0, np.nan_to_num(verdict.score))
        share = self._scale(action)
        step = RewardStep(
            score,
            self._score,
            verdict.success & ~unstable,
            failed,
            share,
            self._action,
            np.nan_to_num(velocities),
        )
        total = np.zeros_like(score)
        for weight, term in self._terms:
            total = total + weight * term(step)
        self._score, self._action = score, share
        return np.asarray(total)

    def _scale(self, action: Array) -> Array:
        return np.asarray((np.asarray(action, dtype=np.float64) - self._middle) / self._half)


def read_weights(choice: RewardChoice) -> list[tuple[float, RewardTerm]]:
    """Weights and terms of a preset or of a mapping; an unknown name says which there are."""
    if isinstance(choice, str):
        if choice not in PRESETS:
            raise UnknownNameError("reward", choice, PRESETS)
        choice = PRESETS[choice]
    return [(float(weight), REWARD_TERMS.get(name)) for name, weight in choice.items()]
