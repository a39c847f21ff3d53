# SPDX-License-Identifier: Apache-2.0
"""Mesh files of the folder, one for each mesh and look.

Without a wish, STL, OBJ and COLLADA files of the source are copied byte by byte with what they name beside them: RViz,
MoveIt and the simulators read them.  All other meshes are written, as OBJ where nothing else is wished: it is read
everywhere, keeps numbers exactly, and has materials.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path, PurePath

from simwright.core.diag import Kind, Reporter, Where
from simwright.core.errors import SimwrightError
from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.core.limits import Tally
from simwright.core.names import NameScope
from simwright.formats.images import check_image
from simwright.formats.mesh import load_mesh_materials
from simwright.formats.mesh.writer import write_mesh
from simwright.formats.parts.images import ImageFiles, make_file_name
from simwright.formats.parts.looks import is_plain, list_uncovered
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh, MeshData, Subset
from simwright.model.material import RenderMaterial

FOLDER = "meshes"
DEFAULT_FORMAT = "obj"
_COPIED = (".stl", ".obj", ".dae")
_MAX_BYTES = 1024 * MIB
_LIBRARY = b"mtllib"

Looks = dict[str, RenderMaterial]


class MeshFiles:
    """Hands out paths of mesh files in ``files``; writes each file once.

    ``wish`` is the format of the files, empty to copy what can be copied; ``unreadable`` the kind of finding for mesh
    files whose materials cannot be read: it has ``file`` and ``why``.  ``bare`` are the shapes whose several looks have
    no place in their file.
    """

    def __init__(
        self,
        files: dict[str, bytes],
        images: ImageFiles,
        materials: Iterable[RenderMaterial],
        *,
        wish: str = "",
        reporter: Reporter,
        unreadable: Kind,
    ) -> None:
        self.bare: list[Shape] = []
        self._files = files
        self._images = images
        self._own = {material.name: material for material in materials}
        self._wish = wish
        self._format = wish or DEFAULT_FORMAT
        self._reporter = reporter
        self._unreadable = unreadable
        self._names = NameScope()
        self._plain: dict[object, str] = {}
        self._tally = Tally()
        self._known: dict[tuple[object, ...], str] = {}
        self._kept: list[Mesh] = []  # their ids are keys, so they must live
        self._brought: dict[str, Looks] = {}

    def find(self, shape: Shape, mesh: Mesh, *, seen: bool) -> tuple[str, bool]:
        """The path of a mesh, and whether its file has the looks: then the visual has no material."""
        same: object = mesh.file or id(mesh)
        if self._may_copy(mesh):
            if same not in self._plain:
                self._plain[same] = self._copy(mesh)
            return self._plain[same], False
        # Colliders have no look, so one file serves them and visuals alike.
        looks = self._choose_looks(shape, mesh) if seen else {}
        brings = bool(looks) and self._format != "stl"
        if not seen and same in self._plain:  # what is touched has no look, any file of it will do
            return self._plain[same], False
        key = (same, tuple(looks), shape.material if brings else "")
        if key not in self._known:
            self._kept.append(mesh)
            self._known[key] = self._write(shape, mesh, looks)
            self._plain.setdefault(same, self._known[key])
        return self._known[key], brings

    def _may_copy(self, mesh: Mesh) -> bool:
        file = Path(mesh.file) if mesh.file else None
        if file is None or self._wish or file.suffix.lower() not in _COPIED or not file.is_file():
            return False
        return list_companions(mesh) is not None

    def _copy(self, mesh: Mesh) -> str:
        file = Path(mesh.file)
        companions = list_companions(mesh) or {}
        _ = mesh.data  # what cannot be read is an error, and not copied
        name = self._claim(file.stem)
        # A file with companions gets a folder: two libraries of one name would overwrite each other.
        place = f"{FOLDER}/{name}" if companions else FOLDER
        for path, companion in companions.items():
            content = read_bytes(companion, _MAX_BYTES)
            if companion.suffix.lower() != ".mtl":
                check_image(content, Where(str(companion)), self._tally)
            self._files[f"{place}/{path}"] = content
        path = f"{place}/{name}{file.suffix.lower()}"
        self._files[path] = read_bytes(file, _MAX_BYTES)
        return path

    def _write(self, shape: Shape, mesh: Mesh, looks: Looks) -> str:
        part = PurePath(mesh.source.partition("#")[2]).name
        name = self._claim(PurePath(mesh.file).stem if mesh.file else part or shape.name)
        if len(looks) > 1 and self._format == "stl":
            self.bare.append(shape)
        local = {key: self._images.copy_images(look) for key, look in looks.items()}
        files = write_mesh(_cover(mesh.data, shape.material, local), self._format, name, local)
        for path, content in files.items():
            self._files[f"{FOLDER}/{path}"] = content
        return f"{FOLDER}/{name}.{self._format}"

    def _claim(self, word: str) -> str:
        return self._names.claim(make_file_name(word))

    def _choose_looks(self, shape: Shape, mesh: Mesh) -> Looks:
        """Looks of the mesh's face sets; where the shape has one of its own, those of the file do not count."""
        # One function: looks of the asset come first, then those of the file; the shape's own covers what is left.
        wanted = [subset.material for subset in mesh.data.subsets if len(subset.faces)]
        looks = {name: self._own[name] for name in wanted if name in self._own}
        if not looks and mesh.file and wanted and not is_plain(shape):
            brought = self._bring(mesh)
            looks = {name: brought[name] for name in wanted if name in brought}
        if looks and shape.material in self._own:
            looks.setdefault(shape.material, self._own[shape.material])
        return looks

    def _bring(self, mesh: Mesh) -> Looks:
        """Materials of a mesh file by their names there."""
        file = mesh.file
        if file not in self._brought:
            self._brought[file] = {}
            try:
                materials = load_mesh_materials(file, mesh.gate)
            except SimwrightError as error:
                self._reporter.report(self._unreadable, file=PurePath(file).name, why=error.message)
                return {}
            self._brought[file] = {material.name: material for material in materials}
        return self._brought[file]


