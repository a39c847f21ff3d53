# SPDX-License-Identifier: Apache-2.0
"""The engines that can be asked: rows of ``engines.toml``, and MuJoCo, which is in this process."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.core.errors import UnknownNameError
from simwright.formats.dialects import find_dialect
from simwright.prover.environments import IsolatedEnvironment

REFERENCE = "mujoco"
"""The engine of this process, which all assets can be opened in."""

FAMILY = "engines"


@dataclass(frozen=True, slots=True)
class IsolatedEngine:
    """One row of ``engines.toml``, which says what the fields mean."""

    name: str
    title: str
    worker: str
    format: str
    precision: str
    licence: str
    environment: IsolatedEnvironment
    dialect: str = ""
    proprietary: bool = False
    rounded: Sequence[str] = ()
    blank: Mapping[str, str] = field(default_factory=dict)
    solvers: Mapping[str, str] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)
    adds: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    solver: str = ""
    """The one that was chosen by ``engine:solver``, empty for the engine's own choice."""

    @property
    def writing(self) -> Mapping[str, Any]:
        """Words of ``WriteOptions`` for it: what 'simwright convert --for' tells the writer."""
        return find_dialect(self.dialect).find_words(self.format) if self.dialect else {}


@functools.cache
def list_engines() -> Mapping[str, IsolatedEngine]:
    """All rows by name, in order."""
    rows = tomllib.loads((Path(__file__).parent / "engines.toml").read_text(encoding="utf-8"))
    return {name: _make_row(name, row) for name, row in rows.items()}


def find_engine(name: str) -> IsolatedEngine:
    """One row, of ``engine`` or ``engine:solver``; an unknown name is an error that lists what there is."""
    rows = list_engines()
    engine, _, solver = name.partition(":")
    if engine not in rows:
        raise UnknownNameError("engine", name, [REFERENCE, *rows])
    row = rows[engine]
    if not solver:
        return row
    if solver not in row.solvers:
        raise UnknownNameError(f"solver of {engine}", solver, list(row.solvers))
    # what is known of the engine is known of the solver that it chooses itself
    title = f"{row.title}, {row.solvers[solver]}"
    return dataclasses.replace(row, name=name, title=title, solver=solver, known={})


def _make_row(name: str, row: dict[str, Any]) -> IsolatedEngine:
    environment = IsolatedEnvironment(
        name,
        row["title"],
        tuple(row.pop("modules")),
        tuple(row.pop("pins")),
        FAMILY,
        variables=row.pop("variables", {}),
    )
    return IsolatedEngine(name, environment=environment, **{"dialect": name, **row})
