# SPDX-License-Identifier: Apache-2.0
"""Actions as PyRoboSim 5.0.1 carries them out, for reference mode: the order of its checks, its draws and its defects.

Robots drive through whatever came into their way after planning, look for their place at every step of a path, and know
things by one rule of their own: names first, then categories, the nearest of several.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import shapely
from scipy.spatial.transform import Rotation, Slerp  # type: ignore[import-untyped]

from simwright.core.errors import UsageError
from simwright.worlds.acting.action import NOTHING_SAID, Action, Result, Status, Steps, fail, refuse, succeed
from simwright.worlds.acting.manipulation import list_grasps
from simwright.worlds.acting.moving import find_holder, find_misfit, put_object, shape_to_place, take_object
from simwright.worlds.entities import Hallway, Location, Place, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.execution.executor import Trajectory, make_executor
from simwright.worlds.free_space import is_in_hallway
from simwright.worlds.graph import find_free_ways
from simwright.worlds.planning.path import Path
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import FieldOfView, Lidar, observe_doors
from simwright.worlds.world import World

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation

# numpy.allclose with the tolerances that PyRoboSim gives it, once relative and once absolute
_CLOSE = 1e-6
T = TypeVar("T")
Found = Place | WorldRobot


def navigate(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Plan, try, follow; where it ends decides the place, and a charger fills the battery."""
    if robot.battery_level <= 0.0:
        return _refuse_empty(robot, "navigate")
    path = action.path if action.path is not None else _plan(simulation, robot, action)
    if isinstance(path, Result):
        return path
    if not (yield from _try(simulation, robot, "navigate", pays=False)):
        return _fail_chance("navigate")
    if make_executor(simulation.world, robot) is None:
        return refuse("no-executor", f"{robot.name!r} has no path executor")
    failure = yield from _follow(simulation, robot, path)
    place = robot.location
    # also where the robot has not moved, or failed there
    if isinstance(place, Spawn) and place.location.is_charger:
        robot.charge()
        simulation.log(robot, "charge", f"charged at {place.location.name!r}", place=place.location.name)
    return failure or succeed(path=path)


def _follow(
    simulation: WorldSimulation, robot: WorldRobot, path: Path
) -> Generator[float, None, Result | None]:
    executor = make_executor(simulation.world, robot)
    assert executor is not None
    if len(path.poses) < 2:
        return refuse("no-path", "the path is a single pose")
    try:
        trajectory = executor.follow(path)
    except UsageError as error:
        return refuse("no-speed", f"{robot.name!r} cannot move: {error.message}")
    simulation.log(robot, "path", f"{path.length:.2f} m", length=path.length, poses=len(path.poses))
    failure = yield from _ReferenceTrip(simulation, robot, trajectory).follow()
    if failure is None and not is_approximately(robot.pose, path.poses[-1]):
        return fail("elsewhere", f"{robot.name!r} is not where its path ends")
    return failure


