# SPDX-License-Identifier: Apache-2.0
"""Lights that every simulator computes, with inputs that OpenUSD reads (REP-0158 3.6).

A sphere or spot light stands in for an area: it sends out the same power in the direction that the area faces.
"""

from __future__ import annotations

import math
from typing import Any

from pxr import Sdf, Usd, UsdLux

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames
_SIZES = {
    "RectLight": ("inputs:width", "inputs:height", "inputs:texture:file"),
    "DiskLight": ("inputs:radius",),
    "CylinderLight": ("inputs:radius", "inputs:length", "treatAsLine"),
}
_CONE = 90.0
"""Half the angle of the cone that stands in for a flat area, which shines to one side [deg]."""


@fix("light-no-area", changes=("lights",))
def make_punctual(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A sphere of the same surface; one that shines to one side only where the area is flat."""
    prim = editor.find_prim(finding.where.prim)
    kind = str(prim.GetTypeName())
    if kind not in _SIZES:
        raise Refused("how bright a punctual light in its place should be has to be decided")
    if kind == "RectLight" and prim.GetAttribute("inputs:texture:file").HasAuthoredValue():
        raise Refused("the light shows a picture, which a punctual light cannot")
    names = [*_SIZES[kind], "inputs:normalize"]
    if any(prim.GetAttribute(name) and prim.GetAttribute(name).GetNumTimeSamples() for name in names):
        raise Refused("its size changes over time")
    radius = _find_radius(prim, kind)
    for spec in editor.list_prim_specs(prim):
        if spec.typeName == kind:
            _retype(editor, spec)
    for name in _SIZES[kind]:
        if prim.GetAttribute(name).HasAuthoredValue():
            editor.remove_property(prim, name)
    home = editor.choose_home(prim)
    editor.set_spec_value(home, "inputs:radius", _KINDS.Float, radius)
    if kind != "CylinderLight":
        editor.add_api(prim, "ShapingAPI")
        editor.set_spec_value(home, "inputs:shaping:cone:angle", _KINDS.Float, _CONE)


def _find_radius(prim: Usd.Prim, kind: str) -> float:
    """Of a sphere that shows the same area: from one side for a flat light, all around for a cylinder [stage units]."""
    if kind == "RectLight":
        light = UsdLux.RectLight(prim)
        # the disk of the same area: a sphere shows a disk of its radius to whoever looks at it
        return math.sqrt(light.GetWidthAttr().Get() * light.GetHeightAttr().Get() / math.pi)
    if kind == "DiskLight":
        return float(UsdLux.DiskLight(prim).GetRadiusAttr().Get())
    light = UsdLux.CylinderLight(prim)
    # 2 pi r l of the mantle = 4 pi R2 of the sphere
    return math.sqrt(light.GetRadiusAttr().Get() * light.GetLengthAttr().Get() / 2.0)


def _retype(editor: Editor, spec: Sdf.PrimSpec) -> None:
    def apply() -> None:
        spec.typeName = "SphereLight"

    editor.add(spec.layer, spec.path, "SphereLight", apply)


@fix("light-usdlux", changes=("lights",))
def name_input(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A value under the name that it had before OpenUSD 21.02."""
    prim, name = editor.find_prim(finding.where.prim), finding.where.prop
    if not name or "is called inputs:" not in finding.message:
        raise Refused("how bright it is, in words of UsdLux, has to be decided")
    for spec in editor.list_specs(prim, name):
        new = f"inputs:{name}"
        editor.add(spec.layer, spec.path, f"{new} for {name}", _bind_rename(spec, new))


def _bind_rename(spec: Any, new: str) -> Any:
    layer, path = spec.layer, spec.path

    def apply() -> None:
        owner = layer.GetPrimAtPath(path.GetPrimPath())
        Sdf.CopySpec(layer, path, layer, owner.path.AppendProperty(new))
        owner.RemoveProperty(owner.properties[path.name])
        owner.properties[new].custom = False

    return apply
