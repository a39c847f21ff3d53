# SPDX-License-Identifier: Apache-2.0
"""``<joint>``: origin, axis, limits, dynamics, mimic, safety and calibration.

Effort limits are the joint's own; where it has none, those of its drive or of its motor.
"""

from __future__ import annotations

import math

from lxml import etree

from simwright.formats.urdf.writer.draft import Draft, Mount
from simwright.formats.urdf.writer.messages import LIMIT_CHOSEN
from simwright.formats.urdf.writer.numbers import UNBOUNDED, format_number, format_numbers, tidy, write_origin
from simwright.formats.xml import Element
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Mimic

_SAFETY = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
_CALIBRATION = ("rising", "falling", "reference_position")


def write_joints(draft: Draft) -> None:
    """Every joint of the plan."""
    writer = _JointWriter(draft)
    for mount in draft.mounts:
        writer.write(mount)
    writer.report()


class _JointWriter:
    """Writes joints; keeps what has to be said about them."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._motors: dict[str, list[Actuator]] = {}
        for actuator in draft.asset.actuators:
            if actuator.transmission == "joint":
                self._motors.setdefault(actuator.target, []).append(actuator)
        self._mimics: dict[str, Mimic] = {}
        self._unsaid: dict[str, list[str]] = {}
        self._left: list[Mimic] = []
        for mimic in draft.asset.mimics:
            self._take_mimic(mimic)

    def _take_mimic(self, mimic: Mimic) -> None:
        known = self._draft.dofs
        is_plain = mimic.enabled and not any(mimic.polynomial)
        if (
            is_plain
            and mimic.follower in known
            and mimic.leader in known
            and mimic.follower not in self._mimics
        ):
            self._mimics[mimic.follower] = mimic
        elif is_plain:
            self._left.append(mimic)

    def write(self, mount: Mount) -> None:
        """One joint."""
        node = etree.SubElement(self._draft.root, "joint", {"name": mount.name, "type": mount.type})
        write_origin(node, mount.origin)
        etree.SubElement(node, "parent", {"link": mount.parent})
        etree.SubElement(node, "child", {"link": mount.child})
        if mount.axis is not None:
            etree.SubElement(node, "axis", {"xyz": format_numbers(tidy(mount.axis))})
        self._write_calibration(node, mount)
        if mount.type in ("revolute", "prismatic", "continuous"):
            self._write_limit(node, mount)
        if mount.dof is not None and mount.type != "floating":
            _write_dynamics(node, mount.dof)
        self._write_mimic(node, mount)
        if mount.dof is not None and mount.dof.safety:
            safety = {"k_velocity": 0.0, **mount.dof.safety}
            values = {key: format_number(safety[key]) for key in _SAFETY if key in safety}
            etree.SubElement(node, "safety_controller", values)

    def _write_limit(self, node: Element, mount: Mount) -> None:
        dof = mount.dof
        effort = None if dof is None else self._find_effort(dof)
        speed = None if dof is None else dof.velocity_limit
        values: dict[str, float] = {}
        if mount.type != "continuous":
            lower, upper = (-math.inf, math.inf) if dof is None else (dof.lower, dof.upper)
            if math.isinf(lower) or math.isinf(upper):
                self._unsaid.setdefault("range", []).append(mount.name)
            values = {"lower": lower, "upper": upper}
        elif effort is None and speed is None:
            return
        for word, value in (("effort", effort), ("velocity", speed)):
            values[word] = UNBOUNDED if value is None else value
            if value is None:
                self._unsaid.setdefault(f"{word} limit", []).append(mount.name)
        acceleration = self._recall(mount, "limit.acceleration")
        if acceleration is not None:
            values["acceleration"] = acceleration
        etree.SubElement(node, "limit", {key: format_number(value) for key, value in values.items()})

    def _find_effort(self, dof: Dof) -> float | None:
        """The joint's own limit, else that of its drive, else that of its motor [N m or N]."""
        limits = [dof.effort_limit, None if dof.drive is None else dof.drive.max_force]
        limits += [_find_force(motor) for motor in self._motors.get(dof.name, ())]
        return next((limit for limit in limits if limit is not None and math.isfinite(limit)), None)

    def _recall(self, mount: Mount, key: str) -> float | None:
        """A value that a URDF file said and the model has no word for."""
        if mount.joint is None or (mount.dof is None and mount.type not in ("fixed", "floating")):
            return None
        value = self._draft.asset.extras.get("urdf", mount.joint.name, key)
        return float(value) if isinstance(value, int | float) else None

    def _write_calibration(self, node: Element, mount: Mount) -> None:
        values = {key: self._recall(mount, f"calibration.{key}") for key in _CALIBRATION}
        said = {key: format_number(value) for key, value in values.items() if value is not None}
        if said:
            etree.SubElement(node, "calibration", said)

    def _write_mimic(self, node: Element, mount: Mount) -> None:
        rule = mount.follows
        mimic = None if mount.dof is None else self._mimics.get(mount.dof.name)
        if mimic is not None and self._draft.dofs[mimic.follower] is mount:
            rule = (self._draft.dofs[mimic.leader].name, mimic.multiplier, mimic.offset)
        if rule is not None:
            leader, multiplier, offset = rule
            values = {
                "joint": leader,
                "multiplier": format_number(multiplier),
                "offset": format_number(offset),
            }
            etree.SubElement(node, "mimic", values)

    def report(self) -> None:
        """What could not be said, and what had to be."""
        self._draft.lose(
            "mimic(s) of joints", self._left, "URDF has one for each follower, of joints that it has"
        )
        for what, names in self._unsaid.items():
            self._draft.reporter.report(LIMIT_CHOSEN, what=what, count=len(names), first=names[0])


def _find_force(motor: Actuator) -> float | None:
    """The largest effort of a motor at the joint."""
    gear = abs(float(motor.gear[0])) if motor.gear else 1.0
    bounds = motor.force_range
    if bounds is None and motor.kind == "motor":
        bounds = motor.control_range
    return None if bounds is None else gear * max(abs(value) for value in bounds)


def _write_dynamics(node: Element, dof: Dof) -> None:
    values = {"damping": dof.damping, "friction": dof.friction}
    said = {key: format_number(value) for key, value in values.items() if value is not None}
    if said:
        etree.SubElement(node, "dynamics", said)
