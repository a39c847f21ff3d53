# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's compiler as a quiet function: a file in, a model and its specification out, errors with a place.

MuJoCo by itself prints warnings and writes a log file into the current folder; while it works here its
warning hook collects them instead, and is put back afterwards.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.math3d import Array
from simwright.formats.mjcf.places import Entry, Source
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco
from simwright.formats.mjcf.stand_ins import put_stand_ins

MUJOCO_WARNING = declare(
    "mjcf-mujoco-warning",
    Level.WARNING,
    "MuJoCo warns: {text}",
    doc="MuJoCo compiled the model with a warning of its own.",
)

_HINTS = (
    ("'composite'", "newer MuJoCo releases have no <composite>: use <replicate>, <flexcomp> or plain bodies"),
    ("mass and inertia of moving bodies", "give the body an <inertial>, or a geom with mass"),
    ("unrecognized attribute", "check the spelling in MuJoCo's XML reference"),
    ("unrecognized element", "check the spelling, and where MJCF allows the element"),
    ("bad format", "the attribute must hold numbers"),
    ("repeated name", "names are unique per kind of element; rename one"),
    ("plugin", "this MuJoCo installation has no such plugin"),
    ("A + B >= C", "correct the inertia, or set balanceinertia in <compiler>"),
)
_LINE = re.compile(r"[Ll]ine (?:number=)?(\d+)")
_QUOTED = re.compile(r"'([^']+)'")
_ELEMENT = re.compile(r"Element (name )?'([^']*)'")
_PREFIX = re.compile(r"^(?:XML Error: |Error: |ParseXML: )+")
_NUMBERS = re.compile(r"[\s\d.eE+-]*\Z")


def compile_model(path: Path, source: Source, reporter: Reporter) -> tuple[Any, Any, Any, dict[str, Array]]:
    """``(mujoco, specification, model, scales)`` of a main file; what MuJoCo refuses is a ParseError.

    ``scales`` are those of meshes that were not loaded, by name.
    """
    import mujoco

    with quiet_mujoco() as texts:
        try:
            spec = mujoco.MjSpec.from_file(str(path))
            scales = put_stand_ins(mujoco, spec, source)
            model = spec.compile()
        except list_refusals(mujoco) as error:
            raise _translate(str(error), source) from None
    for text in dict.fromkeys(texts):
        reporter.report(MUJOCO_WARNING, _locate(text, source), text=text.strip().splitlines()[0])
    return mujoco, spec, model, scales


def _translate(text: str, source: Source) -> ParseError:
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["unknown error"]
    message = _PREFIX.sub("", lines[0])
    element = _ELEMENT.search(text)
    if element and not element.group(1) and "unrecognized element" in message:
        message = f"{message} <{element.group(2)}>"
    hint = next((hint for part, hint in _HINTS if part in text), "")
    return ParseError(f"MuJoCo refuses the model: {message}", hint=hint, where=_locate(text, source))


def _locate(text: str, source: Source) -> Where:
    """The place MuJoCo names; it gives no line for included files and no file for attached models."""
    found = _LINE.findall(text)
    line = int(found[-1]) if found else 0
    if line > 0 and not source.attached:
        return Where(source.file, line)
    candidates = list(source.walk())
    for narrow in (_is_named, _mentions, _is_no_number):
        candidates = [e for e in candidates if narrow(e, text)] or candidates
    if line > 0:
        candidates = [e for e in candidates if e.where.line == line] or candidates
    elif found:
        candidates = [e for e in candidates if e.where.file != source.file] or candidates
    if len(candidates) == 1 or ("repeated name" in text and candidates):
        return candidates[-1].where
    files = {e.where.file for e in candidates}
    return Where(files.pop()) if len(files) == 1 else Where(source.file)


def _is_named(entry: Entry, text: str) -> bool:
    """Is it the element of MuJoCo's ``Element 'tag'`` or ``Element name 'name'``?"""
    match = _ELEMENT.search(text)
    if match is None or not match[2]:
        return False
    return bool((entry.name if match[1] else entry.element.tag) == match[2])


def _mentions(entry: Entry, text: str) -> bool:
    attributes = entry.element.attrib
    return any(q in attributes or q in attributes.values() for q in _QUOTED.findall(text))


def _is_no_number(entry: Entry, text: str) -> bool:
    """Does an attribute that MuJoCo finds badly formatted hold something that is no number?"""
    if "bad format" not in text:
        return False
    values = [entry.element.get(q) or "" for q in _QUOTED.findall(text)]
    return any(not _NUMBERS.match(value) for value in values if value)
