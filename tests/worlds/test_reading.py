"""The loader by our own policy."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from simwright.core.errors import InputError, StrictError, UnknownNameError, UsageError
from simwright.worlds.entities import Hallway, Location, Room
from simwright.worlds.read import read_world

from .text import HALL, ROOMS, TABLE, load, write

BAD = "world-bad-reference"
STONE = "locations: [{category: stone, parent: left}]\n"


def test_a_world_has_its_parts_by_name(tmp_path: Path) -> None:
    world, found = load(tmp_path, ROOMS + HALL + TABLE + "objects: [{category: can, parent: table0}]")
    assert found == []
    assert isinstance(world.find("left"), Room)
    hallway = world.find("hall_right_left")
    assert isinstance(hallway, Hallway)
    assert hallway is world.find("hall_left_right")
    assert [spawn.name for spawn in world.spawns] == ["table0_top"]
    assert world.objects[0].pose.z == 0.5
    with pytest.raises(UnknownNameError, match="did you mean 'left'"):
        world.find("lefty")


def test_the_same_seed_gives_the_same_world_and_another_one_another(tmp_path: Path) -> None:
    text = ROOMS + TABLE + "objects: [{category: can}, {category: can}]\nrobots: [{radius: 0.2}]"
    poses = [
        [item.pose for item in (*world.objects, *world.robots)]
        for world in (load(tmp_path, text, seed=seed)[0] for seed in (5, 5, 6))
    ]
    assert poses[0] == poses[1]
    assert poses[0] != poses[2]


def test_the_block_of_our_own_says_seed_and_heights(tmp_path: Path) -> None:
    block = (
        "simwright: {seed: 9, entities: {hall_left_right: {height: 2.2}}, categories: {can: {mass: 0.3}}}\n"
    )
    world, found = load(tmp_path, ROOMS + HALL + block)
    assert found == []
    assert world.seed == 9
    assert world.wall_height(world.hallways[0]) == 2.2
    assert world.wall_height(world.rooms[0]) == 2.0
    assert world.extensions.look_up("can7", "can", "mass") == 0.3


def test_a_block_of_our_own_that_is_none_is_reported_and_left_out(tmp_path: Path) -> None:
    world, found = load(tmp_path, ROOMS + "simwright: [9]\n")
    assert [code for code, _ in found] == ["world-wrong-value"]
    assert world.seed == 0
    assert world.wall_height(world.rooms[0]) == 2.0


def test_seven_numbers_are_a_place_and_a_quaternion(tmp_path: Path) -> None:
    turn = math.sqrt(0.5)
    world, found = load(
        tmp_path,
        ROOMS + f"locations: [{{category: table, parent: left, pose: [0.5, 0.1, 0, {turn}, 0, 0, {turn}]}}]",
    )
    assert found == []
    pose = world.locations[0].pose
    assert (pose.xy, pose.yaw) == (pytest.approx((0.5, 0.1)), pytest.approx(math.pi / 2))


def test_an_action_takes_no_time_unless_it_says_so(tmp_path: Path) -> None:
    said = "{pick: {success_probability: 0.5}, place: {delay: 2.5}}"
    world, found = load(
        tmp_path, ROOMS + f"robots: [{{radius: 0.2, pose: [0, 0], action_execution_options: {said}}}]"
    )
    assert found == []
    actions = world.robots[0].actions
    assert (actions["pick"].delay, actions["pick"].success_probability) == (0.0, 0.5)
    assert (actions["place"].delay, actions["place"].success_probability) == (2.5, 1.0)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (
            "rooms: [{name: left, footprint: {type: box, dims: [1, 1]}, wall_height: 3}]",
            "world-unknown-key",
            1,
        ),
        ("roomz: []", "world-ignored-key", 1),
        ("rooms:\n  - {name: a}", "world-key-missing", 2),
        ("rooms: [{footprint: {type: blob}}]", "world-bad-footprint", 1),
        ("rooms: [{footprint: [[0, 0], [1, 1], [1, 0], [0, 1]]}]", "world-bad-footprint", 1),
        ("rooms: [{footprint: {type: box, dims: [1, 0]}}]", "world-bad-footprint", 1),
        ("rooms: [{footprint: {type: box, dims: [1, 1]}, pose: {rotation_quat: {}}}]", "world-bad-pose", 1),
        ("rooms: [{footprint: {type: box, dims: [1, 1]}, color: reddish}]", "world-bad-color", 1),
        ("rooms: [{footprint: {type: box, dims: [1, 1]}, color: [255, 0, 0]}]", "world-color-range", 1),
        ("rooms: [{footprint: {type: box, dims: [1, wide]}}]", "world-wrong-value", 1),
        ("rooms: [{footprint: {type: box, dims: [1, 1], hight: 2}}]", "world-ignored-key", 1),
        ("rooms:\n", "world-section-empty", 1),
        ("hallways: [{room_start: a, room_end: b, width: 1}]", "world-unknown-entity", 1),
        ("metadata: {locations: nothing.yaml}", "world-metadata-missing", 1),
        ("params: {seed: 3}", "world-unknown-key", 1),
        ("robots: [{name: world}]", "world-robot-name", 1),
        ("robots: [{path_planner: {type: teleport}}]", "world-unknown-entity", 1),
        ("robots: [{sensors: {eye: {type: lidar}}}]", "world-key-missing", 1),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, code: str, line: int) -> None:
    _, found = load(tmp_path, text)
    assert (code, line) in found


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("hallways: [{room_start: left, room_end: left, width: 1}]", "world-hallway-unusable"),
        ("hallways: [{room_start: left, room_end: right, width: 0}]", "world-wrong-value"),
        ("hallways: [{room_start: left, room_end: right, width: 1, conn_method: spline}]", "world-unknown-entity"),
        ("locations: [{category: table}]", "world-no-parent"),
        ("locations: [{category: tabel, parent: left}]", "world-unknown-category"),
        ("locations: [{category: table, parent: left, pose: [3, 0]}]", "world-location-misfit"),
        ("locations: [{category: table, parent: left, pose: {relative_to: moon}}]", "world-bad-reference"),
        (HALL + "locations: [{category: table, parent: left, pose: {relative_to: hall_left_right}}]", BAD),
        (TABLE + "objects: [{category: can, parent: left}]", "world-unresolved-place"),
        (TABLE + "objects: [{category: can, parent: table0, pose: [0, 0]}]", "world-object-misfit"),
        (TABLE + "objects: [{category: can, parent: {choice: [a]}}]", "world-bad-choices"),
        (TABLE + "objects: [{category: can, parent: {choices: [a, b], probabilities: [1]}}]", "world-bad-choices"),
        (TABLE + "objects: [{category: can, parent: {choices: [a, b], probabilities: [1, 1]}}]", "world-bad-choices"),
        (TABLE + "objects: [{name: left, category: can, parent: table0}]", "world-name-shared"),
        (STONE + "objects: [{category: can, parent: stone0}]", "world-no-surface"),
        (TABLE + "objects: [{category: can, inflation_radius: 0.1}]", "world-unused-option"),
        ("robots: [{radius: 0.2, pose: [20, 0]}]", "world-robot-occupied"),
        ("robots: [{pose: [0, 0], location: right}]", "world-robot-elsewhere"),
        (TABLE + "robots: [{pose: [0, 0], location: table0}]", "world-robot-pose-ignored"),
        ("robots: [{radius: 0.2, pose: [0, 0]}, {radius: 0.2, pose: [0.1, 0]}]", "world-robot-overlap"),
        ("robots: [{radius: 3.0}]", "world-no-room-left"),
        ("robots: [{initial_battery_level: 500}]", "world-battery-range"),
        ("robots: [{partial_obs_hallways: true}]", "world-unused-option"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_reported(tmp_path: Path, more: str, code: str) -> None:
    _, found = load(tmp_path, ROOMS + more)
    assert code in [kind for kind, _ in found]


def test_a_wrong_number_costs_neither_the_name_nor_the_other_numbers(tmp_path: Path) -> None:
    text = "params: {name: flat, inflation_radius: 0.1, object_radius: big, wall_height: -3}\n"
    world, found = load(tmp_path, text + ROOMS[ROOMS.index("rooms:") :])
    assert [code for code, _ in found] == ["world-wrong-value", "world-wrong-value"]
    assert (world.params.name, world.params.inflation_radius, world.params.object_radius) == (
        "flat",
        0.1,
        0.0375,
    )


def test_strict_makes_findings_errors_and_notes_none(tmp_path: Path) -> None:
    with pytest.raises(StrictError, match="is not inside of 'left'"):
        load(tmp_path, ROOMS + "locations: [{category: table, parent: left, pose: [3, 0]}]", strict=True)
    load(tmp_path, ROOMS + "objects:\n", strict=True)


def test_reference_mode_gives_up_where_the_reference_does(tmp_path: Path) -> None:
    for text in (ROOMS + "objects:\n", ROOMS.replace("name: left", "nam: left")):
        with pytest.raises(InputError):
            load(tmp_path, text, reference=True)
    world, _ = load(tmp_path, ROOMS + "locations: [{category: table, parent: left}]", reference=True)
    assert world.locations[0].pose.xy == (0.0, 0.0)


def test_relative_poses_count_along_world_axes_or_in_the_frame(tmp_path: Path) -> None:
    text = ROOMS.replace("pose: [6, 0]", "pose: [6, 0, 0, 1.5707963267948966]") + (
        "locations: [{category: table, parent: right, pose: {position: {x: 1.0}, relative_to: right}}]"
    )
    reference = load(tmp_path, text)[0].locations[0].pose
    assert reference.xy == pytest.approx((7.0, 0.0))
    frame = load(tmp_path, text, relative_mode="frame")[0].locations[0].pose
    assert frame.xy == pytest.approx((6.0, 1.0))
    assert reference.yaw == pytest.approx(math.pi / 2)
    assert frame.yaw == pytest.approx(math.pi / 2)
    with pytest.raises(UsageError):
        load(tmp_path, text, relative_mode="nested")


def test_an_object_beside_an_object_stands_on_the_same_surface(tmp_path: Path) -> None:
    text = (
        ROOMS
        + TABLE
        + (
            "objects:\n  - {name: a, category: can, parent: table0, pose: [0.8, -1.0]}\n"
            "  - {name: b, category: can, parent: table0, pose: {position: {x: 0.3}, relative_to: a}}\n"
        )
    )
    assert [item.pose.z for item in load(tmp_path, text)[0].objects] == [0.5, 0.5]
    assert [item.pose.z for item in load(tmp_path, text, reference=True)[0].objects] == [0.5, 1.0]


def test_an_automatic_name_takes_the_next_free_number(tmp_path: Path) -> None:
    text = ROOMS + (
        "locations:\n  - {name: table1, category: table, parent: left, pose: [1, 1]}\n"
        "  - {category: table, parent: left, pose: [1, -1]}\n"
    )
    world, found = load(tmp_path, text)
    assert [location.name for location in world.locations] == ["table1", "table2"]
    assert "world-name-renumbered" in [kind for kind, _ in found]
    assert [location.name for location in load(tmp_path, text, reference=True)[0].locations] == ["table1"]


def test_a_location_without_a_pose_finds_a_place(tmp_path: Path) -> None:
    text = ROOMS + "locations: [{category: table, parent: right}, {category: table, parent: right}]"
    world, found = load(tmp_path, text)
    assert found == []
    first, second = world.locations
    assert first.polygon.within(world.rooms[1].polygon)
    assert not first.polygon.intersects(second.polygon)


def test_a_location_that_covers_its_room_is_where_the_room_is(tmp_path: Path) -> None:
    """Wherever its pose is, and however it is turned."""
    (tmp_path / "mats.yaml").write_text(
        "mat:\n"
        "  footprint: {type: parent, padding: 0.5}\n"
        "  nav_poses: [[0.0, 0.0]]\n"
        "  locations: [{name: top, footprint: {type: parent}}]\n"
    )
    file = tmp_path / "world.yaml"
    file.write_text(
        "metadata: {locations: mats.yaml}\n"
        "rooms: [{name: hall, footprint: {type: box, dims: [4, 4]}, pose: [3, 1]}]\n"
        "locations: [{name: mat, category: mat, parent: hall, pose: [3.5, 1.2, 0.0, 0.7]}]\n"
    )
    mat = read_world(file).names["mat"]
    assert isinstance(mat, Location)
    assert mat.polygon.bounds == pytest.approx((1.5, -0.5, 4.5, 2.5))
    assert mat.pose.xy == pytest.approx((3.5, 1.2))


def test_category_defaults_and_colours_are_read(tmp_path: Path) -> None:
    file = write(tmp_path, ROOMS + TABLE)
    text = (tmp_path / "locations.yaml").read_text()
    (tmp_path / "locations.yaml").write_text(text.replace("color: teal", "color: teal\n  is_open: false"))
    from simwright.worlds.read import read_world

    location = read_world(file).locations[0]
    assert location.is_open is False
    assert location.color == pytest.approx((0.0, 128 / 255, 128 / 255))
    assert read_world(file, reference=True).locations[0].stated_color == "teal"


def test_both_keys_of_grasping_are_read(tmp_path: Path) -> None:
    text = (
        ROOMS
        + "robots: [{grasp_generator: {type: parallel_grasp, max_width: 0.1, depth: 0.1, height: 0.04}}]"
    )
    world, found = load(tmp_path, text)
    assert world.robots[0].grasping is not None
    assert world.robots[0].grasping["max_width"] == 0.1
    assert [kind for kind, _ in found] == ["world-grasp-generator-key"]
    assert load(tmp_path, text, reference=True)[0].robots[0].grasping is None


def test_tuples_of_the_reference_writer_are_lists(tmp_path: Path) -> None:
    text = "rooms:\n  - footprint: {type: box, dims: [1, 1]}\n    color: !!python/tuple [0.1, 0.2, 0.3]\n"
    assert load(tmp_path, text)[0].rooms[0].color == (0.1, 0.2, 0.3)
    with pytest.raises(InputError, match="not allowed"):
        load(tmp_path, "rooms: !!python/object:os.system {}\n")


def test_the_largest_robot_decides_which_poses_are_free(tmp_path: Path) -> None:
    text = (
        ROOMS
        + "locations: [{category: table, parent: left, pose: [1.05, 0]}]\nrobots: [{radius: 0.25, location: left}]"
    )
    world, found = load(tmp_path, text)
    assert world.inflation_radius == 0.25
    assert len(world.locations[0].nav_poses) == 1
    assert ("world-stale-nav-pose", 7) in found
    assert len(load(tmp_path, text, reference=True)[0].locations[0].nav_poses) == 2
