# SPDX-License-Identifier: Apache-2.0
"""Driving by hand: keys and a handle move the tool, kept episodes are recorded as they were driven."""

from __future__ import annotations

import os
import pty
import sys
import time

import numpy as np
import pytest

from simwright.app.tasking import RunRequest, prepare_run
from simwright.app.watching import read_keys
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose
from simwright.tasks.environments import make_rollout
from simwright.tasks.teleoperation import (
    AGAIN_KEY,
    END_KEY,
    GRIPPER_KEY,
    KEEP_KEY,
    TeleopInput,
    TeleopPolicy,
    TeleopSession,
)

from ..conftest import SAMPLES

ARM = str(SAMPLES / "arm" / "robot.yaml")


class HandleInput(TeleopInput):
    """Somebody who drags the handle to the goal of ``reach``, and first starts the first episode again."""

    def __init__(self, rollout):
        super().__init__()
        self.rollout, self.presses = rollout, [AGAIN_KEY]

    def find_motion(self, tool):
        if self.presses:
            self.press(self.presses.pop())
        self.aim(Pose.of(self.rollout.layout["goal"], tool.q))
        return super().find_motion(tool)


def test_keys_move_the_tool_for_a_moment_each(arm):
    clock = [0.0]
    inputs = TeleopInput(lambda: clock[0])
    rollout = make_rollout("reach", arm, mode="pose")
    observation = rollout.reset(seed=0)
    policy = TeleopPolicy(inputs)
    policy.start(rollout)
    inputs.press("w")
    inputs.press("r")
    moved = policy.act(observation)
    assert moved[1] > 0
    assert moved[2] > 0
    assert not moved[[0, 3, 4, 5]].any()
    clock[0] = 1.0
    assert not policy.act(observation)[:6].any()
    before = policy.act(observation)[6]
    inputs.press(GRIPPER_KEY)
    assert policy.act(observation)[6] == -before


@pytest.mark.parametrize("control", ["pose", "osc"])
def test_what_is_kept_is_recorded_as_it_was_driven(tmp_path, control):
    file = tmp_path / "demos.npz"
    ready = prepare_run(
        RunRequest("reach", ARM, episodes=2, seed=5, policy="hold", control=control, record=str(file))
    )
    told = []
    summary = ready.drive(Reporter(), told.append, HandleInput(ready.rollout))
    assert summary.successes == 2
    assert [episode.seed for episode in summary.episodes] == [5, 6]
    arrays = np.load(file)
    assert arrays["success"].sum() == 2
    assert len(arrays["action"]) == sum(episode.steps for episode in summary.episodes)
    assert sum("seed 5" in line for line in told) == 2, "the first was started again"


def test_an_episode_that_is_not_done_can_be_kept_and_ends_can_be_asked_for(arm):
    rollout = make_rollout("reach", arm, mode="pose")
    inputs = TeleopInput()
    session = TeleopSession(rollout, inputs, lambda _: None)
    asked = iter(["w", "w", KEEP_KEY, "w", END_KEY])
    session.wait = lambda _: inputs.press(next(asked))
    session.drive(5, seed=0)
    assert [(one.seed, one.success) for one in session.kept] == [(0, False)]
    assert len(session.kept[0].actions) == 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"record": "demos.mp4", "camera": "nope"}, "unknown camera 'nope'"),
        ({"record": "/proc/self/nowhere/demos.npz"}, "cannot be written"),
        ({"dataset": "/proc/self/nowhere/demos"}, "cannot be written"),
    ],
)
def test_what_cannot_be_recorded_is_told_before_somebody_drives(asked, message):
    """What was driven by hand would be lost at the end."""
    with pytest.raises(SimwrightError, match=message):
        prepare_run(RunRequest("reach", robot=ARM, policy="hold", control="pose", **asked))


def test_keys_of_a_terminal_reach_the_session(monkeypatch):
    master, slave = pty.openpty()
    inputs = TeleopInput()
    with os.fdopen(slave, "r") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        wish = press_and_wait(master, inputs)
    os.close(master)
    assert wish == KEEP_KEY
    assert "w" in inputs._held


def press_and_wait(master: int, inputs: TeleopInput) -> str:
    with read_keys(inputs) as has_keys:
        assert has_keys
        os.write(master, b"\x1b[A")
        os.write(master, b"\n")
        for _ in range(500):
            if wish := inputs.take_wish():
                return wish
            time.sleep(0.01)
    return ""
