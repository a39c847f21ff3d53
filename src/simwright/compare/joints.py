# SPDX-License-Identifier: Apache-2.0
"""Joints: what they hold, how they let it move, in which sense and in which order.

Joints are the same where their freedoms are: the words a format has for them do not count, the axes do, as they
stand in the world when no joint is moved.  An axis that points the other way is a difference, also if limits are
mirrored.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing
from simwright.compare.side import Side
from simwright.compare.values import Ruler
from simwright.model.joint import WORLD, Dof, EqualityKind, Joint, JointKind, Motion
from simwright.model.mechanism import Freedom

HOLDS = {JointKind.BALL: EqualityKind.CONNECT, JointKind.FIXED: EqualityKind.WELD}
"""Joints that say the same as an equality constraint where they close a loop."""


def compare_joints(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Joints of the tree and those that close loops."""
    first, second = ({joint.name: joint for joint in s.asset.joints} for s in (pairing.a, pairing.b))
    section.compared = len(pairing.joints)
    for name, twin in pairing.joints.items():
        a, b = first[name], second[twin]
        if not (is_hold(pairing.a, a) or is_hold(pairing.b, b)):
            _compare_joint(section, pairing, ruler, a, b)
            _compare_loop_frames(section, pairing, ruler, a, b)
    _list_single(section, pairing)
    _compare_axes(section, pairing, ruler)
    for freedom in _list_lost(pairing, 0):
        section.items.append(Item(f"freedom {freedom.name!r}", "freedom", str(freedom.dof.motion), None))
    for freedom in _list_lost(pairing, 1):
        section.items.append(Item(f"freedom {freedom.name!r}", "freedom", None, str(freedom.dof.motion)))


def _compare_joint(section: Section, pairing: Pairing, ruler: Ruler, a: Joint, b: Joint) -> None:
    element = f"joint {a.name!r}"
    motions = [[str(dof.motion) for dof in joint.dofs] for joint in (a, b)]
    if sorted(motions[0]) != sorted(motions[1]):
        section.items.append(Item(element, "freedoms", motions[0], motions[1]))
    elif [m for m in motions[0] if m != Motion.SLIDE] != [m for m in motions[1] if m != Motion.SLIDE]:
        section.items.append(Item(element, "order of freedoms", motions[0], motions[1]))
    for what in ("parent", "child"):
        ends = getattr(a, what), getattr(b, what)
        if not _is_same_piece(pairing, *ends):
            section.items.append(Item(element, what, *(end or "the world" for end in ends)))
    ruler.compare(section, element, "enabled", a.enabled, b.enabled)
    for what in ("break_force", "break_torque", "distance"):
        ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))
    loops = [any(joint is other for other in s.tree.loops) for joint, s in ((a, pairing.a), (b, pairing.b))]
    ruler.compare(section, element, "closes a loop", *loops)
    gears = [None if joint.gear is None else joint.gear.ratio for joint in (a, b)]
    ruler.compare(section, element, "gear ratio", *gears)


def _compare_loop_frames(section: Section, pairing: Pairing, ruler: Ruler, a: Joint, b: Joint) -> None:
    """Anchors of joints that close loops, which no pose tells about."""
    if not any(joint is a for joint in pairing.a.tree.loops):
        return
    for what in ("parent", "child"):
        ends = [(getattr(joint, what), getattr(joint, f"{what}_frame")) for joint in (a, b)]
        met = pairing.meet(ends[0], ends[1])
        if met is not None:
            ruler.compare(
                section, f"joint {a.name!r}", f"anchor on its {what}", met[0].p, met[1].p, scale=ruler.length
            )


def is_hold(side: Side, joint: Joint) -> bool:
    """Is it a joint that closes a loop as an equality constraint would?"""
    return joint.kind in HOLDS and any(joint is other for other in side.tree.loops)


def _is_same_piece(pairing: Pairing, a: str, b: str) -> bool:
    """The same body, or bodies of the same rigid piece."""
    if pairing.bodies.get(a) == b:
        return True
    if a not in pairing.a.places or b not in pairing.b.places:
        return False
    anchor = pairing.anchors.get(pairing.a.places[a][0])
    return anchor is not None and anchor[0] == pairing.b.places[b][0]


def _list_single(section: Section, pairing: Pairing) -> None:
    """Joints that only one side has: fixed ones of folded frames, floating ones and stacks mean the same."""
    lost = pairing.lost(bodies=False)
    matched = [{id(pair[number].dof) for pair in pairing.freedoms} for number in (0, 1)]
    implied = 0
    for number, side in enumerate((pairing.a, pairing.b)):
        for joint in side.asset.joints:
            if joint.name not in lost[number] or is_hold(side, joint):
                continue
            if _is_implied(pairing, joint, number, matched[number]):
                implied += 1
                continue
            names = [joint.name, None]
            section.items.append(
                Item(f"joint {joint.name!r}", "joint", *(names if not number else names[::-1]))
            )
    if implied:
        section.notes.append(f"said by one side, implied by the other: {implied} joint(s)")


