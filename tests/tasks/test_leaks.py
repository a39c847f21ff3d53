# SPDX-License-Identifier: Apache-2.0
"""Real robots in a task: every number of the robot is its own, every number of the task is the same with any robot."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.engines.mujoco.actuation import list_actuators
from simwright.tasks.compose import compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.robot import open_robot
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.specs import compile_spec, open_robot_file

from .shared_robots import SHARED, list_mjcf

pytestmark = pytest.mark.realworld
ROBOTS = list_mjcf()
OWN = {
    "body": ("mass", "inertia", "ipos", "iquat", "pos", "quat", "gravcomp"),
    "jnt": ("type", "axis", "pos", "range", "limited", "stiffness", "solref", "solimp", "margin", "actfrcrange"),
    "dof": ("damping", "armature", "frictionloss", "solref", "solimp"),
    "actuator": (
        "gainprm", "biasprm", "ctrlrange", "forcerange", "ctrllimited", "forcelimited", "gear", "trntype", "dynprm",
        "gaintype", "biastype",
    ),
    "geom": (
        "type", "size", "pos", "quat", "contype", "conaffinity", "condim", "friction", "solref", "solimp", "solmix",
        "margin", "gap", "priority", "group",
    ),
    "tendon": ("range", "stiffness", "damping", "limited"),
    "eq": ("type", "data", "solref", "solimp", "active0"),
}  # fmt: skip
"""Attributes of the compiled model that are the robot's own, by the prefix of their arrays."""
OPTIONS = (
    "integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance",
    "noslip_iterations", "noslip_tolerance", "ccd_iterations", "impratio", "gravity", "wind", "density", "viscosity",
    "o_margin", "o_solref", "o_solimp", "disableflags", "enableflags",
)  # fmt: skip
COUNTS = {
    "body": "nbody",
    "jnt": "njnt",
    "dof": "nv",
    "actuator": "nu",
    "geom": "ngeom",
    "tendon": "ntendon",
    "eq": "neq",
}


def add_task(spec):
    scene = SCENES.get("tabletop_push")
    scene.add(spec, scene.options())


