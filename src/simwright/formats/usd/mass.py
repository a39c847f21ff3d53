# SPDX-License-Identifier: Apache-2.0
"""Mass, centre of mass and inertia of bodies (UsdPhysicsMassAPI), each resolved on its own.

1. What is authored counts: mass, ``newton:inertia`` or else diagonal inertia (principal axes are the identity if
   not authored), centre.
2. A mass without inertia scales the inertia of the colliders.
3. The rest follows from the colliders: their own mass and inertia, else their geometry.  Density is the
   collider's mass over its volume, its density, the body's, its material's, or 1000 kg/m^3.  A mesh that encloses
   nothing weighs what its hull weighs, if it collides as its hull.

An authored centre moves an inertia that is not authored by the parallel-axis theorem.  The schema's
fallbacks (mass 0, centre -inf, inertia 0, axes 0) mean "not authored".

Colliders may be hollow (``newton:massModel = "shell"``, ``mjc:shellinertia``): the wall is ``newton:shellThickness``
thick, else as thick as the contact margin.  MuJoCo knows no thickness: where its attribute makes the shell and nobody
authors one, density is per area [kg/m^2], as in MuJoCo.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, matrices_from_quats, quat_normalize
from simwright.formats.usd.prims import MASS, RIGID_BODY, FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import ZERO, StageReader, as_floats
from simwright.formats.usd.transforms import decompose
from simwright.model.asset import Body, Shape
from simwright.model.geometry import Faces, Mesh
from simwright.model.inertia import (
    LEAST_MASS,
    POINT_INERTIA,
    UNSHAPED,
    Inertial,
    find_nearest_moments,
    matrix_from_six,
    point_inertia,
    rotate_inertia,
)
from simwright.model.mass import find_thickness, measure_shape
from simwright.model.moments import (
    MANY_TRIANGLES,
    Moments,
    compute_moments,
    encloses,
    hull_points,
    mesh_moments,
    meshes_moments,
)
from simwright.model.shell import measure_wall

_MOMENTS = "diagonalInertia must have finite, nonnegative components"
MASS_INVALID = declare(
    "usd-mass-invalid",
    Level.ERROR,
    "{name} is {value}; {what}, so it is taken as not authored",
    hint="author a finite, non-negative value",
    doc="A mass property is negative or not a number.",
    section="1.3",
)
DENSITY_IGNORED = declare(
    "usd-density-ignored",
    Level.INFO,
    "{name!r} authors both mass and density; mass wins",
    doc="UsdPhysicsMassAPI: mass takes precedence over density.",
)

NEWTON_MASS = "NewtonMassAPI"
# eigenvalues of larger numbers overflow
_HUGE = 1e100
_NO_TURN = (1.0, 0.0, 0.0, 0.0)
Triple = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AuthoredMass:
    """The effective values of a mass API, SI; None where nothing counts.  Principal axes default to none.

    ``center`` is in the prim's own space: the prim's scale still has to go onto it.  ``tensor`` is a whole
    inertia (``newton:inertia``), which comes before diagonal and axes.
    """

    mass: float | None = None
    density: float | None = None
    center: Triple | None = None
    diagonal: Triple | None = None
    axes: Triple | None = None
    tensor: Array | None = None

    @property
    def is_complete(self) -> bool:
        """Is nothing left for the colliders to say?"""
        turns = self.diagonal is not None or self.tensor is not None
        return turns and self.mass is not None and self.center is not None

    def com(self, scale: Array) -> Array | None:
        """Centre of mass under a scale."""
        return None if self.center is None else np.array(self.center) * scale

    def inertia(self) -> Array | None:
        """3x3 inertia about the centre of mass."""
        if self.tensor is not None:
            return self.tensor
        if self.diagonal is None:
            return None
        if self.axes is None:
            x, y, z = self.diagonal
            return np.array(((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)))
        return Inertial.from_principal(1.0, self.diagonal, self.axes).inertia


_NOTHING = AuthoredMass()


def read_authored_mass(reader: StageReader, found: FoundPrim) -> AuthoredMass:
    """The values of a prim's mass API that count."""
    if MASS not in found.apis and NEWTON_MASS not in found.apis:
        return _NOTHING
    # asked for by the body, by its shapes and by the sums; faults are to be reported once
    known: AuthoredMass | None = reader.masses.get(found.path)
    if known is None:
        known = reader.masses[found.path] = _read_authored_mass(reader, found)
    return known


