# SPDX-License-Identifier: Apache-2.0
"""Who touches whom, and how: the scene's pairs exactly, with its materials.

Pairs with something that stands still are explicit pairs of MuJoCo with parameters of their own.  Pairs of bodies that
move are left to its search where all their shapes may touch and have one material; else they are explicit as well, and
the two bodies are taken out of the search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.engines.messages import RESTITUTION
from simwright.engines.mujoco.stiffness import make_impedance, make_reference
from simwright.engines.world import OneWorld
from simwright.runtime.collision import find_pairs
from simwright.runtime.model import Model
from simwright.runtime.rotation import Values

_MATERIAL = (
    "shape_material_ke", "shape_material_tau", "shape_material_mu", "shape_material_mu_torsional",
    "shape_material_mu_rolling", "shape_margin",
)  # fmt: skip
_LEAST_MU = 1e-5
_TAU = 0.01
"""Dissipation time where a shape says none [s]."""
_FRICTIONLESS, _SLIDING, _TWISTING, _ROLLING = 1, 3, 4, 6


@dataclass(slots=True)
class Contacts:
    """Explicit pairs (shapes), bodies that do not touch, and shapes that MuJoCo searches among."""

    explicit: list[tuple[int, int]] = field(default_factory=list)
    excluded: list[tuple[int, int]] = field(default_factory=list)
    searched: set[int] = field(default_factory=set)


def plan_contacts(model: Model, world: OneWorld, touching: set[int]) -> Contacts:
    """Divide the pairs of the scene into explicit ones and those that MuJoCo finds itself."""
    found, plan = find_pairs(model), Contacts()
    moving = world.list_moving()
    shared = found.crossing + np.array((0, world.local_shapes), dtype=np.int32)
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in (*found.local.tolist(), *shared.tolist()):
        if a not in touching or b not in touching:
            continue
        on = (int(world.shape_body[a]), int(world.shape_body[b]))
        if on[0] in moving and on[1] in moving:
            key = (min(on), max(on))
            between.setdefault(key, []).append((a, b))
        elif on[0] in moving or on[1] in moving:
            plan.explicit.append((a, b))
    shapes: dict[int, list[int]] = {}
    for shape in sorted(touching):
        if int(world.shape_body[shape]) in moving:
            shapes.setdefault(int(world.shape_body[shape]), []).append(shape)
    free: set[tuple[int, int]] = set()
    for (one, other), pairs in between.items():
        if len(pairs) == len(shapes[one]) * len(shapes[other]) and _is_alike(world, pairs):
            plan.searched.update(shape for pair in pairs for shape in pair)
            free.add((one, other))
        else:
            plan.explicit += pairs
    bodies = sorted({int(world.shape_body[shape]) for shape in plan.searched})
    for i, one in enumerate(bodies):
        plan.excluded += [(one, other) for other in bodies[i + 1 :] if (one, other) not in free]
    return plan


def _is_alike(world: OneWorld, pairs: list[tuple[int, int]]) -> bool:
    rows = sorted({shape for pair in pairs for shape in pair})
    for name in _MATERIAL:
        values = getattr(world, name)[rows]
        if not np.array_equal(values, np.full_like(values, values[0]), equal_nan=True):
            return False
    return True


def add_contacts(spec: Any, plan: Contacts) -> None:
    """Pairs and exclusions; their parameters come when the model is compiled."""
    for shape in plan.searched:
        geom = spec.geom(f"g{shape}")
        geom.contype = geom.conaffinity = 1
    for a, b in plan.explicit:
        spec.add_pair(name=f"p{a}.{b}", geomname1=f"g{a}", geomname2=f"g{b}")
    for one, other in plan.excluded:
        spec.add_exclude(name=f"e{one}.{other}", bodyname1=f"b{one}", bodyname2=f"b{other}")


def set_materials(mj: Any, world: OneWorld, plan: Contacts, dt: float, condim: int = _SLIDING) -> None:
    """Stiffness, dissipation, friction and margins of pairs, and of geoms that meet their like.

    ``condim`` is the largest number of directions: 3 is sliding, 4 also twisting, 6 also rolling.
    """
    pairs = np.array(plan.explicit, dtype=np.int64).reshape(-1, 2)
    if len(pairs):
        rows = np.array([mj.pair(f"p{a}.{b}").id for a, b in plan.explicit])
        mixed = _mix(world, pairs[:, 0], pairs[:, 1])
        weight = _weigh(mj, pairs[:, 0]) + _weigh(mj, pairs[:, 1])
        reference, impedance = make_reference(mixed["ke"], mixed["ke"] * mixed["tau"], weight, dt)
        mj.pair_solref[rows], mj.pair_solimp[rows] = reference, make_impedance(impedance)
        mu, twist, roll = (np.maximum(mixed[name], _LEAST_MU) for name in ("mu", "twist", "roll"))
        mj.pair_friction[rows] = np.stack((mu, mu, twist, roll, roll), axis=1)
        mj.pair_dim[rows] = _choose_dimension(mixed, condim)
        mj.pair_margin[rows], mj.pair_gap[rows] = mixed["margin"], 0.0
    shapes = np.array(sorted(plan.searched), dtype=np.int64)
    if len(shapes):
        rows = np.array([mj.geom(f"g{shape}").id for shape in shapes])
        mixed = _mix(world, shapes, shapes)
        weight = 2.0 * _weigh(mj, shapes)
        reference, impedance = make_reference(mixed["ke"], mixed["ke"] * mixed["tau"], weight, dt)
        mj.geom_solref[rows], mj.geom_solimp[rows] = reference, make_impedance(impedance)
        mu, twist, roll = (np.maximum(mixed[name], _LEAST_MU) for name in ("mu", "twist", "roll"))
        mj.geom_friction[rows] = np.stack((mu, twist, roll), axis=1)
        mj.geom_condim[rows] = _choose_dimension(mixed, condim)
        mj.geom_margin[rows], mj.geom_gap[rows] = world.shape_margin[shapes], 0.0


def _mix(world: OneWorld, a: Any, b: Any) -> dict[str, Values]:
    """Materials of two shapes together: springs in series, times added, friction by harmonic mean, margins added."""
    tau = np.where(np.isfinite(world.shape_material_tau), world.shape_material_tau, _TAU)
    tau = np.maximum(tau, 0.0)

    def halve(name: str) -> Values:
        one, other = (np.maximum(getattr(world, name)[rows], 0.0) for rows in (a, b))
        total = one + other
        product = np.divide(one * other, total, out=np.zeros_like(total), where=total > 0.0)
        return np.asarray(product)

    return {
        "ke": halve("shape_material_ke"),
        "tau": tau[a] + tau[b],
        "mu": 2.0 * halve("shape_material_mu"),
        "twist": 2.0 * halve("shape_material_mu_torsional"),
        "roll": 2.0 * halve("shape_material_mu_rolling"),
        "margin": world.shape_margin[a] + world.shape_margin[b],
    }


def _choose_dimension(mixed: dict[str, Values], largest: int) -> Any:
    """Directions of friction, as many as asked for and as the materials have."""
    has = np.where(mixed["roll"] > 0.0, _ROLLING, np.where(mixed["twist"] > 0.0, _TWISTING, _SLIDING))
    return np.where(mixed["mu"] > 0.0, np.minimum(has, largest), _FRICTIONLESS)


def _weigh(mj: Any, shapes: Any) -> Values:
    """Inverse masses of the bodies of shapes, as MuJoCo estimates them."""
    bodies = [int(mj.geom_bodyid[mj.geom(f"g{shape}").id]) for shape in np.asarray(shapes).tolist()]
    return np.asarray(mj.body_invweight0[bodies, 0])


def report_restitution(model: Model, world: OneWorld, touching: set[int], reporter: Reporter) -> None:
    """Tell of what is not used."""
    bouncing = [shape for shape in sorted(touching) if world.shape_material_restitution[shape] > 0.0]
    if bouncing:
        labels = (*model.shape_label.local, *model.shape_label.shared)
        reporter.report(RESTITUTION, count=len(bouncing), name=labels[bouncing[0]], engine="MuJoCo")
