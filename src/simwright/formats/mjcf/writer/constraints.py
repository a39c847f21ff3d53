# SPDX-License-Identifier: Apache-2.0
"""``<tendon>`` and ``<equality>``: loops, mimics, screws and gears.

A tendon is a sum of joint coordinates (fixed) or a path through sites (spatial).
A loop closes by a point (ball), two points on the axis (hinge) or a frame (fixed); a distance is a tendon whose length
is limited.  Other joints that close loops have no counterpart.  Frames that do not meet at the start are held by
sites, because MuJoCo finds the second anchor of two bodies itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from simwright.core.diag import Where
from simwright.core.math3d import IDENTITY, Pose, quat_conjugate, quat_multiply
from simwright.formats.mjcf.bodies import SOLIMP, SOLREF
from simwright.formats.mjcf.reader import DEFAULT_RGBA
from simwright.formats.mjcf.writer.document import MjcfDocument, MjcfJoint, describe_idle
from simwright.formats.mjcf.writer.geoms import find_site
from simwright.formats.mjcf.writer.messages import JOINT_LOCKED, JOINT_REDUCED
from simwright.formats.xml import Element
from simwright.model.joint import (
    WORLD,
    Dof,
    Equality,
    EqualityKind,
    Joint,
    JointKind,
    Mimic,
    Motion,
    Tendon,
    TendonPoint,
)

TENDON_DEFAULTS: dict[str, Any] = {
    "stiffness": 0.0, "damping": 0.0, "frictionloss": 0.0, "armature": 0.0, "width": 0.003, "group": 0, "margin": 0.0,
    "rgba": DEFAULT_RGBA, "solreflimit": SOLREF, "solimplimit": SOLIMP, "solreffriction": SOLREF,
    "solimpfriction": SOLIMP,
}  # fmt: skip
_TENDON_KEPT = (
    "group", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "springyield",
    "actuatorfrcrange", "idle_range", "user",
)  # fmt: skip
_TENDON_LOOKS = ("rgba", "material")


def write_tendons(document: MjcfDocument) -> None:
    """Every tendon whose path is written."""
    lost = []
    for tendon in document.asset.tendons:
        points = [_describe_point(document, point) for point in tendon.path]
        if not points or any(None in values.values() for _, values in points):
            lost.append(tendon)
            continue
        node = _write_tendon(document, tendon, fixed=tendon.path[0].kind == "joint")
        for tag, values in points:
            document.add(node, tag, values)
    document.report_lost("tendons over elements that are not written", lost)


def _write_tendon(document: MjcfDocument, tendon: Tendon, *, fixed: bool) -> Element:
    # one end is enough: the other is written as a number beyond every use
    limited = max(-tendon.lower, tendon.upper) < float("inf") or tendon.lower > -float("inf")
    values: dict[str, Any] = {
        "name": document.claim("tendon", tendon.name),
        "range": (tendon.lower, tendon.upper) if limited or tendon.upper < float("inf") else None,
        "stiffness": tendon.stiffness,
        "damping": tendon.damping,
        "frictionloss": tendon.friction,
        "armature": tendon.armature,
        "springlength": tendon.rest_length,
        **document.find_kept(tendon, "tendon", *_TENDON_KEPT),
    }
    describe_idle(values, "range", "limited", is_limited=values["range"] is not None)
    for name, plain in (("stiffness", tendon.stiffness), ("damping", tendon.damping)):
        # coefficients of MuJoCo's polynomial springs and dampers, after the linear one
        higher = document.kept.get(tendon, "tendon", f"{name}poly")
        if higher is not None:
            values[name] = [plain, *higher]
    # fixed tendons have no course that could be seen
    looks = document.find_kept(tendon, "tendon", *_TENDON_LOOKS)
    if not fixed:
        values |= {"width": tendon.width, **looks}
        if "material" in looks:
            values["material"] = document.find_name("material", looks["material"])
    return document.add(document.section("tendon"), "fixed" if fixed else "spatial", values, TENDON_DEFAULTS)


def _describe_point(document: MjcfDocument, point: TendonPoint) -> tuple[str, dict[str, Any]]:
    """Tag and attributes of a step; a None among them means that it leads nowhere."""
    match point.kind:
        case "joint":
            mjcf_joint = document.dofs.get(point.name)
            return "joint", {"joint": mjcf_joint.name if mjcf_joint else None, "coef": point.value}
        case "pulley":
            return "pulley", {"divisor": point.value}
        case "site":
            return "site", {"site": document.find_name("site", point.name)}
    values = {"geom": document.find_name("geom", point.name)}
    if point.side:
        values["sidesite"] = document.find_name("site", point.side)
    return "geom", values


EQUALITY_DEFAULTS: dict[str, Any] = {
    "active": True, "solref": SOLREF, "solimp": SOLIMP, "torquescale": 1.0, "polycoef": (0, 1, 0, 0, 0),
}  # fmt: skip
LEVER = 0.1
"""Half the distance of the two points that hold a hinge [m]."""
_SAME_POINT = 1e-9
_SAME_SITE = 2e-6
"""How far a frame may be from its site: OpenUSD keeps it in single precision, and is read so that frames meet [m]."""


def write_equalities(document: MjcfDocument) -> None:
    """Constraints of the model, in the order of an MJCF source; then loops, then those inside joints."""
    rest = _place_at_rest(document)
    for write in _list_in_order(document, rest):
        write()
    document.report_lost(
        "joints to bodies that do not exist", list(document.tree.dangling), "repair the joints"
    )
    for joint in document.tree.loops:
        _write_loop(document, joint, rest)
    for joint in document.tree.joints:
        _write_couplings(document, joint)
    _lock_joints(document)


# one function: three sources of constraints and the one order they share
def _list_in_order(document: MjcfDocument, rest: dict[str, Pose]) -> list[Callable[[], None]]:
    """What writes each equality, mimic and kept constraint, in the order of an MJCF source.

    The order of constraints is that of the rows of MuJoCo's solver, so another one changes the last bits of a motion.
    """
    asset, kept = document.asset, document.kept
    keys = kept.find_keys("equality/")
    tasks: list[tuple[Where, str, Callable[[], None]]] = [
        *((e.source, e.name, partial(_write_equality, document, e, rest)) for e in asset.equalities),
        *((m.source, m.name, partial(_write_mimic, document, m)) for m in asset.mimics),
        *((kept.find_place(k), k.partition("/")[2], partial(_restore_lock, document, k)) for k in keys),
    ]
    names = kept.take("equality", "order")
    order = {name: number for number, name in enumerate(names if isinstance(names, (list, tuple)) else ())}
    if order:
        tasks.sort(key=lambda task: order.get(task[1], len(order)))
    elif len({where.file for where, *_ in tasks}) == 1 and all(where.line for where, *_ in tasks):
        tasks.sort(key=lambda task: task[0].line or 0)
    return [write for *_, write in tasks]


def _place_at_rest(document: MjcfDocument) -> dict[str, Pose]:
    """World poses where MuJoCo compiles: at the reference coordinates."""
    # bodies are in the order of the tree, parents first
    poses = {WORLD: IDENTITY}
    for name, mjcf_body in document.bodies.items():
        poses[name] = poses[mjcf_body.parent] @ mjcf_body.pose
    return poses


def _describe_common(document: MjcfDocument, element: Any, family: str) -> dict[str, Any]:
    values = {"active": element.enabled, **document.find_kept(element, family, "solref", "solimp")}
    scale = document.kept.get(element, family, "torqueScale")
    return values if scale is None else {**values, "torquescale": scale}


def _name_end(document: MjcfDocument, family: str, name: str) -> str:
    return "world" if name == WORLD else document.find_name(family, name) or name


def _write_equality(document: MjcfDocument, equality: Equality, rest: dict[str, Pose]) -> None:
    common = _describe_common(document, equality, "equality")
    # only welds have a torque scale; MuJoCo refuses the attribute elsewhere
    if equality.kind is EqualityKind.WELD:
        common.setdefault("torquescale", equality.torque_scale)
    sites = _find_sites(document, equality)
    if sites is not None:
        values = {"name": document.claim("equality", equality.name), **sites, **common}
        document.add(document.section("equality"), equality.kind.value, values, EQUALITY_DEFAULTS)
        return
    match equality.kind:
        case EqualityKind.CONNECT:
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _connect(document, equality.name, ends, rest, common)
        case EqualityKind.WELD:
            found = document.kept.get(equality, "equality", "found_relpose")
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _weld(document, equality.name, ends, common, rest if found else None)
        case EqualityKind.TENDON:
            values = {
                "name": document.claim("equality", equality.name),
                "tendon1": document.find_name("tendon", equality.a),
                "tendon2": document.find_name("tendon", equality.b) if equality.b else None,
                "polycoef": equality.polynomial or None,
            }
            document.add(document.section("equality"), "tendon", {**values, **common}, EQUALITY_DEFAULTS)
        case EqualityKind.DISTANCE:
            gap = rest[equality.a].apply(equality.frame_a.p) - rest[equality.b].apply(equality.frame_b.p)
            reach = float(np.linalg.norm(gap))
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _limit_distance(document, equality.name, ends, (reach, reach))


def _find_sites(document: MjcfDocument, equality: Equality) -> dict[str, str] | None:
    """The sites that an MJCF source holds together, as long as they are where the constraint is."""
    found: dict[str, str] = {}
    ends = (("site1", equality.a, equality.frame_a), ("site2", equality.b, equality.frame_b))
    for word, body, frame in ends:
        name = document.kept.get(equality, "equality", word)
        site = next((s for s in document.asset.sites if s.name == name), None) if name else None
        written = document.find_name("site", site.name) if site is not None else None
        if site is None or written is None or site.body != body or not site.pose.is_close(frame, _SAME_SITE):
            return None
        found[word] = written
    return found


Ends = tuple[str, Pose, str, Pose]


def _connect(
    document: MjcfDocument, name: str, ends: Ends, rest: dict[str, Pose], common: dict[str, Any]
) -> None:
    a, frame_a, b, frame_b = ends
    values: dict[str, Any] = {"name": document.claim("equality", name)}
    gap = rest[a].apply(frame_a.p) - rest[b].apply(frame_b.p)
    # MuJoCo finds the anchor on the second body itself, at the reference coordinates
    if np.linalg.norm(gap) <= _SAME_POINT:
        values |= {
            "body1": _name_end(document, "body", a),
            "body2": _name_end(document, "body", b),
            "anchor": frame_a.p,
        }
    else:
        values["site1"] = find_site(document, f"{name}_a", a, frame_a)
        values["site2"] = find_site(document, f"{name}_b", b, frame_b)
    document.add(document.section("equality"), "connect", {**values, **common}, EQUALITY_DEFAULTS)


def _weld(
    document: MjcfDocument, name: str, ends: Ends, common: dict[str, Any], rest: dict[str, Pose] | None = None
) -> None:
    """A frame on each body; MuJoCo finds the relative pose itself if ``rest`` says that it will be the same."""
    a, frame_a, b, frame_b = ends
    # relpose is the pose of the second body in the first, at the anchor
    turn = quat_multiply(frame_a.q, quat_conjugate(frame_b.q))
    values: dict[str, Any] = {
        "name": document.claim("equality", name),
        "body1": _name_end(document, "body", a),
        "body2": _name_end(document, "body", b),
        "anchor": frame_b.p,
        "relpose": (*frame_a.p, *turn),
    }
    if rest is not None and (rest[a] @ frame_a).is_close(rest[b] @ frame_b, _SAME_POINT):
        del values["relpose"]
    defaults = {**EQUALITY_DEFAULTS, "anchor": (0, 0, 0)}
    document.add(document.section("equality"), "weld", {**values, **common}, defaults)


def _limit_distance(document: MjcfDocument, name: str, ends: Ends, limits: tuple[float, float]) -> None:
    sites = [
        find_site(document, f"{name}_{letter}", body, frame)
        for letter, body, frame in (("a", ends[0], ends[1]), ("b", ends[2], ends[3]))
    ]
    # MuJoCo takes no range without a width: ends that are to stay together get a billionth of a metre
    low, high = limits
    values = {"name": document.claim("tendon", name), "range": (low, max(high, low + 1e-9)), "limited": True}
    node = document.add(document.section("tendon"), "spatial", values)
    for site in sites:
        document.add(node, "site", {"site": site})


def _write_mimic(document: MjcfDocument, mimic: Mimic) -> None:
    """``y = p(x)`` in coordinates becomes a law of displacements from the references."""
    follower, leader = document.dofs.get(mimic.follower), document.dofs.get(mimic.leader)
    if follower is None or leader is None or follower.dof is None or leader.dof is None:
        named = dataclasses.replace(mimic, name=mimic.name or mimic.follower)
        document.report_lost("mimics of joints that are not written", [named])
        return
    # y0 + dy = p(x0 + dx): the leader's reference shifts the argument, the follower's the value
    law = Polynomial((mimic.offset, mimic.multiplier, *mimic.polynomial))
    if leader.dof.ref:
        law = law(Polynomial((leader.dof.ref, 1.0)))
    coefficients = [float(v) for v in law.coef] + [0.0] * (5 - len(law.coef))
    coefficients[0] -= follower.dof.ref
    # attributes are kept under the name that the constraint is written with
    mimic = dataclasses.replace(mimic, name=mimic.name or f"{mimic.follower}_mimic")
    values = {
        "name": document.claim("equality", mimic.name),
        "joint1": follower.name,
        "joint2": leader.name,
        "polycoef": document.prefer_kept(coefficients, document.kept.get(mimic, "equality", "polycoef")),
    }
    common = _describe_common(document, mimic, "equality")
    document.add(document.section("equality"), "joint", {**values, **common}, EQUALITY_DEFAULTS)


# one function: a case for each joint that can close a loop
def _write_loop(document: MjcfDocument, joint: Joint, rest: dict[str, Pose]) -> None:
    """A joint that closes a loop, as the constraint that holds what the joint holds."""
    common = _describe_common(document, joint, "joint")
    ends = (joint.parent, joint.parent_frame, joint.child, joint.child_frame)
    motions = [dof.motion for dof in joint.dofs]
    if joint.kind is JointKind.DISTANCE:
        _limit_distance(document, joint.name, ends, joint.distance or (0.0, np.inf))
    elif not motions:
        _weld(document, joint.name, ends, common)
    elif motions == [Motion.HINGE] and not joint.dofs[0].pitch:
        _hold_axis(document, joint, rest, common)
    elif _holds_point(joint.dofs):
        _connect(document, joint.name, ends, rest, common)
        # three hinges through a point turn like a ball; fewer leave a rotation locked that a point does not lock
        if motions != [Motion.BALL] and len(motions) < 3:
            _report_reduced(document, joint, "the lock of the other rotation")
    elif motions != [Motion.FREE]:
        document.report_lost(
            "sliding joints that close loops", [joint], "close the loop with a ball, hinge or fixed joint"
        )
        return
    if any(_has_dynamics(dof) for dof in joint.dofs):
        _report_reduced(document, joint, "limits, springs, drives and friction of the closed loop")


def _has_dynamics(dof: Dof) -> bool:
    """Has it limits, a spring, a drive, friction or inertia?  A constraint has no place for them."""
    passive = (dof.stiffness, dof.damping, dof.friction, dof.armature)
    return bool(dof.is_limited or dof.swing or dof.drive or any(passive))


def _report_reduced(document: MjcfDocument, joint: Joint, what: str) -> None:
    document.reporter.report(JOINT_REDUCED, joint.source, what=what, name=joint.name)


def _holds_point(dofs: list[Dof]) -> bool:
    return all(dof.motion in (Motion.BALL, Motion.HINGE) and not dof.pitch for dof in dofs)


def _hold_axis(document: MjcfDocument, joint: Joint, rest: dict[str, Pose], common: dict[str, Any]) -> None:
    """Two points on the axis, on either side of the anchor."""
    dof = joint.dofs[0]
    for side, sign in (("a", 1.0), ("b", -1.0)):
        point = Pose.of(dof.anchor + dof.axis * (sign * LEVER))
        ends = (joint.parent, joint.parent_frame @ point, joint.child, joint.child_frame @ point)
        _connect(document, f"{joint.name}_{side}", ends, rest, common)


# one function: screws and gearboxes are both found by the joints of one body
def _write_couplings(document: MjcfDocument, joint: Joint) -> None:
    """Screws advance with their angle, gearboxes couple their hinges."""
    names = {dof.name for dof in joint.dofs}
    joints = [j for end in (joint.child, joint.parent) if end for j in document.bodies[end].joints]
    for hinge, slide in pairwise(joints):
        if slide.pitch and hinge.dof is not None and hinge.dof.name in names:
            _couple(document, f"{hinge.name}_screw", slide, hinge, slide.pitch)
    if joint.gear is not None and len(joint.dofs) == 2:
        first, second = (document.dofs.get(dof.name) for dof in joint.dofs)
        if first and second:
            _couple(document, f"{joint.name}_gear", first, second, -joint.gear.ratio)


def _couple(document: MjcfDocument, name: str, follower: MjcfJoint, leader: MjcfJoint, ratio: float) -> None:
    values = {
        "name": document.claim("equality", name),
        "joint1": follower.name,
        "joint2": leader.name,
        "polycoef": (0, ratio, 0, 0, 0),
    }
    document.add(document.section("equality"), "joint", values, EQUALITY_DEFAULTS)


def _lock_joints(document: MjcfDocument) -> None:
    """A range without width holds the joint where it is: MuJoCo would ignore it."""
    locked = []
    for mjcf_joint in document.dofs.values():
        dof = mjcf_joint.dof
        # written so that NaN limits do not lock anything
        if dof is None or dof.motion not in (Motion.HINGE, Motion.SLIDE) or not dof.lower >= dof.upper:
            continue
        # equalities of joints count from the reference coordinate
        held = (dof.lower + dof.upper) / 2.0 - dof.ref
        values = {"joint1": mjcf_joint.name, "polycoef": (held, 0, 0, 0, 0)}
        name = document.claim("equality", f"{mjcf_joint.name}_lock")
        document.add(document.section("equality"), "joint", {"name": name, **values}, EQUALITY_DEFAULTS)
        locked.append(mjcf_joint)
    if locked:
        document.reporter.report(JOINT_LOCKED, count=len(locked), first=locked[0].name)


def _restore_lock(document: MjcfDocument, key: str) -> None:
    """A joint held at a value: MuJoCo's own, kept as attributes by the reader."""
    kind, joint = document.kept.take(key, "type"), document.kept.take(key, "joint1")
    mjcf_joint = document.dofs.get(joint) if joint else None
    # flex constraints are kept, but flexes are not written
    if kind != "joint" or mjcf_joint is None:
        return
    values = {
        "name": document.claim("equality", key.partition("/")[2]),
        "joint1": mjcf_joint.name,
        "polycoef": document.kept.take(key, "data")[:5],
    }
    for attribute in ("active", "solref", "solimp"):
        values[attribute] = document.kept.take(key, attribute)
    document.add(document.section("equality"), "joint", values, EQUALITY_DEFAULTS)
