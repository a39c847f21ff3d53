# SPDX-License-Identifier: Apache-2.0
"""Instances: of meshes that are there several times, and not of bodies, joints and interfaces (REP-0158 3.5)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.structure import stop_instancing
from simwright.sanitizer.sharing import Member, read_member, share
from simwright.usd.edit import Editor, Refused

_ARRAYS = ("points", "faceVertexCounts", "faceVertexIndices")


@fix("inst-leaf-only", phase=0)
def stop_sharing_logic(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All instances above what may not be in one, or above what a relationship names."""
    prim = editor.find_prim(finding.where.prim)
    paths = [prim.GetPath()]
    if finding.where.prop:
        paths = [path.GetPrimPath() for path in prim.GetRelationship(finding.where.prop).GetTargets()]
    for path in paths:
        for above in path.GetPrefixes():
            found = editor.stage.GetPrimAtPath(above)
            if found and found.IsInstance():
                stop_instancing(editor, found)


@fix("inst-repetitive", changes=("visuals", "collisions", "materials"), phase=1)
def share_mesh(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Equal meshes that say the same become instances of one prototype."""
    first = editor.find_prim(finding.where.prim)
    groups: dict[Any, list[Member]] = {}
    reasons = []
    for prim in _list_equal(editor, first):
        try:
            member = read_member(editor, prim)
        except Refused as reason:
            reasons.append(f"{prim.GetPath()}: {reason}")
            continue
        groups.setdefault((member.top, member.signature), []).append(member)
    if not groups:
        raise Refused(reasons[0] if reasons else "the meshes are not there any more")
    for members in groups.values():
        share(editor, members)


def _list_equal(editor: Editor, first: Usd.Prim) -> list[Usd.Prim]:
    """Meshes with the same points, faces and primvars in the same role; those in instances aside."""
    book = editor.memory.get("equal meshes")
    if book is None:
        book = editor.memory["equal meshes"] = {}
        for prim in editor.stage.Traverse():
            if prim.IsA(UsdGeom.Mesh):
                book.setdefault(_sketch(prim), []).append(prim)
    return [prim for prim in book.get(_sketch(first), ()) if not prim.IsInstance()]


def _sketch(prim: Usd.Prim) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(b"touched" if _collides(prim) else b"seen")
    primvars = sorted(primvar.GetName() for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues())
    for name in (*_ARRAYS, *primvars):
        attribute = prim.GetAttribute(name)
        value = attribute.Get() if attribute else None
        digest.update(name.encode())
        try:
            digest.update(np.asarray(value).tobytes())
        except (TypeError, ValueError):
            digest.update(str(value).encode())
    return digest.digest()


def _collides(prim: Usd.Prim) -> bool:
    above = prim
    while above and above.GetPath() != Sdf.Path.absoluteRootPath:
        if above.HasAPI(UsdPhysics.CollisionAPI):
            return True
        above = above.GetParent()
    return False
