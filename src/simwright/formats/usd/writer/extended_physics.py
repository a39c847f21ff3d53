# SPDX-License-Identifier: Apache-2.0
"""``extended_physics.usda``: joint dynamics, mimics, actuators, contact distances, friction (REP-0158 4.2.2).

This is what every engine knows and UsdPhysics has no attribute for.  The rows of ``resolve.usdphysics`` say which
attribute holds which value, so reader and writer share one table.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import DEGREE
from simwright.formats.usd.writer.joints import SINGLE
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.messages import JOINT_REDUCED, NOTED
from simwright.formats.usd.writer.plan import WritePlan
from simwright.model.asset import Actuator, Shape
from simwright.model.joint import Dof, Joint, JointKind, Mimic, Motion
from simwright.model.material import PhysicsMaterial
from simwright.resolve.table import PrimType
from simwright.resolve.usdphysics import ROWS

_SPACE = "ext_physics:actuator"
_LAGS = ("filter", "filterexact")
"""A first-order lag, stepped in two ways."""
_MODES = {"motor": "effort", "position": "position", "velocity": "velocity", "general": "effort"}


def write_actuators(plan: WritePlan, layer: LayerWriter) -> None:
    """Every actuator with a neutral form; the others are MuJoCo's (see ``motors_mjc``)."""
    dofs = {dof.name: dof for joint in plan.asset.joints for dof in joint.dofs}
    for actuator in plan.asset.actuators:
        if not is_neutral(plan, actuator):
            continue
        path = claim_actuator(plan, layer, actuator)
        layer.define(path)
        layer.apply(path, "ExtendedPhysicsActuatorAPI")
        layer.relate(path, f"{_SPACE}:targets", [plan.freedoms[actuator.target][0]])
        _write_law(layer, path, actuator, dofs[actuator.target])


def claim_actuator(plan: WritePlan, layer: LayerWriter, actuator: Actuator) -> str:
    """The path of an actuator, named."""
    scope = f"{plan.root}/Actuators"
    layer.define(scope, "Scope")
    path = plan.actuators[actuator.name] = plan.names.claim(scope, actuator.name)
    layer.name(path, actuator.name)
    if actuator.transmission == "joint_in_parent":
        layer.note(path, transmission=actuator.transmission)
    return path


def is_neutral(plan: WritePlan, actuator: Actuator) -> bool:
    """Can the neutral schema say it?  It drives a revolute or prismatic joint by a plain law."""
    word = plan.freedoms.get(actuator.target, ("", ""))[1]
    is_joint = actuator.transmission in ("joint", "joint_in_parent") and word in SINGLE
    # the neutral schema has one gear ratio
    if not is_joint or any(actuator.gear[1:]):
        return False
    law = actuator.settings
    dynamics = law.get("dynamics_type", "none")
    if dynamics not in ("none", *_LAGS):
        return False
    if actuator.kind == "general":
        return law.get("gain_type") == "fixed" and law.get("bias_type") == "none"
    return actuator.kind in _MODES


# a table of attributes; which of them apply depends on the kind
def _write_law(layer: LayerWriter, path: str, actuator: Actuator, dof: Dof) -> None:
    unit = DEGREE if dof.motion is Motion.HINGE else 1.0
    mode = _MODES[actuator.kind]
    layer.set(path, f"{_SPACE}:controlMode", "token", mode, uniform=True)
    values = {"gear": actuator.gear[0]}
    if actuator.kind == "general":
        values["gain"] = float(actuator.settings["gain"][0])
    if actuator.kind == "position":
        values["stiffness"] = actuator.stiffness * unit
    if actuator.kind in ("position", "velocity"):
        values["damping"] = actuator.damping * unit
    if actuator.settings.get("dynamics_type") in _LAGS:
        values["timeConstant"] = float(actuator.settings["dynamics"][0])
    command = 1.0 if mode == "effort" else unit
    for word, limits, factor in (
        ("control", actuator.control_range, command),
        ("effort", actuator.force_range, 1.0),
    ):
        for end, value in zip(("Lower", "Upper"), limits or (), strict=False):
            if math.isfinite(value):
                values[f"{word}{end}"] = value / factor
    for name, value in values.items():
        layer.set(path, f"{_SPACE}:{name}", "float", value)
    table = actuator.settings.get("effort_table")
    if table:
        space = "ext_physics:clamp_position"
        layer.apply(path, "ExtendedPhysicsPositionBasedClampingAPI")
        layer.set(path, f"{space}:lookupPositions", "float[]", [p / unit for p in table["positions"]])
        layer.set(path, f"{space}:lookupEfforts", "float[]", table["efforts"])


