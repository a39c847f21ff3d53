# SPDX-License-Identifier: Apache-2.0
"""``<link>``: a body with its mass properties.

A link without ``<inertial>`` has mass zero, never a mass computed from its shapes (URDF, ``link/inertial``).
The inertia tensor is given about the centre of mass in the axes of ``inertial/origin``.
"""

from __future__ import annotations

import numpy as np

from simwright.core.diag import Level, Where, declare
from simwright.formats.urdf.document import DUPLICATE_NAME, Document
from simwright.formats.urdf.materials import MaterialTable
from simwright.formats.urdf.shapes import read_shapes
from simwright.formats.xml import Element
from simwright.model.asset import Body
from simwright.model.inertia import Inertial
from simwright.model.material import PhysicsMaterial

MASS_MISSING = declare(
    "urdf-mass-missing",
    Level.ERROR,
    "the <inertial> of link {link!r} has no mass",
    hint="write <mass value=.../>; zero is used",
    doc="A link has an <inertial> without a <mass> value.",
)
MASS_NEGATIVE = declare(
    "urdf-mass-negative",
    Level.ERROR,
    "link {link!r} has mass {mass:g} kg",
    hint="a mass is positive; zero is used",
    doc="A link has a negative mass.",
)
MASS_ZERO = declare(
    "urdf-mass-zero",
    Level.WARNING,
    "link {link!r} has an <inertial> of mass zero",
    hint="give it its mass, or leave <inertial> out",
    doc="A link has an <inertial> with mass zero; simulators refuse it or make up a mass.",
)
INERTIA_MISSING = declare(
    "urdf-inertia-missing",
    Level.ERROR,
    "the <inertial> of link {link!r} has no inertia",
    hint="write <inertia ixx=... />; zero is used",
    doc="A link has an <inertial> without an <inertia>.",
)
INERTIA_INDEFINITE = declare(
    "urdf-inertia-indefinite",
    Level.WARNING,
    "the inertia of link {link!r} is not positive definite: principal moments {moments}",
    hint="no rigid body has it; recompute it from the geometry",
    doc="The inertia tensor of a link with mass has a principal moment that is zero or negative.",
)
INERTIA_TRIANGLE = declare(
    "urdf-inertia-triangle",
    Level.WARNING,
    "the inertia of link {link!r} breaks the triangle inequality: principal moments {moments}",
    hint="no rigid body has it; recompute it from the geometry",
    doc="One principal moment of inertia is larger than the sum of the other two.",
)

_SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_KNOWN = {"inertial", "visual", "collision", "contact"}


def read_links(document: Document, materials: MaterialTable) -> None:
    """Every link, with its shapes."""
    names: set[str] = set()
    for element in document.children(document.root, "link"):
        name = document.named(element, "the link is left out")
        if not name:
            continue
        where = document.where(element)
        if name in names:
            document.reporter.report(
                DUPLICATE_NAME, where, what="link", name=name, consequence="the second one is left out"
            )
            continue
        names.add(name)
        document.unknown(element, _KNOWN)
        inertial = _read_inertial(document, element, name)
        document.asset.bodies.append(Body(name, inertial=inertial, path=name, source=where))
        surface = _read_contact(document, element, name)
        read_shapes(document, element, name, materials, surface)


def _read_inertial(document: Document, link: Element, name: str) -> Inertial:
    element = link.find("inertial")
    if element is None:
        return Inertial(0.0)
    document.unknown(element, {"origin", "mass", "inertia"})
    where = document.where(element)
    mass_element, inertia_element = element.find("mass"), element.find("inertia")
    mass = None if mass_element is None else document.optional(mass_element, "value")
    if mass is None:
        document.reporter.report(MASS_MISSING, where, link=name)
        mass = 0.0
    elif mass < 0:
        document.reporter.report(MASS_NEGATIVE, document.where(mass_element), link=name, mass=mass)
        mass = 0.0
    elif mass == 0:
        document.reporter.report(MASS_ZERO, document.where(mass_element), link=name)
    if inertia_element is None:
        document.reporter.report(INERTIA_MISSING, where, link=name)
        six = [0.0] * 6
    else:
        six = [document.number(inertia_element, key, 0.0) for key in _SIX]
    inertial = Inertial.from_six(mass, six, document.origin(element))
    if inertia_element is not None and mass > 0:
        _check_inertia(document, inertial, name, document.where(inertia_element))
    return inertial


def _check_inertia(document: Document, inertial: Inertial, name: str, where: Where) -> None:
    moments = np.linalg.eigvalsh(inertial.inertia)
    text = " ".join(f"{m:.6g}" for m in moments)
    if moments[0] <= 0:
        document.reporter.report(INERTIA_INDEFINITE, where, link=name, moments=text)
    elif not inertial.is_physical():
        document.reporter.report(INERTIA_TRIANGLE, where, link=name, moments=text)


_CONTACT = {
    "lateral_friction": "static_friction",
    "rolling_friction": "rolling_friction",
    "spinning_friction": "torsional_friction",
    "restitution": "restitution",
    "stiffness": "stiffness",
    "damping": "damping",
}


def _read_contact(document: Document, link: Element, name: str) -> str:
    """Bullet's ``<contact>`` dialect; gives the name of the physics material it defines."""
    element = link.find("contact")
    if element is None:
        return ""
    material = PhysicsMaterial(f"{name}_contact", source=document.where(element))
    for child in document.children(element):
        value = document.optional(child, "value")
        field = _CONTACT.get(child.tag)
        if field is None or value is None:
            document.asset.extras.keep("urdf", name, f"contact.{child.tag}", child.get("value"))
        else:
            setattr(material, field, value)
    material.dynamic_friction = material.static_friction
    document.asset.physics_materials.append(material)
    return material.name
