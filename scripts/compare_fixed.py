# SPDX-License-Identifier: Apache-2.0
"""Fix what other converters make of robots, and hold it against what it was: a table of errors and differences.

``python scripts/compare_fixed.py ASSETS [--kind mjcf|urdf|usd ...] [--robot WORD ...] [--keep FOLDER]`` converts every
robot below the folder with mujoco-usd-converter and urdf-usd-converter (``SIMWRIGHT_PEER_MUJOCO_USD_CONVERTER`` and
``SIMWRIGHT_PEER_URDF_USD_CONVERTER`` name interpreters that have them), takes stages as they are, fixes all of them
with ``--unsafe``, checks them, fixes them again, and simulates both with MuJoCo and, where it is installed, with
Newton's own importer.  Exits with 1 when an error is left, a second fix changes a byte, MuJoCo sees a difference beyond
1e-6, or Newton sees other armature, friction, damping, limits, drives, mimics or pairs that do not touch.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from tests.sanitizer.repairs import PEERS, Repair, convert_with_peer, find_peer, find_robots, repair  # noqa: E402 - the tests' own
from tests.sanitizer.simulated import (  # noqa: E402
    AssetComparison,
    NotComparableError,
    compare_in_mujoco,
    compare_in_newton,
)

TOLERANCE = 1e-6
COLUMNS = ("before", "after", "mass matrix", "bias", "places", "Newton", "CPU s")


def main() -> int:
    """All robots, then how many of them have a problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assets", type=Path)
    parser.add_argument("--kind", action="append", choices=[*PEERS, "usd"], help="only this kind of source")
    parser.add_argument("--robot", action="append", default=[], help="only robots with this in their path")
    parser.add_argument("--keep", type=Path, help="keep what is made in this folder")
    arguments = parser.parse_args()
    print(f"{'':40}" + "".join(f"{name:>13}" for name in COLUMNS) + "  notes", flush=True)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for kind in arguments.kind or (*PEERS, "usd"):
            for robot in find_robots(arguments.assets, kind):
                if not arguments.robot or any(word in str(robot) for word in arguments.robot):
                    name = f"{robot.parent.name}/{robot.stem}"
                    folder = (arguments.keep or Path(scratch)) / kind / name
                    problems += [f"{name}: {problem}" for problem in judge(kind, robot, name, folder)]
    print(f"\n{len(problems)} problems", *problems, sep="\n")
    return 1 if problems else 0


def judge(kind: str, robot: Path, name: str, folder: Path) -> list[str]:
    """One line of the table; gives what is wrong."""
    if kind != "usd" and not find_peer(kind):
        print(f"{name[:39]:40} left out: SIMWRIGHT_PEER_{PEERS[kind].upper()} names no interpreter")
        return []
    stage = robot if kind == "usd" else convert_with_peer(find_peer(kind), kind, robot, folder / "peer")
    start = time.process_time()
    repaired = repair(stage, folder)
    seconds = time.process_time() - start
    problems = list(repaired.left)
    if repaired.changed_again:
        problems.append("a second fix changes it")
    try:
        found = compare_in_mujoco(stage, repaired.after, folder)
    except NotComparableError as error:
        show(name, repaired, None, str(error)[:60], seconds)
        return [*problems, str(error)]
    if found.worst > TOLERANCE:
        problems.append(f"MuJoCo sees a difference of {found.worst:.2g}")
    problems += [f"{lost} is nowhere afterwards" for lost in found.lost]
    told, changed = ask_newton(stage, repaired.after)
    show(name, repaired, found, told, seconds)
    return [*problems, *(f"Newton: {change}" for change in changed)]


def ask_newton(before: Path, after: Path) -> tuple[str, list[str]]:
    """The largest difference that Newton sees, in its single precision, or why there is none; and what else changed."""
    if importlib.util.find_spec("newton") is None:
        return "-", []
    try:
        found = compare_in_newton(before, after)
    except NotComparableError as error:
        return str(error).partition("\n")[0][:60], []
    return f"{found.worst:.1e}", found.changed


def show(name: str, repaired: Repair, found: AssetComparison | None, newton: str, seconds: float) -> None:
    """One line."""
    before, after = repaired.errors
    figures = [f"{value:.1e}" for value in (found.mass, found.bias, found.place)] if found else ["-"] * 3
    cells = [str(before), str(after), *figures, newton, f"{seconds:.1f}"]
    notes = ", ".join(f"{kind} {count}" for kind, count in sorted(repaired.notes.items()))
    print(f"{name[:39]:40}" + "".join(f"{cell:>13}" for cell in cells) + f"  {notes}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
