# SPDX-License-Identifier: Apache-2.0
"""``<worldbody>``: the tree as MJCF nests it, with inertials and joints.

MuJoCo places a body in its parent at the reference coordinates, then moves it joint by joint about axes given in
the body; that is the model's own rule seen from the child.  A body that nothing holds is free; one held by the
world stands still.

Principal axes of inertia are found here and not by MuJoCo, whose iteration stops earlier.  MuJoCo refuses what no solid
can be; the nearest possible inertia is written then, and said.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.core.math3d import IDENTITY_QUAT, Array, Pose, matrix_from_quat, quat_rotate, vec3
from simwright.formats.mjcf.bodies import SOLIMP, SOLREF
from simwright.formats.mjcf.writer.document import (
    AdjustedInertia,
    MjcfBody,
    MjcfDocument,
    MjcfJoint,
    describe_idle,
    is_equal,
)
from simwright.formats.mjcf.writer.messages import (
    BODY_FOLDED,
    INERTIA_ADJUSTED,
    JOINT_REDUCED,
    JOINT_REVERSED,
    MASS_INVENTED,
    ROOT_FIXED,
)
from simwright.formats.xml import Element
from simwright.model.asset import Body
from simwright.model.inertia import LEAST_MASS, POINT_INERTIA, Inertial, settle_moments
from simwright.model.joint import WORLD, Dof, Joint, Motion
from simwright.model.kinematics import Edge
from simwright.model.mass import body_inertials

MAX_DEPTH = 240
"""Bodies in bodies: readers of XML, ours included, stop at 256 levels."""
TINY = 1e-15
"""The mass and inertia at which MuJoCo takes a body for massless."""


def plan_bodies(document: MjcfDocument) -> None:
    """Fill ``bodies`` in the order of the document: parents first, children in the order of the model."""
    asset, edges = document.asset, document.tree.parents()
    inertials = body_inertials(asset)
    children: dict[str, list[Body]] = {}
    for body in asset.bodies:
        edge = edges.get(body.name)
        children.setdefault(edge.parent if edge else WORLD, []).append(body)
    # a stack instead of recursion: chains of links may be longer than Python's stack
    pending = [(body, 1) for body in reversed(children.get(WORLD, []))]
    while pending:
        body, depth = pending.pop()
        _check_depth(document, depth)
        mjcf_body = _plan_body(document, body, edges.get(body.name))
        mjcf_body.inertial = inertials.get(body.name)
        document.bodies[body.name] = mjcf_body
        pending.extend((child, depth + 1) for child in reversed(children.get(body.name, [])))
    _free_massive_roots(document)
    _name_joints(document)


def _check_depth(document: MjcfDocument, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LimitError(
            f"a chain of more than {MAX_DEPTH} links cannot be nested in MJCF",
            hint="merge links that are fixed to each other, or cut the model into parts",
            where=Where(document.asset.provenance.file),
        )


def _plan_body(document: MjcfDocument, body: Body, edge: Edge | None) -> MjcfBody:
    name = document.claim("body", body.name)
    if edge is None:
        return MjcfBody(body, name, WORLD, body.pose, mocap=body.kinematic)
    joint = edge.joint
    if body.kinematic and joint.dofs:
        document.reporter.report(BODY_FOLDED, body.source, name=body.name, joint=joint.name)
    near, far, dofs = joint.parent_frame, joint.child_frame, joint.dofs
    if edge.reversed:
        # seen from the child the last freedom comes first
        near, far, dofs = far, near, [_invert_dof(dof) for dof in reversed(joint.dofs)]
        _report_reversal(document, joint)
    # joint.placed() is where an MJCF source had the body, bit for bit
    mjcf_body = MjcfBody(body, name, edge.parent, near @ ~far if edge.reversed else joint.placed())
    for dof in dofs:
        start = len(mjcf_body.joints)
        _add_joints(document, mjcf_body, joint, dof, far)
        for mjcf_joint in mjcf_body.joints[start:]:
            mjcf_joint.near, mjcf_joint.far, mjcf_joint.is_inverted = near, far, edge.reversed
            mjcf_joint.owner = dof.name or joint.name
    _place_free(mjcf_body)
    return mjcf_body


def _invert_dof(dof: Dof) -> Dof:
    """The same mjcf_joint seen from the other side."""
    twin = Dof(**{name: getattr(dof, name) for name in dof.__slots__})
    twin.axis = -dof.axis
    return twin


def _report_reversal(document: MjcfDocument, joint: Joint) -> None:
    round_ones = any(dof.motion in (Motion.BALL, Motion.FREE) for dof in joint.dofs)
    but = ", but those of the ball are inverted" if round_ones else ""
    document.reporter.report(JOINT_REVERSED, joint.source, name=joint.name, but=but)


def _add_joints(document: MjcfDocument, mjcf_body: MjcfBody, joint: Joint, dof: Dof, frame: Pose) -> None:
    """The MJCF joints of one dof; a screw is a hinge and a slide, a free dof inside a tree three slides and a ball."""
    single = len(joint.dofs) == 1
    name = joint.public_name if single else dof.name or f"{joint.public_name}_{len(mjcf_body.joints)}"
    if dof.motion is Motion.FREE:
        _add_free(mjcf_body, joint, dof, frame, name)
        return
    axis = document.tidy(quat_rotate(frame.q, dof.axis))
    anchor = document.tidy(frame.apply(dof.anchor))
    mjcf_body.joints.append(MjcfJoint(name, dof.motion, axis, anchor, dof, path=joint.path))
    if dof.pitch:
        # coupled to the hinge by an equality (constraints.py)
        mjcf_body.joints.append(MjcfJoint(f"{name}_advance", Motion.SLIDE, axis, pitch=dof.pitch))


def _add_free(mjcf_body: MjcfBody, joint: Joint, dof: Dof, frame: Pose, name: str) -> None:
    """A free joint is of the world alone, and its coordinates are the body's pose."""
    if mjcf_body.parent == WORLD:
        mjcf_body.joints.append(MjcfJoint(name, Motion.FREE, dof=dof, path=joint.path))
        return
    # MuJoCo refuses free joints below other bodies
    for letter, axis in zip("xyz", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        mjcf_body.joints.append(MjcfJoint(f"{name}_{letter}", Motion.SLIDE, quat_rotate(frame.q, vec3(axis))))
    mjcf_body.joints.append(MjcfJoint(name, Motion.BALL, anchor=frame.p, path=joint.path))


def _place_free(mjcf_body: MjcfBody) -> None:
    """A free body starts where its joint has it."""
    for mjcf_joint in mjcf_body.joints:
        if (
            mjcf_joint.motion is Motion.FREE
            and mjcf_joint.dof is not None
            and mjcf_joint.dof.position is not None
        ):
            start = mjcf_joint.convert(mjcf_joint.dof.position)
            mjcf_body.pose = Pose.of(start[:3], start[3:])


def _free_massive_roots(document: MjcfDocument) -> None:
    """Roots float if they, or what is fixed to them, have a mass."""
    carried = _sum_carried_mass(document)
    for name in document.tree.roots:
        mjcf_body = document.bodies[name]
        if mjcf_body.mocap or not mjcf_body.body.enabled:
            continue
        # MuJoCo refuses moving bodies without mass; a root without any is where the robot stands
        if carried[name] > TINY:
            mjcf_body.joints.append(MjcfJoint(f"{name}_free", Motion.FREE, owner=name))
        else:
            document.reporter.report(ROOT_FIXED, mjcf_body.body.source, name=name)


def _sum_carried_mass(document: MjcfDocument) -> dict[str, float]:
    """The mass of every body together with what is fixed to it, on the way out [kg]."""
    mass = {
        name: mjcf_body.inertial.mass if mjcf_body.inertial else 0.0
        for name, mjcf_body in document.bodies.items()
    }
    for name, mjcf_body in reversed(document.bodies.items()):
        if mjcf_body.parent != WORLD and not mjcf_body.joints:
            mass[mjcf_body.parent] += mass[name]
    return mass


def _name_joints(document: MjcfDocument) -> None:
    roots = set(document.tree.roots)
    for mjcf_body in document.bodies.values():
        for mjcf_joint in mjcf_body.joints:
            mjcf_joint.name = document.claim("joint", mjcf_joint.name)
            document.note_written(
                "free" if mjcf_body.body.name in roots else "joint", mjcf_joint.owner, mjcf_joint.name
            )
            # others refer to a dof by name: actuators, tendons, mimics
            if mjcf_joint.dof is not None and mjcf_joint.dof.name:
                document.dofs[mjcf_joint.dof.name] = mjcf_joint


JOINT_DEFAULTS: dict[str, Any] = {
    "type": "hinge", "pos": (0, 0, 0), "axis": (0, 0, 1), "ref": 0.0, "springref": 0.0, "stiffness": 0.0,
    "damping": 0.0, "armature": 0.0, "frictionloss": 0.0, "group": 0, "margin": 0.0, "solreflimit": SOLREF,
    "solimplimit": SOLIMP, "solreffriction": SOLREF, "solimpfriction": SOLIMP, "actuatorgravcomp": False,
}  # fmt: skip
_JOINT_KEPT = (
    "group", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "actuatorgravcomp",
    "springyield", "idle_springref", "idle_range", "idle_actuatorfrcrange", "user",
)  # fmt: skip


def write_bodies(document: MjcfDocument) -> None:
    """Every body in its parent."""
    _complete_inertials(document)
    document.nodes[WORLD] = document.section("worldbody")
    # without <inertial> MuJoCo would compute a mass from the geoms
    shaped = {shape.body for shape in document.asset.shapes}
    for name, mjcf_body in document.bodies.items():
        node = document.add(
            document.nodes[mjcf_body.parent],
            "body",
            {"name": mjcf_body.name, **document.describe_pose(mjcf_body.pose)},
        )
        document.nodes[name] = node
        _write_settings(document, mjcf_body, node)
        _write_inertial(document, mjcf_body, node, name in shaped)
        for mjcf_joint in mjcf_body.joints:
            _write_joint(document, mjcf_body, mjcf_joint, node)
    _report_adjusted(document)


def _write_settings(document: MjcfDocument, mjcf_body: MjcfBody, node: Element) -> None:
    body = mjcf_body.body
    if mjcf_body.mocap:
        node.set("mocap", "true")
    # MuJoCo says how much gravity is compensated, the model how much is left
    values = {"gravcomp": 1.0 - body.gravity_scale, **document.find_kept(body, "body", "user", "sleep")}
    values["gravcomp"] = document.prefer_kept(values["gravcomp"], document.kept.get(body, "body", "gravcomp"))
    if "sleep" in values:
        # kept as the name of a member of MuJoCo's enumeration
        values["sleep"] = str(values["sleep"]).rpartition("_")[2].lower()
    document.set_values(node, values, {"gravcomp": 0.0})


def _write_joint(document: MjcfDocument, mjcf_body: MjcfBody, mjcf_joint: MjcfJoint, node: Element) -> None:
    if mjcf_joint.motion is Motion.FREE:
        _write_free_joint(document, mjcf_body, mjcf_joint, node)
        return
    values: dict[str, Any] = {"name": mjcf_joint.name, "type": mjcf_joint.motion.value}
    kept = None
    if mjcf_joint.dof is not None:
        found = [document.kept.take(key, "pos") for key in (f"joint/{mjcf_joint.dof.name}", mjcf_joint.path)]
        kept = next((place for place in found if place is not None), None)
    values["pos"] = (
        # where a slide stands says nothing, but MuJoCo keeps it
        kept if mjcf_joint.motion is Motion.SLIDE else document.prefer_kept(mjcf_joint.anchor, kept)
    )
    # MuJoCo ignores the axis of a ball
    if mjcf_joint.motion is not Motion.BALL:
        values["axis"] = mjcf_joint.axis
    if mjcf_joint.dof is not None:
        values |= _describe_dof(document, mjcf_body, mjcf_joint.dof) | _restore_solver_values(
            document, mjcf_joint
        )
    document.add(node, "joint", values, JOINT_DEFAULTS)


def _write_free_joint(
    document: MjcfDocument, mjcf_body: MjcfBody, mjcf_joint: MjcfJoint, node: Element
) -> None:
    """A free joint; written as a joint where it has damping, armature or the like."""
    values: dict[str, Any] = {}
    if mjcf_joint.dof is not None:
        values = _describe_dof(document, mjcf_body, mjcf_joint.dof) | _restore_solver_values(
            document, mjcf_joint
        )
        values.pop("range", None)
    values = {k: v for k, v in values.items() if v is not None and not is_equal(v, JOINT_DEFAULTS.get(k))}
    # <freejoint> has no damping, on purpose: free bodies should not be slowed by a default class
    if set(values) <= {"group"}:
        document.add(node, "freejoint", {"name": mjcf_joint.name, **values})
    else:
        document.add(node, "joint", {"name": mjcf_joint.name, "type": "free", **values})


def _describe_dof(document: MjcfDocument, mjcf_body: MjcfBody, dof: Dof) -> dict[str, Any]:
    values: dict[str, Any] = {
        "range": _find_range(document, mjcf_body, dof),
        "stiffness": dof.stiffness,
        "damping": dof.damping,
        "armature": dof.armature,
        "frictionloss": dof.friction,
    }
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        values |= {"ref": dof.ref, "springref": dof.spring_ref}
    if dof.effort_limit is not None:
        values["actuatorfrcrange"] = _make_symmetric(dof.effort_limit)
    return values


def _make_symmetric(limit: float) -> tuple[float, float] | None:
    return (-limit, limit) if limit < float("inf") else None


def _find_range(document: MjcfDocument, mjcf_body: MjcfBody, dof: Dof) -> tuple[float, float] | None:
    if dof.motion is Motion.BALL:
        if dof.swing is None:
            return None
        if dof.swing[0] != dof.swing[1] or not dof.is_limited:
            what = "the cone of swing limits, other than by the whole angle,"
            document.reporter.report(
                JOINT_REDUCED, mjcf_body.body.source, name=dof.name or mjcf_body.name, what=what
            )
        # MuJoCo limits the whole angle, so the wider of two swings is the one that nothing is lost by
        return 0.0, max(dof.swing)
    return (dof.lower, dof.upper) if dof.is_limited and dof.lower < dof.upper else None


def _restore_solver_values(document: MjcfDocument, mjcf_joint: MjcfJoint) -> dict[str, Any]:
    """KeptAttributes values the joint was read with, by its own name or the prim of its joint."""
    values: dict[str, Any] = {}
    keys = [f"joint/{mjcf_joint.dof.name}" if mjcf_joint.dof else "", mjcf_joint.path]
    for key in filter(None, dict.fromkeys(keys)):
        for attribute in (*_JOINT_KEPT, "actuatorfrcrange"):
            # on a prim they are those of whatever joint the body has
            word = (
                f"free:{attribute}" if mjcf_joint.motion is Motion.FREE and key.startswith("/") else attribute
            )
            found = document.kept.take(key, word)
            if found is not None and (attribute != "actuatorfrcrange" or _is_range_of(found, mjcf_joint.dof)):
                values.setdefault(attribute, found)
        assert mjcf_joint.dof is not None
        for name, plain in (("stiffness", mjcf_joint.dof.stiffness), ("damping", mjcf_joint.dof.damping)):
            higher = document.kept.take(key, f"{name}poly")
            if higher is not None:
                values[name] = [plain or 0.0, *higher]
    return _restore_idle(values, mjcf_joint.dof)


def _restore_idle(values: dict[str, Any], dof: Dof | None) -> dict[str, Any]:
    """What an MJCF source has and switches off: ranges, and the rest of a spring that is none."""
    # kept of a joint without a spring; one that got a spring since says where it rests itself
    rest = values.pop("idle_springref", None)
    if rest is not None and not (dof is not None and dof.stiffness):
        values["springref"] = rest
    is_limited = dof is not None and dof.is_limited
    has_effort = dof is not None and dof.effort_limit is not None
    describe_idle(values, "actuatorfrcrange", "actuatorfrclimited", is_limited=has_effort)
    return describe_idle(values, "range", "limited", is_limited=is_limited)


def _is_range_of(found: list[float], dof: Dof | None) -> bool:
    """Is it the limit of the freedom, whose two sides may differ in MJCF?  The limit may have been edited since."""
    limit = None if dof is None else dof.effort_limit
    return limit is not None and math.isclose(max(map(abs, found)), limit, rel_tol=1e-6)


_ROUNDING = 1e-9


def _complete_inertials(document: MjcfDocument) -> None:
    """Give bodies that move, and carry no mass at all, the least that MuJoCo takes."""
    heavy = {name: _is_heavy(mjcf_body.inertial) for name, mjcf_body in document.bodies.items()}
    for name, mjcf_body in reversed(document.bodies.items()):
        if heavy[name] and mjcf_body.parent != WORLD and not mjcf_body.joints:
            heavy[mjcf_body.parent] = True
    for name, mjcf_body in document.bodies.items():
        if mjcf_body.joints and not heavy[name]:
            mjcf_body.inertial = _invent_inertial(document, mjcf_body)


def _is_heavy(inertial: Inertial | None) -> bool:
    if inertial is None or inertial.mass < TINY:
        return False
    return bool(np.linalg.eigvalsh(inertial.inertia).min() >= TINY)


def _invent_inertial(document: MjcfDocument, mjcf_body: MjcfBody) -> Inertial:
    known = mjcf_body.inertial
    if known is not None and known.mass >= TINY:
        # a mass on a point has no inertia about itself; MuJoCo wants some
        what, value = "inertia about some axis", POINT_INERTIA
        result = Inertial(known.mass, known.com, known.inertia + np.eye(3) * POINT_INERTIA)
    else:
        what, value = "mass", LEAST_MASS
        result = Inertial(LEAST_MASS, inertia=np.eye(3) * POINT_INERTIA)
    document.reporter.report(
        MASS_INVENTED, mjcf_body.body.source, name=mjcf_body.body.name, what=what, value=value
    )
    return result


def _write_inertial(document: MjcfDocument, mjcf_body: MjcfBody, node: Element, shaped: bool) -> None:
    """The inertial of a body; one without mass says so if its geoms would make MuJoCo think otherwise."""
    inertial = mjcf_body.inertial
    if inertial is None or inertial.mass <= 0.0:
        if shaped:
            place = (0, 0, 0) if inertial is None else document.tidy(inertial.com)
            document.add(node, "inertial", {"pos": place, "mass": 0.0, "diaginertia": (0, 0, 0)})
        return
    moments, axes = _choose_axes(document, mjcf_body, inertial)
    values = {"pos": document.tidy(inertial.com), "quat": document.tidy(axes), "mass": inertial.mass}
    values["diaginertia"] = _make_possible(
        document, mjcf_body, np.array([_tidy_moment(document, v) for v in moments])
    )
    document.add(node, "inertial", values, {"quat": IDENTITY_QUAT})


def _choose_axes(document: MjcfDocument, mjcf_body: MjcfBody, inertial: Inertial) -> tuple[Array, Array]:
    """Principal moments and axes: those that an MJCF source has for drag, where they are axes of this inertia too."""
    moments, axes = inertial.principal()
    kept = document.kept.get(mjcf_body.body, "body", "iquat")
    if kept is None or document.asset.provenance.format == "mjcf":
        return moments, axes
    turn = matrix_from_quat(kept)
    turned = turn.T @ inertial.inertia @ turn
    off = np.abs(turned - np.diag(np.diag(turned))).max()
    if off > 1e-6 * np.abs(turned).max():
        return moments, axes
    return np.diag(turned).copy(), np.array(kept, dtype=np.float64)


def _tidy_moment(document: MjcfDocument, value: float) -> float:
    """Small moments are no rounding: light bodies have them."""
    return document.tidy((value,))[0] or float(value)


def _make_possible(document: MjcfDocument, mjcf_body: MjcfBody, moments: Array) -> Array:
    """The moments, or the nearest ones that a solid can have: those that go to every other format too."""
    # half the trace minus a moment is the second moment of mass along that axis, which no solid has below
    # zero
    half = float(moments.sum()) / 2.0
    spread = half - moments
    if spread.min() >= 0.0 and _is_triangle(moments):
        return moments
    # also what is possible but for rounding, which MuJoCo does not forgive
    result: Array = settle_moments(moments)
    while not _is_triangle(result):  # the last bit
        result[int(np.argmax(result))] = np.nextafter(result.max(), 0.0)
    # a change in the last bits is none that anybody has to be told
    if np.abs(result - moments).max() > _ROUNDING * np.abs(moments).max():
        document.adjusted.append(AdjustedInertia(mjcf_body.body, moments, result))
    return result


def _is_triangle(moments: Array) -> bool:
    a, b, c = (float(v) for v in moments)
    return a + b >= c and a + c >= b and b + c >= a


def _report_adjusted(document: MjcfDocument) -> None:
    """One finding for all inertias that had to change."""
    if not document.adjusted:
        return
    first = document.adjusted[0]
    document.reporter.report(
        INERTIA_ADJUSTED,
        first.body.source,
        count=len(document.adjusted),
        name=first.body.name,
        found=" ".join(f"{v:.6g}" for v in first.found),
        written=" ".join(f"{v:.6g}" for v in first.written),
    )
