"""Geoms of every type, what is seen and touched, friction and colours."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.model.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Plane,
    Sphere,
)


def scene(inside: str, head: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{inside}</worldbody></mujoco>"


def test_primitives_have_full_lengths(read_text):
    asset = read_text(
        scene(
            '<geom type="plane" size="1 2 .1"/><geom type="plane" size="0 2 .1"/>'
            '<geom type="sphere" size=".5"/><geom type="capsule" size=".1 .2"/>'
            '<geom type="ellipsoid" size="1 2 3"/><geom type="cylinder" size=".1 .2"/>'
            '<geom type="box" size="1 2 3"/>'
        )
    )
    plane, floor, sphere, capsule, ellipsoid, cylinder, box = (shape.geometry for shape in asset.shapes)
    assert isinstance(plane, Plane)
    assert np.allclose(plane.size, (2, 4))
    assert isinstance(floor, Plane)
    assert floor.size is None
    assert isinstance(sphere, Sphere)
    assert sphere.radius == 0.5
    assert isinstance(capsule, Capsule)
    assert (capsule.radius, capsule.length) == (0.1, 0.4)
    assert isinstance(ellipsoid, Ellipsoid)
    assert np.allclose(ellipsoid.radii, (1, 2, 3))
    assert isinstance(cylinder, Cylinder)
    assert (cylinder.radius, cylinder.length) == (0.1, 0.4)
    assert isinstance(box, Box)
    assert np.allclose(box.size, (2, 4, 6))


def test_fromto_becomes_a_pose(read_text):
    (shape,) = read_text(scene('<geom type="capsule" size=".1" fromto="0 0 0 2 0 0"/>')).shapes
    assert shape.geometry.length == pytest.approx(2.0)
    assert np.allclose(shape.pose.p, (1, 0, 0))
    assert np.allclose(np.abs(shape.pose.rotation @ (0, 0, 1)), (1, 0, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("attributes", "visual", "collision"),
    [
        ("", True, True),
        ('contype="0" conaffinity="0"', True, False),
        ('contype="0"', True, True),
        ('group="3"', False, True),
        ('group="3" contype="0" conaffinity="0"', True, False),
    ],
)
def test_seen_or_touched(attributes, visual, collision, read_text):
    (shape,) = read_text(scene(f'<geom size="1" {attributes}/>')).shapes
    assert (shape.visual, shape.collision) == (visual, collision)
    assert bool(shape.physics_material) is collision


def test_a_geom_of_a_contact_pair_collides(read_text):
    asset = read_text(
        '<mujoco><worldbody><geom name="f" type="plane" size="1 1 1"/><body><freejoint/>'
        '<geom name="g" size="1" contype="0" conaffinity="0"/></body></worldbody>'
        '<contact><pair name="p" geom1="f" geom2="g" condim="1" margin=".2"/></contact></mujoco>'
    )
    assert asset.shapes[1].collision
    (pair,) = asset.contact_pairs
    assert (pair.name, pair.a, pair.b) == ("p", "f", "g")
    assert (pair.settings["condim"], pair.settings["margin"]) == (1, 0.2)


def test_bits_group_margin(read_text):
    (shape,) = read_text(
        scene('<geom size="1" contype="4" conaffinity="3" group="1" margin=".2" gap=".1"/>')
    ).shapes
    assert (shape.category_bits, shape.collide_bits, shape.group) == (4, 3, 1)
    assert (shape.margin, shape.gap) == (0.2, 0.1)


def test_physics_materials_are_shared(read_text):
    asset = read_text(
        scene(
            '<geom size="1" friction=".5 .1 .01"/><geom size="1" friction=".5 .1 .01"/>'
            '<geom size="1" friction=".5 .1 .01" condim="6"/><geom size="1" condim="1"/>'
        )
    )
    names = [shape.physics_material for shape in asset.shapes]
    assert names == ["contact", "contact", "contact_2", "contact_3"]
    plain, rolling, slippery = asset.physics_materials
    assert (plain.static_friction, plain.torsional_friction, plain.rolling_friction) == (0.5, None, None)
    assert (rolling.dynamic_friction, rolling.torsional_friction, rolling.rolling_friction) == (
        0.5,
        0.1,
        0.01,
    )
    assert slippery.static_friction == 0.0


def test_solver_settings_are_extras(read_text):
    asset = read_text(
        scene('<geom name="g" size="1" solref="-100 -5" solimp=".8 .9 .01" condim="4" priority="2"/>')
    )
    extras = asset.extras.values()["mjc"]
    assert extras["geom/g"]["solref"] == [-100.0, -5.0]
    assert extras["geom/g"]["solimp"][:3] == [0.8, 0.9, 0.01]
    assert (extras["geom/g"]["condim"], extras["geom/g"]["priority"]) == (4, 2)
    assert extras["physics_material/contact"]["solref"] == [-100.0, -5.0]


def test_colours_are_the_written_decimals(read_text):
    asset = read_text(
        scene(
            '<geom size="1" rgba=".1 .2 .3 .4"/><geom size="1"/><geom size="1" material="m"/>'
            '<geom size="1" material="m" rgba="1 0 0 1"/>',
            '<asset><material name="m" rgba=".7 .8 .9 1"/></asset>',
        )
    )
    own, plain, painted, both = asset.shapes
    assert own.color == (0.1, 0.2, 0.3, 0.4)
    assert plain.color == (0.5, 0.5, 0.5, 1.0)
    assert (painted.color, painted.material) == (None, "m")
    # a material hides the colour of a shape in the model, in MuJoCo it is the other way round
    (_, tinted) = asset.materials
    assert (both.color, both.material) == (None, tinted.name)
    assert (tinted.diffuse, tinted.opacity) == ((1.0, 0.0, 0.0), 1.0)


def test_a_height_field(read_text):
    asset = read_text(
        scene(
            '<geom type="hfield" hfield="h"/><geom type="hfield" hfield="h" pos="9 0 0"/>',
            '<asset><hfield name="h" nrow="2" ncol="3" size="2 3 .5 .1" elevation="0 1 2 3 4 5"/></asset>',
        )
    )
    field = asset.shapes[0].geometry
    assert isinstance(field, Heightfield)
    assert asset.shapes[1].geometry is field
    assert np.allclose(field.size, (4, 6))
    assert field.base == 0.1
    assert field.heights.shape == (2, 3)
    assert field.heights.max() == pytest.approx(0.5)


def test_rows_of_a_height_field_are_where_mujoco_hits_them(read_text, tmp_path):
    asset = read_text(
        scene(
            '<geom type="hfield" hfield="h"/>',
            '<asset><hfield name="h" nrow="3" ncol="3" size="1 1 .5 .1"'
            ' elevation="0 0 1 0 0 0 0 0 0"/></asset>',
        )
    )
    field = asset.shapes[0].geometry
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    (row,), (column,) = np.nonzero(field.heights)
    start = np.array((column - 1.0, row - 1.0, 2.0)) * (0.999, 0.999, 1.0)
    down = np.array((0.0, 0.0, -1.0))
    distance = mujoco.mj_ray(model, data, start, down, None, 1, -1, np.zeros(1, dtype=np.int32))
    assert distance == pytest.approx(1.5, abs=0.01)


def test_unnamed_geoms_are_named_after_body_and_type(read_text):
    asset = read_text(
        scene('<geom size="1"/><body name="a"><geom type="box" size="1 1 1"/><geom size="1"/></body>')
    )
    assert [shape.name for shape in asset.shapes] == ["world_sphere", "a_box", "a_sphere"]
    assert [shape.body for shape in asset.shapes] == ["", "a", "a"]
