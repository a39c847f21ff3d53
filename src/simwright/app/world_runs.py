# SPDX-License-Identifier: Apache-2.0
"""Planning and running in worlds, for the command line: one call each, and the results as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from simwright.core.errors import UsageError

if TYPE_CHECKING:
    from simwright.worlds.acting.action import Action
    from simwright.worlds.acting.simulation import PlanResult, WorldSimulation
    from simwright.worlds.entities import WorldRobot
    from simwright.worlds.planning.path import PathAnswer
    from simwright.worlds.poses import WorldPose
    from simwright.worlds.world import World

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
            raise UsageError(f"nobody can start at {start!r}: {starts.reason}")
        # of several navigation poses any will do to start from
        origin = starts.poses[0].pose
    goals = find_goals(world, robot, parse_goal(target), origin)
    # a place that is not there is a mistake of the user; one that cannot be reached is an answer
    if goals.code == "unknown-place":
        raise UsageError(f"there is no way to {target!r}: {goals.reason}")
    choice = planner if planner is not None else robot.path_planner or DEFAULT_PLANNER
    made = make_planner(world, robot, choice, seed=seed, **dict(options or {}))
    return plan_to(made, goals, origin)[0]


def run_plans(
    world: World, plans: Mapping[str, Sequence[Action]], *, seed: int | None = None
) -> tuple[WorldSimulation, dict[str, PlanResult]]:
    """Run plans to their ends; robots without a planner use A*."""
    from simwright.worlds.acting.simulation import WorldSimulation
    from simwright.worlds.planning.planner import make_planner

    planners = {
        robot.name: make_planner(world, robot, DEFAULT_PLANNER)
        for robot in world.robots
        if robot.path_planner is None
    }
    simulation = WorldSimulation(world, seed=seed, planners=planners)
    return simulation, simulation.run(plans)


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
    }


def describe_run(simulation: WorldSimulation, answers: Mapping[str, PlanResult]) -> dict[str, Any]:
    """What came of plans, and what happened, as JSON."""
    from simwright.app.worlds import describe_world

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
