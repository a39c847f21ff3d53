# SPDX-License-Identifier: Apache-2.0
"""``<gazebo><sensor>``: SDFormat sensors on a link, with a camera where one sees.

Settings are the leaves of the sensor by their path (see ``settings``).  Gazebo sensors look along +X with +Z
up; the model's cameras look along -Z with +Y up.
"""

from __future__ import annotations

import math

from simwright.core.diag import Level, declare
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.gazebo.sensors import LOOK, SENSOR_KINDS, list_topics
from simwright.formats.urdf.document import Document
from simwright.formats.urdf.plugins import read_plugin
from simwright.formats.urdf.settings import read_settings
from simwright.formats.xml import Element
from simwright.model.asset import Camera, Sensor
from simwright.model.ros import Interface, InterfaceKind

SENSOR_KIND = declare(
    "urdf-sensor-kind",
    Level.WARNING,
    "sensor {name!r} has type {type!r}, which is unknown",
    hint="it is kept under that name",
    doc="A Gazebo sensor of a type Simwright does not know.",
)

_FRAME_TAGS = ("camera/optical_frame_id", "gz_frame_id", "ignition_frame_id", "frame_id")


def read_sensor(document: Document, element: Element, body: str, target: str = "") -> None:
    """A sensor, its camera, and the plugins inside it."""
    asset = document.asset
    where = document.where(element)
    written = str(element.get("name") or f"{body}_{element.get('type') or 'sensor'}")
    name = NameScope(sensor.name for sensor in asset.sensors).claim(written)
    kind = SENSOR_KINDS.get(str(element.get("type") or ""))
    if kind is None:
        document.reporter.report(SENSOR_KIND, where, name=name, type=str(element.get("type") or ""))
        kind = str(element.get("type") or "unknown")
    settings = read_settings(element)
    rate = settings.pop("update_rate", None)
    sensor = Sensor(
        name,
        kind,
        body=body,
        pose=_read_pose(document, element),
        target=target,
        rate=float(rate) if isinstance(rate, (int, float)) and rate > 0 else None,
        settings=settings,
        path=f"{body}/{name}",
        source=where,
    )
    asset.sensors.append(sensor)
    holder = element.find("camera")
    if holder is not None and kind.endswith("camera") and kind != "logical_camera":
        camera = _read_camera(document, holder, sensor)
        asset.cameras.append(camera)
        sensor.target = sensor.target or camera.name
    before = len(asset.interfaces)
    for plugin in document.children(element, "plugin"):
        read_plugin(document, plugin, body, name, rate=sensor.rate)
    if len(asset.interfaces) == before:
        _read_topics(document, element, sensor)


def _read_topics(document: Document, element: Element, sensor: Sensor) -> None:
    """The interfaces of a sensor that names its topic itself (Gazebo Sim)."""
    topic = str(element.findtext("topic") or element.findtext("contact/topic") or "").strip()
    if not topic or topic == "__default_topic__":
        return
    info = str(element.findtext("camera/camera_info_topic") or "").strip()
    frame = next((str(text).strip() for tag in _FRAME_TAGS if (text := element.findtext(tag))), "")
    document.asset.interfaces.extend(
        Interface(
            InterfaceKind.TOPIC, "publisher", name, kind, sensor.rate,
            frame_override=frame, at=sensor.name, source=sensor.source,
        )
        for name, kind in list_topics(sensor.kind, topic, info)
    )  # fmt: skip


def _read_pose(document: Document, element: Element) -> Pose:
    child = element.find("pose")
    if child is None or not (child.text or "").strip():
        return IDENTITY
    values = document.numbers(child, child.text, 6, (0.0,) * 6, "<pose>")
    return Pose.from_rpy(values[:3], values[3:])


def _read_camera(document: Document, element: Element, sensor: Sensor) -> Camera:
    def number(path: str, default: float) -> float:
        return float(document.numbers(element, element.findtext(path), 1, (default,), f"<{path}>")[0])

    width, height = number("image/width", 320.0), number("image/height", 240.0)
    wide = number("horizontal_fov", 1.047)
    tall = wide
    if width > 0 and height > 0 and 0 < wide < math.pi:
        tall = 2.0 * math.atan(math.tan(wide / 2.0) * height / width)
    names = NameScope(camera.name for camera in document.asset.cameras)
    return Camera(
        names.claim(sensor.name),
        body=sensor.body,
        pose=sensor.pose @ _read_pose(document, element) @ LOOK,
        fov_y=tall,
        resolution=(int(width), int(height)),
        near=number("clip/near", 0.1),
        far=number("clip/far", 100.0),
        path=sensor.path,
        source=sensor.source,
    )
