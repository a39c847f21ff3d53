# SPDX-License-Identifier: Apache-2.0
"""What sensors measure, in the layer of the engine that the source is for (REP-0158 4.2.4, 1.4).

No ratified schema says kind, range and noise of a sensor.  One that ROS knows has a prim already; the others get a
scope below ``Sensors``.
"""

from __future__ import annotations

from simwright.formats.usd.writer.attributes import write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Sensor
from simwright.model.joint import WORLD


def write_sensors(layout: Layout, sheets: dict[str, Sheet]) -> None:
    """Every sensor with its settings."""
    is_mjcf = layout.asset.provenance.format == "mjcf"
    known = layout.asset.extras.table.get("mjc", {})
    for sensor in layout.asset.sensors:
        space = "mjc" if is_mjcf or "mjc:sensor:kind" in known.get(sensor.path, {}) else "gazebo"
        sheet = sheets[space]
        path = _find_path(layout, sheet, sensor)
        _write_sensor(layout, sheet, path, f"{space}:sensor", sensor)


def _find_path(layout: Layout, sheet: Sheet, sensor: Sensor) -> str:
    known = layout.sensors.get(sensor.name)
    if known:
        return known
    scope = f"{layout.root}/Sensors"
    sheet.define(scope, "Scope")
    path = layout.sensors[sensor.name] = layout.names.claim(scope, sensor.name)
    sheet.define(path, "Scope")
    return path


def _write_sensor(layout: Layout, sheet: Sheet, path: str, space: str, sensor: Sensor) -> None:
    write_plain(sheet, path, f"{space}:name", sensor.name)
    write_plain(sheet, path, f"{space}:kind", sensor.kind)
    if sensor.body != WORLD and sensor.body in layout.bodies:
        sheet.relate(path, f"{space}:body", [layout.bodies[sensor.body]], custom=True)
    write_plain(sheet, path, f"{space}:position", [float(v) for v in sensor.pose.p])
    write_plain(sheet, path, f"{space}:orientation", [float(v) for v in sensor.pose.q])
    if sensor.target:
        write_plain(sheet, path, f"{space}:target", sensor.target)
    write_plain(sheet, path, f"{space}:rate", sensor.rate)
    for key, value in sensor.settings.items():
        write_plain(sheet, path, f"{space}:setting:{key}", value)
