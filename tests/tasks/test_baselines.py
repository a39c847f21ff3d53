# SPDX-License-Identifier: Apache-2.0
"""Scripted policies do their task, with more than one arm."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.baselines.policy import find_mode, make_policy
from simwright.tasks.environments import make_rollout
from simwright.tasks.robot import open_robot
from simwright.tasks.runner import SimRunner

from ..conftest import SHARED_ASSETS

ARMS = {
    "panda": "franka_emika_panda/panda.xml",
    "iiwa14": "kuka_iiwa_14/iiwa14.xml",
    "vx300s": "trossen_vx300s/vx300s.xml",
    "so_arm100": "trs_so_arm100/so_arm100.xml",
}


def count(task, policy, robot, episodes, **settings):
    rollout = make_rollout(task, robot, mode=find_mode(policy), **settings)
    return SimRunner(rollout, make_policy(policy)).run(episodes, 100).successes


def test_reach(arm):
    assert count("reach", "reach", arm, 10) == 10


def test_push(arm):
    assert count("tabletop_push", "push", arm, 3) == 3


@pytest.mark.parametrize(
    ("task", "policy"),
    [
        ("pick_place", "pick"),
        ("stack", "stack"),
        ("peg_insert", "insert"),
        ("drawer", "pull"),
        ("door", "swing"),
    ],
)
def test_a_gripper_carries_and_pulls(arm, task, policy):
    assert count(task, policy, arm, 2) == 2


@pytest.mark.realworld
@pytest.mark.parametrize("name", ARMS)
def test_other_arms_reach_and_push(name):
    robot = open_robot(SHARED_ASSETS / "mjcf" / ARMS[name])
    assert count("reach", "reach", robot, 3, fit=True) == 3
    assert count("tabletop_push", "push", robot, 2, fit=True) == 2


def test_an_arm_points_down_and_knows_what_it_would_touch(arm):
    rollout = make_rollout("tabletop_push", arm)
    rollout.reset(seed=0)
    driven = ScriptedArm(rollout)
    assert driven.approach == pytest.approx([0, 0, 1], abs=1e-6)
    place = np.array([0.1, 0.4, 0.08])
    joints = driven.try_pose(place)
    assert joints is not None
    found = driven.mover.locate(rollout.data, joints)
    assert found.p == pytest.approx(place, abs=0.006)
    assert driven.try_pose(np.array([0.0, 5.0, 0.2])) is None, "out of reach"
    table = int(rollout.model.geom("table_top").id)
    gap = driven.measure_gap(joints, [table])
    assert 0.03 < gap < 0.08
    lower = driven.try_pose(place - [0, 0, 0.03])
    assert driven.measure_gap(lower, [table]) == pytest.approx(gap - 0.03, abs=0.01)
    assert not driven.is_folded(joints)


def test_a_cube_is_pushed_low(arm):
    rollout = make_rollout("tabletop_push", arm, mode="position")
    observation = rollout.reset(seed=0)
    policy, driven, start = make_policy("push"), ScriptedArm(rollout), np.array(observation["cube"])[:2]
    policy.start(rollout)
    for _ in range(150):
        observation = rollout.step(policy.act(observation)).observation
        if np.linalg.norm(np.asarray(observation["cube"])[:2] - start) > 0.002:
            break
    joints = rollout.qpos[rollout.model.jnt_qposadr[driven.mover.joints]]
    gap = driven.measure_gap(joints, [int(rollout.model.geom("table_top").id)])
    assert 0.0 < gap < 0.015, "what is pushed above its middle tips over"
    assert observation["tool"][2] < observation["cube"][2]


def test_a_slow_servo_is_told_ahead_of_what_it_carries_and_is_held_back_by(arm):
    rollout = make_rollout("tabletop_push", arm)
    model = rollout.model
    # ten times the damping: as slow as the servos of large arms
    model.actuator_biasprm[:, 2] *= 10.0
    observation = rollout.reset(seed=0)
    driven = ScriptedArm(rollout)
    start = np.asarray(observation["tool"])[:3].copy()
    goal = start + np.array([0.1, 0.05, -0.05])
    lags = []
    for _ in range(60):
        observation = rollout.step(driven.go(observation, goal, pace=0.004)).observation
        lags.append(float(np.linalg.norm(np.asarray(observation["tool"])[:3] - driven.point)))
    assert max(lags) < 0.02
    assert driven.is_at(observation, goal, 0.004)
