#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often scripted policies succeed: ``python scripts/measure_baselines.py [--episodes 50] ROBOT ... [-o PAGE]``.

Robots are what ``--robot`` takes; without any, the sample arm.  Workspaces are drawn to what a robot reaches.  A robot
that pre-flight refuses is not run: the line says why.  Lines are kept in ``--lines`` as they are found, so that a run
that was ended goes on where it was; a line counts for the number of episodes and the seed that it was measured with.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from simwright.app.tasking import read_sets
from simwright.core.diag import Level
from simwright.core.files import write_atomic
from simwright.tasks.baselines.policy import POLICIES, find_mode, make_policy
from simwright.tasks.preflight import preflight
from simwright.tasks.robot import open_robot
from simwright.tasks.runner import SimRunner, find_interval
from simwright.tasks.scenes.table import SCENES

HEAD = (
    "| task | robot | succeeded | 95 % interval | mean steps | failed seeds | pre-flight |\n"
    + "|---" * 7
    + "|"
)


def main() -> int:
    """Print one line per task and robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("robots", nargs="*", default=["samples/simwright_samples/arm/robot.yaml"])
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policies", default="reach,push", help="separated by commas")
    parser.add_argument("--no-fit", action="store_true", help="leave the workspace as it is")
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--lines", type=Path, help="where lines are kept, one JSON object each")
    parser.add_argument("-o", "--output", type=Path, help="write a page of all lines")
    asked = parser.parse_args()
    known = read_lines(asked.lines)
    print(HEAD)
    for address in asked.robots:
        for name in asked.policies.split(","):
            key = f"{name} {Path(address).stem} {asked.episodes} {asked.seed}"
            if key not in known:
                known[key] = {"key": key, **measure(name, address, asked)}
                if asked.lines is not None:
                    asked.lines.parent.mkdir(parents=True, exist_ok=True)
                    with asked.lines.open("a") as stream:
                        stream.write(json.dumps(known[key]) + "\n")
            print(render_row(known[key]), flush=True)
    if asked.output is not None:
        write_atomic(asked.output, render(list(known.values())))
    return 0


def read_lines(file: Path | None) -> dict[str, dict[str, Any]]:
    """What was measured before."""
    if file is None or not file.is_file():
        return {}
    return {row["key"]: row for row in map(json.loads, file.read_text().splitlines())}


def measure(name: str, address: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One policy on one robot."""
    task = getattr(POLICIES.get(name), "task", name)
    robot = open_robot(address)
    options = read_sets(SCENES.get(task), asked.sets)
    report = preflight(task, robot, options=options, mode=find_mode(name), fit=not asked.no_fit)
    told = [f"{found.kind} ({found.level})" for found in report.findings if found.level is not Level.INFO]
    row: dict[str, Any] = {"task": task, "robot": robot.id, "told": sorted(set(told)), "episodes": 0}
    if not report.is_clear or report.rollout is None:
        return row
    found = SimRunner(report.rollout, make_policy(name), name=name).run(asked.episodes, asked.seed)
    steps = statistics.mean(episode.steps for episode in found.episodes)
    lost = [episode.seed for episode in found.episodes if not episode.success]
    return row | {"episodes": asked.episodes, "won": found.successes, "steps": steps, "lost": lost}


def render_row(row: dict[str, Any]) -> str:
    """One line of the table."""
    told = ", ".join(row["told"])
    if not row["episodes"]:
        return f"| {row['task']} | {row['robot']} | refused |  |  |  | {told} |"
    low, high = find_interval(row["won"], row["episodes"])
    lost = " ".join(map(str, row["lost"]))
    rate = f"{row['won']} of {row['episodes']} | {100 * low:.0f} to {100 * high:.0f} %"
    return f"| {row['task']} | {row['robot']} | {rate} | {row['steps']:.0f} | {lost} | {told} |"


def render(rows: list[dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# Scripted policies on arms of MuJoCo Menagerie",
        "",
        "Made by `python scripts/measure_baselines.py FILES -o docs/task-baselines.md`: every arm with `--fit`,",
        "without a manifest and without tuning. Seeds count from 0; intervals are Wilson's. What pre-flight says",
        "before is in the last column; a robot that it refuses is not run.",
        "",
        HEAD,
    ]
    ordered = sorted(rows, key=lambda row: (row["task"], row["robot"]))
    return "\n".join([*lines, *map(render_row, ordered)]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
