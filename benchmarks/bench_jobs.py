# SPDX-License-Identifier: Apache-2.0
"""Jobs: what storing, isolating and reporting cost for each asset, against a plain loop over the same assets.

Assets are small, so that the job shows and not the check: generated boxes, four rules.  CPU time of all processes.
``scripts/measure_jobs.py`` does the same with 100,000 assets, with kills, and by a Ray cluster of several nodes.
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import PYTHON, Result, command_cpu_time, growth

SIZES = (500, 4000)
_LIMIT = 1.5
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
_LOOP = """
import sys
from pathlib import Path
import simwright
for file in sorted(Path(sys.argv[1]).rglob("*.usda")):
    simwright.check(file, select=sys.argv[2].split(","))
"""


def run() -> Iterator[Result | str]:
    rng = random.Random(4)
    with tempfile.TemporaryDirectory() as name:
        folder, taken = Path(name), []
        for size in SIZES:
            inputs = folder / f"boxes-{size}"
            _make_boxes(inputs, size, rng)
            # importing and starting are the same for any number of assets
            loop = _measure([PYTHON, "-c", _LOOP, str(inputs), _RULES]) - _measure(
                [PYTHON, "-c", "import simwright; simwright.check"]
            )
            ours = _measure(_ask(inputs, folder / "job", "local"), folder / "job")
            taken.append(ours)
            extra = 1000 * (ours - loop) / size
            note = f"{extra:+.2f} ms for each asset, with the start of a worker"
            yield Result(f"job of {size:,} checks, local", ours, "a plain loop", loop, _LIMIT, note)
        yield f"  local jobs: CPU time {growth(SIZES, taken)}"
        if importlib.util.find_spec("ray") is None:
            yield "  jobs by Ray: left out, the extra 'ray' is not installed"
            return
        size = SIZES[-1]
        ours = _measure(_ask(folder / f"boxes-{size}", folder / "job", "ray"), folder / "job")
        yield Result(f"job of {size:,} checks, Ray", ours, "the local executor", taken[-1])


def _ask(inputs: Path, job: Path, executor: str) -> list[str]:
    words = ["check", str(inputs), "--select", _RULES, "--no-cache", "--job", str(job), "--jobs", "1"]
    return [PYTHON, "-m", "simwright", *words, "--executor", executor, "--format", "json"]


def _measure(command: list[str], job: Path | None = None) -> float:
    """CPU seconds of one run with all its processes; assets are many, so one is enough."""
    if job is not None:
        shutil.rmtree(job, ignore_errors=True)
    # 1: some of the boxes have findings
    return command_cpu_time(command, repeat=0, codes=(0, 1))


def _make_boxes(folder: Path, size: int, rng: random.Random) -> None:
    folder.mkdir()
    for n in range(size):
        text = _BOX.format(
            n=n, units=rng.choice((1, 1, 0.01)), mass=rng.uniform(1, 9), size=rng.uniform(0.1, 2)
        )
        (folder / f"box_{n:05d}.usda").write_text(text)
