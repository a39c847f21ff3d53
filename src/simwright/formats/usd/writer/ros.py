# SPDX-License-Identifier: Apache-2.0
"""``ros.usda``: context, interfaces, frames, joint names and controllers (REP-0158 2 and 4.2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.joints import find_joint_prim, write_drive
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.messages import DRIVE_EMPTY, FRAME_OVERRIDDEN, RATE_GUESSED
from simwright.formats.usd.writer.plan import WritePlan, list_written
from simwright.model.joint import WORLD, Drive, Joint, Motion
from simwright.model.ros import Controller, Interface, InterfaceKind, Qos, RosContext

_CONTROLLER_APIS = {
    "diff_drive": "RosControlDiffDriveAPI",
    "joint_trajectory": "RosControlJointTrajectoryAPI",
    "joint_state_broadcaster": "RosControlJointStateBroadcasterAPI",
    "rigid_body_twist": "RosControlRigidBodyTwistAPI",
}
_JOINTS = {"left": "left_wheels", "right": "right_wheels", "command": "command_joints", "state": "joints"}
_COMMANDS = ("left", "right", "command")
_SETTINGS = {
    "diff_drive": {
        "wheel_separation": ("wheel_separation",),
        "wheel_radius": ("wheel_radius",),
        "cmd_vel_timeout": ("cmd_vel_timeout",),
        "linear:x:max_velocity": ("linear.x.max_velocity", "max_linear_velocity"),
        "linear:x:max_acceleration": ("linear.x.max_acceleration", "max_linear_acceleration"),
        "angular:z:max_velocity": ("angular.z.max_velocity", "max_angular_velocity"),
        "angular:z:max_acceleration": ("angular.z.max_acceleration", "max_angular_acceleration"),
    },
    "joint_trajectory": {
        "action_monitor_rate": ("action_monitor_rate",),
        "stopped_velocity_tolerance": ("stopped_velocity_tolerance",),
        "timeout": ("timeout", "goal_time"),
    },
}
"""Attribute -> the words it may have in the model, by kind."""


# inside before outside: who is left for outside depends on the first
def write_controllers(
    plan: WritePlan,
    layer: LayerWriter,
    physics: LayerWriter,
    interfaces: Mapping[str, str],
    reporter: Reporter,
) -> None:
    """Controllers of the registry's kinds; others are beside the simulator."""
    commanded: dict[str, None] = {}
    inside = [c for c in plan.asset.controllers if c.kind in _CONTROLLER_APIS]
    outside = [c for c in plan.asset.controllers if c.kind not in _CONTROLLER_APIS]
    for controller in inside:
        # a controller of the registry needs an interface; without one it runs outside of the simulator
        if _write_inside(plan, layer, controller, interfaces):
            commanded |= dict.fromkeys(n for role in _COMMANDS for n in controller.joints.get(role, ()))
        else:
            outside.append(controller)
    for controller in outside:
        # a joint is commanded by one controller: those inside the simulator come first
        joints = [name for name in controller.joints.get("command", ()) if name not in commanded]
        _write_outside(plan, layer, controller, joints)
        commanded |= dict.fromkeys(joints)
    _add_drives(plan, physics, [name for name in commanded if name in plan.joints], reporter)


def _claim(plan: WritePlan, layer: LayerWriter, controller: Controller) -> str:
    scope = f"{plan.root}/Controllers"
    layer.define(scope, "Scope")
    path = plan.names.claim(scope, controller.name)
    layer.define(path)
    layer.name(path, controller.name)
    plan.controllers[controller.name] = path
    return path


def _note(layer: LayerWriter, path: str, controller: Controller, said: Controller) -> None:
    """What is known of a controller and not said by its prim, which is read as ``said``."""
    words: dict[str, Any] = {"kind": controller.kind} if controller.kind != said.kind else {}
    for key in ("joints", "interfaces", "settings"):
        read = getattr(said, key)
        left = {name: value for name, value in getattr(controller, key).items() if name not in read}
        if left:
            words[key] = left
    if words:
        layer.note(path, controller=json.dumps(words, sort_keys=True, default=str))


