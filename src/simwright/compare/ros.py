# SPDX-License-Identifier: Apache-2.0
"""The ROS side: topics, services, actions, controllers and namespaces."""

from __future__ import annotations

from typing import Any

from simwright.compare.constraints import same_name
from simwright.compare.difference import Item, Section
from simwright.compare.equipment import pair_by_name
from simwright.compare.pairing import Pairing
from simwright.compare.values import Ruler
from simwright.model.asset import Asset
from simwright.model.optics import find_frame
from simwright.model.ros import Controller, Interface

_INTERFACE = ("qos", "starts_enabled")


def compare_ros(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Interfaces by kind, role, name and type; controllers by name; namespaces."""
    _compare_interfaces(section, pairing, ruler)
    controllers = pairing.a.asset.controllers, pairing.b.asset.controllers
    for a, b in pair_by_name(section, "controller", *controllers):
        _compare_controller(section, pairing, ruler, a, b)
    spaces = [sorted(c.namespace for c in s.asset.contexts if c.namespace) for s in (pairing.a, pairing.b)]
    if spaces[0] != spaces[1]:
        section.items.append(Item("asset", "namespaces", spaces[0], spaces[1]))


def _compare_interfaces(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    first, second = ({_key(i): i for i in s.asset.interfaces} for s in (pairing.a, pairing.b))
    unsaid = 0
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        element = f"{key[0]} {key[2]!r}"
        if a is None or b is None:
            told = [None if i is None else f"{i.role} {i.type}" for i in (a, b)]
            section.items.append(Item(element, "interface", *told))
            continue
        section.compared += 1
        for what in _INTERFACE:
            x, y = getattr(a, what), getattr(b, what)
            if x != y:
                ruler.compare(section, element, what.replace("_", " "), _plain(x), _plain(y))
        if a.rate is not None and b.rate is not None:
            ruler.compare(section, element, "rate", a.rate, b.rate)
        elif a.rate != b.rate:
            unsaid += 1
        _compare_frames(section, pairing, element, a, b)
        if not same_name(a.at or "-", b.at or "-"):
            section.items.append(Item(element, "sits on", a.at, b.at))
    if unsaid:
        section.notes.append(f"rate is said by one side only: {unsaid} topic(s)")


def _compare_frames(section: Section, pairing: Pairing, element: str, a: Interface, b: Interface) -> None:
    """Frames of messages; where neither side names one it follows from the place, which is compared."""
    if a.frame_override or b.frame_override:
        frames = find_frame(pairing.a.asset, a), find_frame(pairing.b.asset, b)
        if not same_name(*frames):
            section.items.append(Item(element, "frame", *frames))


def _key(interface: Interface) -> tuple[str, str, str, str]:
    return str(interface.kind), interface.role, interface.name, interface.type


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _compare_controller(
    section: Section, pairing: Pairing, ruler: Ruler, a: Controller, b: Controller
) -> None:
    element = f"controller {a.name!r}"
    ruler.compare(section, element, "kind", a.kind, b.kind)
    ruler.compare(section, element, "starts enabled", a.starts_enabled, b.starts_enabled)
    first, second = _list_joints(pairing.a.asset, a), _list_joints(pairing.b.asset, b)
    named = {role: [pairing.joints.get(name, name) for name in names] for role, names in first.items()}
    if named != second:
        section.items.append(Item(element, "joints", first, second))
    if a.interfaces != b.interfaces:
        section.items.append(Item(element, "interfaces", a.interfaces, b.interfaces))


def _list_joints(asset: Asset, controller: Controller) -> dict[str, list[str]]:
    """Joints by role; a broadcaster of joint states that names none speaks of all that move."""
    said = {role: names for role, names in controller.joints.items() if names}
    if controller.kind != "joint_state_broadcaster" or "state" in said:
        return said
    return {**said, "state": [joint.name for joint in asset.joints if joint.dofs]}
