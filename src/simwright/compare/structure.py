# SPDX-License-Identifier: Apache-2.0
"""Structure: bodies and frames, their masses, joints, their order and their limits.

A body that only one asset has is not a difference where it has no mass, and the other asset has a frame of
that name, or nothing that could be missed: bodies between the freedoms of one joint.

Joints are the same where their freedoms are: the words a format has for them do not count, the axes do, as they
stand in the world when no joint is moved.  An axis that points the other way is a difference, also if limits are
mirrored.

Mass properties are compared body by body, or group by group where the two assets cut a rigid group differently.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.compare.difference import (
    DifferenceItem,
    DifferenceSection,
    MeasuredError,
    ValueComparer,
    measure,
)
from simwright.compare.pairing import ComparedAsset, Pairing, match_elements
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Site
from simwright.model.geometry import box_bounds
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, EqualityKind, Joint, JointKind, Motion
from simwright.model.mechanism import Freedom
from simwright.model.ros import list_implied_frames

Frames = dict[str, tuple[str, Pose]]


def compare_bodies(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Bodies by name, with what they say of themselves."""
    section.compared = len(pairing.bodies) - 1
    _list_single_bodies(section, pairing)
    first, second = ({body.name: body for body in s.asset.bodies} for s in (pairing.a, pairing.b))
    for name, twin in pairing.bodies.items():
        if not name:
            continue
        a, b = first[name], second[twin]
        element = f"body {name!r}"
        for what in ("kinematic", "enabled"):
            ruler.compare(section, element, what, getattr(a, what), getattr(b, what))
        ruler.compare(section, element, "gravity scale", a.gravity_scale, b.gravity_scale, scale=1.0)
        # not given means none
        for what in ("linear_damping", "angular_damping"):
            x, y = getattr(a, what) or 0.0, getattr(b, what) or 0.0
            ruler.compare(section, element, what.replace("_", " "), x, y)


def _list_single_bodies(section: DifferenceSection, pairing: Pairing) -> None:
    """Bodies that only one side has, unless they are frames or links of a chain."""
    folded, between = [], []
    # a body without mass and shapes is only a frame: formats disagree on whether to write it
    names = pairing.lost()
    for left, side, other in ((names[0], pairing.a, pairing.b), (names[1], pairing.b, pairing.a)):
        frames = {make_identifier(site.name) for site in other.asset.sites}
        for name in left:
            if not _is_bare(side, name):
                present = side is pairing.a
                section.items.append(
                    DifferenceItem(
                        f"body {name!r}", "body", name if present else None, None if present else name
                    )
                )
            elif (
                make_identifier(name) in frames or not side.edges.get(name) or not side.edges[name].joint.dofs
            ):
                folded.append(name)
            else:
                between.append(name)
    if folded:
        section.notes.append(f"links without mass that the other side has as frames: {_count(folded)}")
    if between:
        section.notes.append(
            f"links without mass between the axes of one joint, on one side only: {_count(between)}"
        )


def _is_bare(side: ComparedAsset, name: str) -> bool:
    """Has it nothing of its own?  Shapes of a piece are compared wherever they hang on it."""
    inertial = side.inertials[name]
    edge = side.edges.get(name)
    loose = edge is None or bool(edge.joint.dofs)
    return inertial.mass == 0.0 and not inertial.inertia.any() and not (loose and side.asset.shapes_of(name))


def _count(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} ... ({len(names)})"


