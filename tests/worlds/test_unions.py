# SPDX-License-Identifier: Apache-2.0
"""Unions of floor plans lose nothing: GEOS itself leaves rooms out where edges nearly coincide."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from simwright.worlds.polygons import _is_solid, cut_polygons, join_polygons
from simwright.worlds.read import is_passable, read_world

PLANS = 2000


def make_plan(seed):
    """Floors of rooms and of the corridors between their middles, without the rooms: turned by any angle."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 13))
    middles = np.array([divmod(number, 4) for number in range(count)]) * 6.0
    half = rng.uniform(1.2, 2.9, (count, 2)) - rng.uniform(0.05, 0.3, (count, 1))
    first, second = np.triu_indices(count, 1)
    chosen = rng.random(len(first)) < 0.3
    first, second = first[chosen], second[chosen]
    turn = rng.uniform(-np.pi, np.pi)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = middles[:, None] + half[:, None] * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    rooms = shapely.polygons(corners @ rotation.T)
    lines = shapely.linestrings(np.stack([middles[first], middles[second]], axis=1) @ rotation.T)
    halls = shapely.buffer(lines, rng.uniform(0.3, 0.9, len(lines)), cap_style="flat")
    for room in rooms:
        halls = shapely.difference(halls, room)
    return [*rooms, *halls]


@pytest.mark.parametrize("block", range(4))
def test_no_floor_is_lost(block):
    for seed in range(block * PLANS // 4, (block + 1) * PLANS // 4):
        parts = np.array(make_plan(seed), dtype=object)
        union = join_polygons(parts)
        lost = shapely.area(shapely.difference(parts, union, grid_size=1e-9))
        assert lost.max() < 1e-6, seed
        most = shapely.area(parts).sum()
        assert union.area <= most + 1e-6, seed


def test_holes_take_no_more_than_themselves():
    for seed in range(200):
        parts = make_plan(seed)
        floor = join_polygons(parts[1:])
        rest = cut_polygons(floor, [parts[0]])
        assert rest.area == pytest.approx(floor.area - floor.intersection(parts[0]).area, abs=1e-6)
    assert cut_polygons(floor, []) is floor


@pytest.mark.parametrize("turn", [0.0, 30.0])
def test_a_union_that_lost_a_part_is_computed_again(monkeypatch, turn):
    """Boxes, whose overlaps are found from their bounds, and turned ones: both have the same bound."""
    rows = [(0, 0, 4, 3), (3, 1, 6, 5), (6, 1, 8, 5), (20, 0, 20.3, 0.3)]
    parts = [shapely.affinity.rotate(shapely.box(*row), turn, origin=(0, 0)) for row in rows]
    whole, union = shapely.union_all(parts), shapely.union_all
    grids = []

    def lose(polygons, grid_size=None):
        grids.append(grid_size)
        return union(polygons[:-1]) if grid_size is None else union(polygons, grid_size=grid_size)

    monkeypatch.setattr(shapely, "union_all", lose)
    assert join_polygons(parts).area == pytest.approx(whole.area, abs=1e-6)
    assert grids == [None, 1e-9]


@pytest.mark.parametrize("width", [0.5, 1.5, 1.99, 2.01, 3.0, 4.0, 8.0, 1e3])
def test_thin_outlines_are_solid_where_something_is_left_of_them(width):
    """As wide as so many hundredths of a millimetre: straight, with a corner, around a hole."""
    w = width * 1e-5
    ring = shapely.box(0, 0, 1, 1)
    shapes = [
        shapely.box(0, 0, 1, w),
        shapely.Polygon([(0, 0), (1, 0), (1, 1), (1 - w, 1), (1 - w, w), (0, w)]),
        ring.difference(ring.buffer(-w, join_style="mitre")),
        shapely.Polygon([(0, 0), (1, 0), (0.5, w)]),
    ]
    for shape in shapes:
        left = shape.area > 1e-7 and not shape.buffer(-1e-5).is_empty
        assert _is_solid(shape) == left


def make_turned_world(seed):
    """Three rooms in a row, turned by any angle, with hallways that reach into them far, or hardly at all."""
    rng = np.random.default_rng((seed, 5))
    turn, at = rng.uniform(-np.pi, np.pi), rng.uniform(-50.0, 50.0, 2)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])

    def place(points):
        return np.round(np.array(points) @ rotation.T + at, 5).tolist()

    reach = rng.choice([0.02, 0.1, 0.8])
    rooms, hallways = [], []
    for number in range(3):
        left = 4.0 * number
        corners = [(left, -1.5), (left + 3.8, -1.5), (left + 3.8, 1.5), (left, 1.5)]
        rooms.append(f"  - {{name: r{number}, wall_width: 0.1, footprint: {place(corners)}}}")
    for number in range(2):
        y = rng.uniform(-0.9, 0.9)
        line = place([(4.0 * number + 3.8 - reach, y), (4.0 * number + 4.0 + reach, y)])
        hallways.append(
            f"  - {{room_start: r{number}, room_end: r{number + 1}, width: 0.9, wall_width: 0.05,"
            f" conn_method: points, conn_points: {line}}}"
        )
    return "\n".join(["params: {inflation_radius: 0.2}", "rooms:", *rooms, "hallways:", *hallways, ""])


def test_open_doors_are_ways_at_any_angle(tmp_path):
    """Free space covers every passage: neither rounding nor short hallways cut rooms off."""
    file = tmp_path / "world.yaml"
    for seed in range(150):
        file.write_text(make_turned_world(seed))
        world = read_world(file)
        assert len(world.hallways) == 2, seed
        assert shapely.get_num_geometries(world.free_space) == 1, seed
        assert all(is_passable(hallway) for hallway in world.hallways), seed
        # 3 rooms of 3.4 m x 2.6 m, and 0.5 m of width between them, 0.6 m long
        assert world.free_space.area == pytest.approx(3 * 3.4 * 2.6 + 2 * 0.5 * 0.6, abs=1e-3), seed
