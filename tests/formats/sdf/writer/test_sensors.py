# SPDX-License-Identifier: Apache-2.0
"""Sensors, cameras, lights, topics and plugins."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.formats.table import read_asset
from simwright.model.asset import Asset, Body, Camera, Light, LightKind, Sensor
from simwright.model.joint import Drive
from simwright.model.ros import Controller, Interface, InterfaceKind

from .writing import make_pair, make_solid, random_pose, write, write_text

NOISE = '<noise type="gaussian"><mean>0.1</mean><stddev>0.2</stddev></noise>'
SENSORS = {
    "camera": """<update_rate>30</update_rate><topic>/cam/image</topic><camera name="eye">
      <horizontal_fov>1.2</horizontal_fov><image><width>640</width><height>480</height><format>L8</format></image>
      <clip><near>0.02</near><far>30</far></clip><noise><type>gaussian</type><mean>0</mean><stddev>0.1</stddev></noise>
      <distortion><k1>0.1</k1><center>0.5 0.4</center></distortion></camera>""",
    "rgbd_camera": "<topic>/rgbd</topic><camera><horizontal_fov>1</horizontal_fov></camera>",
    "depth_camera": "<camera><depth_camera><output>depths</output></depth_camera></camera>",
    "gpu_lidar": """<topic>/scan</topic><lidar><scan><horizontal><samples>640</samples><min_angle>-1.5</min_angle>
      <max_angle>1.5</max_angle></horizontal></scan><range><min>0.1</min><max>20</max></range></lidar>""",
    "imu": f"""<always_on>true</always_on><topic>/imu</topic>
      <imu><angular_velocity><x>{NOISE}</x></angular_velocity></imu>""",
    "contact": "<contact><collision>shell</collision></contact>",
    "altimeter": f"<altimeter><vertical_position>{NOISE}</vertical_position></altimeter>",
    "magnetometer": f"<magnetometer><z>{NOISE}</z></magnetometer>",
    "air_pressure": "<air_pressure><reference_altitude>12</reference_altitude></air_pressure>",
    "logical_camera": "<logical_camera><near>0.1</near><far>2</far></logical_camera>",
    "force_torque": "<force_torque><frame>child</frame></force_torque>",
}


def make_text(kind: str, inside: str) -> str:
    shape = '<collision name="shell"><geometry><sphere><radius>1</radius></sphere></geometry></collision>'
    sensor = f'<sensor name="s" type="{kind}"><pose>0.1 0.2 0.3 0 0.1 0</pose>{inside}</sensor>'
    return f'<model name="m"><link name="l">{shape}{sensor}</link></model>'


@pytest.mark.parametrize("kind", SENSORS)
def test_sensors_keep_their_settings_and_topics(kind: str, tmp_path: Path, accept_sdf) -> None:
    written = write_text(make_text(kind, SENSORS[kind]), tmp_path)
    source = read_asset(tmp_path / "source" / "robot.sdf")
    difference = compare_assets(source, written.again, make_settings(rtol=1e-12))
    assert difference.equal, [(s.name, s.items) for s in difference.sections if not s.equal]
    assert accept_sdf(written.path) == ""


def test_a_sensor_on_a_joint(tmp_path: Path, accept_sdf) -> None:
    text = """<model name="m"><link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>
      <joint name="j" type="revolute"><pose>0.1 0 0 0 0 0.2</pose><parent>a</parent><child>b</child>
        <axis><xyz>0 0 1</xyz></axis>
        <sensor name="ft" type="force_torque"><pose>0 0 0.1 0 0 0</pose><topic>/wrench</topic></sensor>
      </joint></model>"""
    written = write_text(text, tmp_path)
    (sensor,) = written.again.sensors
    assert written.root.find(".//joint/sensor/pose").text == "0 0 0.1 0 0 0"
    assert (sensor.target, sensor.body) == ("j", "b")
    assert accept_sdf(written.path) == ""


def test_a_camera_is_a_sensor(tmp_path: Path, accept_sdf) -> None:
    asset = make_pair()
    asset.cameras = [Camera("eye", "tip", random_pose(8), 0.9, (800, 600), 0.05, 40.0), Camera("bare", "tip")]
    written = write(asset, tmp_path)
    eye = next(camera for camera in written.again.cameras if camera.name == "eye")
    assert eye.pose.is_close(random_pose(8), 1e-14)
    assert (eye.fov_y, eye.near, eye.far) == pytest.approx((0.9, 0.05, 40.0), rel=1e-14)
    assert "sdf-write-camera" in written.kinds
    assert accept_sdf(written.path) == ""


def test_sensors_that_sdf_does_not_have_are_said(tmp_path: Path) -> None:
    asset = make_pair()
    asset.sensors = [Sensor("s", "tendon_length", "tip")]
    written = write(asset, tmp_path)
    (found,) = [finding for finding in written.said if finding.data.get("aspect") == "sensors.kind"]
    assert found.message == "SDFormat has no place for 1 sensor of the kind tendon_length, the first 's'"


def test_lights(tmp_path: Path, accept_sdf) -> None:
    asset = Asset("w", bodies=[Body("b", inertial=make_solid())])
    asset.lights = [
        Light("sun", LightKind.DIRECTIONAL, pose=random_pose(1), color=(1.0, 0.5, 0.25), intensity=2.5),
        Light("lamp", LightKind.SPOT, "b", random_pose(2), cone=(0.2, 0.4), range=7.0, cast_shadows=False),
        Light("bulb", LightKind.POINT, "b", random_pose(3)),
        Light("sky", LightKind.DOME),
    ]
    written = write(asset, tmp_path)
    again = {light.name: light for light in written.again.lights}
    assert set(again) == {"sun", "lamp", "bulb"}
    for light in asset.lights[:3]:
        twin = again[light.name]
        assert (twin.kind, twin.body, twin.color, twin.intensity, twin.range) == (
            light.kind, light.body, light.color, light.intensity, light.range,
        )  # fmt: skip
        assert twin.pose.is_close(light.pose, 1e-14)
    assert again["lamp"].cone == (0.2, 0.4)
    assert any("1 light of the kind dome" in finding.message for finding in written.said)
    assert accept_sdf(written.path) == ""


PLUGINS = """<model name="bot"><link name="base"/><link name="l"/><link name="r"/>
  <joint name="lw" type="continuous"><parent>base</parent><child>l</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="rw" type="continuous"><parent>base</parent><child>r</child><axis><xyz>0 1 0</xyz></axis></joint>
  <plugin filename="gz-sim-diff-drive-system" name="gz::sim::systems::DiffDrive"><left_joint>lw</left_joint>
    <right_joint>rw</right_joint><wheel_separation>0.4</wheel_separation><wheel_radius>0.1</wheel_radius>
    <topic>/cmd_vel</topic><odom_topic>/odom</odom_topic><odom_publish_frequency>20</odom_publish_frequency>
    <frame_id>odom</frame_id><tf_topic>/tf</tf_topic></plugin>
  <plugin filename="gz-sim-joint-state-publisher-system" name="gz::sim::systems::JointStatePublisher">
    <topic>/joint_states</topic><joint_name>lw</joint_name><joint_name>rw</joint_name></plugin>
  <plugin filename="gz-sim-joint-position-controller-system" name="gz::sim::systems::JointPositionController">
    <joint_name>lw</joint_name><p_gain>3</p_gain><topic>/lw/cmd</topic></plugin>
  <plugin filename="gz-sim-odometry-publisher-system" name="gz::sim::systems::OdometryPublisher">
    <odom_topic>/truth</odom_topic></plugin></model>"""


def test_plugins_are_written_for_what_has_one(tmp_path: Path, accept_sdf) -> None:
    written = write_text(PLUGINS, tmp_path)
    source = read_asset(tmp_path / "source" / "robot.sdf")
    difference = compare_assets(source, written.again, make_settings(["ros"]))
    assert difference.equal, [(s.name, s.items) for s in difference.sections if not s.equal]
    assert written.text("tf_topic") == "/tf"
    assert written.text("p_gain") == "3"
    assert not [finding.message for finding in written.said if finding.loss]
    assert accept_sdf(written.path) == ""


def test_what_has_no_plugin_is_discarded_and_said(tmp_path: Path) -> None:
    asset = make_pair()
    asset.interfaces = [Interface(InterfaceKind.SERVICE, "server", "/reset", "std_srvs/srv/Empty")]
    asset.controllers = [Controller("grip", "gripper_action")]
    written = write(asset, tmp_path)
    assert written.root.find(".//plugin") is None
    assert {"sdf-write-ros", "write-lost-motion"} <= written.kinds
    assert any("1 controller(s), the first 'grip'" in finding.message for finding in written.said)


def test_a_wide_camera_keeps_its_angle(tmp_path: Path) -> None:
    asset = make_pair()
    asset.cameras = [Camera("eye", "tip", fov_y=math.pi / 2, resolution=(1000, 500))]
    written = write(asset, tmp_path)
    assert float(written.text("horizontal_fov")) == pytest.approx(2 * math.atan(2.0))


def test_drives_are_position_controllers_once(tmp_path: Path, accept_sdf) -> None:
    text = """<model name="bot"><link name="base"/><link name="l"/><link name="r"/>
      <joint name="lw" type="revolute"><parent>base</parent><child>l</child><axis><xyz>0 1 0</xyz></axis></joint>
      <joint name="rw" type="revolute"><parent>base</parent><child>r</child><axis><xyz>0 1 0</xyz></axis></joint>
      <plugin filename="gz-sim-joint-position-controller-system" name="gz::sim::systems::JointPositionController">
        <joint_name>lw</joint_name><p_gain>3</p_gain><i_gain>0</i_gain><initial_position>0.2</initial_position>
      </plugin></model>"""
    first = write_text(text, tmp_path)
    assert len(first.root.findall(".//plugin")) == 1
    assert first.text("initial_position") == "0.2"
    assert first.root.find(".//effort") is None
    asset = first.again
    asset.joints[1].dofs[0].drive = Drive(40.0, 4.0, target_position=-0.5)
    second = write(asset, tmp_path / "second")
    assert len(second.root.findall(".//plugin")) == 2
    drives = [joint.dofs[0].drive for joint in second.again.joints]
    assert [(d.stiffness, d.damping, d.target_position, d.max_force) for d in drives] == [
        (3.0, 0.01, 0.2, 1000.0), (40.0, 4.0, -0.5, math.inf),
    ]  # fmt: skip
    assert not [finding.message for finding in second.said if finding.loss]
    assert accept_sdf(second.path) == ""
