# SPDX-License-Identifier: Apache-2.0
"""Visuals and colliders of a link: two sibling scopes, two prims for what is seen and touched (REP-0158 1.3.1, 1.3.2).

Also what a link's ``visual_representation`` shows by default, and that nothing in it collides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused, drop_api, read_apis
from simwright.usd.relocation import claim_name, list_movable, map_path, move_prim

VISUAL, COLLISION = "visual", "collision"
_SCOPES = {"visual": VISUAL, "visuals": VISUAL, "collision": COLLISION, "collisions": COLLISION}
_GROUPS = frozenset({"", "Xform", "Scope"})
_TRANSFORM = "xformOp"


@fix("vis-sibling-scopes", phase=0)
def sort_shapes(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Shapes move, groups of one kind as a whole; what leads to them follows."""
    body = editor.find_prim(finding.where.prim)
    if find_role(body) is not None:
        raise Refused("the link itself is a shape; make it a child of the link")
    for unit, role in list(_list_units(body)):
        move_to_scope(editor, body, unit, role)


def find_role(prim: Usd.Prim, *, with_guides: bool = True) -> str | None:
    """What a prim is for: visual, collision, or nothing to be sorted; guides that do not collide are no visuals."""
    is_group = str(prim.GetTypeName()) in _GROUPS
    if prim.HasAPI(UsdPhysics.CollisionAPI) and not is_group:
        return COLLISION
    if prim.IsA(UsdGeom.Gprim) or prim.IsA(UsdGeom.PointInstancer):
        is_guide = UsdGeom.Imageable(prim).ComputePurpose() == UsdGeom.Tokens.guide
        return VISUAL if with_guides or not is_guide else None
    return None


def _list_units(prim: Usd.Prim, scope: str = "") -> Iterator[tuple[Usd.Prim, str]]:
    """Prims to be moved, each with its role; ``scope`` is the kind of scope that holds the children of ``prim``."""
    # one recursion: a child is left alone, moved as a whole, or opened, and which of them depends on all its
    # roles
    for child in prim.GetFilteredChildren(Usd.TraverseInstanceProxies()):
        if child.HasAPI(UsdPhysics.RigidBodyAPI):
            continue
        named = _name_role(child)
        # guides go with the visuals beside them, so that the order of shapes stays
        roles = _list_roles(child, with_guides=not named and not scope)
        if named and named != scope and roles <= {named}:
            continue
        if not roles or (roles == {scope} and not named):
            continue
        if len(roles) == 1 and not named and not _holds_body(child):
            yield child, next(iter(roles))
        else:
            _check_plain(child)
            yield from _list_units(child, named or scope)


def _name_role(prim: Usd.Prim) -> str:
    """The role that the name of a scope tells; a shape of that name is no scope."""
    return _SCOPES.get(prim.GetName().lower(), "") if str(prim.GetTypeName()) in _GROUPS else ""


def _list_roles(prim: Usd.Prim, *, with_guides: bool) -> set[str]:
    """Roles of a prim and all below, nested bodies aside."""
    found = set()
    walk = iter(Usd.PrimRange(prim, Usd.TraverseInstanceProxies()))
    for each in walk:
        if each.HasAPI(UsdPhysics.RigidBodyAPI):
            walk.PruneChildren()
            continue
        role = find_role(each, with_guides=with_guides)
        if role:
            found.add(role)
    return found


def _holds_body(prim: Usd.Prim) -> bool:
    return any(each.HasAPI(UsdPhysics.RigidBodyAPI) for each in Usd.PrimRange(prim))


def _check_plain(prim: Usd.Prim) -> None:
    """A group that is taken apart must not do anything to what is in it."""
    name = prim.GetName()
    if str(prim.GetTypeName()) not in _GROUPS or prim.IsInstance() or prim.IsInstanceProxy():
        raise Refused(f"{name} is seen and touched, or an instance of both; take it apart by hand")
    names = [p.GetName() for p in prim.GetAuthoredProperties() if not p.GetName().startswith(_TRANSFORM)]
    if names or prim.GetAppliedSchemas():
        raise Refused(
            f"{name} holds both kinds and says {(names or prim.GetAppliedSchemas())[0]} of all of them"
        )
    moves = UsdGeom.Xformable(prim)
    if moves and not np.allclose(np.array(moves.GetLocalTransformation()), np.eye(4), rtol=0.0, atol=1e-12):
        raise Refused(f"{name} holds both kinds and moves them; move the shapes themselves")


