# SPDX-License-Identifier: Apache-2.0
"""Joints of several freedoms as chains of joints of one, in assets for one engine that has no such joint.

Links of next to no mass come between the two that the joint connects, so that each freedom has its own anchor, axis,
armature, damping and mimic.  They are noted as what they are, and the way back gives the one joint again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.usd.writer.joints import find_joint_prim
from simwright.formats.usd.writer.plan import Chains
from simwright.model.asset import Asset, Body, ContactFilter
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree

_SHARE = 1e-7
"""Mass and inertia of a link between, next to those of the link that it leads to."""
_LEAST_MOMENT = 1.01e-10
"""Newton (1.7) adds 1e-6 to moments below 1e-10 [kg m^2]."""
_KINDS = {Motion.HINGE: JointKind.REVOLUTE, Motion.SLIDE: JointKind.PRISMATIC, Motion.BALL: JointKind.BALL}
_COMMON = ("armature", "friction", "damping", "velocity_limit")
"""What a joint prim says once for all its axes, in the words of Newton, which PhysX reads too."""


def chain_freedoms(asset: Asset, engine: str) -> Chains:
    """Divide the joints of an asset that is written for an engine, where the engine needs it."""
    chains = Chains()
    if engine not in ("newton", "isaac"):
        return chains
    tree = build_tree(asset)
    loops = {joint.name for joint in tree.loops}
    coupled = {name for mimic in asset.mimics for name in (mimic.follower, mimic.leader)}
    # how many joints of the tree each body has: one that has a single joint is an articulation of its own
    uses = Counter(end for edge in tree.edges for end in {edge.parent, edge.child})
    joints: list[Joint] = []
    for joint in asset.joints:
        needs = is_mounted = False
        on_world = joint.parent == WORLD
        if joint.name not in loops and _is_plain(joint) and engine == "newton":
            # a single joint is in no articulation there, so a mount makes it two
            alone = on_world and uses[joint.child] == 1
            needs, is_mounted = _needs_newton(joint, coupled) or alone, alone and len(joint.dofs) == 1
        elif joint.name not in loops and _is_plain(joint):
            # the first joint of an articulation of PhysX is fixed, or its body floats
            needs, is_mounted = _needs_physx(joint) or on_world, on_world
        joints += _divide(asset, joint, chains, engine, is_mounted=is_mounted) if needs else [joint]
    asset.joints = joints
    return chains


def _is_plain(joint: Joint) -> bool:
    """Does it connect two links of the tree by hinges, slides and balls alone?"""
    motions = {dof.motion for dof in joint.dofs}
    connects = joint.enabled and joint.gear is None and joint.distance is None and not joint.closes_loop
    return connects and bool(motions) and Motion.FREE not in motions


def _needs_newton(joint: Joint, coupled: set[str]) -> bool:
    """Newton (1.7) makes one joint of those that share two bodies: with one anchor, and a mimic of one is of all."""
    if len(joint.dofs) < 2:
        return False
    anchors = [dof.anchor for dof in joint.dofs if dof.motion is not Motion.SLIDE]
    return (
        any(dof.name in coupled for dof in joint.dofs)
        or any(dof.motion is Motion.BALL for dof in joint.dofs)
        or find_joint_prim(joint) is None
        or any(not np.allclose(anchor, anchors[0], rtol=0.0, atol=1e-9) for anchor in anchors)
    )


def _needs_physx(joint: Joint) -> bool:
    """Articulations of PhysX (ovphysx 0.7) have no joint that slides along several axes, or slides and turns.

    One that turns about several has one armature, friction and damping.
    """
    if len(joint.dofs) < 2:
        return False
    return (
        any(dof.motion is Motion.SLIDE for dof in joint.dofs)
        or find_joint_prim(joint) is None
        or any(len({getattr(dof, key) or 0.0 for dof in joint.dofs}) > 1 for key in _COMMON)
    )


def _divide(asset: Asset, joint: Joint, chains: Chains, engine: str, *, is_mounted: bool) -> list[Joint]:
    """The joints of a chain, in order; its links are added to the asset.  A mount is fixed to the parent."""
    names = NameScope([body.name for body in asset.bodies])
    poses = {body.name: body.pose for body in asset.bodies}
    place = poses.get(joint.parent, IDENTITY) @ joint.parent_frame
    child = next(body for body in asset.bodies if body.name == joint.child)
    made, parent, frame = [], joint.parent, joint.parent_frame
    steps: list[Dof | None] = [None, *joint.dofs] if is_mounted else [*joint.dofs]
    at = asset.bodies.index(child)
    for number, dof in enumerate(steps):
        part = replace(_make_part(joint, dof), parent=parent, parent_frame=frame)
        if number < len(steps) - 1:
            place = place @ _find_start(dof)
            part.child, part.child_frame = names.claim(f"{dof.name if dof else joint.name}_link"), IDENTITY
            chains.links[part.child] = joint.name
            link = Body(part.child, place, _weigh(child, engine), scope=child.scope, source=child.source)
            asset.bodies.insert(at, link)
            at += 1
        chains.parts[part.name] = (joint.name, joint.kind.value)
        made.append(part)
        parent, frame = part.child, IDENTITY
    if not joint.collide and joint.parent != WORLD:
        # no joint connects them any more
        asset.contact_filters.append(ContactFilter(joint.parent, joint.child, "body"))
    return made


def _make_part(joint: Joint, dof: Dof | None) -> Joint:
    """The joint of one freedom, or the mount (None), between the links of the whole joint."""
    if dof is None:
        fixed = JointKind.FIXED
        return replace(joint, name=f"{joint.name}_mount", kind=fixed, dofs=[], rest=None, ros_name="")
    ros_name = joint.ros_name if len(joint.dofs) == 1 else ""
    return replace(joint, name=dof.name, kind=_KINDS[dof.motion], dofs=[dof], rest=None, ros_name=ros_name)


def _find_start(dof: Dof | None) -> Pose:
    """How far a freedom is moved at the start."""
    if dof is None:
        return IDENTITY
    return dof.transform(dof.neutral() if dof.position is None else np.atleast_1d(dof.position))


def _weigh(child: Body, engine: str) -> Inertial:
    """A mass that no mass matrix shows in single precision."""
    whole = child.inertial
    mass = _SHARE * whole.mass if whole is not None else _SHARE
    moment = _SHARE * float(np.trace(whole.inertia)) / 3.0 if whole is not None else _LEAST_MOMENT
    least = _LEAST_MOMENT if engine == "newton" else 0.0
    return Inertial(mass, inertia=np.eye(3) * max(moment, least))
