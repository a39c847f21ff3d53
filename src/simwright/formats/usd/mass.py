# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of bodies (UsdPhysicsMassAPI), each resolved on its own.

1. What is authored counts: mass, ``newton:inertia`` or else diagonal inertia (principal axes are the identity if
   unsaid), centre.
2. A mass without inertia scales the inertia of the colliders.
3. The rest follows from the colliders: their own mass and inertia, else their geometry.  Density is the
   collider's mass over its volume, its density, the body's, its material's, or 1000 kg/m^3.

An authored centre moves an inertia that is not authored by the parallel-axis theorem.  The schema's
fallbacks (mass 0, centre -inf, inertia 0, axes 0) mean "not authored".
"""

from __future__ import annotations

import numpy as np

from simwright.core.diag import Level, declare
from simwright.formats.usd.mass_authored import Authored, read_authored
from simwright.formats.usd.mass_sums import ColliderSums
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Body, Shape
from simwright.model.inertia import Inertial, point_inertia

MASS_UNKNOWN = declare(
    "usd-mass-unknown",
    Level.WARNING,
    "nothing says how heavy body {name!r} is: no mass is authored and it has no collider with a volume",
    hint="author physics:mass, or give it a collider",
    doc="A dynamic body without mass and without solid, enabled colliders.",
    section="1.3",
)
INERTIA_GUESSED = declare(
    "usd-inertia-guessed",
    Level.WARNING,
    "body {name!r} has a mass but no inertia and no collider; that of a ball of 0.1 m radius is used",
    hint="author physics:diagonalInertia",
    doc="OpenUSD's own fallback for a mass that nothing gives a shape to.",
    section="1.3",
)
_BALL = 0.4 * 0.1**2


def read_mass(source: Source, scan: Scan) -> None:
    """Give every body its mass properties."""
    colliders: dict[str, list[Shape]] = {}
    for shape in source.asset.shapes:
        if shape.collision and shape.enabled and shape.body:
            colliders.setdefault(shape.body, []).append(shape)
    sums = ColliderSums(source, scan)
    said: list[Authored] = []
    for body in source.asset.bodies:
        authored = read_authored(source, scan.all[body.path])
        body.density = authored.density
        said.append(authored)
        if not authored.is_complete:
            sums.add(body, colliders.get(body.name, []))
    computed = sums.compute()
    for body, authored in zip(source.asset.bodies, said, strict=True):
        body.inertial = _resolve(source, body, authored, computed.get(body.name))


def read_shape_mass(source: Source, found: Found, shape: Shape) -> None:
    """Put a collider's own mass or density on its shape."""
    authored = read_authored(source, found)
    shape.mass, shape.density = authored.mass, authored.density


def _resolve(source: Source, body: Body, authored: Authored, computed: Inertial | None) -> Inertial | None:
    inertia = authored.inertia()
    com = authored.com(source.bodies[body.path].scale)
    if computed is None:
        assert authored.mass is not None
        assert com is not None
        assert inertia is not None
        return Inertial(authored.mass, com, inertia)
    mass = computed.mass if authored.mass is None else authored.mass
    if mass <= 0.0:
        if body.enabled and not body.kinematic:
            source.reporter.report(MASS_UNKNOWN, body.source, name=body.name)
        return None
    if inertia is None and computed.mass > 0.0:
        inertia = computed.inertia if mass == computed.mass else computed.inertia * (mass / computed.mass)
        if com is not None:
            inertia = inertia + point_inertia(mass, com - computed.com)
    elif inertia is None:
        source.reporter.report(INERTIA_GUESSED, body.source, name=body.name)
        inertia = np.eye(3) * _BALL * mass
    return Inertial(mass, computed.com if com is None else com, inertia)
