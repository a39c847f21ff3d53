"""Geometry, looks and contact of a written asset."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import trimesh
from pxr import Usd
from writing import assert_same_bodies, assert_same_shapes, make_trip

import simwright
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.formats.usd.writer.meshes import make_visual
from simwright.model.asset import Asset, Body, CollisionGroup, ContactFilter, Shape, scaled
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import (
    Approximation,
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
    Subset,
)
from simwright.model.inertia import Inertial
from simwright.model.mass import body_inertials
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture

POSE = Pose.of((0.1, 0.2, 0.3), quat_from_rpy((0.4, -0.3, 1.0)))
CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
QUADS = np.array(
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)], dtype=np.int32
)


def make_block(**extra: object) -> Mesh:
    """A block of quadrilaterals that face outwards."""
    return Mesh(MeshData(CORNERS, QUADS.reshape(-1), np.full(6, 4, np.int32), **extra))  # type: ignore[arg-type]


def make_prop(*shapes: Shape) -> Asset:
    body = Body("part", inertial=Inertial(1.0, np.zeros(3), np.eye(3)))
    for shape in shapes:
        shape.body = "part"
    return Asset("prop", [body], shapes=list(shapes))


PRIMITIVES = [
    Box.of(1, 2, 3), Box.of(0.5, 0.5, 0.5), Sphere(0.3), Ellipsoid(np.array((0.1, 0.2, 0.3))), Cylinder(0.2, 0.7),
    Capsule(0.2, 0.7), Cone(0.2, 0.7), Plane(np.array((2.0, 3.0))),
]  # fmt: skip


@pytest.mark.parametrize("geometry", PRIMITIVES, ids=lambda g: type(g).__name__)
def test_primitive_seen_and_touched(geometry, tmp_path):
    shape = Shape("s", geometry, pose=POSE, visual=True, collision=True)
    trip = make_trip(make_prop(shape), tmp_path / "out")
    assert_same_shapes(trip)
    purposes = {s.name: (s.visual, s.collision, s.purpose) for s in trip.back.shapes}
    assert purposes == {"s": (False, True, "guide"), "s_visual": (True, False, "default")}


@pytest.mark.parametrize("scale", [None, (2.0, 3.0, 0.5), (-1.0, 1.0, 1.0)])
@pytest.mark.parametrize("left_handed", [True, False])
def test_mesh_keeps_its_outside_outside(scale, left_handed, tmp_path):
    """The volume of a closed mesh is positive only if its faces look outwards."""
    mesh = make_block(left_handed=left_handed)
    size = None if scale is None else np.array(scale)
    asset = make_prop(Shape("m", mesh, pose=POSE, scale=size, collision=True, visual=True))
    trip = make_trip(asset, tmp_path / "out")
    assert_same_shapes(trip)
    handed = -1.0 if left_handed else 1.0
    for shape in trip.back.shapes:
        assert shape.scale is None
        a, b, c = (shape.geometry.data.vertices[i] for i in shape.geometry.data.triangles().T)
        volume = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)
        side = 1.0 if shape.collision else handed  # a hull always faces outwards
        assert volume == pytest.approx(side * 6.0 * abs(np.prod(size) if size is not None else 1.0))
        if shape.collision:
            assert shape.geometry.data.counts is None


def test_repeated_mesh_is_stored_once_and_instanced(tmp_path):
    mesh = make_block()
    shapes = [Shape(f"m{n}", mesh, pose=Pose.of((float(n), 0, 0))) for n in range(3)]
    trip = make_trip(make_prop(*shapes), tmp_path / "out")
    assert len({id(shape.geometry) for shape in trip.back.shapes}) == 1
    assert all(trip.stage.GetPrimAtPath(f"/prop/part/visual/m{n}").IsInstance() for n in range(3))


def test_face_sets_keep_their_looks(tmp_path):
    faces = [np.arange(3, dtype=np.int32), np.arange(3, 6, dtype=np.int32)]
    mesh = make_block(subsets=(Subset("a", faces[0], "red"), Subset("b", faces[1], "blue")))
    asset = make_prop(Shape("m", mesh))
    asset.materials = [RenderMaterial("red", (1.0, 0.0, 0.0)), RenderMaterial("blue", (0.0, 0.0, 1.0))]
    trip = make_trip(asset, tmp_path / "out")
    subsets = trip.back.shapes[0].geometry.data.subsets
    assert [(s.name, s.faces.tolist(), s.material) for s in subsets] == [
        ("a", [0, 1, 2], "red"),
        ("b", [3, 4, 5], "blue"),
    ]


def test_geometry_without_a_type_is_reported(tmp_path):
    line = np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)])
    empty = Mesh(MeshData(np.zeros((0, 3)), np.zeros(0, np.int32)))
    trip = make_trip(
        make_prop(Shape("p", Polyline((line,), 1.0), collision=True), Shape("e", empty)), tmp_path / "out"
    )
    assert {d.kind for d in trip.said} >= {"usd-write-geometry"}
    assert trip.back.shapes == []


def test_an_extruded_outline_is_a_mesh_with_its_hole(tmp_path):
    outer = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)])
    inner = np.array([(0.5, 0.25), (1.5, 0.25), (1.5, 0.75), (0.5, 0.75)])
    outline = Polyline((outer, inner), 0.3)
    shapes = (Shape("p", outline, POSE, collision=True, visual=False), Shape("v", outline, POSE))
    trip = make_trip(make_prop(*shapes), tmp_path / "out")
    assert "usd-write-outline-mesh" in {d.kind for d in trip.said}
    back = {shape.name: shape for shape in trip.back.shapes}
    assert set(back) == {"p", "v"}
    drawn = trimesh.Trimesh(back["v"].geometry.data.vertices, back["v"].geometry.data.triangles())
    assert drawn.is_watertight
    assert drawn.volume == pytest.approx((2.0 - 0.5) * 0.3)
    assert np.ptp(drawn.vertices, axis=0) == pytest.approx((2.0, 1.0, 0.3))


def test_heightfield_is_a_mesh_for_others(tmp_path):
    field = Heightfield(np.array([(0.0, 0.1), (0.2, 0.3)]), np.array((2.0, 3.0)), base=0.5)
    trip = make_trip(make_prop(Shape("h", field)), tmp_path / "out")
    mesh = next(prim for prim in trip.stage.Traverse() if prim.GetTypeName() == "Mesh")
    assert np.ptp(mesh.GetAttribute("points").Get(), axis=0) == pytest.approx((2.0, 3.0, 0.8))


def test_bent_faces_are_cut_the_same_way_when_mirrored(tmp_path):
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0.5), (0, 1, 0), (2, 0, 0.7), (2, 1, 0)], dtype=float)
    faces = np.array((0, 1, 2, 3, 1, 4, 5, 2), np.int32)
    bent = MeshData(corners, faces, np.full(2, 4, np.int32))
    shape = Shape("bent", Mesh(bent), scale=np.array((1.0, 1.0, -1.0)))
    (found,) = make_trip(make_prop(shape), tmp_path / "out").back.shapes
    cuts = [{frozenset(t) for t in data.triangles().tolist()} for data in (bent, found.geometry.data)]
    assert cuts[0] == cuts[1]


@pytest.mark.parametrize(
    ("token", "coarse", "fine"),
    [("none", "convexHull", "none"), ("sdf", "convexHull", "sdf"), ("boundingCube", "boundingCube", "none")],
)
def test_two_fidelities(token, coarse, fine, tmp_path):
    shape = Shape("m", make_block(), collision=True, visual=False, approximation=Approximation(token))
    trip = make_trip(make_prop(shape), tmp_path / "out")
    scope = trip.stage.GetPrimAtPath("/prop/part/collision")
    found = {}
    for variant in scope.GetVariantSet("collision_fidelity").GetVariantNames():
        scope.GetVariantSet("collision_fidelity").SetVariantSelection(variant)
        collider = trip.stage.GetPrimAtPath("/prop/part/collision/m")
        found[variant] = collider.GetAttribute("physics:approximation").Get()
    assert found == {"baseline": coarse, "advanced": fine}
    assert trip.back.shapes[0].approximation.token == coarse


def make_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + pixel + chunk(b"IEND", b"")


def test_textured_look(tmp_path):
    (tmp_path / "skin.png").write_bytes(make_png())
    texture = Texture(
        str(tmp_path / "skin.png"), scale=(2.0, 3.0), offset=(0.5, 0.0), rotation=0.5, wrap_s="clamp"
    )
    asset = make_prop(Shape("m", make_block(uvs=np.zeros((24, 2))), material="skin"))
    asset.materials = [
        RenderMaterial("skin", (0.1, 0.2, 0.3), 0.5, (0.4, 0.0, 0.0), 0.7, 0.2, textures={"diffuse": texture})
    ]
    trip = make_trip(asset, tmp_path / "out")
    (look,) = trip.back.materials
    found = look.textures["diffuse"]
    assert found.file == str(tmp_path / "out/textures/skin.png")
    assert (found.wrap_s, found.scale, found.offset) == ("clamp", (2.0, 3.0), (0.5, 0.0))
    assert found.rotation == pytest.approx(0.5)
    assert (look.opacity, look.metallic, look.roughness) == pytest.approx((0.5, 0.7, 0.2))
    assert look.emissive == pytest.approx((0.4, 0.0, 0.0))
    assert trip.back.shapes[0].material == "skin"


def test_image_of_another_kind_is_reported(tmp_path):
    (tmp_path / "skin.tga").write_bytes(b"\0\0\2")
    asset = make_prop(Shape("m", Sphere(1.0), material="skin"))
    files = {"diffuse": Texture(str(tmp_path / "skin.tga")), "roughness": Texture(str(tmp_path / "gone.png"))}
    asset.materials = [RenderMaterial("skin", textures=files)]
    trip = make_trip(asset, tmp_path / "out")
    assert [d.kind for d in trip.said] == ["usd-write-texture"] * 2
    assert trip.back.materials[0].textures == {}


def test_colour_without_material(tmp_path):
    shape = Shape("m", Sphere(1.0), color=(0.25, 0.5, 0.75, 0.5))
    (found,) = make_trip(make_prop(shape), tmp_path / "out").back.shapes
    assert found.color == pytest.approx((0.25, 0.5, 0.75, 0.5), rel=2e-7)


def test_contact_material(tmp_path):
    asset = make_prop(
        Shape("m", Sphere(1.0), collision=True, physics_material="rubber", margin=0.01, gap=0.02)
    )
    asset.physics_materials = [
        PhysicsMaterial("rubber", 0.9, 0.8, 0.03, 0.004, 0.1, 1100.0, stiffness=5e4, damping=60.0)
    ]
    trip = make_trip(asset, tmp_path / "out")
    (found,) = trip.back.physics_materials
    for field in (
        "static_friction", "dynamic_friction", "torsional_friction", "rolling_friction", "restitution", "density",
        "stiffness", "damping",
    ):  # fmt: skip
        expected = getattr(asset.physics_materials[0], field)
        assert getattr(found, field) == pytest.approx(expected, rel=1e-6), field
    collider = next(s for s in trip.back.shapes if s.collision)
    assert (collider.physics_material, collider.margin, collider.gap) == (
        "rubber",
        pytest.approx(0.01),
        pytest.approx(0.02),
    )


def test_mass_that_follows_from_shapes_is_written(tmp_path):
    shape = Shape("m", Box.of(0.1, 0.2, 0.3), pose=POSE, collision=True, density=500.0)
    asset = make_prop(shape)
    asset.bodies[0].inertial = None
    trip = make_trip(asset, tmp_path / "out")
    assert_same_bodies(trip)
    mass = trip.stage.GetPrimAtPath("/prop/part").GetAttribute("physics:mass").Get()
    assert mass == pytest.approx(body_inertials(asset)["part"].mass)


def make_crowd() -> Asset:
    asset = Asset("crowd")
    for name in "abcd":
        asset.bodies.append(Body(name, inertial=Inertial(1.0, np.zeros(3), np.eye(3))))
        asset.shapes.append(Shape(f"{name}_ball", Sphere(1.0), name, collision=True, visual=False))
    return asset


def test_who_does_not_touch_whom(tmp_path):
    bits, groups, pairs = make_crowd(), make_crowd(), make_crowd()
    for shape, (category, collide) in zip(bits.shapes, ((1, 2), (2, 1), (1, 1), (4, 4)), strict=True):
        shape.category_bits, shape.collide_bits = category, collide
    groups.collision_groups = [
        CollisionGroup("left", ["a_ball", "b_ball"], ["right"]),
        CollisionGroup("right", ["c_ball"], merge="x", inverted=True),
    ]
    pairs.contact_filters = [ContactFilter("a", "b"), ContactFilter("c_ball", "d_ball", "shape")]
    for number, asset in enumerate((bits, groups, pairs)):
        expected = find_filtered_pairs(asset)
        assert expected
        assert find_filtered_pairs(make_trip(asset, tmp_path / str(number)).back) == expected


def test_equal_meshes_of_two_files_are_one(tmp_path):
    shapes = [Shape(f"m{n}", make_block(), pose=Pose.of((float(n), 0, 0))) for n in range(3)]
    trip = make_trip(make_prop(*shapes), tmp_path / "out")
    assert len({id(shape.geometry) for shape in trip.back.shapes}) == 1


def test_inertia_of_zero_is_written_as_almost_none(tmp_path):
    """Zero means "not said" in UsdPhysics, and engines would take the inertia of the colliders instead."""
    asset = make_prop(Shape("m", Sphere(0.1), collision=True))
    asset.bodies[0].inertial = Inertial(1.0, np.zeros(3), np.zeros((3, 3)))
    trip = make_trip(asset, tmp_path / "out")
    (told,) = (d for d in trip.said if d.kind == "usd-write-inertia-missing")
    assert "'part'" in told.message
    assert told.message.endswith("1e-09 kg m^2 about each axis is written")
    body = trip.stage.GetPrimAtPath("/prop/part")
    assert body.GetAttribute("physics:mass").Get() == 1.0
    assert tuple(body.GetAttribute("physics:diagonalInertia").Get()) == pytest.approx((1e-9,) * 3)
    back = trip.back.bodies[0].inertial
    assert back.mass == 1.0
    assert not back.inertia.any()


def test_a_link_without_mass_is_not_weighed_by_its_colliders(tmp_path):
    """URDF: a link without an inertial has no mass.  OpenUSD: engines fill the colliders with water."""
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="arm"><link name="base"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="tip"><collision><geometry><box size="1 1 1"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    reporter = simwright.Reporter()
    entry = simwright.convert(file, tmp_path / "usd", reporter=reporter)
    (told,) = (d for d in reporter if d.kind == "usd-write-mass-missing")
    assert told.message == "body 'tip' has no mass; 1e-06 kg is written"
    stage = Usd.Stage.Open(str(entry))
    (tip,) = (prim for prim in stage.Traverse() if prim.GetName() == "tip")
    assert tip.GetAttribute("physics:mass").Get() == pytest.approx(1e-6)
    back = next(body for body in simwright.load(entry).bodies if body.name == "tip")
    assert back.inertial.mass == 0.0
    text = simwright.convert(entry, tmp_path / "back.urdf").read_text()
    assert text.count("<inertial>") == 1


def make_hills() -> Heightfield:
    heights = np.random.default_rng(3).random((5, 7))
    return Heightfield(heights, np.array((4.0, 3.0)), base=0.3)


@pytest.mark.parametrize("scale", [None, np.array((2.0, 0.5, 3.0))])
def test_heightfield_comes_back_as_one(scale, tmp_path):
    hills = make_hills()
    ground = Shape("ground", hills, collision=True, pose=Pose.of((1.0, 0.0, 0.5)), scale=scale)
    trip = make_trip(Asset("world", shapes=[ground]), tmp_path / "out")
    assert "usd-write-noted" in trip.kinds
    for shape in trip.back.shapes:
        found = shape.geometry
        assert isinstance(found, Heightfield)
        x, y, z = scaled(ground)
        np.testing.assert_allclose(found.heights, hills.heights * z, rtol=1e-15)
        np.testing.assert_allclose(found.size, hills.size * (x, y), rtol=1e-15)
        assert found.base == pytest.approx(0.3 * z, rel=1e-15)
        assert (shape.approximation, shape.pose.p.tolist()) == (None, [1.0, 0.0, 0.5])
    assert simwright.diff(trip.asset, trip.back).equal
    prim = next(p for p in trip.stage.Traverse() if p.GetName() == "ground")
    assert prim.GetTypeName() == "Mesh"
    assert prim.GetAttribute("physics:approximation").Get() == "convexHull"


def test_edited_terrain_is_the_mesh_that_it_is(tmp_path):
    trip = make_trip(Asset("world", shapes=[Shape("ground", make_hills(), visual=True)]), tmp_path / "out")
    mesh = next(p for p in trip.stage.Traverse() if p.GetTypeName() == "Mesh")
    mesh.GetAttribute("extent").Set([(-2, -1.5, -0.3), (2, 1.5, 5.0)])
    trip.stage.GetRootLayer().Save()
    (shape,) = simwright.load(trip.entry).shapes
    assert isinstance(shape.geometry, Mesh)


def test_mirrored_heightfield_is_a_mesh(tmp_path):
    ground = Shape("ground", make_hills(), scale=np.array((-1.0, 1.0, 1.0)))
    (shape,) = make_trip(Asset("world", shapes=[ground]), tmp_path / "out").back.shapes
    assert isinstance(shape.geometry, Mesh)


def test_normals_are_written_with_length_one():
    faces = np.arange(3, dtype=np.int32)
    normals = np.array(((0.0, 0.0, 2.0), (0.0, 3.0, 4.0), (0.0, 0.0, 0.0)), dtype=np.float32)
    data = MeshData(np.eye(3), faces, np.array((3,), dtype=np.int32), normals)
    written = make_visual(data, np.ones(3))
    assert written.normals == pytest.approx(np.array(((0, 0, 1), (0, 0.6, 0.8), (0, 0, 0))))
    again = make_visual(written, np.ones(3))
    assert again.normals is written.normals, "those that are right are not copied"
