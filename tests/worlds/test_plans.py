# SPDX-License-Identifier: Apache-2.0
"""Floor plans of other programs become worlds whose walls are where the plan has them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
import yaml
from PIL import Image
from scipy import ndimage

from simwright.app.cli.main import run
from simwright.app.world_build import build_world, import_plan
from simwright.app.worlds import find_path, generate_worlds, load_world
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.worlds.grid import rasterize
from simwright.worlds.plans.rmf_writing import _list_wall_lines
from simwright.worlds.world import World

from .test_damage import damage

# SIMWRIGHT_DAMAGED=300 tries more than `make test` has time for
DAMAGED = int(os.environ.get("SIMWRIGHT_DAMAGED", "24"))
SCALE = 0.02
"""Metres per pixel of the building below."""


def make_building(**changes: Any) -> dict[str, Any]:
    """Two rooms side by side and a corridor below them, three doors, lanes, a charger with a robot."""
    points = [(0, 0), (300, 0), (600, 0), (0, 250), (300, 250), (600, 250), (0, 400), (600, 400)]
    gaps = [(100, 250), (150, 250), (400, 250), (450, 250), (300, 100), (300, 150)]
    vertices = [[x + 50, y + 50, 0, "", {}] for x, y in points + gaps]
    vertices += [
        [200, 150, 0, "pantry", {}],
        [500, 150, 0, "lab", {}],
        [100, 380, 0, "charger", {"is_charger": [4, True], "spawn_robot_name": [1, "tinyBot"]}],
    ]
    wall = {"alpha": [3, 1], "texture_name": [1, "default"]}
    walls = [(0, 2), (2, 7), (7, 6), (6, 0), (3, 8), (9, 10), (11, 5), (1, 12), (13, 4)]
    level = {
        "vertices": vertices,
        "walls": [[a, b, wall] for a, b in walls],
        "doors": [
            [8, 9, {"name": [1, "pantry_door"], "type": [1, "hinged"]}],
            [10, 11, {"name": [1, "lab_door"], "type": [1, "sliding"]}],
            [12, 13, {"name": [1, "side_door"], "type": [1, "hinged"]}],
        ],
        "floors": [{"parameters": {}, "vertices": [0, 2, 7, 6]}],
        "measurements": [[0, 2, {"distance": [3, 600 * SCALE]}]],
        "lanes": [[14, 15, {"graph_idx": [2, 0], "bidirectional": [4, True]}]],
        "models": [{"model_name": "OpenRobotics/Chair", "name": "chair", "x": 1, "y": 1, "yaw": 0, "z": 0}],
        "elevation": 0,
    }
    return {"name": "offices", "levels": {"L1": level | changes}}


def write(folder: Path, data: Any, name: str = "offices.building.yaml") -> Path:
    file = folder / name
    file.write_text(yaml.safe_dump(data))
    return file


def count_differences(world: World, free: Any, cell: float) -> tuple[int, int]:
    """Cells that are free here and more than one cell away from free there: ours, then theirs."""
    left, bottom, right, top = free.bounds
    x = np.arange(left - 0.5, right + 0.5, cell) + cell / 2
    y = np.arange(bottom - 0.5, top + 0.5, cell) + cell / 2
    theirs, ours = rasterize(free, x, y), rasterize(world.open_space, x, y)
    wide = np.ones((3, 3))
    assert theirs.sum() > 1000
    return (
        int((ours & ~ndimage.binary_dilation(theirs, wide)).sum()),
        int((theirs & ~ndimage.binary_dilation(ours, wide)).sum()),
    )


def test_rmf_walls_match_to_a_cell(tmp_path: Path) -> None:
    reporter = Reporter()
    _, world = import_plan(write(tmp_path, make_building()), tmp_path / "out", reporter=reporter)
    assert sorted(room.name for room in world.rooms) == ["lab", "pantry", "room"]
    assert {hallway.name: {room.name for room in hallway.rooms} for hallway in world.hallways} == {
        "pantry_door": {"pantry", "room"}, "lab_door": {"lab", "room"}, "side_door": {"pantry", "lab"},
    }  # fmt: skip
    # by hand: the outline less walls of 0.1 m along their middle lines; image y points down
    outline = shapely.box(1.0, -9.0, 13.0, -1.0).buffer(-0.05, join_style="mitre")
    rows = [(1, -6.05, 3.05, -5.95), (3.95, -6.05, 9.05, -5.95), (9.95, -6.05, 13, -5.95)]
    rows += [(6.95, -3.05, 7.05, -1), (6.95, -6.05, 7.05, -3.95)]
    walls = [shapely.box(*row) for row in rows]
    assert count_differences(world, outline.difference(shapely.union_all(walls)), 0.05) == (0, 0)
    said = [item.message for item in reporter]
    assert any("1 lanes of 'L1'" in text for text in said)
    assert any("1 models of 'L1' (OpenRobotics/Chair)" in text for text in said)
    assert any("how large its robots are" in text for text in said)


def test_robots_of_rmf_start_where_they_are_spawned_and_find_their_way(tmp_path: Path) -> None:
    _, world = import_plan(write(tmp_path, make_building()), tmp_path / "out")
    (robot,) = world.robots
    assert robot.name == "tinyBot"
    assert robot.pose.xy == pytest.approx((2.0, -7.6))
    answer = find_path(world, robot, "lab")
    assert answer.path is not None
    assert world.close("lab_door") == ""
    assert world.close("side_door") == ""
    assert find_path(world, robot, "lab").path is None


def test_a_door_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    doors = [[0, 1, {"name": [1, "front"]}], [4, 4, {"name": [1, "none"]}]]
    reporter = Reporter()
    import_plan(write(tmp_path, make_building(doors=doors)), tmp_path / "out", reporter=reporter)
    told = [item.message for item in reporter if item.kind == "world-import-door"]
    assert len(told) == 2
    assert all(item.where.line for item in reporter if item.kind == "world-import-door")


def test_a_room_around_another_one_is_cut_in_two(tmp_path: Path) -> None:
    inner = [(200, 150), (400, 150), (400, 250), (200, 250), (280, 250), (320, 250)]
    outer = [(0, 0), (600, 0), (600, 400), (0, 400)]
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 9), (8, 7), (7, 4)]
    level = {
        "vertices": [[x, y, 0, ""] for x, y in outer + inner],
        "walls": [[a, b, {}] for a, b in edges],
        "doors": [[8, 9, {"name": [1, "core"]}]],
        "floors": [{"vertices": [0, 1, 2, 3]}],
        "measurements": [[0, 1, {"distance": [3, 12.0]}]],
    }
    _, world = import_plan(write(tmp_path, {"name": "ring", "levels": {"L1": level}}), tmp_path / "out")
    assert len(world.rooms) == 3
    assert len(world.hallways) == 3
    core = shapely.box(3.95, -5.05, 8.05, -2.95).difference(shapely.box(4.05, -4.95, 7.95, -3.05))
    core = core.difference(shapely.box(5.65, -5.1, 6.35, -4.9))
    free = shapely.box(0.05, -7.95, 11.95, -0.05).difference(core)
    assert count_differences(world, free, 0.05) == (0, 0)


def test_a_room_that_a_slit_divides_becomes_two(tmp_path: Path) -> None:
    """Between two walls 12 mm are left, through which nothing goes: no half of the room may get lost."""
    points = [(0, 0), (600, 0), (600, 400), (0, 400), (250, 0), (250, 200), (250, 400), (250, 205.6)]
    level = {
        "vertices": [[x, y, 0, ""] for x, y in points],
        "walls": [[a, b, {}] for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (6, 7))],
        "floors": [{"vertices": [0, 1, 2, 3]}],
        "measurements": [[0, 1, {"distance": [3, 12.0]}]],
    }
    reporter = Reporter()
    file = write(tmp_path, {"name": "slit", "levels": {"L1": level}})
    _, world = import_plan(file, tmp_path / "out", reporter=reporter)
    free = shapely.box(0.05, -7.95, 11.95, -0.05).difference(shapely.box(4.95, -8.0, 5.05, 0.0))
    assert count_differences(world, free, 0.05) == (0, 0)
    assert len(world.rooms) == 2
    assert any("1 openings of 'L1' left out" in item.message for item in reporter)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"levels": {}}, "has 'levels'"),
        ({"levels": {"L1": 3}}, "a level is a mapping"),
        (make_building(measurements=[]), "no measurement"),
        (make_building(walls=[[0, 99, {}]]), "names two of the 17 vertices"),
        (make_building(vertices=[["a", 0, 0, ""]]), "a number is needed"),
        ({"coordinate_system": "wgs84"} | make_building(), "wgs84"),
        (make_building(floors=[], walls=[]), "no room was found"),
    ],
)
def test_broken_buildings_are_refused_with_a_message(tmp_path: Path, data: Any, text: str) -> None:
    with pytest.raises(SimwrightError) as raised:
        import_plan(write(tmp_path, data), tmp_path / "out")
    assert text in str(raised.value)


# -- maps ----------------------------------------------------------------------------------------------------------


def make_map(folder: Path, **changes: Any) -> tuple[Path, Any]:
    """Two rooms with a doorway of 0.9 m, a pillar, and unknown cells around; the floor as a polygon."""
    cell = 0.05
    image = np.full((120, 200), 205, dtype=np.uint8)
    image[8:112, 8:192] = 0
    image[10:110, 10:98] = 254
    image[10:110, 101:190] = 254
    image[50:68, 98:101] = 254
    image[30:38, 40:50] = 0
    Image.fromarray(image).save(folder / "map.pgm")
    data = {"image": "map.pgm", "resolution": cell, "origin": [-2.0, 1.0, 0.0], "negate": 0,
            "occupied_thresh": 0.65, "free_thresh": 0.196, "mode": "trinary"}  # fmt: skip
    file = folder / "map.yaml"
    file.write_text(yaml.safe_dump(data | changes))
    floors = [(10, 98, 10, 110), (101, 190, 10, 110), (98, 101, 52, 70)]  # columns, then rows from below
    free = shapely.union_all([shapely.box(x0, y0, x1, y1) for x0, x1, y0, y1 in floors])
    free = free.difference(shapely.box(40, 82, 50, 90))
    return file, shapely.transform(free, lambda points: points * cell + (-2.0, 1.0))


def test_nav2_walls_match_to_a_cell(tmp_path: Path) -> None:
    file, free = make_map(tmp_path)
    reporter = Reporter()
    _, world = import_plan(file, tmp_path / "out", reporter=reporter)
    assert (len(world.rooms), len(world.hallways), len(world.locations)) == (2, 1, 1)
    assert world.hallways[0].width == pytest.approx(0.9, abs=0.01)
    assert count_differences(world, free, 0.05) == (0, 0)
    assert any("unknown cells" in item.message for item in reporter)


def test_short_passages_stay_open(tmp_path: Path) -> None:
    """A room in a corner, with a gap across the end of one wall and a short passage in the other."""
    image = np.full((140, 140), 254, dtype=np.uint8)
    image[:2] = image[-2:] = image[:, :2] = image[:, -2:] = 0
    image[60:64, :30] = image[60:64, 46:50] = 0  # a wall along the room with a passage of 0.8 m
    image[:30, 58:66] = image[44:64, 50:58] = 0  # the other one, with a gap at an angle
    image[20:24, 100:140] = image[24:46, 100:102] = 0
    Image.fromarray(image).save(tmp_path / "map.pgm")
    file = tmp_path / "map.yaml"
    file.write_text("{image: map.pgm, resolution: 0.05, origin: [0, 0, 0], negate: 0}\n")
    reporter = Reporter()
    _, world = import_plan(file, tmp_path / "out", reporter=reporter)
    cells = np.argwhere(image[::-1] > 0)
    free = shapely.union_all(shapely.box(*(cells[:, ::-1] * 0.05).T, *((cells[:, ::-1] + 1) * 0.05).T))
    assert free.geom_type == "Polygon"
    assert len(world.rooms) > 1
    assert shapely.get_num_geometries(world.open_space) == 1
    assert count_differences(world, free, 0.05) == (0, 0)
    assert not [item.message for item in reporter if "left out" in item.message]


def test_maps_that_are_turned_or_negated(tmp_path: Path) -> None:
    file, free = make_map(tmp_path, origin=[-2.0, 1.0, 0.5])
    _, world = import_plan(file, tmp_path / "out")
    turned = shapely.affinity.rotate(free, 0.5, origin=(-2.0, 1.0), use_radians=True)
    # cells of a turned raster meet those of an upright one at any angle: to a cell means its diagonal
    assert count_differences(world, turned, 0.075) == (0, 0)
    with pytest.raises(SimwrightError, match="no room was found"):
        import_plan(make_map(tmp_path, negate=1, free_thresh=0.01)[0], tmp_path / "negated")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"image": "none.pgm"}, "no such file"),
        ({"image": ""}, "no such file"),
        ({"resolution": 1e-5}, "no room was found"),
        ({"image": "map.yaml"}, "cannot be read"),
        ({"resolution": 0}, "resolution has to be positive"),
        ({"resolution": "x"}, "resolution has to be a number"),
        ({"mode": "fancy"}, "fancy"),
        ({"image": "../../../../../../etc/passwd"}, "outside"),
    ],
)
def test_broken_maps_are_refused_with_a_message(tmp_path: Path, changes: Any, text: str) -> None:
    file, _ = make_map(tmp_path, **changes)
    with pytest.raises(SimwrightError) as raised:
        import_plan(file, tmp_path / "out")
    assert text in str(raised.value)
    assert raised.value.where is not None
    assert Path(raised.value.where.file).name == "map.yaml"
    assert raised.value.where.line


# -- drawings ------------------------------------------------------------------------------------------------------

SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 800">
 <g id="walls" stroke="black" stroke-width="10" fill="none">
  <rect x="5" y="5" width="1000" height="600"/>
  <path d="M 505 5 V 205"/>
  <path d="m 505 305 l 0 300"/>
 </g>
 <g class="furniture"><rect x="100" y="100" width="120" height="60" fill="brown"/></g>
 <line id="kitchen_door" class="door" x1="505" y1="205" x2="505" y2="305" stroke="red"/>
 <text x="200" y="400">Kitchen</text><text x="800" y="300">Living room</text>
</svg>"""


