# SPDX-License-Identifier: Apache-2.0
"""Sensors, cameras and lights by name: what they are, where they sit, how they are set; and keyframes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simwright.compare.constraints import same_name
from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing, match_elements
from simwright.compare.values import Ruler

_CAMERA = ("fov_y", "resolution", "near", "far")
_LIGHT = ("kind", "color", "intensity", "radius", "cone", "range", "cast_shadows")


def compare_sensors(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Kind, place, rate, what is measured and settings."""
    for element, a, b in _pair(section, pairing, "sensors", "sensor", ruler):
        ruler.compare(section, element, "kind", a.kind, b.kind)
        ruler.compare(section, element, "rate", a.rate, b.rate)
        if not same_name(a.target or "-", b.target or "-"):
            section.items.append(Item(element, "target", a.target, b.target))
        for key in sorted({*a.settings, *b.settings}):
            ruler.compare(section, element, key, a.settings.get(key), b.settings.get(key))


def compare_cameras(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Place, field of view, resolution and clipping."""
    for element, a, b in _pair(section, pairing, "cameras", "camera", ruler):
        for what in _CAMERA:
            ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))


def compare_lights(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Kind, place, colour and strength."""
    for element, a, b in _pair(section, pairing, "lights", "light", ruler):
        for what in _LIGHT:
            x, y = getattr(a, what), getattr(b, what)
            ruler.compare(section, element, what.replace("_", " "), x, y)


def _pair(
    section: Section, pairing: Pairing, family: str, word: str, ruler: Ruler
) -> list[tuple[str, Any, Any]]:
    """Elements of a family that both sides have; the others and wrong places are items."""
    first, second = (getattr(side.asset, family) for side in (pairing.a, pairing.b))
    result = []
    for a, b in pair_by_name(section, word, first, second):
        element = f"{word} {a.name!r}"
        met = pairing.meet((a.body, a.pose), (b.body, b.pose))
        if met is None:
            section.items.append(Item(element, "hangs on", a.body or "the world", b.body or "the world"))
        else:
            ruler.compare_pose(section, element, *met)
        result.append((element, a, b))
    return result


def pair_by_name(
    section: Section, word: str, first: Sequence[Any], second: Sequence[Any]
) -> list[tuple[Any, Any]]:
    """Elements with the same name; those of one side only are items."""
    matches = match_elements(first, second)
    twins = {element.name: element for element in second}
    taken = set(matches.values())
    section.compared += len(matches)
    section.items += [Item(f"{word} {x.name!r}", word, x.name, None) for x in first if x.name not in matches]
    section.items += [Item(f"{word} {x.name!r}", word, None, x.name) for x in second if x.name not in taken]
    return [(x, twins[matches[x.name]]) for x in first if x.name in matches]


def compare_keyframes(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Named states and the initial state, with coordinates counted alike."""
    _compare_initial(section, pairing, ruler)
    first, second = pairing.a.asset.keyframes, pairing.b.asset.keyframes
    for a, b in pair_by_name(section, "keyframe", first, second):
        element = f"keyframe {a.name!r}"
        for x, y in pairing.freedoms:
            if x.is_base or x.name not in a.positions:
                continue
            found = b.positions.get(y.name)
            if found is not None and isinstance(found, float):
                zeros = pairing.zeros(x, y)
                ours, theirs = a.positions[x.name] - zeros[0], found - zeros[1]
                ruler.compare(section, element, f"position of {x.name!r}", ours, theirs, scale=1.0)
            else:
                ruler.compare(
                    section, element, f"position of {x.name!r}", a.positions[x.name], found, scale=1.0
                )
        names = {other: same for same in a.controls for other in b.controls if same_name(same, other)}
        controls = {names.get(name, name): value for name, value in b.controls.items()}
        ruler.compare(section, element, "controls", a.controls, controls, scale=1.0)


def _compare_initial(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    for a, b in pairing.freedoms:
        if a.is_base or a.positions.stop - a.position != 1:
            continue
        section.compared += 1
        values = [dof.ref if dof.position is None else float(dof.position) for dof in (a.dof, b.dof)]
        element = f"freedom {a.name!r}"
        zeros = pairing.zeros(a, b)
        start = values[1] - zeros[1] + zeros[0]
        ruler.compare(section, element, "initial position", values[0], start, scale=1.0)
