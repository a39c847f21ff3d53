# SPDX-License-Identifier: Apache-2.0
"""``<surface>`` of a collision: friction, bounce and contact as a physics material.

Friction is read from the first engine that has it (``ode``, then ``bullet``).  A second direction (``mu2``)
that differs from the first, slip and solver parameters have no counterpart and are kept as extras.
"""

from __future__ import annotations

import math
from dataclasses import astuple, replace

from simwright.core.diag import Level, declare
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import ENDLESS, Document
from simwright.formats.xml import Element
from simwright.model.asset import Shape
from simwright.model.material import PhysicsMaterial

BAD_BITS = declare(
    "sdf-bad-bitmask",
    Level.ERROR,
    "<{tag}> is {text!r}, which is not a number of 16 bits",
    hint="write 0 to 65535, or 0x0000 to 0xffff; it is ignored",
    doc="A collision bitmask or category that is not a number.",
)

PATCH_TORQUE = 3.0 * math.pi / 16.0
"""Torque of a round contact patch over coefficient, patch radius and normal force (Hertz pressure)."""

_CARRIED = {
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


def read_surface(reading: Reading, document: Document, collision: Element, shape: Shape) -> None:
    """Give the shape the physics material and the contact bits of its ``<surface>``."""
    surface = document.child(collision, "surface")
    if surface is None:
        return
    material = PhysicsMaterial("", source=document.where(surface))
    carried = set(_CARRIED)
    _read_friction(document, surface, material, carried)
    material.restitution = _limited(document.value(surface, "bounce", "restitution_coefficient"))
    material.stiffness = _limited(document.value(surface, "contact", "ode", "kp"))
    material.damping = _limited(document.value(surface, "contact", "ode", "kd"))
    shape.collide_bits = _read_bits(reading, document, surface, "collide_bitmask")
    shape.category_bits = _read_bits(reading, document, surface, "category_bitmask")
    if astuple(replace(material, source=_NOTHING.source)) != astuple(_NOTHING):
        shape.physics_material = _share(reading, material, f"{shape.name}_surface")
    for family in document.children(surface):
        _keep_family(reading, document, family, shape.name, carried)


_NOTHING = PhysicsMaterial("")


def _read_friction(
    document: Document, surface: Element, material: PhysicsMaterial, carried: set[str]
) -> None:
    mu = document.value(surface, "friction", "ode", "mu")
    mu2 = document.value(surface, "friction", "ode", "mu2")
    if mu is None:
        mu = document.value(surface, "friction", "bullet", "friction")
    elif mu2 is None or mu2 == mu:
        carried.add("friction/ode/mu2")
    material.static_friction = material.dynamic_friction = _limited(mu)
    material.rolling_friction = _limited(document.value(surface, "friction", "bullet", "rolling_friction"))
    torsional = document.child(surface, "friction", "torsional")
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


def _read_bits(reading: Reading, document: Document, surface: Element, tag: str) -> int | None:
    element = document.child(surface, "contact", tag)
    text = document.text(surface, "contact", tag)
    if element is None or not text:
        return None
    try:
        bits = int(text, 0)
    except ValueError:
        bits = -1
    if 0 <= bits <= 0xFFFF:
        return bits
    reading.reporter.report(BAD_BITS, document.where(element), tag=tag, text=text[:40])
    return None


def _share(reading: Reading, material: PhysicsMaterial, name: str) -> str:
    """The name of an equal material that is there already, else of this one, added."""
    for known in reading.asset.physics_materials:
        if astuple(replace(known, name="", source=material.source)) == astuple(material):
            return known.name
    material.name = reading.claim("physics_material", name)
    reading.asset.physics_materials.append(material)
    return material.name


def _keep_family(
    reading: Reading, document: Document, element: Element, owner: str, carried: set[str]
) -> None:
    """Keep the leaves of a part of ``<surface>`` that are not carried, whole branches where nothing is."""
    path = _path_in_surface(element)
    if path in carried:
        return
    if any(row.startswith(f"{path}/") for row in carried):
        for child in document.children(element):
            _keep_family(reading, document, child, owner, carried)
    else:
        prefix = path.rpartition("/")[0]
        reading.keep_one(document, element, owner, f"surface/{prefix}".rstrip("/"))


def _path_in_surface(element: Element) -> str:
    above = [ancestor.tag for ancestor in element.iterancestors()]
    return "/".join([*reversed(above[: above.index("surface")]), element.tag])
