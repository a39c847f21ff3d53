# SPDX-License-Identifier: Apache-2.0
"""Categories of furniture and objects, from the metadata files that a world names."""

from __future__ import annotations

from dataclasses import dataclass, field

from simwright.core.diag import NOWHERE, Where
from simwright.worlds.document import WorldEntry


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    """What all tables, or all apples, have in common: ``entry`` is the mapping of the file, read when it is used."""

    name: str
    entry: WorldEntry = field(repr=False)
    where: Where = NOWHERE
