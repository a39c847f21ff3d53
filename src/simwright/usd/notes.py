# SPDX-License-Identifier: Apache-2.0
"""Notes beside the schemas' own values: what no schema, prim name or order of prims says (ADR 5).

A prim may carry a dictionary ``customData["simwright"]``: the names of its freedoms, its place in the order of its kind
and the like, each only where the stage alone would be read as something else.  On request (``--exact``) an attribute
carries the double that its float was rounded from (``customData["exact"]``).  It counts only while it still rounds to
the float, so whoever edits the float is believed.

Layers say in their ``customLayerData`` what there is; other stages are read without looking for any.  A layer with
notes that are about values alone, made where an asset of somebody else was mended, is marked in another way: its names
and its order are not ours to tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from ctypes import c_float
from struct import Struct
from typing import Any

from pxr import Gf, Sdf, Usd

SPACE = "simwright"
EXACT = "exact"
NOTES, PRIMS, VALUES = "notes", "prims", "values"
"""Marks of layers: notes of all kinds; notes on prims, without doubles beside floats; notes about values alone."""


def _round(value: float) -> float:
    """The nearest single-precision number."""
    return c_float(value).value


_PACKS = tuple(Struct(f"{count}f").pack for count in range(5))
_TEXTS = tuple(" ".join(["%.7g"] * count) for count in range(5))
_SINGLE = Struct("f")
_POWERS = tuple(10.0**power for power in range(23))
"""Powers of ten that are exact."""
_LEAST, _MOST = 1e-14, 1e7
"""Between these, eight digits are an integer over one of the powers."""
_TIE = 1e-6
"""How near to a half a number may be that was multiplied by a power, to be rounded without its text."""
_decimals: dict[float, float] = {}
_rows: dict[bytes, tuple[float, ...]] = {}
_MOST_DECIMALS = 10_000


_WIDE: dict[type, tuple[type, Callable[[Any], Any]]] = {
    Gf.Vec2f: (Gf.Vec2d, Gf.Vec2f),
    Gf.Vec3f: (Gf.Vec3d, Gf.Vec3f),
    Gf.Vec4f: (Gf.Vec4d, Gf.Vec4f),
    Gf.Quatf: (Gf.Quatd, Gf.Quatf),
    float: (float, _round),
}
"""Single-precision type -> its double, and how that is rounded."""
SINGLE = (Gf.Vec2f, Gf.Vec3f, Gf.Vec4f, Gf.Quatf)
"""Vectors and quaternions of single-precision numbers."""
_KINDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "float": (float, _round),
    "float2": (lambda v: Gf.Vec2d(*map(float, v)), Gf.Vec2f),
    "float3": (lambda v: Gf.Vec3d(*map(float, v)), Gf.Vec3f),
    "float4": (lambda v: Gf.Vec4d(*map(float, v)), Gf.Vec4f),
    "point3f": (lambda v: Gf.Vec3d(*map(float, v)), Gf.Vec3f),
    "vector3f": (lambda v: Gf.Vec3d(*map(float, v)), Gf.Vec3f),
    "quatf": (lambda v: Gf.Quatd(float(v[0]), Gf.Vec3d(*map(float, v[1:]))), Gf.Quatf),
}
"""Attribute type -> how a double of it is made, and how that is rounded."""


def mark_layer(layer: Sdf.Layer, mark: str) -> None:
    """Say what notes a layer has."""
    # OpenUSD hands out a copy: the whole dictionary is set again
    data = layer.customLayerData
    layer.customLayerData = {**data, SPACE: {**_read_marks(layer), mark: 1}}


def find_marks(layers: Iterable[Sdf.Layer]) -> set[str]:
    """What notes the layers say they have."""
    return {mark for layer in layers for mark in _read_marks(layer)} & {NOTES, PRIMS, VALUES}


def _read_marks(layer: Sdf.Layer) -> dict[str, Any]:
    found = layer.customLayerData.get(SPACE) if layer.HasCustomLayerData() else None
    return found if isinstance(found, dict) else {}


def find_exact(kind: str, value: Any) -> Any:
    """The double to note for a value of an attribute type; None where the attribute holds it exactly."""
    row = _KINDS.get(kind)
    if row is None:
        return None
    make, round_off = row
    wide = make(value)
    return None if type(wide)(round_off(wide)) == wide or wide != wide else wide  # noqa: PLR0124 - not NaN


def find_decimal(value: float) -> float:
    """The decimal that the text of a single-precision number says, 0.1 and not 0.10000000149; a double as it is.

    It has at most eight digits and rounds to the number; where nine are needed the number itself is as good.
    """
    if value.is_integer():
        return value
    # assets say the same few numbers again and again
    decimal = _decimals.get(value)
    if decimal is None:
        if len(_decimals) >= _MOST_DECIMALS:
            _decimals.clear()
        decimal = _decimals[value] = _search_decimal(value)
    return decimal


def _search_decimal(value: float) -> float:
    if not _LEAST < abs(value) < _MOST:
        return _search_text(value)
    single = _SINGLE.pack(value)
    if _SINGLE.unpack(single)[0] != value:  # a double
        return value
    # fewer digits first: the shortest decimal that rounds back is the one that somebody wrote
    places = 6 - math.floor(math.log10(abs(value)))
    for power in _POWERS[places : places + 2]:
        shifted = value * power
        digits = round(shifted)
        if abs(abs(shifted - digits) - 0.5) < _TIE:
            return _search_text(value)
        # both are exact, so this is what the text of the decimal is read as
        decimal = digits / power
        if _SINGLE.pack(decimal) == single:
            return decimal
    return value


def _search_text(value: float) -> float:
    """The same for any number, by its text, which takes several times as long."""
    if _round(value) != value:  # a double, or not a number
        return value
    for digits in (7, 8):
        decimal = float(f"{value:.{digits}g}")
        if _round(decimal) == value:
            return decimal
    return value


def find_decimals(values: tuple[float, ...]) -> tuple[float, ...]:
    """:func:`find_decimal` of the two to four numbers of a single-precision vector or quaternion."""
    if all(map(float.is_integer, values)):
        return values
    # by their bytes: zeros of either sign are equal, and a turn by nothing is said by every second prim
    single = _PACKS[len(values)](*values)
    decimals = _rows.get(single)
    if decimals is None:
        if len(_rows) >= _MOST_DECIMALS:
            _rows.clear()
        decimals = _rows[single] = _search_decimals(values, single)
    return decimals


def _search_decimals(values: tuple[float, ...], single: bytes) -> tuple[float, ...]:
    count = len(values)
    if min(values) > -_MOST and max(values) < _MOST:
        decimals = tuple(map(float, (_TEXTS[count] % values).split()))
        # the same bits: all of them round back, which is so for nearly all that somebody wrote
        if _PACKS[count](*decimals) == single:
            return decimals
    return tuple(map(find_decimal, values))


def read_exact(attribute: Usd.Attribute, value: Any) -> Any:
    """The noted double of an attribute, if it is still what the value was rounded from; else None."""
    row = _WIDE.get(type(value))
    if row is None:
        return None
    # asked of the class: on the object OpenUSD first looks whether it has expired, which takes as long again
    note = Usd.Attribute.GetCustomDataByKey(attribute, EXACT)
    wide, round_off = row
    return note if type(note) is wide and round_off(note) == value else None


def read_note(prim: Usd.Prim) -> dict[str, Any]:
    """The notes on a prim."""
    note = Usd.Prim.GetCustomDataByKey(prim, SPACE)
    return note if isinstance(note, dict) else {}
