# SPDX-License-Identifier: Apache-2.0
"""Solver attributes as they were authored: ``{solver: {prim path: {attribute: value}}}``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simwright.model.asset import Asset
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver, find_resolver


def schema_attrs(
    asset: Asset, resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER
) -> dict[str, dict[str, dict[str, Any]]]:
    """Every authored attribute of each solver, by prim, in the units of the stage.

    Prims without any are left out.  Attributes are collected on all prims, also on free bodies and on
    materials, where Newton looks only if it takes a value from them.
    """
    chosen = [entry if isinstance(entry, SchemaResolver) else find_resolver(entry) for entry in resolvers]
    result: dict[str, dict[str, dict[str, Any]]] = {resolver.name: {} for resolver in chosen}
    for _, prim, attribute, extra in asset.extras:
        for resolver in chosen:
            if resolver.owns(attribute):
                result[resolver.name].setdefault(prim, {})[attribute] = extra.value
    return result
