# SPDX-License-Identifier: Apache-2.0
"""Contacts and joint stops that are springs and dampers, in a compiled MuJoCo model.

MJCF has no attribute for a stiffness in N/m: its ``solref`` is per mass.  So the numbers of the asset (``stiffness``
and ``damping`` of physics materials, ``ke`` and ``kd`` of shapes and contact pairs, ``limit_stiffness`` and
``limit_damping`` of dofs) are set here, with the inverse masses that MuJoCo estimates when it compiles.

MuJoCo's constraints have a reference acceleration ``-b v - k x`` and a regularisation ``R = (1 - d) / d * A``, where
``A`` is that inverse mass; the force is ``(-b v - k x - a) / R``.  A spring and damper taken at the end of the time
step, ``f = -ke (x + dt v') - kd v'`` with ``v' = v + dt a``, is exactly of this form:

    R = 1 / (dt (dt ke + kd)),   b = 1 / dt,   k = ke R,   d = A / (A + R)

It rests at ``x = f / ke`` and is stable for any stiffness.  MuJoCo keeps ``d`` within 0.0001 and 0.9999.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.mujoco.queries import MjModel
from simwright.formats.mjcf.memory import MujocoNames
from simwright.formats.mjcf.writer.kept import KeptAttributes
from simwright.model.asset import Asset, Shape
from simwright.model.joint import Joint, Motion
from simwright.model.material import PhysicsMaterial

Number: TypeAlias = Array | np.float64 | float
LOOSE, TIGHT = 1e-4, 0.9999
"""The least and the largest impedance of MuJoCo."""
_HOLDING = 0.999
"""Impedance of loops and followers that are to be nearly rigid."""


def make_reference(ke: Number, kd: Number, inverse_mass: Number, dt: float) -> tuple[Array, Array]:
    """``solref`` (n, 2) and impedance (n,) of springs ``ke`` [N/m] and dampers ``kd`` [N s/m]; angles alike."""
    ke, kd = np.asarray(ke, dtype=np.float64), np.asarray(kd, dtype=np.float64)
    regular = 1.0 / np.maximum(dt * (dt * ke + kd), 1e-12)
    impedance = np.clip(inverse_mass / np.maximum(inverse_mass + regular, 1e-300), LOOSE, TIGHT)
    reference = np.stack((ke * regular * impedance, impedance / dt), axis=-1)
    return -np.maximum(reference, 1e-12), impedance


def make_impedance(impedance: Array) -> Array:
    """``solimp`` (n, 5) that is the same at every depth."""
    rows = np.tile((0.0, 0.0, 1.0, 0.5, 1.0), (*np.shape(impedance), 1))
    rows[..., 0] = rows[..., 1] = impedance
    return np.asarray(rows)


def set_springs(model: MjModel, asset: Asset, layout: Layout, names: MujocoNames) -> None:
    """Stops, contacts of geoms and contacts of pairs, where the asset says how stiff they are and MJCF does not."""
    solver, dt = KeptAttributes(asset), float(model.opt.timestep)
    _set_stops(model, layout, names, solver, dt)
    for shape, (ke, kd) in _list_springs(asset, solver):
        for name in names.geoms.get(shape, ()):
            geom = model.geom(name).id
            # the partner is taken to be as heavy: MuJoCo mixes the two afterwards
            weight = 2.0 * model.body_invweight0[model.geom_bodyid[geom], 0]
            reference, impedance = make_reference(ke, kd, weight, dt)
            model.geom_solref[geom], model.geom_solimp[geom] = reference, make_impedance(impedance)
    _set_pairs(model, asset, names, dt)


def _set_pairs(model: MjModel, asset: Asset, names: MujocoNames, dt: float) -> None:
    pairs = [pair for pair in asset.contact_pairs if "ke" in pair.settings]
    if not pairs:
        return
    rows = {
        frozenset(ends): row
        for row, ends in enumerate(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True))
    }
    geoms = {shape: [model.geom(name).id for name in made] for shape, made in names.geoms.items()}
    for pair in pairs:
        for a, b in itertools.product(geoms.get(pair.a, ()), geoms.get(pair.b, ())):
            row = rows.get(frozenset((a, b)))
            if row is None:
                continue
            weight = model.body_invweight0[model.geom_bodyid[[a, b]], 0].sum()
            reference, impedance = make_reference(pair.settings["ke"], pair.settings["kd"], weight, dt)
            model.pair_solref[row], model.pair_solimp[row] = reference, make_impedance(impedance)


def _set_stops(model: MjModel, layout: Layout, names: MujocoNames, solver: KeptAttributes, dt: float) -> None:
    """Stops of hinges and slides whose stiffness the asset says in N/m or N m/rad."""
    for freedom in layout.freedoms:
        dof = freedom.dof
        if dof is None or freedom.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        ke, kd = dof.limit_stiffness or 0.0, dof.limit_damping or 0.0
        # a stop without numbers, or one that does not give, is left to MuJoCo's own softness
        if not (ke > 0.0 or kd > 0.0) or not (math.isfinite(ke) and math.isfinite(kd)):
            continue
        if freedom.joint is not None and _has_reference(solver, freedom.joint, freedom.name):
            continue
        # a screw is a hinge and a slide in MuJoCo: the first of them has the limits
        for name in names.joints.get(freedom.name, ())[:1]:
            joint = model.joint(name)
            weight = np.array(model.dof_invweight0[int(joint.dofadr[0])])
            reference, impedance = make_reference(np.array(ke), np.array(kd), weight, dt)
            model.jnt_solref[joint.id], model.jnt_solimp[joint.id] = reference, make_impedance(impedance)


def _has_reference(solver: KeptAttributes, joint: Joint, name: str) -> bool:
    """Did the source say the softness of stops in MuJoCo's own words?"""
    return (
        solver.get(joint, "joint", "solreflimit") is not None
        or solver.take(f"joint/{name}", "solreflimit") is not None
    )


