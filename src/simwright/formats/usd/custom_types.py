# SPDX-License-Identifier: Apache-2.0
"""Types of custom attributes: one table from USD's value types to the model's, and the way values go.

The model's words are bool, int (32 bit), int64, float, string, vec2-4, ivec2-4, quat (w, x, y, z, of unit
length) and mat2-4 (rows); with ``[]`` for arrays of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pxr import Sdf

from simwright.formats.usd.leftovers import make_plain

_SCALARS = {
    "bool": "bool",
    "int": "int",
    "uchar": "int",
    "uint": "int64",
    "int64": "int64",
    "uint64": "int64",
    "half": "float",
    "float": "float",
    "double": "float",
    "timecode": "float",
    "string": "string",
    "token": "string",
    "asset": "string",
}
_ZEROS: dict[str, Any] = {"bool": False, "int": 0, "int64": 0, "float": 0.0, "string": ""}
_LIMITS = {"int": 2**31, "int64": 2**63}


class WrongValueError(Exception):
    """A value does not fit the declared type; the message says how."""


def find_type(name: Sdf.ValueTypeName) -> str:
    """The model's word for a USD value type; empty if there is none."""
    word = _find_scalar(name.scalarType)
    return f"{word}[]" if word and name.isArray else word


def _find_scalar(name: Sdf.ValueTypeName) -> str:
    if str(name) in _SCALARS:
        return _SCALARS[str(name)]
    kind = str(name.type.typeName)
    if kind.startswith("GfQuat"):
        return "quat"
    for prefix, word in (("GfVec", "vec"), ("GfMatrix", "mat")):
        if kind.startswith(prefix):
            size, letter = kind[len(prefix)], kind[-1]
            return f"{'i' if letter == 'i' else ''}{word}{size}"
    return ""


def convert_value(value: Any, type_: str) -> Any:
    """A USD value as one of the model's; WrongValueError where it does not fit."""
    plain = value.GetValue() if isinstance(value, Sdf.TimeCode) else make_plain(value)
    if type_.endswith("[]"):
        if not isinstance(plain, list | tuple) or isinstance(value, str):
            raise WrongValueError("it is no array")
        return [_convert_item(item, type_[:-2]) for item in plain]
    return _convert_item(plain, type_)


def make_zero(type_: str) -> Any:
    """The value of a declaration without one: nothing, zero, or no turn."""
    if type_.endswith("[]"):
        return []
    if type_ in _ZEROS:
        return _ZEROS[type_]
    shape = _find_shape(type_)
    return _convert_item((1, 0, 0, 0) if type_ == "quat" else np.zeros(shape).tolist(), type_)


def _convert_item(value: Any, type_: str) -> Any:
    if type_ == "string":
        if not isinstance(value, str):
            raise WrongValueError("it is no text")
        return value
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if isinstance(value, str) or array.shape != _find_shape(type_):
        raise WrongValueError(f"it is no {type_}")
    if type_ == "bool":
        return bool(value)
    if type_ in _LIMITS:
        return _convert_integer(value, type_)
    if type_ == "float":
        return float(value)
    if type_ == "quat":
        return _normalize(array)
    if type_.startswith("mat"):
        return tuple(tuple(float(v) for v in row) for row in array)
    return tuple(int(v) for v in array) if type_.startswith("ivec") else tuple(float(v) for v in array)


def _find_shape(type_: str) -> tuple[int, ...]:
    if type_ in ("bool", "int", "int64", "float"):
        return ()
    if type_ == "quat":
        return (4,)
    size = int(type_[-1])
    return (size, size) if type_.startswith("mat") else (size,)


def _convert_integer(value: Any, type_: str) -> int:
    if not isinstance(value, int) and not float(value).is_integer():
        raise WrongValueError(f"it is no whole number, as {type_} needs")
    if not -_LIMITS[type_] <= int(value) < _LIMITS[type_]:
        raise WrongValueError(f"it is too large for {type_}")
    return int(value)


def _normalize(array: Any) -> tuple[float, ...]:
    length = math.sqrt(float(array @ array))
    if not 0.0 < length < math.inf:
        raise WrongValueError("it is a quaternion without a direction")
    return tuple(float(v) / length for v in array)
