# SPDX-License-Identifier: Apache-2.0
"""Comparing two files: dynamics at 20 configurations against MuJoCo's own, growth with freedoms, a whole diff."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from benchmarks.measure import Result, compare_cpu, cpu_time, growth
from simwright.app.api import load
from simwright.compare.difference import make_settings
from simwright.compare.dynamics import Dynamics, compile_dynamics
from simwright.compare.run import compare_assets
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "simwright_samples"
COUNT = 20


def build_comb(length: int) -> Asset:
    """A trunk of hinges with a tooth on each: as deep as it is wide."""
    bodies, joints = [], []
    for i in range(length // 2):
        for name, parent in ((f"b{i}", f"b{i - 1}" if i else ""), (f"t{i}", f"b{i}")):
            bodies.append(Body(name, inertial=Inertial(1.0, vec3(0.05, 0, 0), np.eye(3) * 0.01)))
            dof = Dof(Motion.HINGE, vec3(0, i % 2, 1 - i % 2), name)
            joints.append(
                Joint(f"j_{name}", JointKind.REVOLUTE, parent, name, Pose.of((0.1, 0, 0)), dofs=[dof])
            )
    return Asset("comb", bodies=bodies, joints=joints)


def evaluate(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> None:
    motions = dynamics.mechanism.move(q)
    dynamics.mass_matrix(motions)
    dynamics.bias(motions, v)


def evaluate_in_mujoco(model: mujoco.MjModel, data: mujoco.MjData, states: list[np.ndarray]) -> None:
    full = np.zeros((model.nv, model.nv))
    for qpos, qvel in states:
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, full)


def run() -> Iterator[Result]:
    file = SAMPLES / "quadruped" / "quadruped.xml"
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    asset = load(file)
    dynamics = compile_dynamics(asset)
    rng = np.random.default_rng(0)
    q = np.tile(dynamics.mechanism.neutral(), (COUNT, 1))
    v = rng.standard_normal((COUNT, dynamics.mechanism.velocities))
    states = [(np.array(model.qpos0), rng.standard_normal(model.nv)) for _ in range(COUNT)]
    assert dynamics.mechanism.velocities == model.nv
    ours, floor = compare_cpu(
        partial(evaluate, dynamics, q, v), partial(evaluate_in_mujoco, model, data, states), 31
    )
    name = f"mass matrix and bias, {COUNT} configurations, {model.nv} dofs"
    yield Result(name, ours, "MuJoCo, mj_forward and mj_fullM", floor, limit=4.0)

    sizes, times = (20, 100, 400), []
    for size in sizes:
        comb = compile_dynamics(build_comb(size))
        states_of = rng.uniform(-1, 1, (2, COUNT, comb.mechanism.velocities))
        times.append(cpu_time(partial(evaluate, comb, *states_of), repeat=5))
    yield Result(
        f"the same, {sizes[-1]} dofs", times[-1], f"{sizes[0]} dofs", times[0], note=growth(sizes, times)
    )

    other = load(file)
    whole, reading = compare_cpu(partial(compare_assets, asset, other), partial(load, file), 7)
    yield Result("diff of a quadruped, all sections", whole, "reading it twice", 2 * reading, limit=1.5)

    sizes, times = (100, 1000), []
    for size in sizes:
        crowd = Asset(
            "crowd", bodies=[Body(f"b{i}", inertial=Inertial(1.0, vec3(), np.eye(3))) for i in range(size)]
        )
        times.append(cpu_time(partial(compare_assets, crowd, crowd, make_settings(["motion"])), repeat=2))
    name = f"diff of {sizes[-1]:,} free bodies, dynamics"
    yield Result(name, times[-1], f"{sizes[0]} bodies", times[0], note=growth(sizes, times))
