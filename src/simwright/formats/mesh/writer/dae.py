# SPDX-License-Identifier: Apache-2.0
"""COLLADA 1.4.1: one geometry, one polylist and one Phong effect for each look; metres and Z-up."""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree

from simwright.core.math3d import Array
from simwright.formats.mesh.writer.obj import list_texts
from simwright.formats.mesh.writer.polygons import IndexedRows, Numbers, Polygons, list_polygons, name_looks
from simwright.formats.mesh.writer.write import Looks
from simwright.model.geometry import MeshData
from simwright.model.material import RenderMaterial

SPACE = "http://www.collada.org/2005/11/COLLADASchema"
_DATE = "2000-01-01T00:00:00Z"
"""COLLADA wants a date; the same mesh is the same file on every day."""


def write_dae(data: MeshData, name: str, looks: Looks) -> dict[str, bytes]:
    """The COLLADA file."""
    polygons = list_polygons(data, looks)
    words = name_looks(polygons)
    spaces: Any = {None: SPACE}
    root = etree.Element("COLLADA", {"version": "1.4.1"}, nsmap=spaces)
    _write_head(root)
    _write_looks(root, looks, words)
    geometry = _add(_add(root, "library_geometries"), "geometry", id="mesh", name=name)
    _write_geometry(_add(geometry, "mesh"), polygons, words)
    _write_scene(root, name, words)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    return {f"{name}.dae": text}


def _add(parent: Any, tag: str, text: str | None = None, **attributes: str) -> Any:
    node = etree.SubElement(parent, tag, attributes)
    node.text = text
    return node


def _write_head(root: Any) -> None:
    head = _add(root, "asset")
    _add(head, "created", _DATE)
    _add(head, "modified", _DATE)
    _add(head, "unit", name="meter", meter="1")
    _add(head, "up_axis", "Z_UP")


def _write_looks(root: Any, looks: Looks, words: dict[str, str]) -> None:
    used = [(word, looks[name]) for name, word in words.items()]
    images = [(word, look) for word, look in used if "diffuse" in look.textures]
    if images:
        library = _add(root, "library_images")
        for word, look in images:
            image = _add(library, "image", id=f"{word}-image", name=word)
            _add(image, "init_from", look.textures["diffuse"].file)
    if used:
        effects = _add(root, "library_effects")
        for word, look in used:
            _write_effect(_add(effects, "effect", id=f"{word}-effect"), word, look)
        materials = _add(root, "library_materials")
        for word, _ in used:
            material = _add(materials, "material", id=f"{word}-material", name=word)
            _add(material, "instance_effect", url=f"#{word}-effect")


def _write_effect(effect: Any, word: str, look: RenderMaterial) -> None:
    profile = _add(effect, "profile_COMMON")
    has_image = "diffuse" in look.textures
    if has_image:
        surface = _add(_add(profile, "newparam", sid=f"{word}-surface"), "surface", type="2D")
        _add(surface, "init_from", f"{word}-image")
        sampler = _add(_add(profile, "newparam", sid=f"{word}-sampler"), "sampler2D")
        _add(sampler, "source", f"{word}-surface")
    phong = _add(_add(profile, "technique", sid="common"), "phong")
    _write_color(phong, "emission", look.emissive)
    _write_color(phong, "ambient", (0.0, 0.0, 0.0))
    if has_image:
        _add(_add(phong, "diffuse"), "texture", texture=f"{word}-sampler", texcoord="UVMap")
    else:
        _write_color(phong, "diffuse", look.diffuse)
    _write_color(phong, "specular", look.specular or (0.0, 0.0, 0.0))
    shine = min(max(2.0 / max(look.roughness, 1e-3) ** 2 - 2.0, 0.0), 1000.0)
    _add(_add(phong, "shininess"), "float", repr(shine))
    # A_ONE: alpha 1 is opaque, as the reader takes it.
    _add(_add(phong, "transparent", opaque="A_ONE"), "color", "1 1 1 1")
    _add(_add(phong, "transparency"), "float", repr(float(look.opacity)))


def _write_color(parent: Any, tag: str, color: tuple[float, float, float]) -> None:
    _add(_add(parent, tag), "color", " ".join(list_texts(np.array((*color, 1.0)))))


def _write_geometry(mesh: Any, polygons: Polygons, words: dict[str, str]) -> None:
    _write_source(mesh, "positions", polygons.points.rows, "XYZ")
    if polygons.normals is not None:
        _write_source(mesh, "normals", polygons.normals.rows, "XYZ")
    if polygons.uvs is not None:
        _write_source(mesh, "uvs", polygons.uvs.rows[:, :2], "ST")
    vertices = _add(mesh, "vertices", id="vertices")
    _add(vertices, "input", semantic="POSITION", source="#positions")
    for look, faces in polygons.groups:
        _write_polylist(mesh, polygons, faces, words.get(look, ""))


def _write_source(mesh: Any, name: str, rows: Array, letters: str) -> None:
    source = _add(mesh, "source", id=name)
    count = rows.shape[0] * rows.shape[1]
    _add(source, "float_array", " ".join(list_texts(rows.ravel())), id=f"{name}-array", count=str(count))
    accessor = _add(
        _add(source, "technique_common"), "accessor",
        source=f"#{name}-array", count=str(rows.shape[0]), stride=str(rows.shape[1]),
    )  # fmt: skip
    for letter in letters:
        _add(accessor, "param", name=letter, type="float")


def _write_polylist(mesh: Any, polygons: Polygons, faces: Numbers, word: str) -> None:
    faces = faces[polygons.counts[faces] > 2]
    symbol = {"material": f"{word}-symbol"} if word else {}
    node = _add(mesh, "polylist", count=str(len(faces)), **symbol)
    tables: list[tuple[str, str, IndexedRows]] = [("VERTEX", "vertices", polygons.points)]
    if polygons.normals is not None:
        tables.append(("NORMAL", "normals", polygons.normals))
    if polygons.uvs is not None:
        tables.append(("TEXCOORD", "uvs", polygons.uvs))
    for offset, (semantic, source, _) in enumerate(tables):
        extra = {"set": "0"} if semantic == "TEXCOORD" else {}
        _add(node, "input", semantic=semantic, source=f"#{source}", offset=str(offset), **extra)
    corners = polygons.corners_of(faces)
    _add(node, "vcount", " ".join(map(str, polygons.counts[faces].tolist())))
    columns = np.stack([table.index[corners] for _, _, table in tables], axis=-1)
    _add(node, "p", " ".join(map(str, columns.ravel().tolist())))


def _write_scene(root: Any, name: str, words: dict[str, str]) -> None:
    scene = _add(_add(root, "library_visual_scenes"), "visual_scene", id="scene", name=name)
    node = _add(scene, "node", id="node", name=name, type="NODE")
    instance = _add(node, "instance_geometry", url="#mesh")
    if words:
        common = _add(_add(instance, "bind_material"), "technique_common")
        for word in words.values():
            bound = _add(common, "instance_material", symbol=f"{word}-symbol", target=f"#{word}-material")
            _add(bound, "bind_vertex_input", semantic="UVMap", input_semantic="TEXCOORD", input_set="0")
    _add(_add(root, "scene"), "instance_visual_scene", url="#scene")
