# SPDX-License-Identifier: Apache-2.0
"""Giving a mesh other faces, and with them everything that is said of faces and corners.

New faces are told as corners of old ones: each new corner takes the point, the normal and the primvars of the old
corner that it is made from, each new face the values and the subsets of the face of its first corner.  So splitting,
turning, dropping and closing are one and the same edit.

Polygons are split into triangles: a fan where a face is convex, ears cut off one by one where it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Usd, UsdGeom, Vt

from simwright.usd.edit import Editor, Refused

Ints = npt.NDArray[np.int64]
COUNTS, INDICES, HOLES = "faceVertexCounts", "faceVertexIndices", "holeIndices"
_KINDS = Sdf.ValueTypeNames


@dataclass(slots=True, eq=False)
class MeshFaces:
    """The faces of a mesh at the default time."""

    points: npt.NDArray[np.float64]
    counts: Ints
    indices: Ints

    @property
    def starts(self) -> Ints:
        """The first corner of each face."""
        return np.concatenate(([0], np.cumsum(self.counts)[:-1])).astype(np.int64)

    @property
    def owners(self) -> Ints:
        """The face of each corner."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


@dataclass(slots=True, eq=False)
class NewFaces:
    """Faces made of old corners: ``corners`` face by face, ``counts`` of them."""

    counts: Ints
    corners: Ints


def read_faces(prim: Usd.Prim) -> MeshFaces:
    """Read a mesh; one that changes over time or does not fit together is refused."""
    mesh = UsdGeom.Mesh(prim)
    attributes = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    # points may move over time; other faces would have to be found for every sample
    if any(attribute.GetNumTimeSamples() for attribute in attributes[1:]):
        raise Refused("its faces change over time")
    points, counts, indices = (attribute.Get() for attribute in attributes)
    faces = MeshFaces(
        np.array(points or (), dtype=np.float64).reshape(-1, 3),
        np.array(counts or (), dtype=np.int64),
        np.array(indices or (), dtype=np.int64),
    )
    # one function: a mesh is only worth handing out when all of this holds, and each failure has its own
    # words
    if not len(faces.counts) or faces.counts.min() < 0 or faces.counts.sum() != len(faces.indices):
        raise Refused("its faces have more or fewer corners than it says; export it again")
    if not len(faces.points) or faces.indices.min() < 0 or faces.indices.max() >= len(faces.points):
        raise Refused("its faces name points that are not there; export it again")
    return faces


def replace_faces(editor: Editor, prim: Usd.Prim, old: MeshFaces, new: NewFaces) -> None:
    """Ask for new faces, where the old ones are said."""
    # a second fix of the same mesh must not change a byte
    same = len(new.corners) == len(old.indices) and np.array_equal(new.corners, np.arange(len(old.indices)))
    if same and np.array_equal(new.counts, old.counts):
        return
    firsts = new.corners[np.concatenate(([0], np.cumsum(new.counts)[:-1])).astype(np.int64)]
    from_face = old.owners[firsts]
    _write(editor, prim, COUNTS, _KINDS.IntArray, Vt.IntArray.FromNumpy(new.counts.astype(np.int32)))
    indices = old.indices[new.corners].astype(np.int32)
    _write(editor, prim, INDICES, _KINDS.IntArray, Vt.IntArray.FromNumpy(indices))
    for attribute in _list_values(prim):
        order = {"faceVarying": new.corners, "uniform": from_face}.get(
            attribute.GetMetadata("interpolation") or ""
        )
        if order is not None:
            count = len(old.indices) if order is new.corners else len(old.counts)
            _reorder(editor, prim, attribute, order, count)
    _move_numbers(editor, prim, HOLES, from_face)
    for child in prim.GetChildren():
        if child.IsA(UsdGeom.Subset) and UsdGeom.Subset(child).GetElementTypeAttr().Get() == "face":
            _move_numbers(editor, child, "indices", from_face)


def _write(editor: Editor, prim: Usd.Prim, name: str, kind: Sdf.ValueTypeName, value: Any) -> None:
    if editor.find_strongest(prim, name) is None:
        raise Refused(f"{name} is not authored")
    editor.set_value(prim, name, kind, value)


def _list_values(prim: Usd.Prim) -> list[Usd.Attribute]:
    """Normals and primvars that somebody says."""
    primvars = [primvar.GetAttr() for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvars()]
    found = [UsdGeom.PointBased(prim).GetNormalsAttr(), *primvars]
    return [attribute for attribute in found if attribute.HasAuthoredValue()]


