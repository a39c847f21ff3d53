# SPDX-License-Identifier: Apache-2.0
"""Gymnasium environments over the same physics: its own checker is content, and many worlds are as one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import SimwrightError, UnknownNameError, UsageError
from simwright.core.math3d import Pose
from simwright.tasks.environments import make_env, make_rollout, make_vector_env

gymnasium = pytest.importorskip("gymnasium")


def check(env, **settings):
    """Gymnasium's checker, whose warnings are errors but for the one about an environment that it did not make."""
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(env, **settings)
    env.close()


@pytest.mark.parametrize(
    "task", ["tabletop_push", "pick_place", "stack", "peg_insert", "drawer", "door", "reach"]
)
def test_gymnasium_accepts_every_task(task, arm):
    check(make_env(task, arm), skip_render_check=True)


@pytest.mark.parametrize("mode", ["position", "velocity", "torque", "pose"])
def test_gymnasium_accepts_every_control_mode(mode, arm):
    check(make_env("reach", arm, mode=mode), skip_render_check=True)


def test_gymnasium_accepts_floating_robots_flat_observations_and_pictures(arm, quadruped):
    check(make_env("locomotion_flat", quadruped), skip_render_check=True)
    check(make_env("reach", arm, observe={"flat": True}), skip_render_check=True)
    observe = {"cameras": ["side", "wrist"], "width": 32, "height": 24, "objects": False}
    env = make_env("tabletop_push", arm, observe=observe, render_mode="rgb_array")
    observation, _ = env.reset(seed=0)
    assert observation["wrist"].shape == (24, 32, 3)
    assert (observation["wrist"] != observation["side"]).any(), "every camera is drawn by itself"
    assert "cube" not in observation
    assert env.render().shape == (360, 480, 3)
    check(env)


def test_observations_are_chosen(arm):
    env = make_env("drawer", arm, observe={"joints": False, "tool": False})
    assert set(env.observation_space.spaces) == {"cabinet", "drawer"}
    flat = make_env("drawer", arm, observe={"flat": True})
    assert flat.observation_space.shape == flat.reset(seed=0)[0].shape == (8 + 8 + 7 + 7 + 1,)
    with pytest.raises(UsageError, match="nothing is observed"):
        make_env("reach", arm, observe={"joints": False, "tool": False, "objects": False})
    with pytest.raises(UnknownNameError, match="did you mean 'front'"):
        make_env("reach", arm, observe={"cameras": ["frnt"]})


def test_bounds_are_those_of_the_joints(arm):
    space = make_env("reach", arm).observation_space["qpos"]
    assert space.high[1] == pytest.approx(2.007 + 0.1, abs=1e-3)
    assert np.isfinite(space.low).all()


def test_holding_is_an_action(arm):
    env = make_env("tabletop_push", arm)
    first, info = env.reset(seed=3)
    assert info["seed"] == 3
    for _ in range(20):
        last, *_ = env.step(env.hold_action())
    assert last["qpos"] == pytest.approx(first["qpos"], abs=0.03)


@pytest.mark.parametrize("randomize", [None, {"mass": (0.5, 2.0), "joints": 0.1, "position": 0.01}])
def test_a_vector_of_worlds_is_many_single_ones(arm, randomize):
    many = make_vector_env("tabletop_push", arm, 3, randomize=randomize, max_steps=8)
    seen, _ = many.reset(seed=10)
    singles = [make_env("tabletop_push", arm, randomize=randomize, max_steps=8) for _ in range(3)]
    first = [env.reset(seed=10 + world)[0] for world, env in enumerate(singles)]
    rng = np.random.default_rng(0)
    for step in range(8):
        for key, value in seen.items():
            for world in range(3):
                assert value[world] == pytest.approx(first[world][key], abs=1e-6), (key, step)
        actions = rng.uniform(-0.3, 0.3, (3, 7)).astype(np.float32)
        seen, rewards, ended, cut, _ = many.step(actions)
        results = [env.step(action) for env, action in zip(singles, actions, strict=True)]
        first = [result[0] for result in results]
        assert rewards == pytest.approx([result[1] for result in results], abs=1e-6)
        assert ended.tolist() == [result[2] for result in results]
        assert cut.tolist() == [result[3] for result in results]
    assert cut.all()
    seen, rewards, ended, cut, _ = many.step(actions)
    assert not cut.any()
    assert rewards.tolist() == [0.0, 0.0, 0.0], "they have started anew"
    assert many.batch.steps.tolist() == [0, 0, 0]
    many.close()


