# SPDX-License-Identifier: Apache-2.0
"""Running: our MuJoCo adapter against ``mujoco.rollout`` written by hand, on the same model with as many threads.

The hand-written loop knows nothing of assets and arrays: it rolls out ``STEPS`` steps from its states and keeps the
last ones.  The adapter does that, and takes targets from the arrays and gives coordinates back.  Real robots are used
where the shared assets are; a pile of boxes otherwise.  Opening a robot in MJCF is measured against MuJoCo's own load
of the same file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

import simwright
from benchmarks.measure import Result, compare_cpu, compare_times, growth
from simwright.engines.mujoco.batch import count_cores
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.scenes.document import parse_scene
from simwright.scenes.load import LoadedScene, assemble_scene, load_scene
from simwright.scenes.simulation import SceneSimulation, open_scene

ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets"
SHARED = ASSETS / "scenes"
COUNTS = (1, 8, 64, 256)
WORK = 16_384
"""Steps of worlds in one measurement, at least."""
LEAST = 256
"""Steps of each world, at least."""
STEPS = 64
"""Steps of one rollout by hand."""
AT_ONCE = 4096
"""Steps that ``simwright run`` asks for at once when they are quick."""
DT = 0.002
LIMIT = 1 / 0.95
"""Most time, as a multiple of the hand-written loop: 0.95 of its throughput."""
OPENING = 5.0
"""Most time from a file to a simulation, as a multiple of MuJoCo's own load."""
REPEAT = 9
PILE = """
builder: {defaults: {shape: {ke: 1.0e5}}}
bodies:
  - {id: a, transform: {p: [0, 0, 0.3]}, shapes: [{hx: 0.1, hy: 0.1, hz: 0.1}]}
  - {id: b, transform: {p: [0.03, 0.02, 0.6]}, shapes: [{hx: 0.1, hy: 0.1, hz: 0.1}]}
  - {id: c, transform: {p: [0, 0.05, 0.9]}, shapes: [{hx: 0.1, hy: 0.1, hz: 0.1}]}
joints: [{id: ja, type: free, child: a}, {id: jb, type: free, child: b}, {id: jc, type: free, child: c}]
articulations: [{id: x, joints: [ja]}, {id: y, joints: [jb]}, {id: z, joints: [jc]}]
"""


def run() -> Iterator[Result | str]:
    """Rows for every scene."""
    os.environ.setdefault("SIMWRIGHT_ASSET_CACHE", str(SHARED / "cache"))
    os.environ.setdefault("SIMWRIGHT_ASSET_OFFLINE", "1")
    yield from measure_scene(
        "pile of boxes", lambda count: assemble_scene(parse_scene(PILE), num_worlds=count)
    )
    if SHARED.is_dir():
        file = SHARED / "anymal_c_urdf.yaml"
        yield from measure_scene(file.stem, lambda count: load_scene(file, count))
    for file in sorted((ASSETS / "mjcf").glob("*/scene.xml")):
        yield measure_opening(file)


def measure_opening(file: Path) -> Result:
    """From a file to a simulation: read, written as MJCF in memory and compiled, against MuJoCo's own load."""
    engine = load_engine("mujoco")

    def ours() -> None:
        engine.open(simwright.load(file), Settings(threads=1)).close()

    def theirs() -> None:
        mujoco.MjData(mujoco.MjModel.from_xml_path(str(file)))

    cpu = compare_cpu(ours, theirs, REPEAT)
    return Result(f"open {file.parent.name}", cpu[0], "MjModel.from_xml_path", cpu[1], OPENING)


def measure_scene(name: str, load: Callable[[int], LoadedScene]) -> Iterator[Result | str]:
    """One row for each number of worlds, by CPU time and by the clock."""
    threads, ours = count_cores(), []
    for count in COUNTS:
        loaded = load(count)
        with open_scene(loaded, Settings(dt=DT, threads=threads)) as simulation:
            mine, theirs = make_adapter(simulation, loaded), make_loop(simulation, loaded)
            cpu, wall = compare_times(mine, theirs, REPEAT)
        work = count_steps(count) * count
        ours.append(cpu[0] / work)
        rate = work / wall[0]
        yield Result(
            f"step {name}, {count:,} worlds (CPU)", cpu[0], "mujoco.rollout by hand", cpu[1], LIMIT,
            f"{rate:,.0f} world-steps/s, {simulation.threads} threads",
        )  # fmt: skip
        yield Result(
            f"step {name}, {count:,} worlds (clock)",
            wall[0],
            "mujoco.rollout by hand",
            wall[1],
            note="for reading: a busy machine decides",
        )
    yield f"  {name}: CPU time of a world-step {growth(COUNTS, ours)}"


def count_steps(worlds: int) -> int:
    """Steps of each world in one measurement."""
    return max(LEAST, WORK // worlds)


def make_adapter(simulation: SceneSimulation, loaded: LoadedScene) -> Callable[[], None]:
    """Steps of the adapter, always from the same state."""
    start = loaded.state.clone()
    steps = count_steps(simulation.worlds)
    call = min(steps, AT_ONCE)

    def work() -> None:
        loaded.state.assign(start)
        for _ in range(steps // call):
            simulation.advance(loaded.state, loaded.control, call, poses=False)

    return work


def make_loop(simulation: SceneSimulation, loaded: LoadedScene) -> Callable[[], None]:
    """The same steps, by hand: the same model, states, controls and threads."""
    batch = simulation.inner.batch  # type: ignore[attr-defined]
    model, kind = batch.model, int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    simulation.load(loaded.state.clone(), loaded.control)  # what the adapter starts from
    inputs = batch.view("ctrl").copy()
    data = [mujoco.MjData(model) for _ in range(simulation.threads)]
    start = np.zeros((simulation.worlds, mujoco.mj_stateSize(model, kind)))
    for world, row in enumerate(start):
        mujoco.mj_getState(model, batch.hold(world), row, kind)
    pool = mujoco.rollout.Rollout(nthread=simulation.threads if simulation.threads > 1 else 0)
    calls = count_steps(simulation.worlds) // STEPS
    controls = np.repeat(inputs[:, None], STEPS, axis=1)
    trace = np.zeros((simulation.worlds, STEPS, start.shape[1]))
    sensed: Any = np.zeros((simulation.worlds, STEPS, model.nsensordata))

    def work() -> None:
        states = start
        for _ in range(calls):
            pool.rollout(model, data, states, controls, state=trace, sensordata=sensed)
            states = trace[:, -1].copy()

    return work
