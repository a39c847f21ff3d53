# SPDX-License-Identifier: Apache-2.0
"""Sensor plugins of Gazebo Classic (``libgazebo_ros_*``): the topics they publish on.

Both generations are known: ROS 2 plugins take ``<ros><namespace>`` and ``<remapping>``, ROS 1 plugins
``<topicName>`` and its likes.
"""

from __future__ import annotations

from simwright.formats.gazebo.sensors import CAMERA_INFO, IMAGE, POINTS
from simwright.formats.sdf.plugins import Plugin

_LIDAR_TYPES = {
    "sensor_msgs/LaserScan": "sensor_msgs/msg/LaserScan",
    "sensor_msgs/PointCloud": "sensor_msgs/msg/PointCloud",
    "sensor_msgs/PointCloud2": "sensor_msgs/msg/PointCloud2",
    "sensor_msgs/Range": "sensor_msgs/msg/Range",
}


def read_imu(plugin: Plugin) -> None:
    """Inertial measurements."""
    _publish(plugin, "~/out", "sensor_msgs/msg/Imu")


def read_lidar(plugin: Plugin) -> None:
    """Scans or points, as ``output_type`` says; the older plugins publish scans only."""
    # The ROS 2 plugin has a choice of messages; the ROS 1 ones are a plugin for each.
    newer = "ros_ray_sensor" in plugin.file
    default = "sensor_msgs/PointCloud2" if newer else "sensor_msgs/LaserScan"
    kind = plugin.text("output_type") or default
    _publish(plugin, "~/out", _LIDAR_TYPES.get(kind, kind))


def read_gps(plugin: Plugin) -> None:
    """Satellite position."""
    _publish(plugin, "~/out", "sensor_msgs/msg/NavSatFix")


def read_force_torque(plugin: Plugin) -> None:
    """Force and torque of a joint or a link."""
    _publish(plugin, "wrench", "geometry_msgs/msg/WrenchStamped")


def read_bumper(plugin: Plugin) -> None:
    """Contacts."""
    plugin.taken.add("bumperTopicName")
    _publish(plugin, "bumper_states", "gazebo_msgs/msg/ContactsState", "bumperTopicName")


def read_camera(plugin: Plugin) -> None:
    """An image and its calibration; depth images and points for depth cameras."""
    assert plugin.sensor is not None
    camera = plugin.text("camera_name", "cameraName") or plugin.sensor.name
    image = plugin.text("imageTopicName", "image_topic_name")
    info = plugin.text("cameraInfoTopicName", "camera_info_topic_name")
    _add(plugin, _topic(plugin, image or f"{camera}/image_raw"), IMAGE)
    _add(plugin, _topic(plugin, info or f"{camera}/camera_info"), CAMERA_INFO)
    if plugin.sensor.kind in ("depth_camera", "rgbd_camera") or "kinect" in plugin.file:
        depth = plugin.text("depthImageTopicName") or f"{camera}/depth/image_raw"
        points = plugin.text("pointCloudTopicName") or f"{camera}/points"
        _add(plugin, _topic(plugin, depth), IMAGE)
        _add(plugin, _topic(plugin, points), POINTS)


def _publish(plugin: Plugin, default: str, kind: str, tag: str = "topicName") -> None:
    named = plugin.text(tag, "topic_name")
    _add(plugin, _topic(plugin, named or default), kind)


def _topic(plugin: Plugin, name: str) -> str:
    """The topic after remapping; ``~/x`` is below the plugin's own node name."""
    topic = plugin.topic(name)
    return f"{plugin.name}/{topic[2:]}" if topic.startswith("~/") else topic


def _add(plugin: Plugin, topic: str, kind: str) -> None:
    assert plugin.sensor is not None
    rate = plugin.number("update_rate", "updateRate") or plugin.sensor.rate
    plugin.add("publisher", topic, kind, rate, at=plugin.sensor.name)
