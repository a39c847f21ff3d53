# SPDX-License-Identifier: Apache-2.0
"""Attributes of solvers in the engine layers: by the rows of the resolvers, or moved from the asset that was read.

A setting that came from an attribute goes with that attribute; one without (of another format, or implied by an applied
schema) is written by the first solver that has an attribute for it.  Attributes in a source format's own words (MJCF,
Gazebo) have the name and type of MuJoCo's schemas where these have one; else they are custom attributes of the vendor's
namespace.  Elements without a prim are spoken of at the root, by kind and name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simwright.core.diag import Reporter
from simwright.core.math3d import DEGREE
from simwright.core.names import make_identifier
from simwright.formats.usd.writer.joints import FREE
from simwright.formats.usd.writer.layer import (
    LayerWriter,
    find_type,
    make_attribute_name,
    write_plain,
    write_typed,
)
from simwright.formats.usd.writer.meshes import MESH
from simwright.formats.usd.writer.messages import EXTRAS_LOST, TEXTURE_UNWORN
from simwright.formats.usd.writer.plan import WritePlan, find_articulation_root, list_written
from simwright.model.asset import Asset, Shape
from simwright.model.filtering import find_components, list_articulated
from simwright.model.geometry import Mesh
from simwright.model.joint import Motion
from simwright.resolve import mjc, newton, physx, usdphysics
from simwright.resolve.table import ANGULAR_AXES, NUMBER, PrimType, Row, Scale

ROWS: Final[dict[str, tuple[Row, ...]]] = {"newton": newton.ROWS, "physx": physx.ROWS, "mjc": mjc.ROWS}
FIELD: Final = "NewtonSDFCollisionAPI"
FIELD_ASKED: Final = "sdf_enabled"
"""The schema that asks for a distance field by being applied, so it is not applied for a setting alone."""
_NEUTRAL = {
    *((row.prim, row.key) for row in usdphysics.ROWS),
    (PrimType.ARTICULATION, "self_collision_enabled"),
}
_IN_NEUTRAL_LAYERS = {
    (row.prim, name)
    for rows in ROWS.values()
    for row in rows
    if (row.prim, row.key) in _NEUTRAL
    for name in row.attributes
}
"""Attributes whose value is in the neutral layers already, by kind of prim."""
_PRIM_TYPES = {
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
_NATIVE_SPACES = ("gazebo", "urdf")
_MODEL_SPACES = frozenset({"drive", "ext_physics"})
"""Spaces whose attributes are written from the model."""
_DERIVED = frozenset({"contact_first", "shell_density"})
"""Settings that follow from others and from the order of the resolvers."""


def write_key(layers: dict[str, LayerWriter], path: str, prim: PrimType, key: str, value: Any) -> bool:
    """By the first solver that has a word for it; a switch has none for a half.  False if nobody has."""
    for space, rows in ROWS.items():
        for row in rows:
            words = row.write(value) if row.prim is prim and row.key == key else {}
            for name, raw in words.items():
                write_typed(layers[space], path, name, raw, row.schema)
            if words:
                return True
    return False


def write_settings(plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
    """What only solvers say about colliders."""
    for shape in plan.asset.shapes:
        path = plan.colliders.get(shape.name, "")
        if not (shape.settings and shape.collision and path):
            continue
        for key, value in _list_bare(plan.asset, shape):
            if key != FIELD_ASKED:
                write_key(layers, path, PrimType.SHAPE, key, value)
            elif value:
                layers["newton"].apply(path, FIELD)


def find_lost_settings(asset: Asset, shape: Shape) -> list[str]:
    """The settings of a collider that no schema can say."""
    sayable = {row.key for rows in ROWS.values() for row in rows if row.prim is PrimType.SHAPE}
    return [key for key, _ in _list_bare(asset, shape) if key not in sayable | {FIELD_ASKED}]


def _list_bare(asset: Asset, shape: Shape) -> list[tuple[str, Any]]:
    """The settings that come with no attribute."""
    authored = {name for elements in asset.extras.table.values() for name in elements.get(shape.path, ())}
    said = {
        row.key
        for rows in ROWS.values()
        for row in rows
        if row.prim is PrimType.SHAPE and not authored.isdisjoint(row.attributes)
    }
    return [(key, value) for key, value in shape.settings.items() if key not in said | _DERIVED]


class UnitRescaler:
    """Turns authored numbers into those that say the same in metres and kilograms."""

    def __init__(self, asset: Asset) -> None:
        info = asset.provenance.info
        words = asset.extras.table.get("mjc", {}).get(str(info.get("physicsScene", "")), {})
        angle = words.get("mjc:compiler:angle")
        self._scale = Scale(
            float(info.get("metersPerUnit", 1.0)),
            float(info.get("kilogramsPerUnit", 1.0)),
            1.0 if angle is not None and angle.value == "radian" else DEGREE,
        )
        self._turning = {
            joint.path for joint in asset.joints if any(dof.motion is not Motion.SLIDE for dof in joint.dofs)
        }
        self._rows = {
            (row.prim, name): row for rows in ROWS.values() for row in rows for name in row.attributes
        }

    def convert(self, element: str, prim: PrimType | None, attribute: str, value: Any) -> Any:
        """The value of an attribute; one that no row knows stays as it is."""
        row = None if prim is None else self._rows.get((prim, attribute))
        if (
            row is None
            or row.unit is NUMBER
            or isinstance(value, bool)
            or not isinstance(value, (int, float))
        ):
            return value
        angular = row.axis in ANGULAR_AXES if row.axis else element in self._turning
        # authored in the units of the source stage, written in those of the layers
        factor = row.unit.factor(self._scale, angular=angular) / row.unit.factor(Scale(), angular=angular)
        return value if factor == 1.0 else value * factor


_SOFT = dict.fromkeys(("solreflimit", "solimplimit", "solreffriction", "solimpfriction"), "double[]")
_TYPED: dict[str, tuple[str, dict[str, str]]] = {
    "joint": ("MjcJointAPI", {**_SOFT, "margin": "double", "group": "int", "actuatorgravcomp": "bool"}),
    "geom": (
        "MjcCollisionAPI",
        {
            "condim": "int", "priority": "int", "solmix": "double", "solref": "double[]", "solimp": "double[]",
            "group": "int", "shellinertia": "bool",
        },
    ),
    "tendon": ("", {**_SOFT, "group": "int", "margin": "double"}),
    "actuator": ("", {"group": "int"}),
    "equality": ("", {"solref": "double[]", "solimp": "double[]"}),
    "site": ("", {"group": "int"}),
    "key": ("", {"act": "double[]", "mpos": "double[]", "mquat": "double[]"}),
}  # fmt: skip
"""Family of MJCF elements -> schema and types of attributes that MuJoCo's schemas have under the same name."""
_REPEATED_ELEMENTS = ("physics_material/",)
"""Elements whose extras are said by those of others."""


