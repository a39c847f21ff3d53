# SPDX-License-Identifier: Apache-2.0
"""Moments of inertia that no body can have: the nearest possible ones are written, what was said is noted beside them.

Engines reject impossible moments or repair them, each in its own way, so a stage must not have any.  Who reads notes
(ADR 5) goes on reading what the asset said, so the machine stays what it was; everybody else gets the same nearest
moments.
"""

from __future__ import annotations

import numpy as np
from pxr import Gf, Sdf, Usd, Vt

from simwright.core.math3d import VectorLike
from simwright.model.inertia import find_nearest_moments
from simwright.usd.edit import Editor
from simwright.usd.notes import SPACE, VALUES, mark_layer

DIAGONAL = "physics:diagonalInertia"


def write_possible(editor: Editor, prim: Usd.Prim, home: Sdf.PrimSpec, moments: VectorLike) -> None:
    """Ask for the moments, or for the nearest possible ones and a note of what was said."""
    said = np.asarray(moments, dtype=np.float64)
    # tiny negative moments come from rounding of an eigenvalue that is zero
    nearest = find_nearest_moments(np.maximum(said, 0.0))
    editor.set_spec_value(home, DIAGONAL, Sdf.ValueTypeNames.Float3, Gf.Vec3f(*(float(v) for v in nearest)))
    # the stage keeps single precision: a difference below that is none
    if np.allclose(nearest, said, rtol=1e-6, atol=0.0):
        return
    _note(editor, home, said.tolist())
    editor.expected.mended_moments[str(prim.GetPath())] = (tuple(said.tolist()), tuple(nearest.tolist()))


def rescale_note(editor: Editor, spec: Sdf.PrimSpec, factor: float) -> None:
    """Ask for noted moments in other units."""
    said = (
        spec.customData.get(SPACE, {}).get("moments")
        if factor != 1.0 and spec.HasInfo("customData")
        else None
    )
    if said is not None:
        _note(editor, spec, [float(value) * factor for value in said], mark=False)


def _note(editor: Editor, home: Sdf.PrimSpec, moments: list[float], *, mark: bool = True) -> None:
    def apply() -> None:
        known = dict(home.customData.get(SPACE, {}))
        words = {**known, "moments": Vt.DoubleArray(moments)}
        home.SetInfo("customData", {**home.customData, SPACE: words})
        if mark:
            mark_layer(home.layer, VALUES)

    editor.add(home.layer, home.path, f"a note of the moments {tuple(moments)}", apply)
