# SPDX-License-Identifier: Apache-2.0
"""Transforms as translate and orient (REP-0158 1.1): matrices, Euler angles, pivots and inverse ops taken apart.

The local transform stays what it is.  A scale that cannot go stays as ``xformOp:scale`` after the two; shear has no
place in such a stack and is refused.  The ops are written where the strongest opinion about the transform is.

Units that are carried along as metadata, scale or correcting ops are applied instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Diagnostic
from simwright.sanitizer.conversion.dimensions import Factors
from simwright.sanitizer.conversion.index import read_index, walk_specs
from simwright.sanitizer.conversion.ops import PREFIX, RESET, Moment, read_order, write_stack
from simwright.sanitizer.conversion.rescale import has_measures
from simwright.sanitizer.conversion.retime import RATE, retime_layer
from simwright.sanitizer.conversion.sites import SpecSite
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.scale import push_scale
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER, ORIENT, SCALE, TRANSLATE, read_local, split_matrix

_MATRIX = "xformOp:transform"


@fix("xform-minimal-stack", phase=1)
def standardize_stack(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Write the ops of a body, or of an Xform between bodies, as translate and orient."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-no-matrix", phase=1)
def take_matrix_apart(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Take the matrix of a prim apart."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-etl-euler", phase=1)
def write_quaternion(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Write rotations by angles as a quaternion."""
    standardize(editor, editor.find_prim(finding.where.prim))


@fix("xform-etl-matrix", phase=1)
def take_matrices_apart(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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
    # nothing to do: a second run changes no byte
    if tokens == [TRANSLATE, ORIENT] and _has_types(prim):
        return
    moments = _read_relative(prim) if RESET in tokens else _read_moments(prim)
    if any(moment.sheared for _, moment in moments):
        raise Refused("its transform shears, which translate, orient and scale cannot express")
    scaled = any(not moment.is_rigid for _, moment in moments)
    wanted = [TRANSLATE, ORIENT, SCALE] if scaled else [TRANSLATE, ORIENT]
    if tokens == wanted and _has_types(prim):
        return
    home = _find_home(editor, prim)
    write_stack(editor, prim, SpecSite(home.layer, home.path), moments, wanted)


def _read_moments(prim: Usd.Prim) -> list[Moment]:
    try:
        times = UsdGeom.Xformable(prim).GetTimeSamples()
        return [(None, read_local(prim)), *((time, read_local(prim, time)) for time in times)]
    except Tf.ErrorException:
        raise Refused("OpenUSD cannot read its ops; decide what they should be") from None


def _read_relative(prim: Usd.Prim) -> list[Moment]:
    """The transform of a prim that counts from the world, counted from its parent instead."""
    above = prim.GetParent()
    while above and not above.IsPseudoRoot():
        if above.HasAPI(UsdPhysics.RigidBodyAPI) and prim.HasAPI(UsdPhysics.RigidBodyAPI):
            raise Refused(
                "it is a body below a body and ignores its transform (!resetXformStack!); make the two siblings"
            )
        if UsdGeom.Xformable(above) and UsdGeom.Xformable(above).TransformMightBeTimeVarying():
            raise Refused(
                f"it ignores its parent's transform (!resetXformStack!), and {above.GetPath()} moves"
            )
        above = above.GetParent()
    try:
        times = UsdGeom.Xformable(prim).GetTimeSamples()
        codes = [(None, Usd.TimeCode.Default()), *((time, Usd.TimeCode(time)) for time in times)]
        return [(time, split_matrix(_find_in_parent(prim, code))) for time, code in codes]
    except Tf.ErrorException:
        raise Refused("OpenUSD cannot read its ops; decide what they should be") from None


def _find_in_parent(prim: Usd.Prim, code: Usd.TimeCode) -> np.ndarray[Any, Any]:
    frame = UsdGeom.XformCache(code).GetLocalToWorldTransform(prim.GetParent())
    if abs(frame.GetDeterminant()) < 1e-300:
        raise Refused("it ignores its parent's transform (!resetXformStack!), which has no inverse")
    local = UsdGeom.Xformable(prim).GetLocalTransformation(code) * frame.GetInverse()
    return np.array(local, dtype=np.float64).T


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
        if any(prop.name == ORDER or prop.name.startswith(PREFIX) for prop in spec.properties):
            if spec.layer.identifier not in editor.own:
                raise Refused(
                    f"its transform is said in {spec.layer.GetDisplayName()}, which belongs to another asset"
                )
            return spec
    return editor.choose_home(prim)


_RESOLVE = ":unitsResolve"
_FACTORS = {"metersPerUnit": Factors(length=2.0), "kilogramsPerUnit": Factors(mass=2.0)}
_PLACED = ("xformOp:", "points", "normals", "positions", "physics:localPos", "physics:localRot", "axis")


@fix("units-baked", values=("units",), phase=1)
def apply_units(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A layer's own metadata, a scale of units, or an op that some tools add."""
    if "key" in finding.data:
        _agree(editor, editor.find_layer(finding.where.file), str(finding.data["key"]))
    elif finding.where.prop:
        _apply_op(editor, editor.find_prim(finding.where.prim), finding.where.prop)
    else:
        raise Refused("whether the note is history or still true is known to its author only")


def _agree(editor: Editor, layer: Sdf.Layer, key: str) -> None:
    """OpenUSD reads every layer in units of the root layer, so what a layer says of itself has no effect there."""
    if key == RATE:
        if editor.root.timeCodesPerSecond != 1.0:
            raise Refused("the root layer has to be in seconds first (units-timecodes)")
        retime_layer(editor, layer)
        return
    wanted: Any = editor.root.pseudoRoot.GetInfo(key)
    index = read_index(editor)
    # whether the numbers or the metadata are right is known to the author only
    if key in _FACTORS and has_measures(layer, index, _FACTORS[key]):
        raise Refused(
            f"OpenUSD reads the numbers of this layer with {key} = {wanted:g}, whatever it says; if they are right "
            f"that way write {key} = {wanted:g}, else convert them"
        )
    if key == "upAxis" and any(_is_placed(spec) for spec in walk_specs(layer)):
        raise Refused(
            f"OpenUSD shows this layer as if it were {wanted}-up; if it stands right that way "
            f'write upAxis = "{wanted}", else turn it'
        )
    editor.set_layer_info(key, wanted, layer)


def _is_placed(spec: Sdf.PrimSpec) -> bool:
    return any(prop.name.startswith(_PLACED) for prop in spec.properties)


def _apply_op(editor: Editor, prim: Usd.Prim, name: str) -> None:
    """A scale goes to what is below; other ops that correct units become part of the pose."""
    if name.endswith(_RESOLVE) and not any(
        ".scale" in token or ":scale" in token for token in read_order(prim)
    ):
        standardize(editor, prim)
    else:
        push_scale(editor, prim)
