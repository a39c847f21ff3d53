# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md: every row of ``make bench`` from the figures in docs/data/benchmarks.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generate import NOTE

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "data" / "benchmarks.json"

INTRO = """# Benchmarks

`make bench` measures CPU time against peers (other projects that do the same) and floors (what the libraries below us
take alone), always as a ratio of two measurements of the same run, taken in turns. So figures of a slow or busy
machine can be read too. A row with a limit fails the run when its ratio is over it; the others are there for reading,
mostly how time grows with size. Rows about memory show MiB where the others show milliseconds.

Robots are drawn at random from checkouts of [MuJoCo Menagerie](https://github.com/google-deepmind/mujoco_menagerie)
and [example-robot-data](https://github.com/Gepetto/example-robot-data), other ones in every run. To repeat it, and to
write this page:

```
export MENAGERIE_ROOT=... EXAMPLE_ROBOT_DATA_ROOT=...
python -m benchmarks --seed {seed} --results docs/data/benchmarks.json
python scripts/generate_docs.py
```

`python -m benchmarks convert run` runs two modules, `--format json` prints the figures, and the exit code is 1 where a
row is over its limit.
"""


def generate() -> str:
    """The page."""
    told = json.loads(FIGURES.read_text())
    modules: dict[str, dict[str, Any]] = told["modules"]
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    rows = [row for module in modules.values() for row in module["rows"]]
    limited = [row for row in rows if row["verdict"]]
    over = [row for row in limited if row["verdict"] == "over"]
    cpu = sum(module["cpu_seconds"] for module in modules.values())
    lines = [
        NOTE + INTRO.format(seed=told["seed"]),
        f"Measured with {versions}, on {told['cores']} cores, in {cpu / 60:.1f} minutes of CPU time.\n",
        f"{len(rows)} rows, {len(limited)} with a limit, {len(over)} over it"
        + (": " + "; ".join(f"{row['name']} ({row['ratio']:.3f})" for row in over) if over else "")
        + ".",
    ]
    known = {file.stem.removeprefix("bench_") for file in (ROOT / "benchmarks").glob("bench_*.py")}
    missing = sorted(known - set(modules))
    if missing:
        lines.append(f"\nNot measured yet: {', '.join(missing)}.")
    for name, module in modules.items():
        lines += _tell_module(name, module)
    return "\n".join(lines) + "\n"


def _tell_module(name: str, module: dict[str, Any]) -> list[str]:
    lines = [f"\n## {name}\n", f"Measured on {module['date']}.\n"]
    if module["rows"]:
        lines += ["| what | ratio | limit | verdict | against | note |", "|---|--:|--:|---|---|---|"]
    for row in module["rows"]:
        limit = "" if row["limit"] is None else f"{row['limit']:.3g}"
        verdict = f"**{row['verdict']}**" if row["verdict"] == "over" else row["verdict"]
        cells = (row["name"], f"{row['ratio']:.3f}", limit, verdict, row["reference"], row["note"])
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        f"\n- {remark}" if number == 0 else f"- {remark}" for number, remark in enumerate(module["remarks"])
    ]
    return lines + ([f"\nFailed: {module['error']}"] if module["error"] else [])
