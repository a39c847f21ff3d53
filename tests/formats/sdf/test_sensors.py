"""Sensors, cameras and lights: settings, directions and topics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.diag import Level
from simwright.core.math3d import Pose
from simwright.formats.gazebo.sensors import SENSOR_KINDS
from simwright.model.asset import LightKind


def link(inner: str) -> str:
    return f'<link name="a">\n{inner}</link>'


def sensor(kind: str, inner: str = "", name: str = "s") -> str:
    return f'<sensor name="{name}" type="{kind}">{inner}</sensor>\n'


def topics(asset):
    return {(i.name, i.type) for i in asset.interfaces}


def test_camera_looks_along_x(read_model):
    asset = read_model(
        link(
            sensor(
                "camera",
                """<pose>1 2 3 0 0 0</pose><update_rate>30</update_rate><topic>/front/image</topic>
                <camera><horizontal_fov>1.2</horizontal_fov><image><width>640</width><height>480</height></image>
                <clip><near>0.05</near><far>50</far></clip><noise><stddev>0.01</stddev></noise>
                <optical_frame_id>eye</optical_frame_id></camera>""",
            )
        )
    )
    (camera,) = asset.cameras
    (made,) = asset.sensors
    np.testing.assert_allclose(camera.pose.rotation @ (0, 0, -1), (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(camera.pose.rotation @ (0, 1, 0), (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(camera.pose.p, (1, 2, 3))
    assert camera.fov_y == pytest.approx(2 * math.atan(math.tan(0.6) * 480 / 640))
    assert (camera.resolution, camera.near, camera.far) == ((640, 480), 0.05, 50.0)
    assert (made.kind, made.body, made.target, made.rate) == ("camera", "a", "s", 30.0)
    assert made.pose.is_close(Pose.of((1, 2, 3)))
    assert made.settings["noise_stddev"] == 0.01
    assert topics(asset) == {
        ("/front/image", "sensor_msgs/msg/Image"),
        ("/front/camera_info", "sensor_msgs/msg/CameraInfo"),
    }
    assert all(i.frame_override == "eye" and i.at == "s" and i.rate == 30 for i in asset.interfaces)


def test_lidar(read_model):
    asset = read_model(
        link(
            sensor(
                "gpu_lidar",
                """<topic>scan</topic><gz_frame_id>laser</gz_frame_id><lidar><scan><horizontal>
                <samples>640</samples><min_angle>-1.5</min_angle></horizontal></scan>
                <range><min>0.1</min></range></lidar>""",
            )
        )
    )
    (made,) = asset.sensors
    assert made.kind == "lidar"
    assert made.settings["scan_horizontal_samples"] == 640
    assert made.settings["scan_horizontal_min_angle"] == -1.5
    assert made.settings["range_min"] == 0.1
    assert topics(asset) == {
        ("scan", "sensor_msgs/msg/LaserScan"),
        ("scan/points", "sensor_msgs/msg/PointCloud2"),
    }
    assert asset.interfaces[0].frame_override == "laser"


@pytest.mark.parametrize("text", sorted(SENSOR_KINDS))
def test_every_type(read_model, reporter, text):
    asset = read_model(link(sensor(text, "<topic>t</topic>")))
    assert asset.sensors[0].kind == SENSOR_KINDS[text]
    assert not reporter.has(Level.WARNING)


def test_unknown_type(read_model, found):
    assert read_model(link(sensor("sniffer"))).sensors[0].kind == "sniffer"
    assert found("sdf-unknown-sensor")[0].where.line == 4


def test_rgbd_topics(read_model):
    asset = read_model(link(sensor("rgbd_camera", "<topic>d</topic><camera/>")))
    assert {i.name for i in asset.interfaces} == {"d/image", "d/depth_image", "d/points", "d/camera_info"}


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("camera", ["/eye/image", "/eye/camera_info"]),
        ("depth_camera", ["/eye/image", "/eye/image/points", "/eye/camera_info"]),
        ("segmentation", ["/eye/image/labels_map", "/eye/image/colored_map", "/eye/image/camera_info"]),
        ("gpu_lidar", ["/eye/image", "/eye/image/points"]),
    ],
)
def test_topics_that_follow_from_the_one_written(read_model, kind, names):
    sensor = f'<sensor name="s" type="{kind}"><topic>/eye/image</topic></sensor>'
    asset = read_model(f'<link name="l">{sensor}</link>')
    assert [interface.name for interface in asset.interfaces] == names


def test_multicamera(read_model):
    asset = read_model(
        link(sensor("multicamera", '<camera name="l"/><camera name="r"><pose>0 -0.1 0 0 0 0</pose></camera>'))
    )
    assert [c.name for c in asset.cameras] == ["s_l", "s_r"]
    np.testing.assert_allclose(asset.cameras[1].pose.p, (0, -0.1, 0))


def test_force_torque_on_a_joint(read_model):
    asset = read_model(
        """<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>
        <joint name="j" type="fixed"><pose>0 0 0.5 0 0 0</pose><parent>a</parent><child>b</child>
        <sensor name="ft" type="force_torque"><force_torque><frame>child</frame></force_torque></sensor>
        </joint>"""
    )
    (made,) = asset.sensors
    assert (made.kind, made.target, made.body) == ("force_torque", "j", "b")
    assert made.pose.is_close(Pose.of((0, 0, 0.5)))
    assert made.settings["frame"] == "child"


def test_lights_on_links_and_in_worlds(read_text):
    asset = read_text(
        """<sdf version="1.9"><world name="w"><light name="sun" type="directional"><pose>0 0 9 0 0 0</pose>
        <direction>1 0 0</direction><intensity>2</intensity><diffuse>1 0.5 0 1</diffuse>
        <cast_shadows>true</cast_shadows></light>
        <model name="m"><link name="a"><light name="lamp" type="spot"><pose>0 0 1 0 0 0</pose>
        <spot><inner_angle>0.2</inner_angle><outer_angle>0.6</outer_angle><falloff>1</falloff></spot>
        <attenuation><range>7</range><linear>0.1</linear></attenuation><light_on>false</light_on></light></link>
        </model></world></sdf>"""
    )
    lights = {light.name: light for light in asset.lights}
    sun, lamp = lights["sun"], lights["lamp"]
    assert sun.kind is LightKind.DIRECTIONAL
    np.testing.assert_allclose(sun.pose.rotation @ (0, 0, -1), (1, 0, 0), atol=1e-12)
    assert (sun.intensity, sun.color, sun.cast_shadows, sun.body) == (2.0, (1, 0.5, 0), True, "")
    assert (lamp.kind, lamp.body, lamp.range) == (LightKind.SPOT, "a", 7.0)
    assert lamp.cone == (0.1, 0.3)
    assert lamp.intensity == 0.0
    assert asset.extras.get("gazebo", "lamp", "falloff") == 1
    assert asset.extras.get("gazebo", "lamp", "linear") == 0.1


def test_light_in_a_model_moves_with_it(read_model):
    asset = read_model(
        """<link name="a"><pose>1 0 0 0 0 0</pose></link>
        <light name="l" type="point"><pose>0 0 1 0 0 0</pose></light>"""
    )
    assert asset.lights[0].body == "a"
    assert asset.lights[0].pose.is_close(Pose.of((-1, 0, 1)))


def test_unknown_light(read_model, found):
    assert read_model(link('<light name="l" type="candle"/>')).lights[0].kind is LightKind.POINT
    assert "'candle'" in found("sdf-unknown-light")[0].message
