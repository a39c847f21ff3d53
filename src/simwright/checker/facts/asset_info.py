# SPDX-License-Identifier: Apache-2.0
"""The assetInfo dictionary of the default prim, as the asset's own layers author it (REP-0158 1.2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Snapshot


def read_asset_info(snapshot: Snapshot) -> dict[str, Any] | None:
    """The dictionary, empty if nothing is authored; None where there is no default prim to ask."""
    return snapshot.shared("asset info", _read_asset_info)


def _read_asset_info(snapshot: Snapshot) -> dict[str, Any] | None:
    node = snapshot.default_node
    if node is None:
        return None
    own = {facts.layer.identifier for facts in snapshot.layers}
    found: dict[str, Any] = {}
    for spec in node.prim.GetPrimStack():
        if spec.layer.identifier in own:
            for key, value in dict(spec.assetInfo).items():
                found.setdefault(key, value)
    return found


def find_stray_attribute(snapshot: Snapshot, key: str) -> str:
    """The name of an attribute that was written where the metadata is meant (``assetInfo:version``), or ""."""
    node = snapshot.default_node
    name = f"assetInfo:{key}"
    return name if node is not None and node.prim.HasAttribute(name) else ""
