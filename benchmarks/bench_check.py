# SPDX-License-Identifier: Apache-2.0
"""All rules against all of OpenUSD's own validators (C++), on the same opened stage, one process each.

Measured in processes of their own so that neither warms a cache for the other.  Loading rules or validators and
opening the stage are not counted; what either reads once per process when it first runs is.  A second run in the same
process, a row of its own, shows what is left without that.  Memory is compared with that of the opened stage, rules
loaded.

Then the reference checker of REP-0158 on robots that mujoco-usd-converter makes of MuJoCo Menagerie
(``MENAGERIE_ROOT``), drawn at random: ``check_worker.py`` says what is compared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.bench_convert import shuffle
from benchmarks.measure import PYTHON, Result, growth
from benchmarks.peers import explain_absence, find_peer

OURS = """
import json, re, sys, time
from pxr import Usd, UsdPhysics
from simwright.checker.run import all_rules, run_rules
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.usd.open import open_stage
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
rules = all_rules()
if "memory" in sys.argv:
    tiny = Usd.Stage.CreateInMemory()
    UsdPhysics.RigidBodyAPI.Apply(tiny.DefinePrim("/Body", "Xform"))
    list(run_rules(StageSnapshot(tiny), rules))
stage = open_stage(sys.argv[1])
[p for p in stage.Traverse()]
opened = peak()
start = time.process_time()
found = list(run_rules(StageSnapshot(stage), rules))
seconds, most = time.process_time() - start, peak()
start = time.process_time()
list(run_rules(StageSnapshot(stage), rules))
again = time.process_time() - start
print(json.dumps({"seconds": seconds, "again": again, "most": most, "opened": opened, "found": len(found)}))
"""
THEIRS = """
import json, sys, time
from pxr import Usd, UsdValidation
stage = Usd.Stage.Open(sys.argv[1])
[p for p in stage.Traverse()]
registry = UsdValidation.ValidationRegistry()
names = [m.name for m in registry.GetAllValidatorMetadata() if "simwright" not in m.name]
validators = registry.GetOrLoadValidatorsByName(names)
context = UsdValidation.ValidationContext(validators)
start = time.process_time()
errors = context.Validate(stage)
seconds = time.process_time() - start
start = time.process_time()
context.Validate(stage)
again = time.process_time() - start
print(json.dumps({"seconds": seconds, "again": again, "validators": len(validators)}))
"""


def measure(code: str, path: Path, repeat: int = 3) -> dict[str, float]:
    """The least time of each run."""
    runs = [_run(code, path) for _ in range(repeat)]
    return {key: min(run[key] for run in runs) for key in runs[0]}


def _run(code: str, *words: object) -> dict[str, float]:
    command = [PYTHON, "-c", code, *map(str, words)]
    found: dict[str, float] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return found


def compare(name: str, path: Path, limit: float | None) -> list[Result]:
    """Three rows: both on a stage, for the first time in a process and again, and our memory [MiB]."""
    ours, theirs = measure(OURS, path), measure(THEIRS, path)
    held = _run(OURS, path, "memory")
    peer = f"{theirs['validators']:.0f} UsdValidation validators"
    note = f"{ours['found']:.0f} findings"
    return [
        Result(f"check, all rules, {name}", ours["seconds"], peer, theirs["seconds"], limit, note),
        Result(f"check again, {name}", ours["again"], peer, theirs["again"], limit),
        Result(
            f"check, memory, {name}",
            held["most"],
            "the opened stage",
            held["opened"],
            limit and MEMORY,
            "MiB",
        ),
    ]


def run() -> Iterator[Result | str]:
    from benchmarks.stages import make_stage

    with tempfile.TemporaryDirectory() as folder:
        sizes, times = [], []
        for prims in (6_000, 20_000, 60_000):
            path = Path(folder) / f"robot{prims}.usdc"
            sizes.append(make_stage(path, prims, prims * 300))
            rows = compare(f"{sizes[-1]:,} prims, {prims * 300 / 1e6:g} M triangles", path, 1.0)
            times.append(rows[0].seconds)
            if len(sizes) == 3:
                rows[0] = replace(rows[0], note=f"{rows[0].note}; {growth(sizes, times)}")
            yield from rows
        for kind in ("distinct", "faulty", "soup"):
            path = Path(folder) / f"{kind}.usdc"
            prims = make_stage(path, 20_000, 6_000_000, **{kind: True})
            yield from compare(f"{prims:,} prims, 6 M triangles, {WORDS[kind]}", path, 1.0)
        for name in ("fourbar", "warehouse"):
            robot = Path(f"samples/simwright_samples/{name}/{name}.usda")
            yield from compare(f"sample {name}", robot, None)
        yield from compare_robots(Path(folder))


def compare_robots(folder: Path) -> Iterator[Result | str]:
    """Robots of another converter, by the reference checker and by us: each, and the median of all."""
    checker, converter = find_peer(CHECKER), find_peer(CONVERTER)
    root = os.environ.get("MENAGERIE_ROOT")
    if not root or not checker or not converter:
        missing = [explain_absence(name) for name in (CHECKER, CONVERTER) if not find_peer(name)]
        why = missing[0] if missing else "left out, MENAGERIE_ROOT does not name a checkout"
        yield f"{REFERENCE} on random robots: {why}"
        return
    seed = int(os.environ["BENCH_SEED"])  # from the command line, or drawn by the clock
    yield f"robots of {REFERENCE}: --seed {seed} draws them again"
    rows: dict[str, list[Result]] = {"cold": [], "again": []}
    for file in shuffle(Path(root), "*/*.xml", seed):
        stage = _convert(converter, file, folder / file.parent.name / file.stem)
        if stage is None:
            yield f"{file.parent.name}/{file.stem}: {CONVERTER} cannot convert it, another is drawn"
            continue
        name = f"{file.parent.name}/{file.stem}"
        ours, theirs = _measure_robot(checker, stage)
        for key, word in (("cold", "check"), ("again", "check again")):
            row = Result(
                f"{word}, {name}", ours[key], REFERENCE, theirs[key], None, f"{ours['found']:.0f} findings"
            )
            rows[key].append(row)
            yield row
        if len(rows["cold"]) == ROBOTS:
            break
    for key, found in rows.items():
        # an odd number: the median is one of them
        ratio = statistics.median_low([row.ratio for row in found])
        middle = next(row for row in found if row.ratio == ratio)
        yield replace(
            middle, name=f"check, median of {len(found)} robots, {key}", limit=REFERENCE_LIMIT, note=""
        )


def _convert(python: str, file: Path, folder: Path) -> Path | None:
    command = [python, "-m", CONVERTER, str(file), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True)
    made = sorted(folder.glob("*.usda")) if done.returncode == 0 else []
    return made[0] if made else None


def _measure_robot(checker: str, stage: Path) -> list[dict[str, float]]:
    """The least CPU seconds of both, in processes that take turns."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(3):
        for number, (python, side) in enumerate(((PYTHON, "ours"), (checker, "theirs"))):
            done = subprocess.run(
                [python, str(WORKER), side, str(stage)], check=True, capture_output=True, text=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            best[number] = {key: min(value, best[number].get(key, value)) for key, value in found.items()}
    return best


CHECKER, CONVERTER = "compliance_checker", "mujoco_usd_converter"
REFERENCE = "ros-openusd-compliance-checker"
REFERENCE_LIMIT = 0.8
ROBOTS = 7
WORKER = Path(__file__).with_name("check_worker.py")
MEMORY = 1.3
"""Most memory of a check, the opened stage counted as 1."""
WORDS = {
    "distinct": "no two meshes alike",
    "faulty": "two faults on every body",
    "soup": "every corner a point of its own",
}
