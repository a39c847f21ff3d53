# SPDX-License-Identifier: Apache-2.0
"""From paths of the stage to paths in a layer: a target has to be written as the layer that says it sees it."""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Usd


def map_target(prim: Usd.Prim, spec: Sdf.PrimSpec, target: Sdf.Path) -> Sdf.Path:
    """What ``target`` is called in a spec of ``prim``; empty where that spec cannot name it (behind a reference)."""
    if prim.IsInstanceProxy():
        prim = prim.GetPrimInPrototype()
    node = _find_node(prim.GetPrimIndex().rootNode, spec)
    if node is None:
        return Sdf.Path.emptyPath
    mapped: Sdf.Path = node.mapToRoot.MapTargetToSource(target)
    return mapped.StripAllVariantSelections() if mapped else Sdf.Path.emptyPath


def _find_node(node: Any, spec: Sdf.PrimSpec) -> Any:
    if node.path == spec.path and spec.layer in node.layerStack.layers:
        return node
    for child in node.children:
        found = _find_node(child, spec)
        if found is not None:
            return found
    return None
