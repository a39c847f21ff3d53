# SPDX-License-Identifier: Apache-2.0
"""Single-precision numbers of the arrays as the shortest numbers that mean them: 0.35, not 0.3499999940395355."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose, pose_from_seven, quat_normalize


def widen(values: Any) -> Array:
    """In double precision, rounded to the shortest decimals that single precision tells apart."""
    return np.asarray(values, dtype=np.float32).astype(str).astype(np.float64)


def take_pose(seven: Any) -> Pose:
    """A pose from position and quaternion x, y, z, w, made unit length."""
    pose = pose_from_seven(widen(seven).tolist())
    return Pose(pose.p, quat_normalize(pose.q))
