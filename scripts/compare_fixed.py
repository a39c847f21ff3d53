# SPDX-License-Identifier: Apache-2.0
"""Fix what other converters make of robots, and hold it against what it was: a table of errors and differences.

``python scripts/compare_fixed.py FOLDER ... [--kind mjcf|urdf|usd ...] [--robot WORD ...] [--sample N --seed S]``
converts every robot below the folders with mujoco-usd-converter and urdf-usd-converter
(``SIMWRIGHT_PEER_MUJOCO_USD_CONVERTER`` and ``SIMWRIGHT_PEER_URDF_USD_CONVERTER`` name interpreters that have them),
takes stages as they are, fixes all of them with ``--unsafe``, checks them, fixes them again, and has MuJoCo simulate
both.  Then the engines of ``--engines`` (``simwright engines install newton physx mujoco-usd``) open both themselves:
freedoms, limits, armature, friction, damping, drives, actuators, mimics, masses and pairs that do not touch have to be
the same.  ``--engines-only`` leaves out the check, the second fix and MuJoCo; ``--results`` adds rows to a JSON file
and leaves out robots that are in it.

Exits with 1 when an error is left, a second fix changes a byte, MuJoCo sees a difference beyond 1e-6, or an engine sees
another robot than before.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from tests.sanitizer.repairs import (  # noqa: E402 - the tests' own
    PEERS,
    VALUES,
    Repair,
    convert_with_peer,
    find_peer,
    find_robots,
    repair,
)
from tests.sanitizer.simulated import NotComparableError, compare_in_mujoco  # noqa: E402

import simwright  # noqa: E402
from simwright.prover.processes import EnginePool, NotSeenError  # noqa: E402
from simwright.prover.table import list_engines  # noqa: E402
from simwright.prover.workers.seen import Seen, SeenFreedom  # noqa: E402

TOLERANCE = 1e-6
CLOSE = 1e-5
"""Relative difference of numbers in single precision that were written anew."""
SECONDS = 3000.0
TOLD = tuple(name.removeprefix("mass.") for name in VALUES if name.startswith("mass."))
"""Bodies that weigh what a person says."""
GRAVITY = (0.0, 0.0, -9.81)
VALUES_OF_FREEDOMS = (
    "stiffness", "damping", "max_force", "armature", "friction", "passive_damping", "passive_stiffness",
)  # fmt: skip


POOL = EnginePool(SECONDS)


@dataclass
class Judged:
    """One robot: what is wrong with it, and a cell for each engine."""

    robot: str
    kind: str
    problems: list[str] = field(default_factory=list)
    engines: dict[str, str] = field(default_factory=dict)
    changes: dict[str, list[str]] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)


def main() -> int:
    """All robots, then how many of them have a problem."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--kind", action="append", choices=[*PEERS, "usd"], help="only this kind of source")
    parser.add_argument("--robot", action="append", default=[], help="only robots with this in their path")
    parser.add_argument("--sample", type=int, help="so many robots, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--engines", default="newton,physx,mujoco-usd", help="names with commas between, or none"
    )
    parser.add_argument("--engines-only", action="store_true", help="no check, second fix or MuJoCo")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no robot after this time")
    parser.add_argument("--results", type=Path, help="a JSON file of rows to add to")
    parser.add_argument(
        "--keep",
        type=Path,
        help="keep what is made in this folder; what a peer made before is taken from there",
    )
    parser.add_argument(
        "--convert-only", action="store_true", help="fill the folder of --keep with peer output"
    )
    arguments = parser.parse_args()
    engines = [name for name in arguments.engines.split(",") if name and name != "none"]
    robots = [
        (kind, robot, str(robot.relative_to(folder).with_suffix("")))
        for kind in arguments.kind or (*PEERS, "usd")
        for folder in arguments.folders
        for robot in find_robots(folder, kind)
        if not arguments.robot or any(word in str(robot) for word in arguments.robot)
    ]
    if arguments.sample:
        robots = random.Random(arguments.seed).sample(robots, min(arguments.sample, len(robots)))
    rows = load(arguments.results)
    done, start = {(row.kind, row.robot) for row in rows}, time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, POOL:
        for kind, robot, name in robots:
            if (kind, name) in done or time.monotonic() - start > arguments.seconds:
                continue
            folder = (arguments.keep or Path(scratch)) / kind / name
            row = judge(
                kind, robot, name, folder, engines,
                only=arguments.engines_only, convert_only=arguments.convert_only,
            )  # fmt: skip
            rows.append(row)
            show(row)
            if arguments.results:
                save(arguments.results, rows)
            if not arguments.keep:
                shutil.rmtree(folder, ignore_errors=True)
    left = [f"{row.kind} {row.robot}: {problem}" for row in rows for problem in row.problems]
    print(f"\n{len(rows)} robots", *tell_summary(rows, engines), f"{len(left)} problems", *left, sep="\n")
    return 1 if left else 0


