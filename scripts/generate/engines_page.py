# SPDX-License-Identifier: Apache-2.0
"""docs/engines.md: what other engines see of converted robots, from the figures in docs/data/engines.json."""

from __future__ import annotations

import json
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

from generate import NOTE

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "data" / "engines.json"
LIMITS = ROOT / "scripts" / "engine_limits.toml"
ENGINES = {"mujoco-usd": "MuJoCo's USD reader", "newton": "Newton", "physx": "PhysX"}
ASSETS = {"mujoco-usd": "mujoco", "newton": "newton", "physx": "isaac"}
INTRO = """# What engines see

Robots of MuJoCo Menagerie (MJCF), of example-robot-data (URDF) and of PX4 and libsdformat (SDFormat), converted with
`simwright convert --for <engine>` and opened by the engines themselves, held against what MuJoCo makes of the MJCF, or
of that of the URDF or SDFormat file: degrees of freedom, base (fixed or floating), masses, inertias, drives or
actuators, armature, friction, damping, limits, poses and the mass matrix in many configurations to 1e-5.

Each engine runs in an environment and a process of its own. To run it again and write this page:

```
simwright engines install mujoco-usd newton physx --accept-licence
python scripts/compare_engines.py --menagerie FOLDER --results docs/data/engines.json
python scripts/generate_docs.py
```
"""


def generate() -> str:
    """The page."""
    told = json.loads(FIGURES.read_text())
    limits = tomllib.loads(LIMITS.read_text())["limit"]
    reasons = list(dict.fromkeys(f"{row['version']}: {row['reason']}" for row in limits))
    rows = {(row["robot"], row["engine"]): row for row in told["robots"]}
    lines = [
        NOTE + INTRO,
        f"Measured on {told['date']}. {told.get('remark', '')}".rstrip() + "\n",
        "## Summary\n",
    ]
    lines += [
        "| engine | asset | source | robots | loads | the same | limit of the engine | wrong | open |",
        "|" + "---|" * 9,
    ]
    formats = dict.fromkeys(row.get("format", "MJCF") for row in told["robots"])
    for (engine, title), source in product(ENGINES.items(), formats):
        mine = [r for r in told["robots"] if r["engine"] == engine and r.get("format", "MJCF") == source]
        if not mine:
            continue
        version = next((row["version"] for row in mine if row["version"]), title)
        counts = [sum(row["state"] == state for row in mine) for state in ("same", "limit", "wrong", "open")]
        cells = [
            f"{title} ({version})",
            f"`--for {ASSETS[engine]}`",
            source,
            len(mine),
            sum(row["loads"] for row in mine),
        ]
        lines.append(f"| {' | '.join(map(str, [*cells, *counts]))} |")
    lines.append("\n## Limits of engines\n")
    lines.append(
        "Kept in `scripts/engine_limits.toml`, each with the smallest example that shows it (`python "
        "scripts/engine_limits.py` asks the engines); one that no longer occurs fails the run.\n"
    )
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    lines += [
        "\n## Robots\n",
        f"| robot | source | {' | '.join(ENGINES.values())} |",
        "|" + "---|" * (2 + len(ENGINES)),
    ]
    sources = {row["robot"]: row.get("format", "MJCF") for row in told["robots"]}
    for robot, source in sorted(sources.items(), key=lambda row: (row[1], row[0])):
        cells = [_tell(rows.get((robot, engine)), limits, reasons) for engine in ENGINES]
        lines.append(f"| {robot} | {source} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _tell(row: dict[str, Any] | None, limits: list[dict[str, Any]], reasons: list[str]) -> str:
    """One cell: how exact the mass matrix is, or what differs, with the number of the limit."""
    if row is None:
        return ""
    if row["state"] == "same":
        error = row["mass_matrix_error"]
        return "same" if error is None else f"same ({error:.0e})"
    differing = ", ".join(row["differences"])
    if row["state"] == "open":
        return "open"
    if row["state"] == "wrong":
        return f"**{differing}**"
    mine = [limit for limit in limits if limit["engine"] == row["engine"] and row["robot"] in limit["robots"]]
    numbers = [str(1 + reasons.index(f"{limit['version']}: {limit['reason']}")) for limit in mine]
    return f"{differing} (limit {', '.join(numbers)})"
