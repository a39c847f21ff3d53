# SPDX-License-Identifier: Apache-2.0
"""Which prims of the stage may own certain properties, told by the layers that mention them.

A prim keeps its name on the stage unless an arc leads to it or it is relocated, so the names of the prims that a
layer gives a property are enough to leave all others alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.snapshot import Node, Snapshot


class Owners(NamedTuple):
    """Names of prims; ``anywhere`` where some of them have another name on the stage."""

    names: frozenset[str]
    anywhere: bool

    def may_be(self, node: Node) -> bool:
        """May a prim be one of them?  False is certain."""
        return self.anywhere or node.name in self.names


def find_owners(paths: Iterable[Sdf.Path], snapshot: Snapshot) -> Owners:
    """The owners of properties at some paths of the stage's layers (session layers are not looked at)."""
    owners = {path.GetPrimPath().StripAllVariantSelections() for path in paths}
    return Owners(frozenset(path.name for path in owners), _are_renamed(owners, snapshot))


def _are_renamed(owners: set[Sdf.Path], snapshot: Snapshot) -> bool:
    if not owners:
        return False
    arcs = [arc for facts in snapshot.layers for arc in facts.arcs if arc.kind != "sublayer"]
    if arcs and any(path.IsRootPrimPath() for path in owners):
        return True
    targets = {arc.target for arc in arcs}
    moved = any(facts.layer.HasRelocates() for facts in snapshot.layers)
    return moved or not targets.isdisjoint(owners)
