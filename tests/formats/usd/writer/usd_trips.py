"""MJCF text, converted and read back, and MuJoCo's own numbers for the same text."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import simwright
from simwright.compare.dynamics import compile_dynamics
from simwright.core.diag import Reporter
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer.entry import write
from simwright.model.asset import Asset

SINGLE, EXACT = 2e-7, 1e-12
"""What comes back of numbers that are floats in OpenUSD, without and with notes of the doubles."""


@dataclass
class Trip:
    """A source, what was said while it was written, and what was read back."""

    file: Path
    source: Asset
    back: Asset
    entry: Path
    said: Reporter
    tolerance: float = SINGLE

    @property
    def kinds(self) -> set[str]:
        return {d.kind for d in self.said}

    def layer(self, name: str) -> str:
        return (self.entry.parent / name).read_text()


def convert(file: Path, folder: Path, *, exact: bool = False) -> Trip:
    source, said = simwright.load(file), Reporter()
    entry = write(source, folder, WriteOptions(exact=exact), said)
    return Trip(file, source, simwright.load(entry), entry, said, EXACT if exact else SINGLE)


def convert_text(text: str, folder: Path, more: str = "", *, exact: bool = False) -> Trip:
    file = folder / "robot.xml"
    file.write_text(text.replace("{more}", more))
    return convert(file, folder / "out", exact=exact)


def list_dofs(asset: Asset) -> list[str]:
    return [dof.name for joint in asset.joints for dof in joint.dofs]


def assert_same(a: Any, b: Any, *fields: str, where: str = "", tolerance: float = SINGLE) -> None:
    """The same numbers, but for what is relative to them within the tolerance; the same words exactly."""
    for name in fields or [field.name for field in dataclasses.fields(a)]:
        assert_close(getattr(a, name), getattr(b, name), f"{where} {name}", tolerance)


def assert_close(a: Any, b: Any, where: str, tolerance: float = SINGLE) -> None:
    if isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            assert_close(a[key], b[key], f"{where} {key}", tolerance)
    elif isinstance(a, int | float | np.ndarray) and not isinstance(a, bool):
        atol = 0.1 * tolerance if tolerance > EXACT else 1e-14
        assert np.allclose(a, b, rtol=tolerance, atol=atol), f"{where}: {a} and {b}"
    elif isinstance(a, list | tuple) and a and not isinstance(a[0], str):
        assert len(a) == len(b), where
        for x, y in zip(a, b, strict=True):
            assert_close(x, y, where, tolerance)
    elif dataclasses.is_dataclass(a):
        assert_same(a, b, where=where, tolerance=tolerance)
    else:
        assert a == b, f"{where}: {a} and {b}"


def measure(file: Path, back: Asset, count: int = 20) -> dict[str, float]:
    """Largest relative errors of poses, mass matrix and bias against MuJoCo at random states, and of masses."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    dynamics = compile_dynamics(back)
    mechanism = dynamics.mechanism
    numbers = {name: index for index, name in enumerate(list_dofs(simwright.load(file)))}
    bodies = {body.name: number for number, body in enumerate(simwright.load(file).bodies, 1)}
    free = {joint.child: joint.dofs[0].name for joint in back.joints if joint.dofs}
    rng = np.random.default_rng(7)
    errors = {"poses": 0.0, "mass matrix": 0.0, "bias": 0.0}
    for _ in range(count):
        q, v = model.qpos0.copy(), rng.normal(size=model.nv)
        mujoco.mj_integratePos(model, q, rng.normal(size=model.nv), 1.0)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        ours_q, ours_v = mechanism.neutral().copy(), np.zeros(mechanism.velocities)
        order = np.zeros(mechanism.velocities, dtype=int)
        for freedom in mechanism.freedoms:
            name = freedom.dof.name if freedom.dof.name in numbers else free[freedom.dof.name]
            index = numbers[name]
            qs = slice(model.jnt_qposadr[index], model.jnt_qposadr[index] + freedom.dof.positions)
            vs = slice(model.jnt_dofadr[index], model.jnt_dofadr[index] + freedom.dof.velocities)
            ours_q[freedom.positions], ours_v[freedom.velocities] = q[qs], v[vs]
            order[freedom.velocities] = np.arange(vs.start, vs.stop)
        motions = mechanism.move(ours_q[None])
        for number, name in enumerate(mechanism.bodies):
            matrix, other = motions.bodies[number, 0], bodies[name]
            errors["poses"] = max(
                errors["poses"],
                np.abs(matrix[:3, 3] - data.xpos[other]).max(),
                np.abs(matrix[:3, :3].ravel() - data.xmat[other]).max(),
            )
        ours = dynamics.mass_matrix(motions)[0]
        theirs = full[np.ix_(order, order)]
        errors["mass matrix"] = max(errors["mass matrix"], np.abs(ours - theirs).max() / np.abs(theirs).max())
        bias = data.qfrc_bias[order]
        difference = np.abs(dynamics.bias(motions, ours_v[None])[0] - bias).max()
        errors["bias"] = max(errors["bias"], difference / np.abs(bias).max())
    masses = [
        (b.inertial.mass, model.body_mass[bodies[b.name]]) for b in back.bodies if b.inertial is not None
    ]
    errors["masses"] = max(abs(a - b) / b for a, b in masses)
    return errors
