"""Actions: what they do, what they cost, and every reason for which they are refused."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import pytest
import shapely

from simwright.worlds.acting.action import Action, Result, Status
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.planning.path import Path as Way
from simwright.worlds.poses import WorldPose

from ..flat import make_flat

GO_TABLE, GO_BOX = Action("navigate", "table"), Action("navigate", "box")
TAKE = Action("pick", object="can0")


def make(folder: Path, settings: str = "", **options: object) -> WorldSimulation:
    return WorldSimulation(make_flat(folder, settings, **options), seed=1)  # type: ignore[arg-type]


def do(simulation: WorldSimulation, *actions: Action, robot: str = "one") -> Result:
    """Carry actions out, all but the last one with success; the result of the last one."""
    for action in actions[:-1]:
        result = simulation.execute(robot, action)
        assert result.ok, result.message
    return simulation.execute(robot, actions[-1])


def code(result: Result) -> tuple[str, str]:
    assert not result.ok
    assert result.message
    return str(result.status), result.code


# -- going ---------------------------------------------------------------------------------------------------


def test_a_robot_goes_and_time_passes(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    robot = simulation.world.robots[0]
    result = do(simulation, GO_TABLE)
    path = result.data["path"]
    assert robot.pose == path.poses[-1]
    assert robot.location is simulation.world.find("table_top")
    assert simulation.time == pytest.approx(path.length / 1.0)
    trail = simulation.trails["one"]
    steps = [math.dist(a.xy, b.xy) for a, b in pairwise(trail)]
    assert max(steps) <= 0.1 + 1e-9
    assert sum(steps) == pytest.approx(path.length)
    assert {pose.xy for pose in path.poses} <= {pose.xy for pose in trail}


def test_battery_is_paid_by_the_metre(tmp_path: Path) -> None:
    simulation = make(tmp_path, "action_execution_options: {navigate: {battery_usage: 2.5}}")
    result = do(simulation, GO_TABLE)
    assert simulation.world.robots[0].battery_level == pytest.approx(100.0 - 2.5 * result.data["path"].length)


def test_the_battery_ends_where_it_ends(tmp_path: Path) -> None:
    settings = "initial_battery_level: 3.0\naction_execution_options: {navigate: {battery_usage: 2.0}}"
    simulation = make(tmp_path, settings)
    robot = simulation.world.robots[0]
    way = Way((WorldPose(-1.0, 0.0), WorldPose(1.5, 0.0)))
    assert code(do(simulation, Action("navigate", path=way))) == ("execution", "battery-empty")
    assert robot.pose.x == pytest.approx(0.5)
    assert robot.battery_level == 0.0
    for kind in ("navigate", "detect"):
        robot.location = simulation.world.find("table_top")  # type: ignore[assignment]
        assert code(do(simulation, Action(kind, "table"))) == ("precondition", "no-battery")


def test_exactly_enough_battery_is_enough(tmp_path: Path) -> None:
    settings = "initial_battery_level: 4.0\naction_execution_options: {navigate: {battery_usage: 2.0}}"
    simulation = make(tmp_path, settings)
    assert do(simulation, Action("navigate", path=Way((WorldPose(-1.0, 0.0), WorldPose(1.0, 0.0))))).ok
    assert simulation.world.robots[0].battery_level == pytest.approx(0.0, abs=1e-9)


def test_chargers_charge(tmp_path: Path) -> None:
    simulation = make(tmp_path, "action_execution_options: {navigate: {battery_usage: 1.0}}")
    assert do(simulation, Action("navigate", "dock")).ok
    assert simulation.world.robots[0].battery_level == 100.0
    assert [event.kind for event in simulation.events].count("charge") == 1


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("nowhere", ("precondition", "unknown-place")),
        (None, ("precondition", "unknown-place")),
        (WorldPose(0.5, -1.4), ("planning", "goal-occupied")),
        ("attic", ("planning", "no-path")),
        ("right", ("precondition", "no-nav-pose")),
    ],
)
def test_goals_that_cannot_be_reached(tmp_path: Path, target: object, reason: tuple[str, str]) -> None:
    simulation = make(tmp_path, door="false")
    simulation.world.find("right").nav_poses.clear()  # type: ignore[union-attr]
    assert code(do(simulation, Action("navigate", target))) == reason  # type: ignore[arg-type]
    assert simulation.time == 0.0


def test_a_robot_that_stands_in_something_cannot_start(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    simulation.world.robots[0].pose = WorldPose(0.5, -1.4)
    assert code(do(simulation, GO_TABLE)) == ("planning", "start-occupied")


def test_robots_without_planner_executor_or_speed(tmp_path: Path) -> None:
    simulation = make(tmp_path, planner="")
    assert code(do(simulation, GO_TABLE)) == ("precondition", "no-planner")
    assert simulation.plan_path("one", "table").code == "no-planner"
    simulation.world.robots[0].path_executor = None
    assert code(do(simulation, GO_TABLE)) == ("precondition", "no-executor")
    simulation = make(tmp_path)
    simulation.world.robots[0].path_executor.values["linear_velocity"] = 0.0  # type: ignore[union-attr, index]
    assert code(do(simulation, GO_TABLE)) == ("precondition", "no-speed")
    assert code(do(simulation, Action("navigate", path=Way(())))) == ("precondition", "no-path")


def test_a_door_that_closes_on_the_way_stops_the_robot(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    world, robot = simulation.world, simulation.world.robots[0]
    simulation.start("one", Action("navigate", "right"))
    simulation.step(1.0)
    assert simulation.is_busy("one")
    assert world.close("hall_left_right") == ""
    simulation.step(60.0)
    assert code(simulation.results["one"]) == ("execution", "blocked")
    assert "hall_left_right" in simulation.results["one"].message
    assert shapely.distance(world.find("hall_left_right").slab, shapely.Point(robot.pose.xy)) >= 0.2 - 1e-6  # type: ignore[union-attr]


def test_a_robot_that_looks_ahead_stops_at_once(tmp_path: Path) -> None:
    simulation = make(
        tmp_path,
        "path_executor: {type: constant_velocity, validate_during_execution: true, validation_dt: 0.2}",
    )
    simulation.start("one", Action("navigate", "right"))
    simulation.step(0.55)
    simulation.world.close("hall_left_right")
    simulation.step(0.3)
    assert code(simulation.results["one"]) == ("execution", "blocked")
    assert "no longer free" in simulation.results["one"].message


def test_a_robot_learns_of_closed_doors_by_its_lidar(tmp_path: Path) -> None:
    settings = """
