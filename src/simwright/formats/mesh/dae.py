# SPDX-License-Identifier: Apache-2.0
"""COLLADA 1.4/1.5: scene graph flattened, units to metres, ``up_axis`` not followed.

Robot tools (RViz, MoveIt, Gazebo) apply ``asset/unit`` and leave ``asset/up_axis`` alone, and files are
written for them: TIAGo's colliders say Y_UP and lie in the same frame as its Z-up STL visuals.  Turning
them would break real robots, so coordinates stay as they are.

The document is checked for entities before pycollada sees it.  Instances of a geometry are baked with their
node's matrix; a mirroring matrix turns the winding, so faces keep pointing outwards.  Faces of one material
become one subset.  Cameras, lights, skins and animations are not geometry and are left out.

What is broken about looks must not cost geometry, but pycollada leaves out a node whose material it cannot read.  So a
texture whose image is not there is taken out first, and a file with other faults is read a second time without looks;
the reading with more faces counts.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from lxml import etree

from simwright.core.diag import Level, Where, declare
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.core.limits import Tally, check_limit
from simwright.core.math3d import Array
from simwright.formats.mesh.images import find_image
from simwright.formats.mesh.join import MeshPart, join_parts, list_objects
from simwright.formats.mesh.obj_columns import read_numbers
from simwright.formats.xml import Element, parse_bytes
from simwright.model.geometry import Faces, MeshData
from simwright.model.material import RenderMaterial, Rgb, Texture

IMAGE_BROKEN = declare(
    "mesh-image-broken",
    Level.WARNING,
    "a material of the COLLADA file {file!r} names the image {name!r}, which the file does not have",
    hint="the part is read without it; export the mesh again",
    doc="A texture in a COLLADA file refers to an image that is not in its library.",
    loss=True,
)


def read_dae(content: bytes, file: Path, _gate: Gate | None = None) -> MeshData:
    """The mesh in the bytes of a COLLADA file; ``file`` is named in errors."""
    return join_parts(_read_parts(content, file))


def read_dae_objects(content: bytes, file: Path, _gate: Gate | None = None) -> dict[str, Faces]:
    """Faces by the name of a node (what Gazebo calls a submesh) or of its geometry."""
    return list_objects(_read_parts(content, file))


def _read_parts(content: bytes, file: Path) -> list[MeshPart]:
    document = _open(content, file)
    parts = _list_parts(document, file)
    is_whole = bool(parts) and not document.errors
    # Its objects name each other in circles: arrays and elements would stay until Python looks for those.
    vars(document).clear()
    if not is_whole:
        # One function: what the first reading lacks tells whether a second one is of use.
        root = _parse(content, file)
        materials = _find_bound_materials(root)
        _strip(root, _LOOKS)
        other = _list_parts(_load(root), file)
        for part in other:
            part.material = materials.get(part.material, "")
        if _count_faces(other) > _count_faces(parts):
            parts = other
    if not parts:
        raise ParseError("the COLLADA scene has no faces", where=Where(str(file)))
    return parts


def _count_faces(parts: list[MeshPart]) -> int:
    return sum(len(part.indices) for part in parts)


def _list_parts(document: Any, file: Path) -> list[MeshPart]:
    check_limit("mesh-elements", _count_geometries(document, Where(str(file))), Where(str(file)))
    unit = float(document.assetInfo.unitmeter or 1.0)
    to_model = np.diag((unit, unit, unit, 1.0))
    parts, tally = [], Tally()
    for part in _parts(document, to_model):
        tally.add("mesh-elements", len(part.vertices) + len(part.indices), Where(str(file)))
        parts.append(part)
    return parts


def _parse(content: bytes, file: Path) -> Element:
    root = parse_bytes(content, str(file))
    if not str(root.tag).endswith("COLLADA"):
        raise ParseError(f"this is not a COLLADA file: its root is <{root.tag}>", where=Where(str(file)))
    return root


def _open(content: bytes, file: Path) -> Any:
    root = _parse(content, file)
    _drop_broken_textures(root)
    return _load(root)


@dataclass(frozen=True, slots=True)
class _KeptMesh:
    """What pycollada is not given of a ``<mesh>`` at first: numbers of its arrays, and elements that have its faces."""

    arrays: dict[str, _Singles]
    """By the number that stands at the array's element in the document that pycollada reads."""
    faces: list[Element]


_KEPT = "simwright-kept"
_Singles: TypeAlias = npt.NDArray[np.float32]
"""Single precision, as pycollada has its arrays."""
_FACES = ("polylist", "polygons", "triangles", "tristrips", "trifans")


