# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: the SDFormat file with the meshes and images it names.

``build_files`` is the table of contents: plan models and links, write joints, shapes, lights, sensors, frames, plugins
and the world, and report what is lost.  Frames, lights, the settings of the world and the losses that a table cannot
tell (they depend on the version, the world or a controller) are written here.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.files import write_staged
from simwright.formats.format import WriteOptions, choose_place
from simwright.formats.mesh.writer import MESH_FORMATS
from simwright.formats.parts import images, meshes
from simwright.formats.parts.numbers import tidy
from simwright.formats.sdf.context import NAMESPACE
from simwright.formats.sdf.document import CLOSES_LOOP, NEWEST
from simwright.formats.sdf.writer.context import (
    OLDEST,
    SdfWriteContext,
    WrittenLink,
    add,
    add_pose,
    strip_scope,
)
from simwright.formats.sdf.writer.devices import ControllerWriter, SensorWriter
from simwright.formats.sdf.writer.filters import find_bits, write_self_contact
from simwright.formats.sdf.writer.geometry import OPTIMIZATION
from simwright.formats.sdf.writer.inertials import report_inertials
from simwright.formats.sdf.writer.joints import JointWriter, write_mimics
from simwright.formats.sdf.writer.kept import (
    collect_kept,
    list_attribute_namespaces,
    restore,
    restore_plugins,
)
from simwright.formats.sdf.writer.messages import EXTRAS_LOST, MOVED_TO_ZERO, ROS_DISCARDED
from simwright.formats.sdf.writer.plan import plan_models
from simwright.formats.sdf.writer.shapes import SdfShapeWriter
from simwright.formats.sdf.writer.systems import write_systems
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Light, LightKind, Site
from simwright.model.elements import Environment
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, Joint
from simwright.model.kinematics import build_tree
from simwright.resolve import mjc, newton, physx
from simwright.resolve.translation import MIMIC_WORDS

