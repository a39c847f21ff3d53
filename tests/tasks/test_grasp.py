# SPDX-License-Identifier: Apache-2.0
"""Grippers of all sorts: found, driven, and told where a thing has to be between their fingers."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.baselines.grasp import find_middle, plan_grasp
from simwright.tasks.baselines.scripted import PickPlacePolicy, count_lost
from simwright.tasks.environments import make_rollout
from simwright.tasks.grippers import is_between
from simwright.tasks.preflight import inspect_rollout, preflight
from simwright.tasks.robot import open_robot

# an arm whose one jaw turns about a hinge beside the middle of its palm, by a servo that stops it in a time step
JAW = """
<mujoco model="jaw">
  <compiler angle="degree"/>
  <option integrator="implicitfast"/>
  <worldbody>
    <body name="base">
      <geom type="cylinder" size="0.05 0.05" pos="0 0 0.05" mass="2"/>
      <body name="turret" pos="0 0 0.15">
        <joint name="turn" axis="0 0 1" range="-170 170" armature="0.1"/><geom size="0.04" mass="1"/>
        <body name="upper"><joint name="lift" axis="0 1 0" range="-120 120" armature="0.1"/>
          <geom type="capsule" fromto="0 0 0.06 0 0 0.25" size="0.03" mass="1"/>
          <body name="lower" pos="0 0 0.3"><joint name="bend" axis="0 1 0" range="-150 150" armature="0.1"/>
            <geom type="capsule" fromto="0 0 0.06 0 0 0.2" size="0.025" mass="0.5"/>
            <body name="wrist" pos="0 0 0.25"><joint name="tip" axis="0 1 0" range="-120 120" armature="0.05"/>
              <geom type="capsule" fromto="0 0 0.03 0 0 0.05" size="0.02" mass="0.2"/>
              <body name="hand" pos="0 0 0.07"><joint name="roll" axis="0 0 1" range="-180 180" armature="0.02"/>
                <geom type="box" size="0.02 0.02 0.01" mass="0.1"/>
                <geom type="box" size="0.006 0.012 0.05" pos="-0.006 0 0.06" mass="0.05"/>
                <body name="jaw" pos="0.002 0 {hinge}">
                  <joint name="jaw" axis="0 1 0" range="0 80" damping="0.1"/>
                  <geom type="box" size="0.005 0.012 {half}" pos="0.004 0 {half}" mass="0.05"/>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="turn" kp="200" kv="20"/><position joint="lift" kp="200" kv="20"/>
    <position joint="bend" kp="200" kv="20"/><position joint="tip" kp="100" kv="10"/>
    <position joint="roll" kp="50" kv="5"/>
    <position name="grip" joint="jaw" kp="400" kv="40" ctrlrange="0 1.396" forcerange="-8 8"/>
  </actuator>
  <keyframe><key name="home" qpos="0 0.5 1 1 0 0" ctrl="0 0.5 1 1 0 0"/></keyframe>
