# SPDX-License-Identifier: Apache-2.0
"""``<actuator>``, ``<keyframe>`` and ``<sensor>``: motors, a servo for every drive, states of the model, and sensors.

Motors that MuJoCo has a word for are written with it (motor, position, velocity, adhesion), all others by their law
(general).  A drive is a spring and a damper towards its targets: a position servo, or a velocity servo where it has
no stiffness; the targets are in the keyframe of the initial state, which is written where MuJoCo would start otherwise.

MuJoCo's own sensors are written as they were read; those of other formats by their parts, most of them at a site.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.math3d import quat_conjugate, quat_rotate
from simwright.formats.mjcf.control import INTERPOLATIONS, USUAL_INPUTS
from simwright.formats.mjcf.writer.document import MjcfBody, MjcfDocument, MjcfJoint, describe_idle
from simwright.formats.mjcf.writer.geoms import add_site
from simwright.formats.mjcf.writer.messages import DRIVE_ACCELERATION, SERVO_IDLE, SETTING_LOST
from simwright.formats.mjcf.writer.options import find_plugin
from simwright.model.asset import Actuator, Keyframe, Sensor
from simwright.model.joint import POSITIONS, VELOCITIES, Dof, Drive, Motion
from simwright.resolve.sensors import AHEAD

ACTUATOR_TAGS = ("motor", "position", "velocity", "adhesion", "general")
_GEAR_LENGTH = 6
_SERVO_DEFAULTS: dict[str, Any] = {"gear": (1, 0, 0, 0, 0, 0), "group": 0, "kv": 0.0}
_GENERAL_DEFAULTS: dict[str, Any] = {"gaintype": "fixed", "biastype": "none", "dyntype": "none"}
_RANGE_ATTRIBUTES = {"pos": "ctrlrange", "vel": "velrange", "ff": "ffrange"}
"""Where the range of a control is said, by what it means."""
_SETTINGS = {
    "activation_range": "actrange",
    "activation_early": "actearly",
    "length_range": "lengthrange",
    "crank_length": "cranklength",
    "activations": "actdim",
    "armature": "armature",
    "delay": "delay",
}
# settings of other engines' actuators that MuJoCo has no law for
_LOST_SETTINGS = ("effort_table", "delay_steps", "control", "model_path", "integral_gain", "dc_motor")


def write_actuators(document: MjcfDocument) -> None:
    """Actuators in the order of the model, then drives in the order of the joints."""
    # in the order of the model: MuJoCo's ctrl has that order
    lost = [actuator for actuator in document.asset.actuators if not _write_actuator(document, actuator)]
    document.report_lost("actuators", lost, "MuJoCo's general actuator has no such law or target")
    clipped = [
        a for a in document.asset.actuators if a not in lost and any(k in a.settings for k in _LOST_SETTINGS)
    ]
    if clipped:
        what = "the effort table, delay or network"
        document.reporter.report(
            SETTING_LOST, clipped[0].source, what=what, count=len(clipped), first=clipped[0].name
        )
    if document.idle:
        first = document.idle[0]
        document.reporter.report(SERVO_IDLE, first.source, count=len(document.idle), first=first.name)
    _write_drives(document)


def _write_actuator(document: MjcfDocument, actuator: Actuator) -> bool:
    law = actuator.settings
    word = str(law.get("mjcf", actuator.kind))
    target = _find_target(document, actuator)
    if target is None:
        return False
    tag, values = _describe_law(actuator, word)
    if actuator.transmission == "body" and tag in ("motor", "position", "velocity"):
        return False  # MuJoCo moves bodies by adhesion and by general actuators only
    if "plugin" in law:
        tag, values = "plugin", {"instance": find_plugin(document, law["plugin"]), **_describe_dynamics(law)}
        # the plugin's own name and settings are unknown, so MuJoCo could not make it
        if values["instance"] is None:
            return False
    name = document.claim("actuator", actuator.name)
    document.note_written("actuator", actuator.name, name)
    values = {"name": name, **target, **_describe_shared(document, actuator), **values}
    defaults = {**_SERVO_DEFAULTS, **(_GENERAL_DEFAULTS if tag in ("general", "plugin") else {})}
    if tag == "velocity":
        del defaults["kv"]
    if tag in ("position", "velocity") and not (values.get("kp") or values.get("kv")):
        document.idle.append(actuator)
    document.add(document.section("actuator"), tag, values, defaults)
    return True


def _find_target(document: MjcfDocument, actuator: Actuator) -> dict[str, Any] | None:
    """The attributes that say what is moved; None if that was not written."""
    mjcf_joint = document.dofs.get(actuator.target)
    law = actuator.settings
    found: dict[str, Any]
    match actuator.transmission:
        case "joint" | "joint_in_parent":
            word = "joint" if actuator.transmission == "joint" else "jointinparent"
            # MuJoCo's joint that the dof became
            found = {word: mjcf_joint.name if mjcf_joint else None}
        case "tendon" | "body":
            found = {actuator.transmission: document.find_name(actuator.transmission, actuator.target)}
        case "so3" if not law.get("reference_site"):
            found = {"joint": mjcf_joint.name if mjcf_joint else None}
        case "site" | "so3":
            found = {"site": document.find_name("site", actuator.target)}
            if law.get("reference_site"):
                found["refsite"] = document.find_name("site", law["reference_site"])
        case "slider_crank":
            found = {
                "cranksite": document.find_name("site", actuator.target),
                "slidersite": document.find_name("site", law.get("slider_site", "")),
            }
        case _:
            return None
    return None if None in found.values() else found


def _describe_shared(document: MjcfDocument, actuator: Actuator) -> dict[str, Any]:
    """What all kinds have."""
    law = actuator.settings
    values: dict[str, Any] = {
        "ctrlrange": actuator.control_range,
        "forcerange": actuator.force_range,
        # adhesion has no gear
        "gear": None
        if actuator.transmission == "body"
        else (*actuator.gear, *[0.0] * (_GEAR_LENGTH - len(actuator.gear))),
    }
    for setting, attribute in _SETTINGS.items():
        if setting in law:
            values[attribute] = law[setting]
    if "history" in law:
        values |= {"nsample": law["history"]["samples"], "interp": law["history"]["interpolation"]}
    # MuJoCo 4: several controls of one actuator, each with a range of its own
    for word, limits in zip(law.get("input", "").split(), law.get("control_ranges", ()), strict=False):
        values[_RANGE_ATTRIBUTES.get(word, "ctrlrange")] = limits
    if "damping" in law or "dampingpoly" in law:
        values["damping"] = [law.get("damping", 0.0), *law.get("dampingpoly", ())]
    values |= document.find_kept(actuator, "actuator", "group", "user", "idle_ctrlrange", "idle_forcerange")
    describe_idle(values, "ctrlrange", "ctrllimited", is_limited=actuator.control_range is not None)
    return describe_idle(values, "forcerange", "forcelimited", is_limited=actuator.force_range is not None)


# one function: laws that MJCF has an element for, tried in order, then the general one
def _describe_law(actuator: Actuator, word: str) -> tuple[str, dict[str, Any]]:
    law = actuator.settings
    if "gain_type" not in law:
        return _describe_plain(actuator)
    gain, bias = _trim_zeros(law.get("gain", [1.0])), _trim_zeros(law.get("bias", [0.0]))
    # 1 is MuJoCo's default for the first number, which nothing uses without dynamics
    still = law.get("dynamics_type", "none") == "none" and _trim_zeros(law.get("dynamics", [1.0])) == [1.0]
    if word == "adhesion" and still and len(gain) == 1:
        return "adhesion", {"gain": gain[0]}
    # <motor>, <position> and <velocity> have no attributes for these
    plain = still and "activation_range" not in law and "input" not in law
    if actuator.kind in ("motor", "position", "velocity") and plain:
        return _describe_plain(actuator)
    return "general", {
        "input": law.get("input", USUAL_INPUTS.get(word)) or None,
        "gaintype": law["gain_type"],
        "gainprm": None if gain == [1.0] else gain,
        "biastype": law.get("bias_type", "none"),
        "biasprm": None if bias == [0.0] else bias,
        **_describe_dynamics(law),
    }


def _describe_dynamics(law: dict[str, Any]) -> dict[str, Any]:
    lag = _trim_zeros(law.get("dynamics", [1.0]))
    return {"dyntype": law.get("dynamics_type", "none"), "dynprm": None if lag == [1.0] else lag}


def _describe_plain(actuator: Actuator) -> tuple[str, dict[str, Any]]:
    match actuator.kind:
        case "position":
            # the default of kp, and that of kv below, is one: a gain that the source does not have
            return "position", {"kp": actuator.stiffness or 0.0, "kv": actuator.damping}
        case "velocity":
            return "velocity", {"kv": actuator.damping or 0.0}
    return "motor", {}


def _trim_zeros(values: list[float]) -> list[float]:
    """Without trailing zeros, at least one."""
    result = [float(v) for v in values]
    while len(result) > 1 and result[-1] == 0.0:
        result.pop()
    return result


def _write_drives(document: MjcfDocument) -> None:
    accelerating: list[tuple[MjcfJoint, Dof]] = []
    for mjcf_body in document.bodies.values():
        for mjcf_joint in mjcf_body.joints:
            drive = mjcf_joint.dof.drive if mjcf_joint.dof else None
            if drive is None or mjcf_joint.dof is None:
                continue
            # per unit of inertia: no constant gain does that
            if drive.acceleration and (drive.stiffness or drive.damping):
                accelerating.append((mjcf_joint, mjcf_joint.dof))
                continue
            _write_drive(document, mjcf_joint, drive)
    if accelerating:
        document.reporter.report(DRIVE_ACCELERATION, count=len(accelerating), first=accelerating[0][0].name)


def _write_drive(document: MjcfDocument, mjcf_joint: MjcfJoint, drive: Drive) -> None:
    """A servo named after its joint."""
    limit = drive.max_force
    name = document.claim("actuator", mjcf_joint.name)
    document.note_written("drive", mjcf_joint.owner, name)
    values: dict[str, Any] = {
        "name": name,
        "joint": mjcf_joint.name,
        "forcerange": (-limit, limit) if math.isfinite(limit) else None,
    }
    document.names["drive", mjcf_joint.name] = values["name"]
    # a position servo damps towards rest; the bias adds what keeps it moving at the target velocity
    if drive.stiffness and drive.target_velocity and drive.damping:
        bias = (drive.damping * drive.target_velocity, -drive.stiffness, -drive.damping)
        values |= {"biastype": "affine", "gainprm": drive.stiffness, "biasprm": bias}
        document.add(document.section("actuator"), "general", values, _GENERAL_DEFAULTS)
    elif drive.stiffness:
        values |= {"kp": drive.stiffness, "kv": drive.damping}
        document.add(document.section("actuator"), "position", values, _SERVO_DEFAULTS)
    elif drive.damping:
        document.add(document.section("actuator"), "velocity", {**values, "kv": drive.damping})
    else:
        document.add(document.section("actuator"), "motor", values)


def _find_target_control(drive: Drive) -> float:
    """The control at which a drive's servo does what the drive does at the start."""
    if drive.stiffness:
        return drive.target_position
    return drive.target_velocity if drive.damping else 0.0


