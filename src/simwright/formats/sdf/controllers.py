# SPDX-License-Identifier: Apache-2.0
"""Model plugins that are controllers or publishers: what they drive, on which topics, with which settings.

Default topics are those of the plugin's own documentation: Gazebo Sim puts them below ``/model/NAME``,
the ROS plugins of Gazebo Classic below their ``<ros><namespace>``.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Where, declare
from simwright.formats.gazebo.ros2_control import read_parameters
from simwright.formats.resources import resolve_resource
from simwright.formats.sdf.plugins import Plugin
from simwright.model.joint import Drive, Motion
from simwright.model.ros import Controller

CONTROLLER_REDUCED = declare(
    "sdf-controller-reduced",
    Level.WARNING,
    "the controller {name!r} of joint {joint!r} has {what}, which a drive does not have",
    hint="its position and velocity gains are the drive of the joint; Gazebo has the rest, where the plugin is written",
    doc="A PID controller of Gazebo is read as a drive, which is a spring and a damper with a largest force.",
    loss=True,
)
TWIST = "geometry_msgs/msg/Twist"
ODOMETRY = "nav_msgs/msg/Odometry"
FLOAT = "std_msgs/msg/Float64"
TF = "tf2_msgs/msg/TFMessage"

_GAINS = ("p_gain", "i_gain", "d_gain", "i_max", "i_min", "cmd_max", "cmd_min", "cmd_offset")
_BASE = {
    "wheel_separation": ("wheel_separation", "wheelSeparation"),
    "wheel_radius": ("wheel_radius",),
    "max_linear_velocity": ("max_linear_velocity", "max_velocity"),
    "min_linear_velocity": ("min_linear_velocity", "min_velocity"),
    "max_linear_acceleration": ("max_linear_acceleration", "max_acceleration"),
    "min_linear_acceleration": ("min_linear_acceleration", "min_acceleration"),
    "max_angular_velocity": ("max_angular_velocity",),
    "min_angular_velocity": ("min_angular_velocity",),
    "max_angular_acceleration": ("max_angular_acceleration",),
    "min_angular_acceleration": ("min_angular_acceleration",),
    "max_wheel_torque": ("max_wheel_torque", "wheelTorque"),
    "max_wheel_acceleration": ("max_wheel_acceleration",),
}
_STEERING = {
    "wheel_base": ("wheel_base",),
    "kingpin_width": ("kingpin_width",),
    "steering_limit": ("steering_limit",),
    "steer_p_gain": ("steer_p_gain",),
}


def read_diff_drive(plugin: Plugin) -> None:
    """A two-wheel base: ``diff_drive`` with a velocity command in and odometry out."""
    controller = _start(plugin, "diff_drive")
    controller.joints["left"] = plugin.joints(plugin.texts("left_joint", "leftJoint"))
    controller.joints["right"] = plugin.joints(plugin.texts("right_joint", "rightJoint"))
    controller.settings = _numbers(plugin, _BASE)
    # Gazebo Classic gives the diameter, Gazebo Sim the radius.
    diameter = plugin.number("wheel_diameter", "wheelDiameter")
    if diameter is not None:
        controller.settings["wheel_radius"] = diameter / 2.0
    _add_twist(plugin, controller)
    _add_odometry(plugin, controller)
    _finish(plugin, controller)


def read_mecanum(plugin: Plugin) -> None:
    """A base on four sideways-rolling wheels: ``mecanum``."""
    controller = _start(plugin, "mecanum")
    for role in ("front_left", "front_right", "back_left", "back_right"):
        controller.joints[role] = plugin.joints(plugin.texts(f"{role}_joint"))
    controller.settings = _numbers(plugin, {**_BASE, "wheel_base": ("wheelbase",)})
    _add_twist(plugin, controller)
    _add_odometry(plugin, controller)
    _finish(plugin, controller)


def read_ackermann(plugin: Plugin) -> None:
    """A base with steered wheels: ``ackermann``."""
    controller = _start(plugin, "ackermann")
    for role in ("left", "right", "left_steering", "right_steering"):
        controller.joints[role] = plugin.joints(plugin.texts(f"{role}_joint"))
    controller.settings = _numbers(plugin, {**_BASE, **_STEERING})
    # The plugin then turns the wheels and does not drive.
    if plugin.text("steering_only").lower() in ("true", "1"):
        topic = plugin.text("topic") or _model_topic(plugin, plugin.text("sub_topic") or "steer_angle")
        controller.interfaces["subscriber"] = plugin.add("subscription", topic, FLOAT)
    else:
        _add_twist(plugin, controller)
        _add_odometry(plugin, controller)
    _finish(plugin, controller)


def read_tracked(plugin: Plugin) -> None:
    """A base on tracks: ``tracked_drive``; its tracks are links, which it drives by their surface."""
    controller = _start(plugin, "tracked_drive")
    for side in ("left", "right"):
        tracks = [
            plugin.document.text(track, "link")
            for track in plugin.document.children(plugin.element, f"{side}_track")
        ]
        controller.settings[f"{side}_tracks"] = [name for name in tracks if name]
        # Taken by hand: tracks are read below the plugin's own element.
        plugin.taken.add(f"{side}_track")
    controller.settings |= _numbers(plugin, {**_BASE, "wheel_separation": ("tracks_separation",)})
    _add_twist(plugin, controller)
    _add_odometry(plugin, controller)
    _finish(plugin, controller)


def read_joint_force(plugin: Plugin) -> None:
    """Puts a force or torque on a joint: ``joint_effort``."""
    _read_joint_command(plugin, "joint_effort", "cmd_force")


def read_body_twist(plugin: Plugin) -> None:
    """A model that is moved as one piece: ``rigid_body_twist``."""
    controller = _start(plugin, "rigid_body_twist")
    assert plugin.model is not None
    canonical = plugin.model.canonical()
    if canonical is not None:
        controller.settings["body"] = canonical.key
    _add_twist(plugin, controller)
    if plugin.is_classic:
        _add_odometry(plugin, controller)
    _finish(plugin, controller)


def read_joint_states(plugin: Plugin) -> None:
    """Publishes joint positions and velocities: ``joint_state_broadcaster``."""
    controller = _start(plugin, "joint_state_broadcaster")
    assert plugin.model is not None
    names = plugin.texts("joint_name", "jointName")
    if names:
        controller.joints["state"] = plugin.joints(names)
    else:
        # Without names the plugin publishes all joints of the model that move.
        known = {joint.name for joint in plugin.context.asset.joints if joint.dofs}
        controller.joints["state"] = [item.key for item in plugin.model.joints if item.key in known]
    default = f"/world/{plugin.context.world_name or 'default'}{_model_topic(plugin, 'joint_state')}"
    topic = plugin.topic("joint_states") if plugin.is_classic else plugin.text("topic") or default
    rate = plugin.number("update_rate", "updateRate")
    controller.interfaces["publisher"] = plugin.add("publisher", topic, "sensor_msgs/msg/JointState", rate)
    _finish(plugin, controller)


def read_trajectory(plugin: Plugin) -> None:
    """Follows joint trajectories sent on a topic: ``joint_trajectory``."""
    controller = _start(plugin, "joint_trajectory")
    assert plugin.model is not None
    names = plugin.texts("joint_name") or [item.name for item in plugin.model.joints]
    # A trajectory has one number per joint, so joints with more freedoms cannot follow it.
    moving = {joint.name for joint in plugin.context.asset.joints if len(joint.dofs) == 1}
    found = plugin.joints(names)
    controller.joints["command"] = [name for name in found if name in moving]
    if plugin.is_classic:
        topic = plugin.topic("set_joint_trajectory")
    else:
        topic = plugin.text("topic") or _model_topic(plugin, "joint_trajectory")
    kind = "trajectory_msgs/msg/JointTrajectory"
    controller.interfaces["subscriber"] = plugin.add("subscription", topic, kind)
    _finish(plugin, controller)


def read_joint_position(plugin: Plugin) -> None:
    """Moves joints to a position with a PID loop: ``joint_position``, and a drive of each joint."""
    controller = _read_joint_command(plugin, "joint_position", "cmd_pos")
    # looked at without taking them: they are kept for the way back
    look = partial(plugin.document.amount, plugin.element)
    if plugin.document.text(plugin.element, "use_velocity_commands").lower() not in ("true", "1"):
        index, target = int(look("joint_index") or 0), look("initial_position") or 0.0
        for joint in plugin.context.asset.joints:
            if joint.name in controller.joints["command"] and 0 <= index < len(joint.dofs):
                dof = joint.dofs[index]
                if dof.motion in (Motion.HINGE, Motion.SLIDE):
                    dof.drive = _make_drive(plugin, controller, joint.name, target)


_USUAL = {
    "p_gain": 1.0,
    "i_gain": 0.1,
    "d_gain": 0.01,
    "cmd_max": 1000.0,
    "cmd_min": -1000.0,
    "cmd_offset": 0.0,
}
"""What Gazebo's position controller takes where nothing is said (gz-sim 8)."""


