# SPDX-License-Identifier: Apache-2.0
"""``<plugin>``: which controller or ROS interface a plugin means.

A plugin is known by its library or class name, of Gazebo Sim (``gz-sim-diff-drive-system``), of Gazebo
Classic (``libgazebo_ros_diff_drive.so``) and of the names in between (``ignition-gazebo-...``).  The settings
of every plugin that is not known, and what a known one has beyond its table, are kept as extras.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from simwright.core.diag import Level, Where, declare
from simwright.core.errors import UnknownNameError
from simwright.core.registry import import_object
from simwright.formats.sdf.context import NAMESPACE, SdfReadContext
from simwright.formats.sdf.document import SdfDocument, spell_attribute
from simwright.formats.sdf.poses import scope_of
from simwright.formats.sdf.tree import ModelNode
from simwright.formats.xml import Element
from simwright.model.asset import Sensor
from simwright.model.ros import Interface, InterfaceKind

UNKNOWN_PLUGIN = declare(
    "sdf-plugin-kept",
    Level.INFO,
    "the plugin {name!r} ({file}) has no counterpart in the model",
    hint="its settings are kept as extras in the namespace gazebo",
    doc="A plugin is code for one simulator; only those that mean a controller or a ROS interface are read.",
)
PLUGIN_JOINT = declare(
    "sdf-plugin-joint",
    Level.WARNING,
    "the plugin {name!r} names the joint {joint!r}, which does not exist",
    hint="{near}",
    doc="A plugin drives or reports a joint that the model does not have.",
)

_HANDLERS: tuple[tuple[str, str], ...] = (
    (r"ackermann[-_]?(steering|drive)", "controllers:read_ackermann"),
    (r"mecanum[-_]?drive", "controllers:read_mecanum"),
    (r"diff[-_]?drive", "controllers:read_diff_drive"),
    (r"tracked[-_]?vehicle", "controllers:read_tracked"),
    (r"apply[-_]?joint[-_]?force", "controllers:read_joint_force"),
    (r"joint[-_]?state[-_]?publisher", "controllers:read_joint_states"),
    (r"joint[-_]?trajectory[-_]?controller|joint_pose_trajectory", "controllers:read_trajectory"),
    (r"joint[-_]?position[-_]?controller", "controllers:read_joint_position"),
    (r"joint[-_]?controller[-_]?system|systems::JointController", "controllers:read_joint_velocity"),
    (r"velocity[-_]?control|planar_move", "controllers:read_body_twist"),
    (r"odometry[-_]?publisher|ros_p3d", "controllers:read_odometry"),
    (r"pose[-_]?publisher", "controllers:read_poses"),
    (r"ros2?_control", "controllers:read_ros_control"),
    (r"ros_imu", "sensor_plugins:read_imu"),
    (r"ros_ray_sensor|ros_(gpu_)?laser|ros_block_laser", "sensor_plugins:read_lidar"),
    (r"ros_(depth_|multi|openni_|triggered_)?(camera|kinect)", "sensor_plugins:read_camera"),
    (r"ros_gps", "sensor_plugins:read_gps"),
    (r"ros_ft_sensor|ros_f3d", "sensor_plugins:read_force_torque"),
    (r"ros_bumper", "sensor_plugins:read_bumper"),
)
"""Patterns over ``filename`` and ``name``, first match wins, and the function that reads the plugin."""


@dataclass(slots=True)
class Plugin:
    """A plugin being read: its element, what it sits on, and the settings taken so far."""

    context: SdfReadContext
    document: SdfDocument
    element: Element
    model: ModelNode | None = None
    sensor: Sensor | None = None
    taken: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The plugin's own name, else that of its file."""
        return self.element.get("name") or self.element.get("filename") or "plugin"

    @property
    def file(self) -> str:
        """The library it is in."""
        return self.element.get("filename") or ""

    @property
    def is_classic(self) -> bool:
        """Is it a ROS plugin of Gazebo Classic?"""
        return "gazebo_ros" in self.file

    @property
    def where(self) -> Where:
        """Its line."""
        return self.document.where(self.element)

    def text(self, *tags: str) -> str:
        """Text of the first of the tags that is there."""
        self.taken.update(tags)
        return next((text for tag in tags if (text := self.document.text(self.element, tag))), "")

    def texts(self, *tags: str) -> list[str]:
        """Text of every element of these tags."""
        self.taken.update(tags)
        children = (c for c in self.document.children(self.element) if c.tag in tags)
        return [text for c in children if (text := (c.text or "").strip())]

    def number(self, *tags: str) -> float | None:
        """The first of the tags that is there, as a number."""
        self.taken.update(tags)
        values = (self.document.amount(self.element, tag) for tag in tags)
        return next((value for value in values if value is not None), None)

    def joints(self, names: Iterable[str]) -> list[str]:
        """Names in the asset of joints of the model; unknown ones are reported and left out."""
        found: list[str] = []
        assert self.model is not None
        scope = scope_of(self.model)
        known = {joint.name for joint in self.context.asset.joints}
        for name in names:
            frame = self.context.graph.find(name, scope)
            key = frame.item.key if frame is not None and frame.tag == "joint" and frame.item else ""
            if key in known and key:
                found.append(key)
                continue
            near = UnknownNameError("joint", name, [joint.name for joint in self.model.joints]).hint
            self.context.reporter.report(PLUGIN_JOINT, self.where, name=self.name, joint=name, near=near)
        return found

    def topic(self, default: str) -> str:
        """A topic of a Gazebo Classic ROS plugin, with its remapping and namespace applied."""
        self.taken.add("ros")
        ros = self.document.child(self.element, "ros")
        name = default
        if ros is not None:
            for rule in self.document.children(ros, "remapping"):
                before, _, after = (rule.text or "").partition(":=")
                # Files write the topic with and without "~/".
                if before.strip().removeprefix("~/") == default.removeprefix("~/") and after.strip():
                    name = after.strip()
        space = self.document.text(ros, "namespace") if ros is not None else self.text("robotNamespace")
        if space.strip("/") and not name.startswith("/"):
            name = f"/{space.strip('/')}/{name.removeprefix('~/')}"
        return name

    def add(self, role: str, name: str, kind: str, rate: float | None = None, at: str = "") -> str:
        """Add a topic and give its name."""
        interface = Interface(InterfaceKind.TOPIC, role, name, kind, rate, at=at, source=self.where)
        interface.frame_override = self.frame_override()
        self.context.asset.interfaces.append(interface)
        return name

    def frame_override(self) -> str:
        """The frame id a sensor plugin writes into its messages."""
        return self.text("frame_name", "frameName") if self.sensor is not None else ""


