# SPDX-License-Identifier: Apache-2.0
"""``<gazebo><plugin>``: Gazebo plugins that mean ROS interfaces or controllers.

:data:`PLUGINS` says for each plugin library which topics it has (parameter, default name, type, direction)
and which controller it is.  Names follow the ROS 2 form (``<ros>`` with namespace and remapping
``~/out:=scan``), the ROS 1 form (``robotNamespace``, ``topicName``) and the Gazebo form (``topic``).  The
settings of a plugin are kept on its controller, or as an extra under ``gazebo`` where it is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.names import NameScope
from simwright.formats.gazebo.ros2_control import read_parameters
from simwright.formats.urdf.document import Document, write_xml
from simwright.formats.urdf.settings import read_settings
from simwright.formats.xml import Element
from simwright.model.ros import Controller, Interface, InterfaceKind

PLUGIN_KEPT = declare(
    "urdf-plugin-kept",
    Level.INFO,
    "Gazebo plugin {name!r} ({filename}) has no counterpart and is kept as it is",
    doc="A Gazebo plugin that Simwright does not know; its block is kept under the namespace gazebo.",
)
PLUGIN_JOINT = declare(
    "urdf-plugin-joint",
    Level.WARNING,
    "plugin {name!r} names joint {joint!r}, which is no joint of the robot",
    hint="check the name",
    doc="A Gazebo plugin drives a joint that does not exist.",
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a plugin: its parameter tags, default name, message type and direction."""

    tags: tuple[str, ...]
    default: str
    type: str
    role: str = "publisher"
    frame_tags: tuple[str, ...] = ()
    key: str = "publisher"
    """Its role on a controller (see ``model.ros.CONTROLLER_ROLES``)."""


@dataclass(frozen=True, slots=True)
class PluginRow:
    """What a plugin means: its topics, its controller kind, and the joints it names by role."""

    topics: tuple[Topic, ...] = ()
    controller: str = ""
    joints: tuple[tuple[str, tuple[str, ...]], ...] = ()


_FRAMES = ("frame_name", "frameName", "frame_id", "gz_frame_id", "ignition_frame_id")
_IMAGE = Topic(("imageTopicName",), "image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_INFO = Topic(("cameraInfoTopicName",), "camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES)
_DEPTH = Topic(("depthImageTopicName",), "depth/image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_DEPTH_INFO = Topic(
    ("depthImageCameraInfoTopicName",), "depth/camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES
)
_POINTS = Topic(("pointCloudTopicName",), "points", "sensor_msgs/msg/PointCloud2", frame_tags=_FRAMES)
_SCAN = Topic(("topicName", "topic"), "scan", "sensor_msgs/msg/LaserScan", frame_tags=_FRAMES)
_TWIST = Topic(
    ("commandTopic", "topic"), "cmd_vel", "geometry_msgs/msg/Twist", "subscription", key="subscriber"
)
_ODOMETRY = Topic(("odometryTopic", "odom_topic"), "odom", "nav_msgs/msg/Odometry", key="odom")
_STATES = Topic(("topicName", "topic"), "joint_states", "sensor_msgs/msg/JointState")
_TRAJECTORY = Topic(
    ("topic", "topicName"),
    "set_joint_trajectory",
    "trajectory_msgs/msg/JointTrajectory",
    "subscription",
    key="subscriber",
)
_WHEELS = (
    ("left", ("left_joint", "leftJoint", "leftFrontJoint", "leftRearJoint")),
    ("right", ("right_joint", "rightJoint", "rightFrontJoint", "rightRearJoint")),
)
_POSE_TOPIC = Topic(("topicName",), "odom", "nav_msgs/msg/Odometry", frame_tags=("frameName", "frame_name"))
_CAMERA = PluginRow((_IMAGE, _INFO))
_DEPTH_CAMERA = PluginRow((_IMAGE, _INFO, _DEPTH, _DEPTH_INFO, _POINTS))
_DIFF_DRIVE = PluginRow((_TWIST, _ODOMETRY), "diff_drive", _WHEELS)
_LASER = PluginRow((_SCAN,))
_IMU_TOPIC = Topic(("topicName", "topic"), "imu", "sensor_msgs/msg/Imu", frame_tags=_FRAMES)
_GPS_TOPIC = Topic(("topicName", "topic"), "fix", "sensor_msgs/msg/NavSatFix", frame_tags=_FRAMES)
_WRENCH = Topic(("topicName", "topic"), "wrench", "geometry_msgs/msg/WrenchStamped", frame_tags=_FRAMES)
_BUMPER = Topic(("bumperTopicName",), "bumper_states", "gazebo_msgs/msg/ContactsState", frame_tags=_FRAMES)
_ROS2_CONTROL = PluginRow((), "ros2_control")
_JOINT_NAME = (("command", ("joint_name",)),)

