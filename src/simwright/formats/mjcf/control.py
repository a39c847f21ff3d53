# SPDX-License-Identifier: Apache-2.0
"""Actuators, sensors, and the states and controls of keyframes.

Every MuJoCo actuator is ``force = gain(...) * u + bias(...)`` with activation dynamics.  Servos are
recognised by that law, whichever element wrote it: fixed gain 1 and no bias is a motor; gain kp and bias
(0, -kp, -kd) a position servo; gain kv and bias (0, 0, -kv) a velocity servo.  The rest is ``general``;
``settings["mjcf"]`` says what MuJoCo calls it (muscle, cylinder, damper, adhesion, intvelocity ...).  The
whole law is in the settings.

A sensor has MuJoCo's own word as its kind, and the body, frame or element it measures.  In keyframes an actuator with
several controls (MuJoCo 4) has one entry per control, ``name[0]``, ``name[1]`` ...
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.mjcf.reader import MjcfReader, make_plain
from simwright.model.asset import Actuator, Keyframe, Sensor
from simwright.model.joint import POSITIONS, VELOCITIES, WORLD, Motion
from simwright.model.servo import classify

INPUTS = {"pos": 1, "vel": 2, "ff": 4, "voltage": 8, "none": 16, "pressure": 32}
"""MuJoCo 4: bits of what a control means, by their MJCF word."""
USUAL_INPUTS = {
    "position": "pos",
    "velocity": "vel",
    "intvelocity": "vel",
    "cylinder": "pressure",
    "dcmotor": "voltage",
}
"""What the control of an MJCF element means where nothing is said."""
INTERPOLATIONS = ("zoh", "linear", "cubic")
"""How MuJoCo 4 reads a history buffer, by its number."""
# MuJoCo's word -> the model's, and the family of what is moved
_TRANSMISSIONS = {
    "joint": ("joint", "joint"),
    "jointinparent": ("joint_in_parent", "joint"),
    "slidercrank": ("slider_crank", "site"),
    "tendon": ("tendon", "tendon"),
    "site": ("site", "site"),
    "body": ("body", "body"),
}


def read_actuators(reader: MjcfReader) -> None:
    """Actuators in MuJoCo's order."""
    for index in range(reader.count("actuator")):
        reader.asset.actuators.append(_read_actuator(reader, index))
        reader.keep("actuator", index, "group", reader.model.actuator_group[index], 0)
        reader.keep_user("actuator", index, "actuator_user")


def list_controls(reader: MjcfReader, index: int) -> range:
    """Addresses of an actuator's controls; before MuJoCo 4.0 there is exactly one."""
    # MuJoCo 4 tells numbers of controls; before, control i is that of actuator i
    start = int(reader.field("actuator_ctrladr", index, index))
    return range(start, start + int(reader.field("actuator_ctrlnum", index, 1)))


def _read_actuator(reader: MjcfReader, index: int) -> Actuator:
    model = reader.model
    law = _read_law(reader, index)
    kind, mjcf = classify(law)
    transmission, target = _read_target(reader, index)
    settings = _read_actuator_settings(reader, index)
    # adhesion and plugins may have the numbers of a motor, and are none
    if transmission == "body" or "plugin" in settings:
        kind, mjcf = "general", "plugin" if "plugin" in settings else "adhesion"
    usual = INPUTS.get(USUAL_INPUTS.get(mjcf, ""), 0)
    meant = int(reader.field("actuator_ctrlspec", index, usual))
    if meant != usual:
        settings["input"] = " ".join(word for word, bit in INPUTS.items() if meant & bit)
    # MuJoCo 4: an actuator may have several outputs, each with a gear of its own
    outputs = int(reader.field("actuator_outadr", index, index))
    actuator = Actuator(
        name=reader.name("actuator", index),
        kind=kind,
        target=target,
        transmission=transmission,
        gear=_trim_gear(model.actuator_gear[outputs]),
        settings={"mjcf": mjcf, **law, **settings},
        path=reader.key("actuator", index),
        source=reader.where("actuator", index),
    )
    if kind == "position":
        actuator.stiffness, actuator.damping = law["gain"][0], -law["bias"][2]
    elif kind == "velocity":
        actuator.damping = law["gain"][0]
    _read_ranges(reader, index, actuator)
    return actuator


def _read_ranges(reader: MjcfReader, index: int, actuator: Actuator) -> None:
    """Ranges of controls and of the force; several controls have several ranges, as a setting."""
    model, controls = reader.model, list_controls(reader, index)
    ranges = [
        make_plain(model.actuator_ctrlrange[control]) if model.actuator_ctrllimited[control] else None
        for control in controls
    ]
    if len(controls) != 1:
        actuator.settings |= {"controls": len(controls), "control_ranges": ranges}
    elif ranges[0] is not None:
        actuator.control_range = (ranges[0][0], ranges[0][1])
    else:
        # ranges that are switched off do nothing, but programs read them
        reader.keep("actuator", index, "idle_ctrlrange", model.actuator_ctrlrange[controls[0]], (0.0, 0.0))
    if model.actuator_forcelimited[index]:
        low, high = (float(v) for v in model.actuator_forcerange[index])
        actuator.force_range = (low, high)
    else:
        reader.keep("actuator", index, "idle_forcerange", model.actuator_forcerange[index], (0.0, 0.0))


