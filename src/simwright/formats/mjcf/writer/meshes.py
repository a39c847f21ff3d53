# SPDX-License-Identifier: Apache-2.0
"""``<mesh>`` and ``<hfield>``: one asset per geometry and scale, shared by all geoms that use it, and their files.

A mesh that came from a file MuJoCo reads is that file again, byte by byte, and one that MuJoCo made of points in the
text is made of them again; the others are written, equal ones (what is seen and what is touched, often) once: as STL
for bare triangles, as OBJ where there are normals or texture coordinates.  MuJoCo stores points in single precision,
and so do the files: STL as bits, OBJ with as many decimals as name a float exactly, nine digits if need be.
Names are those of the source.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import SimwrightError
from simwright.core.files import read_bytes
from simwright.core.math3d import Array
from simwright.core.names import NameScope
from simwright.formats.mesh.obj import has_several_objects
from simwright.formats.mesh.writer.obj import write_decimals, write_singles, write_whole
from simwright.formats.mjcf.writer.document import MjcfDocument
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import (
    Cone,
    Faces,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Singles,
    Subset,
    cut_faces,
)
from simwright.model.moments import compute_moments

FOLDER = "meshes"
# endings of files that MuJoCo reads as they are
_COPIED = (".obj", ".stl", ".msh")
# bytes before the first facet, and of a facet
_STL_HEAD, _STL_FACET = 84, 50
_FLATNESS = 1e-6
# less volume than this [m3] is taken as none: MuJoCo wants a shell then
_NO_VOLUME = 1e-12
_MESH_KEPT = ("maxhullvert", "inertia", "smoothnormal")
_CONE_SIDES = 48
_MESH_DEFAULTS: dict[str, Any] = {
    "scale": (1, 1, 1), "maxhullvert": -1, "refpos": (0, 0, 0), "refquat": (1, 0, 0, 0),
}  # fmt: skip


class MjcfMeshFiles:
    """Hands out mesh and height field names; writes each file once."""

    def __init__(self, document: MjcfDocument) -> None:
        self._document = document
        self._known: dict[tuple[object, ...], str] = {}
        self._files: dict[tuple[object, ...], tuple[str, float]] = {}
        """Files that were written, each with how many times larger than the mesh it is."""
        self._copies: dict[str, str | None] = {}
        self._file_names = NameScope()
        self._digests: dict[int, bytes] = {}
        # ids of geometries are keys, so the geometries must live
        self._alive: list[Geometry] = []

    def find_mesh(self, shape: Shape, geometry: Mesh, subset: Subset | None = None) -> str:
        """The mesh asset of a shape's geometry at its scale."""
        scale = scaled(shape)
        limit = shape.settings.get("max_hull_vertices")
        part = "" if subset is None else subset.name
        key = (self._identify(geometry), tuple(scale.tolist()), part, limit)
        if key not in self._known:
            self._known[key] = self._add(shape, geometry, scale, subset)
        return self._known[key]

    def _identify(self, geometry: Mesh) -> int | bytes:
        """What tells a mesh from others: its content, unless it is a file that may never have to be opened."""
        if id(geometry) not in self._digests:
            self._alive.append(geometry)
            # opening a mesh only to compare it would cost more than writing it twice
            is_own = bool(geometry.file) or geometry.recipe is not None
            self._digests[id(geometry)] = b"" if is_own else _digest_mesh(geometry.data)
        return self._digests[id(geometry)] or id(geometry)

    def _add(self, shape: Shape, geometry: Mesh, scale: Array, subset: Subset | None) -> str:
        document = self._document
        word = _choose_mesh_name(shape, geometry)
        name = document.claim("mesh", word if subset is None else f"{word}_{subset.name}")
        values: dict[str, Any] = {"name": name, "file": None, "scale": scale}
        values |= self._describe_content(geometry, scale, word, subset)
        values["maxhullvert"] = shape.settings.get("max_hull_vertices")
        for attribute in _MESH_KEPT:
            found = document.kept.take(f"mesh/{word}", attribute)
            if found is not None:
                values[attribute] = found
        # MuJoCo refuses meshes without volume unless they are shells; a part of a surface encloses nothing
        if not is_proven(geometry) and (
            subset or compute_moments(geometry).scaled(scale).volume < _NO_VOLUME
        ):
            values["inertia"] = "shell"
        # MuJoCo calls a mesh like its file
        if values["file"] and PurePath(values["file"]).stem == name:
            del values["name"]
        document.add(document.section("asset"), "mesh", values, _MESH_DEFAULTS)
        return name

    def _describe_content(
        self, geometry: Mesh, scale: Array, word: str, subset: Subset | None
    ) -> dict[str, Any]:
        """The file of a mesh, or the points that MuJoCo made it of; see ``model.geometry.Recipe``."""
        recipe = geometry.recipe
        # the recipe makes the whole mesh at the scale that it says itself
        if recipe is None or subset is not None or np.any(scale != 1.0):
            return self._store(geometry, scale, word, subset)
        if not recipe.file:
            return {**recipe.attributes}
        file = self._copy(recipe.file)
        return {"file": file, **recipe.attributes} if file else self._store(geometry, scale, word, subset)

    def _copy(self, path: str) -> str | None:
        """The name of the copy of a file, None if MuJoCo does not read it as it is."""
        if path not in self._copies:
            content, file = _read_copied_file(path), PurePath(path)
            self._copies[path] = None
            if content is not None:
                name = f"{self._file_names.claim(make_file_name(file.stem))}{file.suffix.lower()}"
                self._document.files[f"{FOLDER}/{name}"] = content
                self._copies[path] = name
        return self._copies[path]

    def _store(self, geometry: Mesh, scale: Array, word: str, subset: Subset | None) -> dict[str, Any]:
        """The file with a mesh's content, and the scale at which it is as large as it is."""
        is_whole = subset is None and (is_proven(geometry) or not has_several_objects(Path(geometry.file)))
        copied = self._copy(geometry.file) if is_whole else None
        if copied is not None:
            return {"file": copied, "scale": scale}
        key: tuple[object, ...] = (
            geometry.file or self._identify(geometry),
            "" if subset is None else subset.name,
        )
        if key not in self._files:
            data, times = _magnify(geometry.data)
            suffix, content = write_mesh(data, subset)
            word = word if subset is None else f"{word}_{subset.name}"
            file = f"{self._file_names.claim(make_file_name(word))}{suffix}"
            self._document.files[f"{FOLDER}/{file}"] = content
            self._files[key] = file, times
        file, times = self._files[key]
        return {"file": file, "scale": scale / times}

    def find_heights(self, shape: Shape, geometry: Heightfield) -> tuple[str, float]:
        """The height field asset of a shape, and how far it is raised [m]: MuJoCo's heights begin at zero."""
        # MuJoCo wants the lowest height to be zero
        low = float(geometry.heights.min()) if geometry.heights.size else 0.0
        scale = scaled(shape)
        key = (id(geometry), tuple(scale.tolist()))
        if key not in self._known:
            self._alive.append(geometry)
            self._known[key] = self._add_heights(shape, geometry, low, scale)
        return self._known[key], low * float(scale[2])

    def _add_heights(self, shape: Shape, geometry: Heightfield, low: float, scale: Array) -> str:
        heights = np.asarray(geometry.heights, dtype=np.float64)
        name = self._document.claim("hfield", PurePath(geometry.source).stem or shape.name)
        file = f"{self._file_names.claim(make_file_name(name))}.bin"
        flat = float(self._document.kept.get(shape, "geom", "elevation", 1.0))
        rise = float(heights.max()) - low or flat
        # between 0 and 1, as MuJoCo keeps them: it finds nothing to change, and single precision is enough
        content = struct.pack("<ii", *heights.shape) + ((heights - low) / rise).astype("<f4").tobytes()
        self._document.files[f"{FOLDER}/{file}"] = content
        # MuJoCo refuses height fields without a base below them
        base = max((geometry.base + low) * float(scale[2]), 1e-3)
        size = (*(geometry.size / 2.0 * np.abs(scale[:2])), rise * float(scale[2]), base)
        self._document.add(
            self._document.section("asset"), "hfield", {"name": name, "file": file, "size": size}
        )
        return name


