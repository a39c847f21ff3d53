# SPDX-License-Identifier: Apache-2.0
"""What acts in joints: armature, friction, damping, springs, drives and motors.  What is not said is zero."""

from __future__ import annotations

from typing import Any

from simwright.compare.constraints import same_name
from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing, match_elements
from simwright.compare.values import Ruler
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Drive
from simwright.model.servo import make_law

_PASSIVE = ("armature", "friction", "damping", "stiffness")
_WORDS = {"mjcf"}
"""Settings that only say in which words a law was written."""
_DRIVE = ("stiffness", "damping", "target_velocity")


def compare_drives(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Freedom by freedom."""
    section.compared = len(pairing.freedoms)
    for a, b in pairing.freedoms:
        if a.is_base:
            continue
        element = f"freedom {a.name!r}"
        zeros = pairing.zeros(a, b)
        for what in _PASSIVE:
            ruler.compare(section, element, what, getattr(a.dof, what) or 0.0, getattr(b.dof, what) or 0.0)
        if a.dof.stiffness and b.dof.stiffness:
            rests = [(f.dof.spring_ref or 0.0) - zero for f, zero in zip((a, b), zeros, strict=True)]
            ruler.compare(section, element, "rest of the spring", *rests, scale=1.0)
        _compare_drive(section, ruler, element, (a.dof, b.dof), zeros)


def _compare_drive(
    section: Section, ruler: Ruler, element: str, dofs: tuple[Dof, Dof], zeros: tuple[float, float]
) -> None:
    first, second = (dof.drive or Drive() for dof in dofs)
    for what in _DRIVE:
        x, y = getattr(first, what), getattr(second, what)
        ruler.compare(section, element, f"drive {what.replace('_', ' ')}", x, y)
    if first.stiffness and second.stiffness:
        targets = (first.target_position - zeros[0], second.target_position - zeros[1])
        ruler.compare(section, element, "drive target", *targets, scale=1.0)
    gains = first.stiffness or first.damping or second.stiffness or second.damping
    if gains:
        ruler.compare(section, element, "drive is acceleration", first.acceleration, second.acceleration)


def compare_actuators(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Motors by name: what they pull on, and by which law."""
    first, second = pairing.a.asset.actuators, pairing.b.asset.actuators
    matches = match_elements(first, second)
    section.compared = len(matches)
    twins = {actuator.name: actuator for actuator in second}
    for actuator in first:
        twin = twins.get(matches.get(actuator.name, ""))
        if twin is None:
            section.items.append(Item(f"actuator {actuator.name!r}", "actuator", actuator.kind, None))
        else:
            _compare_actuator(section, pairing, ruler, actuator, twin)
    taken = set(matches.values())
    section.items += [
        Item(f"actuator {x.name!r}", "actuator", None, x.kind) for x in second if x.name not in taken
    ]


def _compare_actuator(section: Section, pairing: Pairing, ruler: Ruler, a: Actuator, b: Actuator) -> None:
    element = f"actuator {a.name!r}"
    dofs = {x.name: y.name for x, y in pairing.freedoms}
    target = dofs.get(a.target, pairing.joints.get(a.target, a.target))
    if not same_name(target, b.target):
        section.items.append(Item(element, "target", a.target, b.target))
    for what in ("transmission", "control_range", "force_range"):
        ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))
    ruler.compare(section, element, "gear", _trim(a.gear), _trim(b.gear))
    first, second = _complete(a), _complete(b)
    for key in sorted({*first, *second} - _WORDS):
        ruler.compare(section, element, key.replace("_", " "), first.get(key), second.get(key))


def _complete(actuator: Actuator) -> dict[str, Any]:
    """Settings with the whole law: that of a plain servo where none is said."""
    law = {**make_law(actuator.kind, actuator.stiffness, actuator.damping), **actuator.settings}
    if law["bias_type"] == "none":
        law["bias"] = [0.0] * len(law["bias"])  # numbers of a bias that is switched off
    return law


def _trim(gear: tuple[float, ...]) -> list[Any]:
    """Without zeros at the end."""
    values = list(gear)
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return values
