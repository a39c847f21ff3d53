"""A robot and a task in one model: whose indices, whose settings, whose names."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

from simwright.core.errors import NotFoundError, ParseError, UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.engines.mujoco.actuation import ActuatorKind, hold_controls, list_actuators
from simwright.tasks.compose import compose_scene
from simwright.tasks.environments import make_rollout
from simwright.tasks.home import find_home
from simwright.tasks.specs import first_line, open_robot_file

from .manifests import ARM

GREEDY = """
<mujoco model="greedy">
  <compiler inertiafromgeom="auto" angle="degree"/>
  <option timestep="0.004" integrator="implicitfast" cone="elliptic" impratio="7"/>
  <default><geom contype="0" conaffinity="0" margin="0.1" solref="0.3 1"/></default>
  <worldbody>
    <body name="table"><joint name="turn" axis="0 0 1" range="-90 90"/><geom name="cube" size="0.1" mass="1"/>
      <body pos="0.3 0 0"><joint name="bend" axis="0 1 0" range="-180 -10"/><geom size="0.1" mass="1"/></body>
    </body>
    <body name="float" pos="0 0 2"><freejoint/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <tendon><fixed name="both"><joint joint="turn" coef="1"/><joint joint="bend" coef="1"/></fixed></tendon>
  <actuator>
    <position name="p" joint="turn" kp="10"/>
    <general name="t" tendon="both" gainprm="0.1" biasprm="0 -25.5 0" biastype="affine" ctrlrange="-255 255"/>
    <motor name="m" joint="bend"/><velocity name="v" joint="bend" kv="1"/>
  </actuator>
  <keyframe><key name="home" qpos="0.5 -1 0 0 3 1 0 0 0" ctrl="0.5 0 0 0"/></keyframe>
