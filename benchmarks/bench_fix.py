# SPDX-License-Identifier: Apache-2.0
"""Fixing an asset against checking it: copy, fixes, second check and proof included, one process each.

The stage is that of the checker's benchmark with Euler angles on every tenth body or on every body, and without units.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import PYTHON, Result

CODE = """
import json, sys, tempfile, time
import simwright
source, what = sys.argv[1:]
simwright.check("samples/simwright_samples/box/box.usda")
simwright.fix("samples/simwright_samples/box/box.usda", dry_run=True)
start = time.process_time()
if what == "check":
    count = sum(1 for _ in simwright.check(source))
else:
    with tempfile.TemporaryDirectory() as folder:
        result = simwright.fix(source, folder + "/out")
        count = sum(result.fixed.values())
        assert result.proven and not result.notes, [str(note) for note in result.notes][:3]
print(json.dumps({"seconds": time.process_time() - start, "count": count}))
"""


def spoil(path: Path, step: int) -> None:
    """Euler angles on every ``step``-th body, and no units."""
    from pxr import Sdf

    layer = Sdf.Layer.FindOrOpen(str(path))
    for key in ("kilogramsPerUnit", "timeCodesPerSecond"):
        layer.pseudoRoot.ClearInfo(key)
    base = layer.GetPrimAtPath("/robot/base")
    with Sdf.ChangeBlock():
        for number, body in enumerate(base.nameChildren):
            order = body.attributes.get("xformOpOrder")
            if order is None or number % step:
                continue
            if "xformOp:orient" in body.attributes:
                body.RemoveProperty(body.attributes["xformOp:orient"])
            angles = Sdf.AttributeSpec(body, "xformOp:rotateXYZ", Sdf.ValueTypeNames.Float3)
            angles.default = (0.0, 0.0, 0.0)
            order.default = ["xformOp:translate", "xformOp:rotateXYZ"]
    layer.Save()


def measure(path: Path, what: str, repeat: int = 3) -> dict[str, float]:
    """The least time."""
    command = [PYTHON, "-c", CODE, str(path), what]
    outputs = [
        subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(repeat)
    ]
    found: dict[str, float] = min((json.loads(output) for output in outputs), key=lambda run: run["seconds"])
    return found


def run() -> Iterator[Result]:
    from benchmarks.stages import make_stage

    with tempfile.TemporaryDirectory() as folder:
        for step, words in ((10, "every tenth body faulty"), (1, "every body faulty")):
            path = Path(folder) / f"robot{step}.usdc"
            prims = make_stage(path, 20_000, 1_000_000)
            spoil(path, step)
            check, fixed = measure(path, "check"), measure(path, "fix")
            yield Result(
                f"fix, {prims:,} prims, {words}",
                fixed["seconds"],
                "simwright check",
                check["seconds"],
                limit=3.0,
                note=f"{fixed['count']:.0f} findings fixed",
            )
