"""An asset before and after its fixes, as engines see it: mass matrix, bias and forward kinematics.

MuJoCo simulates both by way of our MJCF writer; what engines see of the stages themselves is asked by
``scripts/compare_fixed.py``.  Joints are matched by name, so their order is free.  A body that became a frame is
matched with that frame, or else with the prim of its name on the stage.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom

import simwright

_CONFIGURATIONS = 4


class NotComparableError(Exception):
    """The two are different machines, or an engine refuses one of them."""


@dataclass(slots=True)
class AssetComparison:
    """Largest relative differences of mass matrix and bias, largest difference of places [m, or 1 for turns].

    ``matched`` counts bodies that were compared, ``lost`` names those that are nowhere afterwards.
    """

    mass: float = 0.0
    bias: float = 0.0
    place: float = 0.0
    freedoms: int = 0
    matched: int = 0
    lost: list[str] = field(default_factory=list)

    @property
    def worst(self) -> float:
        """The largest of all."""
        return max(self.mass, self.bias, self.place)

    def add_mass(self, before: Any, after: Any) -> None:
        """Each entry of a mass matrix, relative to the two inertias that it couples."""
        scale = np.sqrt(np.abs(np.diag(before)))
        self.mass = max(self.mass, _find_largest((after - before) / np.outer(scale, scale)))

    def add_bias(self, before: Any, after: Any) -> None:
        """Bias forces, relative to the largest."""
        largest = _find_largest(before)
        self.bias = max(self.bias, _find_largest(after - before) / (largest if largest > 0.0 else 1.0))

    def add_place(self, before: Any, after: Any, size: float) -> None:
        """Where things are; positions relative to the size of the machine, turns as they are."""
        self.place = max(self.place, _find_largest(after - before) / size)


def compare_in_mujoco(
    before: Path, after: Path, folder: Path, weighed: Iterable[str] = ()
) -> AssetComparison:
    """Simulate both; ``folder`` takes the MJCF files, and bodies that are ``weighed`` weigh what they do afterwards."""
    import mujoco

    models = []
    for name, asset in (("before", before), ("after", after)):
        file = folder / name / "robot.xml"
        try:
            simwright.convert(asset, file)
            models.append(mujoco.MjModel.from_xml_path(str(file)))
        except (simwright.SimwrightError, ValueError) as error:
            raise NotComparableError(f"{name}: {error}") from error
    one, two = models
    _weigh_alike(mujoco, one, two, weighed)
    qpos, qvel = _match_joints(one, two)
    result = AssetComparison(freedoms=one.nv)
    frames = _list_frames(two)
    names = [name for name in _list_frames(one) if name.startswith("body ")]
    pairs = [(name, _find_frame(frames, name)) for name in names]
    result.matched = len(pairs)
    _compare_on_stages(
        before, after, [name.removeprefix("body ") for name, found in pairs if not found], result
    )
    datas = [mujoco.MjData(model) for model in models]
    size = max(float(one.stat.extent), 1e-3)
    for position, speed in _choose_states(one):
        for data, places, speeds in zip(
            datas, (np.arange(one.nq), qpos), (np.arange(one.nv), qvel), strict=True
        ):
            data.qpos[places], data.qvel[speeds] = position, speed
        for model, data in zip(models, datas, strict=True):
            mujoco.mj_forward(model, data)
        matrices = [_read_mass_matrix(mujoco, *both) for both in zip(models, datas, strict=True)]
        result.add_mass(matrices[0], matrices[1][np.ix_(qvel, qvel)])
        result.add_bias(datas[0].qfrc_bias, datas[1].qfrc_bias[qvel])
        for name, found in pairs:
            if found is not None:
                (old, turn), (new, turned) = (
                    _read_frame(datas[0], name, one),
                    _read_frame(datas[1], found, two),
                )
                result.add_place(old, new, size)
                result.add_place(turn, turned, 1.0)
    return result


def _weigh_alike(mujoco: Any, one: Any, two: Any, names: Iterable[str]) -> None:
    """Give bodies the masses of another model: a person has said them, so that they may differ."""
    for name in names:
        here, there = (mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) for model in (one, two))
        if min(here, there) > 0:
            for values in ("body_mass", "body_inertia", "body_ipos", "body_iquat"):
                getattr(one, values)[here] = getattr(two, values)[there]
            mujoco.mj_setConst(one, mujoco.MjData(one))


def _compare_on_stages(before: Path, after: Path, names: list[str], result: AssetComparison) -> None:
    """Bodies that are part of another one now: where their prims stand."""
    if not names:
        return
    places = [_read_places(file, names) for file in (before, after)]
    for name in names:
        if name not in places[1]:
            result.lost.append(name)
            result.matched -= 1
        else:
            result.add_place(places[0][name], places[1][name], 1.0)


def _read_places(file: Path, names: list[str]) -> dict[str, Any]:
    stage = Usd.Stage.Open(str(file))
    unit, cache = UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.XformCache()
    found = {}
    for prim in stage.Traverse():
        if prim.GetName() in names and prim.IsA(UsdGeom.Xformable):
            place = np.array(cache.GetLocalToWorldTransform(prim))
            place[3, :3] *= unit
            found.setdefault(prim.GetName(), place)
    return found


def _match_joints(one: Any, two: Any) -> tuple[Any, Any]:
    """Where the coordinates and freedoms of the first model are in the second."""
    if (one.nq, one.nv) != (two.nq, two.nv):
        raise NotComparableError(f"{one.nv} freedoms before, {two.nv} after")
    names = {two.joint(number).name: number for number in range(two.njnt)}
    qpos, qvel = np.zeros(one.nq, dtype=int), np.zeros(one.nv, dtype=int)
    for number in range(one.njnt):
        name = one.joint(number).name
        other = names.get(name)
        if other is None or two.jnt_type[other] != one.jnt_type[number]:
            raise NotComparableError(f"joint {name!r} is not there afterwards, or another kind of joint")
        for model, address, places in ((one, "jnt_qposadr", qpos), (one, "jnt_dofadr", qvel)):
            old, new = int(getattr(model, address)[number]), int(getattr(two, address)[other])
            width = _find_width(one, number, address)
            places[old : old + width] = np.arange(new, new + width)
    return qpos, qvel


def _find_width(model: Any, number: int, address: str) -> int:
    widths = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}[int(model.jnt_type[number])]
    return widths[0] if address == "jnt_qposadr" else widths[1]


def _choose_states(model: Any) -> list[tuple[Any, Any]]:
    """The start, and others within the limits, with speeds."""
    import mujoco

    rng = np.random.default_rng(7)
    found = [(model.qpos0.copy(), np.zeros(model.nv))]
    for _ in range(_CONFIGURATIONS - 1):
        position = model.qpos0.copy()
        mujoco.mj_integratePos(model, position, rng.uniform(-0.8, 0.8, model.nv), 1.0)
        for number in np.flatnonzero(model.jnt_limited & (model.jnt_type >= 2)):
            low, high = model.jnt_range[number]
            position[model.jnt_qposadr[number]] = rng.uniform(low, high)
        found.append((position, rng.uniform(-1.0, 1.0, model.nv)))
    return found


def _list_frames(model: Any) -> dict[str, int]:
    bodies = {f"body {model.body(number).name}": number for number in range(1, model.nbody)}
    return bodies | {f"site {model.site(number).name}": number for number in range(model.nsite)}


def _find_frame(frames: dict[str, int], name: str) -> str | None:
    """The body of that name, else the frame that it became."""
    bare = name.removeprefix("body ")
    return next((found for found in (name, f"site {bare}") if found in frames), None)


def _read_frame(data: Any, name: str, model: Any) -> tuple[Any, Any]:
    kind, _, bare = name.partition(" ")
    if kind == "body":
        number = model.body(bare).id
        return data.xpos[number].copy(), data.xmat[number].copy()
    number = model.site(bare).id
    return data.site_xpos[number].copy(), data.site_xmat[number].copy()


def _read_mass_matrix(mujoco: Any, model: Any, data: Any) -> Any:
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full


def _find_largest(values: Any) -> float:
    return float(np.abs(values).max()) if np.size(values) else 0.0
