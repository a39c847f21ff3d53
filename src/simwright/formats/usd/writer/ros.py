# SPDX-License-Identifier: Apache-2.0
"""``ros.usda``: context, interfaces, frames and joint names (REP-0158 2); controllers are in ``controllers``."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.controllers import write_controllers
from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.messages import FRAME_OVERRIDDEN, RATE_GUESSED
from simwright.formats.usd.writer.remarks import write_remarks
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import WORLD
from simwright.model.ros import Interface, InterfaceKind, Qos, RosContext

_APIS = {
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
    write_remarks(layout, physics)
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
    sheet.apply(path, _APIS[interface.kind])
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
