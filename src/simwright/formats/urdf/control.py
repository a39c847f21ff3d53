# SPDX-License-Identifier: Apache-2.0
"""``<transmission>`` and ``<ros2_control>``: how joints are driven.

A transmission becomes one actuator per ``<actuator>``, paired with the joint of the same position; its
``mechanicalReduction`` is the gear.  A ``<ros2_control>`` block becomes a controller of kind
``ros2_control`` whose settings hold hardware, parameters, interfaces and couplings as written.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.names import NameScope
from simwright.formats.urdf.document import Document, write_xml
from simwright.formats.xml import Element
from simwright.model.asset import Actuator
from simwright.model.ros import Controller

CONTROL_JOINT = declare(
    "urdf-control-joint",
    Level.ERROR,
    "{what} {name!r} drives joint {joint!r}, which is no joint of the robot",
    hint="check the name; it is left out",
    doc="A transmission or ros2_control block names a joint that does not exist.",
)
TRANSMISSION_EMPTY = declare(
    "urdf-transmission-empty",
    Level.WARNING,
    "transmission {name!r} has no {missing}",
    hint="a transmission connects a <joint> and an <actuator>; it is left out",
    doc="A transmission without joint or actuator.",
)
TRANSMISSION_MIXED = declare(
    "urdf-transmission-mixed",
    Level.WARNING,
    "transmission {name!r} ({type}) couples {joints} joints with {actuators} actuators",
    hint="each actuator is read as driving one joint; the coupling is kept in its settings only",
    doc="A differential or other coupled transmission; the model drives one joint per actuator.",
)

_KINDS = (("position", "position"), ("velocity", "velocity"), ("effort", "motor"))


def read_control(document: Document) -> None:
    """Transmissions, then ros2_control blocks."""
    names = NameScope()
    for element in document.children(document.root, "transmission"):
        _read_transmission(document, element, names)
    for element in document.children(document.root, "ros2_control"):
        _read_ros2_control(document, element)


def _read_transmission(document: Document, element: Element, names: NameScope) -> None:
    name = str(element.get("name") or "transmission")
    kind = str(element.findtext("type") or element.get("type") or "").strip()
    where = document.where(element)
    joints = list(document.children(element, "joint"))
    actuators = list(document.children(element, "actuator"))
    if not joints or not actuators:
        missing = "joint" if not joints else "actuator"
        document.reporter.report(TRANSMISSION_EMPTY, where, name=name, missing=missing)
        return
    if len(joints) > 1 or len(actuators) > 1:
        document.reporter.report(
            TRANSMISSION_MIXED, where, name=name, type=kind, joints=len(joints), actuators=len(actuators)
        )
    known = {joint.name for joint in document.asset.joints}
    for joint, motor in zip(joints, actuators, strict=False):
        target = str(joint.get("name") or "")
        if target not in known:
            document.reporter.report(
                CONTROL_JOINT, document.where(joint), what="transmission", name=name, joint=target
            )
            continue
        document.asset.actuators.append(
            _make_actuator(document, names, (element, joint, motor), (name, kind, target))
        )


def _make_actuator(
    document: Document,
    names: NameScope,
    elements: tuple[Element, Element, Element],
    labels: tuple[str, str, str],
) -> Actuator:
    transmission, joint, motor = elements
    name, kind, target = labels
    interfaces = [
        str(e.text or "").strip().split("/")[-1]
        for holder in (joint, motor)
        for e in document.children(holder, "hardwareInterface")
    ]
    settings: dict[str, Any] = {"transmission": name, "type": kind}
    if interfaces:
        settings["hardware_interfaces"] = list(dict.fromkeys(interfaces))
    gear = 1.0
    for holder in (transmission, joint, motor):
        text = holder.findtext("mechanicalReduction")
        if text is not None:
            gear = float(document.numbers(holder, text, 1, (1.0,), "<mechanicalReduction>")[0])
    for holder in (joint, motor):
        for child in document.children(holder):
            if child.tag not in ("hardwareInterface", "mechanicalReduction") and not len(child):
                settings[str(child.tag)] = str(child.text or "").strip()
    return Actuator(
        names.claim(str(motor.get("name") or f"{target}_motor")),
        _actuator_kind(interfaces),
        target,
        gear=(gear,),
        settings=settings,
        path=name,
        source=document.where(transmission),
    )


def _actuator_kind(interfaces: list[str]) -> str:
    """Motor, position or velocity, from the first hardware interface that says it."""
    for interface in interfaces:
        for word, kind in _KINDS:
            if word in interface.lower():
                return kind
    return "motor"


def _read_ros2_control(document: Document, element: Element) -> None:
    name = str(element.get("name") or "ros2_control")
    where = document.where(element)
    known = {joint.name for joint in document.asset.joints}
    hardware = element.find("hardware")
    settings: dict[str, Any] = {"type": str(element.get("type") or "system")}
    for key in ("rw_rate", "is_async"):
        if element.get(key):
            settings[key] = str(element.get(key))
    if hardware is not None:
        settings["plugin"] = str(hardware.findtext("plugin") or "").strip()
        settings["parameters"] = _read_parameters(document, hardware)
    document.unknown(element, {"hardware", "joint", "sensor", "gpio", "transmission"})
    couplings = [write_xml(child) for child in document.children(element, "transmission")]
    if couplings:
        settings["transmissions"] = couplings
    command: list[str] = []
    state: list[str] = []
    for tag in ("joint", "sensor", "gpio"):
        components: dict[str, Any] = {}
        for child in document.children(element, tag):
            component = str(child.get("name") or "")
            if tag == "joint" and component not in known:
                document.reporter.report(
                    CONTROL_JOINT, document.where(child), what="ros2_control", name=name, joint=component
                )
                continue
            components[component] = _read_component(document, child)
            if tag == "joint":
                command += [component] if components[component]["command"] else []
                state += [component] if components[component]["state"] else []
        if components:
            settings[f"{tag}s"] = components
    document.asset.controllers.append(
        Controller(
            name,
            "ros2_control",
            joints={"command": command, "state": state},
            settings=settings,
            path=name,
            source=where,
        )
    )


def _read_component(document: Document, element: Element) -> dict[str, Any]:
    """Command and state interfaces with their parameters, and parameters of the component itself."""
    result: dict[str, Any] = {
        role: {
            str(child.get("name") or ""): _read_parameters(document, child)
            for child in document.children(element, f"{role}_interface")
        }
        for role in ("command", "state")
    }
    parameters = _read_parameters(document, element)
    if parameters:
        result["parameters"] = parameters
    if element.get("mimic"):
        result["mimic"] = str(element.get("mimic"))
    return result


def _read_parameters(document: Document, element: Element) -> dict[str, str]:
    return {
        str(child.get("name") or ""): str(child.text or "").strip()
        for child in document.children(element, "param")
    }
