# SPDX-License-Identifier: Apache-2.0
"""Affine matrices taken apart: a rigid pose, a scale along its axes, and what is left (shear).

The pose and the scale give the matrix back exactly unless the matrix is sheared; ``stretch`` then holds the
full linear remainder.  A mirrored matrix has a negative first scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array, Pose, quats_from_matrices

_SHEAR = 1e-5
_UNIT = 1e-6
_FLAT = 1e-12
_DIAGONAL = np.arange(3)
_FIRST, _SECOND = np.array((0, 0, 1)), np.array((1, 2, 2))
"""The three pairs of axes."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """``pose * diag(scale)``, or ``pose * stretch`` where the matrix is sheared."""

    pose: Pose
    scale: Array
    stretch: Array | None = None

    @property
    def is_mirrored(self) -> bool:
        """Does it turn left hands into right hands?"""
        return float(self.scale[0]) < 0.0

    @property
    def is_exact(self) -> bool:
        """Do pose and scale give the matrix back?"""
        return self.stretch is None and min(map(abs, self.scale.tolist())) >= _FLAT

    @property
    def is_unscaled(self) -> bool:
        """Is it rigid?"""
        return self.stretch is None and self.scale.tolist() == [1.0, 1.0, 1.0]


def decompose(matrix: Array) -> Placement:
    """Pose, scale and shear of a 4x4 column-vector matrix."""
    return decompose_many(matrix[None])[0]


def decompose_many(matrices: Array) -> list[Placement]:
    """The same for ``(n, 4, 4)`` matrices at once.

    Scales closer to one than single precision can tell are one.
    """
    if len(matrices) == 0:
        return []
    linear = matrices[:, :3, :3]
    with np.errstate(all="ignore"):
        products = linear.transpose(0, 2, 1) @ linear
        scale = np.sqrt(products[:, _DIAGONAL, _DIAGONAL])
        fit = np.all(np.isfinite(scale) & (scale >= _FLAT), axis=1)
        skew = np.abs(products[:, _FIRST, _SECOND] / (scale[:, _FIRST] * scale[:, _SECOND])).max(axis=1)
    is_fit = bool(fit.all())
    if not is_fit:
        linear = np.where(fit[:, None, None], linear, np.eye(3))
    axes = linear / (scale if is_fit else np.where(fit[:, None], scale, 1.0))[:, None, :]
    mirrored = np.linalg.det(axes) < 0.0
    if mirrored.any():
        axes[mirrored, :, 0] *= -1.0
        scale[mirrored, 0] *= -1.0
    stretches: dict[int, Array] = {}
    for i in np.flatnonzero(fit & (skew > _SHEAR)).tolist():
        axes[i], scale[i], stretches[i] = _unshear(axes[i], scale[i], linear[i])
    scale = np.where(np.abs(np.abs(scale) - 1.0) < _UNIT, np.sign(scale), scale)
    positions, turns = matrices[:, :3, 3].copy(), quats_from_matrices(axes)
    if not is_fit:
        lost = ~fit
        positions[lost], scale[lost] = np.nan_to_num(positions[lost]), np.nan_to_num(scale[lost])
    rows = enumerate(zip(positions, turns, scale, strict=True))
    return [Placement(Pose(p, q), s, stretches.get(i)) for i, (p, q, s) in rows]


def _unshear(axes: Array, scale: Array, linear: Array) -> tuple[Array, Array, Array]:
    """The nearest rotation, the scale along its axes, and the whole remainder."""
    left, _, right = np.linalg.svd(axes * np.abs(scale))
    rotation = left @ right
    stretch = rotation.T @ linear
    return rotation, np.sign(scale) * np.linalg.norm(stretch, axis=0), stretch
