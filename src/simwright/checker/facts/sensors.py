# SPDX-License-Identifier: Apache-2.0
"""Sensor prims (REP-0158 4.2.4): by a Sensor*API, a vendor's sensor type, or a camera that feeds ROS.

The registry has no sensor schema yet, so names decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simwright.checker.facts.optics import find_optics
from simwright.checker.facts.vendors import vendor_of_schema

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot

_VENDOR_SENSOR = re.compile(r"Sensor|Lidar|Radar|Imu|Sonar|Ultrasonic")


@dataclass(frozen=True, slots=True)
class Sensor:
    """A sensor prim and the schema that makes it one; ``vendor`` is "" for a neutral one."""

    node: Node
    schema: str
    vendor: str = ""


def find_sensors(snapshot: Snapshot) -> list[Sensor]:
    """Every sensor prim of the stage; dedicated annotators are none."""
    return snapshot.shared("sensors", _find)


def _find(snapshot: Snapshot) -> list[Sensor]:
    schemas = {kind: _sensor_schema(*kind) for kind in snapshot.kinds()}
    kinds = {kind: schema for kind, schema in schemas.items() if schema}
    cameras = {path for path, frames in find_optics(snapshot).of_camera.items() if frames}
    if not kinds and not cameras:
        return []
    found = []
    for node in snapshot.nodes:
        schema = kinds.get((node.type, node.apis), "")
        if schema:
            found.append(Sensor(node, schema, vendor_of_schema(schema) or ""))
        elif node.path in cameras:
            found.append(Sensor(node, "Camera"))
    return found


def _sensor_schema(type_name: str, apis: tuple[str, ...]) -> str:
    heads = [api.partition(":")[0] for api in apis]
    for api in heads:
        if is_sensor_api(api):
            return api
    for name in (type_name, *heads):
        if vendor_of_schema(name) and _VENDOR_SENSOR.search(name):
            return name
    return ""


def is_sensor_api(api: str) -> bool:
    """Is it a neutral sensor API?  Annotators, which hand out ground truth, are not."""
    return api.startswith("Sensor") and "Annotator" not in api
