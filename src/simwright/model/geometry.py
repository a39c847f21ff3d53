# SPDX-License-Identifier: Apache-2.0
"""Geometry: primitives, meshes, heightfields.  Immutable and shared: many shapes may hold one object.

Primitives are centred at their origin; axial ones lie along local +Z.  All lengths in metres.

At the end: points at one place and rows that repeat, found without sorting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.gate import Gate
from simwright.core.math3d import Array, Pose, vec3
from simwright.model.display import Shown, show_file

Faces: TypeAlias = npt.NDArray[np.int32]
Singles: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Box(Shown):
    """A box with full edge lengths ``size`` [m]."""

    kind: ClassVar[str] = "box"
    size: Array

    @classmethod
    def of(cls, x: float, y: float, z: float) -> Box:
        """From three edge lengths [m]."""
        return cls(vec3(x, y, z))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sphere(Shown):
    """A ball of ``radius`` [m]."""

    kind: ClassVar[str] = "sphere"
    radius: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ellipsoid(Shown):
    """Semi-axes ``radii`` [m]."""

    kind: ClassVar[str] = "ellipsoid"
    radii: Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cylinder(Shown):
    """Along Z, ``length`` between the end discs [m]."""

    kind: ClassVar[str] = "cylinder"
    radius: float
    length: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Capsule(Shown):
    """Along Z; ``length`` is that of the cylindrical part, without the caps [m]."""

    kind: ClassVar[str] = "capsule"
    radius: float
    length: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cone(Shown):
    """Along Z, apex at +length/2, base disc at -length/2 (as UsdGeomCone) [m]."""

    kind: ClassVar[str] = "cone"
    radius: float
    length: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plane(Shown):
    """The XY plane facing +Z; ``size`` is the visible width and length [m], None if unbounded."""

    kind: ClassVar[str] = "plane"
    size: Array | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Heightfield(Shown):
    """A grid of heights [m]; row 0 is at -y, column 0 at -x; ``size`` is the full x and y extent [m]."""

    kind: ClassVar[str] = "heightfield"
    heights: Array
    size: Array
    base: float = 0.0
    source: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Polyline(Shown):
    """Closed 2D outlines in XY, extruded from z = 0 to ``height`` [m]; later loops cut holes."""

    kind: ClassVar[str] = "polyline"
    loops: tuple[Array, ...]
    height: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subset(Shown):
    """A set of faces of a mesh with a material of its own."""

    name: str
    faces: Faces
    material: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeshData(Shown):
    """The arrays of a mesh.

    ``counts`` is None for triangles (``indices`` is then ``3 * n``), else the corners of each face.
    ``normals``, ``uvs`` and ``colors`` have one row per corner (face-varying) or per vertex.  ``uv_sets`` are further
    texture coordinates by name, ``uv_name`` is that of ``uvs``.  ``smooth`` says how a mesh without normals looks:
    round, in facets, or (None) not said.  ``colors`` are display colours (see ``material``).
    """

    vertices: Array
    indices: Faces
    counts: Faces | None = None
    normals: Array | None = None
    uvs: Array | None = None
    colors: Array | None = None
    subsets: tuple[Subset, ...] = ()
    left_handed: bool = False
    uv_name: str = "st"
    uv_sets: Mapping[str, Array] = field(default_factory=dict)
    smooth: bool | None = None

    @property
    def face_count(self) -> int:
        """Number of faces."""
        return len(self.indices) // 3 if self.counts is None else len(self.counts)

    def count_bytes(self) -> int:
        """How much memory the arrays take."""
        arrays = (self.vertices, self.indices, self.counts, self.normals, self.uvs, self.colors)
        return sum(array.nbytes for array in arrays if array is not None)

    def triangles(self) -> Faces:
        """``(n, 3)`` counter-clockwise triangles; polygons are fanned from their first corner."""
        counts, indices = self.counts, self.indices
        triangles = indices.reshape(-1, 3) if counts is None else fan_triangles(counts, indices)
        return triangles[:, ::-1] if self.left_handed else triangles


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recipe(Shown):
    """What an engine made a mesh of: a file in its own encoding, or none, and its own words for the rest."""

    file: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Mesh:
    """A mesh that is loaded when it is first looked at; ``load_solid`` loads its points and faces alone.

    One that ``reloads`` gives the same arrays whenever it is loaded, and so may be asked to let them go.
    ``source`` tells where it came from (file or prim), ``file`` the mesh file if there is one and it has the same
    points.  ``recipe`` is how the engine that made the mesh makes it again, bit for bit; it is the reader's and never
    comes from an attribute of a file.  ``gate`` tells which files the mesh file may name (materials, images).
    """

    kind: ClassVar[str] = "mesh"
    __slots__ = ("_data", "_load", "_load_solid", "_reloads", "file", "gate", "recipe", "source")

    def __init__(
        self,
        data: MeshData | None = None,
        *,
        load: Callable[[], MeshData] | None = None,
        load_solid: Callable[[], MeshData] | None = None,
        source: str = "",
        file: str = "",
        recipe: Recipe | None = None,
        gate: Gate | None = None,
        reloads: bool = False,
    ) -> None:
        assert (data is None) != (load is None) or reloads, "a mesh has its data or a way to load it"
        self._data = data
        self._load = load
        self._load_solid = load_solid
        self._reloads = reloads
        self.source = source
        self.file = file
        self.recipe = recipe
        self.gate = gate

    @classmethod
    def of(cls, vertices: Any, triangles: Any, source: str = "") -> Mesh:
        """From vertex and triangle arrays."""
        return cls(
            MeshData(
                np.asarray(vertices, dtype=np.float64).reshape(-1, 3),
                np.asarray(triangles, dtype=np.int32).reshape(-1),
            ),
            source=source,
        )

    @property
    def data(self) -> MeshData:
        """The arrays, loaded now if they were not."""
        if self._data is None:
            assert self._load is not None
            self._data = self._load()
            self._load_solid = None
            if not self._reloads:
                self._load = None
        return self._data

    def release(self) -> None:
        """Let the arrays go, where they can be loaded again; they are when somebody looks."""
        if self._reloads:
            self._data = None

    def solid(self) -> MeshData:
        """Points and faces, perhaps without the other arrays; loaded for the caller and not kept."""
        return self.data if self._load_solid is None else self._load_solid()

    @property
    def asset_name(self) -> str:
        """What the source calls the mesh itself: the name after ``#`` in ``source``, else the name of the file."""
        return self.source.rpartition("#")[2] if "#" in self.source else PurePath(self.file).stem

    @property
    def is_loaded(self) -> bool:
        """Are the arrays in memory?"""
        return self._data is not None

    def __repr__(self) -> str:
        name = show_file(self.source or self.file) or "in memory"
        size = f"{self._data.face_count} faces" if self._data is not None else "not read yet"
        return f"<Mesh {name[:60]}: {size}>"


