# SPDX-License-Identifier: Apache-2.0
"""From the arrays of one world to a compiled MuJoCo model: the table of contents."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.engines.messages import Teller
from simwright.engines.mujoco.bodies import add_bodies, restore_moments, set_masses
from simwright.engines.mujoco.contact import add_contacts, plan_contacts, report_restitution, set_materials
from simwright.engines.mujoco.joints import Seats, add_joints, set_losses
from simwright.engines.mujoco.relations import add_relations
from simwright.engines.mujoco.shapes import GeomMaker
from simwright.engines.mujoco.stiffness import TIGHT, make_impedance, make_reference
from simwright.engines.world import OneWorld, take_world
from simwright.runtime.model import Model

_HOLDING = 0.999
"""Impedance of loops and followers: nearly rigid."""


@dataclass(slots=True, eq=False)
class Built:
    """A compiled model, the arrays it was made from, and where their joints and drives are in it."""

    mj: Any
    world: OneWorld
    seats: Seats


def build_model(
    model: Model,
    dt: float,
    options: Mapping[str, Any] | None = None,
    *,
    number: int = 0,
    visuals: bool = False,
    reporter: Reporter | None = None,
) -> Built:
    """The MuJoCo model of one world; ``visuals`` adds what is only seen."""
    import mujoco

    reporter = Reporter() if reporter is None else reporter
    options = dict(options or {})
    world = take_world(model, number)
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.modelname = "world"
    bodies = add_bodies(spec, world)
    set_masses(bodies, world, model.body_label, reporter)
    teller = Teller(model.joint_label, reporter)
    seats = add_joints(spec, bodies, world, teller)
    maker = GeomMaker(spec, model, world, reporter, visuals=visuals)
    touching = maker.add_geoms(bodies)
    add_relations(spec, bodies, world, teller)
    plan = plan_contacts(model, world, touching)
    add_contacts(spec, plan)
    report_restitution(model, world, touching, reporter)
    _set_options(spec, world, dt, options)
    mj = _compile(spec)
    ids = {body: mj.body(f"b{body}").id for body in range(world.body_count)}
    restore_moments(mj, ids, world)
    set_losses(mj, world, seats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mujoco.mj_setConst(mj, mujoco.MjData(mj))
    _set_stops(mj, world, seats, dt)
    set_materials(mj, world, plan, dt, int(options.get("condim", 3)))
    return Built(mj, world, seats)


def _compile(spec: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return spec.compile()
        except ValueError as error:
            reason = " ".join(str(error).split())
            raise UsageError(f"MuJoCo does not take this model: {reason}") from None


def _set_options(spec: Any, world: OneWorld, dt: float, options: Mapping[str, Any]) -> None:
    import mujoco

    held = spec.option
    held.timestep = dt
    held.gravity = world.gravity
    held.solver = getattr(mujoco.mjtSolver, f"mjSOL_{str(options.get('solver', 'newton')).upper()}")
    held.integrator = getattr(
        mujoco.mjtIntegrator, f"mjINT_{str(options.get('integrator', 'implicitfast')).upper()}"
    )
    held.cone = getattr(mujoco.mjtCone, f"mjCONE_{str(options.get('cone', 'elliptic')).upper()}")
    held.impratio = float(options.get("impratio", 100.0))
    held.iterations = int(options.get("iterations", 100))
    held.tolerance = float(options.get("tolerance", 1e-8))
    bits = mujoco.mjtDisableBit
    held.disableflags |= int(bits.mjDSBL_FILTERPARENT) | int(bits.mjDSBL_AUTORESET)


def _set_stops(mj: Any, world: OneWorld, seats: Seats, dt: float) -> None:
    """Stops as springs and dampers; friction, loops and followers nearly rigid."""
    stiff = make_impedance(np.array(TIGHT))
    for joint, names in seats.joints.items():
        for number, dof in enumerate(world.dofs_of(joint)):
            if number >= len(names) or not mj.joint(names[number]).type[0] >= 2:
                continue
            at = mj.joint(names[number]).id
            weight = np.array(mj.dof_invweight0[mj.jnt_dofadr[at]])
            ke, kd = world.joint_limit_ke[dof], world.joint_limit_kd[dof]
            if ke > 0.0 or kd > 0.0:
                reference, impedance = make_reference(ke, kd, weight, dt)
                mj.jnt_solref[at], mj.jnt_solimp[at] = reference, make_impedance(impedance)
    mj.dof_solref[:] = (-1.0, -TIGHT / dt)
    mj.dof_solimp[:] = stiff
    mj.eq_solref[:] = (2.0 * dt, 1.0)
    mj.eq_solimp[:] = make_impedance(np.array(_HOLDING))
    mj.tendon_solref_lim[:] = (2.0 * dt, 1.0)
    mj.tendon_solimp_lim[:] = make_impedance(np.array(_HOLDING))
