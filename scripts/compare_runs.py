# SPDX-License-Identifier: Apache-2.0
"""Run MJCF files in plain MuJoCo and through Simwright, and compare the motion: a table, worst first.

``python scripts/compare_runs.py [FILE_OR_FOLDER ...] [--menagerie DIR] [--gymnasium [DIR]] [--dm-control [DIR]]``
takes every MJCF file named or found.  Each is reset to its reference coordinates and stepped with the same smooth
seeded controls on both sides.  The menagerie is a checkout of MuJoCo Menagerie, by default ``$MENAGERIE_ROOT``;
``--gymnasium`` and ``--dm-control`` find the files of the installed packages, or take the folder that is given.

A file that MuJoCo itself does not load (a fragment made to be included) is skipped and counted.  The reason of a
difference is what Simwright reported as lost, else the arrays of the compiled models that differ.  Exits with 1 when
something differs by more than 1e-9 and nothing was reported as lost.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from simwright import Reporter, SimwrightError, run
from simwright.core.diag import Level
from simwright.formats.mjcf.memory import compile_asset
from simwright.formats.mjcf.quiet import list_refusals, quiet_mujoco
from simwright.scenes.control import ControlSequence, TimedRows

TOLERANCE = 1e-9
STEPS = 500
SEED = 20
UNRELATED = (
    "names", "name_", "paths", "path_", "text", "nnames", "npaths", "tex_", "mat_", "light_", "cam_", "nbuffer",
    "mesh_", "nmesh", "bvh_", "nbvh", "body_bvh", "geom_dataid", "ntex", "nmat", "geom_matid", "geom_rgba", "nkey",
    "signature", "hfield_path", "skin_", "nskin", "site_rgba", "site_matid", "tendon_rgba", "tendon_width",
    "tendon_matid", "geom_group", "site_group",
)  # fmt: skip
"""Beginnings of fields that say nothing about motion, or depend on the order of meshes, which are compared by geom."""
SIZES = {"geom_size": "geom_type", "site_size": "site_type"}
COLUMNS = {"mjGEOM_SPHERE": 1, "mjGEOM_CAPSULE": 2, "mjGEOM_CYLINDER": 2, "mjGEOM_PLANE": 2}


@dataclass
class Row:
    """What came out for one file: coordinates, the largest difference, and why."""

    file: str
    nq: int = 0
    difference: float = 0.0
    exact: bool = False
    reason: str = ""
    named: bool = False
    fields: str = ""

    @property
    def fails(self) -> bool:
        """Is it different, and nobody said so?"""
        return not self.difference <= TOLERANCE and not self.named


@dataclass
class Controls:
    """Values of every actuator at every step, with the actuators' names (empty for unnamed ones)."""

    names: list[str]
    values: np.ndarray[Any, Any]
    timestep: float


@dataclass
class Motion:
    """Coordinates of every joint after the last step by joint name, in the order of the model.

    ``unstable`` tells that the simulation left all bounds; plain MuJoCo starts it anew then, Simwright stops.
    """

    joints: dict[str, np.ndarray[Any, Any]]
    model: Any
    losses: list[str]
    unstable: bool = False


