# SPDX-License-Identifier: Apache-2.0
"""Many worlds from one: arrays are tiled, indices and places shifted, labels and pairs kept once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array, quats_conjugate, quats_rotate, to_wxyz, vec3
from simwright.runtime.arrays import AnyArray, ArrayInfo, describe_arrays
from simwright.runtime.collision import CollisionModel, find_pairs
from simwright.runtime.kinds import JointType
from simwright.runtime.labels import Labels
from simwright.runtime.model import Model
from simwright.runtime.pairs import Pairs
from simwright.scenes.finish import WorldArrays

DEFAULT_SPACING = (2.0, 2.0, 0.0)
_COUNTED = ("body", "joint", "joint_dof", "joint_coord", "articulation", "shape")
_WORLD_OF = {
    "body_world": "body",
    "joint_world": "joint",
    "articulation_world": "articulation",
    "shape_world": "shape",
}
_OWN = frozenset({"gravity", "world_offset"})


def place_worlds(count: int, spacing: Sequence[float] = DEFAULT_SPACING) -> Array:
    """Where worlds stand ``(count, 3)`` [m]: a line, grid or cube over the axes with a spacing, the first the fastest.

    Centred, except along z, where worlds begin at zero.
    """
    steps = vec3(spacing)
    axes = np.flatnonzero(steps != 0.0)
    places = np.zeros((count, 3))
    if count <= 1 or len(axes) == 0:
        return places
    side = _find_side(count, len(axes))
    number = np.arange(count)
    for axis in axes.tolist():
        places[:, axis] = (number % side) * steps[axis]
        number = number // side
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    # worlds stand on the ground: SAP Warp begins at z = 0 as well
    middle[2] = 0.0
    centred: Array = places - middle
    return centred


def _find_side(count: int, dimensions: int) -> int:
    """The least side of a line, square or cube that holds ``count``."""
    # one below the root and upwards: the root itself may be rounded either way
    side = max(1, math.floor(math.pow(count, 1.0 / dimensions)) - 1)
    while math.pow(side, dimensions) < count:
        side += 1
    return side


def replicate(
    world: WorldArrays,
    shared: WorldArrays,
    count: int = 1,
    spacing: Sequence[float] = DEFAULT_SPACING,
    *,
    compat: str | None = None,
) -> tuple[Model, CollisionModel]:
    """A model of ``count`` copies of a world, and of what they share."""
    offsets = place_worlds(count, spacing)
    # measured: SAP Warp numbers a single world -1, as what all worlds share
    tiling = _Tiling(world, shared, count, first_world=-1 if compat == "sap" and count == 1 else 0)
    arrays: dict[str, Any] = {
        name: tiling.tile(info) for name, info in describe_arrays(Model).items() if name not in _OWN
    }
    # a single world stays exactly where it was built, bit for bit
    if count > 1:
        _shift(arrays, world, offsets)
    arrays["gravity"] = np.tile(world.gravity.astype(np.float32), (count, 1))
    arrays["world_offset"] = offsets.astype(np.float32)
    # SAP Warp repeats labels as they are, so that one label means several bodies
    prefixed = count > 1 and compat != "sap"
    labels: dict[str, Any] = {
        f"{kind}_label": Labels(names, count, shared.labels[kind], prefixed=prefixed)
        for kind, names in world.labels.items()
    }
    local = world.count("shape")
    model = Model(
        **arrays,
        **labels,
        world_count=count,
        per_world={frequency: world.count(frequency) for frequency in _COUNTED} | {"world": 1},
        shape_source=[*world.shape_source, *shared.shape_source],
        shape_color=[*world.shape_color, *shared.shape_color],
        shape_look=world.shape_look,
        shape_filters=Pairs(world.filters, among=shared.filters, per_world=local, world_count=count),
        custom={key: held.tiled(count) for key, held in world.custom.items()},
    )
    lower, upper = (tiling.tile_rows(a, b) for a, b in zip(world.bounds, shared.bounds, strict=True))
    collision = CollisionModel(
        model=model,
        shape_collision_aabb_lower=lower,
        shape_collision_aabb_upper=upper,
        pairs=find_pairs(model),
    )
    return model, collision


class _Tiling:
    """Copies arrays of one world ``count`` times and adds the shared rows."""

    def __init__(self, world: WorldArrays, shared: WorldArrays, count: int, *, first_world: int) -> None:
        self._world = world
        self._shared = shared
        self._count = count
        self._first = first_world

    def tile(self, info: ArrayInfo) -> AnyArray:
        """One array of all worlds."""
        if info.name in _WORLD_OF:
            return self._number_worlds(_WORLD_OF[info.name])
        rows, more = self._world.arrays[info.name], self._shared.arrays[info.name]
        if info.closing:
            return self._tile_starts(rows, info)
        tiled = self.tile_rows(rows, more, info.dtype)
        if info.refers:
            self._shift_indices(tiled, rows, info.refers)
        return tiled

    def tile_rows(self, rows: AnyArray, more: AnyArray, dtype: str = "float32") -> AnyArray:
        """Copies of rows, then the shared ones."""
        copies = len(rows) * self._count
        tiled = np.empty((copies + len(more), *rows.shape[1:]), dtype=dtype)
        tiled[:copies].reshape(self._count, *rows.shape)[...] = rows
        tiled[copies:] = more
        return tiled

    def _shift_indices(self, tiled: AnyArray, rows: AnyArray, refers: str) -> None:
        """Indices lead to the same element of their own world; -1 stays."""
        step = self._world.count(refers)
        worlds = np.arange(self._count, dtype=np.int32)
        view = tiled[: len(rows) * self._count].reshape(self._count, *rows.shape)
        # -1 (the world, no joint) must stay -1
        view += (worlds * np.int32(step))[:, None] * (rows >= 0)

    def _tile_starts(self, rows: AnyArray, info: ArrayInfo) -> AnyArray:
        step = self._world.count(info.refers)
        starts = rows[:-1] + (np.arange(self._count, dtype=np.int32) * np.int32(step))[:, None]
        return np.append(starts.ravel(), np.int32(step * self._count)).astype(np.int32)

    def _number_worlds(self, frequency: str) -> AnyArray:
        local, more = self._world.count(frequency), self._shared.count(frequency)
        worlds = np.arange(self._count, dtype=np.int32) + np.int32(self._first)
        return np.concatenate((np.repeat(worlds, local), np.full(more, -1, dtype=np.int32)))


def _shift(arrays: dict[str, AnyArray], world: WorldArrays, offsets: Array) -> None:
    """Move worlds to their places: bodies, what hangs on the world, and shapes that stand in it."""
    held = world.arrays
    count = len(offsets)

    def move(name: str, rows: AnyArray) -> None:
        one = held[name]
        view = arrays[name][: len(one) * count].reshape(count, *one.shape)
        view[:, rows, :3] = one[rows, :3] + offsets[:, None]

    # what hangs on moving bodies is not touched: its frames are relative
    move("body_q", np.arange(len(held["body_q"])))
    move("shape_transform", np.flatnonzero(held["shape_body"] < 0))
    kinds, on_world = held["joint_type"], held["joint_parent"] < 0
    floats = np.isin(kinds, (JointType.FREE, JointType.DISTANCE))
    move("joint_X_p", np.flatnonzero(on_world & ~floats))
    one = held["joint_q"]
    view = arrays["joint_q"].reshape(count, len(one))
    for joint in np.flatnonzero(on_world & floats).tolist():
        start = int(held["joint_q_start"][joint])
        # free joints count in their parent frame, which may stand turned in the world
        turned = quats_rotate(quats_conjugate(to_wxyz(held["joint_X_p"][joint, 3:])), offsets)
        view[:, start : start + 3] = one[start : start + 3] + turned