def _write_inside(
    plan: WritePlan, layer: LayerWriter, controller: Controller, interfaces: Mapping[str, str]
) -> bool:
    """A controller that the simulator runs; False if it has no interface, which it needs."""
    known = {role: interfaces[name] for role, name in controller.interfaces.items() if name in interfaces}
    if not known:
        return False
    path, space = _claim(plan, layer, controller), f"ros:{controller.kind}"
    layer.apply(path, _CONTROLLER_APIS[controller.kind])
    said = Controller(controller.name, controller.kind, interfaces=known)
    said.joints |= _relate_joints(plan, layer, path, controller)
    for role, target in known.items():
        layer.relate(path, f"{space}:{role}", [target])
    body = controller.settings.get("body")
    if controller.kind == "rigid_body_twist" and body in plan.bodies:
        layer.relate(path, f"{space}:body", [plan.bodies[body]])
        said.settings["body"] = body
    said.settings |= _write_settings(layer, path, controller)
    _note(layer, path, controller, said)
    return True


def _relate_joints(
    plan: WritePlan, layer: LayerWriter, path: str, controller: Controller
) -> dict[str, list[str]]:
    """The joints of a controller by role; gives those that are read back."""
    joints = dict(controller.joints)
    if controller.kind == "joint_state_broadcaster" and not joints.get("state"):
        # ros2_control broadcasts all joints where none is named; the schema wants them named
        joints["state"] = [joint.name for joint in plan.asset.joints if joint.dofs]
    related: dict[str, list[str]] = {}
    for role, names in joints.items():
        if controller.kind == "joint_trajectory" and role != "command":
            continue
        targets = [plan.joints[name] for name in names if name in plan.joints]
        layer.relate(path, f"ros:{controller.kind}:{_JOINTS.get(role, role)}", targets)
        if targets:
            related[role] = names
    return related