def test_svg_drawing(tmp_path: Path) -> None:
    file = tmp_path / "flat.svg"
    file.write_text(SVG)
    _, world = import_plan(file, tmp_path / "out", scale=0.01)
    assert sorted(room.name for room in world.rooms) == ["Kitchen", "Living_room"]
    assert [hallway.name for hallway in world.hallways] == ["kitchen_door"]
    free = (
        shapely.box(0.1, -6.0, 10.0, -0.1)
        .difference(shapely.box(5.0, -2.1, 5.1, 0))
        .difference(shapely.box(5.0, -6.1, 5.1, -3.0))
    )
    free = free.difference(shapely.box(1.0, -1.6, 2.2, -1.0))
    assert count_differences(world, free, 0.05) == (0, 0)
    with pytest.raises(SimwrightError, match="how large its building is"):
        import_plan(file, tmp_path / "other")


@pytest.mark.parametrize("sweep", [0, 1])
def test_a_round_room_of_arcs(tmp_path: Path, sweep: int) -> None:
    """Two half circles around (3, 2) with a radius of 2 m, either way round."""
    file = tmp_path / "round.svg"
    arcs = f"M 100 200 A 200 200 0 0 {sweep} 500 200 A 200 200 0 0 {sweep} 100 200 Z"
    file.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><g id="walls" stroke="black" '
        f'stroke-width="10" fill="none"><path d="{arcs}"/></g></svg>'
    )
    _, world = import_plan(file, tmp_path / "out", scale=0.01)
    (room,) = world.rooms
    low_x, low_y, high_x, high_y = room.polygon.bounds
    assert (high_x - low_x, high_y - low_y) == (pytest.approx(4.0, abs=0.15), pytest.approx(4.0, abs=0.15))
    assert room.polygon.area == pytest.approx(math.pi * 1.95**2, rel=0.02)


