# SPDX-License-Identifier: Apache-2.0
"""Angles of joints are degrees.

Why: URDF has radians, OpenUSD degrees.  A limit of 1.57 that was copied as it is lets a joint move by a degree
and a half.

Fails: a mechanism whose revolute limits and drive targets are all within 2 pi, and look like radians: fractions
of pi such as 1.57, or three joints and more.
Passes: limits in degrees; one joint with a small real range such as -3 to 3; joints without limits; a range of more
than a full turn in radians, such as -5.625 to 5.625.

Fix: unsafe.  The values are multiplied by 180/pi, if they are radians indeed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.graph import JointEdge
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.wording import show_number
from simwright.checker.rule import Finding, rule

_NAMES = ("physics:lowerLimit", "physics:upperLimit", "drive:angular:physics:targetPosition")
_MOST = 2.0 * math.pi + 1e-3
# 15 degrees: robot ranges are given in such steps
_STEP = math.pi / 12.0


@rule(
    "xform-etl-radians",
    "1.1",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="multiply limits and targets by 180/pi",
)
def xform_etl_radians(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Judge every mechanism as a whole: one joint says little."""
    if not any(joint.type == "PhysicsRevoluteJoint" for joint in snapshot.joints):
        return
    groups: dict[int, list[PrimNode]] = {}
    for edge in snapshot.graph.edges:
        if edge.joint.type == "PhysicsRevoluteJoint":
            groups.setdefault(_find_group(edge, snapshot), []).append(edge.joint)
    for joints in groups.values():
        found = _suspect_radians(joints)
        if found is not None:
            yield found


def _find_group(edge: JointEdge, snapshot: StageSnapshot) -> int:
    body = edge.body0 or edge.body1
    component = snapshot.graph.of_body.get(body.path) if body is not None else None
    return id(component) if component is not None else id(edge)


# one function: every early return is a piece of evidence that the angles are degrees
def _suspect_radians(joints: list[PrimNode]) -> Finding | None:
    """Where the limits and targets of one mechanism look like radians, the finding that says so."""
    values: dict[str, list[tuple[str, float]]] = {}
    for joint in joints:
        found = _list_angles(joint)
        # one angle, or one odd range, beyond a full turn in radians: the file knows degrees
        if any(abs(angle) > _MOST for _, angle in found) or _has_odd_range(found):
            return None
        if found:
            values[joint.path] = found
    angles = [abs(angle) for found in values.values() for _, angle in found]
    fractions = [angle for angle in angles if _is_fraction_of_pi(angle)]
    # one or two joints may really be limited to a few degrees
    if not fractions and len(values) < 3:
        return None
    first = next(joint for joint in joints if joint.path in values)
    name, angle = values[first.path][0]
    many = (
        f"all {len(values)} revolute joints of this mechanism stay" if len(values) > 1 else "this joint stays"
    )
    return Finding(
        f"{many} within 2 pi degrees (here {name} = {show_number(angle)}): radians suspected",
        hint=f"OpenUSD has degrees: write {show_number(round(math.degrees(angle), 4))} if it is radians",
        at=first,
        prop=name,
        data={"joints": sorted(values)},
    )


def _list_angles(joint: PrimNode) -> list[tuple[str, float]]:
    """Authored angles that say something: finite and not zero."""
    found = ((name, joint.authored(name)) for name in _NAMES)
    return [(n, float(v)) for n, v in found if isinstance(v, (int, float)) and math.isfinite(v) and v != 0.0]


def _has_odd_range(found: list[tuple[str, float]]) -> bool:
    """More than a full turn in radians, but for limits such as -2 pi and 2 pi, which many wrists have."""
    limits = [angle for name, angle in found if name in _NAMES[:2]]
    if len(limits) < 2 or max(limits) - min(limits) <= _MOST:
        return False
    return not any(_is_fraction_of_pi(abs(angle)) for angle in limits)


def _is_fraction_of_pi(angle: float) -> bool:
    """Is it a multiple of 15 degrees in radians, written with two digits or more?"""
    nearest = round(angle / _STEP) * _STEP
    # 1.57 and 3.14 are the roundings people write; below 0.5 a degree value such as 0.26 is as likely
    return nearest > 0.5 and abs(angle - nearest) < 0.003
