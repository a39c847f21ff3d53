# SPDX-License-Identifier: Apache-2.0
"""Joints that are not continuous author a lower and an upper limit, in order.

Why: the fallback limits are minus and plus infinity, so a joint whose limits were forgotten turns without end, and a
reader that asks for the value cannot see that it was not authored.

Fails: a prismatic joint without limits; a revolute one with `physics:lowerLimit` only; a lower limit above
the upper one.
Passes: both limits authored [degrees, metres]; for a wheel `-inf` and `inf`, said explicitly.

Fix: unsafe.  A joint without any limits gets -inf and inf; other limits cannot be invented.

Reading: a revolute joint with no limit authored is continuous (info); with one of the two, inverted limits, or
a prismatic joint without both it is an error.  In PhysicsLimitAPI low above high means locked and is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from simwright.checker.facts.attributes import read_number
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level

_LOWER, _UPPER = "physics:lowerLimit", "physics:upperLimit"
_CONES = ("physics:coneAngle0Limit", "physics:coneAngle1Limit")
_DISTANCES = ("physics:minDistance", "physics:maxDistance")
_LIMIT = re.compile(r"limit:(\w+):physics:(?:low|high)$")


@rule(
    "joint-limits",
    "1.3",
    "must",
    on="isa:PhysicsJoint",
    fix="unsafe",
    fix_title="say that a joint without limits has none",
)
def joint_limits(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """By type of joint."""
    if node.type in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        yield from _check_pair(node, prismatic=node.type == "PhysicsPrismaticJoint")
    elif node.type == "PhysicsSphericalJoint":
        yield from _check_cone(node)
    elif node.type == "PhysicsDistanceJoint":
        yield from _check_distance(node)
    elif node.type == "PhysicsJoint":
        yield from _check_axes(node)


def _check_pair(node: PrimNode, *, prismatic: bool) -> Iterator[Finding]:
    lower, upper = read_number(node, _LOWER), read_number(node, _UPPER)
    unit = "metres" if prismatic else "degrees"
    if lower is not None and upper is not None:
        yield from _check_order(node, lower, upper, prismatic=prismatic)
    elif lower is None and upper is None:
        if prismatic:
            yield Finding(
                f"the prismatic joint authors neither {_LOWER} nor {_UPPER}, so it slides without end",
                hint=f"author both [{unit}]",
                at=node,
            )
        else:
            yield Finding(
                "the revolute joint authors no limits, so it is taken as continuous",
                hint=f"if it is, say so: {_LOWER} = -inf and {_UPPER} = inf; else author both [{unit}]",
                at=node,
                level=Level.INFO,
            )
    else:
        # one limit alone is never meant: the other one falls back to infinity
        there, absent = (_UPPER, _LOWER) if lower is None else (_LOWER, _UPPER)
        yield Finding(
            f"{there} is {upper if lower is None else lower:g} but {absent} is not authored, so it is infinite",
            hint=f"author {absent} too [{unit}]",
            at=node,
            prop=there,
        )


def _check_order(node: PrimNode, lower: float, upper: float, *, prismatic: bool) -> Iterator[Finding]:
    # UsdPhysics gives inverted limits of these joints no meaning, unlike PhysicsLimitAPI, where they lock
    if math.isnan(lower) or math.isnan(upper) or lower > upper:
        yield Finding(
            f"the limits are {lower:g} to {upper:g}: the lower one must not be above the upper one",
            hint="swap them, or correct the wrong one",
            at=node,
            prop=_LOWER,
            data={"lower": lower, "upper": upper},
        )
    elif prismatic and (math.isinf(lower) or math.isinf(upper)):
        yield Finding(
            f"the prismatic joint has the limits {lower:g} to {upper:g}; a slide has two ends",
            hint="author the real travel [metres]",
            at=node,
            prop=_LOWER if math.isinf(lower) else _UPPER,
            level=Level.WARNING,
            fix=Fixable.NO,
        )


def _check_cone(node: PrimNode) -> Iterator[Finding]:
    values = {name: read_number(node, name) for name in _CONES}
    absent = [name for name, value in values.items() if value is None]
    # UsdPhysics: a cone angle below zero, also the fallback, is not a limit on that side
    if len(absent) == 1:
        there = _CONES[0] if absent[0] == _CONES[1] else _CONES[1]
        yield Finding(
            f"{there} is {values[there]:g} but {absent[0]} is not authored, so that side is free",
            hint=f"author {absent[0]} too [degrees], or -1 where it is meant to be free",
            at=node,
            prop=there,
        )
    elif absent:
        yield Finding(
            "the spherical joint authors no cone limits, so it is taken as free",
            hint="if it is, say so: both cone angles = -1; else author both [degrees]",
            at=node,
            level=Level.INFO,
        )


def _check_distance(node: PrimNode) -> Iterator[Finding]:
    low, high = (read_number(node, name) for name in _DISTANCES)
    low = None if low is None or low < 0 else low  # below 0 is "no limit"
    high = None if high is None or high < 0 else high
    if low is None and high is None:
        yield Finding(
            "the distance joint has neither physics:minDistance nor physics:maxDistance, so it holds nothing",
            hint="author at least one of them [metres]",
            at=node,
        )
    elif low is not None and high is not None and low > high:
        yield Finding(
            f"physics:minDistance is {low:g}, above physics:maxDistance {high:g}",
            hint="swap them, or correct the wrong one",
            at=node,
            prop=_DISTANCES[0],
        )


# one function: what is applied without values, and values without the API, are found from one list of axes
def _check_axes(node: PrimNode) -> Iterator[Finding]:
    """A joint of six axes: each limited axis has both ends, and the API that makes them count."""
    applied = set(node.instances("PhysicsLimitAPI"))
    for axis in sorted(applied):
        names = [f"limit:{axis}:physics:{end}" for end in ("low", "high")]
        absent = [name for name in names if read_number(node, name) is None]
        # a distance may be bounded on one side only
        if len(absent) == 2 or (absent and axis != "distance"):
            yield Finding(
                f"PhysicsLimitAPI:{axis} is applied but {' and '.join(absent)} is not authored",
                hint="author both ends; low above high locks the axis",
                at=node,
                prop=next((name for name in names if name not in absent), ""),
            )
    # authored limits that nothing reads look right in every editor
    said = {match.group(1) for name in node.property_names("limit") if (match := _LIMIT.match(name))}
    ignored = sorted(said - applied)
    if ignored:
        yield Finding(
            f"limits of {', '.join(ignored)} are authored without PhysicsLimitAPI, so they are not read",
            hint="apply " + ", ".join(f"PhysicsLimitAPI:{axis}" for axis in ignored),
            at=node,
            prop=f"limit:{ignored[0]}:physics:low",
            level=Level.WARNING,
        )
