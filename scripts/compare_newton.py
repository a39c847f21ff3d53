#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold what Simwright puts into a Newton builder against what Newton's own importer does, stage by stage.

    python scripts/compare_newton.py fields STAGE ... [--orders n,npm,pnm,mnp] [--bare] [--results FILE] [--seconds 400]
    python scripts/compare_newton.py move STAGE ... [--steps 200] [--orders n,npm] [--write]
    python scripts/compare_newton.py report FILE

``fields`` imports each stage twice, with every default of ``add_usd`` (``--bare``: without visual shapes), and compares
every list of the builder and every entry of the returned dictionary.  Results are appended to FILE, one line for each
stage and order, so that a long list can be done in portions; what is there already is not done again.  ``report``
prints the fields that differ, those of most stages first, with the row of ``docs/newton-differences.md`` that names the
reason; exit code 1 if a difference has no row.

``move`` imports without visuals, steps both with SolverMuJoCo, with contacts (and a floor) and without, and prints the
largest difference of joint coordinates and the CPU time of both imports; exit code 1 if one is above 1e-5.  Where one
is, the row also has how far Newton's own import ends from itself if it begins 1e-7 beside.  ``--write`` puts the rows
into the table of motions in ``docs/newton-differences.md``; rows of other stages stay there.

Runs in the judge environment ``newton``.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import fnmatch
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
PAGE = REPO / "docs" / "newton-differences.md"
ORDERS = "n,npm,pnm,mnp"
MOST = 1e-5
GROUND = 0.0
"""Height of the floor that a robot falls on or stands on with contacts [m]."""
_BARE = " bare"
"""What stands behind the order of an import without visual shapes."""
_NEAR = 1e-5
_ROUNDED = 1e-6
_ROUNDING = 1e-7
"""What single precision leaves of a coordinate."""
_PLACED = frozenset(
    {
        "body_q",
        "body_com",
        "body_qd",
        "joint_q",
        "joint_qd",
        "joint_X_p",
        "joint_X_c",
        "joint_axis",
        "shape_transform",
    }
)
"""Lists of places and rates, of which single precision leaves 1e-6."""
_ROW = re.compile(
    r"^\| (?P<field>`[^|]+`) \| (?P<elements>`[^|]+`) \| (?P<stages>`[^|]+`) \| (?P<why>[^|]+) \|$"
)


