# SPDX-License-Identifier: Apache-2.0
"""What peers tell the robots of a world to do: goals of PyRoboSim's actions, as actions and plans of a world.

:class:`WorldGoals` watches over the goals that are worked on; each of the others takes the goals of one sort of action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simwright.core.errors import SimwrightError, UsageError
from simwright.core.math3d import Pose
from simwright.ros.messages import are_finite, make_pose, read_pose
from simwright.ros.transports.transport import ActionBehaviour, GoalHandle, Message
from simwright.worlds.acting.action import Action, Result, Status
from simwright.worlds.acting.moving import find_holder
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.acting.table import ACTIONS
from simwright.worlds.entities import WorldObject, WorldRobot
from simwright.worlds.planning.path import Path
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

SUCCESS, EXECUTION_FAILURE, INVALID_ACTION = 0, 3, 5
"""Of ``pyrobosim_msgs/ExecutionResult``."""
_STATUS = {
    Status.SUCCESS: SUCCESS, Status.PRECONDITION: 1, Status.PLANNING: 2, Status.EXECUTION: EXECUTION_FAILURE,
    Status.CANCELED: 6,
}  # fmt: skip
Report = Callable[[], tuple[Result, Message]]


class WorldGoals:
    """Goals that robots work on, one for each robot at most."""

    def __init__(self, simulation: WorldSimulation) -> None:
        self.simulation = simulation
        self._goals: dict[str, tuple[GoalHandle, Report]] = {}

    def find_robot(self, name: str) -> WorldRobot:
        """The robot of that name; without one, the only robot there is."""
        robots = self.simulation.world.robots
        return robots[0] if not name and len(robots) == 1 else self.simulation.find_robot(name)

    def find_busy(self, robot: WorldRobot) -> str:
        """Why a robot cannot begin anything now; "" where it can."""
        busy = robot.name in self._goals or self.simulation.is_busy(robot)
        return f"{robot.name!r} is busy" if busy else ""

    def begin(self, robot: WorldRobot, handle: GoalHandle, start: Callable[[], Report]) -> None:
        """Start on a goal and watch over it; the report tells at its end how it went."""
        try:
            # two goals may have been accepted before the first has begun
            reason = self.find_busy(robot)
            report = None if reason else start()
        except SimwrightError as error:
            reason, report = error.message, None
        if report is None:
            handle.finish("aborted", {"execution_result": {"status": INVALID_ACTION, "message": reason}})
            return
        self._goals[robot.name] = (handle, report)

    def watch(self) -> None:
        """End what is done, and what is no longer wanted."""
        for name, (handle, _) in list(self._goals.items()):
            if not self.simulation.is_busy(name):
                self._end(name)
            elif handle.is_cancelled:
                self._end(name, self.simulation.cancel(name))

    def cancel_all(self, reason: str) -> None:
        """End all of them."""
        for name in list(self._goals):
            self.simulation.cancel(name)
            self._end(name, Result(Status.CANCELED, "canceled", reason))

    def _end(self, name: str, ended: Result | None = None) -> None:
        handle, report = self._goals.pop(name)
        result, more = report()
        result = ended or result
        state = "canceled" if result.status is Status.CANCELED else "succeeded" if result.ok else "aborted"
        handle.finish(state, {"execution_result": make_result(result), **more})


class ActionGoals(ActionBehaviour):
    """Goals that are one action of one robot."""

    def __init__(
        self,
        goals: WorldGoals,
        read: Callable[[Message], Action],
        robot: WorldRobot | None = None,
        *,
        shows: bool = False,
    ) -> None:
        self._goals, self._read, self._robot, self._shows = goals, read, robot, shows

    def _find_robot(self, goal: Message) -> WorldRobot:
        if self._robot is not None:
            return self._robot
        return self._goals.find_robot(str(goal["action"]["robot"]))

    def refuse(self, goal: Message) -> str:
        """See the base class."""
        try:
            ACTIONS.get(self._read(goal).type)
            return self._goals.find_busy(self._find_robot(goal))
        except SimwrightError as error:
            return error.message

    def begin(self, handle: GoalHandle) -> None:
        """See the base class."""
        simulation, robot = self._goals.simulation, self._find_robot(handle.goal)

        def report() -> tuple[Result, Message]:
            result = simulation.results[robot.name]
            if not self._shows:
                return result, {}
            seen = result.data.get("objects", ())
            items = [item for item in simulation.world.objects if item.name in seen]
            return result, {"detected_objects": [describe_object(simulation.world, item) for item in items]}

        def start() -> Report:
            simulation.start(robot, self._read(handle.goal))
            return report

        self._goals.begin(robot, handle, start)


class PlanGoals(ActionBehaviour):
    """Goals that are several actions of one robot."""

    def __init__(self, goals: WorldGoals) -> None:
        self._goals = goals

    def refuse(self, goal: Message) -> str:
        """See the base class."""
        try:
            for action in goal["plan"]["actions"]:
                ACTIONS.get(_read_action(action).type)
            return self._goals.find_busy(self._goals.find_robot(str(goal["plan"]["robot"])))
        except SimwrightError as error:
            return error.message

    def begin(self, handle: GoalHandle) -> None:
        """See the base class."""
        simulation, plan = self._goals.simulation, handle.goal["plan"]
        robot = self._goals.find_robot(str(plan["robot"]))

        def start() -> Report:
            actions = [_read_action(action) for action in plan["actions"]]
            answer = simulation.start_plan(robot, actions, max(0.0, float(handle.goal["delay"])))

            def report() -> tuple[Result, Message]:
                last = answer.results[-1] if answer.results else Result(Status.SUCCESS)
                return last, {"num_completed": answer.completed, "num_total": answer.total}

            return report

        self._goals.begin(robot, handle, start)


class PathGoals(ActionBehaviour):
    """Goals that ask for a path; nothing moves."""

    def __init__(self, goals: WorldGoals, robot: WorldRobot) -> None:
        self._goals, self._robot = goals, robot

    def refuse(self, goal: Message) -> str:
        """See the base class."""
        try:
            to_world_pose(goal["target_pose"])
        except SimwrightError as error:
            return error.message
        return ""

    def begin(self, handle: GoalHandle) -> None:
        """See the base class."""
        name = str(handle.goal["target_location"])
        answer = self._goals.simulation.plan_path(
            self._robot, name or to_world_pose(handle.goal["target_pose"])
        )
        if answer.path is None:
            failed = Result(Status.PLANNING, answer.code, answer.reason)
            handle.finish("aborted", {"execution_result": make_result(failed), "path": {}})
            return
        poses = [make_pose(to_pose(pose)) for pose in answer.path.poses]
        path = {"poses": poses, "length": answer.path.length}
        handle.finish("succeeded", {"execution_result": make_result(Result(Status.SUCCESS)), "path": path})


def to_pose(pose: WorldPose) -> Pose:
    """A pose of a world."""
    return Pose.of((pose.x, pose.y, pose.z), pose.quaternion)


def to_world_pose(message: Message) -> WorldPose:
    """``geometry_msgs/Pose`` as worlds have it; one without numbers is an error."""
    if not are_finite([float(value) for part in message.values() for value in part.values()]):
        raise UsageError("a pose of the goal has values that are not numbers")
    pose = read_pose(message)
    x, y, z = pose.p.tolist()
    return WorldPose.from_quaternion(x, y, z, pose.q.tolist())


def describe_object(world: World, item: WorldObject) -> Message:
    """``pyrobosim_msgs/ObjectState``; what is held belongs to who holds it."""
    holder = find_holder(world, item)
    parent = item.spawn.name if item.spawn is not None else holder.name if holder is not None else ""
    return {
        "name": item.name,
        "category": item.category.name,
        "parent": parent,
        "pose": make_pose(to_pose(item.pose)),
    }


def make_result(result: Result) -> Message:
    """``pyrobosim_msgs/ExecutionResult``."""
    return {"status": _STATUS[result.status], "message": result.message}


def read_task_action(goal: Message) -> Action:
    """What a goal of ``ExecuteTaskAction`` asks for."""
    return _read_action(goal["action"])


def _read_action(said: Mapping[str, Any]) -> Action:
    """``pyrobosim_msgs/TaskAction``."""
    kind, place = str(said["type"]), str(said["target_location"])
    pose = to_world_pose(said["pose"]) if said["has_pose"] else None
    if kind == "navigate":
        poses = tuple(to_world_pose(one) for one in said["path"]["poses"])
        return Action(kind, place or pose, path=Path(poses) if poses else None)
    if kind == "place":
        return Action(kind, place or None, pose=pose)
    return Action(kind, place or None, object=str(said["object"]))


def read_path(goal: Message) -> Action:
    """What a goal of ``FollowPath`` asks for."""
    return Action("navigate", path=Path(tuple(to_world_pose(one) for one in goal["path"]["poses"])))


def read_detection(goal: Message) -> Action:
    """What a goal of ``DetectObjects`` asks for."""
    return Action("detect", object=str(goal["target_object"]))
