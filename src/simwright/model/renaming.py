# SPDX-License-Identifier: Apache-2.0
"""An asset on its way into another one: new names, another place, and everything handed over.

Merging scenes, attaching and detaching stand on these steps, so that all three agree on what refers to what.  Elements
are changed in place: they are given copies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_multiply
from simwright.model.elements import Movement, Track
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import Mesh, MeshData
from simwright.model.joint import WORLD, EqualityKind

if TYPE_CHECKING:
    from simwright.model.asset import Asset

Rename: TypeAlias = Callable[[str], str]

ON_BODY = ("shapes", "sites", "cameras", "lights", "sensors")
LOOKS = ("materials", "physics_materials")
NAMED = (
    "bodies", "joints", *ON_BODY, "actuators", "tendons", "equalities", "collision_groups", "articulations",
    "controllers", "mimics", "contact_pairs",
)  # fmt: skip
"""Lists whose names are the asset's own; those of mimics and contact pairs may be empty."""

_FAMILIES = frozenset((
    "body", "joint", "geom", "site", "camera", "light", "texture", "material", "physics_material", "tendon",
    "equality", "actuator", "sensor", "pair", "exclude", "key", "flex", "skin", "plugin", "numeric", "text", "tuple",
))  # fmt: skip
"""Kinds before the name in keys of MJCF: ``geom/pad``.  Meshes are not among them: those are values, shared by all."""
_POINTING = frozenset((
    "joint", "joints", "sensors", "body", "reference", "reference_site", "slider_site", "frame_id", "gz_frame_id",
    "base_frame", "base_frame_id", "left_wheel_names", "right_wheel_names", "target", "joint1", "site1",
    "site2", "material",
))  # fmt: skip
"""Settings and untranslated attributes whose value is the name of an element, or has such names."""
_TOPICS = ("topic", "camera_info_topic")


def list_dofs(asset: Asset) -> Iterator[str]:
    """Names of the freedoms that have one."""
    return (dof.name for joint in asset.joints for dof in joint.dofs if dof.name)


def is_own_topic(name: str) -> bool:
    """Is a ROS name relative?  Absolute and private ones are not the asset's to change."""
    return bool(name) and not name.startswith(("/", "~"))