INITIAL = "initial"


def write_keyframes(document: MjcfDocument) -> None:
    """Keyframes in their order; the initial state last, if it is not MuJoCo's own."""
    controls = _list_controls(document)
    for key in document.asset.keyframes:
        _write_key(document, key, controls)
    qpos, qvel, ctrl = _find_initial(document, controls)
    rest = np.concatenate(
        [_find_rest(mjcf_body, f) for mjcf_body, f in _list_joints(document)] or [np.zeros(0)]
    )
    values: dict[str, Any] = {
        "qpos": None if np.array_equal(qpos, rest) else qpos,
        "qvel": qvel if qvel.any() else None,
        "ctrl": ctrl if any(ctrl) else None,
    }
    if any(value is not None for value in values.values()):
        name = document.claim("key", INITIAL)
        document.note_written("initial", "", name)
        document.add(document.section("keyframe"), "key", {"name": name, **values})


def _list_joints(document: MjcfDocument) -> list[tuple[MjcfBody, MjcfJoint]]:
    return [
        (mjcf_body, mjcf_joint) for mjcf_body in document.bodies.values() for mjcf_joint in mjcf_body.joints
    ]


def _list_controls(document: MjcfDocument) -> list[str]:
    """Names of the written actuators in order, one of several controls as ``name[0]``, ``name[1]`` ..."""
    section = document.root.find("actuator")
    counts = {
        document.find_name("actuator", a.name): a.settings.get("controls") for a in document.asset.actuators
    }
    names: list[str] = []
    for node in () if section is None else section:
        name = str(node.get("name"))
        count = counts.get(name)
        names += [name] if count is None else [f"{name}[{number}]" for number in range(count)]
    return names


