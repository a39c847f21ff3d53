# SPDX-License-Identifier: Apache-2.0
"""Which geometry is rendered with which Material (REP-0158 3.1), and which shapes emit light (REP-0158 3.6).

Physics bindings are another matter (purpose ``physics``): see :mod:`~simwright.checker.facts.bindings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pxr import UsdShade

from simwright.checker.facts.lineage import find_purposes, find_top, list_copies
from simwright.checker.facts.shading import MaterialFacts, read_material
from simwright.usd.silence import capture

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


_PURPOSES = ("full", "preview")
# a forest of instances is sampled: one differing binding among thousands is not worth minutes
_COPIES = 200
"""Instances of one prototype looked at."""


@dataclass(frozen=True, slots=True)
class MeshMaterial:
    """A mesh, or faces of it, with a Material."""

    mesh: PrimNode
    subset: PrimNode | None
    material: MaterialFacts


def is_render_binding(name: str) -> bool:
    """Is a relationship of this name a binding for rendering (all purposes, full or preview)?"""
    parts = name.split(":")
    if parts[:2] != ["material", "binding"]:
        return False
    if len(parts) > 2 and parts[2] == "collection":
        return len(parts) == 4 or parts[3] in _PURPOSES
    return len(parts) == 2 or (len(parts) == 3 and parts[2] in _PURPOSES)


def is_render_bound(material: PrimNode, snapshot: StageSnapshot) -> bool:
    """Does any binding for rendering name this Material?"""
    return material.path in snapshot.shared("material_uses.bound", _gather_bound)


def _gather_bound(snapshot: StageSnapshot) -> set[str]:
    found: set[str] = set()
    for node in snapshot.nodes:
        for relationship in node.prim.GetAuthoredPropertiesInNamespace("material"):
            if is_render_binding(relationship.GetName()):
                for target in node.targets(relationship.GetName()):
                    material = snapshot.node(target)
                    if material is not None:
                        found.add(material.path)
    return found


def find_materials(nodes: Iterable[PrimNode], snapshot: StageSnapshot) -> dict[str, list[MaterialFacts]]:
    """The Materials that shade each node, by its path: inherited, by collection, in every instance."""
    owners: list[PrimNode] = []
    prims: list[Usd.Prim] = []
    for node in nodes:
        for prim in _list_prims(node, snapshot):
            owners.append(node)
            prims.append(prim)
    found: dict[str, list[MaterialFacts]] = {}
    if not prims:
        return found
    with capture():  # a binding without MaterialBindingAPI makes OpenUSD print
        bound = [UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, p)[0] for p in _PURPOSES]
    for owner, *materials in zip(owners, *bound, strict=True):
        worn = found.setdefault(owner.path, [])
        for material in materials:
            node_of = snapshot.node(material.GetPath()) if material else None
            if node_of is not None and node_of.type == "Material":
                facts = read_material(node_of, snapshot)
                if facts not in worn:
                    worn.append(facts)
    return found


def _list_prims(node: PrimNode, snapshot: StageSnapshot) -> list[Usd.Prim]:
    """The prim itself, or its proxies below the instances that show it: bindings above them count."""
    if not node.in_prototype:
        return [node.prim]
    root = find_top(node)
    tail = node.path[len(root.path) :]
    copies = [copy.path for copy in list_copies(node, snapshot)[:_COPIES]] or [root.path]
    proxies = (snapshot.stage.GetPrimAtPath(path + tail) for path in copies)
    return [prim for prim in proxies if prim] or [node.prim]


def list_mesh_materials(snapshot: StageSnapshot) -> list[MeshMaterial]:
    """Meshes and subsets that are bound to a Material with textures or primvar readers."""
    return snapshot.shared("material uses", _gather_mesh_materials)


# one function: meshes, their subsets and their materials, gathered by one call
def _gather_mesh_materials(snapshot: StageSnapshot) -> list[MeshMaterial]:
    # most robots have plain colours: then no mesh need be asked for its material
    if not any(_reads_coordinates(read_material(node, snapshot)) for node in snapshot.of_type("Material")):
        return []
    meshes = [node for node in snapshot.nodes if node.type == "Mesh"]
    parts = {mesh.path: [child for child in mesh.children if is_bound_subset(child)] for mesh in meshes}
    # one call for all prims: OpenUSD shares the work of inherited and collection bindings between them
    worn = find_materials([*meshes, *(subset for group in parts.values() for subset in group)], snapshot)
    return [
        MeshMaterial(mesh, part, material)
        for mesh in meshes
        for part in (None, *parts[mesh.path])
        for material in worn.get((part or mesh).path, ())
        if _reads_coordinates(material)
    ]


def _reads_coordinates(material: MaterialFacts) -> bool:
    return bool(material.textures or material.readers)


def is_bound_subset(node: PrimNode) -> bool:
    """Is it a GeomSubset with a binding for rendering?"""
    if node.type != "GeomSubset":
        return False
    properties = node.prim.GetAuthoredPropertiesInNamespace("material")
    return any(is_render_binding(prop.GetName()) for prop in properties)


_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CARRIERS = ("Xform", "Scope", "")


@dataclass(frozen=True, slots=True)
class LampPrim:
    """A prim that is called a lamp or LED, and the shapes that are drawn at and below it."""

    node: PrimNode
    shapes: list[PrimNode]


def split_words(name: str) -> list[str]:
    """Lower-case words of a prim name: ``statusLED_1`` is status, led."""
    return [word.lower() for word in _SPLIT.findall(name)]


def is_shape(node: PrimNode) -> bool:
    """Is it a shape that may be drawn: a gprim that is not a collider?"""
    return node.is_a("Gprim") and not node.has("PhysicsCollisionAPI")


# one function: a cheap test on all names at once, then on each, then on the words
def find_named(snapshot: StageSnapshot, words: frozenset[str]) -> list[LampPrim]:
    """Topmost prims with one of the words in their name that show a shape."""
    found: list[LampPrim] = []
    inside: set[int] = set()
    quick = re.compile("|".join(sorted(words)), re.IGNORECASE)
    names = snapshot.shared("all names", lambda s: "\n".join(node.name for node in s.nodes).lower())
    if not any(word in names for word in words):
        return found
    for node in snapshot.nodes:
        # parts of a lamp are called lamp too: the topmost prim counts
        if node.parent is not None and id(node.parent) in inside:
            inside.add(id(node))
            continue
        if not quick.search(node.name) or not (node.type in _CARRIERS or node.is_a("Gprim")):
            continue
        if not words & set(split_words(node.name)):
            continue
        inside.add(id(node))
        shapes = [n for n in (node, *node.descendants()) if is_shape(n) and _is_drawn(n, snapshot)]
        if shapes:
            found.append(LampPrim(node, shapes))
    return found


def _is_drawn(node: PrimNode, snapshot: StageSnapshot) -> bool:
    # guides are never rendered
    return bool(find_purposes(node, snapshot) - {"guide"})


def find_glowing(shapes: Iterable[PrimNode], snapshot: StageSnapshot) -> list[PrimNode]:
    """Those shapes, or face subsets of them, that are bound to an emissive material."""
    nodes = [part for shape in shapes for part in (shape, *_list_subsets(shape))]
    worn = find_materials(nodes, snapshot)
    return [node for node in nodes if any(material.emits for material in worn.get(node.path, ()))]


def _list_subsets(shape: PrimNode) -> list[PrimNode]:
    return [child for child in shape.children if child.type == "GeomSubset"]
