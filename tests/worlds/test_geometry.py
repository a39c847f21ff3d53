"""Doors, free space, grids and graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely
from benchmarks.world_files import write_world

from simwright.worlds.free_space import compute_free_space
from simwright.worlds.graph import build_graph
from simwright.worlds.grid import make_grid, rasterize
from simwright.worlds.read import read_world
from simwright.worlds.world import World

from .text import HALL, ROOMS, TABLE, load


def close_rooms(folder: Path, gap: float, **options: object) -> World:
    text = ROOMS.replace("pose: [6, 0]", f"pose: [{4 + gap}, 0]") + HALL.replace("}", ", is_open: false}")
    return load(folder, text, **options)[0]


@pytest.mark.parametrize("gap", [0.25, 0.3, 0.39, 0.41, 2.0])
def test_a_closed_door_blocks_at_any_distance(tmp_path: Path, gap: float) -> None:
    world = close_rooms(tmp_path, gap)
    assert len(shapely.get_parts(world.free_space)) == 2
    assert world.open("hall_left_right") == ""
    assert len(shapely.get_parts(world.free_space)) == 1


def test_the_reference_door_is_open_where_walls_meet(tmp_path: Path) -> None:
    assert len(shapely.get_parts(close_rooms(tmp_path, 0.3, reference=True).free_space)) == 1


def test_a_slanted_gap_is_closed_all_the_way(tmp_path: Path) -> None:
    """The outer walls meet on one side of the corridor only."""
    text = (
        "rooms:\n  - {name: left, footprint: {type: box, dims: [4, 4]}}\n"
        "  - {name: right, footprint: [[2.3, -2], [6, -2], [6, 2], [3.0, 2]]}\n"
        + HALL.replace("width: 1.0}", "width: 3.0, is_open: false}")
    )
    world = load(tmp_path, text)[0]
    assert len(shapely.get_parts(world.free_space)) == 2


def test_locks_and_robots_keep_doors_as_they_are(tmp_path: Path) -> None:
    world = load(tmp_path, ROOMS + HALL + "robots: [{radius: 0.1, pose: [3, 0]}]")[0]
    assert "stands in" in world.close("hall_left_right")
    assert world.close("hall_left_right", ignore=world.robots) == ""
    assert world.lock("hall_left_right") == ""
    assert "locked" in world.open("hall_left_right")
    assert world.unlock("hall_left_right") == ""
    assert world.open("hall_left_right") == ""
    assert "cannot" in world.open("left")


def test_a_pose_is_somewhere(tmp_path: Path) -> None:
    world = load(tmp_path, ROOMS + HALL + TABLE)[0]
    spawn = world.spawns[0]
    assert world.locate(spawn.nav_poses[0]) is spawn
    assert world.locate(world.hallways[0].nav_poses[0]) is world.hallways[0]
    assert world.locate(world.rooms[0].pose) is world.rooms[0]


def test_solid_and_open_space_fill_the_building(tmp_path: Path) -> None:
    world = load(tmp_path, ROOMS + HALL + TABLE)[0]
    both = world.solid_space.union(world.open_space)
    assert both.area == pytest.approx(world.solid_space.area + world.open_space.area)
    assert both.area == pytest.approx(2 * 4.4**2 + 1.4 * 1.6)


def test_a_raster_agrees_with_the_polygon_point_by_point() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        outline = shapely.Polygon(random.uniform(-1, 1, (7, 2))).buffer(0.05)
        space = outline.difference(shapely.Point(random.uniform(-0.4, 0.4, 2)).buffer(0.2))
        x = np.arange(-1.2, 1.2, 0.013)
        y = np.arange(-1.1, 1.3, 0.017)
        expected = shapely.intersects_xy(space, *np.meshgrid(x, y, indexing="ij"))
        np.testing.assert_array_equal(rasterize(space, x, y), expected)


def test_points_on_edges_are_free() -> None:
    space = shapely.box(0, 0, 1, 1).difference(shapely.box(0.25, 0.25, 0.5, 0.75))
    x = np.arange(-0.5, 1.5, 0.25)
    expected = shapely.intersects_xy(space, *np.meshgrid(x, x, indexing="ij"))
    np.testing.assert_array_equal(rasterize(space, x, x), expected)
    assert expected[2, 2]
    assert rasterize(shapely.Polygon(), x, x).sum() == 0


def test_a_grid_looks_at_the_middle_of_its_cells(tmp_path: Path) -> None:
    world = load(tmp_path, ROOMS + HALL)[0]
    grid = make_grid(world, 0.1, 0.1)
    i, j = grid.to_cell(0.0, 0.0)
    assert not grid.is_occupied(i, j)
    assert grid.is_occupied(-1, 0)
    x, y = grid.to_point(i, j)
    assert grid.to_cell(x, y) == (i, j)
    space = compute_free_space(world, 0.1)
    centers = [grid.to_point(a, b) for a in range(0, grid.shape[0], 7) for b in range(0, grid.shape[1], 7)]
    for (x, y), expected in zip(centers, shapely.intersects_xy(space, *np.array(centers).T), strict=True):
        assert grid.is_occupied(*grid.to_cell(x, y)) is not bool(expected)


def test_graph_ways_are_free_and_reach_both_rooms(tmp_path: Path) -> None:
    world = load(tmp_path, ROOMS + HALL + TABLE)[0]
    graph = build_graph(world)
    assert {node.entity.name for node in graph.nodes} == {"left", "right", "hall_left_right", "table0_top"}
    for first, second in graph.edges:
        line = shapely.LineString([graph.nodes[first].pose.xy, graph.nodes[second].pose.xy])
        assert world.free_space.covers(line)
    reached, waiting = {0}, [0]
    neighbors = graph.list_neighbors()
    while waiting:
        for other, _ in neighbors[waiting.pop()]:
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    assert len(reached) == len(graph.nodes)
    assert len(build_graph(world, max_distance=0.5).edges) < len(graph.edges)


def test_the_graph_grows_with_the_rooms_and_not_with_their_square(tmp_path: Path) -> None:
    counts = {}
    for rooms in (25, 100):
        world = read_world(write_world(tmp_path, rooms, 0))
        graph = build_graph(world)
        counts[rooms] = len(graph.edges)
        # from every node every other can be reached
        neighbors, seen, stack = graph.list_neighbors(), {0}, [0]
        while stack:
            for other, _ in neighbors[stack.pop()]:
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        assert len(seen) == len(graph.nodes)
    # hallways at the edge of the building are fewer in small ones; all pairs would be 16 times as many
    assert counts[100] < 5.0 * counts[25]
