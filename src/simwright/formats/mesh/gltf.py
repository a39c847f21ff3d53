# SPDX-License-Identifier: Apache-2.0
"""glTF 2.0, as .gltf and .glb: the default scene flattened, Y-up turned to Z-up.

glTF says Y-up and metres (glTF 2.0, 3.4), and that is what is followed: (x, y, z) becomes (x, -z, y).
Triangles, strips and fans are read; points and lines are not surfaces.  Buffers and images may be embedded or
lie in the asset (``core.gate``); nothing else is opened.  Compressed (Draco, meshopt) and sparse accessors are refused
with an error.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Where
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.core.limits import Tally
from simwright.core.math3d import Array, Pose
from simwright.formats.mesh.join import MeshPart, join_parts, list_objects
from simwright.model.geometry import Faces, MeshData
from simwright.model.material import RenderMaterial, Texture, make_display

_MAX_BUFFER_BYTES = 1024 * MIB
_MAX_DEPTH = 128
_MAX_INSTANCES = 100_000
_Y_TO_Z = np.array(((1.0, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1)))
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read_gltf(content: bytes, file: Path, gate: Gate) -> MeshData:
    """The mesh in the bytes of a glTF file; ``file`` is named in errors."""
    return join_parts(_read_parts(content, file, gate))


def read_gltf_objects(content: bytes, file: Path, gate: Gate) -> dict[str, Faces]:
    """Faces by the name of a node or of its mesh."""
    return list_objects(_read_parts(content, file, gate))


def _read_parts(content: bytes, file: Path, gate: Gate) -> list[MeshPart]:
    document = _GltfFile(content, file, gate)
    parts = []
    tally = Tally()
    for node, mesh, matrix in document.instances():
        for primitive in mesh.get("primitives", []):
            part = document.read_primitive(primitive)
            if part is not None:
                tally.add("mesh-elements", len(part.vertices) + len(part.indices), Where(str(file)))
                part.names = (str(node.get("name", "")), str(mesh.get("name", "")))
                parts.append(part.transformed(_Y_TO_Z @ matrix))
    if not parts:
        raise ParseError("the glTF scene has no triangles", where=Where(str(file)))
    return parts


class _GltfFile:
    """A glTF document with bounds-checked access to its buffers."""

    def __init__(self, content: bytes, file: Path, gate: Gate) -> None:
        self.file = file
        self.gate = gate
        self.tree, self._chunk = _split_container(content, file)
        self._buffers: dict[int, bytes] = {}

    def error(self, message: str) -> ParseError:
        return ParseError(f"bad glTF: {message}", where=Where(str(self.file)))

    def rows(self, key: str) -> list[dict[str, Any]]:
        rows = self.tree.get(key, [])
        if not isinstance(rows, list):
            raise self.error(f"{key!r} is not a list")
        return rows

    def row(self, key: str, index: object) -> dict[str, Any]:
        rows = self.rows(key)
        if not isinstance(index, int) or not 0 <= index < len(rows) or not isinstance(rows[index], dict):
            raise self.error(f"{key}[{index}] does not exist")
        return rows[index]

    def instances(self) -> Iterator[tuple[dict[str, Any], dict[str, Any], Array]]:
        """Nodes of the default scene (all root nodes where there is none), their meshes and world matrices."""
        scenes = self.rows("scenes")
        if scenes:
            starts = self.row("scenes", self.tree.get("scene", 0)).get("nodes", [])
        else:
            children = {c for node in self.rows("nodes") for c in node.get("children", [])}
            starts = [i for i in range(len(self.rows("nodes"))) if i not in children]
        stack = [(index, np.eye(4), 0) for index in reversed(starts)]
        visited = 0
        while stack:
            index, parent, depth = stack.pop()
            visited += 1
            # A node that is its own descendant would be visited for ever.
            if depth > _MAX_DEPTH or visited > _MAX_INSTANCES:
                raise LimitError("the glTF node tree is too deep or has cycles", where=Where(str(self.file)))
            node = self.row("nodes", index)
            matrix = parent @ _node_matrix(node)
            if "mesh" in node:
                yield node, self.row("meshes", node["mesh"]), matrix
            stack += [(child, matrix, depth + 1) for child in reversed(node.get("children", []))]

    def read_primitive(self, primitive: dict[str, Any]) -> MeshPart | None:
        mode = primitive.get("mode", 4)
        # 4 triangles, 5 strip, 6 fan; the others are points and lines.
        if mode not in (4, 5, 6):
            return None
        attributes = primitive.get("attributes", {})
        if "KHR_draco_mesh_compression" in primitive.get("extensions", {}):
            raise self.error("Draco compression is not supported; export without compression")
        vertices = self.accessor(attributes.get("POSITION"), 3).astype(np.float64)
        if "indices" in primitive:
            corners = self.accessor(primitive["indices"], 1).reshape(-1).astype(np.int64)
        else:
            corners = np.arange(len(vertices))
        if len(corners) and int(corners.max()) >= len(vertices):
            raise self.error(f"an index names vertex {int(corners.max())} of {len(vertices)}")
        triangles = _triangulate(corners, mode).reshape(-1)
        if len(triangles) == 0:
            return None
        normals = self.optional(attributes, "NORMAL", 3, triangles)
        uvs = self.optional(attributes, "TEXCOORD_0", 2, triangles)
        if uvs is not None:  # glTF measures v downwards
            uvs = np.stack((uvs[:, 0], 1.0 - uvs[:, 1]), axis=1)
        material = _material_name(self, primitive["material"]) if "material" in primitive else ""
        counts = np.full(len(triangles) // 3, 3, dtype=np.int32)
        return MeshPart(vertices, triangles.astype(np.int32), counts, normals, uvs, material)

    def optional(
        self, attributes: dict[str, Any], name: str, width: int, corners: npt.NDArray[Any]
    ) -> Array | None:
        """A per-vertex attribute gathered per corner; integers are normalised."""
        if name not in attributes:
            return None
        values = self.accessor(attributes[name], width)
        if values.dtype.kind == "u":
            values = values / float(np.iinfo(values.dtype).max)
        if len(values) <= int(corners.max()):
            raise self.error(f"{name} has {len(values)} rows, too few for its mesh")
        return np.asarray(values[corners], dtype=np.float64)

    def accessor(self, index: object, width: int) -> npt.NDArray[Any]:
        """The ``(count, width)`` array of an accessor."""
        row = self.row("accessors", index)
        kind = _COMPONENTS.get(row.get("componentType", 0))
        if kind is None or _WIDTHS.get(row.get("type", "")) != width or "sparse" in row:
            raise self.error(f"accessor {index} is of a sort that is not supported here")
        dtype = np.dtype(kind)
        view = self.row("bufferViews", row.get("bufferView"))
        data = self.buffer(int(view.get("buffer", 0)))
        count = int(row.get("count", 0))
        start = int(view.get("byteOffset", 0)) + int(row.get("byteOffset", 0))
        stride = int(view.get("byteStride", 0)) or dtype.itemsize * width
        # Checked before numpy makes a view: it would read whatever lies behind the buffer.
        last = start + (count - 1) * stride + dtype.itemsize * width
        if count <= 0 or start < 0 or stride < dtype.itemsize * width or last > len(data):
            raise self.error(f"accessor {index} reaches outside its buffer")
        return np.ndarray((count, width), dtype, buffer=data, offset=start, strides=(stride, dtype.itemsize))

    def buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            self._buffers[index] = self._load_buffer(self.row("buffers", index), index)
        return self._buffers[index]

    def _load_buffer(self, row: dict[str, Any], index: int) -> bytes:
        uri = row.get("uri")
        if uri is None:
            if index != 0:
                raise self.error(f"buffer {index} has no address")
            return self._chunk
        if str(uri).startswith("data:"):
            try:
                return base64.b64decode(str(uri).partition(",")[2], validate=True)
            except binascii.Error:
                raise self.error(f"buffer {index} is not base64") from None
        place = self.gate.admit(self.file.parent / unquote(str(uri)), Where(str(self.file)), str(uri))
        return read_bytes(place, _MAX_BUFFER_BYTES)


def _split_container(content: bytes, file: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON tree and the binary chunk of a .glb, or the tree of a .gltf."""
    where = Where(str(file))
    text, chunk = content, b""
    if content[:4] == b"glTF":
        if len(content) < 20 or struct.unpack_from("<I", content, 4)[0] != 2:
            raise ParseError("only glTF 2.0 is supported", where=where)
        length = struct.unpack_from("<I", content, 12)[0]
        # 12 bytes of header, then chunks of 8 bytes of head and their content.
        text = content[20 : 20 + length]
        chunk = content[28 + length :]
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"bad glTF: its JSON cannot be read: {error}", where=where) from None
    if not isinstance(tree, dict) or not str(tree.get("asset", {}).get("version", "")).startswith("2"):
        raise ParseError("only glTF 2.0 is supported", where=where)
    return tree, chunk


