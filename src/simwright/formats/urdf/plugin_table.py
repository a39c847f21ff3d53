# SPDX-License-Identifier: Apache-2.0
"""Which Gazebo plugins mean ROS interfaces: :data:`PLUGINS`, a row for each library.

Default names are those of the plugins' own documentation.  A ROS plugin of Gazebo Classic has them below its
namespace, a system of Gazebo Sim below ``/model/NAME`` (``sim``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PluginTopic:
    """A topic of a plugin: its parameter tags, default name, message type and direction."""

    tags: tuple[str, ...]
    default: str
    type: str
    role: str = "publisher"
    frame_tags: tuple[str, ...] = ()
    key: str = "publisher"
    """Its role on a controller (see ``model.ros.CONTROLLER_ROLES``)."""
    sim: str = ""
    """Its default name in Gazebo Sim, with the model and the first joint to be filled in."""


@dataclass(frozen=True, slots=True)
class PluginRow:
    """What a plugin means: its topics, its controller kind, and the joints it names by role."""

    topics: tuple[PluginTopic, ...] = ()
    controller: str = ""
    joints: tuple[tuple[str, tuple[str, ...]], ...] = ()


# tags by which plugins of ROS 1, ROS 2, Ignition and Gazebo Sim name the frame of their messages
_FRAMES = ("frame_name", "frameName", "frame_id", "gz_frame_id", "ignition_frame_id")
_IMAGE = PluginTopic(("imageTopicName",), "image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_INFO = PluginTopic(("cameraInfoTopicName",), "camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES)
_DEPTH = PluginTopic(("depthImageTopicName",), "depth/image_raw", "sensor_msgs/msg/Image", frame_tags=_FRAMES)
_DEPTH_INFO = PluginTopic(
    ("depthImageCameraInfoTopicName",), "depth/camera_info", "sensor_msgs/msg/CameraInfo", frame_tags=_FRAMES
)
_POINTS = PluginTopic(("pointCloudTopicName",), "points", "sensor_msgs/msg/PointCloud2", frame_tags=_FRAMES)
_SCAN = PluginTopic(("topicName", "topic"), "scan", "sensor_msgs/msg/LaserScan", frame_tags=_FRAMES)
_TWIST = PluginTopic(
    ("commandTopic", "topic"), "cmd_vel", "geometry_msgs/msg/Twist", "subscription", key="subscriber",
    sim="/model/{model}/cmd_vel",
)  # fmt: skip
_ODOMETRY = PluginTopic(
    ("odometryTopic", "odom_topic"),
    "odom",
    "nav_msgs/msg/Odometry",
    key="odom",
    sim="/model/{model}/odometry",
)
_STATES = PluginTopic(
    ("topicName", "topic"), "joint_states", "sensor_msgs/msg/JointState",
    sim="/world/default/model/{model}/joint_state",
)  # fmt: skip
_TRAJECTORY = PluginTopic(
    ("topic", "topicName"),
    "set_joint_trajectory",
    "trajectory_msgs/msg/JointTrajectory",
    "subscription",
    key="subscriber",
    sim="/model/{model}/joint_trajectory",
)
# skid-steer plugins name four wheels, differential drives two
_WHEELS = (
    ("left", ("left_joint", "leftJoint", "leftFrontJoint", "leftRearJoint")),
    ("right", ("right_joint", "rightJoint", "rightFrontJoint", "rightRearJoint")),
)
_STEERED = tuple((f"{side}_steering", (f"{side}_steering_joint",)) for side in ("left", "right"))
_CORNERS = tuple(
    (f"{end}_{side}", (f"{end}_{side}_joint",)) for end in ("front", "back") for side in ("left", "right")
)
_POSE_TOPIC = PluginTopic(
    ("topicName",), "odom", "nav_msgs/msg/Odometry", frame_tags=("frameName", "frame_name")
)
_CAMERA = PluginRow((_IMAGE, _INFO))
_DEPTH_CAMERA = PluginRow((_IMAGE, _INFO, _DEPTH, _DEPTH_INFO, _POINTS))
_DIFF_DRIVE = PluginRow((_TWIST, _ODOMETRY), "diff_drive", _WHEELS)
_LASER = PluginRow((_SCAN,))
_IMU_TOPIC = PluginTopic(("topicName", "topic"), "imu", "sensor_msgs/msg/Imu", frame_tags=_FRAMES)
_GPS_TOPIC = PluginTopic(("topicName", "topic"), "fix", "sensor_msgs/msg/NavSatFix", frame_tags=_FRAMES)
_WRENCH = PluginTopic(("topicName", "topic"), "wrench", "geometry_msgs/msg/WrenchStamped", frame_tags=_FRAMES)
_BUMPER = PluginTopic(
    ("bumperTopicName",), "bumper_states", "gazebo_msgs/msg/ContactsState", frame_tags=_FRAMES
)
ROS2_CONTROL = PluginRow((), "ros2_control")
_JOINT_NAME = (("command", ("joint_name",)),)


def _command(controller: str, ending: str) -> PluginRow:
    """A Gazebo Sim plugin that takes one number for a joint."""
    name = f"/model/{{model}}/joint/{{joint}}/{ending}"
    kind = "std_msgs/msg/Float64"
    topic = PluginTopic(
        ("topic",), ending.rpartition("/")[2], kind, "subscription", key="subscriber", sim=name
    )
    return PluginRow((topic,), controller, _JOINT_NAME)


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
    # the manager of controllers; which ones it runs is in its configuration
    "gazebo_ros_control": ROS2_CONTROL,
    "gazebo_ros2_control": ROS2_CONTROL,
    "gz_ros2_control-system": ROS2_CONTROL,
    "ign_ros2_control-system": ROS2_CONTROL,
    "gz-sim-diff-drive-system": _DIFF_DRIVE,
    "gz-sim-ackermann-steering-system": PluginRow((_TWIST, _ODOMETRY), "ackermann", _WHEELS + _STEERED),
    "gz-sim-mecanum-drive-system": PluginRow((_TWIST, _ODOMETRY), "mecanum", _CORNERS),
    "gz-sim-velocity-control-system": PluginRow((_TWIST,), "rigid_body_twist"),
    "gz-sim-odometry-publisher-system": PluginRow((_ODOMETRY,)),
    "gz-sim-joint-state-publisher-system": PluginRow(
        (_STATES,), "joint_state_broadcaster", (("state", ("joint_name",)),)
    ),
    "gz-sim-joint-trajectory-controller-system": PluginRow((_TRAJECTORY,), "joint_trajectory", _JOINT_NAME),
    "gz-sim-joint-position-controller-system": _command("joint_position", "0/cmd_pos"),
    "gz-sim-joint-controller-system": _command("joint_velocity", "cmd_vel"),
    "gz-sim-apply-joint-force-system": _command("joint_effort", "cmd_force"),
}
"""Plugin libraries by their bare file name (no ``lib``, no ``.so``, ``ignition-gazebo`` as ``gz-sim``)."""
