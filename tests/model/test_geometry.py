"""Extents of primitives and centroids of extruded outlines, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from trimesh import creation

from simwright.core.math3d import Pose, quat_from_axis_angle, vec3
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
    box_bounds,
    cut_faces,
    find_lowest,
)
from simwright.model.moments import compute_moments, hull_points

TRIANGLE = np.array(((1.0, 2.0), (4.0, 2.0), (1.0, 8.0)))


@pytest.mark.parametrize(
    ("geometry", "lower", "upper"),
    [
        (Box.of(1.0, 2.0, 3.0), (-0.5, -1.0, -1.5), (0.5, 1.0, 1.5)),
        (Sphere(0.7), (-0.7, -0.7, -0.7), (0.7, 0.7, 0.7)),
        (Ellipsoid(vec3(0.1, 0.2, 0.3)), (-0.1, -0.2, -0.3), (0.1, 0.2, 0.3)),
        (Cylinder(0.2, 3.0), (-0.2, -0.2, -1.5), (0.2, 0.2, 1.5)),
        (Cone(0.4, 5.0), (-0.4, -0.4, -2.5), (0.4, 0.4, 2.5)),
        (Capsule(0.2, 3.0), (-0.2, -0.2, -1.7), (0.2, 0.2, 1.7)),
        (Plane(np.array((4.0, 6.0))), (-2.0, -3.0, 0.0), (2.0, 3.0, 0.0)),
        (Polyline((TRIANGLE, TRIANGLE * 0.9), 0.3), (0.9, 1.8, 0.0), (4.0, 8.0, 0.3)),
        (Heightfield(np.array(((0.1, 0.5), (0.2, 0.3))), np.array((2.0, 6.0)), base=0.4), (-1, -3, -0.4), (1, 3, 0.5)),
        (Heightfield(np.array(((-0.7, 0.5), (0.2, 0.3))), np.array((2.0, 6.0)), base=0.4), (-1, -3, -0.7), (1, 3, 0.5)),
    ],
)  # fmt: skip
def test_the_extent_of_a_primitive(geometry, lower, upper):
    low, high = box_bounds(geometry)
    assert low == pytest.approx(lower, abs=1e-15)
    assert high == pytest.approx(upper, abs=1e-15)


def test_what_has_no_extent():
    assert box_bounds(Plane()) is None
    assert box_bounds(Mesh(MeshData(np.zeros((0, 3)), np.zeros(0, dtype=np.int32)))) is None


@pytest.mark.parametrize("winding", [1, -1])
def test_the_centroid_of_an_extruded_triangle(winding):
    moments = compute_moments(Polyline((TRIANGLE[::winding],), 0.5))
    assert moments.volume == pytest.approx(9.0 * 0.5, rel=1e-14)
    assert moments.center == pytest.approx((2.0, 4.0, 0.25), rel=1e-14)
    # of a right triangle with legs b, h about its centroid: b h^3 / 36, b^3 h / 36 and -b^2 h^2 / 72
    assert moments.second[0, 0] == pytest.approx(0.5 * 3.0**3 * 6.0 / 36.0, rel=1e-13)
    assert moments.second[1, 1] == pytest.approx(0.5 * 3.0 * 6.0**3 / 36.0, rel=1e-13)
    assert moments.second[0, 1] == pytest.approx(-0.5 * 3.0**2 * 6.0**2 / 72.0, rel=1e-13)
    assert moments.second[2, 2] == pytest.approx(4.5 * 0.5**2 / 12.0, rel=1e-13)
    assert moments.second[:2, 2] == pytest.approx((0.0, 0.0), abs=1e-15)


@pytest.mark.parametrize("winding", [1, -1])
def test_a_hole_beside_the_middle_moves_the_centroid(winding):
    """A 4 x 2 plate from the origin with a unit hole whose middle is at (3, 1)."""
    plate = np.array(((0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)))
    hole = np.array(((2.5, 0.5), (3.5, 0.5), (3.5, 1.5), (2.5, 1.5)))
    moments = compute_moments(Polyline((plate, hole[::winding]), 0.1))
    assert moments.volume == pytest.approx(0.7, rel=1e-14)
    assert moments.center == pytest.approx(((8.0 * 2.0 - 3.0) / 7.0, 1.0, 0.05), rel=1e-14)


def test_a_hole_as_large_as_the_outline_leaves_nothing():
    assert compute_moments(Polyline((TRIANGLE, TRIANGLE), 1.0)).volume == 0.0
    assert compute_moments(Polyline((TRIANGLE, TRIANGLE * 2.0), 1.0)).volume == 0.0


def test_faces_of_four_corners_are_cut_along_their_shorter_diagonal():
    # two rhombs, far from the origin: one is short across, one along
    low = np.array(((-1.0, 0, 0), (0, -2, 0), (1, 0, 0), (0, 2, 0)))
    wide = np.array(((-2.0, 0, 0), (0, -1, 0), (2, 0, 0), (0, 1, 0)))
    data = MeshData(np.concatenate((low, wide)) + 7.0, np.arange(8, dtype=np.int32), np.array((4, 4)))
    assert [sorted(row) for row in cut_faces(data).tolist()] == [[0, 1, 2], [0, 2, 3], [4, 5, 7], [5, 6, 7]]


def test_a_hull_has_its_faces_in_one_order():
    points = np.random.default_rng(0).normal(size=(20_000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hulls = [hull_points(points) for _ in range(3)]
    faces = [hull[1] for hull in hulls if hull is not None]
    assert len(faces) == 3
    assert np.array_equal(faces[0], faces[1])
    assert np.array_equal(faces[0], faces[2])
    assert np.all(faces[0][:, 0] == faces[0].min(axis=1))
    # still turned outwards: the volume is that of the ball, nearly
    corners = hulls[0][0][faces[0]]
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6.0
    assert volume == pytest.approx(4.0 / 3.0 * np.pi, rel=1e-3)


@pytest.mark.parametrize(
    ("geometry", "points"),
    [
        (Box.of(0.2, 0.4, 0.6), creation.box((0.2, 0.4, 0.6)).vertices),
        (Sphere(0.3), creation.icosphere(5, 0.3).vertices),
        (Ellipsoid(vec3(0.1, 0.2, 0.3)), creation.icosphere(5).vertices * (0.1, 0.2, 0.3)),
        (Cylinder(0.2, 0.5), creation.cylinder(0.2, 0.5, 256).vertices),
        (Cone(0.2, 0.5), creation.cone(0.2, 0.5, 256).vertices - (0.0, 0.0, 0.25)),
        (Capsule(0.1, 0.4), creation.capsule(0.4, 0.1, (64, 64)).vertices),
    ],
)
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.3, -0.8, 0.2)])
def test_the_lowest_point_is_that_of_the_surface(geometry, points, axis):
    place = Pose.of((0.1, -0.2, 1.0), quat_from_axis_angle(axis, 2.0))
    scale = np.array((2.0, 2.0, 2.0) if isinstance(geometry, Sphere | Capsule) else (2.0, 0.5, 1.5))
    # corners of a fine mesh of the surface, made by others: none is lower, and one nearly is as low
    points = points - (points.max(axis=0) + points.min(axis=0)) / 2
    heights = place.apply(points * scale)[:, 2]
    assert -1e-9 <= heights.min() - find_lowest(geometry, place, scale) < 1e-3


def test_without_bounds_there_is_no_lowest_point():
    assert find_lowest(Plane(), Pose.of(), np.ones(3)) is None
