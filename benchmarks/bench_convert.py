# SPDX-License-Identifier: Apache-2.0
"""Conversion to OpenUSD against mujoco-usd-converter and urdf-usd-converter, in one run.

The same content: one visual representation, no decimation, no decomposition.  Every conversion has a process of its
own, is measured after a tiny robot warmed it up, and counts CPU time and peak memory.  Rows about memory show MiB in
the columns of times.

Robots are drawn at random from checkouts of MuJoCo Menagerie and example-robot-data (``MENAGERIE_ROOT``,
``EXAMPLE_ROBOT_DATA_ROOT``): other ones in every run, so that nothing can be tuned for them.  A fixed list stands in
for a checkout that is not named.  ``--seed`` draws the same ones again.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench_readers import urdf
from benchmarks.measure import PYTHON, Result, growth
from benchmarks.peers import explain_absence, find_peer

TOTAL_LIMIT, SINGLE_LIMIT, MEMORY_LIMIT = 0.7, 1.2, 1.0
REPEAT = 3
WORKER = Path(__file__).with_name("convert_worker.py")
ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT.parent / "shared" / "assets"
MJCF = (
    "robotiq_2f85/2f85", "agility_cassie/cassie", "franka_emika_panda/panda", "shadow_hand/right_hand",
    "unitree_h1/h1", "kuka_iiwa_14/iiwa14", "google_barkour_vb/barkour_vb", "trossen_vx300s/vx300s",
    "trs_so_arm100/so_arm100", "skydio_x2/x2",
)  # fmt: skip
URDF = (
    "laikago_description/urdf/laikago", "panda_description/urdf/panda",
    "allegro_hand_description/urdf/allegro_right_hand", "hyq_description/robots/hyq_no_sensors",
    "tiago_description/robots/tiago", "double_pendulum_description/urdf/double_pendulum",
    "hector_description/robots/quadrotor_base", "kinova_description/robots/kinova",
    "solo_description/robots/solo12",
)  # fmt: skip
DRAWN = 8
"""Robots drawn at random from each checkout."""
CHECKOUTS = {
    "mjcf": ("MENAGERIE_ROOT", "*/*.xml"),
    "urdf": ("EXAMPLE_ROBOT_DATA_ROOT", "robots/**/*.urdf"),
}
"""Kind of robot -> the variable that names its checkout, and where robots are in it."""
SIZES = (50, 200, 800)
"""Links of generated trees."""
EDGES = (40, 160, 640)
"""Points along one side of a generated height map, which is a mesh of twice their square in triangles."""


@dataclass(frozen=True)
class Side:
    """A converter: whose, in which environment."""

    name: str
    python: str
    word: str


OURS = Side("simwright", PYTHON, "ours")


def run() -> Iterator[Result | str]:
    seed = int(os.environ["BENCH_SEED"])  # from the command line, or drawn by the clock
    package = ASSETS / "urdf" / "example-robot-data"
    fixed = {
        "mjcf": [ASSETS / "mjcf" / f"{name}.xml" for name in MJCF],
        "urdf": [package / "robots" / f"{name}.urdf" for name in URDF],
    }
    for kind, peer in (("mjcf", "mujoco_usd_converter"), ("urdf", "urdf_usd_converter")):
        python = find_peer(peer)
        if not python:
            yield f"conversion of {kind.upper()}: {explain_absence(peer)}"
            continue
        side = Side(peer.replace("_", "-"), python, kind)
        variable, pattern = CHECKOUTS[kind]
        root = os.environ.get(variable)
        files = shuffle(Path(root), pattern, seed) if root else [f for f in fixed[kind] if f.is_file()]
        if root:
            yield f"random {kind.upper()} robots: --seed {seed} draws them again"
        else:
            yield f"random {kind.upper()} robots: left out, {variable} does not name a checkout"
        place = (root or str(package)) if kind == "urdf" else ""
        yield from compare(kind, side, files, place, DRAWN if root else len(files))
    yield from grow()


def shuffle(root: Path, pattern: str, seed: int) -> list[Path]:
    """All robots of a checkout, in an order that the seed chooses."""
    # a scene includes a robot that is drawn by itself; a file without bodies is a part of another one
    files = [
        file
        for file in sorted(root.glob(pattern))
        if not file.stem.startswith("scene") and ("<body" in (text := file.read_text()) or "<link" in text)
    ]
    random.Random(seed).shuffle(files)
    return files


def compare(kind: str, peer: Side, files: list[Path], package: str, count: int) -> Iterator[Result | str]:
    """The first robots that the peer converts, each alone; then all of them together."""
    total = [0.0, 0.0]
    done = 0
    for file in files:
        if done == count:
            break
        try:
            ours, theirs = measure(OURS, peer, kind, file, package)
        except PeerError as error:
            yield f"{file.parent.name}/{file.name}: {error}, another is drawn"
            continue
        done += 1
        total = [total[0] + ours["seconds"], total[1] + theirs["seconds"]]
        name = f"convert {kind.upper()}, {file.parent.name}/{file.stem}"
        yield Result(name, ours["seconds"], peer.name, theirs["seconds"], SINGLE_LIMIT)
        yield Result(
            f"{name}, peak memory", ours["peak"] / 1e3, peer.name, theirs["peak"] / 1e3, MEMORY_LIMIT, "MiB"
        )
    if done:
        yield Result(f"convert {kind.upper()}, {done} robots", total[0], peer.name, total[1], TOTAL_LIMIT)


class PeerError(RuntimeError):
    """A peer cannot convert a robot."""


def measure(ours: Side, theirs: Side, kind: str, file: Path, package: str) -> list[dict[str, float]]:
    """The least time and the least peak of each side, taken in turns; the peer begins, as it may refuse."""
    best = {side.name: {"seconds": math.inf, "peak": math.inf} for side in (theirs, ours)}
    for _ in range(REPEAT):
        for side in (theirs, ours):
            found = convert(side, kind, file, package)
            known = best[side.name]
            known.update({key: min(known[key], value) for key, value in found.items()})
    return [best[ours.name], best[theirs.name]]


def convert(side: Side, kind: str, file: Path, package: str = "") -> dict[str, float]:
    """One conversion in a fresh process."""
    command = [side.python, str(WORKER), side.word, kind, str(file), package]
    done = subprocess.run(command, check=False, cwd=tempfile.gettempdir(), capture_output=True, text=True)
    if done.returncode and side is not OURS:
        raise PeerError(f"{side.name} cannot convert it")
    if done.returncode:
        raise RuntimeError(f"{side.name} cannot convert {file}:\n{done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def grow() -> Iterator[Result]:
    """Trees of more and more links, and one link with a mesh of more and more triangles."""
    python = find_peer("urdf_usd_converter")
    peer = Side("urdf-usd-converter", python, "urdf") if python else OURS
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for title, sizes, write in (("links", SIZES, write_tree), ("triangles", EDGES, write_bumps)):
            times, counts = [], []
            for size in sizes:
                file = place / f"{title}{size}.urdf"
                counts.append(write(file, size))
                times.append(min(convert(OURS, "urdf", file)["seconds"] for _ in range(REPEAT)))
            reference = convert(peer, "urdf", file)["seconds"]
            name = f"convert URDF, {counts[-1]:,} {title}"
            limit = SINGLE_LIMIT if python else None
            yield Result(name, times[-1], peer.name, reference, limit, growth(counts, times))


def write_tree(file: Path, links: int) -> int:
    """A binary tree of links with inertia, a visual and a collision each."""
    file.write_text(urdf(links))
    return links


def write_bumps(file: Path, side: int) -> int:
    """One link with an OBJ mesh of a bumpy square."""
    mesh = file.with_suffix(".obj")
    points = (
        f"v {x / side:.6f} {y / side:.6f} {0.1 * math.sin(9 * x / side) * math.cos(7 * y / side):.6f}"
        for y in range(side)
        for x in range(side)
    )
    corners = (
        (y * side + x + 1, y * side + x + 2, y * side + x + side + 1)
        for y in range(side - 1)
        for x in range(side - 1)
    )
    faces = (f"f {a} {b} {c}\nf {b} {c + 1} {c}" for a, b, c in corners)
    mesh.write_text("\n".join((*points, *faces)) + "\n")
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    file.write_text(
        f'<robot name="bumps"><link name="l"><inertial><mass value="1"/>{inertia}</inertial>'
        f'<visual><geometry><mesh filename="{mesh.name}"/></geometry></visual></link></robot>'
    )
    return 2 * (side - 1) ** 2
