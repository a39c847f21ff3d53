# SPDX-License-Identifier: Apache-2.0
"""What a prim loses when payloads are not loaded: itself, an API, or the value of a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.check.snapshot import Node, Snapshot


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is missing: ``what`` is ``prim``, ``api`` or ``property``; ``name`` that of the API or property."""

    what: str
    name: str = ""


def find_hidden(
    node: Node, snapshot: Snapshot, apis: Sequence[str], namespaces: tuple[str, ...]
) -> Hidden | None:
    """The first thing that a node has only with payloads loaded; None if it lacks nothing.

    ``apis`` are those to look for, ``namespaces`` the prefixes (``"ros:context:"``) of properties to compare.
    """
    unloaded = snapshot.unloaded
    if unloaded is None:
        return None
    twin = unloaded.node(node.path)
    if twin is None:
        return Hidden("prim")
    for api in apis:
        if api not in twin.apis:
            return Hidden("api", api)
    for name in node.property_names():
        if name.startswith(namespaces) and node.authored(name) != twin.authored(name):
            return Hidden("property", name)
    return None
