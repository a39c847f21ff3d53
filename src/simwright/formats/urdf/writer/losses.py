# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold: one finding per family, so that silence means "nothing is lost"."""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.parts.words import name_of
from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.messages import EXTRAS_LOST, GEOMETRY_LEFT_OUT, ROS_DISCARDED
from simwright.formats.urdf.writer.shapes import list_refused
from simwright.model.joint import WORLD, Joint
from simwright.model.material import RenderMaterial
from simwright.resolve import mjc, newton, physx

_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_WRITTEN = ("calibration.", "limit.acceleration")
_SPENT = frozenset({"drive", "ext_physics"})


def report_losses(draft: Draft) -> None:
    """Elements without a place, then values without an attribute, then attributes of other solvers."""
    asset = draft.asset
    advice = (
        "URDF robots have no sensors but their frames, which are written where they have a place of their own"
    )
    draft.lose("sensors", asset.sensors, advice)
    draft.lose("cameras", asset.cameras, "their optical frames are written, what they see is not")
    draft.lose("lights", asset.lights)
    draft.lose("tendons", asset.tendons)
    draft.lose("equality constraints", asset.equalities, "add them in the simulator, or export MJCF")
    draft.lose("contact filters", asset.contact_filters, "MoveIt has them in its SRDF file")
    draft.lose("collision groups", asset.collision_groups, "MoveIt has them in its SRDF file")
    draft.lose("contact pairs", asset.contact_pairs)
    draft.lose("named states", asset.keyframes, "MoveIt has them in its SRDF file")
    draft.lose("custom attributes", asset.custom_attributes)
    world = [s for s in asset.shapes if s.body == WORLD and WORLD not in draft.links and s.enabled]
    for shape in list_refused(asset):
        draft.reporter.report(
            GEOMETRY_LEFT_OUT,
            shape.source,
            kind="plane",
            name=shape.name,
            why="it has no end",
            advice="give it a size",
        )
    draft.lose("shapes of the world", [s for s in world if s not in list_refused(asset)])
    _report_ros(draft)
    for what, lost in _list_settings(draft):
        draft.drop(what, lost)
    _report_extras(draft)


def _report_ros(draft: Draft) -> None:
    asset = draft.asset
    controllers = [c for c in asset.controllers if c.kind != "ros2_control"]
    for what, lost in (
        ("interface(s)", asset.interfaces),
        ("namespace(s)", [c for c in asset.contexts if c.namespace or c.domain_id is not None]),
        ("controller(s)", controllers),
    ):
        rows: list[Any] = list(lost)
        if rows:
            first = name_of(rows[0]) or rows[0].namespace
            draft.reporter.report(ROS_DISCARDED, rows[0].source, count=len(rows), what=what, first=first)


def _list_settings(draft: Draft) -> list[tuple[str, list[Any]]]:
    asset = draft.asset
    joints, bodies, shapes = asset.joints, asset.bodies, asset.shapes
    return [
        ("the drive, other than its largest force,", [j for j in joints if _has(j, "drive")]),
        ("the armature", [j for j in joints if _has(j, "armature")]),
        ("the spring", [j for j in joints if _has(j, "stiffness")]),
        (
            "the stiffness or damping of stops",
            [j for j in joints if _has(j, "limit_stiffness", "limit_damping")],
        ),
        ("the position or velocity at the start", [j for j in joints if _moves(j)]),
        ("the breaking force", [j for j in joints if math.isfinite(min(j.break_force, j.break_torque))]),
        ("that its bodies touch each other", [j for j in joints if j.collide]),
        ("that it is disabled", [s for s in shapes if not s.enabled]),
        ("the share of gravity", [b for b in bodies if b.gravity_scale != 1.0]),
        ("the velocity at the start", [b for b in bodies if _is_fast(b)]),
        ("the damping of free motion", [b for b in bodies if b.linear_damping or b.angular_damping]),
        ("the simplification of a mesh", [s for s in shapes if s.collision and _is_simplified(s)]),
        ("the contact material", [s for s in shapes if s.collision and s.physics_material]),
        ("a contact setting", [s for s in shapes if s.collision and (s.settings or s.margin or s.gap)]),
        ("all but the colour and its image", [m for m in asset.materials if _is_rich(m)]),
        ("the gravity or time step", [asset.name] if _has_world(draft) else []),
    ]


def _has(joint: Joint, *fields: str) -> bool:
    return any(getattr(dof, name) for dof in joint.dofs for name in fields)


def _moves(joint: Joint) -> bool:
    starts = [
        d.position for d in joint.dofs if d.position is not None and d.positions == 1 and d.position != d.ref
    ]
    return bool(starts) or any(
        d.velocity is not None and d.velocities == 1 and d.velocity for d in joint.dofs
    )


def _is_fast(body: Any) -> bool:
    return any(v is not None and v.any() for v in (body.linear_velocity, body.angular_velocity))


def _is_simplified(shape: Any) -> bool:
    return shape.approximation is not None and shape.approximation.token != "none"


def _is_rich(material: RenderMaterial) -> bool:
    plain = RenderMaterial("", roughness=material.roughness)
    has_more = (
        any(material.emissive) or material.metallic != plain.metallic or material.clearcoat != plain.clearcoat
    )
    return has_more or bool(set(material.textures) - {"diffuse"})


def _has_world(draft: Draft) -> bool:
    world = draft.asset.environment
    return any(v is not None for v in (world.gravity, world.timestep, world.wind, world.magnetic_field))


def _report_extras(draft: Draft) -> None:
    lost: dict[str, list[str]] = {}
    motors = {actuator.path for actuator in draft.asset.actuators}
    for space, element, attribute, _ in draft.asset.extras:
        is_written = space == "urdf" and attribute.startswith(_WRITTEN)
        if not (is_written or space in _SPENT or attribute in _SAID or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
