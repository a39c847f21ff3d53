# SPDX-License-Identifier: Apache-2.0
"""A world in the plane behind ROS: what its robots measure, the map, and what robots can be told to do.

Topics are those of any robot: odometry, scans, the battery, TF, a map that is kept for those who come later.  Goals and
questions are those of PyRoboSim (``pyrobosim_msgs``), under its names, so that programs written for it work.

Each robot has a namespace, and in it the frames ``map``, ``odom`` (where it started) and ``base_link``.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.core.names import NameScope, make_identifier
from simwright.ros.messages import (
    NANO,
    are_finite,
    make_header,
    make_pose,
    make_transform,
    make_twist,
    read_vector,
)
from simwright.ros.qos import LATCHED_QOS, TF_QOS, EndpointQos
from simwright.ros.serving import ClockPace, EndpointServer
from simwright.ros.transports.transport import ActionBehaviour, Message, Transport
from simwright.ros.world_goals import (
    EXECUTION_FAILURE,
    INVALID_ACTION,
    SUCCESS,
    ActionGoals,
    PathGoals,
    PlanGoals,
    WorldGoals,
    describe_object,
    read_detection,
    read_path,
    read_task_action,
    to_pose,
)
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.entities import FULL_BATTERY, Spawn, WorldRobot
from simwright.worlds.grid import FRAME, make_grid
from simwright.worlds.poses import WorldPose, rotate_point
from simwright.worlds.sensing.sensor import Lidar
from simwright.worlds.space.machines import BASE, ODOMETRY, ODOMETRY_RATE, SCAN, TWIST, find_lidar_height

ODOM = "odom"
_SENSOR_QOS = EndpointQos("best_effort")
_PACKAGE = "pyrobosim_msgs"
_WINDOW = NANO // 5
"""Velocities are means over this time [ns]: poses on a path follow each other in steps."""
_PATIENCE = NANO // 2
"""How long a robot goes on by a velocity command, as in PyRoboSim [ns]."""
_NOT_KNOWN = math.nan
_DISCHARGING, _FULL = 2, 4


@dataclass(frozen=True, slots=True)
class WorldMoment:
    """A moment of a world [ns]."""

    time: int


@dataclass(frozen=True, slots=True)
class WorldServing:
    """Time step [s], rates [Hz] in time of the simulation, cells of the map [m]; ``realtime`` keeps to the clock."""

    dt: float = 0.01
    clock_rate: float = 100.0
    tf_rate: float = 50.0
    state_rate: float = 10.0
    battery_rate: float = 1.0
    resolution: float = 0.05
    realtime: bool = False


class _ServedRobot:
    """A robot with its namespace, where it started, and the way it came lately."""

    def __init__(self, robot: WorldRobot, namespace: str) -> None:
        self.robot, self.namespace, self.start = robot, namespace, to_pose(robot.pose)
        self._past: deque[tuple[int, WorldPose]] = deque([(0, robot.pose)])
        self.command: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self.heard = -_PATIENCE - 1

    def note(self, time: int) -> None:
        """Remember where it is."""
        self._past.append((time, self.robot.pose))
        while len(self._past) > 2 and self._past[1][0] <= time - _WINDOW:
            self._past.popleft()

    def jump(self, time: int) -> None:
        """It was put somewhere: it did not move there."""
        self._past = deque([(time, self.robot.pose)])
        self.start = to_pose(self.robot.pose)
        self.heard = -_PATIENCE - 1

    @property
    def velocity(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Along its own axes [m/s], and its turning [rad/s]."""
        (before, old), (now, new) = self._past[0], self._past[-1]
        seconds = (now - before) / NANO
        if seconds <= 0.0:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        turned = math.remainder(new.yaw - old.yaw, math.tau)
        # along the middle of the turn, as a robot moves on an arc
        ahead, aside = rotate_point(new.x - old.x, new.y - old.y, -(old.yaw + turned / 2.0))
        return (ahead / seconds, aside / seconds, 0.0), (0.0, 0.0, turned / seconds)


