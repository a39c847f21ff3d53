# SPDX-License-Identifier: Apache-2.0
"""Meshes for variants: hulls and triangles of colliders, convex parts (CoACD), levels of detail of visuals.

What is expensive to make is kept in the user's cache folder under a digest of the input, the work with its settings,
and the version of the package that does it.  A damaged entry counts as absent; failure to write is not a problem.
"""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.errors import MissingExtraError
from simwright.core.files import write_atomic
from simwright.core.math3d import Array
from simwright.formats.usd.writer.meshes import (
    GeometryLibrary,
    StoredMesh,
    choose_word,
    digest_mesh,
    is_mesh,
    make_visual,
    read_data,
)
from simwright.formats.usd.writer.plan import VISUAL_DEFAULT, VISUAL_HIGH, VISUAL_LOW
from simwright.formats.usd.writer.solids import (
    describe_primitive,
    is_closed,
    is_primitive,
    make_hull,
    make_round,
)
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Ellipsoid, MeshData, Sphere, Subset, fan_triangles

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


def find_folder() -> Path | None:
    """The folder of made meshes in ``XDG_CACHE_HOME`` or ``~/.cache``; None where there is neither."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path(os.environ.get("HOME", "")) / ".cache"
    return base / "simwright" / "meshes" if base.is_absolute() else None


def make_or_recall(data: MeshData, work: str, package: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays that ``make`` gives, from the cache where they were made before."""
    folder = find_folder()
    import hashlib  # brings OpenSSL, which most conversions do not need

    name = hashlib.blake2b(f"{work}|{package}|{version(package)}|".encode(), digest_size=20)
    name.update(digest_mesh(data))
    file = None if folder is None else folder / f"{name.hexdigest()}.npz"
    known = None if file is None else _read(file)
    if known is not None:
        return known
    made = make()
    if file is not None:
        stream = io.BytesIO()
        np.savez_compressed(stream, **made)  # type: ignore[arg-type]
        # a read-only home is no reason not to convert
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(file, stream.getvalue())
    return made


def _read(file: Path) -> Arrays | None:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    # whatever is in the folder: a cache may be cut off by a full disk
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


@dataclass(frozen=True, slots=True, eq=False)
class ColliderMeshes:
    """``coarse`` is None for a primitive.  ``radii`` are those of an ellipsoid that had to become a mesh [m]."""

    coarse: StoredMesh | None = None
    fine: StoredMesh | None = None
    radii: list[float] | None = None
    is_open: bool = False
    """Is the mesh of the source not closed?"""


def find_collider_meshes(shape: Shape, library: GeometryLibrary) -> ColliderMeshes | None:
    """What is touched of a shape; None if there is nothing, or OpenUSD has no word for it."""
    if is_mesh(shape.geometry):
        return _find_mesh(shape, library)
    if not is_primitive(shape.geometry):
        return None
    # a box may be stretched: UsdPhysics allows a scale on Cube
    kind, _, stretch = describe_primitive(shape.geometry, scaled(shape))
    if kind == "Cube" or np.all(stretch == 1.0):
        return ColliderMeshes()
    # UsdPhysics knows no uneven scale on round colliders
    coarse = library.store_small(f"{choose_word(shape)}_round", make_round(shape.geometry, scaled(shape)))
    is_ball = isinstance(shape.geometry, (Sphere, Ellipsoid))
    return ColliderMeshes(coarse, radii=[float(v) for v in _find_radii(shape)] if is_ball else None)


def _find_radii(shape: Shape) -> np.ndarray:
    assert isinstance(shape.geometry, (Sphere, Ellipsoid))
    radii = shape.geometry.radii if isinstance(shape.geometry, Ellipsoid) else shape.geometry.radius
    return np.abs(np.asarray(radii) * scaled(shape))


def _find_mesh(shape: Shape, library: GeometryLibrary) -> ColliderMeshes | None:
    fine, coarse = library.store_solid(shape), library.store_hull(shape)
    if fine is None:
        return None
    if coarse is None:  # flat: a floor or a wall has no hull
        return ColliderMeshes(fine)
    return ColliderMeshes(coarse, fine, is_open=library.remember(fine, is_closed) is False)


_DECOMPOSE_PACKAGE = "coacd"
_SEARCH = {
    "threshold": 0.05, "max_convex_hull": 32, "preprocess_resolution": 30, "resolution": 1000, "mcts_nodes": 10,
    "mcts_iterations": 60, "mcts_max_depth": 2, "seed": 0,
}  # fmt: skip
"""Concavity that is accepted, and how hard CoACD looks for better cuts: seconds a mesh, not minutes."""
_VERTICES = 64
"""Corners of one part: what PhysX takes on the GPU."""
_CONVEX = 0.98


