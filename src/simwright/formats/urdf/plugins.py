# SPDX-License-Identifier: Apache-2.0
"""``<gazebo><plugin>``: Gazebo plugins that mean ROS interfaces or controllers.

:data:`PLUGINS` says for each plugin library which topics it has (parameter, default name, type, direction)
and which controller it is.  Names follow the ROS 2 form (``<ros>`` with namespace and remapping
``~/out:=scan``), the ROS 1 form (``robotNamespace``, ``topicName``) and the Gazebo form (``topic``).  The
settings of a plugin are kept on its controller, or as an extra under ``gazebo`` where it is none.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.names import NameScope
from simwright.formats.gazebo.ros2_control import read_parameters
from simwright.formats.urdf.document import Document, write_xml
from simwright.formats.urdf.plugin_table import PLUGINS, ROS2_CONTROL, PluginRow, Topic
from simwright.formats.urdf.settings import read_settings
from simwright.formats.xml import Element
from simwright.model.ros import Controller, Interface, InterfaceKind

PLUGIN_KEPT = declare(
    "urdf-plugin-kept",
    Level.INFO,
    "Gazebo plugin {name!r} ({filename}) has no counterpart and is kept as it is",
    doc="A Gazebo plugin that Simwright does not know; its block is kept under the namespace gazebo.",
)
PLUGIN_JOINT = declare(
    "urdf-plugin-joint",
    Level.WARNING,
    "plugin {name!r} names joint {joint!r}, which is no joint of the robot",
    hint="check the name",
    doc="A Gazebo plugin drives a joint that does not exist.",
)


def bare_name(filename: str) -> str:
    """``libgazebo_ros_imu.so`` -> ``gazebo_ros_imu``; Ignition names become Gazebo names."""
    name = filename.strip().rpartition("/")[2].removeprefix("lib").removesuffix(".so")
    return name.replace("ignition-gazebo", "gz-sim")


def read_plugin(
    document: Document, element: Element, body: str, sensor: str, rate: float | None = None
) -> None:
    """The interfaces and the controller of a plugin on a body or inside a sensor."""
    filename = str(element.get("filename") or "")
    name = str(element.get("name") or bare_name(filename) or "plugin")
    row = PLUGINS.get(bare_name(filename))
    if row is None:
        where = document.where(element)
        document.reporter.report(PLUGIN_KEPT, where, name=name, filename=filename)
        _keep(document, element, body, name)
        return
    names = _TopicNames(element, document.asset.name)
    interfaces: dict[str, str] = {}
    for topic in row.topics:
        interface = Interface(
            InterfaceKind.TOPIC,
            topic.role,
            names.resolve(topic),
            topic.type,
            rate=_read_rate(element) or (rate if topic.role == "publisher" else None),
            frame_override=_first_text(element, topic.frame_tags),
            at=sensor or body or _find_link(document, element, topic),
            source=document.where(element),
        )
        document.asset.interfaces.append(interface)
        interfaces[topic.key] = interface.name
    if row.controller:
        _add_controller(document, element, row, name, interfaces)
    else:
        _keep(document, element, body, name)


def _find_link(document: Document, element: Element, topic: Topic) -> str:
    """The link that a sensor plugin of the whole model is about, by its own word."""
    if not topic.type.startswith("sensor_msgs/"):
        return ""
    name = _first_text(element, ("bodyName", "body_name"))
    return name if any(body.name == name for body in document.asset.bodies) else ""


def _add_controller(
    document: Document, element: Element, row: PluginRow, name: str, interfaces: dict[str, str]
) -> None:
    joints = {role: _read_joints(document, element, tags, name) for role, tags in row.joints}
    settings: dict[str, Any] = read_settings(element)
    settings["plugin"] = str(element.get("filename") or "")
    if row is ROS2_CONTROL:
        for child in document.children(element, "parameters"):
            read_parameters(document, str(child.text or "").strip(), document.where(child))
    unique = NameScope(c.name for c in document.asset.controllers).claim(name)
    document.asset.controllers.append(
        Controller(
            unique, row.controller, joints, interfaces, settings, path=name, source=document.where(element)
        )
    )


def _read_joints(document: Document, element: Element, tags: tuple[str, ...], name: str) -> list[str]:
    known = {joint.name for joint in document.asset.joints}
    found = []
    for tag in tags:
        for child in document.children(element, tag):
            joint = str(child.text or "").strip()
            if joint in known:
                found.append(joint)
            else:
                document.reporter.report(PLUGIN_JOINT, document.where(child), name=name, joint=joint)
    return found


def _keep(document: Document, element: Element, body: str, name: str) -> None:
    owner = body or document.asset.name
    kept = document.asset.extras.table.get("gazebo", {}).get(owner, {})
    key, number = f"plugin:{name}", 2
    while key in kept:
        key, number = f"plugin:{name}_{number}", number + 1
    document.asset.extras.keep("gazebo", owner, key, write_xml(element), document.where(element))


def _first_text(element: Element, tags: tuple[str, ...]) -> str:
    for tag in tags:
        text = str(element.findtext(tag) or "").strip()
        if text:
            return text
    return ""


def _read_rate(element: Element) -> float | None:
    text = _first_text(element, ("update_rate", "updateRate", "updateRateHZ"))
    try:
        rate = float(text) if text else 0.0
    except ValueError:
        return None
    return rate if 0.0 < rate < 1e9 else None


class _TopicNames:
    """Topic names of one plugin: parameter, camera name, remapping, namespace."""

    def __init__(self, element: Element, model: str) -> None:
        self._element = element
        self._model = model
        self._is_sim = bare_name(str(element.get("filename") or "")).startswith("gz-sim")
        self._namespace = _first_text(element, ("ros/namespace", "robotNamespace")).strip("/")
        camera = _first_text(element, ("camera_name", "cameraName"))
        self._camera = camera.strip("/")
        self._remaps: dict[str, str] = {}
        for tag in ("ros/remapping", "ros/argument"):
            for child in element.iterfind(tag):
                old, arrow, new = str(child.text or "").strip().partition(":=")
                if arrow:
                    self._remaps[old.removeprefix("~/").strip()] = new.strip()

    def resolve(self, topic: Topic) -> str:
        """The name the topic has in the end."""
        if self._is_sim and topic.sim and not _first_text(self._element, topic.tags):
            below = _first_text(self._element, ("sub_topic",)) if topic.role == "subscription" else ""
            joint = _first_text(self._element, ("joint_name",)) or "joint"
            return (
                f"/model/{self._model}/{below}" if below else topic.sim.format(model=self._model, joint=joint)
            )
        name = _first_text(self._element, topic.tags) or topic.default
        is_camera = "image" in topic.default or "camera_info" in topic.default or topic.default == "points"
        if self._camera and is_camera and not name.startswith("/") and self._camera not in name.split("/"):
            name = f"{self._camera}/{name}"
        for key in (name, topic.default, "out"):
            if key in self._remaps and (key != "out" or topic.role == "publisher"):
                name = self._remaps[key]
                break
        if name.startswith("/") or not self._namespace:
            return name
        return f"/{self._namespace}/{name}"