_MOCAP = frozenset({"mpos", "mquat"})


class NativeExtras:
    """Finds the prims of elements by their model names."""

    def __init__(self, plan: WritePlan) -> None:
        self._plan = plan
        mimics = {
            m.name: plan.freedoms[m.follower][0] for m in plan.asset.mimics if m.follower in plan.freedoms
        }
        self._families: dict[str, dict[str, str]] = {
            "body": plan.bodies,
            "joint": {name: path for name, (path, _) in plan.freedoms.items()},
            "geom": {**plan.visuals, **plan.colliders},
            "site": plan.sites,
            "camera": plan.cameras,
            "sensor": plan.sensors,
            "tendon": plan.tendons,
            "actuator": plan.actuators,
            "equality": {**mimics, **plan.equalities},
            "material": plan.materials,
            "key": plan.keyframes,
        }
        self._words = {name: word for name, (_, word) in plan.freedoms.items()}
        self._shared = Counter(path for path, _ in plan.freedoms.values())
        elements = plan.asset.extras.table.get("mjc", {}).items()
        self._worn = {
            extra.value
            for element, attributes in elements
            if element.startswith("material/")
            for attribute, extra in attributes.items()
            if attribute.startswith("texture_")
        }

    def write(
        self, layers: dict[str, LayerWriter], space: str, element: str, attribute: str, value: Any
    ) -> bool:
        """Write one attribute; False if the space has no layer, or the attribute is a file that no layer may name."""
        if space == "mjc":
            # images of cubes are paths on this machine; those of materials come along with the material
            if element.startswith("texture/") and attribute.startswith("file"):
                return element.partition("/")[2] in self._worn
            self._write_mjc(layers["mjc"], element, attribute, value)
        elif space == "gazebo":
            path, words = self._find_any(element)
            write_plain(layers["gazebo"], path, make_attribute_name("gazebo", *words, attribute), value)
        elif space == "urdf":
            path, words = self._find_any(element)
            key = ".".join((*words, attribute))
            self._note(layers["gazebo"], path, key, value)
        else:
            return False
        return True

    # one function: the first rule that fits decides
    def _write_mjc(self, layer: LayerWriter, element: str, attribute: str, value: Any) -> None:
        # the reader of MJCF keeps them for the geom and for the material made of it
        if element.startswith(_REPEATED_ELEMENTS):
            return
        family, slash, name = element.partition("/")
        path = self._families.get(family, {}).get(name, "") if slash else ""
        if not path:
            self._write_at_root(layer, family, name, attribute, value)
            return
        word = self._words.get(name, "") if family == "joint" else ""
        if word == FREE:
            write_plain(layer, path, make_attribute_name("mjc", word, attribute), value)
            return
        if word not in ("", "angular", "linear", "ball") or (word and self._shared[path] > 1):
            # several joints of one body may share a prim, so the attribute names its joint
            words = ("mjc", family, make_identifier(name), attribute)
            write_plain(layer, path, make_attribute_name(*words), value)
            return
        if attribute == "actuatorfrcrange":
            for end, number in zip(("min", "max"), value, strict=True):
                layer.set(path, f"mjc:{attribute}:{end}", "double", number, uniform=True)
            layer.set(path, "mjc:actuatorfrclimited", "token", "true", uniform=True)
            return
        schema, types = _TYPED.get(family, ("", {}))
        kind = types.get(attribute)
        if kind is None:
            write_plain(layer, path, make_attribute_name("mjc", attribute), value)
            return
        if schema and not (family == "geom" and path not in self._plan.colliders.values()):
            layer.apply(path, schema)
        layer.set(path, f"mjc:{attribute}", kind, value, uniform=True)

    def _write_at_root(self, layer: LayerWriter, family: str, name: str, attribute: str, value: Any) -> None:
        """An attribute of an element without a prim, with the element's name where it is not an identifier."""
        word = make_identifier(name) if name else ""
        write_plain(layer, self._plan.root, make_attribute_name("mjc", family, word, attribute), value)
        if word != name:
            write_plain(layer, self._plan.root, make_attribute_name("mjc", family, word, "name"), name)

    def _find_any(self, element: str) -> tuple[str, tuple[str, ...]]:
        """The prim of an element that is known by its name only, else the root and the name."""
        for family in ("body", "joint", "geom", "site", "sensor", "camera", "material"):
            if element in self._families[family]:
                return self._families[family][element], ()
        if element in self._plan.joints:
            return self._plan.joints[element], ()
        return self._plan.root, () if element == self._plan.asset.name else (element,)

    @staticmethod
    def _note(layer: LayerWriter, path: str, key: str, value: Any) -> None:
        known = layer.read_note(path, "urdf")
        words = json.loads(known) if known else {}
        layer.note(path, urdf=json.dumps({**words, key: value}, sort_keys=True))


