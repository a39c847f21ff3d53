# SPDX-License-Identifier: Apache-2.0
"""STL, binary and ASCII: triangles without units, colours or shared vertices.

Equal corner positions are merged into one vertex, in the order of their first appearance, so that the mesh
is connected again.  The stored facet normals follow from the winding and are not kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.model.geometry import MeshData, find_first

_HEADER = 84
_FACET = np.dtype([("normal", "<f4", (3,)), ("corners", "<f4", (3, 3)), ("flags", "<u2")])
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)


def read_stl(content: bytes, file: Path, _gate: Gate | None = None) -> MeshData:
    """The mesh in the bytes of an STL file; ``file`` is named in errors."""
    corners = _read_ascii(content, file) if _is_ascii(content) else _read_binary(content, file)
    if not np.all(np.isfinite(corners)):
        raise ParseError("the mesh has vertices that are not finite numbers", where=Where(str(file)))
    vertices, indices = merge_vertices(corners)
    return MeshData(vertices.astype(np.float64), indices)


def _is_ascii(content: bytes) -> bool:
    """Text starts with ``solid``; so do some binary headers, whose length then fits their count."""
    if content[:512].lstrip()[:5].lower() != b"solid":
        return False
    # Some exporters begin the header of a binary file with "solid".
    if len(content) >= _HEADER and len(content) == _HEADER + _FACET.itemsize * _count(content):
        return False
    return b"facet" in content[:4096].lower() or b"endsolid" in content[:4096].lower()


def _count(content: bytes) -> int:
    return int.from_bytes(content[80:84], "little")


def _read_binary(content: bytes, file: Path) -> npt.NDArray[Any]:
    where = Where(str(file))
    if len(content) < _HEADER:
        raise ParseError(
            f"this is not an STL file: {len(content)} bytes are less than its header",
            hint="is it complete?",
            where=where,
        )
    count = _count(content)
    # Checked before numpy allocates anything: the count is four bytes that anyone can write.
    room = (len(content) - _HEADER) // _FACET.itemsize
    if count > room:
        raise ParseError(
            f"the STL header announces {count} triangles, but the file has room for {room}",
            hint="the file is truncated or is not an STL file",
            where=where,
        )
    if count == 0:
        raise ParseError("the STL file has no triangles", where=where)
    facets = np.frombuffer(content, dtype=_FACET, count=count, offset=_HEADER)
    return np.ascontiguousarray(facets["corners"]).reshape(-1, 3)


def _read_ascii(content: bytes, file: Path) -> npt.NDArray[Any]:
    where = Where(str(file))
    try:
        numbers = [float(value) for triple in _VERTEX.findall(content) for value in triple]
    except ValueError as error:
        raise ParseError(f"the STL text has a bad number: {error}", where=where) from None
    if not numbers or len(numbers) % 9:
        raise ParseError(
            f"the STL text has {len(numbers) // 3} vertices, which are no whole triangles",
            hint="is the file complete?",
            where=where,
        )
    # What is too large for single precision becomes infinite and is reported as such.
    with np.errstate(over="ignore"):
        return np.array(numbers, dtype=np.float64).astype(np.float32).reshape(-1, 3)


def merge_vertices(corners: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Distinct rows of a float32 ``(n, 3)`` array in order of appearance, and the row of each corner.

    Rows are brought together by a hash.  Should two different rows share it, they are compared in full instead.
    """
    positive = np.ascontiguousarray(corners + np.float32(0.0))  # -0.0 becomes 0.0
    first = find_first(_hash_rows(positive))
    is_first = first == np.arange(len(positive), dtype=first.dtype)
    rank = np.cumsum(is_first, dtype=np.int32)
    rank -= 1
    inverse = rank.take(first)
    vertices = positive.take(np.flatnonzero(is_first), axis=0)
    is_right = np.array_equal(vertices.take(inverse, axis=0), positive)
    return (vertices, inverse) if is_right else _compare_rows(positive)


def _hash_rows(rows: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    bits = rows.view(np.uint32)
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column, factor in enumerate(_FACTORS):
        mixed ^= bits[:, column]
        mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _compare_rows(positive: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """The same by sorting whole rows."""
    bits = positive.view(np.uint32).astype(np.uint64)
    _, pair = np.unique((bits[:, 0] << np.uint64(32)) | bits[:, 1], return_inverse=True)
    key = (pair.astype(np.uint64) << np.uint64(32)) | bits[:, 2]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return positive[first[order]], rank[inverse].astype(np.int32)
