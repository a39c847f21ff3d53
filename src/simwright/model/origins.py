# SPDX-License-Identifier: Apache-2.0
"""Where a value came from when several schemas could have said it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias


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
