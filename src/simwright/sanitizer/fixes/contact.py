# SPDX-License-Identifier: Apache-2.0
"""Friction and bounce of colliders (REP-0158 1.3.4).

Values are taken from the user (``static-friction``, ``dynamic-friction``, ``restitution``), then from what is said
already, then from the fallback.  Where one friction is said, it is the other one too: most engines have but one.
"""

from __future__ import annotations

import math

from pxr import Sdf, Usd, UsdPhysics, UsdShade

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused, edit_apis, read_apis
from simwright.usd.relocation import list_sites, map_target

_KINDS = Sdf.ValueTypeNames
_STATIC, _DYNAMIC, _BOUNCE = "physics:staticFriction", "physics:dynamicFriction", "physics:restitution"
_VALUE_NAMES = {_STATIC: "static-friction", _DYNAMIC: "dynamic-friction", _BOUNCE: "restitution"}
_ASKED = tuple(_VALUE_NAMES.values())
_USUAL = {_STATIC: 0.5, _DYNAMIC: 0.5, _BOUNCE: 0.0}
"""Of a material that is made because there is none: about what engines take for a collider that has none."""
_BINDING = "material:binding:physics"
_COLLIDER = "PhysicsCollisionAPI"
_SCOPE, _NAME = "physics_materials", "default_contact"
_SCOPES = frozenset({"collision", "collisions"})


