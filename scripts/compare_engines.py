# SPDX-License-Identifier: Apache-2.0
"""``simwright prove`` of many robots: a table of what other engines see otherwise than MuJoCo.

    python scripts/compare_engines.py FILE ... [--menagerie FOLDER] [--engines mujoco-usd,newton,physx]
    python scripts/compare_engines.py FILE ... --levels structure,dynamics,motion,ros --results docs/data/proofs.json

``--menagerie`` takes the robots of a folder that is laid out as MuJoCo Menagerie is (scenes left out).  Engines are
those that ``simwright engines install`` has installed.  ``--results FILE`` keeps the rows in a file, where they take
the place of earlier ones of the same robot and engine: ``docs/engines.md`` is made of ``docs/data/engines.json``, and
``docs/proofs.md`` of ``docs/data/proofs.json``, which has all levels.  What an engine itself cannot do is listed in
``scripts/engine_limits.toml``.  Exits with 1 when a robot is not the same in an engine for another reason, or a limit
that is listed does not occur.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.engine_limits import apply_limits, read_limits  # noqa: E402

import simwright  # noqa: E402
from simwright.checker.cache import hash_tool  # noqa: E402
from simwright.prover.answers import open_answers  # noqa: E402
from simwright.prover.aspects import ASPECTS, Outcome  # noqa: E402
from simwright.prover.caching import ROOMS, open_proof_cache, prove_cached  # noqa: E402
from simwright.prover.processes import EnginePool  # noqa: E402
from simwright.prover.proving import Column, Proof, ProofSettings  # noqa: E402
from simwright.prover.table import find_engine  # noqa: E402

LEVELS = ("structure", "dynamics")
"""What is compared unless asked otherwise, and shown in the table: motions of many robots would take hours."""
COLUMNS = tuple(name for name, aspect in ASPECTS.items() if aspect.level in LEVELS)
HEADS = ("robot", "engine", "loads", *COLUMNS, "first difference")
Row = tuple[str, Outcome]


def main() -> int:
    """All robots in all engines, then the table, worst first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--menagerie", type=Path, help="a folder of folders with robots")
    parser.add_argument("--engines", default="mujoco-usd,newton,physx", help="names with commas between")
    parser.add_argument("--levels", default=",".join(LEVELS), help="names with commas between")
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one engine and one robot")
    parser.add_argument("--results", type=Path, help="a JSON file of rows to add to")
    parser.add_argument("--list", type=Path, help="a file with the names of further files, one in each line")
    parser.add_argument("--shard", default="1/1", help="I/N: every Nth robot, beginning with the Ith")
    parser.add_argument("--no-cache", action="store_true", help="ask every engine again")
    parser.add_argument("--keep", type=Path, help="keep the converted assets in this folder")
    arguments = parser.parse_args()
    engines = arguments.engines.split(",")
    levels = arguments.levels.split(",")
    try:
        for name in engines:
            find_engine(name)
    except simwright.SimwrightError as error:
        parser.error(str(error))
    files = [*arguments.files, *(find_robots(arguments.menagerie) if arguments.menagerie else ())]
    if arguments.list:
        files += [Path(line) for line in arguments.list.read_text().split("\n") if line.strip()]
    if not files:
        parser.error("name files, or a folder with --menagerie")
    first, _, count = arguments.shard.partition("/")
    files = files[int(first) - 1 :: int(count)]
    rows: list[Row] = []
    refused: list[str] = []
    settings = ProofSettings(tuple(engines), tuple(levels), seconds=arguments.timeout)
    cache = open_proof_cache(not arguments.no_cache)
    pool = EnginePool(settings.seconds, open_answers(not arguments.no_cache))
    for number, file in enumerate(files, 1):
        start, name = time.monotonic(), find_name(file)
        keep = arguments.keep / name if arguments.keep else None
        try:
            proof = prove_cached(simwright.load(file), settings, cache, folder=keep, pool=pool)
        except simwright.SimwrightError as error:
            refused.append(f"{name}: {error}")
            continue
        found = [column.outcome for column in proof.columns]
        for outcome in found:
            apply_limits(read_limits(), name, outcome)
        rows += [(name, outcome) for outcome in found]
        if arguments.results:
            save(arguments.results, file, name, proof)
        told = ", ".join(f"{outcome.engine} {outcome.reason or 'the same'}" for outcome in found)
        print(
            f"{number}/{len(files)} {name} {time.monotonic() - start:.0f} s: {told}",
            file=sys.stderr,
            flush=True,
        )
    pool.end()
    rows.sort(key=rank, reverse=True)
    print({"text": tell_text, "md": tell_markdown, "json": tell_json}[arguments.format](rows))
    print(*refused, sep="\n", file=sys.stderr)
    print(*(f"{name} {outcome.engine}: {text}" for name, outcome in rows for text in outcome.gone), sep="\n")
    return 0 if all(outcome.state != "wrong" and not outcome.gone for _, outcome in rows) else 1


def find_name(file: Path) -> str:
    """How a robot is called: by its folder and file, and by its format too where the folder has it in several."""
    twins = [one for one in file.parent.glob(f"{file.stem}.*") if one.suffix in FORMATS]
    return f"{file.parent.name}/{file.name if len(twins) > 1 else file.stem}"


def find_robots(folder: Path) -> list[Path]:
    """Robots of a menagerie; a scene is a robot again, with a floor."""
    found = (file for file in sorted(folder.glob("*/*.xml")) if "scene" not in file.stem)
    return [file for file in found if "<worldbody" in file.read_text()]


