# SPDX-License-Identifier: Apache-2.0
"""What actions mean: every mode gets where it is told to, and holds."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.tasks.manifest import ControlMode
from simwright.tasks.robot import open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

MOTORS = """
<mujoco model="motors">
  <worldbody>
    <body name="base"><geom size="0.05" mass="1"/>
      <body name="upper" pos="0 0 0.1"><joint name="a" axis="0 1 0" range="-90 90" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" mass="0.5" contype="0" conaffinity="0"/>
        <body name="lower" pos="0 0 0.3"><joint name="b" axis="0 1 0" range="-90 90" damping="0.1"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" mass="0.5" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="a" joint="a" ctrlrange="-50 50"/>
    <KIND name="b" joint="b" MORE/>
  </actuator>
</mujoco>
"""


def make(robot, mode, **more):
    rollout = SimRollout(SCENES.get("reach"), robot, mode=mode, **more)
    rollout.reset(seed=0)
    return rollout


@pytest.fixture(scope="module", params=[("motor", 'ctrlrange="-50 50"'), ("velocity", 'kv="3"')])
def driven(request, tmp_path_factory):
    """Two links, the second driven by a motor or by a velocity servo."""
    kind, more = request.param
    file = tmp_path_factory.mktemp("driven") / "links.xml"
    file.write_text(MOTORS.replace("KIND", kind).replace("MORE", more))
    return open_robot(file)


def test_positions_are_reached(arm):
    rollout = make(arm, "position")
    target = rollout.controller.hold()
    target[:3] += [0.4, -0.2, 0.2]
    for _ in range(150):
        result = rollout.step(target)
    assert result.observation["qpos"][:6] == pytest.approx(target[:6], abs=0.03)


def test_motors_and_velocity_servos_follow_positions_too(driven):
    rollout = make(driven, "position")
    assert not rollout.controller.is_direct
    for _ in range(200):
        result = rollout.step(np.array([0.6, -0.5]))
    assert result.observation["qpos"] == pytest.approx([0.6, -0.5], abs=0.02)


def test_velocities_move_the_joints(arm):
    rollout = make(arm, "velocity")
    start = rollout.observe()["qpos"][0]
    action = rollout.controller.hold()
    action[0] = 0.5
    for _ in range(50):
        rollout.step(action)
    assert rollout.observe()["qpos"][0] - start == pytest.approx(0.5, abs=0.05), "half a radian in a second"
    held = rollout.observe()["qpos"][0]
    for _ in range(50):
        rollout.step(rollout.controller.hold())
    assert rollout.observe()["qpos"][0] == pytest.approx(held, abs=0.05)


def test_velocities_drive_motors_and_velocity_servos(driven):
    rollout = make(driven, "velocity")
    for _ in range(50):
        rollout.step(np.array([0.3, -0.4]))
    assert rollout.observe()["qpos"] == pytest.approx([0.3, -0.4], abs=0.06)


def test_torques_are_what_acts(driven):
    rollout = make(driven, "torque")
    assert rollout.controller.is_direct
    rollout.step(np.array([1.5, -0.5]))
    assert rollout.data.actuator_force == pytest.approx([1.5, -0.5])
    with_servo = rollout.controller.bounds
    assert with_servo[0][0] == -50


def test_a_torque_of_nothing_lets_an_arm_fall(arm):
    rollout = make(arm, "torque")
    start = rollout.observe()["tool"][2]
    for _ in range(25):
        rollout.step(np.zeros(rollout.action_size))
    assert rollout.observe()["tool"][2] < start - 0.02


@pytest.mark.parametrize("mode", ["pose", "osc"])
@pytest.mark.parametrize("shift", [(0.08, 0.0, 0.0), (0.0, -0.06, 0.05), (-0.05, 0.05, -0.08)])
def test_the_tool_goes_where_it_is_told(arm, mode, shift):
    rollout = make(arm, mode)
    start = rollout.read_tool()
    action = np.zeros(rollout.action_size)
    for number in range(80):
        action[:3] = np.asarray(shift) / 10 if number < 10 else 0.0
        rollout.step(action)
    # dry friction of the sample: a spring is off by what it takes to overcome it
    slack = 0.012 if mode == "pose" else 0.016
    assert rollout.read_tool().p - start.p == pytest.approx(shift, abs=slack)
    turned = abs(float(rollout.read_tool().q @ start.q))
    assert turned > np.cos(0.5 * 0.1), "it is turned by less than a tenth of a radian"


@pytest.mark.parametrize("mode", ["pose", "osc"])
def test_the_tool_turns_in_place(arm, mode):
    rollout = make(arm, mode)
    start = rollout.read_tool()
    action = np.zeros(rollout.action_size)
    for number in range(80):
        action[5] = 0.05 if number < 10 else 0.0
        rollout.step(action)
    end = rollout.read_tool()
    assert 2 * np.arccos(min(1.0, abs(float(end.q @ start.q)))) == pytest.approx(0.5, abs=0.05)
    assert end.p == pytest.approx(start.p, abs=0.012)


@pytest.mark.parametrize("mode", ["pose", "osc"])
def test_the_gripper_opens_and_closes(arm, mode):
    rollout = make(arm, mode)
    for grip, place in ((-1.0, 0.0), (1.0, 0.04), (0.0, 0.02)):
        action = np.zeros(rollout.action_size)
        action[6] = grip
        for _ in range(60):
            rollout.step(action)
        assert rollout.observe()["qpos"][6] == pytest.approx(place, abs=0.003)


@pytest.mark.parametrize("mode", ["pose", "osc"])
def test_holding_leaves_the_gripper_as_it_is(arm, mode):
    rollout = make(arm, mode)
    start = rollout.observe()["qpos"][6]
    for _ in range(30):
        rollout.step(rollout.controller.hold())
    assert rollout.observe()["qpos"][6] == pytest.approx(start, abs=0.002)


def test_a_tool_under_operational_space_control_gives_way_as_its_spring_says(arm):
    rollout = make(arm, "osc")
    start, hold = rollout.read_tool().p, rollout.controller.hold()
    body = int(rollout.model.site_bodyid[rollout.tool_site])
    rollout.worlds.view("xfrc_applied").reshape(1, -1, 6)[0, body, 0] = 8.0
    for _ in range(80):
        rollout.step(hold)
    yielded = float(rollout.read_tool().p[0] - start[0])
    assert yielded > 0.01, "a servo of the sample gives way by far less"
    rollout.worlds.view("xfrc_applied")[:] = 0.0
    for _ in range(80):
        rollout.step(hold)
    assert rollout.read_tool().p == pytest.approx(start, abs=0.01)


@pytest.mark.parametrize("mode", ["position", "velocity", "pose", "osc"])
def test_holding_is_an_action_of_every_mode(arm, mode):
    rollout = make(arm, mode)
    start = rollout.read_tool().p
    action = rollout.controller.hold()
    for _ in range(60):
        rollout.step(action)
    # the servos of the sample sag by two hundredths of a radian at most
    assert rollout.read_tool().p == pytest.approx(start, abs=0.03)


def test_actions_are_clipped_to_their_bounds(arm):
    rollout = make(arm, "position")
    low, high = rollout.controller.bounds
    rollout.step(np.full(rollout.action_size, 1e6))
    assert (rollout.data.ctrl[: rollout.action_size] <= high + 1e-9).all()
    assert np.isfinite(low).all()


def test_a_robot_without_a_tool_has_no_pose_to_tell(quadruped, tmp_path):
    file = tmp_path / "still.xml"
    file.write_text("<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>")
    with pytest.raises(UsageError, match="no actuators"):
        SimRollout(SCENES.get("reach"), open_robot(file))
    assert make(quadruped, None).mode is ControlMode.POSITION
