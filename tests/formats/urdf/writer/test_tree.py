# SPDX-License-Identifier: Apache-2.0
"""One tree with one root: the base that floats, or the world."""

from __future__ import annotations

import itertools

import numpy as np

from simwright.core.math3d import IDENTITY, Pose, vec3
from simwright.model.asset import Asset, Body, Camera, Sensor, Shape, Site
from simwright.model.geometry import Box, Plane
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.kinematics import forward_kinematics

from .writing import make_solid, random_pose, write


def make_chain(*names: str) -> Asset:
    asset = Asset("chain", bodies=[Body(name, inertial=make_solid()) for name in names])
    for parent, child in itertools.pairwise(names):
        dof = Dof(Motion.HINGE, name=f"{child}_joint")
        asset.joints.append(
            Joint(f"{child}_joint", JointKind.REVOLUTE, parent, child, random_pose(7), dofs=[dof])
        )
    return asset


def test_a_robot_that_floats_has_no_world(tmp_path, accept_urdf):
    written = write(make_chain("a", "b"), tmp_path)
    assert written.links == ["a", "b"]
    assert not written.kinds
    accept_urdf(written.path)


def test_a_floating_joint_to_the_world_is_no_joint(tmp_path):
    asset = make_chain("a", "b")
    asset.bodies[0].pose = random_pose(1)
    asset.joints.append(Joint("free", JointKind.FLOATING, "", "a", dofs=[Dof(Motion.FREE, name="free")]))
    written = write(asset, tmp_path)
    assert written.links == ["a", "b"]
    assert "write-lost-motion" in written.kinds, "where it starts has no place"


def test_a_base_fixed_to_the_world_hangs_on_it(tmp_path, accept_urdf):
    asset = make_chain("a", "b")
    asset.joints.insert(0, Joint("bolt", JointKind.FIXED, "", "a", random_pose(1), random_pose(2)))
    written = write(asset, tmp_path)
    assert written.links == ["world", "a", "b"]
    assert written.joint("bolt").get("type") == "fixed"
    assert [body.name for body in written.again.bodies] == ["a", "b"]
    ours, theirs = forward_kinematics(asset), forward_kinematics(written.again)
    assert all(ours[name].is_close(theirs[name], 1e-12) for name in ours)
    accept_urdf(written.path)


def test_a_frame_of_the_base_at_the_origin_is_the_root(tmp_path, accept_urdf):
    asset = make_chain("base_link", "b")
    asset.bodies[0].pose = Pose.of((0.0, 0.0, 0.1))
    asset.sites = [
        Site("imu", "base_link", random_pose(3)),
        Site("base_footprint", "base_link", Pose.of((0.0, 0.0, -0.1))),
    ]
    written = write(asset, tmp_path)
    assert "root Link: base_footprint" in accept_urdf(written.path)
    assert {body.name for body in written.again.bodies} == {"base_link", "b", "base_footprint", "imu"}
    assert forward_kinematics(written.again)["base_link"].is_close(asset.bodies[0].pose, 1e-12)
    assert not written.kinds


def test_several_parts_stand_side_by_side(tmp_path, accept_urdf):
    asset = Asset(
        "scene", bodies=[Body("a", random_pose(1), make_solid()), Body("b", random_pose(2), make_solid())]
    )
    asset.bodies += [
        Body("c", random_pose(3), make_solid(), kinematic=True),
        Body("d", random_pose(4), enabled=False),
    ]
    written = write(asset, tmp_path)
    types = {joint.find("child").get("link"): joint.get("type") for joint in written.root.findall("joint")}
    assert types == {"a": "floating", "b": "floating", "c": "fixed", "d": "fixed"}
    assert {"urdf-write-floats", "urdf-write-still"} <= written.kinds
    poses = forward_kinematics(written.again)
    assert all(poses[body.name].is_close(body.pose, 1e-12) for body in asset.bodies)
    accept_urdf(written.path)