def _magnify(data: MeshData) -> tuple[MeshData, float]:
    """A mesh whose normals MuJoCo finds, and how many times larger it is.

    MuJoCo (4.0) gives triangles below 3.2e-8 of the file's units no normal and shows them as if they looked up; parts
    of 0.3 mm in metres are so small.  A power of two leaves the digits of single precision as they are.
    """
    if data.normals is not None and len(data.normals):
        return data, 1.0
    triangles = data.triangles()
    first, *others = (data.vertices.take(column, axis=0) for column in triangles.T)
    (ax, ay, az), (bx, by, bz) = ((other - first).T for other in others)
    squares = (ay * bz - az * by) ** 2 + (az * bx - ax * bz) ** 2 + (ax * by - ay * bx) ** 2
    # triangles without any area have no normal at any size
    if not np.any((squares > _NO_AREA**2) & (squares < _SMALL_AREA**2)):
        return data, 1.0
    return replace(data, vertices=data.vertices * _TIMES), _TIMES


_SMALL_AREA, _NO_AREA, _TIMES = 2e-7, 1e-14, 1024.0


def _digest_mesh(data: MeshData) -> bytes:
    """Equal for meshes that give equal files."""
    digest = hashlib.blake2b(digest_size=16)
    rows = (data.vertices, data.indices, data.counts, data.normals, data.uvs)
    for row in (*rows, *(subset.faces for subset in data.subsets)):
        if row is not None:
            digest.update(f"{row.shape}{row.dtype}".encode())
            digest.update(np.ascontiguousarray(row).data)
        digest.update(b"/")
    digest.update(repr((data.left_handed, [(s.name, s.material) for s in data.subsets])).encode())
    return digest.digest()


