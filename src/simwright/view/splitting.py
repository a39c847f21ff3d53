# SPDX-License-Identifier: Apache-2.0
"""A binary glTF file as several, each with one primitive: what viser's instances need.

viser merges the primitives of an instanced file, and its page fails where these cannot be merged or where the result is
clicked.  A file with one primitive is drawn as it is.
"""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Iterator
from typing import Any

_JSON, _BIN = 0x4E4F534A, 0x004E4942


def split_glb(content: bytes) -> list[bytes]:
    """One .glb for each primitive that a node of the scene shows, in its place; the file itself where that is one."""
    document, binary = _open(content)
    shown = list(_list_primitives(document))
    if len(shown) == 1:
        return [content]
    return [_pick(document, binary, chain, primitive) for chain, primitive in shown]


def _open(content: bytes) -> tuple[dict[str, Any], memoryview]:
    length = struct.unpack_from("<I", content, 12)[0]
    document: dict[str, Any] = json.loads(content[20 : 20 + length])
    return document, memoryview(content)[20 + length + 8 :]


def _list_primitives(document: dict[str, Any]) -> Iterator[tuple[list[dict[str, Any]], dict[str, Any]]]:
    """Each primitive with the nodes that lead to it from the root."""
    nodes, meshes = document.get("nodes", []), document.get("meshes", [])
    pending = [[nodes[number]] for number in document["scenes"][document.get("scene", 0)].get("nodes", [])]
    while pending:
        chain = pending.pop()
        if "mesh" in chain[-1]:
            for primitive in meshes[chain[-1]["mesh"]]["primitives"]:
                yield chain, primitive
        pending += [[*chain, nodes[number]] for number in chain[-1].get("children", [])]


def _pick(
    document: dict[str, Any], binary: memoryview, chain: list[dict[str, Any]], primitive: dict[str, Any]
) -> bytes:
    """A document with this primitive alone."""
    data = bytearray()
    views: list[dict[str, Any]] = []

    def take_view(number: int) -> int:
        view = dict(document["bufferViews"][number])
        start, length = view.get("byteOffset", 0), view["byteLength"]
        data.extend(bytes(-len(data) % 4))
        view["byteOffset"], view["buffer"] = len(data), 0
        data.extend(binary[start : start + length])
        views.append(view)
        return len(views) - 1

    accessors: list[dict[str, Any]] = []

    def take_accessor(number: int) -> int:
        accessor = dict(document["accessors"][number])
        accessor["bufferView"] = take_view(accessor["bufferView"])
        accessors.append(accessor)
        return len(accessors) - 1

    made = {key: value for key, value in primitive.items() if key in ("mode", "material")}
    made["attributes"] = {name: take_accessor(number) for name, number in primitive["attributes"].items()}
    if "indices" in primitive:
        made["indices"] = take_accessor(primitive["indices"])
    nodes = [
        {key: value for key, value in node.items() if key in ("translation", "rotation", "scale", "matrix")}
        for node in chain
    ]
    for number, node in enumerate(nodes[:-1]):
        node["children"] = [number + 1]
    nodes[-1]["mesh"] = 0
    result: dict[str, Any] = {
        "asset": document["asset"], "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [made]}], "accessors": accessors, "bufferViews": views,
    }  # fmt: skip
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in document:
            result[key] = document[key]
    if "material" in made:
        material = copy.deepcopy(document["materials"][made["material"]])
        made["material"] = 0
        result["materials"] = [material]
        _take_textures(document, result, material, take_view)
    result["buffers"] = [{"byteLength": len(data)}]
    return _pack(result, bytes(data))


def _take_textures(
    document: dict[str, Any], result: dict[str, Any], material: dict[str, Any], take_view: Any
) -> None:
    """Carry the images that a material names, wherever in it they are named."""
    for place in _list_texture_places(material):
        texture = dict(document["textures"][place["index"]])
        if "source" in texture:
            image = dict(document["images"][texture["source"]])
            if "bufferView" in image:
                image["bufferView"] = take_view(image["bufferView"])
            result.setdefault("images", []).append(image)
            texture["source"] = len(result["images"]) - 1
        if "sampler" in texture:
            result.setdefault("samplers", []).append(document["samplers"][texture["sampler"]])
            texture["sampler"] = len(result["samplers"]) - 1
        result.setdefault("textures", []).append(texture)
        place["index"] = len(result["textures"]) - 1


def _list_texture_places(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.endswith("Texture") and isinstance(inner, dict) and "index" in inner:
                yield inner
            else:
                yield from _list_texture_places(inner)


def _pack(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    parts = struct.pack("<II", len(text), _JSON) + text + struct.pack("<II", len(binary), _BIN) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(parts)) + parts