def move_extras(plan: WritePlan, layers: dict[str, LayerWriter], reporter: Reporter) -> None:
    """Attributes the asset was read with, on the prims that are written now; what has no place is reported."""
    mover = _ExtrasMover(plan, layers)
    _write_geom_order(plan, layers["mjc"])
    for space, element, attribute, extra in plan.asset.extras:
        mover.move(space, element, attribute, extra.value)
    for space, names in mover.lost.items():
        images = [name for name in names if space == "mjc" and name.startswith("texture/")]
        unworn = dict.fromkeys(name.removeprefix("texture/").rpartition(" ")[0] for name in images)
        others = [name for name in names if name not in images]
        if unworn:
            shown = ", ".join(repr(name) for name in unworn)
            reporter.report(TEXTURE_UNWORN, count=len(unworn), names=shown)
        if others:
            reporter.report(EXTRAS_LOST, count=len(others), space=space, first=others[0])


def _write_geom_order(plan: WritePlan, layer: LayerWriter) -> None:
    """The order of geoms on bodies where it may not be that of their prims: visuals, then colliders; meshes first."""
    if plan.asset.provenance.format != "mjcf":
        return
    bodies: dict[str, list[Shape]] = {}
    for shape in plan.asset.shapes:
        bodies.setdefault(shape.body, []).append(shape)
    mixed = [
        shapes
        for shapes in bodies.values()
        if shapes != sorted(shapes, key=lambda s: (s.collision, not isinstance(s.geometry, Mesh)))
    ]
    if mixed:
        names = [shape.name for shapes in mixed for shape in shapes]
        write_plain(layer, plan.root, "mjc:geom:order", names)


