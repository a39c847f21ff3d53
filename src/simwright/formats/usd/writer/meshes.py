# SPDX-License-Identifier: Apache-2.0
"""``geometries.usdc``: every mesh once, scale and handedness baked in (REP-0158 1.1, 3.4).

Meshes for contact are triangles without looks (see ``solids``).  Equal meshes at equal scale share a prim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from simwright.core.math3d import Array
from simwright.core.names import NameScope, make_identifier
from simwright.formats.parts.coordinates import MADE, OBJECT
from simwright.formats.usd.writer.layer import LayerWriter
from simwright.formats.usd.writer.solids import make_hull, make_solid
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Faces,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Subset,
)
from simwright.model.material import make_all_linear
from simwright.model.moments import heightfield_solid

FILE = "geometries.usdc"
ROOT = "/geometries"
MESH = "mesh"
_UNIT = 1e-5
"""How far the square of a normal's length may be from one: single precision, some digits in a text."""
Maker: TypeAlias = Callable[[MeshData, Array], MeshData | None]


@dataclass(frozen=True, slots=True, eq=False)
class StoredMesh:
    """A mesh in the library: its prim, and its arrays without looks."""

    path: str
    data: MeshData


class GeometryLibrary:
    """Collects meshes; equal geometry at equal scale is stored once."""

    def __init__(self) -> None:
        self.layer = LayerWriter(ROOT, "Meshes, points and faces only.")
        self.layer.define(ROOT, "Scope")
        self.is_used = False
        self._names = NameScope()
        self._known: dict[tuple[object, ...], StoredMesh | None] = {}
        self._contents: dict[tuple[bytes, bytes], StoredMesh] = {}
        self._answers: dict[tuple[str, Callable[[MeshData], bool]], bool] = {}
        self._twins: dict[int, int] = {}
        self._alike: dict[tuple[object, ...], list[Mesh]] = {}
        self._kept: list[Geometry] = []  # their ids are keys, so they must live

    def store_visual(self, shape: Shape, *, double_sided: bool = False) -> StoredMesh | None:
        """The mesh of a shape for the eye; None if it has no faces."""
        return self._keep(shape, "visual", make_visual, double_sided=double_sided)

    def store_solid(self, shape: Shape) -> StoredMesh | None:
        """The triangles of a shape for contact; None if it has no faces.

        A visual that is nothing but the same triangles serves as well.
        """
        geometry, scale = shape.geometry, scaled(shape)
        if isinstance(geometry, Mesh) and _is_plain(geometry.data) and not np.any(scale < 0.0):
            # one mesh less in the file where source and collider are the same
            known = self._known.get(self._key(shape, "visual", False))
            if known is not None:
                return known
        return self._keep(shape, "solid", make_solid)

    def store_hull(self, shape: Shape) -> StoredMesh | None:
        """The convex hull of a shape; None if it has no volume."""
        return self._keep(shape, "hull", make_hull)

    def store_data(
        self, word: str, data: MeshData, *, label: str = "", double_sided: bool = False
    ) -> StoredMesh:
        """A mesh that was made already; ``label`` is what its source calls it, if that is not the word."""
        path = f"{ROOT}/{self._names.claim(make_identifier(word))}"
        self.layer.define(path)
        self.layer.name(path, label or word)
        _write_mesh(self.layer, f"{path}/{MESH}", data, double_sided)
        self.is_used = True
        return StoredMesh(path, replace(data, normals=None, uvs=None, colors=None, uv_sets={}))

    def store_small(self, word: str, data: MeshData) -> StoredMesh:
        """A hull or the like: equal ones are one, wherever they came from."""
        # hulls of different meshes are often equal: boxes, plates
        content = (data.vertices.tobytes(), data.indices.tobytes())
        if content not in self._contents:
            self._contents[content] = self.store_data(word, data)
        return self._contents[content]

    def remember(self, stored: StoredMesh, ask: Callable[[MeshData], bool]) -> bool:
        """The answer to a question about a stored mesh, asked once."""
        key = (stored.path, ask)
        if key not in self._answers:
            self._answers[key] = ask(stored.data)
        return self._answers[key]

    def identify(self, geometry: Geometry) -> int:
        """The same for geometry of the same content, also where it was loaded twice."""
        if id(geometry) not in self._twins:
            self._kept.append(geometry)
            twin = self._find_twin(geometry) if isinstance(geometry, Mesh) else geometry
            self._twins[id(geometry)] = id(twin)
        return self._twins[id(geometry)]

    def _find_twin(self, mesh: Mesh) -> Mesh:
        """The first mesh of the same content; only meshes that look alike are compared."""
        known = self._alike.setdefault(sketch_mesh(mesh.data), [])
        twin = next((other for other in known if is_same_mesh(other.data, mesh.data)), None)
        if twin is None:
            known.append(mesh)
        return twin or mesh

    def _key(self, shape: Shape, role: str, double_sided: bool) -> tuple[object, ...]:
        return self.identify(shape.geometry), tuple(scaled(shape).tolist()), role, double_sided

    def _keep(self, shape: Shape, role: str, make: Maker, *, double_sided: bool = False) -> StoredMesh | None:
        key = self._key(shape, role, double_sided)
        if key not in self._known:
            data = make(read_data(shape.geometry), scaled(shape))
            self._known[key] = None
            if data is not None and len(data.vertices) and data.face_count:
                word = choose_word(shape) if role == "visual" else f"{choose_word(shape)}_{role}"
                self._known[key] = stored = (
                    self.store_small(word, data)
                    if role == "hull" and not isinstance(shape.geometry, Heightfield)
                    else self.store_data(word, data, label=choose_word(shape), double_sided=double_sided)
                )
                if isinstance(shape.geometry, Heightfield) and np.all(scaled(shape) > 0.0):
                    self.layer.note(
                        f"{stored.path}/{MESH}", **make_terrain_note(shape.geometry, scaled(shape))
                    )
        return self._known[key]


