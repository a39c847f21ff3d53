# SPDX-License-Identifier: Apache-2.0
"""The ``robots`` section: reading robots, then finding each a place.

By our policy all robots are read first: the largest of them decides how much room there is, and so which navigation
poses are free.  PyRoboSim reads and places one after the other (reference mode).
"""

from __future__ import annotations

import math

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.free_space import update_derived
from simwright.worlds.names import check_name
from simwright.worlds.poses_read import read_pose
from simwright.worlds.query import choose_query
from simwright.worlds.read_colors import read_color
from simwright.worlds.read_state import WorldReading
from simwright.worlds.robots import FULL_BATTERY, MotionLimits, WorldRobot
from simwright.worlds.robots_options import (
    read_actions,
    read_executor,
    read_grasping,
    read_planner,
    read_sensors,
)
from simwright.worlds.robots_placing import place_reference_robot, place_robot

KEYS = frozenset(
    {
        "name", "radius", "height", "color", "location", "pose", "initial_battery_level", "partial_obs_objects",
        "partial_obs_hallways", "max_linear_velocity", "max_angular_velocity", "max_linear_acceleration",
        "max_angular_acceleration", "path_planner", "path_executor", "grasping", "grasp_generator", "sensors",
        "start_sensor_threads", "action_execution_options",
    }
)  # fmt: skip
PURPLE = (0.8, 0.0, 0.8)


def add_robots(reading: WorldReading, root: WorldEntry) -> None:
    """Read and place all robots."""
    if reading.reference:
        for number, entry in enumerate(root.children("robots")):
            try:
                _add_reference_robot(reading, entry, number)
            except Refusal as refusal:
                reading.settle(refusal)
        return
    world = reading.world
    waiting: list[tuple[WorldRobot, WorldEntry]] = []
    for number, value in enumerate(root.items("robots")):
        try:
            entry = root.item("robots", number, value)
            robot = read_robot(reading, entry, number)
            check_name(reading, robot.name, WorldRobot, robot.where)
            world.names[robot.name] = robot
            waiting.append((robot, entry))
        except Refusal as refusal:
            reading.settle(refusal)
    _set_radius(reading, [robot for robot, _ in waiting])
    for robot, entry in waiting:
        try:
            place_robot(reading, robot, entry)
            world.robots.append(robot)
        except Refusal as refusal:
            reading.settle(refusal)
            del world.names[robot.name]
    if len(world.robots) < len(waiting):
        _set_radius(reading, world.robots)


def read_robot(reading: WorldReading, entry: WorldEntry, number: int) -> WorldRobot:
    """A robot without a place."""
    reading.check_keys(entry, KEYS)
    name = entry.text("name", f"robot{number}")
    where = entry.find_where()
    if name == "world":
        raise Refusal(messages.ROBOT_NAME, where)
    robot = WorldRobot(
        name=name,
        radius=entry.number("radius", 0.0),
        height=entry.number("height", 0.0),
        color=read_color(reading, entry, PURPLE),
        limits=_read_limits(entry),
        initial_battery_level=_read_battery(reading, entry, name),
        partial_obs_objects=entry.flag("partial_obs_objects", False),
        partial_obs_hallways=entry.flag("partial_obs_hallways", False),
        start_sensor_threads=entry.flag("start_sensor_threads", True),
        path_planner=read_planner(reading, entry),
        path_executor=read_executor(reading, entry),
        grasping=read_grasping(reading, entry, name),
        sensors=read_sensors(reading, entry),
        actions=read_actions(reading, entry),
        where=where,
    )
    if robot.radius < 0.0:
        raise entry.refuse_sort(robot.radius, "not negative", "radius")
    robot.battery_level = robot.initial_battery_level
    _check_lidar(reading, robot, entry)
    return robot


def _add_reference_robot(reading: WorldReading, entry: WorldEntry, number: int) -> None:
    robot = read_robot(reading, entry, number)
    pose = read_pose(reading, entry, "pose") if "pose" in entry else None
    query = choose_query(reading, entry, "location")
    check_name(reading, robot.name, WorldRobot, robot.where)
    place_reference_robot(reading, robot, pose, query, entry)


def _set_radius(reading: WorldReading, robots: list[WorldRobot]) -> None:
    """Take the largest radius there is, and bring the world up to it."""
    world = reading.world
    world.inflation_radius = max([world.params.inflation_radius, *(robot.radius for robot in robots)])
    update_derived(world)


def _read_limits(entry: WorldEntry) -> MotionLimits:
    return MotionLimits(*(_read_limit(entry, key) for key in MotionLimits.__dataclass_fields__))


def _read_limit(entry: WorldEntry, key: str) -> float:
    """A limit; infinity may be written out."""
    value = entry.get(key)
    if value is None or value == math.inf:
        return math.inf
    return entry.number(key)


def _read_battery(reading: WorldReading, entry: WorldEntry, name: str) -> float:
    level = entry.number("initial_battery_level", FULL_BATTERY)
    kept = min(FULL_BATTERY, max(0.0, level))
    if reading.reference or kept == level:
        return level
    where = entry.find_where("initial_battery_level")
    reading.report(messages.BATTERY_RANGE, where, name=name, level=level, new=kept)
    return kept


def _check_lidar(reading: WorldReading, robot: WorldRobot, entry: WorldEntry) -> None:
    """A robot that does not know the doors has to see them."""
    if not robot.partial_obs_hallways or robot.path_executor is None:
        return
    sensor = robot.sensors.get(robot.path_executor["lidar_sensor_name"])
    if sensor is None or sensor.type != "lidar":
        reading.report(
            messages.UNUSED_OPTION,
            entry.find_where("partial_obs_hallways"),
            place=entry.spell("partial_obs_hallways"),
            reason="the robot has no lidar to find closed doors with",
            meant="name a lidar sensor in path_executor.lidar_sensor_name",
        )