def _read_law(reader: MjcfReader, index: int) -> dict[str, Any]:
    model = reader.model
    return {
        "gain_type": reader.read_word("mjtGain", model.actuator_gaintype[index]),
        "gain": [float(v) for v in model.actuator_gainprm[index]],
        "bias_type": reader.read_word("mjtBias", model.actuator_biastype[index]),
        "bias": [float(v) for v in model.actuator_biasprm[index]],
        "dynamics_type": reader.read_word("mjtDyn", model.actuator_dyntype[index]),
        "dynamics": [float(v) for v in model.actuator_dynprm[index]],
    }


def _read_target(reader: MjcfReader, index: int) -> tuple[str, str]:
    model = reader.model
    kind = reader.read_word("mjtTrn", model.actuator_trntype[index])
    target, reference = (int(v) for v in model.actuator_trnid[index])
    # MuJoCo 4's orientation actuator turns a ball joint, or a site against a reference site
    transmission, family = _TRANSMISSIONS.get(kind, (kind, "site" if reference >= 0 else "joint"))
    # an undefined transmission has no target
    if target < 0 or target >= reader.count(family):
        return transmission, ""
    return transmission, reader.name(family, target)


# one function: a row for each setting, most of them only in some versions of MuJoCo
def _read_actuator_settings(reader: MjcfReader, index: int) -> dict[str, Any]:
    model = reader.model
    settings: dict[str, Any] = {}
    kind = reader.read_word("mjtTrn", model.actuator_trntype[index])
    # the second number is the reference site, of a slider crank the slider's
    other = int(model.actuator_trnid[index][1])
    if other >= 0 and kind in ("site", "slidercrank", "so3"):
        settings["slider_site" if kind == "slidercrank" else "reference_site"] = reader.name("site", other)
    if kind == "slidercrank":
        settings["crank_length"] = float(model.actuator_cranklength[index])
    if model.actuator_actlimited[index]:
        settings["activation_range"] = make_plain(model.actuator_actrange[index])
    if model.actuator_actearly[index]:
        settings["activation_early"] = True
    reach = model.actuator_lengthrange[int(reader.field("actuator_outadr", index, index))]
    # MuJoCo finds this range of lengths by a simulation; kept, it is not looked for again
    if np.any(reach):
        settings["length_range"] = make_plain(reach)
    for name in ("damping", "dampingpoly", "armature", "delay"):
        value = reader.field(f"actuator_{name}", index)
        if value is not None and np.any(value):
            settings[name] = make_plain(value)
    samples, interpolation = reader.field("actuator_history", index, (0, 0))
    if samples:
        settings["history"] = {"samples": int(samples), "interpolation": INTERPOLATIONS[int(interpolation)]}
    activations = int(getattr(reader.find_spec("actuator", index), "actdim", -1))
    if activations >= 0:  # said, because it does not follow from the law: that is code
        settings["activations"] = activations
    if int(reader.field("actuator_plugin", index, -1)) >= 0:
        settings["plugin"] = reader.name("plugin", int(model.actuator_plugin[index]))
    return settings


def _trim_gear(gear: Any) -> tuple[float, ...]:
    """Gear ratios without trailing zeros, at least one."""
    values = [float(v) for v in gear]
    # MuJoCo always keeps six ratios, most actuators use the first
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return tuple(values)


