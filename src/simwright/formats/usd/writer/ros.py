# SPDX-License-Identifier: Apache-2.0
"""``ros.usda``: context, interfaces, frames and joint names (REP-0158 2); controllers are in ``controllers``."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.controllers import write_controllers
from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Sensor
from simwright.model.ros import Interface, InterfaceKind, Qos, RosContext

_APIS = {
    InterfaceKind.TOPIC: "RosTopicAPI",
    InterfaceKind.SERVICE: "RosServiceAPI",
    InterfaceKind.ACTION: "RosActionAPI",
}


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
        _write_interface(sheet, path, interface, places.find_frame(interface))
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
        self._made: dict[str, str] = {}

    def claim(self, interface: Interface) -> str:
        """A new prim for an interface; each has its own (2.2)."""
        layout, at = self._layout, interface.at
        parent = self._find_optical(at) or layout.sites.get(at) or ""
        if not parent and at in self._sensors:
            parent = self._make_sensor(self._sensors[at])
        if not parent and at in layout.bodies:
            parent = layout.bodies[at]
        if not parent:
            parent = f"{layout.root}/Interfaces"
            self._sheet.define(parent, "Scope")
        path = layout.names.claim(parent, interface.name.strip("/") or "interface", "_topic")
        self._sheet.define(path)
        return path

    def find_frame(self, interface: Interface) -> str:
        """The TF frame that an interface has by its place."""
        layout = self._layout
        optical = self._find_optical(interface.at)
        for site in layout.asset.sites:
            if layout.sites[site.name] == optical or site.name == interface.at:
                return site.ros_frame or site.name
        sensor = self._sensors.get(interface.at)
        return sensor.body if sensor is not None else interface.at

    def _find_optical(self, at: str) -> str:
        sensor = self._sensors.get(at)
        camera = at if sensor is None else sensor.target or sensor.name
        return self._layout.optical.get(camera, "")

    def _make_sensor(self, sensor: Sensor) -> str:
        if sensor.name not in self._made:
            path = self._layout.names.claim(self._layout.body(sensor.body), sensor.name, "_sensor")
            self._sheet.define(path)
            self._sheet.place(path, sensor.pose)
            self._made[sensor.name] = path
        return self._made[sensor.name]


def _write_interface(sheet: Sheet, path: str, interface: Interface, frame: str) -> None:
    space = f"ros:{interface.kind}"
    sheet.apply(path, _APIS[interface.kind])
    sheet.set(path, f"{space}:name", "string", interface.name, uniform=True)
    sheet.set(path, f"{space}:type", "string", interface.type, uniform=True)
    sheet.set(path, f"{space}:role", "token", interface.role, uniform=True)
    if not interface.starts_enabled:
        sheet.set(path, f"{space}:starts_enabled", "bool", False, uniform=True)
    if interface.kind is not InterfaceKind.TOPIC:
        return
    if interface.rate is not None:
        sheet.set(path, f"{space}:publish_rate", "double", interface.rate, uniform=True)
    if interface.frame_override and interface.frame_override != frame:
        sheet.set(path, f"{space}:override_frame_id", "string", interface.frame_override, uniform=True)
    _write_qos(sheet, path, f"{space}:qos", interface.qos)


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
    """Every site is a frame; a name that a link has already gets an ending."""
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