def _find_rest(mjcf_body: MjcfBody, mjcf_joint: MjcfJoint) -> Any:
    """MuJoCo's own coordinates before anything moves."""
    match mjcf_joint.motion:
        case Motion.FREE:
            return np.concatenate((mjcf_body.pose.p, mjcf_body.pose.q))
        case Motion.BALL:
            return np.array((1.0, 0.0, 0.0, 0.0))
    return np.array((mjcf_joint.dof.ref if mjcf_joint.dof else 0.0,))


def _write_key(document: MjcfDocument, key: Keyframe, controls: list[str]) -> None:
    qpos, qvel = [], []
    for mjcf_body, mjcf_joint in _list_joints(document):
        name = mjcf_joint.dof.name if mjcf_joint.dof else mjcf_joint.name
        qpos.append(
            _fit_length(
                _convert_coordinates(mjcf_joint, key.positions.get(name)), _find_rest(mjcf_body, mjcf_joint)
            )
        )
        qvel.append(_fit_length(key.velocities.get(name), np.zeros(VELOCITIES[mjcf_joint.motion])))
    given: dict[str, float] = {}
    for name, value in key.controls.items():
        # name[0], name[1]: controls of one actuator with several
        plain, bracket, number = name.partition("[")
        given[f"{document.find_name('actuator', plain) or plain}{bracket}{number}"] = value
    ctrl = [given.get(name, 0.0) for name in controls]
    velocity = np.concatenate(qvel) if qvel else np.zeros(0)
    name = document.claim("key", key.name)
    document.note_written("keyframe", key.name, name)
    values: dict[str, Any] = {
        "name": name,
        "time": key.time or None,
        "qpos": np.concatenate(qpos) if qpos else None,
        "qvel": velocity if velocity.any() else None,
        "ctrl": ctrl if any(ctrl) else None,
        **_restore_states(document, key),
    }
    document.add(document.section("keyframe"), "key", values)


