# SPDX-License-Identifier: Apache-2.0
"""The dialect of each engine: the formats it reads, and how they have to be written for it (``dialects.toml``)."""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import UnknownNameError, UsageError


@dataclass(frozen=True, slots=True)
class EngineDialect:
    """What one engine reads.

    ``formats`` maps names of the format table, the usual one first, to words of
    :class:`~simwright.formats.format.WriteOptions`.
    """

    name: str
    title: str
    formats: Mapping[str, Mapping[str, Any]]

    @property
    def usual(self) -> str:
        """The format that is written where nothing else is said."""
        return next(iter(self.formats))

    def find_words(self, format_name: str) -> Mapping[str, Any]:
        """What the writer of a format is told for this engine; raises a UsageError for a format it does not read."""
        if format_name not in self.formats:
            advice = f"what is written for it is {' or '.join(self.formats)}"
            raise UsageError(f"{format_name} is not what {self.title} is given", hint=advice)
        return self.formats[format_name]


@functools.cache
def list_dialects() -> Mapping[str, EngineDialect]:
    """All of them by the name of the engine."""
    rows = tomllib.loads((Path(__file__).parent / "dialects.toml").read_text(encoding="utf-8"))
    return {name: EngineDialect(name, row.pop("title"), row) for name, row in rows.items()}


def find_dialect(engine: str) -> EngineDialect:
    """The dialect of an engine; an unknown name is an error that names the near ones."""
    rows = list_dialects()
    if engine not in rows:
        raise UnknownNameError("engine", engine, rows)
    return rows[engine]


def choose_format(target: str | os.PathLike[str], to: str | None, engine: str) -> str | None:
    """The format to write for an engine: ``to`` where it is said, else the engine's usual one for a folder.

    None where the name of the target decides, and where the name of the engine is empty.
    """
    if to or not engine:
        return to
    path = Path(target)
    dialect = find_dialect(engine)
    return None if path.suffix and not path.is_dir() else dialect.usual


def fit_words(words: Mapping[str, Any], format_name: str, where: Where | None = None) -> dict[str, Any]:
    """Words of ``WriteOptions`` with what the engine ``for_`` needs of a format; what else is said counts before it."""
    engine = words.get("for_", "")
    if not engine:
        return dict(words)
    try:
        needed = find_dialect(engine).find_words(format_name)
    except UsageError as error:
        error.where = error.where or where
        raise
    # writers but that of OpenUSD know no engines
    said = {name: value for name, value in words.items() if name != "for_"}
    return {**needed, **said}