def main(arguments: list[str]) -> int:
    """Compare all stages, in the environment of Newton if this interpreter has none."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    fields = commands.add_parser("fields", help="compare builders")
    fields.add_argument("stages", nargs="+", type=Path)
    fields.add_argument("--orders", default=ORDERS, help="orders of resolvers by first letters")
    fields.add_argument("--bare", action="store_true", help="without visual shapes")
    fields.add_argument("--results", type=Path, help="a file to append to")
    fields.add_argument(
        "--seconds", type=float, default=float("inf"), help="CPU time after which no stage is begun"
    )
    moves = commands.add_parser("move", help="compare motions")
    moves.add_argument("stages", nargs="+", type=Path)
    moves.add_argument("--steps", type=int, default=200)
    moves.add_argument("--orders", default="n")
    moves.add_argument("--write", action="store_true", help="put the rows into the page")
    report = commands.add_parser("report", help="print what differs")
    report.add_argument("file", type=Path)
    report.add_argument("--all", action="store_true", help="every difference, not one example")
    asked = parser.parse_args(arguments)
    if asked.command == "report":
        lines = asked.file.read_text(encoding="utf-8").splitlines()
        return print_fields([json.loads(line) for line in lines], every=asked.all)
    try:
        import newton  # noqa: F401 - asked for
    except ImportError:
        return _start_in_environment(arguments)
    if asked.command == "move":
        rows = [(stage, order) for stage in asked.stages for order in asked.orders.split(",")]
        motions = [compare_motion(*row, asked.steps) for row in rows]
        if asked.write:
            write_motions(motions)
        return int(max(motion.apart for motion in motions) > MOST)
    orders = [f"{order}{_BARE * asked.bare}" for order in asked.orders.split(",")]
    return compare_all(asked.stages, orders, asked.results, asked.seconds)


def _start_in_environment(arguments: list[str]) -> int:
    sys.path.insert(0, str(REPO / "scripts" / "judge"))
    from environments import hold_all, list_judges

    judge = list_judges()["newton"]
    with hold_all(judge, lambda text: print(text, file=sys.stderr)) as interpreters:
        variables = os.environ | judge.make_variables() | {"PYTHONPATH": str(REPO / "src")}
        command = [str(interpreters[0]), str(Path(__file__).resolve()), *arguments]
        return subprocess.run(command, env=variables, check=False).returncode


def compare_all(stages: list[Path], orders: list[str], file: Path | None, seconds: float) -> int:
    """Compare builders, append what is found to a file, and print it where there is none."""
    known = [json.loads(line) for line in file.read_text().splitlines()] if file and file.exists() else []
    done = {(entry["stage"], entry["order"]) for entry in known}
    found = []
    for stage in stages:
        for order in orders:
            if (name_stage(stage), order) in done or time.process_time() > seconds:
                continue
            entry = compare_fields(stage, order)
            found.append(entry)
            if file:
                with file.open("a") as out:
                    out.write(json.dumps(entry) + "\n")
    return 0 if file else print_fields(found)


def name_stage(stage: Path) -> str:
    """The name of a stage in tables: its folder and its stem."""
    return f"{stage.resolve().parent.name}/{stage.stem}"


def compare_fields(stage: Path, order: str) -> dict[str, Any]:
    """All differences of one import: field, element, our value and theirs."""
    words = {"load_visual_shapes": False} if order.endswith(_BARE) else {}
    letters = order.removesuffix(_BARE)
    entry: dict[str, Any] = {"stage": name_stage(stage), "order": order, "refused": "", "differences": []}
    try:
        theirs = fill(stage, letters, ours=False, **words)
    except Exception as error:  # noqa: BLE001 - Newton's importer may fail in any way
        entry["refused"] = f"{type(error).__name__}: {error}"[:200]
        theirs = None
    try:
        ours = fill(stage, letters, ours=True, **words)
    except Exception as error:  # noqa: BLE001 - to be counted, whatever it is
        if theirs is not None:
            entry["differences"] = [["import", "", f"{type(error).__name__}: {error}"[:200], "imported"]]
        return entry
    if theirs is not None:
        differences = list_differences(describe(*ours), describe(*theirs))
        entry["differences"] = list(name_prims(stage, differences))
    return entry


def name_prims(stage: Path, differences: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """The differences, with what each prim of a solver attribute is, so that reasons can be about kinds of prims."""
    from pxr import Usd

    opened = Usd.Stage.Open(str(stage))
    for field, element, *values in differences:
        if field.startswith("result schema_attrs"):
            solver, _, rest = element.partition(" ")
            path, _, name = rest.partition(".")
            kind = find_kind(opened.GetPrimAtPath(path))
            yield [field, f"{solver} {kind} {path}.{name}", *values]
        else:
            yield [field, element, *values]


def find_kind(prim: Any) -> str:
    """``collider``, ``site``, ``visual`` (other geometry), or the type of a prim."""
    from pxr import UsdGeom

    if not prim:
        return "nothing"
    apis = prim.GetPrimTypeInfo().GetAppliedAPISchemas()
    if "PhysicsCollisionAPI" in apis:
        return "collider"
    if {"MjcSiteAPI", "NewtonSiteAPI"} & set(apis):
        return "site"
    return "visual" if prim.IsA(UsdGeom.Gprim) else str(prim.GetTypeName())


def fill(stage: Path, order: str, *, ours: bool, **words: Any) -> tuple[Any, dict[str, Any]]:
    """A builder with the stage in it, and what the importer returned."""
    import newton

    from simwright.engines.newton import add_usd

    kinds = newton.usd.SchemaResolverNewton, newton.usd.SchemaResolverPhysx, newton.usd.SchemaResolverMjc
    made = dict(zip("npm", kinds, strict=True))
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    add = add_usd if ours else newton.ModelBuilder.add_usd
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = add(builder, str(stage), schema_resolvers=[made[letter]() for letter in order], **words)
    return builder, result


Tables = dict[str, dict[str, Any]]
"""Values by field and element."""

_INDEX = {
    "shape_body": "body", "joint_parent": "body", "joint_child": "body", "joint_mimic_joint": "joint",
    "joint_articulation": "articulation", "constraint_mimic_joint0": "joint", "constraint_mimic_joint1": "joint",
    "articulation_start": "joint",
}  # fmt: skip
"""Lists of indices, with the kind of element they point to."""
_COORDINATES = ("joint_q", "joint_target_q")
_PLACES = frozenset({
    "joint_q_start", "joint_qd_start", "joint_cts_start", "articulation_end", "joint_parents", "joint_children",
    "body_shapes", "custom_attributes", "custom_frequencies", "actuator_entries",
})  # fmt: skip
"""Compared through what they point to, or on their own."""
_OURS = frozenset({"asset", "findings", "path_articulation_map", "path_original_body_map"})
"""Entries of our dictionary that Newton's has not (it names the last in its docstring)."""


