# SPDX-License-Identifier: Apache-2.0
"""``<link>``: a body with its mass, its shapes, lights and sensors (SDFormat specification, link).

Links of static models are no bodies: their shapes stand in the world and their frames stay as sites.  A link
without ``<inertial>`` has the mass properties SDFormat gives it: 1 kg and a unit inertia tensor.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simwright.core.diag import Level, declare, diagnostic_from_error
from simwright.core.errors import InputError
from simwright.formats.sdf.context import Reading, Seat
from simwright.formats.sdf.document import Document
from simwright.formats.sdf.geometry import read_geometry
from simwright.formats.sdf.lights import read_link_light
from simwright.formats.sdf.materials import read_material
from simwright.formats.sdf.poses import frame_of
from simwright.formats.sdf.sensors import read_sensor
from simwright.formats.sdf.surfaces import read_surface
from simwright.formats.sdf.terrain import Placed
from simwright.formats.sdf.tree import Item
from simwright.formats.xml import Element
from simwright.model.asset import Body, Shape, Site
from simwright.model.inertia import Inertial
from simwright.model.mass import body_inertial

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

_SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_LINK_CARRIED = {
    "pose", "inertial", "collision", "visual", "light", "sensor", "gravity", "kinematic",
}  # fmt: skip
_LINK_KNOWN = {
    "self_collide", "enable_wind", "velocity_decay", "must_be_base_link", "projector", "audio_source",
    "audio_sink", "particle_emitter", "battery", "frame", "plugin",
}  # fmt: skip
_COLLISION_CARRIED = {"pose", "geometry", "surface", "density"}
_COLLISION_KNOWN = {"laser_retro", "max_contacts", "auto_inertia_params"}
_VISUAL_CARRIED = {"pose", "geometry", "material", "transparency"}
_VISUAL_KNOWN = {"cast_shadows", "laser_retro", "visibility_flags", "meta", "plugin"}


def read_link(reading: Reading, item: Item) -> None:
    """Read one link into the asset."""
    document, element = item.document, item.element
    seat = reading.seat(item)
    where = document.where(element)
    if item.model.static:
        reading.claim("site", item.key)
        reading.asset.sites.append(Site(item.key, pose=seat.lift, path=item.scoped, source=where))
    else:
        body = Body(item.key, reading.graph.pose(frame_of(item)), path=item.scoped, source=where)
        body.scope = item.model.scope
        body.kinematic = document.flag(element, "kinematic")
        body.gravity_scale = 1.0 if document.flag(element, "gravity", default=True) else 0.0
        reading.asset.bodies.append(body)
        _read_inertial(reading, document, element, body)
    for collision in document.children(element, "collision"):
        _read_collision(reading, document, collision, seat)
    for visual in document.children(element, "visual"):
        _read_visual(reading, document, visual, seat)
    for light in document.children(element, "light"):
        read_link_light(reading, document, light, seat)
    for sensor in document.children(element, "sensor"):
        read_sensor(reading, document, sensor, seat)
    reading.keep_rest(document, element, item.key, _LINK_CARRIED, _LINK_KNOWN)


def settle_masses(reading: Reading, links: list[Item]) -> None:
    """Scale the masses that follow from collisions to the ``<mass>`` the link also gives (1.11)."""
    for item in links:
        inertial = item.document.child(item.element, "inertial")
        if inertial is None or item.model.static or not item.document.flag_attribute(inertial, "auto"):
            continue
        body = reading.asset.body(item.key)
        mass = item.document.quantity(inertial, "mass")
        if not any(shape.collision for shape in reading.asset.shapes_of(body.name)):
            reading.reporter.report(NO_VOLUME, body.source, link=body.name)
            body.inertial = Inertial(mass or 1.0, inertia=np.eye(3))
        elif mass is not None and mass > 0.0:
            try:
                body.inertial = body_inertial(reading.asset, body).scaled_to(mass)
            except InputError as error:  # a mesh file that turns out to be broken
                reading.reporter.add(diagnostic_from_error(error))
                body.inertial = Inertial(mass, inertia=np.eye(3))


def _read_inertial(reading: Reading, document: Document, link: Element, body: Body) -> None:
    element = document.child(link, "inertial")
    if element is None:
        body.inertial = Inertial(1.0, inertia=np.eye(3))
        return
    reading.keep_rest(document, element, body.name, {"mass", "inertia", "pose", "density"})
    if document.flag_attribute(element, "auto"):
        body.density = document.quantity(element, "density")
        return
    mass = document.finite(element, "mass", default=1.0)
    if mass <= 0.0:
        reading.reporter.report(BAD_MASS, document.where(element), link=body.name, mass=mass)
        mass = 1.0
    tensor = document.child(element, "inertia")
    six = [document.finite(tensor, tag, default=float(tag[1] == tag[2])) for tag in _SIX]
    pose, _ = document.pose(element)
    body.inertial = Inertial.from_six(mass, six, pose)
    if not body.inertial.is_physical():
        reading.reporter.report(BAD_INERTIA, document.where(element), link=body.name)


def _read_collision(reading: Reading, document: Document, element: Element, seat: Seat) -> None:
    shape, others = _read_shape(reading, document, element, seat)
    if shape is None:
        return
    shape.visual, shape.collision = False, True
    shape.density = document.quantity(element, "density")
    read_surface(reading, document, element, shape)
    reading.keep_rest(document, element, shape.name, _COLLISION_CARRIED, _COLLISION_KNOWN)
    reading.asset.shapes += [shape, *_copy_shape(reading, shape, others)]


def _read_visual(reading: Reading, document: Document, element: Element, seat: Seat) -> None:
    shape, others = _read_shape(reading, document, element, seat)
    if shape is None:
        return
    read_material(reading, document, element, shape)
    reading.keep_rest(document, element, shape.name, _VISUAL_CARRIED, _VISUAL_KNOWN)
    reading.asset.shapes += [shape, *_copy_shape(reading, shape, others)]


def _read_shape(
    reading: Reading, document: Document, element: Element, seat: Seat
) -> tuple[Shape | None, list[Placed]]:
    """The shape of a collision or visual, and further geometries with poses in the body."""
    name = reading.claim("shape", element.get("name") or element.tag, seat.link.key)
    placed = read_geometry(reading, document, element, name)
    if placed is None:
        return None, []
    pose = reading.place(seat, document, element)
    shape = Shape(
        name,
        placed.geometry,
        seat.body,
        pose if placed.pose.is_identity() else pose @ placed.pose,
        scale=placed.scale,
        approximation=placed.approximation,
        path=f"{seat.link.scoped}::{element.get('name', '')}",
        source=document.where(element),
    )
    return shape, [replace(other, pose=pose @ other.pose) for other in placed.others]


def _copy_shape(reading: Reading, shape: Shape, others: list[Placed]) -> list[Shape]:
    """Shapes like this one, with other geometries in other places."""
    return [
        replace(shape, name=reading.claim("shape", shape.name), geometry=other.geometry, pose=other.pose)
        for other in others
    ]