def _read_authored_mass(reader: StageReader, found: FoundPrim) -> AuthoredMass:
    units = reader.units
    mass = _read_positive(reader, found, "physics:mass", "mass", units.mass)
    density = _read_positive(reader, found, "physics:density", "density", units.density)
    if mass is not None and density is not None:
        reader.reporter.report(DENSITY_IGNORED, reader.where(found), name=found.name)
    center = reader.get_floats(found, "physics:centerOfMass", (-math.inf,) * 3)
    moments = _read_moments(reader, found)
    axes = reader.get_finite(found, "physics:principalAxes", (0.0, 0.0, 0.0, 0.0))
    return AuthoredMass(
        mass,
        density,
        tuple(value * units.length for value in center) if all(map(math.isfinite, center)) else None,
        None if moments is None else tuple(value * units.inertia for value in moments),
        tuple(quat_normalize(axes).tolist()) if any(axes) and axes != _NO_TURN else None,
        _read_tensor(reader, found) if NEWTON_MASS in found.apis and RIGID_BODY in found.apis else None,
    )


def _read_moments(reader: StageReader, found: FoundPrim) -> Triple | None:
    """The diagonal inertia in stage units: noted, authored, or (all zero, negative, not finite) None."""
    moments = as_floats(reader.get(found, "physics:diagonalInertia", ZERO))
    # three with one that is not a number are reported below; get_floats would call them not three numbers
    if len(moments) != 3 or not any(map(math.isnan, moments)):
        moments = reader.get_floats(found, "physics:diagonalInertia", ZERO)
    noted = _read_noted_moments(reader, found, moments)
    if not all(math.isfinite(value) and value >= 0.0 for value in moments):
        where = reader.where(found, "physics:diagonalInertia")
        reader.reporter.report(
            MASS_INVALID, where, name="physics:diagonalInertia", value=list(moments), what=_MOMENTS
        )
        moments = ZERO
    return noted or (moments if any(moments) else None)


def _read_noted_moments(
    reader: StageReader, found: FoundPrim, moments: tuple[float, ...]
) -> tuple[float, ...] | None:
    """Moments of the source that no body can have, while those nearest to them are still what is authored."""
    said = reader.note(found).get("moments")
    if said is None or len(said) != 3:
        return None
    values = tuple(float(value) for value in said)
    # the note holds what the source said; the attribute what a body can have. An edited attribute wins
    written = find_nearest_moments(values) if any(values) else POINT_INERTIA
    # stages of earlier versions say nothing for an inertia of zero
    is_ours = np.allclose(written, moments, rtol=1e-6, atol=0.0) or not (any(values) or any(moments))
    return values if is_ours else None


