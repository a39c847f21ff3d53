# SPDX-License-Identifier: Apache-2.0
"""A task that a package brings is one file and one entry point: it runs with any robot as our own do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

TASK = '''
"""Let a box fall onto the floor: a task that no robot has to do anything for."""
import numpy as np

from simwright.tasks.parts import RED, add_camera, add_free_box, add_ground, add_light
from simwright.tasks.scene import RobotNeeds, SceneOptions, TaskScene, Verdict


class Options(SceneOptions):
    height: float = 0.15


def add(spec, options):
    add_ground(spec)
    add_free_box(spec, "box", (0.02, 0.02, 0.02), 0.1, RED)
    add_camera(spec, "top", (0.5, 0.0, 1.0), (0.5, 0.0, 0.0), 50.0)
    add_light(spec, (0.5, 0.0, 1.5))


def judge(moment, options):
    box, speed = moment.objects["box"], moment.speeds["box"]
    done = (box[..., 2] < 0.021) & (speed < 0.01)
    return Verdict(done, np.where(done, 1.0, 0.0), np.zeros_like(done), {"height": box[..., 2]})


SCENE = TaskScene(
    name="drop",
    title="let a box fall",
    instruction="wait until the box lies still",
    options=Options,
    needs=lambda options: RobotNeeds("fixed"),
    add=add,
    sample=lambda rng, options: {"box": np.array([0.5, rng.uniform(-0.1, 0.1), options.height])},
    judge=judge,
    objects=("box",),
    cameras=("top",),
    max_steps=100,
)
'''
COMPARE = """
import numpy as np
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_rollout
rollout = make_rollout("drop", "sample_arm", options={"height": 0.1})
batch = BatchRollout(make_rollout("drop", "sample_arm", options={"height": 0.1}), 4)
batch.reset([0, 1, 2, 3])
rollout.reset(seed=2)
hold = rollout.controller.hold()
for _ in range(20):
    batch.step(np.tile(hold, (4, 1)))
    result = rollout.step(hold)
assert batch.qpos[2].tobytes() == rollout.qpos.tobytes()
assert result.info["success"] and result.info["height"] < 0.021
"""


@pytest.fixture
def plugin(tmp_path):
    """A folder as an installer leaves it: a module, and an entry point that names it."""
    (tmp_path / "toy_tasks.py").write_text(TASK)
    info = tmp_path / "toy_tasks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-tasks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[simwright.tasks]\ndrop = toy_tasks:SCENE\n")
    return tmp_path


def run(plugin, *arguments):
    path = os.pathsep.join([str(plugin), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        cwd=plugin,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_task_of_a_package_is_listed_and_run(plugin):
    listed = json.loads(run(plugin, "-m", "simwright", "task", "list", "--format", "json"))
    assert {"name": "drop", "title": "let a box fall", "robot": None} in listed["tasks"]
    said = ("--robot", "sample_arm", "--policy", "hold", "--episodes", "2", "--seed", "3", "--format", "json")
    summary = json.loads(run(plugin, "-m", "simwright", "task", "run", "drop", *said))
    assert [episode["ended"] for episode in summary["episodes"]] == ["success", "success"]


def test_its_options_and_batches_work_as_those_of_our_own(plugin):
    run(plugin, "-c", COMPARE)
