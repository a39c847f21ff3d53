# SPDX-License-Identifier: Apache-2.0
"""Shapes, meshes, looks and files."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import OutputError, UsageError
from simwright.core.math3d import vec3
from simwright.formats.format import WriteOptions
from simwright.formats.mesh import load_mesh, load_mesh_materials
from simwright.formats.table import read_asset, write_asset
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
    Subset,
)
from simwright.model.material import RenderMaterial, Texture
from simwright.model.moments import compute_moments

from .writing import make_solid, random_pose, write


@pytest.fixture(autouse=True)
def _allow_what_is_beside(tmp_path, monkeypatch):
    """Assets here name files beside their own folder, as a user may allow."""
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(tmp_path))


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63386164040002f2012dac6a27eb0000000049454e44ae426082"
)


def make_asset(*shapes: Shape) -> Asset:
    for shape in shapes:
        shape.body = "a"
    return Asset("r", bodies=[Body("a", inertial=make_solid())], shapes=list(shapes))


def make_tetrahedron(**values: object) -> Mesh:
    data = MeshData(
        np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0.1))) / 3.0,
        np.array((0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3), dtype=np.int32),
        **values,  # type: ignore[arg-type]
    )
    return Mesh(data)


def test_primitives_are_primitives_at_their_exact_place(tmp_path, accept_urdf):
    geometries = [Box.of(1, 2, 0.1), Sphere(0.3), Cylinder(0.1, 0.7), Ellipsoid(vec3(0.2, 0.2, 0.2))]
    shapes = [Shape(f"s{n}", g, pose=random_pose(n), collision=True) for n, g in enumerate(geometries)]
    written = write(make_asset(*shapes), tmp_path)
    assert not written.kinds
    assert [s.geometry.kind for s in written.again.shapes] == ["box", "sphere", "cylinder", "sphere"] * 2
    for shape, again in zip(shapes * 2, written.again.shapes, strict=True):
        assert again.name.startswith(shape.name)
        assert again.pose.is_close(shape.pose, 1e-14)
    accept_urdf(written.path)


def test_scaled_primitives_keep_their_size(tmp_path):
    shapes = [
        Shape("b", Box.of(1, 1, 1), scale=vec3(1, 2, -3)),
        Shape("c", Cylinder(1, 1), scale=vec3(2, 2, 3)),
    ]
    again = write(make_asset(*shapes), tmp_path).again.shapes
    assert np.allclose(again[0].geometry.size, (1, 2, 3))
    assert (again[1].geometry.radius, again[1].geometry.length) == (2, 3)


def test_a_capsule_is_a_cylinder_and_two_balls(tmp_path):
    shape = Shape("c", Capsule(0.1, 0.6), pose=random_pose(1), visual=False, collision=True)
    written = write(make_asset(shape), tmp_path)
    assert written.kinds == {"urdf-write-composed"}
    cylinder, *balls = written.again.shapes
    assert cylinder.pose.is_close(shape.pose, 1e-14)
    for ball, z in zip(balls, (-0.3, 0.3), strict=True):
        assert np.allclose(ball.pose.p, shape.pose.apply(vec3(0, 0, z)), atol=1e-14)
        assert ball.geometry.radius == 0.1


SQUARE = np.array(((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)))
SOLIDS = [
    (Ellipsoid(vec3(0.1, 0.2, 0.3)), None),
    (Cone(0.1, 0.3), None),
    (Sphere(0.2), vec3(1, 2, 3)),
    (Cylinder(0.2, 1.0), vec3(1, 2, 3)),
    (Capsule(0.2, 1.0), vec3(1, 2, 3)),
    (Polyline((SQUARE, SQUARE / 4.0 + 0.5), 0.4), None),
    (Heightfield(np.array(((0.1, 0.2, 0.1), (0.3, 0.5, 0.1), (0.0, 0.1, 0.2))), np.array((2.0, 2.0)), 0.2), None),
]  # fmt: skip


@pytest.mark.parametrize(("geometry", "scale"), SOLIDS, ids=lambda v: getattr(v, "kind", ""))
def test_other_solids_are_meshes_of_their_volume(tmp_path, geometry, scale):
    written = write(make_asset(Shape("s", geometry, scale=scale, collision=True, visual=False)), tmp_path)
    assert written.kinds == {"urdf-write-meshed"}
    (again,) = written.again.shapes
    expected = compute_moments(geometry, scale).volume
    assert compute_moments(again.geometry, again.scale).volume == pytest.approx(expected, rel=1e-2)


def test_planes_with_an_end_are_plates(tmp_path):
    written = write(make_asset(Shape("p", Plane(np.array((2.0, 3.0)))), Shape("endless", Plane())), tmp_path)
    assert {"urdf-write-meshed", "urdf-write-geometry"} == written.kinds
    assert np.allclose(np.ptp(written.again.shapes[0].geometry.data.vertices, axis=0), (2, 3, 0))


@pytest.mark.parametrize("word", ["stl", "obj", "dae", "glb"])
def test_meshes_in_every_format(tmp_path, word, accept_urdf):
    mesh = make_tetrahedron()
    shapes = [Shape("m", mesh, scale=vec3(1, -2, 3), collision=True), Shape("n", mesh)]
    written = write(make_asset(*shapes), tmp_path, mesh_format=word)
    assert sorted(p.name for p in (written.path.parent / "meshes").iterdir()) == [f"m.{word}"]
    for again in written.again.shapes:
        found = compute_moments(again.geometry, again.scale).volume
        expected = compute_moments(mesh, again.scale).volume
        assert found == pytest.approx(expected, rel=1e-6)
    accept_urdf(written.path)


def test_obj_and_collada_keep_numbers(tmp_path):
    mesh = make_tetrahedron()
    written = write(make_asset(Shape("m", mesh)), tmp_path)
    assert np.array_equal(written.again.shapes[0].geometry.data.vertices, mesh.data.vertices)


def test_addresses_in_a_package(tmp_path):
    asset = make_asset(Shape("m", make_tetrahedron()))
    said = write_asset(
        asset,
        tmp_path / "my_robot" / "robot.urdf",
        options=WriteOptions(mesh_paths="package", package_name="my_robot"),
    )
    assert 'filename="package://my_robot/meshes/m.obj"' in said.read_text()
    with pytest.raises(UsageError, match="not a name of a ROS package"):
        write_asset(asset, tmp_path / "a-b" / "r.urdf", options=WriteOptions(mesh_paths="package"))


def test_files_of_the_source_are_copied_with_what_they_need(tmp_path):
    source = tmp_path / "source"
    (source / "img").mkdir(parents=True)
    (source / "img" / "p.png").write_bytes(PIXEL)
    (source / "part.mtl").write_text("newmtl red\nKd 1 0 0\nmap_Kd img/p.png\n")
    (source / "part.obj").write_text("mtllib part.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n")
    geometry = '<geometry><mesh filename="part.obj"/></geometry>'
    (source / "r.urdf").write_text(
        f'<robot name="r"><link name="a"><visual>{geometry}</visual></link></robot>'
    )
    written = write(read_asset(source / "r.urdf"), tmp_path)
    base = written.path.parent / "meshes" / "part"
    assert (base / "part.obj").read_bytes() == (source / "part.obj").read_bytes()
    (look,) = load_mesh_materials(base / "part.obj")
    assert look.textures["diffuse"].file == str(base / "img" / "p.png")
    assert (base / "img" / "p.png").read_bytes() == PIXEL
    again = write(written.again, tmp_path / "stl", mesh_format="dae")
    (look,) = load_mesh_materials(again.path.parent / "meshes" / "part.dae")
    assert (again.path.parent / "textures" / "p.png").read_bytes() == PIXEL
    assert look.name == "red"


def test_looks_of_face_sets_are_in_the_mesh_file(tmp_path):
    sets = (
        Subset("one", np.array((0, 1), dtype=np.int32), "red"),
        Subset("two", np.array((2,), dtype=np.int32), "blue"),
    )
    asset = make_asset(Shape("m", make_tetrahedron(subsets=sets), material="grey"))
    asset.materials = [RenderMaterial("red", (1.0, 0.0, 0.0)), RenderMaterial("blue", (0.0, 0.0, 1.0))]
    asset.materials.append(RenderMaterial("grey", (0.5, 0.5, 0.5)))
    written = write(asset, tmp_path)
    file = written.path.parent / "meshes" / "m.obj"
    assert {m.name: m.diffuse for m in load_mesh_materials(file)} == {
        m.name: m.diffuse for m in asset.materials
    }
    assert sorted(len(subset.faces) for subset in load_mesh(file).subsets) == [1, 1, 2]
    assert written.link("a").find("visual/material") is None
    assert "urdf-write-looks" in write(asset, tmp_path / "bare", mesh_format="stl").kinds


def test_materials_colours_and_images(tmp_path, accept_urdf):
    image = tmp_path / "wood.png"
    image.write_bytes(PIXEL)
    shapes = [
        Shape("a", Box.of(1, 1, 1), material="paint"),
        Shape("b", Sphere(1), color=(0.1, 0.2, 0.3, 0.4)),
    ]
    shapes += [
        Shape("c", Sphere(1), material="paint", color=(1.0, 0.0, 0.0, 1.0)),
        Shape("d", Sphere(1), material="wood"),
    ]
    asset = make_asset(*shapes)
    asset.materials = [RenderMaterial("paint", (0.25, 0.5, 0.75), opacity=0.5, metallic=1.0)]
    asset.materials.append(RenderMaterial("wood", (1.0, 1.0, 1.0), textures={"diffuse": Texture(str(image))}))
    written = write(asset, tmp_path)
    looks = {s.name: s.color for s in written.again.shapes}
    assert looks == {
        "a": (0.25, 0.5, 0.75, 0.5),
        "b": (0.1, 0.2, 0.3, 0.4),
        "c": (1, 0, 0, 1),
        "d": (1, 1, 1, 1),
    }
    wood = next(m for m in written.again.materials if m.name == "wood")
    assert wood.textures["diffuse"].file == str(written.path.parent / "textures" / "wood.png")
    assert written.lost == {"materials.metallic"}
    accept_urdf(written.path)


def test_a_missing_image_is_reported(tmp_path):
    asset = make_asset(Shape("a", Box.of(1, 1, 1), material="m"))
    asset.materials = [RenderMaterial("m", textures={"diffuse": Texture(str(tmp_path / "none.png"))})]
    assert write(asset, tmp_path).kinds == {"urdf-write-texture"}


def test_an_earlier_result_is_replaced_and_nothing_else(tmp_path):
    asset = make_asset(Shape("m", make_tetrahedron()))
    first = write(asset, tmp_path)
    asset.shapes.clear()
    write(asset, tmp_path)
    assert [item.name for item in first.path.parent.iterdir()] == ["robot.urdf"]
    (first.path.parent / "notes.txt").write_text("mine")
    with pytest.raises(OutputError):
        write_asset(asset, first.path.parent, format_name="urdf")
    with pytest.raises(UsageError, match="xacro"):
        write_asset(asset, tmp_path / "x" / "robot.urdf.xacro")


def test_a_collider_takes_the_file_that_a_visual_has(tmp_path):
    """What is touched has no look, so the file with looks serves both."""
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)])
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], dtype=np.int32)
    parts = (
        Subset("a", np.array((0, 1), dtype=np.int32), "red"),
        Subset("b", np.array((2, 3), dtype=np.int32), "blue"),
    )
    mesh = Mesh(MeshData(points, faces.reshape(-1), np.full(4, 3, dtype=np.int32), subsets=parts))
    asset = Asset(
        "block",
        bodies=[Body("base")],
        materials=[RenderMaterial("red", (1.0, 0.0, 0.0)), RenderMaterial("blue", (0.0, 0.0, 1.0))],
        shapes=[Shape("look", mesh, "base"), Shape("touch", mesh, "base", visual=False, collision=True)],
    )
    write_asset(asset, tmp_path / "robot.urdf")
    assert [file.name for file in (tmp_path / "meshes").glob("*.obj")] == ["look.obj"]
    assert (tmp_path / "robot.urdf").read_text().count("look.obj") == 2
