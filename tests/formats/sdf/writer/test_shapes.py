# SPDX-License-Identifier: Apache-2.0
"""Shapes, looks, surfaces and who touches whom."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Articulation, Asset, Body, ContactFilter, Shape
from simwright.model.filtering import find_filtered_pairs
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
    box_bounds,
)
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture

from .writing import make_solid, random_pose, write

TETRAHEDRON = Mesh.of(
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1 / 3)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
)
GEOMETRIES = {
    "box": Box.of(1, 2, 3), "sphere": Sphere(0.3), "ellipsoid": Ellipsoid(vec3(1, 2, 3)),
    "cylinder": Cylinder(0.1, 1 / 3),
    "capsule": Capsule(0.1, 0.7), "plane": Plane(vec3(2, 3, 0)[:2]), "mesh": TETRAHEDRON,
    "polyline": Polyline((np.array([(0.0, 0), (2, 0), (2, 1)]),), 0.4),
}  # fmt: skip


def make_shape(geometry: object, **values: object) -> Asset:
    asset = Asset("thing", bodies=[Body("b", inertial=make_solid())])
    asset.shapes = [Shape("s", geometry, "b", random_pose(1), **values)]  # type: ignore[arg-type]
    return asset


@pytest.mark.parametrize("kind", GEOMETRIES)
def test_geometries_stay_what_they_are(kind: str, tmp_path: Path, accept_sdf) -> None:
    written = write(make_shape(GEOMETRIES[kind]), tmp_path)
    (shape,) = written.again.shapes
    assert shape.geometry.kind == kind
    assert shape.pose.is_close(random_pose(1), 1e-14)
    for ours, theirs in zip(box_bounds(shape.geometry), box_bounds(GEOMETRIES[kind]), strict=True):
        assert np.array_equal(ours, theirs)
    assert accept_sdf(written.path) == ""


def test_cones_need_a_newer_version(tmp_path: Path) -> None:
    asset = make_shape(Cone(0.2, 0.5))
    new = write(asset, tmp_path)
    assert (new.version, new.again.shapes[0].geometry.kind) == ("1.11", "cone")
    old = write(asset, tmp_path, sdf_version="1.9")
    assert old.again.shapes[0].geometry.kind == "mesh"
    assert "sdf-write-shape-meshed" in old.kinds


def test_what_is_stretched(tmp_path: Path) -> None:
    ball = write(make_shape(Sphere(1.0), scale=vec3(1, 2, 3)), tmp_path).again.shapes[0].geometry
    assert ball.kind == "ellipsoid"
    tube = write(make_shape(Cylinder(1.0, 2.0), scale=vec3(1, 2, 3)), tmp_path)
    shape = tube.again.shapes[0]
    assert shape.geometry.kind == "mesh"
    assert np.allclose(box_bounds(shape.geometry)[1] * shape.scale, (1, 2, 3))


def test_a_plane_without_end_gets_one_where_it_is_seen(tmp_path: Path) -> None:
    written = write(make_shape(Plane(), collision=True), tmp_path)
    sizes = {shape.name: shape.geometry.size for shape in written.again.shapes}
    assert sizes["s_collision"] is None
    assert np.array_equal(sizes["s_visual"], (100, 100))
    assert "sdf-write-plane" in written.kinds


def test_terrain_is_an_image(tmp_path: Path, accept_sdf) -> None:
    heights = np.array([(0.5, 1.0, 2.0), (0.7, 0.9, 1.1)])
    written = write(
        make_shape(Heightfield(heights, vec3(4, 2, 0)[:2]), visual=False, collision=True), tmp_path
    )
    (shape,) = written.again.shapes
    assert np.allclose(shape.geometry.heights + 0.5, heights, atol=3e-5)
    assert (~random_pose(1) @ shape.pose).is_close(Pose.of((0, 0, 0.5)), 1e-12)
    assert "sdf-write-heightmap" in written.kinds
    assert accept_sdf(written.path) == ""


def make_image(folder: Path) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2), (255, 0, 0)).save(buffer, "PNG")
    (folder / "red wall.png").write_bytes(buffer.getvalue())
    return str(folder / "red wall.png")


def test_looks(tmp_path: Path, accept_sdf) -> None:
    asset = make_shape(Box.of(1, 1, 1), material="steel")
    steel = RenderMaterial("steel", (0.1, 0.2, 0.3), 0.25, (0.0, 0.5, 0.0), 0.9, 0.1, double_sided=True)
    steel.textures["normal"] = Texture(make_image(tmp_path), "rgb", "raw")
    asset.materials = [steel]
    written = write(asset, tmp_path)
    (again,) = written.again.materials
    for name in ("diffuse", "opacity", "emissive", "metallic", "roughness", "double_sided"):
        assert getattr(again, name) == pytest.approx(getattr(steel, name), abs=1e-15), name
    assert written.text("normal_map") == "textures/red_wall.png"
    assert Path(again.textures["normal"].file).read_bytes().startswith(b"\x89PNG")
    assert accept_sdf(written.path) == ""


def test_an_image_that_is_gone_is_said(tmp_path: Path) -> None:
    asset = make_shape(Box.of(1, 1, 1), material="m")
    asset.materials = [RenderMaterial("m", textures={"diffuse": Texture(str(tmp_path / "gone.png"))})]
    assert "sdf-write-texture" in write(asset, tmp_path).kinds


def test_a_colour_of_its_own(tmp_path: Path) -> None:
    written = write(make_shape(Box.of(1, 1, 1), color=(0.5, 0.25, 0.125, 1.0)), tmp_path)
    assert written.again.materials[0].diffuse == (0.5, 0.25, 0.125)


def test_several_looks_are_in_the_mesh_file(tmp_path: Path) -> None:
    data = TETRAHEDRON.data
    sets = (Subset("a", np.array([0, 1]), "red"), Subset("b", np.array([2, 3]), "blue"))
    mesh = Mesh(MeshData(data.vertices, data.indices, subsets=sets), source="x")
    asset = make_shape(mesh)
    asset.materials = [RenderMaterial("red", (1, 0, 0)), RenderMaterial("blue", (0, 0, 1))]
    written = write(asset, tmp_path)
    assert written.root.find(".//material") is None
    assert {subset.material for subset in written.again.shapes[0].geometry.data.subsets} == {"red", "blue"}


def test_surfaces(tmp_path: Path, accept_sdf) -> None:
    asset = make_shape(Box.of(1, 1, 1), collision=True, visual=False, physics_material="rubber")
    rubber = PhysicsMaterial("rubber", 0.9, 0.8, 0.01, 0.002, 0.3, stiffness=1e5, damping=12.5)
    asset.physics_materials = [rubber]
    written = write(asset, tmp_path)
    (again,) = written.again.physics_materials
    for name in (
        "dynamic_friction",
        "torsional_friction",
        "rolling_friction",
        "restitution",
        "stiffness",
        "damping",
    ):
        assert getattr(again, name) == pytest.approx(getattr(rubber, name), rel=1e-14), name
    assert "sdf-write-friction" in written.kinds
    assert accept_sdf(written.path) == ""


def make_row(count: int) -> Asset:
    """A row of links with a collider each, on hinges."""
    asset = Asset("row")
    for number in range(count):
        asset.bodies.append(Body(f"b{number}", inertial=make_solid()))
        parent = f"b{number - 1}" if number else ""
        dof = Dof(Motion.HINGE, name=f"j{number}")
        asset.joints.append(Joint(f"j{number}", JointKind.REVOLUTE, parent, f"b{number}", dofs=[dof]))
        asset.shapes.append(Shape(f"s{number}", Sphere(1.0), f"b{number}", visual=False, collision=True))
    return asset


def test_who_touches_whom(tmp_path: Path, accept_sdf) -> None:
    asset = make_row(6)
    asset.contact_filters = [ContactFilter("b0", "b2"), ContactFilter("b1", "b5"), ContactFilter("b2", "b5")]
    written = write(asset, tmp_path)
    assert find_filtered_pairs(written.again) == find_filtered_pairs(asset)
    assert written.text("self_collide") == "true"
    assert accept_sdf(written.path) == ""


def test_a_robot_that_does_not_touch_itself_says_so(tmp_path: Path) -> None:
    asset = make_row(20)
    asset.articulations = [Articulation("row", "b0", self_collide=False)]
    written = write(asset, tmp_path)
    assert written.root.find(".//self_collide") is None
    assert written.root.find(".//surface") is None
    assert find_filtered_pairs(written.again) == find_filtered_pairs(asset)


def test_bits_of_the_source_stay(tmp_path: Path) -> None:
    asset = make_row(3)
    asset.shapes[0].category_bits, asset.shapes[0].collide_bits = 2, 6
    written = write(asset, tmp_path)
    assert (written.again.shapes[0].category_bits, written.again.shapes[0].collide_bits) == (2, 6)
    assert written.again.shapes[1].collide_bits is None


def test_filters_beyond_sixteen_classes_are_said(tmp_path: Path) -> None:
    asset = make_row(40)
    asset.contact_filters = [
        ContactFilter(f"b{n}", f"b{(7 * n + 3) % 40}") for n in range(40) if (7 * n + 3) % 40 != n
    ]
    assert "sdf-write-filters" in write(asset, tmp_path).kinds
