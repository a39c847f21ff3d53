# SPDX-License-Identifier: Apache-2.0
"""Volume, centre and inertia of every geometry at unit density, with scale.

Closed forms for the primitives (scaled exactly: a stretched sphere is an ellipsoid, a stretched mesh uses
its second moments), the divergence theorem for closed meshes.  Everything comes from the second-moment
matrix ``S = integral of x x^T dV``; inertia is ``trace(S) I - S``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, VectorLike, vec3
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Faces,
    Geometry,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
    find_first,
)
from simwright.model.inertia import Inertial


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Volume [m^3], centroid [m] and central second moments [m^5] of a solid."""

    volume: float
    center: Array
    second: Array

    def inertial(self, density: float) -> Inertial:
        """Mass properties at a density [kg/m^3]."""
        second = self.second * density
        return Inertial(self.volume * density, self.center.copy(), np.trace(second) * np.eye(3) - second)

    def scaled(self, scale: VectorLike) -> Moments:
        """Moments after stretching along the axes; a mirrored solid keeps a positive volume."""
        s = vec3(scale)
        factor = abs(float(np.prod(s)))
        return Moments(self.volume * factor, self.center * s, self.second * np.outer(s, s) * factor)


NOTHING = Moments(0.0, vec3(), np.zeros((3, 3)))


def compute_moments(geometry: Geometry, scale: VectorLike | None = None) -> Moments:
    """Moments of a solid geometry; surfaces without volume (planes, open meshes) give what they give."""
    moments = _moments(geometry)
    return moments if scale is None else moments.scaled(scale)


def _moments(geometry: Geometry) -> Moments:
    match geometry:
        case Box():
            volume = float(np.prod(geometry.size))
            return _diagonal(volume, volume / 12.0 * geometry.size**2)
        case Sphere():
            volume = 4.0 / 3.0 * math.pi * geometry.radius**3
            return _diagonal(volume, np.full(3, volume * geometry.radius**2 / 5.0))
        case Ellipsoid():
            volume = 4.0 / 3.0 * math.pi * float(np.prod(geometry.radii))
            return _diagonal(volume, volume / 5.0 * geometry.radii**2)
        case Cylinder():
            return _cylinder(geometry.radius, geometry.length)
        case Capsule():
            return _capsule(geometry.radius, geometry.length)
        case Cone():
            volume = math.pi * geometry.radius**2 * geometry.length / 3.0
            radial = volume * 3.0 / 20.0 * geometry.radius**2
            # about the centroid, a quarter of the height above the base
            axial = volume * 3.0 / 80.0 * geometry.length**2
            return Moments(volume, vec3(0, 0, -geometry.length / 4.0), np.diag((radial, radial, axial)))
        case Mesh():
            data = geometry.data
            return mesh_moments(data.vertices, data.triangles())
        case Polyline():
            return _polyline_moments(geometry)
        case Heightfield():
            vertices, triangles = heightfield_solid(geometry)
            return mesh_moments(vertices, triangles)
        case Plane():
            return NOTHING


def _diagonal(volume: float, second: Array) -> Moments:
    return Moments(volume, vec3(), np.diag(second))


def _cylinder(radius: float, length: float) -> Moments:
    volume = math.pi * radius**2 * length
    radial = volume * radius**2 / 4.0
    return _diagonal(volume, np.array((radial, radial, volume * length**2 / 12.0)))


def _capsule(radius: float, length: float) -> Moments:
    body = _cylinder(radius, length)
    caps = 4.0 / 3.0 * math.pi * radius**3
    radial = caps * radius**2 / 5.0
    # a half ball's centroid is 3r/8 above its disc; integrate z^2 over both caps about the middle
    half = length / 2.0
    axial = caps * (radius**2 / 5.0 + 2.0 * half * 3.0 * radius / 8.0 + half**2)
    return _diagonal(body.volume + caps, np.diag(body.second) + np.array((radial, radial, axial)))


