"""Environments of worlds."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import MissingExtraError, UnknownNameError, UsageError
from simwright.worlds.environments import make_env

from .flat import make_flat

gymnasium = pytest.importorskip("gymnasium")


def test_gymnasium_is_content(tmp_path: Path) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(make_env(make_flat(tmp_path), ["can"], "desk"), skip_render_check=True)


def test_every_place_has_a_number_and_elsewhere_is_none_of_them(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path), ["can"], "desk")
    assert env.observation_space["place"].n == len(env.task.places) + 1


def test_a_policy_that_knows_the_way_succeeds(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path), ["can0"], "desk", time_cost=0.0)
    for seed in range(3):
        observation, _ = env.reset(seed=seed)
        names = [str(action) for action in env.task.choices]
        stand = env.task.wanted[0].spawn
        assert stand is not None
        assert stand.name != "desk_top"
        assert env.observation_space.contains(observation)
        done, total = False, 0.0
        for name in (f"navigate {stand.name}", "pick can0", "navigate desk_top", "place"):
            assert not done
            observation, reward, done, truncated, info = env.step(names.index(name))
            assert info["status"] == "success"
            assert env.observation_space.contains(observation)
            total += float(reward)
        assert done
        assert not truncated
        assert info["success"]
        assert total == 1.0
        assert observation["objects"][0] == [s.name for s in env.task.world.spawns].index("desk_top") + 1


def test_episodes_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path), ["can", "crate"], "right")

    def play(seed: int) -> list[object]:
        first, _ = env.reset(seed=seed)
        random = np.random.default_rng(0)
        seen: list[object] = [str(first)]
        for _ in range(20):
            observation, reward, done, *_ = env.step(random.integers(env.action_space.n))
            seen.append((str(observation), reward, done))
            if done:
                break
        return seen

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_failures_cost_and_long_episodes_are_cut(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path), ["can0"], "desk", max_steps=2, failure_cost=0.5)
    env.reset(seed=1)
    place = [str(action) for action in env.task.choices].index("place")
    assert env.step(place)[1:4] == (-0.5, False, False)
    assert env.step(place)[1:4] == (-0.5, False, True)


def test_an_empty_battery_ends_an_episode(tmp_path: Path) -> None:
    world = make_flat(
        tmp_path, "initial_battery_level: 1.0\naction_execution_options: {navigate: {battery_usage: 5.0}}"
    )
    env = make_env(world, ["can0"], "desk", shuffle=False)
    env.reset(seed=1)
    _, _, ended, _, info = env.step(0)
    assert ended
    assert not info["success"]
    assert info["code"] == "battery-empty"


def test_what_is_not_known_is_not_observed(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path, "partial_obs_objects: true"), ["can0"], "desk", shuffle=False)
    observation, _ = env.reset(seed=1)
    assert observation["objects"][0] == 0


def test_pictures(tmp_path: Path) -> None:
    env = make_env(make_flat(tmp_path), ["can0"], "desk", render_mode="rgb_array", size=300)
    env.reset(seed=1)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert make_env(make_flat(tmp_path), ["can0"], "desk").render() is None


def test_mistakes_are_named(tmp_path: Path) -> None:
    world = make_flat(tmp_path)
    with pytest.raises(UnknownNameError, match="can0"):
        make_env(world, ["can9"], "desk")
    with pytest.raises(UsageError, match="brought"):
        make_env(world, ["can0"], "hall_left_right")
    with pytest.raises(UsageError, match="brought"):
        make_env(world, [], "desk")
    with pytest.raises(UnknownNameError, match="robot"):
        make_env(world, ["can0"], "desk", robot="x")
    with pytest.raises(UsageError, match="render mode"):
        make_env(world, ["can0"], "desk", render_mode="human")


def test_without_gymnasium_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "simwright.worlds.environments")
    with pytest.raises(MissingExtraError, match="gym"):
        importlib.import_module("simwright.worlds.environments")