def judge(
    kind: str, robot: Path, name: str, folder: Path, engines: list[str], *, only: bool, convert_only: bool
) -> Judged:
    """One robot; one that the peer does not convert is not judged."""
    row = Judged(name, kind)
    if kind != "usd" and not find_peer(kind):
        row.problems.append(f"SIMWRIGHT_PEER_{PEERS[kind].upper()} names no interpreter")
        return row
    try:
        stage = robot if kind == "usd" else convert_once(kind, robot, folder / "peer")
    except (AssertionError, subprocess.TimeoutExpired) as error:
        # a peer that fails or never ends costs one row
        row.figures["peer"] = " ".join(str(error).split())[-120:]
        return row
    if convert_only:
        return row
    start = time.process_time()
    shutil.rmtree(folder / "fixed", ignore_errors=True)
    shutil.rmtree(folder / "again", ignore_errors=True)
    try:
        if only:
            after = Path(simwright.fix(stage, folder / "fixed", unsafe=True, values=VALUES).entry)
        else:
            after = judge_whole(row, stage, folder)
    except simwright.SimwrightError as error:
        row.problems.append(f"refused: {error}")
        return row
    row.figures["cpu"] = time.process_time() - start
    for engine in engines:
        row.engines[engine], row.changes[engine] = ask_engine(engine, stage, after)
        row.problems += [f"{engine}: {change}" for change in row.changes[engine]]
    return row


def convert_once(kind: str, robot: Path, folder: Path) -> Path:
    """The stage that the peer makes of a robot, or made before; what failed is not tried again."""
    failed = folder / "failed.txt"
    if failed.is_file():
        raise AssertionError(failed.read_text())
    made = sorted(folder.glob("*.usda"))
    if len(made) == 1:
        return made[0]
    try:
        return convert_with_peer(find_peer(kind), kind, robot, folder)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        folder.mkdir(parents=True, exist_ok=True)
        failed.write_text(str(error))
        raise


def judge_whole(row: Judged, stage: Path, folder: Path) -> Path:
    """Errors before and after, a second fix, MuJoCo by way of our own reader; gives the fixed asset."""
    repaired: Repair = repair(stage, folder)
    row.figures["errors"] = repaired.errors
    row.problems += repaired.left
    if repaired.changed_again:
        row.problems.append("a second fix changes it")
    try:
        found = compare_in_mujoco(stage, repaired.after, folder, TOLD)
    except NotComparableError as error:
        row.problems.append(str(error))
        return repaired.after
    row.figures["mujoco"] = found.worst
    if found.worst > TOLERANCE:
        row.problems.append(f"MuJoCo sees a difference of {found.worst:.2g}")
    row.problems += [f"{lost} is nowhere afterwards" for lost in found.lost]
    return repaired.after


def ask_engine(engine: str, before: Path, after: Path) -> tuple[str, list[str]]:
    """A cell of the table, and what the engine sees otherwise than before."""
    try:
        one = see(engine, before)
    except NotSeenError as error:
        return f"refused before: {str(error)[:60]}", []
    try:
        two = see(engine, after)
    except NotSeenError as error:
        return "NO", [f"refuses it: {str(error)[:160]}"]
    changes = list_changes(one, two, read_told(before))
    return ("NO" if changes else "same"), changes


@dataclass(frozen=True)
class Told:
    """What a stage says, as we read it: names of freedoms, and the mass of all bodies [kg]."""

    freedoms: frozenset[str]
    mass: float


@cache
def read_told(file: Path) -> Told:
    """What the source of a fix says."""
    asset = simwright.load(file)
    names = frozenset(dof.name for joint in asset.joints for dof in joint.dofs)
    return Told(names, sum(body.inertial.mass for body in asset.bodies if body.inertial is not None))


def see(engine: str, file: Path) -> Seen:
    """What an engine sees of a stage; its process stays for the next one."""
    worker = POOL.find(list_engines()[engine])
    worker.open(file.resolve(), GRAVITY)
    return worker.describe()


