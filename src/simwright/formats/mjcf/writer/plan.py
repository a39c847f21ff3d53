# SPDX-License-Identifier: Apache-2.0
"""The tree as MJCF nests it: every body in its parent, with the joints that move it.

MuJoCo places a body in its parent at the reference coordinates, then moves it joint by joint about axes given in
the body; that is the model's own rule seen from the child.  A body that nothing holds is free; one held by the
world stands still.
"""

from __future__ import annotations

from simwright.core.diag import Where
from simwright.core.errors import LimitError
from simwright.core.math3d import Pose, quat_rotate, vec3
from simwright.formats.mjcf.writer.draft import Draft, Freedom, Limb
from simwright.formats.mjcf.writer.messages import BODY_FOLDED, JOINT_REVERSED, ROOT_FIXED
from simwright.model.asset import Body
from simwright.model.joint import WORLD, Dof, Joint, Motion
from simwright.model.kinematics import Edge
from simwright.model.mass import body_inertials

MAX_DEPTH = 240
"""Bodies in bodies: readers of XML, ours included, stop at 256 levels."""
TINY = 1e-15
"""The mass and inertia at which MuJoCo takes a body for massless."""


def plan_limbs(draft: Draft) -> None:
    """Fill ``limbs`` in the order of the document: parents first, children in the order of the model."""
    asset, edges = draft.asset, draft.tree.parents()
    inertials = body_inertials(asset)
    children: dict[str, list[Body]] = {}
    for body in asset.bodies:
        edge = edges.get(body.name)
        children.setdefault(edge.parent if edge else WORLD, []).append(body)
    pending = [(body, 1) for body in reversed(children.get(WORLD, []))]
    while pending:
        body, depth = pending.pop()
        _check_depth(draft, depth)
        limb = _plan_limb(draft, body, edges.get(body.name))
        limb.inertial = inertials.get(body.name)
        draft.limbs[body.name] = limb
        pending.extend((child, depth + 1) for child in reversed(children.get(body.name, [])))
    _free_roots(draft)
    _name_freedoms(draft)


def _check_depth(draft: Draft, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LimitError(
            f"a chain of more than {MAX_DEPTH} links cannot be nested in MJCF",
            hint="merge links that are fixed to each other, or cut the model into parts",
            where=Where(draft.asset.provenance.file),
        )


def _plan_limb(draft: Draft, body: Body, edge: Edge | None) -> Limb:
    name = draft.claim("body", body.name)
    if edge is None:
        return Limb(body, name, WORLD, body.pose, mocap=body.kinematic)
    joint = edge.joint
    if body.kinematic and joint.dofs:
        draft.reporter.report(BODY_FOLDED, body.source, name=body.name, joint=joint.name)
    near, far, dofs = joint.parent_frame, joint.child_frame, joint.dofs
    if edge.reversed:
        near, far, dofs = far, near, [_turn(dof) for dof in reversed(joint.dofs)]
        _note_reversal(draft, joint)
    limb = Limb(body, name, edge.parent, near @ ~far if edge.reversed else joint.placed())
    for dof in dofs:
        start = len(limb.freedoms)
        _add_freedoms(draft, limb, joint, dof, far)
        for freedom in limb.freedoms[start:]:
            freedom.near, freedom.far, freedom.is_inverted = near, far, edge.reversed
            freedom.owner = dof.name or joint.name
    _place_free(limb)
    return limb


def _turn(dof: Dof) -> Dof:
    """The same freedom seen from the other side."""
    twin = Dof(**{name: getattr(dof, name) for name in dof.__slots__})
    twin.axis = -dof.axis
    return twin


def _note_reversal(draft: Draft, joint: Joint) -> None:
    round_ones = any(dof.motion in (Motion.BALL, Motion.FREE) for dof in joint.dofs)
    but = ", but those of the ball are inverted" if round_ones else ""
    draft.reporter.report(JOINT_REVERSED, joint.source, name=joint.name, but=but)


def _add_freedoms(draft: Draft, limb: Limb, joint: Joint, dof: Dof, frame: Pose) -> None:
    """The MJCF joints of one dof; a screw is a hinge and a slide, a free dof inside a tree three slides and a ball."""
    single = len(joint.dofs) == 1
    name = joint.public_name if single else dof.name or f"{joint.public_name}_{len(limb.freedoms)}"
    if dof.motion is Motion.FREE:
        _add_free(limb, joint, dof, frame, name)
        return
    axis = draft.tidy(quat_rotate(frame.q, dof.axis))
    anchor = draft.tidy(frame.apply(dof.anchor))
    limb.freedoms.append(Freedom(name, dof.motion, axis, anchor, dof, path=joint.path))
    if dof.pitch:
        limb.freedoms.append(Freedom(f"{name}_advance", Motion.SLIDE, axis, pitch=dof.pitch))


def _add_free(limb: Limb, joint: Joint, dof: Dof, frame: Pose, name: str) -> None:
    """A free joint is of the world alone, and its coordinates are the body's pose."""
    if limb.parent == WORLD:
        limb.freedoms.append(Freedom(name, Motion.FREE, dof=dof, path=joint.path))
        return
    for letter, axis in zip("xyz", ((1, 0, 0), (0, 1, 0), (0, 0, 1)), strict=True):
        limb.freedoms.append(Freedom(f"{name}_{letter}", Motion.SLIDE, quat_rotate(frame.q, vec3(axis))))
    limb.freedoms.append(Freedom(name, Motion.BALL, anchor=frame.p, path=joint.path))


def _place_free(limb: Limb) -> None:
    """A free body starts where its joint has it."""
    for freedom in limb.freedoms:
        if freedom.motion is Motion.FREE and freedom.dof is not None and freedom.dof.position is not None:
            start = freedom.convert(freedom.dof.position)
            limb.pose = Pose.of(start[:3], start[3:])


def _free_roots(draft: Draft) -> None:
    """Roots float if they, or what is fixed to them, have a mass."""
    carried = sum_carried(draft)
    for name in draft.tree.roots:
        limb = draft.limbs[name]
        if limb.mocap or not limb.body.enabled:
            continue
        if carried[name] > TINY:
            limb.freedoms.append(Freedom(f"{name}_free", Motion.FREE, owner=name))
        else:
            draft.reporter.report(ROOT_FIXED, limb.body.source, name=name)


def sum_carried(draft: Draft) -> dict[str, float]:
    """The mass of every body together with what is fixed to it, on the way out [kg]."""
    mass = {name: limb.inertial.mass if limb.inertial else 0.0 for name, limb in draft.limbs.items()}
    for name, limb in reversed(draft.limbs.items()):
        if limb.parent != WORLD and not limb.freedoms:
            mass[limb.parent] += mass[name]
    return mass


def _name_freedoms(draft: Draft) -> None:
    for limb in draft.limbs.values():
        for freedom in limb.freedoms:
            freedom.name = draft.claim("joint", freedom.name)
            held = limb.body.name not in draft.tree.roots
            draft.note("joint" if held else "free", freedom.owner, freedom.name)
            if freedom.dof is not None and freedom.dof.name:
                draft.dofs[freedom.dof.name] = freedom