def _reorder(editor: Editor, prim: Usd.Prim, attribute: Usd.Attribute, order: Ints, count: int) -> None:
    indices = prim.GetAttribute(f"{attribute.GetName()}:indices")
    # indexed primvars are reordered by their indices; the values themselves may be shared by many corners
    is_indexed = bool(indices) and indices.HasAuthoredValue() and indices.Get() is not None
    moved = indices if is_indexed else attribute
    if moved.GetNumTimeSamples():
        raise Refused(f"{moved.GetName()} changes over time")
    value = moved.Get()
    size = 1 if is_indexed else int(attribute.GetMetadata("elementSize") or 1)
    if value is None or len(value) != size * count:
        raise Refused(f"{moved.GetName()} does not fit the faces")
    places = (order[:, None] * size + np.arange(size)).reshape(-1)
    values = np.array(value)
    fresh = (
        type(value).FromNumpy(values[places])
        # tokens and strings have no FromNumpy
        if values.dtype.kind in "fiu"
        else [value[int(i)] for i in places]
    )
    editor.set_value(prim, moved.GetName(), moved.GetTypeName(), fresh)


def _move_numbers(editor: Editor, prim: Usd.Prim, name: str, from_face: Ints) -> None:
    """Numbers of faces: each new face that comes from a face that is named is named too."""
    attribute = prim.GetAttribute(name)
    if not attribute or not attribute.HasAuthoredValue():
        return
    if attribute.GetNumTimeSamples():
        raise Refused(f"{name} of {prim.GetName()} changes over time")
    old = np.array(attribute.Get() or (), dtype=np.int64)
    new = np.flatnonzero(np.isin(from_face, old)).astype(np.int32)
    if not np.array_equal(old, new):
        editor.set_value(prim, name, _KINDS.IntArray, Vt.IntArray.FromNumpy(new))


Array = npt.NDArray[np.float64]
_MAX_CORNERS = 4096
"""Of a face that is not convex: cutting ears takes time with the square of them."""


def split_faces(old: MeshFaces) -> NewFaces:
    """Every face as triangles; faces of fewer than three corners are left out."""
    keep = old.counts >= 3
    starts = old.starts
    parts = [starts[keep & (old.counts == 3)][:, None] + np.arange(3)]
    orders = [np.flatnonzero(keep & (old.counts == 3))]
    for face in np.flatnonzero(keep & (old.counts > 3)):
        corners = starts[face] + np.arange(old.counts[face])
        triangles = corners[split_polygon(old.points[old.indices[corners]])]
        parts.append(triangles)
        orders.append(np.full(len(triangles), face))
    # faces stay in their order
    # materials and subsets are told by numbers of faces, so these must not be shuffled
    order = np.argsort(np.concatenate(orders), kind="stable")
    triangles = np.concatenate(parts)[order]
    return NewFaces(np.full(len(triangles), 3, dtype=np.int64), triangles.reshape(-1))


def split_polygon(points: Array) -> Ints:
    """Triangles of one polygon, counter-clockwise as it is, as numbers of its corners."""
    count = len(points)
    fan = np.stack(
        (np.zeros(count - 2, dtype=np.int64), np.arange(1, count - 1), np.arange(2, count)), axis=1
    )
    flat = _flatten(points)
    # a fan is right for convex faces, and as good as anything for faces without area
    if flat is None or count > _MAX_CORNERS or _is_convex(flat):
        return fan
    found = _cut_ears(flat)
    return fan if found is None else found


def _flatten(points: Array) -> Array | None:
    """The corners in the plane of the face, counter-clockwise; None if it has no area."""
    centred = points - points.mean(axis=0)
    normal = np.cross(centred, np.roll(centred, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    if length == 0.0:
        return None
    normal /= length
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    return np.stack((centred @ first, centred @ np.cross(normal, first)), axis=1)


def _measure_area(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of triangles in a plane."""
    u, v = b - a, c - a
    area: Array = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return area


def _is_convex(flat: Array) -> bool:
    turns = _measure_area(np.roll(flat, 1, axis=0), flat, np.roll(flat, -1, axis=0))
    # a corner on a straight edge turns by zero, give or take rounding: that is still convex
    return bool((turns >= -1e-9 * np.ptp(flat, axis=0).max() ** 2).all())


def _cut_ears(flat: Array) -> Ints | None:
    left = list(range(len(flat)))
    found = []
    while len(left) > 3:
        ear = next((i for i in range(len(left)) if _is_ear(flat, left, i)), None)
        if ear is None:
            return None
        found.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    found.append((left[0], left[1], left[2]))
    return np.array(found, dtype=np.int64)


def _is_ear(flat: Array, left: list[int], place: int) -> bool:
    a, b, c = (flat[left[(place + step) % len(left)]] for step in (-1, 0, 1))
    if float(_measure_area(a, b, c)) <= 0.0:
        return False
    # a point at the place of a corner of the ear (a keyhole polygon) does not lie inside it
    others = flat[[i for i in left if not any(np.array_equal(flat[i], corner) for corner in (a, b, c))]]
    inside = (
        (_measure_area(a, b, others) >= 0.0)
        & (_measure_area(b, c, others) >= 0.0)
        & (_measure_area(c, a, others) >= 0.0)
    )
    return not bool(inside.any())