def _is_implied(pairing: Pairing, joint: Joint, number: int, matched: set[int]) -> bool:
    side, other = (pairing.a, pairing.b) if number == 0 else (pairing.b, pairing.a)
    edge = side.edges.get(joint.child)
    is_tree = edge is not None and edge.joint is joint
    if joint.dofs and joint.dofs[0].motion is Motion.FREE and joint.parent == WORLD:
        return any(pair[number].is_base and pair[number].body == joint.child for pair in pairing.freedoms)
    if joint.dofs:
        return all(id(dof) in matched for dof in joint.dofs)
    bodies = pairing.bodies if number == 0 else {twin: name for name, twin in pairing.bodies.items()}
    if not is_tree:
        return False
    ends = [bodies.get(end) for end in (joint.parent, joint.child)]
    if None in ends:
        return True
    groups = {other.places[end][0] for end in ends if end is not None}
    return len(groups) == 1


def _list_lost(pairing: Pairing, number: int) -> list[Freedom]:
    matched = {id(pair[number]) for pair in pairing.freedoms}
    return [f for f in pairing.mechanisms[number].freedoms if id(f) not in matched]


def _compare_axes(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Screws of single freedoms in the world, nothing moved and bases in the same place."""
    configurations = [mechanism.neutral() for mechanism in pairing.mechanisms]
    for a, b in pairing.freedoms:
        if a.is_base:
            configurations[1][b.positions] = configurations[0][a.positions]
        elif a.dof.motion in (Motion.HINGE, Motion.SLIDE):
            configurations[1][b.positions] = pairing.zeros(a, b)[1]
    first, second = (
        mechanism.move(q).screws[:, 0]
        for mechanism, q in zip(pairing.mechanisms, configurations, strict=True)
    )
    for a, b in pairing.freedoms:
        if a.dof.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        x, y = first[a.velocity], second[b.velocity]
        element = f"freedom {a.name!r}"
        hinge = a.dof.motion is Motion.HINGE
        axes = (x[:3], y[:3]) if hinge else (x[3:], y[3:])
        error = float(np.linalg.norm(axes[0] - axes[1]))
        if error > ruler.rtol:
            section.items.append(Item(element, "axis", axes[0].tolist(), axes[1].tolist(), error=error))
        elif hinge:
            place = float(np.linalg.norm(x[3:] - y[3:])) / ruler.length
            if place > ruler.rtol:
                section.items.append(
                    Item(element, "axis position", x[3:].tolist(), y[3:].tolist(), error=place)
                )


def compare_order(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Moving joints, in the order in which the files give them."""
    del ruler
    rank = {id(pair[0].dof): number for number, pair in enumerate(pairing.freedoms)}
    twin = {id(pair[1].dof): number for number, pair in enumerate(pairing.freedoms)}
    names = {number: pair[0].name for number, pair in enumerate(pairing.freedoms)}
    first = [rank[id(d)] for j in pairing.a.asset.joints for d in j.dofs if id(d) in rank]
    second = [twin[id(d)] for j in pairing.b.asset.joints for d in j.dofs if id(d) in twin]
    section.compared = len(first)
    if first != second:
        at = next((n for n, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), 0)
        a, b = ([names[number] for number in order] for order in (first, second))
        section.items.append(Item(f"freedom {at + 1} of {len(a)}", "order", a, b))


def compare_limits(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Ranges, efforts, speeds and what coordinates are counted from.

    Coordinates counted from another zero are one difference: ranges are measured from it.
    """
    section.compared = len(pairing.freedoms)
    for a, b in pairing.freedoms:
        if a.is_base:
            continue
        element = f"freedom {a.name!r}"
        x, y = a.dof, b.dof
        zeros = pairing.zeros(a, b)
        ruler.compare(section, element, "reference", *zeros, scale=1.0)
        ends = [end - zero for dof, zero in zip((x, y), zeros, strict=True) for end in (dof.lower, dof.upper)]
        span = max((abs(value) for value in ends if math.isfinite(value)), default=0.0)
        if x.motion is not Motion.BALL:
            ruler.compare(section, element, "lower limit", ends[0], ends[2], scale=span)
            ruler.compare(section, element, "upper limit", ends[1], ends[3], scale=span)
        ruler.compare(section, element, "swing", _open(x.swing), _open(y.swing))
        ruler.compare(section, element, "effort limit", _effort(x), _effort(y))
        speeds = [math.inf if dof.velocity_limit is None else dof.velocity_limit for dof in (x, y)]
        ruler.compare(section, element, "velocity limit", *speeds)
        if x.safety or y.safety:
            ruler.compare(section, element, "safety controller", x.safety, y.safety)


def _effort(dof: Dof) -> float:
    """What limits the effort: the joint's own limit or that of its drive."""
    own = math.inf if dof.effort_limit is None else dof.effort_limit
    return own if dof.drive is None else min(own, dof.drive.max_force)


def _open(swing: tuple[float, float] | None) -> tuple[float, float]:
    return (math.inf, math.inf) if swing is None else swing