@pytest.mark.parametrize(
    "text", ["<svg", "<html/>", "<svg><path d='M 0'/></svg>", "<svg><rect transform='fly(1)'/></svg>", ""]
)
def test_broken_drawings_are_refused_with_a_message(tmp_path: Path, text: str) -> None:
    file = tmp_path / "flat.svg"
    file.write_text(text)
    with pytest.raises(SimwrightError):
        import_plan(file, tmp_path / "out", scale=0.01)


def test_dxf_drawing(tmp_path: Path) -> None:
    ezdxf = pytest.importorskip("ezdxf")
    document = ezdxf.new(units=4)  # millimetres
    space = document.modelspace()
    # walls as pairs of lines, 200 mm apart, with a doorway of 900 mm and the swing of its leaf
    for a, b in ((0, 10000), (200, 9800)):
        space.add_lwpolyline(
            [(a, a), (b, a), (b, b - 4000), (a, b - 4000)], close=True, dxfattribs={"layer": "A-WALL"}
        )
    for y0, y1 in ((200, 2000), (2900, 5800)):
        space.add_lwpolyline(
            [(4900, y0), (5100, y0), (5100, y1), (4900, y1)], close=True, dxfattribs={"layer": "A-WALL"}
        )
    space.add_line((5100, 2000), (6000, 2000), dxfattribs={"layer": "A-DOOR"})
    space.add_arc((5100, 2000), 900, 0, 90, dxfattribs={"layer": "A-DOOR"})
    space.add_text("Office", dxfattribs={"insert": (2000, 3000), "layer": "A-TEXT"})
    space.add_linear_dim(base=(0, -500), p1=(0, 0), p2=(10000, 0), dxfattribs={"layer": "A-DIM"}).render()
    document.saveas(tmp_path / "flat.dxf")
    _, world = import_plan(tmp_path / "flat.dxf", tmp_path / "out")
    assert sorted(room.name for room in world.rooms) == ["Office", "room"]
    assert [hallway.name for hallway in world.hallways] == ["door0"]
    free = (
        shapely.box(0.2, 0.2, 9.8, 5.8)
        .difference(shapely.box(4.9, 0, 5.1, 2.0))
        .difference(shapely.box(4.9, 2.9, 5.1, 6))
    )
    assert count_differences(world, free, 0.05) == (0, 0)


