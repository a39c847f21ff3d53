# SPDX-License-Identifier: Apache-2.0
"""Many worlds at once: each is what a single rollout of its seed is, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

VARIED = {
    "position": 0.01,
    "yaw_deg": 20.0,
    "mass": (0.5, 2.0),
    "friction": (0.5, 1.5),
    "robot_mass": (0.9, 1.1),
    "gains": (0.8, 1.2),
    "joints": 0.05,
    "light": (0.5, 1.0),
    "camera_position": 0.05,
}


def compare(scene, robot, **settings):
    rollout = SimRollout(SCENES.get(scene), robot, **settings)
    batch = BatchRollout(rollout, 3)
    seeds = [5, 6, 7]
    batch.reset(seeds)
    hold = rollout.controller.hold()
    rng = np.random.default_rng(0)
    actions = [hold + 0.2 * rng.standard_normal((3, len(hold))) for _ in range(15)]
    for action in actions:
        verdict = batch.step(action)
    many = batch.observe()
    for world, seed in enumerate(seeds):
        single = SimRollout(SCENES.get(scene), robot, **settings)
        single.reset(seed=seed)
        for action in actions:
            result = single.step(action[world])
        assert batch.qpos[world].tobytes() == single.qpos.tobytes(), "bit for bit"
        assert batch.qvel[world].tobytes() == single.qvel.tobytes(), "bit for bit"
        for key, value in result.observation.items():
            assert many[key][world] == pytest.approx(value, abs=1e-12), (key, seed)
        assert float(verdict.score[world]) == pytest.approx(result.info["score"], abs=1e-12)
        assert float(batch.rewards[world]) == pytest.approx(result.reward, abs=1e-12)
    assert not batch.find_unstable().any()
    batch.close()


@pytest.mark.parametrize("scene", ["tabletop_push", "pick_place", "stack", "peg_insert", "drawer", "reach"])
def test_a_world_of_a_batch_is_a_rollout(scene, arm):
    compare(scene, arm)


@pytest.mark.parametrize("mode", ["velocity", "torque"])
def test_other_modes_are_batched_too(mode, arm):
    compare("tabletop_push", arm, mode=mode)


def test_floating_robots_are_batched(quadruped):
    compare("locomotion_flat", quadruped)


def test_worlds_vary_as_rollouts_do(arm):
    compare("drawer", arm, randomize=VARIED)
    compare("tabletop_push", arm, randomize=VARIED)


def test_worlds_start_anew_one_by_one(arm):
    rollout = SimRollout(SCENES.get("tabletop_push"), arm)
    batch = BatchRollout(rollout, 3)
    batch.reset([1, 2, 3])
    hold = np.tile(rollout.controller.hold(), (3, 1))
    for _ in range(5):
        batch.step(hold)
    before = batch.qpos.copy()
    batch.reset([9], np.array([False, True, False]))
    assert batch.steps.tolist() == [5, 0, 5]
    assert batch.qpos[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    single = rollout.reset(seed=9)
    assert batch.observe()["cube"][1] == pytest.approx(single["cube"])
    assert batch.observe()["goal"][1] == pytest.approx(single["goal"])
    batch.close()


def test_a_broken_world_is_found(arm):
    rollout = SimRollout(SCENES.get("tabletop_push"), arm)
    batch = BatchRollout(rollout, 3)
    batch.reset([0, 1, 2])
    hold = np.tile(rollout.controller.hold(), (3, 1))
    batch.qvel[2, 0] = 1e12
    batch.step(hold)
    assert batch.find_unstable().tolist() == [False, False, True], "with the first action too"
    batch.qvel[1, 0] = 1e12
    batch.step(hold)
    assert batch.find_unstable().tolist() == [False, True, True]
    batch.reset([5], np.array([False, True, False]))
    batch.step(hold)
    assert batch.find_unstable().tolist() == [False, False, True]
    batch.close()


def test_what_cannot_be_batched_is_refused(arm):
    pose = SimRollout(SCENES.get("reach"), arm, mode="pose")
    with pytest.raises(UsageError, match="no controller between steps"):
        BatchRollout(pose, 2)
    with pytest.raises(UsageError, match="at least one"):
        BatchRollout(SimRollout(SCENES.get("reach"), arm), 0)
    batch = BatchRollout(SimRollout(SCENES.get("reach"), arm), 2)
    with pytest.raises(UsageError, match="2 x 7 numbers"):
        batch.step(np.zeros((2, 3)))
    batch.close()
