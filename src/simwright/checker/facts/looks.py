# SPDX-License-Identifier: Apache-2.0
"""Which geometry wears which Material when rendered (REP-0158 3.1).

Physics bindings are another matter (purpose ``physics``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pxr import UsdShade

from simwright.checker.facts.lineage import list_copies
from simwright.checker.facts.shading import MaterialFacts, read_material
from simwright.usd.silence import capture

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.checker.facts.snapshot import Node, Snapshot

_PURPOSES = ("full", "preview")
_COPIES = 200
"""Instances of one prototype looked at."""


@dataclass(frozen=True, slots=True)
class Look:
    """A mesh, or faces of it, with a Material."""

    mesh: Node
    subset: Node | None
    material: MaterialFacts


def is_render_binding(name: str) -> bool:
    """Is a relationship of this name a binding for rendering (all purposes, full or preview)?"""
    parts = name.split(":")
    if parts[:2] != ["material", "binding"]:
        return False
    if len(parts) > 2 and parts[2] == "collection":
        return len(parts) == 4 or parts[3] in _PURPOSES
    return len(parts) == 2 or (len(parts) == 3 and parts[2] in _PURPOSES)


def is_render_bound(material: Node, snapshot: Snapshot) -> bool:
    """Does any binding for rendering name this Material?"""
    return material.path in snapshot.shared("looks.bound", _gather_bound)


def _gather_bound(snapshot: Snapshot) -> set[str]:
    found: set[str] = set()
    for node in snapshot.nodes:
        for relationship in node.prim.GetAuthoredPropertiesInNamespace("material"):
            if is_render_binding(relationship.GetName()):
                for target in node.targets(relationship.GetName()):
                    material = snapshot.node(target)
                    if material is not None:
                        found.add(material.path)
    return found


def find_materials(nodes: Iterable[Node], snapshot: Snapshot) -> dict[str, list[MaterialFacts]]:
    """The Materials that shade each node, by its path: inherited, by collection, in every instance."""
    owners: list[Node] = []
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


def _list_prims(node: Node, snapshot: Snapshot) -> list[Usd.Prim]:
    """The prim itself, or its proxies below the instances that show it: bindings above them count."""
    if not node.in_prototype:
        return [node.prim]
    root = node
    while root.parent is not None:
        root = root.parent
    tail = node.path[len(root.path) :]
    copies = [copy.path for copy in list_copies(node, snapshot)[:_COPIES]] or [root.path]
    proxies = (snapshot.stage.GetPrimAtPath(path + tail) for path in copies)
    return [prim for prim in proxies if prim] or [node.prim]


def list_looks(snapshot: Snapshot) -> list[Look]:
    """Meshes and bound subsets that wear a Material with textures or primvar readers."""
    return snapshot.shared("looks", _gather_looks)


def _gather_looks(snapshot: Snapshot) -> list[Look]:
    materials = [read_material(node, snapshot) for node in snapshot.of_type("Material")]
    if not any(m.textures or m.readers for m in materials):
        return []
    meshes = [node for node in snapshot.nodes if node.type == "Mesh"]
    subsets = {
        mesh.path: [child for child in mesh.children if is_bound_subset(child)]
        for mesh in meshes
        if mesh.children
    }
    worn = find_materials([*meshes, *(s for group in subsets.values() for s in group)], snapshot)
    looks: list[Look] = []
    for mesh in meshes:
        parts: list[Node | None] = [None, *subsets.get(mesh.path, ())]
        for part in parts:
            materials = [m for m in worn.get((part or mesh).path, ()) if m.textures or m.readers]
            looks += [Look(mesh, part, material) for material in materials]
    return looks


def is_bound_subset(node: Node) -> bool:
    """Is it a GeomSubset with a binding for rendering?"""
    if node.type != "GeomSubset":
        return False
    properties = node.prim.GetAuthoredPropertiesInNamespace("material")
    return any(is_render_binding(prop.GetName()) for prop in properties)
