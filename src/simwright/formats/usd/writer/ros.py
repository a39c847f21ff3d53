# SPDX-License-Identifier: Apache-2.0
"""``ros.usda``: context, interfaces, frames, joint names and controllers (REP-0158 2 and 4.2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.joint_prims import find_form
from simwright.formats.usd.writer.joints import write_drive
from simwright.formats.usd.writer.layer import Sheet
from simwright.formats.usd.writer.messages import DRIVE_EMPTY, FRAME_OVERRIDDEN, RATE_GUESSED
from simwright.formats.usd.writer.plan import Layout, list_written
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


def write_controllers(
    layout: Layout, sheet: Sheet, physics: Sheet, interfaces: Mapping[str, str], reporter: Reporter
) -> None:
    """Controllers of the registry's kinds; others are beside the simulator."""
    commanded: dict[str, None] = {}
    inside = [c for c in layout.asset.controllers if c.kind in _CONTROLLER_APIS]
    outside = [c for c in layout.asset.controllers if c.kind not in _CONTROLLER_APIS]
    for controller in inside:
        if _write_inside(layout, sheet, controller, interfaces):
            commanded |= dict.fromkeys(n for role in _COMMANDS for n in controller.joints.get(role, ()))
        else:
            outside.append(controller)
    for controller in outside:
        joints = [name for name in controller.joints.get("command", ()) if name not in commanded]
        _write_outside(layout, sheet, controller, joints)
        commanded |= dict.fromkeys(joints)
    _add_drives(layout, physics, [name for name in commanded if name in layout.joints], reporter)


def _claim(layout: Layout, sheet: Sheet, controller: Controller) -> str:
    scope = f"{layout.root}/Controllers"
    sheet.define(scope, "Scope")
    path = layout.names.claim(scope, controller.name)
    sheet.define(path)
    sheet.name(path, controller.name)
    layout.controllers[controller.name] = path
    return path


def _note(sheet: Sheet, path: str, controller: Controller, said: Controller) -> None:
    """What is known of a controller and not said by its prim, which is read as ``said``."""
    words: dict[str, Any] = {"kind": controller.kind} if controller.kind != said.kind else {}
    for key in ("joints", "interfaces", "settings"):
        read = getattr(said, key)
        left = {name: value for name, value in getattr(controller, key).items() if name not in read}
        if left:
            words[key] = left
    if words:
        sheet.note(path, controller=json.dumps(words, sort_keys=True, default=str))


def _write_inside(
    layout: Layout, sheet: Sheet, controller: Controller, interfaces: Mapping[str, str]
) -> bool:
    """A controller that the simulator runs; False if it has no interface, which it needs."""
    known = {role: interfaces[name] for role, name in controller.interfaces.items() if name in interfaces}
    if not known:
        return False
    path, space = _claim(layout, sheet, controller), f"ros:{controller.kind}"
    sheet.apply(path, _CONTROLLER_APIS[controller.kind])
    said = Controller(controller.name, controller.kind, interfaces=known)
    joints = dict(controller.joints)
    if controller.kind == "joint_state_broadcaster" and not joints.get("state"):
        joints["state"] = [joint.name for joint in layout.asset.joints if joint.dofs]
    for role, names in joints.items():
        if controller.kind == "joint_trajectory" and role != "command":
            continue
        targets = [layout.joints[name] for name in names if name in layout.joints]
        sheet.relate(path, f"{space}:{_JOINTS.get(role, role)}", targets)
        if targets:
            said.joints[role] = names
    for role, target in known.items():
        sheet.relate(path, f"{space}:{role}", [target])
    body = controller.settings.get("body")
    if controller.kind == "rigid_body_twist" and body in layout.bodies:
        sheet.relate(path, f"{space}:body", [layout.bodies[body]])
        said.settings["body"] = body
    said.settings |= _write_settings(sheet, path, controller)
    _note(sheet, path, controller, said)
    return True