def _restore_states(document: MjcfDocument, key: Keyframe) -> dict[str, Any]:
    """What the model has no words for: inner states of actuators, places of bodies that are moved from outside."""
    found = {}
    for name in ("act", "mpos", "mquat"):
        value = document.kept.take(f"key/{key.name}", name)
        if value is None and key.path:
            value = document.kept.take(key.path, name)
        found[name] = None if value is None else np.ravel(value)
    return found


def _convert_coordinates(mjcf_joint: MjcfJoint, values: Any) -> Any:
    return None if values is None else mjcf_joint.convert(values)


def _fit_length(given: Any, default: Any) -> Any:
    values = default if given is None else np.atleast_1d(np.asarray(given, dtype=np.float64))
    # a value with another number of coordinates than the written joint has does not count
    return values if len(values) == len(default) else default


def _find_initial(document: MjcfDocument, controls: list[str]) -> tuple[Any, Any, list[float]]:
    qpos, qvel = [np.zeros(0)], [np.zeros(0)]
    targets: dict[str, float] = {}
    for mjcf_body, mjcf_joint in _list_joints(document):
        dof = mjcf_joint.dof
        # a free body starts where it is placed in the tree (bodies.py)
        start = None if dof is None or mjcf_joint.motion is Motion.FREE else dof.position
        qpos.append(_fit_length(_convert_coordinates(mjcf_joint, start), _find_rest(mjcf_body, mjcf_joint)))
        assert len(qpos[-1]) == POSITIONS[mjcf_joint.motion]
        speed = None if dof is None else dof.velocity
        still = _find_velocity(mjcf_body, mjcf_joint)
        qvel.append(_fit_length(speed, still))
        if dof is not None and dof.drive is not None:
            targets[document.names.get(("drive", mjcf_joint.name), "")] = _find_target_control(dof.drive)
    ctrl = [targets.get(name, 0.0) for name in controls]
    return np.concatenate(qpos), np.concatenate(qvel), ctrl


