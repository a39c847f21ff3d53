# SPDX-License-Identifier: Apache-2.0
"""The asset: bodies, joints, shapes and all that hangs on them.

Elements refer to each other by name; names are unique within their list.  The world is the empty name.
Poses of bodies are in the asset's frame, poses of everything that sits on a body are in the body's frame.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from simwright.core.diag import NOWHERE, Where
from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.model.extras import CustomAttribute, Extras
from simwright.model.geometry import Approximation, Geometry
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Drive, Equality, Gear, Joint, Mimic, Tendon, TendonPoint
from simwright.model.material import LookVariant, PhysicsMaterial, RenderMaterial, Rgb
from simwright.model.movement import Movement
from simwright.model.origins import Origins
from simwright.model.ros import Controller, Interface, RosContext


@dataclass(slots=True, eq=False)
class Body:
    """A rigid body (link).

    ``inertial`` None means that mass follows from the shapes.  ``scope`` is the nested model it belongs to
    (SDF), ``path`` the prim path or element path in the source.  Velocities are in the asset frame
    [m/s, rad/s]; dampings say how fast they decay [1/s], None means "not said".
    """

    name: str
    pose: Pose = IDENTITY
    inertial: Inertial | None = None
    kinematic: bool = False
    enabled: bool = True
    gravity_scale: float = 1.0
    linear_velocity: Array | None = None
    angular_velocity: Array | None = None
    density: float | None = None
    linear_damping: float | None = None
    angular_damping: float | None = None
    scope: str = ""
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False)
class Shape:
    """A geometry placed on a body (or the world), seen, touched or both.

    ``scale`` multiplies the geometry's own size.  ``mass`` and ``density`` are overrides for mass
    computation; ``margin`` and ``gap`` contact distances [m]; ``group`` an opaque display group;
    ``settings`` are further solver values by resolver key, SI (``ke``, ``kd``, ``mass_model`` ...); gains ``ke`` and
    ``kd`` here come after those of the physics material unless ``contact_first`` is set.  ``double_sided`` says that
    back faces are seen too; ``instancer`` is the path of the point instancer that scattered the shape.  ``color`` is a
    display colour (see ``material``) and opacity.
    """

    name: str
    geometry: Geometry
    body: str = WORLD
    pose: Pose = IDENTITY
    scale: Array | None = None
    visual: bool = True
    collision: bool = False
    enabled: bool = True
    material: str = ""
    physics_material: str = ""
    color: tuple[float, float, float, float] | None = None
    approximation: Approximation | None = None
    margin: float | None = None
    gap: float | None = None
    mass: float | None = None
    density: float | None = None
    purpose: str = "default"
    group: int | None = None
    category_bits: int | None = None
    collide_bits: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    double_sided: bool = False
    instancer: str = ""
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False)
class Site:
    """A named frame on a body: sites, SDF frames, dummy links, optical frames.

    ``ros_frame`` is its TF name when it is published; ``static`` whether it goes to /tf_static.
    """

    name: str
    body: str = WORLD
    pose: Pose = IDENTITY
    geometry: Geometry | None = None
    ros_frame: str | None = None
    static: bool = True
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False)
class Camera:
    """A pinhole camera looking along its local -Z, +Y up (USD, MJCF).

    ``fov_y`` is vertical [rad]; ``resolution`` in pixels, zero if not said; clip distances [m].
    """

    name: str
    body: str = WORLD
    pose: Pose = IDENTITY
    fov_y: float = 0.785398163397448
    resolution: tuple[int, int] = (0, 0)
    near: float = 0.01
    far: float = 100.0
    focal_length: float | None = None
    aperture: tuple[float, float] | None = None
    path: str = ""
    source: Where = NOWHERE


class LightKind(enum.StrEnum):
    """Punctual lights first; the others have no glTF counterpart."""

    DIRECTIONAL = "directional"
    POINT = "point"
    SPOT = "spot"
    DOME = "dome"
    AREA = "area"


@dataclass(slots=True, eq=False)
class Light:
    """A light shining along its local -Z.  ``cone`` is inner and outer half-angle [rad].

    ``color`` is a display colour (see ``material``), ``intensity`` is as the source has it.  ``angle`` is the angular
    diameter of a directional light [rad]; ``normalized`` says that its size does not change how much light it gives
    (UsdLux).
    """

    name: str
    kind: LightKind
    body: str = WORLD
    pose: Pose = IDENTITY
    color: Rgb = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    radius: float = 0.0
    cone: tuple[float, float] | None = None
    range: float | None = None
    cast_shadows: bool = True
    angle: float | None = None
    normalized: bool = False
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False)
class Sensor:
    """A sensor on a body or site.  ``kind`` is a plain word (camera, lidar, imu, contact, force_torque ...).

    ``settings`` are SI values by snake_case name (``rate`` [Hz] is a field of its own); ``target`` names
    the joint, camera, tendon or actuator it measures where that is not a body.
    """

    name: str
    kind: str
    body: str = WORLD
    pose: Pose = IDENTITY
    target: str = ""
    rate: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False)
class Actuator:
    """A motor.  ``target`` names a dof, tendon, site or body, as ``transmission`` says.

    ``kind`` is motor (effort), position, velocity, or general; ``gain``/``bias``/``dynamics`` hold the
    affine law of general ones (MJCF): force = gain(...) * u + bias(...).
    """

    name: str
    kind: str
    target: str
    transmission: str = "joint"
    gear: tuple[float, ...] = (1.0,)
    stiffness: float = 0.0
    damping: float = 0.0
    control_range: tuple[float, float] | None = None
    force_range: tuple[float, float] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True)
class CollisionGroup:
    """Members (bodies or shapes) that do not touch the groups in ``filtered`` (or only them, inverted)."""

    name: str
    members: list[str] = field(default_factory=list)
    filtered: list[str] = field(default_factory=list)
    inverted: bool = False
    merge: str = ""
    source: Where = NOWHERE


@dataclass(slots=True)
class ContactFilter:
    """``a`` and ``b`` (bodies or shapes, as ``of`` says) never touch."""

    a: str
    b: str
    of: str = "body"
    source: Where = NOWHERE


@dataclass(slots=True)
class ContactPair:
    """Shapes ``a`` and ``b`` always touch, with contact settings of their own (MJCF pair)."""

    a: str
    b: str
    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    source: Where = NOWHERE


@dataclass(slots=True)
class Articulation:
    """A tree of joints solved as one.  ``root`` is the body or prim it is declared on."""

    name: str
    root: str
    self_collide: bool = True
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True)
class Keyframe:
    """A named state: joint coordinates by dof name, controls by actuator name."""

    name: str
    positions: dict[str, Any] = field(default_factory=dict)
    velocities: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    time: float = 0.0
    path: str = ""


@dataclass(slots=True, eq=False)
class Environment:
    """World settings that come with the file: gravity [m/s^2], step [s]; None means "not said"."""

    gravity: Array | None = None
    timestep: float | None = None
    wind: Array | None = None
    magnetic_field: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Provenance:
    """Where the asset came from and what it calls itself."""

    file: str = ""
    format: str = ""
    version: str = ""
    identifier: str = ""
    generator: str = ""
    info: dict[str, Any] = field(default_factory=dict)


Element = TypeVar("Element")

ELEMENT_LISTS = (
    "bodies", "joints", "shapes", "sites", "cameras", "lights", "sensors", "actuators", "tendons",
    "equalities", "mimics", "materials", "physics_materials", "collision_groups", "contact_filters",
    "contact_pairs", "articulations", "interfaces", "contexts", "controllers", "keyframes",
    "custom_attributes", "look_variants",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Asset:
    """A robot, a prop or a whole scene, free of any file format.

    ``origins`` tells, by element path and resolver key, which schema attribute decided a value and which
    authored values lost; only what was chosen among several schemas (OpenUSD) has an entry.  ``motion`` are the
    movements a file brings, ``look_variants`` other looks of the same shapes.
    """

    name: str
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    sensors: list[Sensor] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    tendons: list[Tendon] = field(default_factory=list)
    equalities: list[Equality] = field(default_factory=list)
    mimics: list[Mimic] = field(default_factory=list)
    materials: list[RenderMaterial] = field(default_factory=list)
    physics_materials: list[PhysicsMaterial] = field(default_factory=list)
    collision_groups: list[CollisionGroup] = field(default_factory=list)
    contact_filters: list[ContactFilter] = field(default_factory=list)
    contact_pairs: list[ContactPair] = field(default_factory=list)
    articulations: list[Articulation] = field(default_factory=list)
    interfaces: list[Interface] = field(default_factory=list)
    contexts: list[RosContext] = field(default_factory=list)
    controllers: list[Controller] = field(default_factory=list)
    keyframes: list[Keyframe] = field(default_factory=list)
    custom_attributes: list[CustomAttribute] = field(default_factory=list)
    environment: Environment = field(default_factory=Environment)
    provenance: Provenance = field(default_factory=Provenance)
    extras: Extras = field(default_factory=Extras)
    origins: Origins = field(default_factory=dict)
    motion: Movement | None = None
    look_variants: list[LookVariant] = field(default_factory=list)

    def body(self, name: str) -> Body:
        """The body called ``name``; KeyError if there is none."""
        return _find(self.bodies, name)

    def joint(self, name: str) -> Joint:
        """The joint called ``name``; KeyError if there is none."""
        return _find(self.joints, name)

    def shapes_of(self, body: str) -> list[Shape]:
        """Shapes on a body, in order."""
        return [shape for shape in self.shapes if shape.body == body]

    def geometries(self) -> list[Geometry]:
        """The distinct geometry objects, in order of first use."""
        return list({id(s.geometry): s.geometry for s in self.shapes}.values())

    def copy(self) -> Asset:
        """A copy whose elements can be edited freely.

        Geometry, poses and arrays are values: they stay shared and are replaced, never written into.
        """
        twin = _copy_element(self)
        twin.environment = _copy_element(self.environment)
        twin.provenance = _copy_element(self.provenance)
        twin.origins = {path: dict(entries) for path, entries in self.origins.items()}
        twin.extras = Extras(
            {
                space: {element: dict(attributes) for element, attributes in elements.items()}
                for space, elements in self.extras.table.items()
            }
        )
        return twin


def _copy_element(element: Element) -> Element:
    """A shallow copy of a dataclass; lists and dictionaries are copied with the elements in them."""
    twin = copy.copy(element)
    for name in _container_fields(type(element)):
        setattr(twin, name, _copy_value(getattr(element, name)))
    return twin


def _copy_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _copy_value(item) for key, item in value.items()}
    if isinstance(value, _MUTABLE):
        return _copy_element(value)
    return value


_CONTAINER_WORDS = ("list", "dict", "Drive", "Gear", "Any")
_container_cache: dict[type, tuple[str, ...]] = {}


def _container_fields(cls: type) -> tuple[str, ...]:
    """Fields that may hold something mutable, told by their annotation."""
    if cls not in _container_cache:
        names = [f.name for f in dataclasses.fields(cls) if any(w in str(f.type) for w in _CONTAINER_WORDS)]
        _container_cache[cls] = tuple(names)
    return _container_cache[cls]


def _find(elements: Iterable[Element], name: str) -> Element:
    for element in elements:
        if element.name == name:  # type: ignore[attr-defined]
            return element
    raise KeyError(name)


_MUTABLE = (
    Body, Joint, Dof, Drive, Gear, Shape, Site, Camera, Light, Sensor, Actuator, Tendon, TendonPoint,
    Equality, Mimic, RenderMaterial, PhysicsMaterial, CollisionGroup, ContactFilter, ContactPair,
    Articulation, Keyframe, Interface, RosContext, Controller, CustomAttribute, LookVariant,
)  # fmt: skip


def scaled(shape: Shape) -> Array:
    """The shape's scale, ones where none is given."""
    return np.ones(3) if shape.scale is None else vec3(shape.scale)
