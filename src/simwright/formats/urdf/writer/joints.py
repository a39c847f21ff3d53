# SPDX-License-Identifier: Apache-2.0
"""``<joint>``, ``<transmission>`` and ``<ros2_control>``: how links move, and how joints are driven.

Effort limits are the joint's own; where it has none, those of its drive or of its motor.

What a URDF file said about control is written again.  Motors of other formats become one ``<ros2_control>`` block with
the command that each takes; which hardware drives them is not known, so the plugin is the one that mirrors its
commands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lxml import etree

from simwright.core.errors import SimwrightError
from simwright.formats.holds import report_lost
from simwright.formats.parts.numbers import tidy
from simwright.formats.parts.words import clean_text
from simwright.formats.urdf.writer.document import (
    UNBOUNDED,
    UrdfDocument,
    UrdfJoint,
    format_number,
    format_numbers,
    write_origin,
)
from simwright.formats.urdf.writer.messages import CONTROL_ASSUMED, LIMIT_CHOSEN
from simwright.formats.xml import RATIO_WORD, ROTOR_WORD, Element, find_space, parse_bytes
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Mimic
from simwright.model.ros import Controller
from simwright.model.servo import has_one_axis, has_rotor

_SAFETY_ATTRIBUTES = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
_CALIBRATION_ATTRIBUTES = ("rising", "falling", "reference_position")


def write_joints(document: UrdfDocument) -> None:
    """Every joint of the plan."""
    writer = _JointWriter(document)
    for urdf_joint in document.joints:
        writer.write(urdf_joint)
    writer.report()


class _JointWriter:
    """Writes joints; keeps what has to be said about them."""

    def __init__(self, document: UrdfDocument) -> None:
        self._document = document
        self._motors: dict[str, list[Actuator]] = {}
        for actuator in document.asset.actuators:
            if actuator.transmission == "joint":
                self._motors.setdefault(actuator.target, []).append(actuator)
        self._mimics: dict[str, Mimic] = {}
        self._unsaid: dict[str, list[str]] = {}
        self._left: list[Mimic] = []
        for mimic in document.asset.mimics:
            self._take_mimic(mimic)

    def _take_mimic(self, mimic: Mimic) -> None:
        known = self._document.dofs
        # polynomials are reported by the table of holds; URDF's mimic is linear
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

    def write(self, urdf_joint: UrdfJoint) -> None:
        """One joint."""
        node = etree.SubElement(
            self._document.root, "joint", {"name": urdf_joint.name, "type": urdf_joint.type}
        )
        write_origin(node, urdf_joint.origin)
        etree.SubElement(node, "parent", {"link": urdf_joint.parent})
        etree.SubElement(node, "child", {"link": urdf_joint.child})
        if urdf_joint.axis is not None:
            etree.SubElement(node, "axis", {"xyz": format_numbers(tidy(urdf_joint.axis))})
        self._write_calibration(node, urdf_joint)
        if urdf_joint.type in ("revolute", "prismatic", "continuous"):
            self._write_limit(node, urdf_joint)
        if urdf_joint.dof is not None and urdf_joint.type != "floating":
            _write_dynamics(node, urdf_joint.dof)
        self._write_mimic(node, urdf_joint)
        if urdf_joint.dof is not None and urdf_joint.dof.safety:
            # urdfdom wants it in every <safety_controller>
            safety = {"k_velocity": 0.0, **urdf_joint.dof.safety}
            values = {key: format_number(safety[key]) for key in _SAFETY_ATTRIBUTES if key in safety}
            etree.SubElement(node, "safety_controller", values)

    # one function: what is said, what has to be said and what is missing depend on each other
    def _write_limit(self, node: Element, urdf_joint: UrdfJoint) -> None:
        dof = urdf_joint.dof
        effort = None if dof is None else self._find_effort(dof)
        speed = None if dof is None else dof.velocity_limit
        values: dict[str, float] = {}
        if urdf_joint.type != "continuous":
            lower, upper = (-math.inf, math.inf) if dof is None else (dof.lower, dof.upper)
            if math.isinf(lower) or math.isinf(upper):
                self._unsaid.setdefault("range", []).append(urdf_joint.name)
            values = {"lower": lower, "upper": upper}
        # a continuous joint needs no <limit>
        elif effort is None and speed is None:
            return
        for word, value in (("effort", effort), ("velocity", speed)):
            # urdfdom wants both numbers wherever there is a <limit>
            values[word] = UNBOUNDED if value is None else value
            if value is None:
                self._unsaid.setdefault(f"{word} limit", []).append(urdf_joint.name)
        acceleration = self._recall(urdf_joint, "limit.acceleration")
        if acceleration is not None:
            values["acceleration"] = acceleration
        etree.SubElement(node, "limit", {key: format_number(value) for key, value in values.items()})

    def _find_effort(self, dof: Dof) -> float | None:
        """The joint's own limit, else that of its drive, else that of its motor [N m or N]."""
        limits = [dof.effort_limit, None if dof.drive is None else dof.drive.max_force]
        limits += [_find_force(motor) for motor in self._motors.get(dof.name, ())]
        return next((limit for limit in limits if limit is not None and math.isfinite(limit)), None)

    def _recall(self, urdf_joint: UrdfJoint, key: str) -> float | None:
        """A value that a URDF file said and the model has no word for."""
        if urdf_joint.joint is None or (
            urdf_joint.dof is None and urdf_joint.type not in ("fixed", "floating")
        ):
            return None
        # kept by the URDF reader under the name of the joint
        value = self._document.asset.extras.get("urdf", urdf_joint.joint.name, key)
        return float(value) if isinstance(value, (int, float)) else None

    def _write_calibration(self, node: Element, urdf_joint: UrdfJoint) -> None:
        values = {key: self._recall(urdf_joint, f"calibration.{key}") for key in _CALIBRATION_ATTRIBUTES}
        said = {key: format_number(value) for key, value in values.items() if value is not None}
        if said:
            etree.SubElement(node, "calibration", said)

    def _write_mimic(self, node: Element, urdf_joint: UrdfJoint) -> None:
        rule = urdf_joint.follows
        mimic = None if urdf_joint.dof is None else self._mimics.get(urdf_joint.dof.name)
        if mimic is not None and self._document.dofs[mimic.follower] is urdf_joint:
            rule = (self._document.dofs[mimic.leader].name, mimic.multiplier, mimic.offset)
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
        self._document.report_lost(
            "mimic(s) of joints", self._left, "URDF has one for each follower, of joints that it has"
        )
        for what, names in self._unsaid.items():
            self._document.reporter.report(LIMIT_CHOSEN, what=what, count=len(names), first=names[0])


