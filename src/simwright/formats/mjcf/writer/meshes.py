# SPDX-License-Identifier: Apache-2.0
"""``<asset>``: mesh files and height fields, one per geometry and scale, shared by all geoms that use it.

A mesh that came from a file MuJoCo reads is that file again, byte by byte, and one that MuJoCo made of points in the
text is made of them again; the others are written as STL or OBJ, equal
ones (what is seen and what is touched, often) once.  Names are those of the source.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from simwright.core.errors import SimwrightError
from simwright.core.files import read_bytes
from simwright.core.math3d import Array
from simwright.core.names import NameScope
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.mesh_files import MAX_STL_FACETS, write_mesh
from simwright.model.asset import Shape, scaled
from simwright.model.geometry import Cone, Geometry, Heightfield, Mesh, MeshData, Subset
from simwright.model.moments import compute_moments

FOLDER = "meshes"
_COPIED = (".obj", ".stl", ".msh")
_STL_HEAD, _STL_FACET = 84, 50
_FLAT = 1e-6
_NO_VOLUME = 1e-12
_MESH_KEPT = ("maxhullvert", "inertia", "smoothnormal")
_SIDES = 48
_DEFAULTS: dict[str, Any] = {
    "scale": (1, 1, 1), "maxhullvert": -1, "refpos": (0, 0, 0), "refquat": (1, 0, 0, 0),
}  # fmt: skip


class MeshLibrary:
    """Hands out mesh and height field names; writes each file once."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: dict[tuple[object, ...], str] = {}
        self._files: dict[tuple[object, ...], str] = {}
        self._copies: dict[str, str | None] = {}
        self._file_names = NameScope()
        self._digests: dict[int, bytes] = {}
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
            is_own = bool(geometry.file) or geometry.recipe is not None
            self._digests[id(geometry)] = b"" if is_own else digest_mesh(geometry.data)
        return self._digests[id(geometry)] or id(geometry)

    def _add(self, shape: Shape, geometry: Mesh, scale: Array, subset: Subset | None) -> str:
        draft = self._draft
        word = choose_word(shape, geometry)
        name = draft.claim("mesh", word if subset is None else f"{word}_{subset.name}")
        recipe = None if subset is not None or np.any(scale != 1.0) else geometry.recipe
        values: dict[str, Any] = {"name": name, "file": None, "scale": scale}
        if recipe is not None and recipe.file:
            values["file"] = self._copy(recipe.file)
            recipe = recipe if values["file"] else None
        if recipe is not None:
            values |= recipe.attributes
        else:
            values["file"] = self._store(geometry, word, subset)
        values["maxhullvert"] = shape.settings.get("max_hull_vertices")
        for attribute in _MESH_KEPT:
            found = draft.solver.take(f"mesh/{word}", attribute)
            if found is not None:
                values[attribute] = found
        if not is_proven(geometry) and (
            subset or compute_moments(geometry).scaled(scale).volume < _NO_VOLUME
        ):
            values["inertia"] = "shell"
        if values["file"] and PurePath(values["file"]).stem == name:
            del values["name"]
        draft.add(draft.section("asset"), "mesh", values, _DEFAULTS)
        return name

    def _copy(self, path: str) -> str | None:
        """The name of the copy of a file, None if MuJoCo does not read it as it is."""
        if path not in self._copies:
            content, file = read_copy(path), PurePath(path)
            self._copies[path] = None
            if content is not None:
                name = f"{self._file_names.claim(make_file_name(file.stem))}{file.suffix.lower()}"
                self._draft.files[f"{FOLDER}/{name}"] = content
                self._copies[path] = name
        return self._copies[path]

    def _store(self, geometry: Mesh, word: str, subset: Subset | None) -> str:
        """The name of the file with a mesh's content."""
        copied = self._copy(geometry.file) if subset is None else None
        if copied is not None:
            return copied
        key: tuple[object, ...] = (
            geometry.file or self._identify(geometry),
            "" if subset is None else subset.name,
        )
        if key in self._files:
            return self._files[key]
        suffix, content = write_mesh(geometry.data, subset)
        word = word if subset is None else f"{word}_{subset.name}"
        file = f"{self._file_names.claim(make_file_name(word))}{suffix}"
        self._draft.files[f"{FOLDER}/{file}"] = content
        self._files[key] = file
        return file

    def find_heights(self, shape: Shape, geometry: Heightfield) -> tuple[str, float]:
        """The height field asset of a shape, and how far it is raised [m]: MuJoCo's heights begin at zero."""
        low = float(geometry.heights.min()) if geometry.heights.size else 0.0
        scale = scaled(shape)
        key = (id(geometry), tuple(scale.tolist()))
        if key not in self._known:
            self._alive.append(geometry)
            self._known[key] = self._add_heights(shape, geometry, low, scale)
        return self._known[key], low * float(scale[2])

    def _add_heights(self, shape: Shape, geometry: Heightfield, low: float, scale: Array) -> str:
        heights = np.asarray(geometry.heights, dtype=np.float64)
        name = self._draft.claim("hfield", PurePath(geometry.source).stem or shape.name)
        file = f"{self._file_names.claim(make_file_name(name))}.bin"
        flat = float(self._draft.solver.get(shape, "geom", "elevation", 1.0))
        rise = float(heights.max()) - low or flat
        # between 0 and 1, as MuJoCo keeps them: it finds nothing to change, and single precision is enough
        content = struct.pack("<ii", *heights.shape) + ((heights - low) / rise).astype("<f4").tobytes()
        self._draft.files[f"{FOLDER}/{file}"] = content
        base = max((geometry.base + low) * float(scale[2]), 1e-3)
        size = (*(geometry.size / 2.0 * np.abs(scale[:2])), rise * float(scale[2]), base)
        self._draft.add(self._draft.section("asset"), "hfield", {"name": name, "file": file, "size": size})
        return name


