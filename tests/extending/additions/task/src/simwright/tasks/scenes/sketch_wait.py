# SPDX-License-Identifier: Apache-2.0
"""Wait: a task that is done from the start."""

from __future__ import annotations

import numpy as np

from simwright.tasks.scene import TaskState
from simwright.tasks.scene import RobotNeeds
from simwright.tasks.scene import SceneOptions
from simwright.tasks.scene import TaskScene
from simwright.tasks.scene import Verdict


def judge(moment: TaskState, options: SceneOptions) -> Verdict:
    """Done, wherever the robot is."""
    del options
    one = np.ones(moment.base.shape[:-1])
    return Verdict(one > 0, one, one < 0)


SCENE = TaskScene(
    name="sketch_wait",
    title="wait",
    instruction="wait",
    options=SceneOptions,
    needs=lambda options: RobotNeeds(),
    add=lambda spec, options: None,
    sample=lambda rng, options: {},
    judge=judge,
    cameras=(),
    max_steps=3,
)
