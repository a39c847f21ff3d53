# SPDX-License-Identifier: Apache-2.0
"""Rewards cannot be gamed: finishing a task pays more than anything else a robot can do in it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simwright.core.errors import UnknownNameError
from simwright.tasks.environments import make_rollout
from simwright.tasks.rewards import PRESETS, RewardFunction
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import Verdict
from simwright.tasks.scenes.table import SCENES

BOUNDS = (np.array([-2.0, -np.inf]), np.array([2.0, np.inf]))
REST = np.zeros(2)


def pay(scores, *, success=(), failed=(), unstable=(), choice="dense", actions=None):
    """Rewards of an episode whose score goes through ``scores``; the others are numbers of steps."""
    function = RewardFunction(choice, BOUNDS)
    function.start(make_verdict(scores[0]), REST)
    rewards = []
    for number, score in enumerate(scores[1:], start=1):
        verdict = make_verdict(score, number in success, number in failed)
        action = REST if actions is None else actions[number - 1]
        rewards.append(float(function.compute(verdict, np.array(number in unstable), action, np.zeros(3))))
    return rewards


def make_verdict(score, success=False, failed=False):
    return Verdict(np.array(success), np.array(float(score)), np.array(failed))


@pytest.mark.parametrize("name", SCENES.names(plugins=False))
def test_success_pays_more_than_staying_leaving_and_going_back_and_forth(name, arm, quadruped):
    """Scores are the task's own: those of where it starts, and of states that random actions lead to."""
    # scores are the task's, also those of a task that is made for another robot
    scene = dataclasses.replace(SCENES.get(name), fixed_robot="")
    rollout = SimRollout(scene, quadruped if name == "locomotion_flat" else arm)
    rng = np.random.default_rng(3)
    seen = []
    for seed in range(3):
        rollout.reset(seed=seed)
        seen.append(float(rollout.verdict.score))
        low, high = rollout.controller.bounds
        for _ in range(8):
            rollout.step(rng.uniform(low, high))
            seen.append(float(rollout.verdict.score))
    start, near, far = seen[0], max(seen), min(seen)
    steps = rollout.max_steps
    succeeding = sum(pay([start, 1.0], success=[1]))
    assert succeeding >= 1.0
    assert succeeding > sum(pay([start] * steps)) == 0.0
    assert succeeding > sum(pay([start, near] * (steps // 2)))
    assert succeeding > sum(pay([start, *[near, far] * (steps // 2)]))
    # hovering at the edge of success for the whole episode
    assert succeeding > sum(pay([start, *[0.999] * steps]))
    assert sum(pay([start, far])) <= 0.0


def test_breaking_the_simulation_or_losing_the_task_never_pays():
    assert sum(pay([0.3, 0.8, np.nan], unstable=[2])) == pytest.approx(-0.3)
    assert sum(pay([0.3, 0.8, 0.9], failed=[2])) == pytest.approx(-0.3)


def test_sparse_rewards_pay_success_alone():
    assert pay([0.1, 0.5, 1.0], success=[2], choice="sparse") == [0.0, 1.0]


def test_terms_are_weighted_and_actions_count_as_shares_of_their_bounds():
    actions = [np.array([2.0, 0.0]), np.array([-2.0, 0.5])]
    weights = {"time": -0.1, "action": 1.0, "action_change": -1.0}
    found = pay([0.0, 0.0, 0.0], choice=weights, actions=actions)
    assert found[0] == pytest.approx(-0.1 + 0.5 - 0.5)
    assert found[1] == pytest.approx(-0.1 + (1.0 + 0.25) / 2 - (4.0 + 0.25) / 2)


def test_a_preset_or_term_that_is_not_there_names_those_that_are():
    with pytest.raises(UnknownNameError, match="dense"):
        RewardFunction("densee", BOUNDS)
    with pytest.raises(UnknownNameError, match="progress"):
        RewardFunction({"progres": 1.0}, BOUNDS)
    assert set(PRESETS) == {"dense", "sparse"}


def test_a_manifest_limits_speed_and_effort(tmp_path):
    (tmp_path / "arm.xml").write_text(
        """<mujoco><worldbody><body name="link" pos="0 0 0.5"><joint name="hinge" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/></body></worldbody>
        <actuator><position joint="hinge" kp="500" kv="20" ctrlrange="-3 3"/></actuator></mujoco>"""
    )
    manifest = """
id: stick
base: fixed
joints: [{name: hinge, velocity: 0.5, effort: 40}]
sim: {mjcf_uri: arm.xml}
"""
    (tmp_path / "robot.yaml").write_text(manifest)
    rollout = make_rollout("reach", tmp_path / "robot.yaml")
    assert rollout.model.jnt_actfrcrange[0].tolist() == [-40.0, 40.0]
    rollout.reset(seed=0)
    start, speeds = float(rollout.qpos[0]), []
    for _ in range(25):
        rollout.step(np.array([3.0]))
        speeds.append(abs(float(rollout.qvel[0])))
    assert max(speeds) == pytest.approx(0.5, rel=0.05)
    assert float(rollout.qpos[0]) - start == pytest.approx(0.25, abs=0.03)
