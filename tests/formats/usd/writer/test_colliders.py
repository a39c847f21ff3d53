"""What is touched in a written asset: hulls by default, the source's triangles as a choice, prototypes for copies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd
from writing import make_trip

import simwright
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.formats.usd.writer.solids import is_closed, make_hull, make_round
from simwright.model.asset import Asset, Body, ContactFilter, Shape
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Capsule, Cone, Cylinder, Ellipsoid, Mesh, MeshData, Plane, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.material import PhysicsMaterial

POSE = Pose.of((0.1, 0.2, 0.3), quat_from_rpy((0.4, -0.3, 1.0)))
CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
BLOCK = np.array([
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
    (1, 5, 7), (1, 7, 3),
])  # fmt: skip


def make_asset(*shapes: Shape) -> Asset:
    """One body with all shapes."""
    body = Body("part", inertial=Inertial(1.0, np.zeros(3), np.eye(3)))
    for shape in shapes:
        shape.body = "part"
    return Asset("prop", [body], shapes=list(shapes))


def make_bowl() -> Mesh:
    """A block with an open top and a dent in a side: neither closed nor convex."""
    points = np.concatenate((CORNERS, [(0.5, 1.0, 1.5)]))
    faces = [face for face in BLOCK.tolist() if face not in ([1, 5, 7], [1, 7, 3], [0, 1, 3], [0, 3, 2])]
    faces += [[0, 1, 8], [1, 3, 8], [3, 2, 8], [2, 0, 8]]
    return Mesh.of(points, np.array(faces))


def find_errors(entry: Path) -> list[str]:
    (asset,) = simwright.check(entry).assets
    return [f"{f.kind} {f.message}" for f in asset.findings if f.level.name != "INFO"]


def switch(stage: Usd.Stage, variant: str) -> Usd.Prim:
    scope = stage.GetPrimAtPath("/prop/part/collision")
    assert scope.GetVariantSet("collision_fidelity").SetVariantSelection(variant)
    return stage.GetPrimAtPath("/prop/part/collision/m")


def test_open_mesh_is_its_hull_and_keeps_its_triangles(tmp_path):
    trip = make_trip(make_asset(Shape("m", make_bowl(), collision=True, visual=False)), tmp_path / "out")
    assert "usd-write-collider-open" in trip.kinds
    assert find_errors(trip.entry) == []
    assert len(switch(trip.stage, "baseline").GetAttribute("points").Get()) == 8
    fine = switch(trip.stage, "advanced")
    assert len(fine.GetAttribute("points").Get()) == 9
    assert fine.GetAttribute("physics:approximation").Get() == "none"


def test_closed_mesh_is_not_said_to_be_open(tmp_path):
    trip = make_trip(make_asset(Shape("m", Mesh.of(CORNERS, BLOCK), collision=True)), tmp_path / "out")
    assert "usd-write-collider-open" not in trip.kinds
    assert find_errors(trip.entry) == []


def test_hull_is_closed_and_faces_outwards():
    hull = make_hull(make_bowl().data, np.array((-1.0, 2.0, 1.0)))
    assert is_closed(hull)
    a, b, c = (hull.vertices[i] for i in hull.triangles().T)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(12.0)
    assert not is_closed(make_bowl().data)


def test_split_points_are_one_place():
    corners = CORNERS[BLOCK.reshape(-1)]
    assert is_closed(MeshData(corners + np.linspace(0.0, 1e-7, 36)[:, None], np.arange(36, dtype=np.int32)))


def test_flat_mesh_has_no_hull(tmp_path):
    flat = Mesh.of(CORNERS[:4], np.array([(0, 1, 3), (0, 3, 2)]))
    trip = make_trip(make_asset(Shape("m", flat, collision=True, visual=False)), tmp_path / "out")
    (found,) = trip.back.shapes
    assert len(found.geometry.data.vertices) == 4


@pytest.mark.parametrize(
    ("geometry", "volume"),
    [
        (Sphere(0.5), np.pi / 6),
        (Ellipsoid(np.array((0.1, 0.2, 0.3))), 0.008 * np.pi),
        (Capsule(0.2, 0.7), np.pi * (0.04 * 0.7 + 0.032 / 3)),
        (Cylinder(0.2, 0.7), np.pi * 0.04 * 0.7),
        (Cone(0.2, 0.7), np.pi * 0.04 * 0.7 / 3),
    ],
)
def test_round_bodies_as_meshes_have_their_volume(geometry, volume):
    mesh = make_round(geometry, np.array((1.0, 2.0, 3.0)))
    assert is_closed(mesh)
    a, b, c = (mesh.vertices[i] for i in mesh.triangles().T)
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(6.0 * volume, rel=0.011)


def test_ellipsoid_collider_is_a_mesh_for_others_and_an_ellipsoid_for_us(tmp_path):
    radii = np.array((0.1, 0.2, 0.3))
    trip = make_trip(make_asset(Shape("m", Ellipsoid(radii), pose=POSE, collision=True)), tmp_path / "out")
    assert trip.stage.GetPrimAtPath("/prop/part/collision/m").GetTypeName() == "Mesh"
    assert find_errors(trip.entry) == []
    assert "usd-write-collider-round" in trip.kinds
    found = next(shape for shape in trip.back.shapes if shape.collision)
    assert found.geometry.kind == "ellipsoid"
    assert found.geometry.radii.tolist() == radii.tolist()


def test_whoever_edits_the_mesh_of_an_ellipsoid_is_believed(tmp_path):
    shape = Shape("m", Ellipsoid(np.array((0.1, 0.2, 0.3))), collision=True, visual=False)
    trip = make_trip(make_asset(shape), tmp_path / "out")
    stage = Usd.Stage.Open(str(trip.entry))
    prim = stage.GetPrimAtPath("/prop/part/collision/m")
    prim.GetAttribute("points").Set([p * 2 for p in prim.GetAttribute("points").Get()])
    prim.GetAttribute("extent").Set([p * 2 for p in prim.GetAttribute("extent").Get()])
    stage.Export(str(tmp_path / "edited.usda"))
    (found,) = simwright.load(tmp_path / "edited.usda").shapes
    assert found.geometry.kind == "mesh"


def test_evenly_scaled_primitives_stay_primitives(tmp_path):
    scale = np.array((2.0, 2.0, 3.0))
    shapes = [Shape("c", Cylinder(0.2, 0.7), scale=scale, collision=True, visual=False)]
    shapes += [Shape("p", Plane(np.array((2.0, 3.0))), scale=scale, collision=True, visual=False)]
    trip = make_trip(make_asset(*shapes), tmp_path / "out")
    cylinder, plane = (shape.geometry for shape in trip.back.shapes)
    assert (cylinder.radius, cylinder.length) == pytest.approx((0.4, 2.1))
    assert plane.size.tolist() == pytest.approx([4.0, 6.0])


def make_feet(count: int) -> list[Shape]:
    return [
        Shape(f"foot_{n}", make_bowl(), pose=Pose.of((3.0 * n, 0, 0)), collision=True, visual=False)
        for n in range(count)
    ]


def test_repeated_colliders_share_a_prototype(tmp_path):
    feet = make_feet(4)
    feet[3].physics_material = "ice"
    asset = make_asset(*feet)
    asset.physics_materials = [PhysicsMaterial("ice", 0.01, 0.01, restitution=0.0)]
    trip = make_trip(asset, tmp_path / "out")
    prims = [trip.stage.GetPrimAtPath(f"/prop/part/collision/foot_{n}") for n in range(4)]
    assert all(prim.IsInstance() for prim in prims)
    assert len({prim.GetPrototype().GetPath() for prim in prims}) <= 2
    assert find_errors(trip.entry) == []
    assert [shape.name for shape in trip.back.shapes] == [f"foot_{n}" for n in range(4)]
    assert {shape.approximation.token for shape in trip.back.shapes} == {"convexHull"}
    assert [shape.physics_material for shape in trip.back.shapes][3] == "ice"
    again = simwright.load(trip.entry, variants={"collision_fidelity": "advanced"})
    assert {shape.approximation.token for shape in again.shapes} == {"none"}
    assert all(len(shape.geometry.data.vertices) == 9 for shape in again.shapes)


def test_colliders_with_other_settings_have_another_prototype(tmp_path):
    feet = make_feet(6)
    for foot in feet[3:]:
        foot.margin = 0.01
    trip = make_trip(make_asset(*feet), tmp_path / "out")
    margins = [shape.margin for shape in trip.back.shapes]
    assert margins[:3] == [None] * 3
    assert margins[3:] == pytest.approx([0.01] * 3)


def test_colliders_that_are_filtered_one_by_one_are_no_instances(tmp_path):
    asset = make_asset(*make_feet(3))
    asset.bodies.append(Body("other", inertial=Inertial(1.0, np.zeros(3), np.eye(3))))
    asset.shapes.append(Shape("ball", Sphere(0.1), "other", collision=True))
    asset.contact_filters = [ContactFilter("foot_0", "ball", "shape")]
    trip = make_trip(asset, tmp_path / "out")
    assert find_filtered_pairs(trip.back) == find_filtered_pairs(asset)
    assert not trip.stage.GetPrimAtPath("/prop/part/collision/foot_0").IsInstance()


def test_impossible_inertia_is_repaired_for_others_and_kept_for_us(tmp_path):
    asset = make_asset(Shape("m", Sphere(0.1), collision=True))
    moments = np.array((-1e-9, 3e-6, 1e-9))
    asset.bodies[0].inertial = Inertial(1.0, np.zeros(3), np.diag(moments))
    trip = make_trip(asset, tmp_path / "out")
    assert "usd-write-inertia-impossible" in trip.kinds
    written = trip.stage.GetPrimAtPath("/prop/part").GetAttribute("physics:diagonalInertia").Get()
    assert sorted(written) == pytest.approx([1.5e-6, 1.5e-6, 3e-6], rel=1e-2)
    assert find_errors(trip.entry) == []
    assert np.allclose(trip.back.bodies[0].inertial.inertia, np.diag(moments), rtol=1e-6, atol=1e-18)


@pytest.mark.parametrize("exact", [False, True])
def test_inertia_of_a_plate_stays_possible_in_single_precision(exact, tmp_path):
    """As floats 0.1 and 0.2 are less than 0.3, which MuJoCo refuses."""
    asset = make_asset(Shape("m", Sphere(0.1), collision=True))
    moments = np.array((0.1, 0.2, 0.3))
    asset.bodies[0].inertial = Inertial(1.0, np.zeros(3), np.diag(moments))
    trip = make_trip(asset, tmp_path / "out", exact=exact)
    prim = trip.stage.GetPrimAtPath("/prop/part")
    x, y, z = prim.GetAttribute("physics:diagonalInertia").Get()
    assert x + y >= z
    assert "usd-write-inertia-impossible" not in trip.kinds
    assert prim.HasCustomDataKey("simwright") is exact
    found = np.diag(trip.back.bodies[0].inertial.inertia)
    assert np.allclose(found, moments, rtol=trip.tolerance, atol=0.0)


def test_massless_link_with_a_shape_is_a_frame_of_its_parent(tmp_path):
    asset = make_asset(Shape("m", Sphere(0.1), collision=True))
    asset.bodies.append(Body("bracket", pose=Pose.of((1.0, 0, 0))))
    asset.shapes.append(Shape("plate", Sphere(0.2), "bracket", visual=True))
    asset.joints = [Joint("mount", JointKind.FIXED, "part", "bracket", Pose.of((1.0, 0, 0)))]
    trip = make_trip(asset, tmp_path / "out")
    assert [body.name for body in trip.back.bodies] == ["part"]
    plate = next(shape for shape in trip.back.shapes if shape.name == "plate")
    assert (plate.body, plate.pose.p.tolist()) == ("part", [1.0, 0.0, 0.0])
    assert "bracket" in {site.name for site in trip.back.sites}
    assert find_errors(trip.entry) == []


def test_folded_links_touch_what_they_touched(tmp_path):
    """A joint keeps its two links apart, but not the bracket that is fixed to one of them."""
    asset = make_asset(Shape("m", Sphere(0.1), collision=True))
    asset.bodies += [Body("bracket"), Body("arm", inertial=Inertial(1.0, np.zeros(3), np.eye(3)))]
    asset.shapes += [Shape("plate", Sphere(0.2), "bracket", collision=True)]
    asset.shapes += [Shape("rod", Sphere(0.2), "arm", collision=True)]
    asset.bodies[1].inertial = Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    hinge = Joint("hinge", JointKind.REVOLUTE, "part", "arm", dofs=[Dof(Motion.HINGE, name="hinge")])
    asset.joints = [Joint("mount", JointKind.FIXED, "part", "bracket"), hinge]
    trip = make_trip(asset, tmp_path / "out")
    assert {body.name for body in trip.back.bodies} == {"part", "arm"}
    pairs = {frozenset(pair) for pair in find_filtered_pairs(trip.back)}
    assert frozenset(("m", "rod")) in pairs
    assert frozenset(("plate", "rod")) not in pairs
