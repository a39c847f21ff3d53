# SPDX-License-Identifier: Apache-2.0
"""Tendons in ``mujoco.usda``: MjcTendon prims over joints, or through sites and round geometry (REP-0158 1.4).

A path names each target once and lists the order by index.  Tendons that are held to each other (MuJoCo's tendon
equality) say so on the first of the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.motors import SINGLE
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import Equality, EqualityKind, Tendon

EQUALITY = "mjc:equality"
_NUMBERS = {
    "stiffness": "stiffness",
    "damping": "damping",
    "friction": "frictionloss",
    "armature": "armature",
}


def write_tendons(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Tendons whose points are all written; the others are reported."""
    lost = []
    for tendon in layout.asset.tendons:
        if any(not _find_point(layout, kind, name) for kind, name in _list_points(tendon)):
            lost.append(tendon)
            continue
        scope = f"{layout.root}/Tendons"
        sheet.define(scope, "Scope")
        path = layout.tendons[tendon.name] = layout.names.claim(scope, tendon.name)
        sheet.define(path, "MjcTendon")
        sheet.name(path, tendon.name)
        _write_tendon(layout, sheet, path, tendon)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="tendons", first=lost[0].name)
    _write_equalities(layout, sheet, reporter)


def _list_points(tendon: Tendon) -> list[tuple[str, str]]:
    points = [(point.kind, point.name) for point in tendon.path if point.kind != "pulley"]
    return points + [("site", point.side) for point in tendon.path if point.side]


def _find_point(layout: Layout, kind: str, name: str) -> str:
    match kind:
        case "joint":
            return layout.freedoms.get(name, ("", ""))[0]
        case "site":
            return layout.sites.get(name, "")
    return layout.touched.get(name) or layout.visuals.get(name, "")


def _write_tendon(layout: Layout, sheet: Sheet, path: str, tendon: Tendon) -> None:
    is_fixed = bool(tendon.path) and tendon.path[0].kind == "joint"
    sheet.set(path, "mjc:type", "token", "fixed" if is_fixed else "spatial", uniform=True)
    (_write_sum if is_fixed else _write_route)(layout, sheet, path, tendon)
    for field, name in _NUMBERS.items():
        if getattr(tendon, field):
            sheet.set(path, f"mjc:{name}", "double", getattr(tendon, field), uniform=True)
    if tendon.width != Tendon("").width:
        sheet.set(path, "mjc:width", "double", tendon.width, uniform=True)
    if math.isfinite(tendon.lower) or math.isfinite(tendon.upper):
        for end, value in (("min", tendon.lower), ("max", tendon.upper)):
            sheet.set(path, f"mjc:range:{end}", "double", value, uniform=True)
        sheet.set(path, "mjc:limited", "token", "true", uniform=True)
    if tendon.rest_length is not None:
        sheet.set(path, "mjc:springlength", "double[]", tendon.rest_length, uniform=True)


def _write_sum(layout: Layout, sheet: Sheet, path: str, tendon: Tendon) -> None:
    """Joints with coefficients; freedoms of generic joints are noted by name."""
    targets, order = _index(_find_point(layout, "joint", point.name) for point in tendon.path)
    sheet.relate(path, "mjc:path", targets)
    sheet.set(path, "mjc:path:indices", "int[]", order, uniform=True)
    sheet.set(path, "mjc:path:coef", "double[]", [point.value for point in tendon.path], uniform=True)
    if any(layout.freedoms[point.name][1] not in SINGLE for point in tendon.path):
        sheet.note(path, dofs=[point.name for point in tendon.path])


def _index(paths: Iterable[str]) -> tuple[list[str], list[int]]:
    """Each path once, and the order in which they come."""
    known: dict[str, int] = {}
    order = [known.setdefault(path, len(known)) for path in paths]
    return list(known), order


def _write_route(layout: Layout, sheet: Sheet, path: str, tendon: Tendon) -> None:
    """Points, the segment each is in, and the divisor of each segment; a pulley begins a segment."""
    places: list[str] = []
    beside: list[int] = []
    segments: list[int] = []
    divisors = [1.0]
    sides: dict[str, int] = {}
    for point in tendon.path:
        if point.kind == "pulley":
            divisors = [point.value] if not places and len(divisors) == 1 else [*divisors, point.value]
            continue
        places.append(_find_point(layout, point.kind, point.name))
        side = layout.sites.get(point.side, "") if point.side else ""
        beside.append(sides.setdefault(side, len(sides)) if side else -1)
        segments.append(len(divisors) - 1)
    targets, order = _index(places)
    sheet.relate(path, "mjc:path", targets)
    arrays: dict[str, tuple[str, list[float] | list[int]]] = {
        "path:indices": ("int[]", order),
        "path:segments": ("int[]", segments),
        "path:divisors": ("double[]", divisors),
    }
    if sides:
        sheet.relate(path, "mjc:sideSites", list(sides))
        arrays["sideSites:indices"] = ("int[]", beside)
    for name, (kind, values) in arrays.items():
        sheet.set(path, f"mjc:{name}", kind, values, uniform=True)


def _write_equalities(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    lost: list[Equality] = []
    held: set[str] = set()
    for equality in layout.asset.equalities:
        if equality.name in layout.equalities:
            continue
        first, second = layout.tendons.get(equality.a), layout.tendons.get(equality.b, "")
        is_known = equality.kind is EqualityKind.TENDON and (second or not equality.b)
        if not first or not is_known or first in held:
            lost.append(equality)
            continue
        held.add(first)
        layout.equalities[equality.name] = first
        sheet.set(first, f"{EQUALITY}:name", "string", equality.name, custom=True)
        sheet.set(first, f"{EQUALITY}:coef", "double[]", equality.polynomial, custom=True)
        sheet.set(first, f"{EQUALITY}:active", "bool", equality.enabled, custom=True)
        if second:
            sheet.relate(first, f"{EQUALITY}:tendon", [second], custom=True)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="equalities", first=lost[0].name)
