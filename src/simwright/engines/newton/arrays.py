# SPDX-License-Identifier: Apache-2.0
"""Runtime arrays as Warp arrays, without copies: what one writes the other reads.

Views lie in the memory of numpy, on the CPU; ``.to("cuda:0")`` of Warp copies them to a device.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from simwright.core.errors import MissingExtraError
from simwright.runtime.arrays import iterate_arrays

_ROWS = {
    ("float32", (2,)): "vec2f",
    ("float32", (3,)): "vec3f",
    ("float32", (4,)): "vec4f",
    ("float32", (6,)): "spatial_vectorf",
    ("float32", (7,)): "transformf",
    ("float32", (3, 3)): "mat33f",
}
"""Warp's types of rows; others stay arrays of numbers."""


def to_warp(holder: Any) -> SimpleNamespace:
    """Views of all arrays of a model, state, control, collision model or collision state, by name.

    Keep the holder: the views are its memory.
    """
    try:
        import warp
    except ImportError:
        raise MissingExtraError("warp-lang", "newton", "a view for Warp") from None
    views: dict[str, Any] = {}
    for info, values in iterate_arrays(holder):
        kind = _ROWS.get((info.dtype, info.row))
        if not values.flags.c_contiguous or not values.flags.writeable:
            raise ValueError(f"{info.name} is no contiguous, writeable array")
        dtype = getattr(warp, kind if kind is not None else info.dtype)
        views[info.name] = warp.array(values, dtype=dtype, device="cpu", copy=False)
    return SimpleNamespace(**views)
