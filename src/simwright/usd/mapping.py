# SPDX-License-Identifier: Apache-2.0
"""From paths of the stage to paths in a layer: a target has to be written as the layer that says it sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pxr import Sdf, Usd


def list_sites(prim: Usd.Prim) -> list[tuple[Any, Sdf.Layer]]:
    """Where a prim itself may be spoken of, strongest first: nodes that no arc of its own brings, by layer."""
    if prim.IsInstanceProxy():
        prim = prim.GetPrimInPrototype()
    return [(node, layer) for node in _walk(prim.GetPrimIndex().rootNode) for layer in node.layerStack.layers]


def _walk(node: Any, depth: int = 0) -> Iterator[Any]:
    if depth == 0 or node.GetDepthBelowIntroduction() > 0:
        yield node
        for child in node.children:
            yield from _walk(child, depth + 1)


def map_target(node: Any, target: Sdf.Path) -> Sdf.Path:
    """What ``target`` is called in the layers of a node; empty where they cannot name it (behind a reference)."""
    mapped: Sdf.Path = node.mapToRoot.MapTargetToSource(target)
    return mapped.StripAllVariantSelections() if mapped else Sdf.Path.emptyPath
