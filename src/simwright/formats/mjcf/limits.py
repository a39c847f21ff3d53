# SPDX-License-Identifier: Apache-2.0
"""Sizes a small text can ask for: a few characters of MJCF can mean billions of elements, pixels or numbers.

``replicate``, ``composite`` and ``flexcomp`` multiply; textures and height fields are generated at any size; keyframes
and user data are as long as the model is large.  Totals are computed here, before MuJoCo allocates anything, and held
against the budgets of ``core.limits``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.core.limits import Tally, check_limit
from simwright.formats.mjcf.places import Entry
from simwright.formats.xml import Element

MAX_RESOLUTION = 1000
MAX_MEMORY = 1 << 36

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
_SIDES = 6
_STATE = 14
"""Most numbers that a keyframe has for a joint (a pose and a velocity), an actuator or a body that is moved by hand."""
_USERS = ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")
_TAGS = {"jnt": "joint", "cam": "camera"}
_PNG = b"\x89PNG\r\n\x1a\n"


def multiply_copies(element: Element, copies: int, where: Where) -> int:
    """``copies`` times the counts of every ``replicate`` around an element."""
    for parent in element.iterancestors("replicate"):
        copies *= max(1, _whole(parent.get("count")))
    check_limit("mjcf-elements", copies, where)
    return copies


def check_size(element: Element, copies: int, where: Where, tally: Tally) -> None:
    """Refuse an element that asks for more than there is; what it asks for is added to ``tally``."""
    tag = element.tag
    if tag in ("replicate", "composite", "flexcomp"):
        total = multiply_copies(element, copies, where) * max(1, _product(element.get("count")))
        check_limit("mjcf-elements", total, where)
        if tag == "replicate":
            tally.add("mjcf-copies", total, where)
    elif tag == "texture":
        width, height = (max(1, _whole(element.get(key))) for key in ("width", "height"))
        sides = 1 if element.get("type") == "2d" else _SIDES
        tally.add("mjcf-pixels", width * (height if sides == 1 else width) * sides, where)
    elif tag == "hfield":
        heights = max(1, _whole(element.get("nrow"))) * max(1, _whole(element.get("ncol")))
        tally.add("height-samples", heights, where)
    elif tag == "mesh" and element.get("builtin"):
        finest = max(_whole(part.partition(".")[0]) for part in (element.get("params") or "1").split())
        _check(finest, MAX_RESOLUTION, "points along one side of a generated mesh", where)
    elif tag == "size":
        _check(_memory(element.get("memory")), MAX_MEMORY, "bytes of simulation memory", where)


def check_image(element: Element, attribute: str, file: Path, where: Where, tally: Tally) -> None:
    """The same for an image file of a texture or a height field, as large as its header says."""
    with file.open("rb") as stream:
        head = stream.read(24)
    if not head.startswith(_PNG):  # MuJoCo's own encodings are as large as their files
        return
    pixels = int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")
    if element.tag == "hfield":
        tally.add("height-samples", pixels, where)
    elif element.tag == "texture":
        is_repeated = attribute == "file" and element.get("type") != "2d" and not element.get("gridsize")
        tally.add("mjcf-pixels", pixels * (_SIDES if is_repeated else 1), where)


def check_numbers(entries: Iterable[Entry], where: Where) -> None:
    """Refuse keyframes, user data and custom fields that are longer in the model than anybody writes."""
    counts: Counter[str] = Counter()
    numbers, keys, wide = 0, 0, dict.fromkeys(_USERS, 0)
    for entry in entries:
        element, tag = entry.element, entry.element.tag
        counts[entry.section] += entry.copies
        if tag == "key":
            keys += entry.copies
        elif tag == "size":
            keys += max(0, _whole(element.get("nkey", "0")))
            numbers += max(0, _whole(element.get("nuserdata", "0")))
            for name in _USERS:
                wide[name] = max(wide[name], _whole(element.get(f"nuser_{name}", "0")))
        elif tag == "numeric":
            numbers += max(0, _whole(element.get("size", "0")))
        elif tag == "user" and entry.section == "sensor":
            numbers += entry.copies * max(0, _whole(element.get("dim", "0")))
        users = element.get("user")
        if users:
            name = next((name for name in _USERS if _TAGS.get(name, name) == entry.section), "body")
            wide[name] = max(wide[name], len(users.split()))
    numbers += keys * _STATE * (counts["joint"] + counts["actuator"] + counts["body"])
    numbers += sum(wide[name] * counts[_TAGS.get(name, name)] for name in _USERS)
    check_limit("mjcf-numbers", numbers, where)


def _check(value: int, limit: int, what: str, where: Where) -> None:
    if value > limit:
        raise LimitError(
            f"the file asks for {value:,} {what}; the limit is {limit:,}",
            hint="is it the right file?",
            where=where,
        )


def _whole(text: str | None) -> int:
    """The number if it is one; MuJoCo reports the others."""
    try:
        return int(text or "1")
    except ValueError:  # also of more digits than Python reads
        digits = (text or "").strip().lstrip("+")
        return 10**18 if digits.isdecimal() else 1


def _product(text: str | None) -> int:
    return math.prod(max(1, _whole(part)) for part in (text or "1").split())


def _memory(text: str | None) -> int:
    value = (text or "0").strip().lower()
    unit = _UNITS.get(value[-1:], 0)
    digits = value[:-1] if unit else value
    return int(digits) << unit if digits.isdigit() and len(digits) < 20 else 0
