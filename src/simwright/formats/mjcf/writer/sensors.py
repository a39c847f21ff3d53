# SPDX-License-Identifier: Apache-2.0
"""``<sensor>``: MuJoCo's own sensors as they were read; inertial and force sensors of other formats by a site."""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.control import INTERPOLATIONS
from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.formats.mjcf.writer.geoms import add_site
from simwright.model.asset import Sensor

# kinds by what MJCF wants to know of their target: a site, one element, a frame with its type, a body
_AT_SITE = frozenset(
    {"touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder"}
)
_AT_ONE = {
    "joint": frozenset(
        {
            "jointpos", "jointvel", "jointactuatorfrc", "jointactfrc", "ballquat", "ballangvel", "jointlimitpos",
            "jointlimitvel", "jointlimitfrc",
        }
    ),
    "tendon": frozenset(
        {
            "tendonpos", "tendonvel", "tendonactuatorfrc", "tendonactfrc", "tendonlimitpos", "tendonlimitvel",
            "tendonlimitfrc",
        }
    ),
    "actuator": frozenset({"actuatorpos", "actuatorvel", "actuatorfrc"}),
}  # fmt: skip
_AT_FRAME = frozenset(
    {
        "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc",
        "frameangacc",
    }
)  # fmt: skip
_AT_BODY = frozenset({"subtreecom", "subtreelinvel", "subtreeangmom"})
_TAGS = {"geomdist": "distance", "geomnormal": "normal", "geomfromto": "fromto", "jointactfrc": "jointactuatorfrc",
         "tendonactfrc": "tendonactuatorfrc"}  # fmt: skip
"""MuJoCo's elements where they have other names than its types."""
_GLOBAL = frozenset({"clock", "e_potential", "e_kinetic"})
_PARTS = {
    "imu": ("accelerometer", "gyro"),
    "accelerometer": ("accelerometer",),
    "gyroscope": ("gyro",),
    "force_torque": ("force", "torque"),
    "magnetometer": ("magnetometer",),
}
"""Sensors of other formats -> MuJoCo's, each on a site."""
_BETWEEN = frozenset({"geomdist", "geomnormal", "geomfromto"})
_DATA = {
    "contact": ("found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel"),
    "rangefinder": ("dist", "dir", "origin", "point", "normal", "depth"),
}
"""What a sensor may measure, in the order of the bits of its first whole number."""
_REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
_WRITTEN_SETTINGS = frozenset(
    {
        "dimension", "object_type", "reference_type", "reference", "cutoff", "noise", "delay", "history", "intprm",
        "phase", "stage", "data_type",
    }
)  # fmt: skip


def write_sensors(document: MjcfDocument) -> None:
    """Every sensor that MuJoCo has."""
    lost = []
    for sensor in document.asset.sensors:
        target = _find_target(document, sensor)
        if target is not None:
            _write_sensor(document, sensor, target)
        elif sensor.kind in _PARTS and not sensor.settings.get("object_type"):
            _write_parts(document, sensor)
        # a camera is written as <camera>, and MuJoCo renders it without a sensor
        elif not (sensor.kind == "camera" and document.find_name("camera", sensor.target or sensor.name)):
            lost.append(sensor)
    document.report_lost("sensors", lost, "MuJoCo measures these by code, or not at all")


def _write_sensor(document: MjcfDocument, sensor: Sensor, target: dict[str, Any]) -> None:
    settings = sensor.settings
    name = document.claim("sensor", sensor.name)
    document.note_written("sensor", sensor.name, name)
    values: dict[str, Any] = {"name": name, **target, **_describe_data(sensor)}
    for name in ("cutoff", "noise", "delay"):
        values[name] = settings.get(name)
    values |= document.find_kept(sensor, "sensor", "user")
    if sensor.rate:
        interval = document.prefer_kept(1.0 / sensor.rate, document.kept.get(sensor, "sensor", "interval"))
        values["interval"] = (interval, settings["phase"]) if "phase" in settings else interval
    document.add(document.section("sensor"), _TAGS.get(sensor.kind, sensor.kind), values)