def mesh_moments(vertices: npt.NDArray[Any], triangles: Faces) -> Moments:
    """Moments of the solid bounded by a closed triangle mesh, by signed tetrahedra.

    Vertices are centred first, so a mesh far from its origin loses no digits.  Inward winding gives the same
    result as outward; the sign of the volume is taken out.
    """
    if len(triangles) == 0:
        return NOTHING
    vertices = np.asarray(vertices, dtype=np.float64)
    used = vertices[triangles]
    origin = used.reshape(-1, 3).mean(axis=0)
    a, b, c = (used[:, i] - origin for i in range(3))
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = float(six_volumes.sum()) / 6.0
    # an open or flat mesh: there is nothing to divide by
    if volume == 0.0 or not math.isfinite(volume):
        return Moments(0.0, origin, np.zeros((3, 3)))
    total = a + b + c
    first = (six_volumes[:, None] * total).sum(axis=0) / 24.0
    weighted = six_volumes[:, None]
    second = (
        (weighted * a).T @ a + (weighted * b).T @ b + (weighted * c).T @ c + (weighted * total).T @ total
    ) / 120.0
    center = first / volume
    second = second - volume * np.outer(center, center)
    # inward triangles give the negative of everything
    return Moments(abs(volume), origin + center, second * math.copysign(1.0, volume))


MANY_TRIANGLES = 1 << 18
"""Triangles that are worked on at once by :func:`meshes_moments` [number]."""


def meshes_moments(meshes: Sequence[tuple[npt.NDArray[Any], Faces]]) -> list[Moments]:
    """:func:`mesh_moments` of many meshes; small ones are worked on together, which is much faster."""
    result: list[Moments] = []
    batch: list[tuple[npt.NDArray[Any], Faces]] = []
    total = 0
    for vertices, triangles in meshes:
        # a bound for the memory of the arrays that a batch is worked on with
        if batch and total + len(triangles) > MANY_TRIANGLES:
            result += _batch_moments(batch)
            batch, total = [], 0
        batch.append((vertices, triangles))
        total += len(triangles)
    return result + _batch_moments(batch)


def _batch_moments(meshes: list[tuple[npt.NDArray[Any], Faces]]) -> list[Moments]:
    if len(meshes) == 1:
        return [mesh_moments(*meshes[0])]
    counts = np.array([len(triangles) for _, triangles in meshes], dtype=np.int64)
    full = np.flatnonzero(counts)
    result = [NOTHING] * len(meshes)
    if len(full) == 0:
        return result
    counts = counts[full]
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))

    def add(rows: Array) -> Array:
        return np.add.reduceat(rows, starts, axis=0)

    used = np.concatenate([meshes[i][0][meshes[i][1]] for i in full.tolist()]).astype(np.float64, copy=False)
    origin = add(used.sum(axis=1)) / (3.0 * counts)[:, None]
    used = used - np.repeat(origin, counts, axis=0)[:, None]
    a, b, c = used[:, 0], used[:, 1], used[:, 2]
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = add(six_volumes) / 6.0
    sums = a + b + c
    first = add(six_volumes[:, None] * sums) / 24.0
    corners = np.stack((a, b, c, sums), axis=1)
    second = add(np.einsum("n,nki,nkj->nij", six_volumes, corners, corners)) / 120.0
    flat = (volume == 0.0) | ~np.isfinite(volume)
    center = first / np.where(flat, 1.0, volume)[:, None]
    second = second - volume[:, None, None] * (center[:, :, None] * center[:, None, :])
    for row, i in enumerate(full.tolist()):
        if flat[row]:
            result[i] = Moments(0.0, origin[row], np.zeros((3, 3)))
        else:
            size = float(volume[row])
            result[i] = Moments(abs(size), origin[row] + center[row], second[row] * math.copysign(1.0, size))
    return result


def encloses(vertices: npt.NDArray[Any], triangles: Faces) -> bool:
    """Does a triangle mesh enclose a volume: does every edge have its reverse?

    Points at the same place, within a millionth of the mesh's size, are one: exporters split them, some by rounding.
    Sums of hashes tell, so of 2**64 open meshes one may pass.
    """
    size = len(vertices)
    # welding is slow; most closed meshes need none
    return len(triangles) > 0 and (
        has_reverses(triangles, size) or has_reverses(weld(vertices)[triangles], size)
    )


