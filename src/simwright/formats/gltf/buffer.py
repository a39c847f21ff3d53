# SPDX-License-Identifier: Apache-2.0
"""The binary buffer: rows of numbers and images, each stored once however often it is used."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[Any]

VERTICES, INDICES = 34962, 34963
"""What a view is for: vertex attributes, indices."""
_COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
_ALIGNMENT = 4


class Buffer:
    """Content, views into it, and accessors that say what is in a view."""

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.length = 0
        self._parts: list[bytes] = []
        self._known: dict[tuple[bytes, object], int] = {}
        self._known_rows: dict[tuple[object, ...], int] = {}

    @property
    def content(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)

    def add(
        self, rows: Rows, target: int | None = None, *, bounds: bool = False, scaled: bool = False
    ) -> int:
        """The accessor of some rows; ``bounds`` notes their range, ``scaled`` says that integers stand for 0 to 1.

        Rows of vertices that are no multiple of four bytes wide are padded, as glTF wants it.
        """
        rows = np.ascontiguousarray(rows)
        width = 1 if rows.ndim == 1 else rows.shape[1]
        kind = rows.dtype.str[1:]
        size = width * rows.dtype.itemsize
        stride = None
        stored = rows
        # Vertex attributes start at multiples of four bytes (glTF 2.0, 3.6.2.4).
        if target == VERTICES and size % _ALIGNMENT:
            stride = size + _ALIGNMENT - size % _ALIGNMENT
            stored = np.zeros((len(rows), stride // rows.dtype.itemsize), dtype=rows.dtype)
            stored[:, :width] = rows
        view = self.add_view(stored.tobytes(), target, stride)
        key = (view, kind, width, bounds, scaled)
        if key not in self._known_rows:
            self._known_rows[key] = len(self.accessors)
            row: dict[str, Any] = {
                "bufferView": view,
                "componentType": _COMPONENTS[kind],
                "count": len(rows),
                "type": _TYPES[width],
            }
            if scaled:
                row["normalized"] = True
            if bounds:
                row["min"] = np.atleast_1d(rows.min(axis=0)).tolist()
                row["max"] = np.atleast_1d(rows.max(axis=0)).tolist()
            self.accessors.append(row)
        return self._known_rows[key]

    def add_view(self, content: bytes, target: int | None = None, stride: int | None = None) -> int:
        """The view of some bytes."""
        # By content: instanced robots repeat their arrays, which are stored once.
        key = (hashlib.blake2b(content, digest_size=16).digest(), (target, stride, len(content)))
        if key in self._known:
            return self._known[key]
        row: dict[str, Any] = {"buffer": 0, "byteOffset": self.length, "byteLength": len(content)}
        if stride is not None:
            row["byteStride"] = stride
        if target is not None:
            row["target"] = target
        padding = -len(content) % _ALIGNMENT
        self._parts += [content, b"\0" * padding] if padding else [content]
        self.length += len(content) + padding
        self._known[key] = len(self.views)
        self.views.append(row)
        return self._known[key]
