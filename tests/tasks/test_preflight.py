# SPDX-License-Identifier: Apache-2.0
"""What is said before anything moves, and drawing a workspace to a robot."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import simwright
from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import InputError
from simwright.tasks.fitting import fit_scene, make_reach_tester
from simwright.tasks.preflight import PreflightError, preflight
from simwright.tasks.robot import open_robot
from simwright.tasks.scenes.table import SCENES

from .manifests import ARM, write_arm


def codes(report, level=None):
    return sorted(found.kind for found in report.findings if level in (None, found.level.value))


@pytest.fixture
def toy(tmp_path):
    return open_robot(write_arm(tmp_path))


@pytest.fixture(scope="module")
def arm():
    return open_robot("sample_arm")


def test_a_robot_that_fits_is_clear_and_ready(arm):
    report = simwright.preflight("tabletop_push", arm)
    assert report.is_clear
    assert codes(report) == ["preflight-servos-added"]
    assert report.expect_clear().action_size == 7


def test_what_a_scene_needs_is_held_against_what_a_robot_has(toy, tmp_path):
    scene = SCENES.get("pick_place")
    assert "preflight-needs-gripper" not in codes(preflight(scene, toy))
    bare = dataclasses.replace(toy, tool=None, facts=dataclasses.replace(toy.facts, grip=None))
    assert codes(preflight(scene, bare), "error") == ["preflight-needs-gripper", "preflight-needs-tool"]
    floating = open_robot(write_arm(tmp_path, "base: floating\n"))
    assert "preflight-needs-fixed-base" in codes(preflight("reach", floating))
    assert "preflight-needs-floating-base" in codes(preflight("locomotion_flat", toy))


def test_a_scene_for_one_robot_takes_no_other(toy):
    scene = dataclasses.replace(SCENES.get("reach"), fixed_robot="panda")
    report = preflight(scene, toy)
    assert codes(report) == ["preflight-wrong-robot"]
    assert report.rollout is None


def test_reach_is_tried_out_corner_by_corner(toy):
    far = {"goal_range": [[-0.1, 0.1], [1.2, 1.4], [0.2, 0.4]]}
    report = preflight("reach", toy, options=far)
    assert codes(report, "error") == ["preflight-out-of-reach"]
    with pytest.raises(PreflightError, match="'toy' cannot do 'reach': none of the 8 corners") as caught:
        report.expect_clear()
    assert "--fit" in caught.value.hint
    assert caught.value.exit_code == 2
    partly = {"goal_range": [[-0.1, 0.1], [0.3, 1.4], [0.2, 0.4]]}
    report = preflight("reach", toy, options=partly)
    assert report.is_clear, "some episodes can be won"
    (finding,) = [found for found in report.findings if found.kind == "preflight-partly-out-of-reach"]
    assert finding.data["missed"] == 4


def test_joint_limits_count_not_only_the_distance(tmp_path):
    forward = """
        joints:
          - {name: turn, lower: -0.5, upper: 0.5}
          - {name: lift, lower: 0}
          - {name: bend, lower: 0}
          - {name: tip, lower: 0}
        """
    free, bound = (
        open_robot(write_arm(tmp_path / name, lines)) for name, lines in (("a", ""), ("b", forward))
    )
    behind = {"goal_range": [[-0.1, 0.1], [-0.4, -0.3], [0.3, 0.4]], "robot_base_yaw_deg": 90}
    assert preflight("reach", free, options=behind).is_clear
    assert "preflight-out-of-reach" in codes(preflight("reach", bound, options=behind), "error")


def test_fit_draws_the_workspace_in_until_all_of_it_is_reached(toy):
    scene = SCENES.get("tabletop_push")
    wide = scene.options.model_validate(
        {"cube_spawn_xy_range": [[-0.3, 0.3], [0.5, 0.7]], "goal_spawn_xy_range": [[-0.3, 0.3], [0.8, 1.0]]}
    )
    fitted = fit_scene(scene, wide, toy)
    assert fitted.reached == fitted.total == 8
    assert 0.3 < fitted.factor < 0.75
    corners = scene.workspace(fitted.options)
    assert np.all(np.linalg.norm(corners[:, :2], axis=1) <= 1.0)
    assert fitted.options.goal_spawn_xy_range[1][1] == pytest.approx(fitted.factor * 1.0)
    assert make_reach_tester(toy, scene.base(fitted.options, toy.forward)).test(corners).all()
    again = fit_scene(scene, fitted.options, toy)
    assert again.factor == 1.0
    assert again.options is fitted.options, "what is reached stays as it is"
    report = preflight(scene, toy, options=wide, fit=True)
    assert not [code for code in codes(report) if "reach" in code]


def test_a_shoulder_that_would_stand_in_the_table_is_raised(tmp_path):
    file = write_arm(tmp_path, "")
    # a collar of the first moving link that reaches below the base, as the shoulders of some arms do
    collar = '<geom type="cylinder" size="0.03 0.03" pos="0 0 -0.2" mass="0.01"/>'
    (tmp_path / "arm.xml").write_text(
        ARM.replace('<geom size="0.04" mass="1"/>', '<geom size="0.04" mass="1"/>' + collar)
    )
    robot = open_robot(file)
    scene = SCENES.get("tabletop_push")
    assert "preflight-start-collides" in codes(preflight(scene, robot), "error")
    assert "preflight-start-collides" not in codes(preflight(scene, robot, fit=True), "error")
    assert fit_scene(scene, scene.options(), robot).options.robot_base_xyz[2] > 0.0


def test_an_arm_that_cannot_come_down_is_told_before(toy):
    near = {
        "cube_spawn_xy_range": [[-0.02, 0.02], [0.02, 0.05]],
        "goal_spawn_xy_range": [[-0.02, 0.02], [0.06, 0.08]],
    }
    assert "preflight-tool-cannot-work" in codes(preflight("tabletop_push", toy, options=near))


def test_what_does_not_go_between_the_fingers_is_told_before(arm):
    assert "preflight-gripper-too-small" not in codes(preflight("pick_place", arm, mode="position"))
    wide = preflight("pick_place", arm, mode="position", options={"cube_half": 0.06})
    assert "preflight-gripper-too-small" in codes(wide, "warning")


def test_a_task_that_is_set_back_keeps_its_distances():
    scene = SCENES.get("tabletop_push")
    options = scene.options.model_validate({})
    base = scene.base(options, 0.0)
    far = scene.scale(options, 1.5, base)
    shift = scene.workspace(far) - scene.workspace(options)
    assert shift == pytest.approx(np.broadcast_to(shift[0], shift.shape)), "moved as a whole"
    assert shift[0, 1] == pytest.approx(0.5 * scene.workspace(options)[:, 1].mean())
    near_edge = [o.table_center_xy[1] - 0.5 * o.table_size_xy[1] for o in (options, far)]
    assert near_edge[0] == pytest.approx(near_edge[1]), "the robot still stands on the table"


def test_what_cannot_be_fitted_says_so(tmp_path):
    short = ARM.replace('range="-150 150"', 'range="0 1"').replace('range="-120 120"', 'range="0 0.01"')
    file = write_arm(tmp_path, "joints: [{name: turn, lower: 0, upper: 0.01}]\n")
    (tmp_path / "arm.xml").write_text(short[: short.index("<keyframe>")] + "</mujoco>")
    scene = SCENES.get("tabletop_push")
    with pytest.raises(InputError, match="reaches nothing of the task"):
        fit_scene(scene, scene.options(), open_robot(file))


def test_the_start_is_looked_at(tmp_path):
    file = write_arm(tmp_path, "sim: {mjcf_uri: arm.xml}\n")
    (tmp_path / "arm.xml").write_text(ARM.replace('qpos="0 0.5 1 1 ', 'qpos="0 2.09 2.7 1 '))
    report = preflight("tabletop_push", open_robot(file))
    (outside,) = [found for found in report.findings if found.kind == "preflight-start-outside-limits"]
    assert outside.data["joint"] == "bend"
    assert "keyframe 'home'" in outside.message
    folded = open_robot(
        write_arm(tmp_path, "joints: [{name: lift, home: 2}, {name: bend, home: 0}, {name: tip, home: 0}]\n")
    )
    report = preflight("tabletop_push", folded)
    inside = [found for found in report.errors if found.kind == "preflight-start-collides"]
    assert "table_top" in {found.data["thing"] for found in inside}
    assert all(found.data["depth"] > 0.01 for found in inside)
    through = open_robot(
        write_arm(
            tmp_path, "joints: [{name: lift, home: 2}, {name: bend, home: 0.3}, {name: tip, home: 0}]\n"
        )
    )
    report = preflight("tabletop_push", through)
    parts = {found.data["part"] for found in report.errors if found.data.get("thing") == "table_top"}
    assert parts == {"lower"}, "no surface touches the table, the link goes through it"
    knot = open_robot(
        write_arm(
            tmp_path, "joints: [{name: lift, home: 0}, {name: bend, home: 2.6}, {name: tip, home: 2}]\n"
        )
    )
    assert "preflight-start-collides-with-itself" in codes(preflight("tabletop_push", knot), "warning")


def test_actuators_are_held_against_the_mode(toy):
    by_mode = {
        mode: preflight("reach", toy, mode=mode) for mode in ("position", "velocity", "torque", "pose")
    }
    between = [
        found for found in by_mode["position"].findings if found.kind == "preflight-controller-between"
    ]
    assert between[0].data["names"] == "a_lift_more"
    assert "preflight-made-motors" in codes(by_mode["torque"])
    assert "preflight-unbounded-force" in codes(by_mode["torque"], "warning")
    assert by_mode["pose"].is_clear
    bare = dataclasses.replace(toy, tool=None, amendment=dataclasses.replace(toy.amendment, tool=None))
    report = preflight("reach", bare, mode="pose")
    assert "preflight-cannot-be-set-up" in codes(report, "error")


def test_a_time_step_that_does_not_fit_is_told(toy):
    (finding,) = [f for f in preflight("reach", toy).findings if f.kind == "preflight-step-changed"]
    assert finding.data == {"own": 0.003, "period": 0.02, "count": 7, "used": pytest.approx(0.02 / 7)}
    assert "preflight-step-changed" not in codes(preflight("reach", toy, period=0.03))


def test_wrong_options_are_named(toy):
    with pytest.raises(InvalidDocumentError, match="did you mean 'goal_radius'"):
        preflight("reach", toy, options={"goal_radiu": 1})


STUCK = """
<mujoco>
  <option integrator="implicitfast"/>
  <default><geom friction="2 0.1 0.1"/></default>
  <worldbody>
    <body name="base">
      <geom type="cylinder" size="0.08 0.05" pos="0 0 0.05" mass="5"/>
      <body name="shoulder" pos="0 0 0.1">
        <joint name="turn" axis="0 0 1" range="-3 3" damping="0.5"/>
        <geom type="cylinder" size="0.08 0.05" pos="0 0 {sunk}" mass="2"/>
        <body name="upper" pos="0 0 0.2">
          <joint name="lift" axis="0 1 0" range="-2 2" damping="0.5"/>
          <geom type="capsule" size="0.02" fromto="0 0 0.05 0.4 0 0.05" mass="0.5"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="turn" kp="20" kv="2" forcerange="-8 8"/><position joint="lift" kp="80" kv="8"/>
  </actuator>
