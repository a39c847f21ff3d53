# SPDX-License-Identifier: Apache-2.0
"""Poses and quaternions the way Newton writes them: position, then x, y, z, w."""

from __future__ import annotations

from typing import Any

from simwright.core.math3d import IDENTITY, Pose, VectorLike, quat_between, vec3


def as_xyzw(q: VectorLike) -> tuple[float, float, float, float]:
    """A quaternion w, x, y, z in Newton's order."""
    w, x, y, z = (float(v) for v in q)
    return x, y, z, w


def find_base(builder: Any, pose: Pose | None) -> Pose:
    """Where a Z-up asset stands in a builder, whose up axis may be another one."""
    up = vec3([float(v) for v in builder.up_vector])
    turn = quat_between((0.0, 0.0, 1.0), up)
    base = Pose(vec3(), turn) if up[2] < 1.0 else IDENTITY
    return base if pose is None else pose @ base
