# SPDX-License-Identifier: Apache-2.0
"""Affine matrices taken apart: a rigid pose, a scale along its axes, and what is left (shear).

The pose and the scale give the matrix back exactly unless the matrix is sheared; ``stretch`` then holds the
full linear remainder.  A mirrored matrix has a negative first scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array, Pose, quat_from_matrix

_SHEAR = 1e-5
_UNIT = 1e-6
_FLAT = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """``pose * diag(scale)``, or ``pose * stretch`` where the matrix is sheared."""

    pose: Pose
    scale: Array
    stretch: Array | None = None

    @property
    def is_mirrored(self) -> bool:
        """Does it turn left hands into right hands?"""
        return bool(self.scale[0] < 0.0)

    @property
    def is_unscaled(self) -> bool:
        """Is it rigid?"""
        return self.stretch is None and bool(np.all(self.scale == 1.0))


def decompose(matrix: Array) -> Placement:
    """Pose, scale and shear of a 4x4 column-vector matrix.

    Scales closer to one than single precision can tell are one.
    """
    linear = matrix[:3, :3]
    scale = np.linalg.norm(linear, axis=0)
    if not np.all(np.isfinite(scale)) or bool(np.any(scale < _FLAT)):
        return Placement(Pose.of(np.nan_to_num(matrix[:3, 3])), np.nan_to_num(scale))
    axes = linear / scale
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
        scale[0] *= -1.0
    gram = axes.T @ axes
    stretch = None
    if max(abs(gram[0, 1]), abs(gram[0, 2]), abs(gram[1, 2])) > _SHEAR:
        left, _, right = np.linalg.svd(axes * np.abs(scale))
        axes = left @ right
        stretch = axes.T @ linear
        scale = np.sign(scale) * np.linalg.norm(stretch, axis=0)
    scale = np.where(np.abs(np.abs(scale) - 1.0) < _UNIT, np.sign(scale), scale)
    return Placement(Pose(matrix[:3, 3].copy(), quat_from_matrix(axes)), scale, stretch)