Geometry: TypeAlias = (
    Box | Sphere | Ellipsoid | Cylinder | Capsule | Cone | Plane | Heightfield | Polyline | Mesh
)
GEOMETRY_TYPES: tuple[type, ...] = (
    Box, Sphere, Ellipsoid, Cylinder, Capsule, Cone, Plane, Heightfield, Polyline, Mesh,
)  # fmt: skip


def fan_triangles(counts: Faces, indices: Faces) -> Faces:
    """Fan triangulation of polygons, vectorised; faces with fewer than three corners vanish."""
    counts = np.asarray(counts, dtype=np.int64)
    # without a loop over faces: meshes have millions
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else counts
    per_face = np.maximum(counts - 2, 0)
    total = int(per_face.sum())
    first = np.repeat(starts, per_face)
    begin = np.concatenate(([0], np.cumsum(per_face)[:-1])) if len(counts) else per_face
    step = np.arange(total) - np.repeat(begin, per_face)
    corners = np.stack((first, first + step + 1, first + step + 2), axis=1)
    triangles: Faces = np.asarray(indices, dtype=np.int32)[corners]
    return triangles


def cut_faces(data: MeshData, *, with_holes: bool = False) -> Faces:
    """``(n, 3)`` corner numbers of the triangles that MuJoCo makes of faces, in the turn that they have.

    Faces with four corners are cut along the shorter diagonal, larger ones lose one ear after the other
    (tinyobjloader, in single precision).  MuJoCo leaves a hole where it finds no more ear: so do we if asked for
    ``with_holes``, else the rest is fanned, and a face of n corners has n - 2 triangles.
    """
    numbers: Faces = np.arange(len(data.indices), dtype=np.int32)
    if data.counts is None:
        return numbers.reshape(-1, 3)
    counts = np.asarray(data.counts)
    cut = fan_triangles(counts, numbers)
    starts = np.cumsum(counts) - counts
    # fans of the faces before it have two triangles less than corners
    rows = np.cumsum(np.maximum(counts - 2, 0)) - np.maximum(counts - 2, 0)
    points = np.asarray(data.vertices, dtype=np.float32)
    for count in np.unique(counts[counts > 3]).tolist():
        chosen = counts == count
        corners = starts[chosen, None] + np.arange(count)
        places = points[data.indices[corners]]
        if count == 4:
            first, second = (np.square(places[:, k] - places[:, k + 2]).sum(axis=1) for k in (0, 1))
            other = np.flatnonzero(first >= second)
            cuts = np.broadcast_to(np.array(((0, 1, 3), (1, 2, 3))), (len(other), 2, 3))
        else:
            flat = _flatten_faces(places)
            # the ears of a convex face are its fan: few faces are left to be cut one by one
            other = np.flatnonzero(~_is_fan(flat))
            cuts = np.array([_clip_ears(face, with_holes) for face in flat[other]], dtype=np.int64)
            cuts = cuts.reshape(-1, count - 2, 3)
        chosen_rows = rows[chosen][other, None] + np.arange(count - 2)
        cut[chosen_rows] = np.where(cuts < 0, -1, corners[other, 0][:, None, None] + cuts)
    return cut[cut[:, 0] >= 0] if with_holes else cut


