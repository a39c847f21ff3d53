# SPDX-License-Identifier: Apache-2.0
"""What mesh colliders are approximated by: convex hulls as Newton makes them, and what Newton makes itself."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.engines.newton.messages import APPROXIMATION_UNUSED
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh

_METHODS = {
    "convexdecomposition": "coacd",
    "convexhull": "convex_hull",
    "boundingsphere": "bounding_sphere",
    "boundingcube": "bounding_box",
    "meshsimplification": "quadratic",
}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class ColliderHull:
    """A convex mesh, and the corners of the box around all that it is the hull of."""

    mesh: Any
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]

    def find_radius(self, scale: tuple[float, ...]) -> float:
        """Half the diagonal of the scaled box, as Newton has it for meshes."""
        return float(0.5 * np.linalg.norm((self.high - self.low) * scale))


def is_hull(shape: Shape) -> bool:
    """Is it a mesh that collides by its convex hull, and by nothing else?"""
    token = shape.approximation.token.lower() if shape.approximation else "none"
    fields = (
        "sdf_enabled",
        "hydroelastic_enabled",
        "sdf_max_resolution",
        "sdf_target_voxel_size",
        "sdf_padding",
    )
    return (
        token == "convexhull"
        and shape.collision
        and shape.enabled
        and isinstance(shape.geometry, Mesh)
        and not any(name in shape.settings for name in fields)
    )


_FLAT = 1e-6
"""Newton's bound for flat: the smallest singular value of the points against the largest."""
_SOLID = 1e-7
"""Well above what rounding leaves of a volume that is none, against the cube of the trace."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _HullFaces:
    """Vertices of a hull, their triangles, and the corners of the box around the points; nothing of it is changed."""

    vertices: npt.NDArray[np.float32]
    corners: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


_HullKey = tuple[bytes, int]
"""What points are (a digest), and the most vertices that their hull may have."""
_known: dict[_HullKey, _HullFaces | None] = {}
_MOST_KNOWN = 1024
_PORTION = 200_000
"""Points whose hulls are computed at once."""
_SMALL = 4096
"""Hulls with at most so many vertices are kept: a process that imports a robot again need not compute them again."""


def forget_hulls() -> None:
    """Let hulls be computed anew, as in a process that imports for the first time."""
    _known.clear()


def make_hull(points: npt.NDArray[Any], limit: int | None) -> ColliderHull | None:
    """The convex hull that Newton makes of points, of at most ``limit`` vertices; None if they are flat or too few."""
    return make_hulls([(points, limit)])[0]


def make_hulls(meshes: Iterable[tuple[npt.NDArray[Any], int | None]]) -> list[ColliderHull | None]:
    """:func:`make_hull` of the points and limits of many meshes, a portion of them at once.

    The points decide: those of a mesh that was met before in this process have the hull of then.
    """
    import newton

    most = newton.Mesh.MAX_HULL_VERTICES
    made: list[ColliderHull | None] = []
    keys: list[_HullKey] = []
    fresh: dict[_HullKey, npt.NDArray[np.float32]] = {}
    held = 0
    for points, given in meshes:
        vertices = np.ascontiguousarray(points, dtype=np.float32)
        key = hashlib.blake2b(vertices.data, digest_size=20).digest(), most if given is None else int(given)
        keys.append(key)
        if key not in _known and key not in fresh:
            fresh[key] = vertices
            held += len(vertices)
            if held > _PORTION:
                made += _make_portion(keys, fresh)
                held = 0
    return made + _make_portion(keys, fresh)


def _make_portion(
    keys: list[_HullKey], fresh: dict[_HullKey, npt.NDArray[np.float32]]
) -> list[ColliderHull | None]:
    """The hulls of some keys, of which the fresh ones are computed; both are empty afterwards."""
    found = {key: _known[key] for key in keys if key not in fresh}
    rows = [(vertices, limit) for (_, limit), vertices in fresh.items()]
    for key, faces in zip(fresh, _compute_hulls(rows), strict=True):
        found[key] = faces
        if faces is None or len(faces.vertices) <= _SMALL:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[key] = faces
    made = [_make_mesh(found[key], key[1]) for key in keys]
    keys.clear()
    fresh.clear()
    return made


def _make_mesh(faces: _HullFaces | None, limit: int) -> ColliderHull | None:
    """A mesh of its own for every import: users change it, and solvers keep their own things on it."""
    import newton

    if faces is None:
        return None
    mesh = newton.Mesh(faces.vertices.copy(), faces.corners, compute_inertia=False, maxhullvert=limit)
    return ColliderHull(mesh, faces.low, faces.high)


def _compute_hulls(rows: Sequence[tuple[npt.NDArray[np.float32], int]]) -> list[_HullFaces | None]:
    """The hulls of points with their limits.

    Newton turns the triangles of a hull outwards one by one.  Here those of all hulls are turned at once: calls of
    numpy on the few points of one collider take longer than Qhull does.
    """
    hulls: list[_HullFaces | None] = [None] * len(rows)
    chosen = [number for number, (vertices, limit) in enumerate(rows) if limit > 4 and len(vertices) >= 4]
    if not chosen:
        return hulls
    cloud = _Cloud([rows[number][0] for number in chosen])
    triangles = [
        None if is_flat else _ask_qhull(points, rows[number][1])
        for number, points, is_flat in zip(chosen, cloud.split(), cloud.find_flat(), strict=True)
    ]
    for number, hull in zip(chosen, cloud.turn(triangles), strict=True):
        hulls[number] = hull
    return hulls


def _ask_qhull(points: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.int32] | None:
    """The triangles around points, turned anyhow; None where Newton has its own ways."""
    try:
        spatial = importlib.import_module("scipy.spatial")
        faces: npt.NDArray[np.int32] = spatial.ConvexHull(points, qhull_options=f"Qt TA{limit - 4}").simplices
    # no scipy, or points that Qhull refuses
    except (ImportError, ValueError, RuntimeError):
        return None
    return faces


class _Cloud:
    """The points of several hulls, side by side."""

    def __init__(self, parts: Sequence[npt.NDArray[np.float32]]) -> None:
        self._points = parts[0] if len(parts) == 1 else np.concatenate(parts)
        self._counts = np.array([len(part) for part in parts], dtype=np.intp)
        self._ends = self._counts.cumsum()
        self._starts: npt.NDArray[np.intp] = self._ends - self._counts
        self._exact = self._points.astype(np.float64)
        # one row for each coordinate: sums and bounds of long rows take a tenth of those of many short ones
        self._rows = np.ascontiguousarray(self._exact.T)
        self._middles = np.add.reduceat(self._rows, self._starts, axis=1) / self._counts

    def split(self) -> list[npt.NDArray[np.float64]]:
        """The points of each hull."""
        spans = zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        return [self._exact[start:end] for start, end in spans]

    def find_flat(self) -> list[bool]:
        """Which of the hulls have no inside."""
        centred = self._rows - np.repeat(self._middles, self._counts, axis=1)
        products = np.add.reduceat(centred[_ONE] * centred[_OTHER], self._starts, axis=1)
        return [_are_flat(six) for six in products.T.tolist()]

    def turn(self, triangles: Sequence[npt.NDArray[np.int32] | None]) -> list[_HullFaces | None]:
        """Hulls of triangles that look outwards, with no vertices but theirs; None where there are no triangles."""
        counts = [0 if part is None else len(part) for part in triangles]
        if not any(counts):
            return [None] * len(triangles)
        faces = np.concatenate([part for part in triangles if part is not None], dtype=np.int64)
        faces += np.repeat(self._starts, counts)[:, None]
        # a plane through each triangle: is the middle of the points behind it?
        places = self._points.T[:, faces.T]
        first = places[:, 0]
        across = places[:, 1:] - first[:, None]
        normals = across[_NEXT, 0] * across[_AFTER, 1] - across[_AFTER, 0] * across[_NEXT, 1]
        normals *= first - np.repeat(self._middles.astype(np.float32), counts, axis=1)
        inwards = normals[0] + normals[1] + normals[2] < 0.0
        faces[inwards, 1:] = faces[inwards, :0:-1]
        is_used = np.zeros(len(self._points), dtype=bool)
        is_used[faces] = True
        numbers = is_used.cumsum()
        # how many vertices are used before each part of the cloud and behind the last
        bounds = [0, *numbers[self._ends - 1].tolist()]
        corners, vertices = (numbers - 1)[faces], self._points[is_used]
        lows = np.minimum.reduceat(self._rows, self._starts, axis=1).T.copy()
        highs = np.maximum.reduceat(self._rows, self._starts, axis=1).T.copy()
        hulls: list[_HullFaces | None] = []
        at = 0
        for number, count in enumerate(counts):
            start, end = bounds[number], bounds[number + 1]
            hulls.append(
                _HullFaces(
                    vertices[start:end].copy(),
                    (corners[at : at + count] - start).reshape(-1),
                    lows[number],
                    highs[number],
                )
                if count
                else None
            )
            at += count
        return hulls


_ONE, _OTHER = np.array((0, 0, 0, 1, 1, 2)), np.array((0, 1, 2, 1, 2, 2))
"""The pairs of coordinates whose products are summed."""
_NEXT, _AFTER = np.array((1, 2, 0)), np.array((2, 0, 1))
"""The two axes that follow each, round and round."""


def _are_flat(products: Sequence[float]) -> bool:
    """Do points lie in a plane, by Newton's bound?  Given are the products of their coordinates about the middle."""
    xx, xy, xz, yy, yz, zz = products
    trace = xx + yy + zz
    volume = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    # the volume is the product of the spreads, so the smallest is more than this over half the square of the trace:
    # far above the bound, as of nearly all, it need not be found
    if trace > _FLAT and volume > _SOLID * trace**3:
        return False
    spread = np.linalg.eigvalsh(np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    # squares of the singular values, the smallest first
    return bool(spread[0] <= (10 * _FLAT) ** 2 * max(spread[2], _FLAT**2))


def approximate(
    builder: ModelBuilder,
    shapes: dict[str, int],
    asset: Asset,
    reporter: Reporter,
    *,
    hulled: set[str],
    split: frozenset[str],
) -> None:
    """Replace mesh colliders by hulls, boxes, balls or pieces where the asset asks; ``hulled`` are hulls already.

    Those named in ``split`` leave a shape that is drawn as they were.
    A distance field is a way to collide of its own: an approximation beside it is left out.
    """
    chosen: dict[tuple[str, bool], list[int]] = {}
    for shape in asset.shapes:
        index = shapes.get(shape.name)
        token = shape.approximation.token.lower() if shape.approximation else "none"
        if (
            index is None
            or token not in _METHODS
            or not shape.enabled
            or not isinstance(shape.geometry, Mesh)
            or shape.name in hulled
        ):
            continue
        if shape.settings.get("sdf_enabled"):
            reporter.report(APPROXIMATION_UNUSED, shape.source, name=shape.name, token=token)
        else:
            # one call for each method: Newton works on many meshes at once
            is_split = shape.visual and shape.name in split
            chosen.setdefault((_METHODS[token], is_split), []).append(index)
    for (method, is_split), indices in chosen.items():
        builder.approximate_meshes(method=method, shape_indices=indices, keep_visual_shapes=is_split)
