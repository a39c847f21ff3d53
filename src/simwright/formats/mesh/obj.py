# SPDX-License-Identifier: Apache-2.0
"""Wavefront OBJ and its MTL material library.

Polygons stay polygons.  Texture coordinates and normals become one row per face corner; faces of one
``usemtl`` name become one subset of that name.  Free-form curves, lines and points are not surfaces and are
left out.  MTL colours are taken as written; its illumination models become metallic-roughness:
``roughness = sqrt(2 / (Ns + 2))`` unless the file has ``Pr``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import InputError, ParseError
from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.core.math3d import Array
from simwright.formats.mesh.images import find_image
from simwright.formats.mesh.obj_columns import Columns, Numbers, read_columns
from simwright.model.geometry import Faces, MeshData, Subset
from simwright.model.material import RenderMaterial, Rgb, Texture

_MAX_MTL_BYTES = 16 * MIB
_MTLLIB = re.compile(rb"^[ \t]*mtllib[ \t].*", re.MULTILINE)


@dataclass(slots=True)
class _Lines:
    """What the statements of an OBJ file say, before indices are resolved."""

    points: list[list[float]] = field(default_factory=list)
    texcoords: list[list[float]] = field(default_factory=list)
    normals: list[list[float]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    corners: list[tuple[int, int, int]] = field(default_factory=list)
    materials: list[int] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=lambda: {"": 0})
    material: int = 0


def read_obj(content: bytes, file: Path, _gate: Gate | None = None) -> MeshData:
    """The mesh in the bytes of an OBJ file; ``file`` is named in errors."""
    return _assemble(read_columns(content) or _read_lines(content, file))


def _read_lines(content: bytes, file: Path) -> Columns:
    """Statement by statement: slower, but it takes every form and knows the line of an error."""
    lines = _Lines()
    for number, words in _statements(content):
        try:
            _take(lines, words)
        except (ValueError, IndexError) as error:
            raise ParseError(
                f"bad OBJ statement {' '.join(words)[:80]!r}: {error}", where=Where(str(file), number)
            ) from None
    if not lines.counts:
        raise ParseError("the OBJ file has no faces", hint="is it complete?", where=Where(str(file)))
    # x y z r g b is an extension that some exporters write; a w behind x y z is dropped.
    width = 6 if all(len(point) == 6 for point in lines.points) else 3
    return Columns(
        np.array([point[:width] for point in lines.points], dtype=np.float64).reshape(-1, width),
        np.array(lines.texcoords, dtype=np.float64).reshape(-1, 2),
        np.array(lines.normals, dtype=np.float64).reshape(-1, 3),
        np.array(lines.counts, dtype=np.int32),
        np.array(lines.corners, dtype=np.int32).reshape(-1, 3),
        np.array(lines.materials, dtype=np.int32),
        lines.names,
    )


def _statements(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Numbered statements as words; a backslash joins lines."""
    text = content.decode("utf-8", "replace")
    if "\\\n" in text or "\\\r\n" in text:
        text = text.replace("\\\r\n", " ").replace("\\\n", " ")
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split("#", 1)[0].split()
        if words:
            yield number, words


def _take(lines: _Lines, words: list[str]) -> None:
    match words[0]:
        case "v":
            if len(words) < 4:
                raise ValueError("a vertex has three coordinates")
            lines.points.append([float(w) for w in words[1:7]])
        case "vt":
            lines.texcoords.append([float(words[1]), float(words[2]) if len(words) > 2 else 0.0])
        case "vn":
            lines.normals.append([float(words[1]), float(words[2]), float(words[3])])
        case "f":
            _take_face(lines, words[1:])
        case "usemtl":
            name = " ".join(words[1:])
            lines.material = lines.names.setdefault(name, len(lines.names))


def _take_face(lines: _Lines, words: list[str]) -> None:
    if len(words) < 3:
        raise ValueError("a face has three corners or more")
    sizes = (len(lines.points), len(lines.texcoords), len(lines.normals))
    for word in words:
        parts = word.split("/")
        corner = [_index(parts[k], sizes[k]) if k < len(parts) and parts[k] else -1 for k in range(3)]
        if corner[0] < 0:
            raise ValueError("a corner names no vertex")
        lines.corners.append((corner[0], corner[1], corner[2]))
    lines.counts.append(len(words))
    lines.materials.append(lines.material)


def _index(word: str, size: int) -> int:
    """Zero-based index of a 1-based or negative OBJ index."""
    value = int(word)
    index = value - 1 if value > 0 else size + value
    if not 0 <= index < size:
        raise ValueError(f"index {value} is outside 1..{size}")
    return index


def _assemble(columns: Columns) -> MeshData:
    corners, points = columns.corners, columns.points
    return MeshData(
        np.ascontiguousarray(points[:, :3]),
        np.ascontiguousarray(corners[:, 0]),
        None if np.all(columns.counts == 3) else columns.counts,
        normals=_per_corner(columns.normals, corners[:, 2], partial=False),
        uvs=_per_corner(columns.texcoords[:, :2], corners[:, 1], partial=True),
        colors=np.ascontiguousarray(points[:, 3:6]) if points.shape[1] >= 6 else None,
        subsets=_subsets(columns),
    )


def _per_corner(rows: Array, index: Numbers, *, partial: bool) -> Array | None:
    """One row per corner; None if no corner (or, unless ``partial``, not every corner) has one.

    Rows are for the eye and many: single precision does.
    """
    named = index >= 0
    table = rows.astype(np.float32)
    if named.all():
        return np.asarray(table[index])
    if not partial or not named.any():
        return None
    # The last row stands for corners without a texture coordinate.
    table = np.concatenate((table, np.zeros((1, rows.shape[1]), dtype=np.float32)))
    return np.asarray(table[np.where(named, index, len(rows))])