def _load(root: Element) -> Any:
    """The document as pycollada reads it; takes numbers and faces of meshes, and dates, out of ``root``.

    pycollada spends half its time on a mesh in ``numpy.fromstring`` (0.9, numpy 2.4).  So it gets a document whose
    arrays are empty, and its sources are filled here before it reads the faces that use them.
    """
    import collada
    from collada.common import DaeBrokenRefError, DaeIncompleteError, DaeMalformedError, DaeUnsupportedError

    # When the file was made takes pycollada longer to read than the points of a small mesh.
    _strip(root, _NOT_READ)
    kept = _take_meshes(root)
    # a broken image or light must not cost the geometry; an empty result is an error of its own
    ignore = [DaeBrokenRefError, DaeIncompleteError, DaeMalformedError, DaeUnsupportedError]
    text = io.BytesIO(etree.tostring(root))
    document = collada.Collada(text, ignore=ignore, aux_file_loader=lambda _name: None)
    for geometry in document.geometries:
        number = geometry.xmlnode.get(_KEPT)
        if number is not None:
            _fill_geometry(document, geometry, kept[int(number)])
    return document


def _take_meshes(root: Element) -> list[_KeptMesh]:
    """Take numbers and faces out of all meshes; the ``<geometry>`` of each gets its number in the list."""
    kept: list[_KeptMesh] = []
    for mesh in _list_all(root, "mesh"):
        arrays: dict[str, _Singles] = {}
        for source in mesh.iterchildren("{*}source"):
            array, values = _read_source(source)
            if values is not None:
                arrays[str(len(arrays))] = values
                array.set(_KEPT, str(len(arrays) - 1))
                array.text = None
        faces = list(mesh.iterchildren(*(f"{{*}}{word}" for word in _FACES)))
        for element in faces:
            mesh.remove(element)
        mesh.getparent().set(_KEPT, str(len(kept)))
        kept.append(_KeptMesh(arrays, faces))
    return kept


def _read_source(source: Element) -> tuple[Element, _Singles | None]:
    """The array of a ``<source>`` with its values, a row for each point; None where pycollada has to judge them."""
    array = source.find("{*}float_array")
    params = source.findall("{*}technique_common/{*}accessor/{*}param")
    if array is None or not params or not array.text:
        return array, None
    values = read_numbers(array.text)
    if values is None or values.size % len(params):
        return array, None
    return array, values.astype(np.float32).reshape(-1, len(params))


def _fill_geometry(document: Any, geometry: Any, kept: _KeptMesh) -> None:
    """Give a geometry of pycollada its numbers and its faces; none at all where some of them are broken."""
    from collada.common import DaeError
    from collada.polygons import Polygons
    from collada.polylist import Polylist
    from collada.source import FloatSource
    from collada.triangleset import TriangleSet

    kinds = {"polylist": Polylist, "polygons": Polygons}
    for source in geometry.sourceById.values():
        number = source.xmlnode.find("{*}float_array").get(_KEPT) if isinstance(source, FloatSource) else None
        if number is not None:
            # pycollada leaves out the third of three texture coordinates.
            source.data = kept.arrays[number][:, : len(source.components)]
    try:
        geometry.primitives = [
            kinds.get(_word(element), TriangleSet).load(document, geometry.sourceById, element)
            for element in kept.faces
        ]
    except DaeError as error:
        document.handleError(error)


def _parts(document: Any, to_model: Array) -> Iterator[MeshPart]:
    bounds = _bound_geometries(document)
    nodes = _list_node_names(document)
    # Both lists should have one entry per geometry; where they have not, no name is better than a wrong one.
    if len(nodes) != len(bounds):
        nodes = [""] * len(bounds)
    for bound, node in zip(bounds, nodes, strict=True):
        matrix = to_model @ np.asarray(bound.matrix, dtype=np.float64)
        names = {symbol: node.target for symbol, node in bound.materialnodebysymbol.items() if node.target}
        for primitive in bound.original.primitives:
            part = _read_primitive(primitive)
            if part is not None:
                material = names.get(primitive.material)
                # Read without looks, a part has the symbol of its material, which the caller resolves.
                symbol = "" if names else str(primitive.material or "")
                part.material = _material_name(material) if material is not None else symbol
                part.names = (node, str(bound.original.name or ""), str(bound.original.id or ""))
                yield part.transformed(matrix)