class _ExtrasMover:
    """Finds the layer, prim, schema and value of one attribute at a time; ``lost`` names those without a place."""

    def __init__(self, plan: WritePlan, layers: dict[str, LayerWriter]) -> None:
        self.lost: dict[str, list[str]] = {}
        self._plan, self._layers = plan, layers
        self._places = _map_places(plan)
        self._paths = {source: next(iter(found.values())) for source, found in self._places.items()}
        self._schemas = {
            name: row.schema for rows in ROWS.values() for row in rows for name in row.attributes
        }
        self._actuators = {actuator.path for actuator in plan.asset.actuators}
        self._fields = {shape.path for shape in plan.asset.shapes if shape.settings.get(FIELD_ASKED)}
        self._native, self._rescaler = NativeExtras(plan), UnitRescaler(plan.asset)

    # one function: the first rule that takes the attribute ends it, and the last one loses it
    def move(self, space: str, element: str, attribute: str, value: Any) -> None:
        """Write an attribute of an element of the source, unless the model says it already."""
        path, prim = _choose_place(self._places.get(element, {}), attribute)
        # "state:" is a namespace of PhysX whose attributes are read into the initial state
        is_named = ":" in attribute and not attribute.startswith("state:")
        if self._is_from_model(space, element, attribute, prim, is_named=is_named):
            return
        # MuJoCo's reader (4.0.0) has no mocap bodies, and refuses a keyframe that places them
        if self._plan.is_for_mujoco and attribute.removeprefix("mjc:") in _MOCAP:
            self.lost.setdefault(space, []).append(f"{element} {attribute}")
            return
        is_native = not is_named or (space in _NATIVE_SPACES and not attribute.startswith(f"{space}:"))
        if is_native and self._native.write(self._layers, space, element, attribute, value):
            return
        value = self._rescaler.convert(element, prim, attribute, _map_value(value, self._paths))
        is_beaten = path == self._plan.root and attribute in _OPTIONS
        has_place = space in self._layers and path and is_named and find_type(attribute, value)
        if is_beaten or not has_place:
            self.lost.setdefault(space, []).append(f"{element} {attribute}")
            return
        schema = self._choose_schema(element, prim, attribute)
        write_typed(self._layers[space], path, attribute, value, schema)

    def _is_from_model(
        self, space: str, element: str, attribute: str, prim: PrimType | None, *, is_named: bool
    ) -> bool:
        """Is the value in the layers already, written from the model?"""
        if space in _MODEL_SPACES:
            return True
        # the group of an actuator is the one attribute of MuJoCo that its law does not hold
        if element in self._actuators and is_named and not attribute.startswith("mjc:group"):
            return True
        return (prim, attribute) in _IN_NEUTRAL_LAYERS or _is_carried(self._plan, element, attribute)

    def _choose_schema(self, element: str, prim: PrimType | None, attribute: str) -> str:
        """The schema to apply; none at the root, which is not a scene, and none that would ask for a distance field."""
        schema = self._schemas.get(attribute) or _guess_schema(attribute)
        if prim is PrimType.SCENE or (schema == FIELD and element not in self._fields):
            return ""
        return schema


# a list of families whose attributes the writer makes from the model
def _is_carried(plan: WritePlan, element: str, attribute: str) -> bool:
    """Is it written from the model: mimics, tendons, sensors, keyframes, custom attributes, options at the root?"""
    name = attribute.partition(":")[2]
    if name.startswith(_CARRIED) or attribute.startswith(("physxMimicJoint:", *_MODEL)):
        return True
    if attribute.startswith("newton:") and attribute in _list_custom_names(plan):
        return True
    scene = _find_scene(plan)
    if element == scene and attribute in _OPTIONS:
        # several attributes may stand for one option: only the one that won is in the model
        known = plan.asset.origins.get(scene, {}).get(_OPTIONS[attribute])
        return known is not None and known.attribute == attribute
    if attribute == "mjc:compiler:angle":  # numbers are written in the layers' own units
        return True
    # the name first: finding the root goes through the elements of the asset
    if name.startswith(("option:", "flag:")) and element == _find_root(plan):
        return True
    return name.startswith(_TENDON) and any(element == tendon.source.prim for tendon in plan.asset.tendons)


