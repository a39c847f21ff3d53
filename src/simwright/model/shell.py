# SPDX-License-Identifier: Apache-2.0
"""Hollow shapes: the wall below a surface, and the surface itself.

A wall reaches inwards from the surface.  Boxes, balls, cylinders, capsules and cones have an inner surface of
their own kind, so the wall is the difference of two solids; that of an ellipsoid is integrated.  Unevenly
stretched cylinders, capsules and cones get an inner surface of their kind, which is about right.  A closed mesh
is moved in along the planes that meet in each vertex, which is exact where they meet in one point; an open mesh
becomes a sheet.

A surface has an area where a solid has a volume: :class:`Moments` then hold [m^2] and [m^4].
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

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
    Sphere,
)
from simwright.model.moments import NOTHING, Moments, compute_moments, heightfield_solid, mesh_moments

# 64 nodes along a profile and 128 around it: exact to rounding for smooth profiles
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_STEP = 2.0 * math.pi / 128
_AROUND = _STEP * np.arange(128)
_SPREAD = 0.02
_TURNED = 0.25
"""Share of the strongest direction below which the planes at a vertex do not fix a displacement; share of the
area that may turn over before a wall counts as full."""


def measure_wall(geometry: Geometry, scale: VectorLike | None, thickness: float) -> Moments | None:
    """Moments of a wall of ``thickness`` [m]; None if it leaves no hollow."""
    size = np.ones(3) if scale is None else np.abs(vec3(scale))
    match geometry:
        case Box():
            return _hollow_scaled(geometry, size, size * geometry.size / 2.0, thickness)
        case Sphere() | Ellipsoid():
            radii = size * (geometry.radius if isinstance(geometry, Sphere) else geometry.radii)
            # a sphere scaled inwards is again at equal depth everywhere; an ellipsoid is not
            even = np.ptp(radii) <= 1e-9 * radii.max()
            hollow = _hollow_scaled if even else _hollow_ellipsoid
            return hollow(geometry, size, radii, thickness)
        case Cylinder():
            half = size * (geometry.radius, geometry.radius, geometry.length / 2.0)
            return _hollow_scaled(geometry, size, half, thickness)
        case Capsule():
            return _hollow_capsule(geometry, size, thickness)
        case Cone():
            return _hollow_cone(geometry, size, thickness)
        case Mesh() | Heightfield():
            return _hollow_mesh(*_load(geometry, scale), thickness)
        case _:
            return None


def measure_surface(geometry: Geometry, scale: VectorLike | None = None) -> Moments:
    """Moments of the surface: area, centre and central second moments of area."""
    size = np.ones(3) if scale is None else vec3(scale)
    match geometry:
        case Box():
            return _measure_sheet(*_box_sheet(geometry.size * np.abs(size)))
        case Sphere():
            return _measure_revolved([_arc(geometry.radius, 0.0, 0.0, math.pi)], size)
        case Ellipsoid():
            return _measure_revolved([_arc(1.0, 0.0, 0.0, math.pi)], size * geometry.radii)
        case Cylinder():
            r, h = geometry.radius, geometry.length / 2.0
            return _measure_revolved([_line(0.0, h, r, h), _line(r, h, r, -h), _line(r, -h, 0.0, -h)], size)
        case Capsule():
            r, h = geometry.radius, geometry.length / 2.0
            caps = [_arc(r, h, 0.0, math.pi / 2.0), _arc(r, -h, math.pi / 2.0, math.pi)]
            return _measure_revolved([*caps, _line(r, h, r, -h)], size)
        case Cone():
            r, h = geometry.radius, geometry.length / 2.0
            return _measure_revolved([_line(0.0, h, r, -h), _line(r, -h, 0.0, -h)], size)
        case Mesh() | Heightfield():
            return _measure_sheet(*_load(geometry, size))
        case _:
            return NOTHING


def _subtract(outer: Moments, inner: Moments) -> Moments:
    # parallel axes: both parts count about the centre of what is left
    volume = outer.volume - inner.volume
    center = (outer.volume * outer.center - inner.volume * inner.center) / volume
    second = outer.second - inner.second
    for part, sign in ((outer, 1.0), (inner, -1.0)):
        offset = part.center - center
        second = second + sign * part.volume * np.outer(offset, offset)
    return Moments(volume, center, second)


def _hollow_scaled(geometry: Geometry, size: Array, half: Array, thickness: float) -> Moments | None:
    """The inner surface is the outer one, scaled so that each half extent is shorter by the wall."""
    # the walls meet: there is no hollow
    if thickness <= 0.0 or float(half.min()) <= thickness:
        return None
    outer = compute_moments(geometry, size)
    return _subtract(outer, outer.scaled((half - thickness) / half))


def _hollow_ellipsoid(geometry: Geometry, size: Array, radii: Array, thickness: float) -> Moments | None:
    """The inner surface lies ``thickness`` below the outer one, measured along its normal."""
    if thickness <= 0.0 or float(radii.min()) <= thickness:
        return None
    r, z, slope_r, slope_z, weights = _arc(1.0, 0.0, 0.0, math.pi)
    ball, along, around = _turn(r, z, slope_r, slope_z)
    steep = np.linalg.norm(ball / radii, axis=-1, keepdims=True)
    # of the ellipsoid x^2/a^2 + y^2/b^2 + z^2/c^2 = 1, whose points are ball * radii
    normal = ball / radii / steep
    inner = ball * radii - thickness * normal
    slopes = []
    for slope in (along, around):
        # how the unit normal turns along the surface: its derivative without the part along itself
        bend = slope / radii / steep
        bend = bend - normal * np.einsum("kli,kli->kl", normal, bend)[..., None]
        slopes.append(slope * radii - thickness * bend)
    # divergence theorem: volume is a third of the flux of x, second moments a fifth of that of x x^T x
    flux = np.einsum("kli,kli->kl", inner, np.cross(*slopes)) * weights[:, None] * _STEP
    second = np.einsum("kl,kli,klj->ij", flux, inner, inner) / 5.0
    return _subtract(compute_moments(geometry, size), Moments(float(flux.sum()) / 3.0, vec3(), second))


def _hollow_capsule(geometry: Capsule, size: Array, thickness: float) -> Moments | None:
    """The inner capsule has a smaller radius and the same cylindrical part."""
    # a capsule stretched unevenly is none any more: its inner surface is the outer one, smaller
    if not np.allclose(size, size[0], rtol=1e-9):
        half = size * (geometry.radius, geometry.radius, geometry.length / 2.0 + geometry.radius)
        return _hollow_scaled(geometry, size, half, thickness)
    radius, length = geometry.radius * float(size[0]), geometry.length * float(size[0])
    if not 0.0 < thickness < radius:
        return None
    inner = compute_moments(Capsule(radius - thickness, length))
    return _subtract(compute_moments(Capsule(radius, length)), inner)


def _hollow_cone(geometry: Cone, size: Array, thickness: float) -> Moments | None:
    """The inner cone is similar: its base is higher by the wall, its side nearer to the axis."""
    # an elliptic base counts as the round one of its area
    radius = geometry.radius * math.sqrt(float(size[0] * size[1]))
    height = geometry.length * float(size[2])
    if thickness <= 0.0 or radius <= 0.0 or height <= 0.0:
        return None
    # the side, seen along the axis, takes thickness / sin of half the opening angle
    left = height - thickness * (1.0 + math.hypot(radius, height) / radius)
    if left <= 0.0:
        return None
    outer = compute_moments(geometry, size)
    inner = outer.scaled(np.full(3, left / height))
    middle = -height / 2.0 + thickness + left / 4.0
    return _subtract(outer, Moments(inner.volume, vec3(0.0, 0.0, middle), inner.second))


def _load(geometry: Mesh | Heightfield, scale: VectorLike | None) -> tuple[Array, Faces]:
    if isinstance(geometry, Heightfield):
        vertices, triangles = heightfield_solid(geometry)
    else:
        vertices, triangles = np.asarray(geometry.data.vertices, np.float64), geometry.data.triangles()
    return (vertices if scale is None else vertices * vec3(scale)), triangles


def _hollow_mesh(vertices: Array, triangles: Faces, thickness: float) -> Moments | None:
    """Closed: what lies between the mesh and the mesh moved in.  Open: a sheet of that thickness."""
    if thickness <= 0.0 or len(triangles) == 0:
        return None
    # files repeat vertices at seams of normals and texture coordinates: the surface is closed all the same
    points, inverse = np.unique(vertices, axis=0, return_inverse=True)
    corners = inverse.reshape(-1)[triangles].astype(np.int32)
    if not _is_closed(corners):
        sheet = _measure_sheet(vertices, triangles)
        return Moments(sheet.volume * thickness, sheet.center, sheet.second * thickness)
    outer = mesh_moments(points, corners)
    # a wall as thick as the whole thing leaves no hollow
    if outer.volume <= 0.0 or thickness >= float(np.ptp(points, axis=0).min()):
        return None
    moved = points + _move_in(points, corners, thickness)
    inner = mesh_moments(moved, corners)
    # a surface moved through itself has a volume too, and it is the wrong one
    hollow = 0.0 < inner.volume < outer.volume and _keeps_its_side(points, moved, corners)
    return _subtract(outer, inner) if hollow else None


def _keeps_its_side(points: Array, moved: Array, corners: Faces) -> bool:
    """Do most triangles still face the way they did?"""
    before, after = (
        np.cross(p[corners[:, 1]] - p[corners[:, 0]], p[corners[:, 2]] - p[corners[:, 0]])
        for p in (points, moved)
    )
    area = np.linalg.norm(before, axis=1)
    turned = np.einsum("ni,ni->n", before, after) < 0.0
    return float(area[turned].sum()) < _TURNED * float(area.sum())


def _is_closed(corners: Faces) -> bool:
    """Has every edge a neighbour that runs along it the other way?"""
    edges = np.concatenate((corners[:, :2], corners[:, 1:], corners[:, ::2][:, ::-1]))
    # degenerate triangles have edges of no length
    edges = edges[edges[:, 0] != edges[:, 1]]
    forth = edges[np.lexsort(edges.T)]
    back = edges[:, ::-1]
    return bool(np.array_equal(forth, back[np.lexsort(back.T)]))


def _move_in(points: Array, corners: Faces, thickness: float) -> Array:
    """Displacement of each vertex that moves the planes of its triangles in by ``thickness``."""
    a, b, c = (points[corners[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1)
    kept = length > 0.0
    corners, normals = corners[kept], normals[kept] / length[kept, None]
    # negative volume: the triangles face inwards
    if float(np.einsum("ni,ni->", a[kept], normals * length[kept, None])) < 0.0:
        normals = -normals
    planes, push = np.zeros((len(points), 3, 3)), np.zeros((len(points), 3))
    products = normals[:, :, None] * normals[:, None, :]
    for i in range(3):
        # weighted by angle, so that the result does not depend on how a face is cut into triangles
        angle = _corner_angles(points, corners, i)
        np.add.at(planes, corners[:, i], products * angle[:, None, None])
        np.add.at(push, corners[:, i], normals * angle[:, None])
    values, vectors = np.linalg.eigh(planes)
    # at a vertex in a flat place only one direction is fixed: the others must not run away
    strong = values > _SPREAD * values[:, 2:]
    inverse = np.where(strong, 1.0 / np.where(strong, values, 1.0), 0.0)
    along = np.einsum("nji,nj->ni", vectors, push) * inverse
    return np.asarray(-thickness * np.einsum("nij,nj->ni", vectors, along))


def _corner_angles(points: Array, corners: Faces, i: int) -> Array:
    at = points[corners[:, i]]
    u, v = points[corners[:, (i + 1) % 3]] - at, points[corners[:, (i + 2) % 3]] - at
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ni,ni->n", u, v)))


def _measure_sheet(vertices: Array, triangles: Faces) -> Moments:
    """A triangle integrates ``x x^T`` to ``area / 12 (sum of v v^T + s s^T)``, s the sum of its corners."""
    if len(triangles) == 0:
        return NOTHING
    corners = vertices[triangles]
    # centred first: a mesh far from its origin loses no digits
    origin = corners.reshape(-1, 3).mean(axis=0)
    corners = corners - origin
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2.0
    area = float(areas.sum())
    if area <= 0.0 or not math.isfinite(area):
        return NOTHING
    total = a + b + c
    center = areas @ total / 3.0 / area
    rows = np.stack((a, b, c, total), axis=1)
    second = np.einsum("n,nki,nkj->ij", areas, rows, rows) / 12.0
    return Moments(area, origin + center, second - area * np.outer(center, center))


def _box_sheet(size: Array) -> tuple[Array, Faces]:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    return corners, np.concatenate((quads[:, :3], quads[:, (0, 2, 3)])).astype(np.int32)


def _line(r0: float, z0: float, r1: float, z1: float) -> tuple[Array, Array, Array, Array, Array]:
    """Nodes of a straight profile: distance from the axis, height, their slopes, and weights."""
    u = (_NODES + 1.0) / 2.0
    flat = np.ones_like(u)
    return r0 + (r1 - r0) * u, z0 + (z1 - z0) * u, (r1 - r0) * flat, (z1 - z0) * flat, _WEIGHTS / 2.0


def _arc(radius: float, z: float, start: float, end: float) -> tuple[Array, Array, Array, Array, Array]:
    """Nodes of a circular profile around height ``z``; angles from the top."""
    u = start + (end - start) * (_NODES + 1.0) / 2.0
    r, h = radius * np.sin(u), radius * np.cos(u)
    return r, z + h, h, -r, _WEIGHTS * (end - start) / 2.0


def _measure_revolved(profile: list[tuple[Array, Array, Array, Array, Array]], size: Array) -> Moments:
    """A profile turned around Z and stretched: Gauss nodes along it, even ones around, exact to rounding."""
    area, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for points, patch in _patches(profile, size):
        area += float(patch.sum())
        first += np.einsum("kl,kli->i", patch, points)
        second += np.einsum("kl,kli,klj->ij", patch, points, points)
    if area <= 0.0:
        return NOTHING
    center = first / area
    return Moments(area, center, second - area * np.outer(center, center))


def _patches(
    profile: list[tuple[Array, Array, Array, Array, Array]], size: Array
) -> Iterator[tuple[Array, Array]]:
    for *nodes, weights in profile:
        points, along, around = _turn(*nodes)
        patch = np.linalg.norm(np.cross(along * size, around * size), axis=-1)
        yield points * size, patch * weights[:, None] * _STEP


def _turn(r: Array, z: Array, slope_r: Array, slope_z: Array) -> tuple[Array, Array, Array]:
    """Points of a profile turned around Z, and their slopes along the profile and around."""
    cosine, sine = np.cos(_AROUND), np.sin(_AROUND)
    flat = np.ones_like(cosine)
    points = np.stack((np.outer(r, cosine), np.outer(r, sine), np.outer(z, flat)), axis=-1)
    along = np.stack((np.outer(slope_r, cosine), np.outer(slope_r, sine), np.outer(slope_z, flat)), axis=-1)
    around = np.stack((np.outer(-r, sine), np.outer(r, cosine), np.zeros((len(r), len(sine)))), axis=-1)
    return points, along, around
