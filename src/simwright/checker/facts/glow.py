# SPDX-License-Identifier: Apache-2.0
"""Lamps and LEDs: prims that are called so, and shapes whose material emits (REP-0158 3.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simwright.checker.facts.looks import find_materials
from simwright.checker.facts.purposes import find_purposes

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot

_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CARRIERS = ("Xform", "Scope", "")


@dataclass(frozen=True, slots=True)
class Place:
    """A prim with a telling name and the shapes that are drawn at and below it."""

    node: Node
    shapes: list[Node]


def split_words(name: str) -> list[str]:
    """Lower-case words of a prim name: ``statusLED_1`` is status, led."""
    return [word.lower() for word in _SPLIT.findall(name)]


def is_shape(node: Node) -> bool:
    """Is it a shape that may be drawn: a gprim that is not a collider?"""
    return node.is_a("Gprim") and not node.has("PhysicsCollisionAPI")


def find_named(snapshot: Snapshot, words: frozenset[str]) -> list[Place]:
    """Topmost prims with one of the words in their name that show a shape."""
    found: list[Place] = []
    inside: set[int] = set()
    quick = re.compile("|".join(sorted(words)), re.IGNORECASE)
    names = snapshot.shared("all names", lambda s: "\n".join(node.name for node in s.nodes).lower())
    if not any(word in names for word in words):
        return found
    for node in snapshot.nodes:
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
            found.append(Place(node, shapes))
    return found


def _is_drawn(node: Node, snapshot: Snapshot) -> bool:
    return bool(find_purposes(node, snapshot) - {"guide"})


def find_glowing(shapes: Iterable[Node], snapshot: Snapshot) -> list[Node]:
    """Those shapes that wear an emissive material, on the whole or on a subset of faces."""
    nodes = [part for shape in shapes for part in (shape, *_list_subsets(shape))]
    worn = find_materials(nodes, snapshot)
    return [node for node in nodes if any(material.emits for material in worn.get(node.path, ()))]


def _list_subsets(shape: Node) -> list[Node]:
    return [child for child in shape.children if child.type == "GeomSubset"]
