# SPDX-License-Identifier: Apache-2.0
"""Convert MJCF robots and tell what other engines see of them, against what MuJoCo sees of the source: a table.

    python scripts/compare_engines.py FILE.xml ... [--menagerie FOLDER] [--engines mujoco_usd,newton,physx]

``--menagerie`` takes the robots of a folder that is laid out as MuJoCo Menagerie is (scenes left out).  Engines run in
environments of their own, which ``python scripts/judge mujoco_usd newton physx`` makes.  Exits with 1 when a robot is
not the same in every engine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.engines.asking import MODULES, NotSeenError, ask, convert, find_wish, see_reference  # noqa: E402
from scripts.engines.comparing import ASPECTS, Outcome, compare, refuse  # noqa: E402
from scripts.engines.seen import Configuration, Seen  # noqa: E402

import simwright  # noqa: E402

HEADS = ("robot", "engine", "loads", *ASPECTS, "first difference")
Row = tuple[str, Outcome]


class Source(NamedTuple):
    """An MJCF file, what MuJoCo sees of it, and the configurations of the mass matrices."""

    file: Path
    reference: Seen
    configurations: list[Configuration]


def main() -> int:
    """All robots in all engines, then the table, worst first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--menagerie", type=Path, help="a folder of folders with robots")
    parser.add_argument("--engines", default=",".join(MODULES), help="names with commas between")
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one engine and one robot")
    parser.add_argument("--keep", type=Path, help="keep the converted assets in this folder")
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    if unknown := [name for name in engines if name not in MODULES]:
        parser.error(f"no engine {unknown[0]!r}; there are {', '.join(MODULES)}")
    files = [*arguments.files, *(find_robots(arguments.menagerie) if arguments.menagerie else ())]
    if not files:
        parser.error("name MJCF files, or a folder with --menagerie")
    rows: list[Row] = []
    refused: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, file in enumerate(files, 1):
            start, name = time.monotonic(), f"{file.parent.name}/{file.stem}"
            try:
                source = Source(file, *see_reference(file))
            except ValueError as error:
                refused.append(f"{name}: MuJoCo does not load it: {' '.join(str(error).split())}")
                continue
            found = judge(source, (arguments.keep or Path(scratch)) / name, engines, arguments.timeout)
            rows += [(name, outcome) for outcome in found]
            told = ", ".join(f"{outcome.engine} {outcome.reason or 'the same'}" for outcome in found)
            print(
                f"{number}/{len(files)} {name} {time.monotonic() - start:.0f} s: {told}",
                file=sys.stderr,
                flush=True,
            )
    rows.sort(key=rank, reverse=True)
    print({"text": tell_text, "md": tell_markdown, "json": tell_json}[arguments.format](rows))
    print(*refused, sep="\n", file=sys.stderr)
    return 0 if all(outcome.right for _, outcome in rows) else 1


def find_robots(folder: Path) -> list[Path]:
    """Robots of a menagerie; a scene is a robot again, with a floor."""
    found = (file for file in sorted(folder.glob("*/*.xml")) if "scene" not in file.stem)
    return [file for file in found if "<worldbody" in file.read_text()]


def judge(source: Source, folder: Path, engines: Iterable[str], seconds: float) -> list[Outcome]:
    """One robot in all engines; one that fails costs no more than its own row."""
    found, assets = [], {}
    for engine in engines:
        wish = find_wish(engine)
        try:
            if wish not in assets:
                assets[wish] = convert(source.file, folder / wish, engine)
            seen = ask(engine, assets[wish], source.configurations, seconds)
        except simwright.SimwrightError as error:
            found.append(refuse(engine, f"not converted: {error}"))
        except NotSeenError as error:
            found.append(refuse(engine, str(error)))
        else:
            found.append(compare(engine, source.reference, seen))
    return found


def rank(row: Row) -> tuple[bool, int, float]:
    """Worse is greater."""
    _, outcome = row
    return not outcome.loads, len(outcome.differences), outcome.matrix_error or 0.0


def tell_cells(row: Row) -> list[str]:
    """A row of the table: what is right, what is not, and ``-`` for what a robot has nothing of."""
    name, outcome = row
    if not outcome.loads:
        return [name, outcome.engine, "NO", *[""] * len(ASPECTS), outcome.reason]
    cells = []
    for aspect in ASPECTS:
        told = "NO" if aspect in outcome.differences else "-" if aspect in outcome.absent else "ok"
        if aspect in outcome.counts and told != "-":
            told = f"{told} {outcome.counts[aspect]}"
        if aspect == "matrix" and outcome.matrix_error is not None:
            told = f"{told} {outcome.matrix_error:.0e}"
        cells.append(told)
    return [name, outcome.engine, "ok", *cells, outcome.reason]


def tell_summary(rows: list[Row]) -> list[str]:
    """One line for each engine: how many robots load, and how many of those have each aspect right."""
    lines = []
    for engine in dict.fromkeys(outcome.engine for _, outcome in rows):
        mine = [outcome for _, outcome in rows if outcome.engine == engine]
        loaded = [outcome for outcome in mine if outcome.loads]
        parts = [f"loads {tell_share(len(loaded), len(mine))}"]
        for aspect in ASPECTS:
            having = [row for row in loaded if aspect in row.differences or aspect not in row.absent]
            right = sum(aspect not in row.differences for row in having)
            parts.append(f"{aspect} {tell_share(right, len(having))}")
        parts.append(f"all the same {tell_share(sum(row.right for row in mine), len(mine))}")
        lines.append(f"{engine}: {', '.join(parts)}")
    return lines


def tell_share(part: int, whole: int) -> str:
    """A percentage, with its numbers."""
    return f"{100 * part / whole:.0f} % ({part}/{whole})" if whole else "-"


def tell_text(rows: list[Row]) -> str:
    """Columns as wide as they need; the last one is cut."""
    table = [list(HEADS), *(tell_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEADS) - 1)]
    lines = [
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=False))
        + f"  {line[-1][:100]}"
        for line in table
    ]
    return "\n".join([*lines, "", *tell_summary(rows)])


def tell_markdown(rows: list[Row]) -> str:
    """A table for a page."""
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|")[:160] for cell in tell_cells(row)) + " |" for row in rows
    ]
    return "\n".join([*lines, "", *(f"- {line}" for line in tell_summary(rows))])


def tell_json(rows: list[Row]) -> str:
    """Everything, for programs."""
    told = [
        {
            "robot": name,
            "engine": outcome.engine,
            "loads": outcome.loads,
            "same": outcome.right,
            "differences": outcome.differences,
            "nothing_to_compare": sorted(outcome.absent),
            "mass_matrix_error": outcome.matrix_error,
            "counts": outcome.counts,
        }
        for name, outcome in rows
    ]
    return json.dumps({"robots": told, "summary": tell_summary(rows)}, indent=2)


if __name__ == "__main__":
    sys.exit(main())
