# SPDX-License-Identifier: Apache-2.0
"""docs/proofs.md: known robots proven in every engine, at all levels, from the figures in docs/data/proofs.json."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from generate import NOTE
from simwright.prover.aspects import ASPECTS, LEVELS
from simwright.prover.motion import SCENARIOS

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "data" / "proofs.json"

INTRO = """# Known robots, proven in every engine

`simwright prove` with all levels on robots of MuJoCo Menagerie and on other public files in MJCF, URDF, SDF and
OpenUSD, held against MuJoCo. Structure and names have to be equal, poses, mass matrix and bias equal to 1e-5 (single
precision) or 1e-9; motion is done at 1 ms and 0.5 ms, and what is left of its error for a timestep of zero has to be
below the tolerance of the scenario ([proving](prove.md)).

A cell of the tables of motion is the error that is left, empty where the robot has nothing of the kind or the engine or
its format cannot do it, and in bold with its cause where it differs. Meshes that a public archive lacks are boxes
of their size. To run it again and write this page:

```
simwright engines install mujoco-usd newton physx drake pybullet pinocchio dart sapien --accept-licence
python scripts/compare_engines.py FILE ... --results docs/data/proofs.json --levels structure,dynamics,motion,ros \\
    --engines mujoco-usd,newton,physx,drake,drake:tamsi,pybullet,dart,pinocchio,sapien
python scripts/generate_docs.py
```
"""


def generate() -> str:
    """The page."""
    told = json.loads(FIGURES.read_text())
    rows = told["robots"]
    engines = list(dict.fromkeys(row["engine"] for row in sorted(rows, key=lambda row: row["engine"])))
    lines = [NOTE + INTRO, _tell_measured(told["date"], rows, engines), "## Summary\n"]
    lines += [
        "| engine | version | robots | loads | structure | dynamics | motion | names |",
        "|" + "---|" * 8,
    ]
    lines += [_summarize(engine, [row for row in rows if row["engine"] == engine]) for engine in engines]
    lines += ["\nShares are robots without a difference, of those that can be told.", "\n## Causes\n"]
    lines += ["| engine | cause | aspects | what `prove` says of it |", "|---|---|---|---|"]
    lines += _list_causes(rows, engines)
    for name, scenario in SCENARIOS.items():
        lines += _tell_scenario(name, scenario.title, rows, engines)
    lines += _tell_structure(rows, engines)
    return "\n".join(lines) + "\n"


def _tell_measured(date: str, rows: list[dict[str, Any]], engines: list[str]) -> str:
    """When, how many robots of which formats, and whether all of it is one measurement."""
    robots = {row["robot"]: row.get("format", "") for row in rows}
    formats = Counter(robots.values())
    told = ", ".join(f"{count} in {name}" for name, count in sorted(formats.items()))
    counts = Counter(row["robot"] for row in rows)
    whole = sum(count == len(engines) for count in counts.values())
    states = {row.get("source", "") for row in rows}
    one = "on one state of the source" if len(states) == 1 else f"on {len(states)} states of the source"
    asked = f"{whole} of them in all {len(engines)} columns" if whole < len(robots) else "all in all columns"
    moved = {row["robot"] for row in rows if "motion" in row.get("levels", LEVELS)}
    levels = f"; motion was asked of {len(moved)}" if len(moved) < len(robots) else ""
    return f"Measured on {date}, {one}: {len(robots)} robots ({told}), {asked}{levels}.\n"


def _summarize(engine: str, rows: list[dict[str, Any]]) -> str:
    version = next((row["version"] for row in rows if row["version"]), "")
    loaded = [row for row in rows if row["loads"]]
    cells: list[object] = [f"`{engine}`", version, len(rows), len(loaded)]
    for level in ("structure", "dynamics", "motion", "ros"):
        names = [name for name, aspect in ASPECTS.items() if aspect.level == level]
        asked = [row for row in loaded if level in row.get("levels", LEVELS)]
        told = [row for row in asked if any(_is_told(row, name) for name in names)]
        right = sum(not set(names) & set(row["differences"]) for row in told)
        cells.append(f"{right}/{len(told)}" if told else "")
    return f"| {' | '.join(map(str, cells))} |"


def _is_told(row: dict[str, Any], name: str) -> bool:
    return name in row["differences"] or not (
        name in row.get("blank", ()) or name in row["nothing_to_compare"]
    )


def _list_causes(rows: list[dict[str, Any]], engines: list[str]) -> list[str]:
    """Every cause in every engine: how often, and the sentence that is said most often."""
    lines = []
    for engine in engines:
        found: dict[str, Counter[str]] = {}
        texts: dict[str, Counter[str]] = {}
        for row in rows:
            if row["engine"] != engine:
                continue
            for aspect in row["differences"]:
                word = "no answer" if aspect == "loads" else row.get("causes", {}).get(aspect, "not known")
                found.setdefault(word, Counter())[aspect] += 1
                texts.setdefault(word, Counter()).update(filter(None, [row.get("why", {}).get(aspect)]))
        for word, aspects in sorted(found.items()):
            told = ", ".join(f"{name} {count}" for name, count in sorted(aspects.items()))
            text = next((text for text, _ in texts[word].most_common(1)), "").replace("|", "\\|")
            lines.append(f"| `{engine}` | {word} | {told} | {text} |")
    return lines


def _tell_scenario(name: str, title: str, rows: list[dict[str, Any]], engines: list[str]) -> list[str]:
    mine = [row for row in rows if name in row.get("motion", {})]
    robots = sorted({row["robot"] for row in mine})
    columns = [engine for engine in engines if any(row["engine"] == engine for row in mine)]
    if not robots:
        return []
    table = {(row["robot"], row["engine"]): row for row in mine}
    lines = [
        f"\n## Motion: {title}\n",
        f"| robot | {' | '.join(columns)} |",
        "|" + "---|" * (1 + len(columns)),
    ]
    for robot in robots:
        cells = [_tell_motion(table.get((robot, engine)), name) for engine in columns]
        lines.append(f"| {robot} | {' | '.join(cells)} |")
    return lines


def _tell_motion(row: dict[str, Any] | None, name: str) -> str:
    if row is None:
        return ""
    result = row["motion"][name]
    if result["state"] == "blank":
        return ""
    if result["state"] == "differs":
        return f"**{row['causes'].get(name, 'not known')}** {result['left']:.0e}"
    return f"{result['left']:.0e}"


def _tell_structure(rows: list[dict[str, Any]], engines: list[str]) -> list[str]:
    """Errors of mass matrix and bias, or what differs."""
    names = [name for name, aspect in ASPECTS.items() if aspect.level != "motion"]
    table = {(row["robot"], row["engine"]): row for row in rows}
    formats = {row["robot"]: row.get("format", "") for row in rows}
    lines = ["\n## Structure and dynamics\n", "The error of the mass matrix, or what differs.\n"]
    lines += [f"| robot | format | {' | '.join(engines)} |", "|" + "---|" * (2 + len(engines))]
    for robot in sorted(formats):
        cells = []
        for engine in engines:
            row = table.get((robot, engine))
            if row is None:
                cells.append("")
                continue
            wrong = [name for name in ("loads", *names) if name in row["differences"]]
            error = row["mass_matrix_error"]
            cells.append(f"**{', '.join(wrong)}**" if wrong else "same" if error is None else f"{error:.0e}")
        lines.append(f"| {robot} | {formats[robot]} | {' | '.join(cells)} |")
    return lines