def _find_velocity(mjcf_body: MjcfBody, mjcf_joint: MjcfJoint) -> Any:
    """Of a free body, as MuJoCo counts: linear in the world, angular in the body."""
    velocity = np.zeros(VELOCITIES[mjcf_joint.motion])
    if mjcf_joint.motion is Motion.FREE:
        body = mjcf_body.body
        if body.linear_velocity is not None:
            velocity[:3] = body.linear_velocity
        if body.angular_velocity is not None:
            # the model has both in the axes of the world
            velocity[3:] = quat_rotate(quat_conjugate(mjcf_body.pose.q), body.angular_velocity)
    return velocity


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
    "imu": (("accelerometer", "linear_acceleration"), ("gyro", "angular_velocity")),
    "accelerometer": (("accelerometer", ""),),
    "gyroscope": (("gyro", ""),),
    "force_torque": (("force", "force"), ("torque", "torque")),
    "magnetometer": (("magnetometer", ""),),
    "joint_encoder": (("jointpos", "position"), ("jointvel", "velocity")),
    "range": (("rangefinder", ""),),
    "sonar": (("rangefinder", ""),),
    "contact": (("contact", ""),),
}
"""Sensors of other formats -> MuJoCo's, and what each of them measures."""
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
        target = _find_measured(document, sensor)
        if target is not None:
            _write_sensor(document, sensor, target)
        elif (
            sensor.kind in _PARTS
            and not sensor.settings.get("object_type")
            and _write_parts(document, sensor)
        ):
            continue
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
def _find_measured(document: MjcfDocument, sensor: Sensor) -> dict[str, Any] | None:
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


def _write_parts(document: MjcfDocument, sensor: Sensor) -> bool:
    """The parts of a sensor that MuJoCo has one word for each; False where it has none for what is measured."""
    wanted = sensor.settings.get("measures")
    rows = [(word, what) for word, what in _PARTS[sensor.kind] if not wanted or not what or what in wanted]
    place = _place_parts(document, sensor, rows[0][0]) if rows else None
    if place is None:
        return False
    for word, what in rows:
        name = document.claim("sensor", sensor.name if len(rows) == 1 else f"{sensor.name}_{word}")
        document.note_written("sensor", sensor.name, name)
        values: dict[str, Any] = {"name": name, **place}
        values["noise"] = _find_deviation(sensor.settings, what) or None
        # a cutoff is the largest value that is given
        values["cutoff"] = sensor.settings.get("max") if word == "rangefinder" else None
        values["interval"] = 1.0 / sensor.rate if sensor.rate else None
        document.add(document.section("sensor"), word, values)
    return True


def _place_parts(document: MjcfDocument, sensor: Sensor, word: str) -> dict[str, Any] | None:
    """What the parts measure: a joint, a body, or what is felt at a site, which is made for all of them."""
    if sensor.kind == "joint_encoder":
        joint = _name_target(document, "joint", sensor.target)
        return {"joint": joint} if joint else None
    if word == "contact":
        body = document.find_name("body", sensor.body) if sensor.body else None
        return {"body1": body, "data": "force", "reduce": "netforce", "num": 1} if body else None
    # MuJoCo's range finders look along +Z, all others along +X
    pose = sensor.pose @ ~AHEAD if word == "rangefinder" else sensor.pose
    return {"site": add_site(document, sensor.name, sensor.body, pose)}


def _find_deviation(settings: dict[str, Any], what: str) -> float:
    """The one number that MuJoCo has for noise: the largest of the axes."""
    lead = f"{what}_" if what else ""
    keys = (f"{lead}noise_stddev", *(f"{lead}{axis}_noise_stddev" for axis in "xyz"))
    found = [settings[key] for key in keys if isinstance(settings.get(key), (int, float))]
    return max((float(value) for value in found), default=0.0)