def _list_node_names(document: Any) -> list[str]:
    """The name of the node of every geometry of the scene, in the order of :func:`_bound_geometries`."""
    from collada.scene import GeometryNode

    names: list[str] = []
    stack: list[tuple[Any, str]] = [(node, "") for node in reversed(getattr(document.scene, "nodes", []))]
    while stack:
        node, name = stack.pop()
        if isinstance(node, GeometryNode):
            names.append(name)
            continue
        name = _node_name(node) or name
        stack += [(child, name) for child in reversed(getattr(node, "children", []))]
    return names


def _count_geometries(document: Any, where: Where) -> int:
    """How many geometries the scene places, none of them made: forty nodes that use the next twice are 2^40."""
    from collada.scene import GeometryNode

    counts: dict[int, int] = {}
    begun: set[int] = set()
    roots = [_find_node(node) for node in getattr(document.scene, "nodes", [])]
    stack = list(roots)
    while stack:
        node = stack[-1]
        children = [_find_node(child) for child in getattr(node, "children", [])]
        waiting = [child for child in children if id(child) not in counts]
        if id(node) in counts:
            stack.pop()
        elif waiting and id(node) in begun:
            raise ParseError("a node of the COLLADA scene is inside itself", where=where)
        elif waiting:
            begun.add(id(node))
            stack += waiting
        else:
            counts[id(node)] = isinstance(node, GeometryNode) + sum(counts[id(child)] for child in children)
            stack.pop()
    return sum(counts[id(node)] for node in roots)


def _find_node(node: Any) -> Any:
    """The node itself, also where it is an instance of one in the library."""
    inner = getattr(node, "node", None)
    return node if inner is None else _find_node(inner)


def _node_name(node: Any) -> str:
    element = getattr(node, "xmlnode", None)
    return "" if element is None else str(element.get("name") or element.get("id") or "")


def _bound_geometries(document: Any) -> list[Any]:
    """Geometries of the scene; those of the library where the file has no scene, or one that cannot be read."""
    placed = [] if document.scene is None else list(document.scene.objects("geometry"))
    # A scene that is sound and empty places nothing, and nothing is what the file shows.
    if placed or (document.scene is not None and not document.errors):
        return placed
    return [_Unplaced(geometry) for geometry in document.geometries]


@dataclass(slots=True)
class _Unplaced:
    """A geometry that no scene places: at the origin, without materials."""

    original: Any
    matrix: Array = field(default_factory=lambda: np.eye(4))
    materialnodebysymbol: dict[str, Any] = field(default_factory=dict)


def _read_primitive(primitive: Any) -> MeshPart | None:
    index = primitive.vertex_index
    if index is None or len(index) == 0 or primitive.vertex is None:
        return None
    index = np.asarray(index)
    if hasattr(primitive, "vcounts"):
        counts = np.asarray(primitive.vcounts, dtype=np.int32)
    elif index.ndim == 2 and index.shape[1] == 3:
        counts = np.full(len(index), 3, dtype=np.int32)
    else:  # lines
        return None
    corners = index.reshape(-1)
    normals = uvs = None
    if primitive.normal is not None and primitive.normal_index is not None:
        normals = np.asarray(primitive.normal, dtype=np.float64)[
            np.asarray(primitive.normal_index).reshape(-1)
        ]
    if len(primitive.texcoordset) > 0:
        table = np.asarray(primitive.texcoordset[0], dtype=np.float64)[:, :2]
        uvs = table[np.asarray(primitive.texcoord_indexset[0]).reshape(-1)]
    vertices = np.asarray(primitive.vertex, dtype=np.float64)
    return MeshPart(vertices, corners.astype(np.int32), counts, normals, uvs)


def _material_name(material: Any) -> str:
    return str(material.name or material.id)


def read_dae_materials(content: bytes, file: Path, gate: Gate) -> list[RenderMaterial]:
    """Materials of a COLLADA file, in library order."""
    root = _parse(content, file)
    # without what is not about looks: most of the bytes, and of the time to read them
    _strip(root, _SHAPES)
    for name in _drop_broken_textures(root):
        if gate.reporter is not None:
            gate.reporter.report(IMAGE_BROKEN, Where(str(file)), file=file.name, name=name[:80])
    found: dict[str, RenderMaterial] = {}
    for material in _load(root).materials:
        name = _material_name(material)
        if name not in found:
            found[name] = _convert(name, material.effect, file, gate)
    return list(found.values())


_SHAPES = frozenset({
    "library_geometries", "library_controllers", "library_animations", "library_animation_clips",
    "library_visual_scenes", "library_nodes", "scene",
})  # fmt: skip
_NOT_READ = frozenset({"created", "modified", "lines", "linestrips"})
_LOOKS = frozenset({"library_images", "library_effects", "library_materials", "bind_material"})