class WorldBridge(EndpointServer[WorldMoment]):
    """Serves a world; goals of peers and plans of the caller go on at the same time."""

    def __init__(
        self,
        simulation: WorldSimulation,
        transports: Sequence[Transport],
        reporter: Reporter,
        options: WorldServing | None = None,
    ) -> None:
        super().__init__(transports, reporter)
        self.simulation, self._options = simulation, options or WorldServing()
        self.is_stopping = False
        self._steps = 0
        self._goals = WorldGoals(simulation)
        self._doors = self._list_doors()
        spaces = NameScope()
        self.robots = {
            robot.name: _ServedRobot(robot, f"/{spaces.claim(make_identifier(robot.name, 'robot'))}")
            for robot in simulation.world.robots
        }
        for served in self.robots.values():
            self._add_robot(served)
        self._add_world()
        self._add_clock(self._options.clock_rate)
        self._publish(WorldMoment(0), round(self._options.dt * NANO))

    # what is served

    def _add_robot(self, served: _ServedRobot) -> None:
        space, options, robot = served.namespace, self._options, served.robot
        self.add_topic(
            f"{space}/tf_static", "tf2_msgs/msg/TFMessage", self._read_fixed(served), 0.0, LATCHED_QOS
        )
        self.add_topic(
            f"{space}/tf", "tf2_msgs/msg/TFMessage", self._read_moving(served), options.tf_rate, TF_QOS
        )
        self.add_topic(f"{space}/odom", ODOMETRY, self._read_odometry(served), ODOMETRY_RATE)
        self.add_topic(
            f"{space}/battery_state", "sensor_msgs/msg/BatteryState", self._read_battery(served),
            options.battery_rate, _SENSOR_QOS,
        )  # fmt: skip
        self.add_topic(
            f"{space}/robot_state", f"{_PACKAGE}/msg/RobotState",
            lambda moment: self._describe_robot(robot, moment.time), options.state_rate,
        )  # fmt: skip
        lidars = self._list_lidars(robot)
        for name, lidar in lidars.items():
            topic = f"{space}/scan" if len(lidars) == 1 else f"{space}/{make_identifier(name)}/scan"
            rate = 1.0 / lidar.period if lidar.period > 0.0 else options.state_rate
            self.add_topic(topic, SCAN, _read_scan(lidar, make_identifier(name)), rate, _SENSOR_QOS)
        self.add_subscription(f"{space}/cmd_vel", TWIST, self._take_command(served))
        goals = self._goals
        actions: tuple[tuple[str, ActionBehaviour], ...] = (
            ("PlanPath", PathGoals(goals, robot)),
            ("FollowPath", ActionGoals(goals, read_path, robot)),
            ("DetectObjects", ActionGoals(goals, read_detection, robot, shows=True)),
        )
        for name, behaviour in actions:
            self.add_action(f"{space}/{_spell(name)}", f"{_PACKAGE}/action/{name}", behaviour)
        self.add_service(
            f"{space}/reset_path_planner", "std_srvs/srv/Trigger", lambda _: self._forget_planner(robot)
        )

    def _add_world(self) -> None:
        self.add_topic("/map", "nav_msgs/msg/OccupancyGrid", self._read_map, 0.0, LATCHED_QOS)
        executed = ActionGoals(self._goals, read_task_action)
        self.add_action("/execute_action", f"{_PACKAGE}/action/ExecuteTaskAction", executed)
        self.add_action("/execute_task_plan", f"{_PACKAGE}/action/ExecuteTaskPlan", PlanGoals(self._goals))
        for name, answer in (
            ("RequestWorldInfo", self._answer_info),
            ("RequestWorldState", self._answer_state),
            ("SetLocationState", self._set_location),
            ("ResetWorld", self._reset_world),
        ):
            self.add_service(f"/{_spell(name)}", f"{_PACKAGE}/srv/{name}", answer)

    def _list_lidars(self, robot: WorldRobot) -> dict[str, Lidar]:
        found = {name: self.simulation.find_sensor(robot, name) for name in robot.sensors}
        return {name: sensor for name, sensor in found.items() if isinstance(sensor, Lidar)}

    # what is told

    def _read_fixed(self, served: _ServedRobot) -> Callable[[WorldMoment], Message]:
        lidars = [make_identifier(name) for name in self._list_lidars(served.robot)]
        height = Pose.of((0.0, 0.0, find_lidar_height(self.simulation.world)))

        def read(moment: WorldMoment) -> Message:
            rows = [(FRAME, ODOM, served.start), *((BASE, name, height) for name in lidars)]
            return {"transforms": [make_transform(moment.time, *row) for row in rows]}

        return read

    def _read_moving(self, served: _ServedRobot) -> Callable[[WorldMoment], Message]:
        def read(moment: WorldMoment) -> Message:
            pose = ~served.start @ to_pose(served.robot.pose)
            return {"transforms": [make_transform(moment.time, ODOM, BASE, pose)]}

        return read

    def _read_odometry(self, served: _ServedRobot) -> Callable[[WorldMoment], Message]:
        def read(moment: WorldMoment) -> Message:
            pose = ~served.start @ to_pose(served.robot.pose)
            return {
                "header": make_header(moment.time, ODOM),
                "child_frame_id": BASE,
                "pose": {"pose": make_pose(pose)},
                "twist": {"twist": make_twist(*served.velocity)},
            }

        return read

    def _read_battery(self, served: _ServedRobot) -> Callable[[WorldMoment], Message]:
        def read(moment: WorldMoment) -> Message:
            level = served.robot.battery_level
            # what a world does not say is not a number, as the message wants it
            unknown = ("voltage", "temperature", "current", "charge", "capacity", "design_capacity")
            return {
                "header": make_header(moment.time, BASE),
                **dict.fromkeys(unknown, _NOT_KNOWN),
                "percentage": level / FULL_BATTERY,
                "power_supply_status": _FULL if level >= FULL_BATTERY else _DISCHARGING,
                "present": True,
            }

        return read

    def _read_map(self, moment: WorldMoment) -> Message:
        grid = make_grid(self.simulation.world, self._options.resolution)
        width, height = grid.shape
        stamp = make_header(moment.time, FRAME)
        # row by row along x, from the corner with the smallest coordinates
        cells = np.where(grid.occupied.T, 100, 0).astype(np.int8)
        return {
            "header": stamp,
            "info": {
                "map_load_time": stamp["stamp"],
                "resolution": grid.resolution,
                "width": width,
                "height": height,
                "origin": make_pose(Pose.of((*grid.origin, 0.0))),
            },
            "data": cells.ravel(),
        }

    def _describe_robot(self, robot: WorldRobot, time: int) -> Message:
        return {
            "header": make_header(time, FRAME),
            "name": robot.name,
            "pose": make_pose(to_pose(robot.pose)),
            "battery_level": robot.battery_level,
            "executing_action": self.simulation.is_busy(robot),
            "holding_object": robot.held is not None,
            "manipulated_object": "" if robot.held is None else robot.held.name,
            "last_visited_location": "" if robot.location is None else robot.location.name,
        }

    # what is asked

    def _answer_info(self, _: Message) -> Message:
        world = self.simulation.world
        return {
            "info": {
                "name": world.name,
                "location_categories": list(world.location_categories),
                "object_categories": list(world.object_categories),
            }
        }

    def _answer_state(self, request: Message) -> Message:
        """All there is, or with the name of a robot what that one knows of."""
        world = self.simulation.world
        robot = next((r for r in world.robots if r.name == request["robot"]), None)
        objects = world.objects if robot is None else robot.list_known_objects(world.objects)
        return {
            "state": {
                "robots": [self._describe_robot(other, self.time) for other in world.robots],
                "locations": [
                    {
                        "name": place.name,
                        "category": place.category.name,
                        "spawns": [spawn.name for spawn in place.spawns],
                        "parent": place.room.name,
                        "pose": make_pose(to_pose(place.pose)),
                        "is_open": place.is_open,
                        "is_locked": place.is_locked,
                    }
                    for place in world.locations
                ],
                "hallways": [
                    {
                        "name": door.name,
                        "room_start": door.rooms[0].name,
                        "room_end": door.rooms[1].name,
                        "is_open": door.is_open if robot is None else not robot.knows_closed(door),
                        "is_locked": door.is_locked,
                    }
                    for door in world.hallways
                ],
                "objects": [describe_object(world, item) for item in objects],
            }
        }

    def _set_location(self, request: Message) -> Message:
        world, name = self.simulation.world, str(request["location_name"])
        entity = world.names.get(name)
        if isinstance(entity, Spawn):
            entity = entity.location
        if entity is None:
            return {"result": {"status": INVALID_ACTION, "message": f"there is no location {name!r}"}}
        # a lock is opened first: what is locked can be neither opened nor closed
        problem = world.unlock(entity.name) or (
            world.open(entity.name) if request["open"] else world.close(entity.name)
        )
        if request["lock"] and not problem:
            problem = world.lock(entity.name)
        return {"result": {"status": EXECUTION_FAILURE if problem else SUCCESS, "message": problem}}

    def _reset_world(self, request: Message) -> Message:
        self._goals.cancel_all("the world was reset")
        seed = int(request["seed"])
        self.simulation.reset(seed if seed >= 0 else None)
        for served in self.robots.values():
            served.jump(self.time)
        # frames of /tf_static begin where robots begin
        self._send_again(lambda publisher: not publisher.period)
        return {"success": True}

    def _forget_planner(self, robot: WorldRobot) -> Message:
        if self.simulation.find_planner(robot) is None:
            return {"success": False, "message": f"{robot.name!r} has no path planner"}
        self.simulation.forget_planner(robot)
        return {"success": True, "message": ""}

    # what robots are told to do

    def _take_command(self, served: _ServedRobot) -> Callable[[Message], None]:
        def receive(message: Message) -> None:
            ahead, aside, _ = read_vector(message["linear"])
            turn = read_vector(message["angular"])[2]
            if are_finite((ahead, aside, turn)):
                served.command, served.heard = (ahead, aside, turn), self.time

        return receive

    # time

    def step(self) -> None:
        """Let a step of time pass with all that belongs to it."""
        self.poll()
        dt = self._options.dt
        for served in self.robots.values():
            # a robot at work goes its own way
            if self.time - served.heard <= _PATIENCE and not self.simulation.is_busy(served.robot):
                self.simulation.displace(served.robot, served.command, dt)
        self.simulation.step(dt)
        self._steps += 1
        self.time = round(self._steps * dt * NANO)
        for served in self.robots.values():
            served.note(self.time)
        self._goals.watch()
        doors = self._list_doors()
        if doors != self._doors:
            self._doors = doors
            self._send_again(lambda publisher: publisher.endpoint.name == "/map")
        self._publish(WorldMoment(self.time), round(dt * NANO))

    def _list_doors(self) -> tuple[bool, ...]:
        return tuple(door.is_open for door in self.simulation.world.hallways)

    def run(self, seconds: float = math.inf, until: Callable[[], bool] = lambda: False) -> None:
        """Go on for a time of the simulation [s], or until something is so.  Ctrl-C is for the caller."""
        end, pace = self.time / NANO + seconds, ClockPace(self.time)
        while self.time / NANO < end and not until() and not self.is_stopping:
            self.step()
            if self._options.realtime:
                pace.wait(self.time)


def _spell(title: str) -> str:
    """``PlanPath`` as ``plan_path``."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in title).strip("_")


def _read_scan(lidar: Lidar, frame: str) -> Callable[[WorldMoment], Message]:
    angles = lidar.angles

    def read(moment: WorldMoment) -> Message:
        scan = lidar.measure()
        # REP 117: beyond its range is infinitely far
        ranges = np.where(scan.hits, scan.ranges, np.inf).astype(np.float32)
        return {
            "header": make_header(moment.time, frame),
            "angle_min": float(angles[0]),
            "angle_max": float(angles[-1]),
            "angle_increment": float(angles[1] - angles[0]) if len(angles) > 1 else 0.0,
            "scan_time": lidar.period,
            "range_min": 0.0,
            "range_max": lidar.max_range,
            "ranges": ranges,
        }

    return read