def test_shapes_of_the_world_are_on_its_link(tmp_path):
    asset = make_chain("a")
    asset.shapes = [Shape("table", Box.of(1, 1, 1), pose=random_pose(5), collision=True)]
    written = write(asset, tmp_path)
    assert written.links == ["world", "a"]
    assert {shape.body for shape in written.again.shapes} == {""}
    asset.shapes = [Shape("floor", Plane(), collision=True)]
    written = write(asset, tmp_path / "floor")
    assert written.links == ["a"]
    assert "urdf-write-geometry" in written.kinds


def test_what_closes_a_loop_is_reported(tmp_path, accept_urdf):
    asset = make_chain("a", "b", "c")
    asset.joints.append(
        Joint("rod", JointKind.REVOLUTE, "c", "a", dofs=[Dof(Motion.HINGE, name="rod")], closes_loop=True)
    )
    asset.joints.append(Joint("off", JointKind.FIXED, "a", "c", enabled=False))
    asset.joints.append(Joint("nowhere", JointKind.FIXED, "a", "nobody"))
    written = write(asset, tmp_path)
    assert {"urdf-write-loop", "write-lost-motion"} == written.kinds
    assert written.lost == {"joints.enabled", ""}, "one is switched off, one leads nowhere"
    assert [joint.name for joint in written.again.joints] == ["b_joint", "c_joint"]
    accept_urdf(written.path)


def test_frames_of_sites_cameras_and_sensors(tmp_path, accept_urdf):
    asset = make_chain("a", "b")
    asset.sites = [Site("tcp", "b", random_pose(1), ros_frame="tool0"), Site("here", "", IDENTITY)]
    asset.cameras = [Camera("eye", "b", random_pose(2))]
    asset.sensors = [Sensor("imu", "imu", "b", random_pose(3)), Sensor("touch", "contact", "b")]
    written = write(asset, tmp_path)
    assert written.links == ["a", "b", "tool0", "eye_optical_frame", "imu"]
    poses = forward_kinematics(written.again)
    place = ~poses["b"] @ poses["eye_optical_frame"]
    assert np.allclose(place.apply(vec3(0, 0, 1)), asset.cameras[0].pose.apply(vec3(0, 0, -1)), atol=1e-12)
    assert (~poses["b"] @ poses["tool0"]).is_close(asset.sites[0].pose, 1e-12)
    accept_urdf(written.path)


def test_names_stay_unless_taken(tmp_path, accept_urdf):
    asset = make_chain("a", "b")
    asset.bodies[1].name = asset.joints[0].child = "world"
    asset.sites = [Site("a", "a", random_pose(1))]
    written = write(asset, tmp_path)
    assert written.links == ["a", "world_2", "a_2"]
    assert "urdf-write-renamed" in written.kinds
    accept_urdf(written.path)


def test_inertials_are_exact_and_never_invented(tmp_path):
    asset = make_chain("a", "b", "c")
    asset.bodies[1].inertial = None
    asset.bodies[2].inertial = Inertial(0.0)
    asset.shapes = [
        Shape("s", Box.of(1, 2, 3), "b", random_pose(2), visual=False, collision=True, density=100.0)
    ]
    written = write(asset, tmp_path)
    first, second = (written.again.body(name).inertial for name in "ab")
    solid = make_solid()
    assert first is not None
    assert first.mass == solid.mass
    assert np.array_equal(first.com, solid.com)
    assert np.array_equal(first.inertia, solid.inertia)
    assert second is not None
    assert np.isclose(second.mass, 600.0)
    assert written.link("c").find("inertial") is None


def test_an_asset_without_bodies_is_a_world(tmp_path, accept_urdf):
    written = write(Asset("nothing"), tmp_path)
    assert written.links == ["world"]
    assert written.kinds == {"urdf-write-empty"}
    accept_urdf(written.path)