def _find_force(motor: Actuator) -> float | None:
    """The largest effort of a motor at the joint."""
    gear = abs(float(motor.gear[0])) if motor.gear else 1.0
    bounds = motor.force_range
    # the control of a motor is its force
    if bounds is None and motor.kind == "motor":
        bounds = motor.control_range
    return None if bounds is None else gear * max(abs(value) for value in bounds)


def _write_dynamics(node: Element, dof: Dof) -> None:
    values = {"damping": dof.damping, "friction": dof.friction}
    said = {key: format_number(value) for key, value in values.items() if value is not None}
    if said:
        etree.SubElement(node, "dynamics", said)


MIRROR_PLUGIN = "mock_components/GenericSystem"
_COMMAND_INTERFACES = {"position": "position", "velocity": "velocity", "motor": "effort", "general": "effort"}
_STATE_INTERFACES = ("position", "velocity", "effort")
_WRITTEN_SETTINGS = ("transmission", "type", "hardware_interfaces")


def write_control(document: UrdfDocument) -> None:
    """Transmissions, ros2_control blocks as they were, and one for motors that have neither."""
    asset = document.asset
    _write_transmissions(document, [a for a in asset.actuators if "transmission" in a.settings])
    blocks = [c for c in asset.controllers if c.kind == "ros2_control"]
    for controller in blocks:
        _write_block(document, controller)
    motors = [a for a in asset.actuators if a.transmission == "joint" and "transmission" not in a.settings]
    # a robot that has blocks of its own says there what drives it; a second block would claim the same joints
    lost = motors if blocks else _write_motors(document, motors)
    document.report_lost("actuator(s)", lost, "the blocks of ros2_control say which joints are driven")


