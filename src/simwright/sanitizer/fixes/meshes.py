# SPDX-License-Identifier: Apache-2.0
"""Meshes: winding, subsets, and faces that doubleSided hides (REP-0158 3.1, 3.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Usd, UsdGeom, Vt

from simwright.checker.facts.meshes import make_facts
from simwright.core.diag import Diagnostic
from simwright.sanitizer.choices import count_users
from simwright.sanitizer.faces import MeshFaces, read_faces, replace_faces
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.mending import MeshSurface
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames
_INDICES = "faceVertexIndices"


@fix("uv-subset")
def name_family(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The binding shows what is meant; indices are not touched."""
    if finding.where.prop != "familyName":
        raise Refused("which faces are meant has to be decided")
    prim = editor.find_prim(finding.where.prim)
    editor.set_value(prim, "familyName", _KINDS.Token, "materialBind", uniform=True)


@fix("geo-righthanded")
def turn_faces(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Every face the other way round, with what is said of its corners."""
    prim = editor.find_prim(finding.where.prim)
    mesh = UsdGeom.Mesh(prim)
    said = editor.find_strongest(prim, "orientation")
    held = editor.find_strongest(prim, _INDICES)
    if said is None or held is None:
        raise Refused("its faces are not authored (faceVertexIndices)")
    key = (held.layer.identifier, held.owner.path)
    # turning shared faces would turn those of meshes that say another orientation
    if said.owner != held.owner and count_users(editor).get(key, 0) > 1:
        raise Refused("orientation and faces are said in different places, and the faces are shared")
    if (
        mesh.GetFaceVertexCountsAttr().GetNumTimeSamples()
        or mesh.GetFaceVertexIndicesAttr().GetNumTimeSamples()
    ):
        raise Refused("its faces change over time")
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or (), dtype=np.int64)
    corners = _reverse_corners(counts)
    indices = np.array(mesh.GetFaceVertexIndicesAttr().Get() or (), dtype=np.int32)
    if len(indices) != len(corners):
        raise Refused("its faces have more or fewer corners than it says")
    values = _list_corner_values(editor, prim, corners)
    editor.set_spec_value(held.owner, _INDICES, _KINDS.IntArray, Vt.IntArray.FromNumpy(indices[corners]))
    for spec, value in values:
        editor.set_spec_value(spec.owner, spec.name, spec.typeName, value)
    editor.set_spec_value(said.owner, "orientation", _KINDS.Token, "rightHanded", uniform=True)


def _reverse_corners(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For every corner, which one takes its place: the first of each face stays the first."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, dtype=np.int64)
    faces = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(faces)) - starts[faces]
    result: npt.NDArray[np.int64] = starts[faces] + (counts[faces] - place) % counts[faces]
    return result


def _list_corner_values(
    editor: Editor, prim: Usd.Prim, corners: npt.NDArray[np.int64]
) -> list[tuple[Sdf.AttributeSpec, Any]]:
    """Normals and primvars that are said corner by corner, in the new order of corners."""
    found = []
    # one loop: each value is checked before any is asked for, since half of them reordered would be wrong
    for attribute in [UsdGeom.PointBased(prim).GetNormalsAttr(), *_list_primvars(prim)]:
        if not attribute.HasAuthoredValue():
            continue
        if attribute.GetMetadata("interpolation") != UsdGeom.Tokens.faceVarying:
            continue
        indices = prim.GetAttribute(f"{attribute.GetName()}:indices")
        moved = indices if indices and indices.HasAuthoredValue() else attribute
        if moved.GetNumTimeSamples():
            raise Refused(f"{moved.GetName()} changes over time")
        spec = editor.find_strongest(prim, moved.GetName())
        size = 1 if moved is indices else int(attribute.GetMetadata("elementSize") or 1)
        value = moved.Get()
        if spec is None or value is None or len(value) != size * len(corners):
            raise Refused(f"{moved.GetName()} does not fit the faces")
        order = (corners[:, None] * size + np.arange(size)).reshape(-1)
        found.append((spec, type(value)([value[int(i)] for i in order])))
    return found


def _list_primvars(prim: Usd.Prim) -> list[Usd.Attribute]:
    return [primvar.GetAttr() for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvars()]


@fix("geo-no-doublesided-mask", changes=("visuals", "collisions"))
def turn_hidden(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Closed meshes face outwards, open ones where their normals or most of their faces do."""
    prim = editor.find_prim(finding.where.prim)
    faces = read_faces(prim)
    if "normals" in finding.message:
        _agree_with_normals(editor, prim, faces)
        return
    surface = MeshSurface(faces)
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


def _agree_with_normals(editor: Editor, prim: Usd.Prim, faces: MeshFaces) -> None:
    """The faces of an open mesh follow its normals; the normals of a closed one follow its faces."""
    surface = MeshSurface(faces)
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
