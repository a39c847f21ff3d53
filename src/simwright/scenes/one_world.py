# SPDX-License-Identifier: Apache-2.0
"""One world out of the arrays of many: its rows, with its own indices, standing at the origin.

Worlds that are equal but for their place are one asset for an engine; :func:`group_worlds` finds them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from simwright.core.math3d import Array, quats_conjugate, quats_rotate, to_wxyz
from simwright.runtime.arrays import AnyArray, ArrayInfo, describe_arrays
from simwright.runtime.kinds import JointType, ShapeType
from simwright.runtime.labels import Labels
from simwright.runtime.model import Model
from simwright.runtime.pairs import Pairs

_MOTION = frozenset(
    {
        "joint_q", "joint_qd", "joint_f", "joint_act", "joint_target_pos", "joint_target_vel", "body_qd",
        "body_world", "joint_world", "shape_world", "articulation_world", "world_offset",
    }
)  # fmt: skip
"""Arrays that a model does not depend on."""
_ROUNDING = 1e-5
"""Places that differ by less than this are equal [m]: arrays are single precision."""
FLOATS = (JointType.FREE, JointType.DISTANCE)
"""Joints with six freedoms."""


def take_world(model: Model, number: int = 0) -> Model:
    """A model of one world alone, at the origin, with the shapes that all worlds share; floats in double precision."""
    offset = np.asarray(model.world_offset[number], dtype=np.float64)
    arrays = {name: _take_rows(model, info, number) for name, info in describe_arrays(Model).items()}
    for name in ("joint_X_p", "joint_X_c", "shape_transform", "body_q"):
        turn = arrays[name][:, 3:]
        # quaternions come from single precision: engines want unit length in double
        turn /= np.maximum(np.linalg.norm(turn, axis=1, keepdims=True), 1e-12)
    # everything below is replicate() the other way round
    arrays["shape_transform"][arrays["shape_body"] < 0, :3] -= offset
    on_world = arrays["joint_parent"] < 0
    floats = np.isin(arrays["joint_type"], FLOATS)
    arrays["joint_X_p"][on_world & ~floats, :3] -= offset
    for joint in np.flatnonzero(on_world & floats).tolist():
        start = int(arrays["joint_q_start"][joint])
        turn = quats_conjugate(to_wxyz(arrays["joint_X_p"][joint, 3:]))
        arrays["joint_q"][start : start + 3] -= quats_rotate(turn, offset)
    arrays["body_q"][:, :3] -= offset
    arrays["world_offset"][:] = 0.0
    # without prefix: the only world
    labels = {
        name: Labels(held.local, 1, held.shared)
        for name in ("body_label", "joint_label", "articulation_label", "shape_label")
        for held in (getattr(model, name),)
    }
    old = model.shape_filters
    filters = Pairs(old.local, old.crossing, old.among, old.per_world, 1)
    changed: dict[str, Any] = {**arrays, **labels, "shape_filters": filters, "world_count": 1}
    return dataclasses.replace(model, **changed)


def _take_rows(model: Model, info: ArrayInfo, number: int) -> AnyArray:
    values: AnyArray = getattr(model, info.name)
    count = 1 if info.frequency == "world" else model.per_world[info.frequency]
    rows = values[number * count : (number + 1) * count + info.closing]
    if info.frequency == "shape":
        rows = np.concatenate((rows, values[count * model.world_count :]))
    # always a copy: the caller changes what it takes
    taken: AnyArray = rows.astype(np.float64) if info.dtype == "float32" else rows.copy()
    if info.refers and number:
        taken[taken >= 0] -= number * model.per_world[info.refers]
    return taken


def list_carriers(model: Model) -> dict[int, int]:
    """Joints of articulations by the body they carry."""
    carried = np.flatnonzero(model.joint_articulation >= 0).tolist()
    return {int(model.joint_child[joint]): joint for joint in carried}


def list_moving(model: Model) -> set[int]:
    """Bodies that a joint with freedoms carries, directly or through others."""
    moving: set[int] = set()
    for body, joint in list_carriers(model).items():
        free = bool(model.joint_dof_dim[joint].sum())
        if free or int(model.joint_parent[joint]) in moving:
            moving.add(body)
    return moving


def group_worlds(model: Model) -> list[list[int]]:
    """Worlds that one asset stands for, in groups; the first of each is taken."""
    count = model.world_count
    if count == 1:
        return [[0]]
    # one wide row for each world, compared as a whole: worlds differ in few numbers, but in any
    placed = _find_placed(model)
    rows = [_describe_worlds(model, info, placed) for info in describe_arrays(Model).values()]
    rows += [_describe_shared(model), model.gravity.astype(np.float64)]
    table = np.concatenate([row.reshape(count, -1) for row in rows if row is not None], axis=1)
    # most scenes have one kind of world: the first comparison settles all of them
    same = _is_same(table, table[0])
    groups = [np.flatnonzero(same).tolist()]
    for number in np.flatnonzero(~same).tolist():
        # the first group is settled: what is left differs from it
        for group in groups[1:]:
            if _is_same(table[number : number + 1], table[group[0]])[0]:
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def _is_same(table: Array, row: Array) -> Any:
    with np.errstate(invalid="ignore"):  # infinite less infinite
        close = np.abs(table - row) <= _ROUNDING * (1.0 + np.abs(row))
    return np.all(close | (np.isnan(table) & np.isnan(row)) | (table == row), axis=1)


def _find_placed(model: Model) -> dict[str, Any]:
    """Rows of arrays whose places move with the world."""
    bodies, joints, shapes = (model.per_world[word] for word in ("body", "joint", "shape"))
    parents, kinds = model.joint_parent[:joints], model.joint_type[:joints]
    carried = set(model.joint_child[:joints][model.joint_articulation[:joints] >= 0].tolist())
    return {
        "shape_transform": model.shape_body[:shapes] < 0,
        "joint_X_p": (parents < 0) & ~np.isin(kinds, FLOATS),
        "body_q": np.array([body not in carried for body in range(bodies)], dtype=bool),
    }


def _describe_worlds(model: Model, info: ArrayInfo, masks: dict[str, Any]) -> Array | None:
    """Array of all worlds as rows, places counted from where each world stands; None where nothing hangs on them."""
    if info.name in _MOTION or info.frequency == "world" or info.closing:
        return None
    count, worlds = model.per_world[info.frequency], model.world_count
    held: AnyArray = getattr(model, info.name)[: count * worlds]
    values = held.reshape(worlds, count, *held.shape[1:]).astype(np.float64)
    if info.refers:
        step = model.per_world[info.refers]
        numbers = np.arange(worlds).reshape(-1, *(1 for _ in values.shape[1:]))
        # indices of a world's own elements are equal between worlds only when counted from its start
        values = np.where(values >= 0, values - numbers * step, values)
    placed = masks.get(info.name)
    if placed is not None:
        values[:, placed, :3] -= model.world_offset[:, None]
        if info.name == "body_q":
            values = values[:, placed]
    return np.asarray(values.reshape(worlds, -1))


def _describe_shared(model: Model) -> Array:
    """Where shared shapes stand, seen from each world; planes without end only by their height."""
    first = model.per_world["shape"] * model.world_count
    offsets = model.world_offset.astype(np.float64)
    seen = []
    for shape in range(first, model.shape_count):
        pose = model.shape_transform[shape].astype(np.float64)
        away = pose[:3] - offsets
        if model.shape_type[shape] == ShapeType.PLANE and not np.any(model.shape_scale[shape]):
            normal = quats_rotate(to_wxyz(pose[3:]), np.array((0.0, 0.0, 1.0)))
            # sideways it makes no difference where a plane without end is
            away = (away @ normal)[:, None] * normal
        seen.append(away)
    return np.concatenate(seen, axis=1) if seen else np.zeros((model.world_count, 0))
