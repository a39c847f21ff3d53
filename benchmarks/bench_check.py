# SPDX-License-Identifier: Apache-2.0
"""All rules against all of OpenUSD's own validators (C++), on the same opened stage, one process each.

Measured in processes of their own so that neither warms a cache for the other; opening the stage is not counted.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import PYTHON, Result, growth

OURS = """
import json, re, sys, time
from simwright.check.run import all_rules, run_rules
from simwright.check.facts.snapshot import Snapshot
from simwright.usd.open import open_stage
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
rules = all_rules()
stage = open_stage(sys.argv[1])
[p for p in stage.Traverse()]
opened = peak()
start = time.process_time()
found = list(run_rules(Snapshot(stage), rules))
print(json.dumps({"seconds": time.process_time() - start, "opened": opened, "peak": peak(), "found": len(found)}))
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
print(json.dumps({"seconds": time.process_time() - start, "validators": len(validators)}))
"""


def measure(code: str, path: Path, repeat: int = 3) -> dict[str, float]:
    """The run with the least CPU time."""
    runs = []
    for _ in range(repeat):
        done = subprocess.run([PYTHON, "-c", code, str(path)], check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    return min(runs, key=lambda run: run["seconds"])


def run() -> Iterator[Result]:
    from benchmarks.stages import make_stage

    with tempfile.TemporaryDirectory() as folder:
        sizes, times = [], []
        for prims in (6_000, 20_000, 60_000):
            path = Path(folder) / f"robot{prims}.usdc"
            sizes.append(make_stage(path, prims, prims * 300))
            ours, theirs = measure(OURS, path), measure(THEIRS, path)
            times.append(ours["seconds"])
            note = f"memory {ours['peak'] / ours['opened']:.2f}x the opened stage"
            if len(sizes) == 3:
                note += f"; {growth(sizes, times)}"
            yield Result(
                f"check, all rules, {sizes[-1]:,} prims, {prims * 300 / 1e6:g} M triangles",
                ours["seconds"], f"{theirs['validators']:.0f} UsdValidation validators", theirs["seconds"],
                limit=1.0 if prims == 20_000 else None, note=note,
            )  # fmt: skip
        path = Path(folder) / "distinct.usdc"
        prims = make_stage(path, 20_000, 6_000_000, distinct=True)
        ours, theirs = measure(OURS, path), measure(THEIRS, path)
        yield Result(
            f"check, all rules, {prims:,} prims, 6 M triangles, no two meshes alike",
            ours["seconds"], f"{theirs['validators']:.0f} UsdValidation validators", theirs["seconds"],
            limit=1.0, note=f"memory {ours['peak'] / ours['opened']:.2f}x the opened stage",
        )  # fmt: skip
        for name in ("fourbar", "warehouse"):
            robot = Path(f"samples/simwright_samples/{name}/{name}.usda")
            ours, theirs = measure(OURS, robot), measure(THEIRS, robot)
            yield Result(
                f"check, all rules, sample {name}", ours["seconds"], "UsdValidation", theirs["seconds"]
            )
