# SPDX-License-Identifier: Apache-2.0
"""Sensor prims of other tools: those with a plain meaning become sensors, the rest is kept and reported.

Isaac's inertial, contact and range sensors say where they are and how often they measure; their other values
go into the settings in SI.  Cameras and ROS interfaces are read elsewhere; the site schemas of Newton and
MuJoCo are sites.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.core.math3d import Pose
from simwright.core.units import DEGREE
from simwright.formats.usd.leftovers import make_plain
from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source, as_matrix
from simwright.model.asset import Sensor

SENSOR_UNKNOWN = declare(
    "usd-sensor-unknown",
    Level.WARNING,
    "{count} sensor prim(s) of type {type} are kept as extras only, the first at {first}",
    hint="describe the sensor with a ROS topic on a frame, which every tool understands",
    doc="A prim of a sensor type that has no neutral form.",
)
SENSOR_BODILESS = declare(
    "usd-sensor-bodiless",
    Level.WARNING,
    "{kind} sensor {name!r} is on no rigid body; it measures nothing",
    hint="place the prim below the body it sits on",
    doc="Inertial and contact sensors measure a body.",
)

_KINDS = {
    "IsaacImuSensor": "imu",
    "IsaacContactSensor": "contact",
    "Lidar": "lidar",
    "OmniLidar": "lidar",
    "OmniRadar": "radar",
}
_BODILY = frozenset({"imu", "contact"})
_UNITS = {
    "radius": "length",
    "minRange": "length",
    "maxRange": "length",
    "threshold": "force",
    "horizontalFov": "angle",
    "verticalFov": "angle",
    "horizontalResolution": "angle",
    "verticalResolution": "angle",
    "yawOffset": "angle",
}
_ORDINARY = re.compile(r"xformOp|purpose\Z|visibility\Z|proxyPrim\Z|omni|physx|ros:|newton:|mjc:")
_UNKNOWN = re.compile(r"(?:Mjc\w*Sensor|Isaac\w*Sensor|\w+Sensor|UltrasonicArray|OmniSensor\w*)\Z")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_sensors(source: Source, scan: Scan) -> None:
    """Add the sensors with a plain meaning; keep and report the others."""
    known = [found for found in scan.all.values() if found.type in _KINDS]
    names = choose_names(found.path for found in known)
    for found in known:
        source.asset.sensors.append(_read_sensor(source, found, names[found.path]))
    types = {found.type for found in scan.all.values()} - _KINDS.keys()
    for kind in sorted(kind for kind in types if _UNKNOWN.match(kind)):
        prims = [found for found in scan.all.values() if found.type == kind]
        for found in prims:
            for name, value in _list_values(source, found.prim):
                source.asset.extras.keep("sensor", found.path, name, value, source.where(found, name))
        where = source.where(prims[0].prim)
        source.reporter.report(SENSOR_UNKNOWN, where, type=kind, count=len(prims), first=prims[0].path)


def _read_sensor(source: Source, found: Found, name: str) -> Sensor:
    kind, body = _KINDS[found.type], source.body_of(found.owner)
    if kind in _BODILY and not body.name:
        source.reporter.report(SENSOR_BODILESS, source.where(found), kind=kind, name=name)
    sensor = Sensor(
        name=name,
        kind=kind,
        body=body.name,
        pose=~body.pose @ _find_pose(source, found.prim),
        path=found.path,
        source=source.where(found),
    )
    for attribute, value in _list_values(source, found.prim):
        if attribute == "sensorPeriod":
            sensor.rate = 1.0 / value if isinstance(value, float) and value > 0.0 else None
        else:
            sensor.settings[_WORD.sub("_", attribute).replace(":", "_").lower()] = _scale(
                source, attribute, value
            )
    return sensor


def _find_pose(source: Source, prim: Usd.Prim) -> Pose:
    """OpenUSD ignores the transform of a type it does not know; the tool that wrote it does not."""
    world = source.world_matrix(prim)
    if not prim.IsA(UsdGeom.Xformable):
        local = as_matrix(UsdGeom.Xformable(prim).GetLocalTransformation(source.time))
        local[:3, 3] *= source.units.length
        world = world @ local
    return decompose(world).pose


def _list_values(source: Source, prim: Usd.Prim) -> list[tuple[str, Any]]:
    """Authored attributes that are the sensor's own."""
    names = [n for n in prim.GetAuthoredPropertyNames() if not _ORDINARY.match(n) and prim.HasAttribute(n)]
    values = ((name, make_plain(source.get(prim, name))) for name in names)
    return [(name, value) for name, value in values if value is not None]


def _scale(source: Source, attribute: str, value: Any) -> Any:
    unit = _UNITS.get(attribute)
    if unit is None or isinstance(value, str | bool):
        return value
    factor = DEGREE if unit == "angle" else float(getattr(source.units, unit))
    scaled = np.asarray(value, dtype=np.float64) * factor
    return float(scaled) if scaled.ndim == 0 else [float(v) for v in scaled.ravel()]