def move_to_scope(editor: Editor, body: Usd.Prim, unit: Usd.Prim, role: str) -> None:
    """Ask for a shape, or a group of shapes, to be in the scope of its role."""
    scope = _find_scope(body, role)
    is_scope = unit.GetTypeName() == "Scope" and unit.GetParent() == body
    if scope is None and is_scope and not _is_asked_for(editor, body, role):
        editor.memory.setdefault("scopes", set()).add((body.GetPath(), role))
        move_prim(editor, unit, body.GetPath().AppendChild(role))
        return
    parent = scope.GetPath() if scope else _choose_scope(body, role)
    if scope is None:
        _define_scope(editor, body, unit, parent, role)
    name = claim_name(editor, parent, unit.GetName())
    move_prim(editor, unit, parent.AppendChild(name))


def _find_scope(body: Usd.Prim, role: str) -> Usd.Prim | None:
    for child in body.GetChildren():
        if _name_role(child) == role and not child.IsInstance():
            return child
    return None


def _choose_scope(body: Usd.Prim, role: str) -> Sdf.Path:
    """Where a new scope goes; a shape may have its name."""
    taken = {child.GetName() for child in body.GetAllChildren()}
    return body.GetPath().AppendChild(next((name for name in (role, f"{role}s") if name not in taken), role))


def _is_asked_for(editor: Editor, body: Usd.Prim, role: str) -> bool:
    known: set[Any] = editor.memory.setdefault("scopes", set())
    return (body.GetPath(), role) in known


def _define_scope(editor: Editor, body: Usd.Prim, unit: Usd.Prim, path: Sdf.Path, role: str) -> None:
    """In the layer that defines the first shape of it."""
    if _is_asked_for(editor, body, role):
        return
    editor.memory["scopes"].add((body.GetPath(), role))
    specs = list_movable(editor, unit)
    spec = next((each for each in specs if each.specifier == Sdf.SpecifierDef), specs[0])
    place = map_path(spec.path, unit.GetPath(), path)
    editor.add(spec.layer, place, f"def Scope {path.name}", _bind_scope(spec.layer, place))


def _bind_scope(layer: Sdf.Layer, place: Sdf.Path) -> Callable[[], None]:
    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        spec.specifier, spec.typeName = Sdf.SpecifierDef, "Scope"

    return apply


_PHYSICAL = ("Physics", "Physx", "Mjc", "Newton", "Isaac", "ExtendedPhysics")
_LOOKS = frozenset({"MjcImageableAPI"})
_PHYSICAL_NAMES = (
    "physics:",
    "physx",
    "mjc:",
    "newton:",
    "isaac:",
    "ext_physics:",
    "material:binding:physics",
)


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
        editor.add(spec.layer, spec.path, f"{target.name} to be seen", _bind_visual_copy(spec, place))
    editor.set_value(prim, "purpose", Sdf.ValueTypeNames.Token, "guide", uniform=True)
    editor.expected.added.add(target.pathString)


def _bind_visual_copy(spec: Sdf.PrimSpec, place: Sdf.Path) -> Callable[[], None]:
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
    # with physics left on it the copy to be seen would collide as well
    for api in list(read_apis(spec).GetAddedOrExplicitItems()):
        if api.startswith(_PHYSICAL) and api not in _LOOKS:
            drop_api(spec, api)
    for prop in [prop for prop in spec.properties if prop.name.startswith(_PHYSICAL_NAMES)]:
        spec.RemoveProperty(prop)


_SET, _MEDIUM = "visual_representation", "mesh_medium"


