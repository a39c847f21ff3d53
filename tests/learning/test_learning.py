"""What trains in tasks: Stable-Baselines3's checker is content, and a policy learns to reach."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.judge("learning")
REPO = Path(__file__).resolve().parents[2]
ARM = str(REPO / "samples" / "simwright_samples" / "arm" / "robot.yaml")


@pytest.mark.parametrize("task", ["reach", "tabletop_push", "pick_place"])
@pytest.mark.parametrize("flat", [True, False])
def test_stable_baselines_accepts_environments(task: str, flat: bool) -> None:
    from stable_baselines3.common.env_checker import check_env

    from simwright.tasks.environments import make_env

    env = make_env(task, ARM, observe={"flat": flat})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)
    env.close()


def test_worlds_of_a_vec_env_are_those_of_a_batch() -> None:
    from simwright.tasks.environments import make_rollout
    from simwright.tasks.stable_env import SimVecEnv

    env = SimVecEnv(make_rollout("reach", ARM, mode="velocity", max_steps=5), 3, seed=4, threads=1)
    seen = env.reset()
    assert env.observation_space.contains(seen[0])
    for step in range(1, 6):
        before = seen
        seen, rewards, done, infos = env.step(np.full((3, 7), 0.2, dtype=np.float32))
        assert rewards.shape == (3,)
        assert done.all() == (step == 5)
    # the last observation of an episode is told, and the one that is given begins the next
    assert all(info["TimeLimit.truncated"] and info["episode"]["l"] == 5 for info in infos)
    assert np.abs(infos[0]["terminal_observation"] - before[0]).max() < 1.0
    assert np.abs(infos[0]["terminal_observation"] - seen[0]).max() > 1e-3
    assert env.get_attr("num_envs") == [3, 3, 3]
    env.close()


def test_an_arm_learns_to_reach() -> None:
    """Some twenty seconds of one core: a policy that reaches half of the time is not chance, which reaches a tenth."""
    train = load_example("train")
    recipe = {**train.RECIPES["reach"], "rollout": {"task": "reach", "robot": ARM, "mode": "velocity"}}
    _, curve = train.train(recipe, seed=0, actions=45_000)
    assert curve.rows[8]["success"] < 0.4
    assert curve.rows[-1]["success"] > 0.5


def load_example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(
        f"example_{name}", REPO / "examples/learning" / f"{name}.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # classes of data look for their module by its name
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_a_clone_of_recorded_demonstrations_reaches(tmp_path: Path) -> None:
    from simwright.tasks.baselines.policy import make_policy
    from simwright.tasks.environments import make_rollout
    from simwright.tasks.recording import ArraysRecorder
    from simwright.tasks.runner import SimRunner

    clone = load_example("clone")
    rollout = make_rollout("reach", ARM, mode="position", randomize={"joints": 0.3})
    recorder = ArraysRecorder(tmp_path / "demos.npz")
    SimRunner(rollout, make_policy("reach"), name="reach", listeners=(recorder,)).run(120, 0)
    meta, keys, seen, done = clone.read(tmp_path / "demos.npz")
    assert len(seen) == len(done) > 500
    fitted = clone.fit(keys, seen, done, epochs=60, seed=0)
    # 50 of 50 with all demonstrations and rounds of the example
    assert clone.evaluate(meta, fitted, ARM, 12, 100_000) >= 7
