# SPDX-License-Identifier: Apache-2.0
"""Transforms that are none: not finite, or flat because something is scaled to zero.

The first prim on the way down that has one is named, once; all below it share the fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array

if TYPE_CHECKING:
    from simwright.formats.usd.scan import Scan
    from simwright.formats.usd.source import Source

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
    "the orientation of {name!r} is {value}, which is no rotation; it is read as none",
    hint="author a quaternion of length one; (1, 0, 0, 0) is no rotation",
    doc="A quaternion of length zero, or one that is not finite.",
    section="1.1",
)

_FLAT = 1e-12


def check_turns(source: Source, scan: Scan) -> None:
    """Report quaternions without a direction: OpenUSD silently takes them as no turn."""
    for found in scan.all.values():
        if found.authored is None or "xformOp:orient" in found.authored:
            turn = source.get(found, "xformOp:orient")
            length = getattr(turn, "GetLength", None)  # an attribute of another type is no turn either
            if turn is not None and not (length and 0.0 < length() < math.inf):
                where = source.where(found, "xformOp:orient")
                source.reporter.report(TURN_INVALID, where, name=found.name, value=turn)


def are_sound(matrices: Array) -> bool:
    """Are all ``(n, 4, 4)`` row-vector matrices finite, with three axes each?"""
    if not np.isfinite(matrices).all():
        return False
    return bool(np.all(np.sum(matrices[:, :3, :3] ** 2, axis=2) > _FLAT**2))


def mend_transforms(source: Source, prims: Sequence[Usd.Prim], matrices: Array) -> Array:
    """The matrices with the identity where one is not finite; what is wrong is reported."""
    mended = matrices.copy()
    for number, prim in enumerate(prims):
        if not np.all(np.isfinite(matrices[number])):
            mended[number] = np.eye(4)
            _report(source, prim, finite=False)
        elif not are_sound(matrices[number : number + 1]):
            _report(source, prim, finite=True)
    return mended


def _report(source: Source, prim: Usd.Prim, *, finite: bool) -> None:
    """Name the topmost prim with the fault."""
    while prim.GetParent() and not _is_sound(source, prim.GetParent(), finite=finite):
        prim = prim.GetParent()
    path = prim.GetPath().pathString
    if path not in source.faulty:
        source.faulty.add(path)
        kind = TRANSFORM_FLAT if finite else TRANSFORM_INVALID
        source.reporter.report(kind, source.where(prim), name=prim.GetName())


def _is_sound(source: Source, prim: Usd.Prim, *, finite: bool) -> bool:
    matrix = np.array(source.xforms.GetLocalToWorldTransform(prim), dtype=np.float64)
    if not finite:
        return bool(np.all(np.isfinite(matrix)))
    return are_sound(matrix[None])
