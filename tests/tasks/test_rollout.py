# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it: the same for every robot, the same for every seed, and quiet when nothing is done."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.tasks.robot import open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

from .manifests import write_arm

TABLE_TASKS = ("tabletop_push", "pick_place", "stack", "peg_insert", "drawer")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return open_robot(write_arm(tmp_path_factory.mktemp("toy")))


def list_task_geoms(rollout):
    """Everything about the task's geoms that physics looks at, by name."""
    model = rollout.model
    fields = (
        "geom_type",
        "geom_contype",
        "geom_conaffinity",
        "geom_condim",
        "geom_priority",
        "geom_size",
        "geom_pos",
        "geom_quat",
        "geom_friction",
        "geom_solmix",
        "geom_solref",
        "geom_solimp",
        "geom_margin",
        "geom_gap",
        "geom_rgba",
    )
    last = rollout.composed.robot_nbody
    return {
        model.geom(geom).name: {name: getattr(model, name)[geom].tolist() for name in fields}
        for geom in range(model.ngeom)
        if model.geom_bodyid[geom] == 0 or model.geom_bodyid[geom] > last
    }


@pytest.mark.parametrize("name", TABLE_TASKS)
def test_another_robot_finds_the_same_task(name, arm, toy):
    first, second = SimRollout(SCENES.get(name), arm), SimRollout(SCENES.get(name), toy)
    assert list_task_geoms(first) == list_task_geoms(second)
    for thing in (*SCENES.get(name).objects, *SCENES.get(name).fixtures):
        one, two = first.model.body(thing), second.model.body(thing)
        assert (one.mass, one.inertia.tolist()) == (two.mass, two.inertia.tolist())
    for seed in (0, 1, 2**40):
        first.reset(seed=seed)
        second.reset(seed=seed)
        assert first.layout.keys() == second.layout.keys()
        for thing, place in first.layout.items():
            assert place.tobytes() == second.layout[thing].tobytes(), "bit for bit"


@pytest.mark.parametrize("name", [*TABLE_TASKS, "reach"])
def test_nothing_moves_when_nothing_is_done(name, arm):
    rollout = SimRollout(SCENES.get(name), arm)
    start = rollout.reset(seed=5)
    for _ in range(100):
        result = rollout.step(rollout.controller.hold())
    assert not result.info["success"]
    assert not result.terminated
    assert "unstable" not in result.info
    scene = rollout.scene
    for key in (*scene.objects, *scene.fixtures, *scene.marks, *scene.joints):
        assert np.asarray(result.observation[key]) == pytest.approx(np.asarray(start[key]), abs=1e-3), key
    assert result.observation["qpos"] == pytest.approx(start["qpos"], abs=0.03), "gravity pulls a little"


def test_marks_are_shown_where_they_are(arm):
    rollout = SimRollout(SCENES.get("tabletop_push"), arm)
    for seed in (1, 2):
        observation = rollout.reset(seed=seed)
        assert rollout.data.site("goal").xpos == pytest.approx(observation["goal"])