def _make_drive(plugin: Plugin, controller: Controller, joint: str, target: float) -> Drive:
    """The spring and damper of a PID controller; what a drive cannot say is reported."""
    p, i, d, high, low, offset = (controller.settings.get(name, usual) for name, usual in _USUAL.items())
    # Gazebo limits nothing where the ends are the wrong way round
    force = min(high, -low) if high >= low else math.inf
    rest = {
        f"an integral gain of {i:g}": i != 0.0,
        f"an offset of {offset:g}": offset != 0.0,
        f"a range of efforts from {low:g} to {high:g}": high >= low and high != -low,
    }
    for what, is_there in rest.items():
        if is_there:
            plugin.context.reporter.report(
                CONTROLLER_REDUCED, plugin.where, name=controller.name, joint=joint, what=what
            )
    return Drive(stiffness=p, damping=d, target_position=target, max_force=max(force, 0.0))


def read_joint_velocity(plugin: Plugin) -> None:
    """Moves joints at a velocity: ``joint_velocity``."""
    _read_joint_command(plugin, "joint_velocity", "cmd_vel")


def read_odometry(plugin: Plugin) -> None:
    """Publishes where the model is: an odometry topic, no controller."""
    if plugin.is_classic:
        topic = plugin.text("topicName") or plugin.topic("odom")
        plugin.taken.add("ros")
    else:
        topic = plugin.text("odom_topic") or _model_topic(plugin, "odometry")
    rate = plugin.number("odom_publish_frequency", "update_rate", "updateRate")
    plugin.add("publisher", topic, ODOMETRY, rate, at=_model_body(plugin))