# one function: sites of both files, and what ROS interfaces imply without one
def compare_frames(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Sites by name, and bodies that the other side has as sites."""
    first, second = list_frames(pairing)
    implied = [list_implied_frames(side.asset) for side in (pairing.a, pairing.b)]
    unsaid: list[str] = []
    matches = match_elements(first, second)
    section.compared = len(matches)
    by_name = {site.name: site for site in second}
    for site in first:
        twin = by_name.get(matches.get(site.name, ""))
        if twin is None:
            if site.name in implied[0]:
                unsaid.append(site.name)
            else:
                section.items.append(DifferenceItem(f"frame {site.name!r}", "frame", site.name, None))
            continue
        met = pairing.meet((site.body, site.pose), (twin.body, twin.pose))
        if met is None:
            section.items.append(DifferenceItem(f"frame {site.name!r}", "hangs on", site.body, twin.body))
        else:
            ruler.compare_pose(section, f"frame {site.name!r}", *met)
            _compare_zone(section, ruler, site, twin)
    taken = set(matches.values())
    left = [site.name for site in second if site.name not in taken]
    unsaid += [name for name in left if name in implied[1]]
    section.items += [
        DifferenceItem(f"frame {name!r}", "frame", None, name) for name in left if name not in implied[1]
    ]
    if unsaid:
        section.notes.append(f"said by one side, implied by ROS interfaces of the other: {_count(unsaid)}")


def _compare_zone(section: DifferenceSection, ruler: ValueComparer, a: Site, b: Site) -> None:
    """The zones of two sites, which sensors of touch feel in, where both have one."""
    if a.geometry is None or b.geometry is None:
        return
    element = f"frame {a.name!r}"
    ruler.compare(section, element, "shape", a.geometry.kind, b.geometry.kind)
    first, second = box_bounds(a.geometry), box_bounds(b.geometry)
    if a.geometry.kind == b.geometry.kind and first is not None and second is not None:
        ruler.compare(section, element, "size", first[1] - first[0], second[1] - second[0])


def list_frames(pairing: Pairing) -> tuple[list[Site], list[Site]]:
    """Sites of both sides; bare bodies of one side count where the other has a site of that name."""
    left = pairing.lost()
    result: list[list[Site]] = []
    for names, side, other in ((left[0], pairing.a, pairing.b), (left[1], pairing.b, pairing.a)):
        # by legal names: sites of the other file may have been renamed
        wanted = {make_identifier(site.name) for site in other.asset.sites}
        own = {make_identifier(site.name) for site in side.asset.sites}
        bodies = [n for n in names if make_identifier(n) in wanted - own and _is_bare(side, n)]
        result.append([*side.asset.sites, *(Site(name, name, IDENTITY) for name in bodies)])
    return result[0], result[1]


HOLDS = {JointKind.BALL: EqualityKind.CONNECT, JointKind.FIXED: EqualityKind.WELD}
"""Joints that say the same as an equality constraint where they close a loop."""


def compare_joints(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Joints of the tree and those that close loops."""
    first, second = ({joint.name: joint for joint in s.asset.joints} for s in (pairing.a, pairing.b))
    section.compared = len(pairing.joints)
    for name, twin in pairing.joints.items():
        a, b = first[name], second[twin]
        if not (is_hold(pairing.a, a) or is_hold(pairing.b, b)):
            _compare_joint(section, pairing, ruler, a, b)
            _compare_loop_frames(section, pairing, ruler, a, b)
    _list_single_joints(section, pairing)
    _compare_axes(section, pairing, ruler)
    for freedom in _list_lost(pairing, 0):
        section.items.append(DifferenceItem(f"DOF {freedom.name!r}", "DOF", str(freedom.dof.motion), None))
    for freedom in _list_lost(pairing, 1):
        section.items.append(DifferenceItem(f"DOF {freedom.name!r}", "DOF", None, str(freedom.dof.motion)))


def _compare_joint(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, a: Joint, b: Joint
) -> None:
    element = f"joint {a.name!r}"
    _compare_motions(section, element, a, b)
    for what in ("parent", "child"):
        ends = getattr(a, what), getattr(b, what)
        if not _is_same_piece(pairing, *ends):
            section.items.append(DifferenceItem(element, what, *(end or "the world" for end in ends)))
    ruler.compare(section, element, "enabled", a.enabled, b.enabled)
    for what in ("break_force", "break_torque", "distance"):
        ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))
    ruler.compare(section, element, "closes a loop", pairing.a.closes_loop(a), pairing.b.closes_loop(b))
    gears = [None if joint.gear is None else joint.gear.ratio for joint in (a, b)]
    ruler.compare(section, element, "gear ratio", *gears)