def _read_tensor(reader: StageReader, found: FoundPrim) -> Array | None:
    """``newton:inertia``: xx, yy, zz, xy, xz, yz about the centre of mass; None if empty or impossible."""
    said = reader.get_authored(found, "newton:inertia")
    if said is None or (isinstance(said, Sized) and len(said) == 0):
        return None
    try:
        six = np.array(said, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        six = np.empty(0)
    if len(six) == 6 and np.all(np.abs(six) < _HUGE):
        tensor = matrix_from_six(six)
        moments = np.linalg.eigvalsh(tensor)
        # six rounded numbers may give a moment just below zero
        if moments[2] > 0.0 and moments[0] >= -1e-6 * moments[2]:
            return tensor * reader.units.inertia
    where = reader.where(found, "newton:inertia")
    if len(six) != 6:
        what = f"expected 6 numbers (xx, yy, zz, xy, xz, yz) and not {len(six)}"
    elif not np.all(np.abs(six) < _HUGE):
        what = "it has a non-finite number"
    elif np.any(six[:3] < 0.0):
        what = "it has a negative diagonal"
    else:
        what = "it is not positive semidefinite"
    reader.reporter.report(MASS_INVALID, where, name="newton:inertia", value=str(said), what=what)
    return None


def _read_positive(reader: StageReader, found: FoundPrim, name: str, what: str, unit: float) -> float | None:
    value = reader.get_authored(found, name)
    if not isinstance(value, (float, int)):
        value = reader.get_optional(found, name)
    if value is None or value == 0.0:
        return None
    if not math.isfinite(value) or value < 0.0:
        why = f"a MassAPI {what} must be positive and finite"
        if what == "mass" and RIGID_BODY in found.apis:
            why = "the authored mass is not positive and finite"
        reader.reporter.report(MASS_INVALID, reader.where(found, name), name=name, value=value, what=why)
        return None
    return float(value) * unit


SHELL_FULL = declare(
    "usd-shell-full",
    Level.WARNING,
    "the wall of shell {name!r} is {thickness} m thick, which leaves no hollow; it is weighed as a solid",
    hint="author a smaller newton:shellThickness",
    doc="A hollow collider whose wall is as thick as half its size or more.",
)
SHELL_THIN = declare(
    "usd-shell-without-thickness",
    Level.WARNING,
    "shell {name!r} has neither a thickness nor a contact margin; it adds nothing to the mass of its body",
    hint="author newton:shellThickness, or a mass",
    doc="A hollow collider whose wall has no thickness weighs nothing at any density.",
)
SHELL_INVALID = declare(
    "usd-shell-thickness-invalid",
    Level.ERROR,
    "newton:shellThickness of {name!r} is {thickness} m, a negative shell thickness; the contact margin is used",
    hint="author a finite, non-negative thickness",
    doc="The wall of a hollow collider cannot be negative.",
)


def measure_shell(reader: StageReader, shape: Shape) -> Moments:
    """What a density fills of a hollow collider."""
    report = reader.reporter.report
    own = shape.settings.get("shell_thickness")
    if own is not None and not 0.0 <= own < math.inf:
        report(SHELL_INVALID, shape.source, name=shape.name, thickness=own)
    thickness = find_thickness(shape)
    moments = measure_shape(shape)
    if (
        thickness > 0.0
        and moments.volume > 0.0
        and measure_wall(shape.geometry, shape.scale, thickness) is None
    ):
        report(SHELL_FULL, shape.source, name=shape.name, thickness=thickness)
    if thickness == 0.0 and moments.volume == 0.0:
        report(SHELL_THIN, shape.source, name=shape.name)
    return moments


COLLIDER_WITHOUT_VOLUME = declare(
    "usd-collider-without-volume",
    Level.WARNING,
    "Skipping collider {name!r} in the mass aggregation of body {body!r}: it encloses no volume",
    hint="close the mesh, or author mass properties on the body",
    doc="The mass of a body has to be computed from a collider that is not a solid.",
    section="3.4",
)


COLLIDER_OPEN = declare(
    "usd-collider-open",
    Level.WARNING,
    "the surface of collider {name!r} is not closed, and the mass of body {body!r} is computed from it: {how}",
    hint='close the mesh, author mass properties on the body, or author physics:approximation = "convexHull"',
    doc="A mesh with holes encloses no volume. If the collider is a convex hull, the "
    "hull is used; otherwise the volume that the triangles span with their centroid.",
    section="3.4",
)
_HULL = "convexHull"


@dataclass(frozen=True, slots=True, eq=False)
class _ColliderMass:
    """What one collider adds: moments at a density, or (``own``) mass properties in the body's frame."""

    body: int
    shape: Shape
    moments: Moments
    density: float = 0.0
    own: Inertial | None = None


class ColliderSums:
    """Collects bodies and their colliders, then sums them in a few array operations."""

    def __init__(self, reader: StageReader, scan: StageScan) -> None:
        self._reader = reader
        self._scan = scan
        self._densities = {m.name: m.density for m in reader.asset.physics_materials}
        self._asked: list[tuple[Body, list[Shape]]] = []
        self._parts: list[_ColliderMass] = []
        self._moments: dict[tuple[int, tuple[float, ...]], Moments] = {}
        self._open: dict[int, Moments | None] = {}
        """Meshes that enclose nothing, by identity: the moments of their hulls, if they have one."""

    def add(self, body: Body, shapes: list[Shape]) -> None:
        """Ask for the sum of a body's colliders."""
        self._asked.append((body, shapes))

    def compute(self) -> dict[str, Inertial]:
        """Mass properties by body, in the body's frame; of no mass where nothing has a volume."""
        self._measure_all()
        for number, (body, shapes) in enumerate(self._asked):
            self._parts.extend(self._measure_part(number, body, shape) for shape in shapes)
        result = {body.name: Inertial(0.0) for body, _ in self._asked}
        if not self._parts:
            return result
        mass, com, inertia = self._place_parts()
        rows = [part.body for part in self._parts]
        # parts come body by body, so sums over bodies are sums over runs
        starts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
        counts = np.diff([*starts, len(rows)])
        total = np.add.reduceat(mass, starts)
        center = np.add.reduceat(mass[:, None] * com, starts) / np.where(total == 0.0, 1.0, total)[:, None]
        offset = com - np.repeat(center, counts, axis=0)
        # parallel-axis theorem for all parts at once
        square = np.einsum("ni,ni->n", offset, offset)[:, None, None] * np.eye(3)
        shifted = inertia + mass[:, None, None] * (square - offset[:, :, None] * offset[:, None, :])
        summed = np.add.reduceat(shifted, starts)
        numbers = [rows[start] for start in starts]
        for number, one, where, tensor in zip(numbers, total.tolist(), center, summed, strict=True):
            result[self._asked[number][0].name] = Inertial(one, where, tensor)
        return result

    def _place_parts(self) -> tuple[Array, Array, Array]:
        """Mass, centre and central inertia of every part in its body's frame."""
        parts = self._parts
        density = np.array([part.density for part in parts])
        turn = matrices_from_quats(np.array([part.shape.pose.q for part in parts]))
        center = np.array([part.moments.center for part in parts])
        second = np.array([part.moments.second for part in parts]) * density[:, None, None]
        trace = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        mass = np.array([part.moments.volume for part in parts]) * density
        com = np.einsum("nij,nj->ni", turn, center) + np.array([part.shape.pose.p for part in parts])
        # inertia is the trace of the second moments times the identity, less the second moments
        inertia = turn @ (trace - second) @ turn.transpose(0, 2, 1)
        inertia = (inertia + inertia.transpose(0, 2, 1)) * 0.5
        for number, part in enumerate(parts):
            if part.own is not None:
                mass[number], com[number], inertia[number] = part.own.mass, part.own.com, part.own.inertia
        return mass, com, inertia

    def _measure_part(self, number: int, body: Body, shape: Shape) -> _ColliderMass:
        moments = self._measure(shape)
        if id(shape.geometry) in self._open and moments.volume > 0.0:
            how = "its hull is weighed" if self._is_hull(shape) else f"{moments.volume:.3g} m^3 are weighed"
            self._reader.reporter.report(
                COLLIDER_OPEN, shape.source, name=shape.name, body=body.name, how=how
            )
        found = self._scan.all.get(shape.path)
        # a mass API on the body prim is about the body, also where that prim is a collider
        has_own = found is not None and MASS in found.apis and found.path != found.owner
        own = self._read_own(body, shape, moments) if has_own else None
        if own is not None:
            return _ColliderMass(number, shape, moments, own=own)
        if moments.volume <= 0.0:
            where = shape.source
            self._reader.reporter.report(COLLIDER_WITHOUT_VOLUME, where, name=shape.name, body=body.name)
            return _ColliderMass(number, shape, moments)
        return _ColliderMass(
            number, shape, moments, self._choose_density(shape, body.density, moments.volume)
        )

    def _read_own(self, body: Body, shape: Shape, moments: Moments) -> Inertial | None:
        """What a collider's own mass API fixes beyond its density; None if nothing."""
        found = self._scan.all[shape.path]
        authored = read_authored_mass(self._reader, found)
        inertia = authored.inertia() if authored.mass is not None else None
        if inertia is None and (authored.center is None or moments.volume <= 0.0):
            return None
        place = decompose((~body.pose).matrix @ self._reader.world_matrix(found))
        own = authored.com(place.scale)
        com = shape.pose.apply(moments.center) if own is None else place.pose.apply(own)
        if inertia is not None:
            assert authored.mass is not None
            return Inertial(authored.mass, com, rotate_inertia(inertia, place.pose.rotation))
        density = self._choose_density(shape, body.density, moments.volume)
        part = moments.inertial(density).moved(shape.pose)
        return Inertial(part.mass, com, part.about(com))

    def _choose_density(self, shape: Shape, body: float | None, volume: float) -> float:
        if shape.mass is not None:
            return shape.mass / volume
        for density in (shape.density, body, self._densities.get(shape.physics_material)):
            if density is not None:
                return density
        return self._reader.default_density

    def _measure(self, shape: Shape) -> Moments:
        if shape.settings.get("mass_model") == "shell":
            return measure_shell(self._reader, shape)
        if self._is_hull(shape):
            hull = self._open[id(shape.geometry)]
            assert hull is not None
            return hull if shape.scale is None else hull.scaled(shape.scale)
        plain = self._moments[id(shape.geometry), ()]
        if shape.scale is None:
            return plain
        scale = tuple(shape.scale.tolist())
        key = id(shape.geometry), scale
        if key not in self._moments:
            self._moments[key] = plain.scaled(scale)
        return self._moments[key]

    def _is_hull(self, shape: Shape) -> bool:
        """Is it the hull of a mesh that encloses nothing itself, and solid?"""
        hull = self._open.get(id(shape.geometry))
        token = shape.approximation.token if shape.approximation else ""
        return hull is not None and token == _HULL and shape.settings.get("mass_model") != "shell"

    def _measure_all(self) -> None:
        """Moments of every geometry, unscaled; meshes in batches, of equal ones only the first."""
        geometries = {id(s.geometry): s.geometry for _, shapes in self._asked for s in shapes}
        keys: dict[int, bytes] = {}
        waiting: dict[bytes, tuple[Array, Faces]] = {}
        known: dict[bytes, Moments] = {}
        opened: dict[bytes, Moments | None] = {}
        size = 0
        for number, geometry in geometries.items():
            if not isinstance(geometry, Mesh):
                self._moments[number, ()] = compute_moments(geometry)
                continue
            data = geometry.solid()
            solid = data.vertices, data.triangles()
            keys[number] = key = _digest(*solid)
            if key in known or key in waiting:
                continue
            if not encloses(*solid):
                opened[key] = _measure_hull(*solid)
            waiting[key] = solid
            size += len(solid[1])
            if size > MANY_TRIANGLES:  # measured and let go, so that meshes do not pile up
                known |= zip(waiting, meshes_moments(list(waiting.values())), strict=True)
                waiting, size = {}, 0
        known |= zip(waiting, meshes_moments(list(waiting.values())), strict=True)
        self._moments |= {(number, ()): known[key] for number, key in keys.items()}
        self._open = {number: opened[key] for number, key in keys.items() if key in opened}


def _measure_hull(vertices: Array, triangles: Faces) -> Moments | None:
    hull = hull_points(vertices[np.unique(triangles)])
    return None if hull is None else mesh_moments(*hull)


def _digest(*arrays: np.ndarray[Any, Any]) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(array.tobytes())
    return digest.digest()


MASS_UNKNOWN = declare(
    "usd-mass-unknown",
    Level.WARNING,
    "body {name!r} has zero mass and zero inertia: no mass is authored and it has no collider with a volume",
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


def read_mass(reader: StageReader, scan: StageScan) -> None:
    """Give every body its mass properties."""
    colliders: dict[str, list[Shape]] = {}
    for shape in reader.asset.shapes:
        if shape.collision and shape.enabled and shape.body:
            colliders.setdefault(shape.body, []).append(shape)
    sums = ColliderSums(reader, scan)
    said: dict[str, AuthoredMass] = {}
    for body in reader.asset.bodies:
        found = scan.all[body.path]
        authored = read_authored_mass(reader, found)
        if _is_massless(reader, found, authored):
            body.inertial = Inertial(0.0)  # none would mean: that of its colliders
            continue
        body.density = authored.density
        said[body.name] = authored
        if not authored.is_complete:
            sums.add(body, colliders.get(body.name, []))
    computed = sums.compute()
    for body in reader.asset.bodies:
        if body.name in said:
            body.inertial = _resolve(reader, body, said[body.name], computed.get(body.name))


def _is_massless(reader: StageReader, found: FoundPrim, authored: AuthoredMass) -> bool:
    """Does a note say that the source has no mass, while what was written for none is still what is authored?"""
    least = LEAST_MASS * reader.units.mass
    is_least = authored.mass is not None and math.isclose(authored.mass, least, rel_tol=1e-6)
    return is_least and reader.note(found).get("mass") == 0.0


def read_shape_mass(reader: StageReader, found: FoundPrim, shape: Shape) -> None:
    """Put a collider's own mass or density on its shape."""
    authored = read_authored_mass(reader, found)
    shape.mass, shape.density = authored.mass, authored.density


# one function: the order of the cases is the rule of the module docstring
def _resolve(
    reader: StageReader, body: Body, authored: AuthoredMass, computed: Inertial | None
) -> Inertial | None:
    inertia = authored.inertia()
    com = authored.com(reader.bodies[body.path].scale)
    # nothing was left for the colliders to say (is_complete), so they were not measured
    if computed is None:
        assert authored.mass is not None
        assert com is not None
        assert inertia is not None
        return Inertial(authored.mass, com, inertia)
    mass = computed.mass if authored.mass is None else authored.mass
    if mass <= 0.0:
        if body.enabled and not body.kinematic:
            reader.reporter.report(MASS_UNKNOWN, body.source, name=body.name)
        return None
    if inertia is None and computed.mass > 0.0:
        # no scaling by 1.0: the last bit would change
        inertia = computed.inertia if mass == computed.mass else computed.inertia * (mass / computed.mass)
        if com is not None:
            inertia = inertia + point_inertia(mass, com - computed.com)
    elif inertia is None:
        reader.reporter.report(INERTIA_GUESSED, body.source, name=body.name)
        inertia = np.eye(3) * UNSHAPED * mass
    return Inertial(mass, computed.com if com is None else com, inertia)