# "xbody" is the frame of a body, "body" its frame of inertia
_SENSOR_FAMILIES = {
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
_SENSOR_FRAMES = {"site": "site", "geom": "geom", "camera": "cam"}


def read_sensors(reader: MjcfReader) -> None:
    """Sensors in MuJoCo's order."""
    model = reader.model
    for index in range(reader.count("sensor")):
        kind = reader.read_word("mjtSensor", model.sensor_type[index])
        object_kind, target = _read_sensor_object(reader, "obj", index)
        body, pose = _find_sensor_frame(reader, object_kind, int(model.sensor_objid[index]))
        sensor = Sensor(
            name=reader.name("sensor", index),
            kind=kind,
            body=body,
            pose=pose,
            # the body is said by the sensor's body already
            target="" if object_kind in ("body", "xbody") else target,
            settings=_read_sensor_settings(reader, index, object_kind),
            path=reader.key("sensor", index),
            source=reader.where("sensor", index),
        )
        # 1 / (1 / x) may differ from x in the last bit; the written interval is kept then
        interval = reader.field("sensor_interval", index)
        if interval is not None and interval[0] > 0:
            sensor.rate = 1.0 / float(interval[0])
            reader.keep("sensor", index, "interval", float(interval[0]), 1.0 / sensor.rate)
        reader.asset.sensors.append(sensor)
        reader.keep_user("sensor", index, "sensor_user")


def _read_sensor_object(reader: MjcfReader, which: str, index: int) -> tuple[str, str]:
    """Kind and name of the measured object (``obj``) or the reference (``ref``), empty if there is none."""
    model = reader.model
    number = int(getattr(model, f"sensor_{which}type")[index])
    kind = reader.read_word("mjtObj", number)
    target = int(getattr(model, f"sensor_{which}id")[index])
    family = _SENSOR_FAMILIES.get(kind)
    if family is None or target < 0:
        return ("" if kind == "unknown" else kind), ""
    return kind, reader.name(family, target)


def _find_sensor_frame(reader: MjcfReader, kind: str, target: int) -> tuple[str, Pose]:
    """Body and frame in which the object sits; the body's inertial frame for MuJoCo's ``body``."""
    model = reader.model
    if kind in _SENSOR_FRAMES and target >= 0:
        array = _SENSOR_FRAMES[kind]
        body = reader.name("body", int(getattr(model, f"{array}_bodyid")[target]))
        return body, Pose.of(getattr(model, f"{array}_pos")[target], getattr(model, f"{array}_quat")[target])
    if kind == "body" and target >= 0:
        return reader.name("body", target), Pose.of(model.body_ipos[target], model.body_iquat[target])
    if kind == "xbody" and target >= 0:
        return reader.name("body", target), IDENTITY
    if kind == "joint" and target >= 0:
        return reader.name("body", int(model.jnt_bodyid[target])), Pose.of(model.jnt_pos[target])
    return WORLD, IDENTITY


def _read_sensor_settings(reader: MjcfReader, index: int, object_kind: str) -> dict[str, Any]:
    model = reader.model
    settings: dict[str, Any] = {"dimension": int(model.sensor_dim[index])}
    if object_kind:
        settings["object_type"] = object_kind
    reference_kind, reference = _read_sensor_object(reader, "ref", index)
    if reference_kind:
        settings["reference_type"], settings["reference"] = reference_kind, reference
    for name in ("cutoff", "noise", "delay"):
        value = float(reader.field(f"sensor_{name}", index, 0.0))
        if value:
            settings[name] = value
    for name in ("intprm", "history"):
        value = reader.field(f"sensor_{name}", index)
        if value is not None and np.any(value):
            settings[name] = make_plain(value)
    _, phase = reader.field("sensor_interval", index, (0.0, 0.0))
    if phase:
        settings["phase"] = float(phase)
    # of MuJoCo's own sensors stage and type follow from their kind; a user's own says them
    if str(reader.mujoco.mjtSensor(int(model.sensor_type[index])).name) == "mjSENS_USER":
        stage, kind = int(model.sensor_needstage[index]), int(model.sensor_datatype[index])
        settings["stage"] = reader.read_word("mjtStage", stage)
        settings["data_type"] = reader.read_word("mjtDataType", kind)
    if int(model.sensor_plugin[index]) >= 0:
        settings["plugin"] = reader.name("plugin", int(model.sensor_plugin[index]))
    return settings


def read_keyframes(reader: MjcfReader) -> None:
    """Keyframes in MuJoCo's order; activations and mocap poses are kept as extras."""
    model = reader.model
    for index in range(reader.count("key")):
        reader.asset.keyframes.append(
            Keyframe(
                name=reader.name("key", index),
                positions=_read_coordinates(reader, model.key_qpos[index], "qpos", POSITIONS),
                velocities=_read_coordinates(reader, model.key_qvel[index], "dof", VELOCITIES),
                controls=_read_controls(reader, model.key_ctrl[index]),
                time=float(model.key_time[index]),
            )
        )
        if model.na and np.any(model.key_act[index]):
            reader.keep("key", index, "act", model.key_act[index])
        # always, because MuJoCo's default is the place of each mocap body and not zero
        if model.nmocap:
            reader.keep("key", index, "mpos", model.key_mpos[index])
            reader.keep("key", index, "mquat", model.key_mquat[index])


def _read_coordinates(
    reader: MjcfReader, values: Any, address: str, counts: dict[Motion, int]
) -> dict[str, Any]:
    model = reader.model
    result: dict[str, Any] = {}
    for joint in range(reader.count("joint")):
        motion = Motion(reader.read_word("mjtJoint", model.jnt_type[joint]))
        start, count = int(getattr(model, f"jnt_{address}adr")[joint]), counts[motion]
        part = [float(v) for v in values[start : start + count]]
        result[reader.name("joint", joint)] = part[0] if count == 1 else part
    return result


def _read_controls(reader: MjcfReader, values: Any) -> dict[str, float]:
    result: dict[str, float] = {}
    for actuator in range(reader.count("actuator")):
        name, controls = reader.name("actuator", actuator), list_controls(reader, actuator)
        for number, control in enumerate(controls):
            result[name if len(controls) == 1 else f"{name}[{number}]"] = float(values[control])
    return result
