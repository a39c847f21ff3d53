# SPDX-License-Identifier: Apache-2.0
"""Faces that doubleSided hides, turned the right way (REP-0158 3.4)."""

from __future__ import annotations

import numpy as np
from pxr import Sdf, Usd, UsdGeom

from simwright.checker.facts.meshes import make_facts
from simwright.core.diag import Diagnostic
from simwright.sanitizer.faces import Faces, read_faces, replace_faces
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.mending import Surface
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames


@fix("geo-no-doublesided-mask", changes=("visuals", "collisions"))
def turn_hidden(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Closed meshes face outwards, open ones where their normals or most of their faces do."""
    prim = editor.find_prim(finding.where.prim)
    faces = read_faces(prim)
    if "normals" in finding.message:
        _agree_with_normals(editor, prim, faces)
        return
    surface = Surface(faces)
    if not surface.wind_evenly():
        raise Refused("the surface has one side only; decide which faces are seen")
    if surface.is_closed:
        new = surface.result
        volume = make_facts(faces.points, new.counts, faces.indices[new.corners]).volume
        mirrored = UsdGeom.Mesh(prim).GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
        if (volume < 0.0) != mirrored:
            surface.turn()
        editor.set_value(prim, "doubleSided", _KINDS.Bool, False, uniform=True)
    replace_faces(editor, prim, faces, surface.result)


def _agree_with_normals(editor: Editor, prim: Usd.Prim, faces: Faces) -> None:
    """The faces of an open mesh follow its normals; the normals of a closed one follow its faces."""
    surface = Surface(faces)
    if not surface.is_closed:
        surface.turn()
        replace_faces(editor, prim, faces, surface.result)
        return
    for name in ("primvars:normals", "normals"):
        attribute = prim.GetAttribute(name)
        if attribute and attribute.HasAuthoredValue():
            if attribute.GetNumTimeSamples():
                raise Refused(f"{name} changes over time")
            value = attribute.Get()
            turned = type(value).FromNumpy(-np.array(value))
            editor.set_value(prim, name, attribute.GetTypeName(), turned)
            break
    editor.set_value(prim, "doubleSided", _KINDS.Bool, False, uniform=True)