def test_episodes_repeat_exactly(arm):
    rollout = SimRollout(SCENES.get("tabletop_push"), arm)
    rng = np.random.default_rng(1)
    actions = rollout.controller.hold() + 0.2 * rng.standard_normal((20, rollout.action_size))

    def play():
        rollout.reset(seed=4)
        results = [rollout.step(action) for action in actions]
        return np.concatenate([np.concatenate(list(r.observation.values())) for r in results])

    assert play().tobytes() == play().tobytes()
    again = SimRollout(SCENES.get("tabletop_push"), arm)
    first = play()
    again.reset(seed=4)
    last = [again.step(action) for action in actions][-1]
    assert np.concatenate(list(last.observation.values())).tobytes() == first[-len(first) // 20 :].tobytes()


@pytest.mark.parametrize("name", ["tabletop_push", "drawer"])
def test_a_rollout_moves_as_plain_mujoco_moves_its_model(name, arm):
    # MuJoCo has no largest speeds of joints: the robot is one without
    free = replace(arm, source=replace(arm.source, speed_limits={}))
    rollout = SimRollout(SCENES.get(name), free)
    rollout.reset(seed=2)
    data = mujoco.MjData(rollout.model)
    data.qpos[:], data.ctrl[:] = rollout.qpos, rollout.data.ctrl
    data.mocap_pos[:], data.mocap_quat[:] = rollout.data.mocap_pos, rollout.data.mocap_quat
    rng = np.random.default_rng(1)
    for action in rollout.controller.hold() + 0.2 * rng.standard_normal((20, rollout.action_size)):
        low, high = rollout.controller.bounds
        data.ctrl[: rollout.action_size] = np.clip(action, low, high)
        for _ in range(rollout.composed.substeps):
            mujoco.mj_step(rollout.model, data)
        rollout.step(action)
        assert rollout.qpos.tobytes() == data.qpos.tobytes()
        assert rollout.qvel.tobytes() == data.qvel.tobytes()


def test_without_a_seed_episodes_differ_but_go_on_from_the_last_seed(arm):
    rollout = SimRollout(SCENES.get("reach"), arm)
    goals = []
    for _ in range(2):
        rollout.reset(seed=9)
        goals.append([rollout.reset()["goal"].tolist() for _ in range(3)])
    assert goals[0] == goals[1]
    assert goals[0][0] != goals[0][1]


def test_the_base_is_placed_in_six_dimensions(arm):
    base = Pose.of([0.1, -0.2, 0.3], quat_from_axis_angle([1, 0, 0], 0.4))
    rollout = SimRollout(SCENES.get("tabletop_push"), arm, base=base)
    rollout.reset(seed=0)
    found = rollout.read_base()
    assert found.p == pytest.approx(base.p)
    assert found.q == pytest.approx(base.q)
    yaw = SimRollout(
        SCENES.get("tabletop_push"), arm, options={"robot_base_yaw_deg": 30.0, "robot_base_xyz": (0, -0.1, 0)}
    )
    yaw.reset(seed=0)
    assert yaw.read_base().p == pytest.approx([0, -0.1, 0])
    assert yaw.read_base().q == pytest.approx(quat_from_axis_angle([0, 0, 1], np.radians(30)))


def test_the_control_period_is_the_tasks(arm, toy):
    for robot in (arm, toy):
        rollout = SimRollout(SCENES.get("reach"), robot, period=0.05)
        rollout.reset(seed=0)
        rollout.step(rollout.controller.hold())
        assert rollout.data.time == pytest.approx(0.05)


def test_a_task_for_one_robot_takes_no_other(arm):
    only = dataclasses.replace(SCENES.get("reach"), fixed_robot="another")
    with pytest.raises(UsageError, match="made for the robot 'another'"):
        SimRollout(only, arm)
    assert SimRollout(dataclasses.replace(only, fixed_robot=arm.id), arm).robot is arm


def test_a_broken_world_ends_the_episode(arm):
    rollout = SimRollout(SCENES.get("tabletop_push"), arm)
    rollout.reset(seed=0)
    rollout.qvel[0] = 1e12
    result = rollout.step(rollout.controller.hold())
    assert result.terminated
    assert result.info["unstable"]
    rollout.reset(seed=0)
    assert "unstable" not in rollout.step(rollout.controller.hold()).info


def test_wrong_actions_are_refused(arm):
    rollout = SimRollout(SCENES.get("reach"), arm)
    rollout.reset(seed=0)
    with pytest.raises(UsageError, match="has 7 numbers"):
        rollout.step(np.zeros(6))
    with pytest.raises(UsageError, match="finite"):
        rollout.step(np.full(7, np.nan))


def test_a_floating_robot_stands_on_the_floor(quadruped):
    rollout = SimRollout(SCENES.get("locomotion_flat"), quadruped)
    rollout.reset(seed=0)
    assert min((c.dist for c in rollout.data.contact), default=0.0) > -0.01
    for _ in range(100):
        result = rollout.step(rollout.controller.hold())
    assert not result.terminated
    assert result.info["upright"] > 0.9
    assert rollout.data.ncon > 0, "it stands"
    assert mujoco.mj_name2id(rollout.model, mujoco.mjtObj.mjOBJ_GEOM, "ground") >= 0


def test_the_front_of_a_closed_drawer_stands_before_its_cabinet(arm):
    model = SimRollout(SCENES.get("drawer"), arm).model
    front, wall, back = (model.geom(name) for name in ("drawer_front", "cabinet_left", "cabinet_back"))
    # both bodies have their axes alike: the drawer opens towards -y
    opening = wall.pos[1] - wall.size[1]
    assert opening - 0.01 < front.pos[1] + front.size[1] < opening
    assert back.pos[1] + back.size[1] == pytest.approx(wall.pos[1] + wall.size[1])