def _cover(data: MeshData, material: str, looks: Looks) -> MeshData:
    """The mesh whose faces without a set of their own have the look of the shape."""
    if material not in looks or any(subset.material == material for subset in data.subsets):
        return data
    rest = Subset(material, list_uncovered(data), material)
    return dataclasses.replace(data, subsets=(*data.subsets, rest))


def list_companions(mesh: Mesh) -> dict[str, Path] | None:
    """What a mesh file needs beside it by relative path; None if that is not all below its folder."""
    file = Path(mesh.file)
    # One function: every way in which a file cannot be copied as it is.
    suffix = file.suffix.lower()
    if suffix == ".stl":
        return {}
    found: dict[str, Path] = {}
    base = file.parent.resolve()
    try:
        names = _list_libraries(file) if suffix == ".obj" else []
        images = [t.file for m in load_mesh_materials(file, mesh.gate) for t in m.textures.values()]
    except SimwrightError:
        return None
    if any(not name.lower().endswith(".mtl") for name in names):
        return None
    gate = mesh.gate or Gate.around(file)
    for path in [*(base / name for name in names), *map(Path, images)]:
        target = path.resolve()
        if not gate.admits(target):
            return None
        if not target.is_file():
            continue
        if base not in target.parents:
            return None
        found[target.relative_to(base).as_posix()] = target
    return found


def _list_libraries(file: Path) -> list[str]:
    content = read_bytes(file, _MAX_BYTES)
    if _LIBRARY not in content:
        return []
    rows = [line.split(None, 1) for line in content.splitlines() if line.lstrip().startswith(_LIBRARY)]
    return [row[1].decode("utf-8", "replace").strip() for row in rows if len(row) == 2]
