# SPDX-License-Identifier: Apache-2.0
"""The visible list of task scenes; packages add theirs through entry points in ``simwright.tasks``."""

from __future__ import annotations

from simwright.core.registry import Registry
from simwright.tasks.scene import TaskScene

SCENES: Registry[TaskScene] = Registry(
    "task",
    "simwright.tasks",
    {
        "tabletop_push": "simwright.tasks.scenes.tabletop_push:SCENE",
        "reach": "simwright.tasks.scenes.reach:SCENE",
        "locomotion_flat": "simwright.tasks.scenes.locomotion_flat:SCENE",
    },
)
