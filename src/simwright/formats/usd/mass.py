# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of bodies (UsdPhysicsMassAPI), each resolved on its own.

1. What is authored counts: mass, diagonal inertia (principal axes are the identity if unsaid), centre.
2. A mass without inertia scales the inertia of the colliders.
3. The rest follows from the colliders: their own mass and inertia, else their geometry.  Density is the
   collider's mass over its volume, its density, the body's, its material's, or 1000 kg/m^3.

An authored centre moves an inertia that is not authored by the parallel-axis theorem.  The schema's
fallbacks (mass 0, centre -inf, inertia 0, axes 0) mean "not authored".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, quat_normalize
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.scan import MASS, Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Body, Shape
from simwright.model.geometry import Plane
from simwright.model.inertia import Inertial, combine, rotate_inertia
from simwright.model.mass import DEFAULT_DENSITY, Moments, compute_moments

MASS_INVALID = declare(
    "usd-mass-invalid",
    Level.ERROR,
    "{name} is {value}, which is no {what}; it is taken as not authored",
    hint="author a finite, non-negative value",
    doc="A mass property is negative or not a number.",
    section="1.3",
)
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
DENSITY_IGNORED = declare(
    "usd-density-ignored",
    Level.INFO,
    "{name!r} authors both mass and density; mass wins",
    doc="UsdPhysicsMassAPI: mass takes precedence over density.",
)
COLLIDER_WITHOUT_VOLUME = declare(
    "usd-collider-without-volume",
    Level.WARNING,
    "collider {name!r} encloses no volume and adds nothing to the mass of body {body!r}",
    hint="close the mesh, or author mass properties on the body",
    doc="The mass of a body has to be computed from a collider that is not a solid.",
    section="3.4",
)

_BALL = 0.4 * 0.1**2


@dataclass(frozen=True, slots=True, eq=False)
class _Authored:
    """The effective values of a mass API, SI; None where nothing counts.  Principal axes default to none."""

    mass: float | None = None
    density: float | None = None
    com: Array | None = None
    diagonal: Array | None = None
    axes: Array | None = None

    def inertia(self) -> Array | None:
        """3x3 inertia about the centre of mass."""
        if self.diagonal is None:
            return None
        axes = (1.0, 0.0, 0.0, 0.0) if self.axes is None else self.axes
        return Inertial.from_principal(1.0, self.diagonal, axes).inertia


_NOTHING = _Authored()


def read_mass(source: Source, scan: Scan) -> None:
    """Give every body its mass properties."""
    colliders: dict[str, list[Shape]] = {}
    for shape in source.asset.shapes:
        if shape.collision and shape.enabled and shape.body:
            colliders.setdefault(shape.body, []).append(shape)
    densities = {m.name: m.density for m in source.asset.physics_materials}
    reader = _Colliders(source, scan, densities)
    for body in source.asset.bodies:
        frame = source.bodies[body.path]
        authored = _read_authored(source, scan.all[body.path], frame.scale)
        body.density = authored.density
        body.inertial = _resolve(source, body, authored, reader, colliders.get(body.name, []))


def read_shape_mass(source: Source, found: Found, shape: Shape) -> None:
    """Put a collider's own mass or density on its shape."""
    authored = _read_authored(source, found, np.ones(3))
    shape.mass, shape.density = authored.mass, authored.density


def _resolve(
    source: Source, body: Body, authored: _Authored, reader: _Colliders, shapes: list[Shape]
) -> Inertial | None:
    inertia = authored.inertia()
    if authored.mass is not None and inertia is not None and authored.com is not None:
        return Inertial(authored.mass, authored.com, inertia)
    computed = reader.sum(body, authored.density, shapes)
    mass = computed.mass if authored.mass is None else authored.mass
    com = computed.com if authored.com is None else authored.com
    if mass <= 0.0:
        if body.enabled and not body.kinematic:
            source.reporter.report(MASS_UNKNOWN, body.source, name=body.name)
        return None
    if inertia is None and computed.mass > 0.0:
        inertia = computed.scaled_to(mass).about(com)
    elif inertia is None:
        source.reporter.report(INERTIA_GUESSED, body.source, name=body.name)
        inertia = np.eye(3) * _BALL * mass
    return Inertial(mass, com, inertia)


