# SPDX-License-Identifier: Apache-2.0
"""Rays against the edges of polygons and against discs, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from simwright.worlds.world import Geometry

Array = npt.NDArray[np.float64]
_NEAR = 1e-9
"""An edge is that much longer at both ends [m], so that no ray slips through between two of them."""


_AT_ONCE = 4_000_000
"""Pairs of rays and edges that are held in memory together."""


class Edges(NamedTuple):
    """Straight pieces of outlines: ``starts`` and ``ends``, n by 2 [m]."""

    starts: Array
    ends: Array


def list_edges(space: Geometry) -> Edges:
    """All edges of a polygon, its holes included."""
    rings = shapely.get_rings(shapely.get_parts(space))
    points, index = shapely.get_coordinates(rings, return_index=True)
    same = index[1:] == index[:-1]
    return Edges(points[:-1][same], points[1:][same])


def keep_near(edges: Edges, origin: Sequence[float], reach: float) -> Edges:
    """The edges whose box comes within ``reach`` [m] of a point along both axes."""
    low = np.minimum(edges.starts, edges.ends) - reach
    high = np.maximum(edges.starts, edges.ends) + reach
    near = ((low <= origin) & (high >= origin)).all(axis=1)
    return Edges(edges.starts[near], edges.ends[near])


def cast_rays(edges: Edges, origin: Sequence[float], angles: Array, reach: float) -> Array:
    """How far each ray goes [m] before it meets an edge; ``reach`` where it meets none.  ``angles`` in [rad]."""
    edges = keep_near(edges, origin, reach)
    if not len(edges.starts):
        return np.full(len(angles), reach)
    size = max(1, _AT_ONCE // len(edges.starts))
    parts = [_cast(edges, origin, angles[at : at + size], reach) for at in range(0, len(angles), size)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _cast(edges: Edges, origin: Sequence[float], angles: Array, reach: float) -> Array:
    dx, dy = np.cos(angles)[:, None], np.sin(angles)[:, None]
    ax, ay = (edges.starts - np.asarray(origin, dtype=np.float64)).T
    ex, ey = (edges.ends - edges.starts).T
    slack = _NEAR / np.maximum(np.hypot(ex, ey), _NEAR)
    cross: Any = dx * ey - dy * ex
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (ax * dy - ay * dx) / cross
        length = (ax * ey - ay * ex) / cross
        met = (share >= -slack) & (share <= 1.0 + slack) & (length >= 0.0)
    nearest: Array = np.min(np.where(met, length, reach), axis=1)
    return np.minimum(nearest, reach)


def cast_rays_at_discs(
    discs: Sequence[Sequence[float]], origin: Sequence[float], angles: Array, reach: float
) -> Array:
    """The same against discs (x, y, radius) [m]; zero for a ray that starts in one."""
    result = np.full(len(angles), reach)
    dx, dy = np.cos(angles), np.sin(angles)
    for x, y, radius in discs:
        cx, cy = x - origin[0], y - origin[1]
        along = cx * dx + cy * dy
        inside = radius * radius - (cx * cx + cy * cy - along * along)
        with np.errstate(invalid="ignore"):
            entry = along - np.sqrt(np.where(inside >= 0.0, inside, np.nan))
        within = cx * cx + cy * cy <= radius * radius
        met = (inside >= 0.0) & (along >= 0.0) | within
        result = np.where(met, np.minimum(result, np.maximum(entry, 0.0)), result)
    return result
