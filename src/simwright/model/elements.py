# SPDX-License-Identifier: Apache-2.0
"""The elements of an asset: bodies, shapes, sites, sensors, motors and what is said about all of them.

Elements refer to each other by name; the world is the empty name.  Poses of bodies are in the asset's frame, poses of
everything that sits on a body are in the body's frame.  Joints, materials and the ROS side have files of their own.

A moment of the asset (its poses) is always there; a movement (where things are over time, as an animated
file has it) comes on top of it and is a value: it is replaced, never
written into.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import NOWHERE, Where
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.model.display import Shown, list_differences, show_number, show_value, show_vector
from simwright.model.geometry import Approximation, Geometry
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD
from simwright.model.material import Rgb


@dataclass(slots=True, eq=False, repr=False)
class Body(Shown):
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

    def list_facts(self) -> list[str]:
        """Mass and place first."""
        mass = "mass from its shapes" if self.inertial is None else f"{show_number(self.inertial.mass)} kg"
        rest = [fact for fact in list_differences(self) if not fact.startswith(("inertial", "pose"))]
        return [mass, show_value(self.pose), *rest]


@dataclass(slots=True, eq=False, repr=False)
class Shape(Shown):
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

    def list_facts(self) -> list[str]:
        """What it is, on which body, seen or touched."""
        scale = "" if self.scale is None else f" scaled {show_vector(self.scale)}"
        seen = " and ".join(word for word in ("visual", "collision") if getattr(self, word))
        place = f"on {self.body!r}" if self.body else "in the world"
        look = f"material {self.material!r}" if self.material else ""
        return [fact for fact in (f"{self.geometry!r}{scale}", place, seen or "off", look) if fact]


@dataclass(frozen=True, slots=True, repr=False)
class FoldedBody(Shown):
    """What a body without mass was before it became a frame (``simwright.model.folding``).

    ``name`` is that of the body, which a site beside the frame may have too.  ``mount`` is the fixed joint that held
    it, as the child of the other body or as its parent; ``order`` counts the frames that were made before it; ``body``
    and ``joint`` are places in the lists of the asset; ``elements`` the names of what was on it, by family.
    """

    name: str
    mount: str
    is_child: bool = True
    order: int = 0
    body: int = 0
    joint: int = 0
    elements: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Site(Shown):
    """A named frame on a body: sites, SDF frames, dummy links, optical frames.

    ``ros_frame`` is its TF name when it is published; ``static`` whether it goes to /tf_static; ``folded`` says what
    it was as a body; ``after`` how many shapes stand before it in its file, -1 where nobody counted.
    """

    name: str
    body: str = WORLD
    pose: Pose = IDENTITY
    geometry: Geometry | None = None
    ros_frame: str | None = None
    static: bool = True
    folded: FoldedBody | None = None
    after: int = -1
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, eq=False, repr=False)
class Camera(Shown):
    """A camera looking along its local -Z, +Y up (USD, MJCF).

    ``fov_y`` is vertical [rad]; ``resolution`` in pixels, zero if not said; clip distances [m].  A camera with an
    ``orthographic_height`` [m] sees along parallel lines, that much from bottom to top, and has no angle.
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
    orthographic_height: float | None = None
    path: str = ""
    source: Where = NOWHERE


class LightKind(enum.StrEnum):
    """Punctual lights first; the others have no glTF counterpart."""

    DIRECTIONAL = "directional"
    POINT = "point"
    SPOT = "spot"
    DOME = "dome"
    AREA = "area"


@dataclass(slots=True, eq=False, repr=False)
class Light(Shown):
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


@dataclass(slots=True, eq=False, repr=False)
class Sensor(Shown):
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


@dataclass(slots=True, eq=False, repr=False)
class Actuator(Shown):
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


@dataclass(slots=True, repr=False)
class CollisionGroup(Shown):
    """Members (bodies or shapes) that do not touch the groups in ``filtered`` (or only them, inverted)."""

    name: str
    members: list[str] = field(default_factory=list)
    filtered: list[str] = field(default_factory=list)
    inverted: bool = False
    merge: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class ContactFilter(Shown):
    """``a`` and ``b`` (bodies or shapes, as ``of`` says) never touch."""

    a: str
    b: str
    of: str = "body"
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class ContactPair(Shown):
    """Shapes ``a`` and ``b`` always touch, with contact settings of their own (MJCF pair)."""

    a: str
    b: str
    name: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class Articulation(Shown):
    """A tree of joints solved as one.  ``root`` is the base link, else the prim that it is declared on."""

    name: str
    root: str
    self_collide: bool = True
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class Keyframe(Shown):
    """A named state: joint coordinates by dof name, controls by actuator name."""

    name: str
    positions: dict[str, Any] = field(default_factory=dict)
    velocities: dict[str, Any] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    time: float = 0.0
    path: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Environment(Shown):
    """World settings that come with the file: gravity [m/s^2], step [s]; None means "not said"."""

    gravity: Array | None = None
    timestep: float | None = None
    wind: Array | None = None
    magnetic_field: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, repr=False)
class Provenance(Shown):
    """Where the asset came from and what it calls itself."""

    file: str = ""
    format: str = ""
    version: str = ""
    identifier: str = ""
    generator: str = ""
    info: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Track(Shown):
    """Placements at the times of a movement: ``(n, 3)`` positions [m], ``(n, 4)`` quaternions, ``(n, 3)`` scales."""

    positions: Array
    rotations: Array
    scales: Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Movement(Shown):
    """Tracks by name, all at the same ``times`` [s], which start at zero or later and grow.

    Those of ``bodies`` are in the asset's frame, those of ``shapes``, ``cameras`` and ``lights`` in the frame of their
    body.  ``stepped`` says that a pose is held until the next time.
    """

    times: Array = field(default_factory=lambda: np.zeros(0))
    stepped: bool = False
    bodies: dict[str, Track] = field(default_factory=dict)
    shapes: dict[str, Track] = field(default_factory=dict)
    cameras: dict[str, Track] = field(default_factory=dict)
    lights: dict[str, Track] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.bodies or self.shapes or self.cameras or self.lights)
