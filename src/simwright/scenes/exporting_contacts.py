# SPDX-License-Identifier: Apache-2.0
"""Which shapes of a world touch, and how, for an engine: pairs with contact values, bits and excluded bodies.

The scene's rules (flags, groups, filters) say which shapes may touch; two materials together are mixed as SAP does it:
springs in series, dissipation times added, friction by the harmonic mean, margins added.  Pairs with something that
stands still, and pairs of different materials, become contact pairs of the asset with the mixed values.  Bodies that
move and have one material are left to the engine's own search, which costs less than a long list of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simwright.core.math3d import Array
from simwright.model.asset import Asset, ContactFilter, ContactPair
from simwright.runtime.collision import find_pairs
from simwright.runtime.model import Model
from simwright.scenes.one_world import list_moving

DEFAULT_TAU = 0.01
"""Dissipation time where a shape says none [s]."""
_MATERIAL = (
    "shape_material_ke", "shape_material_tau", "shape_material_mu", "shape_material_mu_torsional",
    "shape_material_mu_rolling", "shape_margin",
)  # fmt: skip
_LEAST_MU = 1e-5
"""MuJoCo takes no friction of zero in a direction that it looks at."""
_FRICTIONLESS, _SLIDING, _TWISTING, _ROLLING = 1, 3, 4, 6


def set_contacts(asset: Asset, model: Model, bodies: Sequence[str], shapes: Sequence[str]) -> None:
    """Say exactly which colliders of a world (``model`` has one) touch; ``bodies`` and ``shapes`` are their names."""
    by_name = {shape.name: shape for shape in asset.shapes}
    touching = {i for i, name in enumerate(shapes) if name in by_name and by_name[name].collision}
    explicit, excluded, searched = _plan(model, touching)
    for index in touching:
        bit = 1 if index in searched else 0
        by_name[shapes[index]].category_bits = by_name[shapes[index]].collide_bits = bit
    mixed = mix_materials(model, *np.array(explicit, dtype=np.int64).reshape(-1, 2).T)
    dimensions = _choose_dimensions(mixed)
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
    tau = np.where(np.isfinite(model.shape_material_tau), model.shape_material_tau, DEFAULT_TAU)
    tau = np.maximum(tau, 0.0)

    def halve(name: str) -> Array:
        one, other = (np.maximum(getattr(model, name)[rows], 0.0) for rows in (a, b))
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


def _plan(model: Model, touching: set[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]], set[int]]:
    """Explicit pairs of shapes, pairs of bodies that do not touch, and shapes that the engine searches among."""
    found, moving = find_pairs(model), list_moving(model)
    shared = found.crossing + np.array((0, model.per_world["shape"]), dtype=np.int32)
    explicit: list[tuple[int, int]] = []
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in (*found.local.tolist(), *shared.tolist()):
        if a not in touching or b not in touching:
            continue
        on = (int(model.shape_body[a]), int(model.shape_body[b]))
        if on[0] in moving and on[1] in moving:
            between.setdefault((min(on), max(on)), []).append((a, b))
        elif on[0] in moving or on[1] in moving:
            explicit.append((a, b))
    colliders: dict[int, list[int]] = {}
    for shape in sorted(touching):
        if int(model.shape_body[shape]) in moving:
            colliders.setdefault(int(model.shape_body[shape]), []).append(shape)
    searched: set[int] = set()
    free: set[tuple[int, int]] = set()
    for (one, other), pairs in between.items():
        if len(pairs) == len(colliders[one]) * len(colliders[other]) and _is_alike(model, pairs):
            searched.update(shape for pair in pairs for shape in pair)
            free.add((one, other))
        else:
            explicit += pairs
    bodies = sorted({int(model.shape_body[shape]) for shape in searched})
    excluded = [
        (one, other) for i, one in enumerate(bodies) for other in bodies[i + 1 :] if (one, other) not in free
    ]
    return explicit, excluded, searched


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
    found = find_pairs(model)
    shared = found.crossing + np.array((0, model.per_world["shape"]), dtype=np.int32)
    meeting = {(min(a, b), max(a, b)) for a, b in (*found.local.tolist(), *shared.tolist())}
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
