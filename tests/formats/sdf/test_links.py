"""Mass, flags, shapes of links, and what static models become."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.model.joint import WORLD
from simwright.model.mass import body_inertial

BALL = "<geometry><sphere><radius>0.5</radius></sphere></geometry>"


def test_default_mass_is_that_of_sdformat(read_model):
    inertial = read_model('<link name="a"/>').body("a").inertial
    assert inertial.mass == 1.0
    np.testing.assert_array_equal(inertial.inertia, np.eye(3))


def test_inertial_in_its_own_frame(read_model):
    asset = read_model(
        f"""<link name="a"><inertial><pose>1 2 3 0 0 {math.pi / 2}</pose><mass>2</mass>
        <inertia><ixx>1</ixx><iyy>2</iyy><izz>2.5</izz><ixy>0</ixy></inertia></inertial></link>"""
    )
    inertial = asset.body("a").inertial
    assert inertial.mass == 2.0
    np.testing.assert_allclose(inertial.com, (1, 2, 3))
    np.testing.assert_allclose(inertial.six, (2, 1, 2.5, 0, 0, 0), atol=1e-12)


def test_partial_inertia_uses_defaults(read_model):
    asset = read_model('<link name="a"><inertial><mass>5</mass></inertial></link>')
    np.testing.assert_array_equal(asset.body("a").inertial.six, (1, 1, 1, 0, 0, 0))


def test_bad_masses_are_reported(read_model, found):
    asset = read_model(
        """<link name="a"><inertial><mass>0</mass></inertial></link>
        <link name="b"><inertial><mass>abc</mass></inertial></link>
        <link name="c"><inertial><inertia><ixx>9</ixx></inertia></inertial></link>"""
    )
    assert found("sdf-bad-mass")[0].where.line == 3
    assert found("xml-bad-number")[0].where.line == 4
    assert found("sdf-bad-inertia")[0].where.line == 5
    assert [b.inertial.mass for b in asset.bodies] == [1, 1, 1]


def test_auto_inertia_follows_from_collisions(read_model):
    asset = read_model(
        f"""<link name="a"><inertial auto="true"><density>10</density></inertial>
        <collision name="c">{BALL}</collision></link>
        <link name="b"><inertial auto="true"><density>10</density></inertial>
        <collision name="d"><density>20</density>{BALL}</collision></link>
        <link name="e"><inertial auto="true"><mass>3</mass></inertial>
        <collision name="f">{BALL}</collision></link>""",
        "1.11",
    )
    volume = 4 / 3 * math.pi * 0.125
    masses = [body_inertial(asset, body).mass for body in asset.bodies]
    assert masses == pytest.approx([10 * volume, 20 * volume, 3.0])
    assert asset.body("e").inertial.inertia[0, 0] == pytest.approx(0.4 * 3 * 0.25)


def test_auto_inertia_without_collisions(read_model, found):
    asset = read_model('<link name="a"><inertial auto="true"/></link>', "1.11")
    assert found("sdf-no-volume")
    assert asset.body("a").inertial.mass == 1.0


def test_flags(read_model, found):
    asset = read_model(
        """<link name="a"><gravity>false</gravity><kinematic>1</kinematic><enable_wind>true</enable_wind>
        <velocity_decay><linear>0.1</linear></velocity_decay><self_collide>perhaps</self_collide></link>
        <link name="b"><gravity>maybe</gravity></link>"""
    )
    assert asset.body("a").gravity_scale == 0.0
    assert asset.body("a").kinematic
    assert asset.extras.get("gazebo", "a", "enable_wind") is True
    assert asset.extras.get("gazebo", "a", "velocity_decay/linear") == 0.1
    assert asset.body("b").gravity_scale == 1.0
    assert found("sdf-bad-flag")[0].where.line == 5


def test_typing_errors_are_said(read_model, found):
    read_model('<link name="a"><colision name="c"/></link>')
    assert "<colision>" in found("xml-unknown-element")[0].message


def test_shapes(read_model):
    asset = read_model(
        f"""<link name="a"><pose>5 0 0 0 0 0</pose>
        <collision name="c"><pose>0 0 1 0 0 0</pose>{BALL}<max_contacts>3</max_contacts></collision>
        <visual name="v">{BALL}<cast_shadows>false</cast_shadows></visual></link>
        <link name="b"><collision name="c">{BALL}</collision></link>"""
    )
    c, v, other = asset.shapes
    assert (c.collision, c.visual, v.collision, v.visual) == (True, False, False, True)
    assert (c.name, other.name) == ("c", "b_c")
    assert c.pose.is_close(Pose.of((0, 0, 1)))
    assert asset.extras.get("gazebo", "c", "max_contacts") == 3
    assert asset.extras.get("gazebo", "v", "cast_shadows") is False


def test_static_model_becomes_world_shapes_and_sites(read_text):
    asset = read_text(
        f"""<sdf version="1.6"><world name="w"><model name="m"><static>true</static><pose>1 0 0 0 0 0</pose>
        <link name="a"><pose>0 1 0 0 0 0</pose><collision name="c"><pose>0 0 1 0 0 0</pose>{BALL}</collision>
        <sensor name="s" type="imu"/><light name="l" type="point"/></link></model></world></sdf>"""
    )
    assert not asset.bodies
    assert asset.shapes[0].body == WORLD
    assert asset.shapes[0].pose.is_close(Pose.of((1, 1, 1)))
    assert [(s.name, s.body) for s in asset.sites] == [("a", WORLD)]
    for thing in (asset.sites[0], asset.sensors[0], asset.lights[0]):
        assert thing.body == WORLD
        assert thing.pose.is_close(Pose.of((1, 1, 0)))


def test_the_mass_of_a_static_link_is_told(read_model, found):
    link = '<link name="a"><inertial><mass>3</mass></inertial></link>'
    read_model('<static>true</static><link name="a"/>')
    assert not found("sdf-static-mass")
    assert not read_model(f"<static>true</static>{link}").bodies
    assert len(found("sdf-static-mass")) == 1


def test_self_collision_and_articulation(read_model):
    joint = '<joint name="j" type="fixed"><parent>a</parent><child>b</child></joint>'
    links = '<link name="a"/><link name="b"/>'
    (made,) = read_model(links + joint).articulations
    assert (made.name, made.root, made.self_collide) == ("m", "a", False)
    assert read_model(links + joint + "<self_collide>true</self_collide>").articulations[0].self_collide
    assert not read_model(links).articulations


def test_a_mass_of_a_link_whose_mesh_is_broken_is_kept(tmp_path, read_model, found):
    (tmp_path / "broken.stl").write_text("not a mesh")
    collision = "<collision name='c'><geometry><mesh><uri>broken.stl</uri></mesh></geometry></collision>"
    asset = read_model(
        f'<link name="a"><inertial auto="true"><mass>3</mass></inertial>{collision}</link>', "1.11"
    )
    assert asset.body("a").inertial.mass == 3.0
    assert asset.body("a").inertial.inertia.tolist() == np.eye(3).tolist()
