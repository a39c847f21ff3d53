# SPDX-License-Identifier: Apache-2.0
"""The ``robots`` section: reading robots, then finding each a place.

By our policy all robots are read first: the largest of them decides how much room there is, and so which navigation
poses are free.  PyRoboSim reads and places one after the other (reference mode).

Where robots start: nothing said, anywhere free; a pose, there; a room or hallway, somewhere in it or at the pose; a
location or spawn, at one of its navigation poses.
"""

from __future__ import annotations

import math

import shapely

from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, suggest
from simwright.worlds.entities import (
    FULL_BATTERY,
    Hallway,
    Location,
    MotionLimits,
    Place,
    Room,
    Spawn,
    WorldRobot,
)
from simwright.worlds.free_space import compute_free_space, is_in_hallway, update_waypoints
from simwright.worlds.poses import WorldPose
from simwright.worlds.query import choose_query, find_place
from simwright.worlds.read_state import WorldReading, refuse_entity
from simwright.worlds.read_values import check_name, read_color, read_pose
from simwright.worlds.robots_options import (
    read_actions,
    read_executor,
    read_grasping,
    read_planner,
    read_sensors,
)
from simwright.worlds.sampling import MAX_TRIES

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
            # taken at once, so that a second robot of the name is refused before either is placed
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
    # a robot that was left out may have been the largest
    if len(world.robots) < len(waiting):
        _set_radius(reading, world.robots)


def read_robot(reading: WorldReading, entry: WorldEntry, number: int) -> WorldRobot:
    """A robot without a place."""
    reading.check_keys(entry, KEYS)
    name = entry.text("name", f"robot{number}")
    where = entry.find_where()
    # PyRoboSim uses the name for the world itself
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
    world.update_navigation()


def _read_limits(entry: WorldEntry) -> MotionLimits:
    return MotionLimits(*(_read_limit(entry, key) for key in MotionLimits.__dataclass_fields__))


def _read_limit(entry: WorldEntry, key: str) -> float:
    """A limit; infinity may be written out."""
    value = entry.get(key)
    # .inf in YAML; WorldEntry.number refuses what is not finite
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


def place_robot(reading: WorldReading, robot: WorldRobot, entry: WorldEntry) -> None:
    """Our policy: a pose that is given counts; what is drawn is free, also of other robots."""
    pose = read_pose(reading, entry, "pose") if "pose" in entry else None
    query = choose_query(reading, entry, "location")
    place = None if query is None else _resolve(reading, robot, query, entry)
    if isinstance(place, (Location, Spawn)):
        _place_at_spawn(reading, robot, place, pose, entry)
    elif pose is not None:
        _place_at_pose(reading, robot, place, pose)
    else:
        _place_anywhere(reading, robot, place)
    _report_overlap(reading, robot)


def _place_at_pose(reading: WorldReading, robot: WorldRobot, place: Place | None, pose: WorldPose) -> None:
    world = reading.world
    robot.pose, robot.location = pose, world.locate(pose)
    if not shapely.intersects_xy(world.free_space, pose.x, pose.y):
        reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
    elif place is not None and not shapely.intersects_xy(place.polygon, pose.x, pose.y):
        reading.report(
            messages.ROBOT_ELSEWHERE, robot.where, name=robot.name, place=place.name, x=pose.x, y=pose.y
        )
    # outside of all floors: what the file says is the best there is
    if robot.location is None:
        robot.location = place


def _place_anywhere(reading: WorldReading, robot: WorldRobot, place: Place | None) -> None:
    """Somewhere free, in ``place`` if there is one."""
    world = reading.world
    space = world.free_space if place is None else world.free_space.intersection(place.polygon)
    # circles that the centre of the new robot has to stay out of
    discs = [(other.pose.x, other.pose.y, robot.radius + other.radius) for other in world.robots]
    pose = reading.sampler.sample_free_pose(space, world.bounds, robot.radius, discs)
    if pose is None:
        where = "in the world" if place is None else f"in {place.name!r}"
        raise refuse_entity(messages.NO_ROOM_LEFT, robot.where, name=robot.name, place=where)
    robot.pose = pose
    robot.location = place if place is not None else world.locate(pose)


def _place_at_spawn(
    reading: WorldReading,
    robot: WorldRobot,
    place: Location | Spawn,
    pose: WorldPose | None,
    entry: WorldEntry,
) -> None:
    spawn = _choose_spawn(reading, robot, place, entry)
    if not spawn.nav_poses:
        where = entry.find_where("location")
        raise Refusal(messages.NO_NAV_POSE, where, place=spawn.name, name=robot.name)
    matching = pose is not None and any(pose.is_near(other) for other in spawn.nav_poses)
    if pose is not None and not matching:
        reading.report(
            messages.ROBOT_POSE_IGNORED, entry.find_where("pose"), name=robot.name, place=place.name
        )
    # PyRoboSim ignores the pose silently unless it equals a navigation pose
    if pose is None or not matching:
        pose = spawn.nav_poses[reading.sampler.choose(len(spawn.nav_poses))]
    robot.pose, robot.location = pose, spawn