def rank(row: Row) -> tuple[bool, int, float]:
    """Worse is greater."""
    _, outcome = row
    return not outcome.loads, len(outcome.differences), outcome.errors.get("matrix", 0.0)


def tell_cells(row: Row) -> list[str]:
    """A row of the table: what is right, what is not, and ``-`` for what a robot has nothing of."""
    name, outcome = row
    if not outcome.loads:
        return [name, outcome.engine, "NO", *[""] * len(COLUMNS), outcome.reason]
    cells = []
    for aspect in COLUMNS:
        told = "NO" if aspect in outcome.differences else "-" if aspect in outcome.absent else "ok"
        if aspect in outcome.blank:
            told = ""
        if aspect in outcome.counts and told not in ("-", ""):
            told = f"{told} {outcome.counts[aspect]}"
        if aspect in outcome.errors and told:
            told = f"{told} {outcome.errors[aspect]:.0e}"
        cells.append(told)
    return [name, outcome.engine, "ok", *cells, outcome.reason]


def tell_summary(rows: list[Row]) -> list[str]:
    """One line for each engine: how many robots load, and how many of those have each aspect right."""
    lines = []
    for engine in dict.fromkeys(outcome.engine for _, outcome in rows):
        mine = [outcome for _, outcome in rows if outcome.engine == engine]
        loaded = [outcome for outcome in mine if outcome.loads]
        parts = [f"loads {tell_share(len(loaded), len(mine))}"]
        for aspect in COLUMNS:
            told = [row for row in loaded if aspect not in row.blank]
            having = [row for row in told if aspect in row.differences or aspect not in row.absent]
            right = sum(aspect not in row.differences for row in having)
            parts.append(f"{aspect} {tell_share(right, len(having))}")
        parts.append(f"all the same {tell_share(sum(row.right for row in mine), len(mine))}")
        parts.append(f"a limit of the engine {sum(row.state == 'limit' for row in mine)}")
        parts.append(f"wrong {sum(row.state == 'wrong' for row in mine)}")
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
    return json.dumps({"robots": [describe(row) for row in rows], "summary": tell_summary(rows)}, indent=2)


def describe(row: Row) -> dict[str, Any]:
    """One row as plain data."""
    name, outcome = row
    return {
        "robot": name,
        "engine": outcome.engine,
        "version": outcome.version,
        "loads": outcome.loads,
        "state": outcome.state,
        "differences": outcome.differences,
        "limits": outcome.limits,
        "nothing_to_compare": sorted(outcome.absent),
        "mass_matrix_error": outcome.errors.get("matrix"),
        "counts": outcome.counts,
    }


def save(file: Path, source: Path, name: str, proof: Proof) -> None:
    """Add rows to a file of figures; those of other robots stay, and one that was asked more of the same source.

    Aspects that differ are named, no parts of robots.
    """
    with file.open("a+") as lock:
        # shards write the same file
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        told = json.loads(lock.read() or '{"robots": []}')["robots"]
        table = {(row["robot"], row["engine"]): row for row in told}
        for column in proof.columns:
            row = describe_column(source, name, column) | {"levels": list(proof.settings.levels)}
            known = table.get((name, column.outcome.engine), {})
            if known.get("source") != row["source"] or not set(row["levels"]) < set(known.get("levels", ())):
                table[name, column.outcome.engine] = row
        ordered = [table[key] for key in sorted(table)]
        lock.truncate(0)
        lock.write(tell_rows(f"{datetime.now(UTC):%Y-%m-%d}", ordered))


def tell_rows(date: str, rows: list[dict[str, Any]]) -> str:
    """A file of figures, with a line for each row: there are hundreds."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"date": {json.dumps(date)}, "robots": [\n{lines}\n]}}\n'


def describe_column(source: Path, name: str, column: Column) -> dict[str, Any]:
    """One row of a file of figures."""
    row = {**describe((name, column.outcome)), "differences": sorted(column.outcome.differences)}
    row["format"] = FORMATS.get(source.suffix, source.suffix)
    row["source"] = hash_tool(ROOMS)[
        :12
    ]  # of Simwright: rows of several states of it are not one measurement
    row |= describe_answers(column)
    if column.motions:
        row["motion"] = describe_motions(column)
    if not column.outcome.loads:
        row["why"] = {"loads": column.outcome.reason}
    return row


FORMATS = {".xml": "MJCF", ".urdf": "URDF", ".sdf": "SDF", ".usda": "OpenUSD", ".usd": "OpenUSD"}


def describe_answers(column: Column) -> dict[str, Any]:
    """How far numbers are off, what cannot be told, and why what differs does."""
    outcome = column.outcome
    return {
        "seconds": round(column.seconds, 1),
        "errors": {name: float(f"{error:.1e}") for name, error in outcome.errors.items()},
        "blank": sorted(outcome.blank),
        "causes": {name: cause.word for name, cause in sorted(column.causes.items())},
        "why": {name: cause.text for name, cause in sorted(column.causes.items())},
    }


def describe_motions(column: Column) -> dict[str, Any]:
    """What came of every scenario that the robot has something for."""
    return {
        name: {
            "state": result.state,
            "error": float(f"{result.error:.1e}"),
            "half": float(f"{result.error_half:.1e}"),
            "left": float(f"{result.remainder:.1e}"),
            "tolerance": float(f"{result.tolerance:.1e}"),
            "because": result.reason if result.state == "blank" else "",
        }
        for name, result in column.motions.items()
        if result.state != "none"
    }


if __name__ == "__main__":
    sys.exit(main())