def digest_mesh(data: MeshData) -> bytes:
    """A digest of all arrays."""
    import hashlib  # brings OpenSSL: some MiB that few conversions need

    digest = hashlib.blake2b(digest_size=16)
    for array in (data.vertices, data.indices, data.counts, data.normals, data.uvs, data.colors):
        digest.update(b"|" if array is None else np.ascontiguousarray(array).tobytes())
    for subset in data.subsets:
        digest.update(f"|{subset.name}|{subset.material}|".encode())
        digest.update(np.ascontiguousarray(subset.faces).tobytes())
    digest.update(b"left" if data.left_handed else b"right")
    return digest.digest()


def sketch_mesh(data: MeshData) -> tuple[object, ...]:
    """A few numbers that equal meshes have in common."""
    arrays = (data.vertices, data.indices, data.counts, data.normals, data.uvs, data.colors)
    sizes = tuple(0 if array is None else len(array) for array in arrays)
    ends: tuple[bytes, ...] = (
        data.vertices[:1].tobytes(),
        data.vertices[-1:].tobytes(),
        data.indices[-3:].tobytes(),
    )
    ends = (*ends, *(rows[:1].tobytes() + rows[-1:].tobytes() for rows in data.uv_sets.values()))
    return (
        data.uv_name,
        *data.uv_sets,
        *sizes,
        *ends,
        *((subset.name, subset.material) for subset in data.subsets),
        data.left_handed,
    )


def is_same_mesh(one: MeshData, other: MeshData) -> bool:
    """Have two meshes of one sketch the same arrays?"""
    if one is other:
        return True
    pairs = [
        (getattr(one, name), getattr(other, name))
        for name in ("vertices", "indices", "counts", "normals", "uvs", "colors")
    ]
    pairs += [(one.uv_sets[name], other.uv_sets[name]) for name in one.uv_sets]
    pairs += [(a.faces, b.faces) for a, b in zip(one.subsets, other.subsets, strict=True)]
    return all(a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in pairs)


def is_mesh(geometry: Geometry) -> bool:
    """Is it written as a mesh?"""
    return isinstance(geometry, (Mesh, Heightfield))


def _is_plain(data: MeshData) -> bool:
    return data.counts is None and not data.left_handed


def choose_word(shape: Shape) -> str:
    """What a mesh is called: as in its source, else as its shape."""
    return (shape.geometry.asset_name if isinstance(shape.geometry, Mesh) else "") or shape.name


def read_data(geometry: Geometry) -> MeshData:
    """The arrays of a geometry that is written as a mesh."""
    if isinstance(geometry, Heightfield):
        vertices, triangles = heightfield_solid(geometry)
        return MeshData(vertices, np.asarray(triangles, dtype=np.int32).reshape(-1))
    assert isinstance(geometry, Mesh)
    return geometry.data


def make_visual(data: MeshData, scale: Array) -> MeshData:
    """The mesh at a scale, turned right-handed; arrays that stay as they are are shared."""
    is_scaled = bool(np.any(scale != 1.0))
    normals = data.normals
    if normals is not None:
        # normals go with the inverse of the scale
        normals = _make_unit((normals / scale).astype(np.float32) if is_scaled else normals)
    # a mirroring turns right-handed faces left-handed; both together cancel
    corners = _reverse_faces(data) if data.left_handed != bool(np.prod(scale) < 0.0) else None
    return MeshData(
        vertices=data.vertices * scale if is_scaled else data.vertices,
        indices=data.indices if corners is None else data.indices[corners],
        counts=data.counts,
        normals=_turn(normals, corners, data),
        uvs=_turn(data.uvs, corners, data),
        colors=_turn(data.colors, corners, data),
        subsets=data.subsets,
        uv_name=data.uv_name,
        uv_sets=_turn_sets(data, corners),
    )


