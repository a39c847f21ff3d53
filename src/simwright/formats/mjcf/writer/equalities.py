# SPDX-License-Identifier: Apache-2.0
"""``<equality>``: loops, mimics, screws and gears.

A loop closes by a point (ball), two points on the axis (hinge) or a frame (fixed); a distance is a tendon whose length
is limited.  Other joints that close loops have no counterpart.  Frames that do not meet at the start are held by
sites, because MuJoCo finds the second anchor of two bodies itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from simwright.core.diag import Where
from simwright.core.math3d import IDENTITY, Pose, quat_conjugate, quat_multiply
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.messages import JOINT_LOCKED, JOINT_REDUCED
from simwright.formats.mjcf.writer.sites import find_site
from simwright.model.joint import WORLD, Dof, Equality, EqualityKind, Joint, JointKind, Mimic, Motion

EQUALITY_DEFAULTS: dict[str, Any] = {
    "active": True, "solref": SOLREF, "solimp": SOLIMP, "torquescale": 1.0, "polycoef": (0, 1, 0, 0, 0),
}  # fmt: skip
LEVER = 0.1
"""Half the distance of the two points that hold a hinge [m]."""
_MEETING = 1e-9


def write_equalities(draft: Draft) -> None:
    """Constraints of the model, in the order of an MJCF source; then loops, then those inside joints."""
    rest = _place_at_rest(draft)
    asset, solver = draft.asset, draft.solver
    kept = solver.find_keys("equality/")
    tasks: list[tuple[Where, str, Callable[[], None]]] = [
        *((e.source, e.name, partial(_write_equality, draft, e, rest)) for e in asset.equalities),
        *((m.source, m.name, partial(_write_mimic, draft, m)) for m in asset.mimics),
        *((solver.find_place(k), k.partition("/")[2], partial(_restore, draft, k)) for k in kept),
    ]
    order = {name: number for number, name in enumerate(solver.take("equality", "order") or ())}
    if order:
        tasks.sort(key=lambda task: order.get(task[1], len(order)))
    elif len({where.file for where, *_ in tasks}) == 1 and all(where.line for where, *_ in tasks):
        tasks.sort(key=lambda task: task[0].line or 0)
    for *_, task in tasks:
        task()
    draft.lose("joints to bodies that do not exist", list(draft.tree.dangling), "repair the joints")
    for joint in draft.tree.loops:
        _write_loop(draft, joint, rest)
    for joint in draft.tree.joints:
        _write_inner(draft, joint)
    _lock_freedoms(draft)


def _place_at_rest(draft: Draft) -> dict[str, Pose]:
    """World poses where MuJoCo compiles: at the reference coordinates."""
    poses = {WORLD: IDENTITY}
    for name, limb in draft.limbs.items():
        poses[name] = poses[limb.parent] @ limb.pose
    return poses


def _soften(draft: Draft, element: Any, family: str) -> dict[str, Any]:
    values = {"active": element.enabled, **draft.keep(element, family, "solref", "solimp")}
    scale = draft.solver.get(element, family, "torqueScale")
    return values if scale is None else {**values, "torquescale": scale}


def _name(draft: Draft, family: str, name: str) -> str:
    return "world" if name == WORLD else draft.name(family, name) or name


def _write_equality(draft: Draft, equality: Equality, rest: dict[str, Pose]) -> None:
    common = _soften(draft, equality, "equality")
    if equality.kind is EqualityKind.WELD:
        common.setdefault("torquescale", equality.torque_scale)
    sites = _find_sites(draft, equality)
    if sites is not None:
        values = {"name": draft.claim("equality", equality.name), **sites, **common}
        draft.add(draft.section("equality"), equality.kind.value, values, EQUALITY_DEFAULTS)
        return
    match equality.kind:
        case EqualityKind.CONNECT:
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _connect(draft, equality.name, ends, rest, common)
        case EqualityKind.WELD:
            found = draft.solver.get(equality, "equality", "found_relpose")
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _weld(draft, equality.name, ends, common, rest if found else None)
        case EqualityKind.TENDON:
            values = {
                "name": draft.claim("equality", equality.name),
                "tendon1": draft.name("tendon", equality.a),
                "tendon2": draft.name("tendon", equality.b) if equality.b else None,
                "polycoef": equality.polynomial or None,
            }
            draft.add(draft.section("equality"), "tendon", {**values, **common}, EQUALITY_DEFAULTS)
        case EqualityKind.DISTANCE:
            gap = rest[equality.a].apply(equality.frame_a.p) - rest[equality.b].apply(equality.frame_b.p)
            reach = float(np.linalg.norm(gap))
            ends = (equality.a, equality.frame_a, equality.b, equality.frame_b)
            _limit_distance(draft, equality.name, ends, (reach, reach))


def _find_sites(draft: Draft, equality: Equality) -> dict[str, str] | None:
    """The sites that an MJCF source holds together, as long as they are where the constraint is."""
    found: dict[str, str] = {}
    ends = (("site1", equality.a, equality.frame_a), ("site2", equality.b, equality.frame_b))
    for word, body, frame in ends:
        name = draft.solver.get(equality, "equality", word)
        site = next((s for s in draft.asset.sites if s.name == name), None) if name else None
        written = draft.name("site", site.name) if site is not None else None
        if site is None or written is None or site.body != body or not site.pose.is_close(frame, _MEETING):
            return None
        found[word] = written
    return found


Ends = tuple[str, Pose, str, Pose]


def _connect(draft: Draft, name: str, ends: Ends, rest: dict[str, Pose], common: dict[str, Any]) -> None:
    a, frame_a, b, frame_b = ends
    values: dict[str, Any] = {"name": draft.claim("equality", name)}
    gap = rest[a].apply(frame_a.p) - rest[b].apply(frame_b.p)
    if np.linalg.norm(gap) <= _MEETING:
        values |= {"body1": _name(draft, "body", a), "body2": _name(draft, "body", b), "anchor": frame_a.p}
    else:
        values["site1"] = find_site(draft, f"{name}_a", a, frame_a)
        values["site2"] = find_site(draft, f"{name}_b", b, frame_b)
    draft.add(draft.section("equality"), "connect", {**values, **common}, EQUALITY_DEFAULTS)


def _weld(
    draft: Draft, name: str, ends: Ends, common: dict[str, Any], rest: dict[str, Pose] | None = None
) -> None:
    """A frame on each body; MuJoCo finds the relative pose itself if ``rest`` says that it will be the same."""
    a, frame_a, b, frame_b = ends
    turn = quat_multiply(frame_a.q, quat_conjugate(frame_b.q))
    values: dict[str, Any] = {
        "name": draft.claim("equality", name),
        "body1": _name(draft, "body", a),
        "body2": _name(draft, "body", b),
        "anchor": frame_b.p,
        "relpose": (*frame_a.p, *turn),
    }
    if rest is not None and (rest[a] @ frame_a).is_close(rest[b] @ frame_b, _MEETING):
        del values["relpose"]
    defaults = {**EQUALITY_DEFAULTS, "anchor": (0, 0, 0)}
    draft.add(draft.section("equality"), "weld", {**values, **common}, defaults)


def _limit_distance(draft: Draft, name: str, ends: Ends, limits: tuple[float, float]) -> None:
    sites = [
        find_site(draft, f"{name}_{letter}", body, frame)
        for letter, body, frame in (("a", ends[0], ends[1]), ("b", ends[2], ends[3]))
    ]
    # MuJoCo takes no range without a width: ends that are to stay together get a billionth of a metre
    low, high = limits
    values = {"name": draft.claim("tendon", name), "range": (low, max(high, low + 1e-9)), "limited": True}
    node = draft.add(draft.section("tendon"), "spatial", values)
    for site in sites:
        draft.add(node, "site", {"site": site})


def _write_mimic(draft: Draft, mimic: Mimic) -> None:
    """``y = p(x)`` in coordinates becomes a law of displacements from the references."""
    follower, leader = draft.dofs.get(mimic.follower), draft.dofs.get(mimic.leader)
    if follower is None or leader is None or follower.dof is None or leader.dof is None:
        draft.lose("mimics of joints that are not written", [_Named(mimic.name or mimic.follower)])
        return
    law = Polynomial((mimic.offset, mimic.multiplier, *mimic.polynomial))
    if leader.dof.ref:
        law = law(Polynomial((leader.dof.ref, 1.0)))
    coefficients = [float(v) for v in law.coef] + [0.0] * (5 - len(law.coef))
    coefficients[0] -= follower.dof.ref
    name = mimic.name or f"{mimic.follower}_mimic"
    keyed = Mimic(mimic.follower, mimic.leader, enabled=mimic.enabled, name=name, source=mimic.source)
    values = {
        "name": draft.claim("equality", name),
        "joint1": follower.name,
        "joint2": leader.name,
        "polycoef": draft.spell(coefficients, draft.solver.get(keyed, "equality", "polycoef")),
    }
    common = _soften(draft, keyed, "equality")
    draft.add(draft.section("equality"), "joint", {**values, **common}, EQUALITY_DEFAULTS)


class _Named:
    """A name to report, where there is no element."""

    def __init__(self, name: str) -> None:
        self.name = name


def _write_loop(draft: Draft, joint: Joint, rest: dict[str, Pose]) -> None:
    common = _soften(draft, joint, "joint")
    ends = (joint.parent, joint.parent_frame, joint.child, joint.child_frame)
    motions = [dof.motion for dof in joint.dofs]
    if joint.kind is JointKind.DISTANCE:
        _limit_distance(draft, joint.name, ends, joint.distance or (0.0, np.inf))
    elif not motions:
        _weld(draft, joint.name, ends, common)
    elif motions == [Motion.HINGE] and not joint.dofs[0].pitch:
        _hold_axis(draft, joint, rest, common)
    elif _holds_point(joint.dofs):
        _connect(draft, joint.name, ends, rest, common)
        if motions != [Motion.BALL] and len(motions) < 3:
            _reduce(draft, joint, "the lock of the other rotation")
    elif motions != [Motion.FREE]:
        draft.lose(
            "sliding joints that close loops", [joint], "close the loop with a ball, hinge or fixed joint"
        )
        return
    if any(dof.is_limited or dof.swing or dof.drive or dof.damping or dof.friction for dof in joint.dofs):
        _reduce(draft, joint, "limits, drives and friction of the closed loop")


def _reduce(draft: Draft, joint: Joint, what: str) -> None:
    draft.reporter.report(JOINT_REDUCED, joint.source, what=what, name=joint.name)


def _holds_point(dofs: list[Dof]) -> bool:
    return all(dof.motion in (Motion.BALL, Motion.HINGE) and not dof.pitch for dof in dofs)


def _hold_axis(draft: Draft, joint: Joint, rest: dict[str, Pose], common: dict[str, Any]) -> None:
    """Two points on the axis, on either side of the anchor."""
    dof = joint.dofs[0]
    for side, sign in (("a", 1.0), ("b", -1.0)):
        point = Pose.of(dof.anchor + dof.axis * (sign * LEVER))
        ends = (joint.parent, joint.parent_frame @ point, joint.child, joint.child_frame @ point)
        _connect(draft, f"{joint.name}_{side}", ends, rest, common)


def _write_inner(draft: Draft, joint: Joint) -> None:
    """Screws advance with their angle, gearboxes couple their hinges."""
    freedoms = [f for end in (joint.child, joint.parent) if end for f in draft.limbs[end].freedoms]
    for hinge, slide in pairwise(freedoms):
        if slide.pitch and hinge.dof is not None and hinge.dof.name in {dof.name for dof in joint.dofs}:
            values = {"joint1": slide.name, "joint2": hinge.name, "polycoef": (0, slide.pitch, 0, 0, 0)}
            name = draft.claim("equality", f"{hinge.name}_screw")
            draft.add(draft.section("equality"), "joint", {"name": name, **values}, EQUALITY_DEFAULTS)
    if joint.gear is not None and len(joint.dofs) == 2:
        first, second = (draft.dofs.get(dof.name) for dof in joint.dofs)
        if first and second:
            values = {
                "joint1": first.name,
                "joint2": second.name,
                "polycoef": (0, -joint.gear.ratio, 0, 0, 0),
            }
            name = draft.claim("equality", f"{joint.name}_gear")
            draft.add(draft.section("equality"), "joint", {"name": name, **values}, EQUALITY_DEFAULTS)


def _lock_freedoms(draft: Draft) -> None:
    """A range without width holds the joint where it is: MuJoCo would ignore it."""
    locked = []
    for freedom in draft.dofs.values():
        dof = freedom.dof
        if dof is None or dof.motion not in (Motion.HINGE, Motion.SLIDE) or not dof.lower >= dof.upper:
            continue
        held = (dof.lower + dof.upper) / 2.0 - dof.ref
        values = {"joint1": freedom.name, "polycoef": (held, 0, 0, 0, 0)}
        name = draft.claim("equality", f"{freedom.name}_lock")
        draft.add(draft.section("equality"), "joint", {"name": name, **values}, EQUALITY_DEFAULTS)
        locked.append(freedom)
    if locked:
        draft.reporter.report(JOINT_LOCKED, count=len(locked), first=locked[0].name)


def _restore(draft: Draft, key: str) -> None:
    """A joint held at a value: MuJoCo's own, kept as attributes by the reader."""
    kind, joint = draft.solver.take(key, "type"), draft.solver.take(key, "joint1")
    freedom = draft.dofs.get(joint) if joint else None
    if kind != "joint" or freedom is None:
        return
    values = {
        "name": draft.claim("equality", key.partition("/")[2]),
        "joint1": freedom.name,
        "polycoef": draft.solver.take(key, "data")[:5],
    }
    for attribute in ("active", "solref", "solimp"):
        values[attribute] = draft.solver.take(key, attribute)
    draft.add(draft.section("equality"), "joint", values, EQUALITY_DEFAULTS)