def _list_springs(asset: Asset, solver: KeptAttributes) -> Iterator[tuple[str, tuple[Array, Array]]]:
    """Stiffness and damping of colliders that have them, by shape."""
    materials = {material.name: material for material in asset.physics_materials}
    for shape in asset.shapes:
        # what the source says in MuJoCo's own words has been written by the MJCF writer
        if not (shape.collision and shape.enabled) or solver.get(shape, "geom", "solref") is not None:
            continue
        material = materials.get(shape.physics_material)
        if material is not None and solver.get(material, "physics_material", "solref") is not None:
            continue
        ke, kd = _choose_spring(shape, material)
        if ke is not None and ke > 0.0 and math.isfinite(ke):
            yield shape.name, (np.array(float(ke)), np.array(float(kd or 0.0)))


def _choose_spring(shape: Shape, material: PhysicsMaterial | None) -> tuple[float | None, float | None]:
    """Stiffness and damping, each of the material or of the shape; ``contact_first`` says that the shape counts."""
    own = (shape.settings.get("ke"), shape.settings.get("kd"))
    given = (None, None) if material is None else (material.stiffness, material.damping)
    first, second = (own, given) if shape.settings.get("contact_first") else (given, own)
    ke, kd = (a if a is not None else b for a, b in zip(first, second, strict=True))
    return ke, kd


def stiffen(model: MjModel) -> None:
    """Hold loops, followers, distances and dry friction as stiffly as the time step allows."""
    dt = float(model.opt.timestep)
    model.dof_solref[:] = (-1.0, -TIGHT / dt)
    model.dof_solimp[:] = make_impedance(np.array(TIGHT))
    holding = make_impedance(np.array(_HOLDING))
    model.eq_solref[:], model.eq_solimp[:] = (2.0 * dt, 1.0), holding
    model.tendon_solref_lim[:], model.tendon_solimp_lim[:] = (2.0 * dt, 1.0), holding
