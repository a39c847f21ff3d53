# SPDX-License-Identifier: Apache-2.0
"""2D worlds against PyRoboSim: loading, the occupancy grid, the world graph, planning and lidars.

PyRoboSim runs in an environment of its own (``SIMWRIGHT_PEER_PYROBOSIM`` names its interpreter).  Our loading includes
the free space, which PyRoboSim keeps up to date while it loads.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.measure import Result, cpu_time
from benchmarks.peers import explain_absence, find_peer
from benchmarks.world_files import write_world
from benchmarks.world_queries import COUNTS, LIDAR, PLANNERS, RADIUS, Query, list_queries, spell_queries
from simwright.app.world_build import build_world
from simwright.worlds.entities import ComponentOptions, WorldRobot
from simwright.worlds.graph import build_graph
from simwright.worlds.grid import make_grid
from simwright.worlds.planning.planner import Planner, make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.read import read_world
from simwright.worlds.sensing.sensor import Lidar
from simwright.worlds.world import World

WORKER = Path(__file__).with_name("world_worker.py")
QUERY_WORKER = Path(__file__).with_name("world_query_worker.py")
SIZES = ((10, 0), (50, 0), (200, 0), (10, 1000), (50, 1000), (200, 1000))
LARGE = 200
GRID_ROOMS = 12
"""0.05 m cells over this many rooms are about 190,000."""


SCALE = ((100, 1000), (1000, 10_000))
"""Rooms and objects of a world, and of one ten times as large."""


def run() -> Iterator[Result | str]:
    yield from _measure_scale()
    peer = find_peer("pyrobosim")
    if not peer:
        yield f"2D worlds: {explain_absence('pyrobosim')}"
        return
    with tempfile.TemporaryDirectory() as folder:
        for rooms, objects in SIZES:
            file = write_world(Path(folder), rooms, objects)
            limit = 1 / 20 if rooms == LARGE else 1.0
            ours = cpu_time(lambda f=file: _load(f), 3)
            theirs, size = _ask(peer, "load", 1 if rooms == LARGE else 3, file)
            name = f"load a world of {rooms} rooms, {objects:,} objects"
            yield Result(name, ours, "PyRoboSim", theirs, limit, f"{size:,} objects placed there")
        file = write_world(Path(folder), GRID_ROOMS, 0)
        yield _compare(peer, "grid", file, lambda world: make_grid(world, 0.05, 0.1), "occupancy grid")
        file = write_world(Path(folder), 50, 0)
        yield _compare(peer, "graph", file, build_graph, "world graph of 50 rooms")
        yield from _compare_queries(peer, Path(folder))


def _measure_scale() -> Iterator[Result]:
    """1,000 rooms against ten times 100 rooms: one where everything is linear."""
    tasks: dict[str, Callable[[Path, World, Path], object]] = {
        "load": lambda file, _world, _out: _load(file),
        "world graph": lambda _file, world, _out: build_graph(world),
        "grid": lambda _file, world, _out: make_grid(world, 0.1, 0.1),
        "nav2": lambda _file, world, out: build_world(world, out / "nav2", ("nav2",)),
        "mjcf": lambda _file, world, out: build_world(world, out / "mjcf", ("mjcf",)),
        "usd": lambda _file, world, out: build_world(world, out / "usd", ("usd",)),
    }
    with tempfile.TemporaryDirectory() as folder:
        spent: dict[str, list[float]] = {name: [] for name in tasks}
        for rooms, objects in SCALE:
            place = Path(folder) / str(rooms)
            place.mkdir()
            file = write_world(place, rooms, objects)
            world = read_world(file)
            world.free_space  # noqa: B018 - derived once, before anything else is timed
            for name, make in tasks.items():
                spent[name].append(cpu_time(lambda m=make, f=file, w=world, p=place: m(f, w, p), 1))
    (small, _), (large, objects) = SCALE
    for name, (some, many) in spent.items():
        what = f"{name} of a world of {large:,} rooms, {objects:,} objects"
        yield Result(what, many, f"10 times {small} rooms", 10.0 * some, 1.6, f"{many:.1f} s of CPU")


def _load(file: Path) -> object:
    return read_world(file).free_space


def _compare(peer: str, task: str, file: Path, make: Callable[[World], object], name: str) -> Result:
    world = read_world(file)
    ours = cpu_time(lambda: make(world), 5)
    theirs, size = _ask(peer, task, 1, file)
    word = "cells" if task == "grid" else "edges"
    return Result(f"{name}, {size:,} {word}", ours, "PyRoboSim", theirs, 1 / 20)


def _compare_queries(peer: str, folder: Path) -> Iterator[Result]:
    """Paths between rooms, and scans; planners and grids are ready, as they are between two questions."""
    file = write_world(folder, GRID_ROOMS, 0)
    side = math.ceil(math.sqrt(GRID_ROOMS))
    queries = list_queries(GRID_ROOMS, side)
    world = read_world(file)
    robot = WorldRobot("bench", RADIUS, sensors={"lidar": ComponentOptions("lidar", LIDAR)})
    world.robots.append(robot)
    for task, (kind, options) in PLANNERS.items():
        planner = make_planner(world, robot, kind, seed=1, **options)
        some = queries[: COUNTS.get(task)]
        found = _count_paths(planner, some)
        ours = cpu_time(lambda planner=planner, some=some: _count_paths(planner, some), 5)
        theirs, size = _ask(peer, task, 1, file, spell_queries(some))
        note = f"{found} found here, {size} there"
        yield Result(f"{len(some)} paths by {task}", ours, "PyRoboSim", theirs, 1.0, note)
    lidar = Lidar(world, robot, robot.sensors["lidar"])
    ours = cpu_time(lambda: _scan(lidar, queries), 5)
    theirs, size = _ask(peer, "lidar", 3, file, spell_queries(queries))
    yield Result(f"{size} scans of {len(lidar.angles)} beams", ours, "PyRoboSim", theirs, 1.0)


def _count_paths(planner: Planner, queries: list[Query]) -> int:
    return sum(planner.plan(WorldPose(*start), WorldPose(*goal)).found for start, goal in queries)


def _scan(lidar: Lidar, queries: list[Query]) -> None:
    for start, _ in queries:
        lidar.robot.pose = WorldPose(*start)
        lidar.measure()


def _ask(peer: str, task: str, repeat: int, file: Path, *queries: str) -> tuple[float, int]:
    """Best CPU seconds of PyRoboSim, and how large its result is."""
    worker = QUERY_WORKER if queries else WORKER
    command = [peer, str(worker), task, str(repeat), str(file), *queries]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer = json.loads(done.stdout)
    return answer["seconds"], answer["size"]
