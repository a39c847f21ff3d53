# SPDX-License-Identifier: Apache-2.0
"""``newton:inertia`` as physics:diagonalInertia and physics:principalAxes.

Newton's six values are xx, yy, zz, xy, xz, yz about the centre of mass, and come before the diagonal where both are
there.  A diagonal that says the same stays as it is; six values that no body can have are not read where there is
one, and moments that no body can have become the nearest that one can, with a note of what they were.
"""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Usd, UsdPhysics

from simwright.core.math3d import matrix_from_quat
from simwright.model.inertia import matrix_from_six, principal_axes
from simwright.sanitizer.fixes.translation.engine_words import (
    Reasons,
    apply_schema,
    attempt,
    list_apis,
    read_authored,
)
from simwright.sanitizer.moments import DIAGONAL, write_possible
from simwright.usd.edit import Editor, Refused

SIX = "newton:inertia"
AXES = "physics:principalAxes"
_API = "NewtonMassAPI"
_SAME = 1e-7


def translate_inertia(editor: Editor, prim: Usd.Prim) -> tuple[set[str], Reasons]:
    """Ask for the core form; gives the words that go, and why others stay."""
    if not prim.GetAttribute(SIX).HasAuthoredValue():
        return set(), {}
    if _API not in list_apis(prim) or not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        return set(), {SIX: "nobody reads it: the prim is no rigid body with NewtonMassAPI"}
    reason = attempt(editor, lambda: _ask(editor, prim))
    return (set(), {SIX: reason}) if reason else ({SIX}, {})


def _ask(editor: Editor, prim: Usd.Prim) -> None:
    said = read_authored(prim, (SIX,))[SIX]
    six = np.array(said, dtype=np.float64).reshape(-1)
    matrix = matrix_from_six(six) if len(six) == 6 and np.all(np.isfinite(six)) else np.zeros((3, 3))
    moments, axes = principal_axes(matrix)
    # Newton reads six values only where they are an inertia; rounding may leave a moment just below zero
    counts = moments.max() > 0.0 and moments.min() >= -1e-6 * moments.max()
    if not counts and np.any(six) and not prim.GetAttribute(DIAGONAL).HasAuthoredValue():
        raise Refused("no body has such an inertia; are its values in the order xx, yy, zz, xy, xz, yz?")
    if counts and not _says_same(prim, matrix):
        _write(editor, prim, moments, axes)
    editor.remove_property(prim, SIX)


def _write(editor: Editor, prim: Usd.Prim, moments: np.ndarray, axes: np.ndarray) -> None:
    spec = editor.find_strongest(prim, SIX)
    assert spec is not None
    apply_schema(editor, prim, spec.owner, "PhysicsMassAPI")
    known = editor.find_strongest(prim, DIAGONAL)
    write_possible(editor, prim, spec.owner if known is None else known.owner, moments)
    editor.set_value(prim, AXES, Sdf.ValueTypeNames.Quatf, Gf.Quatf(*(float(value) for value in axes)))


def _says_same(prim: Usd.Prim, matrix: np.ndarray) -> bool:
    """Does the diagonal beside it give the same matrix?"""
    said = read_authored(prim, (DIAGONAL, AXES))
    if "PhysicsMassAPI" not in list_apis(prim) or DIAGONAL not in said or min(said[DIAGONAL]) <= 0.0:
        return False
    turn = np.eye(3)
    if AXES in said and said[AXES].GetLength() > 0.0:
        quaternion = said[AXES]
        turn = matrix_from_quat(np.array([quaternion.real, *quaternion.imaginary], dtype=np.float64))
    there = turn @ np.diag(np.array(said[DIAGONAL], dtype=np.float64)) @ turn.T
    return bool(np.abs(there - matrix).max() <= _SAME * np.abs(matrix).max())
