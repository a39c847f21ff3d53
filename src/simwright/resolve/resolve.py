# SPDX-License-Identifier: Apache-2.0
"""Precedence: which of several schemas decides a value.

1. What is authored: the resolvers are asked in order; a transform that gives nothing asks the next.
2. The importer's default, if the caller has one.
3. The fallback of the first schema that has one.

Several keys may be given where one is more general than the other; the first key that anyone authors wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simwright.model.origins import Lost, Origin, Resolved
from simwright.resolve.resolver import SchemaResolver
from simwright.resolve.table import SI, Authored, PrimType, Row, Scale
from simwright.resolve.transforms import UNSET


def resolve(
    resolvers: Sequence[SchemaResolver],
    authored: Authored,
    prim: PrimType,
    keys: str | Sequence[str],
    *,
    default: Any = None,
    scale: Scale = SI,
    angular: bool = False,
) -> Resolved:
    """The value of a key through all three layers."""
    keys = (keys,) if isinstance(keys, str) else keys
    found = resolve_authored(resolvers, authored, prim, keys, default=default, scale=scale, angular=angular)
    if found is not None:
        return found
    if default is not None:
        return Resolved(default, Origin.IMPORTER)
    for resolver, row in _list_rows(resolvers, prim, keys):
        value = row.read_default(scale, angular=angular)
        if value is not None:
            known = None if value is UNSET else value
            return Resolved(known, Origin.SCHEMA, resolver.name, row.attribute)
    return Resolved()


def resolve_authored(
    resolvers: Sequence[SchemaResolver],
    authored: Authored,
    prim: PrimType,
    keys: Sequence[str],
    *,
    default: Any = None,
    scale: Scale = SI,
    angular: bool = False,
) -> Resolved | None:
    """The first layer only; None where nobody authored anything.

    An authored "use your own default" gives the default, as the importer's.
    """
    hits: list[Lost] = []
    for resolver, row in _list_rows(resolvers, prim, keys):
        value = row.read(authored, scale, angular=angular)
        if value is not None:
            hits.append(Lost(resolver.name, row.attribute, value))
    if not hits:
        return None
    (namespace, attribute, value), *rest = hits
    lost = tuple(hit._replace(value=None) if hit.value is UNSET else hit for hit in rest)
    if value is UNSET:
        return Resolved(default, Origin.IMPORTER, namespace, attribute, lost)
    return Resolved(value, Origin.AUTHORED, namespace, attribute, lost)


def _list_rows(
    resolvers: Sequence[SchemaResolver], prim: PrimType, keys: Sequence[str]
) -> Iterator[tuple[SchemaResolver, Row]]:
    for key in keys:
        for resolver in resolvers:
            for row in resolver.rows_of(prim, key):
                yield resolver, row
