# SPDX-License-Identifier: Apache-2.0
"""Lazy tables ``name -> "module:ATTRIBUTE"``, open to third parties through entry points.

Our own rows are a visible dictionary in the room they belong to; a plugin adds rows by declaring an
entry point in the registry's group.  Nothing is imported before it is asked for, and a plugin that does not
import is a finding, not a crash.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import UnknownNameError, UsageError

T = TypeVar("T")

PLUGIN_BROKEN = declare(
    "plugin-broken",
    Level.WARNING,
    "the {group} plugin {name!r} ({target}) cannot be loaded: {reason}",
    hint="update or uninstall the package that provides it",
    doc="A package announces an extension through an entry point, but importing it fails.",
)
PLUGIN_SHADOWED = declare(
    "plugin-shadowed",
    Level.WARNING,
    "the {group} plugin {name!r} ({target}) has the name of a built-in and is ignored",
    hint="rename the entry point",
    doc="An entry point uses a name that Simwright itself provides; the built-in one stays in force.",
)


class Registry(Generic[T]):
    """A named table of lazily imported objects.

    ``what`` is the noun for messages ("format"); ``group`` the entry-point group; ``rows`` our own.
    """

    def __init__(self, what: str, group: str, rows: Mapping[str, str]) -> None:
        self.what = what
        self.group = group
        self._builtin = dict(rows)
        self._loaded: dict[str, T] = {}

    @cached_property
    def _plugins(self) -> dict[str, str]:
        from importlib.metadata import entry_points  # costs 25 ms, and `--help` does not need it

        points = entry_points(group=self.group)
        return {point.name: point.value for point in points}

    def add(self, name: str, target: str) -> None:
        """A row of ours from a higher tier; the same row twice is harmless."""
        assert self._builtin.get(name, target) == target, f"{self.what} {name!r} is there already"
        self._builtin[name] = target

    def names(self, *, plugins: bool = True) -> list[str]:
        """Every name, ours first, in table order; those of other packages only if wanted."""
        if not plugins:
            return list(self._builtin)
        # sorted: the order of entry points depends on how packages were installed
        extra = sorted(name for name in self._plugins if name not in self._builtin)
        return [*self._builtin, *extra]

    def __contains__(self, name: object) -> bool:
        return name in self._builtin or name in self._plugins

    def get(self, name: str) -> T:
        """The object called ``name``; an unknown name lists the known ones."""
        if name not in self._loaded:
            target = self._builtin.get(name) or self._plugins.get(name)
            if target is None:
                raise UnknownNameError(self.what, name, self.names())
            try:
                self._loaded[name] = cast("T", import_object(target))
            except ImportError as error:
                if name in self._builtin:
                    raise
                raise UsageError(
                    f"the {self.what} plugin {name!r} cannot be loaded: {error}",
                    hint="update or uninstall the package that provides it",
                ) from error
        return self._loaded[name]

    def items(self, reporter: Reporter | None = None) -> Iterator[tuple[str, T]]:
        """Every ``(name, object)``; a plugin that does not load is reported and left out."""
        for name in self._builtin:
            yield name, self.get(name)
        for name, target in sorted(self._plugins.items()):
            data: dict[str, Any] = {"group": self.group, "name": name, "target": target}
            if name in self._builtin:
                if reporter:
                    reporter.report(PLUGIN_SHADOWED, **data)
                continue
            try:
                yield name, self.get(name)
            except Exception as error:  # noqa: BLE001 - a stranger's import may fail in any way
                if reporter:
                    reporter.report(PLUGIN_BROKEN, **data, reason=error)


def import_object(target: str) -> object:
    """Import ``"package.module:ATTRIBUTE"``."""
    module_name, _, attribute = target.partition(":")
    module = importlib.import_module(module_name)
    return getattr(module, attribute) if attribute else module
