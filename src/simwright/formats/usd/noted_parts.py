# SPDX-License-Identifier: Apache-2.0
"""Sensors, controllers and remarks that notes and vendor layers keep (see ``simwright.usd.notes``)."""

from __future__ import annotations

import json
from typing import Any

from simwright.core.math3d import IDENTITY, vec3
from simwright.formats.usd.found import Found
from simwright.formats.usd.leftovers import make_plain
from simwright.formats.usd.mjc_world import read_settings
from simwright.formats.usd.noted import read_place
from simwright.formats.usd.noted_joints import numbers, read_pose
from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Light, Sensor
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere
from simwright.model.joint import WORLD
from simwright.model.ros import Controller

_SPACES = ("mjc:sensor", "gazebo:sensor")


def read_noted_sensors(source: Source, scan: Scan) -> None:
    """Sensors that a vendor layer describes."""
    if not source.noted:
        return
    found_sensors: list[tuple[int, Sensor]] = []
    for found in scan.all.values():
        for space in _SPACES:
            if found.may_author(f"{space}:kind") and source.get_authored(found, f"{space}:kind"):
                order = read_place(source.note(found), "sensor_order")
                found_sensors.append((order, _read_sensor(source, found, space)))
    found_sensors.sort(key=lambda row: row[0])
    source.asset.sensors += [sensor for _, sensor in found_sensors]


def _read_sensor(source: Source, found: Found, space: str) -> Sensor:
    position, turn = (
        make_plain(source.get(found, f"{space}:{word}")) for word in ("position", "orientation")
    )
    bodies = source.get_targets(found, f"{space}:body")
    body = source.bodies.get(bodies[0]) if bodies else None
    pose = read_pose([*numbers(position), *numbers(turn)])
    return Sensor(
        name=source.get_text(found, f"{space}:name", found.name),
        kind=source.get_text(found, f"{space}:kind"),
        body=WORLD if body is None else body.name,
        pose=IDENTITY if pose is None else pose,
        target=source.get_text(found, f"{space}:target"),
        rate=source.get_optional(found, f"{space}:rate"),
        settings=read_settings(source, found, f"{space}:setting:", set()),
        path=found.path,
        source=source.where(found),
    )


def restore_parts(source: Source, scan: Scan) -> None:
    """Places of interfaces, controllers, image sizes, markers, safety limits and URDF's own words."""
    if not source.noted:
        return
    notes = scan.notes
    asset = source.asset
    known = {e.name for family in (asset.bodies, asset.sites, asset.sensors, asset.cameras) for e in family}
    for interface in asset.interfaces:
        note = notes.get(interface.path, {})
        at = str(note.get("at", ""))
        if at in known or at == asset.name:
            interface.at = at
        interface.frame_override = interface.frame_override or str(note.get("frame", ""))
    _restore_controllers(source, notes)
    for camera in asset.cameras:
        size = numbers(notes.get(camera.path, {}).get("resolution"), finite=True)
        if len(size) == 2:
            camera.resolution = (int(size[0]), int(size[1]))
    for light in asset.lights:
        _restore_light(light, notes.get(light.path, {}))
    for site in asset.sites:
        note = notes.get(site.path, {})
        if site.geometry is None and "marker" in note:
            site.geometry = _make_marker(str(note["marker"]), numbers(note.get("marker_size"), finite=True))
    for shape in asset.shapes:
        if isinstance(shape.geometry, Plane) and notes.get(shape.path, {}).get("endless"):
            shape.geometry = Plane()
    _restore_words(source, notes)


def _restore_light(light: Light, note: dict[str, Any]) -> None:
    """How far it reaches and how large its bulb is [m]."""
    reach, bulb = (numbers([note.get(key)], finite=True) for key in ("reach", "bulb"))
    if reach and reach[0] >= 0.0:
        light.range = reach[0]
    if bulb and bulb[0] >= 0.0:
        light.radius = bulb[0]


def _restore_controllers(source: Source, notes: dict[str, dict[str, Any]]) -> None:
    """What the schemas of controllers have no attribute for; controllers without a schema."""
    asset = source.asset
    read = {controller.path: controller for controller in asset.controllers}
    for path, note in notes.items():
        words = _parse(note.get("controller"))
        if not words:
            continue
        controller = read.get(path)
        if controller is None:
            name = str(source.stage.GetPrimAtPath(path).GetDisplayName()) or path.rpartition("/")[2]
            controller = Controller(
                name, "external", path=path, source=source.where(source.stage.GetPrimAtPath(path))
            )
            asset.controllers.append(controller)
        if controller.kind == "external":
            controller.kind = str(words.get("kind", controller.kind))
        joints, interfaces, settings = (
            _table(words.get(key)) for key in ("joints", "interfaces", "settings")
        )
        listed = {role: [str(v) for v in names] for role, names in joints.items() if isinstance(names, list)}
        controller.joints = {**listed, **controller.joints}
        controller.interfaces = {**{role: str(v) for role, v in interfaces.items()}, **controller.interfaces}
        controller.settings = {**settings, **controller.settings}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _restore_words(source: Source, notes: dict[str, dict[str, Any]]) -> None:
    dofs = {dof.name: dof for joint in source.asset.joints for dof in joint.dofs}
    names = {**source.joints, **{path: frame.name for path, frame in source.bodies.items()}}
    for path, note in notes.items():
        for name, values in _parse(note.get("safety")).items():
            if name in dofs and isinstance(values, dict):
                numeric = {key: value for key, value in values.items() if isinstance(value, int | float)}
                dofs[name].safety = {key: float(value) for key, value in numeric.items()}
        for key, value in _parse(note.get("urdf")).items():
            source.asset.extras.keep("urdf", names.get(path, source.asset.name), key, value)


def _parse(text: Any) -> dict[str, Any]:
    try:
        words = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    return _table(words)


def _make_marker(kind: str, sizes: list[float]) -> Geometry | None:
    if any(size <= 0.0 for size in sizes):
        return None
    match kind, sizes:
        case "sphere", [radius]:
            return Sphere(radius)
        case "capsule", [radius, length]:
            return Capsule(radius, length)
        case "cylinder", [radius, length]:
            return Cylinder(radius, length)
        case "box", [x, y, z]:
            return Box.of(x, y, z)
        case "ellipsoid", [x, y, z]:
            return Ellipsoid(vec3(x, y, z))
        case "plane", _:
            return Plane()
    return None
