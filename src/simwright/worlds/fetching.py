# SPDX-License-Identifier: Apache-2.0
"""The fetch task: objects have to come to a place.  What environments of worlds do, without any learning library.

Choices are numbered: going to every surface and every hallway that can be gone to, picking each of the wanted objects,
then placing, detecting, opening and closing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simwright.core.errors import UnknownNameError, UsageError
from simwright.worlds.acting.action import Action, Result
from simwright.worlds.acting.carrying import put_object, shape_to_place
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.planning.planner import Planner, make_planner
from simwright.worlds.robots import WorldRobot
from simwright.worlds.sampling import SeededSampler
from simwright.worlds.world import Hallway, Location, Room, Spawn, World, WorldObject

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
