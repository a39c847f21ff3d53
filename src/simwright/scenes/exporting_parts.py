# SPDX-License-Identifier: Apache-2.0
"""One world out of the arrays of many, and its shapes, sites and contact materials in the neutral model.

A world is its rows, with its own indices, standing at the origin.  Worlds that are equal but for their place are one
asset for an engine; :func:`group_worlds` finds them.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import (
    Array,
    Pose,
    pose_from_seven,
    quat_normalize,
    quats_conjugate,
    quats_rotate,
    to_wxyz,
    vec3,
)
from simwright.core.names import NameScope
from simwright.model.asset import Asset, ContactFilter, ContactPair, Shape, Site
from simwright.model.geometry import Approximation, Mesh
from simwright.model.joint import WORLD
from simwright.model.material import PhysicsMaterial, RenderMaterial
from simwright.runtime.arrays import AnyArray, ArrayInfo, describe_arrays
from simwright.runtime.collision import find_pairs
from simwright.runtime.kinds import JointType, ShapeFlag, ShapeType
from simwright.runtime.labels import Labels
from simwright.runtime.model import Model
from simwright.runtime.pairs import Pairs
from simwright.scenes.builder_shape import make_geometry

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


DEFAULT_TAU = 0.01
"""Dissipation time where a shape says none [s]."""
_MATERIAL = (
    "shape_material_ke", "shape_material_tau", "shape_material_mu", "shape_material_mu_torsional",
    "shape_material_mu_rolling", "shape_margin",
)  # fmt: skip
_LEAST_MU = 1e-5
"""MuJoCo takes no friction of zero in a direction that it looks at."""
_FRICTIONLESS, _SLIDING, _TWISTING, _ROLLING = 1, 3, 4, 6


class ShapeExporter:
    """Takes shapes out of a model into an asset, contact materials shared by equal ones."""

    def __init__(self, model: Model, asset: Asset, bodies: Sequence[str], names: Sequence[str]) -> None:
        self._model = model
        self._bodies = bodies
        self.names = names
        self._asset = asset
        self._materials: dict[tuple[float, ...], PhysicsMaterial] = {}
        self._looks = MaterialExporter(model, asset)

    def add(self, index: int) -> None:
        """One shape, or a site where it is marked as one."""
        # field by field from the arrays: the conditions are what each field means there
        model = self._model
        kind, flags = ShapeType(int(model.shape_type[index])), int(model.shape_flags[index])
        a, b, c = widen(model.shape_scale[index]).tolist()
        source = model.source_of(index)
        geometry = make_geometry(kind, (a, b, c), source)
        owner = int(model.shape_body[index])
        body = self._bodies[owner] if owner >= 0 else WORLD
        pose = take_pose(model.shape_transform[index])
        if flags & ShapeFlag.SITE:
            # a site that is not seen only marks a frame
            marker = geometry if source is None and flags & ShapeFlag.VISIBLE else None
            self._asset.sites.append(Site(self.names[index], body, pose, marker))
            return
        collides = bool(flags & ShapeFlag.COLLIDE_SHAPES) and int(model.shape_collision_group[index]) != 0
        color = model.color_of(index)
        shape = Shape(
            self.names[index],
            geometry,
            body,
            pose,
            # size and scale share one array: for primitives it is the size
            vec3(a, b, c) if source is not None and (a, b, c) != (1.0, 1.0, 1.0) else None,
            visual=bool(flags & ShapeFlag.VISIBLE),
            collision=collides,
            color=None if color is None else (*color, 1.0),
        )
        if collides:
            shape.margin = float(widen(model.shape_margin[index])) or None
            shape.gap = float(widen(model.shape_gap[index])) or None
            shape.physics_material = self._choose_material(index)
            if flags & ShapeFlag.HYDROELASTIC:
                shape.settings["hydroelastic_enabled"] = True
                shape.settings["kh"] = float(widen(model.shape_material_kh[index]))
            if kind is ShapeType.CONVEX_MESH:
                shape.approximation = Approximation("convexHull")
        self._looks.dress(shape, index)
        self._asset.shapes.append(shape)

    def _choose_material(self, index: int) -> str:
        model = self._model
        key = tuple(
            float(widen(getattr(model, f"shape_material_{name}")[index]))
            for name in ("mu", "restitution", "mu_torsional", "mu_rolling", "ke", "tau")
        )
        # NaN equals nothing, not even itself: it could not be found again
        key = tuple(-1.0 if math.isnan(value) else value for value in key)
        if key not in self._materials:
            mu, restitution, torsional, rolling, stiffness, tau = key
            self._materials[key] = PhysicsMaterial(
                f"contact_{len(self._materials)}",
                static_friction=mu,
                dynamic_friction=mu,
                torsional_friction=torsional,
                rolling_friction=rolling,
                restitution=restitution,
                stiffness=stiffness,
                damping=stiffness * tau if tau >= 0.0 else None,
            )
            self._asset.physics_materials.append(self._materials[key])
        return self._materials[key].name


class MaterialExporter:
    """Gives exported shapes the materials they had in their assets."""

    def __init__(self, model: Model, asset: Asset) -> None:
        self._model = model
        self._asset = asset
        self._scope = NameScope()
        self._names: dict[tuple[int, str], str] = {}
        self._meshes: dict[tuple[int, int], Mesh] = {}

    def dress(self, shape: Shape, index: int) -> None:
        """Set the material of a shape and of the faces of its mesh."""
        look = self._model.look_of(index)
        if look is None or not shape.visual:
            return
        name, materials = look
        # the material has the colour, and may have a picture: a colour of the shape would hide it
        if name in materials:
            shape.material = self._claim(name, materials)
            shape.color = None
        if isinstance(shape.geometry, Mesh) and shape.geometry.data.subsets:
            shape.geometry = self._dress_faces(shape.geometry, materials)

    def _dress_faces(self, mesh: Mesh, materials: Mapping[str, RenderMaterial]) -> Mesh:
        """The same mesh with the new names on its faces; one object for one mesh."""
        # two assets may call different materials by one name
        key = (id(mesh), id(materials))
        if key not in self._meshes:
            subsets = tuple(
                dataclasses.replace(subset, material=self._claim(subset.material, materials))
                if subset.material in materials
                else subset
                for subset in mesh.data.subsets
            )
            same = all(a.material == b.material for a, b in zip(subsets, mesh.data.subsets, strict=True))
            renamed = dataclasses.replace(mesh.data, subsets=subsets)
            self._meshes[key] = (
                mesh if same else Mesh(renamed, source=mesh.source, file=mesh.file, gate=mesh.gate)
            )
        return self._meshes[key]

    def _claim(self, name: str, materials: Mapping[str, Any]) -> str:
        key = (id(materials), name)
        if key not in self._names:
            self._names[key] = self._scope.claim(name)
            self._asset.materials.append(dataclasses.replace(materials[name], name=self._names[key]))
        return self._names[key]


def set_contacts(asset: Asset, model: Model, bodies: Sequence[str], shapes: Sequence[str]) -> None:
    """Say exactly which colliders of a world (``model`` has one) touch; ``bodies`` and ``shapes`` are their names."""
    by_name = {shape.name: shape for shape in asset.shapes}
    touching = {i for i, name in enumerate(shapes) if name in by_name and by_name[name].collision}
    explicit, excluded, searched = _plan_contacts(model, touching)
    for index in touching:
        # MuJoCo's search looks at contype and conaffinity; explicit pairs are tested whatever these are
        bit = 1 if index in searched else 0
        by_name[shapes[index]].category_bits = by_name[shapes[index]].collide_bits = bit
    mixed = mix_materials(model, *np.array(explicit, dtype=np.int64).reshape(-1, 2).T)
    dimensions = _choose_dimensions(mixed)
    # directions without friction are left out by condim, not by a zero
    mu, twist, roll = (np.maximum(mixed[name], _LEAST_MU) for name in ("mu", "twist", "roll"))
    for row, (a, b) in enumerate(explicit):
        asset.contact_pairs.append(
            ContactPair(
                shapes[a],
                shapes[b],
                settings={
                    "friction": [float(v[row]) for v in (mu, mu, twist, roll, roll)],
                    "condim": int(dimensions[row]),
                    "margin": float(mixed["margin"][row]),
                    "gap": 0.0,
                    "ke": float(mixed["ke"][row]),
                    "kd": float(mixed["ke"][row] * mixed["tau"][row]),
                },
            )
        )
    asset.contact_filters = [ContactFilter(bodies[a], bodies[b]) for a, b in excluded]


def set_alike(asset: Asset, model: Model, shapes: Sequence[str]) -> None:
    """Materials of shapes that meet their like: two of them together, as springs in series are half as stiff."""
    by_name = {shape.name: shape for shape in asset.shapes}
    materials = {material.name: material for material in asset.physics_materials}
    rows = [i for i, name in enumerate(shapes) if name in by_name and by_name[name].collision]
    mixed = mix_materials(model, np.array(rows, dtype=np.int64), np.array(rows, dtype=np.int64))
    for at, index in enumerate(rows):
        shape = by_name[shapes[index]]
        material = materials[shape.physics_material]
        material.stiffness = float(mixed["ke"][at])
        material.damping = float(mixed["ke"][at] * mixed["tau"][at])
        shape.gap = None


def mix_materials(model: Model, a: Array, b: Array) -> dict[str, Array]:
    """Contact values of shapes ``a`` with shapes ``b``, row by row."""
    said = model.shape_material_tau
    # as SAP Warp has it: a time below zero is none
    tau = np.where(np.isfinite(said) & (said >= 0.0), said, DEFAULT_TAU)

    def halve(name: str) -> Array:
        one, other = (np.maximum(getattr(model, name)[rows], 0.0) for rows in (a, b))
        # of springs in series, and half the harmonic mean: 0 where both are 0
        total = one + other
        return np.asarray(np.divide(one * other, total, out=np.zeros_like(total), where=total > 0.0))

    return {
        "ke": halve("shape_material_ke"),
        "tau": tau[a] + tau[b],
        "mu": 2.0 * halve("shape_material_mu"),
        "twist": 2.0 * halve("shape_material_mu_torsional"),
        "roll": 2.0 * halve("shape_material_mu_rolling"),
        "margin": model.shape_margin[a] + model.shape_margin[b],
    }


def _choose_dimensions(mixed: dict[str, Array]) -> Array:
    """Directions of friction that the materials have."""
    has = np.where(mixed["roll"] > 0.0, _ROLLING, np.where(mixed["twist"] > 0.0, _TWISTING, _SLIDING))
    return np.where(mixed["mu"] > 0.0, has, _FRICTIONLESS)


def _plan_contacts(
    model: Model, touching: set[int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], set[int]]:
    """Explicit pairs of shapes, pairs of bodies that do not touch, and shapes that the engine searches among."""
    explicit, between = _split_pairs(model, touching)
    colliders = Counter(int(model.shape_body[shape]) for shape in touching)
    searched: set[int] = set()
    free: set[tuple[int, int]] = set()
    for (one, other), pairs in between.items():
        # the engine tests all shapes of two bodies, with one material for each: only such pairs are left to it
        if len(pairs) == colliders[one] * colliders[other] and _is_alike(model, pairs):
            searched.update(shape for pair in pairs for shape in pair)
            free.add((one, other))
        else:
            explicit += pairs
    bodies = sorted({int(model.shape_body[shape]) for shape in searched})
    excluded = [
        (one, other) for i, one in enumerate(bodies) for other in bodies[i + 1 :] if (one, other) not in free
    ]
    return explicit, excluded, searched


def _list_pairs(model: Model) -> list[tuple[int, int]]:
    """Pairs of shapes of the one world that may touch, with each other and with the shared shapes."""
    found = find_pairs(model)
    shared = found.crossing + np.array((0, model.per_world["shape"]), dtype=np.int32)
    return [(a, b) for a, b in (*found.local.tolist(), *shared.tolist())]


def _split_pairs(
    model: Model, touching: set[int]
) -> tuple[list[tuple[int, int]], dict[tuple[int, int], list[tuple[int, int]]]]:
    """Pairs with something that stands still, and by their bodies those of which both move."""
    moving = list_moving(model)
    still: list[tuple[int, int]] = []
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in _list_pairs(model):
        if a not in touching or b not in touching:
            continue
        on = (int(model.shape_body[a]), int(model.shape_body[b]))
        if on[0] in moving and on[1] in moving:
            between.setdefault((min(on), max(on)), []).append((a, b))
        elif on[0] in moving or on[1] in moving:
            still.append((a, b))
    return still, between


def _is_alike(model: Model, pairs: list[tuple[int, int]]) -> bool:
    rows = sorted({shape for pair in pairs for shape in pair})
    for name in _MATERIAL:
        values = getattr(model, name)[rows]
        if not np.array_equal(values, np.full_like(values, values[0]), equal_nan=True):
            return False
    return True


def set_filters(asset: Asset, model: Model, bodies: Sequence[str], shapes: Sequence[str]) -> None:
    """The same for engines without contact pairs: filters between all colliders that may not touch."""
    by_name = {shape.name for shape in asset.shapes if shape.collision}
    touching = [i for i, name in enumerate(shapes) if name in by_name]
    owner = model.shape_body
    # one pass over all pairs: a filter of two bodies stands for all their shapes
    meeting = {(min(a, b), max(a, b)) for a, b in _list_pairs(model)}
    apart: dict[tuple[int, int], list[tuple[int, int]]] = {}
    count: dict[int, int] = {}
    for at, a in enumerate(touching):
        count[int(owner[a])] = count.get(int(owner[a]), 0) + 1
        for b in touching[at + 1 :]:
            ends = (int(owner[a]), int(owner[b]))
            if ends[0] != ends[1] and (a, b) not in meeting:
                apart.setdefault((min(ends), max(ends)), []).append((a, b))
    asset.contact_filters = []
    for (one, other), pairs in sorted(apart.items()):
        if one >= 0 and len(pairs) == count[one] * count[other]:
            asset.contact_filters.append(ContactFilter(bodies[one], bodies[other]))
        else:
            asset.contact_filters += [ContactFilter(shapes[a], shapes[b], "shape") for a, b in pairs]


def widen(values: Any) -> Array:
    """In double precision, rounded to the shortest decimals that single precision tells apart."""
    # numpy's shortest text that reads back as the same single
    return np.asarray(values, dtype=np.float32).astype(str).astype(np.float64)


def take_pose(seven: Any) -> Pose:
    """A pose from position and quaternion x, y, z, w, made unit length."""
    pose = pose_from_seven(widen(seven).tolist())
    return Pose(pose.p, quat_normalize(pose.q))
