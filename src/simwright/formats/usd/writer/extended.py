# SPDX-License-Identifier: Apache-2.0
"""``extended_physics.usda``: what every engine knows and UsdPhysics has no word for (REP-0158 4.2.2).

The rows of ``resolve.usdphysics`` say which attribute holds which value, so reader and writer share one table.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.messages import JOINT_REDUCED, SETTING_LOST
from simwright.formats.usd.writer.motors import write_motors
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Shape
from simwright.model.joint import Dof, Joint, Mimic, Motion
from simwright.model.material import PhysicsMaterial
from simwright.resolve.table import PrimType
from simwright.resolve.usdphysics import ROWS

_DOF_FIELDS = {"limit_ke": "limit_stiffness", "limit_kd": "limit_damping"}
_MATERIAL_FIELDS = {
    "mu_torsional": "torsional_friction",
    "mu_rolling": "rolling_friction",
    "ke": "stiffness",
    "kd": "damping",
}


def write_extended(layout: Layout, reporter: Reporter) -> Sheet:
    """Joints, mimics, actuators, contact distances and further friction."""
    sheet = Sheet(layout.root, f"Joint dynamics, couplings and motors of {layout.asset.name}.")
    for joint in list_written(layout):
        _write_joint(sheet, layout.joints[joint.name], joint, reporter)
    _write_mimics(layout, sheet, reporter)
    for shape in layout.asset.shapes:
        if shape.name in layout.colliders:
            _write_rows(sheet, layout.colliders[shape.name], PrimType.SHAPE, _read_shape(shape))
    for material in layout.asset.physics_materials:
        _write_rows(sheet, layout.contacts[material.name], PrimType.MATERIAL, _read_material(material))
    write_motors(layout, sheet, reporter)
    return sheet


def _read_shape(shape: Shape) -> dict[str, Any]:
    return {"margin": shape.margin, "gap": shape.gap}


def _read_material(material: PhysicsMaterial) -> dict[str, Any]:
    values = {key: getattr(material, field) for key, field in _MATERIAL_FIELDS.items()}
    return {**values, "ka": material.settings.get("ka")}


def _write_joint(sheet: Sheet, path: str, joint: Joint, reporter: Reporter) -> None:
    """A joint prim says one value for all its freedoms."""
    found = [(dof.motion is not Motion.SLIDE, _read_dof(dof)) for dof in joint.dofs]
    if not found:
        return
    angular, values = found[0]
    differing = [
        key for key, value in values.items() if any((a, v[key]) != (angular, value) for a, v in found)
    ]
    lost = [key for key in differing if any(v[key] for _, v in found)]
    if lost:
        what = f"what differs between the freedoms ({', '.join(lost)})"
        reporter.report(JOINT_REDUCED, joint.source, what=what, name=joint.name)
    values = {key: value for key, value in values.items() if key not in differing}
    _write_rows(sheet, path, PrimType.JOINT, values, angular=angular)


def _read_dof(dof: Dof) -> dict[str, Any]:
    values = {
        row.key: getattr(dof, _DOF_FIELDS.get(row.key, row.key)) for row in ROWS if row.prim is PrimType.JOINT
    }
    if not values["stiffness"]:
        values["spring_ref"] = None
    return values


def _write_rows(
    sheet: Sheet, path: str, prim: PrimType, values: dict[str, Any], *, angular: bool = False
) -> None:
    for row in ROWS:
        value = values.get(row.key) if row.prim is prim else None
        if value is None or value == row.default:
            continue
        for name, raw in row.write(value, angular=angular).items():
            sheet.apply(path, row.schema)
            sheet.set(path, name, "float", raw)


def _write_mimics(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    holders = {dof.name: joint for joint in layout.asset.joints for dof in joint.dofs}
    for mimic in layout.asset.mimics:
        follower, leader = holders.get(mimic.follower), holders.get(mimic.leader)
        if follower is None or leader is None or len(follower.dofs) != 1 or len(leader.dofs) != 1:
            reporter.report(JOINT_REDUCED, mimic.source, what="the mimic rule", name=mimic.follower)
            continue
        if mimic.polynomial:
            reporter.report(
                SETTING_LOST, mimic.source, what="the polynomial of the mimic", count=1, first=mimic.follower
            )
        _write_mimic(layout, sheet, mimic, follower, leader)


def _write_mimic(layout: Layout, sheet: Sheet, mimic: Mimic, follower: Joint, leader: Joint) -> None:
    """The rule between displacements from where the joint frames meet."""
    path, (own,), (other,) = layout.joints[follower.name], follower.dofs, leader.dofs
    offset = mimic.offset - own.ref + mimic.multiplier * other.ref
    sheet.apply(path, "ExtendedPhysicsMimicAPI")
    sheet.relate(path, "ext_physics:mimic:joint", [layout.joints[leader.name]])
    sheet.set(path, "ext_physics:mimic:multiplier", "float", mimic.multiplier * _step(other) / _step(own))
    if offset:
        sheet.set(path, "ext_physics:mimic:offset", "float", offset / _step(own))
    if not mimic.enabled:
        sheet.set(path, "ext_physics:mimic:enabled", "bool", False)


def _step(dof: Dof) -> float:
    return DEGREE if dof.motion is Motion.HINGE else 1.0
