#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every robot of a folder in a task that fits it: ``python scripts/measure_task_robots.py MENAGERIE [-o PAGE]``.

A robot is composed, reset and run for 200 actions around its start.  What is compared: the options of its file (time
step, integrator, cone and solver), its mass and its controls alone and in the task; and whether the task is the same,
bit for bit, as around any other robot with the same seed.  Lines are kept in ``--lines`` as they are found, so that a
run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from simwright.core.errors import SimwrightError
from simwright.core.files import write_atomic
from simwright.tasks.robot import open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES

STEPS, SEED = 200, 3
NOT_ROBOTS = ("scene", "keyframe", "single_cube", "test")
OPTIONS = (
    "timestep",
    "integrator",
    "cone",
    "solver",
    "iterations",
    "impratio",
    "disableflags",
    "enableflags",
)


def main() -> int:
    """Measure what has no line yet, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--lines", type=Path, default=Path("out/task_robots.jsonl"))
    asked = parser.parse_args()
    asked.lines.parent.mkdir(parents=True, exist_ok=True)
    known = {}
    if asked.lines.is_file():
        known = {row["file"]: row for row in map(json.loads, asked.lines.read_text().splitlines())}
    for file in list_files(asked.folder):
        name = file.relative_to(asked.folder).as_posix()
        if name not in known:
            known[name] = {"file": name, **measure(file)}
            with asked.lines.open("a") as stream:
                stream.write(json.dumps(known[name]) + "\n")
            print(render_row(known[name]), flush=True)
    if asked.output is not None:
        write_atomic(asked.output, render(list(known.values())))
    return 0 if all(row["result"] == "runs" or row["told"] for row in known.values()) else 1


def list_files(folder: Path) -> list[Path]:
    """Robots: one file each, without scenes around them."""
    files = sorted(folder.glob("*/*.xml"))
    return [file for file in files if not any(word in file.name for word in NOT_ROBOTS)]


def measure(file: Path) -> dict[str, Any]:
    """One robot."""
    row: dict[str, Any] = {"task": "", "result": "", "told": "", "same": {}, "layout": ""}
    try:
        alone = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        return row | {"result": "MuJoCo does not load it", "told": " ".join(str(error).split())[:120]}
    try:
        robot = open_robot(file)
        row["task"] = task = "locomotion_flat" if robot.facts.is_floating else "tabletop_push"
        rollout = SimRollout(SCENES.get(task), robot)
    except SimwrightError as error:
        return row | {"result": "refused", "told": str(error)}
    return row | run(alone, rollout)


def run(alone: Any, rollout: SimRollout) -> dict[str, Any]:
    """Reset and run it."""
    model = rollout.model
    rollout.reset(seed=SEED)
    layout = json.dumps(
        {name: np.asarray(place).tobytes().hex() for name, place in sorted(rollout.layout.items())}
    )
    chance, hold, broken = np.random.default_rng(0), rollout.controller.hold(), ""
    for number in range(STEPS):
        result = rollout.step(hold + 0.05 * chance.standard_normal(len(hold)))
        if "unstable" in result.info:
            broken = f"unstable at step {number}"
            break
    first, last = 1, 1 + rollout.composed.robot_nbody
    same = {
        "options": all(getattr(alone.opt, name) == getattr(model.opt, name) for name in OPTIONS),
        "mass": bool(
            np.isclose(alone.body_mass.sum(), model.body_mass[first:last].sum(), rtol=1e-9, atol=0.0)
        ),
        "controls": alone.nu == rollout.composed.robot_nu,
    }
    return {"result": broken or "runs", "same": same, "layout": layout, "actions": len(hold)}


def render(rows: list[dict[str, Any]]) -> str:
    """The page."""
    loaded = [row for row in rows if row["result"] != "MuJoCo does not load it"]
    ran = [row for row in loaded if row["result"] == "runs"]
    kept = [row for row in ran if all(row["same"].values())]
    bits = {
        task: len({row["layout"] for row in ran if row["task"] == task})
        for task in {row["task"] for row in ran}
    }
    lines = [
        "# Robots of MuJoCo Menagerie in tasks",
        "",
        "Made by `python scripts/measure_task_robots.py MENAGERIE -o docs/task-robots.md`: every file that is a robot,",
        f"in the task that fits it (a table for what stands fixed, else a floor), {STEPS} actions around its start.",
        "",
        f"Of {len(rows)} files MuJoCo loads {len(loaded)}; {len(ran)} run without a warning, {len(kept)} of them with",
        "the options, mass and number of controls that they have alone. Pre-flight says of the others what differs:",
        "a file that drives nothing gets servos (and implicitfast in place of Euler), and a time step that does not",
        "divide the control period is shortened.",
        "With the same seed, "
        + " and ".join(
            f"all robots in `{task}` find {count} task" + ("s" * (count != 1))
            for task, count in sorted(bits.items())
        )
        + ", bit for bit.",
        "",
        "| robot | task | result | options | mass | controls |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(render_row, rows)]) + "\n"


def render_row(row: dict[str, Any]) -> str:
    """One line of the table."""
    words = [
        {True: "same", False: "**other**"}.get(row["same"].get(name), "")
        for name in ("options", "mass", "controls")
    ]
    told = row["result"] if not row["told"] else f"{row['result']}: {row['told']}"
    return f"| {row['file'].removesuffix('.xml')} | {row['task']} | {told.replace('|', '/')} | {' | '.join(words)} |"


if __name__ == "__main__":
    sys.exit(main())
