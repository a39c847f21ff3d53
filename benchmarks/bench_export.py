# SPDX-License-Identifier: Apache-2.0
"""Export of OpenUSD to MJCF, MuJoCo's compiling of the result included, against MuJoCo's own load of the source.

Each robot is converted to OpenUSD once.  Then one run reads the stage, writes the folder and compiles it; the
reference compiles the MJCF the robot came from.  MuJoCo's cache of meshes is emptied before every run: it would hide
what reading the files costs.  Without the shared robots, a chain with a mesh on every link stands in.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result, compare_cpu

LIMIT = 3.0
ROBOTS = ("franka_emika_panda/panda", "unitree_h1/h1", "kuka_iiwa_14/iiwa14", "shadow_hand/left_hand")
ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets" / "mjcf"
LINKS, RINGS = 12, 48
REFERENCE = "MuJoCo's load of the source"


def run() -> Iterator[Result]:
    from simwright.app.api import convert

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for title, source in _find_robots(folder):
            stage = convert(source, folder / f"{title}_usd" / "robot.usda")
            floor = partial(compile_cold, source)
            for name, file, limit in (("USD to MJCF", stage, LIMIT), ("MJCF to MJCF", source, None)):
                ours = partial(export, file, folder / "out" / "robot.xml")
                seconds, reference = compare_cpu(ours, floor)
                yield Result(f"{name} and compile, {title}", seconds, REFERENCE, reference, limit)


def export(source: Path, target: Path) -> Any:
    """Read, write, compile."""
    from simwright.app.api import convert

    shutil.rmtree(target.parent, ignore_errors=True)
    return compile_cold(convert(source, target))


def compile_cold(path: Path) -> Any:
    """MuJoCo's model of a file, nothing remembered."""
    import mujoco

    mujoco.set_mju_user_warning(lambda _: None)  # else it logs into the current folder
    mujoco.mj_clearCache(mujoco.mj_getCache())
    return mujoco.MjModel.from_xml_path(str(path))


def _find_robots(folder: Path) -> list[tuple[str, Path]]:
    if ASSETS.is_dir():
        return [(name.partition("/")[2], ASSETS / f"{name}.xml") for name in ROBOTS]
    return [("chain", write_chain(folder / "chain"))]


def write_chain(folder: Path) -> Path:
    """Links with a mesh each, all different."""
    folder.mkdir()
    body, assets = "", ""
    for number in reversed(range(LINKS)):
        (folder / f"m{number}.obj").write_text(_write_ball(0.1 + 0.01 * number))
        assets += f'<mesh name="m{number}" file="m{number}.obj"/>'
        body = (
            f'<body name="l{number}" pos="0 0 0.3"><joint name="j{number}" axis="0 1 0" damping="1"/>'
            f'<geom type="mesh" mesh="m{number}"/>{body}</body>'
        )
    path = folder / "chain.xml"
    path.write_text(f"<mujoco><asset>{assets}</asset><worldbody>{body}</worldbody></mujoco>")
    return path


def _write_ball(radius: float) -> str:
    """A ball of rings, as text."""
    lines = []
    for ring in range(RINGS + 1):
        for step in range(RINGS):
            a, b = math.pi * ring / RINGS, 2.0 * math.pi * step / RINGS
            point = radius * np.array((math.sin(a) * math.cos(b), math.sin(a) * math.sin(b), math.cos(a)))
            lines.append("v {:.6f} {:.6f} {:.6f}".format(*point))
    for ring in range(RINGS):
        for step in range(RINGS):
            a, b = ring * RINGS + step + 1, ring * RINGS + (step + 1) % RINGS + 1
            lines += [f"f {a} {a + RINGS} {b}", f"f {b} {a + RINGS} {b + RINGS}"]
    return "\n".join(lines) + "\n"
