"""Links, mass properties, shapes and materials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def kinds(reporter: Any) -> list[str]:
    return [found.kind for found in reporter]


def inertial(mass: str = "2", inertia: str = 'ixx="1" iyy="2" izz="2.5"', origin: str = "") -> str:
    return f'<link name="a"><inertial>{origin}<mass value="{mass}"/><inertia {inertia}/></inertial></link>'


def test_inertia_is_turned_into_the_link_frame(load: Any) -> None:
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    asset, reporter = load(inertial(origin=origin))
    body = asset.body("a")
    assert body.inertial.mass == 2
    assert body.inertial.com.tolist() == [1, 2, 3]
    assert np.allclose(body.inertial.inertia, np.diag((2, 1, 2.5)))
    assert kinds(reporter) == []


def test_a_link_without_inertial_has_no_mass_even_with_shapes(load: Any) -> None:
    asset, _ = load('<link name="a"><collision><geometry><box size="1 1 1"/></geometry></collision></link>')
    assert asset.body("a").inertial is not None
    assert asset.body("a").inertial.mass == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (inertial("-1"), "urdf-mass-negative"),
        (inertial("0"), "urdf-mass-zero"),
        (inertial("nan"), "urdf-mass-missing"),
        (inertial(inertia='ixx="1" iyy="1" izz="-1"'), "urdf-inertia-indefinite"),
        (inertial(inertia='ixx="1" iyy="1" izz="3"'), "urdf-inertia-triangle"),
        ('<link name="a"><inertial><mass value="1"/></inertial></link>', "urdf-inertia-missing"),
        ('<link name="a"/><link name="a"/>', "urdf-duplicate-name"),
        ('<link name="a"/><link/>', "urdf-missing-attribute"),
        ('<link name="a"><visual/></link>', "urdf-no-geometry"),
        ('<link name="a"><visual><geometry><box size="1 0 1"/></geometry></visual></link>', "urdf-bad-size"),
        ('<link name="a"><visual><geometry><sphere/></geometry></visual></link>', "urdf-bad-size"),
        ('<link name="a"><visual><geometry><blob/></geometry></visual></link>', "urdf-no-geometry"),
        ('<link name="a"><vizual/></link>', "xml-unknown-element"),
    ],
)
def test_each_mistake_has_its_own_finding_with_a_line(text: str, code: str, load: Any) -> None:
    asset, reporter = load(f'<robot name="r">\n\n{text}</robot>')
    assert code in kinds(reporter)
    assert all(found.where.line == 3 for found in reporter)
    assert [body.name for body in asset.bodies] == ["a"]


def test_every_geometry(load: Any, tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text(TRIANGLE)
    shapes = "".join(
        f"<collision><geometry>{g}</geometry></collision>"
        for g in (
            '<box size="1 2 3"/>',
            '<sphere radius="0.5"/>',
            '<cylinder radius="0.1" length="2"/>',
            '<capsule radius="0.2" length="3"/>',
            '<mesh filename="m.obj" scale="1 -1 1"/>',
            '<mesh filename="file://m.obj" scale="0.001"/>',
        )
    )
    asset, reporter = load(f'<link name="a">{shapes}</link>')
    assert kinds(reporter) == []
    box, sphere, cylinder, capsule, mirrored, scaled = (shape.geometry for shape in asset.shapes)
    assert isinstance(box, Box)
    assert box.size.tolist() == [1, 2, 3]
    assert isinstance(sphere, Sphere)
    assert isinstance(cylinder, Cylinder)
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == (0.2, 3)
    assert isinstance(mirrored, Mesh)
    assert mirrored is scaled
    assert not mirrored.is_loaded
    assert asset.shapes[4].scale.tolist() == [1, -1, 1]
    assert asset.shapes[5].scale.tolist() == [0.001] * 3
    assert [s.name for s in asset.shapes[:2]] == ["a_collision", "a_collision_2"]
    assert all(s.collision and not s.visual for s in asset.shapes)


def test_geometries_of_other_tools(load: Any) -> None:
    shapes = "".join(
        f"<collision><geometry>{g}</geometry></collision>"
        for g in (
            '<plane normal="1 0 0"/>',
            '<ellipsoid radii="1 2 3"/>',
            '<d:capsule radius="0.1" length="1"/>',
            '<d:ellipsoid a="1" b="2" c="4"/>',
        )
    )
    asset, reporter = load(f'<link name="a" xmlns:d="http://drake.mit.edu">{shapes}</link>')
    assert kinds(reporter) == []
    plane, ellipsoid, capsule, other = (shape.geometry for shape in asset.shapes)
    assert isinstance(plane, Plane)
    assert asset.shapes[0].pose.rotation @ (0, 0, 1) == pytest.approx((1, 0, 0))
    assert isinstance(ellipsoid, Ellipsoid)
    assert isinstance(capsule, Capsule)
    assert other.radii.tolist() == [1, 2, 4]


@pytest.mark.parametrize("uri", ["none.stl", "package://nobody/a.stl", "http://x.y/a.stl", "a.step"])
def test_a_mesh_that_cannot_be_used_is_reported_and_left_out(uri: str, load: Any, tmp_path: Path) -> None:
    (tmp_path / "a.step").write_text("x")
    asset, reporter = load(
        f'<link name="a"><visual><geometry><mesh filename="{uri}"/></geometry></visual></link>'
    )
    assert kinds(reporter) == ["mesh-missing"]
    assert asset.shapes == []
    assert reporter.found[0].hint


def visual(material: str) -> str:
    return f'<visual><geometry><sphere radius="1"/></geometry>{material}</visual>'


def test_materials_global_local_unnamed_and_undefined(load: Any) -> None:
    asset, reporter = load(
        '<link name="a">'
        + visual('<material name="later"/>')
        + visual('<material name="own"><color rgba="0 1 0 0.5"/></material>')
        + visual('<material name=""><color rgba="0 0 1 1"/></material>')
        + visual('<material name="nowhere"/>')
        + visual("")
        + "</link>"
        + '<material name="later"><color rgba="1 0 0 1"/></material>'
    )
    assert [s.material for s in asset.shapes] == ["later", "own", "a_material", "", ""]
    assert asset.shapes[1].color == (0, 1, 0, 0.5)
    assert asset.shapes[4].color is None
    assert {m.name: m.diffuse for m in asset.materials} == {
        "later": (1, 0, 0),
        "own": (0, 1, 0),
        "a_material": (0, 0, 1),
    }
    assert kinds(reporter) == ["urdf-material-undefined"]


def test_two_definitions_of_one_name_are_kept_apart(load: Any) -> None:
    asset, reporter = load(
        '<link name="a">'
        + visual('<material name="m"><color rgba="1 0 0 1"/></material>')
        + visual('<material name="m"><color rgba="0 0 1 1"/></material>')
        + visual('<material name="m"><color rgba="1 0 0 1"/></material>')
        + "</link>"
    )
    assert [s.material for s in asset.shapes] == ["m", "m_2", "m"]
    assert kinds(reporter) == ["urdf-material-conflict"]


def test_colours_out_of_range_and_textures(load: Any, tmp_path: Path) -> None:
    (tmp_path / "t.png").write_bytes(b"x")
    asset, reporter = load(
        '<link name="a"/><material name="big"><color rgba="255 0 0 1"/></material>'
        '<material name="tex"><texture filename="t.png"/></material>'
        '<material name="lost"><texture filename="u.png"/></material>'
    )
    assert kinds(reporter) == ["urdf-color-range", "texture-missing"]
    assert asset.materials[0].diffuse == (1, 0, 0)
    assert asset.materials[1].textures["diffuse"].file == str(tmp_path / "t.png")
    assert asset.materials[2].textures == {}


def test_bullet_contact_becomes_a_physics_material(load: Any) -> None:
    asset, _ = load(
        '<link name="a"><contact><lateral_friction value="0.7"/><restitution value="0.1"/></contact>'
        '<collision><geometry><sphere radius="1"/></geometry></collision></link>'
    )
    (material,) = asset.physics_materials
    assert (material.static_friction, material.dynamic_friction, material.restitution) == (0.7, 0.7, 0.1)
    assert asset.shapes[0].physics_material == material.name