@pytest.fixture(scope="module")
def composed():
    """Every robot, alone and in the task, as its file has it."""
    found = {}
    for name in ROBOTS:
        source = open_robot_file(SHARED / "mjcf" / name)
        alone = compile_spec(source.make_spec(), "the robot", None)
        found[name] = alone, compose_scene(source, add_task)
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_the_robot_keeps_every_number(composed, name):
    alone, scene = composed[name]
    model = scene.model
    for prefix, attributes in OWN.items():
        count = getattr(alone, COUNTS[prefix])
        rows = slice(1, count) if prefix == "body" else slice(0, count)
        if prefix == "geom":
            # geoms of the world itself come first in either model; the robot's are those of its bodies
            own = [np.flatnonzero(np.isin(m.geom_bodyid, np.arange(1, alone.nbody))) for m in (alone, model)]
            assert len(own[0]) == len(own[1])
        else:
            own = [rows, rows]
        for attribute in attributes:
            array = f"{prefix}_{attribute}"
            a, b = getattr(alone, array)[own[0]], getattr(model, array)[own[1]]
            if prefix == "body" and attribute in ("pos", "quat"):
                np.testing.assert_allclose(b, a, rtol=0, atol=1e-15, err_msg=array)
            else:
                np.testing.assert_array_equal(b, a, err_msg=array)
    for option in OPTIONS:
        np.testing.assert_array_equal(getattr(model.opt, option), getattr(alone.opt, option), err_msg=option)
    assert model.opt.timestep <= alone.opt.timestep * (1 + 1e-9)
    assert model.opt.timestep * scene.substeps == pytest.approx(0.02, rel=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_robot_comes_first(composed, name):
    alone, scene = composed[name]
    model = scene.model
    for kind, count in (("joint", alone.njnt), ("actuator", alone.nu), ("body", alone.nbody)):
        start = 1 if kind == "body" else 0
        names = [[getattr(m, kind)(i).name for i in range(start, count)] for m in (alone, model)]
        assert [name and f"robot/{name}" for name in names[0]] == [
            name if name != "robot/" else "" for name in names[1]
        ]
    assert model.joint("cube").qposadr[0] == alone.nq
    assert model.joint("cube").dofadr[0] == alone.nv
    assert model.nu == alone.nu
    kinds = [[(a.kind, a.transmission, a.joint) for a in list_actuators(m)] for m in (alone, model)]
    assert kinds[0] == kinds[1]
    site = mujoco.mjtTrn.mjTRN_SITE
    for actuator in range(model.nu):
        ids = [int(m.actuator_trnid[actuator, 0]) for m in (alone, model)]
        if model.actuator_trntype[actuator] == site:
            # the task's mark hangs on the world, whose sites come first
            assert model.site(ids[1]).name == f"robot/{alone.site(ids[0]).name}"
        else:
            assert ids[0] == ids[1]


def test_the_task_is_the_same_with_every_robot(composed):
    def describe(model):
        told = {}
        for geom in ("table_top", "ground", "cube_geom"):
            told[geom] = {a: np.array(getattr(model, f"geom_{a}")[model.geom(geom).id]) for a in OWN["geom"]}
        cube = model.body("cube").id
        told["cube"] = {a: np.array(getattr(model, f"body_{a}")[cube]) for a in OWN["body"]}
        dof = model.joint("cube").dofadr[0]
        told["joint"] = {a: np.array(getattr(model, f"dof_{a}")[dof : dof + 6]) for a in OWN["dof"]}
        for camera in ("top", "front"):
            number = model.camera(camera).id
            told[camera] = {
                a: np.array(getattr(model, f"cam_{a}")[number]) for a in ("pos", "quat", "fovy", "mode")
            }
        site = model.site("goal").id
        told["goal"] = {
            a: np.array(getattr(model, f"site_{a}")[site]) for a in ("pos", "size", "type", "group", "rgba")
        }
        return told

    first = describe(composed[ROBOTS[0]][1].model)
    for name in ROBOTS[1:]:
        other = describe(composed[name][1].model)
        for thing, values in first.items():
            for attribute, value in values.items():
                np.testing.assert_array_equal(
                    other[thing][attribute], value, err_msg=f"{name} {thing} {attribute}"
                )


@pytest.mark.parametrize("name", ROBOTS)
def test_the_cube_lies_on_the_table_and_nothing_blows_up(composed, name):
    scene = composed[name][1]
    model, data = scene.model, mujoco.MjData(scene.model)
    home = find_home(scene)
    data.qpos[:], data.ctrl[:] = home.qpos, home.ctrl
    first = int(model.joint("cube").qposadr[0])
    data.qpos[first : first + 3] = [0.3, 0.6, 0.025]
    for _ in range(20 * scene.substeps):
        mujoco.mj_step(model, data)
    assert data.qpos[first + 2] == pytest.approx(0.025, abs=2e-3)
    assert not any(warning.number for warning in data.warning)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_home_of_the_file_is_used_and_moves_with_the_base(composed, name):
    alone = composed[name][0]
    robot = open_robot(SHARED / "mjcf" / name)
    base = Pose.from_rpy([0.5, -0.3, 0.2], [0.1, -0.2, 1.0])
    here, there = (
        compose_scene(robot.source, add_task, base=b, amend_robot=robot.amend) for b in (Pose.of(), base)
    )
    states = []
    for scene in (here, there):
        home = find_home(scene)
        data = mujoco.MjData(scene.model)
        data.qpos[:] = home.qpos
        mujoco.mj_kinematics(scene.model, data)
        states.append((home, np.array(data.xpos[1 : 1 + scene.robot_nbody])))
    keys = [alone.key(i).name for i in range(alone.nkey)]
    if "home" in keys:
        assert states[0][0].origin == "keyframe 'home'"
        np.testing.assert_allclose(states[0][0].qpos[: alone.nq], alone.key("home").qpos, atol=1e-12)
    np.testing.assert_allclose(states[1][1], base.apply(states[0][1]), atol=1e-9)
