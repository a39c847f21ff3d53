# SPDX-License-Identifier: Apache-2.0
"""Actuators: MuJoCo's general law, and the plain ones it hides.

Every MuJoCo actuator is ``force = gain(...) * u + bias(...)`` with activation dynamics.  Servos are
recognised by that law, whichever element wrote it: fixed gain 1 and no bias is a motor; gain kp and bias
(0, -kp, -kd) a position servo; gain kv and bias (0, 0, -kv) a velocity servo.  The rest is ``general``;
``settings["mjcf"]`` says what MuJoCo calls it (muscle, cylinder, damper, adhesion, intvelocity ...).  The
whole law is in the settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.mjcf.context import Context, make_plain
from simwright.model.asset import Actuator
from simwright.model.servo import classify

INPUTS = {"pos": 1, "vel": 2, "ff": 4, "voltage": 8, "none": 16, "pressure": 32}
"""MuJoCo 4: bits of what a control means, by their MJCF word."""
USUAL_INPUTS = {"position": "pos", "velocity": "vel", "intvelocity": "vel", "cylinder": "pressure", "dcmotor": "voltage"}
"""What the control of an MJCF element means where nothing is said."""
INTERPOLATIONS = ("zoh", "linear", "cubic")
"""How MuJoCo 4 reads a history buffer, by its number."""
_TRANSMISSIONS = {
    "joint": ("joint", "joint"),
    "jointinparent": ("joint_in_parent", "joint"),
    "slidercrank": ("slider_crank", "site"),
    "tendon": ("tendon", "tendon"),
    "site": ("site", "site"),
    "body": ("body", "body"),
}


def read_actuators(context: Context) -> None:
    """Actuators in MuJoCo's order."""
    for index in range(context.count("actuator")):
        context.asset.actuators.append(_read_actuator(context, index))
        context.keep("actuator", index, "group", context.model.actuator_group[index], 0)
        context.keep_user("actuator", index, "actuator_user")


def controls_of(context: Context, index: int) -> range:
    """Addresses of an actuator's controls; before MuJoCo 4.0 there is exactly one."""
    start = int(context.field("actuator_ctrladr", index, index))
    return range(start, start + int(context.field("actuator_ctrlnum", index, 1)))


def _read_actuator(context: Context, index: int) -> Actuator:
    model = context.model
    law = _read_law(context, index)
    kind, mjcf = classify(law)
    transmission, target = _read_target(context, index)
    settings = _read_settings(context, index)
    if transmission == "body" or "plugin" in settings:
        kind, mjcf = "general", "plugin" if "plugin" in settings else "adhesion"
    meant = int(context.field("actuator_ctrlspec", index, INPUTS.get(USUAL_INPUTS.get(mjcf, ""), 0)))
    if meant != INPUTS.get(USUAL_INPUTS.get(mjcf, ""), 0):
        settings["input"] = " ".join(word for word, bit in INPUTS.items() if meant & bit)
    outputs = int(context.field("actuator_outadr", index, index))
    actuator = Actuator(
        name=context.name("actuator", index),
        kind=kind,
        target=target,
        transmission=transmission,
        gear=_trim(model.actuator_gear[outputs]),
        settings={"mjcf": mjcf, **law, **settings},
        path=context.key("actuator", index),
        source=context.where("actuator", index),
    )
    bias = law["bias"]
    if kind == "position":
        actuator.stiffness, actuator.damping = law["gain"][0], -bias[2]
    elif kind == "velocity":
        actuator.damping = law["gain"][0]
    controls = controls_of(context, index)
    if len(controls) == 1 and model.actuator_ctrllimited[controls[0]]:
        low, high = (float(v) for v in model.actuator_ctrlrange[controls[0]])
        actuator.control_range = (low, high)
    elif len(controls) != 1:
        actuator.settings["controls"] = len(controls)
        actuator.settings["control_ranges"] = [
            make_plain(model.actuator_ctrlrange[c]) if model.actuator_ctrllimited[c] else None
            for c in controls
        ]
    if model.actuator_forcelimited[index]:
        low, high = (float(v) for v in model.actuator_forcerange[index])
        actuator.force_range = (low, high)
    return actuator


def _read_law(context: Context, index: int) -> dict[str, Any]:
    model, mujoco = context.model, context.mujoco
    return {
        "gain_type": str(mujoco.mjtGain(int(model.actuator_gaintype[index])).name)[7:].lower(),
        "gain": [float(v) for v in model.actuator_gainprm[index]],
        "bias_type": str(mujoco.mjtBias(int(model.actuator_biastype[index])).name)[7:].lower(),
        "bias": [float(v) for v in model.actuator_biasprm[index]],
        "dynamics_type": str(mujoco.mjtDyn(int(model.actuator_dyntype[index])).name)[6:].lower(),
        "dynamics": [float(v) for v in model.actuator_dynprm[index]],
    }


def _read_target(context: Context, index: int) -> tuple[str, str]:
    model = context.model
    kind = str(context.mujoco.mjtTrn(int(model.actuator_trntype[index])).name)[6:].lower()
    target, reference = (int(v) for v in model.actuator_trnid[index])
    # MuJoCo 4's orientation actuator turns a ball joint, or a site against a reference site
    transmission, family = _TRANSMISSIONS.get(kind, (kind, "site" if reference >= 0 else "joint"))
    if target < 0 or target >= context.count(family):
        return transmission, ""
    return transmission, context.name(family, target)


def _read_settings(context: Context, index: int) -> dict[str, Any]:
    model = context.model
    settings: dict[str, Any] = {}
    kind = str(context.mujoco.mjtTrn(int(model.actuator_trntype[index])).name)[6:].lower()
    other = int(model.actuator_trnid[index][1])
    if other >= 0 and kind in ("site", "slidercrank", "so3"):
        settings["slider_site" if kind == "slidercrank" else "reference_site"] = context.name("site", other)
    if kind == "slidercrank":
        settings["crank_length"] = float(model.actuator_cranklength[index])
    if model.actuator_actlimited[index]:
        settings["activation_range"] = make_plain(model.actuator_actrange[index])
    if model.actuator_actearly[index]:
        settings["activation_early"] = True
    reach = model.actuator_lengthrange[int(context.field("actuator_outadr", index, index))]
    if np.any(reach):
        settings["length_range"] = make_plain(reach)
    for name in ("damping", "dampingpoly", "armature", "delay"):
        value = context.field(f"actuator_{name}", index)
        if value is not None and np.any(value):
            settings[name] = make_plain(value)
    samples, interpolation = context.field("actuator_history", index, (0, 0))
    if samples:
        settings["history"] = {"samples": int(samples), "interpolation": INTERPOLATIONS[int(interpolation)]}
    activations = int(getattr(context.spec_of("actuator", index), "actdim", -1))
    if activations >= 0:  # said, because it does not follow from the law: that is code
        settings["activations"] = activations
    if int(context.field("actuator_plugin", index, -1)) >= 0:
        settings["plugin"] = context.name("plugin", int(model.actuator_plugin[index]))
    return settings


def _trim(gear: Any) -> tuple[float, ...]:
    """Gear ratios without trailing zeros, at least one."""
    values = [float(v) for v in gear]
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return tuple(values)