def _node_matrix(node: dict[str, Any]) -> Array:
    if "matrix" in node:
        # glTF stores matrices by columns.
        return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    matrix = Pose.of(node.get("translation", (0.0, 0.0, 0.0)), (w, x, y, z)).matrix
    matrix[:3, :3] = matrix[:3, :3] * np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64)
    return matrix


def _triangulate(corners: npt.NDArray[Any], mode: int) -> npt.NDArray[Any]:
    if mode == 4:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    if len(corners) < 3:
        return corners[:0].reshape(-1, 3)
    a, b, c = corners[:-2], corners[1:-1], corners[2:]
    if mode == 6:
        return np.stack((np.full_like(b, corners[0]), b, c), axis=1)
    triangles = np.stack((a, b, c), axis=1)
    # Every second triangle of a strip winds the other way.
    triangles[1::2] = triangles[1::2][:, (1, 0, 2)]
    return triangles


def _material_name(document: _GltfFile, index: object) -> str:
    return str(document.row("materials", index).get("name") or f"material_{index}")


def read_gltf_materials(content: bytes, file: Path, gate: Gate) -> list[RenderMaterial]:
    """Materials of a glTF file, in order, with display colours as the model has them.

    An image inside the file is named ``<file>#image<number>``.
    """
    document = _GltfFile(content, file, gate)
    return [_convert(document, index) for index in range(len(document.rows("materials")))]


