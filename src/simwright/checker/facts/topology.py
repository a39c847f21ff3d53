# SPDX-License-Identifier: Apache-2.0
"""Edges of polygon meshes counted, and points at one place made one: is a surface closed? (REP-0158 3.4)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.model.geometry import find_first

Ints: TypeAlias = npt.NDArray[np.int64]

# odd constants of 64 bits, so that multiplying spreads every bit of a coordinate
_MIX = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
NEAR = 1e-6
"""Points closer than this share of the mesh's size are one point."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Edges of a mesh counted: each edge of a closed surface is used twice, in opposite directions."""

    edges: int
    boundary: int
    """Edges used by one face only."""
    crowded: int
    """Edges used by three faces or more."""
    flipped: int
    """Edges used by two faces in the same direction."""

    @property
    def is_closed(self) -> bool:
        """No hole, no crowded edge, consistent winding."""
        return self.boundary == 0 and self.crowded == 0 and self.flipped == 0 and self.edges > 0


class EdgeTable:
    """A table with one cell per directed edge between up to ``MOST_POINTS`` points, reused without clearing."""

    MOST_POINTS = 1024

    def __init__(self) -> None:
        self._room: npt.NDArray[np.int32] = np.zeros(0, np.int32)

    def are_paired(self, start: npt.NDArray[np.int32], end: npt.NDArray[np.int32], points: int) -> bool:
        """Is each edge there once, and once in the other direction?  Edges of no length are not paired.

        Each edge writes its number where it belongs and looks whether it is still there; its opposite is found at
        the opposite place.  What older meshes left behind is told apart by looking the number up.
        """
        if len(self._room) < points * points:
            self._room = np.zeros(self.MOST_POINTS**2, np.int32)
        numbers = np.arange(len(start), dtype=np.int32)
        forth = start * np.int32(points) + end
        back = end * np.int32(points) + start
        self._room[forth] = numbers
        if not np.array_equal(self._room.take(forth), numbers):
            return False
        opposite = forth.take(self._room.take(back), mode="clip")
        return np.array_equal(opposite, back) and not bool((start == end).any())


