# SPDX-License-Identifier: Apache-2.0
"""Scale stands on leaf geometry only (REP-0158 1.1): idle ones are taken away, the others pushed to what is below.

A body that is its own shape, unevenly scaled, gets the shape as a prim below it, which may have the scale: no cube has
three sizes, so the scale cannot go into its numbers.  Body, mass and children stay; what belongs to the shape (its
type, numbers, look and contact) goes below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.conversion.dimensions import list_shape_rows
from simwright.sanitizer.conversion.ops import read_matrices, read_order
from simwright.sanitizer.conversion.push import TransformPush, is_reached, mark_reached, take_scale
from simwright.sanitizer.conversion.shapes import can_hold
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, SCALE, split_matrix


@fix("scale-kinematic-identity", phase=1)
def remove_body_scale(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A scale of 1 on a body, or any on a joint, which has no transform, goes; any other one is pushed down."""
    prim = editor.find_prim(finding.where.prim)
    if finding.fixable is Fixable.SAFE:
        _remove_op(editor, prim, finding.where.prop)
    else:
        push_scale(editor, prim)


@fix("scale-leaf-only", phase=1)
def bake_scale(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Points, sizes and places below take the scale up."""
    prim = editor.find_prim(finding.where.prim)
    if prim.IsA(UsdGeom.PointInstancer):
        raise Refused("it scales copies of bodies; make a part of the right size first")
    # materials below it take no scale
    places = any(child.IsA(UsdGeom.Xformable) for child in prim.GetChildren())
    if prim.IsA(UsdGeom.Gprim) and prim.HasAPI(UsdPhysics.CollisionAPI) and not places:
        raise Refused(f"no {prim.GetTypeName()} has this form; decide on a mesh, or on other sizes")
    push_scale(editor, prim)


def push_scale(editor: Editor, prim: Usd.Prim) -> None:
    """Push the scale of a prim down, once in a round for all that is above or below each other."""
    if is_reached(editor, prim):
        return
    if needs_own_shape(prim):
        put_shape_below(editor, prim)
    else:
        take_scale(editor, prim)
    mark_reached(editor, prim)


def _remove_op(editor: Editor, prim: Usd.Prim, name: str) -> None:
    tokens = read_order(prim)
    left = [token for token in tokens if token.removeprefix("!invert!") != name]
    editor.remove_property(prim, name)
    if left != tokens:
        editor.set_value(prim, ORDER, Sdf.ValueTypeNames.TokenArray, left, uniform=True)


_SHAPE_NAME = "shape"
_SHAPE_SPACES = (
    "primvars:", "material:binding", "physxCollision:", "physxConvex", "physxTriangle", "physxSDF",
    "ext_physics:contact:",
)  # fmt: skip
_SHAPE_NAMES = frozenset(
    {"extent", "doubleSided", "orientation", "physics:collisionEnabled", "physics:approximation", "purpose"}
)


def needs_own_shape(prim: Usd.Prim) -> bool:
    """Is it a body and a shape whose numbers cannot take its scale up?"""
    if not (prim.IsA(UsdGeom.Gprim) and prim.HasAPI(UsdPhysics.RigidBodyAPI)):
        return False
    local = split_matrix(read_matrices(prim)[0][1])
    return not local.mirrored and not local.sheared and not can_hold(prim, np.diag(local.scale))


def put_shape_below(editor: Editor, prim: Usd.Prim) -> None:
    """Ask for the shape as a prim below the body."""
    path = prim.GetPath()
    own = editor.list_prim_specs(prim)
    if len(own) != len(prim.GetPrimStack()) or prim.IsInPrototype() or prim.IsInstanceProxy():
        raise Refused(f"{path} is a body and its own shape, and partly said in another asset")
    if prim.HasVariantSets():
        raise Refused(f"{path} is a body and its own shape, and has variants; put the shape below it by hand")
    matrices = read_matrices(prim)
    scale = split_matrix(matrices[0][1]).scale
    if any(np.abs(split_matrix(m).scale - scale).max() > 1e-9 * np.abs(scale).max() for _, m in matrices):
        raise Refused(f"the scale of {path} changes over time; decide which one counts")
    push = TransformPush(editor)
    if push.index.is_shared(prim, editor):
        raise Refused(f"{path} is a body and its own shape, and said of several prims at once")
    name = _choose_name(prim)
    frame = np.eye(4)
    frame[:3, :3] = np.diag(scale)
    push.write(prim, [(time, _drop_scale(matrix)) for time, matrix in matrices])
    push.push_children(prim, frame, push.push_scale)
    push.finish()
    kind = str(prim.GetTypeName())
    known = set(_list_numbers(kind))
    for spec in own:
        _split_spec(editor, spec, name, lambda prop: _is_of_shape(prop, known))
    _say_scale(editor, own, name, scale)
    new = path.AppendChild(name).pathString
    editor.expected.moved[path.pathString] = new
    # the body stays at its path while its shape moves below: children must not follow the shape
    for child in prim.GetAllChildren():
        editor.expected.moved[child.GetPath().pathString] = child.GetPath().pathString
    editor.expected.added.add(path.pathString)


def _drop_scale(matrix: np.ndarray[Any, Any]) -> Any:
    whole = split_matrix(matrix)
    rigid = np.eye(4)
    rigid[:3, :3] = whole.pose.rotation
    rigid[:3, 3] = whole.pose.p
    return split_matrix(rigid)


def _choose_name(prim: Usd.Prim) -> str:
    taken = {child.GetName() for child in prim.GetAllChildren()}
    return next(
        name for name in (_SHAPE_NAME, *(f"{_SHAPE_NAME}_{i}" for i in range(1, 1000))) if name not in taken
    )


def _list_numbers(kind: str) -> list[str]:
    definition = Usd.SchemaRegistry().FindConcretePrimDefinition(kind)
    common = set(Usd.SchemaRegistry().FindConcretePrimDefinition("Xform").GetPropertyNames())
    return [name for name in definition.GetPropertyNames() if name not in common]


def _is_of_shape(name: str, known: set[str]) -> bool:
    return (
        name in known or name in _SHAPE_NAMES or name in list_shape_rows() or name.startswith(_SHAPE_SPACES)
    )


def _is_shape_api(name: str) -> bool:
    return "Collision" in name or name in ("MaterialBindingAPI", "ExtendedPhysicsContactAPI")


def _split_spec(editor: Editor, spec: Sdf.PrimSpec, name: str, is_of_shape: Callable[[str], bool]) -> None:
    moved = [prop.name for prop in spec.properties if is_of_shape(prop.name)]
    listed: Any = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else None
    below, above = _split_apis(listed)
    kind = spec.typeName
    layer, path, child = spec.layer, spec.path, spec.path.AppendChild(name)
    if not moved and not kind and below is None:
        return

    def apply() -> None:
        new = Sdf.CreatePrimInLayer(layer, child)
        if kind:
            new.specifier = spec.specifier
            new.typeName = kind
            spec.typeName = "Xform"
        for prop in moved:
            Sdf.CopySpec(layer, path.AppendProperty(prop), layer, child.AppendProperty(prop))
            spec.RemoveProperty(layer.GetPropertyAtPath(path.AppendProperty(prop)))
        if below is not None:
            new.SetInfo("apiSchemas", below)
            spec.SetInfo("apiSchemas", above) if above is not None else spec.ClearInfo("apiSchemas")

    editor.add(layer, child, f'{kind or "over"} "{name}" with {len(moved)} properties of {spec.name}', apply)


def _split_apis(listed: Any) -> tuple[Any, Any]:
    """Schemas of the shape, and those that stay; None where a list would be empty."""
    if listed is None:
        return None, None
    result = []
    for of_shape in (True, False):
        part = Sdf.TokenListOp()
        for kind in ("explicitItems", "prependedItems", "appendedItems", "deletedItems"):
            items = [item for item in getattr(listed, kind) if _is_shape_api(item) is of_shape]
            if items:
                setattr(part, kind, items)
        used = part.GetAddedOrExplicitItems() or part.deletedItems
        result.append(part if used else None)
    return (result[0], result[1]) if result[0] is not None else (None, listed)


def _say_scale(editor: Editor, own: list[Sdf.PrimSpec], name: str, scale: np.ndarray[Any, Any]) -> None:
    typed = next((spec for spec in own if spec.typeName), own[0])
    layer, child = typed.layer, typed.path.AppendChild(name)
    value = Gf.Vec3d(*(float(v) for v in scale))

    def apply() -> None:
        new = layer.GetPrimAtPath(child)
        Sdf.AttributeSpec(new, SCALE, Sdf.ValueTypeNames.Double3).default = value
        order = Sdf.AttributeSpec(new, ORDER, Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = [SCALE]

    editor.add(layer, child, f"{SCALE} = {value}", apply)
