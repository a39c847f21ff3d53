# SPDX-License-Identifier: Apache-2.0
"""Where parts of a stage come from: which prims reference other assets, and which assets are there twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pxr import Sdf

from simwright.checker.facts.names import lineage, nearest_context
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

_ARCS = ("references", "payload")


def local_layers(snapshot: StageSnapshot) -> list[Sdf.Layer]:
    """The root layer and its sublayers."""
    return snapshot.shared("local layers", lambda s: s.stage.GetLayerStack(includeSessionLayers=False))


def has_arc(node: PrimNode) -> bool:
    """Does the prim itself reference (or have as payload) another asset or prim?"""
    return any(node.prim.HasAuthoredMetadata(key) for key in _ARCS)


def find_sources(node: PrimNode) -> list[tuple[str, str]]:
    """What the prim references: (file or layer, prim path) of each reference and payload."""
    found: list[tuple[str, str]] = []
    if has_arc(node):
        for spec in node.prim.GetPrimStack():
            for key in _ARCS:
                if spec.HasInfo(key):
                    found.extend(_read_arcs(spec, key))
    return list(dict.fromkeys(found))


def _read_arcs(spec: Sdf.PrimSpec, key: str) -> Iterator[tuple[str, str]]:
    operation = spec.GetInfo(key)
    for item in (*operation.explicitItems, *operation.prependedItems, *operation.appendedItems,
                 *operation.addedItems):  # fmt: skip
        layer = spec.layer
        asset = layer.ComputeAbsolutePath(item.assetPath) if item.assetPath else layer.identifier
        yield asset, item.primPath.pathString


def find_entry(node: PrimNode) -> PrimNode | None:
    """The nearest prim above that references something."""
    return next((above for above in lineage(node)[1:] if has_arc(above)), None)


def is_applied_locally(node: PrimNode, api: str, layers: list[Sdf.Layer]) -> bool:
    """Is the API applied by one of these layers, at this prim?"""
    for spec in node.prim.GetPrimStack():
        if spec.layer in layers and spec.HasInfo("apiSchemas"):
            operation = spec.GetInfo("apiSchemas")
            items = (*operation.explicitItems, *operation.prependedItems, *operation.appendedItems)
            if api in (*items, *operation.addedItems):
                return True
    return False


def group_copies(snapshot: StageSnapshot) -> list[tuple[str, list[PrimNode]]]:
    """Assets with ROS interfaces or contexts that are referenced more than once under one context.

    Each with the referencing prims, in order.  Copies inside copies are left to the outer ones.  Robots (no
    context above, a context of their own) are not counted.
    """
    groups: dict[tuple[int, str, str], list[PrimNode]] = {}
    for entry in _find_entries(snapshot):
        above = nearest_context(entry)
        # robots of a fleet are compared by ns-unique
        if above is None and entry.has("RosContextAPI"):
            continue
        for asset, prim in find_sources(entry):
            groups.setdefault((id(above), asset, prim), []).append(entry)
    return _keep_outer([(asset, prim, nodes) for (_, asset, prim), nodes in groups.items() if len(nodes) > 1])


def _keep_outer(copies: list[tuple[str, str, list[PrimNode]]]) -> list[tuple[str, list[PrimNode]]]:
    """Groups without the prims that are inside another copy; each set of prims once."""
    outer = {node.path for _, _, nodes in copies for node in nodes}
    result: list[tuple[str, list[PrimNode]]] = []
    seen: set[tuple[str, ...]] = set()
    for asset, prim, nodes in copies:
        kept = [node for node in nodes if not any(above.path in outer for above in lineage(node)[1:])]
        paths = tuple(node.path for node in kept)
        if len(kept) > 1 and paths not in seen:
            seen.add(paths)
            result.append((Path(asset).name + (f"<{prim}>" if prim else ""), kept))
    return result


def _find_entries(snapshot: StageSnapshot) -> list[PrimNode]:
    """Prims at or above interfaces and contexts that reference something, in order of traversal."""
    found: dict[str, PrimNode] = {}
    for node in [*snapshot.interfaces, *snapshot.contexts]:
        for place in [p for user in _users(node) for p in lineage(user)]:
            if place.path not in found and has_arc(place):
                found[place.path] = place
    return sorted(found.values(), key=lambda node: node.path)


def _users(node: PrimNode) -> list[PrimNode]:
    """The node, or the instances that show it."""
    root = next((above for above in node.ancestors() if above.users), None) if node.in_prototype else None
    return root.users if root is not None and root.users else [node]