def _word(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _list_all(root: Element, *words: str) -> list[Element]:
    """All elements of these names, in any namespace: files of COLLADA 1.4 and 1.5 have different ones."""
    return list(root.iter(*(f"{{*}}{word}" for word in words)))


def _strip(root: Element, words: frozenset[str]) -> None:
    for element in _list_all(root, *words):
        if element.getparent() is not None:
            element.getparent().remove(element)


def _find_bound_materials(root: Element) -> dict[str, str]:
    """Names of materials by the symbols that the faces of the scene have for them."""
    names = {
        element.get("id"): str(element.get("name") or element.get("id"))
        for element in _list_all(root, "material")
    }
    bound = _list_all(root, "instance_material")
    return {str(e.get("symbol")): names.get(str(e.get("target"))[1:], "") for e in bound}


def _drop_broken_textures(root: Element) -> list[str]:
    """Take out textures whose image the file does not have; gives what they name."""
    images = {element.get("id") for element in _list_all(root, "image")}
    dropped: list[str] = []
    for effect in _list_all(root, "effect"):
        params = {e.get("sid"): e for e in _list_all(effect, "newparam")}
        for texture in _list_all(effect, "texture"):
            name = _find_image_name(str(texture.get("texture")), params)
            if name not in images:
                dropped.append(name)
                # The colour goes with its texture: <diffuse> has one of the two.
                slot = texture.getparent()
                slot.getparent().remove(slot)
        if dropped:
            _drop_dead_params(params, images)
    return dropped


def _find_image_name(name: str, params: dict[str, Element]) -> str:
    """From a sampler over its surface to the image; files that name the image directly exist."""
    for _ in range(2):
        param = params.get(name)
        if param is None:
            break
        source = next(
            (e for e in param.iter() if _word(e) in ("source", "init_from", "instance_image")), None
        )
        if source is None:
            break
        name = (source.text or str(source.get("url") or "")[1:]).strip()
    return name


def _drop_dead_params(params: dict[str, Element], images: set[str]) -> None:
    for name, param in params.items():
        if param.getparent() is not None and _find_image_name(name, params) not in images:
            has_image = any(_word(e) in ("surface", "sampler2D") for e in param)
            if has_image:
                param.getparent().remove(param)


def _convert(name: str, effect: Any, file: Path, gate: Gate) -> RenderMaterial:
    result = RenderMaterial(name, source=Where(str(file)))
    result.double_sided = bool(effect.double_sided)
    for slot, value in (
        ("diffuse", effect.diffuse),
        ("emissive", effect.emission),
        ("specular", effect.specular),
    ):
        color = _color(value)
        if color is not None:
            setattr(result, slot, color)
        texture = _texture(value, file, gate)
        if texture is not None:
            result.textures[slot] = texture
    # The usual match of a Phong exponent with roughness; an exponent up to 1 is taken as not said.
    if isinstance(effect.shininess, float) and effect.shininess > 1.0:
        result.roughness = float(np.sqrt(2.0 / (effect.shininess + 2.0)))
    result.opacity = _opacity(effect)
    return result


def _color(value: Any) -> Rgb | None:
    if isinstance(value, tuple) and len(value) >= 3:
        return float(value[0]), float(value[1]), float(value[2])
    return None


def _texture(value: Any, file: Path, gate: Gate) -> Texture | None:
    sampler = getattr(value, "sampler", None)
    if sampler is None:
        return None
    path = str(sampler.surface.image.path)
    # Nothing is fetched.
    if "://" in path and not path.startswith("file://"):
        return None
    image = gate.take(find_image(file, path.removeprefix("file://")), Where(str(file)), path)
    return None if image is None else Texture(str(image))


def _opacity(effect: Any) -> float:
    """Alpha of the diffuse colour under the A_ONE rule of COLLADA 1.4, chapter "Determining Transparency".

    RGB_ZERO files and exporters that write ``transparency`` the wrong way round exist; a result of zero
    would hide the part and is read as opaque.
    """
    transparency = effect.transparency
    if not isinstance(transparency, float):
        return 1.0
    color = effect.transparent if isinstance(effect.transparent, tuple) else (1.0, 1.0, 1.0, 1.0)
    if str(getattr(effect, "opaque_mode", "") or "A_ONE").endswith("RGB_ZERO"):
        alpha = 1.0 - transparency * float(np.mean(color[:3]))
    else:
        alpha = transparency * float(color[3])
    return alpha if 0.0 < alpha <= 1.0 else 1.0
