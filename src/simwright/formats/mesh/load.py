# SPDX-License-Identifier: Apache-2.0
"""From a mesh file to arrays: which reader, with which limits, and one shared object per file."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from simwright.core.diag import NOWHERE, Level, Reporter, Where, declare
from simwright.core.errors import LimitError, ParseError, SimwrightError
from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.core.heap import note_freed
from simwright.core.limits import Tally
from simwright.core.math3d import HUGE
from simwright.core.registry import import_object
from simwright.formats.images import check_image
from simwright.model.geometry import Faces, Mesh, MeshData
from simwright.model.material import RenderMaterial

UP_AXIS = declare(
    "mesh-up-axis",
    Level.INFO,
    "the COLLADA file {file!r} says {axis}; its coordinates are taken as they are",
    hint="RViz, MoveIt and Gazebo do not follow up_axis either; tools that do will show the mesh turned",
    doc="A COLLADA mesh whose up axis is not Z; robot tools ignore the statement, and robots are made for them.",
)

MAX_MESH_BYTES = 1024 * MIB
"""Largest mesh file that is read."""

_READERS = {
    ".stl": "simwright.formats.mesh.stl:read_stl",
    ".stlb": "simwright.formats.mesh.stl:read_stl",
    ".obj": "simwright.formats.mesh.obj:read_obj",
    ".dae": "simwright.formats.mesh.dae:read_dae",
    ".glb": "simwright.formats.mesh.gltf:read_gltf",
    ".gltf": "simwright.formats.mesh.gltf:read_gltf",
    ".ply": "simwright.formats.mesh.ply:read_ply",
}
_MATERIAL_READERS = {
    ".obj": "simwright.formats.mesh.obj:read_obj_materials",
    ".dae": "simwright.formats.mesh.dae:read_dae_materials",
    ".glb": "simwright.formats.mesh.gltf:read_gltf_materials",
    ".gltf": "simwright.formats.mesh.gltf:read_gltf_materials",
}
_OBJECT_READERS = {
    ".obj": "simwright.formats.mesh.obj:read_obj_objects",
    ".dae": "simwright.formats.mesh.dae:read_dae_objects",
    ".glb": "simwright.formats.mesh.gltf:read_gltf_objects",
    ".gltf": "simwright.formats.mesh.gltf:read_gltf_objects",
}
MESH_EXTENSIONS = tuple(_READERS)
"""File name endings that :func:`load_mesh` reads, lower case."""

_HEAD_BYTES = 1 << 14
_UP = re.compile(rb"<up_axis>\s*([A-Z_]{4})\s*</up_axis>")


def load_mesh(path: str | Path, gate: Gate | None = None, *, whole: bool = False) -> MeshData:
    """The arrays of a mesh file [m, Z-up]; whatever is wrong with it is an InputError that names it.

    Points that no face names are left out, unless the file is wanted ``whole``.
    What the file names in turn has to pass ``gate``: without one, that of the asset the file lies in.
    """
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise ParseError(
            f"mesh files ending in {file.suffix!r} are not supported",
            hint=f"convert it to one of {' '.join(MESH_EXTENSIONS)}",
            where=Where(str(path)),
        )
    # Readers are imported when they are needed: pycollada and trimesh are slow to load.
    data: MeshData = _guarded(import_object(reader), file, gate)
    note_freed(file.stat().st_size)
    _check_mesh(data, file)
    # Counted for the whole asset: many small meshes can be too much together.
    if gate is not None:
        gate.tally.add("mesh-elements", len(data.vertices) + len(data.indices), Where(str(file)))
    return data if whole else drop_unused(data)


def load_mesh_materials(path: str | Path, gate: Gate | None = None) -> list[RenderMaterial]:
    """The materials a mesh file brings, named as the ``material`` of the mesh's subsets.

    Colours are taken as written.  STL and PLY have none.  Images that ``gate`` does not admit are left out, which it
    reports.
    """
    file = Path(path)
    reader = _MATERIAL_READERS.get(file.suffix.lower())
    if reader is None:
        return []
    materials: list[RenderMaterial] = _guarded(import_object(reader), file, gate)
    return materials


def load_mesh_objects(path: str | Path, gate: Gate | None = None) -> dict[str, Faces]:
    """The faces of :func:`load_mesh` by the name of the object they belong to in the file; STL and PLY name none."""
    file = Path(path)
    reader = _OBJECT_READERS.get(file.suffix.lower())
    if reader is None:
        return {}
    objects: dict[str, Faces] = _guarded(import_object(reader), file, gate)
    return objects


_EMBEDDED = "data:image/png;name="


def embed_image(name: str, content: bytes) -> str:
    """The file name of a PNG image that has no file: an address with the image in it (RFC 2397)."""
    return f"{_EMBEDDED}{quote(name, safe='')};base64,{base64.b64encode(content).decode()}"


def name_image(file: str) -> str:
    """What an image is called: its file without the ending, or the name it was embedded with."""
    if file.startswith(_EMBEDDED):
        return unquote(file[len(_EMBEDDED) :].partition(";")[0])
    return PurePath(file.rpartition("#image")[0] or file).stem


def load_image(name: str, max_bytes: int, tally: Tally) -> bytes:
    """The bytes of an image file, of one inside a glTF file (``<file>#image<number>``), or of an embedded one.

    They are an image: else, and where ``tally`` has too many pixels with them, an InputError.
    """
    content = _read_image(name, max_bytes)
    check_image(content, Where(name), tally)
    return content


def _read_image(name: str, max_bytes: int) -> bytes:
    if name.startswith(_EMBEDDED):
        return base64.b64decode(name.partition(";base64,")[2])
    file, inside, number = name.rpartition("#image")
    # A file may really be called "x#image1".
    if not inside or not number.isdigit() or Path(name).exists():
        return read_bytes(Path(name), max_bytes)
    reader: Any = import_object("simwright.formats.mesh.gltf:read_gltf_image")
    content: bytes = _guarded(
        lambda data, path, gate: reader(data, path, gate, int(number)), Path(file), None
    )
    return content


class MeshLibrary:
    """Lazy meshes of one read: the same file (path, time, size) gives the same object."""

    def __init__(self, gate: Gate | None = None, reporter: Reporter | None = None) -> None:
        self._meshes: dict[tuple[str, int, int], Mesh] = {}
        self._gate = gate
        self._reporter = reporter

    def mesh(self, path: str | Path, where: Where = NOWHERE) -> Mesh:
        """The mesh of an existing file; its content is read when it is first looked at."""
        file = Path(path)
        status = file.stat()
        key = (str(file), status.st_mtime_ns, status.st_size)
        if key not in self._meshes:
            self._meshes[key] = mesh_geometry(file, self._gate)
            # Only once per file, and from its head: the mesh itself may never be looked at.
            if self._reporter is not None and file.suffix.lower() == ".dae":
                _report_axis(file, where, self._reporter)
        return self._meshes[key]

    def __len__(self) -> int:
        return len(self._meshes)


def mesh_geometry(path: str | Path, gate: Gate | None = None) -> Mesh:
    """A mesh that loads ``path`` when it is first looked at."""
    file = Path(path)
    return Mesh(load=lambda: load_mesh(file, gate), source=str(file), file=str(file), gate=gate, reloads=True)


def _report_axis(file: Path, where: Where, reporter: Reporter) -> None:
    """Say which way is up in a COLLADA file, if that is not Z: the head of the file tells."""
    with file.open("rb") as stream:
        match = _UP.search(stream.read(_HEAD_BYTES))
    if match and match.group(1) != b"Z_UP":
        reporter.report(UP_AXIS, where, file=file.name, axis=match.group(1).decode("ascii"))


def drop_unused(data: MeshData) -> MeshData:
    """The mesh without vertices that no face uses; scene files share vertex tables between meshes."""
    used = np.zeros(len(data.vertices), dtype=bool)
    used[data.indices] = True
    if used.all():
        return data
    rank = np.cumsum(used, dtype=np.int32) - np.int32(1)
    per_vertex = {
        name: rows[used]
        for name in ("normals", "uvs", "colors")
        if (rows := getattr(data, name)) is not None
        and len(rows) == len(data.vertices)
        and len(rows) != len(data.indices)
    }
    return dataclasses.replace(
        data, vertices=data.vertices[used], indices=rank[data.indices].astype(np.int32), **per_vertex
    )


def _guarded(reader: Any, file: Path, gate: Gate | None) -> Any:
    """Run a reader on the file's bytes; a failure of any sort becomes a ParseError or LimitError."""
    run: Callable[[bytes, Path, Gate], Any] = reader
    where = Where(str(file))
    content = read_bytes(file, MAX_MESH_BYTES)
    try:
        return run(content, file, gate or Gate.around(file))
    except SimwrightError:
        raise
    except (MemoryError, RecursionError, OverflowError):
        raise LimitError("the mesh is too large or too deeply nested to be read", where=where) from None
    except Exception as error:  # noqa: BLE001 - third-party parsers fail in every possible way on garbage
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise ParseError(
            f"the mesh file cannot be understood: {reason}",
            hint="is it complete, and is it what its name says?",
            where=where,
        ) from None


def _check_mesh(data: MeshData, file: Path) -> None:
    where = Where(str(file))
    if len(data.vertices) == 0 or len(data.indices) == 0:
        raise ParseError("the mesh has no faces", hint="is it complete?", where=where)
    if not np.all(np.abs(data.vertices) <= HUGE):
        raise ParseError("the mesh has vertices that are not finite numbers", where=where)
    low, high = int(data.indices.min()), int(data.indices.max())
    if low < 0 or high >= len(data.vertices):
        raise ParseError(
            f"a face names vertex {high if low >= 0 else low} of {len(data.vertices)}", where=where
        )
