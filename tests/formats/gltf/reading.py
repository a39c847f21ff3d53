"""A small reader of glTF for tests: rows, arrays, the node tree."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_UP = np.array(((1, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)), dtype=float)


class Document:
    """What a file says."""

    def __init__(self, rows: dict[str, Any], content: bytes) -> None:
        self.rows, self.content = rows, content

    def __getitem__(self, key: str) -> Any:
        return self.rows[key]

    def find(self, name: str) -> int:
        """The one node with a name."""
        found = [number for number, node in enumerate(self["nodes"]) if node.get("name") == name]
        assert len(found) == 1, (name, found)
        return found[0]

    def node(self, name: str) -> dict[str, Any]:
        return self["nodes"][self.find(name)]

    def material_of(self, name: str, primitive: int = 0) -> dict[str, Any]:
        """The material a node shows."""
        return self["materials"][self.primitives_of(name)[primitive]["material"]]

    def primitives_of(self, name: str) -> list[dict[str, Any]]:
        return self["meshes"][self.node(name)["mesh"]]["primitives"]

    def parent_of(self, node: int) -> int | None:
        return next((k for k, row in enumerate(self["nodes"]) if node in row.get("children", ())), None)

    def local(self, node: int) -> np.ndarray:
        row = self["nodes"][node]
        x, y, z, w = row.get("rotation", (0, 0, 0, 1))
        turn = np.array(
            (
                (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
            )
        )
        matrix = np.eye(4)
        matrix[:3, :3] = turn * row.get("scale", (1, 1, 1))
        matrix[:3, 3] = row.get("translation", (0, 0, 0))
        return matrix

    def world(self, node: int) -> np.ndarray:
        """The matrix of a node, Z-up."""
        matrix, at = np.eye(4), node
        while at is not None:
            matrix, at = self.local(at) @ matrix, self.parent_of(at)
        return _UP @ matrix

    def array(self, accessor: int) -> np.ndarray:
        """Rows of an accessor as floats; scaled integers as what they stand for."""
        row = self["accessors"][accessor]
        view = self["bufferViews"][row["bufferView"]]
        kind, width = np.dtype(_KINDS[row["componentType"]]), _WIDTHS[row["type"]]
        stride = view.get("byteStride", kind.itemsize * width)
        values = np.ndarray(
            (row["count"], width), kind, self.content, view["byteOffset"], (stride, kind.itemsize)
        ).astype(float)
        if row.get("normalized"):
            values = np.maximum(values / np.iinfo(kind).max, -1.0)
        return values[:, 0] if width == 1 else values

    def points(self, name: str, primitive: int = 0) -> np.ndarray:
        """Corners of the triangles of a node, Z-up: ``(n, 3, 3)``."""
        row = self.primitives_of(name)[primitive]
        points = self.array(row["attributes"]["POSITION"])
        corners = points[self.array(row["indices"]).astype(int)]
        matrix = self.world(self.find(name))
        return (corners @ matrix[:3, :3].T + matrix[:3, 3]).reshape(-1, 3, 3)


def open_gltf(file: Path) -> Document:
    """A .glb, or a .gltf with its buffer."""
    data = file.read_bytes()
    if data[:4] == b"glTF":
        version, length, size = struct.unpack_from("<III", data, 4)
        assert (version, length) == (2, len(data))
        return Document(json.loads(data[20 : 20 + size]), data[28 + size :])
    rows = json.loads(data)
    buffers = rows.get("buffers", [])
    return Document(rows, (file.parent / buffers[0]["uri"]).read_bytes() if buffers else b"")
