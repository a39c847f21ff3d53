# SPDX-License-Identifier: Apache-2.0
"""The fetch task of a world, in which objects have to come to a place, as a Gymnasium environment (extra ``gym``).

An action is the number of a choice (:class:`FetchTask`, ``env.task.choices``): going to every surface and every hallway
that can be gone to, picking each of the wanted objects, then placing, detecting, opening and closing.  It is carried
out to its end in simulated time.  Observations are a dictionary:

========== ==================================================================================================
``pose``    x, y [m], cosine and sine of the yaw
``battery`` charge from 0 to 1
``place``   where the robot is: 0 for elsewhere, else 1 and up for the places that can be gone to
``held``    0 for nothing, 1 and up for the wanted objects, the last number for something else
``objects`` for each wanted object: 0 where it is not known, 1 and up for the surfaces, the last number while held
``open``    hallways, then locations: 1 where open, as far as the robot knows
========== ==================================================================================================

The reward is 1 for every object that comes to its place (-1 for one that leaves it), less ``time_cost`` for every
second and ``failure_cost`` for a choice that did not succeed.  An episode ends when all objects are there or the
battery is empty, and is cut off after ``max_steps`` choices.

Nothing of Simwright imports this file but who asks for an environment: Gymnasium is an extra, and slow to load.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.errors import MissingExtraError, UnknownNameError, UsageError
from simwright.worlds.acting.action import Action, Result
from simwright.worlds.acting.moving import put_object, shape_to_place
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.entities import Hallway, Location, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.planning.planner import Planner, make_planner
from simwright.worlds.sampling import SeededSampler
from simwright.worlds.world import World

try:
    import gymnasium
    from gymnasium import spaces
except ImportError:
    raise MissingExtraError("gymnasium", "gym", "an environment") from None

_TRIES = 20


@dataclass(frozen=True, slots=True)
class FetchStep:
    """What came of a choice."""

    result: Result
    seconds: float
    """Simulated time that it took."""
    delivered: int
    """How many more objects are where they belong; negative when one was taken away."""


class FetchTask:
    """One robot that brings ``objects`` (names or categories) to ``place`` (a surface, a location or a room)."""

    def __init__(
        self,
        world: World,
        objects: Sequence[str],
        place: str,
        *,
        robot: str = "",
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        if not world.robots:
            raise UsageError("there is no robot in this world")
        self.world, self.shuffle = world, shuffle
        self.robot = _find_robot(world, robot)
        self.wanted = list_wanted(world, objects)
        self.goal = _find_goal(world, place)
        self.places: list[Spawn | Hallway] = [spawn for spawn in world.spawns if spawn.nav_poses]
        self.places += [hallway for hallway in world.hallways if hallway.nav_poses]
        self.choices = self._list_choices()
        planners: dict[str, Planner] = {}
        if self.robot.path_planner is None:
            planners[self.robot.name] = make_planner(world, self.robot, "world_graph")
        self.simulation = WorldSimulation(world, seed=seed, planners=planners)

    def _list_choices(self) -> list[Action]:
        choices = [Action("navigate", part.name) for part in self.places]
        choices += [Action("pick", object=item.name) for item in self.wanted]
        return [*choices, *(Action(kind) for kind in ("place", "detect", "open", "close"))]

    def reset(self, seed: int) -> None:
        """Start anew; with ``shuffle`` the wanted objects stand somewhere else, away from the goal."""
        self.simulation.reset(seed)
        if self.shuffle:
            self._scatter(SeededSampler(seed))

    def step(self, choice: int) -> FetchStep:
        """Carry one of the choices out to its end."""
        before, start = self.count_delivered(), self.simulation.time
        result = self.simulation.execute(self.robot, self.choices[choice])
        return FetchStep(result, self.simulation.time - start, self.count_delivered() - before)

    def count_delivered(self) -> int:
        """How many of the objects are where they belong."""
        return sum(self._is_at_goal(item.spawn) for item in self.wanted)

    @property
    def done(self) -> bool:
        """Are all of them?"""
        return self.count_delivered() == len(self.wanted)

    def _is_at_goal(self, spawn: Spawn | None) -> bool:
        return spawn is not None and self.goal in {spawn, spawn.location, spawn.room}

    def _scatter(self, sampler: SeededSampler) -> None:
        others = [part for part in self.places if isinstance(part, Spawn) and not self._is_at_goal(part)]
        for item in self.wanted if others else ():
            for _ in range(_TRIES):
                spawn = others[sampler.choose(len(others))]
                taken = [other.collision for other in spawn.objects if other is not item]
                pose = sampler.sample_placement(shape_to_place(self.world, item), spawn.polygon, taken)
                if pose is not None:
                    put_object(self.world, item, spawn, pose)
                    break


def list_wanted(world: World, names: Sequence[str]) -> list[WorldObject]:
    """Objects by names and categories, in the order of the world."""
    for name in names:
        known = {item.name for item in world.objects} | {item.category.name for item in world.objects}
        if name not in known:
            raise UnknownNameError("object or category", name, known)
    found = [item for item in world.objects if item.name in names or item.category.name in names]
    if not found:
        raise UsageError("no object is to be brought anywhere", hint="name objects or categories")
    return found


def _find_robot(world: World, name: str) -> WorldRobot:
    names = [robot.name for robot in world.robots]
    if name and name not in names:
        raise UnknownNameError("robot", name, names)
    return world.robots[names.index(name) if name else 0]


def _find_goal(world: World, name: str) -> Spawn | Location | Room:
    entity = world.find(name)
    if not isinstance(entity, (Spawn, Location, Room)):
        raise UsageError(f"nothing can be brought to {name!r}", hint="name a surface, a location or a room")
    return entity


_RENDER_MODES = ("rgb_array",)


class WorldEnv(gymnasium.Env[dict[str, Any], Any]):
    """One robot brings objects to a place."""

    metadata: dict[str, Any] = {"render_modes": list(_RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - Gymnasium's

    def __init__(
        self,
        world: World,
        objects: Sequence[str],
        place: str,
        *,
        robot: str = "",
        shuffle: bool = True,
        max_steps: int = 100,
        time_cost: float = 0.001,
        failure_cost: float = 0.02,
        render_mode: str | None = None,
        size: int = 800,
    ) -> None:
        if render_mode is not None and render_mode not in _RENDER_MODES:
            raise UsageError(f"the render mode {render_mode!r} is not one of {', '.join(_RENDER_MODES)}")
        self.task = FetchTask(world, objects, place, robot=robot, shuffle=shuffle)
        self.render_mode, self.max_steps, self._size = render_mode, max_steps, size
        self._costs = (time_cost, failure_cost)
        self._steps = 0
        self._surfaces = {spawn.name: number for number, spawn in enumerate(world.spawns, 1)}
        self.action_space = spaces.Discrete(len(self.task.choices))
        self.observation_space = self._make_space(world)

    def _make_space(self, world: World) -> spaces.Dict:
        low_x, low_y, high_x, high_y = world.bounds
        low, high = np.array((low_x, low_y, -1.0, -1.0)), np.array((high_x, high_y, 1.0, 1.0))
        count = len(self.task.wanted)
        doors = len(world.hallways) + len(world.locations)
        return spaces.Dict(
            {
                "pose": spaces.Box(
                    (low - 1.0).astype(np.float32), (high + 1.0).astype(np.float32), dtype=np.float32
                ),
                "battery": spaces.Box(0.0, 1.0, (1,), np.float32),
                "place": spaces.Discrete(len(self.task.places) + 1),
                "held": spaces.Discrete(count + 2),
                "objects": spaces.MultiDiscrete([len(self._surfaces) + 2] * count),
                "open": spaces.MultiBinary(doors),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        self.task.reset(number)
        self._steps = 0
        return self._observe(), {"seed": number, "options": dict(options or {})}

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry a choice out."""
        outcome = self.task.step(int(action))
        self._steps += 1
        time_cost, failure_cost = self._costs
        reward = outcome.delivered - time_cost * outcome.seconds - failure_cost * (not outcome.result.ok)
        success = self.task.done
        empty = self.task.robot.battery_level <= 0.0
        info = {
            "success": success,
            "status": str(outcome.result.status),
            "code": outcome.result.code,
            "time": self.task.simulation.time,
        }
        ended = success or empty
        return self._observe(), float(reward), ended, not ended and self._steps >= self.max_steps, info

    def render(self) -> Any:
        """The top view with the ways that were gone, for the mode ``rgb_array``."""
        if self.render_mode is None:
            return None
        from PIL import Image

        from simwright.worlds.picture import write_png
        from simwright.worlds.picture_world import draw_world

        simulation = self.task.simulation
        picture = draw_world(simulation.world, size=self._size, paths=simulation.trails)
        return np.asarray(Image.open(io.BytesIO(write_png(picture))).convert("RGB"))

    def _observe(self) -> dict[str, Any]:
        task, robot, world = self.task, self.task.robot, self.task.world
        pose = robot.pose
        doors = [not robot.knows_closed(hallway) for hallway in world.hallways]
        doors += [location.is_open for location in world.locations]
        place = next((n for n, part in enumerate(task.places, 1) if part is robot.location), 0)
        return {
            "pose": np.array((pose.x, pose.y, math.cos(pose.yaw), math.sin(pose.yaw)), dtype=np.float32),
            "battery": np.array([robot.battery_level / 100.0], dtype=np.float32),
            "place": np.int64(place),
            "held": np.int64(self._number_held()),
            "objects": np.array([self._number_surface(item) for item in task.wanted], dtype=np.int64),
            "open": np.array(doors, dtype=np.int8),
        }

    def _number_held(self) -> int:
        held, wanted = self.task.robot.held, self.task.wanted
        if held is None:
            return 0
        return wanted.index(held) + 1 if held in wanted else len(wanted) + 1

    def _number_surface(self, item: Any) -> int:
        """Where an object is, as observed: the number of its surface from 1 on, 0 where the robot does not know it.

        An object that a robot holds has the number after the last surface.
        """
        if item not in self.task.robot.list_known_objects(self.task.world.objects):
            return 0
        return len(self._surfaces) + 1 if item.spawn is None else self._surfaces[item.spawn.name]


def make_env(world: World, objects: Sequence[str], place: str, **settings: Any) -> WorldEnv:
    """A Gymnasium environment: bring objects (names or categories) to a place."""
    return WorldEnv(world, objects, place, **settings)
