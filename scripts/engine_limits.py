# SPDX-License-Identifier: Apache-2.0
"""What engines cannot do themselves: ``engine_limits.toml``, read and held against what was found.

    python scripts/engine_limits.py [--engines newton,physx]

asks the engines about the example of each limit, which shows it and little else, and prints what they see; also about
the same example without the cause, where a limit has one.  Exits with 1 when an example does not show its limit, or the
one without the cause does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import simwright
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
    example: str
    without: str = ""
    """The same example without the cause, in which the engine agrees with MuJoCo: what differs is the cause."""


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


def main() -> int:
    """Every example in its engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engines", default="mujoco-usd,newton,physx", help="names with commas between")
    engines = parser.parse_args().engines.split(",")
    wrong = 0
    for limit in read_limits():
        if limit.engine in engines:
            seen = show_limit(limit, limit.example)
            found = [aspect for aspect in limit.aspects if aspect in seen]
            wrong += not found
            print(f"{'shown' if found else 'NOT SHOWN'}  {limit.engine}: {limit.reason}")
            print(*(f"    {aspect}: {text}" for aspect, text in seen.items()), sep="\n", flush=True)
            if limit.without:
                left = show_limit(limit, limit.without)
                wrong += bool(left)
                print(
                    f"    {'STILL SHOWN' if left else 'gone'} without the cause", *left.values(), flush=True
                )
    return 1 if wrong else 0


def show_limit(limit: Limit, example: str) -> dict[str, str]:
    """What an engine sees otherwise than MuJoCo in an example of a limit."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "example.xml"
        file.write_text(example)
        proof = simwright.prove(file, engines=[limit.engine], levels=["structure", "dynamics"])
    outcome = proof.columns[0].outcome
    if not outcome.loads:
        return {"loads": outcome.reason}
    return dict(outcome.differences)


if __name__ == "__main__":
    sys.exit(main())