# one function: the way to the counts that is the cheapest for the mesh
def count_edges(
    counts: npt.NDArray[Any], indices: npt.NDArray[Any], table: EdgeTable | None = None
) -> Topology:
    """Count how often and in which direction each edge is used; zero-length edges are left out.

    Small meshes that are closed, which most are, are known by a table of edges.  Otherwise one sort of
    ``2 * edge + direction`` tells: what is said of an edge stands together then.
    """
    if len(indices) == 0:
        return Topology(0, 0, 0, 0)
    start, end = indices, _next_corner(counts, indices)
    size = int(indices.max()) + 1
    fits = table is not None and size <= table.MOST_POINTS and indices.dtype == np.int32
    if fits and table is not None and table.are_paired(start, end, size):
        return Topology(len(indices) // 2, 0, 0, 0)
    low, high = np.minimum(start, end), np.maximum(start, end)
    # narrow keys take half the time
    most = 2 * size * size - 1
    kind = np.uint32 if most < 2**32 else np.uint64
    keys = low.astype(kind)
    keys *= kind(2 * size)
    keys += high.astype(kind) * kind(2)
    keys += start > end
    is_edge = low != high
    if not is_edge.all():
        keys = keys[is_edge]
    return _count_sorted(_sort_keys(keys, most.bit_length()))


_FEW, _MANY = 3000, 4_000_000
"""Keys that are sorted by halves of 16 bits: fewer cost more calls than that saves, more would take much memory."""


def _sort_keys(keys: npt.NDArray[Any], bits: int) -> npt.NDArray[Any]:
    """Keys in order; 16 bits at a time numpy counts instead of comparing, which takes half the time."""
    if not _FEW < len(keys) < _MANY:
        keys.sort()
        return keys
    for shift in range(0, bits, 16):
        part = (keys >> keys.dtype.type(shift)).astype(np.uint16)
        keys = keys.take(np.argsort(part, kind="stable"))
    return keys


def are_triangles(counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> bool:
    """Has every face three corners?"""
    return len(indices) == 3 * len(counts) and bool((counts == 3).all())


def _count_sorted(keys: npt.NDArray[Any]) -> Topology:
    """Counts from sorted keys."""
    edges = keys >> 1
    same = edges[1:] == edges[:-1]
    # of every key: is it the first, or the last, of its edge?
    limits = np.ones(len(keys) + 1, np.bool_)
    np.logical_not(same, out=limits[1:-1])
    first, last = limits[:-1], limits[1:]
    count = int(np.count_nonzero(first))
    boundary = int(np.count_nonzero(first & last))
    twice = first[:-1] & last[1:]
    twice &= same
    return Topology(
        edges=count,
        boundary=boundary,
        crowded=count - boundary - int(np.count_nonzero(twice)),
        flipped=int(np.count_nonzero(twice & (keys[1:] == keys[:-1]))),
    )


def _next_corner(counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """For every corner, the index of the next corner of its face."""
    if are_triangles(counts, indices):
        following = np.empty_like(indices)
        following[0::3], following[1::3], following[2::3] = indices[1::3], indices[2::3], indices[0::3]
        return following
    ends = np.cumsum(counts, dtype=np.int64)
    used = counts > 0
    following = np.concatenate((indices[1:], indices[:1]))
    following[ends[used] - 1] = indices[(ends - counts)[used]]
    return following


def weld_points(points: npt.NDArray[Any]) -> Ints:
    """For every point, the number of the first point at exactly the same place."""
    clean = np.ascontiguousarray(points.T, np.float32) + np.float32(0)  # -0.0 becomes 0.0
    words = clean.view(np.uint32).astype(np.uint64)
    mixed = words[0] * _MIX[0]
    mixed ^= words[1] * _MIX[1] + (mixed >> np.uint64(29))
    mixed ^= words[2] * _MIX[2] + (mixed >> np.uint64(32))
    return find_first(mixed).astype(np.int64)


def weld_near(points: npt.NDArray[Any]) -> Ints:
    """For every point, the number of the first point within a millionth of the mesh's size on each axis."""
    limit = NEAR * measure_size(points)
    number: npt.NDArray[np.uint64] | None = None
    # axis by axis: points are one where they fall into one group on all three
    for column in np.ascontiguousarray(points.T):
        order = _order_numbers(column)
        gaps = np.diff(column.take(order).astype(np.float64))
        group = np.zeros(len(column), np.uint64)
        group[order[1:]] = np.cumsum(gaps > limit)
        if number is None:
            number = group
            continue
        number = number * np.uint64(len(points) + 1) + group
        if len(points) >= _MOST_AT_ONCE:  # three numbers of groups would not fit into one
            number = find_first(number).astype(np.uint64)
    assert number is not None, "points have three coordinates"
    return find_first(number).astype(np.int64)


_MOST_AT_ONCE = 2**21


def _order_numbers(values: npt.NDArray[Any]) -> Ints:
    """Indices that sort finite numbers."""
    if values.dtype != np.float32 or len(values) < _FEW:
        return np.argsort(values, kind="stable")
    # the bits of a positive number are in order; those of a negative one are, turned round
    bits = (values + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    bits ^= np.where(bits >> 31, np.uint32(2**32 - 1), np.uint32(2**31))
    order = np.argsort(bits.astype(np.uint16), kind="stable")
    return order.take(np.argsort((bits >> 16).astype(np.uint16).take(order), kind="stable"))


def measure_size(points: npt.NDArray[Any]) -> float:
    """The largest extent along an axis; column by column, in a twentieth of the time of all at once."""
    return max(float(np.ptp(column)) for column in points.T)


def describe_faults(topology: Topology) -> str:
    """What keeps a surface from being closed, in words."""
    faults = (
        (topology.boundary, "open edges"),
        (topology.crowded, "edges with three faces or more"),
        (topology.flipped, "edges between faces of opposite winding"),
    )
    return ", ".join(f"{count} {what}" for count, what in faults if count) or "it has no edges"