</mujoco>"""


def add_cube(spec) -> None:
    body = spec.worldbody.add_body(name="cube", pos=[5, 0, 1])
    body.add_freejoint(name="cube")
    body.add_geom(name="cube", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1], mass=0.5)
    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])


@pytest.fixture
def greedy(tmp_path):
    """A robot whose defaults would spoil the task, with names that the task uses too, and two roots."""
    file = tmp_path / "greedy.xml"
    file.write_text(GREEDY)
    return open_robot_file(file)


def test_the_robot_keeps_its_low_indices(greedy):
    composed = compose_scene(greedy, add_cube)
    assert (composed.robot_nq, composed.robot_nv, composed.robot_nu, composed.robot_nbody) == (9, 8, 4, 3)
    model = composed.model
    assert [model.actuator(i).name for i in range(4)] == ["robot/p", "robot/t", "robot/m", "robot/v"]
    assert model.joint("cube").qposadr[0] == 9


def test_nothing_of_the_robot_leaks_into_the_task(greedy):
    model = compose_scene(greedy, add_cube).model
    cube = model.geom("cube")
    assert (cube.contype[0], cube.conaffinity[0], cube.margin[0]) == (1, 1, 0.0)
    assert cube.solref.tolist() == [0.02, 1.0]
    data = mujoco.MjData(model)
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert data.body("cube").xpos[2] == pytest.approx(0.1, abs=2e-3), "it stands on the ground"


def test_the_options_of_the_robot_count_but_for_the_time_step(greedy):
    composed = compose_scene(greedy, add_cube, period=0.01)
    option = composed.model.opt
    assert option.impratio == 7.0
    assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert option.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert composed.substeps == 3, "0.004 s does not divide 0.01 s: three steps of a third"
    assert option.timestep * composed.substeps == pytest.approx(0.01, rel=1e-12)


def test_all_roots_are_placed_as_one(greedy):
    base = Pose.of([1, 2, 3], quat_from_axis_angle([0, 0, 1], np.pi / 2))
    composed = compose_scene(greedy, add_cube, base=base)
    home = find_home(composed)
    data = mujoco.MjData(composed.model)
    data.qpos[:] = home.qpos
    mujoco.mj_forward(composed.model, data)
    assert data.body("robot/table").xpos == pytest.approx([1, 2, 3])
    assert data.body("robot/float").xpos == pytest.approx([1, 2, 6]), "the keyframe, moved along"
    assert data.body("robot/float").xquat == pytest.approx(base.q)
    assert home.origin == "keyframe 'home'"
    assert data.qpos[:2] == pytest.approx([0.5, -1.0])
    assert data.body("cube").xpos == pytest.approx([5, 0, 1]), "the task stays where it is"


def test_actuators_are_told_apart_by_their_numbers(greedy):
    composed = compose_scene(greedy, add_cube)
    kinds = [(a.kind, a.transmission) for a in list_actuators(composed.model)]
    assert kinds == [
        (ActuatorKind.POSITION, "joint"),
        (ActuatorKind.POSITION, "tendon"),
        (ActuatorKind.MOTOR, "joint"),
        (ActuatorKind.VELOCITY, "joint"),
    ]
    qpos = np.array(composed.model.qpos0)
    qpos[:2] = 0.2, -0.5
    held = hold_controls(composed.model, qpos)
    assert held[:4] == pytest.approx([0.2, 255.0 * (0.2 - 0.5), 0.0, 0.0])


def test_without_a_keyframe_joints_start_inside_their_limits(tmp_path):
    file = tmp_path / "bent.xml"
    file.write_text(GREEDY[: GREEDY.index("<keyframe>")] + "</mujoco>")
    composed = compose_scene(open_robot_file(file), add_cube)
    home = find_home(composed)
    assert home.origin == "zero"
    assert home.qpos[:2] == pytest.approx([0.0, np.radians(-95)])
    told = find_home(composed, joints={"bend": -0.3})
    assert told.qpos[1] == -0.3
    with pytest.raises(UnknownNameError, match="did you mean 'bend'"):
        find_home(composed, joints={"bent": 0.0})
    with pytest.raises(UnknownNameError, match="keyframe"):
        find_home(composed, keyframe="rest")


def test_a_urdf_robot_is_composed_through_the_model(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(
        "<robot name='arm'><link name='base'/><link name='tip'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='j' type='revolute'><parent link='base'/><child link='tip'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"
    )
    source = open_robot_file(file)
    model = compose_scene(source, add_cube).model
    assert model.joint("robot/j").range == pytest.approx([-1, 1])


def test_refusals_name_the_robot(tmp_path, greedy):
    with pytest.raises(NotFoundError, match="not there"):
        open_robot_file(tmp_path / "no.xml")
    file = tmp_path / "bad.xml"
    file.write_text("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(ParseError, match="cannot compile the robot") as caught:
        compose_scene(open_robot_file(file), add_cube)
    assert str(file) in str(caught.value)
    file.write_text(GREEDY[:300])
    with pytest.raises(ParseError, match=r"bad\.xml:\d+:\d+: the XML is not well-formed"):
        open_robot_file(file)
    file.write_text("<!DOCTYPE m [<!ENTITY a 'b'>]>" + GREEDY)
    with pytest.raises(ParseError, match="entities"):
        open_robot_file(file)
    with pytest.raises(UsageError, match="period"):
        compose_scene(greedy, add_cube, period=0.0)


def test_the_first_line_of_what_mujoco_says_is_told():
    assert first_line(ValueError("\n  \n  Error: no mesh  \nElement geom, line 3")) == "Error: no mesh"
    assert first_line(ValueError("")) == "unknown error"


def test_a_total_mass_that_the_robot_file_sets_stays(tmp_path):
    """MuJoCo scales masses of the whole model only: of an attached robot it forgets the attribute without a word."""
    file = tmp_path / "arm.xml"
    inertial = '<inertial pos="0 0 0.05" mass="2" diaginertia="0.02 0.02 0.01"/><site name="flange"'
    for text in (ARM, ARM.replace('<site name="flange"', inertial)):
        file.write_text(text.replace('angle="degree"', 'angle="degree" settotalmass="7"'))
        with warnings.catch_warnings():
            # MuJoCo would rather not have the attribute
            warnings.simplefilter("ignore")
            alone = mujoco.MjModel.from_xml_path(str(file))
            rollout = make_rollout("tabletop_push", file)
        count = rollout.composed.robot_nbody + 1
        assert rollout.model.body_mass[1:count] == pytest.approx(alone.body_mass[1:], rel=1e-9)
        assert rollout.model.body_inertia[1:count] == pytest.approx(alone.body_inertia[1:], rel=1e-9)
        assert alone.body_mass.sum() == pytest.approx(7.0)
