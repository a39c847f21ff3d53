# SPDX-License-Identifier: Apache-2.0
"""Fixing an asset against checking it: copy, fixes, second check and proof included, one process each.

The stage is that of the checker's benchmark: with Euler angles on every tenth body or on every body, and without units;
and, for what has to be asked for, in one file that is split into layers, in centimetres and Y-up, and with the words of
an engine on every joint and collider.  These rewrite nearly every opinion of the asset and have no limit.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import PYTHON, Result, growth

CODE = """
import json, sys, tempfile, time
import simwright
source, what, options = sys.argv[1:]
simwright.check("samples/simwright_samples/box/box.usda")
simwright.fix("samples/simwright_samples/box/box.usda", dry_run=True)
start = time.process_time()
if what == "check":
    count = sum(1 for _ in simwright.check(source))
else:
    with tempfile.TemporaryDirectory() as folder:
        result = simwright.fix(source, folder + "/out", **json.loads(options))
        count = sum(result.fixed.values())
        # a layer that is split may give other rules something to say: that is information
        problems = [str(note) for note in result.notes if note.level.value != "info"]
        assert result.proven and not problems, problems[:3]
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


def foreign_units(path: Path) -> None:
    """Centimetres, and Y-up."""
    from pxr import Sdf

    layer = Sdf.Layer.FindOrOpen(str(path))
    layer.pseudoRoot.SetInfo("metersPerUnit", 0.01)
    layer.pseudoRoot.SetInfo("upAxis", "Y")
    layer.Save()


def foreign_words(path: Path) -> None:
    """An engine's armature and friction on every joint, its offsets on every collider."""
    from pxr import Sdf

    layer = Sdf.Layer.FindOrOpen(str(path))
    words = {
        "j": ("PhysxJointAPI", {"physxJoint:armature": 0.25, "physxJoint:jointFriction": 0.1}),
        "b": ("PhysxCollisionAPI", {"physxCollision:contactOffset": 0.02, "physxCollision:restOffset": 0.0}),
    }
    with Sdf.ChangeBlock():
        for spec in layer.GetPrimAtPath("/robot/base").nameChildren:
            schema, values = words[spec.name[0]]
            is_joint = spec.name.startswith("j")
            holder = spec if is_joint else layer.GetPrimAtPath(spec.path.AppendPath("collision/shell"))
            listed = holder.GetInfo("apiSchemas") if holder.HasInfo("apiSchemas") else Sdf.TokenListOp()
            listed.prependedItems = [*listed.prependedItems, schema]
            holder.SetInfo("apiSchemas", listed)
            for name, value in values.items():
                Sdf.AttributeSpec(holder, name, Sdf.ValueTypeNames.Float).default = value
    layer.Save()


ASKED: tuple[tuple[str, Callable[[Path], None] | None, dict[str, Any]], ...] = (
    ("one file split into layers", None, {"unsafe": True, "select": ["1.2.1"]}),
    ("cm and Y-up converted", foreign_units, {"values": {"units": "convert"}}),
    (
        "an engine's words translated",
        foreign_words,
        {"unsafe": True, "select": ["xphys-no-vendor", "proprietary-minimal", "isol-minimize", "xphys-lifecycle"]},
    ),
)  # fmt: skip


def measure(path: Path, what: str, repeat: int = 3, **options: Any) -> dict[str, float]:
    """The least time."""
    command = [PYTHON, "-c", CODE, str(path), what, json.dumps(options)]
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
        for words, prepare, options in ASKED:
            yield _measure_asked(Path(folder), words, prepare, options)


def _measure_asked(
    folder: Path, words: str, prepare: Callable[[Path], None] | None, options: dict[str, Any]
) -> Result:
    from benchmarks.stages import make_stage

    sizes, checks, fixes = [], [], []
    for prims in (10_000, 20_000):
        path = folder / f"{len(words)}{prims}" / "robot.usdc"
        path.parent.mkdir()
        sizes.append(make_stage(path, prims, 50 * prims))
        if prepare is not None:
            prepare(path)
        checks.append(measure(path, "check", 2))
        fixes.append(measure(path, "fix", 2, **options))
    seconds = [found["seconds"] for found in fixes]
    note = f"{fixes[-1]['count']:.0f} findings fixed, {growth(sizes, seconds)}"
    return Result(
        f"fix, {sizes[-1]:,} prims, {words}", seconds[-1], "simwright check", checks[-1]["seconds"], note=note
    )