def read_plugin(
    context: SdfReadContext,
    document: SdfDocument,
    element: Element,
    model: ModelNode | None = None,
    sensor: Sensor | None = None,
) -> None:
    """Read one plugin of a world, model or sensor."""
    plugin = Plugin(context, document, element, model, sensor)
    handler = _find_handler(plugin)
    if handler is not None:
        handler(plugin)
        owner = f"plugin:{plugin.name}"
        # What a known plugin says beyond its table is kept by the plugin, not by its model.
        rest = [c for c in document.children(element) if c.tag not in plugin.taken]
        for child in rest:
            context.keep_one(document, child, owner)
        return
    owner = sensor.name if sensor else (model.scope or model.name if model else context.world_name)
    file = plugin.file or "no file"
    context.reporter.report(UNKNOWN_PLUGIN, plugin.where, name=plugin.name, file=file)
    known = context.asset.extras.table.get(NAMESPACE, {}).get(owner, {})
    prefix, number = f"plugin:{plugin.name}", 1
    # Several of one class are usual, a wing has a LiftDrag for each surface, and stay apart.
    while prefix in known:
        number += 1
        prefix = f"plugin:{plugin.name}[{number}]"
    context.asset.extras.keep(NAMESPACE, owner, prefix, plugin.file, plugin.where)
    for name, text in element.attrib.items():
        if name not in ("name", "filename"):
            path = f"{prefix}@{spell_attribute(element, name)}"
            context.asset.extras.keep(NAMESPACE, owner, path, text, plugin.where)
    for child in document.children(element):
        context.keep(document, child, owner, prefix)


def _find_handler(plugin: Plugin) -> Callable[[Plugin], None] | None:
    """The function that reads a plugin; model plugins need a model, sensor plugins a sensor."""
    # Gazebo Sim plugins are known by file or by class, Classic ones by file only.
    names = f"{plugin.file} {plugin.name}" if plugin.file else plugin.name
    for pattern, target in _HANDLERS:
        if not re.search(pattern, names, re.IGNORECASE):
            continue
        # A model plugin means nothing on a sensor, nor a sensor plugin on a model.
        place = plugin.sensor if target.startswith("sensor_plugins") else plugin.model
        if place is None:
            return None
        return import_object(f"simwright.formats.sdf.{target}")  # type: ignore[return-value]
    return None
