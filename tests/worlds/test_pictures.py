"""Top views, and the commands that make them."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from lxml import etree
from PIL import Image

from simwright.app.cli.main import run
from simwright.worlds.picture import Area, Disc, Drawing, Line, Words, write_png, write_svg
from simwright.worlds.picture_world import PAPER, PictureLabels, choose_step, draw_world
from simwright.worlds.poses import WorldPose

from .text import HALL, ROOMS, TABLE, load, write

ROBOT = "robots: [{name: rob, radius: 0.2, pose: [-1, 1]}]\n"


def test_the_picture_shows_walls_floors_doors_and_robots(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + HALL.replace("}", ", is_open: false}") + TABLE + ROBOT)
    picture = draw_world(world, size=800, names=False, nav_poses=False)
    image = np.asarray(Image.open(io.BytesIO(write_png(picture))))
    scale = (800 - 92) / (world.bounds[2] - world.bounds[0] + 0.4)

    def pixel(x: float, y: float) -> tuple[int, ...]:
        column, row = 46 + (x - world.bounds[0] + 0.2) * scale, 46 + (world.bounds[3] + 0.2 - y) * scale
        return tuple(int(c) for c in image[round(row), round(column)])

    assert image.shape == (picture.height, picture.width, 3)
    assert tuple(image[2, 2]) == PAPER
    assert pixel(-2.1, 0.5) == (58, 66, 82)
    assert min(pixel(-0.5, -0.5)) > 200
    assert pixel(3.0, 0.2) == (196, 78, 62)
    assert pixel(1.0, -1.0) != pixel(-0.5, -0.5)
    assert pixel(-1.0, 0.86)[1] < 100


@pytest.mark.parametrize("size", [200, 400, 1600])
def test_lines_of_the_ground_are_apart_by_a_finger(tmp_path: Path, size: int) -> None:
    world, _ = load(tmp_path, ROOMS)
    lines = [mark for mark in draw_world(world, size=size).marks if isinstance(mark, Line)]
    ground = [line.points for line in lines if line.color == (232, 230, 224)]
    columns = sorted({round(points[0][0], 3) for points in ground if points[0][0] == points[1][0]})
    gaps = np.diff(columns)
    assert len(gaps) == 0 or 59.0 <= gaps.min() <= gaps.max() < 160.0
    assert len(gaps) > 0 or size == 200


def test_svg_is_xml_and_escapes_names(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS.replace("name: left", "name: 'a<b>&c'") + ROBOT)
    path = [WorldPose(-1, 1), WorldPose(1, 1), WorldPose(1, -1)]
    root = etree.fromstring(write_svg(draw_world(world, paths={"rob": path})).encode())
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b>&c" in words
    assert "rob" in words


def test_furniture_has_its_name_where_there_is_room(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + TABLE)
    drawn = draw_world(world, size=800)
    words = {mark.text: mark for mark in drawn.marks if isinstance(mark, Words)}
    assert {"left", "right", "table0"} <= words.keys()


def test_the_edge_of_a_robot_is_halfway_between_its_colour_and_ink(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + ROBOT.replace("pose", "color: [1, 0, 0], pose"))
    marks = draw_world(world, size=800, names=False, nav_poses=False).marks
    for kind in (Disc, Area):  # the body and the arrow on it
        assert (148, 23, 29) in {mark.outline for mark in marks if isinstance(mark, kind)}


@pytest.mark.parametrize(
    ("center", "written"),
    [((100, 100), True), ((1, 100), False), ((100, 3), False), ((199, 100), False), ((100, 160), False)],
)
def test_a_name_that_would_reach_over_an_edge_is_left_out(center: tuple[float, float], written: bool) -> None:
    """Of 200 x 200 pixels the lowest 40 belong to the scale; a name has nowhere to go where nothing is apart."""
    picture = Drawing(200, 200, PAPER)
    PictureLabels(picture).put("name", center, 12.0, (0, 0, 0), apart=0.0)
    assert bool(picture.marks) == written


def test_steps_are_round() -> None:
    assert [choose_step(value) for value in (0.09, 0.1, 0.3, 4.0, 70.0)] == pytest.approx(
        [0.1, 0.1, 0.5, 5.0, 100.0]
    )


def test_an_empty_world_can_be_drawn(tmp_path: Path) -> None:
    assert write_png(draw_world(load(tmp_path, "params: {name: nothing}")[0], size=300))


def test_render_writes_both_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, ROOMS + HALL + TABLE)
    for name in ("top.png", "top.svg"):
        assert run(["world", "render", str(file), "-o", str(tmp_path / name), "--size", "400"]) == 0
        assert (tmp_path / name).stat().st_size > 1000
    assert run(["world", "render", str(file), "-o", str(tmp_path / "top.gif")]) == 2
    assert "ends in .png or .svg" in capsys.readouterr().err


def test_check_names_lines_and_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean = write(tmp_path, ROOMS + HALL + TABLE)
    assert run(["world", "check", str(clean)]) == 0
    assert "2 rooms, 1 hallways, 1 locations" in capsys.readouterr().out
    warned = write(tmp_path, ROOMS + TABLE)
    assert run(["world", "check", str(warned)]) == 0
    assert "no hallway leads there" in capsys.readouterr().out
    assert run(["world", "check", str(warned), "--strict"]) == 2
    wrong = write(tmp_path, ROOMS + "hallways: [{room_start: left, room_end: rigth, width: 1}]")
    assert run(["world", "check", str(wrong), "--format", "json"]) == 1
    assert "did you mean 'right'?" in capsys.readouterr().out
    assert run(["world", "check", str(wrong), "--reference"]) == 2
    assert run(["world", "check", str(tmp_path / "none.yaml")]) == 2


def test_the_sample_is_clean_in_both_modes(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--reference",)):
        assert run(["world", "check", str(samples / "lab" / "lab.yaml"), "--strict", *options]) == 0
    assert "4 rooms, 4 hallways, 5 locations, 7 objects, 2 robots" in capsys.readouterr().out


@pytest.mark.parametrize("size", range(300, 900, 30))
def test_the_caption_stays_clear_of_the_scale(size: int, tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + HALL)
    picture = draw_world(world, size=size, names=False)
    scale_end = max(
        mark.points[1][0] for mark in picture.marks if isinstance(mark, Line) and mark.width == 2.0
    )
    for caption in (mark for mark in picture.marks if isinstance(mark, Words) and "seed" in mark.text):
        start = caption.center[0] - 0.5 * caption.size * len(caption.text) / 2
        assert start > scale_end + 46
        assert caption.center[0] + 0.5 * caption.size * len(caption.text) / 2 == pytest.approx(
            picture.width - 46
        )


def test_a_wide_picture_says_what_it_shows(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + HALL)
    texts = [mark.text for mark in draw_world(world, size=1000).marks if isinstance(mark, Words)]
    assert f"small: 2 rooms, 1 hallway, 0 locations, 0 objects, 0 robots (seed {world.seed})" in texts


def test_an_open_door_is_two_lines_a_little_narrower_than_its_hallway(tmp_path: Path) -> None:
    world, _ = load(tmp_path, ROOMS + HALL)
    picture = draw_world(world, size=800, names=False, nav_poses=False)
    scale = (800 - 92) / (world.bounds[2] - world.bounds[0] + 0.4)
    doors = [mark for mark in picture.marks if isinstance(mark, Line) and mark.color == (120, 164, 118)]
    assert len(doors) == 2
    for door in doors:
        assert math.dist(*door.points) / scale == pytest.approx(0.92 * world.hallways[0].width, rel=1e-3)