# one function: joints come before actuators in a transmission, so its members are walked twice
def _write_transmissions(document: UrdfDocument, actuators: list[Actuator]) -> None:
    names = {joint.name: joint.public_name for joint in document.asset.joints}
    rotors = _settle_rotors(document, actuators)
    # one transmission may have several actuators
    groups: dict[str, list[Actuator]] = {}
    for actuator in actuators:
        groups.setdefault(str(actuator.settings["transmission"]), []).append(actuator)
    for name, members in groups.items():
        node = etree.SubElement(document.root, "transmission", {"name": clean_text(name)})
        etree.SubElement(node, "type").text = clean_text(str(members[0].settings.get("type", "")))
        interfaces = [[str(i) for i in a.settings.get("hardware_interfaces", ())] for a in members]
        for actuator, words in zip(members, interfaces, strict=True):
            target = document.dofs.get(actuator.target)
            driven = target.name if target else names.get(actuator.target, actuator.target)
            joint = etree.SubElement(node, "joint", {"name": clean_text(driven)})
            for word in words:
                etree.SubElement(joint, "hardwareInterface").text = clean_text(f"hardware_interface/{word}")
        for actuator in members:
            motor = etree.SubElement(node, "actuator", {"name": clean_text(actuator.name)})
            for key, value in {**actuator.settings, **rotors.get(actuator.name, {})}.items():
                # leaves that the reader kept, under the tags they had
                if key not in _WRITTEN_SETTINGS and isinstance(value, str):
                    _write_leaf(motor, key, clean_text(value))
            etree.SubElement(motor, "mechanicalReduction").text = format_number(actuator.gear[0])


_ROTOR, _RATIO = ROTOR_WORD.replace(":", "."), RATIO_WORD.replace(":", ".")
_SAME_ARMATURE = 1e-6
"""Relative: OpenUSD keeps armature as a float."""


def _settle_rotors(document: UrdfDocument, actuators: list[Actuator]) -> dict[str, dict[str, str]]:
    """Inertias of rotors, by actuator, where what the transmissions say is not the armature of the model."""
    settled: dict[str, dict[str, str]] = {}
    lost: list[Dof] = []
    for dof in (dof for joint in document.asset.joints if joint.enabled for dof in joint.dofs):
        rotors = _settle_motors(dof, [actuator for actuator in actuators if actuator.target == dof.name])
        settled |= rotors or {}
        # other freedoms are reported by the table of holds
        if rotors is None and has_one_axis(dof):
            lost.append(dof)
    if lost:
        what = f"the armature of {len(lost)} joint{'s' if len(lost) > 1 else ''}"
        advice = f"Drake alone has a word for it, <{ROTOR_WORD}> of a transmission"
        report_lost(
            document.reporter, "URDF", what, lost, moves=True, advice=advice, aspect="joints.dofs.armature"
        )
    return settled


def _settle_motors(dof: Dof, motors: list[Actuator]) -> dict[str, dict[str, str]] | None:
    """What the rotors of one freedom have to say instead; None if they have no place for its armature."""
    if not has_rotor(dof):
        return None if dof.armature else {}
    squares = {motor.name: _read_setting(motor, _RATIO, 1.0) ** 2 for motor in motors}
    said = {motor.name: _read_setting(motor, _ROTOR, 0.0) * squares[motor.name] for motor in motors}
    armature = dof.armature or 0.0
    if abs(armature - sum(said.values())) <= _SAME_ARMATURE * armature:
        return {}
    settled = {name: {_ROTOR: "0"} for name, inertia in said.items() if inertia}
    first = next((name for name, square in squares.items() if square), None)
    if first is None:
        return None
    return settled | {first: {_ROTOR: format_number(armature / squares[first])}}


def _read_setting(actuator: Actuator, key: str, default: float) -> float:
    """A number that the reader found sound; the default where it is not one."""
    try:
        value = float(actuator.settings.get(key, default))
    except (TypeError, ValueError):
        return default
    return value if math.isfinite(value) and (value >= 0.0 or key != _ROTOR) else default


