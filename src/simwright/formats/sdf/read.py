# SPDX-License-Identifier: Apache-2.0
"""SDFormat to the neutral model: the table of contents of this folder.

The file and what it includes become a tree of models (``include``), every named thing gets a frame (``poses``), and
then links, joints, lights and plugins are read, each by its own module.  What a model says beyond its links and joints,
and what a world says (gravity, wind, magnetic field, physics step), is read here; the rest is kept as extras.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.context import SdfReadContext
from simwright.formats.sdf.document import SdfDocument, open_document
from simwright.formats.sdf.include import INCLUDE_FAILED, NOT_CARRIED, TreeBuilder, insert_foreign
from simwright.formats.sdf.joints import mark_loops, read_joint, read_mimics
from simwright.formats.sdf.links import read_link, settle_masses
from simwright.formats.sdf.materials import read_world_light
from simwright.formats.sdf.plugins import read_plugin
from simwright.formats.sdf.poses import FrameGraph, frame_of
from simwright.formats.sdf.tree import ModelNode, NamedElement, assign_keys
from simwright.formats.xml import Element
from simwright.model.asset import Articulation, Asset, CollisionGroup, Provenance, Site
from simwright.model.filtering import find_components
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree

SEVERAL_MODELS = declare(
    "sdf-several-models",
    Level.WARNING,
    "the file holds {count} models side by side",
    hint="all of them are read; since SDFormat 1.8 a file holds one model or one world",
    doc="More than one <model> directly below <sdf>.",
)

EMPTY = declare(
    "sdf-empty",
    Level.WARNING,
    "the file holds no model and no world",
    hint="is it the right file?  The asset is empty",
    doc="An SDFormat file without anything in it.",
)

GRAVITY = (0.0, 0.0, -9.8)
"""What SDFormat gives a world that says nothing [m/s^2]."""
_OLDEST = (1, 3)
"""The oldest version whose files have models below ``<sdf>`` under their names of today."""
_ROOT_TAGS = {"world", "model", "light", "actor", "include"}


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read an SDFormat file (1.4 to 1.12) with everything it includes."""
    # One function: the order matters, and it is the only place that says it.
    document = open_document(path, reporter)
    worlds = list(document.children(document.root, "world"))
    gate = options.make_gate(path, reporter)
    builder = TreeBuilder(gate, reporter)
    top = builder.build_top(document, worlds[0] if worlds else document.root, is_world=bool(worlds))
    _check_root(document, top)
    links = [item for model in top.walk() for item in model.links]
    joints = [item for model in top.walk() for item in model.joints]
    # Before anything refers to them: names become unique over all models.
    assign_keys(links)
    assign_keys(joints)

    asset = Asset(_choose_name(document, top))
    asset.provenance = Provenance(str(path), "sdf", document.version_text)
    context = SdfReadContext(asset, reporter, gate, FrameGraph(top, reporter))
    if top.is_world:
        context.world_name = top.name
        read_environment(context, document, top.element)
        report_other_worlds(context, document, worlds)
    for item in links:
        if item.document.foreign is None:
            read_link(context, item)
    # After all links: masses that follow from shapes need them.
    settle_masses(context, links)
    for item in joints:
        if item.document.foreign is None:
            read_joint(context, item)
    for model in top.walk():
        # Before mimics and loops, which may lead into included models.
        insert_foreign(context, model)
    read_mimics(context)
    mark_loops(asset)
    components = find_components(build_tree(asset))
    for model in top.walk():
        _read_model(context, model, top, components)
    return asset


def _read_model(
    context: SdfReadContext, model: ModelNode, top: ModelNode, components: Mapping[str, str]
) -> None:
    """What a model (or the world) holds besides links and joints."""
    for item in model.frames:
        read_frame(context, item)
    for item in model.lights:
        read_world_light(context, item)
    if model is not top:
        read_model_settings(context, model)
        if model.parent is top:
            read_articulation(context, model, components)
    for document, element in model.plugins:
        read_plugin(context, document, element, None if model is top else model)


