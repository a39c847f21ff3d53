# SPDX-License-Identifier: Apache-2.0
"""Tendons of the MuJoCo schema: sums of joint coordinates, and paths through sites and round geometry.

A path names each target once and lists the order by index.  A spatial path is cut into segments; a pulley
stands where one begins.  The length of a fixed tendon with a hinge in it has no unit; with slides only it is
a length, as in spatial ones.  PhysX tendons have another law and stay extras.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.core.diag import Level, declare
from simwright.formats.usd.mimic import choose_dof
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.noted_joints import texts
from simwright.formats.usd.ranges import read_range
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source, as_rows
from simwright.model.joint import Motion, Tendon, TendonPoint

TENDON_INVALID = declare(
    "usd-tendon-invalid",
    Level.ERROR,
    "tendon {name!r} is left out: {why}",
    hint="a fixed tendon goes over joints with a coefficient each, a spatial one through sites and geometry",
    doc="The path of a MuJoCo tendon does not fit together or names something that was not read.",
    loss=True,
)
TENDON_PHYSX = declare(
    "usd-tendon-physx",
    Level.WARNING,
    "{count} prim(s) are part of PhysX tendons, the first at {first}; they are kept as extras only",
    hint="for other engines express the coupling with MjcTendon prims or a mimic joint",
    doc="PhysX tendons scale lengths and forces apart from each other, which the neutral tendon does not.",
)


class _BrokenError(Exception):
    """The path does not fit together; the message says how."""


def read_tendons(source: Source, scan: Scan) -> None:
    """Add every MuJoCo tendon; report PhysX ones."""
    prims = [found for found in scan.all.values() if found.type == "MjcTendon"]
    names = name_prims(prims, noted=source.noted)
    for found in prims:
        try:
            tendon = _read_tendon(source, scan, found, names[found.path])
        except _BrokenError as why:
            where = source.where(found, "mjc:path")
            source.reporter.report(TENDON_INVALID, where, name=names[found.path], why=why)
        else:
            source.tendons[found.path] = tendon.name
            source.asset.tendons.append(tendon)
    physx = [found for found in scan.all.values() if any(a.startswith("PhysxTendon") for a in found.apis)]
    if physx:
        where = source.where(physx[0].prim)
        source.reporter.report(TENDON_PHYSX, where, count=len(physx), first=physx[0].path)


def _read_tendon(source: Source, scan: Scan, found: Found, name: str) -> Tendon:
    prim, units = found.prim, source.units
    fixed = source.get_text(prim, "mjc:type", "spatial") == "fixed"
    path, plain = _read_sum(source, found) if fixed else (list(_read_route(source, found)), False)
    length = 1.0 if plain else units.length
    gain = units.inertia if plain else units.mass
    effort = units.inertia if plain else units.force

    def read(attribute: str, factor: float) -> float:
        return source.get_number(prim, f"mjc:{attribute}", 0.0) * factor

    tendon = Tendon(
        name=name,
        path=path,
        stiffness=read("stiffness", gain),
        damping=read("damping", gain),
        friction=read("frictionloss", effort),
        armature=read("armature", gain),
        width=source.get_number(prim, "mjc:width", 0.003) * units.length,
        source=source.where(prim),
    )
    limits = read_range(source, scan, found, "range", "limited")
    if limits is not None:
        tendon.lower, tendon.upper = limits[0] * length, limits[1] * length
    rest = as_rows(source.get(prim, "mjc:springlength"), 1)[:, 0] * length
    if len(rest) and rest[0] != -length:
        tendon.rest_length = (float(rest[0]), float(rest[-1]))
    return tendon


def _read_sum(source: Source, found: Found) -> tuple[list[TendonPoint], bool]:
    """Joints with their coefficients, and whether the sum has no unit."""
    targets, order = _read_order(source, found)
    coefficients = _read_numbers(source, found, "mjc:path:coef", len(order))
    joints = {joint.path: joint for joint in source.asset.joints if joint.path in targets}
    names = texts(source.note(found).get("dofs"))
    points, turning = [], []
    for place, (index, coefficient) in enumerate(zip(order, coefficients, strict=True)):
        joint = joints.get(targets[index])
        dof = None if joint is None else choose_dof(joint)
        if joint is not None and len(names) == len(order):
            dof = next((dof for dof in joint.dofs if dof.name == names[place]), dof)
        if dof is None:
            raise _BrokenError(f"{targets[index]} is no joint of one freedom that was read")
        turning.append(dof.motion is Motion.HINGE)
        points.append(TendonPoint("joint", dof.name, coefficient))
    plain = any(turning)
    for point, turns in zip(points, turning, strict=True):
        if plain and not turns:
            point.value /= source.units.length
    return points, plain


def _read_route(source: Source, found: Found) -> Iterator[TendonPoint]:
    """Sites, wraps and pulleys in order."""
    targets, order = _read_order(source, found)
    sides = source.get_targets(found, "mjc:sideSites")
    beside = _read_integers(source, found, "mjc:sideSites:indices", len(order), -1)
    segments = _read_integers(source, found, "mjc:path:segments", len(order), 0)
    divisors = as_rows(source.get(found, "mjc:path:divisors"), 1)[:, 0]
    current = 0
    for place, (index, side, segment) in enumerate(zip(order, beside, segments, strict=True)):
        divisor = float(divisors[segment]) if 0 <= segment < len(divisors) else 1.0
        if segment != current or (place == 0 and divisor != 1.0):
            current = segment
            yield TendonPoint("pulley", value=divisor)
        if side >= len(sides):
            raise _BrokenError(f"it has no side site {side}")
        yield _read_point(source, targets[index], sides[side] if side >= 0 else "")


def _read_point(source: Source, target: str, side: str) -> TendonPoint:
    if target in source.sites:
        return TendonPoint("site", source.sites[target])
    if target not in source.shapes:
        raise _BrokenError(f"{target} is no site or geometry that was read")
    if side and side not in source.sites:
        raise _BrokenError(f"its side site {side} is no site that was read")
    return TendonPoint("wrap", source.shapes[target], side=source.sites[side] if side else "")


def _read_order(source: Source, found: Found) -> tuple[list[str], list[int]]:
    """The targets, and the order in which the path visits them."""
    targets = source.get_targets(found, "mjc:path")
    if not targets:
        raise _BrokenError("its path is empty")
    indices = as_rows(source.get(found, "mjc:path:indices"), 1)[:, 0]
    order = [int(v) for v in indices] if len(indices) else list(range(len(targets)))
    if min(order) < 0 or max(order) >= len(targets):
        raise _BrokenError(f"its order names target {max(order)} of {len(targets)}")
    return targets, order


def _read_numbers(source: Source, found: Found, name: str, count: int) -> list[float]:
    values = as_rows(source.get(found, name), 1)[:, 0]
    if len(values) != count or not np.all(np.isfinite(values)):
        raise _BrokenError(f"{name} does not hold {count} numbers")
    return [float(v) for v in values]


def _read_integers(source: Source, found: Found, name: str, count: int, default: int) -> list[int]:
    values = as_rows(source.get(found, name), 1)[:, 0]
    if len(values) not in (0, count):
        raise _BrokenError(f"{name} does not hold {count} numbers")
    return [int(v) for v in values] if len(values) else [default] * count
