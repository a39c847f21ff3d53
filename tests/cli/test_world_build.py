# SPDX-License-Identifier: Apache-2.0
"""``simwright world build``, and the other commands on world files."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from simwright.app.api import check, convert, load
from simwright.app.cli.main import cli
from simwright.core.diag import Level
from simwright.core.errors import UsageError
from simwright.core.swap import recover

WORLD = """
params: {name: hut}
rooms:
  - {name: left, footprint: {type: box, dims: [4, 4]}}
  - {name: right, footprint: {type: box, dims: [4, 4]}, pose: [6, 0]}
hallways:
  - {room_start: left, room_end: right, width: 1.0, is_open: false}
robots:
  - {name: tug, radius: 0.2, pose: [0.0, 0.5]}
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from simwright.app.world_build import build_world
from simwright.app.worlds import load_world
count = 0
def watch(event, arguments):
    global count
    if event.startswith("os.") and ".simwright" in str(arguments):
        count += 1
        if count == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
build_world(load_world(Path(sys.argv[1])), sys.argv[2])
"""


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def hut(tmp_path: Path) -> Path:
    file = tmp_path / "hut.yaml"
    file.write_text(WORLD)
    return file


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def test_all_formats_are_written_and_named(hut: Path, tmp_path: Path) -> None:
    result = run("world", "build", hut, "-o", tmp_path / "out")
    assert (result.return_value, result.exception) == (0, None)
    for name in ("usd/hut.usda", "mjcf/hut.xml", "sdf/hut.sdf", "glb/hut.glb", "nav2/hut.yaml", "hut.json"):
        assert (tmp_path / "out" / name).is_file()
        assert name in result.output.replace("\n", "")


def test_one_format_is_written_alone(hut: Path, tmp_path: Path) -> None:
    result = run("world", "build", hut, "-o", tmp_path / "out", "--format", "nav2", "--resolution", "0.1")
    assert result.return_value == 0
    assert sorted(item.name for item in (tmp_path / "out").iterdir()) == ["hut.json", "nav2"]


def test_a_kill_leaves_no_half_built_world(hut: Path, tmp_path: Path) -> None:
    """A new place: nothing or all; an earlier result: that one or the new one, after the next run at the latest."""
    target = tmp_path / "out"
    source = random.Random(3)
    run("world", "build", hut, "-o", tmp_path / "whole")
    new = read_files(tmp_path / "whole")
    command = [sys.executable, "-c", KILLED, str(hut), str(target)]
    for is_old in (False, True):
        if is_old:
            run("world", "build", hut, "-o", target, "--resolution", "0.1")
        old = read_files(target)
        for limit in sorted(source.sample(range(1, 120), 2)):
            done = subprocess.run(
                [*command, str(limit)], capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == -signal.SIGKILL, done.stderr
            if not is_old:
                assert not target.exists()
            else:
                recover(target, "hut.json")
                assert read_files(target) in (old, new)
    result = run("world", "build", hut, "-o", target)
    assert result.return_value == 0
    assert read_files(target) == new
    assert sorted(item.name for item in tmp_path.iterdir()) == ["hut.yaml", "out", "whole"]


@pytest.mark.parametrize("resolution", ["0", "-1", "nan", "inf", "1e-9"])
def test_no_map_of_no_or_too_many_cells(hut: Path, tmp_path: Path, resolution: str) -> None:
    arguments = (
        "world",
        "build",
        hut,
        "-o",
        tmp_path / "out",
        "--format",
        "nav2",
        "--resolution",
        resolution,
    )
    assert isinstance(run(*arguments).exception, UsageError)
    assert not (tmp_path / "out" / "nav2").exists()


def test_a_world_is_read_like_any_other_file(hut: Path, tmp_path: Path) -> None:
    asset = load(hut)
    assert [body.name for body in asset.bodies] == ["tug"]
    assert [interface.name for interface in asset.interfaces] == ["tug/cmd_vel", "tug/odom"]
    entry = convert(hut, tmp_path / "flat" / "hut.usda")
    assert [found.message for _, found in check(entry) if found.level is not Level.INFO] == []
