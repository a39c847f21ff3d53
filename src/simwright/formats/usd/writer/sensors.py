# SPDX-License-Identifier: Apache-2.0
"""``sensors.usda``: sensors in the words of the registry (REP-0158 4.2.4), and what is left of them for engine layers.

The rows of ``resolve.sensors`` say which setting is which attribute.  An engine layer has what only that engine knows
of a sensor, and the whole of a sensor that the registry has no schema for.
"""

from __future__ import annotations

from typing import Any

from simwright.formats.usd.writer.layer import LayerWriter, write_plain
from simwright.formats.usd.writer.plan import WritePlan
from simwright.model.asset import Sensor
from simwright.model.joint import WORLD
from simwright.resolve.sensors import CAMERAS, PUBLISHERS, NeutralSensor, find_neutral_kind


def write_sensors(plan: WritePlan, topics: dict[str, list[str]]) -> LayerWriter:
    """Every sensor of a kind that the registry has; ``topics`` are the prims of publishers by sensor."""
    layer = LayerWriter(plan.root, f"Sensors of {plan.asset.name}.")
    for sensor in plan.asset.sensors:
        neutral = plan.neutral.get(sensor.name)
        if neutral is None:
            continue
        path = plan.measuring[sensor.name]
        for form in neutral.forms:
            layer.apply(path, form.api)
        for said in neutral.opinions:
            layer.set(path, said.name, said.type, said.value, uniform=said.type.startswith("token"))
        form = neutral.forms[0]
        if form.joint and _find_joint(plan, sensor):
            layer.relate(path, form.name("joint"), [_find_joint(plan, sensor)])
        if form.colliders and (paths := _find_colliders(plan, neutral)):
            layer.relate(path, form.name("colliders"), paths)
        if topics.get(sensor.name):
            layer.relate(path, form.name(PUBLISHERS), topics[sensor.name])
    return layer


def _find_joint(plan: WritePlan, sensor: Sensor) -> str:
    """The prim of the joint that a sensor measures."""
    return plan.freedoms.get(sensor.target, ("", ""))[0] or plan.joints.get(sensor.target, "")


def _find_colliders(plan: WritePlan, neutral: NeutralSensor) -> list[str]:
    """The colliders that a contact sensor names, if all of them are there."""
    names = _list_colliders(neutral)
    paths = [plan.colliders[name] for name in names if name in plan.colliders]
    return paths if len(paths) == len(names) else []


def _list_colliders(neutral: NeutralSensor) -> list[str]:
    """SDFormat numbers further collisions: ``collision``, ``collision_2`` ..."""
    return [str(value) for key, value in neutral.left.items() if _is_collider(key)]


def _is_collider(key: str) -> bool:
    return key == "collision" or (key.startswith("collision_") and key[10:].isdigit())


def write_left(plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
    """What the registry has no word for, in the layer of the engine that the sensor comes from."""
    is_mjcf = plan.asset.provenance.format == "mjcf"
    known = plan.asset.extras.table.get("mjc", {})
    for sensor in plan.asset.sensors:
        space = "mjc" if is_mjcf or "mjc:sensor:kind" in known.get(sensor.path, {}) else "gazebo"
        neutral = plan.neutral.get(sensor.name)
        if neutral is None:
            path = _find_path(plan, layers[space], sensor)
            _write_whole(plan, layers[space], path, f"{space}:sensor", sensor)
        else:
            _write_rest(plan, layers[space], f"{space}:sensor", sensor, neutral)


def _find_path(plan: WritePlan, layer: LayerWriter, sensor: Sensor) -> str:
    known = plan.sensors.get(sensor.name)
    if known:
        return known
    scope = f"{plan.root}/Sensors"
    layer.define(scope, "Scope")
    path = plan.sensors[sensor.name] = plan.names.claim(scope, sensor.name)
    layer.define(path, "Scope")
    return path


def _write_whole(plan: WritePlan, layer: LayerWriter, path: str, space: str, sensor: Sensor) -> None:
    write_plain(layer, path, f"{space}:name", sensor.name)
    write_plain(layer, path, f"{space}:kind", sensor.kind)
    if sensor.body != WORLD and sensor.body in plan.bodies:
        layer.relate(path, f"{space}:body", [plan.bodies[sensor.body]], custom=True)
    write_plain(layer, path, f"{space}:position", [float(v) for v in sensor.pose.p])
    write_plain(layer, path, f"{space}:orientation", [float(v) for v in sensor.pose.q])
    if sensor.target:
        write_plain(layer, path, f"{space}:target", sensor.target)
    write_plain(layer, path, f"{space}:rate", sensor.rate)
    for key, value in sensor.settings.items():
        write_plain(layer, path, f"{space}:setting:{key}", value)


def _write_rest(
    plan: WritePlan, layer: LayerWriter, space: str, sensor: Sensor, neutral: NeutralSensor
) -> None:
    """Names, and settings, that the neutral layer does not give back."""
    path = plan.measuring[sensor.name]
    is_camera = sensor.kind in CAMERAS
    # a camera has its own name, and sits where its lens is
    if sensor.name != path.rpartition("/")[2]:
        write_plain(layer, path, f"{space}:name", sensor.name)
    if sensor.kind != find_neutral_kind(frozenset(form.api for form in neutral.forms)):
        write_plain(layer, path, f"{space}:kind", sensor.kind)
    if is_camera:
        write_plain(layer, path, f"{space}:position", [float(v) for v in sensor.pose.p])
        write_plain(layer, path, f"{space}:orientation", [float(v) for v in sensor.pose.q])
    is_said = bool(neutral.forms[0].joint and _find_joint(plan, sensor))
    if sensor.target and not is_said and not (is_camera and sensor.target == sensor.name):
        write_plain(layer, path, f"{space}:target", sensor.target)
    for key, value in _list_left(plan, neutral).items():
        write_plain(layer, path, f"{space}:setting:{key}", value)


def _list_left(plan: WritePlan, neutral: NeutralSensor) -> dict[str, Any]:
    """Settings that no attribute and no relationship says."""
    if not neutral.forms[0].colliders or not _find_colliders(plan, neutral):
        return neutral.left
    return {key: value for key, value in neutral.left.items() if not _is_collider(key)}
