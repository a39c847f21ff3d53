# SPDX-License-Identifier: Apache-2.0
"""Putting a prim somewhere: its local transform as translate and orient, whatever was said before."""

from __future__ import annotations

from typing import Any

from pxr import Gf, Sdf

from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, ORIENT, TRANSLATE, convert_matrix, split_matrix

_PREFIX = "xformOp:"


def place_prim(editor: Editor, layer: Sdf.Layer, path: Sdf.Path, matrix: Gf.Matrix4d) -> None:
    """Ask for the transform of a spec, which another edit may have to make first."""
    found = split_matrix(convert_matrix(matrix))
    if not found.is_rigid:
        raise Refused("there is a scale between the two, which a frame cannot have")
    w, x, y, z = (float(value) for value in found.pose.q)
    place = Gf.Vec3d(*(float(value) for value in found.pose.p))
    turn = Gf.Quatd(w, x, y, z)

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        for prop in [prop for prop in spec.properties if prop.name == ORDER or prop.name.startswith(_PREFIX)]:
            spec.RemoveProperty(prop)
        _write(spec, TRANSLATE, Sdf.ValueTypeNames.Double3, place)
        _write(spec, ORIENT, Sdf.ValueTypeNames.Quatd, turn)
        order = Sdf.AttributeSpec(spec, ORDER, Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = [TRANSLATE, ORIENT]

    editor.add(layer, path, f"translate {place}, orient {turn}", apply)


def _write(spec: Sdf.PrimSpec, name: str, kind: Sdf.ValueTypeName, value: Any) -> None:
    Sdf.AttributeSpec(spec, name, kind).default = value