def _list_custom_names(plan: WritePlan) -> set[str]:
    """The attribute names of the asset's custom attributes."""
    customs = plan.asset.custom_attributes
    return {":".join(word for word in ("newton", c.namespace, c.name) if word) for c in customs}


def _find_scene(plan: WritePlan) -> str:
    """The scene of the stage that was read; empty if it had none."""
    return str(plan.asset.provenance.info.get("physicsScene", ""))


def _find_root(plan: WritePlan) -> str:
    """The root of the asset that was read; empty if it was no OpenUSD asset."""
    asset = plan.asset
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


def _map_places(plan: WritePlan) -> dict[str, dict[PrimType, str]]:
    """Where the prims of the source are now; one that was several things may be in several places."""
    places: dict[str, dict[PrimType, str]] = {}
    for source, prim, path in _list_places(plan):
        if source and path:
            places.setdefault(source, {}).setdefault(prim, path)
    return places


def _list_places(plan: WritePlan) -> Iterator[tuple[str, PrimType, str]]:
    """Prim of the source, what it is, and its path now.  The order matters: the first place of a kind counts."""
    asset = plan.asset
    yield from ((body.path, PrimType.BODY, plan.bodies[body.name]) for body in asset.bodies)
    yield from ((joint.path, PrimType.JOINT, plan.joints[joint.name]) for joint in list_written(plan))
    for places in (plan.colliders, plan.visuals):
        yield from ((shape.path, PrimType.SHAPE, places.get(shape.name, "")) for shape in asset.shapes)
        yield from (
            (shape.path.removesuffix(f"/{MESH}"), PrimType.SHAPE, places.get(shape.name, ""))
            for shape in asset.shapes
            if shape.path.endswith(f"/{MESH}")  # an instance is spoken of at its root
        )
    for material in asset.physics_materials:
        yield material.source.prim, PrimType.MATERIAL, plan.contacts[material.name]
    yield from ((look.source.prim, PrimType.MATERIAL, plan.materials[look.name]) for look in asset.materials)
    for articulation in asset.articulations:
        members = list_articulated(asset, articulation, plan.tree)
        if members:
            base = find_components(plan.tree)[members[0]]
            yield articulation.path, PrimType.ARTICULATION, find_articulation_root(plan, base)
    yield from _list_further_places(plan)


def _list_further_places(plan: WritePlan) -> Iterator[tuple[str, PrimType, str]]:
    """Tendons, equalities, what is mounted on bodies, and the roots; the rows know no kind of their own for these."""
    asset = plan.asset
    for tendon in asset.tendons:
        yield tendon.source.prim, PrimType.ACTUATOR, plan.tendons.get(tendon.name, "")
    for equality in asset.equalities:
        yield equality.source.prim, PrimType.JOINT, plan.equalities.get(equality.name, "")
    yield from ((site.path, PrimType.BODY, plan.sites[site.name]) for site in asset.sites)
    yield from ((c.path, PrimType.BODY, plan.cameras[c.name]) for c in asset.cameras)
    yield from ((s.path, PrimType.BODY, plan.sensors.get(s.name, "")) for s in asset.sensors)
    yield from ((a.path, PrimType.ACTUATOR, plan.actuators.get(a.name, "")) for a in asset.actuators)
    yield _find_root(plan), PrimType.SCENE, plan.root
    yield _find_scene(plan), PrimType.SCENE, plan.root


def _choose_place(places: dict[PrimType, str], attribute: str) -> tuple[str, PrimType | None]:
    """The place that an attribute is about: of the kind its schema is for, else the first."""
    for prim, path in places.items():
        if prim in _PRIM_TYPES.get(attribute, ()):
            return path, prim
    return next(((path, prim) for prim, path in places.items()), ("", None))


def _map_value(value: Any, paths: dict[str, str]) -> Any:
    """Targets of relationships follow their prims; one that is gone leaves nothing."""
    # extras keep relationships as lists of paths
    if isinstance(value, list) and value and all(isinstance(v, str) and v.startswith("/") for v in value):
        return [paths[v] for v in value if v in paths] or None
    return value


def _guess_schema(attribute: str) -> str:
    """PhysX names its schemas after the namespace."""
    space = attribute.partition(":")[0]
    return f"{space[0].upper()}{space[1:]}API" if space.startswith("physx") else ""