def _read_copied_file(file: str) -> bytes | None:
    """The content of a mesh file that MuJoCo reads as it is, None if it does not or the file is gone."""
    suffix = PurePath(file).suffix.lower()
    if suffix not in _COPIED or not Path(file).is_file():
        return None
    try:
        content = read_bytes(file, None)
    except SimwrightError:
        return None
    # MuJoCo reads binary STL only, and checks the number of facets against the size
    if suffix == ".stl" and not _is_binary_stl(content):
        return None
    return content


def _is_binary_stl(content: bytes) -> bool:
    if len(content) < _STL_HEAD:
        return False
    count = int.from_bytes(content[_STL_HEAD - 4 : _STL_HEAD], "little")
    return 0 < count <= MAX_STL_FACETS and len(content) == _STL_HEAD + _STL_FACET * count


def _choose_mesh_name(shape: Shape, geometry: Geometry) -> str:
    """What a mesh is called: as in its MJCF, as its file, else as its shape."""
    return (geometry.asset_name if isinstance(geometry, Mesh) else "") or shape.name


def make_file_name(word: str) -> str:
    """A name that every file system takes and that stays in its folder."""
    return "".join(c if c.isalnum() or c in "._-+ " else "_" for c in word).strip(". ") or "mesh"


def is_proven(geometry: Mesh) -> bool:
    """Is it a file, or a recipe, that MuJoCo has compiled already?  It is not even opened then, only copied."""
    return geometry.recipe is not None or ("#" in geometry.source and bool(geometry.file))


def is_flat(data: MeshData, scale: Array) -> bool:
    """Do all points lie in a plane?  MuJoCo finds no hull then."""
    points = np.asarray(data.vertices) * scale
    if len(points) < 4:
        return True
    # the smallest principal spread of the points, relative to the largest
    spread = np.linalg.eigvalsh(np.cov(points.T))
    return bool(spread[0] <= _FLATNESS**2 * max(float(spread[2]), 1e-300))


def make_cone(cone: Cone) -> Mesh:
    """A cone as a mesh: MuJoCo has none."""
    angles = np.linspace(0.0, 2.0 * np.pi, _CONE_SIDES, endpoint=False)
    z = cone.length / 2.0
    rim = np.stack(
        (np.cos(angles) * cone.radius, np.sin(angles) * cone.radius, np.full(_CONE_SIDES, -z)), axis=1
    )
    vertices = np.concatenate((rim, ((0.0, 0.0, -z), (0.0, 0.0, z))))
    first, second = np.arange(_CONE_SIDES), np.roll(np.arange(_CONE_SIDES), -1)
    base = np.stack((second, first, np.full(_CONE_SIDES, _CONE_SIDES)), axis=1)
    side = np.stack((first, second, np.full(_CONE_SIDES, _CONE_SIDES + 1)), axis=1)
    return Mesh.of(vertices, np.concatenate((base, side)))


# an odd number with bits all over, so that equal keys of different rows are rare (Knuth's golden ratio)
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
MAX_STL_FACETS = 200_000
"""MuJoCo refuses STL files with more."""
MIN_VERTICES = 4
"""MuJoCo refuses meshes with fewer."""


def write_mesh(data: MeshData, subset: Subset | None = None) -> tuple[str, bytes]:
    """The ending and the content of a file with a mesh, or with the faces of one subset."""
    has_rows = any(rows is not None and len(rows) for rows in (data.normals, data.uvs))
    facets = len(data.indices)  # never fewer than triangles
    # STL has no points beside those of its triangles
    has_rows = has_rows or (
        subset is None and not np.bincount(data.indices, minlength=len(data.vertices)).all()
    )
    if has_rows or facets > MAX_STL_FACETS or len(data.vertices) < MIN_VERTICES:
        return ".obj", write_obj(data, subset)
    return ".stl", write_stl(data, subset)


def write_stl(data: MeshData, subset: Subset | None = None) -> bytes:
    """Binary STL; MuJoCo finds the common points of triangles again, and their normals."""
    corners = np.asarray(data.vertices, dtype=np.float32)[data.indices[_number_corners(data, subset)]]
    facets = np.zeros(len(corners), dtype=_FACET)
    # normals stay zero: MuJoCo computes its own
    facets["corners"] = corners
    return b"\0" * 80 + len(facets).to_bytes(4, "little") + facets.tobytes()


