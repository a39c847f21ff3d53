# SPDX-License-Identifier: Apache-2.0
"""The glTF writer: an asset becomes one .glb, or a .gltf with its buffer and images beside it.

``build_document`` is the table of contents.  The same asset gives the same bytes.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simwright.core.diag import Reporter
from simwright.core.files import write_staged
from simwright.core.names import make_identifier
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.animations import write_animation
from simwright.formats.gltf.draft import Draft, Row
from simwright.formats.gltf.looks import settle_looks
from simwright.formats.gltf.losses import report_losses
from simwright.formats.gltf.nodes import write_bodies, write_shapes, write_sites
from simwright.formats.gltf.optics import EXTENSION as LIGHTS
from simwright.formats.gltf.optics import write_optics
from simwright.formats.gltf.physics import write_physics
from simwright.formats.place import choose_place
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree

SUFFIXES = (".glb", ".gltf")
_VARIANTS = "KHR_materials_variants"
_JSON, _BIN = b"JSON", b"BIN\0"


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a file ending in .glb or .gltf, or a folder.  Gives the file's path."""
    named = target.suffix.lower() in SUFFIXES
    if named:
        folder, name = target.parent, target.name
    else:
        folder, name = target, f"{make_identifier(asset.name)}{SUFFIXES[0]}"
    files = build_files(asset, name, options, reporter)
    own = frozenset(file.partition("/")[0] for file in files)
    place = choose_place(asset, folder, name, own, options, named=named)
    options.approve()
    with place.fill() as staging:
        write_staged(staging, files)
    return place.path


def build_files(asset: Asset, entry: str, options: WriteOptions, reporter: Reporter) -> dict[str, bytes]:
    """Every file by relative path: one for .glb; for .gltf the document, its buffer and its images."""
    draft = build_draft(asset, options, reporter)
    if entry.lower().endswith(SUFFIXES[0]):
        for image in draft.textures.images:
            draft.buffer.add_view(image.content)
        return {entry: _pack(build_document(draft), draft.buffer.content)}
    stem = Path(entry).stem
    files: dict[str, bytes] = {}
    document = build_document(draft, f"{stem}_textures")
    for row, image in zip(document.get("images", ()), draft.textures.images, strict=True):
        files[f"{stem}_textures/{row['uri'].rpartition('/')[2]}"] = image.content
    if draft.buffer.length:
        files[f"{stem}.bin"] = draft.buffer.content
        document["buffers"][0]["uri"] = quote(f"{stem}.bin")
    return {**files, entry: _encode(document, indent=1)}


def build_draft(asset: Asset, options: WriteOptions, reporter: Reporter) -> Draft:
    """Everything but the file."""
    asset = settle_looks(asset, reporter)
    draft = Draft(asset, build_tree(asset), reporter, options)
    write_bodies(draft)
    write_shapes(draft)
    write_sites(draft)
    write_optics(draft)
    write_physics(draft)
    write_animation(draft)
    report_losses(draft)
    return draft


def build_document(draft: Draft, image_folder: str = "") -> Row:
    """The JSON document; images are in the buffer unless a folder is named."""
    textures = draft.textures
    document: Row = {"asset": {"version": "2.0", "generator": "Simwright"}}
    used = draft.used | draft.materials.extensions | textures.extensions
    document["extensionsUsed"] = sorted(used)
    document["extensionsRequired"] = sorted(draft.required)
    document["extensions"] = _list_extensions(draft)
    document["scene"] = 0
    document["scenes"] = [{"name": draft.asset.name, "nodes": [0]}]
    document.update(
        nodes=draft.nodes,
        meshes=draft.meshes,
        materials=draft.materials.rows,
        textures=textures.textures,
        images=[
            _describe_image(draft, image.name, image.kind, image.content, image_folder)
            for image in textures.images
        ],
        samplers=textures.samplers,
        cameras=draft.cameras,
        animations=draft.animations,
        accessors=draft.buffer.accessors,
        bufferViews=draft.buffer.views,
        buffers=[{"byteLength": draft.buffer.length}] if draft.buffer.length else [],
        extras=draft.extras,
    )
    return {key: value for key, value in document.items() if value not in ([], {})}


def _list_extensions(draft: Draft) -> Row:
    result: Row = {}
    if draft.lights:
        result[LIGHTS] = {"lights": draft.lights}
    if _VARIANTS in draft.used:
        variants = draft.asset.look_variants
        many = len({variant.set_name for variant in variants}) > 1
        names = [f"{v.set_name}={v.name}" if many else v.name for v in variants]
        result[_VARIANTS] = {"variants": [{"name": name} for name in names]}
    return result


def _describe_image(draft: Draft, name: str, kind: str, content: bytes, folder: str) -> Row:
    if folder:
        suffix = ".jpg" if kind == "image/jpeg" else ".png"
        return {"name": name, "uri": f"{quote(folder)}/{quote(name + suffix)}"}
    return {"name": name, "mimeType": kind, "bufferView": draft.buffer.add_view(content)}


def _encode(document: Row, indent: int | None = None) -> bytes:
    separators = None if indent else (",", ":")
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    return text.encode()


def _pack(document: Row, content: bytes) -> bytes:
    """A .glb container."""
    text = _encode(document)
    text += b" " * (-len(text) % 4)
    chunks: list[Any] = [struct.pack("<I", len(text)), _JSON, text]
    if content:
        padded = content + b"\0" * (-len(content) % 4)
        chunks += [struct.pack("<I", len(padded)), _BIN, padded]
    body = b"".join(chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
