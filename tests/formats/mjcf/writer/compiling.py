"""Writing an asset, compiling it with MuJoCo, and what has to be the same as in another model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from lxml import etree

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.mjcf.read import read
from simwright.formats.mjcf.writer.entry import write
from simwright.model.asset import Asset

ORDER_ONLY = ("body_inertia", "body_iquat", "body_sameframe", "geom_sameframe", "geom_dataid", "mat_texid",
              "actuator_ctrlspec", "light_texid", "dof_length")  # fmt: skip
"""Axes of inertia may be named in another order, assets listed in another; lengths of dofs are estimates."""
INTERNAL = ("name", "mesh_", "bvh_", "oct_", "tex_", "_", "tuple_", "text_")
GRID = 2
"""Column of a plane's size that only spaces the lines on it."""


@dataclass
class Written:
    """A folder on disk, what was said, and MuJoCo's model of it."""

    path: Path
    said: Reporter
    root: Any
    model: Any

    @property
    def kinds(self) -> set[str]:
        return {d.kind for d in self.said}


def compile_quietly(path: Path) -> Any:
    """The model; a warning of MuJoCo is a failure."""
    texts: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(texts.append)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    finally:
        mujoco.set_mju_user_warning(before)
    assert not texts, texts
    return model


def write_and_compile(asset: Asset, folder: Path) -> Written:
    said = Reporter()
    path = write(asset, folder / "written" / "robot.xml", WriteOptions(), said)
    return Written(path, said, etree.parse(str(path)).getroot(), compile_quietly(path))


def round_trip(path: Path, folder: Path) -> tuple[Any, Written]:
    """MuJoCo's model of a file, and that of the file written from our model of it."""
    asset = read(path, ReadOptions(), Reporter())
    asset.provenance.format = "mjcf"
    return compile_quietly(path), write_and_compile(asset, folder)


def difference(a: Any, b: Any) -> float:
    """Largest difference relative to the largest number."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return float("inf")
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-12)) if a.size else 0.0


def list_differences(a: Any, b: Any, tolerance: float = 1e-7) -> dict[str, Any]:
    """Every compiled array that is not the same."""
    found: dict[str, Any] = {}
    for name in dir(a):
        ours, theirs = getattr(b, name), getattr(a, name)
        if name.startswith(INTERNAL) or name in ORDER_ONLY or not isinstance(theirs, np.ndarray):
            continue
        if name == "geom_size" and ours.shape == theirs.shape:
            planes = np.asarray(a.geom_type) == int(mujoco.mjtGeom.mjGEOM_PLANE)
            ours, theirs = ours.copy(), theirs.copy()
            ours[planes, GRID] = theirs[planes, GRID] = 0.0
        if theirs.dtype.kind in "fiub" and difference(theirs, ours) > tolerance:
            found[name] = difference(theirs, ours)
    return found


def sample(model: Any, data: Any, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Random coordinates, velocities and controls."""
    q = model.qpos0 + rng.normal(size=model.nq) * 0.5
    mujoco.mj_normalizeQuat(model, q)
    low, high = model.actuator_ctrlrange.T if model.nu else (np.zeros(0), np.zeros(0))
    limited = model.actuator_ctrllimited.astype(bool)
    ctrl = np.where(limited, rng.uniform(low, np.maximum(high, low)), rng.normal(size=model.nu))
    return q, rng.normal(size=model.nv), ctrl


def worst_dynamics(a: Any, b: Any, samples: int = 20) -> dict[str, float]:
    """Mass matrix, bias, body places, actuator and passive forces at random states."""
    rng, first, second = np.random.default_rng(3), mujoco.MjData(a), mujoco.MjData(b)
    worst: dict[str, float] = {}
    for _ in range(samples):
        q, v, ctrl = sample(a, first, rng)
        parts = []
        for model, data in ((a, first), (b, second)):
            data.qpos[:], data.qvel[:] = q, v
            if model.nu == len(ctrl):
                data.ctrl[:] = ctrl
            mujoco.mj_forward(model, data)
            mass = np.zeros((model.nv, model.nv))
            mujoco.mj_fullM(model, data, mass)
            places = {model.body(i).name: data.xpos[i].copy() for i in range(model.nbody)}
            parts.append(
                (mass, data.qfrc_bias.copy(), places, data.qfrc_actuator.copy(), data.qfrc_passive.copy())
            )
        common = parts[0][2].keys() & parts[1][2].keys()
        for name, index in (("mass", 0), ("bias", 1), ("actuator", 3), ("passive", 4)):
            worst[name] = max(worst.get(name, 0.0), difference(parts[0][index], parts[1][index]))
        for name in common:
            apart = float(np.abs(parts[0][2][name] - parts[1][2][name]).max())
            worst["places"] = max(worst.get("places", 0.0), apart)
    return worst


def list_touching(model: Any) -> set[tuple[int, int]]:
    """Pairs of geoms that MuJoCo can bring into contact, by its rules."""
    excluded = {int(s) for s in model.exclude_signature}
    parents = not int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    found = set()
    for i, j in combinations(range(model.ngeom), 2):
        a, b = int(model.geom_bodyid[i]), int(model.geom_bodyid[j])
        u, v = int(model.body_weldid[a]), int(model.body_weldid[b])
        above = [int(model.body_weldid[model.body_parentid[w]]) for w in (u, v)]
        if u == v or (parents and ((u == above[1] and u) or (v == above[0] and v))):
            continue
        if {(a << 16) + b, (b << 16) + a} & excluded:
            continue
        bits = (
            model.geom_contype[i] & model.geom_conaffinity[j]
            or model.geom_contype[j] & model.geom_conaffinity[i]
        )
        if bits:
            found.add((i, j))
    pairs = zip(model.pair_geom1, model.pair_geom2, strict=True)
    return found | {(min(int(i), int(j)), max(int(i), int(j))) for i, j in pairs}


def step(model: Any, count: int) -> Any:
    """Coordinates after some steps from a gentle push."""
    data = mujoco.MjData(model)
    data.qvel[:] = 0.05
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)  # unstable in the source, unstable here
    try:
        for _ in range(count):
            mujoco.mj_step(model, data)
    finally:
        mujoco.set_mju_user_warning(before)
    return data.qpos.copy()
