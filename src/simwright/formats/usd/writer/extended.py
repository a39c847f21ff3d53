# SPDX-License-Identifier: Apache-2.0
"""``extended_physics.usda``: what every engine knows and UsdPhysics has no word for (REP-0158 4.2.2).

The rows of ``resolve.usdphysics`` say which attribute holds which value, so reader and writer share one table.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOTED
from simwright.formats.usd.writer.mimics import write_mimics
from simwright.formats.usd.writer.motors import write_motors
from simwright.formats.usd.writer.motors_idle import write_idle_motors
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Shape
from simwright.model.joint import Dof, Joint, JointKind, Motion
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
    sheet = Sheet(
        layout.root, f"Joint dynamics, couplings and motors of {layout.asset.name}.", exact=layout.exact
    )
    for joint in layout.asset.joints:
        if joint.name in layout.joints:
            _write_joint(layout, sheet, joint, reporter)
        elif joint.kind is JointKind.FLOATING and joint.dofs and joint.child in layout.bodies:
            _note_free(layout, sheet, joint, reporter)
    write_mimics(layout, sheet, reporter)
    for shape in layout.asset.shapes:
        if shape.name in layout.colliders:
            _write_rows(sheet, layout.colliders[shape.name], PrimType.SHAPE, _read_shape(shape))
    for material in layout.asset.physics_materials:
        _write_rows(sheet, layout.contacts[material.name], PrimType.MATERIAL, _read_material(material))
    write_motors(layout, sheet)
    write_idle_motors(layout, sheet, reporter)
    return sheet


def _read_shape(shape: Shape) -> dict[str, Any]:
    return {"margin": shape.margin, "gap": shape.gap}


def _read_material(material: PhysicsMaterial) -> dict[str, Any]:
    values = {key: getattr(material, field) for key, field in _MATERIAL_FIELDS.items()}
    return {**values, "ka": material.settings.get("ka")}


def _write_joint(layout: Layout, sheet: Sheet, joint: Joint, reporter: Reporter) -> None:
    """A joint prim says one value for all its freedoms; what differs between them is noted."""
    places: dict[str, list[Dof]] = {}
    for dof in joint.dofs:
        places.setdefault(layout.freedoms[dof.name][0], []).append(dof)
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
            sheet.note(path, **{f"dof_{key}": [_number(v[key]) for _, v in found] for key in noted})
        values = {key: value for key, value in values.items() if key not in differing}
        _write_rows(sheet, path, PrimType.JOINT, values, angular=angular)


def _number(value: Any) -> float:
    """A value of a note; not a number stands for "not said"."""
    return math.nan if value is None else float(value)


def _note_free(layout: Layout, sheet: Sheet, joint: Joint, reporter: Reporter) -> None:
    """Passive dynamics of a body that nothing holds, which MuJoCo has."""
    dof = joint.dofs[0]
    values = {key: getattr(dof, key) for key in ("armature", "friction", "damping", "stiffness")}
    said = {f"free_{key}": float(value) for key, value in values.items() if value}
    if said:
        sheet.note(layout.bodies[joint.child], **said)
        reporter.report(NOTED, joint.source, what="the passive dynamics", name=joint.name)


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
