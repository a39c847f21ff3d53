# SPDX-License-Identifier: Apache-2.0
"""Rotations and rigid transforms.  Quaternions are w, x, y, z; angles are radians; lengths metres.

Everything works on float64 numpy arrays.  :class:`Pose` is the rigid transform used across the model:
``a @ b`` composes (first ``b``, then ``a``), ``~a`` inverts, ``a.apply(points)`` transforms points.

Functions named ``quat_...`` take one quaternion, ``quats_...`` any number of them in the last axis of an array, and
``poses_...`` rows of seven numbers: position, quaternion w, x, y, z.  Arrays of Newton and of scenes have quaternions
x, y, z, w: they pass :func:`to_wxyz` on their way in and :func:`to_xyzw` on their way out.

The model is SI and radians; anything else is converted at a format's edge, with the factors below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

DEGREE = math.pi / 180.0
"""Radians in a degree: ``radians = degrees * DEGREE``; per-degree gains divide by it."""

STANDARD_GRAVITY = 9.81
"""Gravity magnitude UsdPhysics, MuJoCo and Gazebo fall back to [m/s^2]."""


Array: TypeAlias = npt.NDArray[np.float64]

HUGE = 1e50
"""No length, mass or stiffness is larger; powers of what is would leave the range of floating point."""
VectorLike: TypeAlias = Sequence[float] | npt.NDArray[Any]

Seven: TypeAlias = tuple[float, float, float, float, float, float, float]
"""A pose as Newton and scene files write it: position [m], quaternion x, y, z, w."""

IDENTITY_QUAT = (1.0, 0.0, 0.0, 0.0)
_POLE = 1e-15
_UNIT = 1e-14
"""How far from 1 the length of a unit quaternion may be, as in MuJoCo: dividing again would change its last bits."""


def vec3(x: VectorLike | float = 0.0, y: float = 0.0, z: float = 0.0) -> Array:
    """A 3-vector from a sequence or from three numbers."""
    if isinstance(x, (int, float)):
        return np.array((x, y, z), dtype=np.float64)
    return np.array(x, dtype=np.float64).reshape(3)


def _numbers(values: VectorLike) -> list[float]:
    """As Python floats, which small formulas are fastest with."""
    if isinstance(values, np.ndarray):
        numbers: list[float] = values.tolist()
        return numbers
    return [float(v) for v in values]


def quat_normalize(q: VectorLike) -> Array:
    """Unit quaternion; the zero quaternion becomes identity, and one of length 1 up to rounding stays as it is."""
    w, x, y, z = _numbers(q)
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    if abs(norm - 1.0) <= _UNIT:
        return np.array((w, x, y, z))
    # files hold zero quaternions for "no rotation"; below this the division would overflow
    if norm < 1e-300 or not math.isfinite(norm):
        return np.array(IDENTITY_QUAT)
    return np.array((w / norm, x / norm, y / norm, z / norm))


def quat_multiply(a: VectorLike, b: VectorLike) -> Array:
    """Hamilton product ``a * b`` (rotate by ``b`` first)."""
    return np.array(multiply_numbers(_numbers(a), _numbers(b)))


def multiply_numbers(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float, float]:
    """:func:`quat_multiply` of plain numbers, where no array is needed."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_conjugate(q: VectorLike) -> Array:
    """The inverse of a unit quaternion."""
    return np.array((float(q[0]), -float(q[1]), -float(q[2]), -float(q[3])))


def quat_rotate(q: VectorLike, v: VectorLike) -> Array:
    """Rotate vectors (``(3,)`` or ``(n, 3)``) by a unit quaternion."""
    vectors = np.asarray(v, dtype=np.float64)
    if vectors.ndim == 1:
        return np.array(_rotate(_numbers(q), vectors.tolist()))
    return vectors @ matrix_from_quat(q).T


