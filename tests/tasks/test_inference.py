# SPDX-License-Identifier: Apache-2.0
"""What is told of robots from their structure alone, and the manifests that are drafted from it."""

from __future__ import annotations

import pytest
import yaml

from simwright.tasks.export import describe_actuators, draft_manifest, find_start, make_id, render_manifest
from simwright.tasks.robot import open_robot

from .manifests import ARM, write_arm
from .shared_robots import SHARED, list_mjcf, list_urdf

REAL = {
    "agility_cassie/cassie.xml": ("biped", True, "", 0.9, "torque"),
    "franka_emika_panda/hand.xml": ("gripper", False, "actuator8", 0.1, "position"),
    "franka_emika_panda/panda.xml": ("arm", False, "actuator8", 1.28, "position"),
    "franka_emika_panda/panda_nohand.xml": ("arm", False, "", 1.19, "position"),
    "google_barkour_vb/barkour_vb.xml": ("quadruped", True, "", 0.47, "position"),
    "kuka_iiwa_14/iiwa14.xml": ("arm", False, "", 1.31, "position"),
    "robotiq_2f85/2f85.xml": ("gripper", False, "fingers_actuator", 0.15, "position"),
    "shadow_hand/left_hand.xml": ("hand", False, "", 0.41, "position"),
    "skydio_x2/x2.xml": ("drone", True, "", 0.0, "torque"),
    "trossen_vx300s/vx300s.xml": ("arm", False, "gripper", 0.9, "position"),
    "trs_so_arm100/so_arm100.xml": ("arm", False, "Jaw", 0.55, "position"),
    "unitree_h1/h1.xml": ("humanoid", True, "", 1.0, "torque"),
}
REAL_URDF = {
    "allegro_left_hand.urdf": ("hand", False),
    "double_pendulum.urdf": ("other", False),
    "kinova.urdf": ("arm", False),
    "panda.urdf": ("arm", False),
    "solo12.urdf": ("quadruped", True),
    "tiago_no_hand.urdf": ("mobile", True),
}


def test_a_small_arm_is_told_from_its_structure(tmp_path):
    robot = open_robot(write_arm(tmp_path).with_name("arm.xml"))
    facts = robot.facts
    assert (facts.kind, facts.is_floating, facts.dofs) == ("arm", False, 6)
    assert robot.tool.frame == "wrist"
    assert robot.tool.position == pytest.approx((0, 0, 0.08), abs=1e-6), "between the tips of the fingers"
    assert (facts.grip.open, facts.grip.closed) == (0.03, 0.0)
    assert facts.grip.stroke == pytest.approx(0.06, abs=2e-3)
    assert describe_actuators(robot) == "5 position, 1 motor"
    assert find_start(robot) == (
        "keyframe 'home'",
        {"turn": 0.0, "lift": 0.5, "bend": 1.0, "tip": 1.0, "left": 0.03, "right": 0.03},
    )


def test_an_arm_that_blows_up_still_shows_its_gripper_and_leaves_no_litter(tmp_path, monkeypatch):
    file = write_arm(tmp_path).with_name("arm.xml")
    stiff = ARM.replace(' integrator="implicitfast"', "").replace(
        'joint="tip" kp="20" kv="2"', 'joint="tip" kp="2000" kv="80"'
    )
    file.write_text(stiff)
    monkeypatch.chdir(tmp_path)
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(None)
    try:
        robot = open_robot(file)
    finally:
        mujoco.set_mju_user_warning(before)
    assert robot.facts.grip.open == 0.03
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_which_way_is_open_is_tried_out(tmp_path):
    file = write_arm(tmp_path).with_name("arm.xml")
    file.write_text(
        ARM.replace('name="left" type="slide" axis="1 0 0"', 'name="left" type="slide" axis="-1 0 0"')
    )
    # now a larger control brings the left finger nearer to the palm's middle
    text = (
        file.read_text()
        .replace('pos="0.02 0 0.06"', 'pos="0.05 0 0.06"')
        .replace('name="right" type="slide" axis="-1 0 0"', 'name="right" type="slide" axis="1 0 0"')
        .replace('pos="-0.02 0 0.06"', 'pos="-0.05 0 0.06"')
    )
    file.write_text(text)
    grip = open_robot(file).facts.grip
    assert (grip.open, grip.closed) == (0.0, 0.03)