@fix("contact-attrs", values=_ASKED, changes=("materials", "contacts"))
def complete_material(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """Values that nobody says, and those that cannot be."""
    prim = editor.find_prim(finding.where.prim)
    if finding.where.prop == _DYNAMIC and "value" not in finding.data:
        editor.set_value(prim, _STATIC, _KINDS.Float, _read_number(prim, _DYNAMIC))
        return
    for name in finding.data.get("missing", (finding.where.prop,)):
        editor.set_value(prim, name, _KINDS.Float, _choose_value(prim, name, given))


def _choose_value(prim: Usd.Prim, name: str, given: UserValues) -> float:
    said = _read_number(prim, name)
    if given.find(_VALUE_NAMES[name]):
        return read_given(given, name)
    # a value that is said and yet found is out of range: the nearest possible one
    if said is not None:
        return 1.0 if name == _BOUNCE and said > 1.0 else 0.0
    other = {_STATIC: _DYNAMIC, _DYNAMIC: _STATIC}.get(name, "")
    found = _read_number(prim, other) if other else None
    return max(found, 0.0) if found is not None else 0.0


def _read_number(prim: Usd.Prim, name: str) -> float | None:
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    if not isinstance(value, float | int):
        return None
    if not math.isfinite(value):
        raise Refused(f"{name} is {value}; only its author knows what was meant")
    return float(value)


def read_given(given: UserValues, name: str) -> float:
    """A number that the user gives, or the usual one."""
    text = given.find(_VALUE_NAMES[name])
    if not text:
        return _USUAL[name]
    try:
        value = float(text)
    except ValueError:
        raise Refused(f"{_VALUE_NAMES[name]}={text} is not a number") from None
    if not 0.0 <= value <= (1.0 if name == _BOUNCE else math.inf):
        raise Refused(f"{_VALUE_NAMES[name]}={text} is not possible")
    return value


@fix("contact-material-bound", values=_ASKED, changes=("materials", "contacts"))
def bind_default(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """A binding that leads nowhere is let go where another one takes its place; else there is a usual material."""
    prim = editor.find_prim(finding.where.prim)
    if not prim.HasAPI(UsdPhysics.CollisionAPI):
        return  # another fix has put the collider below it, where it is found next time
    target = str(finding.data.get("target", ""))
    if target and (material := editor.stage.GetPrimAtPath(target)) and material.IsA(UsdShade.Material):
        _make_physical(editor, material, given)
        return
    if finding.where.prop == _BINDING and _finds_another(prim):
        editor.remove_property(prim, _BINDING)
        return
    material_path = _name_usual(editor)
    # the first holder that a layer of the asset can bind; instances share what is inside, so those are bound
    # outside
    for holder in _list_holders(prim, is_replacing=bool(target)):
        if _bind_holder(editor, given, holder, prim, material_path):
            for twin in _list_twins(holder, prim):
                _bind_holder(editor, given, twin, prim, material_path)
            return
    raise Refused("the collider belongs to another asset, which has to be fixed itself")


def _bind_holder(
    editor: Editor, given: UserValues, holder: Usd.Prim, prim: Usd.Prim, material_path: Sdf.Path
) -> bool:
    """Ask for a binding in the first layer that can have it; False if none can."""
    for layer, path, named in _list_places(editor, holder, prim, material_path):
        _make_usual(editor, given, material_path, (layer, named))
        _bind(editor, holder, (layer, path), named)
        return True
    return False


def _list_twins(holder: Usd.Prim, prim: Usd.Prim) -> list[Usd.Prim]:
    """Other instances of the same prototype in which the same collider has no material: they are found as one."""
    if not holder.IsInstance():
        return []
    inside = prim.GetPath().MakeRelativePath(holder.GetPath())
    found = []
    for twin in holder.GetPrototype().GetInstances():
        other = twin.GetStage().GetPrimAtPath(twin.GetPath().AppendPath(inside))
        if twin != holder and not twin.IsInPrototype() and other and _lacks(other):
            found.append(twin)
    return found


def _lacks(prim: Usd.Prim) -> bool:
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    return not material or not material.GetPrim().HasAPI(UsdPhysics.MaterialAPI)


def _list_places(
    editor: Editor, holder: Usd.Prim, prim: Usd.Prim, target: Sdf.Path
) -> list[tuple[Sdf.Layer, Sdf.Path, Sdf.Path]]:
    """Layers that can bind a holder, with its path and the target's there: first those that say what collides."""
    said_of = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
    said = {s.layer for s in said_of.GetPrimStack() if _COLLIDER in read_apis(s).GetAddedOrExplicitItems()}
    found = []
    for node, layer in list_sites(holder):
        known = node.hasSpecs and (layer in said or layer.GetPrimAtPath(node.path) is not None)
        if known and layer.identifier in editor.own and (named := map_target(node, target)):
            found.append((layer, node.path, named))
    # sorted is stable: among equals the strongest layer comes first
    return sorted(found, key=lambda place: place[0] not in said)


def _make_physical(editor: Editor, material: Usd.Prim, given: UserValues) -> None:
    editor.add_api(material, "PhysicsMaterialAPI")
    for name in _USUAL:
        if _read_number(material, name) is None:
            editor.set_value(material, name, _KINDS.Float, read_given(given, name))


def _finds_another(prim: Usd.Prim) -> bool:
    """Is a prim above bound to a physics material?"""
    above = prim.GetParent()
    while above and not above.IsPseudoRoot():
        relation = above.GetRelationship(_BINDING)
        if relation and relation.HasAuthoredTargets():
            found = [above.GetStage().GetPrimAtPath(path) for path in relation.GetTargets()]
            return bool(found and found[0]) and found[0].HasAPI(UsdPhysics.MaterialAPI)
        above = above.GetParent()
    return False


def _name_usual(editor: Editor) -> Sdf.Path:
    """Path of the material for colliders that have none."""
    root = editor.stage.GetDefaultPrim()
    # nothing can be added below an instance
    top = Sdf.Path.absoluteRootPath if not root or root.IsInstance() else root.GetPath()
    return top.AppendChild(_SCOPE).AppendChild(_NAME)


def _make_usual(editor: Editor, given: UserValues, path: Sdf.Path, home: tuple[Sdf.Layer, Sdf.Path]) -> None:
    """In the layer that speaks of colliders, unless it is there."""
    known = editor.stage.GetPrimAtPath(path)
    if (known and known.HasAPI(UsdPhysics.MaterialAPI)) or path in editor.memory.setdefault(_NAME, set()):
        return
    layer, place = home
    values = {name: read_given(given, name) for name in _USUAL}
    editor.memory[_NAME].add(path)
    editor.add(layer, place, f"def Material {_NAME}", lambda: _define_usual(layer, place, values))
    editor.expected.added.add(path.GetParentPath().pathString)


def _define_usual(layer: Sdf.Layer, place: Sdf.Path, values: dict[str, float]) -> None:
    material = Sdf.CreatePrimInLayer(layer, place)
    for spec, kind in ((material.nameParent, "Scope"), (material, "Material")):
        spec.specifier, spec.typeName = Sdf.SpecifierDef, kind
    edit_apis(material, "PhysicsMaterialAPI", wanted=True)
    for name, value in values.items():
        Sdf.AttributeSpec(material, name, _KINDS.Float).default = value


def _list_holders(prim: Usd.Prim, *, is_replacing: bool) -> list[Usd.Prim]:
    """Where the binding may be: at the collision scope if all in it are without, at the collider, at its instance."""
    holders = [prim]
    above = prim.GetParent()
    while above and not above.IsPseudoRoot() and not above.HasAPI(UsdPhysics.RigidBodyAPI):
        if (
            above.GetName().lower() in _SCOPES
            and not is_replacing
            and not above.IsInstanceProxy()
            and _is_bare(above)
        ):
            holders.insert(0, above)
        elif above.IsInstance() and not above.IsInstanceProxy():
            holders.append(above)
        above = above.GetParent()
    return holders


def _is_bare(scope: Usd.Prim) -> bool:
    """Has no collider of a scope a physics material?"""
    for prim in Usd.PrimRange(scope, Usd.TraverseInstanceProxies()):
        if prim.HasAPI(UsdPhysics.CollisionAPI) and not _lacks(prim):
            return False
    return True


def _bind(editor: Editor, holder: Usd.Prim, home: tuple[Sdf.Layer, Sdf.Path], target: Sdf.Path) -> None:
    layer, path = home
    is_applied = "MaterialBindingAPI" in holder.GetAppliedSchemas()

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        if not is_applied:
            edit_apis(spec, "MaterialBindingAPI", wanted=True)
        relation = spec.relationships.get(_BINDING) or Sdf.RelationshipSpec(spec, _BINDING, custom=False)
        relation.targetPathList.ClearEditsAndMakeExplicit()
        relation.targetPathList.explicitItems = [target]

    editor.add(layer, path.AppendProperty(_BINDING), f"rel {_BINDING} = <{target}>", apply)
