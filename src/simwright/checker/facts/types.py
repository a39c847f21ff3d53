# SPDX-License-Identifier: Apache-2.0
"""Which schema types a prim type derives from, asked of OpenUSD once per type."""

from __future__ import annotations

from functools import cache

from pxr import Usd


@cache
def find_bases(type_name: str) -> frozenset[str]:
    """Schema type names a typed prim is a kind of, its own included; its bare name if unregistered."""
    registry = Usd.SchemaRegistry
    kind = registry.GetTypeFromSchemaTypeName(type_name)
    # a schema whose plugin is not installed: the name is all that is known
    if not kind or kind.isUnknown:
        return frozenset((type_name,)) if type_name else frozenset()
    names = {type_name}
    for base in kind.GetAllAncestorTypes():
        name = registry.GetSchemaTypeName(base)
        if name:
            names.add(name)
    return frozenset(names)


@cache
def find_heads(apis: tuple[str, ...]) -> frozenset[str]:
    """Applied API names, multiple-apply ones both with and without their instance name."""
    return frozenset((*apis, *(name.partition(":")[0] for name in apis)))