def write_obj(data: MeshData, subset: Subset | None = None) -> bytes:
    """The text of a triangle mesh, or of the faces of one subset."""
    mesh = triangulate(data, subset)
    parts = [_write_rows("v", mesh.vertices)]
    if mesh.uvs is not None:
        parts.append(_write_rows("vt", mesh.uvs))
    if mesh.normals is not None:
        parts.append(_write_rows("vn", mesh.normals))
    parts.append(_write_faces(mesh))
    return b"".join(parts)


class Triangles:
    """Triangles whose corners name a point, and where there are any a normal and a texture coordinate."""

    __slots__ = ("corners", "normals", "uvs", "vertices")

    def __init__(
        self, vertices: Singles, corners: dict[str, Faces], normals: Singles | None, uvs: Singles | None
    ) -> None:
        self.vertices, self.corners, self.normals, self.uvs = vertices, corners, normals, uvs


def triangulate(data: MeshData, subset: Subset | None = None) -> Triangles:
    """Counter-clockwise triangles; rows that no corner names are left out, but for points of a whole mesh.

    MuJoCo's hull has all points of the file, those without a face too.
    """
    numbers = _number_corners(data, subset)
    corners: dict[str, Faces] = {}
    points = data.indices[numbers]
    if subset is None:
        vertices, corners["v"] = np.asarray(data.vertices).astype(np.float32), points
    else:
        vertices, corners["v"] = _pack(np.asarray(data.vertices), points)
    normals, uvs = None, None
    if data.normals is not None and len(data.normals):
        # as many rows as points means one for each point, otherwise one for each corner
        rows = points if len(data.normals) == len(data.vertices) != len(data.indices) else numbers
        normals, corners["vn"] = _pack(np.asarray(data.normals), rows, merge=True)
    if data.uvs is not None and len(data.uvs):
        rows = points if len(data.uvs) == len(data.vertices) != len(data.indices) else numbers
        uvs, corners["vt"] = _pack(np.asarray(data.uvs), rows, merge=True)
    # the same point again changes nothing, and MuJoCo takes the mesh
    if len(vertices) < MIN_VERTICES:
        vertices = np.concatenate((vertices, np.repeat(vertices[:1], MIN_VERTICES - len(vertices), axis=0)))
    return Triangles(vertices, corners, normals, uvs)


def _number_corners(data: MeshData, subset: Subset | None) -> Faces:
    """``(n, 3)`` corner numbers of the triangles: polygons are cut as MuJoCo does."""
    triangles = cut_faces(data)
    if subset is not None:
        counts = np.full(data.face_count, 3) if data.counts is None else data.counts
        faces = np.repeat(np.arange(data.face_count), np.maximum(counts - 2, 0))
        triangles = triangles[np.isin(faces, subset.faces)]
    # MuJoCo takes triangles that are counter-clockwise from outside
    return triangles[:, ::-1] if data.left_handed else triangles


def _pack(rows: Array, used: Faces, merge: bool = False) -> tuple[Singles, Faces]:
    """The rows that are used and the new numbers; equal rows become one if asked for."""
    single: Singles = rows.astype(np.float32)
    if merge:
        single, number = _find_distinct(single)
        used = number[used].astype(np.int32)
    kept = np.zeros(len(single), dtype=bool)
    kept[used.ravel()] = True
    renumbered: Faces = (np.cumsum(kept) - 1).astype(np.int32)[used]
    return single[kept], renumbered


def _find_distinct(rows: Singles) -> tuple[Singles, npt.NDArray[np.int64]]:
    """The distinct rows, and the number of each row among them."""
    # adding zero makes one of -0.0 and 0.0, whose bits differ
    bits = np.ascontiguousarray(rows + np.float32(0.0)).view(np.uint32).astype(np.uint64)
    keys = bits[:, 0]
    for column in range(1, bits.shape[1]):
        keys = keys * _MIXER + bits[:, column]  # wraps round
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(rows[first][number], rows):  # two rows with one key
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
    return rows[first], number


def _write_rows(word: str, rows: Singles) -> bytes:
    text = write_decimals(word, rows)
    return write_singles(word, rows) if text is None else text


def _write_faces(mesh: Triangles) -> bytes:
    """Corners as point, point/texture, point//normal or point/texture/normal."""
    columns, separators = [mesh.corners["v"]], [" "]
    if "vt" in mesh.corners:
        columns.append(mesh.corners["vt"])
        separators.append("/")
    if "vn" in mesh.corners:
        columns.append(mesh.corners["vn"])
        separators.append("/" if "vt" in mesh.corners else "//")
    table = np.stack(columns, axis=-1).reshape(len(columns[0]), -1) + 1
    return write_whole("f", separators * 3, table)
