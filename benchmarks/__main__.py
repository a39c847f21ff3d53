# SPDX-License-Identifier: Apache-2.0
"""``make bench``: run every ``bench_*.py`` and print one table: row, ratio, limit, verdict.

Exit code 0 if every row is within its limit, 1 if one is over it or a module failed, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.measure import Result

FOLDER = Path(__file__).parent
ROOT = FOLDER.resolve().parent
SEED = "BENCH_SEED"
"""Environment variable with the number that chooses what is drawn at random."""
_PACKAGES = (
    "simwright",
    "mujoco",
    "usd-core",
    "numpy",
    "lxml",
    "manifold3d",
    "pycollada",
    "trimesh",
    "PyYAML",
)
_STYLES = {"over": "red", "ok": "green"}
_EPILOG = """examples:
  python -m benchmarks                          all modules
  python -m benchmarks convert --seed 7         one module, with the robots that seed 7 draws
  python -m benchmarks run tasks --format json  figures for machines on standard output
  python -m benchmarks --results docs/data/benchmarks.json   and then: make docs

MENAGERIE_ROOT and EXAMPLE_ROBOT_DATA_ROOT name checkouts that robots are drawn from.
BENCH_JOBS_SIZE=100000 adds jobs of so many assets to the module jobs: half an hour more."""


def main(arguments: list[str]) -> int:
    """Run, print, and store the figures."""
    given = _parse(arguments)
    os.environ[SEED] = str(given.seed)
    told = Console(stderr=True, width=None if sys.stderr.isatty() else 170)
    chosen = _choose(given.names)
    modules: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(chosen, 1):
        told.print(f"[dim]\\[{number}/{len(chosen)}] {name} ...[/]")
        modules[name] = found = _run(name, told)
        over = sum(row["verdict"] == "over" for row in found["rows"])
        told.print(f"[dim]  {found['seconds']:.0f} s, {len(found['rows'])} rows, {over} over their limit[/]")
    report = {**_describe(given.seed), "modules": modules}
    for file in {Path("out/bench.json"), *([Path(given.results)] if given.results else [])}:
        _store(report, file)
        told.print(f"[dim]figures: {file}[/]")
    if given.format == "json":
        print(json.dumps(report, indent=2))
    else:
        Console(width=None if sys.stdout.isatty() else 170).print(_make_table(modules))
    failed = _list_failures(modules)
    for line in failed:
        told.print(Text(line, "red"))
    return 1 if failed else 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Ratios of CPU time against peers and floors, measured in one run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help=f"modules to run, of: {', '.join(_list_modules())}")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="what is printed")
    parser.add_argument(
        "--results", default="", metavar="FILE", help="also put the figures into FILE, beside those of others"
    )
    parser.add_argument(
        "--seed", type=int, default=_find_seed(), help="chooses what is drawn at random (default: the clock)"
    )
    return parser.parse_args(arguments)


def _find_seed() -> int:
    given = os.environ.get(SEED, "")
    return int(given) if given.isdigit() else random.SystemRandom().randrange(1, 1_000_000)


def _list_modules() -> list[str]:
    return sorted(file.stem.removeprefix("bench_") for file in FOLDER.glob("bench_*.py"))


def _choose(names: list[str]) -> list[str]:
    """The modules of these names; all whose name has the word in it where none is called so."""
    known = _list_modules()
    chosen = [name for word in names for name in ([word] if word in known else known) if word in name]
    unknown = [word for word in names if not any(word in name for name in known)]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        raise SystemExit(2)
    return list(dict.fromkeys(chosen)) if names else known


def _run(name: str, told: Console) -> dict[str, Any]:
    """Rows and remarks of one module, and how long it took; what it raises is its error, and the others go on."""
    rows: list[dict[str, Any]] = []
    remarks: list[str] = []
    error = ""
    started, before = time.monotonic(), _measure_cpu()
    try:
        for result in importlib.import_module(f"benchmarks.bench_{name}").run():
            if isinstance(result, Result):
                rows.append({**vars(result), "ratio": result.ratio, "verdict": result.verdict})
                told.print(
                    Text(f"  {result.name}: {_show_ratio(rows[-1])}", _STYLES.get(result.verdict, "dim"))
                )
            else:
                remarks.append(result.strip())
                # as plain text: an install line has brackets, which would be taken for markup
                told.print(Text(f"  {result.strip()}", "dim"))
    except Exception as failure:  # noqa: BLE001 - whatever a peer does, the other modules are measured
        error = _describe_failure(failure)
        told.print(Text(traceback.format_exc(), "red"))
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "seconds": round(time.monotonic() - started, 1),
        "cpu_seconds": round(_measure_cpu() - before, 1),
        "rows": rows,
        "remarks": remarks,
        "error": error,
    }


def _describe_failure(failure: Exception) -> str:
    """What went wrong, for a page that is published: of a command its last line, not its text with paths of here."""
    told = str(failure)
    if isinstance(failure, subprocess.CalledProcessError):
        last = str(failure.stderr or "").strip().splitlines()[-1:]
        told = f"a command ended with exit status {failure.returncode}" + "".join(
            f": {line}" for line in last
        )
    return f"{type(failure).__name__}: {told}".replace(str(ROOT), ".").replace(tempfile.gettempdir(), "TMP")[
        :500
    ]


def _measure_cpu() -> float:
    """CPU time of this process and of those it has waited for [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _show_ratio(row: dict[str, Any]) -> str:
    limit = "" if row["limit"] is None else f" (limit {row['limit']:.3g})"
    return f"{row['ratio']:.3f}{limit}"


def _describe(seed: int) -> dict[str, Any]:
    """What the figures depend on."""
    versions = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"seed": seed, "cores": len(os.sched_getaffinity(0)), "versions": versions}


def _store(report: dict[str, Any], file: Path) -> None:
    """Write the figures; those of modules that were not run now stay."""
    file.parent.mkdir(parents=True, exist_ok=True)
    earlier = json.loads(file.read_text()) if file.is_file() else {}
    known = earlier.get("modules", {}) if isinstance(earlier, dict) else {}
    modules = dict(sorted({**known, **report["modules"]}.items()))
    file.write_text(json.dumps({**report, "modules": modules}, indent=2) + "\n")


def _make_table(modules: dict[str, dict[str, Any]]) -> Table:
    table = Table(title="CPU time", title_justify="left")
    table.add_column("what")
    for title in ("ratio", "limit", "verdict", "ours [ms]", "reference [ms]"):
        table.add_column(title, justify="right")
    table.add_column("against")
    table.add_column("note")
    for found in modules.values():
        for row in found["rows"]:
            style = _STYLES.get(row["verdict"], "")
            times = (f"{row[key] * 1e3:.2f}" for key in ("seconds", "reference_seconds"))
            limit = "" if row["limit"] is None else f"{row['limit']:.3g}"
            ratio = Text(f"{row['ratio']:.3f}", style)
            verdict = Text(row["verdict"], style)
            table.add_row(row["name"], ratio, limit, verdict, *times, row["reference"], row["note"])
        table.add_section()
    return table


def _list_failures(modules: dict[str, dict[str, Any]]) -> list[str]:
    over = [
        f"over the limit: {row['name']} against {row['reference']}: {_show_ratio(row)}"
        for found in modules.values()
        for row in found["rows"]
        if row["verdict"] == "over"
    ]
    return over + [f"failed: {name}: {found['error']}" for name, found in modules.items() if found["error"]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