PLUGINS: dict[str, PluginRow] = {
    "gazebo_ros_camera": _CAMERA,
    "gazebo_ros_multicamera": _CAMERA,
    "gazebo_ros_triggered_camera": _CAMERA,
    "gazebo_ros_depth_camera": _DEPTH_CAMERA,
    "gazebo_ros_openni_kinect": _DEPTH_CAMERA,
    "gazebo_ros_laser": _LASER,
    "gazebo_ros_gpu_laser": _LASER,
    "gazebo_ros_ray_sensor": _LASER,
    "gazebo_ros_imu": PluginRow((_IMU_TOPIC,)),
    "gazebo_ros_imu_sensor": PluginRow((_IMU_TOPIC,)),
    "hector_gazebo_ros_imu": PluginRow((_IMU_TOPIC,)),
    "gazebo_ros_gps_sensor": PluginRow((_GPS_TOPIC,)),
    "hector_gazebo_ros_gps": PluginRow((_GPS_TOPIC,)),
    "gazebo_ros_ft_sensor": PluginRow((_WRENCH,)),
    "gazebo_ros_bumper": PluginRow((_BUMPER,)),
    "gazebo_ros_p3d": PluginRow((_POSE_TOPIC,)),
    "gazebo_ros_diff_drive": _DIFF_DRIVE,
    "gazebo_ros_skid_steer_drive": _DIFF_DRIVE,
    "gazebo_ros_planar_move": PluginRow((_TWIST, _ODOMETRY), "rigid_body_twist"),
    "gazebo_ros_ackermann_drive": PluginRow((_TWIST, _ODOMETRY), "ackermann"),
    "gazebo_ros_joint_state_publisher": PluginRow(
        (_STATES,), "joint_state_broadcaster", (("state", ("joint_name",)),)
    ),
    "gazebo_ros_joint_pose_trajectory": PluginRow((_TRAJECTORY,), "joint_trajectory"),
    "gazebo_ros_control": _ROS2_CONTROL,
    "gazebo_ros2_control": _ROS2_CONTROL,
    "gz_ros2_control-system": _ROS2_CONTROL,
    "ign_ros2_control-system": _ROS2_CONTROL,
    "gz-sim-diff-drive-system": _DIFF_DRIVE,
    "gz-sim-ackermann-steering-system": PluginRow((_TWIST, _ODOMETRY), "ackermann", _WHEELS),
    "gz-sim-mecanum-drive-system": PluginRow((_TWIST, _ODOMETRY), "mecanum", _WHEELS),
    "gz-sim-velocity-control-system": PluginRow((_TWIST,), "rigid_body_twist"),
    "gz-sim-odometry-publisher-system": PluginRow((_ODOMETRY,)),
    "gz-sim-joint-state-publisher-system": PluginRow(
        (_STATES,), "joint_state_broadcaster", (("state", ("joint_name",)),)
    ),
    "gz-sim-joint-trajectory-controller-system": PluginRow((_TRAJECTORY,), "joint_trajectory", _JOINT_NAME),
    "gz-sim-joint-position-controller-system": PluginRow(
        (Topic(("topic", "sub_topic"), "cmd_pos", "std_msgs/msg/Float64", "subscription", key="subscriber"),),
        "joint_position",
        _JOINT_NAME,
    ),
    "gz-sim-joint-controller-system": PluginRow(
        (Topic(("topic", "sub_topic"), "cmd_vel", "std_msgs/msg/Float64", "subscription", key="subscriber"),),
        "joint_velocity",
        _JOINT_NAME,
    ),
}
"""Plugin libraries by their bare file name (no ``lib``, no ``.so``, ``ignition-gazebo`` as ``gz-sim``)."""


def bare_name(filename: str) -> str:
    """``libgazebo_ros_imu.so`` -> ``gazebo_ros_imu``; Ignition names become Gazebo names."""
    name = filename.strip().rpartition("/")[2].removeprefix("lib").removesuffix(".so")
    return name.replace("ignition-gazebo", "gz-sim")


