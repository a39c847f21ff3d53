# SPDX-License-Identifier: Apache-2.0
"""World files for the command line and the public API: loading with every mesh format, checking, drawing.

Planning and running in worlds is one call each, with the results as JSON.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError, UsageError
from simwright.core.files import check_writable, write_atomic, write_staged
from simwright.core.math3d import IDENTITY
from simwright.core.swap import write_folder

if TYPE_CHECKING:
    from simwright.app.bridging import RosOptions
    from simwright.model.inertia import Inertial
    from simwright.worlds.acting.action import Action
    from simwright.worlds.acting.simulation import PlanResult, WorldSimulation
    from simwright.worlds.entities import WorldRobot
    from simwright.worlds.planning.path import PathAnswer
    from simwright.worlds.poses import WorldPose
    from simwright.worlds.read import WorldOptions
    from simwright.worlds.read_state import MeshModel
    from simwright.worlds.world import World


def load_world(path: str | os.PathLike[str], **options: Unpack[WorldOptions]) -> World:
    """Read a world file: rooms, hallways, locations, objects and robots, every random choice in it made.

    ``seed`` decides those choices (default: the file's, else 0); ``strict`` raises for any finding above info, which go
    to ``reporter``; the other options are those of :func:`simwright.worlds.read.build_world`.  Footprints may be
    meshes of any format we read.
    """
    from simwright.worlds.read import read_world

    # given as functions: worlds and formats are on one tier and may not import each other
    reading: WorldOptions = {"read_mesh": read_points, "read_model": read_model}
    return read_world(path, **(reading | options))


def check_world(path: str | os.PathLike[str], **options: Unpack[WorldOptions]) -> World:
    """Load a world and report what is wrong with it, in the file and in the building."""
    from simwright.worlds.read import check_quality

    reporter = options.get("reporter") or Reporter()
    world = load_world(path, **(options | {"reporter": reporter}))
    check_quality(world, reporter)
    return world


def render_world(world: World, target: str | os.PathLike[str], **options: Any) -> Path:
    """Write the top view of a world as ``.png`` or ``.svg`` (:func:`simwright.worlds.picture_world.draw_world`)."""
    from simwright.worlds.picture import write_png, write_svg
    from simwright.worlds.picture_world import draw_world

    ending = check_picture(target).suffix.lower()
    picture = draw_world(world, **options)
    return write_atomic(target, write_png(picture) if ending == ".png" else write_svg(picture))


def check_picture(target: str | os.PathLike[str]) -> Path:
    """The file of a picture that can be written: asked before a run, whose end would be too late."""
    ending = Path(target).suffix.lower()
    if ending not in {".png", ".svg"}:
        raise UsageError(f"a picture ends in .png or .svg, not in {ending or 'nothing'!r}")
    return check_writable(target)


def generate_worlds(
    folder: str | os.PathLike[str], style: str, rooms: int, seed: int = 0, count: int = 1
) -> list[Path]:
    """Write worlds drawn at random (:mod:`simwright.worlds.writing`) and give back their files.

    One goes into the folder itself; several go into folders in it, each with its seed: ``seed``, ``seed + 1`` ...
    """
    from simwright.worlds.writing import encode_files, generate_world

    found = []
    for number in range(count):
        files = encode_files(generate_world(style, rooms, seed + number))
        place = Path(folder) / name_world(style, rooms, seed + number) if count > 1 else Path(folder)
        found.append(write_world_files(place, files))
    return found


def name_world(style: str, rooms: int, seed: int) -> str:
    """The folder of one of several worlds."""
    return f"{style}_{rooms}_{seed}"


def write_world_files(place: Path, files: dict[str, bytes]) -> Path:
    """Put the files of a world into a folder, whole or not at all; the file to open."""
    there = {file.name for file in place.iterdir()} if place.is_dir() else set()
    # an earlier result may be replaced; files of others may not
    if there - set(files):
        raise OutputError(
            f"the folder holds {min(there - set(files))!r}, which is no part of a world",
            hint="name a new folder",
            where=Where(str(place)),
        )
    with write_folder(place, last=["world.yaml"]) as staging:
        write_staged(staging, files)
    return place / "world.yaml"


def describe_world(world: World) -> dict[str, Any]:
    """What is in a world, as JSON."""
    return {
        "name": world.name,
        "seed": world.seed,
        "inflation_radius": world.inflation_radius,
        "bounds": list(world.bounds),
        "free_area": float(world.free_space.area),
        "rooms": [
            {"name": r.name, "area": r.polygon.area, "hallways": [h.name for h in r.hallways]}
            for r in world.rooms
        ],
        "hallways": [
            {
                "name": h.name,
                "rooms": [r.name for r in h.rooms],
                "is_open": h.is_open,
                "is_locked": h.is_locked,
            }
            for h in world.hallways
        ],
        "locations": [
            {
                "name": loc.name,
                "category": loc.category.name,
                "room": loc.room.name,
                "pose": _describe_pose(loc.pose),
                "spawns": [spawn.name for spawn in loc.spawns],
            }
            for loc in world.locations
        ],
        "objects": [
            {
                "name": item.name,
                "category": item.category.name,
                "spawn": None if item.spawn is None else item.spawn.name,
                "pose": _describe_pose(item.pose),
            }
            for item in world.objects
        ],
        "robots": [
            {
                "name": robot.name,
                "location": None if robot.location is None else robot.location.name,
                "pose": _describe_pose(robot.pose),
                "battery": robot.battery_level,
            }
            for robot in world.robots
        ],
    }


def read_points(path: Path) -> npt.NDArray[np.float64]:
    """The points of a mesh file [m]."""
    from simwright.formats.mesh.load import load_mesh

    return np.asarray(load_mesh(path).vertices, dtype=np.float64)


def read_model(path: Path, mesh: Path) -> MeshModel | None:
    """Where an SDFormat model puts a mesh file, and what the model weighs; None if it does not use the mesh."""
    from simwright.formats.format import ReadOptions
    from simwright.formats.table import find_near, read_asset
    from simwright.model.asset import scaled
    from simwright.model.geometry import Mesh
    from simwright.model.inertia import combine
    from simwright.worlds.read_state import MeshModel

    asset = read_asset(path, format_name="sdf", options=ReadOptions(find_near(path)), reporter=Reporter())
    poses = {"": IDENTITY} | {body.name: body.pose for body in asset.bodies}
    # colliders first: where a model uses the mesh for both, the footprint is what is touched
    for shape in sorted(asset.shapes, key=lambda shape: not shape.collision):
        file = shape.geometry.file if isinstance(shape.geometry, Mesh) else ""
        if file and Path(file).resolve() == mesh.resolve():
            x, y, z = (float(value) for value in scaled(shape))
            said = [
                (b.inertial, b.pose) for b in asset.bodies if b.inertial and not _is_placeholder(b.inertial)
            ]
            whole = combine(held.moved(pose) for held, pose in said) if said else None
            return MeshModel(poses[shape.body] @ shape.pose, (x, y, z), whole)
    return None


def _is_placeholder(inertial: Inertial) -> bool:
    """What SDFormat has for links that do not say what they weigh."""
    return inertial.mass == 1.0 and bool(np.array_equal(inertial.inertia, np.eye(3)))


def _describe_pose(pose: Any) -> dict[str, Any]:
    return {"xyz": [pose.x, pose.y, pose.z], "quaternion": list(pose.quaternion)}


DEFAULT_PLANNER = "astar"


def find_path(
    world: World,
    robot: WorldRobot,
    target: str,
    *,
    start: str | None = None,
    planner: str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> PathAnswer:
    """A path for a robot between two places (names, descriptions, or ``x,y[,yaw]``).

    Without ``planner`` it is the robot's own, or A* where it has none.
    """
    from simwright.worlds.acting.task_plan import parse_goal
    from simwright.worlds.planning.goals import find_goals, plan_to
    from simwright.worlds.planning.planner import make_planner

    origin = robot.pose
    if start is not None:
        starts = find_goals(world, robot, parse_goal(start))
        if not starts.poses:
            raise UsageError(f"a robot cannot start at {start!r}: {starts.reason}")
        # of several navigation poses any will do to start from
        origin = starts.poses[0].pose
    goals = find_goals(world, robot, parse_goal(target), origin)
    # a place that is not there is a mistake of the user; one that cannot be reached is an answer
    if goals.code == "unknown-place":
        raise UsageError(f"there is no path to {target!r}: {goals.reason}")
    choice = planner if planner is not None else robot.path_planner or DEFAULT_PLANNER
    made = make_planner(world, robot, choice, seed=seed, **dict(options or {}))
    return plan_to(made, goals, origin)[0]


def run_plans(
    world: World, plans: Mapping[str, Sequence[Action]], *, seed: int | None = None
) -> tuple[WorldSimulation, dict[str, PlanResult]]:
    """Run plans to their ends; robots without a planner use A*."""
    simulation = open_world(world, seed=seed)
    return simulation, simulation.run(plans)


def write_plan(target: str | os.PathLike[str], plans: Mapping[str, Sequence[Action]]) -> Path:
    """Write plans as the YAML that ``world run --plan`` reads; goals have to be names."""
    import yaml

    rows = {
        name: [
            {"type": action.type}
            | ({"object": action.object} if action.object else {})
            | ({"target": action.target} if isinstance(action.target, str) else {})
            for action in actions
        ]
        for name, actions in plans.items()
    }
    return write_atomic(
        target, yaml.safe_dump(rows, sort_keys=False, allow_unicode=True, default_flow_style=None)
    )


def solve_goals(world: World, robot: WorldRobot, goals: Sequence[str], **options: Any) -> list[Action]:
    """Actions that bring all goals about (:func:`simwright.worlds.acting.solving.solve_goals`)."""
    from simwright.worlds.acting.solving import solve_goals as solve

    return solve(world, robot, goals, **options)


def open_world(world: World, *, seed: int | None = None) -> WorldSimulation:
    """A world ready to run; robots without a planner use A*."""
    from simwright.worlds.acting.simulation import WorldSimulation
    from simwright.worlds.planning.planner import make_planner

    planners = {
        robot.name: make_planner(world, robot, DEFAULT_PLANNER)
        for robot in world.robots
        if robot.path_planner is None
    }
    return WorldSimulation(world, seed=seed, planners=planners)


def serve_world(
    simulation: WorldSimulation,
    ros: RosOptions,
    *,
    plans: Mapping[str, Sequence[Action]] | None = None,
    goals: Sequence[str] = (),
    robot: str = "",
    seconds: float | None = None,
    reporter: Reporter | None = None,
) -> tuple[dict[str, PlanResult], bool]:
    """Run a world beside ROS: plans, then goals one after the other, peers at any time.

    It ends with the plans and goals, after ``seconds`` of simulated time, or by Ctrl-C where nothing else ends it.
    Gives what came of the plans, and whether it was interrupted.
    """
    from simwright.app.bridging import connect_world
    from simwright.ros.worlds import WorldServing

    if not plans and not goals and seconds is None and not ros.transport:
        raise UsageError("nothing says when the bag is complete", hint="--plan, --goal or --seconds")
    queue = PlanQueue(simulation, goals, robot)
    with contextlib.ExitStack() as stack:
        bridge = connect_world(
            simulation, ros, WorldServing(realtime=ros.is_paced), reporter or Reporter(), stack
        )
        queue.start(plans or {})
        try:
            # with nothing to do but to serve, time or Ctrl-C ends it
            bridge.run(
                math.inf if seconds is None else seconds,
                lambda: not queue.go_on() and bool(queue.answers) and seconds is None,
            )
        except KeyboardInterrupt:
            return queue.answers, True
    return queue.answers, False


class PlanQueue:
    """Plans of robots, then goals of one of them, one after the other; ``answers`` tell how far they came."""

    def __init__(self, simulation: WorldSimulation, goals: Sequence[str], robot: str) -> None:
        from simwright.worlds.acting.task_plan import choose_robot

        self._simulation, self._goals = simulation, list(goals)
        self._robot = choose_robot(simulation.world, robot) if goals else ""
        self.answers: dict[str, PlanResult] = {}

    def start(self, plans: Mapping[str, Sequence[Action]]) -> None:
        """Begin the plans."""
        self.answers = {who: self._simulation.start_plan(who, actions) for who, actions in plans.items()}

    def go_on(self) -> bool:
        """Is something going on?  The next goal is planned from where what came before led."""
        from simwright.worlds.acting.task_plan import make_plan

        simulation, name = self._simulation, self._robot
        if any(simulation.is_busy(who) for who in self.answers) or (name and simulation.is_busy(name)):
            return True
        if self._goals and all(answer.ok for answer in self.answers.values()):
            actions = make_plan(simulation.world, simulation.find_robot(name), self._goals.pop(0))
            self.answers[name] = _join(self.answers.get(name), simulation.start_plan(name, actions))
            return True
        return False


def _join(first: PlanResult | None, then: PlanResult) -> PlanResult:
    """A plan that goes on with another one."""
    if first is not None:
        then.total += first.total
        then.results[:0] = first.results
    return then


def describe_path(answer: PathAnswer) -> dict[str, Any]:
    """A path as JSON."""
    path = answer.path
    return {
        "found": path is not None,
        "code": answer.code,
        "reason": answer.reason,
        "length": None if path is None else path.length,
        "explored": answer.explored,
        "poses": [] if path is None else [_list_pose(pose) for pose in path.poses],
        "rides": []
        if path is None
        else [
            {"after": ride.index, "link": ride.link, "floor": ride.floor, "seconds": ride.seconds}
            for ride in path.rides
        ],
    }


def describe_run(simulation: WorldSimulation, answers: Mapping[str, PlanResult]) -> dict[str, Any]:
    """What came of plans, and what happened, as JSON."""
    return {
        "seed": simulation.seed,
        "time": simulation.time,
        "robots": {
            name: {
                "ok": answer.ok,
                "completed": answer.completed,
                "total": answer.total,
                "finished": answer.finished,
                "results": [
                    {"status": str(result.status), "code": result.code, "message": result.message}
                    for result in answer.results
                ],
            }
            for name, answer in answers.items()
        },
        "events": [
            {"time": e.time, "robot": e.robot, "kind": e.kind, "text": e.text, **e.data}
            for e in simulation.events
        ],
        "world": describe_world(simulation.world),
    }


def _list_pose(pose: WorldPose) -> list[float]:
    return [pose.x, pose.y, pose.z, pose.yaw]