def matrix_from_quat(q: VectorLike) -> Array:
    """3x3 rotation matrix of a unit quaternion."""
    w, x, y, z = _numbers(q)
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def quat_from_matrix(m: npt.NDArray[Any]) -> Array:
    """Unit quaternion (w >= 0) of a 3x3 rotation matrix, by the largest-component method."""
    m = np.asarray(m, dtype=np.float64)
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    candidates = np.array((trace, m[0, 0], m[1, 1], m[2, 2]))
    # the largest component is divided by: with the trace alone, turns near half a circle lose half of
    # their digits
    i = int(np.argmax(candidates))
    if i == 0:
        q = np.array((1 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]))
    elif i == 1:
        q = np.array(
            (m[2, 1] - m[1, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0])
        )
    elif i == 2:
        q = np.array(
            (m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1 - m[0, 0] + m[1, 1] - m[2, 2], m[1, 2] + m[2, 1])
        )
    else:
        q = np.array(
            (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1 - m[0, 0] - m[1, 1] + m[2, 2])
        )
    q = quat_normalize(q)
    return -q if q[0] < 0 else q


def matrices_from_quats(q: npt.NDArray[Any]) -> Array:
    """``(n, 3, 3)`` rotation matrices of ``(n, 4)`` unit quaternions."""
    w, x, y, z = np.asarray(q, dtype=np.float64).T
    m = np.empty((len(q), 3, 3))
    m[:, 0, 0], m[:, 0, 1], m[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    m[:, 1, 0], m[:, 1, 1], m[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    m[:, 2, 0], m[:, 2, 1], m[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return m


def quats_from_matrices(m: npt.NDArray[Any]) -> Array:
    """``(n, 4)`` unit quaternions (w >= 0) of ``(n, 3, 3)`` rotation matrices (see :func:`quat_from_matrix`)."""
    m = np.asarray(m, dtype=np.float64)
    a, b, c = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    x, y, z = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    rows = np.array(
        (
            (1 + a + b + c, x, y, z),
            (x, 1 + a - b - c, xy, xz),
            (y, xy, 1 - a + b - c, yz),
            (z, xz, yz, 1 - a - b + c),
        )
    )
    largest = np.argmax((a + b + c, a, b, c), axis=0)
    q = np.ascontiguousarray(rows[largest, :, np.arange(len(m))])
    norm = np.sqrt(np.einsum("ij,ij->i", q, q))
    # the same cases as in quat_normalize, so that one pose and many give the same
    lost = (norm < 1e-300) | ~np.isfinite(norm)
    q /= np.where(lost, 1.0, norm)[:, None]
    q[lost] = IDENTITY_QUAT
    return np.where(q[:, :1] < 0.0, -q, q)


def quat_from_axis_angle(axis: VectorLike, angle: float) -> Array:
    """Rotation by ``angle`` [rad] about ``axis`` (normalised here; the zero axis gives identity)."""
    direction = np.asarray(axis, dtype=np.float64)
    norm = float(np.linalg.norm(direction))
    if norm == 0.0:
        return np.array(IDENTITY_QUAT)
    half = 0.5 * angle
    return np.array((math.cos(half), *(math.sin(half) / norm * direction)))


def quat_from_rpy(rpy: VectorLike) -> Array:
    """Fixed-axis roll, pitch, yaw (URDF and SDF): ``Rz(yaw) Ry(pitch) Rx(roll)``."""
    roll, pitch, yaw = (0.5 * float(v) for v in rpy)
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        )
    )


def rpy_from_quat(q: VectorLike) -> Array:
    """Fixed-axis roll, pitch, yaw of a unit quaternion, exact also near the poles; at a pole the roll is zero.

    Half the sum and half the difference of roll and yaw stand apart in the quaternion, each with a factor that is the
    sine or cosine of the pitch turned by an eighth; at a pole one of them means nothing, and is chosen.
    """
    w, x, y, z = _numbers(q)
    up, down = math.hypot(w + y, x - z), math.hypot(w - y, x + z)
    difference, total = 2.0 * math.atan2(x - z, w + y), 2.0 * math.atan2(x + z, w - y)
    if down < _POLE:
        total = -difference
    elif up < _POLE:
        difference = -total
    pitch = 2.0 * math.atan2(up, down) - math.pi / 2
    roll, yaw = (difference + total) / 2, (total - difference) / 2
    return np.array((math.remainder(roll, math.tau), pitch, math.remainder(yaw, math.tau)))


def quat_between(a: VectorLike, b: VectorLike) -> Array:
    """The shortest rotation that turns direction ``a`` into direction ``b``."""
    start = np.asarray(a, dtype=np.float64)
    end = np.asarray(b, dtype=np.float64)
    start = start / np.linalg.norm(start)
    end = end / np.linalg.norm(end)
    dot = float(start @ end)
    if dot < -1 + 1e-12:
        # opposite directions: any axis across will do, and x is not one where both lie along it
        other = np.array((1.0, 0, 0)) if abs(start[0]) < 0.9 else np.array((0, 1.0, 0))
        return quat_from_axis_angle(np.cross(start, other), math.pi)
    return quat_normalize(np.array((1 + dot, *np.cross(start, end))))


def quat_from_intrinsic_xyz(roll: float, pitch: float, yaw: float) -> Array:
    """Turned about x, then about the turned y, then about the turned z [rad]: ``Rx(roll) Ry(pitch) Rz(yaw)``."""
    cx, sx = math.cos(roll / 2), math.sin(roll / 2)
    cy, sy = math.cos(pitch / 2), math.sin(pitch / 2)
    cz, sz = math.cos(yaw / 2), math.sin(yaw / 2)
    return np.array(
        (
            cx * cy * cz - sx * sy * sz,
            sx * cy * cz + cx * sy * sz,
            cx * sy * cz - sx * cy * sz,
            cx * cy * sz + sx * sy * cz,
        )
    )


def quat_from_rotation_vector(vector: Array) -> Array:
    """Rotation about the direction of a vector, by its length [rad]."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.array(IDENTITY_QUAT)
    half = 0.5 * angle
    return quat_normalize([np.cos(half), *(np.sin(half) * vector / angle)])


def rotation_vector_between(a: VectorLike, b: VectorLike) -> Array:
    """The rotation vector [rad] that turns orientation ``a`` into ``b``, in the axes that both are given in."""
    # by matrices: the quaternion of the product has w >= 0, so the turn is the shorter one
    w, *axis = quat_from_matrix(matrix_from_quat(b) @ matrix_from_quat(a).T)
    vector = np.array(axis)
    size = float(np.linalg.norm(vector))
    if size < 1e-12:
        return np.zeros(3)
    angle = 2.0 * np.arctan2(size, w)
    angle = float(angle if angle <= np.pi else angle - 2.0 * np.pi)
    return np.array(vector * (angle / size))


def quat_slerp(a: VectorLike, b: VectorLike, share: float) -> Array:
    """A rotation between two unit quaternions along the shorter arc, at a share from 0 to 1."""
    start, end = _numbers(a), _numbers(b)
    cosine = sum(x * y for x, y in zip(start, end, strict=True))
    if cosine < 0.0:
        # q and -q are the same rotation: of the two arcs the shorter is taken
        cosine, end = -cosine, [-value for value in end]
    angle = math.acos(min(1.0, cosine))
    if angle < 1e-9:
        return np.array(end if share > 0.5 else start)
    first, second = math.sin((1.0 - share) * angle), math.sin(share * angle)
    w, x, y, z = ((first * p + second * q) / math.sin(angle) for p, q in zip(start, end, strict=True))
    length = math.sqrt(w * w + x * x + y * y + z * z)
    return np.array((w / length, x / length, y / length, z / length))


def quat_angle(a: VectorLike, b: VectorLike) -> float:
    """Angle [rad] of the rotation between two orientations; exact for small angles too."""
    # by atan2: acos of the real part knows angles below 1e-8 only as zero
    delta = quat_multiply(quat_conjugate(a), b)
    return 2.0 * math.atan2(float(np.linalg.norm(delta[1:])), abs(float(delta[0])))


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """A rigid transform: translation ``p`` [m] and unit quaternion ``q`` (w, x, y, z)."""

    p: Array
    q: Array

    @classmethod
    def identity(cls) -> Pose:
        """No translation, no rotation."""
        return IDENTITY

    @classmethod
    def of(cls, p: VectorLike = (0.0, 0.0, 0.0), q: VectorLike = IDENTITY_QUAT) -> Pose:
        """From any sequences; the quaternion is normalised."""
        return cls(vec3(p), quat_normalize(q))

    @classmethod
    def from_rpy(cls, p: VectorLike, rpy: VectorLike) -> Pose:
        """From a translation and fixed-axis roll, pitch, yaw [rad]."""
        return cls(vec3(p), quat_from_rpy(rpy))

    @classmethod
    def from_matrix(cls, m: npt.NDArray[Any]) -> Pose:
        """From a 4x4 column-vector matrix without scale."""
        m = np.asarray(m, dtype=np.float64)
        return cls(m[:3, 3].copy(), quat_from_matrix(m[:3, :3]))

    @property
    def rotation(self) -> Array:
        """3x3 rotation matrix."""
        return matrix_from_quat(self.q)

    @property
    def rpy(self) -> Array:
        """Fixed-axis roll, pitch, yaw [rad]."""
        return rpy_from_quat(self.q)

    @property
    def matrix(self) -> Array:
        """4x4 column-vector matrix."""
        m = np.eye(4)
        m[:3, :3] = self.rotation
        m[:3, 3] = self.p
        return m

    def __matmul__(self, other: Pose) -> Pose:
        if self is IDENTITY:
            # the same numbers: adding zero turns negative zeros into positive ones, as the products do
            return Pose(other.p + 0.0, quat_normalize(other.q + 0.0))
        # plain numbers: for single poses they are several times faster than small arrays
        x, y, z = self.p.tolist()
        dx, dy, dz = _rotate(self.q.tolist(), other.p.tolist())
        product = quat_normalize(quat_multiply(self.q.tolist(), other.q.tolist()))
        return Pose(np.array((x + dx, y + dy, z + dz)), product)

    def __invert__(self) -> Pose:
        w, x, y, z = self.q.tolist()
        dx, dy, dz = _rotate((w, -x, -y, -z), self.p.tolist())
        return Pose(np.array((-dx, -dy, -dz)), np.array((w, -x, -y, -z)))

    def apply(self, points: VectorLike) -> Array:
        """Transform points ``(3,)`` or ``(n, 3)``."""
        return quat_rotate(self.q, points) + self.p

    def move(self, point: Sequence[float]) -> tuple[float, float, float]:
        """One point as plain numbers: faster than :meth:`apply` where there is only one."""
        x, y, z = self.p.tolist()
        dx, dy, dz = _rotate(self.q.tolist(), point)
        return x + dx, y + dy, z + dz

    def is_identity(self, tolerance: float = 0.0) -> bool:
        """Is it the identity, up to ``tolerance`` in each component?"""
        q = self.q if self.q[0] >= 0 else -self.q
        return bool(np.all(np.abs(self.p) <= tolerance) and np.all(np.abs(q - IDENTITY_QUAT) <= tolerance))

    def is_close(self, other: Pose, tolerance: float = 1e-9) -> bool:
        """Same translation [m] and same rotation [rad] up to ``tolerance``; q and -q are the same."""
        return bool(
            np.all(np.abs(self.p - other.p) <= tolerance) and quat_angle(self.q, other.q) <= tolerance
        )

    def __repr__(self) -> str:
        p, q = (", ".join(_show(value) for value in values) for values in (self.p, self.q))
        return f"Pose(p=({p}), q=({q}))"


# Many rotations at once.  The terms stand in another order than in the functions for one rotation, which changes last
# bits: results of stepping engines are held bit by bit, so neither may be made by the other.


def cross(a: Array, b: Array) -> Array:
    """Cross products of the last axis; the same numbers as numpy's, in a tenth of its time for few vectors."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=np.float64)
    a0, a1, a2, b0, b1, b2 = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    product[..., 0] = a1 * b2 - a2 * b1
    product[..., 1] = a2 * b0 - a0 * b2
    product[..., 2] = a0 * b1 - a1 * b0
    return product


def quats_multiply(a: Array, b: Array) -> Array:
    """Hamilton products ``a * b`` (rotate by ``b`` first)."""
    aw, av, bw, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    vector = aw * bv + bw * av + cross(av, bv)
    scalar = aw * bw - (av * bv).sum(axis=-1, keepdims=True)
    return np.concatenate((scalar, vector), axis=-1)


def quats_conjugate(q: Array) -> Array:
    """The inverses of unit quaternions."""
    inverse: Array = q * np.array((1.0, -1.0, -1.0, -1.0))
    return inverse


def quats_normalize(q: Array) -> Array:
    """Unit quaternions; zero becomes identity, and those of length 1 up to rounding stay as they are."""
    w, x, y, z = (q[..., i : i + 1] for i in range(4))
    norm = np.sqrt(x * x + y * y + z * z + w * w)
    scaled = np.where(np.abs(norm - 1.0) <= _UNIT, q, q / np.maximum(norm, 1e-12))
    return np.where(norm > 0.0, scaled, np.array(IDENTITY_QUAT))


def quats_rotate(q: Array, v: VectorLike) -> Array:
    """Vectors (..., 3) rotated by unit quaternions (..., 4), one each; leading axes are broadcast."""
    given = np.asarray(v, dtype=np.float64)
    scalar, vector = q[..., :1], q[..., 1:]
    twice = 2.0 * cross(vector, given)
    rotated: Array = given + scalar * twice + cross(vector, twice)
    return rotated


def quats_about_axis(axis: Array, angles: Array) -> Array:
    """Rotations by angles [rad] about one axis, which counts as it is, of unit length or not."""
    half = 0.5 * angles[..., None]
    return np.concatenate((np.cos(half), axis * np.sin(half)), axis=-1)


def poses_compose(a: Array, b: Array) -> Array:
    """``a @ b`` of rows of seven numbers (first ``b``, then ``a``); quaternions are not normalised."""
    place = a[..., :3] + quats_rotate(a[..., 3:], b[..., :3])
    return np.concatenate((place, quats_multiply(a[..., 3:], b[..., 3:])), axis=-1)


def poses_invert(poses: Array) -> Array:
    """The inverses of rows of seven numbers."""
    back = quats_conjugate(poses[..., 3:])
    return np.concatenate((-quats_rotate(back, poses[..., :3]), back), axis=-1)


def to_wxyz(rows: npt.NDArray[Any]) -> Array:
    """Rows that end in a quaternion x, y, z, w, as float64 with w first: quaternions alone or poses."""
    return np.concatenate((rows[..., :-4], rows[..., -1:], rows[..., -4:-1]), axis=-1, dtype=np.float64)


def to_xyzw(rows: npt.NDArray[Any]) -> Array:
    """Rows that end in a quaternion w, x, y, z, as float64 with w last: the way back of :func:`to_wxyz`."""
    return np.concatenate((rows[..., :-4], rows[..., -3:], rows[..., -4:-3]), axis=-1, dtype=np.float64)


def pose_to_seven(pose: Pose) -> Seven:
    """Position [m], then quaternion x, y, z, w."""
    (px, py, pz), (w, x, y, z) = pose.p.tolist(), pose.q.tolist()
    return px, py, pz, x, y, z, w


def pose_from_seven(seven: Sequence[float]) -> Pose:
    """A pose from position [m] and quaternion x, y, z, w, which is taken as it is."""
    px, py, pz, x, y, z, w = seven
    return Pose(np.array((px, py, pz)), np.array((w, x, y, z)))


def _show(value: float) -> str:
    """Six digits; what is only rounding shows as zero."""
    return "0" if abs(value) < 1e-12 else f"{value:.6g}"


def _rotate(q: Sequence[float], v: Sequence[float]) -> tuple[float, float, float]:
    """One vector turned by a unit quaternion, with the terms of :func:`matrix_from_quat`."""
    w, x, y, z = q
    a, b, c = v
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c,
        2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c,
        2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c,
    )


def _frozen(values: Sequence[float]) -> Array:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


IDENTITY = Pose(_frozen((0.0, 0.0, 0.0)), _frozen(IDENTITY_QUAT))
