# SPDX-License-Identifier: Apache-2.0
"""A world that is built, as arrays: lists become arrays of one world, filters become pairs, poses follow the joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import SimwrightError, UsageError
from simwright.core.math3d import Array
from simwright.runtime.arrays import AnyArray, describe_arrays
from simwright.runtime.custom import CustomArray
from simwright.runtime.kinds import BodyFlag, ShapeFlag, ShapeType
from simwright.runtime.kinematics import WorldMotion, move_bodies
from simwright.runtime.model import Model
from simwright.scenes.builder import Builder, as_vector
from simwright.scenes.builder_shape import measure_bounds
from simwright.scenes.importing_custom import grow_attributes
from simwright.scenes.messages import SceneError

_DERIVED = frozenset(
    {
        "body_inv_mass", "body_inv_inertia", "body_world", "joint_ancestor", "joint_world", "articulation_end",
        "articulation_world", "shape_world", "gravity", "world_offset",
    }
)  # fmt: skip
# single precision only at the very end: replication adds offsets of many metres before
_WIDE = {"float32": "float64"}
# single precision of SAP Warp's kernel: what is within it is no lack
_ROUNDING = 1e-7
_LEAST = 1e-6
"""What SAP Warp adds to moments beside what they lack [kg m^2]."""


@dataclass(slots=True, eq=False)
class WorldArrays:
    """Arrays of one world in double precision, labels, filters and bounds; what replication copies."""

    arrays: dict[str, AnyArray]
    labels: dict[str, list[str]]
    filters: npt.NDArray[np.int32]
    gravity: Array
    shape_source: list[Any] = field(default_factory=list)
    shape_color: list[tuple[float, float, float] | None] = field(default_factory=list)
    bounds: tuple[AnyArray, AnyArray] = field(default_factory=lambda: (np.zeros((0, 3)), np.zeros((0, 3))))
    custom: dict[str, CustomArray] = field(default_factory=dict)
    shape_look: dict[int, Any] = field(default_factory=dict)

    def count(self, frequency: str) -> int:
        """Rows of a frequency."""
        first = {
            "body": "body_mass", "joint": "joint_type", "joint_dof": "joint_qd", "joint_coord": "joint_q",
            "articulation": "articulation_start", "shape": "shape_type",
        }  # fmt: skip
        rows = len(self.arrays[first[frequency]])
        # articulation_start has one entry more: where the last one ends
        return rows - 1 if frequency == "articulation" else rows


def finish_world(builder: Builder, *, move: bool = True) -> WorldArrays:
    """Make arrays of a builder; with ``move``, bodies go where the joint coordinates have them."""
    # before arrays are made: operations may have added shapes after the last asset
    grow_attributes(builder)
    arrays = _collect(builder)
    _check_order(builder)
    _add_derived(arrays, builder)
    if move:
        _move(arrays)
    bounds = _measure_bounds(builder)
    return WorldArrays(
        arrays,
        {
            "body": builder.body_label,
            "joint": builder.joint_label,
            "articulation": builder.articulation_label,
            "shape": builder.shape_label,
        },
        collect_filters(builder),
        as_vector(builder.gravity),
        builder.shape_source,
        builder.shape_color,
        (bounds[:, 0], bounds[:, 1]),
        builder.custom,
        builder.shape_look,
    )


def _measure_bounds(builder: Builder) -> AnyArray:
    """Lower and upper corners of all shapes ``(n, 2, 3)``; SAP Warp has boxes of two metres for planes."""
    bounds = np.zeros((builder.shape_count, 2, 3))
    for index, kind in enumerate(builder.shape_type):
        if builder.compat == "sap" and kind == ShapeType.PLANE:
            # what SAP Warp writes, although its planes have no end either
            bounds[index] = (-1.0,), (1.0,)
        else:
            scale, source = builder.shape_scale[index], builder.shape_source[index]
            bounds[index] = measure_bounds(ShapeType(kind), scale, source)
    return bounds


def _collect(builder: Builder) -> dict[str, AnyArray]:
    """The lists as arrays of the described shapes, closing entries added."""
    arrays: dict[str, AnyArray] = {}
    for name, info in describe_arrays(Model).items():
        if name in _DERIVED:
            continue
        # a copy: the builder may go on being edited
        values = list(getattr(builder, name))
        if info.closing:
            values.append(
                {
                    "joint_q_start": len(builder.joint_q),
                    "joint_qd_start": len(builder.joint_qd),
                    "articulation_start": builder.joint_count,
                }[name]
            )
        dtype = _WIDE.get(info.dtype, info.dtype)
        arrays[name] = np.array(values, dtype=dtype).reshape(len(values), *info.row)
    return arrays


def _check_order(builder: Builder) -> None:
    """Parents have to come before children in every articulation, except where SAP Warp is imitated."""
    if builder.compat == "sap":
        return
    # forward kinematics takes joints in their order: a child before its parent would use an old pose
    placed: set[int] = {-1}
    carried = {
        child
        for child, number in zip(builder.joint_child, builder.joint_articulation, strict=True)
        if number >= 0
    }
    for joint, number in enumerate(builder.joint_articulation):
        parent, child = builder.joint_parent[joint], builder.joint_child[joint]
        if number < 0:
            continue
        if parent in carried and parent not in placed:
            message = f"joint {builder.joint_label[joint]!r} comes before the joint that carries its parent"
            raise _refuse(builder, joint, message, "list joints from the root to the leaves")
        if child in placed:
            message = f"body {builder.body_label[child]!r} is carried by two joints of articulations"
            hint = "leave the joint that closes the loop out of the articulation"
            raise _refuse(builder, joint, message, hint)
        placed.add(child)


def _refuse(builder: Builder, joint: int, message: str, hint: str) -> SimwrightError:
    """What is wrong with a joint, with its line if it stands in a scene file."""
    where = builder.joint_where.get(joint)
    if where is None:
        return UsageError(message, hint=hint)
    return SceneError(message, hint=hint, where=where)


def _add_derived(arrays: dict[str, AnyArray], builder: Builder) -> None:
    mass, inertia = arrays["body_mass"], arrays["body_inertia"]
    if builder.compat == "sap":
        _balance(mass, inertia)
    # inverse mass zero is how solvers of this kind hold a body: kinematic and massless ones alike
    moving = (arrays["body_flags"] & BodyFlag.KINEMATIC == 0) & (mass > 0.0)
    arrays["body_inv_mass"] = np.divide(1.0, mass, out=np.zeros_like(mass), where=moving)
    arrays["body_inv_inertia"] = np.zeros_like(inertia)
    # a point mass has no inverse inertia: zero lets it not turn rather than blow up
    firm = moving & (np.abs(np.linalg.det(inertia)) > 0.0) if len(mass) else moving
    arrays["body_inv_inertia"][firm] = np.linalg.inv(inertia[firm])
    carrier: dict[int, int] = {}
    for joint, child in enumerate(builder.joint_child):
        if builder.joint_articulation[joint] >= 0:
            # the first one counts where loops carry a body twice
            carrier.setdefault(child, joint)
    ancestors = [carrier.get(parent, -1) if parent >= 0 else -1 for parent in builder.joint_parent]
    arrays["joint_ancestor"] = np.array(ancestors, dtype=np.int32)
    ends = np.zeros(builder.articulation_count, dtype=np.int32)
    for joint, number in enumerate(builder.joint_articulation):
        if number >= 0:
            ends[number] = joint + 1
    arrays["articulation_end"] = ends


def _balance(mass: AnyArray, inertia: AnyArray) -> None:
    """What SAP Warp does to inertias that no body can have: all moments grow until they are possible."""
    # measured: bodies that weigh nothing lose their inertia too, also armature
    inertia[mass <= 0.0] = 0.0
    for body in np.flatnonzero(mass > 0.0).tolist():
        moments = np.linalg.eigvalsh(inertia[body])
        # a negative moment first, then the triangle inequality of what that gives
        for lack in (-moments[0], moments[2] - moments[0] - moments[1]):
            if lack > _ROUNDING * moments[2]:
                inertia[body] += np.eye(3) * (lack + _LEAST)
                moments += lack + _LEAST


def _move(arrays: dict[str, AnyArray]) -> None:
    names = ("joint_q", "joint_qd", "joint_X_p", "body_q", "body_qd")
    # one world, so that the code for many worlds does it
    motion = WorldMotion(*(arrays[name][None].copy() for name in names))
    move_bodies(arrays, motion)
    arrays["body_q"], arrays["body_qd"] = motion.body_q[0], motion.body_qd[0]


def collect_filters(builder: Builder) -> npt.NDArray[np.int32]:
    """Pairs of colliding shapes that never touch: of one body, of joined bodies, of groups, and those said."""
    touching = [bool(flags & ShapeFlag.COLLIDE_SHAPES) for flags in builder.shape_flags]
    by_body: dict[int, list[int]] = {}
    for index, body in enumerate(builder.shape_body):
        if touching[index]:
            by_body.setdefault(body, []).append(index)
    tables = [_combine(shapes) for body, shapes in by_body.items() if body >= 0]
    tables += _list_joined(builder, by_body)
    tables += [_combine([i for i in group if touching[i]]) for group in builder.filter_groups]
    said = [(a, b) for a, b in builder.shape_collision_filter_pairs if touching[a] and touching[b]]
    tables.append(np.array(said, dtype=np.int32).reshape(-1, 2))
    table = np.concatenate(tables)
    # smaller index first, then each pair once: the same pair may come from several rules
    table.sort(axis=1)
    return np.unique(table, axis=0)


def _list_joined(builder: Builder, by_body: dict[int, list[int]]) -> Iterator[npt.NDArray[np.int32]]:
    """Shapes of bodies that joints hold together; SAP Warp does not ask the shape whether it wants that."""
    for joint, filtered in enumerate(builder.joint_collision_filter_parent):
        parent, child = builder.joint_parent[joint], builder.joint_child[joint]
        if filtered and parent >= 0:
            below = by_body.get(child, [])
            if builder.compat != "sap":
                below = [shape for shape in below if builder.shape_collision_filter_parent[shape]]
            yield _cross(by_body.get(parent, []), below)


def _combine(shapes: list[int]) -> npt.NDArray[np.int32]:
    rows = np.array(shapes, dtype=np.int32)
    a, b = np.triu_indices(len(rows), 1)
    return np.stack((rows[a], rows[b]), axis=1)


def _cross(first: list[int], second: list[int]) -> npt.NDArray[np.int32]:
    a, b = np.meshgrid(np.array(first, dtype=np.int32), np.array(second, dtype=np.int32), indexing="ij")
    return np.stack((a.ravel(), b.ravel()), axis=1)