def _compare_motions(section: DifferenceSection, element: str, a: Joint, b: Joint) -> None:
    """Kinds of motion, and their order: rotations do not commute, translations do."""
    motions = [[str(dof.motion) for dof in joint.dofs] for joint in (a, b)]
    if sorted(motions[0]) != sorted(motions[1]):
        section.items.append(DifferenceItem(element, "freedoms", motions[0], motions[1]))
        return
    turns = [[motion for motion in one if motion != Motion.SLIDE] for one in motions]
    if turns[0] != turns[1]:
        section.items.append(DifferenceItem(element, "order of degrees of freedom", motions[0], motions[1]))


def _compare_loop_frames(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, a: Joint, b: Joint
) -> None:
    """Anchors of joints that close loops: they are in no pose of the tree."""
    if not pairing.a.closes_loop(a):
        return
    for what in ("parent", "child"):
        ends = [(getattr(joint, what), getattr(joint, f"{what}_frame")) for joint in (a, b)]
        met = pairing.meet(ends[0], ends[1])
        if met is not None:
            ruler.compare(
                section, f"joint {a.name!r}", f"anchor on its {what}", met[0].p, met[1].p, scale=ruler.length
            )


def is_hold(side: ComparedAsset, joint: Joint) -> bool:
    """Is it a joint that closes a loop as an equality constraint would?"""
    return joint.kind in HOLDS and side.closes_loop(joint)


def _is_same_piece(pairing: Pairing, a: str, b: str) -> bool:
    """The same body, or bodies of the same rigid piece."""
    if pairing.bodies.get(a) == b:
        return True
    if a not in pairing.a.places or b not in pairing.b.places:
        return False
    anchor = pairing.anchors.get(pairing.a.places[a][0])
    return anchor is not None and anchor[0] == pairing.b.places[b][0]


def _list_single_joints(section: DifferenceSection, pairing: Pairing) -> None:
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
                DifferenceItem(f"joint {joint.name!r}", "joint", *(names if not number else names[::-1]))
            )
    if implied:
        section.notes.append(f"said by one side, implied by the other: {implied} joint(s)")


def _is_implied(pairing: Pairing, joint: Joint, number: int, matched: set[int]) -> bool:
    """Does the other asset move the same way without this joint?"""
    side, other = (pairing.a, pairing.b) if number == 0 else (pairing.b, pairing.a)
    if joint.dofs and joint.dofs[0].motion is Motion.FREE and joint.parent == WORLD:
        # a body without a joint floats too: URDF roots and SDF models have no free joint
        return any(pair[number].is_base and pair[number].body == joint.child for pair in pairing.freedoms)
    if joint.dofs:
        # a chain of single joints in one file is one joint with several dofs in the other
        return all(id(dof) in matched for dof in joint.dofs)
    edge = side.edges.get(joint.child)
    return edge is not None and edge.joint is joint and _joins_nothing(pairing, joint, number, other)


def _joins_nothing(pairing: Pairing, joint: Joint, number: int, other: ComparedAsset) -> bool:
    """Are the ends of a fixed joint one rigid group of the other asset, or is one of them only a frame there?"""
    bodies = pairing.bodies if number == 0 else {twin: name for name, twin in pairing.bodies.items()}
    ends = [bodies.get(end) for end in (joint.parent, joint.child)]
    return None in ends or len({other.places[end][0] for end in ends if end is not None}) == 1


def _list_lost(pairing: Pairing, number: int) -> list[Freedom]:
    matched = {id(pair[number]) for pair in pairing.freedoms}
    return [f for f in pairing.mechanisms[number].freedoms if id(f) not in matched]