class _Colliders:
    """Sums the colliders of a body; the moments of a shared geometry are computed once."""

    def __init__(self, source: Source, scan: Scan, densities: dict[str, float | None]) -> None:
        self._source = source
        self._scan = scan
        self._densities = densities
        self._moments: dict[int, Moments] = {}

    def sum(self, body: Body, density: float | None, shapes: list[Shape]) -> Inertial:
        """Mass properties of the shapes in the body's frame."""
        return combine([self._one(body, density, shape) for shape in shapes])

    def _one(self, body: Body, density: float | None, shape: Shape) -> Inertial:
        moments = self._measure(shape)
        found = self._scan.all.get(shape.path)
        own, frame = _NOTHING, shape.pose
        if found is not None and found.path != found.owner and MASS in found.apis:
            place = decompose((~body.pose).matrix @ self._source.world_matrix(found.prim))
            own, frame = _read_authored(self._source, found, place.scale), place.pose
        inertia = own.inertia()
        if own.mass is not None and inertia is not None:
            com = frame.apply(own.com) if own.com is not None else shape.pose.apply(moments.center)
            return Inertial(own.mass, com, rotate_inertia(inertia, frame.rotation))
        if moments.volume <= 0.0:
            self._source.reporter.report(
                COLLIDER_WITHOUT_VOLUME, shape.source, name=shape.name, body=body.name
            )
            return Inertial(0.0)
        part = moments.inertial(self._choose_density(shape, density, moments.volume)).moved(shape.pose)
        if own.com is not None:
            com = frame.apply(own.com)
            part = Inertial(part.mass, com, part.about(com))
        return part

    def _choose_density(self, shape: Shape, body: float | None, volume: float) -> float:
        if shape.mass is not None:
            return shape.mass / volume
        for density in (shape.density, body, self._densities.get(shape.physics_material)):
            if density is not None:
                return density
        return DEFAULT_DENSITY

    def _measure(self, shape: Shape) -> Moments:
        geometry = shape.geometry
        if isinstance(geometry, Plane):
            return compute_moments(geometry)
        key = id(geometry)
        if key not in self._moments:
            self._moments[key] = compute_moments(geometry)
        moments = self._moments[key]
        return moments if shape.scale is None else moments.scaled(shape.scale)


def _read_authored(source: Source, found: Found, scale: Array) -> _Authored:
    """The values of a prim's mass API that count; ``scale`` multiplies its centre of mass."""
    if MASS not in found.apis:
        return _NOTHING
    prim, units = found.prim, source.units
    mass = _read_positive(source, prim, "physics:mass", "mass", units.mass)
    density = _read_positive(source, prim, "physics:density", "density", units.density)
    if mass is not None and density is not None:
        source.reporter.report(DENSITY_IGNORED, source.where(prim), name=prim.GetName())
    center = source.get_array(prim, "physics:centerOfMass", (-np.inf, -np.inf, -np.inf))
    com = center * scale * units.length if np.all(np.isfinite(center)) else None
    moments = source.get_array(prim, "physics:diagonalInertia", (0.0, 0.0, 0.0))
    if not (np.all(np.isfinite(moments)) and np.all(moments >= 0.0)):
        where = source.where(prim, "physics:diagonalInertia")
        source.reporter.report(
            MASS_INVALID, where, name="physics:diagonalInertia", value=moments.tolist(), what="inertia"
        )
        moments = np.zeros(3)
    diagonal = moments * units.inertia if np.any(moments) else None
    axes = source.get_quaternion(prim, "physics:principalAxes")
    return _Authored(mass, density, com, diagonal, quat_normalize(axes) if np.any(axes) else None)


def _read_positive(source: Source, prim: Usd.Prim, name: str, what: str, unit: float) -> float | None:
    value = source.get_optional(prim, name)
    if value is None or value == 0.0:
        return None
    if not math.isfinite(value) or value < 0.0:
        source.reporter.report(MASS_INVALID, source.where(prim, name), name=name, value=value, what=what)
        return None
    return value * unit