def _check_root(document: SdfDocument, top: ModelNode) -> None:
    document.report_unknown(document.root, _ROOT_TAGS)
    if top.is_world:
        return
    if not (top.models or top.lights or any(True for _ in document.children(document.root, "actor"))):
        _refuse_empty(document)
    if len(top.models) > 1:
        where = document.where(top.models[1].element)
        document.reporter.report(SEVERAL_MODELS, where, count=len(top.models))
    elif top.models:
        _drop_scope(top.models[0])


def _refuse_empty(document: SdfDocument) -> None:
    """Refuse a file of which nothing is left; one that says nothing is legal, as libsdformat has it."""
    where = document.where(document.root)
    if any(True for _ in document.children(document.root, "include")):
        failed = next((f for f in reversed(document.reporter.found) if f.kind == INCLUDE_FAILED.code), None)
        reason = "" if failed is None else f": {failed.message}"
        hint = "" if failed is None else failed.hint
        raise ParseError(f"nothing that the file includes can be read{reason}", hint=hint, where=where)
    if document.version < _OLDEST:
        raise ParseError("the file holds no model and no world", hint="is it the right file?", where=where)
    document.reporter.report(EMPTY, where)


def _drop_scope(root: ModelNode) -> None:
    """In a file with one model, names are told apart inside that model: its own name is not a scope."""
    for model in root.walk():
        model.scope = "::".join(model.scope.split("::")[root.name.count("::") + 1 :])


def _choose_name(document: SdfDocument, top: ModelNode) -> str:
    if top.is_world and top.name:
        return top.name
    return top.models[0].name if len(top.models) == 1 else document.path.stem


_MODEL_CARRIED = {
    "pose", "static", "self_collide", "model", "include", "link", "joint", "frame", "light", "plugin",
}  # fmt: skip
_MODEL_KNOWN = {"allow_auto_disable", "enable_wind", "gripper"}


def read_frame(context: SdfReadContext, item: NamedElement) -> None:
    """A named frame becomes a site on the body it is attached to."""
    frame = frame_of(item)
    link = context.graph.link_of(frame)
    pose = context.graph.pose(frame)
    where = item.document.where(item.element)
    site = Site(context.claim("site", item.name, item.model.scope), pose=pose, path=item.scoped, source=where)
    if link is not None and not link.model.static:
        site.body = link.key
        base = frame_of(link)
        # Exact where the pose is written relative to that link.
        site.pose = frame.raw if frame.base is base else ~context.graph.pose(base) @ pose
    context.asset.sites.append(site)


def read_model_settings(context: SdfReadContext, model: ModelNode) -> None:
    """Settings of a model that have no field of their own are kept as extras."""
    owner = model.scope or model.name
    context.keep_rest(model.document, model.element, owner, _MODEL_CARRIED, _MODEL_KNOWN)


def read_articulation(context: SdfReadContext, model: ModelNode, components: Mapping[str, str]) -> None:
    """An outermost model with joints is one articulation; SDFormat models do not touch themselves.

    Two links touch where one of them says so or, saying nothing, the model it is in.  ``components`` tells which links
    joints hold together.
    """
    if model.static:
        return
    links = [
        item for node in model.walk() if not node.static for item in node.links if item.key in components
    ]
    quiet = [item.key for item in links if not _touches(item)]
    has_joints = _has_joints(context, model)
    is_one = len({components[item.key] for item in links}) == 1
    if has_joints:
        _add_articulation(context, model, self_collide=len(quiet) < len(links))
    # An articulation speaks of links that joints hold together, and of all of them.
    if len(quiet) > 1 and not (has_joints and is_one and len(quiet) == len(links)):
        name = context.claim("collision_group", f"{model.name}_links")
        group = CollisionGroup(name, quiet, [name], source=model.document.where(model.element))
        context.asset.collision_groups.append(group)