def _compare_axes(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Screws of single freedoms in the world, nothing moved and bases in the same place."""
    # bases stand in the same place, so that axes compare in the world
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
        element = f"DOF {a.name!r}"
        hinge = a.dof.motion is Motion.HINGE
        axes = (x[:3], y[:3]) if hinge else (x[3:], y[3:])
        error = float(np.linalg.norm(axes[0] - axes[1]))
        # an opposite axis has an error of 2: mirrored limits do not make it the same
        if error > ruler.rtol:
            section.items.append(
                DifferenceItem(element, "axis", axes[0].tolist(), axes[1].tolist(), error=error)
            )
        elif hinge:
            place = float(np.linalg.norm(x[3:] - y[3:])) / ruler.length
            if place > ruler.rtol:
                section.items.append(
                    DifferenceItem(element, "axis position", x[3:].tolist(), y[3:].tolist(), error=place)
                )


# one function: both orders as numbers of the first asset's freedoms
def compare_order(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
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
        section.items.append(DifferenceItem(f"DOF {at + 1} of {len(a)}", "order", a, b))


def compare_limits(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Ranges, efforts, speeds and what coordinates are counted from.

    Coordinates counted from another zero are one difference: ranges are measured from it.
    """
    section.compared = len(pairing.freedoms)
    for a, b in pairing.freedoms:
        if a.is_base:
            continue
        element = f"DOF {a.name!r}"
        x, y = a.dof, b.dof
        zeros = pairing.zeros(a, b)
        ruler.compare(section, element, "reference", *zeros, scale=1.0)
        ends = [end - zero for dof, zero in zip((x, y), zeros, strict=True) for end in (dof.lower, dof.upper)]
        # a limit at zero needs a size to be measured against
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
    # URDF and MJCF limit the joint, OpenUSD the drive
    return own if dof.drive is None else min(own, dof.drive.max_force)


def _open(swing: tuple[float, float] | None) -> tuple[float, float]:
    return (math.inf, math.inf) if swing is None else swing


def compare_masses(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Mass, centre of mass and inertia; the centre against the size of the body, inertia by its norm."""
    worst = {"mass": (0.0, ""), "centre of mass": (0.0, ""), "inertia": (0.0, "")}
    for element, a, b in _list_pieces(section, pairing):
        section.compared += 1
        for what, found in zip(worst, measure_inertials(a, b), strict=True):
            error = math.inf if math.isnan(found) else found
            worst[what] = max(worst[what], (error, element), key=lambda pair: pair[0])
            if error > ruler.rtol:
                values = {"mass": a.mass, "centre of mass": a.com, "inertia": a.six}[what]
                others = {"mass": b.mass, "centre of mass": b.com, "inertia": b.six}[what]
                section.items.append(DifferenceItem(element, what, values, others, error=error))
    for what, (error, where) in worst.items():
        section.figures.append(MeasuredError(what, error, ruler.rtol, where))
    totals = [math.fsum(part.mass for part in side.inertials.values()) for side in (pairing.a, pairing.b)]
    section.figures.append(
        MeasuredError("total mass", measure(*totals), ruler.rtol, f"{totals[0]:g} and {totals[1]:g} kg")
    )


def _list_pieces(section: DifferenceSection, pairing: Pairing) -> list[tuple[str, Inertial, Inertial]]:
    pieces = []
    lumped = 0
    for group, (other, frame_a, frame_b) in pairing.anchors.items():
        bodies = pairing.a.groups.get(group, [])
        twins = pairing.b.groups.get(other, [])
        same = {pairing.bodies.get(name, WORLD) for name in bodies} == set(twins)
        if same:
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
            ]
        elif group and other:
            lumped += 1
            a, b = pairing.a.lump(group), pairing.b.lump(other)
            pieces.append((f"piece of {group!r}", a.moved(~frame_a), b.moved(~frame_b)))
        else:
            # what stands on the world does not move: only bodies that both sides have are held together
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
                if name in pairing.bodies
            ]
    if lumped:
        section.notes.append(f"cut into bodies differently, compared as a whole: {lumped} rigid piece(s)")
    return pieces


def measure_inertials(a: Inertial, b: Inertial) -> tuple[float, float, float]:
    """Relative errors of mass, centre and inertia."""
    heavy = max(abs(a.mass), abs(b.mass))
    if heavy == 0.0:
        return 0.0, 0.0, _norm_error(a.inertia, b.inertia)
    # the radius of gyration: the size of a body as seen from its mass
    spread = max(math.sqrt(max(float(np.trace(i.inertia)), 0.0) / heavy) for i in (a, b))
    # 1e-300 keeps a point mass at the origin from dividing by zero
    size = max(spread, float(np.abs(a.com).max()), float(np.abs(b.com).max()), 1e-300)
    center = float(np.linalg.norm(a.com - b.com)) / size
    return abs(a.mass - b.mass) / heavy, center, _norm_error(a.inertia, b.inertia)


def _norm_error(a: np.ndarray, b: np.ndarray) -> float:
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    return float(np.linalg.norm(a - b)) / size if size > 0.0 else 0.0
