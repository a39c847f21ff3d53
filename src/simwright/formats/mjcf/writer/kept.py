# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's own attributes as the readers kept them, and which of them were written again.

The MJCF reader keeps ``solref`` of ``geom/pad``, the OpenUSD reader ``mjc:solref`` of a prim path; both are asked for
by the plain name.  Elements without a prim are spoken of elsewhere in a stage, by kind and name:
``mjc:light:lamp:mode``, ``mjc:visual:headlight:ambient``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from simwright.core.diag import NOWHERE, Where
from simwright.core.names import make_identifier
from simwright.formats.mjcf.reader import NAMESPACE
from simwright.model.asset import Asset

_JSON = ":json"


class KeptElement(Protocol):
    """An element of the model whose attributes may have been kept: by its name, or by its prim."""

    name: str
    source: Where


class KeptAttributes:
    """Looks attributes up by element and notes what was used."""

    def __init__(self, asset: Asset) -> None:
        self._table = asset.extras.table.get(NAMESPACE, {})
        # what was asked for counts as written; the rest is reported as lost
        self._used: set[tuple[str, str]] = set()
        self._aliases: dict[str, dict[str, tuple[str, str]]] = {}
        # the same by key, for those that were asked for: making an alias of a key takes long
        self._spoken: dict[str, dict[str, tuple[str, str]]] = {}
        for key, rows in self._table.items():
            # keys of a stage are prim paths; those of the MJCF reader are family/name
            for name in rows if key.startswith("/") else ():
                words = name.removesuffix(_JSON).split(":")
                if words[0] == NAMESPACE and len(words) > 2:
                    alias, attribute = _find_alias(words[1:])
                    self._aliases.setdefault(alias, {})[attribute] = (key, name)

    def get(self, element: KeptElement, family: str, attribute: str, default: Any = None) -> Any:
        """The value an element was read with."""
        found = self._find(list_keys(element, family), attribute)
        return default if found is None else found

    def _find(self, keys: list[str], attribute: str) -> Any:
        for key in keys:
            found = self.take(key, attribute)
            if found is not None:
                return found
        return None

    def get_all(self, element: KeptElement, family: str, attributes: Sequence[str]) -> dict[str, Any]:
        """Those of some attributes that an element was read with."""
        # mostly nothing is kept
        keys = [key for key in list_keys(element, family) if key in self._table or self._find_spoken(key)]
        if not keys:
            return {}
        found = {name: self._find(keys, name) for name in attributes}
        return {name: value for name, value in found.items() if value is not None}

    def take(self, key: str, attribute: str) -> Any:
        """The value under a key, None if there is none; it counts as written."""
        rows = self._table.get(key)
        # mostly nothing is kept: thousands are asked
        if rows is not None:
            # the MJCF reader keeps plain names, the OpenUSD reader those with the namespace
            for name in (attribute, f"{NAMESPACE}:{attribute}", f"{NAMESPACE}:{attribute}{_JSON}"):
                if name in rows:
                    return self._use(key, name)
            ends = [rows.get(f"{NAMESPACE}:{attribute}:{end}") for end in ("min", "max")]
            # schemas have the two ends of a range as attributes of their own
            if ends[0] is not None and ends[1] is not None:
                self._used.update((key, f"{NAMESPACE}:{attribute}:{end}") for end in ("min", "max"))
                return [float(end.value) for end in ends if end is not None]
        place = self._find_spoken(key).get(attribute)
        return None if place is None else self._use(*place)

    def _find_spoken(self, key: str) -> dict[str, tuple[str, str]]:
        """What is said elsewhere about an element: key and name by attribute."""
        if not self._aliases:
            return {}
        found = self._spoken.get(key)
        if found is None:
            found = self._spoken[key] = self._aliases.get(_make_alias(key), {})
        return found

    def _use(self, key: str, name: str) -> Any:
        """The value of an attribute, which counts as written; tables are text in a stage."""
        self._used.add((key, name))
        value = self._table[key][name].value
        if not name.endswith(_JSON) or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        # anybody may edit a text
        except (ValueError, RecursionError):
            return None

    def take_all(self, key: str) -> dict[str, Any]:
        """Every attribute under a key, all counted as written."""
        rows = self._table.get(key, {})
        spoken = self._find_spoken(key)
        self._used.update((key, name) for name in rows)
        values = {name: self._use(*place) for name, place in spoken.items()}
        return values | {name: extra.value for name, extra in rows.items()}

    def find_keys(self, prefix: str) -> list[str]:
        """Keys of a family, in the order they were read."""
        return [key for key in (*self._table, *self._aliases) if key.startswith(prefix)]

    def find_name(self, key: str) -> str:
        """The name of an element that is only kept; in a stage it is noted where it is not an identifier."""
        return str(self.take(key, "name") or key.partition("/")[2])

    def find_place(self, key: str) -> Where:
        """Where the attributes under a key were written."""
        return next((extra.source for extra in self._table.get(key, {}).values()), NOWHERE)

    def mark_written(self, key: str, *attributes: str) -> None:
        """Count attributes as written by other means."""
        for attribute in attributes:
            self.take(key, attribute)

    def list_unused(self) -> Iterator[str]:
        """Attributes that nobody asked for."""
        for key, rows in self._table.items():
            for name in rows:
                if (key, name) not in self._used:
                    yield f"{key} {name}"


def list_keys(element: KeptElement, family: str) -> list[str]:
    """Where the attributes of an element may be kept."""
    path = getattr(element, "path", "")  # that of a tendon is its course
    path = path if isinstance(path, str) else ""
    keys = [path, f"{family}/{element.name}", element.source.prim]
    if family == "geom":
        keys.append(path.rpartition("/")[0])  # the instance whose mesh it is
    return [key for key in dict.fromkeys(keys) if key]


def _find_alias(words: list[str]) -> tuple[str, str]:
    """Key and attribute of something spoken of elsewhere."""
    # groups and attributes of <visual> are one key with a dot, as the MJCF reader has them
    if words[0] == "visual":
        return "visual", ".".join(words[1:])
    if len(words) == 2:
        return words[0], words[1]
    return f"{words[0]}/{words[1]}", ":".join(words[2:])


def _make_alias(key: str) -> str:
    """A key as it can be part of an attribute's name."""
    family, slash, name = key.partition("/")
    return f"{family}/{make_identifier(name)}" if slash and family else key
