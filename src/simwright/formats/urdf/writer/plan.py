# SPDX-License-Identifier: Apache-2.0
"""The one tree that URDF wants: a root link, and a joint for every other one.

A robot that floats has its base as the root, or the frame of the base that stands at the origin (base_footprint).
Where something is fixed to the world, or several parts stand side by side, the root is the link ``world``; what floats
beside it hangs on a floating joint.
"""

from __future__ import annotations

from simwright.core.math3d import Pose
from simwright.formats.urdf.writer.draft import WORLD_LINK, Draft, Mount
from simwright.formats.urdf.writer.expand import expand_joint
from simwright.formats.urdf.writer.messages import (
    BODY_STILL,
    EMPTY,
    FLOATS,
    JOINT_REVERSED,
    LOOP_LEFT_OUT,
)
from simwright.model.asset import Body
from simwright.model.joint import WORLD, Dof, JointKind, Motion
from simwright.model.kinematics import Edge

_AT_ORIGIN = 1e-9
"""How far from the origin a frame at the origin may be [m, and as much in a quaternion]."""


def plan_tree(draft: Draft, *, world_used: bool) -> None:
    """Fill ``links`` and ``mounts``; ``world_used`` tells that the world has shapes to write."""
    asset, edges = draft.asset, draft.tree.parents()
    floating = [body for body in asset.bodies if _is_floating(body, edges.get(body.name))]
    loose = {body.name for body in floating}
    anchored = [b for b in asset.bodies if b.name not in loose and _parent(edges.get(b.name)) == WORLD]
    if anchored or world_used or len(floating) != 1:
        draft.links[WORLD] = WORLD_LINK
    if not asset.bodies and not world_used:
        draft.reporter.report(EMPTY, name=asset.name)
    for body in asset.bodies:
        draft.links[body.name] = draft.claim("link", body.name)
    order = {id(joint): number for number, joint in enumerate(asset.joints)}
    mounts: list[tuple[int, list[Mount]]] = []
    for number, body in enumerate(asset.bodies):
        edge = edges.get(body.name)
        if body.name in loose:
            held = _hold_floating(draft, body, edge)
        elif edge is None:
            held = _hold_still(draft, body)
        else:
            held = _hold(draft, body, edge)
        place = order[id(edge.joint)] if edge is not None else number - len(asset.bodies)
        mounts.append((place, held))
    draft.mounts = [mount for _, held in sorted(mounts, key=lambda row: row[0]) for mount in held]
    _report(draft, floating)


def _parent(edge: Edge | None) -> str:
    return WORLD if edge is None else edge.parent


def _is_floating(body: Body, edge: Edge | None) -> bool:
    """Nothing holds it: no joint, or one to the world that leaves everything free."""
    if edge is None:
        return body.enabled and not body.kinematic
    return edge.parent == WORLD and [dof.motion for dof in edge.joint.dofs] == [Motion.FREE]


def _hold_floating(draft: Draft, body: Body, edge: Edge | None) -> list[Mount]:
    if WORLD not in draft.links:
        return _stand_on_frame(draft, body)
    joint = None if edge is None else edge.joint
    name = draft.claim("joint", f"{body.name}_free" if joint is None else joint.public_name)
    child = draft.links[body.name]
    return [Mount(name, "floating", WORLD_LINK, child, body.pose, joint=joint, body=body)]


def _stand_on_frame(draft: Draft, body: Body) -> list[Mount]:
    """Nothing for a base at the origin; else its frame there is the root, so that the base is where it was."""
    if body.pose.is_identity(_AT_ORIGIN):
        return []
    sites = [site for site in draft.asset.sites if site.body == body.name]
    front = next((s for s in sites if (body.pose @ s.pose).is_identity(_AT_ORIGIN)), None)
    if front is None:
        draft.lose(
            "pose at the start", [body], "place the robot in the simulator, or by a joint to the world"
        )
        return []
    draft.root_site = front
    link = draft.claim("link", front.ros_frame or front.name)
    draft.bare_links.append(link)
    name = draft.claim("joint", f"{link}_joint")
    return [Mount(name, "fixed", link, draft.links[body.name], body.pose, body=body)]


def _hold_still(draft: Draft, body: Body) -> list[Mount]:
    why = "is moved from outside" if body.kinematic else "is switched off"
    draft.reporter.report(BODY_STILL, body.source, name=body.name, why=why)
    name = draft.claim("joint", f"{body.name}_fixed")
    return [Mount(name, "fixed", WORLD_LINK, draft.links[body.name], body.pose, body=body)]


def _hold(draft: Draft, body: Body, edge: Edge) -> list[Mount]:
    joint = edge.joint
    near, far, dofs = joint.parent_frame, joint.child_frame, list(joint.dofs)
    if edge.reversed:
        near, far, dofs = far, near, [_turn(dof) for dof in reversed(dofs)]
        if dofs:
            draft.reporter.report(JOINT_REVERSED, joint.source, name=joint.name)
    return expand_joint(draft, joint, (near, far), dofs, (draft.links[edge.parent], body))


def _turn(dof: Dof) -> Dof:
    """The same freedom seen from the other side."""
    twin = Dof(**{name: getattr(dof, name) for name in dof.__slots__})
    twin.axis = -dof.axis
    return twin


def _report(draft: Draft, floating: list[Body]) -> None:
    tree = draft.tree
    loops = [joint for joint in tree.loops if joint.kind is not JointKind.DISTANCE]
    if loops:
        draft.reporter.report(LOOP_LEFT_OUT, loops[0].source, count=len(loops), first=loops[0].name)
    draft.lose("joint(s) to bodies that do not exist", tree.dangling, "correct the names")
    if WORLD in draft.links and floating:
        first_body = floating[0]
        draft.reporter.report(FLOATS, first_body.source, count=len(floating), first=first_body.name)


def make_frame(draft: Draft, name: str, parent: str, pose: Pose) -> str:
    """A link without anything, fixed to another one; gives its name."""
    link = draft.claim("link", name)
    draft.bare_links.append(link)
    draft.mounts.append(Mount(draft.claim("joint", f"{link}_joint"), "fixed", parent, link, pose))
    return link
