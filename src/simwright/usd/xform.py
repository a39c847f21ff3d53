# SPDX-License-Identifier: Apache-2.0
"""Transforms of prims as poses and scales, read from any stack of xformOps.

Who writes transforms uses the names here: ``xformOp:translate`` (double3) and ``xformOp:orient`` (quatd), nothing else
on a body (REP-0158 1.1).  OpenUSD's tools default to quatf, which has seven digits; the REP only says quaternion, and
double precision is what keeps a round trip exact to 1e-9.

Lengths are in the units of the stage: the format's reader applies metersPerUnit and upAxis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Array, Pose, quat_from_matrix, quat_normalize, vec3

TRANSLATE = "xformOp:translate"
ORIENT = "xformOp:orient"
SCALE = "xformOp:scale"
ORDER = "xformOpOrder"
_STANDARD = ((), (TRANSLATE,), (ORIENT,), (TRANSLATE, ORIENT), (TRANSLATE, ORIENT, SCALE))
_UNIT = vec3(1.0, 1.0, 1.0)
_SHEAR_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class PrimTransform:
    """A pose followed (on the inside) by a scale: a point goes to ``pose.apply(scale * point)``.

    ``sheared`` says that this is only the nearest such pair, ``mirrored`` that the handedness changes (an odd
    number of scales is negative), ``detached`` that the prim ignores its parent's transform.
    """

    pose: Pose = IDENTITY
    scale: Array = field(default_factory=_UNIT.copy)
    sheared: bool = False
    mirrored: bool = False
    detached: bool = False

    @property
    def is_rigid(self) -> bool:
        """Is it a pose and nothing else, to 1e-6?"""
        return not self.sheared and bool(np.all(np.abs(self.scale - 1.0) <= _SHEAR_TOLERANCE))

    @property
    def is_uniform(self) -> bool:
        """Is the scale the same in all directions, to 1e-6 of its size?"""
        spread = float(np.max(self.scale) - np.min(self.scale))
        return not self.sheared and spread <= _SHEAR_TOLERANCE * float(np.max(np.abs(self.scale)))


def read_local(prim: Any, time: Any = None) -> PrimTransform:
    """The prim's own transform in its parent; the identity for a prim that has none."""
    from pxr import Usd, UsdGeom

    xformable = UsdGeom.Xformable(prim)
    if not xformable:
        return PrimTransform()
    when = Usd.TimeCode.Default() if time is None else time
    direct = _read_standard(xformable, when)
    if direct is not None:
        return direct
    matrix = xformable.GetLocalTransformation(when)
    found = split_matrix(convert_matrix(matrix))
    detached = xformable.GetResetXformStack()
    return PrimTransform(found.pose, found.scale, found.sheared, found.mirrored, detached)


def read_world(prim: Any, cache: Any = None) -> PrimTransform:
    """The prim's transform in the stage; give the same ``UsdGeom.XformCache`` for many prims."""
    from pxr import UsdGeom

    cache = UsdGeom.XformCache() if cache is None else cache
    return split_matrix(convert_matrix(cache.GetLocalToWorldTransform(prim)))


def read_relative(prim: Any, base: Any, cache: Any = None) -> PrimTransform:
    """The prim's transform as seen from another prim (or from the stage, for the pseudo-root)."""
    from pxr import UsdGeom

    cache = UsdGeom.XformCache() if cache is None else cache
    world = cache.GetLocalToWorldTransform(prim)
    frame = cache.GetLocalToWorldTransform(base)
    if abs(frame.GetDeterminant()) < 1e-300:
        raise UsageError(
            f"the transform of {base.GetPath()} has no inverse", where=Where(prim=str(base.GetPath()))
        )
    return split_matrix(convert_matrix(world * frame.GetInverse()))


def convert_matrix(matrix: Any) -> Array:
    """A ``Gf.Matrix4d`` (row vectors) as a 4x4 column-vector array."""
    return np.array(matrix, dtype=np.float64).T


def split_matrix(matrix: npt.NDArray[Any]) -> PrimTransform:
    """The pose and scale of an affine 4x4 column-vector matrix."""
    linear = np.asarray(matrix, dtype=np.float64)[:3, :3]
    position = vec3(matrix[:3, 3])
    # column vectors: the length of a column is the scale along its axis
    scale = np.sqrt(np.einsum("ij,ij->j", linear, linear))
    size = float(scale.max())
    if size == 0.0 or not np.all(np.isfinite(linear)):
        return PrimTransform(Pose(position, IDENTITY.q), scale, sheared=not bool(np.all(np.isfinite(linear))))
    gram = linear.T @ linear
    skew = float(np.max(np.abs(gram - np.diag(np.diag(gram)))))
    sheared = skew > _SHEAR_TOLERANCE * size * size
    mirrored = bool(np.linalg.det(linear / size) < 0.0)
    # a column of no length has no direction, so dividing by it gives no rotation
    if sheared or float(scale.min()) < 1e-12 * size:
        rotation, signs = _nearest_rotation(linear, mirrored)
    else:
        rotation, signs = _fix_handedness(linear / scale, mirrored)
    return PrimTransform(Pose(position, quat_from_matrix(rotation)), scale * signs, sheared, mirrored)