def test_import_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, make_building())
    assert run(["world", "import", str(file), "-o", str(tmp_path / "out"), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["world"]["rooms"]) == 3
    assert {row["code"] for row in answer["findings"]} >= {"world-import-left", "world-import-assumed"}
    assert run(["world", "import", str(file), "-o", str(tmp_path / "text")]) == 0
    said = capsys.readouterr()
    assert "3 rooms, 3 hallways" in said.out
    assert "lanes of 'L1' left out" in " ".join(said.err.split())
    assert run(["world", "import", str(tmp_path / "none.txt"), "-o", str(tmp_path / "b")]) == 2
    (tmp_path / "plan.txt").write_text("x")
    assert run(["world", "import", str(tmp_path / "plan.txt"), "-o", str(tmp_path / "b")]) == 2


# -- the other way -------------------------------------------------------------------------------------------------


def test_a_building_written_for_rmf_comes_back(tmp_path: Path) -> None:
    _, world = import_plan(write(tmp_path, make_building()), tmp_path / "first")
    built = build_world(world, tmp_path / "out", ("rmf",))
    reporter = Reporter()
    _, again = import_plan(built.entries["rmf"], tmp_path / "second", reporter=reporter)
    assert {hallway.name for hallway in again.hallways} == {"pantry_door", "lab_door", "side_door"}
    assert count_differences(again, world.open_space, 0.05) == (0, 0)
    assert [robot.name for robot in again.robots] == ["tinyBot"]
    graph = yaml.safe_load((tmp_path / "out" / "rmf" / "nav_graphs" / "0.yaml").read_text())
    lanes, vertices = (graph["levels"]["L1"][key] for key in ("lanes", "vertices"))
    assert {lane[2].get("door_name") for lane in lanes} >= {"pantry_door", "lab_door", "side_door"}
    assert all(0 <= number < len(vertices) for lane in lanes for number in lane[:2])
    assert {row[2]["name"] for row in vertices} >= {"lab", "pantry", "room"}
    assert graph["doors"].keys() == {"pantry_door", "lab_door", "side_door"}


def test_rooms_closer_than_a_wall_share_one_in_rmf(tmp_path: Path) -> None:
    file = tmp_path / "pair.yaml"
    file.write_text(
        "rooms:\n"
        "  - {name: a, wall_width: 0.02, footprint: {type: box, dims: [4, 4]}}\n"
        "  - {name: b, wall_width: 0.02, footprint: {type: box, dims: [4, 4]}, pose: [4.06, 0]}\n"
    )
    lines = _list_wall_lines(load_world(file).rooms)
    between = shapely.box(2.0, -1.0, 2.06, 1.0)
    found = shapely.intersection(shapely.union_all(lines), between)
    assert found.length == pytest.approx(2.0), "one wall, not one for each room"
    assert found.centroid.x == pytest.approx(2.03)


def test_worlds_of_other_styles_keep_their_floor_in_rmf(tmp_path: Path) -> None:
    world = load_world(generate_worlds(tmp_path / "home", "home", 6, 3)[0])
    reporter = Reporter()
    built = build_world(world, tmp_path / "out", ("rmf",), reporter=reporter)
    assert any("locations: models of RMF" in item.message for item in reporter)
    _, again = import_plan(built.entries["rmf"], tmp_path / "again")
    assert len(again.rooms) == len(world.rooms)
    assert count_differences(again, world.sensing_space, 0.05) == (0, 0)


def test_damaged_plans_are_refused_or_read(tmp_path: Path) -> None:
    """Whatever a plan says, it becomes a world or an error with a message."""
    made = 0
    for number in range(DAMAGED):
        chance = random.Random(number)
        kind = ("rmf", "nav2", "svg")[number % 3]
        file = tmp_path / f"plan{number}.{'svg' if kind == 'svg' else 'yaml'}"
        if kind == "rmf":
            file.write_text(yaml.safe_dump(damage(make_building(), chance)))
        elif kind == "nav2":
            make_map(tmp_path)
            file.write_text(
                yaml.safe_dump(damage(yaml.safe_load((tmp_path / "map.yaml").read_text()), chance))
            )
        else:
            words = re.split(r"(\d+|[A-Za-z]+)", SVG)
            words[chance.randrange(len(words))] = chance.choice(
                ("-1", "1e99", "", "nan", "&x;", "<g>", "Q", "0")
            )
            file.write_text("".join(words))
        with contextlib.suppress(SimwrightError):
            import_plan(file, tmp_path / str(number), source=kind, scale=0.01)
            made += 1
    assert 0 < made < DAMAGED
