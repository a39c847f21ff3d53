# SPDX-License-Identifier: Apache-2.0
"""Mesh analysis for rules: triangulated, closed, manifold, wound consistently, convex (REP-0158 3.4).

Vectorised, computed when a rule asks, and remembered: what follows from the indices alone once per distinct
index array, the rest once per distinct mesh, so that copies cost one look-up.  Arrays are read, looked at and let
go: few rules want them twice.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.checker.facts.mesh_memory import (
    MOST_PLACES,
    ArrayKey,
    FaceKey,
    MeshAnswers,
    MeshOutline,
    MeshPlace,
    PrimvarKey,
    find_place,
    keep_form,
    keep_outline,
    keep_primvars,
    key_array,
    recall_answers,
    recall_form,
    recall_outline,
    recall_primvars,
)
from simwright.checker.facts.topology import (
    EdgeTable,
    Ints,
    Topology,
    are_triangles,
    count_edges,
    measure_size,
    weld_near,
    weld_points,
)
from simwright.core.heap import PageTally, keep_freed

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
    from simwright.usd.settled import Identity

Floats: TypeAlias = npt.NDArray[np.float64]
Load: TypeAlias = Callable[[str], Any]
"""Reads an attribute of the mesh."""
Weld: TypeAlias = Callable[[npt.NDArray[Any]], Ints]
_COUNTS, _INDICES = "faceVertexCounts", "faceVertexIndices"
Sketch: TypeAlias = tuple[int, int]
"""Number of points and a hash of three of them: a cheap test, meshes with different sketches differ."""


class FaceArrays:
    """Faces as arrays.  They are read again when asked for: decompressed indices are most of a stage's memory."""

    def __init__(self, counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> None:
        self.counts = counts
        self.indices = indices

    @cached_property
    def triangles(self) -> npt.NDArray[Any]:
        """``(n, 3)`` corners; polygons are fanned."""
        if are_triangles(self.counts, self.indices):
            return self.indices.reshape(-1, 3)
        from simwright.model.geometry import fan_triangles

        fanned: npt.NDArray[Any] = fan_triangles(self.counts, self.indices)
        return fanned

    @property
    def euler(self) -> int:
        """Corners - edges + faces of the triangles: 2 for one closed piece without handles."""
        # points that no face uses must not count as corners
        used = np.zeros(int(self.indices.max()) + 1, bool)
        used[self.indices] = True
        return int(np.count_nonzero(used)) - 3 * len(self.triangles) // 2 + len(self.triangles)

    @property
    def neighbours(self) -> tuple[Ints, Ints]:
        """For every edge of a closed triangle mesh: a face, and the far corner of the face beyond the edge."""
        corners = self.triangles.astype(np.int64)
        start, end = corners.reshape(-1), corners[:, [1, 2, 0]].reshape(-1)
        key = np.minimum(start, end) * (int(corners.max()) + 1) + np.maximum(start, end)
        # on a closed surface every edge is there exactly twice, so sorted keys come in pairs
        order = np.argsort(key, kind="stable").reshape(-1, 2)
        far = corners[:, [2, 0, 1]].reshape(-1)
        face: Ints = order[:, 0] // 3
        return face, far[order[:, 1]]


class FaceFacts:
    """What follows from the counts and indices of faces alone; the arrays themselves are not kept."""

    __slots__ = (
        "corner_count",
        "face_count",
        "is_triangulated",
        "key",
        "least",
        "most",
        "problem",
        "topology",
    )

    def __init__(
        self, key: FaceKey, counts: npt.NDArray[Any], indices: npt.NDArray[Any], table: EdgeTable
    ) -> None:
        self.key = key
        self.face_count = len(counts)
        self.corner_count = len(indices)
        self.is_triangulated = are_triangles(counts, indices)
        self.least = int(indices.min()) if len(indices) else 0
        self.most = int(indices.max()) if len(indices) else -1
        self.problem = "" if self.is_triangulated else _find_misfit(counts, indices)
        is_sound = not self.problem and self.least >= 0
        self.topology = count_edges(counts, indices, table) if is_sound else Topology(0, 0, 0, 0)


class MeshFacts:
    """A mesh, checked for sense; ``problem`` says why there is nothing to analyse."""

    def __init__(self, outline: MeshOutline, book: MeshCache, load: Load) -> None:
        self.outline = outline
        self.form = outline.form
        self.sketch = outline.sketch
        self.problem = outline.problem
        """Why there is nothing to analyse."""
        self.book = book
        self.load = load
        self._weld: Weld | None = None

    @property
    def digest(self) -> ArrayKey:
        """Digest of the points."""
        if self.outline.digest is None:
            self.outline.digest = key_array(self.points)
        return self.outline.digest

    @cached_property
    def answers(self) -> MeshAnswers:
        """What is known of meshes with this content: points are digested only where something dear is asked."""
        return recall_answers(self.form.key, self.digest)

    @property
    def points(self) -> npt.NDArray[Any]:
        """The points, read again."""
        return self.book.read(self.load)[0]

    @property
    def faces(self) -> FaceArrays:
        """The faces as authored, read again."""
        return self.book.read(self.load)[1]

    @property
    def is_triangulated(self) -> bool:
        """Has every face three corners?"""
        return self.form.is_triangulated

    @property
    def face_count(self) -> int:
        """Number of faces."""
        return self.form.face_count

    @property
    def triangle_count(self) -> int:
        """Number of triangles, polygons fanned."""
        return max(0, self.form.corner_count - 2 * self.form.face_count)

    @cached_property
    def surface(self) -> FaceFacts:
        """The form with equal points made one, where that is needed to close the surface.

        Exporters split points at hard edges and texture seams, some with rounding.
        """
        if self.form.topology.is_closed or not self.sketch[0]:
            return self.form
        if self.answers.surface is None:
            self.answers.surface = self._find_surface()
        found, self._weld = self.answers.surface
        return found

    def _find_surface(self) -> tuple[FaceFacts, Weld]:
        faces = self.faces
        # exact first: it is cheaper, and enough for most exporters
        welded = self.book.form(faces.counts, self._rename(faces, weld_points))
        if welded.topology.is_closed:
            return welded, weld_points
        near = self.book.form(faces.counts, self._rename(faces, weld_near))
        return (near, weld_near) if near.topology.is_closed else (welded, weld_points)

    @property
    def surface_faces(self) -> FaceArrays:
        """The faces of the surface, read again."""
        faces = self.faces
        if self.surface is self.form or self._weld is None:
            return faces
        # asked for several times in a row; another mesh takes its place
        if self.book.welded is None or self.book.welded[0] is not self:
            self.book.welded = (self, FaceArrays(faces.counts, self._rename(faces, self._weld)))
        return self.book.welded[1]

    def _rename(self, faces: FaceArrays, weld: Weld) -> npt.NDArray[Any]:
        renamed: npt.NDArray[Any] = weld(self.points).astype(faces.indices.dtype).take(faces.indices)
        return renamed

    @property
    def topology(self) -> Topology:
        """Edge counts of the surface."""
        return self.surface.topology

    @property
    def volume(self) -> float:
        """Signed volume: negative where a closed surface is wound inwards."""
        if self.answers.volume is None:
            self.answers.volume = self._find_volume()
        return self.answers.volume

    def _find_volume(self) -> float:
        corners = self.points[self.faces.triangles].astype(np.float64)
        # about the centre: far from the origin the products would lose all digits
        corners -= corners.reshape(-1, 3).mean(axis=0)
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0

    @property
    def is_flat(self) -> bool:
        """Do all points lie in one plane?"""
        if self.answers.is_flat is None:
            self.answers.is_flat = self._find_flat()
        return self.answers.is_flat

    def _find_flat(self) -> bool:
        if _is_clearly_solid(self.points, self.faces.indices):
            return False
        used = self.points.take(self.faces.indices, axis=0)
        centred = used - used.mean(axis=0)
        spread = np.linalg.eigvalsh(np.asarray(centred.T @ centred, np.float64))
        return bool(spread[0] <= 1e-9 * max(spread[2], 1e-30))

    @property
    def is_convex(self) -> bool:
        """Closed, one piece without handles, and bent inwards at every edge, within a small tolerance."""
        if not self.surface.topology.is_closed:
            return False
        if self.answers.is_convex is None:
            self.answers.is_convex = self._find_convex()
        return self.answers.is_convex

    def _find_convex(self) -> bool:
        faces = self.surface_faces
        # a torus bends inwards and outwards at its edges alike: the test below would not see its hole
        if faces.euler != 2:
            return False
        points = self.points
        size = measure_size(points)
        places = np.ascontiguousarray(points.T, np.float64)
        a, b, c = (places[:, faces.triangles[:, k]] for k in range(3))
        normals = cross_columns(b - a, c - a)
        face, far = faces.neighbours
        across = normals[:, face]
        height = (across * (places[:, far] - a[:, face])).sum(axis=0)
        centre = places.mean(axis=1)[:, None]
        if float((normals * (a - centre)).sum()) < 0:  # wound inwards
            height = -height
        limit = 1e-5 * size * np.sqrt((across * across).sum(axis=0))
        return bool((height <= limit).all())


@dataclass(slots=True)
class MeshCache:
    """Mesh facts of one snapshot, shared by meshes with equal content."""

    by_prim: dict[str, MeshFacts] = field(default_factory=dict)
    by_sketch: dict[tuple[int, int, int], MeshFacts] = field(default_factory=dict)
    """The first mesh with a sketch."""
    by_content: dict[tuple[int, int, int, ArrayKey], MeshFacts] = field(default_factory=dict)
    """All meshes whose sketch is not theirs alone."""
    forms: dict[FaceKey, FaceFacts] = field(default_factory=dict)
    recent: deque[tuple[bytes, bytes, FaceFacts]] = field(default_factory=lambda: deque(maxlen=2))
    """The last faces as authored, and as welded."""
    table: EdgeTable = field(default_factory=EdgeTable)
    hot: tuple[Load, npt.NDArray[Any], FaceArrays] | None = None
    """The mesh that was read last: what is asked next is often about it."""
    welded: tuple[MeshFacts, FaceArrays] | None = None
    """The faces of the last surface that was welded."""
    pages: PageTally = field(default_factory=PageTally)
    files: dict[str, Identity | None] = field(default_factory=dict)
    """Layers by their identifiers, with the files they are known to have the content of."""
    places: dict[str, MeshPlace] = field(default_factory=dict)
    has_few: bool | None = None

    def __post_init__(self) -> None:
        keep_freed()

    def read(self, load: Load) -> tuple[npt.NDArray[Any], FaceArrays]:
        """Points and faces."""
        # reading decompresses: rules ask several things of one mesh in a row
        if self.hot is None or self.hot[0] is not load:
            faces = FaceArrays(as_ints(load(_COUNTS)), as_ints(load(_INDICES)))
            self.hot = (load, as_floats(load("points"), 3), faces)
            self.pages.note(self.hot[1])
        return self.hot[1], self.hot[2]

    def form(self, counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> FaceFacts:
        """The form of these faces, shared by equal ones; meshes that follow each other are often alike."""
        c, i = counts.tobytes(), indices.tobytes()
        for known in self.recent:
            if known[1] == i and known[0] == c:
                return known[2]
        # hashes instead of the bytes: the arrays are not to be kept
        key = ((counts.dtype.char, len(counts), hash(c)), (indices.dtype.char, len(indices), hash(i)))
        found = self.forms.get(key)
        if found is None:
            found = recall_form(key)
            if found is None:
                found = FaceFacts(key, counts, indices, self.table)
                keep_form(key, found)
            self.forms[key] = found
        self.recent.append((c, i, found))
        return found

    def find_place(self, node: PrimNode, snapshot: StageSnapshot) -> MeshPlace:
        """Where a mesh is said; None in a stage of many, where looking for places takes longer than it saves."""
        if self.has_few is None:
            self.has_few = sum(other.type == "Mesh" for other in snapshot.nodes) <= MOST_PLACES
        if not self.has_few:
            return None
        if node.path not in self.places:
            self.places[node.path] = find_place(node.prim, self.files)
        return self.places[node.path]

    def facts(self, load: Load, place: MeshPlace = None) -> MeshFacts:
        """Facts of a mesh, shared by equal ones; ``place`` is that of the prim that ``load`` reads.

        Points are digested only where a second mesh has the same sketch.
        """
        outline = self.outline(load, place)
        look = (id(outline.form), *outline.sketch)
        first = self.by_sketch.get(look)
        if first is None:
            first = self.by_sketch[look] = MeshFacts(outline, self, load)
            return first
        found = MeshFacts(outline, self, load)
        self.by_content.setdefault((*look, first.digest), first)
        return self.by_content.setdefault((*look, found.digest), found)

    def outline(self, load: Load, place: MeshPlace) -> MeshOutline:
        """What reading a mesh tells, from earlier where what is said of it stands in unchanged files."""
        known = recall_outline(place)
        if known is not None:
            # equal faces have one form in a snapshot, wherever it comes from
            known.form = self.forms.setdefault(known.form.key, known.form)
            return known
        points, faces = self.read(load)
        form = self.form(faces.counts, faces.indices)
        found = MeshOutline(form, sketch_points(points), _find_problem(points, form))
        keep_outline(place, found)
        return found


def as_ints(value: Any) -> npt.NDArray[Any]:
    """An array of whole numbers; empty for anything else."""
    try:
        array = np.asarray(() if value is None else value)
    except (TypeError, ValueError):
        return np.zeros(0, np.int32)
    return array if array.ndim == 1 and array.dtype.kind in "iu" else np.zeros(0, np.int32)


def as_floats(value: Any, width: int) -> npt.NDArray[Any]:
    """An ``(n, width)`` array of numbers; empty for anything else."""
    try:
        array = np.asarray(() if value is None else value)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim == 2 and array.shape[1] == width and array.dtype.kind in "fiu":
        return array
    return np.zeros((0, width), np.float32)


def sketch_points(points: npt.NDArray[Any]) -> Sketch:
    """What is cheap to compare."""
    count = len(points)
    if not count:
        return 0, 0
    return count, hash(points[:: max(1, count // 2)].tobytes())


def read_mesh(node: PrimNode, snapshot: StageSnapshot) -> MeshFacts:
    """Facts of a Mesh prim at the default time (remembered on the snapshot)."""
    book = snapshot.shared("meshes", lambda _: MeshCache())
    found = book.by_prim.get(node.path)
    if found is None:
        found = book.by_prim[node.path] = book.facts(node.value, book.find_place(node, snapshot))
    return found


def sketch_mesh(node: PrimNode, snapshot: StageSnapshot) -> Sketch:
    """A sketch of the points; meshes that were read already are not read again."""
    book = snapshot.shared("meshes", lambda _: MeshCache())
    known = book.by_prim.get(node.path)
    if known is not None:
        return known.sketch
    outline = recall_outline(book.find_place(node, snapshot))
    if outline is not None:
        return outline.sketch
    points = as_floats(node.value("points"), 3)
    book.pages.note(points)
    return sketch_points(points)


def digest_primvars(node: PrimNode, snapshot: StageSnapshot) -> PrimvarKey:
    """What tells the primvars of a mesh from those of others; they are not read again where nothing has changed."""
    book = snapshot.shared("meshes", lambda _: MeshCache())
    place = book.find_place(node, snapshot)
    found = recall_primvars(place)
    if found is None:
        found = tuple((name, _digest(node.value(name))) for name in sorted(node.property_names("primvars")))
        keep_primvars(place, found)
    return found


def _digest(value: Any) -> ArrayKey | str:
    try:
        return key_array(np.asarray(value))
    except (TypeError, ValueError):
        return str(value)


def make_facts(points: Any, counts: Any, indices: Any) -> MeshFacts:
    """Facts from raw arrays (anything that numpy understands, or None)."""
    return MeshCache().facts({"points": points, _COUNTS: counts, _INDICES: indices}.get)


def list_collision_meshes(snapshot: StageSnapshot) -> list[PrimNode]:
    """Meshes that collide: with PhysicsCollisionAPI, or below a prim that has it; switched-off ones aside."""
    return snapshot.shared("meshes.colliders", _gather_collision_meshes)


def _gather_collision_meshes(snapshot: StageSnapshot) -> list[PrimNode]:
    found: dict[int, PrimNode] = {}
    for collider in snapshot.colliders:
        below = (collider,) if collider.type == "Mesh" else collider.descendants()
        meshes = [node for node in below if node.type == "Mesh"]
        if meshes and collider.authored("physics:collisionEnabled") is not False:
            found.update((id(node), node) for node in meshes)
    return list(found.values())


def _find_misfit(counts: npt.NDArray[Any], indices: npt.NDArray[Any]) -> str:
    total = int(counts.sum())
    if total == len(indices) and (len(counts) == 0 or counts.min() >= 0):
        return ""
    return f"faceVertexCounts add up to {total}, but there are {len(indices)} indices"


def _find_problem(points: npt.NDArray[Any], form: FaceFacts) -> str:
    if len(points) == 0 or form.face_count == 0:
        return "the mesh has no points or no faces"
    if form.problem:
        return form.problem
    if form.least < 0 or form.most >= len(points):
        worst = form.least if form.least < 0 else form.most
        return f"faceVertexIndices reach {worst}, but there are {len(points)} points"
    # the sum is a quick test; only a doubtful one looks at every number
    if not math.isfinite(np.add.reduce(points, axis=None)) and not np.isfinite(points).all():
        return "the points hold numbers that are not finite"
    return ""


_SOLID = 1e-4
"""The least spread of points that are clearly no plane, the largest counted as 1."""
_ROUNDING = 1e-9
"""Spread that rounding of numbers of 32 bits may make, and much more, by the square of their size."""


def _is_clearly_solid(points: npt.NDArray[Any], indices: npt.NDArray[Any]) -> bool:
    """Are the corners far from lying in a plane?

    Points are fewer than corners: this takes a tenth of the time of what tells the doubtful cases apart.
    """
    uses = np.bincount(indices, minlength=len(points)).astype(np.float64)
    places = np.ascontiguousarray(points.T, np.float64)
    # products of matrices would be shared out among threads, who take longer to meet than to multiply
    size = float(np.einsum("ij,ij,j->", places, places, uses))
    places -= (np.einsum("ij,j->i", places, uses) / max(len(indices), 1))[:, None]
    spread = np.linalg.eigvalsh(np.einsum("ik,jk->ij", places * uses, places))
    return bool(spread[0] > max(_SOLID * spread[2], _ROUNDING * size, 1e-30))


def cross_columns(a: Floats, b: Floats) -> Floats:
    """Cross products of vectors in columns: a third of the time of ``np.cross``."""
    return np.stack(
        (
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        )
    )
