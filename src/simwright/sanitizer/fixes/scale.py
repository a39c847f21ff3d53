# SPDX-License-Identifier: Apache-2.0
"""Scale stands on leaf geometry only (REP-0158 1.1): idle ones are taken away, the others pushed to what is below."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.conversion.ops import read_order
from simwright.sanitizer.conversion.push import is_reached, mark_reached, take_scale
from simwright.sanitizer.conversion.shape_below import needs_own_shape, put_shape_below
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER


@fix("scale-kinematic-identity", phase=1)
def remove_body_scale(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A scale of 1 on a body, or any on a joint, which has no transform, goes; any other one is pushed down."""
    prim = editor.find_prim(finding.where.prim)
    if finding.fixable is Fixable.SAFE:
        _remove_op(editor, prim, finding.where.prop)
    else:
        push_scale(editor, prim)


@fix("scale-leaf-only", phase=1)
def bake_scale(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Points, sizes and places below take the scale up."""
    prim = editor.find_prim(finding.where.prim)
    if prim.IsA(UsdGeom.PointInstancer):
        raise Refused("it scales copies of bodies; make a part of the right size first")
    if prim.IsA(UsdGeom.Gprim) and prim.HasAPI(UsdPhysics.CollisionAPI) and not any(prim.GetChildren()):
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
