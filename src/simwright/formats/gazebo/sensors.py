# SPDX-License-Identifier: Apache-2.0
"""Gazebo sensors: their types, where their cameras look, and what a ``<topic>`` means in ROS.

Gazebo derives further topics from the one written (``/points``, ``/camera_info`` ...); the table gives those
names and the ROS types that the Gazebo bridge maps them to.
"""

from __future__ import annotations

SENSOR_KINDS = {
    "air_pressure": "air_pressure",
    "air_speed": "air_speed",
    "altimeter": "altimeter",
    "boundingbox": "boundingbox_camera",
    "boundingbox_camera": "boundingbox_camera",
    "camera": "camera",
    "contact": "contact",
    "custom": "custom",
    "depth": "depth_camera",
    "depth_camera": "depth_camera",
    "force_torque": "force_torque",
    # Older spellings of SDFormat beside the current ones.
    "gps": "navsat",
    "gpu_lidar": "lidar",
    "gpu_ray": "lidar",
    "imu": "imu",
    "lidar": "lidar",
    "logical_camera": "logical_camera",
    "magnetometer": "magnetometer",
    "multicamera": "multicamera",
    "navsat": "navsat",
    "ray": "lidar",
    "rfid": "rfid",
    "rfidtag": "rfid_tag",
    "rgbd": "rgbd_camera",
    "rgbd_camera": "rgbd_camera",
    "segmentation": "segmentation_camera",
    "segmentation_camera": "segmentation_camera",
    "sonar": "sonar",
    "thermal": "thermal_camera",
    "thermal_camera": "thermal_camera",
    "wide_angle_camera": "wide_angle_camera",
    "wideanglecamera": "wide_angle_camera",
    "wireless_receiver": "wireless_receiver",
    "wireless_transmitter": "wireless_transmitter",
}
"""Sensor types of SDFormat and the plain word the model uses."""

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
        ("/camera_info", CAMERA_INFO),
    ),
    "thermal_camera": (("", IMAGE), ("camera_info", CAMERA_INFO)),
    "wide_angle_camera": (("", IMAGE), ("camera_info", CAMERA_INFO)),
}
"""Endings and ROS types of a sensor's topics; ``camera_info`` without a slash stands beside the topic."""


def list_topics(kind: str, topic: str, info_topic: str = "") -> list[tuple[str, str]]:
    """Names and ROS types of what a sensor publishes; ``info_topic`` replaces the derived camera_info."""
    found = []
    for ending, message in TOPICS.get(kind, ()):
        name = topic + ending
        # Gazebo puts the calibration beside the image topic, not below it.
        if ending == "camera_info":
            name = info_topic or _beside(topic, ending)
        found.append((name, message))
    return found


def _beside(topic: str, name: str) -> str:
    """``/front/image`` -> ``/front/camera_info``; a topic without a slash becomes the folder."""
    folder, slash, _ = topic.rpartition("/")
    return f"{folder if slash else topic}/{name}"
