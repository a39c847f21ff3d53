# SPDX-License-Identifier: Apache-2.0
"""Running episodes: a policy drives a rollout, listeners look on, and a summary says how it went.

The runner knows neither the scene nor the robot.  Episode ``i`` has the seed ``seed + i``; success is latched; an
episode ends when the task is done or lost, or when its steps are used up.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.tasks.baselines.policy import BatchPolicy, TaskPolicy
from simwright.tasks.batch import BatchRollout
from simwright.tasks.rollout import Observation, SimRollout, StepResult, StepWatch

Progress = Callable[[int, int], None]
"""``progress(done, total)``, after each episode."""


@dataclass(frozen=True, slots=True)
class Episode:
    """How an episode went.  Latencies are what the policy took for one action [ms]."""

    index: int
    seed: int
    success: bool
    steps: int
    total_reward: float
    ended: str
    """``success``, ``failed``, ``unstable`` or ``truncated``."""
    mean_latency_ms: float
    max_latency_ms: float
    details: dict[str, float] = field(default_factory=dict)


_SURE = 1.959963984540054
"""Of the normal distribution, for 95 %."""


@dataclass(slots=True)
class RunSummary:
    """All episodes of a run."""

    task: str
    robot: str
    policy: str
    mode: str
    seed: int
    episodes: list[Episode] = field(default_factory=list)

    @property
    def successes(self) -> int:
        """How many episodes succeeded."""
        return sum(episode.success for episode in self.episodes)

    @property
    def success_rate(self) -> float:
        """From 0 to 1; 0 without episodes."""
        return self.successes / len(self.episodes) if self.episodes else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the success rate; everything without episodes."""
        return find_interval(self.successes, len(self.episodes)) if self.episodes else (0.0, 1.0)

    def describe(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "version": 1,
            "task": self.task,
            "robot": self.robot,
            "policy": self.policy,
            "control": self.mode,
            "seed": self.seed,
            "successes": self.successes,
            "success_rate": self.success_rate,
            "success_interval": list(self.interval),
            "episodes": [asdict(episode) for episode in self.episodes],
        }


def find_interval(successes: int, episodes: int) -> tuple[float, float]:
    """The 95 % interval of a success rate, by Wilson's score: right also where all or none succeed."""
    if not 0 <= successes <= episodes or episodes < 1:
        raise UsageError(
            f"{successes} successes of {episodes} episodes", hint="no more than there are, at least one"
        )
    rate, square = successes / episodes, _SURE**2
    middle, whole = rate + square / (2 * episodes), 1 + square / episodes
    half = _SURE * math.sqrt(rate * (1 - rate) / episodes + square / (4 * episodes**2))
    # rounding must not leave what a rate can be
    return max(0.0, (middle - half) / whole), min(1.0, (middle + half) / whole)


class Listener(Protocol):
    """Looks on while episodes run: a recorder, a window."""

    def begin(self, rollout: SimRollout, seed: int, observation: Observation) -> None:
        """An episode begins."""

    def add(self, rollout: SimRollout, action: Array, result: StepResult) -> None:
        """A step was made."""

    def end(self, episode: Episode) -> None:
        """An episode is over."""

    def close(self) -> None:
        """The run is over: write what was collected."""

    def discard(self) -> None:
        """The run failed: leave nothing behind."""


def name_policy(policy: TaskPolicy | BatchPolicy) -> str:
    """What a policy is called where nobody named it: its class without the word Policy."""
    return type(policy).__name__.removesuffix("Policy").lower()