def read_poses(plugin: Plugin) -> None:
    """Publishes the poses of links as transforms."""
    rate = plugin.number("update_frequency")
    topic = plugin.text("topic") or _model_topic(plugin, "pose")
    plugin.add("publisher", topic, TF, rate, at=_model_body(plugin))


def read_ros_control(plugin: Plugin) -> None:
    """Hands the joints over to ros2_control, which has its own description: only named here."""
    controller = _start(plugin, "ros2_control")
    files = plugin.texts("parameters")
    if files:
        controller.settings["parameters"] = files
    for file in files:
        read_parameters(_PluginReader(plugin), file, plugin.where)
    _finish(plugin, controller)


class _PluginReader:
    """A plugin's model, as the parameter reader sees it."""

    def __init__(self, plugin: Plugin) -> None:
        self.asset = plugin.context.asset
        self.reporter = plugin.context.reporter
        self._plugin = plugin

    def resolve(self, uri: str, where: Where) -> Path:
        """Follow an address in the plugin's file."""
        return resolve_resource(uri, self._plugin.document.base, self._plugin.context.gate, where)


def _read_joint_command(plugin: Plugin, kind: str, ending: str) -> Controller:
    controller = _start(plugin, kind)
    names = plugin.texts("joint_name", "joint")
    controller.joints["command"] = plugin.joints(names)
    controller.settings = _numbers(plugin, {name: (name,) for name in _GAINS})
    topic = plugin.text("topic")
    sub_topic = plugin.text("sub_topic")
    if not topic and sub_topic:
        topic = _model_topic(plugin, sub_topic)
    elif not topic:
        first = names[0] if names else "joint"
        # The position controller puts the index of the axis into its topic, the others do not.
        tail = f"joint/{first}/0/{ending}" if ending == "cmd_pos" else f"joint/{first}/{ending}"
        topic = _model_topic(plugin, tail)
    controller.interfaces["subscriber"] = plugin.add("subscription", topic, FLOAT)
    _finish(plugin, controller)
    return controller


def _start(plugin: Plugin, kind: str) -> Controller:
    name = plugin.context.claim("controller", plugin.element.get("name") or kind)
    return Controller(name, kind, path=plugin.file, source=plugin.where)


def _finish(plugin: Plugin, controller: Controller) -> None:
    plugin.context.asset.controllers.append(controller)


def _numbers(plugin: Plugin, table: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    values = {name: plugin.number(*tags) for name, tags in table.items()}
    return {name: value for name, value in values.items() if value is not None}


def _add_twist(plugin: Plugin, controller: Controller) -> None:
    if plugin.is_classic:
        topic = plugin.topic(plugin.text("command_topic", "commandTopic") or "cmd_vel")
    else:
        topic = plugin.text("topic") or _model_topic(plugin, plugin.text("sub_topic") or "cmd_vel")
    controller.interfaces["subscriber"] = plugin.add("subscription", topic, TWIST)


def _add_odometry(plugin: Plugin, controller: Controller) -> None:
    if plugin.is_classic:
        if plugin.text("publish_odom").lower() in ("false", "0"):
            return
        topic = plugin.topic(plugin.text("odometry_topic", "odometryTopic") or "odom")
        # Read so that it counts as taken; the setting below has it.
        plugin.text("odometry_frame", "odometryFrame")
    else:
        topic = plugin.text("odom_topic") or _model_topic(plugin, "odometry")
    for setting, tags in {
        "odom_frame": ("frame_id", "odometry_frame", "odometryFrame"),
        "base_frame": ("child_frame_id", "robot_base_frame", "robotBaseFrame"),
    }.items():
        if text := plugin.text(*tags):
            controller.settings[setting] = text
    rate = plugin.number("odom_publish_frequency", "update_rate", "updateRate")
    at = _model_body(plugin)
    controller.interfaces["odom"] = plugin.add("publisher", topic, ODOMETRY, rate, at=at)


def _model_topic(plugin: Plugin, ending: str) -> str:
    """``/model/NAME/ending``, where Gazebo Sim puts what has no topic of its own."""
    assert plugin.model is not None
    return f"/model/{plugin.model.name}/{ending.lstrip('/')}"


def _model_body(plugin: Plugin) -> str:
    assert plugin.model is not None
    canonical = plugin.model.canonical()
    return canonical.key if canonical is not None else ""
