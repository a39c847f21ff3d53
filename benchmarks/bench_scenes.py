# SPDX-License-Identifier: Apache-2.0
"""Scenes: loading, copying worlds by tiling against building them one by one, and the memory of the copies.

Real robots are used where the shared assets are; a made robot of 80 links otherwise.
"""

from __future__ import annotations

import os
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Result, cpu_time, growth
from simwright.core.diag import Reporter
from simwright.runtime.arrays import measure_arrays
from simwright.scenes.builder import Builder
from simwright.scenes.document import read_scene
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared, build_world, load_scene
from simwright.scenes.replicate import replicate
from simwright.scenes.sources import SourceFinder

SHARED = Path(__file__).resolve().parents[2] / "shared" / "assets" / "scenes"
COUNTS = (1, 16, 256, 4096)
REBUILT = 64
"""Worlds that are built one by one for the comparison."""
MEMORY = 1.2
"""Most bytes at the peak of a copy, as a multiple of the arrays themselves."""
SECOND = 1.0
LINKS = 80


def run() -> Iterator[Result | str]:
    """Every scene there is; the largest last."""
    os.environ.setdefault("SIMWRIGHT_ASSET_CACHE", str(SHARED / "cache"))
    os.environ.setdefault("SIMWRIGHT_ASSET_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as folder:
        scenes = [SHARED / f"{name}.yaml" for name in ("multi_joints", "anymal_d_usd", "anymal_c_urdf")]
        if not SHARED.is_dir():
            scenes = [make_scene(Path(folder))]
        for scene in scenes:
            yield from measure_scene(scene)


def measure_scene(scene: Path) -> Iterator[Result | str]:
    """Rows of one scene."""
    name = scene.stem
    loads = [cpu_time(lambda count=count: load_scene(scene, count), repeat=3) for count in COUNTS]
    once = cpu_time(lambda: build(scene), repeat=3)
    builder = build(scene)
    world, shared = finish_world(builder), build_shared(builder)
    copies = [cpu_time(lambda count=count: replicate(world, shared, count), repeat=3) for count in COUNTS]
    shown = ", ".join(f"{count:,}: {load * 1e3:.0f} ms" for count, load in zip(COUNTS, loads, strict=True))
    yield f"  {name}: {world.count('body')} bodies, {world.count('shape')} shapes; load {shown}"
    yield Result(
        f"load {name}, 4,096 worlds", loads[-1], "load one world", loads[0], note=growth(COUNTS, loads)
    )
    yield Result(f"copy {name}, 4,096 worlds", copies[-1], "one second", SECOND, 1.0, growth(COUNTS, copies))
    rebuilt = cpu_time(rebuild(scene), repeat=1, warm=False) * (COUNTS[-1] / REBUILT)
    whole = once + copies[-1]
    yield Result(
        f"{name}, 4,096 worlds by tiling", whole, "building them one by one", rebuilt, 0.05,
        f"each read and built again; {REBUILT} were, the rest is a product",
    )  # fmt: skip
    peak, size = measure_memory(lambda: replicate(world, shared, COUNTS[-1]))
    yield Result(
        f"memory of {name}, 4,096 worlds [MB as ms]", peak / 1e9, "the arrays themselves", size / 1e9, MEMORY,
        f"{size / 1e6:.0f} MB of arrays",
    )  # fmt: skip


def build(scene: Path) -> Builder:
    """One world of a scene."""
    reporter = Reporter()
    file = read_scene(scene, reporter=reporter)
    builder = Builder()
    build_world(builder, file, SourceFinder(file, reporter), reporter)
    return builder


def rebuild(scene: Path) -> Callable[[], None]:
    """Build world after world, each from its file, as a loader without tiling does."""

    def work() -> None:
        for _ in range(REBUILT):
            finish_world(build(scene))

    return work


def measure_memory(make: Callable[[], tuple[object, object]]) -> tuple[int, int]:
    """Bytes at the peak of making a model, and bytes of its arrays."""
    tracemalloc.start()
    model, collision = make()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, measure_arrays(model, collision)


def make_scene(folder: Path) -> Path:
    """A chain of links with two shapes each."""
    links = "".join(
        f"\n  - {{id: b{i}, shapes: [{{type: box, hx: 0.1, hy: 0.1, hz: 0.1}}, {{type: sphere, radius: 0.1}}]}}"
        for i in range(LINKS)
    )
    joints = "".join(
        f"\n  - {{id: j{i}, type: {'revolute' if i else 'free'}, parent: {f'b{i - 1}' if i else 'world'}, child: b{i}}}"
        for i in range(LINKS)
    )
    names = ", ".join(f"j{i}" for i in range(LINKS))
    file = folder / "chain.yaml"
    text = f"bodies:{links}\njoints:{joints}\narticulations: [{{id: chain, joints: [{names}]}}]\n"
    file.write_text(text, encoding="utf-8")
    return file
