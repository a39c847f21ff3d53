# SPDX-License-Identifier: Apache-2.0
"""Binary glTF 2.0: one mesh with a primitive for each look, turned to Y-up as glTF has it."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.formats.mesh.writer.polygons import Numbers, Polygons, list_triangles, name_looks
from simwright.formats.mesh.writer.write import Looks
from simwright.model.geometry import MeshData
from simwright.model.material import RenderMaterial, to_linear

_FLOAT, _UINT = 5126, 5125
_VERTICES, _INDICES = 34962, 34963


class _Buffer:
    """The binary chunk and the views into it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self._length = 0

    def add(self, rows: npt.NDArray[Any], target: int, *, bounds: bool = False) -> int:
        """An accessor with some rows; every length is a multiple of four."""
        content = rows.tobytes()
        view = {"buffer": 0, "byteOffset": self._length, "byteLength": len(content), "target": target}
        self.views.append(view)
        self.parts.append(content)
        self._length += len(content)
        kinds = {1: "SCALAR", 2: "VEC2", 3: "VEC3"}
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _FLOAT if rows.dtype.kind == "f" else _UINT,
            "count": len(rows),
            "type": kinds[1 if rows.ndim == 1 else rows.shape[1]],
        }
        if bounds:
            accessor["min"], accessor["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def write_glb(data: MeshData, name: str, looks: Looks) -> dict[str, bytes]:
    """The glTF file; images stay beside it."""
    triangles = list_triangles(data, looks)
    words = name_looks(triangles)
    buffer = _Buffer()
    primitives = [_write_primitive(buffer, triangles, faces, list(words).index(look) if look else None)
                  for look, faces in triangles.groups]  # fmt: skip
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": name}],
        "meshes": [{"name": name, "primitives": primitives}],
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": sum(len(part) for part in buffer.parts)}],
    }
    if words:
        _write_looks(document, [(word, looks[key]) for key, word in words.items()])
    return {f"{name}.glb": _pack(document, b"".join(buffer.parts))}


def _write_primitive(buffer: _Buffer, mesh: Polygons, faces: Numbers, look: int | None) -> dict[str, Any]:
    corners = mesh.corners_of(faces)
    columns = [mesh.points.index[corners]]
    columns += [table.index[corners] for table in (mesh.normals, mesh.uvs) if table is not None]
    # glTF has one index for all attributes of a vertex.
    rows, index = np.unique(np.stack(columns, axis=-1), axis=0, return_inverse=True)
    attributes = {"POSITION": buffer.add(_turn(mesh.points.rows[rows[:, 0]]), _VERTICES, bounds=True)}
    column = 1
    if mesh.normals is not None:
        attributes["NORMAL"] = buffer.add(_turn(_unit(mesh.normals.rows[rows[:, column]])), _VERTICES)
        column += 1
    if mesh.uvs is not None:
        uvs = mesh.uvs.rows[rows[:, column]][:, :2]
        flipped = np.stack((uvs[:, 0], 1.0 - uvs[:, 1]), axis=-1)
        attributes["TEXCOORD_0"] = buffer.add(flipped.astype("<f4"), _VERTICES)
    primitive: dict[str, Any] = {"attributes": attributes}
    primitive["indices"] = buffer.add(index.reshape(-1).astype("<u4"), _INDICES)
    if look is not None:
        primitive["material"] = look
    return primitive


def _turn(rows: Array) -> npt.NDArray[np.float32]:
    """From Z-up to Y-up."""
    turned: npt.NDArray[np.float32] = np.stack((rows[:, 0], rows[:, 2], -rows[:, 1]), axis=-1).astype("<f4")
    # -0.0 becomes 0.0.
    return turned + np.float32(0.0)


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Array = np.where(lengths > 0.0, rows / np.where(lengths > 0.0, lengths, 1.0), (0.0, 0.0, 1.0))
    return units


def _write_looks(document: dict[str, Any], looks: list[tuple[str, RenderMaterial]]) -> None:
    images: dict[str, int] = {}
    document["materials"] = []
    for word, look in looks:
        surface: dict[str, Any] = {
            "baseColorFactor": [*(to_linear(value) for value in look.diffuse), look.opacity],
            "metallicFactor": look.metallic,
            "roughnessFactor": look.roughness,
        }
        if "diffuse" in look.textures:
            number = images.setdefault(look.textures["diffuse"].file, len(images))
            surface["baseColorTexture"] = {"index": number}
            # glTF multiplies image and factor.
            surface["baseColorFactor"] = [1.0, 1.0, 1.0, look.opacity]
        row: dict[str, Any] = {"name": word, "pbrMetallicRoughness": surface}
        if any(look.emissive):
            row["emissiveFactor"] = [to_linear(value) for value in look.emissive]
        if look.opacity < 1.0:
            row["alphaMode"] = "BLEND"
        if look.double_sided:
            row["doubleSided"] = True
        document["materials"].append(row)
    if images:
        document["images"] = [{"uri": file} for file in images]
        document["textures"] = [{"source": number} for number in range(len(images))]


def _pack(document: dict[str, Any], content: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(content), b"BIN\0") + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
