# SPDX-License-Identifier: Apache-2.0
"""Transforms as translate and orient (REP-0158 1.1): matrices, Euler angles, pivots and inverse ops taken apart.

The local transform stays what it is.  A scale that cannot go stays as ``xformOp:scale`` after the two; shear has no
place in such a stack and is refused.  The ops are written where the strongest opinion about the transform is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Gf, Sdf, Tf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, ORIENT, SCALE, TRANSLATE, Transform, read_local

_PREFIX = "xformOp:"
_MATRIX = "xformOp:transform"
_INVERT = "!invert!"
_RESET = "!resetXformStack!"


@fix("xform-minimal-stack", phase=1)
def standardize_stack(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A body, or an Xform between bodies."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-no-matrix", phase=1)
def take_matrix_apart(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Any prim with a matrix."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-etl-euler", phase=1)
def write_quaternion(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Any prim with rotations by angles."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-etl-matrix", phase=1)
def take_matrices_apart(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """One finding may stand for all matrices that are poses."""
    if "count" not in finding.data:
        standardize(editor, editor.find_prim(finding.where.prim))
        return
    for prim in Usd.PrimRange(editor.stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate):
        if _MATRIX in read_order(prim) and read_local(prim).is_rigid:
            standardize(editor, prim)


def standardize(editor: Editor, prim: Usd.Prim) -> None:
    """Ask for translate and orient, and scale where there is one."""
    xformable = UsdGeom.Xformable(prim)
    if not xformable:
        raise Refused(f"a prim of type {prim.GetTypeName() or 'none'} has no transform")
    tokens = read_order(prim)
    if tokens == [TRANSLATE, ORIENT] and _has_types(prim):
        return
    if tokens[:1] == [_RESET]:
        raise Refused("it ignores its parent's transform (!resetXformStack!); decide what it belongs to")
    try:
        times = xformable.GetTimeSamples()
        moments = [read_local(prim, time) for time in times] or [read_local(prim)]
    except Tf.ErrorException:
        raise Refused("OpenUSD cannot read its ops; decide what they should be") from None
    if any(moment.sheared for moment in moments):
        raise Refused("its transform shears, which translate, orient and scale cannot say")
    scaled = any(not moment.is_rigid for moment in moments)
    wanted = [TRANSLATE, ORIENT, SCALE] if scaled else [TRANSLATE, ORIENT]
    if tokens == wanted and _has_types(prim):
        return
    home = _find_home(editor, prim)
    _remove_ops(editor, prim, home, tokens, wanted)
    if times:
        _write_samples(editor, home, list(zip(times, moments, strict=True)), scaled=scaled)
    else:
        for name, kind, value in list_values(moments[0], scaled=scaled):
            editor.set_spec_value(home, name, kind, value)
    editor.set_spec_value(home, ORDER, Sdf.ValueTypeNames.TokenArray, wanted, uniform=True)


def read_order(prim: Usd.Prim) -> list[str]:
    """The tokens of xformOpOrder."""
    attribute = prim.GetAttribute(ORDER)
    return list(attribute.Get() or ()) if attribute else []


def list_values(moment: Transform, *, scaled: bool) -> list[tuple[str, Any, Any]]:
    """Name, type and value of each op."""
    w, x, y, z = (float(value) for value in moment.pose.q)
    kinds = Sdf.ValueTypeNames
    values = [
        (TRANSLATE, kinds.Double3, Gf.Vec3d(*(float(v) for v in moment.pose.p))),
        (ORIENT, kinds.Quatd, Gf.Quatd(w, x, y, z)),
    ]
    return (
        [*values, (SCALE, kinds.Double3, Gf.Vec3d(*(float(v) for v in moment.scale)))] if scaled else values
    )


def _has_types(prim: Usd.Prim) -> bool:
    """Are the ops there, and of types that OpenUSD reads?"""
    kinds = Sdf.ValueTypeNames
    vectors = (kinds.Double3, kinds.Float3, kinds.Half3)
    turns = (kinds.Quatd, kinds.Quatf, kinds.Quath)
    translate, orient = prim.GetAttribute(TRANSLATE), prim.GetAttribute(ORIENT)
    return bool(translate and orient) and translate.GetTypeName() in vectors and orient.GetTypeName() in turns


def _find_home(editor: Editor, prim: Usd.Prim) -> Sdf.PrimSpec:
    """The strongest spec with an opinion about the transform."""
    for spec in prim.GetPrimStack():
        if any(prop.name == ORDER or prop.name.startswith(_PREFIX) for prop in spec.properties):
            if spec.layer.identifier not in editor.own:
                raise Refused(
                    f"its transform is said in {spec.layer.GetDisplayName()}, which belongs to another asset"
                )
            return spec
    return editor.choose_home(prim)


def _remove_ops(
    editor: Editor, prim: Usd.Prim, home: Sdf.PrimSpec, tokens: list[str], wanted: list[str]
) -> None:
    """Take away the ops that are no longer named, where they are this prim's alone."""
    used = {token.removeprefix(_INVERT) for token in tokens if token != _RESET} - set(wanted)
    stack = editor.stage.GetLayerStack(includeSessionLayers=False)
    for spec in prim.GetPrimStack():
        is_own = spec.layer.identifier in editor.own
        if spec != home and not (is_own and spec.layer in stack and spec.path == prim.GetPath()):
            continue
        for prop in spec.properties:
            if prop.name in used:
                editor.remove_spec(prop)


def _write_samples(
    editor: Editor, home: Sdf.PrimSpec, samples: list[tuple[float, Transform]], *, scaled: bool
) -> None:
    """Every sample as translate and orient; neighbouring quaternions on the same side."""
    columns: dict[str, tuple[Any, dict[float, Any]]] = {}
    last: np.ndarray[Any, Any] | None = None
    for time, moment in samples:
        turn = np.asarray(moment.pose.q, dtype=np.float64)
        flip = last is not None and float(np.dot(last, turn)) < 0.0
        last = -turn if flip else turn
        for name, kind, value in list_values(moment, scaled=scaled):
            signed = -value if flip and name == ORIENT else value
            columns.setdefault(name, (kind, {}))[1][time] = signed
    for name, (kind, values) in columns.items():
        editor.set_spec_samples(home, name, kind, values)
