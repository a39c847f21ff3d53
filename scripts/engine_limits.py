# SPDX-License-Identifier: Apache-2.0
"""What engines cannot do themselves: ``engine_limits.toml``, read and held against what was found."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from simwright.prover.aspects import Outcome

FILE = Path(__file__).with_name("engine_limits.toml")


@dataclass(frozen=True)
class Limit:
    """One row of the file; it holds for the robots that it names, and for these aspects of them."""

    engine: str
    version: str
    reason: str
    aspects: tuple[str, ...]
    robots: tuple[str, ...]


@cache
def read_limits(file: Path = FILE) -> tuple[Limit, ...]:
    """All rows."""
    rows = tomllib.loads(file.read_text())["limit"]
    return tuple(
        Limit(**{**row, "aspects": tuple(row["aspects"]), "robots": tuple(row["robots"])}) for row in rows
    )


def apply_limits(limits: tuple[Limit, ...], robot: str, outcome: Outcome) -> None:
    """Give the reasons of what differs; a limit that does not occur any more is ``gone``."""
    for limit in limits:
        if limit.engine != outcome.engine or robot not in limit.robots:
            continue
        found = [aspect for aspect in limit.aspects if aspect in outcome.differences]
        outcome.limits |= dict.fromkeys(found, limit.reason)
        if not found:
            outcome.gone.append(
                f"take it out of {FILE.name}: {limit.version} has no longer the limit: {limit.reason}"
            )
