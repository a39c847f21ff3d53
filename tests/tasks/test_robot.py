# SPDX-License-Identifier: Apache-2.0
"""What a manifest says of a robot is so in the compiled model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.core.errors import InputError
from simwright.core.math3d import Pose
from simwright.tasks.compose import compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.robot import TOOL, open_robot

from .manifests import ARM, write_arm


def compose(robot, base=None):
    return compose_scene(robot.source, lambda spec: None, amend_robot=robot.amend, base=base or Pose.of())


def place(composed, robot):
    data = mujoco.MjData(composed.model)
    data.qpos[:] = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints).qpos
    mujoco.mj_forward(composed.model, data)
    return data


def test_limits_are_set_one_by_one_in_radians(tmp_path):
    file = write_arm(
        tmp_path,
        """
        joints:
          - {name: turn, upper: pi / 2}
          - {name: bend, lower: -1, upper: 1}
          - {name: left, upper: 0.02}
        """,
    )
    model = compose(open_robot(file)).model
    assert model.joint("robot/turn").range == pytest.approx([np.radians(-170), np.pi / 2])
    assert model.joint("robot/bend").range == pytest.approx([-1, 1])
    assert model.joint("robot/left").range == pytest.approx([0, 0.02])
    assert model.joint("robot/lift").range == pytest.approx(np.radians([-120, 120])), "the file's"


def test_the_start_is_the_keyframe_or_what_is_said(tmp_path):
    robot = open_robot(write_arm(tmp_path))
    home = find_home(compose(robot), keyframe=robot.keyframe)
    assert home.qpos == pytest.approx([0, 0.5, 1, 1, 0.03, 0.03])
    assert home.ctrl == pytest.approx([0, 0.5, 1, 1, 1, 0.03])
    robot = open_robot(write_arm(tmp_path, "sim: {mjcf_uri: arm.xml, keyframe: rest}\n"))
    assert find_home(compose(robot), keyframe=robot.keyframe).qpos[1] == -0.5
    robot = open_robot(write_arm(tmp_path, "joints: [{name: bend, home: 0.25}]\n"))
    home = find_home(compose(robot), joints=robot.home_joints)
    assert home.qpos == pytest.approx([0, 0.5, 0.25, 1, 0.03, 0.03])
    assert home.ctrl[3] == pytest.approx(0.25), "and is held there"


def test_actuators_are_driven_as_said_in_their_own_order(tmp_path):
    file = write_arm(
        tmp_path,
        """
        sim:
          mjcf_uri: arm.xml
          actuators:
            lift: {kind: position, kp: 50, kd: 5, force: 30}
            bend: {kind: motor, force: 12}
            tip: {kind: velocity, kd: 3}
            right: {kp: 70}
        """,
    )
    model = compose(open_robot(file)).model
    names = [model.actuator(i).name.removeprefix("robot/") for i in range(model.nu)]
    assert names == ["a_turn", "a_lift", "a_bend", "a_tip", "grip", "right"], (
        "a second one of a joint is gone"
    )
    lift = model.actuator("robot/a_lift")
    assert lift.gainprm[0] == 50
    assert lift.biasprm[:3].tolist() == [0, -50, -5]
    assert lift.gear[0] == 1, "controls are radians of the joint"
    assert lift.forcerange.tolist() == [-30, 30]
    assert lift.ctrlrange == pytest.approx(np.radians([-120, 120]))
    bend = model.actuator("robot/a_bend")
    assert (bend.gainprm[0], bend.biasprm[:3].tolist()) == (1, [0, 0, 0])
    assert bend.ctrlrange.tolist() == bend.forcerange.tolist() == [-12, 12]
    tip = model.actuator("robot/a_tip")
    assert (tip.gainprm[0], tip.biasprm[:3].tolist()) == (3, [0, 0, -3])
    assert not tip.ctrllimited[0]
    right = model.actuator("robot/right")
    assert right.gainprm[0] == 70
    assert right.biasprm[2] < 0, "damped, though nothing says how much"
    assert model.actuator("robot/a_turn").gainprm[0] == 100, "the file's"


def test_a_joint_with_fewer_actuators_starts_and_is_held_all_the_same(tmp_path):
    lines = "sim: {mjcf_uri: arm.xml, actuators: {lift: {kp: 50, kd: 5}}}\n"
    robot = open_robot(write_arm(tmp_path, lines))
    home = find_home(compose(robot))
    assert home.origin == "keyframe 'home'"
    assert home.ctrl == pytest.approx([0, 0.5, 1, 1, 0.03]), "not the controls of other actuators"


def test_a_robot_that_drives_nothing_gets_servos_that_hold_it(tmp_path):
    file = write_arm(tmp_path)
    text = ARM[: ARM.index("<actuator>")] + "</mujoco>"
    # Euler's method would blow up with them
    (tmp_path / "arm.xml").write_text(text.replace(' integrator="implicitfast"', ""))
    robot = open_robot(file)
    assert robot.servos == 5, "but for the finger that follows the other"
    composed = compose(robot)
    home = find_home(composed, joints={"lift": 1.0, "bend": 0.5})
    data = mujoco.MjData(composed.model)
    data.qpos[:], data.ctrl[:] = home.qpos, home.ctrl
    for _ in range(1000):
        mujoco.mj_step(composed.model, data)
    assert data.qpos[:4] == pytest.approx(home.qpos[:4], abs=0.03)


def test_the_base_is_fixed_or_floats_as_said(tmp_path):
    robot = open_robot(write_arm(tmp_path, "base: floating\n"))
    assert robot.facts.is_floating
    composed = compose(robot, Pose.of([1, 2, 3]))
    assert (composed.robot_nq, composed.model.jnt_type[0]) == (13, 0)
    data = place(composed, robot)
    assert data.qpos[:3] == pytest.approx([1, 2, 3.1]), "the keyframe stands where the base is"
    assert data.qpos[7:] == pytest.approx([0, 0.5, 1, 1, 0.03, 0.03])
    text = ARM.replace('<body name="base" pos="0 0 0.1">', '<body name="base" pos="0 0 0.1"><freejoint/>')
    text = text.replace('qpos="0', 'qpos="5 5 5 1 0 0 0 0')
    file = write_arm(tmp_path, "base: fixed\n")
    (tmp_path / "arm.xml").write_text(text)
    robot = open_robot(file)
    composed = compose(robot)
    assert not robot.facts.is_floating
    assert composed.robot_nq == 6
    assert place(composed, robot).qpos == pytest.approx([0, 0.5, 1, 1, 0.03, 0.03])


def test_a_robot_with_two_roots_cannot_be_freed(tmp_path):
    file = write_arm(tmp_path, "base: floating\n")
    text = ARM.replace("</worldbody>", "<body><geom size='0.1'/></body></worldbody>")
    (tmp_path / "arm.xml").write_text(text)
    with pytest.raises(InputError, match="cannot be freed"):
        open_robot(file)


@pytest.mark.parametrize(("frame", "height"), [("base", 0.0), ("plate", 0.05), ("", 0.1)])
def test_the_base_frame_is_put_where_the_base_is(tmp_path, frame, height):
    robot = open_robot(write_arm(tmp_path, f"base_frame: '{frame}'\n"))
    base = Pose.from_rpy([1, 2, 3], [0, 0, 0.5])
    data = place(compose(robot, base), robot)
    if frame == "plate":
        assert data.site("robot/plate").xpos == pytest.approx(base.p)
        matrix = base.rotation
        assert data.site("robot/plate").xmat.reshape(3, 3) == pytest.approx(matrix)
    assert data.body("robot/base").xpos == pytest.approx([1, 2, 3 + height])


def test_the_tool_is_a_body_or_a_site_with_a_place_on_it(tmp_path):
    robot = open_robot(write_arm(tmp_path, "end_effector: {frame: wrist, position: [0, 0, 0.1]}\n"))
    data = place(compose(robot), robot)
    wrist = data.body("robot/wrist")
    expected = wrist.xpos + wrist.xmat.reshape(3, 3) @ [0, 0, 0.1]
    assert data.site(f"robot/{TOOL}").xpos == pytest.approx(expected)
    robot = open_robot(write_arm(tmp_path, "end_effector: {frame: flange, position: [0.02, 0, 0.03]}\n"))
    data = place(compose(robot), robot)
    flange = data.site("robot/flange")
    expected = flange.xpos + flange.xmat.reshape(3, 3) @ [0.02, 0, 0.03]
    assert data.site(f"robot/{TOOL}").xpos == pytest.approx(expected), "the site's own turn counts"
    assert data.site(f"robot/{TOOL}").xmat == pytest.approx(flange.xmat)


def test_cameras_are_put_on_the_robot(tmp_path):
    file = write_arm(
        tmp_path,
        "cameras: [{name: eye, frame: flange, position: [0, 0, 0.1], fovy: 42, width: 320, height: 200}]\n",
    )
    robot = open_robot(file)
    assert robot.cameras == ("eye",)
    composed = compose(robot)
    data = place(composed, robot)
    camera = composed.model.camera("robot/eye")
    assert camera.fovy[0] == 42
    assert composed.model.cam_resolution[camera.id].tolist() == [320, 200]
    flange = data.site("robot/flange")
    expected = flange.xpos + flange.xmat.reshape(3, 3) @ [0, 0, 0.1]
    assert data.camera("robot/eye").xpos == pytest.approx(expected)
    file = write_arm(tmp_path, "cameras: [{name: eye, frame: wrist}]\n")
    (tmp_path / "arm.xml").write_text(
        ARM.replace('<body name="upper">', '<body name="upper"><camera name="eye"/>')
    )
    with pytest.raises(InputError, match="has a camera 'eye' already"):
        open_robot(file)


def test_reach_and_gripper_are_those_of_the_manifest(tmp_path):
    plain = open_robot(write_arm(tmp_path))
    assert plain.reach == pytest.approx(0.1 + 0.3 + 0.25 + 0.08, abs=0.02)
    assert plain.gripper_actuators == (5,)
    lines = "reach: 0.5\ngripper: {actuators: [a_tip], open: 1, closed: 0}\n"
    said = open_robot(write_arm(tmp_path, lines))
    assert said.reach == 0.5
    assert said.gripper_actuators == (4,)


def test_a_robot_looks_to_where_its_tool_is(tmp_path):
    assert open_robot(write_arm(tmp_path)).forward == pytest.approx(0.0, abs=1e-9)
    turned = open_robot(write_arm(tmp_path, "joints: [{name: turn, home: 1}]\n"))
    assert turned.forward == pytest.approx(1.0, abs=1e-6)
