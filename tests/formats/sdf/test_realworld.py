"""Every SDFormat file among the shared assets."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import ParseError
from simwright.formats.table import read_asset
from simwright.model.joint import JointKind, Motion
from simwright.model.kinematics import build_tree, forward_kinematics

pytestmark = pytest.mark.realworld


def files(shared_assets):
    return sorted(p for ending in ("*.sdf", "*.world") for p in shared_assets.rglob(ending))


def test_every_file_is_read(shared_assets):
    """Poses agree with forward kinematics everywhere; only named problems are found."""
    paths = files(shared_assets)
    assert len(paths) > 15
    for path in paths:
        reporter = Reporter()
        if path.name == "cassie.world":  # an XML declaration after a comment: not XML
            with pytest.raises(ParseError, match="XML declaration"):
                read_asset(path, reporter=reporter)
            continue
        asset = read_asset(path, reporter=reporter)
        tree = build_tree(asset)
        assert not tree.dangling
        assert all(joint.closes_loop for joint in tree.loops)
        poses = forward_kinematics(asset)
        for body in asset.bodies:
            assert poses[body.name].is_close(body.pose, 1e-9), (path, body.name)
        assert {d.kind for d in reporter if d.level != "info"} <= {"sdf-mesh-failed", "sdf-bad-inertia"}
        assert all(d.where.line for d in reporter)


def test_meshes_load(shared_assets):
    robots = shared_assets / "urdf" / "example-robot-data" / "robots" / "cassie_description" / "robots"
    asset = read_asset(robots / "cassie_v2.sdf")
    meshes = [s.geometry for s in asset.shapes if s.geometry.kind == "mesh"]
    assert meshes
    assert all(mesh.data.face_count > 0 for mesh in meshes[:3])


def test_cassie_loops(shared_assets):
    robots = shared_assets / "urdf" / "example-robot-data" / "robots" / "cassie_description" / "robots"
    asset = read_asset(robots / "cassie.sdf")
    gearboxes = [j for j in asset.joints if j.kind is JointKind.GEARBOX]
    assert len(gearboxes) == 10
    assert all(j.closes_loop for j in gearboxes)
    assert sum(j.closes_loop for j in asset.joints) == 16
    assert build_tree(asset).roots == ["pelvis"]


def test_double_pendulum(shared_assets):
    asset = read_asset(shared_assets / "sdf" / "double_pendulum.sdf")
    assert [j.name for j in asset.joints] == ["upper_joint", "lower_joint"]
    turned = forward_kinematics(asset, {"upper_joint": [np.pi / 2], "lower_joint": [0.0]})
    rest = asset.body("lower_link").pose
    upper = asset.body("upper_link").pose.p
    # both turn about X through the upper joint, which is at the upper link's origin
    arm = rest.p - upper
    expected = upper + np.array((arm[0], -arm[2], arm[1]))
    np.testing.assert_allclose(turned["lower_link"].p, expected, atol=1e-6)


def test_relative_to(shared_assets):
    asset = read_asset(shared_assets / "sdf" / "model_link_relative_to.sdf")
    np.testing.assert_allclose(asset.body("L3").pose.p, (1, 0, -3), atol=1e-12)


def test_joints_and_sensors(shared_assets):
    asset = read_asset(shared_assets / "sdf" / "ball_prismatic_joint.sdf")
    assert [j.dofs[0].motion for j in asset.joints] == [Motion.BALL, Motion.SLIDE]
    asset = read_asset(shared_assets / "sdf" / "usd_sensors.sdf")
    assert [(s.kind, s.rate) for s in asset.sensors] == [("imu", 100), ("camera", 30), ("lidar", 10)]
    assert {i.name for i in asset.interfaces} == {
        "imu",
        "camera",
        "camera/camera_info",
        "lidar",
        "lidar/points",
    }


def test_lights(shared_assets):
    asset = read_asset(shared_assets / "sdf" / "lights.sdf")
    assert len(asset.lights) == 6
    for light in asset.lights:
        if light.name == "directional_light":
            shine = light.pose.rotation @ (0, 0, -1)
            np.testing.assert_allclose(shine, np.array((5, 5.2, 6)) / np.linalg.norm((5, 5.2, 6)), atol=1e-12)
