# SPDX-License-Identifier: Apache-2.0
"""Topics of sensors: what a ``<topic>`` of Gazebo means as ROS interfaces."""

from __future__ import annotations

from simwright.formats.gazebo.sensors import list_topics
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.xml import Element
from simwright.model.asset import Sensor
from simwright.model.ros import Interface, InterfaceKind

_FRAME_TAGS = ("gz_frame_id", "ignition_frame_id", "frame_id")


def read_topics(reading: Reading, document: Document, element: Element, sensor: Sensor) -> None:
    """The interfaces of a sensor that names its topic."""
    topic = document.text(element, "topic")
    if not topic and sensor.kind == "contact":
        topic = document.text(element, "contact", "topic")
    if not topic or topic == "__default_topic__":
        return
    frame = next((text for tag in _FRAME_TAGS if (text := document.text(element, tag))), "")
    optical = document.text(element, "camera", "optical_frame_id")
    info = document.text(element, "camera", "camera_info_topic")
    for name, kind in list_topics(sensor.kind, topic, info):
        interface = Interface(InterfaceKind.TOPIC, "publisher", name, kind, sensor.rate, at=sensor.name)
        interface.frame_override = optical or frame
        interface.source = document.where(element)
        reading.asset.interfaces.append(interface)
