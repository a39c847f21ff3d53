# SPDX-License-Identifier: Apache-2.0
"""Runs: seeds, ends, summaries, and who looks on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.tasks.baselines.policy import POLICIES, HoldPolicy, find_mode, make_policy
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_rollout
from simwright.tasks.manifest import ControlMode
from simwright.tasks.runner import SimRunner, find_interval, run_batch


class Watcher:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list = []

    def begin(self, rollout, seed, observation) -> None:
        self.told.append(("begin", seed, sorted(observation)))

    def add(self, rollout, action, result) -> None:
        self.told.append(("add", rollout.steps))

    def end(self, episode) -> None:
        self.told.append(("end", episode.index))

    def close(self) -> None:
        self.told.append("close")

    def discard(self) -> None:
        self.told.append("discard")


def test_episodes_count_their_seeds_up(arm):
    rollout = make_rollout("reach", arm, max_steps=3)
    watcher = Watcher()
    done = []
    summary = SimRunner(rollout, HoldPolicy(), listeners=[watcher]).run(
        2, 7, lambda *count: done.append(count)
    )
    assert [(e.index, e.seed, e.steps, e.ended) for e in summary.episodes] == [
        (0, 7, 3, "truncated"),
        (1, 8, 3, "truncated"),
    ]
    assert done == [(1, 2), (2, 2)]
    assert [one if isinstance(one, str) else one[0] for one in watcher.told] == [
        *(["begin", "add", "add", "add", "end"] * 2),
        "close",
    ]
    plain = json.loads(json.dumps(summary.describe(), allow_nan=False))
    assert plain["success_rate"] == 0.0
    assert plain["episodes"][1]["seed"] == 8
    assert plain["task"] == "reach"
    assert plain["robot"] == "sample_arm"


def test_a_success_ends_the_episode_and_is_kept(arm):
    rollout = make_rollout("reach", arm, mode="pose")
    summary = SimRunner(rollout, make_policy("reach"), name="reach").run(2)
    assert summary.successes == 2
    assert summary.success_rate == 1.0
    for episode in summary.episodes:
        assert episode.ended == "success"
        assert episode.steps < rollout.max_steps
        assert episode.details["distance"] <= 0.03
        assert 0.0 < episode.mean_latency_ms <= episode.max_latency_ms


def test_a_run_that_fails_is_told_to_discard(arm):
    class Broken(HoldPolicy):
        def act(self, observation):
            raise RuntimeError("no idea")

    watcher = Watcher()
    with pytest.raises(RuntimeError, match="no idea"):
        SimRunner(make_rollout("reach", arm), Broken(), listeners=[watcher]).run(1)
    assert watcher.told[-1] == "discard"
    with pytest.raises(UsageError, match="at least one episode"):
        SimRunner(make_rollout("reach", arm), HoldPolicy()).run(0)


def test_without_a_number_episodes_go_on_until_ctrl_c(arm):
    class Interrupted(HoldPolicy):
        """Somebody presses Ctrl-C after some actions."""

        left = 13

        def act(self, observation):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().act(observation)

        def act_many(self, observations, count):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().act_many(observations, count)

    watcher = Watcher()
    rollout = make_rollout("tabletop_push", arm, max_steps=5)
    summary = SimRunner(rollout, Interrupted(), listeners=[watcher]).run(None, 3)
    assert [episode.seed for episode in summary.episodes] == [3, 4]
    assert watcher.told[-1] == "close"
    with pytest.raises(KeyboardInterrupt):
        SimRunner(rollout, Interrupted(), listeners=[watcher]).run(5, 3)
    assert watcher.told[-1] == "discard"
    batch = BatchRollout(make_rollout("tabletop_push", arm, max_steps=5), 2)
    assert [episode.seed for episode in run_batch(batch, Interrupted(), None, 3).episodes] == [3, 4, 5, 6]
    batch.close()


def test_many_worlds_run_as_single_ones_do(arm):
    single = SimRunner(make_rollout("tabletop_push", arm, max_steps=5), HoldPolicy()).run(5, 3)
    batch = BatchRollout(make_rollout("tabletop_push", arm, max_steps=5), 2)
    many = run_batch(batch, HoldPolicy(), 5, 3, name="hold")
    assert [(e.index, e.seed, e.steps, e.ended, e.success) for e in many.episodes] == [
        (e.index, e.seed, e.steps, e.ended, e.success) for e in single.episodes
    ]
    assert [e.total_reward for e in many.episodes] == pytest.approx([e.total_reward for e in single.episodes])
    with pytest.raises(UsageError, match="one world at a time"):
        run_batch(batch, make_policy("push"), 1, name="push")
    batch.close()


def test_random_actions_follow_from_their_seed(arm):
    rollout = make_rollout("reach", arm)
    rollout.reset(seed=0)

    def draw(seed):
        policy = make_policy("random", seed)
        policy.start(rollout)
        return policy.act({}).tolist()

    assert draw(1) == draw(1) != draw(2)
    low, high = rollout.controller.bounds
    assert ((np.array(draw(1)) >= low) & (np.array(draw(1)) <= high)).all()


def test_policies_say_which_mode_they_drive():
    assert find_mode("hold") is None
    assert find_mode("reach") is ControlMode.POSE
    assert find_mode("push") is ControlMode.POSITION
    with pytest.raises(UnknownNameError, match="did you mean 'push'"):
        make_policy("pusch")
    assert {"hold", "random", "reach", "push", "pick", "stack", "insert", "pull"} <= set(POLICIES.names())


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    # Wilson's score interval as other people's tables have it
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (45, 50, 0.7864, 0.9565)],
)
def test_how_sure_a_success_rate_is(successes, episodes, low, high):
    assert find_interval(successes, episodes) == pytest.approx((low, high), abs=1e-4)


def test_a_rate_of_nothing_is_refused():
    with pytest.raises(UsageError, match="5 successes of 4"):
        find_interval(5, 4)