def _has_joints(context: SdfReadContext, model: ModelNode) -> bool:
    joints = {joint.name for joint in context.asset.joints}
    return any(item.key in joints for node in model.walk() for item in node.joints)


def _add_articulation(context: SdfReadContext, model: ModelNode, *, self_collide: bool) -> None:
    frame = model.frame
    assert frame is not None
    root = context.graph.link_of(frame)
    articulation = Articulation(
        context.claim("articulation", model.name),
        root.key if root is not None and not root.model.static else WORLD,
        self_collide=self_collide,
        source=model.document.where(model.element),
    )
    context.asset.articulations.append(articulation)


def _touches(item: NamedElement) -> bool:
    inherited = item.model.document.flag(item.model.element, "self_collide")
    return item.document.flag(item.element, "self_collide", default=inherited)


MORE_PHYSICS = declare(
    "sdf-more-physics",
    Level.INFO,
    "the world has {count} physics profiles; {name!r} is read",
    doc="Only the default physics profile of a world (else its first) is read.",
)

_TREE_TAGS = {
    "model", "include", "frame", "joint", "light", "plugin", "actor", "population", "state", "gui", "road",
}  # fmt: skip
_WORLD_CARRIED = {"gravity", "magnetic_field", "wind", "physics"}
_WORLD_KNOWN = {"scene", "atmosphere", "audio", "spherical_coordinates"}


def read_environment(context: SdfReadContext, document: SdfDocument, world: Element) -> None:
    """The settings of a world; what it holds is read elsewhere."""
    environment = context.asset.environment
    owner = context.world_name
    physics = _choose_physics(context, document, world)
    environment.gravity = np.array(GRAVITY)
    for source in (physics, world):  # up to 1.5 gravity is inside <physics>
        if source is not None and document.text(source, "gravity"):
            environment.gravity = document.values(source, "gravity", 3, GRAVITY)
        if source is not None and document.text(source, "magnetic_field"):
            environment.magnetic_field = document.values(source, "magnetic_field", 3, (0.0, 0.0, 0.0))
    wind = document.child(world, "wind")
    if wind is not None:
        environment.wind = document.values(wind, "linear_velocity", 3, (0.0, 0.0, 0.0))
        context.keep_rest(document, wind, owner, {"linear_velocity"})
    if physics is not None:
        environment.timestep = document.quantity(physics, "max_step_size")
        factor = document.amount(physics, "real_time_factor")
        if factor is not None:
            environment.settings["real_time_factor"] = factor
        if physics.get("type"):
            environment.settings["physics_engine"] = physics.get("type")
        taken = {"max_step_size", "real_time_factor", "gravity", "magnetic_field"}
        context.keep_rest(document, physics, owner, taken)
    context.keep_rest(document, world, owner, _WORLD_CARRIED | _TREE_TAGS, _WORLD_KNOWN)


def _choose_physics(context: SdfReadContext, document: SdfDocument, world: Element) -> Element | None:
    profiles = list(document.children(world, "physics"))
    if not profiles:
        return None
    # Gazebo takes the profile marked default, else the first.
    chosen = next((p for p in profiles if document.flag_attribute(p, "default")), profiles[0])
    if len(profiles) > 1:
        where = document.where(chosen)
        data = {"count": len(profiles), "name": chosen.get("name", "")}
        context.reporter.report(MORE_PHYSICS, where, **data)
    return chosen


def report_other_worlds(context: SdfReadContext, document: SdfDocument, worlds: list[Element]) -> None:
    """Say which worlds after the first are not read."""
    for world in worlds[1:]:
        data = {
            "tag": "world",
            "name": world.get("name", ""),
            "reason": "a file is read up to its first world",
        }
        context.reporter.report(NOT_CARRIED, document.where(world), **data)
