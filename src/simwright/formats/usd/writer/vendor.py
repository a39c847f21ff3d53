# SPDX-License-Identifier: Apache-2.0
"""``newton.usda``, ``physx.usda``, ``mujoco.usda``, ``gazebo.usda``: what has no neutral word (REP-0158 1.4).

Two sources: attributes the asset was read with, moved to the prims that are written now; and values of the model that
only a solver's schema can say, written by the rows of its resolver or by the files named after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.attributes import find_type, write_typed
from simwright.formats.usd.writer.custom import write_custom
from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.meshes import MESH
from simwright.formats.usd.writer.messages import EXTRAS_LOST
from simwright.formats.usd.writer.motors_mjc import write_mjc_motors
from simwright.formats.usd.writer.native import NativeExtras
from simwright.formats.usd.writer.opinions import (
    FIELD,
    FIELD_ASKED,
    ROWS,
    Rescaler,
    write_key,
    write_settings,
)
from simwright.formats.usd.writer.pairs import write_pairs
from simwright.formats.usd.writer.sensors import write_sensors
from simwright.formats.usd.writer.sheet import Sheet
from simwright.formats.usd.writer.states import write_keyframes, write_states
from simwright.formats.usd.writer.tendons import write_tendons
from simwright.formats.usd.writer.world import write_couplings, write_world
from simwright.model.filtering import find_components, list_articulated
from simwright.resolve import usdphysics
from simwright.resolve.table import PrimType

FILES = {"mjc": "mujoco.usda", "newton": "newton.usda", "physx": "physx.usda", "gazebo": "gazebo.usda"}
_NEUTRAL = {
    *((row.prim, row.key) for row in usdphysics.ROWS),
    (PrimType.ARTICULATION, "self_collision_enabled"),
}
_SAID = {
    (row.prim, name)
    for rows in ROWS.values()
    for row in rows
    if (row.prim, row.key) in _NEUTRAL
    for name in row.attributes
}
"""Attributes whose value is in the neutral layers already, by kind of prim."""
_KINDS = {
    name: {row.prim for rows in ROWS.values() for row in rows if name in row.attributes}
    for name in {name for rows in ROWS.values() for row in rows for name in row.attributes}
}
"""What kinds of prims an attribute is for."""
_OPTIONS = {name: row.key for row in ROWS["mjc"] if row.prim is PrimType.SCENE for name in row.attributes}
"""Attributes of a scene that are written at the root as the model has them: the others of the same key are beaten."""
_CARRIED = ("mimic", "Mimic", "coef", "target")
_MODEL = (
    "mjc:sensor:", "gazebo:sensor:", "mjc:pair:", "mjc:equality:", "mjc:setting:", "mjc:torqueScale", "mjc:qpos",
    "mjc:qvel", "mjc:ctrl", "mjc:time",
)  # fmt: skip
"""What is written from sensors, pairs, equalities, actuators and keyframes of the model."""
_TENDON = (
    "type", "path", "sideSites", "stiffness", "damping", "frictionloss", "armature", "width", "range", "limited",
    "springlength",
)  # fmt: skip
_BODY_FIELDS = {
    "rigid_body_linear_damping": "linear_damping",
    "rigid_body_angular_damping": "angular_damping",
    "gravity_scale": "gravity_scale",
}
_NATIVE = ("gazebo", "urdf")
_PLAIN = frozenset({"drive", "ext_physics"})
"""Spaces whose attributes are written from the model."""


def write_vendors(layout: Layout, reporter: Reporter) -> dict[str, Sheet]:
    """A layer per solver that has something to say, by file name."""
    sheets = {
        space: Sheet(
            layout.root, f"What only {space} understands of {layout.asset.name}.", exact=layout.exact
        )
        for space in FILES
    }
    for body in layout.asset.bodies:
        path = layout.bodies[body.name]
        for key, field in _BODY_FIELDS.items():
            value = getattr(body, field)
            if value is not None and not (key == "gravity_scale" and value == 1.0):
                write_key(sheets, path, PrimType.BODY, key, value)
    mujoco = sheets["mjc"]
    write_tendons(layout, mujoco, reporter)
    write_mjc_motors(layout, mujoco, reporter)
    write_pairs(layout, mujoco, reporter)
    write_keyframes(layout, mujoco, reporter)
    write_couplings(layout, mujoco)
    write_states(layout, sheets["newton"], reporter)
    write_custom(layout, sheets["newton"], reporter)
    write_sensors(layout, sheets)
    write_world(layout, sheets)
    write_settings(layout, sheets)
    _move_extras(layout, sheets, reporter)
    return {FILES[space]: sheet for space, sheet in sheets.items()}


def _move_extras(layout: Layout, sheets: dict[str, Sheet], reporter: Reporter) -> None:
    places = _map_places(layout)
    paths = {source: next(iter(found.values())) for source, found in places.items()}
    schemas = {name: row.schema for rows in ROWS.values() for row in rows for name in row.attributes}
    motors = {actuator.path for actuator in layout.asset.actuators}
    native, rescaler = NativeExtras(layout), Rescaler(layout.asset)
    fields = {shape.path for shape in layout.asset.shapes if shape.settings.get(FIELD_ASKED)}
    lost: dict[str, list[str]] = {}
    for space, element, attribute, extra in layout.asset.extras:
        path, prim = _choose_place(places.get(element, {}), attribute)
        is_named = ":" in attribute and not attribute.startswith("state:")
        if space in _PLAIN or (element in motors and is_named and not attribute.startswith("mjc:group")):
            continue
        if (prim, attribute) in _SAID or _is_carried(layout, element, attribute):
            continue
        is_native = not is_named or (space in _NATIVE and not attribute.startswith(f"{space}:"))
        if is_native and native.write(sheets, space, element, attribute, extra.value):
            continue
        value = rescaler.convert(element, prim, attribute, _map_value(extra.value, paths))
        is_beaten = path == layout.root and attribute in _OPTIONS
        if not (space in sheets and path and is_named and find_type(attribute, value)) or is_beaten:
            lost.setdefault(space, []).append(f"{element} {attribute}")
            continue
        schema = schemas.get(attribute) or _guess_schema(attribute)
        if prim is PrimType.SCENE or (schema == FIELD and element not in fields):
            schema = ""
        write_typed(sheets[space], path, attribute, value, schema)
    for space, names in lost.items():
        reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])


def _is_carried(layout: Layout, element: str, attribute: str) -> bool:
    """Is it written from the model: mimics, tendons, sensors, keyframes, custom attributes, options at the root?"""
    name = attribute.partition(":")[2]
    if name.startswith(_CARRIED) or attribute.startswith(("physxMimicJoint:", *_MODEL)):
        return True
    customs = (
        ":".join(w for w in ("newton", c.namespace, c.name) if w) for c in layout.asset.custom_attributes
    )
    if attribute.startswith("newton:") and attribute in customs:
        return True
    scene = _find_scene(layout)
    if element == scene and attribute in _OPTIONS:
        known = layout.asset.origins.get(scene, {}).get(_OPTIONS[attribute])
        return known is not None and known.attribute == attribute
    if attribute == "mjc:compiler:angle":
        return True
    is_root = element == _find_root(layout)
    if is_root and name.startswith(("option:", "flag:")):
        return True
    return name.startswith(_TENDON) and any(element == tendon.source.prim for tendon in layout.asset.tendons)


def _find_scene(layout: Layout) -> str:
    """The scene of the stage that was read; empty if it had none."""
    return str(layout.asset.provenance.info.get("physicsScene", ""))


def _find_root(layout: Layout) -> str:
    """The root of the asset that was read; empty if it was no OpenUSD asset."""
    asset = layout.asset
    families: tuple[Iterable[Any], ...] = (
        asset.bodies,
        asset.shapes,
        asset.lights,
        asset.cameras,
        asset.sites,
    )
    paths = (element.path for family in families for element in family if element.path.startswith("/"))
    first = next(paths, "")
    return f"/{first.split('/')[1]}" if first else ""


def _map_places(layout: Layout) -> dict[str, dict[PrimType, str]]:
    """Where the prims of the source are now; one that was several things may be in several places."""
    places: dict[str, dict[PrimType, str]] = {}
    for source, prim, path in _list_places(layout):
        if source and path:
            places.setdefault(source, {}).setdefault(prim, path)
    return places


def _list_places(layout: Layout) -> Iterator[tuple[str, PrimType, str]]:
    asset = layout.asset
    yield from ((body.path, PrimType.BODY, layout.bodies[body.name]) for body in asset.bodies)
    yield from ((joint.path, PrimType.JOINT, layout.joints[joint.name]) for joint in list_written(layout))
    for places in (layout.colliders, layout.visuals):
        yield from ((shape.path, PrimType.SHAPE, places.get(shape.name, "")) for shape in asset.shapes)
        yield from (
            (shape.path.removesuffix(f"/{MESH}"), PrimType.SHAPE, places.get(shape.name, ""))
            for shape in asset.shapes
            if shape.path.endswith(f"/{MESH}")  # an instance is spoken of at its root
        )
    for material in asset.physics_materials:
        yield material.source.prim, PrimType.MATERIAL, layout.contacts[material.name]
    yield from (
        (look.source.prim, PrimType.MATERIAL, layout.materials[look.name]) for look in asset.materials
    )
    for articulation in asset.articulations:
        members = list_articulated(asset, articulation, layout.tree)
        if members:
            base = find_components(layout.tree)[members[0]]
            yield articulation.path, PrimType.ARTICULATION, layout.bodies[base]
    for tendon in asset.tendons:
        yield tendon.source.prim, PrimType.ACTUATOR, layout.tendons.get(tendon.name, "")
    for equality in asset.equalities:
        yield equality.source.prim, PrimType.JOINT, layout.equalities.get(equality.name, "")
    yield from ((site.path, PrimType.BODY, layout.sites[site.name]) for site in asset.sites)
    yield from ((c.path, PrimType.BODY, layout.cameras[c.name]) for c in asset.cameras)
    yield from ((s.path, PrimType.BODY, layout.sensors.get(s.name, "")) for s in asset.sensors)
    yield from ((a.path, PrimType.ACTUATOR, layout.actuators.get(a.name, "")) for a in asset.actuators)
    yield _find_root(layout), PrimType.SCENE, layout.root
    yield _find_scene(layout), PrimType.SCENE, layout.root


def _choose_place(places: dict[PrimType, str], attribute: str) -> tuple[str, PrimType | None]:
    """The place that an attribute is about: of the kind its schema is for, else the first."""
    for prim, path in places.items():
        if prim in _KINDS.get(attribute, ()):
            return path, prim
    return next(((path, prim) for prim, path in places.items()), ("", None))


def _map_value(value: Any, paths: dict[str, str]) -> Any:
    """Targets of relationships follow their prims; one that is gone leaves nothing."""
    if isinstance(value, list) and value and all(isinstance(v, str) and v.startswith("/") for v in value):
        return [paths[v] for v in value if v in paths] or None
    return value


def _guess_schema(attribute: str) -> str:
    """PhysX names its schemas after the namespace."""
    space = attribute.partition(":")[0]
    return f"{space[0].upper()}{space[1:]}API" if space.startswith("physx") else ""
