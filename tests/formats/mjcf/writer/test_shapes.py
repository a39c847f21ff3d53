"""Shapes, meshes, height fields, looks and mass as MuJoCo has them after compiling."""

from __future__ import annotations

import dataclasses
import math
import struct
import zlib
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh
from pxr import Usd, UsdPhysics

from simwright import convert
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, vec3
from simwright.formats.mesh import load_mesh
from simwright.formats.mjcf.writer.document import format_number
from simwright.formats.mjcf.writer.meshes import write_mesh, write_obj
from simwright.formats.parts.numbers import tidy
from simwright.model.asset import Asset, Body, Shape
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
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture
from simwright.model.moments import fills_hull

from .compiling import write_and_compile

CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]) * (0.3, 0.2, 0.1)
QUADS = np.array(
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)], dtype=np.int32
)


def brick(**kwargs) -> Mesh:
    return Mesh(MeshData(CORNERS, QUADS.reshape(-1), counts=np.full(6, 4, dtype=np.int32), **kwargs))


def scene(*shapes: Shape) -> Asset:
    return Asset("shapes", shapes=list(shapes))


def geom_type(model, index: int) -> str:
    return mujoco.mjtGeom(int(model.geom_type[index])).name[7:].lower()


@pytest.mark.parametrize(
    ("geometry", "scale", "kind", "size"),
    [
        (Box.of(1, 2, 3), (2, 1, 1), "box", (1, 1, 1.5)),
        (Sphere(0.5), (2, 2, 2), "sphere", (1, 0, 0)),
        (Sphere(0.5), (1, 2, 4), "ellipsoid", (0.5, 1, 2)),
        (Ellipsoid(vec3(1, 2, 3)), (1, 1, -2), "ellipsoid", (1, 2, 6)),
        (Cylinder(0.5, 2), (2, 2, 3), "cylinder", (1, 3, 0)),
        (Capsule(0.5, 2), None, "capsule", (0.5, 1, 0)),
    ],
)
def test_primitives_with_scale(geometry, scale, kind, size, tmp_path):
    shape = Shape("s", geometry, scale=None if scale is None else vec3(scale), collision=True)
    model = write_and_compile(scene(shape), tmp_path).model
    assert geom_type(model, 0) == kind
    assert np.allclose(model.geom_size[0], size)


def test_planes(tmp_path):
    model = write_and_compile(
        scene(Shape("endless", Plane()), Shape("tile", Plane(np.array((2.0, 4.0))))), tmp_path
    ).model
    assert np.allclose(model.geom_size[:, :2], ((0, 0), (1, 2)))


def test_what_mujoco_cannot_move(tmp_path):
    asset = scene(Shape("floor", Plane(), body="b"), Shape("rail", Polyline((np.zeros((3, 2)),), 1.0)))
    asset.bodies = [Body("b", inertial=Inertial(1.0, vec3(), np.eye(3)))]
    written = write_and_compile(asset, tmp_path)
    assert written.model.ngeom == 0
    assert sum(d.kind == "mjcf-write-geometry" for d in written.said) == 2


@pytest.mark.parametrize(
    ("geometry", "scale", "low", "high"),
    [
        (
            Polyline((np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 0.5)]),), 0.2),
            (1, 1, 1),
            (0, 0, 0),
            (1, 0.5, 0.2),
        ),
        (Capsule(0.1, 0.4), (1, 2, 1), (-0.1, -0.2, -0.3), (0.1, 0.2, 0.3)),
        (Cylinder(0.1, 0.4), (3, 1, 1), (-0.3, -0.1, -0.2), (0.3, 0.1, 0.2)),
    ],
    ids=["outline", "flat capsule", "wide cylinder"],
)
def test_what_mujoco_has_no_geom_for_is_a_mesh(tmp_path, geometry, scale, low, high):
    shape = Shape("s", geometry, collision=True, scale=vec3(*scale))
    written = write_and_compile(scene(shape), tmp_path)
    assert not [d for d in written.said if d.kind == "mjcf-write-geometry"]
    points = world_points(written.model, 0)
    assert np.allclose(points.min(axis=0), low, atol=1e-6)
    assert np.allclose(points.max(axis=0), high, atol=1e-6)


