# SPDX-License-Identifier: Apache-2.0
"""Meshes, loaded when they are first looked at and shared between instances.

Points come in metres.  Face-varying, uniform and constant data are brought to one row per corner or vertex.
Broken topology is reported and left out, so that one bad mesh does not spoil an asset.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array
from simwright.formats.parts.coordinates import MADE
from simwright.formats.usd.naming import MESH
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.stage_reader import StageReader, as_rows, find_prototype_path
from simwright.model.geometry import Faces, Mesh, MeshData, Subset
from simwright.model.material import make_all_display
from simwright.usd.questions import is_proxy, specs_of

MESH_TOPOLOGY = declare(
    "usd-mesh-topology",
    Level.ERROR,
    "mesh {name!r} is broken: {what}; {action}",
    hint="repair the mesh in the tool it comes from",
    doc="faceVertexCounts, faceVertexIndices and points of a mesh do not fit together.",
)
MESH_DATA = declare(
    "usd-mesh-data",
    Level.WARNING,
    "{what} of mesh {name!r} have {count} rows for interpolation {interpolation!r}; they are left out",
    hint="author one row per vertex or per face corner",
    doc="Normals, texture coordinates or colours of a mesh do not fit its topology.",
    loss=True,
)

Rows = npt.NDArray[Any]
_SMOOTH = {"none": False, "bilinear": False, "catmullClark": True, "loop": True}
"""How a mesh without normals looks, by the subdivision scheme its author chose."""


def read_mesh(
    reader: StageReader, found: FoundPrim, materials: Mapping[str, str], stretch: Array | None = None
) -> Mesh:
    """The mesh of a prim, the same object for all its instances and for all references to the same opinions.

    ``materials`` gives the material name of each geometry subset; ``stretch`` is a shear to bake in.
    """
    # a sheared mesh has the shear in its points, so it is nobody else's
    key = _find_identity(reader, found, materials) if stretch is None else None
    if key is not None and key in reader.meshes:
        return reader.meshes[key]
    # the closures hold the source, and so the stage: a prim alone would not keep it open
    mesh = Mesh(
        load=lambda: load_mesh(reader, found, dict(materials), stretch),
        load_solid=lambda: _load_topology(reader, found, stretch),
        source=f"{found.path}#{library_name}"
        if (library_name := _find_library_name(found.prim))
        else found.path,
    )
    if key is not None:
        reader.meshes[key] = mesh
    return mesh


def _find_library_name(prim: Usd.Prim) -> str:
    """What a mesh that others refer to is called in its own file; empty if it is defined where it is used."""
    specs = specs_of(prim.GetPrimInPrototype() if is_proxy(prim) else prim)
    origin = specs[-1] if specs else None
    if origin is None or origin.path == prim.GetPath():
        return ""
    # the writer puts the mesh below a prim with the name
    named = origin.nameParent if origin.name == MESH else origin
    return str(named.GetInfo("displayName") or named.name) if named else ""


def _find_identity(reader: StageReader, found: FoundPrim, materials: Mapping[str, str]) -> Any:
    """What prims with the same arrays share: their prototype, or all specs that have a say in them."""
    if is_proxy(found.prim):
        return find_prototype_path(found.prim)
    if reader.timed:  # references may shift time
        return found.path
    prims = (found.prim, *(subset.prim for subset in found.subsets or ()))
    return (*(tuple(specs_of(prim)) for prim in prims), *materials.items())


def _load_topology(reader: StageReader, found: FoundPrim, stretch: Array | None) -> MeshData:
    """Points, faces and orientation alone; a broken mesh is empty, and reported once."""
    prim, time = found.prim, reader.time
    points = as_rows(prim.GetAttribute("points").Get(time), 3)
    if reader.units.length != 1.0:
        points *= reader.units.length
    counts = _as_integers(prim.GetAttribute("faceVertexCounts").Get(time))
    indices = _as_integers(prim.GetAttribute("faceVertexIndices").Get(time))
    # nearly all meshes are; the array of counts is then not kept
    are_triangles = len(counts) == 0 or (counts[0] == 3 and bool((counts == 3).all()))
    bad = _find_fault(points, None if are_triangles else counts, indices, len(counts))
    if bad:
        _report_fault(reader, prim, bad, "it is read as empty")
        return MeshData(np.zeros((0, 3)), np.zeros(0, np.int32))
    return MeshData(
        vertices=points if stretch is None else points @ stretch.T,
        indices=indices,
        counts=None if are_triangles else counts,
        left_handed=reader.get(found, "orientation") == UsdGeom.Tokens.leftHanded,
    )


def load_mesh(
    reader: StageReader, found: FoundPrim, materials: Mapping[str, str], stretch: Array | None = None
) -> MeshData:
    """The arrays of a mesh prim [m]."""
    data = _load_topology(reader, found, stretch)
    if len(data.vertices) == 0:
        return data
    prim = found.prim
    usd = UsdGeom.Mesh(prim)
    counts = np.full(data.face_count, 3, np.int32) if data.counts is None else data.counts
    rows = _PrimvarRows(reader, prim, len(data.vertices), counts)
    normals = rows.fit("normals", *_find_normals(reader, usd))
    uv_name, uvs, interpolation = _find_uvs(reader, prim)
    return dataclasses.replace(
        data,
        # a shear turns normals by another matrix than points; renderers compute them anew
        normals=None if stretch is not None else normals,
        uvs=rows.fit("texture coordinates", uvs, interpolation),
        uv_name=uv_name,
        uv_sets=_read_uv_sets(reader, prim, rows, uv_name),
        smooth=_SMOOTH.get(str(reader.get_authored(found, "subdivisionScheme"))),
        colors=rows.fit("colours", *_find_colors(reader, usd)),
        subsets=_read_subsets(reader, prim, len(counts), materials),
    )


def _as_integers(value: Any) -> Faces:
    try:
        return np.array([] if value is None else value, dtype=np.int32).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        return np.zeros(0, np.int32)


def find_fault_of(prim: Usd.Prim) -> str:
    """What is wrong with the arrays of a mesh as they are authored, for readers other than ours; empty for nothing."""
    values = [prim.GetAttribute(name).Get() for name in ("points", "faceVertexCounts", "faceVertexIndices")]
    # the arrays of OpenUSD themselves: most are read-only, and none is copied
    points = np.asarray(() if values[0] is None else values[0], dtype=np.float32).reshape(-1, 3)
    counts, indices = (
        np.asarray(() if value is None else value, dtype=np.int32).reshape(-1) for value in values[1:]
    )
    return _find_fault(points, counts if len(counts) else None, indices, len(counts))


def _find_fault(points: Rows, counts: Faces | None, indices: Faces, faces: int) -> str:
    """What is wrong with a mesh; ``counts`` is None for triangles."""
    corners = 3 * faces if counts is None else int(counts.sum(dtype=np.int64))
    if corners != len(indices):
        return f"its faces have {corners} corners but {len(indices)} indices"
    if counts is not None and int(counts.min()) < 0:
        return "a face has a negative number of corners"
    # as unsigned numbers, negative ones are too large as well
    if len(indices) and indices.view(np.uint32).max() >= len(points):
        low, high = int(indices.min()), int(indices.max())
        return f"index {high} or {low} is outside its {len(points)} points"
    # a sum is finite if all are, or else all have to be looked at
    if not math.isfinite(points.sum()) and not np.isfinite(points).all():
        return "a point is not finite"
    return ""


def _report_fault(reader: StageReader, prim: Usd.Prim, what: str, action: str) -> None:
    where = reader.where(prim)
    if where in reader.broken:
        return
    reader.broken.add(where)
    reader.reporter.report(MESH_TOPOLOGY, where, name=prim.GetName(), what=what, action=action)


class _PrimvarRows:
    """Brings primvar values to one row per vertex or per face corner."""

    def __init__(self, reader: StageReader, prim: Usd.Prim, points: int, counts: Faces) -> None:
        self._reader = reader
        self._prim = prim
        self._points = points
        self._counts = counts
        self._corners = int(counts.sum())

    def fit(self, what: str, values: Rows | None, interpolation: str) -> Array | None:
        """The rows, expanded as the interpolation says; None (reported) if their number is wrong."""
        if values is None or len(values) == 0:
            return None
        expected = {
            "constant": 1,
            "uniform": len(self._counts),
            "varying": self._points,
            "vertex": self._points,
            "faceVarying": self._corners,
        }.get(interpolation, -1)
        if len(values) != expected:
            self._reader.reporter.report(
                MESH_DATA,
                self._reader.where(self._prim),
                what=what,
                name=self._prim.GetName(),
                count=len(values),
                interpolation=interpolation,
            )
            return None
        if interpolation == "constant":
            return np.repeat(values, self._points, axis=0)
        return np.repeat(values, self._counts, axis=0) if interpolation == "uniform" else values


def _find_normals(reader: StageReader, usd: UsdGeom.Mesh) -> tuple[Rows | None, str]:
    """``primvars:normals`` wins over ``normals``."""
    primvar = UsdGeom.PrimvarsAPI(usd).GetPrimvar("normals")
    if primvar and primvar.HasValue():
        return _flatten(reader, primvar, 3)
    values = usd.GetNormalsAttr().Get(reader.time)
    rows = None if values is None else as_rows(values, 3)
    return rows, str(usd.GetNormalsInterpolation())


def _find_uvs(reader: StageReader, prim: Usd.Prim) -> tuple[str, Rows | None, str]:
    """``primvars:st``, else the first texture coordinates there are: name, rows, interpolation."""
    api = UsdGeom.PrimvarsAPI(prim)
    primvar = api.GetPrimvar("st")
    if not (primvar and primvar.HasValue()):
        others = (p for p in api.GetPrimvarsWithValues() if str(p.GetTypeName()).startswith("texCoord2"))
        primvar = next((p for p in others if str(p.GetPrimvarName()) not in MADE), None)
    if primvar is None:
        return "st", None, ""
    return str(primvar.GetPrimvarName()), *_flatten(reader, primvar, 2)


def _read_uv_sets(reader: StageReader, prim: Usd.Prim, rows: _PrimvarRows, known: str) -> dict[str, Array]:
    """Further texture coordinates that images are mapped by."""
    found = {}
    for name in sorted(reader.uv_names - {known, "st"}):
        primvar = UsdGeom.PrimvarsAPI(prim).GetPrimvar(name)
        if primvar and primvar.HasValue():
            fitted = rows.fit("texture coordinates", *_flatten(reader, primvar, 2))
            if fitted is not None:
                found[name] = fitted
    return found


def _find_colors(reader: StageReader, usd: UsdGeom.Mesh) -> tuple[Rows | None, str]:
    """Display colours that vary over the mesh; a constant one is the shape's colour."""
    primvar = usd.GetDisplayColorPrimvar()
    if not primvar.HasValue() or primvar.GetInterpolation() == UsdGeom.Tokens.constant:
        return None, ""
    rows, interpolation = _flatten(reader, primvar, 3)
    return None if rows is None else make_all_display(rows), interpolation


