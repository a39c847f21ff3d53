# SPDX-License-Identifier: Apache-2.0
"""``<sensor>`` on links and joints: every type, with its settings and the topics it publishes on.

SDFormat sensors look along +X with Z up, and so does :class:`~simwright.model.asset.Sensor`.  A camera also
becomes a :class:`~simwright.model.asset.Camera`, which looks along -Z with Y up.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import Level, declare
from simwright.formats.gazebo.sensors import SENSOR_KINDS, list_topics
from simwright.formats.sdf.context import LinkPlacement, SdfReadContext, flatten
from simwright.formats.sdf.document import SdfDocument
from simwright.formats.sdf.plugins import read_plugin
from simwright.formats.xml import Element
from simwright.model.asset import Camera, Sensor
from simwright.model.ros import Interface, InterfaceKind
from simwright.resolve.sensors import LOOK

UNKNOWN_SENSOR = declare(
    "sdf-unknown-sensor",
    Level.WARNING,
    "sensor {name!r} has the type {kind!r}, which the reader does not know",
    hint="it is read under that name; is it spelled correctly?",
    doc="A sensor whose type SDFormat does not have.",
)

_SETTING_FAMILIES = {
    "air_pressure", "air_speed", "altimeter", "camera", "contact", "force_torque", "gps", "imu", "lidar",
    "logical_camera", "magnetometer", "navsat", "ray", "rfid", "rfidtag", "sonar", "transceiver",
}  # fmt: skip
_NOT_SETTINGS = {"pose", "update_rate", "plugin", "topic"}


def read_sensor(
    context: SdfReadContext,
    document: SdfDocument,
    element: Element,
    placement: LinkPlacement,
    target: str = "",
) -> None:
    """Read one sensor, its cameras and its ROS topics."""
    where = document.where(element)
    name = context.claim("sensor", element.get("name") or "sensor", placement.link.key)
    text = (element.get("type") or "").strip()
    if text not in SENSOR_KINDS:
        context.reporter.report(UNKNOWN_SENSOR, where, name=name, kind=text)
    pose = context.place(placement, document, element)
    sensor = Sensor(
        name, SENSOR_KINDS.get(text, text or "unknown"), placement.body, pose, target, source=where
    )
    sensor.path = f"{placement.link.scoped}::{element.get('name', '')}"
    rate = document.finite(element, "update_rate")
    sensor.rate = rate if rate > 0.0 else None
    sensor.settings = _read_settings(document, element)
    context.keep_attributes(document, element, name)
    for child in document.children(element):
        if child.prefix:
            context.keep_one(document, child, name)
    cameras = list(document.children(element, "camera"))
    for camera in cameras:
        made = _read_camera(context, document, camera, sensor, single=len(cameras) == 1)
        sensor.target = sensor.target or made.name
    context.asset.sensors.append(sensor)
    before = len(context.asset.interfaces)
    for plugin in document.children(element, "plugin"):
        read_plugin(context, document, plugin, sensor=sensor)
    # Topics of a plugin count instead of those that follow from <topic>.
    if len(context.asset.interfaces) == before:
        read_topics(context, document, element, sensor)


def _read_settings(document: SdfDocument, element: Element) -> dict[str, Any]:
    """Every value below the sensor by a snake_case name, without the name of its family."""
    settings: dict[str, Any] = {}
    for child in document.children(element):
        # What other tools say (<gz:odometer>) is kept as it stands, not as settings.
        if child.tag in _NOT_SETTINGS or child.prefix:
            continue
        for path, value in flatten(child):
            parts = path.replace("@", "/").split("/")
            if len(parts) > 1 and child.tag in _SETTING_FAMILIES:
                parts = parts[1:]
            settings["_".join(parts).replace("[", "_").replace("]", "")] = value
    return settings


def _read_camera(
    context: SdfReadContext, document: SdfDocument, element: Element, sensor: Sensor, *, single: bool
) -> Camera:
    """The pinhole of a camera; the vertical field of view follows from the horizontal one."""
    wide = int(document.positive(element, "image", "width", default=320.0))
    high = int(document.positive(element, "image", "height", default=240.0))
    horizontal = document.positive(element, "horizontal_fov", default=1.047)
    # A pinhole cannot see half a turn; wide-angle cameras keep their angle as a setting.
    tangent = math.tan(min(horizontal, math.pi - 1e-3) / 2.0)
    offset, _ = document.pose(element)
    name = sensor.name if single else f"{sensor.name}_{element.get('name') or 'camera'}"
    camera = Camera(
        context.claim("camera", name),
        sensor.body,
        sensor.pose @ offset @ LOOK,
        2.0 * math.atan(tangent * high / wide),
        (wide, high),
        document.positive(element, "clip", "near", default=0.1),
        document.positive(element, "clip", "far", default=100.0),
        path=sensor.path,
        source=document.where(element),
    )
    context.asset.cameras.append(camera)
    return camera


_FRAME_TAGS = ("gz_frame_id", "ignition_frame_id", "frame_id")


def read_topics(context: SdfReadContext, document: SdfDocument, element: Element, sensor: Sensor) -> None:
    """The interfaces of a sensor that names its topic."""
    topic = document.text(element, "topic")
    if not topic and sensor.kind == "contact":
        topic = document.text(element, "contact", "topic")
    # The default of the specification, which stands for no topic.
    if not topic or topic == "__default_topic__":
        return
    frame = next((text for tag in _FRAME_TAGS if (text := document.text(element, tag))), "")
    optical = document.text(element, "camera", "optical_frame_id")
    info = document.text(element, "camera", "camera_info_topic")
    for name, kind in list_topics(sensor.kind, topic, info):
        interface = Interface(InterfaceKind.TOPIC, "publisher", name, kind, sensor.rate, at=sensor.name)
        interface.frame_override = optical or frame
        interface.source = document.where(element)
        context.asset.interfaces.append(interface)