def test_a_cone_is_a_mesh(tmp_path):
    shape = Shape("c", Cone(0.5, 1.2), collision=True)
    model = write_and_compile(scene(shape), tmp_path).model
    points = world_points(model, 0)
    assert np.allclose(points.min(axis=0), (-0.5, -0.5, -0.6), atol=1e-6)
    assert np.allclose(points.max(axis=0), (0.5, 0.5, 0.6), atol=1e-6)


def world_points(model, geom: int) -> np.ndarray:
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mesh = int(model.geom_dataid[geom])
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    points = model.mesh_vert[start : start + count]
    return points @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


@pytest.mark.parametrize("scale", [(1, 1, 1), (2, 1, -1)])
def test_mesh_points_are_where_the_model_has_them(scale, tmp_path):
    pose = Pose.from_rpy((1, 2, 3), (0.3, 0.2, 0.1))
    shape = Shape("m", brick(), pose=pose, scale=vec3(scale), collision=True)
    model = write_and_compile(scene(shape), tmp_path).model
    expected = pose.apply(CORNERS * scale)
    found = world_points(model, 0)
    assert all(np.abs(found - point).max(axis=1).min() < 1e-6 for point in expected)


def test_shared_meshes_are_one_file(tmp_path):
    mesh = brick()
    asset = scene(Shape("a", mesh), Shape("b", mesh, scale=vec3(2, 2, 2)), Shape("c", mesh))
    written = write_and_compile(asset, tmp_path)
    assert written.model.nmesh == 2
    assert len(list((written.path.parent / "meshes").iterdir())) == 1


def test_equal_meshes_are_one_file(tmp_path):
    """What is seen and what is touched are often two meshes that say the same."""
    other = Mesh(dataclasses.replace(brick().data, vertices=CORNERS * (1.0, 1.0, 1.1)))
    shapes = [Shape(name, mesh) for name, mesh in (("seen", brick()), ("touched", brick()), ("other", other))]
    model = write_and_compile(scene(*shapes), tmp_path).model
    assert model.nmesh == 2
    assert model.geom_dataid[:3].tolist() == [0, 0, 1]


def test_left_handed_meshes_are_turned(tmp_path):
    data = brick().data
    left = MeshData(data.vertices, QUADS[:, ::-1].reshape(-1), counts=data.counts, left_handed=True)
    suffix, content = write_mesh(left)
    (tmp_path / f"m{suffix}").write_bytes(content)
    a, b = load_mesh(tmp_path / f"m{suffix}"), data
    assert signed_volume(a) == pytest.approx(signed_volume(b), rel=1e-6)


