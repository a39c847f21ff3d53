# SPDX-License-Identifier: Apache-2.0
"""``<link>``: a body with its mass, its shapes, lights and sensors (SDFormat specification, link).

Links of static models are no bodies: their shapes stand in the world and their frames stay as sites.  A link without
``<inertial>`` has the mass properties SDFormat gives it: 1 kg and a unit inertia tensor.

``<surface>`` of a collision becomes a physics material.  Friction is read from the first engine that has it (``ode``,
then ``bullet``).  A second direction (``mu2``) that differs from the first, slip and solver parameters have no
counterpart and are kept as extras.
"""

from __future__ import annotations

import math
from dataclasses import astuple, replace

import numpy as np

from simwright.core.diag import Level, declare, diagnostic_from_error
from simwright.core.errors import InputError
from simwright.formats.sdf.context import LinkPlacement, SdfReadContext
from simwright.formats.sdf.document import ENDLESS, SdfDocument
from simwright.formats.sdf.geometry import PlacedGeometry, read_geometry
from simwright.formats.sdf.materials import read_link_light, read_material
from simwright.formats.sdf.poses import frame_of
from simwright.formats.sdf.sensors import read_sensor
from simwright.formats.sdf.tree import NamedElement
from simwright.formats.xml import Element
from simwright.model.asset import Body, Shape, Site
from simwright.model.inertia import Inertial
from simwright.model.mass import body_inertial
from simwright.model.material import PhysicsMaterial

BAD_MASS = declare(
    "sdf-bad-mass",
    Level.ERROR,
    "link {link!r} has a mass of {mass:g} kg",
    hint="a mass must be positive; 1 kg is used",
    doc="A link whose mass is zero or negative cannot move as a body.",
)
BAD_INERTIA = declare(
    "sdf-bad-inertia",
    Level.WARNING,
    "the inertia of link {link!r} is not that of a real body",
    hint="its principal moments must be positive and none larger than the sum of the others",
    doc="The inertia tensor is not positive definite or breaks the triangle inequality.",
)
NO_VOLUME = declare(
    "sdf-no-volume",
    Level.ERROR,
    "the mass of link {link!r} is to follow from its collisions, but they enclose no volume",
    hint="write <mass> and <inertia>, or give it solid collisions",
    doc="inertial auto=true needs collisions with a volume.",
)
STATIC_MASS = declare(
    "sdf-static-mass",
    Level.INFO,
    "the mass of link {link!r} is left out: the link stands still, as its model is static",
    doc="Links of static models are shapes and frames of the world, which has no mass; nothing moves otherwise.",
    loss=True,
)

_SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_LINK_CARRIED = {
    "pose", "inertial", "collision", "visual", "light", "sensor", "gravity", "kinematic", "self_collide",
}  # fmt: skip
_LINK_KNOWN = {
    "enable_wind", "velocity_decay", "must_be_base_link", "projector", "audio_source",
    "audio_sink", "particle_emitter", "battery", "frame", "plugin",
}  # fmt: skip
_COLLISION_CARRIED = {"pose", "geometry", "surface", "density"}
_COLLISION_KNOWN = {"laser_retro", "max_contacts", "auto_inertia_params"}
_VISUAL_CARRIED = {"pose", "geometry", "material", "transparency"}
_VISUAL_KNOWN = {"cast_shadows", "laser_retro", "visibility_flags", "meta", "plugin"}


def read_link(context: SdfReadContext, item: NamedElement) -> None:
    """Read one link into the asset."""
    document, element = item.document, item.element
    placement = context.placement(item)
    where = document.where(element)
    if item.model.static:
        # The name is taken even though nobody asks for it: sites of frames must not get it.
        context.claim("site", item.key)
        context.asset.sites.append(Site(item.key, pose=placement.lift, path=item.scoped, source=where))
        if document.child(element, "inertial") is not None:
            context.reporter.report(STATIC_MASS, where, link=item.key)
    else:
        body = Body(item.key, context.graph.pose(frame_of(item)), path=item.scoped, source=where)
        body.scope = item.scope
        body.kinematic = document.flag(element, "kinematic")
        # SDFormat only switches gravity of a link on or off.
        body.gravity_scale = 1.0 if document.flag(element, "gravity", default=True) else 0.0
        context.asset.bodies.append(body)
        _read_inertial(context, document, element, body)
    for collision in document.children(element, "collision"):
        _read_collision(context, document, collision, placement)
    for visual in document.children(element, "visual"):
        _read_visual(context, document, visual, placement)
    for light in document.children(element, "light"):
        read_link_light(context, document, light, placement)
    for sensor in document.children(element, "sensor"):
        read_sensor(context, document, sensor, placement)
    context.keep_rest(document, element, item.key, _LINK_CARRIED, _LINK_KNOWN)