def _write_leaf(motor: Element, key: str, value: str) -> None:
    """A leaf by its tag; one with a prefix (``drake.gear_ratio``) is of another tool, and says it in an attribute."""
    prefix, dot, local = key.rpartition(".")
    if not _is_tag(local) or (dot and not _is_tag(prefix)):
        return
    if dot:
        space = find_space(prefix)
        etree.SubElement(motor, f"{{{space}}}{local}", {"value": value}, nsmap={prefix: space})
    else:
        etree.SubElement(motor, local).text = value


def _is_tag(word: str) -> bool:
    return word.isidentifier() and word.isascii()


def _write_block(document: UrdfDocument, controller: Controller) -> None:
    settings = controller.settings
    values = {"name": controller.name, "type": str(settings.get("type", "system"))}
    values |= {key: str(settings[key]) for key in ("rw_rate", "is_async") if key in settings}
    values = {key: clean_text(value) for key, value in values.items()}
    node = etree.SubElement(document.root, "ros2_control", values)
    if settings.get("plugin") or settings.get("parameters"):
        hardware = etree.SubElement(node, "hardware")
        etree.SubElement(hardware, "plugin").text = clean_text(str(settings.get("plugin", "")))
        _write_parameters(hardware, settings.get("parameters"))
    names = {joint.name: joint.public_name for joint in document.asset.joints}
    for tag in ("joint", "sensor", "gpio"):
        for name, component in _as_table(settings.get(f"{tag}s")).items():
            _write_component(node, tag, names.get(name, name) if tag == "joint" else name, component)
    # kept as XML by the reader
    for text in settings.get("transmissions", ()):
        try:
            node.append(parse_bytes(str(text).encode(), controller.name))
        except SimwrightError:
            continue  # written by a reader from XML, so it is XML; what somebody put there since is not a transmission


def _write_component(node: Element, tag: str, name: str, component: Any) -> None:
    words = _as_table(component)
    child = etree.SubElement(node, tag, {"name": clean_text(str(name))})
    if "mimic" in words:
        child.set("mimic", clean_text(str(words["mimic"])))
    for role in ("command", "state"):
        for interface, parameters in _as_table(words.get(role)).items():
            element = etree.SubElement(child, f"{role}_interface", {"name": clean_text(str(interface))})
            _write_parameters(element, parameters)
    _write_parameters(child, words.get("parameters"))


def _write_parameters(node: Element, parameters: Any) -> None:
    for name, value in _as_table(parameters).items():
        etree.SubElement(node, "param", {"name": clean_text(str(name))}).text = clean_text(str(value))


def _as_table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _write_motors(document: UrdfDocument, motors: list[Actuator]) -> list[Actuator]:
    """One block for motors of other formats; gives those whose joint is not written."""
    driven = [(motor, document.dofs[motor.target]) for motor in motors if motor.target in document.dofs]
    if not driven:
        return motors
    block = etree.SubElement(
        document.root, "ros2_control", {"name": f"{document.root.get('name')}_system", "type": "system"}
    )
    etree.SubElement(etree.SubElement(block, "hardware"), "plugin").text = MIRROR_PLUGIN
    joints: dict[str, dict[str, Actuator]] = {}
    for actuator, urdf_joint in driven:
        command = _COMMAND_INTERFACES.get(actuator.kind, "effort")
        # ros2_control has one command of a kind for a joint: the first motor says its range
        joints.setdefault(urdf_joint.name, {}).setdefault(command, actuator)
    for name, commands in joints.items():
        node = etree.SubElement(block, "joint", {"name": name})
        for command, actuator in commands.items():
            element = etree.SubElement(node, "command_interface", {"name": command})
            _write_range(element, actuator)
        for state in _STATE_INTERFACES:
            etree.SubElement(node, "state_interface", {"name": state})
    document.reporter.report(CONTROL_ASSUMED, driven[0][0].source, plugin=MIRROR_PLUGIN)
    return [motor for motor in motors if motor.target not in document.dofs]


def _write_range(node: Element, actuator: Actuator) -> None:
    """The range of the command, where a unit of it is one of the joint."""
    bounds = actuator.control_range
    # with a gear a unit of the command is not one of the joint
    if bounds is None or actuator.kind == "general" or actuator.gear[:1] not in ((), (1.0,)):
        return
    for word, value in zip(("min", "max"), bounds, strict=True):
        if math.isfinite(value):
            etree.SubElement(node, "param", {"name": word}).text = format_number(value)