def _write_settings(sheet: Sheet, path: str, controller: Controller) -> dict[str, float]:
    """Settings that the schema has attributes for; gives them as they are read."""
    written: dict[str, float] = {}
    constraints = controller.settings.get("constraints")
    nested = constraints if isinstance(constraints, dict) else {}
    said: dict[str, Any] = {**nested, **controller.settings}
    for attribute, words in _SETTINGS.get(controller.kind, {}).items():
        value = next((said[word] for word in words if word in said), None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = f"ros:{controller.kind}:{attribute}"
            sheet.set(path, name, "double", float(value), uniform=True)
            written[attribute.replace(":", ".")] = float(value)
    return written


def _write_outside(layout: Layout, sheet: Sheet, controller: Controller, joints: list[str]) -> None:
    """A controller beside the simulator: who is commanded is said; one that commands nothing is only noted."""
    path = _claim(layout, sheet, controller)
    targets = [layout.joints[name] for name in joints if name in layout.joints]
    if targets:
        sheet.apply(path, "RosControlExternalAPI", "CollectionAPI:joints")
        sheet.relate(path, "collection:joints:includes", targets)
    _note(sheet, path, controller, Controller(controller.name, "external" if targets else ""))


def _add_drives(layout: Layout, physics: Sheet, names: list[str], reporter: Reporter) -> None:
    """A commanded joint needs a drive or an actuator for its set points."""
    targets = {actuator.target for actuator in layout.asset.actuators}
    bare: list[Joint] = []
    for name in names:
        joint = layout.asset.joint(name)
        if any(dof.drive is not None or dof.name in targets for dof in joint.dofs):
            continue
        form = find_form(joint)
        if form is None or len(form.axes) != 1 or joint.dofs[0].motion is Motion.FREE:
            continue
        word, dof = form.axes[0]
        limit = dof.effort_limit
        drive = Drive(max_force=limit) if limit is not None else Drive()
        write_drive(physics, layout.joints[name], word, dof, drive)
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


def write_ros(layout: Layout, physics: Sheet, reporter: Reporter) -> Sheet:
    """All that ROS sees of the asset.  Drives that controllers need are added to ``physics``."""
    sheet = Sheet(layout.root, f"ROS interfaces of {layout.asset.name}.")
    for context in layout.asset.contexts or _make_contexts(layout):
        _write_context(layout, sheet, context)
    places = _Places(layout, sheet)
    interfaces: dict[str, str] = {}
    for interface in layout.asset.interfaces:
        path = places.claim(interface)
        interfaces.setdefault(interface.name, path)
        _write_interface(sheet, path, interface)
        _write_topic(layout, sheet, path, interface, frame=places.find_frame(interface), reporter=reporter)
        if interface.at and interface.at != places.find_owner(path):
            sheet.note(path, at=interface.at)
    _report_rates(layout, reporter)
    _write_frames(layout, sheet)
    for joint in list_written(layout):
        path = layout.joints[joint.name]
        if joint.ros_name or joint.public_name != path.rpartition("/")[2]:
            sheet.set(path, "ros:joint:name", "string", joint.public_name, custom=True)
    write_controllers(layout, sheet, physics, interfaces, reporter)
    return sheet


def _make_contexts(layout: Layout) -> list[RosContext]:
    """An asset with interfaces has a scope for them, whose namespace whoever places it can set."""
    return [RosContext()] if layout.asset.interfaces else []


def _write_context(layout: Layout, sheet: Sheet, context: RosContext) -> None:
    path = layout.sites.get(context.at) or layout.bodies.get(context.at, layout.root)
    sheet.apply(path, "RosContextAPI")
    sheet.set(path, "ros:context:namespace", "string", context.namespace, uniform=True)
    if context.domain_id is not None:
        sheet.set(path, "ros:context:domain_id", "int", context.domain_id, uniform=True)
    if context.parent_frame != "world":
        sheet.set(path, "ros:context:parent_frame", "string", context.parent_frame, uniform=True)


class _Places:
    """Where interfaces go: the optical frame of a camera, an Xform of a sensor, a link, or the robot's scope."""

    def __init__(self, layout: Layout, sheet: Sheet) -> None:
        self._layout = layout
        self._sheet = sheet
        self._sensors = {sensor.name: sensor for sensor in layout.asset.sensors}
        self._owners = {path: name for name, path in (*layout.bodies.items(), *layout.sites.items())}

    def claim(self, interface: Interface) -> str:
        """A new prim for an interface; each has its own (2.2)."""
        layout, at = self._layout, interface.at
        parent = self._find_optical(at) or layout.sites.get(at) or ""
        parent = parent or layout.sensors.get(at, "")
        if not parent and at in layout.bodies and _is_sensed(interface):
            parent = layout.bodies[at]
        if not parent:
            parent = f"{layout.root}/Interfaces"
            self._sheet.define(parent, "Scope")
        path = layout.names.claim(parent, interface.name.strip("/") or "interface", "_topic")
        self._sheet.define(path)
        return path

    def find_owner(self, path: str) -> str:
        """The frame or link that a prim is below, which it is read as being at."""
        while path and path not in self._owners:
            path = path.rpartition("/")[0]
        return self._owners.get(path, "")

    def find_frame(self, interface: Interface) -> str:
        """The TF frame that an interface has by its place."""
        layout = self._layout
        optical = self._find_optical(interface.at)
        for site in layout.asset.sites:
            if layout.sites[site.name] == optical or site.name == interface.at:
                return site.ros_frame or site.name
        sensor = self._sensors.get(interface.at)
        return sensor.body or sensor.name if sensor is not None else interface.at

    def _find_optical(self, at: str) -> str:
        sensor = self._sensors.get(at)
        camera = at if sensor is None else sensor.target or sensor.name
        return self._layout.optical.get(camera, "")


def _is_sensed(interface: Interface) -> bool:
    """Does it belong to a place on the robot, and not to the robot as a whole?"""
    return interface.type.startswith("sensor_msgs/") and not interface.type.endswith("/JointState")


def _write_interface(sheet: Sheet, path: str, interface: Interface) -> None:
    space = f"ros:{interface.kind}"
    sheet.apply(path, _INTERFACE_APIS[interface.kind])
    sheet.set(path, f"{space}:name", "string", interface.name, uniform=True)
    sheet.set(path, f"{space}:type", "string", interface.type, uniform=True)
    sheet.set(path, f"{space}:role", "token", interface.role, uniform=True)
    if not interface.starts_enabled:
        sheet.set(path, f"{space}:starts_enabled", "bool", False, uniform=True)


def _write_topic(
    layout: Layout, sheet: Sheet, path: str, interface: Interface, *, frame: str, reporter: Reporter
) -> None:
    """Rate, frame and quality of service."""
    if interface.kind is not InterfaceKind.TOPIC:
        return
    rate = interface.rate
    if rate is None and _needs_rate(interface):
        rate = RATE
    if rate is not None:
        sheet.set(path, "ros:topic:publish_rate", "double", rate, uniform=True)
    override = interface.frame_override
    frames = {*layout.bodies, *(site.ros_frame or site.name for site in layout.asset.sites)}
    if override and override != frame and override in frames:
        reporter.report(
            FRAME_OVERRIDDEN, interface.source, name=interface.name, override=override, frame=frame
        )
    elif override and override != frame:
        sheet.set(path, "ros:topic:override_frame_id", "string", override, uniform=True)
    if override and (override == frame or override in frames):
        sheet.note(path, frame=override)
    _write_qos(sheet, path, "ros:topic:qos", interface.qos)


def _needs_rate(interface: Interface) -> bool:
    return interface.kind is InterfaceKind.TOPIC and interface.role == "publisher" and interface.rate is None


def _report_rates(layout: Layout, reporter: Reporter) -> None:
    bare = [interface for interface in layout.asset.interfaces if _needs_rate(interface)]
    if bare:
        first = bare[0]
        reporter.report(RATE_GUESSED, first.source, count=len(bare), first=first.name, rate=RATE)


def _write_qos(sheet: Sheet, path: str, space: str, qos: Qos) -> None:
    usual = Qos()
    for name in ("reliability", "durability", "history"):
        if getattr(qos, name) != getattr(usual, name):
            sheet.set(path, f"{space}:{name}", "token", getattr(qos, name), uniform=True)
    if qos.depth != usual.depth:
        sheet.set(path, f"{space}:depth", "int", qos.depth, uniform=True)
    if qos.match_publisher:
        sheet.set(path, f"{space}:match_publisher", "bool", True, uniform=True)


def _write_frames(layout: Layout, sheet: Sheet) -> None:
    """Every site is a frame; a name that a link has already gets an ending.

    So is a sensor that no link carries: its messages have no other frame.
    """
    taken = set(layout.bodies)
    for site in layout.asset.sites:
        path = layout.sites[site.name]
        name = site.ros_frame or site.name
        while name in taken:
            name = f"{name}_frame"
        taken.add(name)
        sheet.apply(path, "RosFrameAPI")
        if name != path.rpartition("/")[2]:
            sheet.set(path, "ros:frame:id", "string", name, uniform=True)
        sheet.set(path, "ros:frame:static", "bool", site.static, uniform=True)
    for sensor in layout.asset.sensors:
        path = layout.sensors.get(sensor.name, "")
        if path and sensor.body == WORLD and path not in layout.sites.values():
            name = sensor.name
            while name in taken:
                name = f"{name}_frame"
            taken.add(name)
            sheet.apply(path, "RosFrameAPI")
            sheet.set(path, "ros:frame:id", "string", name, uniform=True)
            sheet.set(path, "ros:frame:static", "bool", True, uniform=True)
