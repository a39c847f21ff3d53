# SPDX-License-Identifier: Apache-2.0
"""The asset: bodies, joints, shapes and all that hangs on them.

Elements refer to each other by name; names are unique within their list.  The world is the empty name.
Poses of bodies are in the asset's frame, poses of everything that sits on a body are in the body's frame.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError
from simwright.core.math3d import IDENTITY, Array, Pose, VectorLike, vec3
from simwright.model.attaching import Attachment, PoseLike, attach_asset
from simwright.model.detaching import detach_part
from simwright.model.display import NOTEBOOK, Shown, count_words, make_page, show_beside
from simwright.model.elements import (
    Actuator,
    Articulation,
    Body,
    Camera,
    CollisionGroup,
    ContactFilter,
    ContactPair,
    Environment,
    FoldedBody,
    Keyframe,
    Light,
    LightKind,
    Movement,
    Provenance,
    Sensor,
    Shape,
    Site,
)
from simwright.model.extras import CustomAttribute, Extras, Origins
from simwright.model.geometry import Geometry
from simwright.model.joint import Dof, Drive, Equality, Gear, Joint, Mimic, Tendon, TendonPoint
from simwright.model.kinematics import forward_kinematics
from simwright.model.material import LookVariant, PhysicsMaterial, RenderMaterial
from simwright.model.ros import Controller, Interface, RosContext

__all__ = [
    "ELEMENT_LISTS",
    "Actuator",
    "Articulation",
    "Asset",
    "Body",
    "Camera",
    "CollisionGroup",
    "ContactFilter",
    "ContactPair",
    "Environment",
    "FoldedBody",
    "Keyframe",
    "Light",
    "LightKind",
    "Provenance",
    "Sensor",
    "Shape",
    "Site",
    "scaled",
]


class _Named(Protocol):
    name: str


Element = TypeVar("Element")
Named = TypeVar("Named", bound=_Named)

ELEMENT_LISTS = (
    "bodies", "joints", "shapes", "sites", "cameras", "lights", "sensors", "actuators", "tendons",
    "equalities", "mimics", "materials", "physics_materials", "collision_groups", "contact_filters",
    "contact_pairs", "articulations", "interfaces", "contexts", "controllers", "keyframes",
    "custom_attributes", "look_variants",
)  # fmt: skip


@dataclass(slots=True, eq=False, repr=False)
class Asset(Shown):
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
        """The body called ``name``; where there is none, an error (a KeyError too) tells the nearest names."""
        return _find("body", self.bodies, name)

    def joint(self, name: str) -> Joint:
        """The joint called ``name``, as :meth:`body`."""
        return _find("joint", self.joints, name)

    def shape(self, name: str) -> Shape:
        """The shape called ``name``, as :meth:`body`."""
        return _find("shape", self.shapes, name)

    def site(self, name: str) -> Site:
        """The site called ``name``, as :meth:`body`."""
        return _find("site", self.sites, name)

    def camera(self, name: str) -> Camera:
        """The camera called ``name``, as :meth:`body`."""
        return _find("camera", self.cameras, name)

    def light(self, name: str) -> Light:
        """The light called ``name``, as :meth:`body`."""
        return _find("light", self.lights, name)

    def sensor(self, name: str) -> Sensor:
        """The sensor called ``name``, as :meth:`body`."""
        return _find("sensor", self.sensors, name)

    def actuator(self, name: str) -> Actuator:
        """The actuator called ``name``, as :meth:`body`."""
        return _find("actuator", self.actuators, name)

    def tendon(self, name: str) -> Tendon:
        """The tendon called ``name``, as :meth:`body`."""
        return _find("tendon", self.tendons, name)

    def material(self, name: str) -> RenderMaterial:
        """The render material called ``name``, as :meth:`body`."""
        return _find("material", self.materials, name)

    def physics_material(self, name: str) -> PhysicsMaterial:
        """The physics material called ``name``, as :meth:`body`."""
        return _find("physics material", self.physics_materials, name)

    def controller(self, name: str) -> Controller:
        """The controller called ``name``, as :meth:`body`."""
        return _find("controller", self.controllers, name)

    def keyframe(self, name: str) -> Keyframe:
        """The keyframe called ``name``, as :meth:`body`."""
        return _find("keyframe", self.keyframes, name)

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies, in order."""
        return [body.name for body in self.bodies]

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints, in order, fixed ones too."""
        return [joint.name for joint in self.joints]

    @property
    def actuated_joints(self) -> list[Joint]:
        """Joints that move and follow no other joint, in order: those whose coordinates can be chosen."""
        followers = {mimic.follower for mimic in self.mimics if mimic.enabled}
        return [j for j in self.joints if any(d.name not in followers for d in j.dofs) and not j.closes_loop]

    def forward_kinematics(self, q: Mapping[str, VectorLike | float] | None = None) -> dict[str, Pose]:
        """Pose of every body in the asset's frame when the joints named in ``q`` have those coordinates.

        Hinges take an angle [rad], slides a length [m], ball joints w, x, y, z, free ones a position and w, x, y, z;
        joints that are not named are where they start.
        """
        return forward_kinematics(self, q)

    def attach(
        self,
        other: Asset,
        *,
        at: str | Body | Site = "",
        pose: PoseLike = IDENTITY,
        prefix: str = "",
        joint: Joint | None = None,
        hold: bool = True,
        reporter: Reporter | None = None,
    ) -> Attachment:
        """Put a copy of ``other`` onto a body or a site of this asset (or the world, the empty name).

        The frame of ``other`` comes to lie on ``at``, moved by ``pose``; its root bodies are held there by fixed
        joints, or its only one by ``joint``, whose frames count from there.  Joints of ``other`` that start at the
        world and move stay as they are, from ``at``; shapes of its world sit on ``at`` and bring no mass.  With
        ``hold`` false, what floats in the world of ``other`` floats in that of this asset.  All its
        names, and what refers to them, get ``prefix`` in front.  Gravity, step and solver options stay those of this
        asset: ``reporter`` hears where ``other`` was made for others.  What :meth:`detach` takes is given back; on a
        name that both have, nothing is changed.
        """
        # the caller's joint stays as it was: attaching changes its ends and frames
        own = None if joint is None else _copy_element(joint)
        heard = reporter or Reporter()
        return attach_asset(
            self, other.copy(), at, pose=pose, prefix=prefix, joint=own, hold=hold, reporter=heard
        )

    def detach(self, what: str | Attachment, *, reporter: Reporter | None = None) -> Asset:
        """Take a body out of this asset, with everything that hangs on it, as an asset of its own.

        ``what`` is the name of a body, the prefix of what was attached, or what :meth:`attach` gave.  The frame of the
        new asset is that of the body (of what was attached); the joint by which it hung starts at its world, so that
        attaching it at the same place gives the former asset back.  With a prefix, names lose it.  What connects the
        part with the rest is in neither; ``reporter`` hears of it.
        """
        label = what if isinstance(what, str) else what.prefix or next(iter(what.bodies), what.at)
        part = Asset(label.rstrip("_/:") or self.name)
        detach_part(self, part, what, reporter or Reporter())
        return part

    def list_facts(self) -> list[str]:
        """What there is of each."""
        return count_words(self)

    def _repr_html_(self) -> str:
        return make_page(self)

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,  # noqa: ARG002 - notebooks ask so
        exclude: Collection[str] | None = None,  # noqa: ARG002
    ) -> dict[str, str]:
        """What a notebook shows: a picture, where something can draw here, and tables."""
        return {"text/plain": repr(self), "text/html": show_beside("picture", self) + make_page(self)}

    def view(self, height: int = 600) -> Any:
        """Open the page of this asset (``simwright view``) in a notebook, ``height`` pixels high.

        Elsewhere the page is served all the same: the ``address`` of the result is what to open, ``close`` ends it.
        """
        return NOTEBOOK.get("page")(self, height)

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
    # geometry and arrays are shared on purpose, see copy()
    if isinstance(value, _MUTABLE):
        return _copy_element(value)
    return value


# by annotation, once per class, instead of looking at every value of every element
_CONTAINER_WORDS = ("list", "dict", "Drive", "Gear", "Any")
_container_cache: dict[type, tuple[str, ...]] = {}


def _container_fields(cls: type) -> tuple[str, ...]:
    """Fields that may hold something mutable, told by their annotation."""
    if cls not in _container_cache:
        names = [f.name for f in dataclasses.fields(cls) if any(w in str(f.type) for w in _CONTAINER_WORDS)]
        _container_cache[cls] = tuple(names)
    return _container_cache[cls]


def _find(what: str, elements: Sequence[Named], name: str) -> Named:
    for element in elements:
        if element.name == name:
            return element
    raise UnknownNameError(what, name, (element.name for element in elements))


_MUTABLE = (
    Body, Joint, Dof, Drive, Gear, Shape, Site, Camera, Light, Sensor, Actuator, Tendon, TendonPoint,
    Equality, Mimic, RenderMaterial, PhysicsMaterial, CollisionGroup, ContactFilter, ContactPair,
    Articulation, Keyframe, Interface, RosContext, Controller, CustomAttribute, LookVariant,
)  # fmt: skip


def scaled(shape: Shape) -> Array:
    """The shape's scale, ones where none is given."""
    return np.ones(3) if shape.scale is None else vec3(shape.scale)
