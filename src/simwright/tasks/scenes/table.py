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
        "pick_place": "simwright.tasks.scenes.pick_place:SCENE",
        "stack": "simwright.tasks.scenes.stack:SCENE",
        "peg_insert": "simwright.tasks.scenes.peg_insert:SCENE",
        "drawer": "simwright.tasks.scenes.drawer:SCENE",
        "door": "simwright.tasks.scenes.door:SCENE",
        "reach": "simwright.tasks.scenes.reach:SCENE",
        "so101_box": "simwright.tasks.scenes.so101_box:SCENE",
        "locomotion_flat": "simwright.tasks.scenes.locomotion_flat:SCENE",
    },
)
