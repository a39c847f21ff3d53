# SPDX-License-Identifier: Apache-2.0
"""Meshes, loaded when they are first looked at and shared between instances.

Points come in metres.  Face-varying, uniform and constant data are brought to one row per corner or vertex.
Broken topology is reported and left out, so that one bad mesh does not spoil an asset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source, as_rows, find_prototype_path
from simwright.model.geometry import Faces, Mesh, MeshData, Subset

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
)

Rows = npt.NDArray[Any]


def read_mesh(
    source: Source, found: Found, materials: Mapping[str, str], stretch: Array | None = None
) -> Mesh:
    """The mesh of a prim, the same object for all its instances.

    ``materials`` gives the material name of each geometry subset; ``stretch`` is a shear to bake in.
    """
    key = find_prototype_path(found.prim)
    if stretch is None and key in source.meshes:
        return source.meshes[key]
    prim = found.prim
    # the closure holds the source, and so the stage: a prim alone would not keep it open
    mesh = Mesh(load=lambda: load_mesh(source, prim, dict(materials), stretch), source=found.path)
    if stretch is None:
        source.meshes[key] = mesh
    return mesh


def load_mesh(
    source: Source, prim: Usd.Prim, materials: Mapping[str, str], stretch: Array | None = None
) -> MeshData:
    """The arrays of a mesh prim [m]."""
    usd = UsdGeom.Mesh(prim)
    points = as_rows(usd.GetPointsAttr().Get(source.time), 3) * source.units.length
    counts = _as_integers(usd.GetFaceVertexCountsAttr().Get(source.time))
    indices = _as_integers(usd.GetFaceVertexIndicesAttr().Get(source.time))
    bad = _find_fault(points, counts, indices)
    if bad:
        _report_fault(source, prim, bad, "it is read as empty")
        return MeshData(np.zeros((0, 3)), np.zeros(0, np.int32))
    if stretch is not None:
        points = points @ stretch.T
    rows = _Rows(source, prim, len(points), counts)
    normals = rows.fit("normals", *_find_normals(source, usd))
    return MeshData(
        vertices=points,
        indices=indices,
        counts=None if len(counts) == 0 or bool(np.all(counts == 3)) else counts,
        normals=None if stretch is not None else normals,
        uvs=rows.fit("texture coordinates", *_find_uvs(source, prim)),
        colors=rows.fit("colours", *_find_colors(source, usd)),
        subsets=_read_subsets(source, prim, len(counts), materials),
        left_handed=usd.GetOrientationAttr().Get(source.time) == UsdGeom.Tokens.leftHanded,
    )


def _as_integers(value: Any) -> Faces:
    return as_rows(value, 1)[:, 0].astype(np.int32)


def _find_fault(points: Array, counts: Faces, indices: Faces) -> str:
    if int(counts.sum()) != len(indices):
        return f"its faces have {int(counts.sum())} corners but {len(indices)} indices"
    if len(counts) and int(counts.min()) < 0:
        return "a face has a negative number of corners"
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= len(points)):
        return f"index {int(indices.max())} or {int(indices.min())} is outside its {len(points)} points"
    if not np.all(np.isfinite(points)):
        return "a point is not finite"
    return ""


def _report_fault(source: Source, prim: Usd.Prim, what: str, action: str) -> None:
    where = source.where(prim)
    source.reporter.report(MESH_TOPOLOGY, where, name=prim.GetName(), what=what, action=action)


class _Rows:
    """Brings primvar values to one row per vertex or per face corner."""

    def __init__(self, source: Source, prim: Usd.Prim, points: int, counts: Faces) -> None:
        self._source = source
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
            self._source.reporter.report(
                MESH_DATA,
                self._source.where(self._prim),
                what=what,
                name=self._prim.GetName(),
                count=len(values),
                interpolation=interpolation,
            )
            return None
        if interpolation == "constant":
            return np.repeat(values, self._points, axis=0)
        return np.repeat(values, self._counts, axis=0) if interpolation == "uniform" else values


def _find_normals(source: Source, usd: UsdGeom.Mesh) -> tuple[Rows | None, str]:
    """``primvars:normals`` wins over ``normals``."""
    primvar = UsdGeom.PrimvarsAPI(usd).GetPrimvar("normals")
    if primvar and primvar.HasValue():
        return _flatten(source, primvar, 3)
    values = usd.GetNormalsAttr().Get(source.time)
    rows = None if values is None else as_rows(values, 3)
    return rows, str(usd.GetNormalsInterpolation())


def _find_uvs(source: Source, prim: Usd.Prim) -> tuple[Rows | None, str]:
    """``primvars:st``, else the first texture coordinates there are."""
    api = UsdGeom.PrimvarsAPI(prim)
    primvar = api.GetPrimvar("st")
    if not (primvar and primvar.HasValue()):
        others = (p for p in api.GetPrimvarsWithValues() if str(p.GetTypeName()).startswith("texCoord2"))
        primvar = next(others, None)
    return (None, "") if primvar is None else _flatten(source, primvar, 2)


def _find_colors(source: Source, usd: UsdGeom.Mesh) -> tuple[Rows | None, str]:
    """Display colours that vary over the mesh; a constant one is the shape's colour."""
    primvar = usd.GetDisplayColorPrimvar()
    if not primvar.HasValue() or primvar.GetInterpolation() == UsdGeom.Tokens.constant:
        return None, ""
    return _flatten(source, primvar, 3)


def _flatten(source: Source, primvar: UsdGeom.Primvar, width: int) -> tuple[Rows | None, str]:
    values = primvar.ComputeFlattened(source.time)
    rows = None if values is None else as_rows(values, width)
    return rows, str(primvar.GetInterpolation())


def _read_subsets(
    source: Source, prim: Usd.Prim, faces: int, materials: Mapping[str, str]
) -> tuple[Subset, ...]:
    subsets = []
    for child in list_subsets(prim):
        indices = _as_integers(UsdGeom.Subset(child).GetIndicesAttr().Get(source.time))
        inside = (indices >= 0) & (indices < faces)
        if not np.all(inside):
            outside = int(np.count_nonzero(~inside))
            _report_fault(source, child, f"{outside} of its faces do not exist", "they are left out")
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
