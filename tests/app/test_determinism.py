"""The same input gives the same bytes: whatever the hash seed, the time zone, the locale, the folder, the processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import simwright
from simwright.app.cli.main import run
from simwright.app.world_build import build_world
from simwright.app.worlds import load_world

sources = {
    "arm": "samples/arm/urdf/arm.urdf", "rover": "samples/rover/model.sdf",
    "quadruped": "samples/quadruped/quadruped.xml", "rack": "samples/rack/rack.usda",
}
targets = ("{0}.usda", "{0}.usdz", "{0}.xml", "{0}.urdf", "{0}.sdf", "{0}.glb", "{0}.gltf")
for name, source in sources.items():
    for number, target in enumerate(targets):
        simwright.convert(source, f"out/{name}{number}/" + target.format(name))
    for suffix in ("usda", "usdc", "usd"):
        simwright.convert(source, f"out/{name}_{suffix}/flat.{suffix}", flatten=True)
simwright.convert("samples/warehouse/warehouse.usda", "out/warehouse/flat.usdc", flatten=True)
simwright.fix("samples/warehouse/warehouse.usda", "out/fixed", unsafe=True)
build_world(load_world("samples/lab/lab.yaml"), "out/lab")
for line in (
    "run samples/playground/playground.yaml --frames 5 --num-worlds 2 --record out/run.npz",
    "robots inspect samples/quadruped/quadruped.xml -o out/robot.yaml",
    "task export reach --robot samples/arm/urdf/arm.urdf -o out/task/reach.xml",
    "task run reach --robot samples/arm/urdf/arm.urdf --max-steps 3 --force --record out/task.npz",
    "world render samples/lab/lab.yaml -o out/lab.svg",
    "world render samples/lab/lab.yaml -o out/lab.png",
    "check samples/warehouse/warehouse.usda --format sarif --output out/report.sarif",
    "check samples/warehouse/warehouse.usda --format html --output out/report.html",
    "check samples/warehouse/warehouse.usda --baseline out/known.json --write-baseline",
):
    assert run(line.split()) in (0, 1), line
"""
PLACES = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8", "jobs": "1", "folder": "a"},
    {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C", "jobs": "3", "folder": "ä b/c/d/long"},
)


def test_every_writer_gives_the_same_bytes_everywhere(samples: Path, tmp_path: Path) -> None:
    found = [_run(samples, tmp_path, place) for place in PLACES]
    assert len(found[0]) > 100
    assert found[0].keys() == found[1].keys()
    assert [name for name, data in found[0].items() if found[1][name] != data] == []


def _run(samples: Path, tmp_path: Path, place: dict[str, str]) -> dict[str, bytes]:
    """All results of one process, by relative path; the sources are copied, so that they are elsewhere too."""
    work = tmp_path / place["folder"]
    shutil.copytree(samples, work / "samples")
    for file in (work / "samples").rglob("*"):
        os.utime(file, (len(place["folder"]) * 1e6,) * 2)
    environment = {**os.environ, **{key: value for key, value in place.items() if key.isupper()}}
    sources = ("samples/**/*.urdf", "samples/**/*.sdf")
    many = ["-m", "simwright", "convert", *sources, "many", "--jobs", place["jobs"], "--no-check"]
    for command in (["-c", SCRIPT], many):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
    return {
        file.relative_to(work).as_posix(): file.read_bytes()
        for folder in ("out", "many")
        for file in sorted((work / folder).rglob("*"))
        if file.is_file()
    }
