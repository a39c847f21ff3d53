# SPDX-License-Identifier: Apache-2.0
"""What the model has no word for: solver attributes and custom attributes, kept with their origin.

Also where a value came from when several schemas could have said it (:class:`Resolved`).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from simwright.core.diag import NOWHERE, Where
from simwright.model.display import Shown


class Extra(NamedTuple):
    """A value and where it was written: a place, or file, prim and property, of which few are ever asked for."""

    value: Any
    place: Where | tuple[str, str, str] = NOWHERE

    @property
    def source(self) -> Where:
        """Where it was written."""
        if isinstance(self.place, Where):
            return self.place
        file, prim, prop = self.place
        return Where(file, prim=prim, prop=prop)


@dataclass(slots=True, repr=False)
class Extras(Shown):
    """Untranslated attributes: ``namespace -> element -> attribute -> Extra``.

    The namespace is a solver or format (``mjc``, ``physx``, ``newton``, ``gazebo`` ...), the element a prim
    path or a model name.
    """

    table: dict[str, dict[str, dict[str, Extra]]] = field(default_factory=dict)

    def keep(self, namespace: str, element: str, attribute: str, value: Any, source: Where = NOWHERE) -> None:
        """Store one attribute."""
        rows = self.table.setdefault(namespace, {}).setdefault(element, {})
        rows[attribute] = Extra(value, source)

    def keep_prim(self, namespace: str, file: str, prim: str, values: Iterable[tuple[str, Any]]) -> None:
        """Store attributes of a prim."""
        rows = self.table.setdefault(namespace, {}).setdefault(prim, {})
        # by tuple itself: a stage keeps thousands, and the class takes twice as long to make one
        make = tuple.__new__
        rows.update([(name, make(Extra, (value, (file, prim, name)))) for name, value in values])

    def get(self, namespace: str, element: str, attribute: str, default: Any = None) -> Any:
        """One value, or the default."""
        extra = self.table.get(namespace, {}).get(element, {}).get(attribute)
        return default if extra is None else extra.value

    def values(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The same table without provenance."""
        return {
            space: {el: {name: x.value for name, x in attrs.items()} for el, attrs in elements.items()}
            for space, elements in self.table.items()
        }

    def __iter__(self) -> Iterator[tuple[str, str, str, Extra]]:
        for space, elements in self.table.items():
            for element, attributes in elements.items():
                for attribute, extra in attributes.items():
                    yield space, element, attribute, extra

    def __len__(self) -> int:
        return sum(len(a) for elements in self.table.values() for a in elements.values())

    def __bool__(self) -> bool:
        return bool(self.table)


@dataclass(slots=True, repr=False)
class CustomAttribute(Shown):
    """A user-declared per-element array (Newton's custom attributes).

    ``assignment`` is model, state, control or contact; ``frequency`` names the element it counts over
    (body, shape, joint, joint_dof, joint_coord, articulation, once, world).  ``type`` is bool, int (32 bit),
    int64, float, string, vec2-4, ivec2-4, quat (w, x, y, z) or mat2-4 (rows), with ``[]`` for an array.
    ``values`` has what elements say by name, per joint a list for joint_dof and joint_coord; the others have
    the default, which is the one value where it is said once.
    """

    name: str
    assignment: str
    frequency: str
    type: str
    default: Any
    namespace: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    source: Where = NOWHERE

    @property
    def key(self) -> str:
        """The name with its namespace."""
        return f"{self.namespace}:{self.name}" if self.namespace else self.name


class Origin(enum.StrEnum):
    """The layer that decided: the asset, the importer's caller, the schema's fallback, or nobody."""

    AUTHORED = "authored"
    IMPORTER = "importer default"
    SCHEMA = "schema default"
    NONE = "none"


class Lost(NamedTuple):
    """A value that was authored too but did not count."""

    namespace: str
    attribute: str
    value: Any


@dataclass(frozen=True, slots=True)
class Resolved:
    """A value in SI and radians, the layer, the schema namespace and the attribute(s) it came from.

    ``lost`` holds the other authored values, in order of priority, in the same units.
    """

    value: Any = None
    origin: Origin = Origin.NONE
    namespace: str = ""
    attribute: str = ""
    lost: tuple[Lost, ...] = ()


Origins: TypeAlias = dict[str, dict[str, Resolved]]
"""Element path -> key -> where its value came from."""


def is_fallback(origins: Origins, element: str, key: str) -> bool:
    """Does only a schema's fallback say the value?  Then a writer need not say it for the asset."""
    found = origins.get(element, {}).get(key)
    return found is not None and found.origin is Origin.SCHEMA
