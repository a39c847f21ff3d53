# SPDX-License-Identifier: Apache-2.0
"""Jobs: what storing, isolating and reporting cost for each asset, against a plain loop over the same assets.

Assets are small, so that the job shows and not the check: generated boxes, four rules, one worker.  CPU time of all
processes, those of a Ray cluster of this machine too, which the environment of ``scripts/judge`` has.  Starting costs
the same for any number of assets: "one asset more" is the difference between the two sizes.

``BENCH_JOBS_SIZE=100000`` adds a job of so many assets for each executor, against the loop over fewer of them times
their number; it takes about half an hour.  ``scripts/measure_jobs.py`` does the same with kills, and by a Ray cluster
of several nodes.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import PYTHON, Result, command_cpu_time, growth
from benchmarks.peers import explain_absence, find_peer

ROOT = Path(__file__).resolve().parents[1]
SIZES = (1000, 10_000)
LARGER = "BENCH_JOBS_SIZE"
"""Environment variable with a larger number of assets."""
_MARK = "SIMWRIGHT_BENCH_MARK"
"""Environment variable by which processes of a cluster are found: their parents do not wait for them."""
_TICK = 0.1
_LIMITS = {"local": 1.75, "ray": 2.0}
"""For one asset more."""
_RULES = "units,axis-up-z,kind,assetinfo"
_BOX = """#usda 1.0
(
    defaultPrim = "box_{n}"
    metersPerUnit = {units}
    upAxis = "Z"
)

def Xform "box_{n}" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{{
    float physics:mass = {mass}
    def Cube "geometry"
    {{
        double size = {size}
    }}
}}
"""
# what a job does with each, and nothing else: rules are chosen once
_LOOP = """
import sys
from pathlib import Path
from simwright.checker.asset import check_file
from simwright.checker.catalogue import build_catalogue
from simwright.checker.run import all_rules
from simwright.checker.select import choose_rules
chosen = set(choose_rules(build_catalogue(), sys.argv[2].split(","), [], "all").codes)
rules = [rule for rule in all_rules() if rule.code in chosen]
for file in sorted(Path(sys.argv[1]).rglob("*.usda"))[: int(sys.argv[3])]:
    check_file(file, rules=rules)
"""


def run() -> Iterator[Result | str]:
    rng = random.Random(4)
    larger = int(os.environ.get(LARGER) or 0)
    with tempfile.TemporaryDirectory() as name:
        folder, loops = Path(name), []
        for size in SIZES:
            _make_boxes(folder / f"boxes-{size}", size, rng)
            loop = [PYTHON, "-c", _LOOP, str(folder / f"boxes-{size}"), _RULES]
            # importing and starting are the same for any number of assets
            loops.append(
                command_cpu_time([*loop, str(size)], repeat=0) - command_cpu_time([*loop, "0"], repeat=0)
            )
        if larger:
            _make_boxes(folder / f"boxes-{larger}", larger, rng)
        yield from _measure_executor("local", PYTHON, folder, loops, larger)
        python = find_peer("ray")
        if python:
            yield from _measure_executor("ray", python, folder, loops, larger)
        else:
            yield f"  jobs by Ray: {explain_absence('ray')}"


def _measure_executor(
    executor: str, python: str, folder: Path, loops: list[float], larger: int
) -> Iterator[Result | str]:
    sizes = (*SIZES, larger) if larger else SIZES
    taken = []
    for size in sizes:
        taken.append(_measure_job(_ask(python, folder / f"boxes-{size}", folder / "job", executor)))
        told, loop = "a plain loop", loops[-1] * size / SIZES[-1]
        if size in SIZES:
            loop = loops[SIZES.index(size)]
        else:
            told += f", from {SIZES[-1]:,}"
        note = f"{1000 * (taken[-1] - loop) / size:+.2f} ms for each asset, with starting and the report"
        yield Result(f"job of {size:,} checks, {executor}", taken[-1], told, loop, None, note)
        shutil.rmtree(folder / "job", ignore_errors=True)
    more = SIZES[1] - SIZES[0]
    ours, loop = ((one[1] - one[0]) / more for one in (taken, loops))
    note = f"{1000 * (ours - loop):+.2f} ms"
    yield Result(f"one asset more, {executor}", ours, "a plain loop", loop, _LIMITS[executor], note)
    yield f"  jobs, {executor}: CPU time {growth(sizes, taken)}"


def _ask(python: str, inputs: Path, job: Path, executor: str) -> list[str]:
    words = ["check", str(inputs), "--select", _RULES, "--no-cache", "--job", str(job), "--jobs", "1"]
    return [python, "-m", "simwright", *words, "--executor", executor, "--format", "json"]


def _measure_job(command: list[str]) -> float:
    """CPU seconds of a job with all its processes; assets are many, so one run is enough.

    Each process is looked at until it is gone: what ends between two looks is counted up to the first of them.
    """
    mark = secrets.token_hex(8)
    environment = {**os.environ, _MARK: mark, "PYTHONPATH": str(ROOT / "src")}
    spent: dict[tuple[int, str], float] = {}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        while True:
            try:
                _, wrong = process.communicate(timeout=_TICK)
                break
            except subprocess.TimeoutExpired:
                spent.update(_look(mark))
    # 1: some of the boxes have findings
    if process.returncode not in (0, 1):
        raise subprocess.CalledProcessError(process.returncode, command, stderr=wrong)
    return sum(spent.values())


def _look(mark: str) -> Iterator[tuple[tuple[int, str], float]]:
    """CPU seconds of every process with the mark, by its id and the moment it was started."""
    wanted = f"{_MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (place / "environ").read_bytes():
                continue
            words = (place / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        yield (int(place.name), words[19]), (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _make_boxes(folder: Path, size: int, rng: random.Random) -> None:
    folder.mkdir()
    for n in range(size):
        text = _BOX.format(
            n=n, units=rng.choice((1, 1, 0.01)), mass=rng.uniform(1, 9), size=rng.uniform(0.1, 2)
        )
        (folder / f"box_{n:06d}.usda").write_text(text)