def _write_settings(layer: LayerWriter, path: str, controller: Controller) -> dict[str, float]:
    """Settings that the schema has attributes for; gives them as they are read."""
    written: dict[str, float] = {}
    constraints = controller.settings.get("constraints")
    nested = constraints if isinstance(constraints, dict) else {}
    said: dict[str, Any] = {**nested, **controller.settings}
    for attribute, words in _SETTINGS.get(controller.kind, {}).items():
        value = next((said[word] for word in words if word in said), None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            name = f"ros:{controller.kind}:{attribute}"
            layer.set(path, name, "double", float(value), uniform=True)
            written[attribute.replace(":", ".")] = float(value)
    return written


def _write_outside(plan: WritePlan, layer: LayerWriter, controller: Controller, joints: list[str]) -> None:
    """A controller beside the simulator: who is commanded is said; one that commands nothing is only noted."""
    path = _claim(plan, layer, controller)
    targets = [plan.joints[name] for name in joints if name in plan.joints]
    if targets:
        layer.apply(path, "RosControlExternalAPI", "CollectionAPI:joints")
        layer.relate(path, "collection:joints:includes", targets)
    _note(layer, path, controller, Controller(controller.name, "external" if targets else ""))


def _add_drives(plan: WritePlan, physics: LayerWriter, names: list[str], reporter: Reporter) -> None:
    """A commanded joint needs a drive or an actuator for its set points."""
    targets = {actuator.target for actuator in plan.asset.actuators}
    bare: list[Joint] = []
    for name in names:
        joint = plan.asset.joint(name)
        if any(dof.drive is not None or dof.name in targets for dof in joint.dofs):
            continue
        form = find_joint_prim(joint)
        if form is None or len(form.axes) != 1 or joint.dofs[0].motion is Motion.FREE:
            continue
        word, dof = form.axes[0]
        limit = dof.effort_limit
        # gains of zero: set points arrive and nothing moves until somebody chooses them
        drive = Drive(max_force=limit) if limit is not None else Drive()
        write_drive(physics, plan.joints[name], word, dof, drive)
        bare.append(joint)
    if bare:
        reporter.report(DRIVE_EMPTY, bare[0].source, count=len(bare), first=bare[0].name)


_INTERFACE_APIS = {
    InterfaceKind.TOPIC: "RosTopicAPI",
    InterfaceKind.SERVICE: "RosServiceAPI",
    InterfaceKind.ACTION: "RosActionAPI",
}

RATE = 50.0
"""Rate of a published topic whose source says none [Hz]."""


def write_ros(
    plan: WritePlan, physics: LayerWriter, reporter: Reporter
) -> tuple[LayerWriter, dict[str, list[str]]]:
    """All that ROS sees of the asset, and the prims of publishers by the element that they speak for.

    Drives that controllers need are added to ``physics``.
    """
    layer = LayerWriter(plan.root, f"ROS interfaces of {plan.asset.name}.")
    for context in plan.asset.contexts or _make_contexts(plan):
        _write_context(plan, layer, context)
    places = _InterfacePlaces(plan, layer)
    interfaces: dict[str, str] = {}
    topics: dict[str, list[str]] = {}
    for interface in plan.asset.interfaces:
        path = places.claim(interface)
        interfaces.setdefault(interface.name, path)
        if interface.role == "publisher":
            topics.setdefault(interface.at, []).append(path)
        _write_interface(layer, path, interface)
        _write_topic(plan, layer, path, interface, frame=places.find_frame(interface), reporter=reporter)
        if interface.at and interface.at != places.find_owner(path):
            layer.note(path, at=interface.at)
    _report_rates(plan, reporter)
    _write_frames(plan, layer)
    for joint in list_written(plan):
        path = plan.joints[joint.name]
        # the prim name is the ROS name where nothing is authored (REP-0158 2.10)
        if joint.ros_name or joint.public_name != path.rpartition("/")[2]:
            layer.set(path, "ros:joint:name", "string", joint.public_name, custom=True)
    write_controllers(plan, layer, physics, interfaces, reporter)
    return layer, topics


def _make_contexts(plan: WritePlan) -> list[RosContext]:
    """An asset with interfaces has a scope for them, whose namespace whoever places it can set."""
    return [RosContext()] if plan.asset.interfaces else []


def _write_context(plan: WritePlan, layer: LayerWriter, context: RosContext) -> None:
    path = plan.sites.get(context.at) or plan.bodies.get(context.at, plan.root)
    layer.apply(path, "RosContextAPI")
    layer.set(path, "ros:context:namespace", "string", context.namespace, uniform=True)
    if context.domain_id is not None:
        layer.set(path, "ros:context:domain_id", "int", context.domain_id, uniform=True)
    if context.parent_frame != "world":
        layer.set(path, "ros:context:parent_frame", "string", context.parent_frame, uniform=True)


class _InterfacePlaces:
    """Where interfaces go: the optical frame of a camera, an Xform of a sensor, a link, or the robot's scope."""

    def __init__(self, plan: WritePlan, layer: LayerWriter) -> None:
        self._plan = plan
        self._layer = layer
        self._sensors = {sensor.name: sensor for sensor in plan.asset.sensors}
        self._owners = {path: name for name, path in (*plan.bodies.items(), *plan.sites.items())}

    def claim(self, interface: Interface) -> str:
        """A new prim for an interface; each has its own (2.2)."""
        plan, at = self._plan, interface.at
        parent = self._find_optical(at) or plan.sites.get(at) or ""
        parent = parent or plan.sensors.get(at, "")
        if not parent and at in plan.bodies and _is_sensed(interface):
            parent = plan.bodies[at]
        if not parent:
            parent = f"{plan.root}/Interfaces"
            self._layer.define(parent, "Scope")
        path = plan.names.claim(parent, interface.name.strip("/") or "interface", "_topic")
        self._layer.define(path)
        return path

    def find_owner(self, path: str) -> str:
        """The frame or link that a prim is below, which it is read as being at."""
        while path and path not in self._owners:
            path = path.rpartition("/")[0]
        return self._owners.get(path, "")

    def find_frame(self, interface: Interface) -> str:
        """The TF frame that an interface has by its place."""
        plan = self._plan
        optical = self._find_optical(interface.at)
        for site in plan.asset.sites:
            if plan.sites[site.name] == optical or site.name == interface.at:
                return site.ros_frame or site.name
        sensor = self._sensors.get(interface.at)
        return sensor.body or sensor.name if sensor is not None else interface.at

    def _find_optical(self, at: str) -> str:
        sensor = self._sensors.get(at)
        camera = at if sensor is None else sensor.target or sensor.name
        return self._plan.optical.get(camera, "")


def _is_sensed(interface: Interface) -> bool:
    """Does it belong to a place on the robot, and not to the robot as a whole?"""
    return interface.type.startswith("sensor_msgs/") and not interface.type.endswith("/JointState")


def _write_interface(layer: LayerWriter, path: str, interface: Interface) -> None:
    space = f"ros:{interface.kind}"
    layer.apply(path, _INTERFACE_APIS[interface.kind])
    layer.set(path, f"{space}:name", "string", interface.name, uniform=True)
    layer.set(path, f"{space}:type", "string", interface.type, uniform=True)
    layer.set(path, f"{space}:role", "token", interface.role, uniform=True)
    if not interface.starts_enabled:
        layer.set(path, f"{space}:starts_enabled", "bool", False, uniform=True)


# rate, frame and quality belong to topics alone, so they end together
def _write_topic(
    plan: WritePlan, layer: LayerWriter, path: str, interface: Interface, *, frame: str, reporter: Reporter
) -> None:
    """Rate, frame and quality of service."""
    if interface.kind is not InterfaceKind.TOPIC:
        return
    rate = interface.rate
    if rate is None and _needs_rate(interface):
        rate = RATE
    if rate is not None:
        layer.set(path, "ros:topic:publish_rate", "double", rate, uniform=True)
    override = interface.frame_override
    frames = {*plan.bodies, *(site.ros_frame or site.name for site in plan.asset.sites)}
    # REP-0158 2.4 forbids an override that is another frame of the asset
    if override and override != frame and override in frames:
        reporter.report(
            FRAME_OVERRIDDEN, interface.source, name=interface.name, override=override, frame=frame
        )
    elif override and override != frame:
        layer.set(path, "ros:topic:override_frame_id", "string", override, uniform=True)
    if override and (override == frame or override in frames):
        layer.note(path, frame=override)
    _write_qos(layer, path, "ros:topic:qos", interface.qos)


def _needs_rate(interface: Interface) -> bool:
    return interface.kind is InterfaceKind.TOPIC and interface.role == "publisher" and interface.rate is None


def _report_rates(plan: WritePlan, reporter: Reporter) -> None:
    bare = [interface for interface in plan.asset.interfaces if _needs_rate(interface)]
    if bare:
        first = bare[0]
        reporter.report(RATE_GUESSED, first.source, count=len(bare), first=first.name, rate=RATE)


def _write_qos(layer: LayerWriter, path: str, space: str, qos: Qos) -> None:
    # defaults of the schema need no opinion
    usual = Qos()
    for name in ("reliability", "durability", "history"):
        if getattr(qos, name) != getattr(usual, name):
            layer.set(path, f"{space}:{name}", "token", getattr(qos, name), uniform=True)
    if qos.depth != usual.depth:
        layer.set(path, f"{space}:depth", "int", qos.depth, uniform=True)
    if qos.match_publisher:
        layer.set(path, f"{space}:match_publisher", "bool", True, uniform=True)


def _write_frames(plan: WritePlan, layer: LayerWriter) -> None:
    """Every site is a frame; a name that a link has already gets an ending.

    So is a sensor that no link carries: its messages have no other frame.
    """
    taken = set(plan.bodies)
    for site in plan.asset.sites:
        path = plan.sites[site.name]
        # tf2 takes no blanks; the name itself is noted
        name = "_".join((site.ros_frame or site.name).split())
        while name in taken:
            name = f"{name}_frame"
        taken.add(name)
        layer.apply(path, "RosFrameAPI")
        if name != path.rpartition("/")[2]:
            layer.set(path, "ros:frame:id", "string", name, uniform=True)
        layer.set(path, "ros:frame:static", "bool", site.static, uniform=True)
    heard = {interface.at for interface in plan.asset.interfaces}
    for sensor in plan.asset.sensors:
        path = plan.sensors.get(sensor.name, "") if sensor.name in heard else ""
        if path and sensor.body == WORLD and path not in plan.sites.values():
            name = sensor.name
            while name in taken:
                name = f"{name}_frame"
            taken.add(name)
            layer.apply(path, "RosFrameAPI")
            layer.set(path, "ros:frame:id", "string", name, uniform=True)
            layer.set(path, "ros:frame:static", "bool", True, uniform=True)
