# SPDX-License-Identifier: Apache-2.0
"""Units that are carried along as metadata, scale or correcting ops instead of being applied (REP-0158 1.1)."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.conversion.dimensions import Factors
from simwright.sanitizer.conversion.index import read_index, walk_specs
from simwright.sanitizer.conversion.ops import read_order
from simwright.sanitizer.conversion.rescale import has_measures
from simwright.sanitizer.conversion.retime import RATE, retime_layer
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.scale import push_scale
from simwright.sanitizer.fixes.transforms import standardize
from simwright.usd.edit import Editor, Refused

_RESOLVE = ":unitsResolve"
_FACTORS = {"metersPerUnit": Factors(length=2.0), "kilogramsPerUnit": Factors(mass=2.0)}
_PLACED = ("xformOp:", "points", "normals", "positions", "physics:localPos", "physics:localRot", "axis")


@fix("units-baked", wishes=("units",), phase=1)
def apply_units(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
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
