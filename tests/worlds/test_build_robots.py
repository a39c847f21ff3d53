# SPDX-License-Identifier: Apache-2.0
"""Robots of other formats in a world: where they stand, what they are called, and that every writer takes them."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simwright.app.api import check, load
from simwright.app.world_build import Built, build_world
from simwright.app.worlds import load_world
from simwright.core.diag import Level
from simwright.core.math3d import rpy_from_quat
from simwright.model.joint import JointKind

from ..conftest import SAMPLES

WORLD = """
params: {{name: crew}}
rooms:
  - {{name: hall, footprint: {{type: box, dims: [6, 6]}}}}
robots:
  - {{name: welder, radius: 0.3, pose: [1.5, 1.5, 0, 0.7]}}
  - name: dog
    radius: 0.3
    pose: [-1.5, 1.5, 0, 1.0]
    sensors:
      front: &lidar {{type: lidar, update_rate_s: 0.2, angle_units: radians, min_angle: -1.0, max_angle: 1.0,
        angular_resolution: 0.1, max_range_m: 4.0}}
      back: *lidar
      cone: {{type: fov, update_rate_s: 0.5, angle_units: radians, min_angle: 0.2, max_angle: 1.2, max_range_m: 3.0}}
  - {{name: rover_a, radius: 0.3, pose: [-1.5, -1.5]}}
  - {{name: rover_b, radius: 0.3, pose: [1.5, -1.5, 0, 2.0]}}
  - {{name: linkage, radius: 0.2, pose: [0, 0, 0, 2.0]}}
  - {{name: dot, pose: [2, 0, 0, 2.0]}}
simwright:
  entities:
    welder: {{asset: {samples}/arm/urdf/arm.urdf.xacro}}
    dog: {{asset: {samples}/quadruped/quadruped.xml}}
    rover_a: {{asset: {samples}/rover/model.sdf}}
    rover_b: {{asset: {samples}/rover/model.sdf}}
    linkage: {{asset: {samples}/fourbar/fourbar.usda}}
"""


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("crew")
    file = folder / "crew.yaml"
    file.write_text(WORLD.format(samples=SAMPLES.as_posix()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(SAMPLES))  # a world may not name robots elsewhere unasked
        return build_world(load_world(file), folder / "out")


def test_the_assembly_follows_every_rule(crew: Built) -> None:
    found = [item for _, item in check(crew.entries["usd"]) if item.level is not Level.INFO]
    assert [(item.kind, item.message) for item in found] == []


def test_two_robots_of_one_file_are_one_component(crew: Built) -> None:
    robots = crew.entries["usd"].parent / "robots"
    assert sorted(folder.name for folder in robots.iterdir()) == [
        "dot", "fourbar", "quadruped", "rover", "simwright_arm",
    ]  # fmt: skip
    names = {placement.namespace for placement in crew.scene.placements if placement.group == "robots"}
    assert names == {"welder", "dog", "rover_a", "rover_b", "linkage", "dot"}


def test_robots_stand_where_the_world_has_them(crew: Built) -> None:
    """An arm that is fixed to the ground as well: its anchor moves with it."""
    asset = load(crew.entries["usd"])
    by_path = {body.path: body for body in asset.bodies}
    base = by_path["/crew/robots/welder/base_link"]
    assert base.pose.p == pytest.approx((1.5, 1.5, 0.0), abs=1e-6)
    assert by_path["/crew/robots/dog/torso"].pose.p[:2] == pytest.approx((-1.5, 1.5), abs=1e-6)
    anchors = [joint for joint in asset.joints if not joint.parent and joint.kind is JointKind.FIXED]
    assert len(anchors) == 2  # the arm and the linkage
    for joint in anchors:
        expected = joint.parent_frame @ ~joint.child_frame
        assert expected.is_close(asset.body(joint.child).pose, 1e-5)


def test_mujoco_has_the_same_bodies_at_the_same_places(crew: Built) -> None:
    model = mujoco.MjModel.from_xml_path(str(crew.entries["mjcf"]))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.body("welder::base_link").xpos == pytest.approx((1.5, 1.5, 0.0), abs=1e-9)
    assert data.body("rover_b::base_link").xpos[:2] == pytest.approx((1.5, -1.5), abs=1e-6)
    turn = data.body("rover_b::base_link").xmat.reshape(3, 3)
    assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(2.0, abs=1e-6)
    assert data.body("dog::torso").xpos[:2] == pytest.approx((-1.5, 1.5), abs=1e-9)
    rest = data.body("rover_a::base_link").xpos.copy()
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    assert np.abs(data.body("rover_a::base_link").xpos - rest).max() < 2e-3


def test_sensors_of_the_world_are_on_the_robot(crew: Built) -> None:
    asset = next(item.asset for item in crew.scene.placements if item.name == "dog")
    lidars = {sensor.name: sensor for sensor in asset.sensors if sensor.kind == "lidar"}
    assert set(lidars) == {"front", "back"}
    assert lidars["front"].settings["scan_horizontal_samples"] == 21
    assert lidars["front"].settings["scan_horizontal_max_angle"] == pytest.approx(1.0)
    assert lidars["front"].rate == pytest.approx(5.0)
    # what sees a cone looks along its middle
    (cone,) = (sensor for sensor in asset.sensors if sensor.name == "cone")
    assert (cone.kind, cone.settings["horizontal_fov"]) == ("logical_camera", pytest.approx(1.0))
    assert rpy_from_quat(cone.pose.q)[2] == pytest.approx(0.7)
    topics = {interface.name for interface in asset.interfaces}
    assert {"front/scan", "back/scan"} <= topics


@pytest.mark.parser
def test_libsdformat_takes_the_world(crew: Built, accept_sdf) -> None:
    accept_sdf(crew.entries["sdf"])
    text = crew.entries["sdf"].read_text()
    for name in ("welder", "dog", "rover_a", "rover_b", "linkage"):
        assert f'<model name="{name}">' in text
    assert "rover_b/cmd_vel" in text


@pytest.mark.parser
def test_the_gltf_validator_finds_nothing(crew: Built, accept_gltf) -> None:
    issues = json.loads(accept_gltf(crew.entries["glb"]))["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    from simwright.core.errors import NotFoundError

    file = tmp_path / "crew.yaml"
    file.write_text(WORLD.format(samples="nowhere"))
    with pytest.raises(NotFoundError, match="no such file"):
        build_world(load_world(file), tmp_path / "out", ["usd"])
    assert not (tmp_path / "out").exists()