def _plan(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Path | Result:
    planner = simulation.find_planner(robot)
    if planner is None or action.target is None:
        return Result(
            Status.PLANNING, "no-planner", f"{robot.name!r} has no path planner, or no goal is given"
        )
    if isinstance(action.target, WorldPose):
        goal: WorldPose | None = action.target
    else:
        text = action.target if isinstance(action.target, str) else getattr(action.target, "name", "")
        place = find_place(simulation, robot, text)
        goal = None if place is None else _find_goal_pose(robot, place)
    if goal is None:
        return Result(Status.PLANNING, "unknown-place", f"no pose was found that reaches {action.target!r}")
    answer = planner.plan(robot.pose, goal)
    return answer.path or Result(Status.PLANNING, answer.code, answer.reason)


def _list_poses(trajectory: Trajectory, dt: float) -> Iterable[tuple[float, float, WorldPose]]:
    """How long to wait, the time, and the pose then: every ``dt`` [s] from the start on, and the end."""
    first, last = trajectory.poses[0], trajectory.poses[-1]
    if len(trajectory.poses) == 2 and first == last:
        yield 0.0, 0.0, first
        yield trajectory.duration, trajectory.duration, last
        return
    times = np.arange(0.0, trajectory.duration, dt)
    if trajectory.duration not in times:
        times = np.append(times, trajectory.duration)
    before = 0.0
    for time in times.tolist():
        yield (
            time - before,
            time,
            _make_end(trajectory) if time >= trajectory.duration else trajectory.sample(time),
        )
        before = time


def _make_end(trajectory: Trajectory) -> WorldPose:
    """A new object for where a trajectory ends, with the last bit of the yaw that PyRoboSim's interpolation leaves.

    That bit decides whether a robot that is sent there again "is there already" (poses are compared exactly), and only
    such a robot shares its pose with the place, see :func:`_raise_held`.
    """
    last, end = trajectory.poses[-1], trajectory.duration
    # poses at the same time as the end are left out by it, too
    before = bisect_left(trajectory.times, end) - 1
    if before < 0:
        return replace(last)
    rotations = Rotation.from_euler(
        "xyz", [(0.0, 0.0, pose.yaw) for pose in (trajectory.poses[before], last)]
    )
    yaw = Slerp((trajectory.times[before], end), rotations)(end).as_euler("xyz")[2]
    return WorldPose.from_yaw(last.x, last.y, last.z, float(yaw))


class _ReferenceTrip:
    """One robot on one path."""

    def __init__(self, simulation: WorldSimulation, robot: WorldRobot, trajectory: Trajectory) -> None:
        self.simulation, self.robot, self.trajectory = simulation, robot, trajectory
        self.usage = robot.actions.get("navigate", NOTHING_SAID).battery_usage
        self.last: WorldPose | None = None
        executor = make_executor(simulation.world, robot)
        assert executor is not None
        self.executor = executor
        lidar = simulation.find_sensor(robot, executor.lidar) if executor.lidar in robot.sensors else None
        self.lidar = lidar if isinstance(lidar, Lidar) and robot.partial_obs_hallways else None
        self.next_look = 0.0
        self.next_check = math.inf if executor.validation_dt is None else 0.0

    def follow(self) -> Generator[float, None, Result | None]:
        """Go from pose to pose; None at the end, or what went wrong."""
        for wait, time, pose in _list_poses(self.trajectory, self.executor.dt):
            if wait > 0.0:
                yield wait
            failure = self.move(time, pose)
            if failure is not None:
                return failure
        return None

    def move(self, time: float, pose: WorldPose) -> Result | None:
        """Set the pose, find the place, pay."""
        simulation, robot = self.simulation, self.robot
        simulation.move(robot, pose)
        robot.location = find_location(simulation.world, pose, robot.location)
        if pose is self.trajectory.poses[-1]:
            robot.pose = next((one for one in _list_stands(robot) if one == pose), robot.pose)
        _raise_held(robot)
        # PyRoboSim looks at doors and at the rest of the path in threads of their own; here at their due times
        if self.lidar is not None and time >= self.next_look:
            self.next_look = time + self.executor.lidar_dt
            if observe_doors(self.lidar):
                simulation.note_known_doors(robot)
        if time >= self.next_check:
            self.next_check = time + (self.executor.validation_dt or math.inf)
            if not self._is_rest_free(time, pose):
                return fail("blocked", "the rest of the path is no longer free")
        robot.battery_level -= self.usage * _measure(robot.pose, self.last or robot.pose)
        if robot.battery_level <= 0.0:
            robot.battery_level = 0.0
            return fail("battery-empty", f"the battery of {robot.name!r} ended on the way")
        self.last = robot.pose
        return None

    def _is_rest_free(self, time: float, pose: WorldPose) -> bool:
        times = self.trajectory.times
        number = next((k for k, when in enumerate(times) if when >= time), len(times) - 1)
        rest = [pose, *self.trajectory.poses[number:]]
        # the last piece is not looked at
        if number == len(times) - 1 or len(rest) < 3 or self.robot.path_executor is None:
            return True
        points = np.array([other.xy for other in rest])
        step = float(self.robot.path_executor["validation_step_dist"])
        space = self.simulation.find_known_space(self.robot)
        return bool(find_free_ways(space, points[:-1], points[1:], step=step).all())


# one function: the checks in the order in which PyRoboSim makes them
def pick(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Any object by its name, known or not; by a category only where the robot is."""
    if robot.held is not None:
        return refuse("holding", f"{robot.name!r} already holds {robot.held.name!r}")
    entity = simulation.world.names.get(action.object)
    item = entity if isinstance(entity, WorldObject) else find_object(simulation, robot, action.object)
    if item is None:
        return refuse("unknown-object", f"{robot.name!r} knows of no {action.object!r} here")
    refusal = _check_pick(robot, item)
    if refusal is not None:
        return refusal
    grasp = None
    if robot.grasping is not None:
        grasps = list_grasps(robot, item, lift=False)
        if not grasps:
            return Result(Status.PLANNING, "no-grasp", f"{item.name!r} does not fit the gripper")
        grasp = grasps[simulation.sampler.choose(len(grasps))]
    if not (yield from _try(simulation, robot, "pick")):
        return _fail_chance("pick")
    known = item.name in robot.known_objects
    simulation.outlines[item.name] = item.polygon
    take_object(robot, item)
    _raise_held(robot)
    # holding something is no knowledge of it
    if not known:
        robot.known_objects.discard(item.name)
    return succeed(object=item.name, grasp=grasp)


def _check_pick(robot: WorldRobot, item: WorldObject) -> Result | None:
    here = robot.location
    # a robot that is nowhere reaches everything
    if here is not None and item.spawn is not here:
        return refuse("elsewhere", f"{item.name!r} is not at {here.name!r}")
    if isinstance(here, Spawn) and not here.location.is_open:
        return refuse("closed", f"{here.location.name!r} is closed")
    return _refuse_empty(robot, "pick") if robot.battery_level <= 0.0 else None


# one function: the checks in the order in which PyRoboSim makes them
def place(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """On the surface where the robot is, at a given pose or at one that is drawn."""
    world, item, here = simulation.world, robot.held, robot.location
    if item is None:
        return refuse("not-holding", f"{robot.name!r} holds nothing that it could place")
    if not isinstance(here, Spawn):
        return refuse("not-at-surface", f"{robot.name!r} is at no surface")
    if not here.location.is_open:
        return refuse("closed", f"{here.location.name!r} is closed")
    if robot.battery_level <= 0.0:
        return _refuse_empty(robot, "place")
    if action.pose is not None:
        pose: WorldPose | None = None if find_misfit(world, item, here, action.pose) else action.pose
    else:
        others = [other.collision for other in here.objects]
        pose = simulation.sampler.sample_placement(shape_to_place(world, item), here.polygon, others)
    if pose is None:
        return Result(Status.PLANNING, "no-space", f"there is no place on {here.name!r} for {item.name!r}")
    if not (yield from _try(simulation, robot, "place")):
        return _fail_chance("place")
    put_object(world, item, here, pose, robot)
    return succeed(object=item.name, spawn=here.name)


# one function: the checks in the order in which PyRoboSim makes them
def detect(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """What a field of view shows, or what stands where the robot is."""
    views = [sensor for sensor in simulation.list_sensors(robot) if isinstance(sensor, FieldOfView)]
    here = robot.location
    refusal = None if views else _check_surface(robot)
    if refusal is not None:
        return refusal
    if robot.battery_level <= 0.0:
        return _refuse_empty(robot, "detect")
    if not (yield from _try(simulation, robot, "detect")):
        return _fail_chance("detect")
    if views:
        found = sorted(_list_seen(simulation, views), key=lambda item: item.name)
    else:
        assert isinstance(here, Spawn)
        found = list(here.objects)
    robot.known_objects.update(item.name for item in found)
    if action.object:
        found = [item for item in found if action.object in {item.name, item.category.name}]
        if not found:
            return fail("not-found", f"{robot.name!r} sees no {action.object!r}")
    return succeed(objects=[item.name for item in found])


def _check_surface(robot: WorldRobot) -> Result | None:
    here = robot.location
    if not isinstance(here, Spawn):
        return refuse("not-at-surface", f"{robot.name!r} is at no surface")
    return None if here.location.is_open else refuse("closed", f"{here.location.name!r} is closed")


def _list_seen(simulation: WorldSimulation, views: list[FieldOfView]) -> list[WorldObject]:
    """Objects in view; what robots hold is seen where it was picked up, whatever is there now."""
    areas = [view.find_area() for view in views]
    found: list[WorldObject] = []
    for item in simulation.world.objects:
        outline: Geometry = item.polygon
        if item.spawn is None and item.name in simulation.outlines:
            outline = simulation.outlines[item.name]
        shown = item.spawn is None or item.spawn.location.is_open
        if (
            shown
            and item.name not in simulation.forgotten
            and any(outline.intersects(area) for area in areas)
        ):
            found.append(item)
    return found


def open_here(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Open where the robot is."""
    del action
    return _set_open(simulation, robot, True)


def close_here(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Close where the robot is; the robot itself may stand in the door."""
    del action
    return _set_open(simulation, robot, False)


# one function: the checks in the order in which PyRoboSim makes them
def _set_open(simulation: WorldSimulation, robot: WorldRobot, state: bool) -> Steps:
    world, here, word = simulation.world, robot.location, "open" if state else "close"
    if here is None:
        return refuse("not-openable", f"{robot.name!r} is nowhere in particular")
    if robot.held is not None:
        return refuse("holding", f"{robot.name!r} holds {robot.held.name!r} and has no hand free")
    if not isinstance(here, (Hallway, Spawn)):
        return refuse(
            "not-openable", f"{robot.name!r} is at {here.name!r}, where nothing can be opened or closed"
        )
    if robot.battery_level <= 0.0:
        return _refuse_empty(robot, word)
    if not (yield from _try(simulation, robot, word)):
        return _fail_chance(word)
    target = here.location if isinstance(here, Spawn) else here
    # believed before the lock is tried
    if isinstance(here, Hallway) and robot.partial_obs_hallways:
        (robot.known_closed.discard if state else robot.known_closed.add)(here.name)
    changed = target.is_open is not state
    reason = world.open(target.name) if state else world.close(target.name, ignore=[robot])
    if reason:
        return refuse("locked", reason)
    if changed:
        # what robots believe of doors counts for their paths from the next change on
        for other in world.robots:
            simulation.note_known_doors(other)
        simulation.log(robot, word, target.name, place=target.name)
    return succeed(place=target.name, changed=changed)


def _try(
    simulation: WorldSimulation, robot: WorldRobot, action: str, *, pays: bool = True
) -> Generator[float, None, bool]:
    """Pay, wait, draw."""
    options = robot.actions.get(action)
    if options is None:
        return True
    if pays:
        robot.spend(options.battery_usage)
    if options.delay > 0.0:
        yield options.delay
    return simulation.draw_success(robot, action)


def _raise_held(robot: WorldRobot) -> None:
    """The pose of what a robot holds is its own, and raising the one raises the other: no goal is reached so."""
    if robot.held is not None:
        before = robot.pose
        robot.pose = robot.held.pose = before.raised(robot.height)
        # PyRoboSim 5.0.1 has one object for both where a robot was sent to where it stood: the place is raised with it,
        # and paths to it are longer from then on
        stands = _list_stands(robot)
        for number, stand in enumerate(stands):
            if stand is before:
                stands[number] = robot.pose


def _list_stands(robot: WorldRobot) -> list[WorldPose]:
    """Navigation poses of the surface where a robot is."""
    return robot.location.nav_poses if isinstance(robot.location, Spawn) else []


def _refuse_empty(robot: WorldRobot, action: str) -> Result:
    return refuse("no-battery", f"the battery of {robot.name!r} is empty, so it cannot {action}")


def _fail_chance(action: str) -> Result:
    return fail("chance", f"the attempt to {action} failed (success_probability)")


def is_approximately(pose: WorldPose, other: WorldPose) -> bool:
    """Are two poses the same to PyRoboSim?"""

    def close(values: Sequence[float], expected: Sequence[float]) -> bool:
        return all(abs(a - b) <= _CLOSE + _CLOSE * abs(b) for a, b in zip(values, expected, strict=True))

    if not close((pose.x, pose.y, pose.z), (other.x, other.y, other.z)):
        return False
    turned = tuple(-value for value in pose.quaternion)
    return close(pose.quaternion, other.quaternion) or close(turned, other.quaternion)


# one function: the places in the order in which PyRoboSim asks them
def find_location(world: World, pose: WorldPose, before: Place | None) -> Place | None:
    """Where a pose is, asked first of the place before."""
    room = before.room if isinstance(before, Spawn) else before
    if isinstance(room, Room):
        found = _find_in_room(room, pose)
        if found is not None:
            return next((hallway for hallway in room.hallways if _is_at_hallway(hallway, pose)), found)
    elif isinstance(before, Hallway) and _is_at_hallway(before, pose):
        return before
    for hallway in world.hallways:
        if _is_at_hallway(hallway, pose):
            return hallway
    places = (_find_in_room(room, pose) for room in world.rooms)
    return next((found for found in places if found is not None), None)


def _is_at_hallway(hallway: Hallway, pose: WorldPose) -> bool:
    return any(is_approximately(pose, other) for other in hallway.nav_poses) or is_in_hallway(hallway, pose)


def _find_in_room(room: Room, pose: WorldPose) -> Place | None:
    if not shapely.intersects_xy(room.free, pose.x, pose.y):
        return None
    for location in room.locations:
        for spawn in location.spawns:
            if any(is_approximately(pose, other) for other in spawn.nav_poses):
                return spawn
        if any(is_approximately(pose, other) for other in location.nav_poses):
            return location
    return room


def _measure(pose: WorldPose, other: WorldPose) -> float:
    # as PyRoboSim computes it: math.dist differs in the last bit, which decides between two that are equally far
    return math.sqrt((pose.x - other.x) ** 2 + (pose.y - other.y) ** 2 + (pose.z - other.z) ** 2)


def find_nearest(robot: WorldRobot, things: Iterable[T], where: Callable[[T], WorldPose]) -> T | None:
    """The nearest to a robot; of two at the same distance, the first."""
    return min(things, key=lambda thing: _measure(robot.pose, where(thing)), default=None)


def _find_goal_pose(robot: WorldRobot, place: Found) -> WorldPose | None:
    """The navigation pose of a place that is nearest to the robot; of a location, one of its first surface."""
    if isinstance(place, WorldRobot):
        return None
    if isinstance(place, Hallway):
        poses = _list_door_poses(robot, place)
    elif isinstance(place, Location):
        poses = list(place.spawns[0].nav_poses) if place.spawns else []
    else:
        poses = list(place.nav_poses)
    return find_nearest(robot, poses, lambda pose: pose)


def _list_door_poses(robot: WorldRobot, hallway: Hallway) -> list[WorldPose]:
    """Both ends of a hallway, without those in rooms whose doors are all closed, unless the robot is there."""
    poses = list(hallway.nav_poses)
    if robot.location is hallway:
        return poses
    kept = []
    for room, pose in zip((hallway.room_start, hallway.room_end), poses, strict=False):
        inside = shapely.intersects_xy(room.free, robot.pose.x, robot.pose.y)
        if inside or any(other.is_open for other in room.hallways):
            kept.append(pose)
    return kept


def find_place(simulation: WorldSimulation, robot: WorldRobot, query: str) -> Found | None:
    """The place that a description means to PyRoboSim."""
    found = _resolve(simulation, robot, query, wants_object=False)
    if isinstance(found, WorldObject):
        return found.spawn or find_holder(simulation.world, found)
    return found


def find_object(simulation: WorldSimulation, robot: WorldRobot, query: str) -> WorldObject | None:
    """The object that a description means to PyRoboSim."""
    found = _resolve(simulation, robot, query, wants_object=True)
    return found if isinstance(found, WorldObject) else None


@dataclass(frozen=True, slots=True)
class _Query:
    """What the words of a description are: the last room and place named, the first categories."""

    room: Room | None
    place: Hallway | Location | Spawn | None
    furniture: str | None
    kind: str | None


def _read_query(world: World, words: list[str]) -> _Query | None:
    """None where a word means nothing."""
    room: Room | None = None
    place: Hallway | Location | Spawn | None = None
    for word in words:
        entity = world.names.get(word)
        if isinstance(entity, Room):
            room = entity
        elif isinstance(entity, (Hallway, Location, Spawn)):
            place = entity
        elif word not in world.location_categories and word not in world.object_categories:
            return None
    return _Query(
        room,
        place,
        next((word for word in words if word in world.location_categories), None),
        next((word for word in words if word in world.object_categories), None),
    )


# one function: the cases in the order in which PyRoboSim tells them apart
def _resolve(
    simulation: WorldSimulation, robot: WorldRobot, text: str, *, wants_object: bool
) -> Place | WorldObject | None:
    words = text.split()
    known = {item.name: item for item in simulation.list_known(robot)}
    named = next((known[word] for word in words if word in known), None)
    if named is not None:
        return named
    query = _read_query(simulation.world, words)
    if query is None:
        return None
    if query.kind is not None or wants_object:
        return _resolve_object(simulation, robot, query, wants_object=wants_object)
    if query.place is not None or (query.room is not None and query.furniture is None):
        return query.place or query.room
    inside = simulation.world.locations if query.room is None else query.room.locations
    fitting = [loc for loc in inside if query.furniture in {None, loc.category.name}]
    return find_nearest(robot, fitting, lambda location: location.pose)


def _resolve_object(
    simulation: WorldSimulation, robot: WorldRobot, query: _Query, *, wants_object: bool
) -> WorldObject | None:
    if query.place is not None:
        standing = [item for item in _list_standing(query.place) if item.category.name == query.kind]
        nearest = find_nearest(robot, standing, lambda item: item.pose)
        if nearest is not None:
            return nearest
    where = query.furniture
    if wants_object and where is None and robot.location is not None:
        where = robot.location.name
    return _find_known(simulation, robot, query, where)


def _list_standing(place: Place) -> list[WorldObject]:
    spawns = [place] if isinstance(place, Spawn) else place.spawns if isinstance(place, Location) else []
    return [item for spawn in spawns for item in spawn.objects]


def _find_known(
    simulation: WorldSimulation, robot: WorldRobot, query: _Query, where: str | None
) -> WorldObject | None:
    known = simulation.list_known(robot)
    if robot.held is not None and robot.held in known:
        known.remove(robot.held)
        # PyRoboSim takes what the robot holds out of the world's own list, for good
        if not robot.partial_obs_objects:
            simulation.forgotten.add(robot.held.name)
    fitting = [
        item
        for item in known
        if query.kind in {None, item.category.name}
        and (query.room is None or (item.spawn is not None and item.spawn.room is query.room))
        and (where is None or _is_there(simulation.world, item, where))
    ]
    return find_nearest(robot, fitting, lambda item: item.pose)


def _is_there(world: World, item: WorldObject, where: str) -> bool:
    """Does a name or a category fit the surface, the location or the robot that has an object?"""
    spawn = item.spawn
    if spawn is None:
        holder = find_holder(world, item)
        return holder is not None and holder.name == where
    return where in {spawn.name, spawn.location.name, spawn.location.category.name}