def _convert(document: _GltfFile, index: int) -> RenderMaterial:
    row = document.row("materials", index)
    surface = row.get("pbrMetallicRoughness", {})
    red, green, blue, alpha = (float(v) for v in surface.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0)))
    # Factors are linear; the model holds display colours.
    red, green, blue = make_display((red, green, blue))
    glow_red, glow_green, glow_blue = (float(v) for v in row.get("emissiveFactor", (0.0, 0.0, 0.0)))
    emissive = make_display((glow_red, glow_green, glow_blue))
    textures: dict[str, Texture] = {}
    metallic, roughness = (float(surface.get(f"{key}Factor", 1.0)) for key in ("metallic", "roughness"))
    both = surface.get("metallicRoughnessTexture")
    for slot, holder, channel, gain in (
        ("diffuse", surface.get("baseColorTexture"), "rgb", (red, green, blue, alpha)),
        ("emissive", row.get("emissiveTexture"), "rgb", (*emissive, 1.0)),
        ("normal", row.get("normalTexture"), "rgb", (1.0,) * 4),
        ("occlusion", row.get("occlusionTexture"), "r", (1.0,) * 4),
        ("metallic", both, "b", (metallic,) * 4),
        ("roughness", both, "g", (roughness,) * 4),
    ):
        path = _image_path(document, holder)
        if path:
            # a normal map holds directions: 0 to 1 stands for -1 to 1
            is_normal = slot == "normal"
            textures[slot] = Texture(
                path,
                channel,
                gain=(2.0, 2.0, 2.0, 1.0) if is_normal else gain,
                bias=(-1.0, -1.0, -1.0, 0.0) if is_normal else (0.0, 0.0, 0.0, 0.0),
            )
    return RenderMaterial(
        _material_name(document, index),
        diffuse=(red, green, blue),
        # OPAQUE ignores alpha, whatever the factor says.
        opacity=1.0 if row.get("alphaMode", "OPAQUE") == "OPAQUE" else alpha,
        emissive=emissive,
        metallic=metallic,
        roughness=roughness,
        double_sided=bool(row.get("doubleSided", False)),
        textures=textures,
        source=Where(str(document.file)),
    )


def _image_path(document: _GltfFile, holder: dict[str, Any] | None) -> str:
    if not holder:
        return ""
    texture = document.row("textures", holder.get("index"))
    if "source" not in texture:
        return ""
    uri = str(document.row("images", texture["source"]).get("uri", ""))
    if not uri or uri.startswith("data:"):
        return f"{document.file}{INSIDE}{texture['source']}"
    image = document.gate.take(document.file.parent / unquote(uri), Where(str(document.file)), uri)
    return "" if image is None else str(image)


INSIDE = "#image"
"""Between the path of a glTF file and the number of an image in it."""


def read_gltf_image(content: bytes, file: Path, gate: Gate, number: int) -> bytes:
    """The bytes of an image that is inside a glTF file, as they are there (PNG or JPEG)."""
    document = _GltfFile(content, file, gate)
    row = document.row("images", number)
    uri = str(row.get("uri", ""))
    if uri.startswith("data:"):
        try:
            return base64.b64decode(uri.partition(",")[2], validate=True)
        except ValueError:
            raise document.error(f"image {number} is not base64") from None
    view = document.row("bufferViews", row.get("bufferView"))
    data = document.buffer(int(view.get("buffer", 0)))
    start, length = int(view.get("byteOffset", 0)), int(view.get("byteLength", 0))
    if start < 0 or length < 0 or start + length > len(data):
        raise document.error(f"image {number} is outside its buffer")
    return data[start : start + length]