def settle_masses(context: SdfReadContext, links: list[NamedElement]) -> None:
    """Scale the masses that follow from collisions to the ``<mass>`` the link also gives (1.11)."""
    for item in links:
        inertial = item.document.child(item.element, "inertial")
        # Only now: the collisions, from which the mass follows, are read after the link.
        if inertial is None or item.model.static or not item.document.flag_attribute(inertial, "auto"):
            continue
        body = context.asset.body(item.key)
        mass = item.document.quantity(inertial, "mass")
        if not any(shape.collision for shape in context.asset.shapes_of(body.name)):
            context.reporter.report(NO_VOLUME, body.source, link=body.name)
            # What SDFormat gives a link that says nothing, with the mass it does say.
            body.inertial = Inertial(mass or 1.0, inertia=np.eye(3))
        elif mass is not None and mass > 0.0:
            try:
                body.inertial = body_inertial(context.asset, body).scaled_to(mass)
            except InputError as error:  # a mesh file that turns out to be broken
                context.reporter.add(diagnostic_from_error(error))
                body.inertial = Inertial(mass, inertia=np.eye(3))


def _read_inertial(context: SdfReadContext, document: SdfDocument, link: Element, body: Body) -> None:
    element = document.child(link, "inertial")
    if element is None:
        body.inertial = Inertial(1.0, inertia=np.eye(3))
        return
    context.keep_rest(document, element, body.name, {"mass", "inertia", "pose", "density"})
    if document.flag_attribute(element, "auto"):
        body.density = document.quantity(element, "density")
        return
    mass = document.finite(element, "mass", default=1.0)
    if mass <= 0.0:
        context.reporter.report(BAD_MASS, document.where(element), link=body.name, mass=mass)
        mass = 1.0
    tensor = document.child(element, "inertia")
    # The default tensor is the identity: 1 where both letters are equal.
    six = [document.finite(tensor, tag, default=float(tag[1] == tag[2])) for tag in _SIX]
    pose, _ = document.pose(element)
    body.inertial = Inertial.from_six(mass, six, pose)
    if not body.inertial.is_physical():
        context.reporter.report(BAD_INERTIA, document.where(element), link=body.name)


def _read_collision(
    context: SdfReadContext, document: SdfDocument, element: Element, placement: LinkPlacement
) -> None:
    shape, others = _read_shape(context, document, element, placement)
    if shape is None:
        return
    # A shape of the model is visible unless told.
    shape.visual, shape.collision = False, True
    shape.density = document.quantity(element, "density")
    read_surface(context, document, element, shape)
    context.keep_rest(document, element, shape.name, _COLLISION_CARRIED, _COLLISION_KNOWN)
    context.asset.shapes += [shape, *_copy_shape(context, shape, others)]


def _read_visual(
    context: SdfReadContext, document: SdfDocument, element: Element, placement: LinkPlacement
) -> None:
    shape, others = _read_shape(context, document, element, placement)
    if shape is None:
        return
    read_material(context, document, element, shape)
    context.keep_rest(document, element, shape.name, _VISUAL_CARRIED, _VISUAL_KNOWN)
    context.asset.shapes += [shape, *_copy_shape(context, shape, others)]


def _read_shape(
    context: SdfReadContext, document: SdfDocument, element: Element, placement: LinkPlacement
) -> tuple[Shape | None, list[PlacedGeometry]]:
    """The shape of a collision or visual, and further geometries with poses in the body."""
    name = context.claim("shape", element.get("name") or element.tag, placement.link.key)
    placed = read_geometry(context, document, element, name)
    if placed is None:
        return None, []
    pose = context.place(placement, document, element)
    shape = Shape(
        name,
        placed.geometry,
        placement.body,
        # Exact where the geometry lies in the origin of its element, as most do.
        pose if placed.pose.is_identity() else pose @ placed.pose,
        scale=placed.scale,
        approximation=placed.approximation,
        path=f"{placement.link.scoped}::{element.get('name', '')}",
        source=document.where(element),
    )
    return shape, [replace(other, pose=pose @ other.pose) for other in placed.others]


def _copy_shape(context: SdfReadContext, shape: Shape, others: list[PlacedGeometry]) -> list[Shape]:
    """Shapes like this one, with other geometries in other places."""
    return [
        replace(shape, name=context.claim("shape", shape.name), geometry=other.geometry, pose=other.pose)
        for other in others
    ]


BAD_BITS = declare(
    "sdf-bad-bitmask",
    Level.ERROR,
    "<{tag}> is {text!r}, which is not a number of 16 bits",
    hint="write 0 to 65535, or 0x0000 to 0xffff; it is ignored",
    doc="A collision bitmask or category that is not a number.",
)

PATCH_TORQUE = 3.0 * math.pi / 16.0
"""Torque of a round contact patch over coefficient, patch radius and normal force (Hertz pressure)."""

