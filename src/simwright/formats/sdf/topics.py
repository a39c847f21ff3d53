# SPDX-License-Identifier: Apache-2.0
"""Topics of sensors: what a ``<topic>`` of Gazebo means as ROS interfaces.

Gazebo derives further topics from the one written (``/points``, ``/camera_info`` ...); the table gives those
names and the ROS types that the Gazebo bridge maps them to.
"""

from __future__ import annotations

from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.xml import Element
from simwright.model.asset import Sensor
from simwright.model.ros import Interface, InterfaceKind

IMAGE = "sensor_msgs/msg/Image"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
POINTS = "sensor_msgs/msg/PointCloud2"

TOPICS: dict[str, tuple[tuple[str, str], ...]] = {
    "air_pressure": (("", "sensor_msgs/msg/FluidPressure"),),
    "altimeter": (("", "ros_gz_interfaces/msg/Altimeter"),),
    "boundingbox_camera": (("", "vision_msgs/msg/Detection2DArray"), ("camera_info", CAMERA_INFO)),
    "camera": (("", IMAGE), ("camera_info", CAMERA_INFO)),
    "contact": (("", "ros_gz_interfaces/msg/Contacts"),),
    "depth_camera": (("", IMAGE), ("/points", POINTS), ("camera_info", CAMERA_INFO)),
    "force_torque": (("", "geometry_msgs/msg/WrenchStamped"),),
    "imu": (("", "sensor_msgs/msg/Imu"),),
    "lidar": (("", "sensor_msgs/msg/LaserScan"), ("/points", POINTS)),
    "logical_camera": (("", "ros_gz_interfaces/msg/LogicalCameraImage"),),
    "magnetometer": (("", "sensor_msgs/msg/MagneticField"),),
    "navsat": (("", "sensor_msgs/msg/NavSatFix"),),
    "rgbd_camera": (
        ("/image", IMAGE),
        ("/depth_image", IMAGE),
        ("/points", POINTS),
        ("/camera_info", CAMERA_INFO),
    ),
    "segmentation_camera": (
        ("/labels_map", IMAGE),
        ("/colored_map", IMAGE),
        ("camera_info", CAMERA_INFO),
    ),
    "thermal_camera": (("", IMAGE), ("camera_info", CAMERA_INFO)),
    "wide_angle_camera": (("", IMAGE), ("camera_info", CAMERA_INFO)),
}
"""Endings and ROS types of a sensor's topics; ``camera_info`` without a slash stands beside the topic."""

_FRAME_TAGS = ("gz_frame_id", "ignition_frame_id", "frame_id")


def read_topics(reading: Reading, document: Document, element: Element, sensor: Sensor) -> None:
    """The interfaces of a sensor that names its topic."""
    topic = document.text(element, "topic")
    if not topic and sensor.kind == "contact":
        topic = document.text(element, "contact", "topic")
    if not topic or topic == "__default_topic__":
        return
    frame = next((text for tag in _FRAME_TAGS if (text := document.text(element, tag))), "")
    optical = document.text(element, "camera", "optical_frame_id")
    for ending, kind in TOPICS.get(sensor.kind, ()):
        name = topic + ending
        if ending == "camera_info":
            name = document.text(element, "camera", "camera_info_topic") or _beside(topic, ending)
        interface = Interface(InterfaceKind.TOPIC, "publisher", name, kind, sensor.rate, at=sensor.name)
        interface.frame_override = optical or frame
        interface.source = document.where(element)
        reading.asset.interfaces.append(interface)


def _beside(topic: str, name: str) -> str:
    """``/front/image`` -> ``/front/camera_info``; a topic without a slash becomes the folder."""
    folder, slash, _ = topic.rpartition("/")
    return f"{folder if slash else topic}/{name}"
