# SPDX-License-Identifier: Apache-2.0
"""Which models there are, which link or frame every body becomes, and where the links stand.

One robot on its own is a ``<model>``; where several things stand beside each other, or anything stands in the world
itself, the file is a ``<world>``.  Scopes of the source are nested models again.  The links of a model stand where all
its joints are at zero, because that is what the poses of a file mean.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.core.names import NameScope
from simwright.formats.sdf.writer.draft import SEPARATOR, Draft, Room, Seat, add, add_pose
from simwright.formats.sdf.writer.freedoms import is_pair
from simwright.formats.sdf.writer.inertials import is_massless, write_inertial
from simwright.formats.sdf.writer.messages import LINK_AS_FRAME
from simwright.formats.sdf.writer.rooms import enter_room, open_model
from simwright.formats.sdf.writer.scenery import seat_static
from simwright.model.asset import Asset, Body
from simwright.model.filtering import list_articulated
from simwright.model.joint import WORLD, Joint, Motion
from simwright.model.kinematics import Tree, forward_kinematics
from simwright.model.mass import body_inertials

_STANDARD = 0.05
"""How far gravity may be from 9.81 m/s^2 downwards without being worth a world [m/s^2]."""


def plan_models(draft: Draft) -> None:
    """Make the outermost element, all models, and all links."""
    asset = draft.asset
    draft.inertials = body_inertials(asset)
    draft.poses = find_zero_poses(asset, draft.tree)
    is_world = needs_world(draft)
    tag, word = ("world", "default") if is_world else ("model", "model")
    name = draft.claim(NameScope(("world",)), tag, asset.name or word)
    draft.top = Room(name, add(draft.root, tag, name=name))
    if not (is_world or asset.bodies):
        add(draft.top.node, "static", True)
    draft.rooms.append(draft.top)
    _seat_bodies(draft)
    seat_static(draft)


def needs_world(draft: Draft) -> bool:
    """Does it take a world to hold the asset?"""
    asset, world = draft.asset, draft.asset.environment
    if draft.options.world is not None:
        return draft.options.world
    if asset.provenance.format == "sdf" and world.gravity is not None:
        return True
    if any(value is not None and np.any(value) for value in (world.wind, world.magnetic_field)):
        return True
    if world.gravity is not None and np.any(np.abs(world.gravity - (0.0, 0.0, -9.81)) > _STANDARD):
        return True
    if not asset.bodies:
        return bool(asset.lights) or not (asset.shapes or asset.sites)
    standing: tuple[Any, ...] = (*asset.shapes, *asset.sites, *asset.cameras, *asset.lights, *asset.sensors)
    return len(_find_groups(draft)) > 1 or any(item.body == WORLD for item in standing)


def find_zero_poses(asset: Asset, tree: Tree) -> dict[str, Pose]:
    """Where bodies are when hinges and slides are at zero and balls are straight."""
    zeros: dict[str, Array] = {}
    for joint in asset.joints:
        parts = [
            np.zeros(1)
            if dof.motion in (Motion.HINGE, Motion.SLIDE)
            else dof.neutral()
            if dof.motion is Motion.BALL or dof.position is None
            else np.asarray(dof.position, dtype=np.float64)
            for dof in joint.dofs
        ]
        zeros[joint.name] = np.concatenate(parts) if parts else np.zeros(0)
    poses = forward_kinematics(asset, zeros, tree)
    for body in asset.bodies:  # what did not move keeps every digit
        if poses[body.name].is_close(body.pose, 1e-14):
            poses[body.name] = body.pose
    return poses


def _find_groups(draft: Draft) -> list[list[Body]]:
    """Bodies that belong together, by joints and by the outermost model of the source."""
    asset = draft.asset
    group: dict[str, str] = {body.name: body.name for body in asset.bodies}

    def find(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    def join(a: str, b: str) -> None:
        if a in group and b in group:
            group[find(b)] = find(a)

    scopes: dict[str, str] = {}
    for body in asset.bodies:
        outer = scope_of(body).split(SEPARATOR)[0]
        if outer:
            join(scopes.setdefault(outer, body.name), body.name)
    for joint in asset.joints:
        if joint.enabled:
            join(joint.parent, joint.child)
    for equality in asset.equalities:
        join(equality.a, equality.b)
    found: dict[str, list[Body]] = {}
    for body in asset.bodies:
        found.setdefault(find(body.name), []).append(body)
    return list(found.values())


def _seat_bodies(draft: Draft) -> None:
    hosts = find_hosts(draft)
    groups = _find_groups(draft) if draft.top.is_world else [draft.asset.bodies]
    room = draft.top
    for bodies in groups:
        scopes = {scope_of(body).split(SEPARATOR)[0] for body in bodies}
        if draft.top.is_world:
            # models that joints hold together stay apart where the source has them apart
            by_scope = scopes - {""} if "" not in scopes else set()
            for scope in sorted(by_scope) or [""]:
                own = [b for b in bodies if not by_scope or scope_of(b).split(SEPARATOR)[0] == scope]
                first = next((b for b in own if b.name not in hosts), own[0])
                room = open_model(
                    draft, scope or _name_model(draft, own, len(groups)), draft.poses[first.name]
                )
                _seat_links(draft, room, own, hosts, depth=1 if scope else 0)
        else:
            _seat_links(draft, room, bodies, hosts, depth=0)
    _seat_frames(draft, hosts)


def _name_model(draft: Draft, bodies: list[Body], count: int) -> str:
    if count == 1 and draft.asset.name:
        return draft.asset.name
    names = {body.name for body in bodies}
    for articulation in draft.asset.articulations:
        if articulation.root in names or names & set(list_articulated(draft.asset, articulation, draft.tree)):
            return articulation.name
    return next((root for root in draft.tree.roots if root in names), bodies[0].name)


def _seat_links(
    draft: Draft, room: Room, bodies: list[Body], hosts: dict[str, tuple[str, Pose, Joint]], depth: int
) -> None:
    joints = list_moving(draft.asset)
    for body in bodies:
        if body.name in hosts:
            continue
        scope = scope_of(body).split(SEPARATOR) if scope_of(body) else []
        inner = enter_room(draft, room, scope[depth:])
        word = strip_scope(body.name, scope_of(body))
        name = draft.claim(inner.names, "link", f"{word}_link" if word in joints else word)
        link = add(inner.node, "link", name=name)
        add_pose(
            link, ~room.base @ draft.poses[body.name] if room.base is not IDENTITY else draft.poses[body.name]
        )
        seat = draft.seats[body.name] = Seat(inner, name, link)
        write_inertial(draft, seat, body)
        if body.kinematic:
            add(link, "kinematic", True)
        if body.gravity_scale == 0.0:
            add(link, "gravity", False)


def list_moving(asset: Asset) -> set[str]:
    """Names of joints that move: controllers know them, so a link or frame of the same name gives way."""
    names: set[str] = set()
    for joint in asset.joints:
        if any(dof.motion is Motion.FREE for dof in joint.dofs):
            continue
        if len(joint.dofs) == 1 or is_pair(joint.dofs):
            names.add(joint.public_name)
        else:
            names.update(dof.name for dof in joint.dofs)
    return names


def scope_of(body: Body) -> str:
    """The models a body is in; a name such as ``arm::hand::finger`` tells where nothing else does."""
    return body.scope or body.name.rpartition(SEPARATOR)[0]


def strip_scope(name: str, scope: str) -> str:
    """A name as its own model says it."""
    return name.removeprefix(f"{scope}{SEPARATOR}") if scope else name


def find_hosts(draft: Draft) -> dict[str, tuple[str, Pose, Joint]]:
    """Bodies without mass that are fixed to one with a mass: that one, their pose in it, and the joint."""
    asset = draft.asset
    massless = {
        body.name
        for body in asset.bodies
        if not body.kinematic and body.enabled and is_massless(draft.inertials.get(body.name))
    }
    links: dict[str, list[tuple[str, Pose, Joint]]] = {}
    for joint in draft.tree.joints:
        if not joint.dofs and WORLD not in (joint.parent, joint.child):
            pose = joint.parent_frame @ ~joint.child_frame
            links.setdefault(joint.parent, []).append((joint.child, pose, joint))
            links.setdefault(joint.child, []).append((joint.parent, ~pose, joint))
    hosts: dict[str, tuple[str, Pose, Joint]] = {}
    queue = deque((body.name, body.name, IDENTITY) for body in asset.bodies if body.name not in massless)
    while queue:
        at, host, pose = queue.popleft()
        for other, step, joint in links.get(at, ()):
            if other in massless and other not in hosts:
                hosts[other] = (host, pose @ step, joint)
                queue.append((other, host, pose @ step))
    return hosts


def _seat_frames(draft: Draft, hosts: dict[str, tuple[str, Pose, Joint]]) -> None:
    """Bodies that are frames, in the model of their link."""
    framed = [body for body in draft.asset.bodies if body.name in hosts]
    joints = list_moving(draft.asset)
    for body in framed:
        host, pose, joint = hosts[body.name]
        seat = draft.seats[host]
        word = strip_scope(body.name, scope_of(body))
        name = draft.claim(seat.room.names, "frame", f"{word}_frame" if word in joints else word)
        node = add(seat.room.node, "frame", name=name, attached_to=seat.name)
        add_pose(node, pose)
        draft.seats[body.name] = Seat(seat.room, name, seat.link, pose, seat.names)
        draft.folded.add(id(joint))
    if framed:
        draft.report(LINK_AS_FRAME, framed)
