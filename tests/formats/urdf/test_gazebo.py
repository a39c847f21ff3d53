"""Transmissions, ros2_control, and Gazebo's links, joints, sensors and plugins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import simwright
from simwright.core.diag import Reporter
from simwright.formats.urdf.control import PLUGINS, strip_library_name
from simwright.formats.urdf.reader import read_settings, read_value, snake_case
from simwright.model.ros import ROLES, InterfaceKind

ROBOT = """
<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <visual><geometry><sphere radius="1"/></geometry></visual>
  <collision><geometry><sphere radius="1"/></geometry></collision></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
"""

DRIVE = '<plugin name="p" filename="libgazebo_ros_diff_drive.so">'


def kinds(reporter: Any) -> list[str]:
    return [found.kind for found in reporter]


def test_a_transmission_becomes_an_actuator(load: Any) -> None:
    asset, reporter = load(
        ROBOT + '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>'
        '<joint name="j"><hardwareInterface>hardware_interface/PositionJointInterface</hardwareInterface>'
        "</joint>"
        '<actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>'
    )
    (actuator,) = asset.actuators
    assert (actuator.name, actuator.kind, actuator.target, actuator.gear) == ("m", "position", "j", (50.0,))
    assert actuator.settings["hardware_interfaces"] == ["PositionJointInterface"]
    assert kinds(reporter) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('<transmission name="t"><joint name="j"/></transmission>', "urdf-transmission-empty"),
        ('<transmission name="t"><joint name="x"/><actuator name="m"/></transmission>', "urdf-control-joint"),
        ('<ros2_control name="c" type="system"><joint name="x"/></ros2_control>', "urdf-control-joint"),
        ('<gazebo reference="nobody"><mu1>1</mu1></gazebo>', "urdf-gazebo-reference"),
        ('<gazebo reference="base"><mu1>much</mu1></gazebo>', "urdf-gazebo-value"),
        ('<gazebo reference="base"><gravity>maybe</gravity></gazebo>', "urdf-gazebo-value"),
        ('<gazebo reference="base"><sensor name="s" type="nose"/></gazebo>', "urdf-sensor-kind"),
        ('<gazebo><plugin name="p" filename="libmine.so"/></gazebo>', "urdf-plugin-kept"),
        (f"<gazebo>{DRIVE}<left_joint>x</left_joint></plugin></gazebo>", "urdf-plugin-joint"),
    ],
)
def test_findings(text: str, code: str, load: Any) -> None:
    _, reporter = load(ROBOT + text)
    assert code in kinds(reporter)


def test_ros2_control(load: Any) -> None:
    asset, reporter = load(
        ROBOT + '<ros2_control name="hw" type="system"><hardware><plugin>my/System</plugin>'
        '<param name="port">7</param></hardware><joint name="j">'
        '<command_interface name="position"><param name="min">-1</param></command_interface>'
        '<state_interface name="position"/><state_interface name="velocity"/></joint>'
        '<gpio name="lamp"><command_interface name="on"/></gpio></ros2_control>'
    )
    (controller,) = asset.controllers
    assert (controller.name, controller.kind) == ("hw", "ros2_control")
    assert controller.joints == {"command": ["j"], "state": ["j"]}
    assert controller.settings["plugin"] == "my/System"
    assert controller.settings["parameters"] == {"port": "7"}
    assert controller.settings["joints"]["j"] == {
        "command": {"position": {"min": "-1"}},
        "state": {"position": {}, "velocity": {}},
    }
    assert list(controller.settings["gpios"]) == ["lamp"]
    assert kinds(reporter) == []


def test_link_settings(load: Any) -> None:
    asset, reporter = load(
        ROBOT + '<gazebo reference="base"><mu1>0.8</mu1><mu2>0.5</mu2><kp>1e6</kp><kd>10</kd>'
        "<turnGravityOff>true</turnGravityOff><material>Gazebo/Red</material><selfCollide>true</selfCollide>"
        "<visual><material><ambient>1 0 0 1</ambient></material></visual></gazebo>"
    )
    (surface,) = asset.physics_materials
    assert (surface.static_friction, surface.stiffness, surface.damping) == (0.8, 1e6, 10)
    body_shapes = asset.shapes_of("base")
    assert [s.physics_material for s in body_shapes] == ["", surface.name]
    assert body_shapes[0].material == "Gazebo/Red"
    assert asset.body("base").gravity_scale == 0
    assert asset.extras.get("gazebo", "base", "mu2") == "0.5"
    assert asset.extras.get("gazebo", "base", "selfCollide") == "true"
    assert "<ambient>1 0 0 1</ambient>" in asset.extras.get("gazebo", "base", "visual")
    assert kinds(reporter) == ["urdf-gazebo-kept"]


def test_joint_settings(load: Any) -> None:
    asset, _ = load(
        ROBOT
        + '<gazebo reference="j"><springStiffness>3</springStiffness><springReference>0.5</springReference>'
        "<implicitSpringDamper>1</implicitSpringDamper></gazebo>"
    )
    (dof,) = asset.joint("j").dofs
    assert (dof.stiffness, dof.spring_ref) == (3, 0.5)
    assert asset.extras.get("gazebo", "j", "implicitSpringDamper") == "1"


def test_a_camera_looks_along_x_with_z_up(load: Any) -> None:
    asset, _ = load(
        ROBOT + '<gazebo reference="arm"><sensor name="cam" type="camera"><pose>1 0 0 0 0 0</pose>'
        "<update_rate>30</update_rate><camera><horizontal_fov>1.5707963267948966</horizontal_fov>"
        "<image><width>640</width><height>320</height><format>R8G8B8</format></image>"
        "<clip><near>0.05</near><far>8</far></clip></camera>"
        '<plugin name="p" filename="libgazebo_ros_camera.so"><ros><namespace>/bot</namespace>'
        "<remapping>image_raw:=picture</remapping></ros><camera_name>eye</camera_name>"
        "<frame_name>eye_optical</frame_name></plugin></sensor></gazebo>"
    )
    (sensor,), (camera,) = asset.sensors, asset.cameras
    assert (sensor.kind, sensor.body, sensor.rate, sensor.target) == ("camera", "arm", 30, camera.name)
    assert sensor.settings["clip_far"] == 8
    assert camera.fov_y == pytest.approx(2 * math.atan(0.5))
    assert (camera.resolution, camera.near, camera.far) == ((640, 320), 0.05, 8)
    assert np.allclose(camera.pose.rotation @ (0, 0, -1), (1, 0, 0))
    assert np.allclose(camera.pose.rotation @ (0, 1, 0), (0, 0, 1))
    assert camera.pose.p.tolist() == [1, 0, 0]
    image, info = asset.interfaces
    assert (image.name, image.type, image.at) == ("/bot/picture", "sensor_msgs/msg/Image", "cam")
    assert (image.rate, image.frame_override) == (30, "eye_optical")
    assert info.name == "/bot/eye/camera_info"


def test_a_lidar_and_its_scan(load: Any) -> None:
    asset, _ = load(
        ROBOT + '<gazebo reference="arm"><sensor name="laser" type="gpu_ray"><ray><scan><horizontal>'
        "<samples>360</samples><min_angle>-3.14</min_angle></horizontal></scan><range><max>10</max></range></ray>"
        '<plugin name="p" filename="libgazebo_ros_ray_sensor.so"><ros>'
        "<remapping>~/out:=/scan_front</remapping></ros></plugin></sensor></gazebo>"
    )
    (sensor,) = asset.sensors
    assert sensor.kind == "lidar"
    assert sensor.settings == {
        "scan_horizontal_samples": 360,
        "scan_horizontal_min_angle": -3.14,
        "range_max": 10,
    }
    assert [i.name for i in asset.interfaces] == ["/scan_front"]
    assert asset.cameras == []


@pytest.mark.parametrize(
    ("filename", "topics"),
    [
        ("libgazebo_ros_diff_drive.so", ("cmd_vel", "odom")),
        ("gz-sim-diff-drive-system", ("/model/r/cmd_vel", "/model/r/odometry")),
    ],
)
def test_diff_drive(filename: str, topics: tuple[str, str], load: Any) -> None:
    asset, _ = load(
        ROBOT + f'<gazebo><plugin name="drive" filename="{filename}"><left_joint>j</left_joint>'
        "<right_joint>j</right_joint><wheel_separation>0.4</wheel_separation></plugin></gazebo>"
    )
    (controller,) = asset.controllers
    assert (controller.kind, controller.joints) == ("diff_drive", {"left": ["j"], "right": ["j"]})
    assert controller.settings["wheel_separation"] == 0.4
    assert [(i.name, i.role) for i in asset.interfaces] == [
        (topics[0], "subscription"),
        (topics[1], "publisher"),
    ]


@pytest.mark.parametrize(
    ("system", "inner", "kind", "roles", "topic"),
    [
        ("mecanum-drive", "<front_left_joint>j</front_left_joint>", "mecanum", {"front_left"}, "/model/r/cmd_vel"),
        ("ackermann-steering", "<left_steering_joint>j</left_steering_joint>", "ackermann", {"left_steering"},
         "/model/r/cmd_vel"),
        ("joint-position-controller", "<joint_name>j</joint_name>", "joint_position", {"command"},
         "/model/r/joint/j/0/cmd_pos"),
        ("joint-controller", "<joint_name>j</joint_name><sub_topic>spin</sub_topic>", "joint_velocity", {"command"},
         "/model/r/spin"),
        ("apply-joint-force", "<joint_name>j</joint_name><topic>push</topic>", "joint_effort", {"command"}, "push"),
    ],
)  # fmt: skip
def test_systems_of_gazebo_sim(system, inner, kind, roles, topic, load: Any) -> None:
    block = f'<gazebo><plugin name="p" filename="gz-sim-{system}-system">{inner}</plugin></gazebo>'
    asset, _ = load(ROBOT + block)
    (controller,) = asset.controllers
    assert controller.kind == kind
    assert {role for role, joints in controller.joints.items() if joints == ["j"]} == roles
    assert asset.interfaces[0].name == topic


def test_unknown_plugins_are_kept_whole(load: Any) -> None:
    block = '<gazebo><plugin name="p" filename="libmine.so"><a b="1">2</a></plugin></gazebo>'
    asset, _ = load(ROBOT + block + block)
    assert '<a b="1">2</a>' in asset.extras.get("gazebo", "r", "plugin:p")
    assert asset.extras.get("gazebo", "r", "plugin:p_2")


def test_the_table_is_sound() -> None:
    for name, row in PLUGINS.items():
        assert strip_library_name(name) == name
        assert row.topics or row.controller
        assert all(t.role in ROLES[InterfaceKind.TOPIC] and t.type.count("/") == 2 for t in row.topics)


def test_names_and_values() -> None:
    assert strip_library_name("/opt/x/libignition-gazebo-diff-drive-system.so") == "gz-sim-diff-drive-system"
    assert snake_case("updateRate") == "update_rate"
    assert [read_value(t) for t in ("1", "1.0", "true", "x", "nan")] == [1, 1.0, True, "x", "nan"]


def test_words_of_other_tools_in_a_transmission_go_through_every_format(tmp_path: Path) -> None:
    motor = '<drake:gear_ratio value="120"/><odd.tag-2>x</odd.tag-2><maxTorque>3</maxTorque>'
    source = tmp_path / "arm.urdf"
    source.write_text(
        f'<robot name="r" xmlns:drake="http://drake.mit.edu">{ROBOT}<transmission name="t"><type>s</type>'
        f'<joint name="j"/><actuator name="m">{motor}</actuator></transmission></robot>'
    )
    stage = simwright.convert(source, tmp_path / "usd")
    for kept in (source, stage):
        settings = simwright.load(kept).actuators[0].settings
        assert (settings["drake.gear_ratio"], settings["maxTorque"]) == ("120", "3")
        written = simwright.convert(kept, tmp_path / kept.suffix[1:] / "back.urdf")
        root = etree.parse(str(written)).getroot()
        assert root.find("transmission/actuator/maxTorque").text == "3"
        assert root.find("transmission/actuator/{http://drake.mit.edu}gear_ratio").get("value") == "120"


def test_words_of_other_tools_in_a_sensor_are_no_names_of_openusd(tmp_path: Path) -> None:
    sensor = '<sensor name="s" type="imu"><imu/><acme:kind acme:size="2">big</acme:kind></sensor>'
    source = tmp_path / "arm.urdf"
    source.write_text(
        f'<robot name="r" xmlns:acme="http://acme.example/x">{ROBOT}<gazebo reference="arm">{sensor}</gazebo></robot>'
    )
    (found,) = simwright.load(simwright.convert(source, tmp_path / "usd")).sensors
    assert {"acme_kind": "big", "acme_kind_size": 2}.items() <= found.settings.items()


REFLECTED = (
    '<robot name="r" xmlns:drake="http://drake.mit.edu">{robot}<transmission name="t">'
    "<type>transmission_interface/SimpleTransmission</type>"
    '<joint name="j"/><actuator name="m">{words}</actuator></transmission></robot>'
)
ROTOR, RATIO = '<drake:rotor_inertia value="0.01"/>', '<drake:gear_ratio value="-10"/>'


@pytest.mark.parametrize(
    ("words", "limit", "armature"),
    [
        (ROTOR + RATIO, "", 1.0),
        (ROTOR, '<limit effort="5" velocity="1"/>', 0.01),
        (RATIO, "", 0.0),
        # Drake makes no actuator there
        (ROTOR + RATIO, '<limit effort="0" velocity="1"/>', 0.0),
    ],
)
def test_what_drake_reflects_is_an_armature(words: str, limit: str, armature: float, tmp_path: Path) -> None:
    source = tmp_path / "arm.urdf"
    robot = ROBOT.replace('<child link="arm"/>', f'<child link="arm"/>{limit}')
    source.write_text(REFLECTED.format(robot=robot, words=words))
    stage = simwright.convert(source, tmp_path / "usd")
    for kept in (source, stage):
        assert (simwright.load(kept).joints[0].dofs[0].armature or 0.0) == pytest.approx(armature, rel=1e-6)
        reporter = Reporter()
        written = simwright.convert(kept, tmp_path / kept.suffix[1:] / "back.urdf", reporter=reporter)
        assert not [str(f) for f in reporter if "armature" in f.message], [str(f) for f in reporter]
        for word, found in (("rotor_inertia", ROTOR), ("gear_ratio", RATIO)):
            nodes = [*etree.parse(str(written)).iter(f"{{http://drake.mit.edu}}{word}")]
            assert [float(node.get("value")) for node in nodes] == [
                pytest.approx(float(found.split('"')[1])) for _ in range(words.count(found))
            ]
        assert (simwright.load(written).joints[0].dofs[0].armature or 0.0) == pytest.approx(
            armature, rel=1e-6
        )
    model = simwright.convert(source, tmp_path / "mjcf" / "arm.xml")
    joint = etree.parse(str(model)).find(".//joint")
    assert float(joint.get("armature", 0.0)) == pytest.approx(armature)


@pytest.mark.parametrize("word", ["much", "-1"])
def test_a_rotor_that_is_none_is_said(word: str, load: Any) -> None:
    text = REFLECTED.format(robot=ROBOT, words=f'<drake:rotor_inertia value="{word}"/>')
    asset, reporter = load(text)
    assert asset.joints[0].dofs[0].armature is None
    assert kinds(reporter) == ["xml-bad-number"]


def test_settings_are_read_as_deep_as_they_nest_and_no_damage_goes_deeper():
    for depth, count in ((17, 1), (18, 0)):
        element = etree.fromstring("<a>" * (depth + 1) + "1" + "</a>" * (depth + 1))
        assert len(read_settings(element)) == count
