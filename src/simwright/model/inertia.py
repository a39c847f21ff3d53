# SPDX-License-Identifier: Apache-2.0
"""Inertia algebra: 6 values <-> matrix <-> principal axes, parallel axis, rotation, sums.

An :class:`Inertial` is mass [kg], centre of mass [m] and rotational inertia about it [kg m^2], both in the
body frame.  All operations are exact in the sense of float64 arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, Pose, VectorLike, matrix_from_quat, quat_from_matrix, vec3
from simwright.model.display import Shown

UNSHAPED = 0.4 * 0.1**2
"""OpenUSD's inertia per kilogram of a mass that nothing gives a shape to: a solid ball of 0.1 m [m^2]."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inertial(Shown):
    """Mass, centre of mass, and the 3x3 inertia about the centre of mass in body axes.

    ``given`` are the principal moments and the quaternion of their axes where those are what the source says: the
    inertia follows from them, and :meth:`principal` gives them back bit for bit.
    """

    mass: float
    com: Array = field(default_factory=vec3)
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    given: tuple[Array, Array] | None = None

    @classmethod
    def from_six(cls, mass: float, six: VectorLike, frame: Pose | None = None) -> Inertial:
        """From ``ixx iyy izz ixy ixz iyz`` given in ``frame`` (origin at the centre of mass)."""
        return cls.in_frame(mass, matrix_from_six(six), frame)

    @classmethod
    def from_principal(
        cls, mass: float, diagonal: VectorLike, axes: VectorLike, com: VectorLike = (0.0, 0.0, 0.0)
    ) -> Inertial:
        """From principal moments and the quaternion of the principal axes (UsdPhysics)."""
        rotation = matrix_from_quat(axes)
        moments = vec3(diagonal)
        given = (moments, np.array(axes, dtype=np.float64))
        return cls(mass, vec3(com), _symmetric(rotation * moments @ rotation.T), given)

    @classmethod
    def in_frame(cls, mass: float, inertia: npt.NDArray[Any], frame: Pose | None) -> Inertial:
        """From a 3x3 inertia given in ``frame``, whose origin is the centre of mass."""
        if frame is None:
            return cls(mass, vec3(), _symmetric(inertia))
        return cls(mass, frame.p.copy(), rotate_inertia(inertia, frame.rotation))

    @property
    def six(self) -> Array:
        """``ixx iyy izz ixy ixz iyz`` about the centre of mass, body axes."""
        return six_from_matrix(self.inertia)

    def principal(self) -> tuple[Array, Array]:
        """Principal moments and the quaternion of their axes: as given, else see :func:`principal_axes`."""
        return principal_axes(self.inertia) if self.given is None else self.given

    def moved(self, pose: Pose) -> Inertial:
        """The same matter seen from the parent frame of ``pose``."""
        return Inertial(self.mass, pose.apply(self.com), rotate_inertia(self.inertia, pose.rotation))

    def about(self, point: VectorLike) -> Array:
        """3x3 inertia about ``point`` [m] instead of the centre of mass (parallel axis)."""
        return self.inertia + point_inertia(self.mass, vec3(point) - self.com)

    def scaled_to(self, mass: float) -> Inertial:
        """The same shape of distribution with another mass."""
        factor = mass / self.mass if self.mass else 0.0
        return Inertial(mass, self.com, self.inertia * factor)

    def is_physical(self, tolerance: float = 1e-6) -> bool:
        """Finite, non-negative mass, positive semi-definite, and obeying the triangle inequality."""
        if not (math.isfinite(self.mass) and self.mass >= 0 and np.all(np.isfinite(self.inertia))):
            return False
        a, b, c = np.sort(np.linalg.eigvalsh(self.inertia))
        return bool(a >= -tolerance * c and a + b >= c * (1 - tolerance))


def matrix_from_six(six: VectorLike) -> Array:
    """Symmetric matrix of ``ixx iyy izz ixy ixz iyz``."""
    xx, yy, zz, xy, xz, yz = (float(v) for v in six)
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def six_from_matrix(m: npt.NDArray[Any]) -> Array:
    """``ixx iyy izz ixy ixz iyz`` of a symmetric matrix."""
    return np.array((m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]), dtype=np.float64)


def rotate_inertia(inertia: npt.NDArray[Any], rotation: npt.NDArray[Any]) -> Array:
    """The tensor expressed in the parent axes of ``rotation``."""
    return _symmetric(rotation @ np.asarray(inertia, dtype=np.float64) @ rotation.T)


def point_inertia(mass: float, offset: VectorLike) -> Array:
    """Inertia of a point mass at ``offset``: the parallel-axis term."""
    d = np.asarray(offset, dtype=np.float64)
    return mass * (float(d @ d) * np.eye(3) - np.outer(d, d))


def combine(parts: Iterable[Inertial]) -> Inertial:
    """The sum of several, all in the same frame."""
    # massless parts with inertia (armature on bodies) count too
    parts = [part for part in parts if part.mass != 0.0 or np.any(part.inertia)]
    mass = math.fsum(part.mass for part in parts)
    if not parts or mass == 0.0:
        return Inertial(0.0, vec3(), sum((part.inertia for part in parts), np.zeros((3, 3))))
    com = np.sum([part.mass * part.com for part in parts], axis=0) / mass
    return Inertial(mass, com, np.sum([part.about(com) for part in parts], axis=0))


