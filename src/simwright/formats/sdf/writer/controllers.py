# SPDX-License-Identifier: Apache-2.0
"""``<plugin>``: controllers and publishers for which Gazebo has a system, with their joints and topics.

Nothing is injected: a plugin is written for a controller of the model and for nothing else (REP-0158 3.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simwright.formats.sdf.writer.draft import Draft, Room, add, refer
from simwright.formats.sdf.writer.kept import put, restore_settings
from simwright.formats.xml import Element
from simwright.model.ros import Controller, Interface

ODOMETRY = "nav_msgs/msg/Odometry"
TF = "tf2_msgs/msg/TFMessage"
_PREFIX = "gz::sim::systems::"
_GAINS = ("p_gain", "i_gain", "d_gain", "i_max", "i_min", "cmd_max", "cmd_min", "cmd_offset")
_BASE = (
    "wheel_separation", "wheel_radius", "max_linear_velocity", "min_linear_velocity", "max_linear_acceleration",
    "min_linear_acceleration", "max_angular_velocity", "min_angular_velocity", "max_angular_acceleration",
    "min_angular_acceleration",
)  # fmt: skip
_FRAMES = {"odom_frame": "frame_id", "base_frame": "child_frame_id"}


@dataclass(frozen=True, slots=True)
class System:
    """A system of Gazebo: its library and class, and the tags of joints, settings and topics by role."""

    library: str
    name: str
    joints: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    rate: str = ""


_WHEELS = {name: name for name in _BASE} | _FRAMES
_DRIVE_TOPICS = {"subscriber": "topic", "odom": "odom_topic"}
SYSTEMS: dict[str, System] = {
    "diff_drive": System(
        "gz-sim-diff-drive-system", "DiffDrive", {"left": "left_joint", "right": "right_joint"}, _WHEELS,
        _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "mecanum": System(
        "gz-sim-mecanum-drive-system", "MecanumDrive",
        {role: f"{role}_joint" for role in ("front_left", "front_right", "back_left", "back_right")},
        _WHEELS | {"wheel_base": "wheelbase"}, _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "ackermann": System(
        "gz-sim-ackermann-steering-system", "AckermannSteering",
        {role: f"{role}_joint" for role in ("left", "right", "left_steering", "right_steering")},
        _WHEELS | {n: n for n in ("wheel_base", "kingpin_width", "steering_limit", "steer_p_gain")},
        _DRIVE_TOPICS, "odom_publish_frequency",
    ),
    "joint_state_broadcaster": System(
        "gz-sim-joint-state-publisher-system", "JointStatePublisher", {"state": "joint_name"}, {},
        {"publisher": "topic"}, "update_rate",
    ),
    "joint_trajectory": System(
        "gz-sim-joint-trajectory-controller-system", "JointTrajectoryController", {"command": "joint_name"}, {},
        {"subscriber": "topic"},
    ),
    "joint_position": System(
        "gz-sim-joint-position-controller-system", "JointPositionController", {"command": "joint_name"},
        {name: name for name in _GAINS}, {"subscriber": "topic"},
    ),
    "joint_velocity": System(
        "gz-sim-joint-controller-system", "JointController", {"command": "joint_name"},
        {name: name for name in _GAINS}, {"subscriber": "topic"},
    ),
    "joint_effort": System(
        "gz-sim-apply-joint-force-system", "ApplyJointForce", {"command": "joint_name"}, {}, {"subscriber": "topic"},
    ),
    "rigid_body_twist": System(
        "gz-sim-velocity-control-system", "VelocityControl", {}, {}, {"subscriber": "topic"},
    ),
}  # fmt: skip
"""Kind of controller -> the system that does the same."""
_IGNORED = frozenset({"body", "plugin"})


class ControllerWriter:
    """Writes plugins; keeps what has to be said about them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._topics = {interface.name: interface for interface in draft.asset.interfaces}
        self.lost: list[Controller] = []
        self.reduced: list[Controller] = []

    def write_all(self) -> None:
        """Controllers, then publishers that are none."""
        for controller in self._draft.asset.controllers:
            system = SYSTEMS.get(controller.kind)
            if system is None or not self._write(controller, system):
                self.lost.append(controller)
        for interface in self._draft.asset.interfaces:
            if id(interface) not in self._draft.published:
                self._publish(interface)

    def _write(self, controller: Controller, system: System) -> bool:
        names = [name for names in controller.joints.values() for name in names]
        room = self._find_room(names, str(controller.settings.get("body", "")))
        topics = {role: self._topics.get(name) for role, name in controller.interfaces.items()}
        if room is None or set(topics) - set(system.topics) or any(t is None for t in topics.values()):
            return False
        if set(controller.joints) - set(system.joints):
            return False
        node = self._open(room, system.library, system.name)
        for role, tag in system.joints.items():
            for name in controller.joints.get(role, ()):
                mounting = self._draft.mountings[name]
                add(node, tag, refer(room, mounting.room, mounting.name))
        for key, tag in system.settings.items():
            if key in controller.settings:
                put(node, tag, controller.settings[key])
        for role, topic in topics.items():
            assert topic is not None
            add(node, system.topics[role], topic.name)
            self._draft.published.add(id(topic))
            if topic.rate is not None and system.rate and role in ("odom", "publisher"):
                add(node, system.rate, float(topic.rate))
        restore_settings(self._draft, node)
        if set(controller.settings) - set(system.settings) - _IGNORED:
            self.reduced.append(controller)
        return True

    def _find_room(self, joints: Sequence[str], body: str) -> Room | None:
        """The model that holds all joints; the only one there is where there are none."""
        draft = self._draft
        rooms = [draft.mountings[name].room for name in joints if name in draft.mountings]
        if len(rooms) < len(joints):
            return None
        if not rooms and body in draft.seats:
            rooms = [draft.seats[body].room]
        if not rooms:
            rooms = [room for room in draft.rooms if not room.is_world and room.node.find("static") is None][
                :1
            ]
        paths = [room.path() for room in rooms]
        shared = [row[0] for row in zip(*paths, strict=False) if all(room is row[0] for room in row)]
        return shared[-1] if shared and not shared[-1].is_world else None

    def _open(self, room: Room, library: str, name: str) -> Element:
        return add(room.node, "plugin", name=f"{_PREFIX}{name}", filename=library)

    def _publish(self, interface: Interface) -> None:
        """Odometry and poses of a model."""
        if interface.role != "publisher" or interface.type not in (ODOMETRY, TF) or not interface.at:
            return
        seat = self._draft.seats.get(interface.at)
        if seat is None:
            return
        if interface.type == ODOMETRY:
            node = self._open(seat.room, "gz-sim-odometry-publisher-system", "OdometryPublisher")
            add(node, "odom_topic", interface.name)
            rate = "odom_publish_frequency"
        elif interface.name == f"/model/{seat.room.name}/pose":
            node = self._open(seat.room, "gz-sim-pose-publisher-system", "PosePublisher")
            rate = "update_frequency"
        else:
            return
        if interface.rate is not None:
            add(node, rate, float(interface.rate))
        restore_settings(self._draft, node)
        self._draft.published.add(id(interface))