def digest_mesh(data: MeshData) -> bytes:
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


def read_copy(file: str) -> bytes | None:
    """The content of a mesh file that MuJoCo reads as it is, None if it does not or the file is gone."""
    suffix = PurePath(file).suffix.lower()
    if suffix not in _COPIED or not Path(file).is_file():
        return None
    try:
        content = read_bytes(file, None)
    except SimwrightError:
        return None
    if suffix == ".stl" and not _is_binary_stl(content):
        return None
    return content


def _is_binary_stl(content: bytes) -> bool:
    if len(content) < _STL_HEAD:
        return False
    count = int.from_bytes(content[_STL_HEAD - 4 : _STL_HEAD], "little")
    return 0 < count <= MAX_STL_FACETS and len(content) == _STL_HEAD + _STL_FACET * count


def choose_word(shape: Shape, geometry: Geometry) -> str:
    """What a mesh is called: as in its MJCF, as its file, else as its shape."""
    if isinstance(geometry, Mesh):
        _, hash_mark, name = geometry.source.rpartition("#")
        if hash_mark and name:
            return name
        if geometry.file:
            return PurePath(geometry.file).stem
    return shape.name


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
    spread = np.linalg.eigvalsh(np.cov(points.T))
    return bool(spread[0] <= _FLAT**2 * max(float(spread[2]), 1e-300))


def make_cone(cone: Cone) -> Mesh:
    """A cone as a mesh: MuJoCo has none."""
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    z = cone.length / 2.0
    rim = np.stack((np.cos(angles) * cone.radius, np.sin(angles) * cone.radius, np.full(_SIDES, -z)), axis=1)
    vertices = np.concatenate((rim, ((0.0, 0.0, -z), (0.0, 0.0, z))))
    first, second = np.arange(_SIDES), np.roll(np.arange(_SIDES), -1)
    base = np.stack((second, first, np.full(_SIDES, _SIDES)), axis=1)
    side = np.stack((first, second, np.full(_SIDES, _SIDES + 1)), axis=1)
    return Mesh.of(vertices, np.concatenate((base, side)))