def test_vectors_keep_gymnasiums_form(arm):
    many = make_vector_env("reach", arm, 4)
    observation, info = many.reset(seed=[1, 2, None, 4])
    assert info["seed"][[0, 1, 3]].tolist() == [1, 2, 4]
    # seeds that are drawn are such as every generator takes
    drawn = [int(seed) for _ in range(10) for seed in many.reset(seed=[None] * 4)[1]["seed"]]
    assert max(drawn) < 2**31
    assert len(set(drawn)) == 40
    assert many.observation_space.contains(observation)
    assert many.action_space.shape == (4, 7)
    observation, rewards, *_ = many.step(many.action_space.sample())
    assert many.observation_space.contains(observation)
    assert rewards.shape == (4,)
    many.close()


DOWN = """
<mujoco><compiler autolimits="true"/>
  <worldbody><body name="turret" pos="0 0 0.3"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
    <joint name="pan" axis="0 0 1" range="-3 3" damping="1"/>
    <body name="arm" pos="0 0 0.1"><inertial pos="0.1 0 0" mass="1" diaginertia=".01 .01 .01"/>
      <joint name="lift" axis="0 1 0" range="-1 1" damping="1"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
      <site name="tool" pos=".3 0 0" euler="180 0 0"/></body></body></worldbody>
  <actuator><position joint="pan" kp="20"/><position joint="lift" kp="20"/></actuator>
</mujoco>
"""


def test_a_tool_that_points_down_is_turned_alike_in_every_world_and_step(tmp_path):
    """At half a turn both signs of a quaternion are as near: rounding must not choose what is observed."""
    file = tmp_path / "down.xml"
    file.write_text(DOWN)
    # as the file has it: tasks turn arms about the vertical axis so that they face what there is to do
    settings = {"base": Pose.of((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))}
    many, single = make_vector_env("reach", file, 2, **settings), make_env("reach", file, **settings)
    turn = single.reset(seed=1)[0]["tool"][3:]
    assert abs(turn[0]) < 1e-6
    seen, _ = many.reset(seed=0)
    for step in range(60):
        # the sign that has no other rule changes where the arm swings through the middle
        action = np.full((2, 2), [0.3 if step < 30 else -0.3, 0.5], dtype=np.float32)
        seen, *_ = many.step(action)
        alone, *_ = single.step(action[1])
        assert seen["tool"][1] == pytest.approx(alone["tool"], abs=1e-6)
        assert alone["tool"][3:] @ turn > 0.0, "no jump to the other sign on the way"
        turn = alone["tool"][3:]
    many.close()


def test_worlds_of_a_vector_that_start_anew_tell_their_seeds_and_repeat(arm):
    """As single environments do with the info of a reset; a list of seeds fixes what comes after as a number does."""
    for seed in (3, np.int64(3), [3, 9]):
        runs = []
        for _ in range(2):
            many = make_vector_env("reach", arm, 2, max_steps=2)
            many.reset(seed=seed)
            hold = np.zeros(many.action_space.shape, dtype=np.float32)
            for _ in range(2):
                *_, info = many.step(hold)
                assert "seed" not in info
            seen, *_, info = many.step(hold)
            assert info["_seed"].all()
            single = make_env("reach", arm)
            assert single.reset(seed=int(info["seed"][1]))[0]["goal"] == pytest.approx(seen["goal"][1])
            runs.append(info["seed"].tolist())
            many.close()
        assert runs[0] == runs[1]
    with pytest.raises(UsageError, match="1 seeds for 2 worlds"):
        make_vector_env("reach", arm, 2).reset(seed=[1])


