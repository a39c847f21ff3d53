"""Simulations: several robots, the log, time, commands, and starting anew."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.worlds.acting.action import Action, Status
from simwright.worlds.acting.moving import is_blocked
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.acting.task_plan import make_plan
from simwright.worlds.poses import WorldPose

from ..flat import make_flat

FETCH = [
    Action("navigate", "table"),
    Action("pick", object="can0"),
    Action("navigate", "desk"),
    Action("place"),
]
PATROL = [Action("navigate", place) for place in ("right", "left", "hall_left_right", "dock")]
CHANCE = (
    "action_execution_options: {pick: {delay: 0.3, success_probability: 0.9}, navigate: {battery_usage: 0.1}}"
)


def test_plans_run_side_by_side(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    answers = simulation.run({"one": FETCH, "two": PATROL})
    assert all(answer.ok for answer in answers.values())
    assert simulation.time == max(answer.finished for answer in answers.values())
    times = [event.time for event in simulation.events]
    assert times == sorted(times)
    robots = [event.robot for event in simulation.events]
    assert robots != sorted(robots)
    assert simulation.world.find("can0").spawn is simulation.world.find("desk_top")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "planner", ["path_planner: {type: rrt, rrt_connect: true}", "path_planner: {type: prm, max_nodes: 120}"]
)
def test_the_same_seed_gives_the_same_log(tmp_path: Path, planner: str) -> None:
    def run(seed: int) -> list[str]:
        simulation = WorldSimulation(make_flat(tmp_path, CHANCE, planner), seed=seed)
        simulation.run({"one": FETCH, "two": PATROL})
        return [repr(event) for event in simulation.events]

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_everything_can_start_anew(tmp_path: Path) -> None:
    world = make_flat(tmp_path, CHANCE, door="false")
    simulation = WorldSimulation(world, seed=2)
    before = (world.find("can0").pose, world.robots[0].pose, world.free_space.area)  # type: ignore[union-attr]
    first = simulation.run({"one": [*make_plan(world, world.robots[0], "at attic"), *FETCH]})
    log = [str(event) for event in simulation.events]
    assert first["one"].completed >= 3
    assert world.hallways[1].is_open
    simulation.reset()
    assert not world.hallways[1].is_open
    assert (world.find("can0").pose, world.robots[0].pose, world.free_space.area) == before  # type: ignore[union-attr]
    assert world.robots[0].battery_level == 100.0
    assert simulation.time == 0.0
    simulation.run({"one": [*make_plan(world, world.robots[0], "at attic"), *FETCH]})
    assert [str(event) for event in simulation.events] == log


def test_a_plan_stops_at_its_first_failure(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    answer = simulation.run({"one": [FETCH[0], Action("pick", object="can1"), FETCH[2]]})["one"]
    assert (answer.completed, answer.total, len(answer.results)) == (1, 3, 2)
    assert answer.results[-1].code == "elsewhere"
    assert not answer.ok


def test_pauses_lie_between_actions(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    simulation.run({"two": [Action("open"), Action("open")]}, pause=2.0)
    assert simulation.time == 0.0
    world = simulation.world
    world.robots[1].location = world.find("table_top")  # type: ignore[assignment]
    simulation.run({"two": [Action("open"), Action("open")]}, pause=2.0)
    assert simulation.time == 2.0


def test_what_takes_too_long_is_canceled(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    answer = simulation.run({"one": FETCH}, limit=1.0)["one"]
    assert answer.results[-1].status is Status.CANCELED
    assert not simulation.is_busy("one")
    assert simulation.cancel("one").code == "idle"


def test_a_busy_robot_takes_no_orders(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    simulation.start("one", FETCH[0])
    for order in (
        lambda: simulation.start("one", FETCH[0]),
        lambda: simulation.run({"one": FETCH}),
        lambda: simulation.drive("one", (1.0, 0.0, 0.0), 0.1),
    ):
        with pytest.raises(UsageError, match="busy"):
            order()
    pose = simulation.world.robots[0].pose
    simulation.cancel("one")
    simulation.step(5.0)
    assert simulation.world.robots[0].pose == pose
    assert simulation.time == 5.0


def test_words_that_nobody_knows(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    with pytest.raises(UnknownNameError, match="robot"):
        simulation.execute("three", FETCH[0])
    with pytest.raises(UnknownNameError, match="navigate"):
        simulation.execute("one", Action("navigat", "table"))
    with pytest.raises(UnknownNameError, match="navigate"):
        simulation.run({"one": [Action("navigat", "table")]})
    assert not simulation.is_busy("one")
    with pytest.raises(UsageError, match="backwards"):
        simulation.step(-1.0)


def test_time_passes_in_any_steps(tmp_path: Path) -> None:
    def run(dt: float) -> list[tuple[float, float]]:
        simulation = WorldSimulation(make_flat(tmp_path))
        simulation.start("one", Action("navigate", "right"))
        while simulation.is_busy("one"):
            simulation.step(dt)
        return [pose.xy for pose in simulation.trails["one"]]

    assert run(0.01) == run(0.37) == run(100.0)


def find_gap(simulation: WorldSimulation) -> float:
    """The least distance between the edges of two robots at any time, from the trails of a run in steps."""
    one, two = simulation.world.robots
    gap = math.inf
    while simulation.is_busy(one) or simulation.is_busy(two):
        simulation.step(0.05)
        gap = min(gap, math.dist(one.pose.xy, two.pose.xy) - one.radius - two.radius)
    return gap


def test_robots_that_touch_are_noted_once(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    one, two = simulation.world.robots
    one.pose, two.pose = WorldPose(-1.5, 0.0), WorldPose(0.0, 0.0)
    for _ in range(30):
        simulation.drive("one", (1.0, 0.0, 0.0), 0.1)
    contacts = [event for event in simulation.events if event.kind == "contact"]
    assert len(contacts) == 1
    assert contacts[0].data["other"] == "two"


def test_a_robot_goes_around_another_that_stands(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    one, two = simulation.world.robots
    one.pose, two.pose = WorldPose(-1.5, 0.0), WorldPose(0.0, 0.0)
    simulation.start("one", Action("navigate", WorldPose(1.5, 0.0)))
    assert find_gap(simulation) > -0.005
    assert simulation.results["one"].ok
    assert one.pose.xy == (1.5, 0.0)
    assert [event.kind for event in simulation.events].count("detour") >= 1


def test_of_two_that_meet_in_a_corridor_one_gives_way(tmp_path: Path) -> None:
    """The hallway between the rooms is too narrow for both."""
    simulation = WorldSimulation(make_flat(tmp_path))
    one, two = simulation.world.robots
    one.radius = two.radius = 0.3
    simulation.world.set_inflation_radius(0.3)
    one.pose, two.pose = WorldPose(-1.0, 0.0), WorldPose(7.0, 0.0)
    simulation.start("one", Action("navigate", WorldPose(7.0, 0.0)))
    simulation.start("two", Action("navigate", WorldPose(-1.0, 0.0)))
    assert find_gap(simulation) > -0.005
    assert simulation.results["one"].ok, simulation.results["one"].message
    assert simulation.results["two"].ok, simulation.results["two"].message
    assert math.dist(one.pose.xy, (7.0, 0.0)) < 1e-9
    assert math.dist(two.pose.xy, (-1.0, 0.0)) < 1e-9


def test_a_robot_that_cannot_pass_says_who_is_in_the_way(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path))
    one, two = simulation.world.robots
    one.pose, two.pose = WorldPose(-1.0, 0.0), WorldPose(3.0, 0.0)
    two.radius = 0.4
    result = simulation.execute("one", Action("navigate", WorldPose(7.0, 0.0)))
    assert result.code == "blocked"
    assert "'two'" in result.message


def test_driving_by_hand(tmp_path: Path) -> None:
    simulation = WorldSimulation(make_flat(tmp_path, "max_linear_velocity: 0.5"))
    robot = simulation.world.robots[0]
    for _ in range(10):
        assert simulation.drive("one", (9.0, 0.0, 0.0), 0.1)
    assert robot.pose.x == pytest.approx(-0.5)
    assert simulation.time == pytest.approx(1.0)
    robot.pose = WorldPose.from_yaw(-1.75, 0.0, 0.0, math.pi)
    assert not simulation.drive("one", (0.5, 0.0, 0.0), 0.2)
    assert robot.pose.x == -1.75
    assert robot.location is simulation.world.find("left")


def test_goals_become_plans(tmp_path: Path) -> None:
    world = make_flat(tmp_path, door="false", box="false")
    simulation = WorldSimulation(world)
    one = world.robots[0]
    plan = make_plan(world, one, "can0 at box")
    assert [str(action) for action in plan] == [
        "navigate hall_attic_left",
        "open",
        "navigate box_left",
        "open",
        "navigate table_top",
        "pick can0",
        "navigate box_left",
        "place box_left",
    ]
    assert simulation.run({"one": plan})["one"].ok
    assert simulation.run({"one": make_plan(world, one, "hall_left_right closed")})["one"].ok
    assert not world.hallways[0].is_open
    assert [str(action) for action in make_plan(world, one, "at 6,0.5")][:2] == [
        "navigate hall_left_right",
        "open",
    ]


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("fly", "not understood"),
        ("can0 at", "names no place"),
        ("left open", "neither"),
        ("can0 at left", "nothing can be placed"),
        ("pear at table", "pear"),
    ],
)
def test_goals_that_mean_nothing(tmp_path: Path, goal: str, words: str) -> None:
    world = make_flat(tmp_path)
    with pytest.raises(UsageError, match=words):
        make_plan(world, world.robots[0], goal)


def test_a_locked_door_is_not_planned_to_be_opened(tmp_path: Path) -> None:
    world = make_flat(tmp_path, door="false", lock="true")
    assert [str(action) for action in make_plan(world, world.robots[0], "at attic")] == ["navigate attic"]


@pytest.mark.parametrize(
    ("start", "end", "blocked"),
    [
        ((-1.8, 0.0), (-1.8, 1.0), False),
        ((-1.8, 0.0), (-1.8 - 1e-8, 1.0), False),
        ((-1.8, 0.0), (-1.81, 1.0), True),
        ((-1.0, 0.0), (-1.0, 0.0), False),
        ((1.0, 1.0), (5.0, 1.0), True),
        ((1.0, 0.0), (5.0, 0.0), False),
    ],
)
def test_moves_along_edges_are_free_and_moves_through_walls_are_not(
    tmp_path: Path, start: tuple[float, float], end: tuple[float, float], blocked: bool
) -> None:
    world = make_flat(tmp_path)
    world.robots[0].pose = WorldPose(*start)
    assert is_blocked(world, world.robots[0], WorldPose(*end)) is blocked
