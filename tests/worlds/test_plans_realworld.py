# SPDX-License-Identifier: Apache-2.0
"""Maps of public projects become worlds whose walls are where the maps have them, to a cell.

``SIMWRIGHT_PUBLIC_MAPS`` names a folder with the maps, at any depth: the buildings of Open-RMF's demonstrations and the
maps of Nav2's bring-up.  What a map says is worked out here from its pixels, or from its points and measurements, by
nothing of what the importers use.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
import yaml
from scipy import ndimage

from simwright.app.world_build import import_plan
from simwright.core.diag import Reporter
from simwright.worlds.world import World

pytestmark = pytest.mark.realworld
FOLDER = os.environ.get("SIMWRIGHT_PUBLIC_MAPS", "")
CELL = 0.05
WALL = 0.1
"""How thick the building map tools of Open-RMF make walls [m]."""
AROUND = np.ones((3, 3), dtype=bool)
BUILDINGS = ("office", "hotel", "triple_H", "battle_royale", "clinic", "airport_terminal")
MAPS = ("tb3_sandbox", "depot", "warehouse", "smoothers_world")


def find_map(name: str) -> Path:
    found = sorted(Path(FOLDER).rglob(name)) if FOLDER else []
    if not found:
        pytest.skip(f"real-world assets are absent: SIMWRIGHT_PUBLIC_MAPS names no folder with {name}")
    return found[0]


def find_open(world: World, x: Any, y: Any) -> Any:
    """Which points of a raster are in the space that the world leaves open, asked of the polygon point by point."""
    shapely.prepare(world.open_space)
    along, up = np.meshgrid(x, y)
    return shapely.intersects_xy(world.open_space, along, up)


def sum_told(reporter: Reporter) -> float:
    """The area [m2] of what was told to be left out, and what two decimals may take of it."""
    told = [item.message for item in reporter if item.kind == "world-import-left"]
    return 0.01 + sum(float(area) for text in told for area in re.findall(r"\(([0-9.]+) m2", text))


def read_pixels(file: Path) -> Any:
    """The brightness of a PGM image, from 0 to 1, the lowest row first."""
    data = file.read_bytes()
    gap = rb"\s+(?:#[^\n]*\n\s*)*"
    head = re.match(gap.join((rb"(P[25])", rb"(\d+)", rb"(\d+)", rb"(\d+)")) + rb"\s", data)
    assert head is not None
    width, height, top = (int(head[number]) for number in (2, 3, 4))
    rest = data[head.end() :]
    pixels = np.frombuffer(rest, np.uint8) if head[1] == b"P5" else np.array(rest.split(), dtype=int)
    return pixels[: width * height].reshape(height, width)[::-1] / top


@pytest.mark.parametrize("name", MAPS)
def test_walls_of_a_nav2_map_match_to_a_cell(tmp_path: Path, name: str) -> None:
    file = find_map(f"{name}.yaml")
    about = yaml.safe_load(file.read_text())
    assert not about["negate"]
    free = 1.0 - read_pixels(file.parent / about["image"]) < about["free_thresh"]
    reporter = Reporter()
    _, world = import_plan(file, tmp_path / "out", reporter=reporter)
    (left, bottom, _), cell = about["origin"], about["resolution"]
    rows, columns = free.shape
    ours = find_open(world, left + (np.arange(columns) + 0.5) * cell, bottom + (np.arange(rows) + 0.5) * cell)
    assert free.sum() > 1000
    assert (ours & ~ndimage.binary_dilation(free, AROUND)).sum() == 0, "open where the map has a wall"
    lost = float((free & ~ndimage.binary_dilation(ours, AROUND)).sum()) * cell**2
    assert lost <= sum_told(reporter), "a wall where the map is free, and not told"
    assert lost < 0.03 * free.sum() * cell**2


@pytest.mark.parametrize("name", BUILDINGS)
def test_walls_of_a_building_of_rmf_match_to_a_cell(tmp_path: Path, name: str) -> None:
    file = find_map(f"{name}.building.yaml")
    data = yaml.safe_load(file.read_text())
    levels = data["levels"]
    reference = levels[data.get("reference_level_name") or next(iter(levels))]
    for word, level in levels.items():
        points = place_points(level, reference)
        walls = shapely.union_all(
            [
                shapely.LineString(points[row[:2]]).buffer(WALL / 2, cap_style="square")
                for row in level["walls"]
            ]
        )
        floors = shapely.union_all(list_areas(level, "floors", points))
        free = floors.difference(shapely.union_all([walls, *list_areas(level, "holes", points)]))
        reporter = Reporter()
        _, world = import_plan(file, tmp_path / word, reporter=reporter, level=word)
        left, bottom, right, top = free.bounds
        x, y = np.arange(left - 0.5, right + 0.5, CELL), np.arange(bottom - 0.5, top + 0.5, CELL)
        shapely.prepare(free)
        theirs, ours = shapely.intersects_xy(free, *np.meshgrid(x, y)), find_open(world, x, y)
        assert theirs.sum() > 1000
        # cabins of lifts stand in shafts that the map does not draw: nothing of theirs to compare with
        beside = ~shapely.intersects_xy(find_lifts(data, reference), *np.meshgrid(x, y))
        assert (beside & ours & ~ndimage.binary_dilation(theirs, AROUND)).sum() == 0, (
            word,
            "a wall is missing",
        )
        lost = float((beside & theirs & ~ndimage.binary_dilation(ours, AROUND)).sum()) * CELL**2
        assert lost <= sum_told(reporter), (word, "a wall where none is, and not told")
        assert lost < 0.001 * theirs.sum() * CELL**2


def place_points(level: dict[str, Any], reference: dict[str, Any]) -> Any:
    """The vertices of a level in metres: by the measurements of the reference level, and fiducials of both."""
    pixels = [complex(row[0], -row[1]) for row in reference["vertices"]]
    scale = np.mean(
        [values["distance"][1] / abs(pixels[a] - pixels[b]) for a, b, values in reference["measurements"]]
    )
    points = np.array([complex(row[0], -row[1]) for row in level["vertices"]])
    if level.get("fiducials") != reference.get("fiducials"):
        # the turn, scale and shift that are nearest to bringing fiducials onto those of the reference level
        there = {row[2]: complex(row[0], -row[1]) for row in reference["fiducials"]}
        here = {row[2]: complex(row[0], -row[1]) for row in level["fiducials"] if row[2] in there}
        pairs = np.array([(here[word], there[word]) for word in here])
        system = np.column_stack((pairs[:, 0], np.ones(len(pairs))))
        (turn, shift), *_ = np.linalg.lstsq(system, pairs[:, 1])
        points = points * turn + shift
    return np.column_stack((points.real, points.imag)) * scale


def find_lifts(data: dict[str, Any], reference: dict[str, Any]) -> Any:
    """A disc around every lift and the walls of its shaft."""
    rows = list((data.get("lifts") or {}).values())
    places = place_points(reference | {"vertices": [[row["x"], row["y"]] for row in rows]}, reference)
    return shapely.union_all(
        [
            shapely.Point(place).buffer(math.hypot(row["width"], row["depth"]) / 2 + 0.5)
            for row, place in zip(rows, places, strict=True)
        ]
    )


def list_areas(level: dict[str, Any], key: str, points: Any) -> list[Any]:
    return [shapely.make_valid(shapely.Polygon(points[row["vertices"]])) for row in level.get(key) or []]
