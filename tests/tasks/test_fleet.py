# SPDX-License-Identifier: Apache-2.0
"""Real robots of every kind, put into a task as they are: nothing breaks, and the task stays what it is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.tasks.robot import open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

from ..conftest import SHARED_ASSETS
from .test_rollout import list_task_geoms

pytestmark = pytest.mark.realworld
STEPS = 50
"""scripts/measure_task_robots.py takes 200, with every robot of menagerie."""
_NO_ROBOTS = ("scene", "keyframes", "single_cube")


def list_files():
    mjcf = sorted((SHARED_ASSETS / "mjcf").glob("*/*.xml"))
    urdf = sorted((SHARED_ASSETS / "urdf").rglob("*.urdf"))
    return [file for file in (*mjcf, *urdf) if not any(word in file.name for word in _NO_ROBOTS)]


@cache
def find_reference():
    """The task around the Panda: what every other robot has to find."""
    panda = open_robot(SHARED_ASSETS / "mjcf" / "franka_emika_panda" / "panda.xml")
    rollout = SimRollout(SCENES.get("tabletop_push"), panda)
    rollout.reset(seed=3)
    return list_task_geoms(rollout), {name: place.tobytes() for name, place in rollout.layout.items()}


@pytest.mark.parametrize("file", list_files(), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_robot_runs(file):
    robot = open_robot(file)
    task = "locomotion_flat" if robot.facts.is_floating else "tabletop_push"
    if file.name == "quadrotor_base.urdf":
        with pytest.raises(UsageError, match="no actuators"):
            SimRollout(SCENES.get(task), robot)
        return
    rollout = SimRollout(SCENES.get(task), robot)
    rollout.reset(seed=3)
    hold = rollout.controller.hold()
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        result = rollout.step(hold + 0.05 * rng.standard_normal(len(hold)))
        assert "unstable" not in result.info
    assert rollout.data.time == pytest.approx(STEPS * rollout.composed.period)
    assert not any(warning.number for warning in rollout.data.warning)
    if task == "tabletop_push":
        geoms, layout = find_reference()
        assert list_task_geoms(rollout) == geoms
        assert {name: place.tobytes() for name, place in rollout.layout.items()} == layout
        assert result.observation["cube"][2] == pytest.approx(0.025, abs=2e-3), "the cube lies on the table"
