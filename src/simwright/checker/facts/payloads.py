# SPDX-License-Identifier: Apache-2.0
"""What of a prim is lost while payloads are not loaded (REP-0158 2.1.1, 2.2).

The answer comes from the stage itself, opened without payloads: a prim below a payload-bearing ancestor is fine
if the layers outside the payload define it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from simwright.checker.facts.snapshot import Node, Snapshot


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something that only a payload brings: ``what`` is the prim, an API or a property."""

    what: str
    name: str


def find_hidden(
    node: Node, snapshot: Snapshot, apis: Collection[str], namespaces: tuple[str, ...]
) -> Hidden | None:
    """The first thing that is missing without payloads: the prim, one of the APIs, a property, or its value."""
    unloaded = snapshot.unloaded
    if unloaded is None:
        return None
    there = unloaded.node(node.path)
    if there is None:
        return Hidden("prim", node.path)
    for api in apis:
        if not there.has(api):
            return Hidden("api", api)
    for name in node.property_names():
        if name.startswith(namespaces) and _differs(node, there, name):
            return Hidden("property", name)
    return None


def _differs(node: Node, there: Node, name: str) -> bool:
    attribute = node.prim.GetAttribute(name)
    if attribute:
        other = there.prim.GetAttribute(name)
        return not other or not other.IsAuthored() or bool(other.Get() != attribute.Get())
    return there.targets(name) != node.targets(name)