def _flatten(reader: StageReader, primvar: UsdGeom.Primvar, width: int) -> tuple[Rows | None, str]:
    values = primvar.ComputeFlattened(reader.time)
    rows = None if values is None else as_rows(values, width)
    return rows, str(primvar.GetInterpolation())


def _read_subsets(
    reader: StageReader, prim: Usd.Prim, faces: int, materials: Mapping[str, str]
) -> tuple[Subset, ...]:
    subsets = []
    for child in list_subsets(prim):
        indices = _as_integers(UsdGeom.Subset(child).GetIndicesAttr().Get(reader.time))
        inside = (indices >= 0) & (indices < faces)
        if not np.all(inside):
            outside = int(np.count_nonzero(~inside))
            _report_fault(reader, child, f"{outside} of its faces do not exist", "they are left out")
        subsets.append(Subset(child.GetName(), indices[inside], materials.get(child.GetName(), "")))
    return tuple(subsets)


def list_subsets(prim: Usd.Prim) -> list[Usd.Prim]:
    """Face subsets of a mesh prim."""
    children = prim.GetFilteredChildren(Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))
    return [
        child
        for child in children
        if child.IsA(UsdGeom.Subset) and UsdGeom.Subset(child).GetElementTypeAttr().Get() == "face"
    ]