partial_obs_hallways: true
sensors:
  lidar: {type: lidar, update_rate_s: 0.1, angle_units: degrees, min_angle: -120, max_angle: 120,
          angular_resolution: 2, max_range_m: 2.0}
path_executor: {type: constant_velocity, lidar_sensor_name: lidar, lidar_sensor_measurement_dt: 0.1,
                validate_during_execution: true, validation_dt: 0.1}
"""
    simulation = make(tmp_path, settings, door="false")
    assert code(do(simulation, Action("navigate", "attic"))) == ("execution", "blocked")
    assert simulation.world.robots[0].known_closed == {"hall_attic_left"}
    assert "observe" in [event.kind for event in simulation.events]
    assert code(do(simulation, Action("navigate", "attic"))) == ("planning", "no-path")


def test_a_robot_learns_of_closed_doors_by_running_against_them(tmp_path: Path) -> None:
    world = make_flat(tmp_path, door="false")
    world.robots[0].partial_obs_hallways = True
    simulation = WorldSimulation(world)
    assert code(do(simulation, Action("navigate", "attic"))) == ("execution", "blocked")
    assert world.robots[0].known_closed == {"hall_attic_left"}


# -- picking and placing -------------------------------------------------------------------------------------


def test_an_object_is_carried_along_and_put_down(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    world = simulation.world
    robot, can = world.robots[0], world.find("can0")
    assert do(simulation, GO_TABLE, TAKE).data["object"] == "can0"
    assert can.spawn is None  # type: ignore[union-attr]
    assert robot.held is can
    assert can not in world.find("table_top").objects  # type: ignore[union-attr]
    do(simulation, Action("navigate", "desk"))
    assert can.pose.xy == robot.pose.xy  # type: ignore[union-attr]
    assert can.pose.z == 0.4  # type: ignore[union-attr]
    assert can.polygon.centroid.distance(shapely.Point(robot.pose.xy)) < 1e-9  # type: ignore[union-attr]
    assert do(simulation, Action("place")).data["spawn"] == "desk_top"
    top = world.find("desk_top")
    assert can.spawn is top  # type: ignore[union-attr]
    assert robot.held is None
    assert can.collision.within(top.polygon)  # type: ignore[union-attr]
    assert can.pose.z == 0.5  # type: ignore[union-attr]


def test_placing_at_a_pose(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    do(simulation, GO_TABLE, TAKE)
    assert code(do(simulation, Action("place", pose=WorldPose(0.7, -1.4)))) == ("planning", "misfit")
    assert code(do(simulation, Action("place", pose=WorldPose(1.0, -1.4)))) == ("planning", "misfit")
    assert do(simulation, Action("place", pose=WorldPose(0.3, -1.3))).ok
    assert simulation.world.find("can0").pose.xy == (0.3, -1.3)  # type: ignore[union-attr]


def test_reasons_not_to_pick(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    world = simulation.world
    assert code(do(simulation, TAKE)) == ("precondition", "elsewhere")
    assert code(do(simulation, Action("pick"))) == ("precondition", "unknown-object")
    result = do(simulation, Action("pick", object="cann0"))
    assert code(result) == ("precondition", "unknown-object")
    assert "did you mean 'can0'" in result.message
    assert code(do(simulation, Action("pick", object="right can"))) == ("precondition", "unknown-object")
    world.close("table")
    assert code(do(simulation, GO_TABLE, TAKE)) == ("precondition", "closed")
    world.open("table")
    assert do(simulation, TAKE).ok
    assert code(do(simulation, Action("pick", object="crate0"))) == ("precondition", "holding")
    world.robots[1].location = world.find("table_top")  # type: ignore[assignment]
    assert code(do(simulation, TAKE, robot="two")) == ("precondition", "held")


def test_objects_have_to_be_detected_first(tmp_path: Path) -> None:
    simulation = make(tmp_path, "partial_obs_objects: true")
    assert code(do(simulation, GO_TABLE, TAKE)) == ("precondition", "not-detected")
    assert do(simulation, Action("detect")).data["objects"] == ["can0", "crate0"]
    assert do(simulation, Action("pick", object="can")).data["object"] == "can0"


def test_reasons_not_to_place(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    world = simulation.world
    assert code(do(simulation, Action("place"))) == ("precondition", "not-holding")
    do(simulation, GO_TABLE, TAKE, Action("navigate", "left"))
    assert code(do(simulation, Action("place"))) == ("precondition", "not-at-surface")
    do(simulation, Action("navigate", "desk"))
    assert code(do(simulation, Action("place", "table"))) == ("precondition", "elsewhere")
    world.close("desk")
    assert code(do(simulation, Action("place"))) == ("precondition", "closed")


def test_there_may_be_no_space_left(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    do(simulation, GO_TABLE, Action("pick", object="crate0"), GO_BOX)
    assert code(do(simulation, Action("place"))) == ("planning", "no-space")
    assert simulation.world.robots[0].held is not None


def test_another_surface_of_the_same_location_is_in_reach(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    do(simulation, GO_TABLE, TAKE, GO_BOX)
    assert do(simulation, Action("place", "box_right")).data["spawn"] == "box_right"


def test_grippers_that_are_too_small(tmp_path: Path) -> None:
    simulation = make(
        tmp_path, "grasping: {generator: parallel_grasp, max_width: 0.1, depth: 0.1, height: 0.02}"
    )
    assert code(do(simulation, GO_TABLE, Action("pick", object="crate0"))) == ("planning", "no-grasp")
    assert do(simulation, TAKE).data["grasp"].face in {"front", "top"}


# -- detecting -----------------------------------------------------------------------------------------------


def test_detecting_at_a_surface(tmp_path: Path) -> None:
    simulation = make(tmp_path)
    assert code(do(simulation, Action("detect"))) == ("precondition", "not-at-surface")
    assert do(simulation, GO_TABLE, Action("detect", object="crate")).data["objects"] == ["crate0"]
    assert code(do(simulation, Action("detect", object="can1"))) == ("execution", "not-found")
    simulation.world.close("table")
    assert code(do(simulation, Action("detect"))) == ("precondition", "closed")


def test_detecting_with_a_view_goes_anywhere(tmp_path: Path) -> None:
    angles = "angle_units: degrees, min_angle: -45, max_angle: 45"
    eyes = f"sensors: {{eyes: {{type: fov, update_rate_s: 0.1, {angles}, max_range_m: 4.0}}}}"
    simulation = make(tmp_path, eyes)
    robot = simulation.world.robots[0]
    robot.pose = WorldPose.from_yaw(-1.0, 0.0, 0.0, -0.7)
    assert do(simulation, Action("detect")).data["objects"] == ["can0", "crate0"]
    assert robot.known_objects == {"can0", "crate0"}


# -- doors ---------------------------------------------------------------------------------------------------


def test_doors_open_and_close(tmp_path: Path) -> None:
    simulation = make(tmp_path, door="false")
    world = simulation.world
    hall = Action("navigate", "hall_left_attic")
    assert do(simulation, hall, Action("open")).data["changed"]
    assert do(simulation, Action("open")).data["changed"] is False
    assert do(simulation, Action("navigate", "attic")).ok
    assert do(simulation, hall, Action("close")).ok
    assert not world.hallways[1].is_open


def test_reasons_not_to_open_or_close(tmp_path: Path) -> None:
    simulation = make(tmp_path, door="false", lock="true")
    world, (one, two) = simulation.world, simulation.world.robots
    hall, right = Action("navigate", "hall_left_attic"), Action("navigate", "hall_left_right")
    do(simulation, Action("navigate", "left"))
    assert code(do(simulation, Action("open"))) == ("precondition", "not-openable")
    assert code(do(simulation, hall, Action("open"))) == ("precondition", "locked")
    world.unlock("hall_left_attic")
    assert code(do(simulation, Action("open", "table"))) == ("precondition", "elsewhere")
    do(simulation, right)
    two.pose = WorldPose(3.0, 0.0)
    assert code(do(simulation, Action("close"))) == ("precondition", "in-doorway")
    two.pose = WorldPose(-1.0, 1.0)
    one.pose = WorldPose(3.0, 0.0)
    assert code(do(simulation, Action("close"))) == ("precondition", "in-doorway")
    do(simulation, GO_TABLE, TAKE)
    assert code(do(simulation, Action("close"))) == ("precondition", "holding")


def test_locations_open_and_close(tmp_path: Path) -> None:
    simulation = make(tmp_path, box="false")
    assert code(do(simulation, GO_BOX, Action("pick", object="can1"))) == ("precondition", "closed")
    assert do(simulation, Action("open"), Action("pick", object="can1")).ok


# -- chance and delay ----------------------------------------------------------------------------------------


def test_delays_take_time_and_failures_cost_battery(tmp_path: Path) -> None:
    settings = (
        "action_execution_options: {detect: {delay: 2.5, success_probability: 0.0, battery_usage: 3.0}}"
    )
    simulation = make(tmp_path, settings)
    do(simulation, GO_TABLE)
    start = simulation.time
    assert code(do(simulation, Action("detect"))) == ("execution", "chance")
    assert simulation.time - start == pytest.approx(2.5)
    assert simulation.world.robots[0].battery_level == 97.0


def test_chances_come_out_as_they_should(tmp_path: Path) -> None:
    settings = "action_execution_options: {detect: {success_probability: 0.75, rng_seed: 42}}"
    simulation = make(tmp_path, settings)
    do(simulation, GO_TABLE)
    first = [simulation.execute("one", Action("detect")).ok for _ in range(2000)]
    assert sum(first) / 2000 == pytest.approx(0.75, abs=0.03)
    again = make(tmp_path, settings)
    do(again, GO_TABLE)
    assert [again.execute("one", Action("detect")).ok for _ in range(50)] == first[:50]


def test_chances_without_a_seed_are_those_of_the_simulation(tmp_path: Path) -> None:
    world = make_flat(tmp_path, "action_execution_options: {detect: {success_probability: 0.5}}")

    def draw(seed: int) -> list[bool]:
        simulation = WorldSimulation(world, seed=seed)
        world.robots[0].location = world.find("table_top")  # type: ignore[assignment]
        return [simulation.execute("one", Action("detect")).ok for _ in range(40)]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_navigation_may_fail_too(tmp_path: Path) -> None:
    simulation = make(
        tmp_path, "action_execution_options: {navigate: {success_probability: 0.0, delay: 1.0}}"
    )
    pose = simulation.world.robots[0].pose
    assert code(do(simulation, GO_TABLE)) == ("execution", "chance")
    assert simulation.world.robots[0].pose == pose
    assert simulation.time == 1.0


def test_the_faster_robot_gets_the_object(tmp_path: Path) -> None:
    """What could be picked when the attempt began may be gone when it ends."""
    simulation = make(tmp_path, "action_execution_options: {pick: {delay: 1.0}}")
    world = simulation.world
    do(simulation, GO_TABLE)
    world.robots[1].location = world.find("table_top")  # type: ignore[assignment]
    simulation.start("one", TAKE)
    simulation.step(0.5)
    assert do(simulation, TAKE, robot="two").ok
    simulation.step(1.0)
    assert code(simulation.results["one"]) == ("execution", "held")
    assert simulation.results["one"].status is Status.EXECUTION