def split_rows(rows: Sequence[Sequence[float]]) -> PrimTransform:
    """The same of a ``Gf.Matrix4d`` as numbers (row vectors): for one matrix a tenth of the time of arrays."""
    a, b, c = (row[:3] for row in rows[:3])
    squares = [_dot(axis, axis) for axis in (a, b, c)]
    size = max(squares)
    skew = max(abs(_dot(a, b)), abs(_dot(a, c)), abs(_dot(b, c)))
    volume = _dot(a, (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]))
    # also false where a number is not one: whatever is not plain takes the way that knows all cases
    if not (
        0.0 < size < math.inf
        and min(squares) >= 1e-20 * size
        and skew <= _SHEAR_TOLERANCE * size
        and volume > 0
    ):
        return split_matrix(np.array(rows).T)
    scale = [math.sqrt(square) for square in squares]
    columns = [[value / length for value in axis] for axis, length in zip((a, b, c), scale, strict=True)]
    return PrimTransform(Pose(vec3(rows[3][:3]), quat_normalize(_find_quat(columns))), np.array(scale))


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _find_quat(columns: list[list[float]]) -> tuple[float, float, float, float]:
    """A multiple, with w >= 0, of the quaternion of a rotation given by its columns; the largest component leads."""
    (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = columns
    trace = xx + yy + zz
    largest = max(trace, xx, yy, zz)
    if largest == trace:
        q = (1 + trace, zy - yz, xz - zx, yx - xy)
    elif largest == xx:
        q = (zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx)
    elif largest == yy:
        q = (xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy)
    else:
        q = (yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz)
    return q if q[0] >= 0 else (-q[0], -q[1], -q[2], -q[3])


def _read_standard(xformable: Any, when: Any) -> PrimTransform | None:
    """The common stacks, read without going through a matrix: exact and fast."""
    # imported late: who writes transforms needs the names above alone
    from simwright.usd.questions import attribute_of, items_of, value_of

    prim = xformable.GetPrim()
    order = tuple(items_of(value_of(attribute_of(prim, ORDER)) or ()))
    if order not in _STANDARD:
        return None
    position, turn, scale, mirrored = IDENTITY.p, IDENTITY.q, _UNIT.copy(), False
    for name in order:
        numbers = _read_numbers(prim, name, when)
        if numbers is None:
            return None
        if name == TRANSLATE:
            position = vec3(*numbers)
        elif name == ORIENT:
            turn = np.array(numbers, dtype=np.float64)
        else:
            scale = vec3(*numbers)
            # plain numbers: arrays of three take longer to ask than to read
            mirrored = math.prod(map(_sign, numbers)) < 0
    return PrimTransform(Pose.of(position, turn), scale, mirrored=mirrored)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _read_numbers(prim: Any, name: str, when: Any) -> tuple[float, ...] | None:
    """Three numbers of a vector or four of a turn, w first; None where OpenUSD decides what is meant.

    It does where the value is missing, blocked or of the wrong type, or a turn that is none.
    """
    from simwright.usd.questions import attribute_of, imaginary_of, unpack_of, value_of

    attribute = attribute_of(prim, name)
    value: Any = value_of(attribute, when) if attribute else None
    if name == ORIENT:
        unpack = imaginary_of.get(type(value))
        if unpack is None:
            return None
        numbers = (value.GetReal(), *unpack(value.GetImaginary()))
        return numbers if any(numbers) and all(map(math.isfinite, numbers)) else None
    unpack = unpack_of.get(type(value))
    return unpack(value) if unpack is not None and value.dimension == 3 else None


def _fix_handedness(rotation: Array, mirrored: bool) -> tuple[Array, Array]:
    """A proper rotation and the signs of the scale; the axis is flipped that turns the least."""
    signs = np.ones(3)
    if mirrored:
        signs[int(np.argmin(np.diag(rotation)))] = -1.0
    return rotation * signs, signs


def _nearest_rotation(linear: Array, mirrored: bool) -> tuple[Array, Array]:
    """The rotation nearest to a sheared or flat matrix, by singular values."""
    left, _, right = np.linalg.svd(linear)
    rotation, signs = _fix_handedness(left @ right, mirrored)
    if np.linalg.det(rotation) < 0:
        # the smallest singular value comes last: its axis can be flipped at the least change
        left[:, 2] *= -1.0
        rotation, signs = left @ right, np.ones(3)
    return rotation, signs