</mujoco>
"""


@pytest.mark.parametrize("mode", ["position", "pose"])
@pytest.mark.parametrize(("sunk", "held"), [(0.038, True), (0.0495, True), (0.06, False)])
def test_a_joint_that_the_robots_own_parts_hold_is_told(tmp_path, sunk, held, mode):
    file = tmp_path / "arm.xml"
    file.write_text(STUCK.format(sunk=sunk))
    report = preflight("reach", file, mode=mode)
    told = [found for found in report.findings if found.kind == "preflight-joint-held"]
    assert bool(told) is held
    assert all("'turn'" in found.message for found in told), "the other joint goes"


@pytest.mark.parametrize("mode", ["position", "pose"])
@pytest.mark.parametrize(("force", "weak"), [("0.01", True), ("8", False)])
def test_a_joint_that_stands_still_with_nothing_in_its_way_is_told(tmp_path, force, weak, mode):
    file = tmp_path / "arm.xml"
    text = STUCK.format(sunk=0.06).replace('damping="0.5"/>', 'damping="0.5" frictionloss="0.2"/>', 1)
    file.write_text(text.replace('forcerange="-8 8"', f'forcerange="-{force} {force}"'))
    report = preflight("reach", file, mode=mode)
    told = [found for found in report.findings if found.kind == "preflight-joint-weak"]
    assert [found.data["joint"] for found in told] == (["turn"] if weak else [])
    assert all(found.data["percent"] < 15 for found in told)


def test_actuators_that_give_no_force_are_replaced_by_servos(tmp_path):
    file = tmp_path / "arm.xml"
    # as transmissions of URDF arrive: a drive without gains
    file.write_text(
        re.sub(r'<position (joint="\w+")[^>]*/>', r'<general \1 gainprm="0"/>', STUCK.format(sunk=0.06))
    )
    report = preflight("reach", file, mode="position")
    (added,) = [found for found in report.findings if found.kind == "preflight-servos-added"]
    assert added.data["count"] == 2
    assert report.rollout is not None
    report.rollout.reset(seed=0)
    for _ in range(60):
        report.rollout.step(np.array([0.04, 0.0]))
    assert report.rollout.qpos[0] == pytest.approx(0.04, abs=0.005)
