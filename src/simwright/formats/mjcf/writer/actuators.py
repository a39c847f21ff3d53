# SPDX-License-Identifier: Apache-2.0
"""``<actuator>``: the motors of the model, and a servo for every drive.

Motors that MuJoCo has a word for are written with it (motor, position, velocity, adhesion), all others by their law
(general).  A drive is a spring and a damper towards its targets: a position servo, or a velocity servo where it has
no stiffness; the targets are in the keyframe of the initial state.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.mjcf.actuators import USUAL_INPUTS
from simwright.formats.mjcf.writer.custom import find_plugin
from simwright.formats.mjcf.writer.draft import Draft, Freedom
from simwright.formats.mjcf.writer.messages import DRIVE_ACCELERATION, SETTING_LOST
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Drive

ACTUATOR_TAGS = ("motor", "position", "velocity", "adhesion", "general")
_SIX = 6
_DEFAULTS: dict[str, Any] = {"gear": (1, 0, 0, 0, 0, 0), "group": 0, "kv": 0.0}
_GENERAL: dict[str, Any] = {"gaintype": "fixed", "biastype": "none", "dyntype": "none"}
_RANGES = {"pos": "ctrlrange", "vel": "velrange", "ff": "ffrange"}
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
_LOST = ("effort_table", "delay_steps", "control", "model_path", "integral_gain", "dc_motor")


def write_actuators(draft: Draft) -> None:
    """Actuators in the order of the model, then drives in the order of the joints."""
    lost = [actuator for actuator in draft.asset.actuators if not _write_actuator(draft, actuator)]
    draft.lose("actuators", lost, "MuJoCo's general actuator has no such law or target")
    clipped = [a for a in draft.asset.actuators if a not in lost and any(k in a.settings for k in _LOST)]
    if clipped:
        what = "the effort table, delay or network"
        draft.reporter.report(
            SETTING_LOST, clipped[0].source, what=what, count=len(clipped), first=clipped[0].name
        )
    _write_drives(draft)


def _write_actuator(draft: Draft, actuator: Actuator) -> bool:
    law = actuator.settings
    word = str(law.get("mjcf", actuator.kind))
    target = _find_target(draft, actuator)
    if target is None:
        return False
    tag, values = _describe_law(actuator, word)
    if actuator.transmission == "body" and tag in ("motor", "position", "velocity"):
        return False  # MuJoCo moves bodies by adhesion and by general actuators only
    if "plugin" in law:
        tag, values = "plugin", {"instance": find_plugin(draft, law["plugin"]), **_describe_dynamics(law)}
        if values["instance"] is None:
            return False
    name = draft.claim("actuator", actuator.name)
    draft.note("actuator", actuator.name, name)
    values = {"name": name, **target, **_share(draft, actuator), **values}
    defaults = {**_DEFAULTS, **(_GENERAL if tag in ("general", "plugin") else {})}
    draft.add(draft.section("actuator"), tag, values, defaults)
    return True


def _find_target(draft: Draft, actuator: Actuator) -> dict[str, Any] | None:
    """The attributes that say what is moved; None if that was not written."""
    freedom = draft.dofs.get(actuator.target)
    law = actuator.settings
    found: dict[str, Any]
    match actuator.transmission:
        case "joint" | "joint_in_parent":
            word = "joint" if actuator.transmission == "joint" else "jointinparent"
            found = {word: freedom.name if freedom else None}
        case "tendon" | "body":
            found = {actuator.transmission: draft.name(actuator.transmission, actuator.target)}
        case "so3" if not law.get("reference_site"):
            found = {"joint": freedom.name if freedom else None}
        case "site" | "so3":
            found = {"site": draft.name("site", actuator.target)}
            if law.get("reference_site"):
                found["refsite"] = draft.name("site", law["reference_site"])
        case "slider_crank":
            found = {
                "cranksite": draft.name("site", actuator.target),
                "slidersite": draft.name("site", law.get("slider_site", "")),
            }
        case _:
            return None
    return None if None in found.values() else found


def _share(draft: Draft, actuator: Actuator) -> dict[str, Any]:
    """What all kinds have."""
    law = actuator.settings
    values: dict[str, Any] = {
        "ctrlrange": actuator.control_range,
        "forcerange": actuator.force_range,
        "gear": None
        if actuator.transmission == "body"
        else (*actuator.gear, *[0.0] * (_SIX - len(actuator.gear))),
    }
    for setting, attribute in _SETTINGS.items():
        if setting in law:
            values[attribute] = law[setting]
    if "history" in law:
        values |= {"nsample": law["history"]["samples"], "interp": law["history"]["interpolation"]}
    for word, limits in zip(law.get("input", "").split(), law.get("control_ranges", ()), strict=False):
        values[_RANGES.get(word, "ctrlrange")] = limits
    if "damping" in law or "dampingpoly" in law:
        values["damping"] = [law.get("damping", 0.0), *law.get("dampingpoly", ())]
    return values | draft.keep(actuator, "actuator", "group", "user")


def _describe_law(actuator: Actuator, word: str) -> tuple[str, dict[str, Any]]:
    law = actuator.settings
    if "gain_type" not in law:
        return _describe_plain(actuator)
    gain, bias = _trim(law.get("gain", [1.0])), _trim(law.get("bias", [0.0]))
    still = law.get("dynamics_type", "none") == "none" and _trim(law.get("dynamics", [1.0])) == [1.0]
    if word == "adhesion" and still and len(gain) == 1:
        return "adhesion", {"gain": gain[0]}
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
    lag = _trim(law.get("dynamics", [1.0]))
    return {"dyntype": law.get("dynamics_type", "none"), "dynprm": None if lag == [1.0] else lag}


def _describe_plain(actuator: Actuator) -> tuple[str, dict[str, Any]]:
    match actuator.kind:
        case "position":
            return "position", {"kp": actuator.stiffness, "kv": actuator.damping}
        case "velocity":
            # the default of kv is that of a servo, not zero
            return "velocity", {"kv": actuator.damping or 0.0}
    return "motor", {}


def _trim(values: list[float]) -> list[float]:
    """Without trailing zeros, at least one."""
    result = [float(v) for v in values]
    while len(result) > 1 and result[-1] == 0.0:
        result.pop()
    return result


def _write_drives(draft: Draft) -> None:
    accelerating: list[tuple[Freedom, Dof]] = []
    for limb in draft.limbs.values():
        for freedom in limb.freedoms:
            drive = freedom.dof.drive if freedom.dof else None
            if drive is None or freedom.dof is None:
                continue
            if drive.acceleration and (drive.stiffness or drive.damping):
                accelerating.append((freedom, freedom.dof))
                continue
            _write_drive(draft, freedom, drive)
    if accelerating:
        draft.reporter.report(DRIVE_ACCELERATION, count=len(accelerating), first=accelerating[0][0].name)


def _write_drive(draft: Draft, freedom: Freedom, drive: Drive) -> None:
    """A servo named after its joint."""
    limit = drive.max_force
    name = draft.claim("actuator", freedom.name)
    draft.note("drive", freedom.owner, name)
    values: dict[str, Any] = {
        "name": name,
        "joint": freedom.name,
        "forcerange": (-limit, limit) if math.isfinite(limit) else None,
    }
    draft.names["drive", freedom.name] = values["name"]
    if drive.stiffness and drive.target_velocity and drive.damping:
        bias = (drive.damping * drive.target_velocity, -drive.stiffness, -drive.damping)
        values |= {"biastype": "affine", "gainprm": drive.stiffness, "biasprm": bias}
        draft.add(draft.section("actuator"), "general", values, _GENERAL)
    elif drive.stiffness:
        values |= {"kp": drive.stiffness, "kv": drive.damping}
        draft.add(draft.section("actuator"), "position", values, _DEFAULTS)
    elif drive.damping:
        draft.add(draft.section("actuator"), "velocity", {**values, "kv": drive.damping})
    else:
        draft.add(draft.section("actuator"), "motor", values)


def find_target_control(drive: Drive) -> float:
    """The control at which a drive's servo does what the drive does at the start."""
    if drive.stiffness:
        return drive.target_position
    return drive.target_velocity if drive.damping else 0.0
