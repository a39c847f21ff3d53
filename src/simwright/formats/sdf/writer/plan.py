# SPDX-License-Identifier: Apache-2.0
"""Which models there are, which link or frame every body becomes, and where the links stand.

One robot on its own is a ``<model>``; where several things stand beside each other, or anything stands in the world
itself, the file is a ``<world>``.  Scopes of the source are nested models again.  The links of a model stand where all
its joints are at zero, because that is what the poses of a file mean.

What stands in the world is in static models: those of the source, and one more for all the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.core.names import NameScope
from simwright.formats.sdf.writer.context import (
    SEPARATOR,
    ModelElement,
    SdfWriteContext,
    WrittenLink,
    add,
    add_pose,
    strip_scope,
)
from simwright.formats.sdf.writer.inertials import is_massless, write_inertial
from simwright.formats.sdf.writer.joints import is_pair
from simwright.formats.sdf.writer.messages import LINK_AS_FRAME
from simwright.model.asset import Asset, Body, Camera, Sensor, Shape, Site
from simwright.model.filtering import list_articulated
from simwright.model.joint import WORLD, Joint, Motion
from simwright.model.kinematics import Tree, forward_kinematics
from simwright.model.mass import body_inertials

_STANDARD = 0.05
"""How far gravity may be from 9.81 m/s^2 downwards without being worth a world [m/s^2]."""


def plan_models(context: SdfWriteContext) -> None:
    """Make the outermost element, all models, and all links."""
    asset = context.asset
    context.inertials = body_inertials(asset)
    context.poses = find_zero_poses(asset, context.tree)
    is_world = needs_world(context)
    tag, word = ("world", "default") if is_world else ("model", "model")
    name = context.claim(NameScope(("world",)), tag, asset.name or word)
    context.top = ModelElement(name, add(context.root, tag, name=name))
    if not (is_world or asset.bodies):
        add(context.top.node, "static", True)
    context.models.append(context.top)
    _write_bodies(context)
    write_static_links(context)


def needs_world(context: SdfWriteContext) -> bool:
    """Does it take a world to hold the asset?"""
    asset, world = context.asset, context.asset.environment
    if context.options.world is not None:
        return context.options.world
    # A world that was read is written as one.
    if asset.provenance.format == "sdf" and world.gravity is not None:
        return True
    if any(value is not None and np.any(value) for value in (world.wind, world.magnetic_field)):
        return True
    if world.gravity is not None and np.any(np.abs(world.gravity - (0.0, 0.0, -9.81)) > _STANDARD):
        return True
    if not asset.bodies:
        return bool(asset.lights) or not (asset.shapes or asset.sites)
    # One function: a list of reasons for a world, the cheap ones first.
    standing: tuple[Any, ...] = (*asset.shapes, *asset.sites, *asset.cameras, *asset.lights, *asset.sensors)
    return len(_find_groups(context)) > 1 or any(item.body == WORLD for item in standing)


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


def _find_groups(context: SdfWriteContext) -> list[list[Body]]:
    """Bodies that belong together, by joints and by the outermost model of the source."""
    asset = context.asset
    group: dict[str, str] = {body.name: body.name for body in asset.bodies}

    def find(name: str) -> str:
        while group[name] != name:
            # Union-find; halving paths keeps it fast for long chains.
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


def _write_bodies(context: SdfWriteContext) -> None:
    # One function: models are opened while it is decided which body goes where.
    hosts = find_hosts(context)
    groups = _find_groups(context) if context.top.is_world else [context.asset.bodies]
    model = context.top
    for bodies in groups:
        scopes = {scope_of(body).split(SEPARATOR)[0] for body in bodies}
        if context.top.is_world:
            # models that joints hold together stay apart where the source has them apart
            by_scope = scopes - {""} if "" not in scopes else set()
            for scope in sorted(by_scope) or [""]:
                own = [b for b in bodies if not by_scope or scope_of(b).split(SEPARATOR)[0] == scope]
                # The model stands where its first link stands, so that poses in it are small numbers.
                first = next((b for b in own if b.name not in hosts), own[0])
                model = open_model(
                    context, scope or _name_model(context, own, len(groups)), context.poses[first.name]
                )
                _write_links(context, model, own, hosts, depth=1 if scope else 0)
        else:
            _write_links(context, model, bodies, hosts, depth=0)
    _write_massless(context, hosts)


def _name_model(context: SdfWriteContext, bodies: list[Body], count: int) -> str:
    if count == 1 and context.asset.name:
        return context.asset.name
    names = {body.name for body in bodies}
    for articulation in context.asset.articulations:
        if articulation.root in names or names & set(
            list_articulated(context.asset, articulation, context.tree)
        ):
            return articulation.name
    return next((root for root in context.tree.roots if root in names), bodies[0].name)


def _write_links(
    context: SdfWriteContext,
    model: ModelElement,
    bodies: list[Body],
    hosts: dict[str, tuple[str, Pose, Joint]],
    depth: int,
) -> None:
    joints = list_moving(context.asset)
    for body in bodies:
        if body.name in hosts:
            continue
        scope = scope_of(body).split(SEPARATOR) if scope_of(body) else []
        inner = enter_model(context, model, scope[depth:])
        word = strip_scope(body.name, scope_of(body))
        name = context.claim(inner.names, "link", f"{word}_link" if word in joints else word)
        link = add(inner.node, "link", name=name)
        add_pose(
            link,
            ~model.base @ context.poses[body.name]
            if model.base is not IDENTITY
            else context.poses[body.name],
        )
        written = context.written_links[body.name] = WrittenLink(inner, name, link)
        write_inertial(context, written, body)
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


def find_hosts(context: SdfWriteContext) -> dict[str, tuple[str, Pose, Joint]]:
    """Bodies without mass that are fixed to one with a mass: that one, their pose in it, and the joint."""
    asset = context.asset
    # One function: who has no mass, who is fixed to whom, then the search over both.
    massless = {
        body.name
        for body in asset.bodies
        if not body.kinematic and body.enabled and is_massless(context.inertials.get(body.name))
    }
    links: dict[str, list[tuple[str, Pose, Joint]]] = {}
    for joint in context.tree.joints:
        if not joint.dofs and WORLD not in (joint.parent, joint.child):
            pose = joint.parent_frame @ ~joint.child_frame
            links.setdefault(joint.parent, []).append((joint.child, pose, joint))
            links.setdefault(joint.child, []).append((joint.parent, ~pose, joint))
    hosts: dict[str, tuple[str, Pose, Joint]] = {}
    # Breadth first from all bodies with a mass: the nearest one becomes the host.
    queue = deque((body.name, body.name, IDENTITY) for body in asset.bodies if body.name not in massless)
    while queue:
        at, host, pose = queue.popleft()
        for other, step, joint in links.get(at, ()):
            if other in massless and other not in hosts:
                hosts[other] = (host, pose @ step, joint)
                queue.append((other, host, pose @ step))
    return hosts


def _write_massless(context: SdfWriteContext, hosts: dict[str, tuple[str, Pose, Joint]]) -> None:
    """Bodies that are frames, in the model of their link."""
    framed = [body for body in context.asset.bodies if body.name in hosts]
    joints = list_moving(context.asset)
    for body in framed:
        host, pose, joint = hosts[body.name]
        written = context.written_links[host]
        word = strip_scope(body.name, scope_of(body))
        name = context.claim(written.model.names, "frame", f"{word}_frame" if word in joints else word)
        node = add(written.model.node, "frame", name=name, attached_to=written.name)
        add_pose(node, pose)
        context.written_links[body.name] = WrittenLink(written.model, name, written.link, pose, written.names)
        # The fixed joint is the frame now.
        context.folded.add(id(joint))
    if framed:
        context.report(LINK_AS_FRAME, framed)


def open_model(context: SdfWriteContext, name: str, base: Pose) -> ModelElement:
    """A model of the world whose frame is at ``base``."""
    top = context.top
    unique = context.claim(top.names, "model", name)
    model = ModelElement(unique, add(top.node, "model", name=unique), top, base)
    add_pose(model.node, base)
    top.models[name] = model
    context.models.append(model)
    return model


def enter_model(context: SdfWriteContext, model: ModelElement, scope: list[str]) -> ModelElement:
    """The nested model of a scope; its frame is that of the model around it."""
    for name in scope:
        if name not in model.models:
            unique = context.claim(model.names, "model", name)
            inner = ModelElement(unique, add(model.node, "model", name=unique), model, model.base)
            model.models[name] = inner
            context.models.append(inner)
        model = model.models[name]
    return model


_T = TypeVar("_T", Shape, Sensor, Camera, Site)
SCENERY = "scenery"
"""The static model of what stands in the world and belongs to no other."""


def write_static_links(context: SdfWriteContext) -> None:
    """Links of static models: those of the source where it says so, else one for all that stands in the world."""
    asset = context.asset
    standing: list[Shape | Sensor] = [*_list_in_world(asset.shapes), *_list_in_world(asset.sensors)]
    cameras, sites = _list_in_world(asset.cameras), _list_in_world(asset.sites)
    if not (standing or cameras or _list_plugged(context, sites)) and not (sites and not asset.bodies):
        return
    if not context.top.is_world and asset.bodies:
        return
    # A camera of a sensor is written with it and needs no link of its own.
    homeless = not {camera.path for camera in cameras} <= {item.path for item in standing}
    homeless |= _write_static_models(context, standing, sites)
    if homeless or not (standing or context.static_links):
        _write_scenery(context, sites)


def _list_in_world(elements: Iterable[_T]) -> list[_T]:
    return [element for element in elements if element.body == WORLD]


def _write_static_models(
    context: SdfWriteContext, standing: Iterable[Shape | Sensor], sites: Iterable[Site]
) -> bool:
    """Static models as an SDFormat source has them; says whether something stands in none of them.

    Their links were read as sites, and the path of what stood on a link begins with that of the site.
    """
    top, homeless = context.top, False
    links = {site.path: site for site in sites if SEPARATOR in site.path or not top.is_world}
    has_paths = context.asset.provenance.format in ("sdf", "world")
    for item in standing:
        path = item.path.rpartition(SEPARATOR)[0]
        if not has_paths or path not in links:
            homeless = True
        elif path not in context.static_links:
            _open_static(context, path, links[path])
    for site in _list_plugged(context, sites) if top.is_world else ():
        if site.path not in context.static_links:
            _open_static(context, site.path, site)
    return homeless


def _list_plugged(context: SdfWriteContext, sites: Iterable[Site]) -> list[Site]:
    """Links of static models that have nothing but their plugins."""
    return [
        site
        for site in sites
        if SEPARATOR in site.path
        and any(row.startswith("plugin:") for row in context.kept.get(site.path.split(SEPARATOR)[0], ()))
    ]


def _write_scenery(context: SdfWriteContext, sites: Iterable[Site]) -> None:
    """One static link for the rest; it stands at a site that is not written yet, if there is one."""
    spare = next((site for site in sites if site.path not in context.static_links), None)
    *scope, name = spare.name.split(SEPARATOR) if spare else [f"{SCENERY}_link"]
    model = _open_scenery(context, scope[0] if scope else SCENERY)
    name = context.claim(model.names, "link", name)
    context.written_links[WORLD] = _add_static_link(context, model, name, spare)


def _open_static(context: SdfWriteContext, path: str, site: Site) -> None:
    *scope, name = path.split(SEPARATOR)
    model = context.top
    if model.is_world:
        model = _open_scenery(context, scope[0])
        scope = scope[1:]
    model = enter_model(context, model, scope)
    context.static_links[path] = _add_static_link(
        context, model, context.claim(model.names, "link", name), site
    )


def _open_scenery(context: SdfWriteContext, name: str) -> ModelElement:
    """A static model of the world; the file itself where it is one static model."""
    if not context.top.is_world:
        return context.top
    if name in context.top.models:
        return context.top.models[name]
    model = open_model(context, name, IDENTITY)
    add(model.node, "static", True)
    return model


def _add_static_link(
    context: SdfWriteContext, model: ModelElement, name: str, site: Site | None
) -> WrittenLink:
    """The link that is a frame of the source; its things stand in the asset's frame."""
    link = add(model.node, "link", name=name)
    offset = IDENTITY
    if site is not None:
        add_pose(link, site.pose)
        offset = ~site.pose
        context.spent.add(("site", site.name))
    return WrittenLink(model, name, link, offset)
