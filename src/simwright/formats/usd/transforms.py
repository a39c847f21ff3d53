# SPDX-License-Identifier: Apache-2.0
"""World matrices: checked for values that are no transform, and taken apart into pose, scale and shear.

Matrices of OpenUSD are row-vector (``p' = p M``), those of the model column-vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from pxr import Usd, Vt

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, Pose, quats_from_matrices

if TYPE_CHECKING:
    from simwright.formats.usd.scan import StageScan
    from simwright.formats.usd.stage_reader import StageReader

TRANSFORM_INVALID = declare(
    "usd-transform-invalid",
    Level.ERROR,
    "the transform of {name!r} is not finite; it and all below are put at the origin of the stage",
    hint="correct its xformOps",
    doc="A transform holds NaN or infinity, or an operation that cannot be computed.",
    section="1.1",
)
TRANSFORM_FLAT = declare(
    "usd-transform-flat",
    Level.WARNING,
    "the transform of {name!r} scales an axis to zero; what is below has no volume",
    hint="give it a scale that is not zero",
    doc="A scale of zero flattens everything below; such colliders have no mass and no inside.",
    section="1.1",
)

TURN_INVALID = declare(
    "usd-turn-invalid",
    Level.ERROR,
    "the orientation of {name!r} is {value}, which is not a rotation; it is read as none",
    hint="author a quaternion of length one; (1, 0, 0, 0) means no rotation",
    doc="A quaternion of length zero, or one that is not finite.",
    section="1.1",
)

OPERATION_MISSING = declare(
    "usd-operation-missing",
    Level.ERROR,
    "xformOpOrder of {name!r} lists {operation}, which is not there; the prim is placed without it",
    hint="author the attribute, or take it out of xformOpOrder",
    doc="OpenUSD silently skips an operation that xformOpOrder lists but that is not authored.",
    section="1.1",
    loss=True,
)

_FLAT_AXIS = 1e-12
_ORDER = "xformOpOrder"


def check_turns(reader: StageReader, scan: StageScan) -> None:
    """Report quaternions without a direction: OpenUSD silently takes them as no turn."""
    for found in scan.list_authors("xformOp:orient"):
        turn = reader.get(found, "xformOp:orient")
        length = getattr(turn, "GetLength", None)  # an attribute of another type is no turn either
        if turn is not None and not (length and 0.0 < length() < math.inf):
            where = reader.where(found, "xformOp:orient")
            reader.reporter.report(TURN_INVALID, where, name=found.name, value=turn)


def check_operations(reader: StageReader, scan: StageScan) -> None:
    """Report operations that the order of a prim lists and that are not on it."""
    for found in scan.list_authors(_ORDER):
        names = found.authored
        # where values come from clips, names cannot be trusted; a transform that is refused has its own finding
        if names is None or found.path in reader.faulty:
            continue
        order, outline = reader.get(found, _ORDER), found.opinions.outline
        if type(order) is not Vt.TokenArray or order == outline.operations:
            continue  # a layer may say anything there; most prims of one outline say the same
        # by number: an OpenUSD array ends an iteration by an exception
        operations = [str(order[number]).removeprefix("!invert!") for number in range(len(order))]
        missing = [o for o in operations if o not in names and o.startswith("xformOp:")]
        for operation in missing:
            where = reader.where(found, _ORDER)
            reader.reporter.report(OPERATION_MISSING, where, name=found.name, operation=operation)
        if not missing:
            outline.operations = order


def are_sound(matrices: Array) -> bool:
    """Are all ``(n, 4, 4)`` row-vector matrices finite, with three axes each?"""
    if not np.isfinite(matrices).all():
        return False
    # rows are the axes in OpenUSD; squares are compared, which saves the roots
    return bool(np.all(np.sum(matrices[:, :3, :3] ** 2, axis=2) > _FLAT_AXIS**2))


def mend_transforms(reader: StageReader, prims: Sequence[Usd.Prim], matrices: Array) -> Array:
    """The matrices with the identity where one is not finite; what is wrong is reported."""
    mended = matrices.copy()
    for number, prim in enumerate(prims):
        if not np.all(np.isfinite(matrices[number])):
            mended[number] = np.eye(4)
            _report(reader, prim, finite=False)
        elif not are_sound(matrices[number : number + 1]):
            _report(reader, prim, finite=True)
    return mended


def _report(reader: StageReader, prim: Usd.Prim, *, finite: bool) -> None:
    """Name the topmost prim with the fault."""
    # all prims below a fault have it too: naming the topmost makes one finding of a thousand
    while prim.GetParent() and not _is_sound(reader, prim.GetParent(), finite=finite):
        prim = prim.GetParent()
    path = prim.GetPath().pathString
    if path not in reader.faulty:
        reader.faulty.add(path)
        kind = TRANSFORM_FLAT if finite else TRANSFORM_INVALID
        reader.reporter.report(kind, reader.where(prim), name=prim.GetName())


def _is_sound(reader: StageReader, prim: Usd.Prim, *, finite: bool) -> bool:
    matrix = np.array(reader.xforms.GetLocalToWorldTransform(prim), dtype=np.float64)
    if not finite:
        return bool(np.all(np.isfinite(matrix)))
    return are_sound(matrix[None])


# well above what single precision leaves between square axes (about 1e-7)
_SHEAR = 1e-5
_UNIT = 1e-6
_RIGID = 1e-7
"""Far below both: squares of lengths and products of axes of what is rigid but for rounding."""
_EYE = np.eye(3)
_FLAT_SCALE = 1e-12
_DIAGONAL = np.arange(3)
_FIRST, _SECOND = np.array((0, 0, 1)), np.array((1, 2, 2))
"""The three pairs of axes."""


@dataclass(frozen=True, slots=True, eq=False)
class ScaledPose:
    """``pose * diag(scale)``, or ``pose * stretch`` where the matrix is sheared; ``is_rigid``: all scales are one."""

    pose: Pose
    scale: Array
    stretch: Array | None = None
    is_rigid: bool = False

    @property
    def is_mirrored(self) -> bool:
        """Does it turn left hands into right hands?"""
        return not self.is_rigid and float(self.scale[0]) < 0.0

    @property
    def is_exact(self) -> bool:
        """Do pose and scale give the matrix back?"""
        return self.is_rigid or (self.stretch is None and min(map(abs, self.scale.tolist())) >= _FLAT_SCALE)

    @property
    def is_unscaled(self) -> bool:
        """Is it rigid?"""
        return self.is_rigid or (self.stretch is None and self.scale.tolist() == [1.0, 1.0, 1.0])


def decompose(matrix: Array) -> ScaledPose:
    """Pose, scale and shear of a 4x4 column-vector matrix."""
    return decompose_many(matrix[None])[0]


def decompose_many(matrices: Array) -> list[ScaledPose]:
    """The same for ``(n, 4, 4)`` matrices at once.

    Scales closer to one than single precision can tell are one.
    """
    if len(matrices) == 0:
        return []
    linear = matrices[:, :3, :3]
    # flat and infinite matrices divide by zero here; they are put aside by ``fit``
    with np.errstate(all="ignore"):
        products = linear.transpose(0, 2, 1) @ linear
        # not so of what is not a number
        if np.abs(products - _EYE).max() < _RIGID:
            rigid = _decompose_rigid(matrices, products)
            if rigid is not None:
                return rigid
        scale = np.sqrt(products[:, _DIAGONAL, _DIAGONAL])
        fit = np.all(np.isfinite(scale) & (scale >= _FLAT_SCALE), axis=1)
        skew = np.abs(products[:, _FIRST, _SECOND] / (scale[:, _FIRST] * scale[:, _SECOND])).max(axis=1)
    is_fit = bool(fit.all())
    if not is_fit:
        linear = np.where(fit[:, None, None], linear, np.eye(3))
    axes = linear / (scale if is_fit else np.where(fit[:, None], scale, 1.0))[:, None, :]
    # a mirroring cannot be a rotation: the first axis is turned round, and its scale is negative
    mirrored = np.linalg.det(axes) < 0.0
    if mirrored.any():
        axes[mirrored, :, 0] *= -1.0
        scale[mirrored, 0] *= -1.0
    stretches: dict[int, Array] = {}
    for i in np.flatnonzero(fit & (skew > _SHEAR)).tolist():
        axes[i], scale[i], stretches[i] = _unshear(axes[i], scale[i], linear[i])
    # rotations of float matrices leave scales of 1 + 1e-8, which would put a scale on every shape
    scale = np.where(np.abs(np.abs(scale) - 1.0) < _UNIT, np.sign(scale), scale)
    positions, turns = matrices[:, :3, 3].copy(), quats_from_matrices(axes)
    if not is_fit:
        lost = ~fit
        positions[lost], scale[lost] = np.nan_to_num(positions[lost]), np.nan_to_num(scale[lost])
    rows = enumerate(zip(positions, turns, scale, strict=True))
    return [ScaledPose(Pose(p, q), s, stretches.get(i)) for i, (p, q, s) in rows]


def _decompose_rigid(matrices: Array, products: Array) -> list[ScaledPose] | None:
    """The same where all scales are one but for rounding, as in most robots; None where something is mirrored."""
    axes = matrices[:, :3, :3] / np.sqrt(products[:, _DIAGONAL, _DIAGONAL])[:, None, :]
    if np.linalg.det(axes).min() < 0.0:
        return None
    turns, scales = quats_from_matrices(axes), np.ones((len(matrices), 3))
    rows = zip(matrices[:, :3, 3].copy(), turns, scales, strict=True)
    return [ScaledPose(Pose(p, q), s, None, True) for p, q, s in rows]


def _unshear(axes: Array, scale: Array, linear: Array) -> tuple[Array, Array, Array]:
    """The nearest rotation, the scale along its axes, and the whole remainder."""
    # polar decomposition: the nearest rotation in the least-squares sense
    left, _, right = np.linalg.svd(axes * np.abs(scale))
    rotation = left @ right
    stretch = rotation.T @ linear
    return rotation, np.sign(scale) * np.linalg.norm(stretch, axis=0), stretch
