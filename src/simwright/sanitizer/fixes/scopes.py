# SPDX-License-Identifier: Apache-2.0
"""Visuals and colliders of a link in two sibling scopes (REP-0158 1.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name, list_movable, map_path, move_prim

VISUAL, COLLISION = "visual", "collision"
_SCOPES = {"visual": VISUAL, "visuals": VISUAL, "collision": COLLISION, "collisions": COLLISION}
_GROUPS = frozenset({"", "Xform", "Scope"})
_TRANSFORM = "xformOp"


@fix("vis-sibling-scopes", phase=0)
def sort_shapes(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
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
    for child in prim.GetFilteredChildren(Usd.TraverseInstanceProxies()):
        if child.HasAPI(UsdPhysics.RigidBodyAPI):
            continue
        named = _SCOPES.get(child.GetName().lower(), "")
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
    parent = scope.GetPath() if scope else body.GetPath().AppendChild(role)
    if scope is None:
        _define_scope(editor, body, unit, parent)
    name = claim_name(editor, parent, unit.GetName())
    move_prim(editor, unit, parent.AppendChild(name))


def _find_scope(body: Usd.Prim, role: str) -> Usd.Prim | None:
    for child in body.GetChildren():
        if _SCOPES.get(child.GetName().lower()) == role and not child.IsInstance():
            return child
    return None


def _is_asked_for(editor: Editor, body: Usd.Prim, role: str) -> bool:
    known: set[Any] = editor.memory.setdefault("scopes", set())
    return (body.GetPath(), role) in known


def _define_scope(editor: Editor, body: Usd.Prim, unit: Usd.Prim, path: Sdf.Path) -> None:
    """In the layer that defines the first shape of it."""
    if _is_asked_for(editor, body, path.name):
        return
    editor.memory["scopes"].add((body.GetPath(), path.name))
    specs = list_movable(editor, unit)
    spec = next((each for each in specs if each.specifier == Sdf.SpecifierDef), specs[0])
    place = map_path(spec.path, unit.GetPath(), path)
    editor.add(spec.layer, place, f"def Scope {path.name}", _bind_scope(spec.layer, place))


def _bind_scope(layer: Sdf.Layer, place: Sdf.Path) -> Callable[[], None]:
    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        spec.specifier, spec.typeName = Sdf.SpecifierDef, "Scope"

    return apply