def describe(builder: Any, result: dict[str, Any]) -> Tables:
    """Every list of a builder by the label of its element, indices as labels, and the entries of a result."""
    labels = {
        kind: _make_unique(getattr(builder, f"{kind}_label"))
        for kind in ("body", "joint", "shape", "articulation")
    }
    tables: Tables = {f"order of {kind}s": {"all": found} for kind, found in labels.items()}
    lengths = builder.joint_count, builder.joint_dof_count, builder.joint_coord_count
    rows = {
        "joint_dof": _list_rows(labels["joint"], [*builder.joint_qd_start, lengths[1]]),
        "joint_coord": _list_rows(labels["joint"], [*builder.joint_q_start, lengths[2]]),
    }
    for name in sorted(vars(builder)):
        value = getattr(builder, name)
        if name.startswith(("_", "default_")) or name in _PLACES or name.endswith("_label"):
            continue
        if not isinstance(value, list):
            tables[name] = {"all": make_plain(value)}
            continue
        kind = name.partition("_")[0]
        elements = labels.get(kind, [str(number) for number in range(len(value))])
        if kind == "joint" and name in _COORDINATES:
            elements = rows["joint_coord"]
        elif kind == "joint" and len(value) == lengths[1] != lengths[0]:
            elements = rows["joint_dof"]
        if name in _INDEX:
            value = [_find(labels[_INDEX[name]], index) for index in value]
        tables[name] = {row: make_plain(item) for row, item in zip(elements, value, strict=False)}
    pairs = {
        tuple(sorted(labels["shape"][int(i)] for i in pair)) for pair in builder.shape_collision_filter_pairs
    }
    tables["shape_collision_filter_pairs"] = {" and ".join(pair): True for pair in pairs}
    tables["gravity"] = {"all": make_plain(builder.gravity)}
    places = {**labels, **rows}
    for key, attribute in builder.custom_attributes.items():
        tables[f"custom {key}"] = _describe_custom(attribute, places)
    tables["actuator_entries"] = _describe_actuators(builder, rows)
    return tables | _describe_result(result, labels)