def has_reverses(triangles: npt.NDArray[Any], size: int) -> bool:
    """Has every edge of triangles its reverse, as often?  A sum tells, so of 2**60 meshes without one may pass.

    ``size`` is the number of points.  Each edge adds a product of two random numbers of its ends, less the product the
    other way round: an edge and its reverse cancel, one with two equal ends adds nothing.
    """
    numbers = np.arange(1, 2 * size + 1, dtype=np.uint64)
    numbers *= np.uint64(0x9E3779B97F4A7C15)
    numbers ^= numbers >> np.uint64(29)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= numbers >> np.uint64(32)
    ones, others = numbers[:size], numbers[size:]
    columns = [np.ascontiguousarray(column) for column in triangles.T]
    a, b, c = (others.take(column) for column in columns)
    total = ones.take(columns[0]) * (b - c)
    total += ones.take(columns[1]) * (c - a)
    total += ones.take(columns[2]) * (a - b)
    return not int(total.sum(dtype=np.uint64))


_FLAT = 1e-6
_COUNTED = 1 << 21
"""Cubes of numbers below it are whole numbers of 64 bits."""


def weld(points: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """A number for each place: points in one group along every axis are one."""
    limit = _FLAT * float(np.ptp(points, axis=0).max())
    count = len(points) + 1
    number = np.zeros(len(points), dtype=np.int64)
    for values in points.T:
        order = np.argsort(values)
        sorted_values = values[order]
        group = np.zeros(len(points), dtype=np.int64)
        group[order[1:]] = np.cumsum(np.diff(sorted_values) > limit)
        # below a number of points for each of three axes, whatever the groups before are
        number = (number if count < _COUNTED else find_first(number.view(np.uint64))) * count + group
    return find_first(number.view(np.uint64)).astype(np.int64)


def hull_points(points: npt.NDArray[Any]) -> tuple[Array, Faces] | None:
    """Vertices and triangles of the convex hull; None where the points have no volume."""
    import manifold3d

    # flat points have no hull with a volume
    if len(points) < 4 or _is_flat(points):
        return None
    mesh = manifold3d.Manifold.hull_points(np.ascontiguousarray(points, dtype=np.float32)).to_mesh()
    faces = np.asarray(mesh.tri_verts, dtype=np.int32)
    if len(faces) < 4:
        return None
    return np.asarray(mesh.vert_properties, dtype=np.float64)[:, :3], _sort_faces(faces)


_LEANING = 1e-5
"""How far points may be beyond a face of a convex mesh, as a share of its size."""
_FILLED = 1e-4
_PROBES = 64


def fills_hull(points: npt.NDArray[Any], triangles: Faces) -> bool:
    """Is a mesh no more than its convex hull: the same volume within the same area?  Also where there is no hull."""
    is_used = np.zeros(len(points), dtype=bool)
    is_used[triangles.reshape(-1)] = True
    used = points[is_used].astype(np.float64)
    # before the hull, which is slow: most meshes that are not convex have points on both sides of some of these
    if not len(used) or _has_hollows(used, points[triangles[:: max(1, len(triangles) // _PROBES)]]):
        return not len(used)
    hull = hull_points(used)
    if hull is None:
        return True
    volumes = [mesh_moments(*mesh).volume for mesh in ((points, triangles), hull)]
    areas = [
        float(np.linalg.norm(_cross_sides(mesh[0][mesh[1]]), axis=1).sum())
        for mesh in ((points, triangles), hull)
    ]
    return all(abs(own - around) <= _FILLED * around for own, around in (volumes, areas))


def _has_hollows(points: Array, corners: npt.NDArray[Any]) -> bool:
    """Are points on both sides of one of some triangles?"""
    size = float(np.ptp(points, axis=0).max())
    crosses = _cross_sides(corners.astype(np.float64))
    areas = np.linalg.norm(crosses, axis=1)
    # the direction of a sliver is rounding
    kept = areas > _LEANING * size**2
    normals = crosses[kept] / areas[kept, None]
    heights = points @ normals.T - np.einsum("ij,ij->i", corners[kept, 0], normals)
    return bool(np.any((heights.max(axis=0) > _LEANING * size) & (heights.min(axis=0) < -_LEANING * size)))


def _cross_sides(corners: npt.NDArray[Any]) -> Array:
    """Normals of triangles, as long as twice their areas."""
    a, b, c = (corners[:, place] for place in range(3))
    return np.asarray(np.cross(b - a, c - a))


def _sort_faces(faces: Faces) -> Faces:
    """The same triangles by their corners, the least one first.

    Manifold (3.5) hands out those of a large hull in another order in every run, as its threads take turns.
    """
    first = np.argmin(faces, axis=1)[:, None]
    turned = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    ordered: Faces = np.ascontiguousarray(turned[np.lexsort(turned.T[::-1])])
    return ordered


def _is_flat(points: npt.NDArray[Any]) -> bool:
    centred = points - points.mean(axis=0)
    spread = np.linalg.eigvalsh(centred.T @ centred)
    return bool(spread[0] <= _FLAT**2 * max(float(spread[2]), 1e-30))


def _polyline_moments(geometry: Polyline) -> Moments:
    """Extruded outlines: holes (loops after the first) subtract."""
    area, first, second = 0.0, np.zeros(2), np.zeros((2, 2))
    for number, loop in enumerate(geometry.loops):
        a, m1, m2 = _outline_moments(loop)
        # an outline may run either way: its area counts by size
        sign = math.copysign(1.0, a) * (1.0 if number == 0 else -1.0)
        area, first, second = area + sign * a, first + sign * m1, second + sign * m2
    if area <= 0.0:
        return NOTHING
    height = geometry.height
    middle = first / area
    volume = area * height
    full = np.zeros((3, 3))
    full[:2, :2] = (second - area * np.outer(middle, middle)) * height
    full[2, 2] = volume * height**2 / 12.0
    return Moments(volume, vec3(float(middle[0]), float(middle[1]), height / 2.0), full)


def _outline_moments(loop: npt.NDArray[Any]) -> tuple[float, Array, Array]:
    """Signed area, first and second moments of a polygon about the origin."""
    p = np.asarray(loop, dtype=np.float64)
    n = np.roll(p, -1, axis=0)
    cross = p[:, 0] * n[:, 1] - n[:, 0] * p[:, 1]
    total = p + n
    first = (cross[:, None] * total).sum(axis=0) / 6.0
    weighted = cross[:, None]
    second = ((weighted * p).T @ p + (weighted * n).T @ n + (weighted * total).T @ total) / 24.0
    return float(cross.sum()) / 2.0, first, second


def outline_solid(geometry: Polyline) -> tuple[Array, Faces] | None:
    """Closed triangle mesh of extruded outlines; None where they enclose nothing."""
    # imported here: it is large, and outlines are rare
    import manifold3d

    loops = [np.asarray(loop, dtype=np.float64) for loop in geometry.loops]
    section = manifold3d.CrossSection(loops, manifold3d.FillRule.EvenOdd)
    mesh = manifold3d.Manifold.extrude(section, geometry.height).to_mesh64()
    faces = np.asarray(mesh.tri_verts, dtype=np.int32)
    return (np.asarray(mesh.vert_properties)[:, :3], faces) if len(faces) else None


def heightfield_solid(geometry: Heightfield) -> tuple[Array, Faces]:
    """Closed triangle mesh of a heightfield standing on ``-base`` (or on its lowest point)."""
    heights = np.asarray(geometry.heights, dtype=np.float64)
    rows, columns = heights.shape
    x = np.linspace(-geometry.size[0] / 2, geometry.size[0] / 2, columns)
    y = np.linspace(-geometry.size[1] / 2, geometry.size[1] / 2, rows)
    gx, gy = np.meshgrid(x, y)
    # MJCF's heightfields stand on a base below their lowest point
    floor = min(-geometry.base, float(heights.min()))
    top = np.stack((gx, gy, heights), axis=-1).reshape(-1, 3)
    bottom = np.stack((gx, gy, np.full_like(gx, floor)), axis=-1).reshape(-1, 3)
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    upper = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3)
    rim = np.concatenate((index[0, :-1], index[:-1, -1], index[-1, :0:-1], index[:0:-1, 0]))
    after = np.roll(rim, -1)
    offset = rows * columns
    sides = np.stack((rim, after + offset, after, rim, rim + offset, after + offset), axis=-1)
    triangles = np.concatenate((upper, upper[:, ::-1] + offset, sides.reshape(-1, 3)))
    return np.concatenate((top, bottom)), triangles.astype(np.int32)