def signed_volume(data: MeshData) -> float:
    a, b, c = (np.asarray(data.vertices)[data.triangles()[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0


def test_obj_keeps_normals_and_texture_coordinates(tmp_path):
    normals = np.repeat([(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)], 4, axis=0)
    uvs = np.tile([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.25)], (6, 1))
    data = brick(normals=normals.astype(float), uvs=uvs).data
    (tmp_path / "m.obj").write_bytes(write_obj(data))
    back = load_mesh(tmp_path / "m.obj")
    assert len(back.vertices) == 8

    def list_corners(points: np.ndarray, normals: np.ndarray, uvs: np.ndarray) -> set[tuple[float, ...]]:
        return {tuple(row) for row in np.hstack((points, normals, uvs)).astype(np.float32).tolist()}

    written = list_corners(back.vertices[back.indices], back.normals, back.uvs)
    assert written == list_corners(np.float32(data.vertices)[data.indices], normals, uvs)
    assert np.array_equal(np.float32(back.vertices), np.float32(data.vertices))


def test_materials_split_a_mesh(tmp_path):
    subsets = (
        Subset("top", np.array((0, 1), dtype=np.int32), "red"),
        Subset("rest", np.array((2, 3, 4, 5), dtype=np.int32), "blue"),
    )
    asset = scene(Shape("m", brick(subsets=subsets), collision=True))
    asset.materials = [RenderMaterial("red", (1, 0, 0)), RenderMaterial("blue", (0, 0, 1))]
    model = write_and_compile(asset, tmp_path).model
    assert [model.geom(i).name for i in range(model.ngeom)] == ["m_top", "m_rest", "m"]
    assert [bool(v) for v in model.geom_contype] == [False, False, True]
    assert model.geom("m_top").matid[0] == model.mat("red").id


def test_looks_of_mesh_files(tmp_path):
    """Visuals without a look get that of their file; OBJ colours are for the screen already."""
    (tmp_path / "m.mtl").write_text("newmtl red\nKd 0.8 0.1 0.1\nnewmtl blue\nKd 0 0 1\n")
    faces = ["f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    lines = ["mtllib m.mtl", points.strip(), "usemtl red", *faces[:2], "usemtl blue", *faces[2:]]
    (tmp_path / "m.obj").write_text("\n".join(lines) + "\n")
    mesh = Mesh(load_mesh(tmp_path / "m.obj"), file=str(tmp_path / "m.obj"))
    asset = scene(Shape("own", mesh), Shape("given", mesh, color=(0.0, 1.0, 0.0, 1.0)))
    model = write_and_compile(asset, tmp_path).model
    assert [model.geom(i).name for i in range(model.ngeom)][-1] == "given"
    assert model.ngeom == 3
    assert np.allclose(model.mat("red").rgba, (0.8, 0.1, 0.1, 1.0))
    assert np.allclose(model.geom("given").rgba, (0, 1, 0, 1))
    assert model.geom("given").matid[0] == -1


@pytest.mark.parametrize("source", ["usd", "gltf", "urdf", ""])
def test_colours_are_written_as_they_are(source, tmp_path):
    asset = scene(Shape("s", Sphere(1.0), color=(0.5, 0.0, 1.0, 0.5)))
    asset.provenance.format = source
    model = write_and_compile(asset, tmp_path).model
    assert np.allclose(model.geom_rgba[0], (0.5, 0.0, 1.0, 0.5))


def test_flat_colliders(tmp_path):
    sheet = Mesh.of([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    written = write_and_compile(scene(Shape("sheet", sheet, collision=True)), tmp_path)
    assert "mjcf-write-geometry" in written.kinds
    assert written.model.ngeom == 1
    assert written.model.geom_contype[0] == 0


@pytest.mark.parametrize(("token", "kind"), [("boundingCube", "box"), ("boundingSphere", "sphere")])
def test_bounding_colliders(token, kind, tmp_path):
    shape = Shape("m", brick(), collision=True, approximation=Approximation(token))
    model = write_and_compile(scene(shape), tmp_path).model
    assert [geom_type(model, i) for i in range(2)] == ["mesh", kind]
    assert np.allclose(model.geom_pos[1], (0.15, 0.1, 0.05))
    size = (0.15, 0.1, 0.05) if kind == "box" else (math.sqrt(0.15**2 + 0.1**2 + 0.05**2), 0, 0)
    assert np.allclose(model.geom_size[1], size)


def test_heights(tmp_path):
    heights = np.array(((-1.0, 0.0, 1.0), (0.5, 2.0, 0.0)))
    field = Heightfield(heights, np.array((4.0, 2.0)), base=3.0)
    model = write_and_compile(scene(Shape("ground", field, collision=True)), tmp_path).model
    assert (model.hfield_nrow[0], model.hfield_ncol[0]) == (2, 3)
    x, y, rise, base = model.hfield_size[0]
    assert (x, y) == (2.0, 1.0)
    assert np.allclose(model.hfield_data.reshape(2, 3) * rise + model.geom_pos[0, 2], heights, atol=1e-6)
    assert model.geom_pos[0, 2] - base == pytest.approx(-3.0)


def test_friction_and_groups(tmp_path):
    asset = scene(
        Shape("seen", Sphere(1.0)),
        Shape("touched", Sphere(1.0), visual=False, collision=True, physics_material="rubber"),
        Shape("ice", Sphere(1.0), collision=True, physics_material="ice"),
        Shape("off", Sphere(1.0), collision=True, enabled=False),
        Shape("bare", Sphere(1.0), collision=True),
    )
    asset.physics_materials = [
        PhysicsMaterial("rubber", 1.2, 0.8, rolling_friction=0.01, torsional_friction=0.02, restitution=0.5),
        PhysicsMaterial("ice", 0.0, 0.0),
    ]
    written = write_and_compile(asset, tmp_path)
    model = written.model
    assert list(model.geom_group) == [2, 3, 0, 2, 0]
    assert list(model.geom_condim[:3]) == [3, 6, 1]
    assert np.allclose(model.geom("touched").friction, (0.8, 0.02, 0.01))
    assert np.allclose(model.geom("bare").friction, (1.0, 0.005, 0.0001))
    assert list(model.geom_contype) == [0, 1, 1, 0, 1]
    assert {"mjcf-write-friction", "mjcf-write-setting-lost"} <= written.kinds


@pytest.mark.parametrize(
    "chunk", [(b"sBIT", b"\x08" * 4), (b"bKGD", b"\x00"), (b"pHYs", b""), (b"gAMA", b"\x01" * 5)]
)
def test_a_picture_with_a_chunk_that_mujoco_refuses_is_written_anew(chunk, tmp_path):
    from PIL import Image

    png = tmp_path / "tile.png"
    Image.new("RGB", (4, 4), (255, 0, 0)).save(png)
    content, (name, data) = png.read_bytes(), chunk
    row = struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    # after the first chunk, which says the size and the kind of colour
    png.write_bytes(content[:33] + row + content[33:])
    asset = scene(Shape("a", Box.of(1, 1, 1), material="tiles"))
    asset.materials = [RenderMaterial("tiles", textures={"diffuse": Texture(str(png))})]
    written = write_and_compile(asset, tmp_path)
    assert written.model.ntex == 1
    assert list(written.model.tex_data[:3]) == [255, 0, 0]
    assert list(written.said) == []


def test_looks(tmp_path):
    png = tmp_path / "tile.png"
    pytest.importorskip("PIL.Image").new("RGB", (4, 4), (255, 0, 0)).save(png)
    jpeg = tmp_path / "photo.jpg"
    pytest.importorskip("PIL.Image").new("RGB", (4, 4), (0, 255, 0)).save(jpeg)
    asset = scene(
        Shape("a", Box.of(1, 1, 1), material="tiles"), Shape("b", Box.of(1, 1, 1), color=(1, 0, 0, 0.5))
    )
    orm = {name: Texture(str(png)) for name in ("occlusion", "roughness", "metallic")}
    asset.materials = [
        RenderMaterial("tiles", (0.5, 0.5, 0.5), textures={"diffuse": Texture(str(png), scale=(2.0, 3.0))}),
        RenderMaterial("photo", textures={"diffuse": Texture(str(jpeg)), **orm}),
        RenderMaterial("metal", (0.2, 0.4, 0.8), 0.7, emissive=(0.1, 0.2, 0.4), metallic=1.0, roughness=0.25),
        RenderMaterial("gone", textures={"diffuse": Texture(str(tmp_path / "gone.png"))}),
    ]
    written = write_and_compile(asset, tmp_path)
    model = written.model
    assert np.allclose(model.mat("tiles").texrepeat, (2, 3))
    assert np.allclose(model.mat("tiles").rgba, 1.0)
    assert np.allclose(model.mat("metal").rgba, (0.2, 0.4, 0.8, 0.7))
    assert model.mat("metal").emission[0] == pytest.approx(0.5)
    assert model.mat("metal").shininess[0] == 0.75
    assert model.mat_metallic[2] == 1.0
    roles = model.mat_texid[1]
    assert roles[int(mujoco.mjtTextureRole.mjTEXROLE_ORM)] >= 0
    assert roles[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] >= 0
    assert [d.kind for d in written.said] == ["mjcf-write-texture"]
    assert np.allclose(model.geom("b").rgba, (1, 0, 0, 0.5))
    assert {p.suffix for p in Path(written.path.parent / "textures").iterdir()} == {".png"}


def hinged(inertial: Inertial | None) -> Asset:
    asset = Asset("m", bodies=[Body("a", inertial=inertial)])
    asset.joints = [Joint("j", JointKind.REVOLUTE, "", "a", dofs=[Dof(Motion.HINGE, name="j")])]
    return asset


def test_inertia_that_mujoco_refuses(tmp_path):
    written = write_and_compile(hinged(Inertial(1.0, vec3(), np.diag((1.0, 1.0, 2.5)))), tmp_path)
    assert "mjcf-write-inertia-adjusted" in written.kinds
    a, b, c = np.sort(written.model.body_inertia[1])
    assert a + b == pytest.approx(c, rel=1e-3)
    assert a + b >= c


def test_an_impossible_inertia_is_the_same_in_every_format(tmp_path):
    """Each writer repairs it; two repairs would be two robots."""
    asset = hinged(Inertial(1.0, vec3(), np.diag((1.0, 1.2, 2.5))))
    written = write_and_compile(asset, tmp_path)
    stage = Usd.Stage.Open(str(convert(asset, tmp_path / "usd")))
    said = next(
        UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Get()
        for prim in stage.Traverse()
        if prim.HasAPI(UsdPhysics.MassAPI)
    )
    assert np.sort(written.model.body_inertia[1]) == pytest.approx(np.sort(said), rel=1e-6)


def test_a_flat_body_is_no_error(tmp_path):
    """The sum of two moments is the third, up to rounding."""
    moments = np.array((0.1, 0.2, 0.1 + 0.2))
    turn = Pose.from_rpy((0, 0, 0), (0.3, 0.7, 1.1)).rotation
    written = write_and_compile(hinged(Inertial(1.0, vec3(), turn @ np.diag(moments) @ turn.T)), tmp_path)
    assert not len(written.said)
    assert np.allclose(np.sort(written.model.body_inertia[1]), moments, rtol=1e-12)


@pytest.mark.parametrize("inertial", [None, Inertial(0.0), Inertial(2.0)])
def test_moving_bodies_without_mass(inertial, tmp_path):
    written = write_and_compile(hinged(inertial), tmp_path)
    assert "mjcf-write-mass-invented" in written.kinds
    assert written.model.body_mass[1] == pytest.approx(2.0 if inertial and inertial.mass else 1e-6)


def test_mass_of_shapes_is_computed_once(tmp_path):
    asset = hinged(None)
    asset.shapes = [Shape("s", Box.of(1, 1, 1), body="a", collision=True, density=7.0)]
    assert write_and_compile(asset, tmp_path).model.body_mass[1] == pytest.approx(7.0)


def test_numbers():
    assert [format_number(v) for v in (1.0, -0.0, 0.1, 1e-20, 2.0**60)] == [
        "1",
        "0",
        "0.1",
        "1e-20",
        repr(2.0**60),
    ]
    assert tidy((0.030499999999999996, 1 / 3, -2e-16)) == [0.0305, 1 / 3, 0.0]


def test_all_objects_of_an_obj_file_are_there(tmp_path):
    """MuJoCo takes the faces of the first object alone; the volume of this one would be too small."""
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / "parts.obj").write_text(f"{points}o first\nf 1 3 2\no second\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    asset = Asset("robot", bodies=[Body("base", inertial=Inertial.from_six(1.0, (1, 1, 1, 0, 0, 0)))])
    mesh = Mesh(load_mesh(tmp_path / "parts.obj"), file=str(tmp_path / "parts.obj"))
    asset.shapes = [Shape("part", mesh, "base", collision=True)]
    assert write_and_compile(asset, tmp_path).model.mesh_facenum.tolist() == [4]


def test_squares_are_cut_and_points_kept_as_mujoco_does(tmp_path):
    """A square that is not flat has another surface along the other diagonal; the hull has the point without a face."""
    rows = "v 0 0 0\nv 1 0 0\nv 1.5 1.5 1\nv 0 1 0\nv 0 0 -1\nv 5 5 5\n"
    faces = "f 1 2 3 4\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n"
    (tmp_path / "square.obj").write_text(rows + faces)
    models = []
    for content in (rows + faces).encode(), write_obj(load_mesh(tmp_path / "square.obj", whole=True)):
        text = """<mujoco><asset><mesh name="m" file="m.obj" inertia="shell"/></asset>
<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
        models.append(mujoco.MjModel.from_xml_string(text, {"m.obj": content}))
    assert models[0].mesh_vertnum.tolist() == models[1].mesh_vertnum.tolist() == [6]
    np.testing.assert_allclose(models[1].mesh_vert, models[0].mesh_vert, atol=1e-6)
    assert sorted(map(sorted, models[1].mesh_face.tolist())) == sorted(
        map(sorted, models[0].mesh_face.tolist())
    )


@pytest.mark.parametrize("radius", [0.1, 0.003])
def test_small_triangles_have_normals_in_mujoco(radius, tmp_path):
    """MuJoCo gives triangles below 3e-8 of the file's units no normal of their own."""
    ball = trimesh.creation.icosphere(subdivisions=4, radius=radius)
    ball.apply_translation((0.3, 0.2, 0.1))
    mesh = Mesh(MeshData(ball.vertices, ball.faces.reshape(-1).astype(np.int32)))
    scale = np.array((1.0, 1.0, 2.0))
    model = write_and_compile(scene(Shape("ball", geometry=mesh, scale=scale)), tmp_path).model
    assert np.allclose(model.geom_size[0], radius * np.sort(scale), rtol=1e-2)
    assert np.allclose(model.geom_pos[0], (0.3, 0.2, 0.2), atol=1e-6)
    corners = model.mesh_vert[model.mesh_face].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    shown = model.mesh_normal[model.mesh_facenormal]
    assert np.einsum("ijk,ik->ij", shown, normals).min() > 0.9


SIMPLEX = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
HOLLOW = {
    "tetrahedron": (trimesh.Trimesh(SIMPLEX, ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))), False),
    "inside out": (trimesh.Trimesh(SIMPLEX, ((0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2))), False),
    "ball": (trimesh.creation.icosphere(4), False),
    "two balls": (trimesh.creation.icosphere(1) + trimesh.creation.icosphere(1).apply_scale(2), True),
    "two boxes": (trimesh.creation.box() + trimesh.creation.box().apply_translation((3, 0, 0)), True),
    "open box": (trimesh.creation.box().slice_plane((0, 0, 0.2), (0, 0, -1)), True),
    "ring": (trimesh.creation.annulus(0.3, 0.5, 0.2), True),
}


@pytest.mark.parametrize("case", HOLLOW)
def test_colliders_that_are_more_than_their_hull_are_told(case, tmp_path):
    mesh, is_hollow = HOLLOW[case]
    assert fills_hull(np.asarray(mesh.vertices), np.asarray(mesh.faces)) is not is_hollow
    mesh.export(tmp_path / "part.stl")
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
        '<collision><geometry><mesh filename="part.stl" scale="0.5 -2 3"/></geometry></collision></link></robot>'
    )
    reporter = Reporter()
    convert(robot, tmp_path / "out" / "robot.xml", reporter=reporter)
    assert ("mjcf-write-collider-hull" in [found.kind for found in reporter]) is is_hollow
