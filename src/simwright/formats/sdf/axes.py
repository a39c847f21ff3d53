# SPDX-License-Identifier: Apache-2.0
"""``<axis>`` and ``<axis2>`` of a joint: direction, limits, dynamics and mimic (SDFormat 1.11).

The direction is given in the joint frame, or in the frame ``expressed_in`` names.  Up to 1.4 it is given in
the model frame; 1.5 and 1.6 have ``use_parent_model_frame`` for that.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, vec3
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import ENDLESS, Document
from simwright.formats.sdf.poses import frame_of, scope_of
from simwright.formats.sdf.tree import Item
from simwright.formats.xml import Element
from simwright.model.joint import INF, Dof, Motion

ZERO_AXIS = declare(
    "sdf-zero-axis",
    Level.ERROR,
    "the axis of joint {joint!r} has no direction",
    hint="write a unit vector; 0 0 1 is used",
    doc="The xyz of a joint axis is the zero vector.",
)
NO_AXIS = declare(
    "sdf-no-axis",
    Level.WARNING,
    "joint {joint!r} is {kind} but has no <{tag}>",
    hint="0 0 1 is used; write the axis",
    doc="A joint that moves along an axis does not give it.",
)
LIMITS_SWAPPED = declare(
    "sdf-limits-swapped",
    Level.ERROR,
    "joint {joint!r} has the lower limit {lower:g} above the upper limit {upper:g}",
    hint="swap them; the joint is read without limits",
    doc="The lower limit of a joint axis is larger than the upper one.",
)

_AXIS_CARRIED = {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"}
_LIMIT_CARRIED = {"lower", "upper", "effort", "velocity", "stiffness", "dissipation"}
_DYNAMICS_CARRIED = {"damping", "friction", "spring_reference", "spring_stiffness"}


def read_dof(reading: Reading, item: Item, tag: str, motion: Motion, name: str) -> Dof:
    """One freedom of a joint from its ``<axis>`` or ``<axis2>``."""
    document = item.document
    axis = document.child(item.element, tag)
    dof = Dof(motion, name=name)
    if axis is None:
        where = document.where(item.element)
        kind = item.element.get("type", "")
        reading.reporter.report(NO_AXIS, where, joint=item.key, kind=kind, tag=tag)
        return dof
    dof.axis = _read_direction(reading, item, axis)
    _read_limits(reading, item, axis, dof)
    dynamics = document.child(axis, "dynamics")
    if dynamics is not None:
        dof.damping = document.amount(dynamics, "damping")
        dof.friction = document.amount(dynamics, "friction")
        dof.stiffness = document.amount(dynamics, "spring_stiffness")
        dof.spring_ref = document.amount(dynamics, "spring_reference")
        reading.keep_rest(document, dynamics, item.key, _DYNAMICS_CARRIED)
    reading.keep_rest(document, axis, item.key, _AXIS_CARRIED, {"initial_position"})
    return dof


def _read_direction(reading: Reading, item: Item, axis: Element) -> Array:
    document = item.document
    xyz = document.values(axis, "xyz", 3, (0.0, 0.0, 1.0))
    length = float(np.linalg.norm(xyz))
    if length < 1e-12:
        reading.reporter.report(ZERO_AXIS, document.where(axis), joint=item.key)
        return vec3(0.0, 0.0, 1.0)
    xyz = xyz / length
    scope = scope_of(item.model)
    joint = frame_of(item)
    name = _find_expression(document, axis)
    if not name:
        return xyz
    what = f"the axis of joint {item.key!r}"
    frame = reading.graph.refer(name, scope, joint, document.where(axis), what)
    if frame is joint:
        return xyz
    turned: Array = reading.graph.pose(joint).rotation.T @ reading.graph.pose(frame).rotation @ xyz
    return turned


def _find_expression(document: Document, axis: Element) -> str:
    """The name of the frame the direction is given in; empty for the joint frame."""
    if document.version < (1, 5):
        return "__model__"
    if document.version < (1, 7) and document.flag(axis, "use_parent_model_frame"):
        return "__model__"
    xyz = document.child(axis, "xyz")
    return "" if xyz is None else (xyz.get("expressed_in") or "").strip()


def _read_limits(reading: Reading, item: Item, axis: Element, dof: Dof) -> None:
    document = item.document
    limit = document.child(axis, "limit")
    if limit is None:
        return
    if item.element.get("type") != "continuous":
        lower = _unlimited(document.value(limit, "lower"), -INF)
        upper = _unlimited(document.value(limit, "upper"), INF)
        if lower > upper:
            where = document.where(limit)
            reading.reporter.report(LIMITS_SWAPPED, where, joint=item.key, lower=lower, upper=upper)
        else:
            dof.lower, dof.upper = lower, upper
    dof.effort_limit = _enforced(document.value(limit, "effort"))
    dof.velocity_limit = _enforced(document.value(limit, "velocity"))
    dof.limit_stiffness = document.amount(limit, "stiffness")
    dof.limit_damping = document.amount(limit, "dissipation")
    reading.keep_rest(document, limit, item.key, _LIMIT_CARRIED)


def _unlimited(value: float | None, endless: float) -> float:
    """SDFormat up to 1.9 writes 1e16 for "no limit"."""
    return endless if value is None or abs(value) >= ENDLESS else value


def _enforced(value: float | None) -> float | None:
    """A negative or infinite effort or velocity limit is not enforced."""
    return None if value is None or value < 0.0 or math.isinf(value) or value >= ENDLESS else value
