# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold: one finding per family, so that silence means "nothing is lost"."""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import NOWHERE
from simwright.formats.gltf.draft import Draft
from simwright.formats.gltf.messages import EXTRAS_LOST, NOT_CARRIED, SETTING_LOST
from simwright.model.asset import Body
from simwright.model.joint import Joint
from simwright.resolve import mjc, newton, physx
from simwright.resolve.table import PrimType

_KEYS = frozenset(
    {"armature", "damping", "friction", "effort_limit", "velocity_limit", "stiffness", "spring_ref", "ref"}
)
_CARRIED = frozenset(
    name
    for rows in (mjc.ROWS, newton.ROWS, physx.ROWS)
    for row in rows
    if row.prim is PrimType.JOINT and (row.key in _KEYS or row.key.endswith("_position"))
    for name in row.attributes
)
"""Attributes of solvers whose value is in the physics block."""


def report_losses(draft: Draft) -> None:
    """Elements without a place, values without one, then attributes of solvers."""
    asset = draft.asset
    families: tuple[tuple[str, list[Any]], ...] = (
        ("sensors", asset.sensors),
        ("actuators", asset.actuators),
        ("tendons", asset.tendons),
        ("equality constraints", asset.equalities),
        ("collision groups", asset.collision_groups),
        ("contact filters", asset.contact_filters),
        ("contact pairs", asset.contact_pairs),
        ("physics materials", [] if draft.options.collision else asset.physics_materials),
        ("ROS interfaces", asset.interfaces),
        ("ROS controllers", asset.controllers),
        ("keyframes", asset.keyframes),
        ("custom attributes", asset.custom_attributes),
        ("joints to bodies that do not exist", draft.tree.dangling),
    )
    for what, elements in families:
        if elements:
            first = elements[0]
            name = getattr(first, "name", "") or getattr(first, "a", "")
            where = getattr(first, "source", NOWHERE)
            draft.reporter.report(NOT_CARRIED, where, count=len(elements), what=what, first=name)
    _report_settings(draft)
    spaces: dict[str, list[str]] = {}
    for space, element, attribute, _ in asset.extras:
        if attribute not in _CARRIED:
            spaces.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in spaces.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])


def _report_settings(draft: Draft) -> None:
    asset = draft.asset
    settings: tuple[tuple[str, list[Any]], ...] = (
        ("the stiffness or damping of stops", [joint for joint in asset.joints if _has_soft_stops(joint)]),
        ("the breaking force", [joint for joint in asset.joints if _can_break(joint)]),
        ("the safety controller", [j for j in asset.joints if any(dof.safety for dof in j.dofs)]),
        ("the initial velocity", [body for body in asset.bodies if _moves(body)]),
        ("the damping of free motion", [b for b in asset.bodies if b.linear_damping or b.angular_damping]),
        ("that gravity is scaled", [body for body in asset.bodies if body.gravity_scale != 1.0]),
    )
    for what, lost in settings:
        if lost:
            first = lost[0]
            draft.reporter.report(SETTING_LOST, first.source, what=what, count=len(lost), first=first.name)


def _has_soft_stops(joint: Joint) -> bool:
    return any(dof.limit_stiffness or dof.limit_damping for dof in joint.dofs)


def _can_break(joint: Joint) -> bool:
    return math.isfinite(joint.break_force) or math.isfinite(joint.break_torque)


def _moves(body: Body) -> bool:
    speeds = (body.linear_velocity, body.angular_velocity)
    return any(speed is not None and bool(speed.any()) for speed in speeds)
