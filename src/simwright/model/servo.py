# SPDX-License-Identifier: Apache-2.0
"""The affine law of motors, and the plain servos it hides.

Every actuator of the model may carry MuJoCo's law in its settings: ``force = gain(...) * u + bias(...)`` with
activation dynamics.  Readers recognise servos by that law, whichever format wrote it: fixed gain 1 and no
bias is a motor; gain kp and bias (0, -kp, -kd) a position servo; gain kv and bias (0, 0, -kv) a velocity
servo.  The rest is ``general``.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.model.elements import Actuator
from simwright.model.joint import Dof, Drive, Motion

_PLAIN_DYNAMICS = ("none", "filter", "filterexact")
_SIZE = 10


def classify(law: dict[str, Any]) -> tuple[str, str]:
    """The model's kind and MuJoCo's word for an affine law."""
    gain, dynamics = law["gain"], law["dynamics_type"]
    types = (law["gain_type"], law["bias_type"])
    fixed = types[0] == "fixed" and not any(gain[1:])
    if fixed and types[1] == "none" and dynamics in _PLAIN_DYNAMICS and gain[0] == 1.0:
        # MJCF's <motor> has no dynamics: with a filter it can only be written as <general>
        return ("motor", "motor") if dynamics == "none" else ("general", "general")
    servo = _find_servo(gain[0], law["bias"]) if fixed and types[1] == "affine" else None
    if servo is None:
        return "general", _special_word(law, types)
    if dynamics in _PLAIN_DYNAMICS:
        return servo, servo
    # an integrator before a position servo is what MJCF calls <intvelocity>
    return "general", "intvelocity" if (servo, dynamics) == ("position", "integrator") else "general"


def _find_servo(gain: float, bias: list[float]) -> str | None:
    """Which servo a fixed gain and an affine bias are: "position", "velocity" or None."""
    constant, stiffness, damping = bias[:3]
    if constant != 0.0 or any(bias[3:]) or not gain > 0.0:
        return None
    if stiffness == -gain and damping <= 0.0:
        return "position"
    return "velocity" if stiffness == 0.0 and damping == -gain else None


def _special_word(law: dict[str, Any], types: tuple[str, str]) -> str:
    for word in ("muscle", "dcmotor", "pid", "so3"):
        if word in types or law["dynamics_type"] == word:
            return word
    gain = law["gain"]
    if types == ("affine", "none") and gain[0] == gain[1] == 0.0 and gain[2] <= 0.0:
        return "damper"
    if types == ("fixed", "affine") and law["dynamics_type"] == "filter":
        return "cylinder"
    return "general"


def make_law(kind: str, stiffness: float = 0.0, damping: float = 0.0) -> dict[str, Any]:
    """MuJoCo's law of a plain motor or servo."""
    gain = {"position": stiffness, "velocity": damping}.get(kind, 1.0)
    bias = {"position": (0.0, -stiffness, -damping), "velocity": (0.0, 0.0, -damping)}.get(
        kind, (0.0, 0.0, 0.0)
    )
    return {
        "gain_type": "fixed",
        "gain": [gain] + [0.0] * (_SIZE - 1),
        "bias_type": "affine" if any(bias) else "none",
        "bias": [*bias] + [0.0] * (_SIZE - 3),
        "dynamics_type": "none",
        "dynamics": [1.0] + [0.0] * (_SIZE - 1),
    }


def make_drive(actuator: Actuator, dof: Dof) -> Drive | None:
    """The drive that moves a hinge or slide as a servo does, at a target of zero; None for what no drive does.

    Through a gear g, a command u is a target of u / g, gains are multiplied by g^2 and forces by g.
    """
    gear, law = actuator.gear[0], actuator.settings
    is_plain = (
        actuator.kind in ("position", "velocity")
        and actuator.transmission in ("joint", "joint_in_parent")
        and dof.motion in (Motion.HINGE, Motion.SLIDE)
        and law.get("dynamics_type", "none") == "none"
        and "effort_table" not in law
    )
    if not is_plain or not gear or any(actuator.gear[1:]):
        return None
    limits = [math.inf if dof.effort_limit is None else dof.effort_limit]
    if actuator.force_range is not None:
        # a drive is as strong both ways; the stronger one, or it could not hold what the servo holds
        limits.append(max(map(abs, actuator.force_range)) * abs(gear))
    return Drive(
        stiffness=actuator.stiffness * gear**2 if actuator.kind == "position" else 0.0,
        damping=actuator.damping * gear**2,
        max_force=min(limits),
    )


def pulls_to_position(dof: Dof) -> bool:
    """Does a drive hold a hinge or slide at a position with a spring whose stiffness is said [N m/rad, N/m]?"""
    drive = dof.drive
    return (
        drive is not None
        and dof.motion in (Motion.HINGE, Motion.SLIDE)
        and drive.stiffness > 0.0
        and not drive.acceleration
        and drive.target_velocity == 0.0
    )


def is_servo(drive: Drive) -> bool:
    """Whether a constant gain does what a drive does: one that is given per unit of inertia it cannot be."""
    return not (drive.acceleration and (drive.stiffness or drive.damping))


def make_servo(dof: Dof, drive: Drive) -> Actuator:
    """The actuator that moves a hinge or slide as its drive does; without gains, a motor."""
    kind = "position" if drive.stiffness else "velocity" if drive.damping else "motor"
    servo = Actuator(dof.name, kind, dof.name, stiffness=drive.stiffness, damping=drive.damping)
    if math.isfinite(drive.max_force):
        servo.force_range = (-drive.max_force, drive.max_force)
    return servo


def has_one_axis(dof: Dof) -> bool:
    """Is it a hinge or a slide?"""
    return dof.motion in (Motion.HINGE, Motion.SLIDE)


def has_rotor(dof: Dof) -> bool:
    """Does Drake give it an actuator, whose rotor is felt at the joint?  Not where the effort is limited to zero."""
    return has_one_axis(dof) and dof.effort_limit != 0.0
