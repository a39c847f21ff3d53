# SPDX-License-Identifier: Apache-2.0
"""The transform of a prim written as translate, orient and, where there is one, scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom

from simwright.sanitizer.conversion.index import SpecIndex
from simwright.sanitizer.conversion.sites import SpecSite, drop_properties, find_site, write_value
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, ORIENT, SCALE, TRANSLATE, PrimTransform

PREFIX = "xformOp:"
INVERT = "!invert!"
RESET = "!resetXformStack!"
Moment = tuple[float | None, PrimTransform]
Array = np.ndarray[Any, Any]


def read_order(prim: Usd.Prim) -> list[str]:
    """The tokens of xformOpOrder."""
    attribute = prim.GetAttribute(ORDER)
    return list(attribute.Get() or ()) if attribute else []


def read_matrices(prim: Usd.Prim) -> list[tuple[float | None, Array]]:
    """The local transform at the default time (None) and at every time sample; columns are axes."""
    xformable = UsdGeom.Xformable(prim)
    if not xformable:
        return [(None, np.eye(4))]
    try:
        codes = [(None, Usd.TimeCode.Default()), *((t, Usd.TimeCode(t)) for t in xformable.GetTimeSamples())]
        return [(time, _read_matrix(xformable, code)) for time, code in codes]
    except Tf.ErrorException:
        raise Refused(
            f"OpenUSD cannot read the ops of {prim.GetPath()}; decide what they should be"
        ) from None


def _read_matrix(xformable: UsdGeom.Xformable, time: Usd.TimeCode) -> Array:
    return np.array(xformable.GetLocalTransformation(time), dtype=np.float64).T


def write_ops(editor: Editor, index: SpecIndex, prim: Usd.Prim, moments: Sequence[Moment]) -> None:
    """Ask for a transform; a sheared one is refused."""
    if any(moment.sheared for _, moment in moments):
        raise Refused(
            f"the transform of {prim.GetPath()} would shear, which translate, orient and scale cannot express"
        )
    place = find_site(editor, index, prim, lambda name: name == ORDER or name.startswith(PREFIX))
    scaled = any(not moment.is_rigid for _, moment in moments)
    wanted = [TRANSLATE, ORIENT, SCALE] if scaled else [TRANSLATE, ORIENT]
    write_stack(editor, prim, place, moments, wanted)


def write_stack(
    editor: Editor, prim: Usd.Prim, place: SpecSite, moments: Sequence[Moment], wanted: list[str]
) -> None:
    """Ask for the ops in one place, and for all others to go."""
    tokens = read_order(prim)
    # one function: which ops go, come and stay is one question, and their values share the loop over time
    used = {token.removeprefix(INVERT) for token in tokens if token != RESET} - set(wanted)
    drop_properties(editor, prim, place, used)
    columns: dict[str, tuple[Any, dict[float | None, Any]]] = {}
    last: Array | None = None
    for time, moment in _list_said(prim, moments):
        turn = np.asarray(moment.pose.q, dtype=np.float64)
        # q and -q are one rotation, but OpenUSD interpolates between samples: neighbours have to have the
        # same sign
        flip = last is not None and float(np.dot(last, turn)) < 0.0
        last = -turn if flip else turn
        for name, kind, value in list_values(moment, scaled=SCALE in wanted):
            columns.setdefault(name, (kind, {}))[1][time] = -value if flip and name == ORIENT else value
    for name, (kind, values) in columns.items():
        samples = {time: value for time, value in values.items() if time is not None}
        write_value(editor, place, name, kind, values.get(None), samples=samples)
    if tokens != wanted:
        write_value(editor, place, ORDER, Sdf.ValueTypeNames.TokenArray, wanted, uniform=True)


def _list_said(prim: Usd.Prim, moments: Sequence[Moment]) -> list[Moment]:
    """The moments to write: without the default time where nobody says it and time samples hide it."""
    if len(moments) == 1:
        return list(moments)
    ops = UsdGeom.Xformable(prim).GetOrderedXformOps()
    # a default that nobody wrote would become an opinion of its own
    said = any(op.GetAttr().HasAuthoredValue() and op.GetAttr().Get() is not None for op in ops)
    return [m for m in moments if m[0] is not None or said or not is_identity(m[1])]


def is_identity(moment: PrimTransform) -> bool:
    """Is there nothing to say?"""
    same = np.all(moment.scale == 1.0) and np.all(moment.pose.p == 0.0)
    return bool(same and np.abs(moment.pose.q - (1.0, 0.0, 0.0, 0.0)).max() <= 1e-15)


def list_values(moment: PrimTransform, *, scaled: bool) -> list[tuple[str, Any, Any]]:
    """Name, type and value of each op."""
    w, x, y, z = (float(value) + 0.0 for value in moment.pose.q)
    kinds = Sdf.ValueTypeNames
    values = [
        (TRANSLATE, kinds.Double3, Gf.Vec3d(*(float(v) + 0.0 for v in moment.pose.p))),
        (ORIENT, kinds.Quatd, Gf.Quatd(w, x, y, z)),
    ]
    if scaled:
        values.append((SCALE, kinds.Double3, Gf.Vec3d(*(float(v) for v in moment.scale))))
    return values
