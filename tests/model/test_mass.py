"""Mass properties against textbook closed forms and against independent integration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body, Shape
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
)
from simwright.model.inertia import Inertial
from simwright.model.mass import body_inertials, shape_inertial
from simwright.model.material import PhysicsMaterial
from simwright.model.moments import compute_moments

EXACT = 1e-12


def box_mesh(x, y, z, center=(0, 0, 0)):
    """A closed box of triangles, wound outwards."""
    corners = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], float) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [(a, b, c) for a, b, c, d in quads] + [(a, c, d) for a, b, c, d in quads]
    return Mesh.of(corners * (x, y, z) + center, triangles)


def icosphere(levels):
    """Unit sphere by subdivision, for convergence."""
    t = (1 + math.sqrt(5)) / 2
    v = [(-1, t, 0), (1, t, 0), (-1, -t, 0), (1, -t, 0), (0, -1, t), (0, 1, t),
         (0, -1, -t), (0, 1, -t), (t, 0, -1), (t, 0, 1), (-t, 0, -1), (-t, 0, 1)]  # fmt: skip
    f = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2),
         (10, 7, 6), (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5),
         (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]  # fmt: skip
    points = [np.array(p) / np.linalg.norm(p) for p in v]
    for _ in range(levels):
        middle, faces = {}, []

        def mid(a, b, middle=middle):
            key = (min(a, b), max(a, b))
            if key not in middle:
                p = points[a] + points[b]
                middle[key] = len(points)
                points.append(p / np.linalg.norm(p))
            return middle[key]

        for a, b, c in f:
            ab, bc, ca = mid(a, b), mid(b, c), mid(c, a)
            faces += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        f = faces
    return Mesh.of(np.array(points), f)


r, h, m = 0.3, 1.1, 7.0
CLOSED_FORMS = {
    "box": (Box.of(1, 2, 3), 6.0, (0, 0, 0), (13 / 12, 10 / 12, 5 / 12)),
    "sphere": (Sphere(r), 4 / 3 * math.pi * r**3, (0, 0, 0), (0.4 * r * r,) * 3),
    "ellipsoid": (
        Ellipsoid(vec3(1, 2, 3)), 4 / 3 * math.pi * 6, (0, 0, 0), (13 / 5, 10 / 5, 5 / 5),
    ),
    "cylinder": (
        Cylinder(r, h), math.pi * r * r * h, (0, 0, 0),
        (r * r / 4 + h * h / 12, r * r / 4 + h * h / 12, r * r / 2),
    ),
    "cone": (
        Cone(r, h), math.pi * r * r * h / 3, (0, 0, -h / 4),
        (3 / 20 * r * r + 3 / 80 * h * h, 3 / 20 * r * r + 3 / 80 * h * h, 3 / 10 * r * r),
    ),
    "mesh box": (box_mesh(1, 2, 3), 6.0, (0, 0, 0), (13 / 12, 10 / 12, 5 / 12)),
    "polyline": (
        Polyline((np.array([(-0.5, -1), (0.5, -1), (0.5, 1), (-0.5, 1)]),), 3.0),
        6.0, (0, 0, 1.5), (13 / 12, 10 / 12, 5 / 12),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_primitive_matches_its_closed_form(name):
    geometry, volume, center, per_mass = CLOSED_FORMS[name]
    inertial = compute_moments(geometry).inertial(m / volume)
    assert inertial.mass == pytest.approx(m, rel=EXACT)
    assert inertial.com == pytest.approx(center, abs=EXACT)
    assert inertial.inertia == pytest.approx(np.diag(per_mass) * m, rel=EXACT, abs=EXACT)


def test_capsule_is_cylinder_plus_two_half_balls():
    length = 0.8
    inertial = compute_moments(Capsule(r, length)).inertial(1.0)
    m_cyl, m_cap = math.pi * r * r * length, 2 / 3 * math.pi * r**3
    axial = m_cyl * r * r / 2 + 2 * m_cap * 0.4 * r * r
    about_own_com = m_cap * (0.4 - (3 / 8) ** 2) * r * r
    side = m_cyl * (r * r / 4 + length**2 / 12) + 2 * (about_own_com + m_cap * (length / 2 + 3 * r / 8) ** 2)
    assert np.diag(inertial.inertia) == pytest.approx([side, side, axial], rel=EXACT)
    assert inertial.mass == pytest.approx(m_cyl + 2 * m_cap, rel=EXACT)


@pytest.mark.parametrize("scale", [(2, 1, 1), (1, 3, 0.5), (-1, 1, 2)])
def test_scaled_mesh_uses_second_moments(scale):
    size = np.array((1.0, 1.0, 4.0))
    scaled = compute_moments(box_mesh(*size), scale).inertial(1000)
    direct = compute_moments(Box(np.abs(size * scale))).inertial(1000)
    assert scaled.mass == pytest.approx(direct.mass, rel=EXACT)
    assert scaled.inertia == pytest.approx(direct.inertia, rel=EXACT, abs=1e-9)


def test_stretched_sphere_is_an_ellipsoid():
    a = compute_moments(Sphere(1.0), (1, 2, 3)).inertial(1)
    b = compute_moments(Ellipsoid(vec3(1, 2, 3))).inertial(1)
    assert a.inertia == pytest.approx(b.inertia, rel=EXACT)


def test_mesh_far_from_its_origin_loses_no_digits():
    near = compute_moments(box_mesh(0.1, 0.2, 0.3)).inertial(1000)
    far = compute_moments(box_mesh(0.1, 0.2, 0.3, (1000, -2000, 500))).inertial(1000)
    assert far.com == pytest.approx((1000, -2000, 500), abs=1e-9)
    assert far.inertia == pytest.approx(near.inertia, rel=1e-8, abs=1e-12)


def test_inward_winding_gives_the_same_mass():
    mesh = box_mesh(1, 2, 3)
    data = mesh.data
    flipped = Mesh(MeshData(data.vertices, data.indices, left_handed=True))
    a, b = compute_moments(mesh), compute_moments(flipped)
    assert a.volume == pytest.approx(b.volume, rel=EXACT)
    assert a.second == pytest.approx(b.second, rel=EXACT)


def test_quads_weigh_what_triangles_weigh():
    quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    vertices = box_mesh(1, 2, 3).data.vertices
    mesh = Mesh(MeshData(vertices, quads.reshape(-1).astype(np.int32), np.full(6, 4, np.int32)))
    assert compute_moments(mesh).volume == pytest.approx(6.0, rel=EXACT)


def test_icosphere_converges_to_the_ball():
    errors = []
    for level in (2, 3, 4):
        inertial = compute_moments(icosphere(level)).inertial(1.0)
        errors.append(abs(inertial.inertia[0, 0] / (8 / 15 * math.pi) - 1))
    assert errors[0] > 3.5 * errors[1] > 12 * errors[2]


def test_polyline_hole_is_subtracted():
    outer = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    pierced = compute_moments(Polyline((outer, outer * 0.5), 2.0)).inertial(1)
    whole, core = compute_moments(Box.of(2, 2, 2)).inertial(1), compute_moments(Box.of(1, 1, 2)).inertial(1)
    assert pierced.inertia == pytest.approx(whole.inertia - core.inertia, rel=EXACT)


def test_flat_heightfield_is_a_box():
    field = Heightfield(np.full((4, 5), 0.5), np.array((2.0, 3.0)), base=0.5)
    moments = compute_moments(field)
    box = compute_moments(Box.of(2, 3, 1))
    assert moments.volume == pytest.approx(6.0, rel=EXACT)
    assert moments.center == pytest.approx((0, 0, 0), abs=EXACT)
    assert moments.second == pytest.approx(box.second, rel=EXACT, abs=EXACT)


def test_plane_weighs_nothing():
    assert compute_moments(Plane()).inertial(1000).mass == 0


def test_shape_mass_wins_over_density():
    shape = Shape("s", Box.of(1, 1, 1), mass=3.0, density=50.0)
    assert shape_inertial(shape).mass == pytest.approx(3.0)


def test_body_mass_comes_from_enabled_colliders_with_material_density():
    asset = Asset(
        "a",
        bodies=[Body("b")],
        physics_materials=[PhysicsMaterial("steel", density=7800.0)],
        shapes=[
            Shape(
                "x", Box.of(0.1, 0.1, 0.1), "b", Pose.of((1, 0, 0)), collision=True, physics_material="steel"
            ),
            Shape("y", Box.of(0.1, 0.1, 0.1), "b", Pose.of((-1, 0, 0)), collision=True, density=100.0),
            Shape("looks", Box.of(9, 9, 9), "b"),
            Shape("off", Box.of(9, 9, 9), "b", collision=True, enabled=False),
        ],
    )
    inertial = body_inertials(asset)["b"]
    assert inertial.mass == pytest.approx(7.9)
    assert inertial.com[0] == pytest.approx((7.8 - 0.1) / 7.9)


def test_authored_mass_properties_win():
    authored = Inertial(5.0)
    asset = Asset(
        "a", bodies=[Body("b", inertial=authored)], shapes=[Shape("x", Sphere(1), "b", collision=True)]
    )
    assert body_inertials(asset)["b"] is authored