def _make_unique(names: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    unique = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        unique.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return unique


def _list_rows(labels: list[str], starts: list[int]) -> list[str]:
    return [
        f"{label}[{number}]"
        for label, first, last in zip(labels, starts, starts[1:], strict=False)
        for number in range(last - first)
    ]


def _find(labels: list[str], index: int) -> str:
    return labels[index] if 0 <= index < len(labels) else str(index)


def _describe_custom(attribute: Any, places: dict[str, list[str]]) -> dict[str, Any]:
    """Values of a custom attribute by element; the default where there is none."""
    values = attribute.values or {}
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    frequency = getattr(attribute.frequency, "name", str(attribute.frequency)).lower()
    elements = places.get(frequency, [])
    return {
        (elements[row] if row < len(elements) else str(row)): make_plain(value)
        for row, value in pairs
        if value is not None and make_plain(value) != make_plain(attribute.default)
    }


def _describe_actuators(builder: Any, rows: dict[str, list[str]]) -> dict[str, Any]:
    described = {}
    for entry in builder.actuator_entries.values():
        for number, index in enumerate(entry.indices):
            described[f"{entry.drive_class.__name__} {_find(rows['joint_dof'], index)}"] = [
                str(entry.clamping_classes),
                *(
                    make_plain(getattr(entry, name)[number])
                    for name in ("drive_args", "clamping_args", "delay_args", "delay_step_values")
                    if isinstance(getattr(entry, name, None), list) and number < len(getattr(entry, name))
                ),
            ]
    return described


def _describe_result(result: dict[str, Any], labels: dict[str, list[str]]) -> Tables:
    tables: Tables = {}
    kinds = {"path_body_map": "body", "path_joint_map": "joint", "path_shape_map": "shape"}
    for key, value in result.items():
        if key in _OURS:
            continue
        if key in kinds:
            tables[f"result {key}"] = {
                path: _find(labels[kinds[key]], index) for path, index in value.items()
            }
        elif key == "schema_attrs":
            tables[f"result {key}"] = {
                f"{solver} {path}.{name}": make_plain(v)
                for solver, prims in value.items()
                for path, attributes in prims.items()
                for name, v in attributes.items()
            }
        elif isinstance(value, dict):
            tables[f"result {key}"] = {str(k): make_plain(v) for k, v in value.items()}
        else:
            tables[f"result {key}"] = {"all": make_plain(value)}
    return tables


def make_plain(value: Any) -> Any:
    """Numbers, texts and lists of them; a mesh as its size and bounds, since its corners may be split otherwise."""
    import numpy as np

    if value is None or isinstance(value, str):
        return value
    # flags are numbers too: Warp's bool is not Python's
    if isinstance(value, bool | int | float | np.number | np.bool_) or type(value).__module__.startswith(
        "warp"
    ):
        with contextlib.suppress(TypeError, ValueError):
            return float(getattr(value, "value", value))
    if hasattr(value, "vertices") and hasattr(value, "indices"):
        points = np.asarray(value.vertices, dtype=np.float64).reshape(-1, 3)
        bounds = [*points.min(axis=0).tolist(), *points.max(axis=0).tolist()] if len(points) else []
        return ["mesh", float(len(value.indices) // 3), *bounds]
    if isinstance(value, dict):
        return {str(key): make_plain(entry) for key, entry in sorted(value.items(), key=str)}
    if hasattr(value, "name") and hasattr(value, "value"):
        return str(value.name)
    if hasattr(value, "GetReal"):
        return [float(value.GetReal()), *(float(v) for v in value.GetImaginary())]
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        return [make_plain(value[number]) for number in range(len(value))]
    return str(value)


def list_differences(ours: Tables, theirs: Tables) -> Iterator[list[Any]]:
    """Field, element, our value, theirs; a field ends in + where only ours has the element, in - where only theirs."""
    for name in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(name, {}), theirs.get(name, {})
        if name.startswith("order of "):
            yield from _compare_order(name, mine["all"], other["all"])
            continue
        small = _ROUNDED if name in _PLACED else 0.0
        gone = _list_lone(name, ours, theirs)
        for element in mine | other:
            if element.rpartition("[")[0] in gone or element in gone:
                continue  # said once, by the kind of element
            if element not in other:
                yield [f"{name} +", element, mine[element], None]
            elif element not in mine:
                yield [f"{name} -", element, None, other[element]]
            elif not agree(mine[element], other[element], small, turned=_is_pose(name, other[element])):
                yield [name, element, mine[element], other[element]]


def _list_lone(name: str, ours: Tables, theirs: Tables) -> set[str]:
    """Elements of a list that only one of the two builders has."""
    kind = name.partition("_")[0]
    if f"order of {kind}s" not in ours:
        return set()
    mine, other = (set(tables[f"order of {kind}s"]["all"]) for tables in (ours, theirs))
    return mine ^ other


def _compare_order(name: str, mine: list[str], other: list[str]) -> Iterator[list[Any]]:
    for label in dict.fromkeys((*mine, *other)):
        if (label in mine) != (label in other):
            yield [
                f"{name.rpartition(' ')[2]} {'+' if label in mine else '-'}",
                label,
                label in mine,
                label in other,
            ]
    shared = (
        [label for label in mine if label in set(other)],
        [label for label in other if label in set(mine)],
    )
    if shared[0] != shared[1]:
        number = next(n for n, pair in enumerate(zip(*shared, strict=True)) if pair[0] != pair[1])
        yield [name, str(number), shared[0][number], shared[1][number]]


def _is_pose(name: str, value: Any) -> bool:
    known = "transform" in name or name in ("body_q", "joint_X_p", "joint_X_c")
    return known and isinstance(value, list) and len(value) == 7


def agree(mine: Any, other: Any, small: float = 0.0, *, turned: bool = False) -> bool:
    """Are two values the same to 1e-5 of their size, or ``small``?  Quaternions of a pose may have either sign."""
    if isinstance(mine, dict) and isinstance(other, dict):
        return mine.keys() == other.keys() and all(agree(mine[key], other[key], small) for key in mine)
    if isinstance(mine, list) and isinstance(other, list):
        if len(mine) != len(other):
            return False
        if turned:
            turns = mine[3:], [-v for v in mine[3:]]
            return agree(mine[:3], other[:3], small) and any(agree(turn, other[3:], small) for turn in turns)
        # parts of one vector or matrix are as exact as its largest part
        numbers = [v for v in _flatten([mine, other]) if isinstance(v, float)]
        small = max([small, *(_NEAR * abs(v) for v in numbers if abs(v) < float("inf"))])
        return all(agree(*pair, small) for pair in zip(mine, other, strict=True))
    if isinstance(mine, float) and isinstance(other, float):
        if mine != mine or other != other or abs(mine) == float("inf"):
            return mine == other or (mine != mine and other != other)
        return abs(mine - other) <= max(_NEAR * max(abs(mine), abs(other)), small)
    return bool(mine == other)


def _flatten(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _flatten(value)
        else:
            yield value


def print_fields(entries: list[dict[str, Any]], *, every: bool = False) -> int:
    """A line for each field that differs, those in most stages first, with its reason; 1 if one has none."""
    compared = [entry for entry in entries if not entry["refused"]]
    rows: dict[str, list[tuple[dict[str, Any], list[Any]]]] = {}
    for entry in compared:
        for difference in entry["differences"]:
            rows.setdefault(difference[0], []).append((entry, difference))
    reasons, unexplained = read_reasons(), 0
    same = sum(not entry["differences"] for entry in compared)
    stages = {entry["stage"] for entry in entries}
    print(
        f"{len(entries)} imports of {len(stages)} stages: {len(entries) - len(compared)} refused by Newton, {same} the "
        f"same, {len(compared) - same} differ in {len(rows)} fields"
    )
    for field, found in sorted(rows.items(), key=lambda row: -len({entry["stage"] for entry, _ in row[1]})):
        held = {entry["stage"] for entry, _ in found}
        missing = [(e, d) for e, d in found if not any(_covers(r, e["stage"], d) for r in reasons)]
        unexplained += len(missing)
        print(f"{len(held):3} stages {len(found):5} values {len(missing):5} without a reason  {field}")
        for entry, (_, element, mine, other) in found if every else missing[:1]:
            print(f"      {entry['stage']} {entry['order']} {element}: {_cut(mine)} | {_cut(other)}")
    for entry in {e["stage"]: e for e in entries if e["refused"]}.values():
        print(f"refused: {entry['stage']}: {entry['refused'][:140]}")
    return int(unexplained > 0)


def _cut(value: Any) -> str:
    return str(value)[:110]


def read_reasons() -> list[dict[str, str]]:
    """Rows of the page: fields, elements and stages (with *) and why."""
    rows = (_ROW.match(line) for line in PAGE.read_text(encoding="utf-8").splitlines())
    return [row.groupdict() for row in rows if row]


def _covers(reason: dict[str, str], stage: str, difference: list[Any]) -> bool:
    """Is a row of the page about this difference: its field, its element and its stage?"""
    found = {"field": difference[0], "elements": str(difference[1]), "stages": stage}
    return all(
        any(fnmatch.fnmatchcase(value, part.strip(" `")) for part in reason[name].split(","))
        for name, value in found.items()
    )


@dataclass
class ComparedMotion:
    """Two imports of a stage, stepped: what came of it with contacts and without, and the larger difference."""

    stage: str
    order: str
    cells: list[str]
    apart: float = 0.0


def compare_motion(stage: Path, order: str, steps: int) -> ComparedMotion:
    """Step both imports; prints the row of a stage."""
    found = ComparedMotion(name_stage(stage), order, [])
    builders, times = [], []
    for ours in (False, True):
        best, builder = float("inf"), None
        for _ in range(2):  # the first run of either loads modules
            started = time.process_time()
            try:
                builder, _ = fill(stage, order, ours=ours, load_visual_shapes=False)
            except Exception as error:  # noqa: BLE001 - an importer may fail in any way
                who = "Simwright" if ours else "Newton"
                print(f"{stage.stem:32} {order:4} {who} refuses it: {type(error).__name__}: {error}"[:160])
                found.cells = [f"{who} refuses it"] * 2
                found.apart = float("inf") if ours else 0.0
                return found
            best = min(best, time.process_time() - started)
        builders.append(builder)
        times.append(best)
    for contacts in (True, False):
        cell, apart = compare_steps(builders, steps, contacts=contacts)
        found.cells.append(cell)
        found.apart = max(found.apart, apart)
    print(
        f"{stage.stem:32} {order:4} contacts {found.cells[0]:>10}  without {found.cells[1]:>10}  "
        f"import {times[1]:.3f} s of {times[0]:.3f} s ({times[1] / times[0]:.2f})",
        flush=True,
    )
    return found


def compare_steps(builders: list[Any], steps: int, *, contacts: bool) -> tuple[str, float]:
    """A cell of the table, and how far apart the two end."""
    try:
        ends = [move(builder, steps, contacts=contacts) for builder in builders]
    except Exception as error:  # noqa: BLE001 - a solver may refuse a model in any way
        return f"{type(error).__name__}: {error}"[:60], 0.0
    if ends[0].shape != ends[1].shape:
        return f"{len(ends[0])} and {len(ends[1])} coordinates", float("inf")
    difference = float(abs(ends[0] - ends[1]).max(initial=0.0))
    if difference <= MOST:
        return f"{difference:.1e}", difference
    # a motion that enlarges rounding says nothing about importers
    alone = move(builders[0], steps, contacts=contacts, shift=_ROUNDING)
    spread = float(abs(ends[0] - alone).max(initial=0.0))
    return f"{difference:.1e} (Newton from itself: {spread:.1e})", difference


_HEAD = ("| stage | order | with contacts | without |", "|---|---|---|---|")
_MOTION = re.compile(r"^\| (?P<stage>\S+) \| (?P<order>[npm]+) \| [^|]* \| [^|]* \|$")


def write_motions(motions: list[ComparedMotion]) -> None:
    """Rows of the page's table of motions, in place of earlier ones of the same stage and order."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index(_HEAD[0]) + len(_HEAD)
    rows = {}
    for line in lines[start:]:
        row = _MOTION.match(line)
        if row is None:
            break
        rows[row["stage"], row["order"]] = line
    end = start + len(rows)
    for motion in motions:
        told = f"| {motion.stage} | {motion.order} | {motion.cells[0]} | {motion.cells[1]} |"
        rows[motion.stage, motion.order] = told
    lines[start:end] = [rows[key] for key in sorted(rows)]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def move(builder: Any, steps: int, *, contacts: bool, shift: float = 0.0) -> Any:
    """Joint coordinates after some steps; ``shift`` is added to each at the start."""
    import newton

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if contacts:
            builder = copy.deepcopy(builder)
            builder.add_ground_plane(height=GROUND)
        model = builder.finalize(device="cpu", skip_validation_joints=True)
        solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, disable_contacts=not contacts)
        now, after, control = model.state(), model.state(), model.control()
        now.joint_q.assign(model.joint_q.numpy() + shift)
        newton.eval_fk(model, now.joint_q, model.joint_qd, now)
        for _ in range(steps):
            now.clear_forces()
            solver.step(now, after, control, None, 0.002)
            now, after = after, now
    return now.joint_q.numpy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
