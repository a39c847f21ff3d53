# SPDX-License-Identifier: Apache-2.0
"""``<transmission>`` and ``<ros2_control>``: how joints are driven.

What a URDF file said is written again.  Motors of other formats become one ``<ros2_control>`` block with the command
that each takes; which hardware drives them is not known, so the plugin is the one that mirrors its commands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lxml import etree

from simwright.core.errors import SimwrightError
from simwright.formats.parts.words import clean_text
from simwright.formats.urdf.writer.draft import Draft, Mount
from simwright.formats.urdf.writer.messages import CONTROL_ASSUMED
from simwright.formats.urdf.writer.numbers import format_number
from simwright.formats.xml import Element, parse_bytes
from simwright.model.asset import Actuator
from simwright.model.ros import Controller

PLUGIN = "mock_components/GenericSystem"
_COMMANDS = {"position": "position", "velocity": "velocity", "motor": "effort", "general": "effort"}
_STATES = ("position", "velocity", "effort")
_SPENT = ("transmission", "type", "hardware_interfaces")


def write_control(draft: Draft) -> None:
    """Transmissions, ros2_control blocks as they were, and one for motors that have neither."""
    asset = draft.asset
    transmitted = [a for a in asset.actuators if "transmission" in a.settings]
    _write_transmissions(draft, transmitted)
    blocks = [c for c in asset.controllers if c.kind == "ros2_control"]
    for controller in blocks:
        _write_block(draft, controller)
    motors = [a for a in asset.actuators if a not in transmitted]
    driven = [
        (a, draft.dofs[a.target]) for a in motors if a.transmission == "joint" and a.target in draft.dofs
    ]
    if driven and not blocks:
        _write_motors(draft, driven)
    else:
        driven = []
    placed = {id(actuator) for actuator, _ in driven}
    homeless = [a for a in motors if a.transmission == "joint" and id(a) not in placed]
    draft.lose(
        "actuator(s)",
        homeless,
        "the blocks of ros2_control say which joints are driven",
    )


def _write_transmissions(draft: Draft, actuators: list[Actuator]) -> None:
    names = {joint.name: joint.public_name for joint in draft.asset.joints}
    groups: dict[str, list[Actuator]] = {}
    for actuator in actuators:
        groups.setdefault(str(actuator.settings["transmission"]), []).append(actuator)
    for name, members in groups.items():
        node = etree.SubElement(draft.root, "transmission", {"name": clean_text(name)})
        etree.SubElement(node, "type").text = clean_text(str(members[0].settings.get("type", "")))
        interfaces = [[str(i) for i in a.settings.get("hardware_interfaces", ())] for a in members]
        for actuator, words in zip(members, interfaces, strict=True):
            target = draft.dofs.get(actuator.target)
            driven = target.name if target else names.get(actuator.target, actuator.target)
            joint = etree.SubElement(node, "joint", {"name": clean_text(driven)})
            for word in words:
                etree.SubElement(joint, "hardwareInterface").text = clean_text(f"hardware_interface/{word}")
        for actuator in members:
            motor = etree.SubElement(node, "actuator", {"name": clean_text(actuator.name)})
            for key, value in actuator.settings.items():
                if key not in _SPENT and isinstance(value, str) and _is_tag(key):
                    etree.SubElement(motor, key).text = clean_text(value)
            etree.SubElement(motor, "mechanicalReduction").text = format_number(actuator.gear[0])


def _is_tag(word: str) -> bool:
    return word.isidentifier() and word.isascii()


def _write_block(draft: Draft, controller: Controller) -> None:
    settings = controller.settings
    values = {"name": controller.name, "type": str(settings.get("type", "system"))}
    values |= {key: str(settings[key]) for key in ("rw_rate", "is_async") if key in settings}
    values = {key: clean_text(value) for key, value in values.items()}
    node = etree.SubElement(draft.root, "ros2_control", values)
    if settings.get("plugin") or settings.get("parameters"):
        hardware = etree.SubElement(node, "hardware")
        etree.SubElement(hardware, "plugin").text = clean_text(str(settings.get("plugin", "")))
        _write_parameters(hardware, settings.get("parameters"))
    names = {joint.name: joint.public_name for joint in draft.asset.joints}
    for tag in ("joint", "sensor", "gpio"):
        for name, component in _as_table(settings.get(f"{tag}s")).items():
            _write_component(node, tag, names.get(name, name) if tag == "joint" else name, component)
    for text in settings.get("transmissions", ()):
        try:
            node.append(parse_bytes(str(text).encode(), controller.name))
        except SimwrightError:
            continue  # written by a reader from XML, so it is XML; what somebody put there since is no transmission


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


def _write_motors(draft: Draft, driven: list[tuple[Actuator, Mount]]) -> None:
    block = etree.SubElement(
        draft.root, "ros2_control", {"name": f"{draft.root.get('name')}_system", "type": "system"}
    )
    etree.SubElement(etree.SubElement(block, "hardware"), "plugin").text = PLUGIN
    joints: dict[str, dict[str, Actuator]] = {}
    for actuator, mount in driven:
        command = _COMMANDS.get(actuator.kind, "effort")
        joints.setdefault(mount.name, {}).setdefault(command, actuator)
    for name, commands in joints.items():
        node = etree.SubElement(block, "joint", {"name": name})
        for command, actuator in commands.items():
            element = etree.SubElement(node, "command_interface", {"name": command})
            _write_range(element, actuator)
        for state in _STATES:
            etree.SubElement(node, "state_interface", {"name": state})
    draft.reporter.report(CONTROL_ASSUMED, driven[0][0].source, plugin=PLUGIN)


def _write_range(node: Element, actuator: Actuator) -> None:
    """The range of the command, where a unit of it is one of the joint."""
    bounds = actuator.control_range
    if bounds is None or actuator.kind == "general" or actuator.gear[:1] not in ((), (1.0,)):
        return
    for word, value in zip(("min", "max"), bounds, strict=True):
        if math.isfinite(value):
            etree.SubElement(node, "param", {"name": word}).text = format_number(value)
