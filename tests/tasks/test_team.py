# SPDX-License-Identifier: Apache-2.0
"""Several robots in one task: arms at several places, and an arm on a base that drives."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.app.tasking import RunRequest, prepare_run
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose
from simwright.tasks.batch import BatchRollout
from simwright.tasks.compose import PREFIX
from simwright.tasks.environments import make_env, make_rollout
from simwright.tasks.robot import open_robot
from simwright.tasks.team import TeamMember, form_team

from ..conftest import SAMPLES

ARM = str(SAMPLES / "arm" / "robot.yaml")
PAIR = {
    "left": {"robot": ARM, "base_pose": {"xyz": [-0.5, 0.0, 0.0], "quat": [0.7071068, 0, 0, 0.7071068]}},
    "right": {"robot": ARM, "base_pose": {"xyz": [0.5, 0.0, 0.0], "quat": [0.7071068, 0, 0, 0.7071068]}},
}
CART = """
<mujoco model="cart">
  <worldbody>
    <body name="chassis" pos="0 0 0.1">
      <joint name="x" type="slide" axis="1 0 0" damping="20"/>
      <joint name="y" type="slide" axis="0 1 0" damping="20"/>
      <joint name="yaw" type="hinge" axis="0 0 1" damping="5"/>
      <geom type="box" size="0.25 0.2 0.08" mass="40" contype="0" conaffinity="0"/>
      <body name="deck" pos="0 0 0.09">
        <geom type="box" size="0.2 0.15 0.01" mass="1" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="x" kp="8000" dampratio="1"/><position joint="y" kp="8000" dampratio="1"/>
    <position joint="yaw" kp="2000" dampratio="1"/>
  </actuator>
</mujoco>
"""


def test_two_arms_stand_where_they_are_told_and_start_as_they_do_alone(arm):
    rollout = make_rollout("tabletop_push", robots=PAIR)
    observation = rollout.reset(seed=0)
    model = rollout.model
    for name, x in (("left", -0.5), ("right", 0.5)):
        base = rollout.data.xpos[model.body(f"{PREFIX}{name}/base_link").id]
        assert base == pytest.approx([x, 0.0, 0.0], abs=1e-9)
    alone = make_rollout("tabletop_push", arm)
    joints = alone.reset(seed=0)["qpos"]
    count = len(joints)
    assert observation["qpos"] == pytest.approx(np.tile(joints, 2))
    assert rollout.action_size == 2 * alone.action_size
    # the task is the same, whatever the robots
    assert (observation["cube"] == alone.observe()["cube"]).all()
    away = observation["tool_right"][:3] - observation["tool"][:3]
    assert away == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    for _ in range(25):
        rollout.step(rollout.controller.hold())
    assert rollout.observe()["qpos"][:count] == pytest.approx(joints, abs=0.05)


@pytest.mark.parametrize("mode", ["pose", "osc"])
def test_each_tool_is_moved_by_its_own_part_of_an_action(mode):
    rollout = make_rollout("tabletop_push", robots=PAIR, mode=mode)
    before = rollout.reset(seed=0)
    action = rollout.controller.hold()
    assert rollout.action_size == 14
    for number in range(60):
        action[9] = 0.008 if number < 10 else 0.0
        after = rollout.step(action).observation
    assert after["tool"][:3] == pytest.approx(before["tool"][:3], abs=0.015)
    assert after["tool_right"][2] - before["tool_right"][2] == pytest.approx(0.08, abs=0.02)


def test_batches_and_environments_have_the_same_observations():
    rollout = make_rollout("tabletop_push", robots=PAIR)
    single = rollout.reset(seed=3)
    single = {key: np.array(value) for key, value in single.items()}
    batch = BatchRollout(rollout, 2)
    batch.reset([3, 4])
    found = batch.observe()
    assert set(found) == set(single)
    for key, value in single.items():
        one = found[key][0]
        # a quaternion and its negative are the same turn
        turned = key.startswith("tool") and float(one[3:] @ value[3:]) < 0
        assert (np.append(one[:3], -one[3:]) if turned else one) == pytest.approx(value, abs=1e-9), key
    batch.close()
    env = make_env("tabletop_push", robots=PAIR, observe={"flat": True})
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    env.close()


def test_an_arm_on_a_driving_base_reaches_far(tmp_path):
    (tmp_path / "cart.xml").write_text(CART)
    (tmp_path / "env.yaml").write_text(
        """
task: reach
robots:
  base: {robot: cart.xml}
  arm: {robot: sample_arm, on: base/deck, base_pose: {xyz: [0, 0, 0.01]}}
options: {goal_range: [[1.2, 2.0], [1.0, 1.5], [0.4, 0.6]]}
policy: reach
episodes: 2
max_steps: 400
"""
    )
    summary = prepare_run(RunRequest(str(tmp_path / "env.yaml"), force=True)).run()
    assert summary.successes == 2
    assert summary.robot == "cart+sample_arm"


def test_names_and_mounts_are_checked(arm):
    with pytest.raises(UsageError, match="two robots are called"):
        form_team([TeamMember("a", arm), TeamMember("a", arm)])
    with pytest.raises(UnknownNameError, match="stands on"):
        form_team([TeamMember("a", arm), TeamMember("b", arm, Pose.of((0, 0, 0.1)), "a/nowhere")])
    with pytest.raises(UsageError, match="places of their own"):
        make_rollout("tabletop_push", arm, robots=PAIR)


def test_a_floating_member_starts_where_its_base_is_put(quadruped, arm):
    team = form_team([TeamMember("dog", quadruped, Pose.of((2.0, 0.0, 0.0))), TeamMember("arm", arm)])
    rollout = make_rollout("locomotion_flat", team)
    rollout.reset(seed=0)
    assert rollout.qpos[:2] == pytest.approx([2.0, 0.0], abs=1e-6)
    assert open_robot(ARM).id in team.id
