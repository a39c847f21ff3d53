# SPDX-License-Identifier: Apache-2.0
"""``make bench``: run every ``bench_*.py`` (or those named on the command line) and print one table."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.measure import Result

FOLDER = Path(__file__).parent


def main(names: list[str]) -> int:
    """Run, print, and store the figures in out/bench.json."""
    modules = sorted(p.stem for p in FOLDER.glob("bench_*.py"))
    chosen = [m for m in modules if not names or any(name in m for name in names)]
    if not chosen:
        sys.exit(f"no benchmark matches {names}; there are: {', '.join(m[6:] for m in modules)}")
    console = Console(width=None if sys.stdout.isatty() else 170)
    results: list[Result] = []
    for module in chosen:
        console.print(f"[dim]running {module[6:]} ...[/]")
        for result in importlib.import_module(f"benchmarks.{module}").run():
            if isinstance(result, str):
                console.print(result)
            else:
                results.append(result)
    table = Table(title="CPU time, best of several runs", title_justify="left")
    table.add_column("what")
    for title in ("ours [ms]", "reference [ms]", "ratio", "limit"):
        table.add_column(title, justify="right")
    table.add_column("against")
    table.add_column("note")
    for r in results:
        style = {"over": "red", "ok": "green"}.get(r.verdict, "")
        limit = "" if r.limit is None else f"{r.limit:g}"
        ratio = Text(f"{r.ratio:.3f}", style)
        ours, theirs = f"{r.seconds * 1e3:.2f}", f"{r.reference_seconds * 1e3:.2f}"
        table.add_row(r.name, ours, theirs, ratio, limit, r.reference, r.note)
    console.print(table)
    out = Path("out/bench.json")
    out.parent.mkdir(exist_ok=True)
    rows = [{**vars(r), "ratio": r.ratio, "verdict": r.verdict} for r in results]
    out.write_text(json.dumps(rows, indent=2) + "\n")
    console.print(f"figures: {out}")
    over = [r.name for r in results if r.verdict == "over"]
    if over:
        console.print(f"[red]over the limit: {', '.join(over)}[/]")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