class Decomposer:
    """Makes the parts; needs the extra ``decompose``."""

    def __init__(self) -> None:
        if find_spec("coacd") is None:
            raise MissingExtraError(_DECOMPOSE_PACKAGE, "decompose", "convex decomposition (--decompose)")
        self._known: dict[str, list[StoredMesh]] = {}

    def make(self, shape: Shape, meshes: ColliderMeshes, library: GeometryLibrary) -> list[StoredMesh]:
        """The parts of a collider; none where it is convex, or has no finer form than its hull."""
        coarse, fine = meshes.coarse, meshes.fine
        if coarse is None or fine is None:
            return []
        if fine.path not in self._known:
            parts = [] if _is_convex(fine.data, coarse.data) else decompose(fine.data)
            word = f"{choose_word(shape)}_part"
            self._known[fine.path] = (
                [library.store_small(word, part) for part in parts] if len(parts) > 1 else []
            )
        return self._known[fine.path]


def decompose(data: MeshData) -> list[MeshData]:
    """Convex closed parts that cover a mesh."""
    arrays = make_or_recall(data, f"decompose {_SEARCH} {_VERTICES}", _DECOMPOSE_PACKAGE, lambda: _run(data))
    meshes = []
    for number in range(len(arrays) // 2):
        part = MeshData(arrays[f"v{number}"].astype(np.float64), arrays[f"i{number}"].reshape(-1))
        hull = make_hull(part, np.ones(3))
        if hull is not None:
            meshes.append(hull)
    return meshes


def _run(data: MeshData) -> Arrays:
    import coacd

    # it prints to stdout otherwise
    coacd.set_log_level("off")
    mesh = coacd.Mesh(np.asarray(data.vertices, dtype=np.float64), data.triangles())
    found = coacd.run_coacd(mesh, max_ch_vertex=_VERTICES, decimate=True, **_SEARCH)
    arrays: Arrays = {}
    for number, (points, faces) in enumerate(found):
        arrays[f"v{number}"] = np.asarray(points, dtype=np.float32)
        arrays[f"i{number}"] = np.asarray(faces, dtype=np.int32)
    return arrays


def _is_convex(data: MeshData, hull: MeshData) -> bool:
    """Does a mesh fill its hull?"""
    return _find_volume(data) >= _CONVEX * _find_volume(hull)


def _find_volume(data: MeshData) -> float:
    corners = data.vertices[data.triangles()]
    # volume of an open mesh depends on the origin; the middle is the fairest
    corners = corners - corners.mean(axis=(0, 1))
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6.0


_LEVELS = {VISUAL_HIGH: (1.0, 0), VISUAL_DEFAULT: (0.25, 2000), VISUAL_LOW: (0.05, 200)}
"""Share of the triangles that is kept, and how many are kept in any case."""
_DECIMATE_PACKAGE = "fast-simplification"


class DetailLevels:
    """Makes the levels; needs the extra ``lod``."""

    levels = tuple(_LEVELS)

    def __init__(self) -> None:
        if find_spec("fast_simplification") is None:
            raise MissingExtraError(_DECIMATE_PACKAGE, "lod", "decimating meshes (--lod)")
        self._known: dict[tuple[Any, ...], StoredMesh | None] = {}

    def make(
        self, shape: Shape, library: GeometryLibrary, *, double_sided: bool = False
    ) -> dict[str, StoredMesh | None]:
        """The mesh of a shape in every level; None where it is the mesh of the source."""
        key = (library.identify(shape.geometry), tuple(scaled(shape).tolist()), double_sided)
        for level, (share, least) in _LEVELS.items():
            if (*key, level) not in self._known:
                data = make_visual(read_data(shape.geometry), scaled(shape))
                small = None if level == VISUAL_HIGH else decimate(data, share, least)
                word = f"{choose_word(shape)}_{level.removeprefix('mesh_')}"
                self._known[*key, level] = (
                    None if small is None else library.store_data(word, small, double_sided=double_sided)
                )
        return {level: self._known[*key, level] for level in _LEVELS}


def decimate(data: MeshData, share: float, least: int) -> MeshData | None:
    """A mesh of about ``share`` of the triangles, ``least`` at least; None if it has no more than that."""
    triangles = data.triangles()
    target = max(int(share * len(triangles)), least)
    if target >= len(triangles):
        return None
    made = make_or_recall(
        data, f"decimate {target}", _DECIMATE_PACKAGE, lambda: _simplify(data.vertices, triangles, target)
    )
    faces, origin = made["faces"], made["origin"]
    if len(faces) == 0 or len(faces) >= len(triangles):
        return None
    return _dress(data, made["points"].astype(np.float64), faces, origin, made["near"])


def _simplify(points: Array, triangles: npt.NDArray[np.int32], target: int) -> Arrays:
    """New points, faces, and the triangle of the source that each face was."""
    import fast_simplification

    welded, number = _weld(points)
    faces = number[triangles].astype(np.int32)
    solid = np.flatnonzero(
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    kept = np.ascontiguousarray(faces[solid])
    *_, collapses = fast_simplification.simplify(welded, kept, target_count=target, return_collapses=True)
    small, _, mapping = fast_simplification.replay_simplification(welded, kept, collapses)
    moved = np.asarray(mapping)[kept].astype(np.int32)
    alive = (moved[:, 0] != moved[:, 1]) & (moved[:, 1] != moved[:, 2]) & (moved[:, 2] != moved[:, 0])
    # collapsing may lay two faces onto each other
    _, first = np.unique(np.sort(moved[alive], axis=1), axis=0, return_index=True)
    chosen = np.flatnonzero(alive)[np.sort(first)]
    return {
        "points": np.asarray(small, dtype=np.float32),
        "near": _find_nearest(welded, np.asarray(small), np.asarray(mapping)),
        "faces": moved[chosen],
        "origin": solid[chosen].astype(np.int32),
    }


def _find_nearest(
    old: npt.NDArray[Any], new: npt.NDArray[Any], mapping: npt.NDArray[Any]
) -> npt.NDArray[np.int32]:
    """For every new point, the nearest of the old points that became it."""
    apart = np.linalg.norm(old - new[mapping], axis=1)
    order = np.lexsort((apart, mapping))
    kept, first = np.unique(mapping[order], return_index=True)
    nearest = np.zeros(len(new), dtype=np.int32)
    nearest[kept] = order[first]
    return nearest


def _weld(points: Array) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
    """Points at one place made one: edges must be shared to be collapsed."""
    rows = np.ascontiguousarray(points + 0.0, dtype=np.float32)
    _, first, number = np.unique(rows.view("V12").reshape(-1), return_index=True, return_inverse=True)
    return np.ascontiguousarray(rows[first]), number.reshape(-1)


def _dress(
    data: MeshData,
    points: Array,
    faces: npt.NDArray[np.int32],
    origin: npt.NDArray[np.int32],
    near: npt.NDArray[np.int32],
) -> MeshData:
    """Looks of the source on the faces that are left."""
    counts = np.full(data.face_count, 3, np.int32) if data.counts is None else data.counts
    owner = np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
    taken = fan_triangles(counts, np.arange(len(data.indices), dtype=np.int32))[origin].reshape(-1)
    moved: npt.NDArray[Any] = taken
    if data.uvs is not None or data.colors is not None:
        moved = _choose_corners(data, taken, near[faces.reshape(-1)])

    def carry(rows: Array | None) -> Array | None:
        if rows is None:
            return None
        carried: Array = rows[moved] if len(rows) == len(data.indices) else rows[data.indices[moved]]
        return carried

    subsets = []
    for subset in data.subsets:
        member = np.zeros(data.face_count, dtype=bool)
        member[subset.faces] = True
        left = np.flatnonzero(member[owner[origin]]).astype(np.int32)
        if len(left):
            subsets.append(Subset(subset.name, left, subset.material))
    return MeshData(
        points,
        np.ascontiguousarray(faces, dtype=np.int32).reshape(-1),
        uvs=carry(data.uvs),
        colors=carry(data.colors),
        subsets=tuple(subsets),
    )


def _choose_corners(
    data: MeshData, taken: npt.NDArray[Any], places: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """For every corner that is left, a corner of the source at its place, with looks nearest to its own."""
    rows = data.uvs if data.uvs is not None else data.colors
    assert rows is not None
    rows = rows if len(rows) == len(data.indices) else rows[data.indices]
    _, number = _weld(data.vertices)
    at = number[data.indices]
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], places)
    ends = np.searchsorted(at[order], places, side="right")
    chosen = np.empty(len(taken), dtype=np.int64)
    for corner, (own, start, end) in enumerate(zip(taken, starts, ends, strict=True)):
        there = order[start:end]
        chosen[corner] = (
            own if len(there) == 0 else there[np.abs(rows[there] - rows[own]).sum(axis=1).argmin()]
        )
    return chosen
