# SPDX-License-Identifier: Apache-2.0
"""An asset that stands along Y or X, turned to stand along Z.

What stands in the world is turned about the origin.  Prims that only hold others stay unturned, and points of meshes
that belong to no link are turned; frames with a meaning (links, cameras, lights, TF frames, copies) keep their own axes
and stand turned, so that joints, masses and inertias are what they were.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdLux

from simwright.formats.usd.units import UP_ROTATIONS
from simwright.sanitizer.conversion.push import SURFACE, TransformPush, is_surface_local
from simwright.sanitizer.conversion.sites import rewrite
from simwright.sanitizer.conversion.values import transform_points
from simwright.usd.edit import Editor, Refused

_SCENE = "PhysicsScene"
_SKINNED = frozenset({"SkelRoot", "Skeleton"})


def turn_upright(editor: Editor, up: str) -> None:
    """Ask for the asset with Z up; ``up`` is the axis that is up now."""
    if up not in UP_ROTATIONS:
        raise Refused(f'upAxis = "{up}" is not an axis; write the one that is meant')
    turn = np.eye(4)
    turn[:3, :3] = UP_ROTATIONS[up]
    push = TransformPush(editor)
    # one function: the refusals come first, then root by root, then the world and its gravity
    skinned = next((prim for prim in push.index.prims if str(prim.GetTypeName()) in _SKINNED), None)
    if skinned is not None:
        raise Refused(
            f"{skinned.GetPath()} is skinned; skinned characters have to be turned where they are made"
        )
    tops = [
        prim
        for prim in editor.stage.GetPseudoRoot().GetFilteredChildren(Usd.PrimAllPrimsPredicate)
        if not prim.IsAbstract()
    ]
    standing = [prim for prim in tops if prim.IsA(UsdGeom.Xformable)]
    root = editor.stage.GetDefaultPrim()
    if root or len(standing) == 1:
        refuse_leaf(root or standing[0])
    # joints without a body on one side are fixed to the world, whose frame turns too
    push.frames["/"] = turn
    for prim in tops:
        push.push_turn(prim, turn)
    for prim in push.index.prims:
        _turn_words_of_world(push, prim, turn[:3, :3])
    push.finish()


def _turn_words_of_world(push: TransformPush, prim: Usd.Prim, linear: np.ndarray[Any, Any]) -> None:
    """Directions that a prim says in the frame of the world."""
    if str(prim.GetTypeName()) == _SCENE:
        rewrite(push.editor, push.index, prim, "physics:gravityDirection", _bind(linear))
    for name in SURFACE:
        if prim.GetAttribute(name).HasAuthoredValue() and not is_surface_local(prim):
            rewrite(push.editor, push.index, prim, name, _bind(linear))


def refuse_leaf(root: Usd.Prim) -> None:
    """A root must not stand turned, and a shape, light or camera has nothing below that could."""
    is_leaf = root.IsA(UsdGeom.Boundable) or root.IsA(UsdGeom.Camera) or root.HasAPI(UsdLux.LightAPI)
    if root.IsA(UsdGeom.Mesh) or not is_leaf:
        return
    raise Refused(
        f"the root is a {root.GetTypeName()} itself, which cannot take the turn; put it below an Xform"
    )


def _bind(linear: np.ndarray[Any, Any]) -> Any:
    return lambda value: transform_points(value, linear)
