# SPDX-License-Identifier: Apache-2.0
"""Collision meshes of triangles (REP-0158 3.4)."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.faces import HOLES, read_faces, replace_faces, split_faces
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor

_SCHEME = "subdivisionScheme"


@fix("geo-coll-tri", changes=("collisions", "visuals"))
def make_triangles(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Faces split; holes and smoothing, which engines do not see, taken away."""
    prim = editor.find_prim(finding.where.prim)
    if finding.where.prop == _SCHEME:
        for mesh in _list_smooth(editor.stage):
            editor.set_value(mesh, _SCHEME, Sdf.ValueTypeNames.Token, "none", uniform=True)
        return
    if finding.where.prop == HOLES:
        # engines collide with these faces too: the shape that is touched stays what it is
        editor.remove_property(prim, HOLES)
        return
    faces = read_faces(prim)
    replace_faces(editor, prim, faces, split_faces(faces))


def _list_smooth(stage: Usd.Stage) -> list[Usd.Prim]:
    """Collision meshes that are subdivided."""
    found = []
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if prim.IsA(UsdGeom.Mesh) and UsdGeom.Mesh(prim).GetSubdivisionSchemeAttr().Get() != "none":
            above = prim
            while above and not above.HasAPI(UsdPhysics.CollisionAPI):
                above = above.GetParent()
            if above:
                found.append(prim)
    return found
