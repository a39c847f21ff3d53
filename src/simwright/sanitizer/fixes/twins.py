# SPDX-License-Identifier: Apache-2.0
"""A shape that is seen and touched as two prims: the visual beside the collider, which becomes a guide (1.3.1)."""

from __future__ import annotations

from collections.abc import Callable

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.usd.edit import Editor, Refused, drop_api, read_apis
from simwright.usd.relocation import claim_name, list_movable

_PHYSICAL = ("Physics", "Physx", "Mjc", "Newton", "Isaac", "ExtendedPhysics")
_LOOKS = frozenset({"MjcImageableAPI"})
_NAMES = ("physics:", "physx", "mjc:", "newton:", "isaac:", "ext_physics:", "material:binding:physics")


def is_drawn(prim: Usd.Prim) -> bool:
    """Is a prim for the eye, too?"""
    return bool(UsdGeom.Imageable(prim).ComputePurpose() in ("default", "render"))


def split_roles(editor: Editor, prim: Usd.Prim) -> None:
    """A copy without physics to be seen; what is touched becomes a guide."""
    if prim.IsInstanceProxy():
        raise Refused("it is inside an instance that is drawn; give the body visual geometry")
    if prim.HasAPI(UsdPhysics.RigidBodyAPI):
        raise Refused("the body itself is the shape; make the shape a child of the body first")
    parent = prim.GetParent().GetPath()
    target = parent.AppendChild(claim_name(editor, parent, f"{prim.GetName()}_visual"))
    for spec in list_movable(editor, prim):
        place = spec.path.GetParentPath().AppendChild(target.name)
        editor.add(spec.layer, spec.path, f"{target.name} to be seen", _bind_copy(spec, place))
    editor.set_value(prim, "purpose", Sdf.ValueTypeNames.Token, "guide", uniform=True)
    editor.shifts.come.add(target.pathString)


def _bind_copy(spec: Sdf.PrimSpec, place: Sdf.Path) -> Callable[[], None]:
    layer, old = spec.layer, spec.path

    def apply() -> None:
        if not Sdf.CopySpec(layer, old, layer, place):
            return
        copy = layer.GetPrimAtPath(place)
        strip_physics(copy)
        for child in [c.name for c in copy.nameChildren if c.typeName != "GeomSubset"]:
            del copy.nameChildren[child]
        if "purpose" in copy.properties:
            copy.RemoveProperty(copy.properties["purpose"])

    return apply


def strip_physics(spec: Sdf.PrimSpec) -> None:
    """Leave of a shape what is to be seen."""
    for api in list(read_apis(spec).GetAddedOrExplicitItems()):
        if api.startswith(_PHYSICAL) and api not in _LOOKS:
            drop_api(spec, api)
    for prop in [prop for prop in spec.properties if prop.name.startswith(_NAMES)]:
        spec.RemoveProperty(prop)