def test_fingers_that_cross_where_joints_are_zero_are_a_gripper(tmp_path):
    """Zero is outside of their limits, as in Trossen's WidowX 250: fingers that begin there hold each other."""
    file = write_arm(tmp_path).with_name("arm.xml")
    text = ARM
    for sign in (1, -1):
        # on the wrong side of each other at zero, and on their own in all of their range
        text = text.replace(f'pos="{0.02 * sign:g} 0 0.06"', f'pos="{-0.004 * sign:g} 0 0.06"')
        text = text.replace(f'axis="{sign} 0 0" range="0 0.03"', f'axis="{sign} 0 0" range="0.03 0.05"')
    text = text.replace('ctrlrange="0 0.03"', 'ctrlrange="0.03 0.05"')
    assert text.count("0.03 0.05") == 3
    file.write_text(text[: text.index("<keyframe")] + text[text.index("</keyframe>") + 11 :])
    grip = open_robot(file).facts.grip
    assert grip is not None
    assert (grip.open, grip.closed) == (0.05, 0.03)


def test_a_draft_is_a_manifest_of_the_same_robot(tmp_path):
    file = write_arm(tmp_path).with_name("arm.xml")
    robot = open_robot(file)
    text = render_manifest(draft_manifest(robot, "arm.xml", name="drafted"), "a comment")
    (tmp_path / "drafted.yaml").write_text(text)
    again = open_robot(tmp_path / "drafted.yaml")
    assert again.id == "drafted"
    assert again.facts.kind == robot.facts.kind
    assert again.tool.frame == robot.tool.frame
    assert again.reach == pytest.approx(robot.reach, abs=1e-3)
    assert again.gripper_actuators == robot.gripper_actuators
    assert find_start(again) == find_start(robot)


@pytest.mark.parametrize(
    ("text", "name"), [("my arm!.v2", "my_arm_.v2"), ("menagerie:a/b", "b"), ("../..", "robot")]
)
def test_names_are_made_fit(text, name):
    assert make_id(text) == name


@pytest.mark.realworld
@pytest.mark.parametrize("name", REAL)
def test_real_robots_are_told_apart(name):
    kind, floating, gripper, reach, mode = REAL[name]
    robot = open_robot(SHARED / "mjcf" / name)
    assert (robot.facts.kind, robot.facts.is_floating, robot.facts.mode) == (kind, floating, mode)
    assert [robot.facts.actuators[i].name for i in robot.gripper_actuators] == ([gripper] if gripper else [])
    assert robot.reach == pytest.approx(reach, abs=0.03)


@pytest.mark.realworld
@pytest.mark.parametrize("name", REAL_URDF)
def test_real_urdf_robots_are_told_apart(name):
    (file,) = [found for found in list_urdf() if found.endswith(f"/{name}")]
    facts = open_robot(SHARED / "urdf" / file).facts
    assert (facts.kind, facts.is_floating) == REAL_URDF[name]


@pytest.mark.realworld
def test_a_manifest_of_a_urdf_robot_in_a_ros_package(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(SHARED / "urdf"))
    for name in ("kinova.urdf", "solo12.urdf"):
        (file,) = [found for found in list_urdf() if found.endswith(f"/{name}")]
        address = f"package://{file}"
        robot = open_robot(address)
        (tmp_path / "robot.yaml").write_text(render_manifest(draft_manifest(robot, address)))
        again = open_robot(tmp_path / "robot.yaml")
        assert (again.facts.kind, again.servos) == (robot.facts.kind, robot.servos)
        assert again.file.resolve() == (SHARED / "urdf" / file).resolve()


@pytest.mark.realworld
def test_drafts_of_real_robots_are_manifests(tmp_path, monkeypatch):
    monkeypatch.setenv("MENAGERIE_ROOT", str(SHARED / "mjcf"))
    for name in list_mjcf()[::6]:
        robot = open_robot(f"menagerie:{name}")
        data = draft_manifest(robot, f"menagerie:{name}")
        text = render_manifest(data)
        assert yaml.safe_load(text) == data
        (tmp_path / "robot.yaml").write_text(text)
        again = open_robot(tmp_path / "robot.yaml")
        assert (again.facts.kind, again.facts.is_floating) == (robot.facts.kind, robot.facts.is_floating), (
            name
        )
        assert again.gripper_actuators == robot.gripper_actuators
        assert (
            again.tool == robot.tool
            or again.facts.is_floating
            or again.tool.position == pytest.approx(robot.tool.position, abs=1e-6)
        )
        assert find_start(again)[1] == pytest.approx(find_start(robot)[1], abs=1e-5), name
