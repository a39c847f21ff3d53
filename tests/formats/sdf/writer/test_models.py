# SPDX-License-Identifier: Apache-2.0
"""Models, worlds, nested models, frames, names and masses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.core.errors import OutputError, UsageError
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body, Environment, Light, LightKind, Shape, Site
from simwright.model.geometry import Box, Plane
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion

from .writing import make_pair, make_solid, random_pose, write, write_text

HINGE = [Dof(Motion.HINGE, name="q")]


def test_one_robot_is_a_model(tmp_path: Path, accept_sdf) -> None:
    written = write(make_pair(*HINGE), tmp_path)
    assert [child.tag for child in written.root] == ["model"]
    assert written.version == "1.9"
    assert written.again.name == "pair"
    assert accept_sdf(written.path) == ""


@pytest.mark.parametrize("what", ["shape", "light", "site", "second", "gravity"])
def test_what_stands_beside_it_makes_a_world(what: str, tmp_path: Path, accept_sdf) -> None:
    asset = make_pair(*HINGE)
    match what:
        case "shape":
            asset.shapes.append(Shape("floor", Plane(), visual=False, collision=True))
        case "light":
            asset.lights.append(Light("sun", LightKind.DIRECTIONAL))
        case "site":
            asset.sites.append(Site("goal", pose=random_pose(5)))
        case "second":
            asset.bodies.append(Body("ball", random_pose(6), make_solid()))
        case "gravity":
            asset.environment = Environment(gravity=vec3(0.0, 0.0, -1.62))
    written = write(asset, tmp_path)
    assert [child.tag for child in written.root] == ["world"]
    assert {body.name for body in written.again.bodies} == {body.name for body in asset.bodies}
    for body in written.again.bodies:
        if body.name == "ball":
            assert body.pose.is_close(random_pose(6), 1e-14)
    if what == "gravity":
        assert np.array_equal(written.again.environment.gravity, (0.0, 0.0, -1.62))
    assert accept_sdf(written.path) == ""


def test_the_user_decides(tmp_path: Path) -> None:
    asset = make_pair(*HINGE)
    assert write(asset, tmp_path, world=True).root.find("world") is not None
    asset.shapes.append(Shape("floor", Plane(), visual=False, collision=True))
    written = write(asset, tmp_path, world=False)
    assert written.root.find("model") is not None
    assert any("shape(s) of the world" in finding.message for finding in written.said)


def test_a_thing_without_bodies_is_a_static_model(tmp_path: Path, accept_sdf) -> None:
    asset = Asset("table", shapes=[Shape("top", Box.of(1, 2, 0.1), pose=random_pose(1), collision=True)])
    written = write(asset, tmp_path)
    assert written.text("static") == "true"
    assert not written.again.bodies
    assert {shape.name for shape in written.again.shapes} == {"top_collision", "top_visual"}
    assert all(shape.pose.is_close(random_pose(1), 1e-14) for shape in written.again.shapes)
    assert accept_sdf(written.path) == ""


NESTED = """<model name="outer"><link name="base"/>
  <model name="arm"><pose>1 2 3 0.1 0.2 0.3</pose><link name="base"/><link name="hand"/>
    <frame name="grip" attached_to="hand"><pose>0 0 0.1 0 0 0</pose></frame>
    <joint name="wrist" type="revolute"><parent>base</parent><child>hand</child>
      <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint></model>
  <joint name="mount" type="fixed"><parent>base</parent><child>arm::base</child></joint></model>"""


def test_scopes_are_nested_models(tmp_path: Path, accept_sdf) -> None:
    written = write_text(NESTED, tmp_path)
    assert [body.name for body in written.again.bodies] == ["base", "arm::base", "hand"]
    assert written.again.body("arm::base").scope == "arm"
    joint = written.again.joint("mount")
    assert (joint.parent, joint.child) == ("base", "arm::base")
    assert written.root.find("model/model/joint").get("name") == "wrist"
    (site,) = written.again.sites
    assert (site.name, site.body) == ("grip", "hand")
    assert accept_sdf(written.path) == ""


def test_static_models_of_a_world_stay_apart(tmp_path: Path) -> None:
    box = '<collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision>'
    text = f"""<world name="w"><gravity>0 0 -9.8</gravity>
      <model name="table"><static>true</static><pose>1 0 0 0 0 0</pose><link name="top">{box}</link></model>
      <model name="shelf"><static>true</static><link name="top">{box}</link></model>
      <model name="can"><pose>0 0 1 0 0 0.5</pose><link name="link">{box}</link></model></world>"""
    written = write_text(text, tmp_path)
    models = {model.get("name"): model.findtext("static") for model in written.root.iter("model")}
    assert models == {"can": None, "table": "true", "shelf": "true"}
    assert {site.name for site in written.again.sites} == {"table::top", "shelf::top"}
    assert written.find("model", "can").findtext("pose") == "0 0 1 0 0 0.5"


def test_links_without_mass_are_frames_on_their_neighbour(tmp_path: Path, accept_sdf) -> None:
    asset = make_pair(*HINGE)
    asset.bodies.append(Body("camera", inertial=Inertial(0.0)))
    asset.joints.append(Joint("holder", JointKind.FIXED, "tip", "camera", random_pose(4)))
    asset.bodies.append(Body("next", inertial=make_solid()))
    asset.joints.append(
        Joint("pan", JointKind.REVOLUTE, "camera", "next", dofs=[Dof(Motion.HINGE, name="pan")])
    )
    asset.shapes = [Shape("lens", Box.of(1, 1, 1), "camera", random_pose(7))]
    written = write(asset, tmp_path)
    assert written.find("link", "camera") is None
    assert written.find("joint", "pan").findtext("parent") == "camera"
    assert written.again.joint("pan").parent == "tip"
    assert written.again.shapes[0].pose.is_close(random_pose(4) @ random_pose(7), 1e-12)
    assert "sdf-write-link-frame" in written.kinds
    assert "sdf-write-mass-invented" not in written.kinds
    assert accept_sdf(written.path) == ""


def test_mass_is_never_invented_in_silence(tmp_path: Path) -> None:
    asset = make_pair(*HINGE)
    asset.bodies[1].inertial = Inertial(0.0)
    written = write(asset, tmp_path)
    assert "sdf-write-mass-invented" in written.kinds
    assert written.again.body("tip").inertial.mass == 1e-6


def test_mass_that_follows_from_shapes_is_written(tmp_path: Path) -> None:
    asset = Asset("brick", bodies=[Body("brick", density=500.0)])
    asset.shapes = [Shape("s", Box.of(0.2, 0.1, 0.1), "brick", visual=False, collision=True)]
    assert write(asset, tmp_path).again.body("brick").inertial.mass == pytest.approx(1.0)


def test_an_impossible_inertia_is_corrected_and_said(tmp_path: Path, accept_sdf) -> None:
    asset = Asset("rod", bodies=[Body("rod", inertial=Inertial(1.0, vec3(), np.diag((1.0, 1.0, 3.0))))])
    written = write(asset, tmp_path)
    assert "sdf-write-inertia-adjusted" in written.kinds
    assert written.again.body("rod").inertial.is_physical()
    assert accept_sdf(written.path) == ""


def test_names_of_siblings_differ(tmp_path: Path, accept_sdf) -> None:
    """A moving joint keeps its name, because controllers know it; 'world' and '__x__' are not for links."""
    asset = make_pair(*HINGE)
    asset.bodies += [
        Body("j", inertial=make_solid()),
        Body("world", inertial=make_solid()),
        Body("__a__", inertial=make_solid()),
    ]
    asset.joints += [Joint(f"fix_{b}", JointKind.FIXED, "tip", b) for b in ("j", "world", "__a__")]
    written = write(asset, tmp_path)
    assert "sdf-write-renamed" in written.kinds
    assert {b.name for b in written.again.bodies} == {"base", "tip", "j_link", "world_2", "a"}
    assert written.again.joint("j").child == "tip"
    assert accept_sdf(written.path) == ""


def test_odd_words_are_still_xml(tmp_path: Path) -> None:
    asset = make_pair(*HINGE)
    asset.name = "a::b\x00"
    asset.bodies[1].name = asset.joints[1].child = "tip\x01<&>"
    asset.extras.keep("gazebo", "/root", "gazebo:plugin:Odd", "lib\x02.so")
    asset.extras.keep("gazebo", "base", "battery/name", ["one", "t\x03wo", None, 3])
    written = write(asset, tmp_path)
    assert written.again.name == "a_b_"
    assert "tip_<&>" in {body.name for body in written.again.bodies}
    assert written.text("battery/name") == "one t_wo  3"


def test_ros_names_are_the_names_of_joints(tmp_path: Path) -> None:
    asset = make_pair(*HINGE)
    asset.joints[1].ros_name = "shoulder"
    assert write(asset, tmp_path).find("joint", "shoulder") is not None


def test_poses_keep_every_digit(tmp_path: Path) -> None:
    asset = Asset(
        "far", bodies=[Body("far", Pose(vec3(0.1, 1e-7, 12345.678901), random_pose(9).q), make_solid())]
    )
    again = write(asset, tmp_path).again.body("far")
    assert np.array_equal(again.pose.p, asset.bodies[0].pose.p)
    assert again.pose.is_close(asset.bodies[0].pose, 2e-15)
    assert np.array_equal(again.inertial.inertia, make_solid().inertia)


def test_gravity_and_kinematic_of_links(tmp_path: Path) -> None:
    asset = Asset("b", bodies=[Body("b", inertial=make_solid(), kinematic=True, gravity_scale=0.0)])
    body = write(asset, tmp_path).again.body("b")
    assert (body.kinematic, body.gravity_scale) == (True, 0.0)
    asset.bodies[0].gravity_scale = 0.5
    assert any("share of gravity" in finding.message for finding in write(asset, tmp_path).said)


def test_settings_of_gazebo_are_put_back(tmp_path: Path) -> None:
    text = """<world name="w"><gravity>0 0 -9.8</gravity><scene><shadows>false</shadows><sky/></scene>
      <plugin name="Sky" filename="libsky.so"><color>1 0 0</color><color>0 1 0</color></plugin>
      <model name="m"><allow_auto_disable>false</allow_auto_disable><link name="l">
        <velocity_decay><linear>0.1</linear></velocity_decay>
        <collision name="c"><max_contacts>3</max_contacts><geometry><sphere><radius>1</radius></sphere></geometry>
          <surface><friction><ode><mu>0.5</mu><mu2>0.7</mu2><fdir1>1 0 0</fdir1></ode></friction></surface></collision>
      </link></model></world>"""
    written = write_text(text, tmp_path)
    for path, value in {
        "scene/shadows": "false", "plugin/color": "1 0 0", "plugin/color[2]": "0 1 0", "allow_auto_disable": "false",
        "velocity_decay/linear": "0.1", "max_contacts": "3", "friction/ode/mu": "0.5", "friction/ode/mu2": "0.7",
        "friction/ode/fdir1": "1 0 0",
    }.items():  # fmt: skip
        assert written.text(path) == value, path
    assert "sdf-write-extras" not in written.kinds


def test_versions(tmp_path: Path) -> None:
    asset = make_pair(*HINGE)
    assert write(asset, tmp_path, sdf_version="1.12").version == "1.12"
    for wrong in ("1.8", "2.0", "new"):
        with pytest.raises(UsageError, match="is not written"):
            write(asset, tmp_path, sdf_version=wrong)


def test_files_of_other_people_stay(tmp_path: Path) -> None:
    (tmp_path / "written").mkdir()
    (tmp_path / "written" / "notes.txt").write_text("mine")
    written = write(make_pair(*HINGE), tmp_path)
    assert (tmp_path / "written" / "notes.txt").read_text() == "mine"
    with pytest.raises(OutputError):
        simwright.convert(written.path, written.path)


def test_from_and_to_other_formats(tmp_path: Path) -> None:
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
        'izz="1"/></inertial></link></robot>'
    )
    path = simwright.convert(urdf, tmp_path / "out" / "robot.sdf")
    assert simwright.diff(urdf, path).equal
    usd = simwright.convert(path, tmp_path / "usd")
    assert simwright.diff(urdf, simwright.convert(usd, tmp_path / "again" / "robot.sdf")).equal


def test_a_static_model_that_is_a_plugin_alone_stays(tmp_path: Path) -> None:
    text = (
        '<world name="w"><gravity>0 0 -9.8</gravity><model name="eye"><static>true</static><pose>1 2 3 0 0 0</pose>'
        '<link name="body"/><plugin filename="gz-sim-performer-detector-system" name="gz::sim::PerformerDetector">'
        "<topic>/seen</topic></plugin></model></world>"
    )
    written = write_text(text, tmp_path)
    model = written.find("model", "eye")
    assert model.findtext("static") == "true"
    assert model.find("link").get("name") == "body"
    assert written.again.sites[0].pose.p.tolist() == [1.0, 2.0, 3.0]
    assert model.findtext("plugin/topic") == "/seen"
    assert "sdf-write-extras" not in written.kinds