SUFFIXES = (".sdf", ".world")
OWN_FILES = frozenset({meshes.FOLDER, images.FOLDER})
"""What an asset's folder may hold beside its SDFormat file."""
_ORDER = (
    "pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "gravity", "magnetic_field", "wind",
    "physics", "atmosphere", "spherical_coordinates", "scene", "audio", "light", "link", "frame", "joint", "model",
    "plugin",
)  # fmt: skip


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the file ``<folder>/<name>.sdf``.  Gives the file's path."""
    named = target.suffix.lower() in SUFFIXES
    if named:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{images.make_file_name(asset.name)}{SUFFIXES[0]}"
    wanted = parse_version(options.sdf_version)
    if options.mesh_format and options.mesh_format not in MESH_FORMATS:
        raise UsageError(
            f"meshes cannot be written as {options.mesh_format!r}",
            hint=f"choose one of {', '.join(MESH_FORMATS)}",
        )
    # Before the files: their addresses depend on the folder they go to.
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    files = build_files(asset, name, dataclasses.replace(options, side=place.side), reporter, wanted)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def parse_version(text: str) -> tuple[int, int] | None:
    """A version of SDFormat that is written; None to let the content decide."""
    if not text:
        return None
    match = re.fullmatch(r"(\d+)\.(\d+)", text)
    version = (int(match.group(1)), int(match.group(2))) if match else (0, 0)
    if not OLDEST <= version <= NEWEST:
        known = ", ".join(f"1.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1))
        raise UsageError(f"SDFormat {text!r} is not written", hint=f"choose one of {known}")
    return version


def build_files(
    asset: Asset,
    entry: str,
    options: WriteOptions,
    reporter: Reporter,
    wanted: tuple[int, int] | None = None,
) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
    own = {"simwright": CLOSES_LOOP[1:].partition("}")[0]}
    root = etree.Element("sdf", nsmap={**list_attribute_namespaces(asset), **own})
    context = SdfWriteContext(asset, build_tree(asset), options, reporter, root, wanted=wanted)
    context.kept = collect_kept(asset)
    plan_models(context)
    JointWriter(context).write_all()
    write_mimics(context)
    # Before the shapes: the bits they get make up for what the flag does not say.
    quiet = write_self_contact(context)
    SdfShapeWriter(context, find_bits(context, quiet)).write_all()
    write_lights(context)
    SensorWriter(context).write_all()
    write_frames(context)
    controllers = ControllerWriter(context)
    controllers.write_all()
    write_world(context)
    _restore_kept(context)
    # After the plugins of the source: they may bring what is needed.
    write_systems(context)
    report_losses(context, controllers)
    context.report_names()
    root.set("version", ".".join(map(str, context.version)))
    for model in context.models:
        # A fixed order of families; sorting is stable, so that elements of one family keep theirs.
        model.node[:] = sorted(model.node, key=_find_place)
    etree.cleanup_namespaces(root)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return {**{options.side + path: content for path, content in context.files.items()}, entry: text}


def _find_place(node: Element) -> int:
    """Elements of other tools (``gz:policies``) come last."""
    return _ORDER.index(node.tag) if node.tag in _ORDER else len(_ORDER)


def _restore_kept(context: SdfWriteContext) -> None:
    """What the source said of links, joints and models beyond the model."""
    for body in context.asset.bodies:
        restore(context, context.written_links[body.name].link, "link", body.name, body.path)
    for joint in context.asset.joints:
        if joint.name in context.written_joints:
            restore(context, context.written_joints[joint.name].node, "joint", joint.name, joint.path)
    for model in context.models:
        if not model.is_world:
            # One function: links, joints and models keep theirs under different names.
            path = [inner.name for inner in model.path() if not inner.is_world]
            owners = {"::".join(path), "::".join(path[1:])} - {""}
            if model is context.top:
                owners |= {owner for owner in context.kept if owner.startswith("/") and owner.count("/") == 1}
            for owner in sorted(owners):
                restore(context, model.node, "model", owner)
                restore_plugins(context, model.node, owner)


def write_frames(context: SdfWriteContext) -> None:
    """Every site that is not a link of a static model."""
    homeless: list[Site] = []
    for site in context.asset.sites:
        # Written as a link of a static model already.
        if ("site", site.name) in context.spent:
            continue
        written = context.written_links.get(site.body)
        if site.body == WORLD:
            if not context.top.is_world and context.asset.bodies:
                homeless.append(site)
                continue
            model = context.top
            pose = site.pose
            holder = ""
        elif written is not None:
            model, pose, holder = written.model, written.offset @ site.pose, written.name
            holder = str(written.link.get("name"))
        else:
            homeless.append(site)
            continue
        scope = model.name if not model.is_world else ""
        name = context.claim(model.names, "frame", strip_scope(site.name, scope))
        node = add(model.node, "frame", name=name)
        if holder:
            node.set("attached_to", holder)
        add_pose(node, pose)
    context.lose("frame(s) of the world", homeless, "write a world: --world", moves=False)


_KINDS = {LightKind.DIRECTIONAL: "directional", LightKind.POINT: "point", LightKind.SPOT: "spot"}


def write_lights(context: SdfWriteContext) -> None:
    """Every light of a kind that SDFormat has."""
    homeless: list[Light] = []
    for light in context.asset.lights:
        if light.kind not in _KINDS:
            continue
        if light.body != WORLD and light.body in context.written_links:
            _write_on_link(context, context.written_links[light.body], light)
        elif context.top.is_world:
            name = context.claim(context.top.names, "light", light.name)
            _write_light(context, add(context.top.node, "light", name=name), light)
        else:
            homeless.append(light)
    context.lose("light(s) of the world", homeless, "write a world: --world", moves=False)


def _write_on_link(context: SdfWriteContext, written: WrittenLink, light: Light) -> None:
    name = context.claim(written.names, "light", light.name)
    node = add(written.link, "light", name=name)
    _write_light(context, node, light, written)


def _write_light(
    context: SdfWriteContext, node: Element, light: Light, written: WrittenLink | None = None
) -> None:
    node.set("type", _KINDS[light.kind])
    add_pose(node, light.pose if written is None else written.offset @ light.pose)
    add(node, "cast_shadows", bool(light.cast_shadows))
    add(node, "intensity", float(light.intensity))
    add(node, "diffuse", tidy((*light.color, 1.0)))
    if light.range is not None:
        add(add(node, "attenuation"), "range", float(light.range))
    if light.kind is not LightKind.POINT:
        add(node, "direction", [0.0, 0.0, -1.0])
    if light.kind is LightKind.SPOT:
        inner, outer = light.cone or (0.0, 0.0)
        spot = add(node, "spot")
        # Full angles in SDFormat, half angles in the model.
        add(spot, "inner_angle", inner * 2.0)
        add(spot, "outer_angle", outer * 2.0)
        add(spot, "falloff", 0.0)
    restore(context, node, "light", light.name, light.path)


ENGINES = ("ode", "bullet", "simbody", "dart", "tpe", "ignored")
_PHYSICS_SETTINGS = ("real_time_factor", "physics_engine")


def write_world(context: SdfWriteContext) -> None:
    """The settings of the world, where the file is one."""
    world, node = context.asset.environment, context.top.node
    if not context.top.is_world:
        # A <model> has no element for these; gravity is left out of a model only where it is the usual one (plan).
        rows = {"time step": world.timestep, "wind": world.wind, "magnetic field": world.magnetic_field}
        for what, value in rows.items():
            said = [context.asset.name] if value is not None else []
            context.lose(f"{what} of a model", said, "write a world: --world", moves=what != "magnetic field")
        return
    # A world that says nothing falls with 9.8 m/s^2 in Gazebo and with 9.81 everywhere else.
    gravity = (0.0, 0.0, -9.81) if world.gravity is None else world.gravity
    for tag, values in (("gravity", gravity), ("magnetic_field", world.magnetic_field)):
        if values is not None:
            add(node, tag, values)
    if world.wind is not None:
        add(add(node, "wind"), "linear_velocity", world.wind)
    _write_physics(node, world)
    roots = [owner for owner in context.kept if owner.startswith("/") and owner.count("/") == 1]
    for owner in (context.asset.name, *roots):
        restore(context, node, "world", owner)
        restore_plugins(context, node, owner)


_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_SPENT = frozenset({"drive", "ext_physics"})
_SENSORS = "gazebo:sensor:"
"""What a stage says of a sensor, which is in the model."""


def _write_physics(node: Element, world: Environment) -> None:
    """``<physics>``, where the step, the speed or the engine is said."""
    factor, engine = (world.settings.get(key) for key in _PHYSICS_SETTINGS)
    if world.timestep is None and factor is None and not engine:
        return
    # The attribute is required, and "ode" is its default in the specification.
    physics = add(node, "physics", name="default", type=engine if engine in ENGINES else "ode")
    if world.timestep is not None:
        add(physics, "max_step_size", float(world.timestep))
    if factor is not None:
        add(physics, "real_time_factor", float(factor))


def report_losses(context: SdfWriteContext, controllers: ControllerWriter) -> None:
    """Elements without a place, starts of joints, then attributes of other solvers."""
    asset = context.asset
    report_inertials(context)
    homeless = [i for i in asset.interfaces if id(i) not in context.published]
    if homeless:
        context.report(ROS_DISCARDED, homeless)
    advice = "Gazebo has no system for them; nodes of the robot run them"
    context.lose("controller(s)", controllers.lost, advice)
    context.lose(
        "controller(s) with other settings", controllers.reduced, "the system of Gazebo has no such setting"
    )
    started = [joint for joint in asset.joints if _starts(joint)]
    if started:
        context.report(MOVED_TO_ZERO, started)
    simplified = [shape for shape in asset.shapes if shape.collision and _is_simplified(context, shape)]
    context.lose("simplified mesh collider(s)", simplified, "SDFormat 1.11 has hulls and convex parts")
    _report_extras(context)


def _starts(joint: Joint) -> bool:
    single = [dof for dof in joint.dofs if dof.positions == 1]
    return any((dof.position if dof.position is not None else dof.ref) for dof in single)


def _is_simplified(context: SdfWriteContext, shape: Any) -> bool:
    if not isinstance(shape.geometry, Mesh):
        return False
    token = shape.approximation.token if shape.approximation is not None else "none"
    if token in ("convexHull", "convexDecomposition"):
        return context.version < OPTIMIZATION
    return bool(token != "none")


_CARRIED = ("gazebo:option:", *MIMIC_WORDS)
"""Beginnings of attributes that the model has as options of its world and as mimics."""


def _report_extras(context: SdfWriteContext) -> None:
    lost: dict[str, list[str]] = {}
    motors = {actuator.path for actuator in context.asset.actuators}
    for space, element, attribute, _ in context.asset.extras:
        is_written = space == NAMESPACE and (element, attribute) in context.spent
        # Values that the model has, and that are written or reported from there.
        is_said = attribute in _SAID or attribute.startswith((_SENSORS, *_CARRIED)) or element in motors
        if not (is_written or is_said or space in _SPENT):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        context.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
