# SPDX-License-Identifier: Apache-2.0
"""Units, up axis and time of whole assets (REP-0158 1.1).

What the root layer says counts; where it says nothing, what the user says does (``meters-per-unit``,
``kilograms-per-unit``, ``up-axis``), else what OpenUSD takes.  The asset stays as large, heavy and fast as it was.
"""

from __future__ import annotations

import math
from typing import Any

from pxr import Sdf

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.conversion.dimensions import Factors
from simwright.sanitizer.conversion.rescale import list_own_layers, rescale
from simwright.sanitizer.conversion.retime import RATE, retime
from simwright.sanitizer.conversion.upright import turn_upright
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.claims import CLAIMS, NAMES, read_claim
from simwright.usd.edit import Editor, Refused

_METERS, _KILOGRAMS, _UP = CLAIMS
_INTENT = ("units",)


@fix("units-meters", values=_INTENT, phase=0)
def convert_lengths(editor: Editor, _: Diagnostic, given: UserValues) -> None:
    """Metres already: say so; else multiply."""
    _convert(editor, given, _METERS, 0.01)


@fix("units-kilograms", values=_INTENT, phase=0)
def convert_masses(editor: Editor, _: Diagnostic, given: UserValues) -> None:
    """The fallback is 1: saying it changes nothing."""
    _convert(editor, given, _KILOGRAMS, 1.0)


@fix("axis-up-z", values=_INTENT, phase=0)
def turn_asset(editor: Editor, _: Diagnostic, given: UserValues) -> None:
    """Upright along Z already: say so; else turn what stands in the world."""
    root = editor.root.pseudoRoot
    value = str(root.GetInfo(_UP)) if root.HasInfo(_UP) else str(read_claim(_UP, given.by_name) or "Y")
    _prepare(editor, given, _UP, value)
    if value != "Z":
        turn_upright(editor, value)
    _say(editor, _UP, "Z")


@fix("units-timecodes", values=_INTENT, phase=0)
def convert_times(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """Write times in seconds; without time samples the rate means nothing and is just set."""
    if finding.fixable is Fixable.SAFE:
        editor.set_layer_info(RATE, 1.0)
        return
    _check_intent(given)
    retime(editor)


def _convert(editor: Editor, given: UserValues, key: str, fallback: float) -> None:
    """Numbers in units of one metre or kilogram, and the layer says so."""
    value = _find_unit(editor, given, key, fallback)
    _prepare(editor, given, key, value)
    if value != 1.0:
        rescale(editor, Factors(length=value) if key == _METERS else Factors(mass=value))
    _say(editor, key, 1.0)


def _find_unit(editor: Editor, given: UserValues, key: str, fallback: float) -> float:
    root = editor.root.pseudoRoot
    value = float(root.GetInfo(key)) if root.HasInfo(key) else None
    if value is None or not (0.0 < value < math.inf):
        claimed: Any = read_claim(key, given.by_name)
        if claimed is None and value is not None:
            raise Refused(f"{key} is {value}, which is not a unit; write the one that is meant")
        value = fallback if claimed is None else float(claimed)
    return value


def _prepare(editor: Editor, given: UserValues, key: str, value: Any) -> None:
    """Look whether all layers of the asset mean the same."""
    _check_intent(given)
    for layer in list_own_layers(editor):
        root = layer.pseudoRoot
        # OpenUSD ignores what a sublayer says of units, so its numbers may be in either
        if root.HasInfo(key) and root.GetInfo(key) != value and value != (1.0 if key != _UP else "Z"):
            raise Refused(
                f"{layer.GetDisplayName()} says {key} = {root.GetInfo(key)}, but the stage is read with {value}; "
                f"write the right one into the root layer, or say it ({NAMES[key]}=...)"
            )


def _check_intent(given: UserValues) -> None:
    asked = given.find("units")
    if asked not in ("", "convert"):
        raise Refused(f"units={asked} is not known; write units=convert")


def _say(editor: Editor, key: str, value: Any) -> None:
    layers: list[Sdf.Layer] = [layer for layer in list_own_layers(editor) if layer.pseudoRoot.HasInfo(key)]
    for layer in {editor.root: None, **dict.fromkeys(layers)}:
        if not layer.pseudoRoot.HasInfo(key) or layer.pseudoRoot.GetInfo(key) != value:
            editor.set_layer_info(key, value, layer)