class Renaming:
    """Gives everything in an asset another name, and lets all that refers to it follow.

    ``rename`` is for elements and is never asked for the world; ``looks`` for materials, ``topics`` for ROS names,
    ``prims`` for prim paths, all of them left alone where nothing is given.
    """

    def __init__(
        self,
        asset: Asset,
        rename: Rename,
        *,
        looks: Rename | None = None,
        topics: Rename | None = None,
        prims: Rename | None = None,
    ) -> None:
        # every name that anything may refer to is listed here, before the first one changes
        self._asset = asset
        self._rename_element = rename
        self._looks, self._topics, self._prims = looks or str, topics or str, prims or str
        names = (element.name for family in NAMED for element in getattr(asset, family) if element.name)
        frames = (site.ros_frame for site in asset.sites if site.ros_frame)
        published = (joint.ros_name for joint in asset.joints if joint.ros_name)
        self._known = {*names, *list_dofs(asset), *frames, *published}
        self._materials = {material.name for family in LOOKS for material in getattr(asset, family)}
        self._meshes: dict[int, Mesh] = {}

    def apply(self) -> None:
        """Rename all there is."""
        asset = self._asset
        for family in NAMED:
            for element in getattr(asset, family):
                element.name = self._refer(element.name)
        for family in LOOKS:
            for material in getattr(asset, family):
                material.name = self._looks(material.name)
        self._rename_bodies()
        self._rename_frames()
        self._rename_mechanics()
        self._rename_contacts()
        self._rename_ros()
        self._rename_states()
        self._rename_places()
        self._rename_extras()

    def _refer(self, name: str) -> str:
        if name == WORLD:
            return name
        return self._prims(name) if name.startswith("/") else self._rename_element(name)

    def _refer_known(self, name: str) -> str:
        """Words that may be names: frames, settings."""
        return self._rename_element(name) if name in self._known else name

    def rename_path(self, path: str) -> str:
        """The path of an element in its source: a prim, a kind and a name (MJCF), or names of elements."""
        if not path or path.startswith("/"):
            return self._prims(path) if path else path
        head, slash, tail = path.partition("/")
        if slash and head in _FAMILIES and (head not in self._known or tail in self._known):
            owner = self._looks if head in ("material", "physics_material") else self._rename_element
            return f"{head}/{owner(tail)}"
        return self._rename_element(path)

    def rename_key(self, space: str, key: str) -> str:
        """The element under which extras are kept; what is said of a whole file stays where it is."""
        head, mark, tail = key.partition(":")
        if key.startswith("/") or (space == "mjc" and key.partition("/")[0] in _FAMILIES and "/" in key):
            return self.rename_path(key)
        if mark and head == "plugin":
            return f"{head}:{self._refer_known(tail)}"
        return self._refer_known(key)

    def _rename_extras(self) -> None:
        table = self._asset.extras.table
        for space, elements in table.items():
            table[space] = {
                self.rename_key(space, key): {
                    attribute: extra._replace(value=self._point(attribute, extra.value))
                    for attribute, extra in rows.items()
                }
                for key, rows in elements.items()
            }
        self._asset.origins = {self.rename_path(key): rows for key, rows in self._asset.origins.items()}

    def _point(self, attribute: str, value: Any) -> Any:
        """A value that names an element, or one that does not."""
        # textures of MJCF are elements of their own
        if isinstance(value, str) and attribute.startswith("texture"):
            return self._rename_element(value)
        if isinstance(value, str) and attribute == "material" and value in self._materials:
            return self._looks(value)
        return self._point_all(value) if attribute in _POINTING else value

    def _point_all(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._refer_known(value)
        if isinstance(value, list):
            return [self._refer_known(item) if isinstance(item, str) else item for item in value]
        if isinstance(value, dict):
            return {self._refer_known(key): item for key, item in value.items()}
        return value

    def _point_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        found = {key: self._point_all(item) if key in _POINTING else item for key, item in settings.items()}
        for key in _TOPICS:
            if isinstance(found.get(key), str):
                found[key] = self._topics(found[key])
        # an instance of a plugin has a name; a plugin by itself is a word of MuJoCo
        if f"plugin/{found.get('plugin')}" in self._asset.extras.table.get("mjc", {}):
            found["plugin"] = self._rename_element(found["plugin"])
        return found

    def _rename_bodies(self) -> None:
        asset = self._asset
        for body in asset.bodies:
            body.scope = self._refer(body.scope)
        for family in ON_BODY:
            for element in getattr(asset, family):
                element.body = self._refer(element.body)
        for shape in asset.shapes:
            shape.material = shape.material and self._looks(shape.material)
            shape.physics_material = shape.physics_material and self._looks(shape.physics_material)
            shape.geometry = self._paint(shape.geometry)
            shape.instancer = self._prims(shape.instancer)
        for variant in asset.look_variants:
            variant.materials = {
                (self._refer(shape), part): self._looks(look)
                for (shape, part), look in variant.materials.items()
            }

    def _rename_frames(self) -> None:
        for site in self._asset.sites:
            site.ros_frame = site.ros_frame and self._refer(site.ros_frame)
            if site.folded is not None:
                names = {
                    key: [self._refer(name) for name in row] for key, row in site.folded.elements.items()
                }
                name, mount = (self._rename_element(word) for word in (site.folded.name, site.folded.mount))
                site.folded = dataclasses.replace(site.folded, name=name, mount=mount, elements=names)

    def _paint(self, geometry: Any) -> Any:
        """Sets of faces name materials too; meshes stay unread and shared."""
        if not isinstance(geometry, Mesh) or all(self._looks(name) == name for name in self._materials):
            return geometry
        # asking an unloaded mesh would read its file
        if geometry.is_loaded and not any(part.material for part in geometry.data.subsets):
            return geometry
        if id(geometry) not in self._meshes:
            names = {name: self._looks(name) for name in self._materials}
            # loaded later, with the new names: renaming an asset must not read its meshes
            self._meshes[id(geometry)] = Mesh(
                load=partial(_load_painted, geometry, names),
                source=geometry.source,
                file=geometry.file,
                recipe=geometry.recipe,
                gate=geometry.gate,
            )
        return self._meshes[id(geometry)]

    def _rename_mechanics(self) -> None:
        asset = self._asset
        for joint in asset.joints:
            joint.ros_name = self._refer(joint.ros_name)
            joint.parent, joint.child = self._refer(joint.parent), self._refer(joint.child)
            if joint.gear is not None:
                joint.gear.reference = self._refer(joint.gear.reference)
            for dof in joint.dofs:
                dof.name = self._refer(dof.name)
        for equality in asset.equalities:
            equality.a, equality.b = self._refer(equality.a), self._refer(equality.b)
        for mimic in asset.mimics:
            mimic.leader, mimic.follower = self._refer(mimic.leader), self._refer(mimic.follower)
        for tendon in asset.tendons:
            for point in tendon.path:
                point.name, point.side = self._refer(point.name), self._refer(point.side)
        motors: list[Any] = [*asset.actuators, *asset.sensors]
        for element in motors:
            element.target = self._refer(element.target)
            element.settings = self._point_settings(element.settings)
        for articulation in asset.articulations:
            articulation.root = self._refer(articulation.root)

    def _rename_contacts(self) -> None:
        asset = self._asset
        for group in asset.collision_groups:
            group.members = [self._refer(name) for name in group.members]
            group.filtered = [self._refer(name) for name in group.filtered]
        pairs: list[Any] = [*asset.contact_filters, *asset.contact_pairs]
        for pair in pairs:
            pair.a, pair.b = self._refer(pair.a), self._refer(pair.b)

    def _rename_ros(self) -> None:
        asset = self._asset
        for interface in asset.interfaces:
            interface.name = self._topics(interface.name)
            interface.frame_override = self._refer_known(interface.frame_override)
        sitting: list[Any] = [*asset.interfaces, *asset.contexts]
        for element in sitting:
            element.at = self._refer(element.at)
        for controller in asset.controllers:
            controller.joints = {
                role: [self._refer(name) for name in names] for role, names in controller.joints.items()
            }
            controller.interfaces = {role: self._topics(name) for role, name in controller.interfaces.items()}
            controller.settings = self._point_settings(controller.settings)

    def _rename_states(self) -> None:
        asset = self._asset
        for keyframe in asset.keyframes:
            keyframe.name = self._refer(keyframe.name)
            for field in ("positions", "velocities", "controls"):
                values = getattr(keyframe, field)
                setattr(keyframe, field, {self._refer(name): value for name, value in values.items()})
        for custom in asset.custom_attributes:
            custom.values = {self._refer(name): value for name, value in custom.values.items()}
        if asset.motion is not None:
            asset.motion = map_tracks(asset.motion, lambda _, name, track: (self._refer(name), track))

    def _rename_places(self) -> None:
        """Paths in the source: extras and origins are kept under them."""
        asset = self._asset
        for family in dataclasses.fields(asset):
            elements = getattr(asset, family.name)
            for element in elements if isinstance(elements, list) else ():
                path = getattr(element, "path", None)
                # the path of a tendon is its course
                if isinstance(path, str):
                    element.path = self.rename_path(path)
                elif getattr(element, "source", None) and element.source.prim:
                    element.source = dataclasses.replace(
                        element.source, prim=self._prims(element.source.prim)
                    )


def _load_painted(mesh: Mesh, looks: dict[str, str]) -> MeshData:
    subsets = tuple(
        dataclasses.replace(part, material=looks.get(part.material, part.material))
        for part in mesh.data.subsets
    )
    return dataclasses.replace(mesh.data, subsets=subsets)


def map_tracks(motion: Movement, change: Callable[[str, str, Track], tuple[str, Track] | None]) -> Movement:
    """A movement whose tracks went through ``change`` (kind, name, track); None leaves one out."""
    kinds: dict[str, Any] = {}
    for kind in ("bodies", "shapes", "cameras", "lights"):
        found = (change(kind, name, track) for name, track in getattr(motion, kind).items())
        kinds[kind] = dict(pair for pair in found if pair is not None)
    return dataclasses.replace(motion, **kinds)


def move_track(base: Pose, track: Track) -> Track:
    """Placements seen from the parent frame of ``base``."""
    # scales are along the element's own axes: they do not turn
    rotations: Array = np.array([quat_multiply(base.q, q) for q in track.rotations]).reshape(-1, 4)
    return Track(base.apply(track.positions), rotations, track.scales)


def place_asset(asset: Asset, base: Pose, body: str, seat: Pose) -> None:
    """Put an asset somewhere: its frame to ``base``, its world onto ``body`` (in whose frame that is ``seat``)."""
    # before elements get their new place: which of them are in the world is asked here
    if asset.motion is not None:
        asset.motion = _place_motion(asset, asset.motion, base, seat)
    move_bodies(asset, base)
    seat_elements(asset, lambda name, pose: (body, seat @ pose) if name == WORLD else (name, pose))


def move_bodies(asset: Asset, base: Pose) -> None:
    """Bodies and their velocities, seen from the parent frame of ``base``."""
    for body in asset.bodies:
        body.pose = base @ body.pose
        for field in ("linear_velocity", "angular_velocity"):
            if getattr(body, field) is not None:
                setattr(body, field, base.rotation @ getattr(body, field))


def seat_elements(asset: Asset, sit: Callable[[str, Pose], tuple[str, Pose]]) -> None:
    """Let ``sit`` say, by body and pose on it, where everything is that sits on bodies or holds them together."""
    # the one list of everything that names a body together with a frame on it
    placed = {element.name for f in ("shapes", "sites", "cameras") for element in getattr(asset, f)}
    for family in ON_BODY:
        for element in getattr(asset, family):
            target = getattr(element, "target", "")
            if element.body or not target or target in placed:  # that of a tendon or a motor is nowhere
                element.body, element.pose = sit(element.body, element.pose)
    for joint in asset.joints:
        joint.parent, joint.parent_frame = sit(joint.parent, joint.parent_frame)
        joint.child, joint.child_frame = sit(joint.child, joint.child_frame)
        if joint.gear is not None:
            joint.gear.reference = sit(joint.gear.reference, IDENTITY)[0]
    for equality in asset.equalities:
        if equality.kind is not EqualityKind.TENDON:
            equality.a, equality.frame_a = sit(equality.a, equality.frame_a)
            equality.b, equality.frame_b = sit(equality.b, equality.frame_b)
    for pair in asset.contact_filters:
        if pair.of == "body":
            pair.a, pair.b = sit(pair.a, IDENTITY)[0], sit(pair.b, IDENTITY)[0]


def _place_motion(asset: Asset, motion: Movement, base: Pose, seat: Pose) -> Movement:
    families = ("shapes", "cameras", "lights")
    worldly = {(f, element.name) for f in families for element in getattr(asset, f) if element.body == WORLD}

    def follow(kind: str, name: str, track: Track) -> tuple[str, Track]:
        if kind == "bodies":
            return name, move_track(base, track)
        return name, move_track(seat, track) if (kind, name) in worldly else track

    return map_tracks(motion, follow)


def hand_over(whole: Asset, part: Asset, families: Iterable[str]) -> None:
    """Append the elements of those lists, and what is kept under their names; what is there already stays."""
    for family in families:
        getattr(whole, family).extend(getattr(part, family))
    for space, elements in part.extras.table.items():
        known = whole.extras.table.setdefault(space, {})
        for key, rows in elements.items():
            # what the whole says already is stronger
            known[key] = {**rows, **known.get(key, {})}
    for path, origins in part.origins.items():
        whole.origins[path] = {**origins, **whole.origins.get(path, {})}
    declared = {custom.key: custom for custom in whole.custom_attributes}
    for custom in part.custom_attributes:
        if custom.key in declared:
            declared[custom.key].values |= custom.values
        else:
            whole.custom_attributes.append(custom)
    variants = {(found.set_name, found.name): found for found in whole.look_variants}
    for variant in part.look_variants:
        if (variant.set_name, variant.name) in variants:
            variants[variant.set_name, variant.name].materials |= variant.materials
        else:
            whole.look_variants.append(variant)


def is_same_declaration(a: CustomAttribute, b: CustomAttribute) -> bool:
    """Are two custom attributes declared alike, whatever they say of elements?"""
    fields = ("assignment", "frequency", "type", "default")
    return all(getattr(a, field) == getattr(b, field) for field in fields)