@fix("vis-default-medium", changes=("visuals", "materials", "stage"))
def choose_medium(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The variant for real-time use; the only one there is becomes it."""
    prim = editor.find_prim(finding.where.prim)
    variants = prim.GetVariantSet(_SET)
    names = variants.GetVariantNames()
    if _MEDIUM not in names:
        chosen = variants.GetVariantSelection()
        meant = chosen if chosen in names else names[0] if len(names) == 1 else ""
        if not meant:
            raise Refused(
                f"which of {', '.join(names) or 'no variants'} is for real-time use has to be decided"
            )
        _rename_variant(editor, prim, meant)
    said = [spec for spec in prim.GetPrimStack() if _SET in spec.variantSelections]
    spec = said[0] if said and said[0].layer.identifier in editor.own else editor.choose_home(prim)
    if spec.variantSelections.get(_SET) != _MEDIUM:

        def apply() -> None:
            spec.variantSelections[_SET] = _MEDIUM

        editor.add(spec.layer, spec.path, f'{_SET} = "{_MEDIUM}"', apply)


def _rename_variant(editor: Editor, prim: Usd.Prim, old: str) -> None:
    """A variant gets another name in every layer that has it."""
    for spec in prim.GetPrimStack():
        if _SET not in spec.variantSets.keys() or old not in spec.variantSets[_SET].variants.keys():  # noqa: SIM118
            continue
        source = spec.path.AppendVariantSelection(_SET, old)
        target = spec.path.AppendVariantSelection(_SET, _MEDIUM)

        def apply(spec: Sdf.PrimSpec = spec, source: Sdf.Path = source, target: Sdf.Path = target) -> None:
            held = spec.variantSets[_SET]
            Sdf.VariantSpec(held, _MEDIUM)
            Sdf.CopySpec(spec.layer, source, spec.layer, target)
            held.RemoveVariant(held.variants[old])

        editor.add(spec.layer, source, f"{_MEDIUM} for {old}", apply)


@fix("vis-not-collision", changes=("collisions", "visuals", "materials"))
def take_out_collider(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """What the default variant collides with moves to the collision scope; in the others it is only seen."""
    layer = editor.find_layer(finding.where.file)
    path = Sdf.Path(finding.where.prim)
    spec = layer.GetPrimAtPath(path)
    holder = editor.find_prim(str(finding.data["holder"]))
    variant = str(finding.data["variant"])
    held = Sdf.Path(holder.GetPath()).AppendVariantSelection(_SET, variant)
    if spec is None or not path.HasPrefix(held):
        raise Refused(
            "the collider is in a file that the variant names; take it out there, or name another file"
        )
    if holder.GetVariantSet(_SET).GetVariantSelection() == variant:
        _copy_beside(editor, holder, spec)
    editor.add(layer, path, "no collider", lambda: strip_physics(layer.GetPrimAtPath(path)))


def _copy_beside(editor: Editor, holder: Usd.Prim, spec: Sdf.PrimSpec) -> None:
    """A guide in the scope beside the visuals, at the same place."""
    names = [part.name for part in spec.path.StripAllVariantSelections().GetPrefixes()]
    depth = len(holder.GetPath().GetPrefixes())
    moves = UsdGeom.Xformable(holder)
    if len(names) != depth + 1 or (moves and moves.GetOrderedXformOps()):
        raise Refused("the collider moves with groups of the visuals; put it below the link itself")
    parent = holder.GetPath().GetParentPath()
    scope = parent.AppendChild("collision")
    name = claim_name(editor, scope, names[-1])
    source, target, layer = spec.path, scope.AppendChild(name), spec.layer

    def apply() -> None:
        owner = Sdf.CreatePrimInLayer(layer, scope)
        if not owner.typeName and owner.specifier == Sdf.SpecifierOver:
            owner.specifier, owner.typeName = Sdf.SpecifierDef, "Scope"
        Sdf.CopySpec(layer, source, layer, target)
        guide = layer.GetPrimAtPath(target)
        known = guide.properties.get("purpose")
        purpose = known or Sdf.AttributeSpec(
            guide, "purpose", Sdf.ValueTypeNames.Token, Sdf.VariabilityUniform
        )
        purpose.default = "guide"

    editor.add(layer, target, f"the collider {target}", apply)
    editor.expected.added.add(target.pathString)
