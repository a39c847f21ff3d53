# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold: one finding per family, so that silence means "nothing is lost"."""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.parts.words import name_of
from simwright.formats.sdf.context import NAMESPACE
from simwright.formats.sdf.writer.controllers import ControllerWriter
from simwright.formats.sdf.writer.draft import Draft
from simwright.formats.sdf.writer.geometry import OPTIMIZATION
from simwright.formats.sdf.writer.inertials import report_inertials
from simwright.formats.sdf.writer.messages import EXTRAS_LOST, MOVED_TO_ZERO, ROS_DISCARDED
from simwright.formats.sdf.writer.world import report_settings
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, EqualityKind, Joint, Motion
from simwright.resolve import mjc, newton, physx

_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_SPENT = frozenset({"drive", "ext_physics"})
_SENSORS = "gazebo:sensor:"
"""What a stage says of a sensor, which is in the model."""


def report_losses(draft: Draft, controllers: ControllerWriter) -> None:
    """Elements without a place, then values without an element, then attributes of other solvers."""
    asset = draft.asset
    report_inertials(draft)
    held = (EqualityKind.CONNECT, EqualityKind.WELD)
    draft.lose("actuators", asset.actuators, "add a controller of Gazebo for them")
    draft.lose("tendons", asset.tendons)
    equalities = [e for e in asset.equalities if e.kind not in held or not e.enabled]
    draft.lose("equality constraints", equalities)
    draft.lose("contact pairs", asset.contact_pairs)
    draft.lose("named states", asset.keyframes)
    draft.lose("custom attributes", asset.custom_attributes)
    _report_ros(draft, controllers)
    started = [joint for joint in asset.joints if _starts(joint)]
    if started:
        draft.report(MOVED_TO_ZERO, started)
    for what, lost in _list_settings(draft):
        draft.drop(what, lost)
    report_settings(draft)
    _report_extras(draft)


def _report_ros(draft: Draft, controllers: ControllerWriter) -> None:
    asset = draft.asset
    rows: tuple[tuple[str, list[Any]], ...] = (
        ("interface(s)", [i for i in asset.interfaces if id(i) not in draft.published]),
        ("namespace(s)", [c for c in asset.contexts if c.namespace or c.domain_id is not None]),
        ("controller(s)", controllers.lost),
    )
    for what, lost in rows:
        if lost:
            first = name_of(lost[0]) or str(getattr(lost[0], "namespace", ""))
            draft.reporter.report(ROS_DISCARDED, lost[0].source, count=len(lost), what=what, first=first)
    draft.drop("a setting", controllers.reduced)


def _list_settings(draft: Draft) -> list[tuple[str, list[Any]]]:
    asset = draft.asset
    joints, bodies, shapes = asset.joints, asset.bodies, asset.shapes
    colliders = [shape for shape in shapes if shape.collision]
    return [
        ("the drive, other than its largest force,", [j for j in joints if _has(j, "drive")]),
        ("the armature", [j for j in joints if _has(j, "armature")]),
        ("the safety controller", [j for j in joints if _has(j, "safety")]),
        ("the friction, spring or armature of a ball", [j for j in joints if _is_stiff_ball(j)]),
        ("the damping of a floating joint", [j for j in joints if _is_damped_float(j)]),
        ("the breaking force", [j for j in joints if math.isfinite(min(j.break_force, j.break_torque))]),
        ("that its bodies touch each other", [j for j in joints if _lets_touch(j)]),
        ("that it is disabled", [b for b in bodies if not b.enabled]),
        ("the share of gravity", [b for b in bodies if b.gravity_scale not in (0.0, 1.0)]),
        ("the velocity at the start", [b for b in bodies if _is_fast(b)]),
        ("the damping of free motion", [b for b in bodies if b.linear_damping or b.angular_damping]),
        ("the simplification of a mesh", [s for s in colliders if _is_simplified(draft, s)]),
        ("a contact setting", [s for s in colliders if s.settings or s.margin or s.gap]),
        ("the level of detail", [s for s in shapes if s.purpose not in ("default", "render", "guide")]),
    ]


def _lets_touch(joint: Joint) -> bool:
    """Do its two bodies touch?  Gazebo keeps those of a joint apart; a floating joint is none."""
    is_free = any(dof.motion is Motion.FREE for dof in joint.dofs)
    return joint.collide and not is_free and WORLD not in (joint.parent, joint.child)


def _has(joint: Joint, *fields: str) -> bool:
    return any(getattr(dof, name) for dof in joint.dofs for name in fields)


def _is_stiff_ball(joint: Joint) -> bool:
    balls = [dof for dof in joint.dofs if dof.motion is Motion.BALL]
    return any(dof.friction or dof.stiffness for dof in balls)


def _is_damped_float(joint: Joint) -> bool:
    free = [dof for dof in joint.dofs if dof.motion is Motion.FREE]
    return any(dof.friction or dof.stiffness or dof.damping for dof in free)


def _starts(joint: Joint) -> bool:
    single = [dof for dof in joint.dofs if dof.positions == 1]
    return any((dof.position if dof.position is not None else dof.ref) for dof in single)


def _is_fast(body: Any) -> bool:
    return any(v is not None and v.any() for v in (body.linear_velocity, body.angular_velocity))


def _is_simplified(draft: Draft, shape: Any) -> bool:
    if not isinstance(shape.geometry, Mesh):
        return False
    token = shape.approximation.token if shape.approximation is not None else "none"
    if token in ("convexHull", "convexDecomposition"):
        return draft.version < OPTIMIZATION
    return bool(token != "none")


def _report_extras(draft: Draft) -> None:
    lost: dict[str, list[str]] = {}
    motors = {actuator.path for actuator in draft.asset.actuators}
    for space, element, attribute, _ in draft.asset.extras:
        is_written = space == NAMESPACE and (element, attribute) in draft.spent
        is_said = attribute in _SAID or attribute.startswith(_SENSORS) or element in motors
        if not (is_written or is_said or space in _SPENT):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
