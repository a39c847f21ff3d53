# SPDX-License-Identifier: Apache-2.0
"""Prims that core physics is about: Physics types, and prims with a Physics API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


def list_physics_nodes(snapshot: Snapshot) -> list[Node]:
    """Nodes of a Physics type or with a Physics API, those in prototypes included."""
    return snapshot.shared("physics nodes", _list_physics_nodes)


def _list_physics_nodes(snapshot: Snapshot) -> list[Node]:
    kinds = {
        kind
        for kind in snapshot.kinds()
        if kind[0].startswith("Physics") or any(api.startswith("Physics") for api in kind[1])
    }
    return [node for node in snapshot.nodes if node.sort.kind in kinds]