_SURFACE_CARRIED = {
    "friction/ode/mu",
    "friction/bullet/friction",
    "friction/bullet/rolling_friction",
    "bounce/restitution_coefficient",
    "contact/ode/kp",
    "contact/ode/kd",
    "contact/collide_bitmask",
    "contact/category_bitmask",
}

_TORSIONAL = {
    "friction/torsional/coefficient",
    "friction/torsional/patch_radius",
    "friction/torsional/use_patch_radius",
}


def read_surface(context: SdfReadContext, document: SdfDocument, collision: Element, shape: Shape) -> None:
    """Give the shape the physics material and the contact bits of its ``<surface>``."""
    surface = document.child(collision, "surface")
    if surface is None:
        return
    material = PhysicsMaterial("", source=document.where(surface))
    # A copy: what is carried depends on the values, such as equal mu and mu2.
    carried = set(_SURFACE_CARRIED)
    _read_friction(document, surface, material, carried)
    material.restitution = _limited(document.value(surface, "bounce", "restitution_coefficient"))
    material.stiffness = _limited(document.value(surface, "contact", "ode", "kp"))
    material.damping = _limited(document.value(surface, "contact", "ode", "kd"))
    shape.collide_bits = _read_bits(context, document, surface, "collide_bitmask")
    shape.category_bits = _read_bits(context, document, surface, "category_bitmask")
    # A surface that only has extras makes no material.
    if astuple(replace(material, source=_NOTHING.source)) != astuple(_NOTHING):
        shape.physics_material = _share_surface(context, material, f"{shape.name}_surface")
    for family in document.children(surface):
        _keep_family(context, document, family, shape.name, carried)


_NOTHING = PhysicsMaterial("")


def _read_friction(
    document: SdfDocument, surface: Element, material: PhysicsMaterial, carried: set[str]
) -> None:
    mu = document.value(surface, "friction", "ode", "mu")
    mu2 = document.value(surface, "friction", "ode", "mu2")
    # The ode element comes first: engines other than ODE read their friction there too.
    if mu is None:
        mu = document.value(surface, "friction", "bullet", "friction")
    elif mu2 is None or mu2 == mu:
        carried.add("friction/ode/mu2")
    material.static_friction = material.dynamic_friction = _limited(mu)
    material.rolling_friction = _limited(document.value(surface, "friction", "bullet", "rolling_friction"))
    torsional = document.child(surface, "friction", "torsional")
    # Without a radius the coefficient says no torque; with surface_radius the patch depends on the depth.
    radius = document.amount(torsional, "patch_radius")
    if radius is not None and document.flag(torsional, "use_patch_radius", default=True):
        coefficient = document.finite(torsional, "coefficient", default=1.0)
        material.torsional_friction = PATCH_TORQUE * coefficient * radius
        carried.update(_TORSIONAL)


def _limited(value: float | None) -> float | None:
    """SDFormat writes "no limit" as a huge number; the model says so with infinity."""
    if value is None:
        return None
    return math.inf if value >= ENDLESS else value


def _read_bits(context: SdfReadContext, document: SdfDocument, surface: Element, tag: str) -> int | None:
    element = document.child(surface, "contact", tag)
    text = document.text(surface, "contact", tag)
    if element is None or not text:
        return None
    try:
        # Base 0 takes 0xff as well as 255.
        bits = int(text, 0)
    except ValueError:
        bits = -1
    # Gazebo has sixteen bits.
    if 0 <= bits <= 0xFFFF:
        return bits
    context.reporter.report(BAD_BITS, document.where(element), tag=tag, text=text[:40])
    return None


def _share_surface(context: SdfReadContext, material: PhysicsMaterial, name: str) -> str:
    """The name of an equal material that is there already, else of this one, added."""
    for known in context.asset.physics_materials:
        if astuple(replace(known, name="", source=material.source)) == astuple(material):
            return known.name
    material.name = context.claim("physics_material", name)
    context.asset.physics_materials.append(material)
    return material.name


def _keep_family(
    context: SdfReadContext, document: SdfDocument, element: Element, owner: str, carried: set[str]
) -> None:
    """Keep the leaves of a part of ``<surface>`` that are left out, whole branches where nothing is."""
    path = _path_in_surface(element)
    if path in carried:
        return
    if any(row.startswith(f"{path}/") for row in carried):
        for child in document.children(element):
            _keep_family(context, document, child, owner, carried)
    else:
        prefix = path.rpartition("/")[0]
        context.keep_one(document, element, owner, f"surface/{prefix}".rstrip("/"))


def _path_in_surface(element: Element) -> str:
    # The path tells what is carried: "mu" alone is in several engines.
    above = [ancestor.tag for ancestor in element.iterancestors()]
    return "/".join([*reversed(above[: above.index("surface")]), element.tag])