# one function: a case for each way in which MJCF names what is measured
def _find_target(document: MjcfDocument, sensor: Sensor) -> dict[str, Any] | None:
    """The attributes that say what is measured; None if MJCF cannot say it."""
    kind, settings = sensor.kind, sensor.settings
    object_type = settings.get("object_type", "")
    # a setting that is not written could change what is measured, so the sensor is reported instead
    if set(settings) - _WRITTEN_SETTINGS or not (object_type or kind in (*_GLOBAL, "user", "contact")):
        return None
    found: dict[str, Any] | None = None
    if kind in _GLOBAL:
        return {}
    if kind in _AT_SITE and object_type == "site":
        found = {"site": document.find_name("site", sensor.target)}
    elif kind in _AT_ONE.get(object_type, ()):
        found = {object_type: _name_target(document, object_type, sensor.target)}
    elif kind in _AT_BODY:
        found = {"body": _name_target(document, "body", sensor.body)}
    elif kind in _AT_FRAME:
        found = {
            "objtype": object_type,
            "objname": _name_target(document, object_type, sensor.target or sensor.body),
        }
        if settings.get("reference"):
            reference = settings["reference_type"]
            found |= {
                "reftype": reference,
                "refname": _name_target(document, reference, settings["reference"]),
            }
    else:
        found = _find_pair(document, sensor, object_type)
    return None if found is None or None in found.values() else found


# one function: a case for each kind of sensor between two elements
def _find_pair(document: MjcfDocument, sensor: Sensor, object_type: str) -> dict[str, Any] | None:
    """The targets of sensors between two elements, or of one beside another."""
    settings = sensor.settings
    kind, other = settings.get("reference_type", ""), settings.get("reference", "")
    target = sensor.target or sensor.body
    first = _name_target(document, object_type, target) if object_type else None
    second = _name_target(document, kind, other) if kind else None
    # contact sensors call the frame of a body with everything below it a subtree
    words = {"xbody": "subtree"} if sensor.kind == "contact" else {"xbody": "body"}
    match sensor.kind:
        case "camprojection":
            return {"site": first, "camera": second}
        case "rangefinder" if object_type == "camera":
            return {"camera": first}
        case "insidesite":
            return {"site": second, "objtype": object_type, "objname": first}
        case "user":
            return {"objtype": object_type, "objname": first} if object_type else {}
        case "contact":
            found = (
                {f"{words.get(object_type, object_type)}{_number_attribute(object_type, 1)}": first}
                if object_type
                else {}
            )
            return found | ({f"{words.get(kind, kind)}{_number_attribute(kind, 2)}": second} if kind else {})
        case name if name in _BETWEEN:
            return {f"{words.get(object_type, object_type)}1": first, f"{words.get(kind, kind)}2": second}
    return None


def _number_attribute(kind: str, number: int) -> str:
    """The site of a contact sensor stands alone."""
    return "" if kind == "site" else str(number)


def _describe_data(sensor: Sensor) -> dict[str, Any]:
    """What is measured of it, and kept."""
    settings, values = sensor.settings, dict[str, Any]()
    # whole numbers of a compiled sensor; which of them there are depends on its kind
    bits, reduction, count = (*settings.get("intprm", ()), 0, 0, 0)[:3]
    if sensor.kind in _DATA and bits:
        values["data"] = " ".join(word for bit, word in enumerate(_DATA[sensor.kind]) if int(bits) >> bit & 1)
    if sensor.kind == "contact":
        values |= {"reduce": _REDUCTIONS[int(reduction)], "num": int(count) or 1}
    if sensor.kind == "user":
        values |= {
            "dim": settings["dimension"],
            "needstage": settings.get("stage"),
            "datatype": settings.get("data_type"),
        }
    samples, interpolation = settings.get("history", (0, 0))
    if samples:
        values |= {"nsample": samples, "interp": INTERPOLATIONS[int(interpolation)]}
    return values


def _name_target(document: MjcfDocument, family: str, name: str) -> str | None:
    if family == "joint":
        mjcf_joint = document.dofs.get(name)
        return mjcf_joint.name if mjcf_joint else None
    if family in ("body", "xbody"):
        return document.find_name("body", name) if name else "world"
    return document.find_name(family, name)


def _write_parts(document: MjcfDocument, sensor: Sensor) -> None:
    # MuJoCo measures acceleration and force at sites only
    site = add_site(document, sensor.name, sensor.body, sensor.pose)
    parts = _PARTS[sensor.kind]
    for part in parts:
        name = document.claim("sensor", sensor.name if len(parts) == 1 else f"{sensor.name}_{part}")
        document.note_written("sensor", sensor.name, name)
        interval = 1.0 / sensor.rate if sensor.rate else None
        document.add(document.section("sensor"), part, {"name": name, "site": site, "interval": interval})
