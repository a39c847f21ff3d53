"""Planners: shortest on grids, never through anything, the same for the same seed."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from simwright.core.errors import StrictError, UnknownNameError, UsageError
from simwright.worlds.planning.astar import SAVING, AStarPlanner, find_cells
from simwright.worlds.planning.planner import PLANNERS, Planner, make_planner
from simwright.worlds.planning.reference import ReferenceAStar
from simwright.worlds.planning.rrt import SearchTree
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

from ..flat import make_flat

START, GOAL = WorldPose.from_yaw(-1.0, 1.0, 0.0, 0.3), WorldPose.from_yaw(7.0, 0.5, 0.0, 1.0)
ALL = [
    ("astar", {}),
    ("astar", {"diagonal_motion": False}),
    ("astar", {"heuristic": "manhattan"}),
    ("astar", {"heuristic": "none", "compress_path": True}),
    ("rrt", {"max_nodes_sampled": 5000}),
    ("rrt", {"rrt_connect": True}),
    ("rrt", {"bidirectional": True}),
    ("rrt", {"bidirectional": True, "rrt_connect": True, "compress_path": True}),
    ("rrt", {"rrt_star": True, "max_nodes_sampled": 5000, "max_connection_dist": 0.5}),
    ("rrt", {"bidirectional": True, "rrt_connect": True, "rrt_star": True}),
    ("prm", {"max_nodes": 150}),
    ("prm", {"max_nodes": 150, "compress_path": True}),
    ("world_graph", {}),
    ("world_graph", {"compress_path": True}),
]


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_flat(tmp_path_factory.mktemp("flat"))


def plan(world: World, kind: str, seed: int = 5, **options: object) -> Planner:
    return make_planner(world, world.robots[0], kind, seed=seed, **options)


def compute_dijkstra(
    occupied: np.ndarray, start: tuple[int, int], diagonal: bool, corners: bool
) -> np.ndarray:
    """Costs of all cells by a library, from the same rules."""
    width, height = occupied.shape
    free = ~occupied
    rows, columns, costs = [], [], []
    steps = [(1, 0), (0, 1)] + ([(1, 1), (1, -1)] if diagonal else [])
    numbers = np.arange(width * height).reshape(width, height)
    for di, dj in steps:
        here = (slice(0, width - di), slice(max(0, -dj), height - max(0, dj)))
        there = (slice(di, width), slice(max(0, dj), height - max(0, -dj)))
        both = free[here] & free[there]
        if di and dj and not corners:
            both &= free[here[0], there[1]] & free[there[0], here[1]]
        rows.append(numbers[here][both])
        columns.append(numbers[there][both])
        costs.append(np.full(both.sum(), math.hypot(di, dj)))
    i, j, c = (np.concatenate(part) for part in (rows, columns, costs))
    graph = coo_array((c, (i, j)), shape=(width * height, width * height)).tocsr()
    return dijkstra(graph, directed=False, indices=numbers[start]).reshape(width, height)


def test_rrt_goes_straight_to_what_is_within_its_reach(flat: World) -> None:
    """One step of the tree is enough: nothing is drawn, and the path has no corner."""
    start, goal = START, WorldPose.from_yaw(START.x + 0.2, START.y)
    answer = plan(flat, "rrt", max_connection_dist=0.5).plan(start, goal)
    assert answer.explored == 0
    assert len(answer.path.points) == 2


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_star_is_as_short_as_dijkstra(seed: int, diagonal: bool, corners: bool) -> None:
    random = np.random.default_rng(seed)
    occupied = random.random((30, 41)) < 0.1 + 0.05 * seed
    occupied[2, 3] = occupied[27, 36] = False
    costs = compute_dijkstra(occupied, (2, 3), diagonal, corners)
    framed = np.ones((32, 43), dtype=np.uint8)
    framed[1:-1, 1:-1] = occupied
    last = 28 * 43 + 37

    for saving in (SAVING if diagonal else 0.0, None):
        cells, _ = find_cells(
            framed.tobytes(), 43, (3 * 43 + 4, last), saving, diagonal=diagonal, corners=corners
        )
        if cells is None:
            assert math.isinf(costs[27, 36])
            continue
        steps = np.diff([divmod(cell, 43) for cell in cells], axis=0)
        assert np.abs(steps).max() == 1
        assert sum(math.hypot(*step) for step in steps) == pytest.approx(costs[27, 36], abs=1e-9)


@pytest.mark.parametrize("heuristic", ["euclidean", "none"])
def test_a_star_in_a_world_is_as_short_as_dijkstra(flat: World, heuristic: str) -> None:
    planner = plan(flat, "astar", heuristic=heuristic)
    assert isinstance(planner, AStarPlanner)
    start = WorldPose(*planner_point(planner, -1.0, 1.0))
    goal = WorldPose(*planner_point(planner, 7.0, 0.5))
    answer = planner.plan(start, goal)
    costs = compute_dijkstra(planner.grid.occupied, planner.grid.to_cell(*start.xy), True, False)
    assert answer.path is not None
    assert answer.path.length == pytest.approx(0.05 * costs[planner.grid.to_cell(*goal.xy)], abs=1e-6)


def planner_point(planner: AStarPlanner, x: float, y: float) -> tuple[float, float]:
    """The middle of the cell of a point."""
    planner.plan(START, GOAL)
    return planner.grid.to_point(*planner.grid.to_cell(x, y))


@pytest.mark.parametrize(("kind", "options"), ALL)
def test_paths_are_free_and_end_where_they_should(flat: World, kind: str, options: dict[str, object]) -> None:
    answer = plan(flat, kind, **options).plan(START, GOAL)
    assert answer.path is not None, answer.reason
    poses = answer.path.poses
    assert poses[0] is START
    assert poses[-1] is GOAL
    assert flat.inflation_radius == 0.2
    assert shapely.covers(flat.free_space, shapely.LineString(answer.path.points))
    solid = flat.solid_space
    assert shapely.distance(solid, shapely.LineString(answer.path.points)) >= 0.2 - 1e-9
    for before, pose in pairwise(poses[:-1]):
        assert pose.yaw == pytest.approx(math.atan2(pose.y - before.y, pose.x - before.x))


@pytest.mark.parametrize(("kind", "options"), ALL)
def test_the_same_seed_gives_the_same_path(flat: World, kind: str, options: dict[str, object]) -> None:
    first, second = (plan(flat, kind, **options).plan(START, GOAL) for _ in range(2))
    assert first.path == second.path
    planner = plan(flat, kind, **options)
    assert planner.plan(START, GOAL).path == first.path
    planner.reset()
    assert planner.plan(START, GOAL).path == first.path


@pytest.mark.parametrize("kind", ["rrt", "prm"])
def test_another_seed_gives_another_path(flat: World, kind: str) -> None:
    options = {"max_nodes": 150} if kind == "prm" else {"rrt_connect": True}
    paths = {plan(flat, kind, seed, **options).plan(START, GOAL).path for seed in range(4)}
    assert len(paths) > 1


@pytest.mark.parametrize("kind", ["astar", "world_graph"])
def test_way_and_way_back_are_equally_long(flat: World, kind: str) -> None:
    planner = plan(flat, kind)
    start, goal = WorldPose(-1.025, 1.0), WorldPose(7.075, 0.5)
    there, back = planner.plan(start, goal).path, planner.plan(goal, start).path
    assert there is not None
    assert back is not None
    assert there.length == pytest.approx(back.length)


def test_a_symmetric_world_has_symmetric_paths(tmp_path: Path) -> None:
    world = make_flat(tmp_path)
    planner = plan(world, "astar")
    lengths = []
    for x, y in ((-1.5, 1.5), (-1.5, -1.5)):
        answer = planner.plan(WorldPose(-1.5, 0.0), WorldPose(x, y))
        assert answer.path is not None
        lengths.append(answer.path.length)
    assert lengths[0] == pytest.approx(lengths[1], abs=0.05)


def test_costs_in_a_tree_follow_their_parents() -> None:
    random = np.random.default_rng(1)
    tree = SearchTree(np.zeros(2))
    for number in range(1, 3000):
        parent = int(random.integers(number))
        point = random.random(2)
        tree.add(point, parent, math.dist(point, tree.point(parent)))
    for node in range(2500, 3000):
        parent = int(random.integers(500))
        tree.move(node, parent, math.dist(tree.point(node), tree.point(parent)))
    points = np.array([tree.point(node) for node in range(len(tree))])
    for node in range(0, 3000, 37):
        way = np.array(tree.trace(node))
        assert tree.costs[node] == pytest.approx(np.hypot(*np.diff(way, axis=0).T).sum())
    for goal in random.random((20, 2)):
        assert tree.find_nearest(goal) == np.argmin(np.hypot(*(points - goal).T))
        assert tree.list_around(goal, 0.1) == np.flatnonzero(np.hypot(*(points - goal).T) <= 0.1).tolist()


def test_rewiring_makes_paths_shorter_on_average(flat: World) -> None:
    def measure(**options: object) -> float:
        paths = [
            plan(flat, "rrt", n, max_nodes_sampled=5000, max_connection_dist=0.5, **options).plan(START, GOAL)
            for n in range(8)
        ]
        return float(np.mean([answer.path.length for answer in paths if answer.path]))

    assert measure(rrt_star=True) < measure()


@pytest.mark.parametrize("kind", PLANNERS.names())
def test_doors_block_and_open_again(tmp_path: Path, kind: str) -> None:
    world = make_flat(tmp_path)
    options = {"max_nodes": 150} if kind == "prm" else {"rrt_connect": True} if kind == "rrt" else {}
    planner = plan(world, kind, **options)
    assert planner.plan(START, GOAL).found
    assert world.close("hall_left_right") == ""
    answer = planner.plan(START, GOAL)
    assert answer.code == "no-path"
    assert "hall_left_right" in answer.reason
    assert world.open("hall_left_right") == ""
    assert planner.plan(START, GOAL).found


@pytest.mark.parametrize("kind", PLANNERS.names())
def test_what_is_not_free_is_said(flat: World, kind: str) -> None:
    planner = plan(flat, kind)
    assert planner.plan(START, WorldPose(0.5, -1.4)).code == "goal-occupied"
    assert planner.plan(WorldPose(99.0, 0.0), GOAL).code == "start-occupied"
    assert planner.plan(START, START).path is not None


def test_limits_of_samples_are_reasons(flat: World) -> None:
    answer = plan(flat, "rrt", max_nodes_sampled=3).plan(START, GOAL)
    assert (answer.code, answer.explored) == ("no-path", 3)
    assert "max_nodes_sampled" in answer.reason
    assert "max_time" in plan(flat, "rrt", max_time=0.0).plan(START, GOAL).reason
    tight = plan(flat, "prm", max_connection_dist=0.01).plan(START, GOAL)
    assert "graph" in tight.reason
    assert "max_connection_dist" in tight.reason
    flat.reference = True
    assert "graph of 2 nodes" in plan(flat, "prm", max_nodes=2).plan(START, GOAL).reason
    flat.reference = False


def test_a_path_of_the_reference_is_compressed_only_where_asked(flat: World) -> None:
    flat.reference = True
    whole, short = (
        plan(flat, "astar", compress_path=compress).plan(START, GOAL).path for compress in (False, True)
    )
    flat.reference = False
    assert whole is not None
    assert short is not None
    # from cell to cell, the ends apart, which lie anywhere in theirs
    steps = [math.dist(one.xy, two.xy) for one, two in itertools.pairwise(whole.poses[1:-1])]
    assert max(steps) < 0.05 * math.sqrt(2.0) + 1e-9
    assert len(short.poses) < 10


def test_a_way_within_one_cell_leads_around_what_is_between(flat: World) -> None:
    """Something thinner than a cell stands between the start and the goal."""
    planner = plan(flat, "astar")
    assert isinstance(planner, AStarPlanner)
    start, goal, cell = WorldPose(-0.02, 0.0), WorldPose(0.02, 0.0), np.array(((0.0, 0.02),))
    free = shapely.box(-1.0, -1.0, 1.0, 1.0)
    assert planner._attach_ends(start, cell, goal, free).tolist() == [[-0.02, 0.0], [0.02, 0.0]]
    parted = free.difference(shapely.box(-0.001, -1.0, 0.001, 0.01))
    around = planner._attach_ends(start, cell, goal, parted)
    assert around.tolist() == [[-0.02, 0.0], [0.0, 0.02], [0.02, 0.0]]


def test_the_clock_stops_no_planner_that_a_file_describes(tmp_path: Path) -> None:
    hasty = "path_planner: {type: rrt, max_time: 0.0, bidirectional: true, rrt_connect: true}"
    world = make_flat(tmp_path, planner=hasty)
    assert make_planner(world, world.robots[0]).plan(START, GOAL).found
    assert "max_time" in make_planner(world, world.robots[0], max_time=0.0).plan(START, GOAL).reason


def test_a_road_map_grows_until_it_finds_what_a_longer_one_would(flat: World) -> None:
    small = plan(flat, "prm", max_nodes=2)
    first, second = small.plan(START, GOAL), small.plan(GOAL, START)
    assert first.found
    assert second.found
    # what was asked before changes nothing
    assert plan(flat, "prm", max_nodes=2).plan(GOAL, START) == second
    assert small.plan(START, GOAL) == first
    large = plan(flat, "prm", max_nodes=128).plan(START, GOAL)
    assert large.found


def test_a_grid_is_never_narrower_than_the_robot(flat: World) -> None:
    planner = plan(flat, "astar", grid_inflation_radius=0.0)
    answer = planner.plan(START, GOAL)
    assert answer.path is not None
    assert shapely.distance(flat.solid_space, shapely.LineString(answer.path.points)) >= 0.2 - 1e-9


def test_wrong_options_are_refused(flat: World) -> None:
    with pytest.raises(UnknownNameError, match="max_nodes"):
        plan(flat, "prm", max_node=3)
    with pytest.raises(UnknownNameError, match="astar"):
        plan(flat, "astr")
    for kind, options in (
        ("astar", {"grid_resolution": 0.0}),
        ("astar", {"heuristic": "air"}),
        ("rrt", {"max_connection_dist": "far"}),
        ("rrt", {"rrt_star": 1}),
        ("prm", {"max_nodes": 10**9}),
        ("astar", {"grid_inflation_radius": -0.1}),
    ):
        with pytest.raises(UsageError, match="has to be"):
            plan(flat, kind, **options)


@pytest.mark.parametrize(
    ("settings", "planner"),
    [
        ("", "path_planner: {type: astar, grid_resolution: 0.0, grid_inflation_radius: 0.2}"),
        ("", "path_planner: {type: astar, grid_resolution: 0.1, grid_inflation_radius: 0.2, heuristic: air}"),
        ("", "path_planner: {type: rrt, max_connection_dist: -1.0}"),
        ("", "path_planner: {type: prm, max_nodes: 1000000000}"),
        ("path_executor: {type: constant_velocity, dt: 0.0}", ""),
        ("path_executor: {type: constant_velocity, linear_velocity: -1.0}", ""),
        ("grasping: {generator: parallel_grasp, max_width: -0.1, depth: 0.1, height: 0.1}", ""),
        ("action_execution_options: {pick: {success_probability: 1.5}}", ""),
        ("action_execution_options: {pick: {battery_usage: -2.0}}", ""),
        ("action_execution_options: {pick: {delay: -2.0}}", ""),
    ],
)
def test_wrong_options_are_found_when_a_world_is_read(tmp_path: Path, settings: str, planner: str) -> None:
    with pytest.raises(StrictError):
        make_flat(tmp_path, settings, planner)


def test_a_robot_without_a_planner_has_to_be_given_one(tmp_path: Path) -> None:
    world = make_flat(tmp_path, planner="")
    with pytest.raises(UsageError, match="no path planner"):
        make_planner(world, world.robots[0])


def test_coarse_grids_do_not_lead_through_thin_walls(tmp_path: Path) -> None:
    """Cells that are larger than the walls are thick."""
    world = make_flat(tmp_path)
    for resolution in (0.3, 0.45, 0.7):
        answer = plan(world, "astar", grid_resolution=resolution).plan(START, GOAL)
        if answer.path is not None:
            assert shapely.covers(world.free_space, shapely.LineString(answer.path.points))


def test_a_planner_of_the_reference_prepares_once_until_it_is_reset(flat: World) -> None:
    class Counted(ReferenceAStar):
        prepared = 0

        def prepare(self, space: shapely.Geometry) -> None:
            self.prepared += 1
            super().prepare(space)

    flat.reference = True
    options = dict(plan(flat, "astar").values)
    flat.reference = False
    planner = Counted(flat, flat.robots[0], options)
    planner.make_ready()
    planner.make_ready()
    assert planner.prepared == 1
    planner.reset()
    planner.make_ready()
    assert planner.prepared == 2
