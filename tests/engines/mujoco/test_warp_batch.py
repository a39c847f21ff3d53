"""MuJoCo Warp behind the same rows of states as MuJoCo itself, on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_rollout
from simwright.tasks.robot import open_robot

judged = pytest.mark.judge("newton")
# balls and Euler's integrator: MuJoCo Warp compiles a kernel for every kind of thing that a model has, which is what
# this test spends its time on (51 s of one core for the sample arm, 23 s for this one)
ARM = """<mujoco model="balls"><option timestep="0.005" integrator="Euler"/><worldbody>
  <body name="base" pos="0 0 0.1"><geom type="sphere" size="0.05" mass="2"/>
    <body name="upper"><joint name="turn" axis="0 0 1" damping="1" armature="0.05"/>
      <geom type="sphere" size="0.04" mass="1"/>
      <body name="lower" pos="0 0 0.2"><joint name="lift" axis="0 1 0" damping="1" armature="0.05"/>
        <geom type="sphere" size="0.03" pos="0.1 0 0" mass="0.5"/>
        <body name="hand" pos="0.2 0 0"><joint name="bend" axis="0 1 0" damping="1" armature="0.05"/>
          <geom type="sphere" size="0.03" pos="0.1 0 0" mass="0.3"/></body></body></body></body></worldbody>
  <actuator><position joint="turn" kp="10"/><position joint="lift" kp="20"/>
    <position joint="bend" kp="10"/></actuator></mujoco>"""


@judged
def test_worlds_move_as_those_of_mujoco_do(tmp_path: Path) -> None:
    """A step of a control period is four of the engine; single precision is what is left between them."""
    (tmp_path / "arm.xml").write_text(ARM)
    robot = open_robot(tmp_path / "arm.xml")
    plain = BatchRollout(make_rollout("reach", robot), 3)
    warped = BatchRollout(make_rollout("reach", robot), 3, backend="mujoco-warp", device="cpu")
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
