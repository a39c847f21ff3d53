# SPDX-License-Identifier: Apache-2.0
"""Stage units and up axis, and the factors that bring everything to SI and Z-up (REP-0158 1.1).

USD's own fallbacks count where a stage is silent: centimetres, kilograms, Y-up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.math3d import DEGREE, Array, Pose, VectorLike, quat_from_matrix

UNIT_UNSAID = declare(
    "usd-unit-unsaid",
    Level.WARNING,
    "the stage does not set {name}; {value} is used",
    hint="author {name} in the root layer (REP-0158 1.1 wants {wanted})",
    doc="Root layer metadata that fixes the scale or the up axis of everything is missing.",
    section="1.1",
)
UNIT_INVALID = declare(
    "usd-unit-invalid",
    Level.ERROR,
    "{name} is {value}, which is not a unit; 1 is used",
    hint="author a positive number",
    doc="metersPerUnit or kilogramsPerUnit is zero, negative, not finite, or beyond 1e-15 to 1e15.",
    section="1.1",
)

HUGE = 1e30
"""Numbers at least this large stand for infinity; writers put FLT_MAX where they mean "no limit"."""

# beyond, cubes of the unit (density) leave the range of doubles
_MOST_UNIT = 1e15

UP_ROTATIONS = {
    "Z": np.eye(3),
    "Y": np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))),
    # not a legal upAxis of OpenUSD, but files have it
    "X": np.array(((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))),
}


@dataclass(frozen=True, eq=False)
class Units:
    """Metres and kilograms in a stage unit, and the rotation of stage axes onto Z-up."""

    length: float = 1.0
    mass: float = 1.0
    up: str = "Z"
    rotation: Array = field(default_factory=lambda: np.eye(3))

    @cached_property
    def density(self) -> float:
        """[kg/m^3] in a stage density unit."""
        return self.mass / self.length**3

    @cached_property
    def inertia(self) -> float:
        """[kg m^2] in a stage inertia unit; torques have the same factor."""
        return self.mass * self.length**2

    @cached_property
    def force(self) -> float:
        """[N] in a stage force unit."""
        return self.mass * self.length

    @cached_property
    def turn(self) -> Pose:
        """Stage axes as a pose in the model."""
        return Pose(np.zeros(3), quat_from_matrix(self.rotation))

    def convert_matrix(self, matrix: Array) -> Array:
        """A 4x4 column-vector stage matrix as one of the model.

        The translation comes in metres; the linear part keeps the authored scale, since geometry is brought
        to metres on its own.
        """
        result = np.eye(4)
        result[:3, :3] = self.rotation @ matrix[:3, :3]
        result[:3, 3] = self.rotation @ matrix[:3, 3] * self.length
        return result

    def convert_matrices(self, matrices: Array) -> Array:
        """:meth:`convert_matrix` of ``(n, 4, 4)``."""
        result = np.zeros_like(matrices)
        result[:, :3] = self.rotation @ matrices[:, :3]
        result[:, :3, 3] *= self.length
        # affine: nothing else is in the bottom row
        result[:, 3, 3] = 1.0
        return result

    def convert_direction(self, vector: VectorLike) -> Array:
        """A world-space stage vector in model axes, its length unchanged."""
        return self.rotation @ np.asarray(vector, dtype=np.float64)


def read_units(
    stage: Usd.Stage, where: Where, reporter: Reporter, unsaid_meters: float | None = None
) -> Units:
    """The units of a stage; what is unsaid or impossible is reported.

    ``unsaid_meters`` is the length unit of a stage that says none; None for OpenUSD's own fallback, a centimetre.
    """
    length = float(UsdGeom.GetStageMetersPerUnit(stage))
    if unsaid_meters is not None and not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        length = unsaid_meters
    mass = float(UsdPhysics.GetStageKilogramsPerUnit(stage))
    up = str(UsdGeom.GetStageUpAxis(stage))
    # kilogramsPerUnit is not asked for: its fallback of one is what REP-0158 wants
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        reporter.report(UNIT_UNSAID, where, name="metersPerUnit", value=length, wanted="1.0")
    if not stage.HasAuthoredMetadata(UsdGeom.Tokens.upAxis):
        reporter.report(UNIT_UNSAID, where, name="upAxis", value=up, wanted='"Z"')
    return Units(
        _check_unit("metersPerUnit", length, where, reporter),
        _check_unit("kilogramsPerUnit", mass, where, reporter),
        up,
        UP_ROTATIONS.get(up, np.eye(3)),
    )


def _check_unit(name: str, value: float, where: Where, reporter: Reporter) -> float:
    if 1.0 / _MOST_UNIT <= value <= _MOST_UNIT:
        return value
    reporter.report(UNIT_INVALID, where, name=name, value=value)
    return 1.0


def read_bound(value: float, factor: float) -> float:
    """A limit times its unit factor; huge numbers become infinite."""
    return math.copysign(math.inf, value) if abs(value) >= HUGE else value * factor


def convert_angle(value: float) -> float:
    """Degrees to radians; huge numbers become infinite."""
    return read_bound(value, DEGREE)