def _flatten_faces(places: Singles) -> Singles:
    """Corners ``(faces, corners, 2)`` seen along the axis to which the first real corner is turned most."""
    edges = np.roll(places, -1, axis=1) - places
    turns: Any = np.abs(np.cross(edges, np.roll(edges, -1, axis=1)))
    is_corner = np.any(turns > np.finfo(np.float32).eps, axis=2)
    turn = turns[np.arange(len(places)), is_corner.argmax(axis=1)]
    x, y, z = turn.T
    kept = np.full((len(places), 2), (0, 2))
    kept[(z > x) & (z > y)] = (0, 1)
    kept[((x > y) & (x > z)) | ~is_corner.any(axis=1)] = (1, 2)
    flat: Singles = np.take_along_axis(places, kept[:, None, :], axis=2)
    return flat


def _is_fan(flat: Singles) -> npt.NDArray[np.bool_]:
    """Which faces have an ear at their first corner, and again when it is cut, to the end."""
    is_fan = np.ones(len(flat), dtype=bool)
    for step in range(1, flat.shape[1] - 2):
        rest = np.concatenate((flat[:, :1], flat[:, step:]), axis=1)
        is_fan &= _is_ear(rest)
    return is_fan


def _is_ear(flat: Singles) -> npt.NDArray[np.bool_]:
    """Which faces can lose their first three corners as a triangle: it turns as they do, and has no other corner."""
    a, b, c = (flat[:, k] for k in range(3))
    turn = (b - a)[:, 0] * (c - b)[:, 1] - (b - a)[:, 1] * (c - b)[:, 0]
    area = (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) * np.float32(0.5)
    inside = np.zeros((len(flat), flat.shape[1] - 3), dtype=bool)
    x, y = flat[:, 3:, 0], flat[:, 3:, 1]
    for tip, end in ((a, c), (b, a), (c, b)):
        crosses = (tip[:, 1, None] > y) != (end[:, 1, None] > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (end - tip)[:, 0, None] * (y - tip[:, 1, None]) / (end - tip)[:, 1, None] + tip[:, 0, None]
        inside ^= crosses & (x < at)
    is_ear: npt.NDArray[np.bool_] = ~(turn * area < 0.0) & ~inside.any(axis=1)
    return is_ear


def _clip_ears(flat: Singles, with_holes: bool) -> list[tuple[int, int, int]]:
    """The triangles of one face, ear by ear from the corner where the last one was found; -1 for those of a hole."""
    left, guess, tries = list(range(len(flat))), 0, len(flat)
    found: list[tuple[int, int, int]] = []
    # tries are counted as tinyobjloader counts them: an ear at the very last one is the end
    before = len(left)
    while len(left) > 3 and tries:
        tries = len(left) if len(left) != before else tries - 1
        before, guess = len(left), guess % len(left)
        turned = left[guess:] + left[:guess]
        if _is_ear(flat[None, turned])[0]:
            found.append((turned[0], turned[1], turned[2]))
            left.remove(turned[1])
        else:
            guess += 1
    if with_holes and len(left) > 3:
        return found + [(-1, -1, -1)] * (len(left) - 2)
    return found + [(left[0], a, b) for a, b in pairwise(left[1:])]


def box_bounds(geometry: Geometry) -> tuple[Array, Array] | None:
    """Local axis-aligned bounds (min, max) [m]; None for an unbounded plane or an empty mesh."""
    match geometry:
        case Box():
            half = geometry.size / 2
        case Sphere():
            half = np.full(3, geometry.radius)
        case Ellipsoid():
            half = geometry.radii
        case Cylinder() | Cone():
            half = vec3(geometry.radius, geometry.radius, geometry.length / 2)
        case Capsule():
            half = vec3(geometry.radius, geometry.radius, geometry.length / 2 + geometry.radius)
        case Plane():
            if geometry.size is None:
                return None
            half = vec3(geometry.size[0] / 2, geometry.size[1] / 2, 0.0)
        case Heightfield():
            x, y = geometry.size / 2
            # the solid reaches down to its base, see moments.heightfield_solid
            low = min(-geometry.base, float(geometry.heights.min()))
            return vec3(-x, -y, low), vec3(x, y, float(geometry.heights.max()))
        case Polyline():
            points = np.concatenate(geometry.loops)
            (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
            return vec3(float(x0), float(y0), 0.0), vec3(float(x1), float(y1), geometry.height)
        case Mesh():
            vertices = geometry.data.vertices
            return (vertices.min(axis=0), vertices.max(axis=0)) if len(vertices) else None
    return -half, half


def find_lowest(geometry: Geometry, place: Pose, scale: Array) -> float | None:
    """The height of the lowest point of a scaled geometry at a pose [m]; None where it has no bounds."""
    bounds = box_bounds(geometry)
    if bounds is None:
        return None
    # how much each local coordinate raises a point
    x, y, z = up = scale * place.rotation[2]
    match geometry:
        case Sphere():
            depth = -geometry.radius * float(np.linalg.norm(up))
        case Ellipsoid():
            depth = -float(np.linalg.norm(geometry.radii * up))
        case Capsule():
            # its caps stay round when it is scaled
            depth = -abs(z) * geometry.length / 2 - geometry.radius * float(np.max(np.abs(scale)))
        case Cylinder():
            depth = -abs(z) * geometry.length / 2 - geometry.radius * math.hypot(x, y)
        case Cone():
            tip = z * geometry.length / 2
            depth = min(tip, -tip - geometry.radius * math.hypot(x, y))
        case Mesh():
            depth = float((geometry.data.vertices @ up).min())
        case _:
            depth = float(np.minimum(bounds[0] * up, bounds[1] * up).sum())
    return depth + float(place.p[2])


@dataclass(frozen=True, slots=True, repr=False)
class Approximation(Shown):
    """How a mesh collider is simplified: the UsdPhysics token and its settings."""

    token: str = "none"
    settings: dict[str, float] = field(default_factory=dict)


_MIX = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_LEAST_BITS = 4


def find_first(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.integer[Any]]:
    """For every key, where it is first.

    Keys are dealt into a table by some of their bits, the first one of a place wins it, and those that lost to another
    key are dealt again by other bits: a fifth of the time of a sort.  Keys made to collide are sorted in the end.
    """
    # of one type with the table: numpy takes its short way only where it need not convert
    number: type[np.integer[Any]] = np.int64 if len(keys) >= 2**31 else np.int32
    waiting: npt.NDArray[Any] = np.arange(len(keys), dtype=number)
    bits = max(_LEAST_BITS, (2 * len(keys)).bit_length())
    room: npt.NDArray[Any] = np.empty(1 << bits, number)
    result: npt.NDArray[Any] | None = None
    left = keys
    for factor in _MIX:
        place = ((left * factor) >> np.uint64(64 - bits)).view(np.int64)
        room[place[::-1]] = waiting[::-1]  # the last one written stays: the first of its place
        winner = room.take(place)
        if result is None:
            result = winner
        else:
            result[waiting] = winner
        lost = np.flatnonzero(keys.take(winner) != left)
        if not len(lost):
            return result
        waiting, left = waiting.take(lost), left.take(lost)
    assert result is not None, "there is a first turn"
    _, first, inverse = np.unique(left, return_index=True, return_inverse=True)
    result[waiting] = waiting[first[inverse]]
    return result