def _subsets(columns: Columns) -> tuple[Subset, ...]:
    used = columns.materials
    found = ((name, np.flatnonzero(used == number)) for name, number in columns.names.items() if name)
    return tuple(Subset(name, faces.astype(np.int32), name) for name, faces in found if len(faces))


def read_obj_objects(content: bytes, _file: Path, _gate: Gate | None = None) -> dict[str, Faces]:
    """Faces by the name of an object (``o``) or group (``g``)."""
    found: dict[str, list[int]] = {}
    current: dict[str, str] = {}
    number = 0
    for _, words in _statements(content):
        if words[0] in ("o", "g"):
            current[words[0]] = " ".join(words[1:])
        elif words[0] == "f":
            # A face is in its object and in its group; once where both have one name.
            for name in dict.fromkeys(current.values()):
                found.setdefault(name, []).append(number)
            number += 1
    return {name: np.array(faces, dtype=np.int32) for name, faces in found.items() if name}


def has_several_objects(file: Path) -> bool:
    """Has an OBJ file faces of more than one object or group?  MuJoCo reads those of the first alone.

    False for files of another kind, and for those that cannot be read.
    """
    if file.suffix.lower() != ".obj":
        return False
    try:
        content = read_bytes(file, None)
    except InputError:
        return False
    first = _find_line(content, b"f", 0)
    starts = [place for word in (b"o", b"g") if (place := _find_line(content, word, first + 1)) >= 0]
    return first >= 0 and bool(starts) and _find_line(content, b"f", min(starts)) >= 0


_TRIES = 1000
"""Letters that are looked at one by one: so many names and comments a usual file has."""


def _find_line(content: bytes, letter: bytes, start: int) -> int:
    """Where the next line of a statement of one letter begins, with the line end before it; -1 if none follows.

    Numbers have no letters, so looking for the letter alone goes through them ten times as fast.
    """
    statement = b"\n" + letter + b" "
    place = start
    for _ in range(_TRIES):
        place = content.find(letter, place + 1)
        if place < 0:
            return -1
        if content[place - 1 : place + 2] == statement:
            return place - 1
    return content.find(statement, place)


def read_obj_materials(content: bytes, file: Path, gate: Gate) -> list[RenderMaterial]:
    """Materials of the libraries an OBJ file names; a library that is absent has none."""
    materials: list[RenderMaterial] = []
    # Only the lines that name a library: statements of a large file take long to split.
    if b"\\" not in content:
        content = b"\n".join(_MTLLIB.findall(content))
    for number, words in _statements(content):
        if words[0] != "mtllib":
            continue
        name = " ".join(words[1:])
        library = gate.take(file.parent / name, Where(str(file), number), name)
        try:
            text = read_bytes(library, _MAX_MTL_BYTES) if library is not None else b""
        except InputError:
            continue
        known = {material.name for material in materials}
        materials += [m for m in read_mtl(text, library or file, gate) if m.name not in known]
    return materials


def read_mtl(content: bytes, file: Path, gate: Gate) -> list[RenderMaterial]:
    """Materials of an MTL file, in order."""
    materials: list[RenderMaterial] = []
    for number, words in _statements(content):
        if words[0] == "newmtl":
            materials.append(RenderMaterial(" ".join(words[1:]), source=Where(str(file), number)))
        elif materials:
            try:
                _set_property(materials[-1], words, Where(str(file), number), gate)
            except (ValueError, IndexError):
                raise ParseError(
                    f"bad MTL statement {' '.join(words)[:80]!r}", where=Where(str(file), number)
                ) from None
    return materials


_TEXTURES = {
    "map_kd": ("diffuse", "rgb"),
    "map_ke": ("emissive", "rgb"),
    "map_d": ("opacity", "r"),
    "map_pm": ("metallic", "r"),
    "map_pr": ("roughness", "r"),
    "norm": ("normal", "rgb"),
}


def _set_property(material: RenderMaterial, words: list[str], where: Where, gate: Gate) -> None:
    key = words[0].lower()
    # "spectral" and "xyz" colours are not RGB.
    if key in ("kd", "ke", "ks") and words[1] not in ("spectral", "xyz"):
        name = {"kd": "diffuse", "ke": "emissive", "ks": "specular"}[key]
        setattr(material, name, _color(words[1:]))
    elif key == "d":
        material.opacity = float(words[-1])
    elif key == "tr":
        material.opacity = 1.0 - float(words[1])
    # 0.5 is the model's own value: a Pr that came before counts more than the Phong exponent.
    elif key == "ns" and material.roughness == 0.5:
        material.roughness = math.sqrt(2.0 / (max(float(words[1]), 0.0) + 2.0))
    elif key == "ni":
        material.ior = float(words[1])
    elif key in ("pm", "pr"):
        setattr(material, "metallic" if key == "pm" else "roughness", float(words[1]))
    elif key in _TEXTURES:
        slot, channel = _TEXTURES[key]
        # Options such as -bm come before the name; Windows exporters write backslashes.
        image = words[-1].replace("\\", "/")
        path = gate.take(find_image(Path(where.file), image), where, image)
        if path is not None:
            material.textures[slot] = Texture(str(path), channel)


def _color(words: list[str]) -> Rgb:
    values = [float(word) for word in words[:3]]
    if len(values) == 1:
        values *= 3
    red, green, blue = values
    return red, green, blue
