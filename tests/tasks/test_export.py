# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it, written and read again: the same masses, joints and places."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simwright
from simwright.core.diag import Level, Reporter
from simwright.core.errors import OutputError
from simwright.tasks.export import export_scene
from simwright.tasks.robot import open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

CASES = (("sample_arm", "drawer"), ("sample_quadruped", "locomotion_flat"), ("sample_arm", "peg_insert"))


@pytest.fixture(scope="module")
def robots():
    return {name: open_robot(name) for name in ("sample_arm", "sample_quadruped")}


def compare_models(written, run, rollout):
    assert (written.nq, written.nv, written.nu, written.nbody) == (run.nq, run.nv, run.nu, run.nbody)
    assert written.body_mass == pytest.approx(run.body_mass, rel=1e-5)
    assert written.body_inertia == pytest.approx(run.body_inertia, rel=1e-4, abs=1e-9)
    assert written.jnt_range == pytest.approx(run.jnt_range, abs=1e-5)
    assert written.actuator_gainprm == pytest.approx(run.actuator_gainprm, rel=1e-5)
    assert written.geom_contype.tolist() == run.geom_contype.tolist()
    assert written.opt.integrator == run.opt.integrator
    assert written.opt.timestep == pytest.approx(run.opt.timestep)
    assert written.key("start").qpos == pytest.approx(rollout.data.qpos, abs=1e-5)
    assert written.key("start").ctrl == pytest.approx(rollout.data.ctrl, abs=1e-5)


@pytest.mark.parametrize(("name", "task"), CASES)
def test_mjcf_compiles_to_the_model_that_is_run(tmp_path, robots, name, task):
    scene, robot = SCENES.get(task), robots[name]
    file = export_scene(scene, robot, tmp_path / "out" / "scene.xml", seed=4)
    rollout = SimRollout(scene, robot)
    rollout.reset(4)
    written = mujoco.MjModel.from_xml_path(str(file))
    compare_models(written, rollout.model, rollout)
    data = mujoco.MjData(written)
    mujoco.mj_resetDataKeyframe(written, data, 0)
    mujoco.mj_kinematics(written, data)
    mujoco.mj_kinematics(rollout.model, rollout.data)
    assert data.xpos == pytest.approx(rollout.data.xpos, abs=1e-4)


@pytest.mark.parametrize(("name", "task"), CASES[:2])
def test_openusd_has_no_errors_and_the_same_masses_and_joints(tmp_path, robots, name, task):
    scene, robot = SCENES.get(task), robots[name]
    reporter = Reporter()
    file = export_scene(scene, robot, tmp_path / task / f"{task}.usda", reporter=reporter)
    assert not reporter.has(Level.ERROR)
    assert not any("simwright-scene" in str(found) for found in reporter), "no trace of where it was staged"
    found = [finding for asset in simwright.check(file).assets for finding in asset.findings]
    assert [finding for finding in found if finding.level is Level.ERROR] == []
    model = SimRollout(scene, robot).model
    asset = simwright.load(file)
    mass = sum(body.inertial.mass for body in asset.bodies if body.inertial)
    assert mass == pytest.approx(float(np.sum(model.body_mass)), rel=1e-5)
    wanted = {model.joint(i).name.replace("/", "_") for i in range(model.njnt) if model.jnt_type[i] >= 2}
    assert wanted <= {joint.name.replace("/", "_") for joint in asset.joints}


def test_sdformat_has_the_same_masses(tmp_path, robots):
    scene, robot = SCENES.get("tabletop_push"), robots["sample_arm"]
    asset = simwright.load(export_scene(scene, robot, tmp_path / "push.sdf"))
    mass = sum(body.inertial.mass for body in asset.bodies if body.inertial)
    assert mass == pytest.approx(float(np.sum(SimRollout(scene, robot).model.body_mass)), rel=1e-5)


def test_gltf_shows_the_robot_and_the_cube_where_it_starts(tmp_path, robots):
    import trimesh

    scene, robot = SCENES.get("tabletop_push"), robots["sample_arm"]
    shown = trimesh.load(export_scene(scene, robot, tmp_path / "push.glb", seed=2))
    rollout = SimRollout(scene, robot)
    cube = rollout.reset(2)["cube"]
    names = [node for node in shown.graph.nodes_geometry if "cube" in node]
    assert names
    matrix, _ = shown.graph[names[0]]
    x, up, y = matrix[:3, 3]
    assert (x, -y, up) == pytest.approx(cube[:3], abs=1e-5), "glTF has Y up"
    assert any("gripper_palm" in node for node in shown.graph.nodes)


def test_nothing_is_replaced_unasked(tmp_path, robots):
    scene, robot = SCENES.get("reach"), robots["sample_arm"]
    export_scene(scene, robot, tmp_path / "reach.xml")
    with pytest.raises(OutputError, match="there is a file already"):
        export_scene(scene, robot, tmp_path / "reach.xml")


@pytest.mark.realworld
def test_a_robot_of_menagerie_keeps_tendons_and_meshes(tmp_path, shared_assets):
    robot = open_robot(shared_assets / "mjcf" / "franka_emika_panda" / "panda.xml")
    scene = SCENES.get("tabletop_push")
    file = export_scene(scene, robot, tmp_path / "push.xml")
    rollout = SimRollout(scene, robot)
    rollout.reset(0)
    written = mujoco.MjModel.from_xml_path(str(file))
    compare_models(written, rollout.model, rollout)
    assert written.ntendon == 1
    assert written.nmesh == rollout.model.nmesh