class SimRunner:
    """Runs episodes of one rollout.

    ``renew`` makes a new policy from the seed of each episode: then an episode is the same whatever ran before it, and
    episodes can be spread over processes and machines.  Without it one policy drives all of them.
    """

    def __init__(
        self,
        rollout: SimRollout,
        policy: TaskPolicy,
        *,
        name: str = "",
        listeners: Sequence[Listener] = (),
        max_steps: int | None = None,
        renew: Callable[[int], TaskPolicy] | None = None,
    ) -> None:
        self._renew = renew
        self.rollout, self.policy = rollout, policy
        self.name = name or name_policy(policy)
        self.listeners = tuple(listeners)
        self.max_steps = max_steps or rollout.max_steps

    def run(
        self, episodes: int | None, seed: int = 0, progress: Progress | None = None, *, first: int = 0
    ) -> RunSummary:
        """Run episodes and close the listeners; what was recorded is written only when all went well.

        ``episodes`` None runs until Ctrl-C, and gives those that were finished by then.  ``first`` is the number of the
        first one, for a part of a run.
        """
        if episodes is not None and episodes < 1:
            raise UsageError(f"a run has at least one episode, not {episodes}")
        rollout = self.rollout
        summary = RunSummary(rollout.scene.name, rollout.robot.id, self.name, rollout.mode.value, seed)
        try:
            for index in itertools.count(first) if episodes is None else range(first, first + episodes):
                if self._renew is not None:
                    self.policy = self._renew(seed + index)
                summary.episodes.append(self.run_episode(index, seed + index))
                if progress is not None and episodes is not None:
                    progress(index - first + 1, episodes)
        # a keyboard interrupt too leaves no half-written film
        except BaseException as error:
            if episodes is not None or not isinstance(error, KeyboardInterrupt):
                for listener in self.listeners:
                    listener.discard()
                raise
        for listener in self.listeners:
            listener.close()
        return summary

    def run_episode(self, index: int, seed: int) -> Episode:
        """One episode."""
        rollout, policy = self.rollout, self.policy
        observation = rollout.reset(seed=seed)
        policy.start(rollout)
        for listener in self.listeners:
            listener.begin(rollout, seed, observation)
        success, total, taken = rollout.success, 0.0, []
        details: dict[str, float] = {}
        ended = "truncated"
        for _ in range(self.max_steps):
            before = time.perf_counter()
            action = policy.act(observation)
            taken.append(1e3 * (time.perf_counter() - before))
            result = rollout.step(action)
            observation = result.observation
            total += result.reward
            # latched: a cube that rolls out of the tray afterwards has been in it
            success = success or rollout.success
            for listener in self.listeners:
                listener.add(rollout, action, result)
            details = {
                key: float(value) for key, value in result.info.items() if key not in ("success", "score")
            }
            if result.terminated or result.truncated:
                ended = _name_end(result)
                break
        episode = Episode(
            index,
            seed,
            bool(success),
            rollout.steps,
            float(total),
            ended,
            float(np.mean(taken)),
            float(np.max(taken)),
            details,
        )
        for listener in self.listeners:
            listener.end(episode)
        return episode


def _name_end(result: StepResult) -> str:
    if result.truncated:
        return "truncated"
    if result.info.get("unstable"):
        return "unstable"
    return "success" if result.info.get("success") else "failed"


def expect_batch_policy(policy: TaskPolicy | BatchPolicy, name: str = "") -> BatchPolicy:
    """The policy, if it drives many worlds at once."""
    if not isinstance(policy, BatchPolicy):
        raise UsageError(
            f"the policy {name or name_policy(policy)!r} drives one world at a time",
            hint="leave --num-worlds out",
        )
    return policy


def run_batch(
    batch: BatchRollout,
    policy: TaskPolicy | BatchPolicy,
    episodes: int | None,
    seed: int = 0,
    *,
    name: str = "",
    progress: Progress | None = None,
    watch: StepWatch | None = None,
) -> RunSummary:
    """Run episodes in many worlds at once, one per world and round; the policy has to have ``act_many``.

    ``episodes`` None runs rounds until Ctrl-C, and gives the episodes of those that were finished by then.  ``watch``
    looks on at control periods, and rounds are its episodes.
    """
    policy = expect_batch_policy(policy, name)
    rollout = batch.rollout
    summary = RunSummary(rollout.scene.name, rollout.robot.id, name, rollout.mode.value, seed)
    rollout.reset(seed=seed)
    policy.start(rollout)
    while episodes is None or len(summary.episodes) < episodes:
        first = len(summary.episodes)
        try:
            found = _run_round(batch, policy, first, seed + first, watch)
        except KeyboardInterrupt:
            if episodes is None:
                break
            raise
        # every world runs; those beyond the wanted number are dropped
        summary.episodes += found if episodes is None else found[: episodes - first]
        if progress is not None and episodes is not None:
            progress(len(summary.episodes), episodes)
    return summary


def _run_round(
    batch: BatchRollout, policy: BatchPolicy, first: int, seed: int, watch: StepWatch | None
) -> list[Episode]:
    count = batch.count
    batch.reset([seed + world for world in range(count)])
    if watch is not None:
        watch.begin_episode()
    alive, success = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    steps, total = np.zeros(count, dtype=np.int64), np.zeros(count)
    ended = np.full(count, "truncated", dtype=object)
    taken = []
    for _ in range(batch.rollout.max_steps):
        before = time.perf_counter()
        actions = policy.act_many(batch.observe(), count)
        taken.append(1e3 * (time.perf_counter() - before))
        if watch is not None:
            watch.before_step()
        verdict = batch.step(actions)
        if watch is not None:
            watch.after_step()
        unstable = batch.find_unstable()
        steps += alive
        # worlds that are done go on moving until the round is over, but nothing of it counts
        total += np.where(alive, batch.rewards, 0.0)
        over = alive & (verdict.success | verdict.failed | unstable)
        success |= over & verdict.success
        ended[over] = np.where(verdict.success, "success", np.where(unstable, "unstable", "failed"))[over]
        alive &= ~over
        if not alive.any():
            break
    mean, most = float(np.mean(taken)), float(np.max(taken))
    return [
        Episode(
            first + world,
            seed + world,
            bool(success[world]),
            int(steps[world]),
            float(total[world]),
            str(ended[world]),
            mean,
            most,
        )
        for world in range(count)
    ]
