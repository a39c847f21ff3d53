# SPDX-License-Identifier: Apache-2.0
"""What a mass API (UsdPhysicsMassAPI) really says: its schema's fallbacks mean "not authored"."""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, quat_normalize
from simwright.formats.usd.scan import MASS, RIGID_BODY, Found
from simwright.formats.usd.source import ZERO, Source
from simwright.model.inertia import Inertial, find_nearest_moments, matrix_from_six

MASS_INVALID = declare(
    "usd-mass-invalid",
    Level.ERROR,
    "{name} is {value}, which is no {what}; it is taken as not authored",
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
_HUGE = 1e100
_NO_TURN = (1.0, 0.0, 0.0, 0.0)
Triple = tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Authored:
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


_NOTHING = Authored()


def read_authored(source: Source, found: Found) -> Authored:
    """The values of a prim's mass API that count."""
    if MASS not in found.apis and NEWTON_MASS not in found.apis:
        return _NOTHING
    known: Authored | None = source.masses.get(found.path)
    if known is None:
        known = source.masses[found.path] = _read_authored(source, found)
    return known


def _read_authored(source: Source, found: Found) -> Authored:
    units = source.units
    mass = _read_positive(source, found, "physics:mass", "mass", units.mass)
    density = _read_positive(source, found, "physics:density", "density", units.density)
    if mass is not None and density is not None:
        source.reporter.report(DENSITY_IGNORED, source.where(found), name=found.name)
    center = source.get_floats(found, "physics:centerOfMass", (-math.inf,) * 3)
    moments = source.get_floats(found, "physics:diagonalInertia", ZERO)
    noted = _read_noted(source, found, moments)
    if not all(math.isfinite(value) and value >= 0.0 for value in moments):
        where = source.where(found, "physics:diagonalInertia")
        source.reporter.report(
            MASS_INVALID, where, name="physics:diagonalInertia", value=list(moments), what="inertia"
        )
        moments = ZERO
    axes = source.get_finite(found, "physics:principalAxes", (0.0, 0.0, 0.0, 0.0))
    return Authored(
        mass,
        density,
        tuple(value * units.length for value in center) if all(map(math.isfinite, center)) else None,
        tuple(value * units.inertia for value in noted or moments) if noted or any(moments) else None,
        tuple(quat_normalize(axes).tolist()) if any(axes) and axes != _NO_TURN else None,
        _read_tensor(source, found) if NEWTON_MASS in found.apis and RIGID_BODY in found.apis else None,
    )


def _read_noted(source: Source, found: Found, moments: tuple[float, ...]) -> tuple[float, ...] | None:
    """Moments of the source that no body can have, while those nearest to them are still what is authored."""
    said = source.note(found).get("moments")
    if said is None or len(said) != 3:
        return None
    values = tuple(float(value) for value in said)
    return values if np.allclose(find_nearest_moments(values), moments, rtol=1e-6, atol=0.0) else None


def _read_tensor(source: Source, found: Found) -> Array | None:
    """``newton:inertia``: xx, yy, zz, xy, xz, yz about the centre of mass; None if empty or impossible."""
    said = source.get_authored(found, "newton:inertia")
    if said is None or (isinstance(said, Sized) and len(said) == 0):
        return None
    try:
        six = np.array(said, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        six = np.empty(0)
    if len(six) == 6 and np.all(np.abs(six) < _HUGE):
        tensor = matrix_from_six(six)
        moments = np.linalg.eigvalsh(tensor)
        if moments[2] > 0.0 and moments[0] >= -1e-6 * moments[2]:
            return tensor * source.units.inertia
    where = source.where(found, "newton:inertia")
    what = "inertia (xx, yy, zz, xy, xz, yz)"
    source.reporter.report(MASS_INVALID, where, name="newton:inertia", value=str(said), what=what)
    return None


def _read_positive(source: Source, found: Found, name: str, what: str, unit: float) -> float | None:
    value = source.get_optional(found, name)
    if value is None or value == 0.0:
        return None
    if not math.isfinite(value) or value < 0.0:
        source.reporter.report(MASS_INVALID, source.where(found, name), name=name, value=value, what=what)
        return None
    return value * unit