def _make_unit(normals: Array) -> Array:
    """Normals of length one, zeros left alone; the same array where they are so already."""
    squares = np.einsum("ij,ij->i", normals, normals)
    if np.all((np.abs(squares - 1.0) < _UNIT) | (squares == 0.0)):
        return normals
    lengths = np.sqrt(squares)
    lengths[lengths == 0.0] = 1.0
    unit: Array = normals / lengths[:, None]
    return unit


def _reverse_faces(data: MeshData) -> Faces:
    """Corner numbers with the corners of every face in reverse.

    The first one stays: a face that is not flat is cut into the same triangles from there.
    """
    counts = np.full(data.face_count, 3) if data.counts is None else data.counts.astype(np.int64)
    ends = np.cumsum(counts)
    first, after = np.repeat(ends - counts, counts), np.repeat(ends, counts)
    corners = np.arange(int(counts.sum()))
    reverse: Faces = np.where(corners == first, first, first + after - corners).astype(np.int32)
    return reverse


def _turn(rows: Array | None, corners: Faces | None, data: MeshData) -> Array | None:
    """Rows per corner follow the corners; rows per vertex stay."""
    if rows is None or corners is None or len(rows) != len(corners) or len(rows) == len(data.vertices):
        return rows
    turned: Array = rows[corners]
    return turned


def _turn_sets(data: MeshData, corners: Faces | None) -> dict[str, Array]:
    """Texture coordinates that were made for an image, in the same way."""
    turned = {name: _turn(rows, corners, data) for name, rows in data.uv_sets.items() if name in MADE}
    return {name: rows for name, rows in turned.items() if rows is not None}


def _write_mesh(layer: LayerWriter, path: str, data: MeshData, double_sided: bool) -> None:
    counts = np.full(data.face_count, 3, dtype=np.int32) if data.counts is None else data.counts
    points = np.asarray(data.vertices, dtype=np.float32)
    layer.define(path, "Mesh")
    layer.set(path, "points", "point3f[]", points)
    layer.set(path, "faceVertexCounts", "int[]", counts)
    layer.set(path, "faceVertexIndices", "int[]", data.indices)
    layer.set(path, "extent", "float3[]", np.stack((points.min(0), points.max(0))))
    # the fallback catmullClark would round off every box
    layer.set(path, "subdivisionScheme", "token", "none", uniform=True)
    layer.set(path, "orientation", "token", "rightHanded", uniform=True)
    if double_sided:
        layer.set(path, "doubleSided", "bool", True, uniform=True)
    colors = None if data.colors is None else make_all_linear(data.colors[:, :3])
    rows = (
        ("normals", "normal3f[]", data.normals),
        (f"primvars:{data.uv_name if data.uv_name in MADE else OBJECT}", "texCoord2f[]", data.uvs),
        *((f"primvars:{name}", "texCoord2f[]", uvs) for name, uvs in data.uv_sets.items()),
        ("primvars:displayColor", "color3f[]", colors),
    )
    for name, kind, values in rows:
        if values is not None:
            layer.set(path, name, kind, values)
            per_vertex = len(values) == len(points)
            spec = layer.sdf.GetAttributeAtPath(f"{path}.{name}")
            spec.SetInfo("interpolation", "vertex" if per_vertex else "faceVarying")
    if data.subsets:
        layer.set(path, "subsetFamily:materialBind:familyType", "token", "nonOverlapping", uniform=True)
    for name, subset in name_subsets(data):
        below = f"{path}/{name}"
        layer.define(below, "GeomSubset")
        layer.set(below, "elementType", "token", "face", uniform=True)
        layer.set(below, "familyName", "token", "materialBind", uniform=True)
        layer.set(below, "indices", "int[]", subset.faces)


def name_subsets(data: MeshData) -> list[tuple[str, Subset]]:
    """Prim names of the face sets."""
    scope = NameScope()
    return [(scope.claim(make_identifier(subset.name)), subset) for subset in data.subsets]


def make_terrain_note(geometry: Heightfield, scale: Array) -> dict[str, list[float]]:
    """Rows, columns, size in x and y and depth [m], and the heights row by row [m]; all at a scale."""
    rows, columns = geometry.heights.shape
    x, y = geometry.size * scale[:2]
    grid = [float(rows), float(columns), float(x), float(y), float(geometry.base * scale[2])]
    return {"grid": grid, "heights": [float(v) for v in (geometry.heights * scale[2]).reshape(-1)]}