def _report_overlap(reading: WorldReading, robot: WorldRobot) -> None:
    for other in reading.world.robots:
        if math.dist(robot.pose.xy, other.pose.xy) < robot.radius + other.radius:
            reading.report(messages.ROBOT_OVERLAP, robot.where, name=robot.name, other=other.name)


def place_reference_robot(
    reading: WorldReading, robot: WorldRobot, pose: WorldPose | None, query: str | None, entry: WorldEntry
) -> None:
    """As PyRoboSim does it, with its draws in their order."""
    world = reading.world
    before = world.inflation_radius
    # PyRoboSim raises the radius robot by robot, and never lowers it
    largest = max([other.radius for other in world.robots] + [robot.radius])
    if largest > before:
        world.set_inflation_radius(largest)
    try:
        if query is None:
            _settle_free(reading, robot, pose)
        else:
            _settle_at(reading, robot, _resolve(reading, robot, query, entry), pose, entry)
    except Refusal:
        world.set_inflation_radius(before)
        raise
    world.robots.append(robot)
    world.names[robot.name] = robot
    _reset_planner(reading, robot)


def _settle_free(reading: WorldReading, robot: WorldRobot, pose: WorldPose | None) -> None:
    world = reading.world
    if pose is None:
        pose = _sample_apart(reading, robot)
        if pose is None:
            raise refuse_entity(messages.NO_ROOM_LEFT, robot.where, name=robot.name, place="in the world")
    elif not world.is_free(pose.x, pose.y):
        reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
    robot.pose, robot.location = pose, world.locate(pose)


def _sample_apart(reading: WorldReading, robot: WorldRobot) -> WorldPose | None:
    """A free pose in the bounds of the world and away from other robots: all tries together at most a thousand."""
    world = reading.world
    discs = [(other.pose.x, other.pose.y, robot.radius + other.radius) for other in world.robots]
    return reading.sampler.sample_free_pose(world.free_space, world.bounds, robot.radius, discs)


def _settle_at(
    reading: WorldReading, robot: WorldRobot, place: Place | None, pose: WorldPose | None, entry: WorldEntry
) -> None:
    if isinstance(place, (Room, Hallway)):
        if pose is None:
            point = reading.sampler.sample_point(place.free, MAX_TRIES)
            if point is None:
                raise refuse_entity(
                    messages.NO_ROOM_LEFT, robot.where, name=robot.name, place=f"in {place.name!r}"
                )
            pose = WorldPose.from_yaw(*point, 0.0, reading.sampler.sample_yaw())
        elif not _is_inside(place, pose):
            reading.report(messages.ROBOT_OCCUPIED, robot.where, name=robot.name, x=pose.x, y=pose.y)
        robot.pose, robot.location = pose, place
        return
    assert isinstance(place, (Location, Spawn))
    spawn = _choose_spawn(reading, robot, place, entry)
    if not spawn.nav_poses:
        where = entry.find_where("location")
        raise Refusal(messages.NO_NAV_POSE, where, place=spawn.name, name=robot.name)
    if pose is None or pose not in spawn.nav_poses:
        pose = spawn.nav_poses[reading.sampler.choose(len(spawn.nav_poses))]
    robot.pose, robot.location = pose, spawn


def _reset_planner(reading: WorldReading, robot: WorldRobot) -> None:
    """What setting up a planner changes: way points for the world graph, draws for the road map, each twice."""
    world, planner = reading.world, robot.path_planner
    if planner is None:
        return
    if planner.type == "world_graph":
        update_waypoints(world)
    elif planner.type == "prm":
        known = compute_free_space(world, closed=[h for h in world.hallways if robot.knows_closed(h)])
        # the draws themselves are thrown away: only the state of the generator afterwards matters
        for space in (world.free_space, known):
            for _ in range(int(planner["max_nodes"])):
                if reading.sampler.sample_free_pose(space, world.bounds, robot.radius) is None:
                    break


def _resolve(reading: WorldReading, robot: WorldRobot, query: str, entry: WorldEntry) -> Place:
    world = reading.world
    place, reason = find_place(world, query, reading.sampler)
    if place is None:
        raise refuse_entity(
            messages.UNRESOLVED,
            entry.find_where("location"),
            query=query,
            name=robot.name,
            reason=reason,
            meant=suggest(query, world.names),
        )
    return place


def _choose_spawn(
    reading: WorldReading, robot: WorldRobot, place: Location | Spawn, entry: WorldEntry
) -> Spawn:
    if isinstance(place, Spawn):
        return place
    if not place.spawns:
        raise Refusal(
            messages.NO_SURFACE,
            entry.find_where("location"),
            location=place.name,
            category=place.category.name,
            name=robot.name,
        )
    return place.spawns[reading.sampler.choose(len(place.spawns))]


def _is_inside(place: Room | Hallway, pose: WorldPose) -> bool:
    if isinstance(place, Hallway):
        return is_in_hallway(place, pose)
    return bool(shapely.intersects_xy(place.free, pose.x, pose.y))