def read_plugin(
    document: Document, element: Element, body: str, sensor: str, rate: float | None = None
) -> None:
    """The interfaces and the controller of a plugin on a body or inside a sensor."""
    filename = str(element.get("filename") or "")
    name = str(element.get("name") or bare_name(filename) or "plugin")
    row = PLUGINS.get(bare_name(filename))
    if row is None:
        where = document.where(element)
        document.reporter.report(PLUGIN_KEPT, where, name=name, filename=filename)
        _keep(document, element, body, name)
        return
    names = _TopicNames(element)
    interfaces: dict[str, str] = {}
    for topic in row.topics:
        interface = Interface(
            InterfaceKind.TOPIC,
            topic.role,
            names.resolve(topic),
            topic.type,
            rate=_read_rate(element) or (rate if topic.role == "publisher" else None),
            frame_override=_first_text(element, topic.frame_tags),
            at=sensor or body,
            source=document.where(element),
        )
        document.asset.interfaces.append(interface)
        interfaces[topic.key] = interface.name
    if row.controller:
        _add_controller(document, element, row, name, interfaces)
    else:
        _keep(document, element, body, name)


def _add_controller(
    document: Document, element: Element, row: PluginRow, name: str, interfaces: dict[str, str]
) -> None:
    joints = {role: _read_joints(document, element, tags, name) for role, tags in row.joints}
    settings: dict[str, Any] = read_settings(element)
    settings["plugin"] = str(element.get("filename") or "")
    if row is _ROS2_CONTROL:
        for child in document.children(element, "parameters"):
            read_parameters(document, str(child.text or "").strip(), document.where(child))
    unique = NameScope(c.name for c in document.asset.controllers).claim(name)
    document.asset.controllers.append(
        Controller(
            unique, row.controller, joints, interfaces, settings, path=name, source=document.where(element)
        )
    )


def _read_joints(document: Document, element: Element, tags: tuple[str, ...], name: str) -> list[str]:
    known = {joint.name for joint in document.asset.joints}
    found = []
    for tag in tags:
        for child in document.children(element, tag):
            joint = str(child.text or "").strip()
            if joint in known:
                found.append(joint)
            else:
                document.reporter.report(PLUGIN_JOINT, document.where(child), name=name, joint=joint)
    return found


def _keep(document: Document, element: Element, body: str, name: str) -> None:
    owner = body or document.asset.name
    kept = document.asset.extras.table.get("gazebo", {}).get(owner, {})
    key, number = f"plugin:{name}", 2
    while key in kept:
        key, number = f"plugin:{name}_{number}", number + 1
    document.asset.extras.keep("gazebo", owner, key, write_xml(element), document.where(element))


def _first_text(element: Element, tags: tuple[str, ...]) -> str:
    for tag in tags:
        text = str(element.findtext(tag) or "").strip()
        if text:
            return text
    return ""


def _read_rate(element: Element) -> float | None:
    text = _first_text(element, ("update_rate", "updateRate", "updateRateHZ"))
    try:
        rate = float(text) if text else 0.0
    except ValueError:
        return None
    return rate if 0.0 < rate < 1e9 else None


class _TopicNames:
    """Topic names of one plugin: parameter, camera name, remapping, namespace."""

    def __init__(self, element: Element) -> None:
        self._element = element
        self._namespace = _first_text(element, ("ros/namespace", "robotNamespace")).strip("/")
        camera = _first_text(element, ("camera_name", "cameraName"))
        self._camera = camera.strip("/")
        self._remaps: dict[str, str] = {}
        for tag in ("ros/remapping", "ros/argument"):
            for child in element.iterfind(tag):
                old, arrow, new = str(child.text or "").strip().partition(":=")
                if arrow:
                    self._remaps[old.removeprefix("~/").strip()] = new.strip()

    def resolve(self, topic: Topic) -> str:
        """The name the topic has in the end."""
        name = _first_text(self._element, topic.tags) or topic.default
        is_camera = "image" in topic.default or "camera_info" in topic.default or topic.default == "points"
        if self._camera and is_camera and not name.startswith("/") and self._camera not in name.split("/"):
            name = f"{self._camera}/{name}"
        for key in (name, topic.default, "out"):
            if key in self._remaps and (key != "out" or topic.role == "publisher"):
                name = self._remaps[key]
                break
        if name.startswith("/") or not self._namespace:
            return name
        return f"/{self._namespace}/{name}"
