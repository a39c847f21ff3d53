"""MuJoCo Warp behind the same rows of states as MuJoCo itself, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_rollout

judged = pytest.mark.judge("newton")


@judged
def test_worlds_move_as_those_of_mujoco_do() -> None:
    """A step of a control period is ten of the engine; single precision is what is left between them."""
    plain = BatchRollout(make_rollout("reach", "sample_arm"), 3)
    warped = BatchRollout(make_rollout("reach", "sample_arm"), 3, backend="mujoco-warp", device="cpu")
    for batch in (plain, warped):
        batch.reset([1, 2, 3])
    assert warped.layout["goal"].tobytes() == plain.layout["goal"].tobytes()
    actions = np.tile(plain.rollout.controller.hold(), (3, 1)) + np.array([[0.0], [0.1], [-0.1]])
    for _ in range(5):
        seen = plain.step(actions), warped.step(actions)
    assert np.abs(plain.qpos - warped.qpos).max() < 2e-3
    assert np.abs(plain.qpos[0] - plain.qpos[1]).max() > 0.02, "they do move"
    assert seen[0].score == pytest.approx(seen[1].score, abs=0.01)
    assert plain.worlds.view("time")[0] == pytest.approx(warped.worlds.view("time")[0])
    # worlds that start anew do not touch the others
    kept = warped.qpos[1:].copy()
    warped.reset([9], np.array([True, False, False]))
    assert np.array_equal(warped.qpos[1:], kept)
    warped.step(actions)
    assert not warped.find_unstable().any()
    plain.close()
    warped.close()


def test_backends_have_names_and_mujoco_has_no_device() -> None:
    rollout = make_rollout("reach", "sample_arm")
    with pytest.raises(UnknownNameError, match="mujoco-warp"):
        BatchRollout(rollout, 2, backend="mujoco-wrap")
    with pytest.raises(UsageError, match="backend='mujoco-warp'"):
        BatchRollout(rollout, 2, device="cuda:0")