def principal_axes(inertia: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Principal moments and the unit quaternion (w >= 0) of a right-handed frame of their axes.

    The axes are ordered so that the rotation is the smallest one: a diagonal matrix keeps its diagonal
    and the identity.  ``R diag(moments) R^T`` gives the matrix back to float64 accuracy.
    """
    inertia = _symmetric(np.asarray(inertia, dtype=np.float64))
    off = max(abs(inertia[0, 1]), abs(inertia[0, 2]), abs(inertia[1, 2]))
    # eigh may order and turn the axes of a diagonal matrix: it has them already
    if off == 0.0:
        return np.diag(inertia).copy(), np.array((1.0, 0.0, 0.0, 0.0))
    values, vectors = np.linalg.eigh(inertia)
    order, signs = _closest_to_identity(vectors)
    values, vectors = values[order], vectors[:, order] * signs
    return values, quat_from_matrix(vectors)


_PERMUTATIONS = {
    (0, 1, 2): False, (0, 2, 1): True, (1, 0, 2): True, (1, 2, 0): False, (2, 0, 1): False, (2, 1, 0): True,
}  # fmt: skip
"""Orders of three axes, and whether each turns a rotation into a reflection."""


def find_nearest_moments(moments: VectorLike) -> Array:
    """Principal moments that a solid body can have, nearest to given ones in the distribution of its mass.

    Mass is spread along every axis by more than nothing: what is less than :data:`SPREAD_FLOOR` of the largest
    spread becomes that, so no moment is zero and none reaches the sum of the others.  Moments above zero that are
    possible, to a thousandth, stay as they are; so do three that are zero, which say nothing.
    """
    values = vec3(moments)
    spread = values.sum() / 2.0 - values  # second moments of mass along the axes
    largest = values.max()
    if np.all(values > _ZERO * largest) and np.all(spread >= -_ROUNDING * largest):
        return values
    if spread.max() <= 0.0:  # all negative, or all zero: nothing to go by but their size
        size = float(np.abs(values).max())
        return np.full(3, size)
    spread = np.maximum(spread, SPREAD_FLOOR * spread.max())
    nearest: Array = spread.sum() - spread
    return nearest


def settle_moments(moments: VectorLike) -> Array:
    """As :func:`find_nearest_moments`, and what rounded digits make impossible by less than a thousandth fits exactly.

    Every writer uses it, so that engines see the same moments whatever they read.
    """
    nearest = find_nearest_moments(moments)
    spread = nearest.sum() / 2.0 - nearest
    if spread.min() >= 0.0:
        return nearest.copy()
    spread = np.maximum(spread, 0.0)
    fitting: Array = spread.sum() - spread
    return fitting


_SLACK = 1e-9
"""What a moment may exceed the sum of the others by, relative to the largest: parsers round no more."""


def make_possible(inertial: Inertial) -> Inertial:
    """The same, or with the nearest moments that a solid can have where those given are those of no solid."""
    moments, axes = inertial.principal()
    ordered = np.sort(moments)
    if ordered[0] >= 0.0 and ordered[0] + ordered[1] >= ordered[2] * (1.0 - _SLACK):
        return inertial
    return Inertial.from_principal(inertial.mass, settle_moments(moments), axes, inertial.com)


LEAST_MASS = 1e-6
"""Mass of a link that moves and has none, where a format or an engine wants one above zero [kg]."""
POINT_INERTIA = 1e-9
"""Moment about each axis of a mass on a point, where a format or an engine wants one above zero [kg m^2]."""
LEAST_MOMENT = 1.01e-10
"""Newton (1.7) adds 1e-6 to moments below 1e-10 [kg m^2]."""
_SHARE = 1e-7
"""Mass and inertia of a link between joints, next to those of the link that it leads to."""
SPREAD_FLOOR = 1e-4
"""The least spread of mass along an axis, as a share of the largest: that of a rod a hundred times as long as wide."""
_ZERO = 1e-12
"""Moments below this share of the largest are zero."""
_ROUNDING = 4e-4
"""How far a moment may exceed the sum of the others by rounding, as half of a share of the largest."""


def weigh_between(child: Inertial | None, *, for_newton: bool = True) -> Inertial:
    """A link between the joints that lead to ``child``: a mass that no mass matrix shows in single precision."""
    # a child that weighs nothing yet is taken for one of a kilogram
    weighs = child is not None and child.mass > 0.0
    mass = _SHARE * child.mass if child is not None and weighs else _SHARE
    moment = _SHARE * float(np.trace(child.inertia)) / 3.0 if child is not None and weighs else LEAST_MOMENT
    return Inertial(mass, inertia=np.eye(3) * max(moment, LEAST_MOMENT if for_newton else 0.0))


def _closest_to_identity(vectors: Array) -> tuple[list[int], Array]:
    """Column order and signs that make a proper rotation with the largest trace."""
    best: tuple[float, list[int], list[float]] | None = None
    # plain numbers: for three axes they are several times faster than small arrays
    rows: list[list[float]] = vectors.tolist()
    turned = float(np.linalg.det(vectors)) < 0
    for order, odd in _PERMUTATIONS.items():
        along = [rows[axis][column] for axis, column in enumerate(order)]
        signs = [-1.0 if value < 0 else 1.0 for value in along]
        # a reflection is not a rotation: the axis that matters least changes its sign
        if (signs.count(-1.0) % 2 == 1) != (odd != turned):
            least = min(range(3), key=lambda axis: abs(along[axis]))
            signs[least] *= -1.0
        trace = math.fsum(value * sign for value, sign in zip(along, signs, strict=True))
        # the margin keeps rounding from choosing between equal orders
        if best is None or trace > best[0] + 1e-12:
            best = (trace, list(order), signs)
    assert best is not None
    return best[1], np.array(best[2])


def _symmetric(m: npt.NDArray[Any]) -> Array:
    return np.asarray((m + m.T) * 0.5, dtype=np.float64)
