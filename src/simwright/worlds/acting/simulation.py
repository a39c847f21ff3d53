# SPDX-License-Identifier: Apache-2.0
"""A world in time: robots act, one after the other or all at once, and everything that happens is logged.

::

    simulation = WorldSimulation(world, seed=7)
    simulation.execute("tender", Action("navigate", "bench"))        # to its end; others go on meanwhile
    simulation.run({"tender": plan, "courier": other_plan})          # whole plans, interleaved
    simulation.start("tender", Action("pick", object="gear"))        # begin, then
    simulation.step(0.5)                                             # let half a second pass

Time is simulated: nothing sleeps, and nothing depends on how fast the machine is.  Whatever is due next happens next;
of two robots at the same time the one that comes first in the world.  The same world and seed give the same log.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from simwright.core.errors import UnknownNameError, UsageError
from simwright.worlds.acting.action import Action, Result, Status, Steps, SuccessDraws, refuse
from simwright.worlds.acting.moving import is_blocked, list_contacts, move_robot
from simwright.worlds.acting.table import ACTIONS, find_action
from simwright.worlds.entities import ComponentOptions, Place, WorldObject, WorldRobot
from simwright.worlds.execution.executor import VelocityControl
from simwright.worlds.planning.goals import Goal, find_goals, plan_to
from simwright.worlds.planning.path import PathAnswer
from simwright.worlds.planning.path import refuse as refuse_path
from simwright.worlds.planning.planner import Planner, make_planner
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.sampling import ReferenceSampler, Sampler, SeededSampler
from simwright.worlds.sensing.sensor import make_sensor
from simwright.worlds.world import World, restore_snapshot, take_snapshot


@dataclass(frozen=True, slots=True)
class Event:
    """``kind``: start, finish, path, detour, ride, open, close, charge, observe or contact."""

    time: float
    """Simulated time [s]."""
    robot: str
    kind: str
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.time:9.3f} s  {self.robot}: {self.kind} {self.text}".rstrip()


Task = Generator[float, None, Any]
_SAME_TIME = 1e-9


class Clock:
    """At most one task for each number; of two that are due at once, the smaller number goes first."""

    def __init__(self) -> None:
        self.time = 0.0
        """Simulated time [s]."""
        self._tasks: dict[int, tuple[Task, int]] = {}
        self._queue: list[tuple[float, int, int]] = []
        self._serial = 0

    def begin(self, number: int, task: Task) -> None:
        """Start a task now: it runs up to where it first waits."""
        assert number not in self._tasks, "one task at a time"
        # a number may be used again while an old entry of it is in the queue; the serial tells them apart
        self._serial += 1
        self._tasks[number] = (task, self._serial)
        self._resume(number)

    def is_busy(self, number: int) -> bool:
        """Is there a task of that number?"""
        return number in self._tasks

    def stop(self, number: int) -> bool:
        """End a task where it is; False where there is none."""
        found = self._tasks.pop(number, None)
        if found is not None:
            found[0].close()
        return found is not None

    def stop_all(self) -> None:
        """End all of them."""
        for number in list(self._tasks):
            self.stop(number)

    @property
    def next_time(self) -> float:
        """When something is due next [s]; infinite where nothing is."""
        queue = self._queue
        # entries of tasks that were stopped are dropped when they come up: removing them from a heap costs more
        while queue and self._tasks.get(queue[0][1], (None, -1))[1] != queue[0][2]:
            heappop(queue)
        return queue[0][0] if queue else math.inf

    def advance(self) -> None:
        """Go to what is due next, and let it happen."""
        self.time = max(self.time, self.next_time)
        self._resume(heappop(self._queue)[1])

    def pass_time(self, dt: float) -> None:
        """Let an amount of time pass [s]."""
        until = self.time + dt
        # sums of time steps differ in the last bits; what is due now belongs to this step
        while self.next_time <= until + _SAME_TIME:
            self.advance()
        self.time = until

    def _resume(self, number: int) -> None:
        task, serial = self._tasks[number]
        try:
            wait = next(task)
        except StopIteration:
            self._tasks.pop(number, None)
        except BaseException:
            self._tasks.pop(number, None)
            raise
        else:
            heappush(self._queue, (self.time + wait, number, serial))


@dataclass(slots=True)
class PlanResult:
    """How far a robot came with its plan: results of the actions that were begun."""

    robot: str
    total: int
    results: list[Result] = field(default_factory=list)
    finished: float = 0.0
    """When it ended [s]."""

    @property
    def completed(self) -> int:
        """How many actions succeeded."""
        return sum(result.ok for result in self.results)

    @property
    def ok(self) -> bool:
        """Did all of them?"""
        return self.completed == self.total


class WorldSimulation:
    """Runs a world.  ``planners`` give robots other planners than the file does, by name."""

    def __init__(
        self,
        world: World,
        *,
        seed: int | None = None,
        planners: Mapping[str, ComponentOptions | Planner] | None = None,
    ) -> None:
        self.world = world
        self.seed = world.seed if seed is None else seed
        self._given = dict(planners or {})
        self._start = take_snapshot(world)
        self._begin()

    def _begin(self) -> None:
        self._clock = Clock()
        self.events: list[Event] = []
        self.trails: dict[str, list[WorldPose]] = {robot.name: [robot.pose] for robot in self.world.robots}
        """Where each robot was."""
        self.results: dict[str, Result] = {}
        """The latest result of each robot."""
        # streams of their own, so that another planner or sensor does not change what actions draw
        self.sampler: Sampler = SeededSampler(_derive_seed(self.seed, 0))
        self._random = np.random.default_rng((self.seed, 1))
        self._chances = SuccessDraws(self.seed)
        self._planners: dict[str, Planner | None] = {}
        self._sensors: dict[tuple[str, str], Any] = {}
        self._dynamics: dict[str, VelocityControl] = {}
        self._touching: set[frozenset[str]] = set()
        self.trips: dict[str, Any] = {}
        """Robots on their way, by name (:mod:`simwright.worlds.acting.navigate`)."""
        self.cabins: dict[str, tuple[float, str]] = {}
        """For every lift that was used: until when it is taken [s], and the floor where it is then."""
        self.forgotten: set[str] = set()
        """Objects that PyRoboSim has lost from its list; reference mode only."""
        self.outlines: dict[str, Geometry] = {}
        """Objects as they lay when they were picked up; reference mode only."""
        self._known_doors: dict[str, frozenset[str]] = {}
        if self.world.reference:
            self._begin_reference()

    def _begin_reference(self) -> None:
        """PyRoboSim draws from one generator, and prepares planners when robots come into the world."""
        self.sampler = ReferenceSampler(self.seed)
        for robot in self.world.robots:
            self.note_known_doors(robot)
            planner = self.find_planner(robot)
            if planner is not None:
                planner.make_ready()

    def note_known_doors(self, robot: WorldRobot) -> None:
        """Let what a robot believes of doors count for its paths; reference mode only."""
        doors = frozenset(hallway.name for hallway in self.world.hallways if robot.knows_closed(hallway))
        self._known_doors[robot.name] = doors

    def find_known_space(self, robot: WorldRobot) -> Geometry:
        """The free space with the doors closed that counted last for a robot; reference mode only."""
        names = self._known_doors[robot.name]
        return self.world.find_space_with(
            [hallway for hallway in self.world.hallways if hallway.name in names]
        )

    def list_known(self, robot: WorldRobot) -> list[WorldObject]:
        """The objects that a robot knows of; in reference mode without those that were lost."""
        known = robot.list_known_objects(self.world.objects)
        if robot.partial_obs_objects:
            return known
        return [item for item in known if item.name not in self.forgotten]

    def reset(self, seed: int | None = None) -> None:
        """Back to the beginning: time, doors, objects, robots; with another seed if given."""
        self._clock.stop_all()
        restore_snapshot(self.world, self._start)
        self.seed = self.seed if seed is None else seed
        self._begin()

    # -- acting ----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._clock.time

    def execute(self, robot: str | WorldRobot, action: Action) -> Result:
        """Carry an action out to its end.  Robots that are busy go on meanwhile."""
        found = self.find_robot(robot)
        self.start(found, action)
        while self.is_busy(found):
            self._clock.advance()
        return self.results[found.name]

    def start(self, robot: str | WorldRobot, action: Action) -> None:
        """Begin an action; :meth:`step` lets it go on, ``results`` has what came of it."""
        found = self.find_robot(robot)
        self._begin_task(found, self._carry_out(found, action))

    def run(
        self, plans: Mapping[str, Sequence[Action]], *, pause: float = 0.0, limit: float = 1e6
    ) -> dict[str, PlanResult]:
        """Carry out plans of several robots at the same time; a robot stops at its first failure.

        ``pause`` [s] lies between two actions.  After ``limit`` [s] whatever still runs is canceled.
        """
        until = self.time + limit
        # unknown actions are errors before anything moves, not halfway through
        for action in (action for actions in plans.values() for action in actions):
            ACTIONS.get(action.type)
        answers = {name: self.start_plan(name, actions, pause) for name, actions in plans.items()}
        while any(self.is_busy(name) for name in answers) and self._clock.next_time <= until:
            self._clock.advance()
        for name in [name for name in answers if self.is_busy(name)]:
            answers[name].results.append(self.cancel(name))
            answers[name].finished = self.time
        return answers

    def start_plan(
        self, robot: str | WorldRobot, actions: Sequence[Action], pause: float = 0.0
    ) -> PlanResult:
        """Begin a plan; :meth:`step` lets it go on, and what is given back tells how far it has come."""
        found = self.find_robot(robot)
        for action in actions:
            ACTIONS.get(action.type)
        answer = PlanResult(found.name, len(actions))
        self._begin_task(found, self._follow_plan(found, list(actions), answer, pause))
        return answer

    def step(self, dt: float) -> list[Event]:
        """Let time pass [s]; what happened in it."""
        if dt < 0.0:
            raise UsageError("time does not run backwards")
        before = len(self.events)
        self._clock.pass_time(dt)
        return self.events[before:]

    def is_busy(self, robot: str | WorldRobot) -> bool:
        """Is a robot at work?"""
        return self._clock.is_busy(self._number(self.find_robot(robot)))

    def cancel(self, robot: str | WorldRobot) -> Result:
        """Stop what a robot does, where it is."""
        found = self.find_robot(robot)
        if not self._clock.stop(self._number(found)):
            return refuse("idle", f"{found.name!r} has nothing to cancel")
        self.settle(found)
        result = Result(Status.CANCELED, "canceled", "canceled")
        self.results[found.name] = result
        self.log(found, "finish", "canceled", status=str(result.status), code=result.code)
        return result

    def drive(self, robot: str | WorldRobot, command: Sequence[float], dt: float) -> bool:
        """Move by forward, sideways [m/s] and turning [rad/s] speed, and let the time pass; False where blocked."""
        free = self.displace(robot, command, dt)
        self.step(dt)
        return free

    def displace(self, robot: str | WorldRobot, command: Sequence[float], dt: float) -> bool:
        """The same without letting time pass: for several robots that are driven at once."""
        found = self.find_robot(robot)
        self._expect_idle(found)
        if found.name not in self._dynamics:
            self._dynamics[found.name] = VelocityControl(found.limits, reference=self.world.reference)
        dynamics = self._dynamics[found.name]
        pose = dynamics.step(found.pose, command, dt)
        free = not is_blocked(self.world, found, pose)
        if not free:
            dynamics.stop()
        self.move(found, pose if free else found.pose)
        self.settle(found)
        return free

    # -- asking ------------------------------------------------------------------------------------------------

    def find_robot(self, robot: str | WorldRobot) -> WorldRobot:
        """A robot by its name."""
        if isinstance(robot, WorldRobot):
            return robot
        found = next((other for other in self.world.robots if other.name == robot), None)
        if found is None:
            raise UnknownNameError("robot", robot, [other.name for other in self.world.robots])
        return found

    def plan_path(self, robot: str | WorldRobot, goal: Goal, start: WorldPose | None = None) -> PathAnswer:
        """The path that a robot would take."""
        found = self.find_robot(robot)
        planner = self.find_planner(found)
        if planner is None:
            return refuse_path("no-planner", f"{found.name!r} has no path planner")
        return plan_to(planner, find_goals(self.world, found, goal, start), start)[0]

    def sense(self, robot: str | WorldRobot, sensor: str) -> Any:
        """What a sensor of a robot measures now."""
        return self.find_sensor(self.find_robot(robot), sensor).measure()

    # -- for actions -------------------------------------------------------------------------------------------

    def log(self, robot: WorldRobot, kind: str, text: str = "", **data: Any) -> None:
        """Note something that happened."""
        self.events.append(Event(self.time, robot.name, kind, text, data))

    def move(self, robot: WorldRobot, pose: WorldPose) -> None:
        """Set the pose of a robot on its way; notes when it comes to touch another one."""
        move_robot(robot, pose)
        self.trails[robot.name].append(pose)
        self._note_contacts(robot)

    def settle(self, robot: WorldRobot, place: Place | None = None) -> None:
        """Find out where a robot is at the end of its way, unless ``place`` says so."""
        robot.location = self.world.locate(robot.pose) if place is None else place

    def draw_success(self, robot: WorldRobot, action: str) -> bool:
        """Does an action succeed this time?"""
        return self._chances.draw(robot, self._number(robot), action)

    def choose(self, robot: WorldRobot, count: int) -> int:
        """One of the numbers below ``count``."""
        del robot
        return int(self._random.integers(count))

    def find_planner(self, robot: WorldRobot) -> Planner | None:
        """The planner of a robot, made when it is first needed."""
        if robot.name not in self._planners:
            given = self._given.get(robot.name, robot.path_planner)
            # a planner that somebody made keeps its own random numbers
            if given is None or isinstance(given, Planner):
                self._planners[robot.name] = given
            else:
                seed = _derive_seed(self.seed, 2, self._number(robot))
                self._planners[robot.name] = make_planner(self.world, robot, given, seed=seed)
        return self._planners[robot.name]

    def forget_planner(self, robot: WorldRobot) -> None:
        """Let the next path be planned from nothing, without what a planner remembers of earlier ones."""
        self._planners.pop(robot.name, None)

    def find_sensor(self, robot: WorldRobot, name: str) -> Any:
        """A sensor of a robot, made when it is first needed."""
        key = (robot.name, name)
        if key not in self._sensors:
            self._sensors[key] = make_sensor(self.world, robot, name)
        return self._sensors[key]

    def list_sensors(self, robot: WorldRobot) -> list[Any]:
        """All sensors of a robot."""
        return [self.find_sensor(robot, name) for name in robot.sensors]

    # -- inside ------------------------------------------------------------------------------------------------

    def _begin_task(self, robot: WorldRobot, steps: Generator[float, None, Any]) -> None:
        self._expect_idle(robot)
        self._clock.begin(self._number(robot), steps)

    def _expect_idle(self, robot: WorldRobot) -> None:
        if self.is_busy(robot):
            raise UsageError(f"{robot.name!r} is busy", hint="cancel what it does first")

    def _carry_out(self, robot: WorldRobot, action: Action) -> Steps:
        """One action with its entries in the log."""
        carry_out = find_action(action.type, reference=self.world.reference)
        self.log(robot, "start", str(action), action=action.type)
        result = yield from carry_out(self, robot, action)
        self.results[robot.name] = result
        text = str(action) if result.ok else f"{action}: {result.message}"
        self.log(
            robot,
            "finish",
            text,
            action=action.type,
            status=str(result.status),
            code=result.code,
            battery=robot.battery_level,
        )
        return result

    def _follow_plan(
        self, robot: WorldRobot, actions: list[Action], answer: PlanResult, pause: float
    ) -> Generator[float, None, None]:
        for number, action in enumerate(actions):
            if number and pause > 0.0:
                yield pause
            result = yield from self._carry_out(robot, action)
            answer.results.append(result)
            if not result.ok:
                break
        answer.finished = self.time

    def _note_contacts(self, robot: WorldRobot) -> None:
        """Log robots that come to overlap, once for as long as they do."""
        # a contact is logged when it begins; as long as it lasts, it says nothing new
        touched = list_contacts(self.world, robot)
        for other in self.world.robots:
            pair = frozenset((robot.name, other.name))
            if other not in touched:
                self._touching.discard(pair)
            elif pair not in self._touching:
                self._touching.add(pair)
                self.log(robot, "contact", f"touches {other.name!r}", other=other.name)

    def _number(self, robot: WorldRobot) -> int:
        return self.world.robots.index(robot)


def _derive_seed(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