_ELSEWHERE = ("path", "source")


def write_idle_actuators(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """A scope with a note for each."""
    for actuator in plan.asset.actuators:
        if is_idle(plan, actuator):
            path = claim_actuator(plan, layer, actuator)
            layer.define(path, "Scope")
            values = {f.name: getattr(actuator, f.name) for f in fields(actuator) if f.name not in _ELSEWHERE}
            layer.note(path, motor=json.dumps(values, sort_keys=True))
            what = f"idle motor {actuator.name!r}"
            reporter.report(NOTED, actuator.source, what=what, name=actuator.target)


def is_idle(plan: WritePlan, actuator: Actuator) -> bool:
    """Is it on a joint of the asset that has no freedom?"""
    return (
        actuator.transmission in ("joint", "joint_in_parent")
        and actuator.target not in plan.freedoms
        and any(joint.name == actuator.target and not joint.dofs for joint in plan.asset.joints)
    )


def write_mimics(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every rule whose two freedoms are written."""
    dofs = {dof.name: dof for joint in plan.asset.joints for dof in joint.dofs}
    owners = {dof.name: joint.name for joint in plan.asset.joints for dof in joint.dofs}
    noted: dict[str, list[Mimic]] = {}
    said: set[str] = set()
    for mimic in plan.asset.mimics:
        follower, leader = plan.freedoms.get(mimic.follower), plan.freedoms.get(mimic.leader)
        if follower is None or leader is None:
            reporter.report(JOINT_REDUCED, mimic.source, what="the mimic rule", name=mimic.follower)
        # a prim can hold the API once
        elif {follower[1], leader[1]} <= {*SINGLE} and follower[0] not in said:
            said.add(follower[0])
            _write_mimic(layer, mimic, (follower[0], dofs[mimic.follower]), (leader[0], dofs[mimic.leader]))
            if mimic.name != owners[mimic.follower]:
                layer.note(follower[0], mimic_name=mimic.name)
        else:
            noted.setdefault(follower[0], []).append(mimic)
    for path, mimics in noted.items():
        _note_mimics(layer, path, mimics)
        reporter.report(NOTED, mimics[0].source, what="the mimic rule", name=mimics[0].follower)


def _write_mimic(
    layer: LayerWriter, mimic: Mimic, follower: tuple[str, Dof], leader: tuple[str, Dof]
) -> None:
    (path, own), (target, other) = follower, leader
    layer.apply(path, "ExtendedPhysicsMimicAPI")
    layer.relate(path, "ext_physics:mimic:joint", [target])
    layer.set(path, "ext_physics:mimic:multiplier", "float", mimic.multiplier * _step(other) / _step(own))
    if mimic.offset:
        layer.set(path, "ext_physics:mimic:offset", "float", mimic.offset / _step(own))
    if not mimic.enabled:
        layer.set(path, "ext_physics:mimic:enabled", "bool", False)


def _note_mimics(layer: LayerWriter, path: str, mimics: list[Mimic]) -> None:
    """Names by threes, numbers by six: switch, offset, multiplier and three higher powers."""
    names = [name for m in mimics for name in (m.follower, m.leader, m.name)]
    values = []
    for m in mimics:
        # MuJoCo's polynomials end with the fourth power
        higher = [*m.polynomial, 0.0, 0.0, 0.0][:3]
        values += [float(m.enabled), m.offset, m.multiplier, *higher]
    layer.note(path, mimics=names, mimic_values=values)


def _step(dof: Dof) -> float:
    return DEGREE if dof.motion is Motion.HINGE else 1.0


_DOF_FIELDS = {"limit_ke": "limit_stiffness", "limit_kd": "limit_damping"}
_MATERIAL_FIELDS = {
    "mu_torsional": "torsional_friction",
    "mu_rolling": "rolling_friction",
    "ke": "stiffness",
    "kd": "damping",
}


def write_extended(plan: WritePlan, reporter: Reporter) -> LayerWriter:
    """Joints, mimics, actuators, contact distances and further friction."""
    layer = LayerWriter(
        plan.root, f"Joint dynamics, couplings and motors of {plan.asset.name}.", exact=plan.exact
    )
    for joint in plan.asset.joints:
        if joint.name in plan.joints:
            _write_joint(plan, layer, joint, reporter)
        elif joint.kind is JointKind.FLOATING and joint.dofs and joint.child in plan.bodies:
            _note_free(plan, layer, joint, reporter)
    write_mimics(plan, layer, reporter)
    for shape in plan.asset.shapes:
        if shape.name in plan.colliders:
            _write_rows(layer, plan.colliders[shape.name], PrimType.SHAPE, _read_shape(shape))
    for material in plan.asset.physics_materials:
        _write_rows(layer, plan.contacts[material.name], PrimType.MATERIAL, _read_material(material))
    write_actuators(plan, layer)
    write_idle_actuators(plan, layer, reporter)
    return layer


def _read_shape(shape: Shape) -> dict[str, Any]:
    return {"margin": shape.margin, "gap": shape.gap}


def _read_material(material: PhysicsMaterial) -> dict[str, Any]:
    values = {key: getattr(material, field) for key, field in _MATERIAL_FIELDS.items()}
    return {**values, "ka": material.settings.get("ka")}


# values of freedoms that share a prim have to be compared before any is written
def _write_joint(plan: WritePlan, layer: LayerWriter, joint: Joint, reporter: Reporter) -> None:
    """A joint prim says one value for all its freedoms; what differs between them is noted."""
    places: dict[str, list[Dof]] = {}
    for dof in joint.dofs:
        places.setdefault(plan.freedoms[dof.name][0], []).append(dof)
    for path, dofs in places.items():
        found = [(dof.motion is not Motion.SLIDE, _read_dof(dof)) for dof in dofs]
        angular, values = found[0]
        differing = [
            key for key, value in values.items() if any((a, v[key]) != (angular, value) for a, v in found)
        ]
        noted = [key for key in differing if any(v[key] for _, v in found)]
        if noted:
            what = f"what differs between the freedoms ({', '.join(noted)})"
            reporter.report(NOTED, joint.source, what=what, name=joint.name)
            layer.note(path, **{f"dof_{key}": [_number(v[key]) for _, v in found] for key in noted})
        values = {key: value for key, value in values.items() if key not in differing}
        _write_rows(layer, path, PrimType.JOINT, values, angular=angular)


def _number(value: Any) -> float:
    """A value of a note; not a number stands for "not said"."""
    return math.nan if value is None else float(value)


def _note_free(plan: WritePlan, layer: LayerWriter, joint: Joint, reporter: Reporter) -> None:
    """Passive dynamics of a body that nothing holds, which MuJoCo has."""
    dof = joint.dofs[0]
    values = {key: getattr(dof, key) for key in ("armature", "friction", "damping", "stiffness")}
    said = {f"free_{key}": float(value) for key, value in values.items() if value}
    if said:
        layer.note(plan.bodies[joint.child], **said)
        reporter.report(NOTED, joint.source, what="the passive dynamics", name=joint.name)


def _read_dof(dof: Dof) -> dict[str, Any]:
    values = {
        row.key: getattr(dof, _DOF_FIELDS.get(row.key, row.key)) for row in ROWS if row.prim is PrimType.JOINT
    }
    # the rest position of no spring
    if not values["stiffness"]:
        values["spring_ref"] = None
    return values


def _write_rows(
    layer: LayerWriter, path: str, prim: PrimType, values: dict[str, Any], *, angular: bool = False
) -> None:
    for row in ROWS:
        value = values.get(row.key) if row.prim is prim else None
        # the schema's fallback says it
        if value is None or value == row.default:
            continue
        for name, raw in row.write(value, angular=angular).items():
            layer.apply(path, row.schema)
            layer.set(path, name, "float", raw)