</mujoco>
"""


def open_jaw(folder, hinge):
    file = folder / "jaw.xml"
    file.write_text(JAW.format(hinge=hinge, half=0.5 * (0.11 - hinge)))
    return open_robot(file)


@pytest.fixture
def jaw(tmp_path):
    return open_jaw(tmp_path, 0.05)


def test_a_jaw_whose_hinge_is_beside_the_middle_of_the_palm_is_a_gripper(jaw):
    grip = jaw.facts.grip
    assert grip is not None, "told by its tips: the middles stay as far apart"
    assert grip.open == pytest.approx(1.396)
    assert grip.closed == 0.0
    assert grip.stroke > 0.05


def test_a_servo_that_chatters_when_it_is_told_to_go_far_is_told_little_by_little(jaw):
    rollout = make_rollout("pick_place", jaw, mode="position")
    observation = rollout.reset(seed=0)
    arm = ScriptedArm(rollout)
    address = int(rollout.model.joint("robot/jaw").qposadr[0])
    before = arm.grip
    observation = rollout.step(arm.go(observation, arm.point, grip=1.0)).observation
    assert before == pytest.approx(-1.0)
    assert -1.0 < arm.grip < -0.9, "not all at once"
    for _ in range(150):
        observation = rollout.step(arm.go(observation, arm.point, grip=1.0)).observation
    assert arm.grip == pytest.approx(1.0)
    assert rollout.qpos[address] > np.radians(70), "it is open"
    rollout.reset(seed=0)
    action = rollout.controller.hold()
    action[-1] = 1.396
    for _ in range(150):
        rollout.step(action)
    assert rollout.qpos[address] < np.radians(40), "what it would do else"


def test_a_thing_goes_beside_the_fixed_finger_of_a_jaw(tmp_path):
    jaw = open_jaw(tmp_path, 0.02)
    plans = []
    for half in (0.014, 0.06):
        rollout = make_rollout("pick_place", jaw, mode="position", options={"cube_half": half})
        rollout.reset(seed=0)
        plans.append(plan_grasp(rollout, ScriptedArm(rollout), "cube"))
    fits, too_wide = plans
    assert fits.room > 0.003
    assert fits.grip < 1.0, "wide open, the jaw is above the cube and not beside it"
    assert fits.place[0] > 0.01, "at the tips, where the fingers meet, it would be inside the fixed one"
    assert too_wide.room <= 0.0


def test_the_place_between_fingers_has_a_finger_on_either_side():
    sides = np.arange(-0.1, 0.1001, 0.01)

    def gaps(*parts):
        return np.array(
            [-0.001 if any(low <= x <= high for low, high in parts) else 0.01 for x in sides.round(3)]
        )

    index, room = find_middle(sides, gaps((-0.05, -0.03), (0.03, 0.05)))
    assert sides[index] == pytest.approx(0.0)
    assert room == pytest.approx(0.02)
    index, room = find_middle(sides, gaps((-0.01, 0.0), (0.05, 0.06)))
    assert sides[index] == pytest.approx(0.02), "no farther from the middle than it takes"
    index, room = find_middle(sides, gaps((0.0, 0.02)))
    assert (sides[index], room) == (pytest.approx(0.0), pytest.approx(-0.001)), "free on one side only"
    assert find_middle(sides, gaps())[1] == 0.0


def test_sites_of_flanges_and_beside_bent_tips_are_not_between_the_fingers():
    tips = np.array([0.0, -0.04, 0.13])
    assert is_between(tips, tips)
    assert is_between(1.1 * tips, tips)
    assert not is_between(np.zeros(3), tips), "the flange"
    assert not is_between(np.array([0.0, 0.0, 0.135]), tips), "beside the tips, which are bent"
    assert is_between(np.array([0.1, 0.0, 0.0]), np.zeros(3)), "nothing is known of the fingers"


def test_a_gripper_that_does_not_hold_its_object_is_told_before(arm):
    report = preflight("pick_place", arm, mode="position")
    assert "preflight-object-slips-out" not in {found.kind for found in report.findings}
    rollout = report.expect_clear()
    assert count_lost(rollout, PickPlacePolicy(), 2) == 0
    # fingers of ice
    rollout.model.geom_friction[:, 0] = 0.001
    reporter = Reporter()
    inspect_rollout(rollout, reporter)
    (found,) = [found for found in reporter.found if found.kind == "preflight-object-slips-out"]
    assert found.data["lost"] == found.data["trials"] == 3
    assert found.data["room"] > 0.0


def test_a_solver_that_ends_too_early_is_told_before(arm):
    report = preflight("tabletop_push", arm, mode="position")
    assert "preflight-solver-stops-early" not in {found.kind for found in report.findings}
    rollout = report.expect_clear()
    rollout.model.opt.iterations = 1
    reporter = Reporter()
    inspect_rollout(rollout, reporter)
    (found,) = [found for found in reporter.found if found.kind == "preflight-solver-stops-early"]
    assert found.data["limit"] == 1
    assert 0 < found.data["count"] <= found.data["total"]
