# SPDX-License-Identifier: Apache-2.0
"""Custom attributes of Newton in ``newton.usda``: declared at the root, given values on the prims (REP-0158 1.4).

Newton declares them on the physics scene; an asset has none, so the declaration is at its root, with the same custom
data.
"""

from __future__ import annotations

from typing import Any

from pxr import Gf, Sdf

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.extras import CustomAttribute

_TYPES = {
    "bool": "bool", "int": "int", "int64": "int64", "float": "double", "string": "string", "vec2": "double2",
    "vec3": "double3", "vec4": "double4", "ivec2": "int2", "ivec3": "int3", "ivec4": "int4", "quat": "quatd",
    "mat2": "matrix2d", "mat3": "matrix3d", "mat4": "matrix4d",
}  # fmt: skip


def write_custom(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Declarations and values; an element without a prim is reported."""
    lost = []
    for custom in layout.asset.custom_attributes:
        name = ":".join(part for part in ("newton", custom.namespace, custom.name) if part)
        _write(sheet, layout.root, name, custom.type, custom.default)
        words = {"assignment": custom.assignment, "frequency": custom.frequency}
        sheet.over(layout.root).attributes[name].SetInfo("customData", words)
        places = _find_places(layout, custom)
        for element, value in custom.values.items():
            path = places.get(element)
            if path and path != layout.root:
                _write_value(sheet, path, name, custom, value)
            else:
                lost.append(custom)
    if lost:
        first = lost[0]
        reporter.report(
            NOT_CARRIED, first.source, count=len(lost), what="custom attributes", first=first.name
        )


def _find_places(layout: Layout, custom: CustomAttribute) -> dict[str, str]:
    match custom.frequency:
        case "body":
            return layout.bodies
        case "shape":
            return {**layout.visuals, **layout.colliders}
        case "articulation":
            return {a.name: layout.bodies.get(a.root, "") for a in layout.asset.articulations}
    free = {joint.name: layout.bodies.get(joint.child, "") for joint in layout.asset.joints}
    return {**free, **layout.joints}


def _write_value(sheet: Sheet, path: str, name: str, custom: CustomAttribute, value: Any) -> None:
    """One value, or a list with one per coordinate; a list of equal ones is said once."""
    is_listed = custom.frequency in ("joint_dof", "joint_coord") and isinstance(value, list)
    if not is_listed:
        _write(sheet, path, name, custom.type, value)
    elif all(item == value[0] for item in value):
        _write(sheet, path, name, custom.type, value[0])
    else:
        _write(sheet, path, name, f"{custom.type}[]", value)


def _write(sheet: Sheet, path: str, name: str, type_: str, value: Any) -> None:
    kind = _TYPES[type_.removesuffix("[]")]
    if type_.endswith("[]"):
        array = f"{kind}[]"
        items = [_make(kind, item) for item in value]
        sheet.set(path, name, array, Sdf.ValueTypeNames.Find(array).type.pythonClass(items), custom=True)
    else:
        sheet.set(path, name, kind, _make(kind, value), custom=True)


def _make(kind: str, value: Any) -> Any:
    """A value as OpenUSD wants it; quaternions are w, x, y, z, matrices rows."""
    if kind in ("bool", "int", "int64", "double", "string"):
        return value
    if kind == "quatd":
        return Gf.Quatd(value[0], Gf.Vec3d(*value[1:]))
    numbers = [v for row in value for v in row] if kind.startswith("matrix") else value
    return Sdf.ValueTypeNames.Find(kind).type.pythonClass(*numbers)
