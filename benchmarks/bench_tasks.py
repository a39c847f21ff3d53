# SPDX-License-Identifier: Apache-2.0
"""Tasks: worlds per second of the vectorised environment against MuJoCo's own batched rollout, and composing."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result, cpu_times
from simwright.tasks.environments import make_rollout, make_vector_env
from simwright.tasks.robot import open_robot

REPO = Path(__file__).resolve().parent.parent
SAMPLE = REPO / "samples" / "simwright_samples" / "arm" / "robot.yaml"
PANDA = REPO.parent / "shared" / "assets" / "mjcf" / "franka_emika_panda" / "panda.xml"
WORLDS = 256
_LIMIT = 1 / 0.9
"""At least 0.9 of the raw throughput."""
_TURNS = 15


def run() -> Iterator[Result | str]:
    for file in (SAMPLE, PANDA):
        if file.is_file():
            yield from compare_throughput(file)
            yield from measure_composing(file)
    yield from measure_pictures(SAMPLE)
    yield from measure_seeing(SAMPLE)


def measure_pictures(file: Path) -> Iterator[Result]:
    """Pictures of all worlds in an observation, against a plain renderer that draws as many of one state."""
    import mujoco

    worlds, size = 16, 64
    observe = {"cameras": ["top"], "width": size, "height": size}
    env = make_vector_env("reach", open_robot(file), worlds, observe=observe)
    env.reset(seed=0)
    model, data = env.batch.rollout.model, env.batch.pose(0)
    renderer = mujoco.Renderer(model, size, size)

    def draw() -> None:
        for _ in range(worlds):
            renderer.update_scene(data, camera="top")
            renderer.render()

    ours, raw = cpu_times([env._read, draw], repeat=5)
    told = f"{worlds / ours:,.0f} pictures/s of {size} x {size} on one core"
    yield Result(f"pictures of {worlds} worlds", ours, "mujoco.Renderer", raw, 1.5, told)
    renderer.close()
    env.close()


def measure_seeing(file: Path) -> Iterator[Result]:
    """A step of 256 worlds with a picture of each in the observation, against raw steps and as many pictures."""
    import mujoco

    size = 84
    observe = {"cameras": ["top"], "width": size, "height": size}
    env = make_vector_env("tabletop_push", open_robot(file), WORLDS, observe=observe)
    env.reset(seed=0)
    hold = env._scaler.shrink(env.batch.rollout.controller.hold())
    actions = np.tile(hold, (WORLDS, 1)).astype(np.float32)
    step, data = make_raw(env, actions), env.batch.pose(0)
    renderer = mujoco.Renderer(env.batch.rollout.model, size, size)

    def move_and_draw() -> None:
        step()
        for _ in range(WORLDS):
            renderer.update_scene(data, camera="top")
            renderer.render()

    ours, raw = cpu_times([lambda: env.step(actions), move_and_draw], repeat=3)
    told = f"{WORLDS / ours:,.0f} actions/s of one core, each with a picture of {size} x {size}"
    yield Result(
        f"{WORLDS} worlds of {open_robot(file).id} that see", ours, "raw, mujoco.Renderer", raw, 1.25, told
    )
    renderer.close()
    env.close()


def compare_throughput(file: Path) -> Iterator[Result]:
    """The same worlds, actions and steps, with and without everything that makes an environment."""
    robot = open_robot(file)
    env = make_vector_env("tabletop_push", robot, WORLDS)
    env.reset(seed=0)
    hold = env._scaler.shrink(env.batch.rollout.controller.hold())
    rng = np.random.default_rng(0)
    actions = (hold + 0.05 * rng.standard_normal((WORLDS, len(hold)))).astype(np.float32)
    ours: Callable[[], Any] = lambda: env.step(actions)  # noqa: E731 - a name for both sides
    raw = make_raw(env, actions)
    cpu_ours, cpu_raw = cpu_times([ours, raw], repeat=_TURNS)
    wall_ours, wall_raw = wall_times(ours, raw)
    substeps = env.batch.rollout.composed.substeps
    told = f"{WORLDS / wall_ours:,.0f} actions/s, {WORLDS * substeps / wall_ours:,.0f} steps/s"
    yield Result(f"256 worlds of {robot.id}", cpu_ours, "raw mujoco.rollout", cpu_raw, _LIMIT, told)
    yield Result(
        f"256 worlds of {robot.id}, wall",
        wall_ours,
        "raw mujoco.rollout, wall",
        wall_raw,
        _LIMIT,
        "median of ratios",
    )
    env.close()


def make_raw(env: Any, actions: Any) -> Callable[[], Any]:
    """MuJoCo's batched rollout of one control period, and nothing else."""
    import mujoco
    import mujoco.rollout

    batch = env.batch
    model, substeps = batch.rollout.model, batch.rollout.composed.substeps
    threads = len(os.sched_getaffinity(0))
    pool = mujoco.rollout.Rollout(nthread=threads)
    data = [mujoco.MjData(model) for _ in range(threads)]
    full = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.zeros((WORLDS, mujoco.mj_stateSize(model, full)))
    for world in range(WORLDS):
        mujoco.mj_getState(model, batch.worlds.hold(world), states[world], full)
    controls = np.zeros((WORLDS, substeps, model.nu))
    controls[:] = env._scaler.expand(actions)[:, None, :]
    trace = np.zeros((WORLDS, substeps, states.shape[1]))
    sensed = np.zeros((WORLDS, substeps, model.nsensordata))

    def step() -> None:
        pool.rollout(model, data, states, controls, state=trace, sensordata=sensed)
        states[:] = trace[:, -1]

    return step


def wall_times(ours: Callable[[], Any], raw: Callable[[], Any]) -> tuple[float, float]:
    """Wall seconds of both, such that their ratio is the median of ratios of neighbouring runs."""
    pairs = []
    for _ in range(_TURNS):
        taken = []
        for function in (ours, raw):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
        pairs.append(taken)
    reference = min(pair[1] for pair in pairs)
    return reference * statistics.median(a / b for a, b in pairs), reference


def measure_composing(file: Path) -> Iterator[Result]:
    """Robot and task in one model, against compiling the robot alone."""
    robot = open_robot(file)
    alone: Callable[[], Any] = lambda: robot.source.make_spec().compile()  # noqa: E731 - a name for both sides
    ours, reference = cpu_times([lambda: make_rollout("tabletop_push", robot), alone], repeat=3)
    yield Result(f"composing {robot.id}", ours, "compiling the robot alone", reference)
