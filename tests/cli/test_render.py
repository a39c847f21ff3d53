"""``simwright render`` on the command line."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys

import pytest
from PIL import Image
from tests.conftest import SAMPLES

from simwright.app.cli.main import run

BOX = str(SAMPLES / "box" / "box.usda")


def test_a_picture_is_written_and_described(tmp_path, capsys):
    target = tmp_path / "new" / "box.png"
    asked = ["render", BOX, "-o", str(target), "--size", "64x48", "--camera", "100,-30", "--format", "json"]
    assert run(asked) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["file"] == str(target)
    assert told["camera"]["azimuth"] == 100.0
    assert told["camera"]["distance"] > 0.0
    with Image.open(target) as image:
        assert (image.size, image.mode) == ((64, 48), "RGB")


def test_a_film_and_a_transparent_picture(tmp_path, capsys):
    film = tmp_path / "box.gif"
    assert (
        run(
            [
                "render",
                BOX,
                "-o",
                str(film),
                "--turntable",
                "--size",
                "64x48",
                "--seconds",
                "0.2",
                "--no-floor",
            ]
        )
        == 0
    )
    assert "3 pictures" in capsys.readouterr().out
    cut = tmp_path / "cut.png"
    assert run(["render", BOX, "-o", str(cut), "--transparent", "--size", "64x48"]) == 0
    with Image.open(cut) as image:
        assert image.mode == "RGBA"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "a.jpg"], "ends in .png, .gif or .mp4"),
        (["-o", "a.png", "--turntable"], "write it to a .gif or .mp4"),
        (["-o", "a.gif", "--transparent"], "write a .png"),
        (["-o", "a.png", "--size", "4x4"], "4 x 4 is not a size"),
        (["-o", "a.png", "--size", "99999x10"], "from 16 to 8192 pixels"),
        (["-o", "a.png", "--size", "big"], "not a size, like 1280x720"),
        (["-o", "a.png", "--camera", "front"], "front"),
        (["-o", "a.png", "--camera", "10,200"], "an elevation from -90"),
        (["-o", "a.png", "--q", "elbow=1"], "elbow"),
        (["-o", "a.png", "--q", "elbow=much"], "not a coordinate"),
        (["-o", "a.png", "--keyframe", "home"], "home"),
    ],
)
def test_what_cannot_be_done_is_told_and_nothing_is_written(arguments, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["render", BOX, *arguments]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_without_graphics_it_says_what_to_install(tmp_path):
    """MuJoCo is told to have none."""
    command = [sys.executable, "-m", "simwright", "render", BOX, "-o", "a.png", "--size", "64x48"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "MUJOCO_GL": "disabled"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no offscreen OpenGL" in done.stderr
    assert "libegl1" in done.stderr
    assert "osmesa" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["arm/urdf/arm.urdf", "quadruped/quadruped.xml", "fourbar/fourbar.usda"])
def test_damaged_files_are_drawn_or_refused_and_leave_no_half_picture(tmp_path, capsys, name):
    """Pictures are too slow for the campaign in tests/fuzz; so here are a few."""
    rng, source = random.Random(name), SAMPLES / name
    shutil.copytree(source.parent, tmp_path / "in")
    file, target = tmp_path / "in" / source.name, tmp_path / "picture.png"
    for _ in range(5):
        data = bytearray(source.read_bytes())
        for _ in range(rng.choice((1, 2, 5))):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[at] = rng.randrange(256)
            else:
                del data[at : at + rng.randrange(1, 60)]
        file.write_bytes(data)
        code = run(["render", str(file), "-o", str(target), "--size", "64x48"])
        told = capsys.readouterr()
        assert code in (0, 1, 2), told.err
        assert "Traceback" not in told.err
        assert target.exists() == (code != 2), told.err
        target.unlink(missing_ok=True)
