# SPDX-License-Identifier: Apache-2.0
"""Schema resolvers: the rows of one solver by key, the registry of solvers, and which of several schemas decides.

A new solver is one file of rows and one line in :data:`RESOLVERS`; a package of its own announces the file
(or a :class:`SchemaResolver` subclass) as an entry point in the group ``simwright.resolvers``.  Either way it is in
:data:`DEFAULT_ORDER`, and so read by every command, function and engine.

Precedence:

1. What is authored: the resolvers are asked in order; a transform that gives nothing asks the next.
2. The importer's default, if the caller has one.
3. The fallback of the first schema that has one: the solvers in their order, then the neutral schemas, which nobody
   named.

Several keys may be given where one is more general than the other; the first key that anyone authors wins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, Final

import simwright.resolve.mjc as mjc  # noqa: PLR0402
import simwright.resolve.newton as newton  # noqa: PLR0402
import simwright.resolve.physx as physx  # noqa: PLR0402
import simwright.resolve.usdphysics as usdphysics  # noqa: PLR0402
from simwright.core.errors import UsageError
from simwright.core.registry import Registry
from simwright.model.asset import Asset
from simwright.model.extras import Lost, Origin, Resolved
from simwright.resolve.table import (
    LENGTH,
    MARGIN_LESS_GAP,
    SI,
    UNSET,
    AuthoredAttributes,
    PrimType,
    Row,
    Scale,
    ValueForm,
)

# "from simwright.resolve import mjc" would name the package too, whose __init__ imports this file: a circle.


class SchemaResolver:
    """The rows of one solver and the namespaces whose attributes are its own.

    ``title`` is its name in prose.  ``precedence`` orders the solvers of other packages behind ours, the smallest
    first.
    """

    def __init__(
        self,
        name: str,
        rows: Iterable[Row],
        namespaces: Iterable[str] = (),
        *,
        title: str = "",
        precedence: int = 100,
    ) -> None:
        self.name = name
        self.title = title or name
        self.precedence = precedence
        self.rows = tuple(rows)
        self.namespaces = tuple(dict.fromkeys((name, *namespaces)))
        self._index: dict[tuple[PrimType, str], tuple[Row, ...]] = {}
        for row in self.rows:
            # Several rows may say one key; the first in the file is asked first.
            place = row.prim, row.key
            self._index[place] = (*self._index.get(place, ()), row)
        self._names = {name for row in self.rows for name in row.attributes}

    def rows_of(self, prim: PrimType, key: str) -> tuple[Row, ...]:
        """The rows for a key; an earlier one is asked first."""
        return self._index.get((prim, key), ())

    def keys(self, prim: PrimType) -> list[str]:
        """The keys a kind of prim can have."""
        return list(dict.fromkeys(row.key for row in self.rows if row.prim is prim))

    def get_value(
        self,
        authored: AuthoredAttributes,
        prim: PrimType,
        key: str,
        scale: Scale = SI,
        *,
        angular: bool = False,
    ) -> Any:
        """The authored value of a key in SI and radians, None if there is none."""
        for row in self.rows_of(prim, key):
            value = row.read(authored, scale, angular=angular)
            if value is not None:
                return None if value is UNSET else value
        return None

    def owns(self, attribute: str) -> bool:
        """Is the attribute one of this solver's?"""
        # Also by name: PhysX reads attributes of namespaces that others share (state:, drive:).
        return attribute.partition(":")[0] in self.namespaces or attribute in self._names

    def collect(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """This solver's share of the attributes of a prim."""
        return {name: value for name, value in attributes.items() if self.owns(name)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class SchemaResolverNewton(SchemaResolver):
    """Newton's own schemas."""

    def __init__(self) -> None:
        super().__init__(newton.NAME, newton.ROWS, newton.NAMESPACES, title=newton.TITLE)


class SchemaResolverPhysx(SchemaResolver):
    """PhysX schemas and joint state."""

    def __init__(self) -> None:
        super().__init__(physx.NAME, physx.ROWS, physx.NAMESPACES, title=physx.TITLE)


class SchemaResolverMjc(SchemaResolver):
    """MuJoCo schemas.  With ``legacy_margin_gap``, the margin includes the gap (MuJoCo before 3.9)."""

    def __init__(self, *, legacy_margin_gap: bool = False) -> None:
        rows = mjc.ROWS
        if legacy_margin_gap:
            # MuJoCo 3.9 took the gap out of the margin.
            rows = tuple(_LEGACY_MARGIN if (r.prim, r.key) == _MARGIN else r for r in rows)
        super().__init__(mjc.NAME, rows, mjc.NAMESPACES, title=mjc.TITLE)


class SchemaResolverNeutral(SchemaResolver):
    """The extended physics schemas, which belong to no solver and come before all of them."""

    def __init__(self) -> None:
        super().__init__(usdphysics.NAME, usdphysics.ROWS, usdphysics.NAMESPACES)


RESOLVERS: Registry[Any] = Registry(
    "schema resolver",
    "simwright.resolvers",
    {
        "newton": "simwright.resolve.newton",
        "physx": "simwright.resolve.physx",
        "mjc": "simwright.resolve.mjc",
    },
)


class RegisteredOrder(Sequence[str]):
    """The names of all registered solvers: ours in the order of the table, then plugins by precedence and name.

    It is looked up when it is asked for, so that it can be a default argument.  A plugin that does not load is left
    out.
    """

    def __getitem__(self, index: Any) -> Any:
        return self._list()[index]

    def __len__(self) -> int:
        return len(self._list())

    def __repr__(self) -> str:
        return repr(self._list())

    def _list(self) -> tuple[str, ...]:
        ours = RESOLVERS.names(plugins=False)
        found: list[tuple[int, str]] = []
        # Names of plugins follow ours in the registry.
        for name in RESOLVERS.names()[len(ours) :]:
            with contextlib.suppress(
                Exception
            ):  # a stranger's file may fail in any way; who asks for it is told
                found.append((find_resolver(name).precedence, name))
        return (*ours, *(name for _, name in sorted(found)))


DEFAULT_ORDER: Final = RegisteredOrder()
"""Every solver that is known, so that nothing authored is left unread."""
NEUTRAL: Final = SchemaResolverNeutral()

_MARGIN = (PrimType.SHAPE, "margin")
_LEGACY_MARGIN = Row(
    PrimType.SHAPE,
    "margin",
    ("mjc:margin", "mjc:gap"),
    "MjcCollisionAPI",
    LENGTH,
    (0.0, 0.0),
    MARGIN_LESS_GAP,
    doc="Thickness added to the surface (MuJoCo before 3.9).",
)
_made: dict[str, SchemaResolver] = {}


def make_resolvers(order: Sequence[str | SchemaResolver]) -> tuple[SchemaResolver, ...]:
    """Resolvers in order of priority, the neutral schemas in front; names are looked up."""
    chosen = [entry if isinstance(entry, SchemaResolver) else find_resolver(entry) for entry in order]
    names = [resolver.name for resolver in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"the resolver order names {twice[0]!r} twice", hint="name each solver once")
    # What is said in neutral words is said for every solver, so it comes first.
    return (NEUTRAL, *(resolver for resolver in chosen if resolver is not NEUTRAL))


def find_resolver(name: str) -> SchemaResolver:
    """The resolver called ``name``; an unknown name lists the known ones."""
    if name not in _made:
        _made[name] = _make(name, RESOLVERS.get(name))
    return _made[name]


def _make(name: str, found: Any) -> SchemaResolver:
    """A resolver from a file of rows, a class or an instance."""
    if isinstance(found, SchemaResolver):
        return found
    if isinstance(found, type) and issubclass(found, SchemaResolver):
        return found()  # type: ignore[call-arg]  # subclasses take no arguments
    if isinstance(found, ModuleType) and hasattr(found, "ROWS"):
        return SchemaResolver(
            name,
            found.ROWS,
            getattr(found, "NAMESPACES", ()),
            title=getattr(found, "TITLE", ""),
            precedence=getattr(found, "PRECEDENCE", 100),
        )
    raise UsageError(
        f"the schema resolver {name!r} is {found!r}, which holds no rows",
        hint="an entry point of simwright.resolvers names a module with ROWS or a SchemaResolver",
    )


def schema_attrs(
    asset: Asset, resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER
) -> dict[str, dict[str, dict[str, Any]]]:
    """Every authored attribute of each solver, by prim, in the units of the stage.

    Prims without any are left out.  Attributes are collected on all prims, also on free bodies and on
    materials, where Newton looks only if it takes a value from them.
    """
    chosen = [entry if isinstance(entry, SchemaResolver) else find_resolver(entry) for entry in resolvers]
    result: dict[str, dict[str, dict[str, Any]]] = {resolver.name: {} for resolver in chosen}
    owners: dict[str, list[dict[str, dict[str, Any]]]] = {}
    for elements in asset.extras.table.values():
        for prim, attributes in elements.items():
            for attribute, extra in attributes.items():
                known = owners.get(attribute)
                if known is None:
                    # An attribute may belong to several solvers, and is then listed for each.
                    known = [result[resolver.name] for resolver in chosen if resolver.owns(attribute)]
                    owners[attribute] = known
                for held in known:
                    if prim in held:
                        held[prim][attribute] = extra[0]
                    else:
                        held[prim] = {attribute: extra[0]}
    return result


class ResolverOrder:
    """Resolvers in order of priority, with the rows of every question looked up once."""

    def __init__(self, resolvers: Sequence[SchemaResolver]) -> None:
        self.resolvers = tuple(resolvers)
        self._rows: dict[tuple[PrimType, str | tuple[str, ...]], list[tuple[str, Row, str]]] = {}
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
        for namespace, row, attribute in rows:
            # A fallback that leaves the value to the engine is one, too.
            if row.default is not None:
                value = row.read_default(scale, angular=angular)
                known = None if value is UNSET else value
                return Resolved(known, Origin.SCHEMA, namespace, attribute)
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
        for namespace, row, attribute in rows:
            # A row of one attribute is not asked in vain: most questions have a row of every solver.
            if len(row.attributes) == 1 and authored.get(attribute) is None:
                continue
            value = row.read(authored, scale, angular=angular)
            if value is not None:
                hits.append(Lost(namespace, attribute, value))
        if not hits:
            return None
        namespace, attribute, value = hits[0]
        # What else was authored is kept, so that the user can be told who was not heard.
        rest = hits[1:]
        lost = (
            tuple([hit._replace(value=None) if hit.value is UNSET else hit for hit in rest]) if rest else ()
        )
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

    def _find_rows(self, prim: PrimType, keys: str | tuple[str, ...]) -> list[tuple[str, Row, str]]:
        """Namespace, row and attributes of every row that may answer, in order of priority."""
        place = prim, keys
        rows = self._rows.get(place)
        if rows is None:
            rows = self._rows[place] = [
                (resolver.name, row, row.attribute)
                for key in ((keys,) if isinstance(keys, str) else keys)
                for resolver in self.resolvers
                for row in resolver.rows_of(prim, key)
            ]
            self._named[place] = frozenset(name for _, row, _ in rows for name in row.attributes)
        return rows


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
