# SPDX-License-Identifier: Apache-2.0
"""Wavefront OBJ with its MTL library: numbers exact, polygons kept, one ``usemtl`` for each look."""

from __future__ import annotations

import math

import numpy as np

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
