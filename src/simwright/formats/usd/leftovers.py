# SPDX-License-Identifier: Apache-2.0
"""What the model has no word for: solver and custom attributes, and prim types nobody knows."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd

from simwright.core.diag import Level, declare
from simwright.formats.usd.extended import TRANSLATED
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source

TYPE_UNKNOWN = declare(
    "usd-type-unknown",
    Level.INFO,
    "{count} prim(s) of type {type} are of no schema known here, the first at {first}",
    hint="register the schema plugin, or express them with UsdPhysics and UsdGeom",
    doc="A prim type without a registered schema: another tool's joints, graphs or sensors.",
)

_SPACES = (
    (re.compile(r"(?:physx\w*|state):"), "physx"),
    (re.compile(r"newton:"), "newton"),
    (re.compile(r"mjc:"), "mjc"),
    (re.compile(r"mujoco:"), "mujoco"),
    (re.compile(r"ext_physics:"), "ext_physics"),
    (re.compile(r"isaac\w*:"), "isaac"),
    (re.compile(r"omni\w*:"), "omni"),
    (re.compile(r"o3de\w*:"), "o3de"),
)
_ORDINARY = frozenset(
    {
        "primvars", "xformOp", "physics", "material", "inputs", "outputs", "info", "ui", "ros",
        "drive", "limit", "collection", "model", "skel", "proxyPrim", "light",
    }
)  # fmt: skip
_MAX_VALUES = 100_000


def keep_leftovers(source: Source, scan: Scan) -> None:
    """Keep untranslated attributes with their place, and report prim types nobody knows."""
    unknown: dict[str, list[Found]] = {}
    for found in scan.all.values():
        if found.type and _is_unknown(found.prim):
            unknown.setdefault(found.type, []).append(found)
        for name in found.prim.GetAuthoredPropertyNames():
            space = _find_space(found.prim, name)
            if space and name not in TRANSLATED:
                value = _read_property(source, found.prim, name)
                source.asset.extras.keep(space, found.path, name, value, source.where(found.prim, name))
    for kind, prims in unknown.items():
        where = source.where(prims[0].prim)
        source.reporter.report(TYPE_UNKNOWN, where, type=kind, count=len(prims), first=prims[0].path)


def _is_unknown(prim: Usd.Prim) -> bool:
    return bool(prim.GetPrimTypeInfo().GetSchemaType().isUnknown)


def _find_space(prim: Usd.Prim, name: str) -> str:
    """The solver of an attribute; the first word of other custom properties; empty for ordinary ones."""
    for pattern, space in _SPACES:
        if pattern.match(name):
            return space
    first = name.partition(":")[0]
    if first in _ORDINARY or not prim.GetProperty(name).IsCustom():
        return ""
    return first if ":" in name else "custom"


def _read_property(source: Source, prim: Usd.Prim, name: str) -> Any:
    if prim.HasRelationship(name):
        return source.get_targets(prim, name)
    return make_plain(prim.GetAttribute(name).Get(source.time))


def make_plain(value: Any) -> Any:
    """A USD value as Python numbers, texts, tuples and lists; quaternions come as w, x, y, z."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (Gf.Quatf, Gf.Quatd, Gf.Quath)):
        return (float(value.GetReal()), *(float(v) for v in value.GetImaginary()))
    if isinstance(value, Sdf.AssetPath):
        return str(value.path)
    if isinstance(value, dict):
        return {str(key): make_plain(entry) for key, entry in value.items()}
    if isinstance(value, (Gf.Matrix2d, Gf.Matrix3d, Gf.Matrix4d)):
        return tuple(tuple(row) for row in np.array(value).tolist())
    if hasattr(type(value), "dimension"):
        return tuple(value)
    if hasattr(value, "__len__") and hasattr(value, "__iter__"):
        return [make_plain(entry) for entry, _ in zip(value, range(_MAX_VALUES), strict=False)]
    return str(value)
