# SPDX-License-Identifier: Apache-2.0
"""Prims with variant sets, and what the asset itself selects (REP-0158 1.2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.checker.facts.snapshot import Node, Snapshot


def list_variant_nodes(snapshot: Snapshot) -> list[Node]:
    """Nodes with variant sets; a prototype's root stands for instances, which are nodes themselves."""
    return snapshot.shared("variant nodes", _list_variant_nodes)


def _list_variant_nodes(snapshot: Snapshot) -> list[Node]:
    if not any(facts.has_variants for facts in snapshot.layers):
        return []
    return [
        node
        for node in snapshot.nodes
        if node.prim.HasVariantSets() and not (node.in_prototype and node.parent is None)
    ]


def find_selection(prim: Usd.Prim, name: str, snapshot: Snapshot) -> str:
    """The strongest authored selection of a set in the asset's layers, "" if there is none.

    ``GetVariantSelection`` would also tell of the session layer and of fallbacks.
    """
    own = snapshot.shared("own layers", lambda s: {facts.layer.identifier for facts in s.layers})
    for spec in prim.GetPrimStack():
        if spec.layer.identifier in own and name in spec.variantSelections:
            return str(spec.variantSelections[name])
    return ""