def test_a_world_of_a_vector_that_broke_down_is_told(arm):
    many = make_vector_env("reach", arm, 3)
    many.reset(seed=0)
    hold = np.zeros(many.action_space.shape, dtype=np.float32)
    assert "unstable" not in many.step(hold)[-1]
    many.batch.qvel[1] = 1e12
    _, _, ended, _, info = many.step(hold)
    assert info["unstable"].tolist() == info["_unstable"].tolist() == [False, True, False]
    assert ended.tolist() == [False, True, False]
    many.close()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"observe": {"camera": ["top"]}}, "observe:1:2: unknown key 'camera' .*'cameras'"),
        ({"observe": {"width": 2}}, "observe.*width"),
        ({"randomize": {"massa": [1, 2]}}, "randomize:1:2: unknown key 'massa'"),
        ({"success": {"al": []}}, "success:1:2: unknown key 'al'"),
        ({"options": {"goal_radus": 0.1}}, "options of reach:1:2: unknown key 'goal_radus'"),
        ({"mode": "poze"}, "unknown control mode 'poze' .did you mean 'pose'"),
    ],
)
def test_what_a_program_asks_wrongly_is_told_in_words(arm, wrong, message):
    with pytest.raises(SimwrightError, match=message):
        make_env("reach", arm, **wrong)


def test_the_size_of_pictures_is_chosen(arm):
    env = make_env("reach", arm, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    assert env.render().shape == (48, 64, 3)
    env.close()


def test_worlds_of_a_vector_have_their_own_pictures(arm):
    observe = {"cameras": ["top", "wrist"], "width": 32, "height": 24}
    settings = {"observe": observe, "render_mode": "rgb_array"}
    many = make_vector_env("tabletop_push", arm, 3, **settings)
    seen, info = many.reset(seed=5)
    assert info["seed"].tolist() == [5, 6, 7]
    assert many.observation_space.contains(seen)
    assert seen["wrist"].shape == (3, 24, 32, 3)
    single = make_env("tabletop_push", arm, observe=observe)
    for world in range(3):
        alone, _ = single.reset(seed=5 + world)
        for key in ("top", "wrist"):
            difference = np.abs(seen[key][world].astype(int) - alone[key])
            assert difference.mean() < 1.0, (key, world)
    assert (seen["top"][0] != seen["top"][1]).any()
    pictures = many.render()
    assert [picture.shape for picture in pictures] == [(360, 480, 3)] * 3
    *_, info = many.step(np.zeros((3, 7), dtype=np.float32))
    assert info["score"].shape == info["distance"].shape == info["_distance"].shape == (3,)
    many.close()
    single.close()
    with pytest.raises(UsageError, match="render mode 'human'"):
        make_vector_env("reach", arm, 2, render_mode="human")


def test_ids_make_environments_and_vectors_with_their_spec(arm):
    import simwright.gym  # noqa: F401

    env = gymnasium.make("simwright/reach-v0", robot=arm, render_mode="rgb_array")
    assert env.spec is not None
    assert env.spec.id == "simwright/reach-v0"
    assert env.reset(seed=1)[1]["seed"] == 1
    env.close()
    many = gymnasium.make_vec(
        "simwright/reach-v0", num_envs=2, vectorization_mode="vector_entry_point", robot=arm
    )
    assert many.spec is not None
    assert many.reset(seed=1)[0]["qpos"].shape[0] == 2
    many.close()


def test_rollouts_are_made_by_name(arm):
    assert make_rollout("reach", arm, options={"goal_radius": 0.1}).options.goal_radius == 0.1
    with pytest.raises(UnknownNameError, match="did you mean 'reach'"):
        make_rollout("raech", arm)
    with pytest.raises(UsageError, match="needs a robot"):
        make_rollout("reach")
    with pytest.raises(InvalidDocumentError, match=r"unknown key 'goal_radios'.*did you mean 'goal_radius'"):
        make_rollout("reach", arm, options={"goal_radios": 0.1})
