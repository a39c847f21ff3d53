# SPDX-License-Identifier: Apache-2.0
"""Wavefront OBJ with its MTL library: numbers exact, polygons kept, one ``usemtl`` for each look.

:func:`write_decimals` and its like write the rows of large meshes, many numbers at once, for the MJCF writer.  Meshes
mostly come from files with a few decimals; where those name every number exactly, the digits are worked out for all
numbers together, which takes a third of the time of printing one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.formats.mesh.writer.polygons import Numbers, Polygons, list_polygons, name_looks
from simwright.formats.mesh.writer.write import Looks
from simwright.model.geometry import MeshData
from simwright.model.material import RenderMaterial

_IMAGES = {
    "diffuse": "map_Kd", "emissive": "map_Ke", "opacity": "map_d", "metallic": "map_Pm", "roughness": "map_Pr",
    "normal": "norm",
}  # fmt: skip


def write_obj(data: MeshData, name: str, looks: Looks) -> dict[str, bytes]:
    """The OBJ file, and the MTL file where faces have looks."""
    polygons = list_polygons(data, looks)
    words = name_looks(polygons)
    parts = [f"mtllib {name}.mtl\n"] if words else []
    parts.append(write_rows("v", polygons.points.rows))
    if polygons.uvs is not None:
        parts.append(write_rows("vt", polygons.uvs.rows))
    if polygons.normals is not None:
        parts.append(write_rows("vn", polygons.normals.rows))
    for look, faces in polygons.groups:
        if look:
            parts.append(f"usemtl {words[look]}\n")
        parts.append(_write_faces(polygons, faces))
    files = {f"{name}.obj": "".join(parts).encode("ascii")}
    if words:
        files[f"{name}.mtl"] = "".join(_write_look(looks[k], w) for k, w in words.items()).encode()
    return files


def write_rows(word: str, rows: Array) -> str:
    """Rows of numbers, each the shortest text that means exactly it."""
    line = f"{word}{' %s' * rows.shape[1]}\n"
    return (line * len(rows)) % tuple(list_texts(rows.ravel()))


def list_texts(values: Array) -> list[str]:
    """The shortest text of each number; whole ones without a point."""
    return [text.removesuffix(".0") for text in map(repr, (values + 0.0).tolist())]


def _write_faces(polygons: Polygons, faces: Numbers) -> str:
    """Faces of one size are written together, so their order may change."""
    sizes = polygons.counts[faces]
    parts = []
    # One format string for all faces of a size: a step of Python per face is slow.
    for size in np.unique(sizes):
        if size < 3:
            continue
        chosen = faces[sizes == size]
        corners = polygons.corners_of(chosen)
        columns, pattern = [polygons.points.index[corners] + 1], "%d"
        if polygons.uvs is not None:
            columns.append(polygons.uvs.index[corners] + 1)
            pattern += "/%d"
        if polygons.normals is not None:
            pattern += "/%d" if polygons.uvs is not None else "//%d"
            columns.append(polygons.normals.index[corners] + 1)
        line = f"f{f' {pattern}' * int(size)}\n"
        parts.append((line * len(chosen)) % tuple(np.stack(columns, axis=-1).ravel().tolist()))
    return "".join(parts)


def _write_look(look: RenderMaterial, word: str) -> str:
    specular = look.specular or (0.0, 0.0, 0.0)
    # The inverse of the reader's roughness = sqrt(2 / (Ns + 2)).
    shine = min(max(2.0 / max(look.roughness, 1e-3) ** 2 - 2.0, 0.0), 1000.0)
    rows = [
        f"newmtl {word}",
        _write_color("Kd", look.diffuse),
        _write_color("Ks", specular),
        f"Ns {shine!r}",
        f"d {float(look.opacity)!r}",
        f"Pr {float(look.roughness)!r}",
        f"Pm {float(look.metallic)!r}",
    ]
    if any(look.emissive):
        rows.append(_write_color("Ke", look.emissive))
    if math.isfinite(look.ior) and look.ior != 1.5:
        rows.append(f"Ni {float(look.ior)!r}")
    rows += [f"{word} {look.textures[slot].file}" for slot, word in _IMAGES.items() if slot in look.textures]
    return "\n".join(rows) + "\n\n"


def _write_color(word: str, color: tuple[float, float, float]) -> str:
    return " ".join((word, *(repr(float(value)) for value in color)))


_PLACES = (4, 6)
_LARGEST = 10**9
_DIGITS = 8
_NOTHING, _ZERO, _POINT, _MINUS, _SPACE, _BREAK, _POWER, _PLUS = b"\0000.- \ne+"
_TEN = np.uint32(10)

Rows = npt.NDArray[np.floating[Any]]
Cells = npt.NDArray[np.uint8]


def write_decimals(word: str, rows: Rows) -> bytes | None:
    """One line for each row, beginning with ``word``; None if numbers have more than six decimals."""
    exact = rows.astype(np.float64)
    if not exact.size or not np.isfinite(exact).all():
        return None
    for places in _PLACES:
        # Tried with few decimals first: most meshes have four, and shorter files load faster.
        scaled = np.rint(exact * 10**places)
        if np.abs(scaled).max() >= _LARGEST:
            return None
        # Only if reading it again gives every number exactly.
        if np.array_equal((scaled / 10**places).astype(rows.dtype), rows):
            return _write_places(word.encode("ascii"), scaled, places)
    return None


def _write_places(word: bytes, numbers: npt.NDArray[np.float64], places: int) -> bytes:
    """Columns below each other: a space, a sign or another space, then all digits."""
    size = np.abs(numbers).astype(np.uint32)
    digits = max(_count_digits(size), places + 1)
    text, cells = _rule_lines(word, numbers.shape, digits + 3)
    cells[:, :, 0] = _SPACE
    cells[:, :, 1] = np.where(numbers < 0, _MINUS, _SPACE)
    cells[:, :, -places - 1] = _POINT
    for digit in range(digits):
        rest = size // _TEN
        cells[:, :, -1 - digit - (digit >= places)] = size - rest * _TEN + _ZERO
        size = rest
    return text.tobytes()


def write_singles(word: str, rows: npt.NDArray[np.float32]) -> bytes:
    """One line for each row, with the nine digits that name any number of single precision (finite ones)."""
    size = np.abs(rows).astype(np.float64)
    power = np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    whole = np.rint(size * 10.0 ** (_DIGITS - power))
    # Rounding up 9.999999996 gives ten digits.
    power += whole >= _LARGEST
    whole = np.where(whole >= _LARGEST, whole / 10.0, whole).astype(np.uint32)
    text, cells = _rule_lines(word.encode("ascii"), rows.shape, _DIGITS + 8)
    cells[:, :, 0] = _SPACE
    cells[:, :, 1] = np.where(rows < 0, _MINUS, _SPACE)
    cells[:, :, 3] = _POINT
    cells[:, :, -4] = _POWER
    cells[:, :, -3] = np.where(power < 0, _MINUS, _PLUS)
    raised = np.abs(power).astype(np.uint32)
    cells[:, :, -2] = raised // _TEN + _ZERO
    cells[:, :, -1] = raised % _TEN + _ZERO
    for digit in range(_DIGITS + 1):
        rest = whole // _TEN
        cells[:, :, -5 - digit - (digit >= _DIGITS)] = whole - rest * _TEN + _ZERO
        whole = rest
    return text.tobytes()


def write_whole(word: str, separators: Sequence[str], numbers: npt.NDArray[np.integer[Any]]) -> bytes:
    """One line for each row of numbers above zero, each after its separator of one or two letters."""
    size = numbers.astype(np.uint32)
    if not size.size:
        return b""
    digits = _count_digits(size)
    text, cells = _rule_lines(word.encode("ascii"), numbers.shape, digits + 2)
    for column, separator in enumerate(separators):
        cells[:, column, :2] = np.frombuffer(separator.encode("ascii").rjust(2, b"\0"), dtype=np.uint8)
    for digit in range(digits):
        rest = size // _TEN
        cells[:, :, -1 - digit] = np.where(size > 0, size - rest * _TEN + _ZERO, _NOTHING)
        size = rest
    kept: Cells = text[text != _NOTHING]
    return kept.tobytes()


def _count_digits(numbers: npt.NDArray[np.uint32]) -> int:
    return len(str(int(numbers.max())))


def _rule_lines(word: bytes, shape: tuple[int, ...], width: int) -> tuple[Cells, Cells]:
    """Lines of equal length, and the cells of numbers in them."""
    count, columns = shape
    text = np.empty((count, len(word) + columns * width + 1), dtype=np.uint8)
    text[:, : len(word)] = np.frombuffer(word, dtype=np.uint8)
    text[:, -1] = _BREAK
    return text, text[:, len(word) : -1].reshape(count, columns, width)
