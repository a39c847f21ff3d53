# SPDX-License-Identifier: Apache-2.0
"""The systems of a world that run the sensors in it.

A sensor of Gazebo is only data until a system of the world updates it: one for everything that is rendered, one for
each other type.  Gazebo loads its usual systems (physics, user commands, scene) only into a world that names none, so
a world that gets one gets those too.
"""

from __future__ import annotations

import re

from lxml import etree

from simwright.formats.sdf.writer.context import SdfWriteContext, add
from simwright.formats.sdf.writer.messages import SYSTEMS_ADDED, SYSTEMS_NEEDED
from simwright.formats.xml import Element

PREFIX = "gz::sim::systems::"
"""What the names of Gazebo's own systems begin with."""

_RENDERING = ("sensors", "Sensors")
_BY_TYPE = {
    **dict.fromkeys(
        (
            "boundingbox_camera", "camera", "depth_camera", "gpu_lidar", "gpu_ray", "lidar", "multicamera", "ray",
            "rgbd_camera", "segmentation_camera", "thermal_camera", "wide_angle_camera",
        ),
        _RENDERING,
    ),
    "air_pressure": ("air-pressure", "AirPressure"),
    "air_speed": ("air-speed", "AirSpeed"),
    "altimeter": ("altimeter", "Altimeter"),
    "contact": ("contact", "Contact"),
    "force_torque": ("forcetorque", "ForceTorque"),
    "imu": ("imu", "Imu"),
    "logical_camera": ("logical-camera", "LogicalCamera"),
    "magnetometer": ("magnetometer", "Magnetometer"),
    "navsat": ("navsat", "NavSat"),
}  # fmt: skip
"""Type of sensor -> the system that updates it: its library without the usual ends, and its class."""
_USUAL = (
    ("physics", "Physics"),
    ("user-commands", "UserCommands"),
    ("scene-broadcaster", "SceneBroadcaster"),
)
"""What Gazebo loads by itself into a world without systems."""
_LIBRARY = re.compile(r"(?:lib)?(?:gz-sim|ignition-gazebo)\d*-([a-z-]+?)-system(?:\.so)?")


def write_systems(context: SdfWriteContext) -> None:
    """Add the systems that sensors need and the world does not have; for a model, say which they are."""
    kinds = {str(node.get("type")) for node in context.root.iter("sensor")}
    wanted = sorted({_BY_TYPE[kind] for kind in kinds if kind in _BY_TYPE})
    node = context.top.node
    if not context.top.is_world:
        if wanted:
            context.reporter.report(SYSTEMS_NEEDED, names=", ".join(_library(name) for name, _ in wanted))
        return
    has_systems = node.find("plugin") is not None
    missing = [row for row in wanted if row[0] not in _list_present(node)]
    if not missing:
        return
    for name, kind in ([] if has_systems else [*_USUAL]) + missing:
        plugin = add(node, "plugin", filename=_library(name), name=PREFIX + kind)
        if (name, kind) == _RENDERING:
            # Without it Gazebo asks the server's settings, which need not name one.
            etree.SubElement(plugin, "render_engine").text = "ogre2"
    context.reporter.report(SYSTEMS_ADDED, names=", ".join(_library(name) for name, _ in missing))


def _library(name: str) -> str:
    return f"gz-sim-{name}-system"


def _list_present(node: Element) -> set[str]:
    """Systems that the world names, in the words of any generation of Gazebo."""
    matches = (_LIBRARY.fullmatch(str(plugin.get("filename"))) for plugin in node.findall("plugin"))
    return {match.group(1) for match in matches if match}
