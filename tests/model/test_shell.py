"""Hollow shapes against closed forms, against differences of solids and against sampling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.model.asset import Shape
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Heightfield, Mesh, Plane, Sphere
from simwright.model.mass import shape_inertial
from simwright.model.moments import compute_moments
from simwright.model.shell import measure_surface, measure_wall

SHAPES = (
    Box.of(0.4, 0.6, 0.8),
    Sphere(0.3),
    Cylinder(0.3, 0.5),
    Capsule(0.2, 0.5),
    Cone(0.3, 0.7),
    Ellipsoid(np.array((0.2, 0.3, 0.4))),
)


def test_the_middle_of_a_sheet_is_weighted_by_area_and_not_by_corners():
    """A square of 2 m cut into one large half and two small quarters: six of nine corners lie in the small half."""
    corners = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 1, 0)]
    sheet = Mesh.of(corners, [(0, 1, 2), (0, 2, 3)])
    cut = Mesh.of(corners, [(0, 1, 2), (0, 4, 3), (4, 2, 3)])
    for mesh in (sheet, cut):
        found = measure_surface(mesh)
        assert found.volume == pytest.approx(4.0)
        np.testing.assert_allclose(found.center, (1.0, 1.0, 0.0), atol=1e-12)


def box_mesh(x, y, z, center=(0.0, 0.0, 0.0)):
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], float) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [(a, b, c) for a, b, c, d in quads] + [(a, c, d) for a, b, c, d in quads]
    return Mesh.of(corners * (x, y, z) + center, triangles)


def signed_distance(geometry, points):
    """Depth below the surface, negative outside; for the shapes whose distance is simple."""
    radial, height = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    match geometry:
        case Box():
            return (geometry.size / 2 - np.abs(points)).min(axis=1)
        case Sphere():
            return geometry.radius - np.linalg.norm(points, axis=1)
        case Cylinder():
            return np.minimum(geometry.radius - radial, geometry.length / 2 - np.abs(height))
        case Capsule():
            beyond = np.maximum(np.abs(height) - geometry.length / 2, 0)
            return geometry.radius - np.hypot(radial, beyond)
        case Cone():
            slant = math.hypot(geometry.radius, geometry.length)
            side = (geometry.length / 2 - height) * geometry.radius - radial * geometry.length
            return np.minimum(side / slant, height + geometry.length / 2)
    raise AssertionError


@pytest.mark.parametrize("geometry", SHAPES[:5], ids=lambda g: g.kind)
def test_a_wall_is_what_lies_less_deep_than_its_thickness(geometry):
    thickness = 0.03
    rng = np.random.default_rng(7)
    points = rng.uniform(-0.45, 0.45, (1_000_000, 3))
    depth = signed_distance(geometry, points)
    inside = points[(depth > 0) & (depth < thickness)]
    volume = 0.9**3 * len(inside) / len(points)
    second = np.cov(inside.T, bias=True) * volume
    wall = measure_wall(geometry, None, thickness)
    assert wall.volume == pytest.approx(volume, rel=0.01)
    np.testing.assert_allclose(wall.center, inside.mean(axis=0), atol=3e-3)
    np.testing.assert_allclose(wall.second, second, atol=0.015 * np.trace(second))


@pytest.mark.parametrize("geometry", SHAPES, ids=lambda g: g.kind)
def test_a_thin_wall_is_its_surface_times_the_thickness(geometry):
    surface, wall = measure_surface(geometry), measure_wall(geometry, None, 1e-7)
    assert wall.volume / 1e-7 == pytest.approx(surface.volume, rel=2e-6)
    np.testing.assert_allclose(wall.center, surface.center, atol=1e-7)
    np.testing.assert_allclose(wall.second / 1e-7, surface.second, rtol=3e-6, atol=1e-9)


def test_surfaces_have_their_closed_forms():
    r, h = 0.3, 0.7
    ball = measure_surface(Sphere(r))
    assert ball.volume == pytest.approx(4 * math.pi * r**2, rel=1e-13)
    np.testing.assert_allclose(ball.second, np.eye(3) * ball.volume * r**2 / 3, atol=1e-14)
    box = measure_surface(Box.of(1, 2, 3))
    assert box.volume == pytest.approx(22)
    assert box.second[0, 0] == pytest.approx(2 * 6 * 0.25 + (2 * 3 + 2 * 2) / 12)
    cone = measure_surface(Cone(r, h))
    side, base = math.pi * r * math.hypot(r, h), math.pi * r**2
    assert cone.volume == pytest.approx(side + base, rel=1e-12)
    assert cone.center[2] == pytest.approx((side * (-h / 2 + h / 3) - base * h / 2) / (side + base))
    spheroid = measure_surface(Sphere(1.0), (1.0, 1.0, 2.0))
    eccentricity = math.sqrt(0.75)
    assert spheroid.volume == pytest.approx(
        2 * math.pi * (1 + 2 / eccentricity * math.asin(eccentricity)), rel=1e-10
    )


def test_a_mesh_wall_is_exact_where_planes_meet_in_points():
    mesh, box = measure_wall(box_mesh(0.4, 0.6, 0.8, (5, 6, 7)), None, 0.05), Box.of(0.4, 0.6, 0.8)
    exact = measure_wall(box, None, 0.05)
    assert mesh.volume == pytest.approx(exact.volume, rel=1e-12)
    np.testing.assert_allclose(mesh.center, (5, 6, 7))
    np.testing.assert_allclose(mesh.second, exact.second, atol=1e-12)
    scaled = measure_wall(box_mesh(1, 1, 1), (0.4, -0.6, 0.8), 0.05)
    np.testing.assert_allclose(scaled.second, exact.second, atol=1e-12)


def test_a_mesh_wound_inwards_or_with_split_vertices_is_the_same():
    data = box_mesh(0.4, 0.6, 0.8).data
    split = np.asarray(data.vertices)[data.triangles()].reshape(-1, 3)
    for mesh in (
        Mesh.of(split, np.arange(len(split)).reshape(-1, 3)),
        Mesh.of(data.vertices, data.triangles()[:, ::-1]),
    ):
        wall = measure_wall(mesh, None, 0.05)
        assert wall.volume == pytest.approx(0.4 * 0.6 * 0.8 - 0.3 * 0.5 * 0.7, rel=1e-12)


def test_an_open_mesh_is_a_sheet():
    plate = Mesh.of([(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    wall = measure_wall(plate, None, 0.01)
    assert wall.volume == pytest.approx(0.02)
    np.testing.assert_allclose(np.diag(wall.second), (0.02 * 4 / 12, 0.02 / 12, 0), atol=1e-15)


@pytest.mark.parametrize(
    "geometry", [*SHAPES, box_mesh(0.4, 0.6, 0.8), Plane(np.array((1.0, 1.0)))], ids=lambda g: g.kind
)
def test_a_wall_that_leaves_no_hollow_is_none(geometry):
    for thickness in (0.45, 0.36):
        assert measure_wall(geometry, None, thickness) is None
    assert measure_wall(geometry, None, 0.0) is None


def test_even_scale_scales_the_shape_but_not_the_wall():
    for geometry in SHAPES:
        wall = measure_wall(geometry, (2.0, 2.0, 2.0), 0.04)
        small = measure_wall(geometry, None, 0.02)
        assert wall.volume == pytest.approx(8 * small.volume, rel=1e-12)
        np.testing.assert_allclose(wall.second, 32 * small.second, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "geometry", [Cylinder(0.3, 0.5), Capsule(0.2, 0.5), Cone(0.3, 0.7)], ids=lambda g: g.kind
)
def test_uneven_walls_are_about_right(geometry):
    wall = measure_wall(geometry, (1.0, 1.3, 1.0), 0.01)
    surface = measure_surface(geometry, (1.0, 1.3, 1.0))
    assert wall.volume == pytest.approx(surface.volume * 0.01, rel=0.1)


def test_heightfields_are_shells_too():
    field = Heightfield(np.full((4, 4), 0.5), np.array((2.0, 2.0)), 0.0)
    assert measure_surface(field).volume == pytest.approx(measure_surface(Box.of(2, 2, 0.5)).volume)


def test_shapes_weigh_their_wall():
    place = Pose.of((1, 2, 3), (1, 0, 0, 0))
    shape = Shape("s", Sphere(0.5), pose=place, settings={"mass_model": "shell", "shell_thickness": 0.1})
    inertial = shape_inertial(shape, 10.0)
    assert inertial.mass == pytest.approx(10 * 4 / 3 * math.pi * (0.5**3 - 0.4**3))
    expected = 10 * 8 / 15 * math.pi * (0.5**5 - 0.4**5)
    np.testing.assert_allclose(np.diag(inertial.inertia), expected)
    np.testing.assert_allclose(inertial.com, (1, 2, 3))


def test_the_margin_is_the_thickness_if_none_is_said():
    shape = Shape("s", Sphere(0.5), margin=0.1, settings={"mass_model": "shell"})
    assert shape_inertial(shape, 1.0).mass == pytest.approx(4 / 3 * math.pi * (0.5**3 - 0.4**3))


def test_without_thickness_only_a_mass_or_a_density_per_area_counts():
    shape = Shape("s", Sphere(0.5), settings={"mass_model": "shell"})
    assert shape_inertial(shape, 1000.0).mass == 0
    shape.mass = 3.0
    np.testing.assert_allclose(np.diag(shape_inertial(shape).inertia), 2 / 3 * 3 * 0.25)
    shape.mass, shape.settings["shell_density"] = None, "area"
    assert shape_inertial(shape, 2.0).mass == pytest.approx(2 * math.pi)


def test_a_full_shell_is_a_solid():
    shape = Shape("s", Box.of(1, 1, 1), settings={"mass_model": "shell", "shell_thickness": 0.5})
    assert shape_inertial(shape, 7.0).mass == pytest.approx(7)
    assert compute_moments(shape.geometry).volume == 1
