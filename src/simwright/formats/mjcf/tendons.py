# SPDX-License-Identifier: Apache-2.0
"""Tendons: sums of joint coordinates, and paths through sites around geoms and over pulleys."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.mjcf.context import Context
from simwright.formats.mjcf.geoms import DEFAULT_RGBA
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.model.joint import Tendon, TendonPoint


def read_tendons(context: Context) -> None:
    """Tendons in MuJoCo's order."""
    model = context.model
    for index in range(context.count("tendon")):
        tendon = Tendon(
            name=context.name("tendon", index),
            path=_read_path(context, index),
            stiffness=float(np.ravel(model.tendon_stiffness[index])[0]),
            damping=float(np.ravel(model.tendon_damping[index])[0]),
            friction=float(model.tendon_frictionloss[index]),
            armature=float(context.field("tendon_armature", index, 0.0)),
            width=float(model.tendon_width[index]),
            source=context.where("tendon", index),
        )
        if model.tendon_limited[index]:
            tendon.lower, tendon.upper = (float(v) for v in model.tendon_range[index])
        low, high = (float(v) for v in model.tendon_lengthspring[index])
        tendon.rest_length = (low, high) if tendon.stiffness else None
        context.asset.tendons.append(tendon)
        _keep_extras(context, index)


def _read_path(context: Context, index: int) -> list[TendonPoint]:
    model = context.model
    start, count = int(model.tendon_adr[index]), int(model.tendon_num[index])
    return [_read_point(context, wrap) for wrap in range(start, start + count)]


def _read_point(context: Context, wrap: int) -> TendonPoint:
    model = context.model
    kind = str(context.mujoco.mjtWrap(int(model.wrap_type[wrap])).name)[7:].lower()
    target, value = int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])
    match kind:
        case "joint":
            return TendonPoint("joint", context.name("joint", target), value)
        case "pulley":
            return TendonPoint("pulley", value=value)
        case "site":
            return TendonPoint("site", context.name("site", target))
    return TendonPoint("wrap", context.name("geom", target), side=context.name("site", round(value)))


def _keep_extras(context: Context, index: int) -> None:
    model = context.model
    keep: dict[str, tuple[Any, Any]] = {
        "group": (model.tendon_group[index], 0),
        "margin": (model.tendon_margin[index], 0.0),
        "rgba": (model.tendon_rgba[index], DEFAULT_RGBA),
        "material": (context.name("material", int(model.tendon_matid[index])), ""),
        "solreflimit": (model.tendon_solref_lim[index], SOLREF),
        "solimplimit": (model.tendon_solimp_lim[index], SOLIMP),
        "solreffriction": (model.tendon_solref_fri[index], SOLREF),
        "solimpfriction": (model.tendon_solimp_fri[index], SOLIMP),
        "springyield": (context.field("tendon_springyield", index), 0.0),
    }
    for attribute, (value, default) in keep.items():
        context.keep("tendon", index, attribute, value, default)
    for attribute in ("stiffnesspoly", "dampingpoly"):
        values = context.field(f"tendon_{attribute}", index)
        if values is not None and np.any(values):
            context.keep("tendon", index, attribute, values)
    if context.field("tendon_actfrclimited", index, False):
        context.keep("tendon", index, "actuatorfrcrange", model.tendon_actfrcrange[index])
    context.keep_user("tendon", index, "tendon_user")
