# SPDX-License-Identifier: Apache-2.0
"""The frame of an asset's root, and meshes that were left turned (REP-0158 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.conversion.ops import read_matrices
from simwright.sanitizer.conversion.push import (
    TransformPush,
    is_reached,
    mark_reached,
    snap_rotation,
    take_turn,
)
from simwright.sanitizer.conversion.shapes import bake_shape
from simwright.sanitizer.conversion.upright import refuse_leaf
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.scale import push_scale
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import read_local, read_relative, split_matrix

_QUARTER = np.sqrt(0.5)
_PURPOSES = [UsdGeom.Tokens.default_, UsdGeom.Tokens.render, UsdGeom.Tokens.proxy]


@fix("root-no-align-rotation", phase=1)
def unturn_root(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Everything stays where it is in the world; what is below stands turned instead."""
    prim = editor.find_prim(finding.where.prim)
    if is_reached(editor, prim):
        return
    refuse_leaf(prim)
    # one push in a round: the turn goes after the scale is gone
    if not read_local(prim).is_rigid:
        push_scale(editor, prim)
        return
    take_turn(editor, prim)
    mark_reached(editor, prim)


@fix("root-freeze-zup", phase=1)
def freeze_meshes(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """Every mesh that a quarter turn about X separates from its link, or from the root; copies share one mesh."""
    turned: dict[Sdf.Path, list[Usd.Prim]] = {}
    for prim in Usd.PrimRange(editor.stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        if prim.IsA(UsdGeom.Mesh) and _is_turned(prim):
            # all copies show one mesh, which is turned once
            at = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
            turned.setdefault(at.GetPath(), [at]).append(prim)
    for at, *copies in turned.values():
        _freeze(editor, at, copies)


@fix("pivot-ground", phase=1)
def move_origin(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The root goes to the bottom centre, and what is below goes back by as much."""
    prim = editor.find_prim(finding.where.prim)
    if prim.IsA(UsdGeom.Boundable):
        raise Refused(f"the root is a {prim.GetTypeName()} itself; put it below an Xform first")
    if editor.root.pseudoRoot.HasInfo("upAxis") and UsdGeom.GetStageUpAxis(editor.stage) != UsdGeom.Tokens.z:
        raise Refused("it does not stand along Z; turn it upright first")
    low, high = _read_bounds(prim)
    shift = np.eye(4)
    shift[:3, 3] = ((low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0, low[2])
    push = TransformPush(editor)
    push.write(prim, [(time, split_matrix(matrix @ shift)) for time, matrix in read_matrices(prim)])
    push.push_children(prim, np.linalg.inv(shift), push.push_shift)
    push.finish()
    editor.expected.reframed.add(prim.GetPath().pathString)


def _read_bounds(prim: Usd.Prim) -> tuple[Any, Any]:
    """The box as it is now: other fixes may have changed the units since the finding was made."""
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), _PURPOSES, useExtentsHint=True)
    box = cache.ComputeUntransformedBound(prim).ComputeAlignedRange()
    if box.IsEmpty():
        raise Refused("its box is empty")
    return box.GetMin(), box.GetMax()


def _is_turned(prim: Usd.Prim) -> bool:
    base = prim.GetParent()
    while base and not base.GetParent().IsPseudoRoot() and not base.HasAPI(UsdPhysics.RigidBodyAPI):
        base = base.GetParent()
    if not base or base.IsPseudoRoot():
        return False
    # q and -q are the same turn, and so are a quarter turn forth and back for this rule
    turn = np.abs(read_relative(prim, base).pose.q)
    return bool(np.abs(turn - (_QUARTER, _QUARTER, 0.0, 0.0)).max() <= 1e-4)


def _freeze(editor: Editor, prim: Usd.Prim, copies: list[Usd.Prim]) -> None:
    """Turn the points where the prim itself is turned; else turn the prim above it that is."""
    at = prim
    while at and not at.IsPseudoRoot() and abs(abs(read_local(at).pose.q[0]) - _QUARTER) > 1e-4:
        at = at.GetParent()
        if at and (at.HasAPI(UsdPhysics.RigidBodyAPI) or at.IsPseudoRoot()):
            at = None
    if not at:
        raise Refused(f"{prim.GetPath()} is turned in several steps; apply them by hand")
    if is_reached(editor, at):
        return
    if at != prim:
        take_turn(editor, at)
    else:
        _freeze_points(editor, prim, copies)
    mark_reached(editor, at)


def _are_alike(one: Usd.Prim, other: Usd.Prim) -> bool:
    matrices = [read_matrices(prim)[0][1] for prim in (one, other)]
    points = [UsdGeom.Mesh(prim).GetPointsAttr().Get() for prim in (one, other)]
    return bool(np.array_equal(matrices[0], matrices[1])) and points[0] == points[1]


def _freeze_points(editor: Editor, prim: Usd.Prim, copies: list[Usd.Prim]) -> None:
    matrices = read_matrices(prim)
    if len(matrices) > 1:
        raise Refused(f"the transform of {prim.GetPath()} changes over time")
    if any(child.IsA(UsdGeom.Xformable) for child in prim.GetAllChildren()):
        take_turn(editor, prim)
        return
    matrix = matrices[0][1]
    place = np.eye(4)
    place[:3, 3] = matrix[:3, 3]
    push = TransformPush(editor, for_all=True)
    for spec in editor.list_prim_specs(prim):
        for user in push.index.find_users(spec):
            # points that two prims share are right for both only if both stand turned in the same way
            if user.IsA(UsdGeom.Mesh) and not _are_alike(user, prim):
                raise Refused(f"{prim.GetPath()} shares what it says with {user.GetPath()}; decide for both")
            editor.expected.reframed.add(user.GetPath().pathString)
    editor.expected.reframed |= {copy.GetPath().pathString for copy in copies}
    push.write(prim, [(None, split_matrix(place))])
    bake_shape(editor, push.index, prim, snap_rotation(matrix[:3, :3]))
    editor.expected.reframed.add(prim.GetPath().pathString)