def list_changes(one: Seen, two: Seen, told: Told) -> list[str]:
    """What an engine sees otherwise; a base that was loose and is held now is what a fix is for.

    ``told`` is what the source says to us: PhysX leaves out all but one of several joints between two bodies, which it
    sees afterwards, and engines find masses that nobody says in ways of their own, which the fix writes down.
    """
    found = []
    tables = [name_freedoms(seen) for seen in (one, two)]
    names = pair_freedoms(*tables)
    for name, row in tables[0].items():
        found += compare_freedoms(name, row, tables[1].get(names.get(name, "")))
    new = [name for name in tables[1] if name not in names.values() and name.split()[0] not in told.freedoms]
    found += [f"freedom {name} is new" for name in new]
    # PhysX lets the link with the root float; where another link is the base now, that one does
    if len(set(two.floating)) > len(set(one.floating)):
        found.append(f"{', '.join(sorted(set(two.floating) - set(one.floating)))} floats")
    for name, row in one.mimics.items():
        # Newton couples a joint with itself where leader and follower are axes of one that it merged
        if row and row[0] != name and not same_values(row, two.mimics.get(name)):
            found.append(f"mimic of {name}: {row}, afterwards {two.mimics.get(name)}")
    found += [f"mimic of {name} is new" for name in two.mimics if name not in one.mimics]
    acting = [{(row.name, row.target): row for row in seen.actuators} for seen in (one, two)]
    for key, actuator in acting[0].items():
        other = acting[1].get(key)
        if other is None or not same_values(vars(actuator), vars(other)):
            found.append(f"actuator {key}: {actuator}, afterwards {other}")
    found += compare_masses(one.masses, two.masses, told.mass)
    there = set(one.masses) & set(two.masses) | {"world"}
    pairs = [{tuple(pair) for pair in seen.filters if set(pair) <= there} for seen in (one, two)]
    found += [f"pair that did not touch does: {' '.join(pair)}" for pair in sorted(pairs[0] - pairs[1])]
    found += [f"pair that touched does not: {' '.join(pair)}" for pair in sorted(pairs[1] - pairs[0])]
    return found


def compare_masses(one: dict[str, float], two: dict[str, float], told: float) -> list[str]:
    """Masses of bodies; where a body was welded to its link, that weighs as much as both, so that the sum counts."""
    if abs(sum(two.values()) - told) <= CLOSE * told < abs(sum(one.values()) - told):
        return []
    if set(one) != set(two):
        one, two = {"all bodies": sum(one.values())}, {"all bodies": sum(two.values())}
    return [
        f"mass of {name}: {mass:.6g}, afterwards {two[name]:.6g}"
        for name, mass in one.items()
        if abs(two[name] - mass) > CLOSE * max(mass, 1e-6)
    ]


def pair_freedoms(one: dict[str, SeenFreedom], two: dict[str, SeenFreedom]) -> dict[str, str]:
    """Names before -> afterwards.  Newton calls all axes of a merged joint by its first prim; their values tell."""
    names = {name: name for name in one if name in two and one[name].kind != "axis"}
    new = [name for name in two if name not in names]
    for name in [name for name in one if name not in names]:
        same = [other for other in new if not compare_freedoms(name, one[name], two[other])]
        # the name itself first: others of the joint may have the same limits
        chosen = next((other for other in same if other == name.split()[0]), same[0] if same else name)
        names[name] = chosen
        if chosen in new:
            new.remove(chosen)
    return names


def name_freedoms(seen: Seen) -> dict[str, SeenFreedom]:
    """Freedoms of joints by name and axis; those of a base that floats are told by the body."""
    found: dict[str, SeenFreedom] = {}
    for row in seen.freedoms:
        if row.kind != "free":
            number = sum(known.joint == row.joint for known in found.values())
            found[f"{row.joint} {number}" if number else row.joint] = row
    return found


def compare_freedoms(name: str, one: SeenFreedom, two: SeenFreedom | None) -> list[str]:
    """What is not the same of a freedom."""
    if two is None:
        return [f"freedom {name} is gone"]
    found = [f"{name} is {two.kind}, was {one.kind}"] if one.kind not in (two.kind, "axis") else []
    for value in (*VALUES_OF_FREEDOMS, "limit"):
        a, b = getattr(one, value), getattr(two, value)
        if not same_values(a, b):
            found.append(f"{value} of {name}: {a}, afterwards {b}")
    return found


def same_values(one: Any, two: Any) -> bool:
    """Are two values the same, numbers but for their last digits?"""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same_values(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(same_values, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return abs(one - two) <= CLOSE * max(abs(one), abs(two), 1e-6)
    return bool(one == two)


def load(file: Path | None) -> list[Judged]:
    """Rows that were found before."""
    told = json.loads(file.read_text()) if file is not None and file.is_file() else []
    return [Judged(**row) for row in told]


def save(file: Path, rows: list[Judged]) -> None:
    """All rows."""
    file.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n")


def show(row: Judged) -> None:
    """One line."""
    cells = [f"{name} {told}" for name, told in {**row.engines, **row.figures}.items()]
    print(f"{row.kind} {row.robot[:44]:45} {'; '.join(cells)}", flush=True)
    print(
        *(f"    {problem[:200]}" for problem in row.problems[:6]), sep="\n", end="\n" if row.problems else ""
    )


def tell_summary(rows: list[Judged], engines: list[str]) -> list[str]:
    """One line for each converter and engine."""
    lines = []
    for kind in dict.fromkeys(row.kind for row in rows):
        mine = [row for row in rows if row.kind == kind]
        made = [row for row in mine if "peer" not in row.figures]
        lines.append(f"{kind}: {len(mine)} robots, {len(made)} converted by the peer")
        for engine in engines:
            told = [row.engines.get(engine, "") for row in made]
            read = [cell for cell in told if not cell.startswith("refused")]
            lines.append(
                f"  {engine}: opened {len(read)} before, the same after the fix {read.count('same')}"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
