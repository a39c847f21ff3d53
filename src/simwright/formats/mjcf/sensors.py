# SPDX-License-Identifier: Apache-2.0
"""Sensors: MuJoCo's own word as the kind, and the body, frame or element it measures."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.mjcf.context import Context, make_plain, pose_of
from simwright.model.asset import Sensor
from simwright.model.joint import WORLD

_FAMILIES = {
    "body": "body",
    "xbody": "body",
    "joint": "joint",
    "geom": "geom",
    "site": "site",
    "camera": "camera",
    "tendon": "tendon",
    "actuator": "actuator",
    "mesh": "mesh",
}
_FRAMES = {"site": "site", "geom": "geom", "camera": "cam"}


def read_sensors(context: Context) -> None:
    """Sensors in MuJoCo's order."""
    model = context.model
    for index in range(context.count("sensor")):
        kind = str(context.mujoco.mjtSensor(int(model.sensor_type[index])).name)[7:].lower()
        object_kind, target = _read_object(context, "obj", index)
        body, pose = _place(context, object_kind, int(model.sensor_objid[index]))
        sensor = Sensor(
            name=context.name("sensor", index),
            kind=kind,
            body=body,
            pose=pose,
            target="" if object_kind in ("body", "xbody") else target,
            settings=_read_settings(context, index, object_kind),
            path=context.key("sensor", index),
            source=context.where("sensor", index),
        )
        interval = context.field("sensor_interval", index)
        if interval is not None and interval[0] > 0:
            sensor.rate = 1.0 / float(interval[0])
            context.keep("sensor", index, "interval", float(interval[0]), 1.0 / sensor.rate)
        context.asset.sensors.append(sensor)
        context.keep_user("sensor", index, "sensor_user")


def _read_object(context: Context, which: str, index: int) -> tuple[str, str]:
    """Kind and name of the measured object (``obj``) or the reference (``ref``), empty if there is none."""
    model = context.model
    number = int(getattr(model, f"sensor_{which}type")[index])
    kind = str(context.mujoco.mjtObj(number).name)[6:].lower()
    target = int(getattr(model, f"sensor_{which}id")[index])
    family = _FAMILIES.get(kind)
    if family is None or target < 0:
        return ("" if kind == "unknown" else kind), ""
    return kind, context.name(family, target)


def _place(context: Context, kind: str, target: int) -> tuple[str, Pose]:
    """Body and frame in which the object sits; the body's inertial frame for MuJoCo's ``body``."""
    model = context.model
    if kind in _FRAMES and target >= 0:
        array = _FRAMES[kind]
        body = context.name("body", int(getattr(model, f"{array}_bodyid")[target]))
        return body, pose_of(getattr(model, f"{array}_pos")[target], getattr(model, f"{array}_quat")[target])
    if kind == "body" and target >= 0:
        return context.name("body", target), pose_of(model.body_ipos[target], model.body_iquat[target])
    if kind == "xbody" and target >= 0:
        return context.name("body", target), IDENTITY
    if kind == "joint" and target >= 0:
        return context.name("body", int(model.jnt_bodyid[target])), Pose.of(model.jnt_pos[target])
    return WORLD, IDENTITY


def _read_settings(context: Context, index: int, object_kind: str) -> dict[str, Any]:
    model = context.model
    settings: dict[str, Any] = {"dimension": int(model.sensor_dim[index])}
    if object_kind:
        settings["object_type"] = object_kind
    reference_kind, reference = _read_object(context, "ref", index)
    if reference_kind:
        settings["reference_type"], settings["reference"] = reference_kind, reference
    for name in ("cutoff", "noise", "delay"):
        value = float(context.field(f"sensor_{name}", index, 0.0))
        if value:
            settings[name] = value
    for name in ("intprm", "history"):
        value = context.field(f"sensor_{name}", index)
        if value is not None and np.any(value):
            settings[name] = make_plain(value)
    _, phase = context.field("sensor_interval", index, (0.0, 0.0))
    if phase:
        settings["phase"] = float(phase)
    if str(context.mujoco.mjtSensor(int(model.sensor_type[index])).name) == "mjSENS_USER":
        stage, kind = int(model.sensor_needstage[index]), int(model.sensor_datatype[index])
        settings["stage"] = str(context.mujoco.mjtStage(stage).name)[8:].lower()
        settings["data_type"] = str(context.mujoco.mjtDataType(kind).name)[11:].lower()
    if int(model.sensor_plugin[index]) >= 0:
        settings["plugin"] = context.name("plugin", int(model.sensor_plugin[index]))
    return settings