def main() -> int:
    """All files, then the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="MJCF files, or folders with some")
    parser.add_argument("--menagerie", type=Path, default=os.environ.get("MENAGERIE_ROOT"), metavar="DIR")
    parser.add_argument("--gymnasium", nargs="?", const="gymnasium", metavar="DIR")
    parser.add_argument("--dm-control", nargs="?", const="dm_control", metavar="DIR")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    arguments = parser.parse_args()
    packages = [find_package(word) for word in (arguments.gymnasium, arguments.dm_control) if word]
    folders = [*arguments.paths, *([arguments.menagerie] if arguments.menagerie else []), *packages]
    if not folders:
        parser.error("no files: name some, or set MENAGERIE_ROOT")
    files = sorted({file for folder in folders for file in find_files(folder) if arguments.only in str(file)})
    with ProcessPoolExecutor(arguments.jobs) as pool:
        results = list(
            pool.map(
                partial(
                    compare_file, steps=arguments.steps, allowed=[f for f in folders if Path(f).is_dir()]
                ),
                files,
            )
        )
    rows = sorted((row for row in results if row), key=lambda row: (row.exact, -row.difference, row.file))
    show(rows, len(files) - len(rows), arguments.format)
    return 1 if any(row.fails for row in rows) else 0


def find_package(word: str) -> Path:
    """The folder of an installed package, or the folder that was named."""
    if Path(word).is_dir():
        return Path(word)
    found = importlib.util.find_spec(word)
    if found is None or not found.submodule_search_locations:
        sys.exit(
            f"{word} is not installed: python -m pip install {word.replace('_', '-')}, or name its folder"
        )
    return Path(next(iter(found.submodule_search_locations)))


def find_files(path: Path) -> Iterator[Path]:
    """The file itself, or the XML files below a folder."""
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from path.rglob("*.xml")
    else:
        sys.exit(f"{path} does not exist")


def compare_file(path: Path, steps: int, allowed: Sequence[Path] = ()) -> Row | None:
    """Both sides of one file, which may name files in ``allowed`` folders; None if MuJoCo does not load it."""
    with quiet_mujoco():
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except list_refusals(mujoco):
            return None
    row = Row(str(path), int(model.nq))
    controls = make_controls(model, steps)
    plain = run_plain(model, controls, steps)
    try:
        ours = run_simwright(path, controls, steps, allowed)
    except SimwrightError as error:
        row.difference, row.reason = np.inf, str(error)
        return row
    if plain.unstable and ours.unstable:
        row.exact, row.reason = True, "unstable in both: MuJoCo starts it anew, Simwright stops and says so"
        return row
    row.difference, row.exact = compare_motion(plain, ours)
    fields = list_differences(model, ours.model)
    row.fields = ", ".join(fields)
    row.named = bool(ours.losses)
    if not row.exact:
        row.reason = "; ".join(ours.losses) or f"compiled arrays differ: {', '.join(fields[:8])}"
    return row


def run_plain(model: Any, controls: Controls, steps: int) -> Motion:
    """The motion of the file as MuJoCo loads it: a loop of ``mj_step``."""
    data = mujoco.MjData(model)
    with quiet_mujoco():
        for number in range(steps):
            data.ctrl[:] = controls.values[number]
            mujoco.mj_step(model, data)
    alarms = (
        mujoco.mjtWarning.mjWARN_BADQPOS,
        mujoco.mjtWarning.mjWARN_BADQVEL,
        mujoco.mjtWarning.mjWARN_BADQACC,
    )
    joints = {}
    for joint in range(int(model.njnt)):
        start = int(model.jnt_qposadr[joint])
        width = {0: 7, 1: 4}.get(int(model.jnt_type[joint]), 1)
        name = name_of(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        joints[name or f"#{joint}"] = np.array(data.qpos[start : start + width])
    return Motion(joints, model, [], any(data.warning.number[int(alarm)] for alarm in alarms))


def run_simwright(path: Path, controls: Controls, steps: int, allowed: Sequence[Path] = ()) -> Motion:
    """The motion of the file as ``simwright run FILE`` has it."""
    reporter = Reporter()
    step = float(controls.timestep)
    times = np.arange(steps) * step
    sequence = None
    if controls.values.size:
        sequence = ControlSequence(None, TimedRows(controls.values, times, steps * step))
    result = run(
        path, engine="mujoco", frames=steps, control=sequence, reporter=reporter, allow_outside=allowed
    )
    assert result.layout is not None
    joints = {freedom.name: result.positions[0, freedom.positions] for freedom in result.layout.freedoms}
    losses = [d.message for d in reporter if d.level is not Level.INFO and d.loss]
    asset = result.asset
    assert asset is not None
    return Motion(joints, compile_asset(asset, Reporter()).model, losses, result.stopped == "unstable")


def make_controls(model: Any, steps: int) -> Controls:
    """A sum of three slow waves for every control, within its range."""
    rng = np.random.default_rng(SEED)
    count = int(model.nu)
    time = np.arange(steps)[:, None] / max(steps, 1)
    waves = np.zeros((steps, count))
    for _ in range(3):
        speed, phase = rng.uniform(1.0, 6.0, count), rng.uniform(0.0, 2.0 * np.pi, count)
        waves += np.sin(2.0 * np.pi * speed * time + phase) / 3.0
    ranges = np.asarray(model.actuator_ctrlrange).reshape(-1, 2)
    limited = np.asarray(model.actuator_ctrllimited, dtype=bool)
    low = np.where(limited, ranges[:, 0], -1.0)
    high = np.where(limited, ranges[:, 1], 1.0)
    names = [name_of(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) for i in range(count_actuators(model))]
    return Controls(names, low + (waves + 1.0) / 2.0 * (high - low), model.opt.timestep)


def count_actuators(model: Any) -> int:
    """Actuators, each with one or more controls."""
    return int(getattr(model, "nactuator", model.nu))


def name_of(model: Any, kind: Any, index: int) -> str:
    """The name of an element, empty if it has none."""
    return str(mujoco.mj_id2name(model, int(kind), index) or "")


def compare_motion(plain: Motion, ours: Motion) -> tuple[float, bool]:
    """The largest difference of a coordinate, infinite where a joint is missing, and whether all bits are equal."""
    worst, exact = 0.0, True
    order = list(ours.joints.values())
    for number, (name, expected) in enumerate(plain.joints.items()):
        found = ours.joints.get(name)
        if found is None and name.startswith("#") and len(order) == len(plain.joints):
            found = order[number]
        if found is None or found.shape != expected.shape:
            return np.inf, False
        exact = exact and np.array_equal(found, expected, equal_nan=True)
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        worst = max(worst, float(np.max(np.where(same, 0.0, np.abs(found - expected)), initial=0.0)))
    return worst, exact


def list_differences(plain: Any, ours: Any) -> list[str]:
    """Fields of two compiled models that are not equal bit for bit, those without a part in motion left out."""
    found = []
    for group, a, b in (("", plain, ours), ("opt.", plain.opt, ours.opt)):
        for name in dir(a):
            if name.startswith("_") or (not group and name.startswith(UNRELATED)):
                continue
            first, second = getattr(a, name), getattr(b, name)
            if name in SIZES:
                first, second = (trim_sizes(model, name) for model in (a, b))
            if isinstance(first, int | float | np.ndarray):
                found += [group + text for text in describe(name, np.asarray(first), np.asarray(second))]
    if plain.ngeom == ours.ngeom:
        rows = zip(plain.geom_type, plain.geom_dataid, ours.geom_dataid, strict=True)
        pairs = {(int(a), int(b)) for kind, a, b in rows if a >= 0 and kind != mujoco.mjtGeom.mjGEOM_HFIELD}
        found += [text for a, b in sorted(pairs) for text in compare_meshes(plain, a, ours, b)]
    return found


def trim_sizes(model: Any, name: str) -> np.ndarray[Any, Any]:
    """Sizes of geoms or sites without the columns that say nothing about their type."""
    sizes = np.array(getattr(model, name))
    for row, kind in zip(sizes, getattr(model, SIZES[name]), strict=True):
        row[COLUMNS.get(mujoco.mjtGeom(int(kind)).name, 3) :] = 0.0
    return sizes


def compare_meshes(plain: Any, a: int, ours: Any, b: int) -> Iterator[str]:
    """Points, faces and frames of two compiled meshes."""
    for name in ("mesh_pos", "mesh_quat", "mesh_scale"):
        yield from describe(f"{name}[{a}]", getattr(plain, name)[a], getattr(ours, name)[b])
    for name in ("vert", "face"):
        parts = []
        for model, mesh in ((plain, a), (ours, b)):
            start, count = getattr(model, f"mesh_{name}adr")[mesh], getattr(model, f"mesh_{name}num")[mesh]
            parts.append(getattr(model, f"mesh_{name}")[start : start + count])
        yield from describe(f"mesh_{name}[{a}]", *parts)


def describe(name: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Iterator[str]:
    """The field's name with its largest difference, nothing where both are equal."""
    if a.shape != b.shape:
        yield f"{name} {a.shape or int(a)} / {b.shape or int(b)}"
    elif a.dtype.kind in "fiub" and not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        yield f"{name} {np.nanmax(np.abs(a.astype(float) - b.astype(float))):.1e}"


def show(rows: list[Row], skipped: int, form: str) -> None:
    """The table, or all of it as JSON."""
    exact = sum(row.exact for row in rows)
    if form == "json":
        summary = {"files": len(rows), "exact": exact, "skipped": skipped}
        print(json.dumps({**summary, "rows": [asdict(row) for row in rows]}, indent=1))
        return
    print(f"{'max |dqpos|':>12} {'nq':>5}  file")
    for row in rows:
        told = "bit for bit" if row.exact else f"{row.difference:.3g}"
        print(f"{told:>12} {row.nq:>5}  {row.file}" + (f"\n{'':20}{row.reason}" if row.reason else ""))
    print(f"\n{len(rows)} files, {exact} bit for bit, {skipped} skipped because MuJoCo does not load them")


if __name__ == "__main__":
    sys.exit(main())
