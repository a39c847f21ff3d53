# SPDX-License-Identifier: Apache-2.0
"""Coordinates from poses: where a joint has to be for its child to be where it stands.

The way of a joint from its parent frame to its child frame is known when both bodies have a pose.  Coordinates are
looked for that make the same way; what is left is what no coordinate of the joint can make up for.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_angle, quat_conjugate, quat_multiply
from simwright.model.joint import Dof, Joint, Motion

_ROUNDS = 30
_EXACT = 1e-13
_LONGEST = 1.0
"""Largest step of a coordinate in one round [rad, m]."""


def measure_way(joint: Joint, parent: Pose, child: Pose) -> Pose:
    """The child frame in the parent frame of a joint, for bodies at these poses."""
    return ~joint.parent_frame @ ~parent @ child @ joint.child_frame


def make_way(joint: Joint, coordinates: Array) -> Pose:
    """The child frame in the parent frame at these coordinates."""
    pose, start = IDENTITY, 0
    for dof in joint.dofs:
        pose = pose @ dof.transform(coordinates[start : start + dof.positions])
        start += dof.positions
    return pose


def measure_gap(a: Pose, b: Pose) -> tuple[float, float]:
    """How far two poses are apart [m] and turned [rad]."""
    return float(np.linalg.norm(a.p - b.p)), quat_angle(a.q, b.q)


def solve_coordinates(joint: Joint, way: Pose) -> Array:
    """Coordinates at which a joint comes nearest to a way, in radians within half a turn or within its limits."""
    motions = [dof.motion for dof in joint.dofs]
    if motions == [Motion.FREE]:
        return np.concatenate((way.p, way.q))
    if motions == [Motion.BALL]:
        return np.array(way.q)
    if any(motion not in (Motion.HINGE, Motion.SLIDE) for motion in motions):
        return joint.neutral()
    found = joint.neutral()
    if not joint.dofs or make_way(joint, found).is_close(way, 1e-12):
        return found
    found = _descend(joint, way, _guess(joint, way))
    return np.array([_wind(dof, float(value)) for dof, value in zip(joint.dofs, found, strict=True)])


def _guess(joint: Joint, way: Pose) -> Array:
    """Each freedom as if it were the only one."""
    return np.array([dof.ref + _project(dof, way) for dof in joint.dofs])


def _project(dof: Dof, way: Pose) -> float:
    along = float(dof.axis @ way.p)
    if dof.motion is Motion.SLIDE:
        return along
    if dof.pitch:
        return along / dof.pitch
    return 2.0 * math.atan2(float(dof.axis @ way.q[1:]), float(way.q[0]))


def _descend(joint: Joint, way: Pose, start: Array) -> Array:
    """Least squares, step by step; the best coordinates on the way."""
    now, best, least = start, start, math.inf
    for _ in range(_ROUNDS):
        pose = make_way(joint, now)
        error = _subtract(way, pose)
        size = float(error @ error)
        if size < least:
            best, least = now, size
        if size < _EXACT:
            break
        slopes = np.stack([_find_slope(joint, now, pose, number) for number in range(len(now))], axis=1)
        step, *_ = np.linalg.lstsq(slopes, error, rcond=1e-9)
        now = now + np.clip(step, -_LONGEST, _LONGEST)
    return best


def _find_slope(joint: Joint, at: Array, pose: Pose, number: int) -> Array:
    """How the way changes with one coordinate."""
    small = 1e-6
    moved = at.copy()
    moved[number] += small
    return _subtract(make_way(joint, moved), pose) / small


def _subtract(a: Pose, b: Pose) -> Array:
    """From one pose to another: shift [m], and turn as a vector [rad]."""
    turn = quat_multiply(a.q, quat_conjugate(b.q))
    turn = turn if turn[0] >= 0.0 else -turn
    size = float(np.linalg.norm(turn[1:]))
    factor = 2.0 * math.atan2(size, float(turn[0])) / size if size > 1e-12 else 2.0
    return np.concatenate((a.p - b.p, factor * turn[1:]))


def _wind(dof: Dof, value: float) -> float:
    """A hinge by whole turns into its limits, or else to within half a turn of its zero; screws count their turns."""
    if dof.motion is not Motion.HINGE or dof.pitch:
        return value
    turned = dof.ref + math.remainder(value - dof.ref, 2.0 * math.pi)
    for candidate in (turned, turned + 2.0 * math.pi, turned - 2.0 * math.pi):
        if dof.lower <= candidate <= dof.upper:
            return candidate
    return turned
