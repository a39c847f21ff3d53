# SPDX-License-Identifier: Apache-2.0
"""Precedence: which of several schemas decides a value.

1. What is authored: the resolvers are asked in order; a transform that gives nothing asks the next.
2. The importer's default, if the caller has one.
3. The fallback of the first schema that has one: the solvers in their order, then the neutral schemas, which nobody
   named.

Several keys may be given where one is more general than the other; the first key that anyone authors wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from simwright.model.origins import Lost, Origin, Resolved
from simwright.resolve.resolver import NEUTRAL, SchemaResolver
from simwright.resolve.table import SI, AuthoredAttributes, PrimType, Row, Scale, ValueForm
from simwright.resolve.transforms import UNSET


class ResolverOrder:
    """Resolvers in order of priority, with the rows of every question looked up once."""

    def __init__(self, resolvers: Sequence[SchemaResolver]) -> None:
        self.resolvers = tuple(resolvers)
        self._rows: dict[tuple[PrimType, str | tuple[str, ...]], list[tuple[str, Row]]] = {}
        self._named: dict[tuple[PrimType, str | tuple[str, ...]], frozenset[str]] = {}
        self._keys: dict[PrimType, list[str]] = {}
        self._sayings: dict[str, list[tuple[PrimType, str]]] = {}
        self._forms: dict[str, ValueForm] = {}
        # Looked up once for all prims: a stage asks the same questions thousands of times.
        for row in (row for resolver in self.resolvers for row in resolver.rows):
            for name, form in row.list_forms():
                self._forms[name] = form
                self._sayings.setdefault(name, []).append((row.prim, row.key))

    def resolve(
        self,
        authored: AuthoredAttributes,
        prim: PrimType,
        keys: str | tuple[str, ...],
        *,
        default: Any = None,
        scale: Scale = SI,
        angular: bool = False,
    ) -> Resolved:
        """The value of a key through all three layers."""
        found = self.resolve_authored(authored, prim, keys, default=default, scale=scale, angular=angular)
        if found is not None:
            return found
        if default is not None:
            return Resolved(default, Origin.IMPORTER)
        # The neutral schemas come first where something is authored, but last here: a solver that was named knows its
        # own default better.
        rows = sorted(self._find_rows(prim, keys), key=lambda place: place[0] == NEUTRAL.name)
        for namespace, row in rows:
            value = row.read_default(scale, angular=angular)
            if value is not None:
                known = None if value is UNSET else value
                return Resolved(known, Origin.SCHEMA, namespace, row.attribute)
        return Resolved()

    def resolve_authored(
        self,
        authored: AuthoredAttributes,
        prim: PrimType,
        keys: str | tuple[str, ...],
        *,
        default: Any = None,
        scale: Scale = SI,
        angular: bool = False,
    ) -> Resolved | None:
        """The first layer only; None where nobody authored anything.

        An authored "use your own default" gives the default, as the importer's.
        """
        rows = self._find_rows(prim, keys)
        # Most prims author nothing of a question; this is the fast way out.
        if isinstance(authored, dict) and self._named[prim, keys].isdisjoint(authored):
            return None
        hits: list[Lost] = []
        for namespace, row in rows:
            value = row.read(authored, scale, angular=angular)
            if value is not None:
                hits.append(Lost(namespace, row.attribute, value))
        if not hits:
            return None
        (namespace, attribute, value), *rest = hits
        # What else was authored is kept, so that the user can be told who was not heard.
        lost = tuple(hit._replace(value=None) if hit.value is UNSET else hit for hit in rest)
        # "Use your own default" is an answer: lower resolvers are not asked.
        if value is UNSET:
            return Resolved(default, Origin.IMPORTER, namespace, attribute, lost)
        return Resolved(value, Origin.AUTHORED, namespace, attribute, lost)

    def keys(self, prim: PrimType) -> list[str]:
        """Every key that any of the resolvers knows for a kind of prim."""
        known = self._keys.get(prim)
        if known is None:
            keys = (key for resolver in self.resolvers for key in resolver.keys(prim))
            known = self._keys[prim] = list(dict.fromkeys(keys))
        return known

    def find_said(self, authored: Iterable[str], prim: PrimType) -> set[str]:
        """The keys that some of the authored attributes are about; all others have no authored value."""
        sayings = self._sayings
        return {key for name in authored for kind, key in sayings.get(name, ()) if kind is prim}

    def forms(self) -> Mapping[str, ValueForm]:
        """What each attribute of the tables has to hold."""
        return self._forms

    def _find_rows(self, prim: PrimType, keys: str | tuple[str, ...]) -> list[tuple[str, Row]]:
        place = prim, keys
        if place not in self._rows:
            self._rows[place] = [
                (resolver.name, row)
                for key in ((keys,) if isinstance(keys, str) else keys)
                for resolver in self.resolvers
                for row in resolver.rows_of(prim, key)
            ]
            named = (name for _, row in self._rows[place] for name in row.attributes)
            self._named[place] = frozenset(named)
        return self._rows[place]


@lru_cache(maxsize=32)
def make_order(resolvers: tuple[SchemaResolver, ...]) -> ResolverOrder:
    """The order of these resolvers; the same one for the same resolvers, with what it has looked up."""
    return ResolverOrder(resolvers)


def resolve(
    resolvers: Sequence[SchemaResolver],
    authored: AuthoredAttributes,
    prim: PrimType,
    keys: str | tuple[str, ...],
    *,
    default: Any = None,
    scale: Scale = SI,
    angular: bool = False,
) -> Resolved:
    """The value of a key through all three layers, for a single question."""
    return ResolverOrder(resolvers).resolve(
        authored, prim, keys, default=default, scale=scale, angular=angular
    )
