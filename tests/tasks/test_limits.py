# SPDX-License-Identifier: Apache-2.0
"""Whatever is asked of a robot, no time step ends with a joint beyond its speed, and no drive beyond its effort."""

from __future__ import annotations

import shutil

import mujoco
import numpy as np
import pytest
import yaml

from simwright.engines.mujoco.queries import stop_joints
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_rollout
from simwright.tasks.robot import open_robot

from ..conftest import SAMPLES, SHARED_ASSETS

MODES = ["position", "velocity", "torque", "pose"]


class Watch:
    """Looks at every time step: the largest share of speed and effort of each joint."""

    def __init__(self, rollout):
        self.rollout, model = rollout, rollout.model
        limits = rollout.controller.speed_limits
        assert limits, "nothing would be tested"
        self.joints, self.fastest = list(limits), np.array(list(limits.values()))
        self.dofs = model.jnt_dofadr[self.joints]
        bounded = np.asarray(model.jnt_actfrclimited, dtype=bool)[self.joints]
        self.efforts = np.where(bounded, model.jnt_actfrcrange[self.joints, 1], np.inf)
        self.speed, self.effort = np.zeros(len(self.joints)), np.zeros(len(self.joints))
        rollout.watch = self

    def begin_episode(self):
        pass

    def before_step(self):
        pass

    def after_step(self):
        self.speed = np.maximum(self.speed, np.abs(self.rollout.qvel[self.dofs]) / self.fastest)
        force = np.abs(self.rollout.data.qfrc_actuator[self.dofs])
        self.effort = np.maximum(self.effort, force / self.efforts)


def shake(rollout, steps, seed):
    """Actions at the ends of their ranges: what moves a robot most."""
    rng = np.random.default_rng(seed)
    rollout.reset(seed=seed)
    watch = Watch(rollout)
    low, high = rollout.controller.bounds
    hold = rollout.controller.hold()
    low, high = np.where(np.isfinite(low), low, hold - 2.0), np.where(np.isfinite(high), high, hold + 2.0)
    action = hold
    for step in range(steps):
        if step % int(rng.integers(1, 6)) == 0:
            action = np.where(rng.random(len(low)) > 0.5, low, high)
        if rollout.step(action).terminated:
            rollout.reset(seed=seed + step + 1)
    return watch


@pytest.mark.parametrize("mode", MODES)
def test_any_action_keeps_the_limits_of_the_sample_arm(mode, arm):
    watch = shake(make_rollout("reach", arm, mode=mode), 60, seed=1)
    assert watch.speed.max() <= 1.0 + 1e-9
    assert watch.speed.max() > 0.5, "and it does move"
    assert watch.effort.max() <= 1.0 + 1e-9
    assert watch.effort.max() > 0.2


def write_manifest(tmp_path, source, speed, effort):
    """A copy of a robot whose manifest limits all its joints; manifests may not name files outside of their folder."""
    shutil.copytree(source.parent, tmp_path / "robot")
    model = mujoco.MjModel.from_xml_path(str(source))
    single = [j for j in range(model.njnt) if model.jnt_type[j] >= 2]
    joints = [{"name": model.joint(j).name, "velocity": speed, "effort": effort} for j in single]
    said = {"id": "shaken", "joints": joints, "sim": {"mjcf_uri": f"robot/{source.name}"}}
    (tmp_path / "robot.yaml").write_text(yaml.safe_dump(said))
    return open_robot(tmp_path / "robot.yaml")


@pytest.mark.parametrize("mode", ["position", "torque"])
def test_a_floating_robot_keeps_them_too(mode, tmp_path):
    robot = write_manifest(tmp_path, SAMPLES / "quadruped" / "quadruped.xml", 6.0, 20.0)
    watch = shake(make_rollout("locomotion_flat", robot, mode=mode), 40, seed=2)
    assert 0.9 < watch.speed.max() <= 1.0 + 1e-9
    assert watch.effort.max() <= 1.0 + 1e-9


def test_worlds_that_are_braked_and_worlds_that_are_not_move_as_alone(tmp_path):
    """Worlds of a batch take all time steps of an action at once unless a joint has to be braked in between."""
    robot = write_manifest(tmp_path, SAMPLES / "quadruped" / "quadruped.xml", 2.5, 20.0)
    rollout = make_rollout("locomotion_flat", robot)
    batch = BatchRollout(rollout, 4)
    batch.reset([0, 1, 2, 3])
    low, high = rollout.controller.bounds
    hold = rollout.controller.hold()
    rng = np.random.default_rng(4)
    actions = []
    for number in range(12):
        wild = np.where(rng.random((4, len(hold))) > 0.5, low, high)
        # worlds 0 and 1 stand; 2 is wild now and then, 3 always
        actions.append(np.stack([hold, hold, wild[2] if 3 <= number <= 7 else hold, wild[3]]))
    braked = []
    for action in actions:
        batch.step(action)
        braked.append(batch.braked.copy())
    assert not np.any(braked, axis=0)[:2].any()
    assert np.any(braked, axis=0)[2:].all()
    assert not np.all(braked, axis=0)[2], "it has periods of both kinds"
    for world in range(4):
        single = make_rollout("locomotion_flat", robot)
        single.reset(seed=world)
        for action in actions:
            single.step(action[world])
        assert batch.worlds.states[world].tobytes() == single.worlds.states[0].tobytes()
    batch.close()


@pytest.mark.realworld
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("file", ["kuka_iiwa_14/iiwa14.xml", "trs_so_arm100/so_arm100.xml"])
def test_robots_of_others_keep_what_a_manifest_says(file, mode, tmp_path):
    robot = write_manifest(tmp_path, SHARED_ASSETS / "mjcf" / file, 1.5, 30.0)
    watch = shake(make_rollout("reach", robot, mode=mode), 40, seed=3)
    assert watch.speed.max() <= 1.0 + 1e-9
    assert watch.effort.max() <= 1.0 + 1e-9


def test_stopping_a_joint_keeps_momentum_and_loses_energy():
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option gravity="0 0 0"/><worldbody>
        <body><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="2"/>
          <body pos="0.2 0 0"><joint name="a" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
            <body pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"
              mass="1"/></body></body></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[:] = [0.1, 0.2, -0.1, 0.3, 0.1, 0.2, 9.0, -1.0]
    data.qpos[7:] = [0.4, -0.7]

    def measure(qvel):
        data.qvel[:] = qvel
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        image = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, image, np.asarray(qvel))
        return data.subtree_linvel[0].copy(), 0.5 * float(qvel @ image)

    qpos, qvel = data.qpos.copy(), data.qvel.copy()
    before, energy = measure(qvel.copy())
    moved = qpos.copy()
    stop_joints(model, moved, qvel, np.array([6, 7], dtype=np.int32), np.array([2.0, 4.0]))
    assert np.abs(qvel[6]) == pytest.approx(2.0)
    assert np.abs(qvel[7]) <= 4.0
    after, less = measure(qvel)
    assert after == pytest.approx(before, abs=1e-9), "nothing outside pushed"
    assert less < energy
    assert moved[7] == pytest.approx(qpos[7] - 7.0 * model.opt.timestep), (
        "what the step went too far is taken back"
    )
