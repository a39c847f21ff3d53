"""Lidar against shapely, views with walls in them, doors that are found out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import shapely

from simwright.core.errors import UnknownNameError, UsageError
from simwright.worlds.planning.path import FreePoints
from simwright.worlds.polygons import list_edges
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import Lidar, cast_rays, make_sensor, observe_doors

from ..flat import make_flat

LIDAR = """
sensors:
  lidar: {type: lidar, update_rate_s: 0.1, angle_units: degrees, min_angle: -120, max_angle: 120,
          angular_resolution: 5, max_range_m: 3.0}
  eyes: {type: fov, update_rate_s: 0.1, angle_units: degrees, min_angle: -30, max_angle: 30, max_range_m: 4.0}
"""


def measure_by_shapely(space: shapely.Geometry, pose: WorldPose, angle: float, reach: float) -> float:
    """The part of a beam that is connected to its start."""
    end = (pose.x + reach * math.cos(angle), pose.y + reach * math.sin(angle))
    parts = shapely.get_parts(shapely.intersection(shapely.LineString((pose.xy, end)), space))
    start = shapely.Point(pose.xy)
    return float(next(part.length for part in parts if shapely.distance(part, start) < 1e-12))


@pytest.mark.parametrize("door", ["true", "false"])
def test_ranges_are_those_of_shapely(tmp_path: Path, door: str) -> None:
    world = make_flat(tmp_path, LIDAR, door=door)
    robot = world.robots[0]
    world.robots = [robot]
    lidar = make_sensor(world, robot, "lidar")
    draws = FreePoints(world.free_space, np.random.default_rng(1))
    for number in range(40):
        point = draws.draw()
        assert point is not None
        robot.pose = WorldPose.from_yaw(*point.tolist(), 0.0, 0.37 * number)
        scan = lidar.measure()
        assert len(scan.ranges) == 49
        wanted = [
            measure_by_shapely(world.open_space, robot.pose, angle + robot.pose.yaw, 3.0)
            for angle in scan.angles
        ]
        assert np.abs(scan.ranges - wanted).max() < 1e-9
        assert (scan.hits == (scan.ranges < 3.0)).all()


def test_other_robots_are_in_the_way(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    robot, other = world.robots
    robot.pose, other.pose = WorldPose(-1.0, 0.0), WorldPose(0.0, 0.05)
    ranges = make_sensor(world, robot, "lidar").measure().ranges
    assert ranges[24] == pytest.approx(1.0 - math.sqrt(0.1**2 - 0.05**2), abs=1e-12)
    other.pose = WorldPose(-1.0, 0.05)
    assert (make_sensor(world, robot, "lidar").measure().ranges == 0.0).all()
    other.pose = WorldPose(-1.9, 0.0)
    assert make_sensor(world, robot, "lidar").measure().ranges[24] == 3.0


def test_beams_do_not_slip_through_corners() -> None:
    square = shapely.box(-1, -1, 1, 1)
    angles = np.arange(8) * math.pi / 4
    ranges = cast_rays(list_edges(square), (0.0, 0.0), angles, 10.0)
    assert ranges == pytest.approx([1.0, math.sqrt(2.0)] * 4)


def test_many_rays_are_cast_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = list_edges(shapely.Point(0, 0).buffer(2.0))
    angles = np.linspace(0.0, 6.0, 101)
    whole = cast_rays(edges, (0.3, 0.1), angles, 10.0)
    monkeypatch.setattr("simwright.worlds.sensing.sensor._AT_ONCE", 200)
    assert (cast_rays(edges, (0.3, 0.1), angles, 10.0) == whole).all()


def test_nothing_is_seen_from_inside_of_furniture(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    world.robots[0].pose = WorldPose(0.5, -1.4)
    assert (make_sensor(world, world.robots[0], "lidar").measure().ranges == 0.0).all()


def test_beams_are_counted_exactly(tmp_path: Path) -> None:
    text = LIDAR.replace(
        "angle_units: degrees, min_angle: -120, max_angle: 120",
        "angle_units: radians, min_angle: -0.3, max_angle: 0.3",
    )
    world = make_flat(tmp_path, text.replace("angular_resolution: 5", "angular_resolution: 0.1"))
    lidar = make_sensor(world, world.robots[0], "lidar")
    assert lidar.angles == pytest.approx([-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    world.robots[0].sensors["lidar"].values["angular_resolution"] = 1e-9  # type: ignore[index]
    with pytest.raises(UsageError, match="beams"):
        make_sensor(world, world.robots[0], "lidar")


def test_a_view_shows_what_is_in_it(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    robot = world.robots[0]
    eyes = make_sensor(world, robot, "eyes")
    robot.pose = WorldPose.from_yaw(-1.5, -1.4)
    assert [item.name for item in eyes.measure()] == ["can0", "crate0"]
    robot.pose = WorldPose.from_yaw(-1.5, -1.4, 0.0, math.pi)
    assert eyes.measure() == []
    robot.pose = WorldPose.from_yaw(-1.5, 1.5, 0.0, -0.9)
    area = eyes.find_area()
    assert world.sensing_space.buffer(1e-6).covers(area)


def test_rays_meet_every_corner_however_the_robot_is_turned(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    robot = world.robots[0]
    eyes = make_sensor(world, robot, "eyes")
    robot.pose = WorldPose.from_yaw(-1.5, -1.4, 0.0, 0.9)
    area = eyes.find_area()
    near, yaw = shapely.Point(robot.pose.xy).buffer(eyes.max_range * 0.999), robot.pose.yaw
    corners = [
        point
        for point in map(shapely.Point, shapely.get_coordinates(world.sensing_space))
        if near.covers(point)
        and abs(math.remainder(math.atan2(point.y - robot.pose.y, point.x - robot.pose.x) - yaw, math.tau))
        < eyes.max_angle * 0.98
        and world.sensing_space.buffer(1e-9).covers(shapely.LineString([robot.pose.xy, point]))
    ]
    assert corners, "the robot looks at no corner, so nothing is tested"
    # the arc of a ray that misses a corner cuts it off by more than this
    assert max(area.distance(point) for point in corners) < 1e-6


def test_walls_and_closed_doors_hide_and_closed_locations_too(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    robot = world.robots[0]
    eyes = make_sensor(world, robot, "eyes")
    robot.pose = WorldPose.from_yaw(0.0, 2.0, 0.0, 1.35)
    assert [item.name for item in eyes.measure()] == []
    robot.pose = WorldPose.from_yaw(0.0, 2.5, 0.0, 1.35)
    assert [item.name for item in eyes.measure()] == ["can1"]
    world.close("box")
    assert eyes.measure() == []
    world.open("box")
    world.close("hall_left_attic")
    robot.pose = WorldPose.from_yaw(0.0, 1.5, 0.0, 1.35)
    assert eyes.measure() == []


def test_a_wall_beside_the_line_of_sight_hides(tmp_path: Path) -> None:
    """Through the hallway only a strip of the other room is seen; PyRoboSim takes the whole connected part."""
    world = make_flat(
        tmp_path,
        LIDAR.replace("max_range_m: 4.0", "max_range_m: 9.0").replace(
            "-30, max_angle: 30", "-60, max_angle: 60"
        ),
    )
    robot = world.robots[0]
    robot.pose = WorldPose.from_yaw(1.0, 1.5, 0.0, 0.0)
    eyes = make_sensor(world, robot, "eyes")
    hidden = shapely.Point(7.5, 1.5)
    assert not eyes.find_area().intersects(hidden)
    world.reference = True
    assert eyes.find_area().intersects(hidden)


def test_a_lidar_finds_out_about_doors(tmp_path: Path) -> None:
    world = make_flat(
        tmp_path,
        LIDAR
        + "partial_obs_hallways: true\npath_executor: {type: constant_velocity, lidar_sensor_name: lidar}",
        door="false",
    )
    robot = world.robots[0]
    lidar = make_sensor(world, robot, "lidar")
    assert isinstance(lidar, Lidar)
    assert not robot.knows_closed(world.hallways[1])
    robot.pose = WorldPose.from_yaw(-1.5, -1.7, 0.0, math.pi)
    assert observe_doors(lidar) == []
    robot.pose = WorldPose.from_yaw(0.0, 0.5, 0.0, math.pi / 2)
    assert [hallway.name for hallway in observe_doors(lidar)] == ["hall_attic_left"]
    assert robot.knows_closed(world.hallways[1])
    world.open("hall_attic_left")
    assert len(observe_doors(lidar)) == 1
    assert not robot.known_closed


def test_a_sensor_that_is_not_there_is_named(tmp_path: Path) -> None:
    world = make_flat(tmp_path, LIDAR)
    with pytest.raises(UnknownNameError, match="lidar"):
        make_sensor(world, world.robots[0], "lidr")
