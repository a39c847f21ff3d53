# SPDX-License-Identifier: Apache-2.0
"""docs/task-scenes.md: every task, from what it declares."""

from __future__ import annotations

import json
from typing import Any

from generate import NOTE
from simwright.app.tasking import describe_task
from simwright.tasks.scenes.table import SCENES

INTRO = """# Task scenes

The [tasks](tasks.md) that come with Simwright. Options are `--set NAME=VALUE` of `simwright task run`, `options` of
environment files and of `make_rollout`; lengths are metres unless an option says otherwise.
"""


def generate() -> str:
    """The page: ours, whatever packages are installed here."""
    tasks = [describe_task(SCENES.get(name)) for name in SCENES.names(plugins=False)]
    lines = [NOTE + INTRO, "| task | done when | needs |", "|---|---|---|"]
    lines += [
        f"| [`{t['name']}`](#{t['name']}) | {t['done'] or t['title']} | {_spell(t['needs'])} |" for t in tasks
    ]
    return "\n".join([*lines, "", *map(_describe, tasks)])


def _describe(task: dict[str, Any]) -> str:
    lines = [f"## {task['name']}\n", f'{task["title"].capitalize()}: "{task["instruction"]}".\n']
    lines += ["| option | default | meaning |", "|---|---|---|"]
    for option in task["options"]:
        lines.append(f"| `{option['name']}` | `{json.dumps(option['default'])}` | {option['description']} |")
    return "\n".join(lines) + "\n"


def _spell(needs: dict[str, Any]) -> str:
    return ", ".join([f"{needs['base']} base", *(what for what in ("tool", "gripper") if needs[what])])
