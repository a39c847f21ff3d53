"""Goals: poses, names, categories, objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.worlds.planning.goals import find_goals, list_places, plan_to
from simwright.worlds.planning.planner import make_planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

from ..flat import make_flat


@pytest.fixture
def flat(tmp_path: Path) -> World:
    return make_flat(tmp_path)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("left", ["left"]),
        ("hall_right_left", ["hall_left_right"]),
        ("table", ["table"]),
        ("right table", ["desk", "dock"]),
        ("can", ["table_top", "box_left"]),
        ("attic can", ["box_left"]),
        ("can0", ["table_top"]),
        ("desk_top", ["desk_top"]),
        ("cupboard", ["box"]),
        ("table can", ["table_top"]),
    ],
)
def test_descriptions_mean_places(flat: World, query: str, names: list[str]) -> None:
    places, _ = list_places(flat, flat.robots[0], query)
    assert [place.name for place in places] == names


@pytest.mark.parametrize(
    ("query", "words"),
    [("", "no place"), ("dsk", "did you mean 'desk'"), ("right can", "knows of no can"), ("one", "robot")],
)
def test_what_means_nothing_is_said(flat: World, query: str, words: str) -> None:
    places, reason = list_places(flat, flat.robots[0], query)
    assert not places
    assert words in reason


def test_the_nearest_pose_comes_first(flat: World) -> None:
    goals = find_goals(flat, flat.robots[0], "right table")
    distances = [abs(goal.pose.x + 1.0) for goal in goals.poses]
    assert distances == sorted(distances)
    assert {goal.place.name for goal in goals.poses if goal.place} == {"desk_top", "dock_top"}


def test_a_pose_out_of_reach_is_passed_over(tmp_path: Path) -> None:
    """The nearer end of a corridor may be on the wrong side of its door."""
    world = make_flat(tmp_path, door="false")
    robot = world.robots[0]
    robot.pose = WorldPose(0.0, 1.6)
    answer, goal = plan_to(make_planner(world, robot), find_goals(world, robot, "hall_left_attic"))
    assert answer.found
    assert goal is not None
    assert goal.pose.y < 2.0


def test_unknown_objects_are_no_goals(flat: World) -> None:
    robot = flat.robots[0]
    robot.partial_obs_objects = True
    assert "does not know" in find_goals(flat, robot, "can0").reason
    assert "knows of no" in find_goals(flat, robot, "can").reason
    robot.known_objects.add("can0")
    assert find_goals(flat, robot, "can").poses


def test_numbers_are_poses(flat: World) -> None:
    (goal,) = find_goals(flat, flat.robots[0], [1.0, 0.5, 0.25]).poses
    assert (goal.pose.x, goal.pose.y, goal.pose.yaw) == (1.0, 0.5, 0.25)


def test_places_without_navigation_poses_are_named(flat: World) -> None:
    flat.find("right").nav_poses.clear()  # type: ignore[union-attr]
    assert find_goals(flat, flat.robots[0], "right").code == "no-nav-pose"
