# SPDX-License-Identifier: Apache-2.0
"""A resolved world: every name given, every pose absolute, every polygon in world coordinates.

This is what planners, sensors, actions and the writers of three-dimensional scenes work on.  One call makes it::

    from simwright.worlds.read import read_world

    world = read_world("flat.yaml", seed=7)
    world.find("kitchen")                     # a Room; any entity by its name
    world.is_free([0.5, 2.0], [1.0, 1.0])     # many points at once, with the world's inflation radius
    world.free_space                          # the polygon of free robot centres
    world.open("hall_kitchen_bedroom")        # doors and furniture change state; polygons follow

Lengths are metres, angles radians.  Entities are compared by identity and hold references to each other; they are
changed through the methods of :class:`World`, which keep what is derived from them in step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.errors import UnknownNameError
from simwright.worlds.document import NOTHING_MORE, Extensions
from simwright.worlds.entities import (
    Category,
    Entity,
    FloorPlan,
    Hallway,
    Location,
    Params,
    Place,
    Room,
    Spawn,
    WorldObject,
    WorldRobot,
)
from simwright.worlds.floors import FloorTable
from simwright.worlds.free_space import (
    compute_free_space,
    compute_open_space,
    compute_sensing_space,
    compute_solid_space,
    is_in_hallway,
    update_free_polygons,
    update_navigation,
)
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class World(FloorPlan):
    """Rooms, hallways, locations, objects and robots, in the order in which the file has them."""

    params: Params
    seed: int
    """What random choices were made from; the same file and seed give the same world."""
    objects: list[WorldObject] = field(default_factory=list)
    robots: list[WorldRobot] = field(default_factory=list)
    location_categories: dict[str, Category] = field(default_factory=dict)
    object_categories: dict[str, Category] = field(default_factory=dict)
    extensions: Extensions = NOTHING_MORE
    """What the ``simwright`` block of the file says of entities and categories."""
    floor_table: FloorTable = field(default_factory=FloorTable)
    """Floors, lifts, stairs and named points, as far as the ``simwright`` block has any."""
    file: str = ""
    names: dict[str, Entity] = field(default_factory=dict, repr=False)
    """Every entity by its names; hallways have two."""
    _derived: dict[Hashable, Geometry] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        kinds = ("rooms", "hallways", "locations", "objects", "robots")
        counts = ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in kinds)
        return f"<World {self.name[:60]!r}: {counts}, seed {self.seed}>"

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.params.name

    @property
    def spawns(self) -> list[Spawn]:
        """All surfaces, location by location."""
        return [spawn for location in self.locations for spawn in location.spawns]

    @property
    def entities(self) -> Iterator[Entity]:
        """Everything in the order of loading; spawns follow their location."""
        yield from self.rooms
        yield from self.hallways
        for location in self.locations:
            yield location
            yield from location.spawns
        yield from self.objects
        yield from self.robots

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Smallest x and y, largest x and y of all floors [m]; zeros in a world without rooms."""
        parts = [part.polygon.bounds for part in self.floors]
        if not parts:
            return 0.0, 0.0, 0.0, 0.0
        low, high = np.min(parts, axis=0), np.max(parts, axis=0)
        return float(low[0]), float(low[1]), float(high[2]), float(high[3])

    def find(self, name: str) -> Entity:
        """The entity of that name, or :class:`UnknownNameError` with what was meant."""
        entity = self.names.get(name)
        if entity is None:
            raise UnknownNameError("entity", name, self.names)
        return entity

    def split_words(self, text: str) -> list[str]:
        """The names and categories in a description, such as ``"kitchen table"``; a name may have blanks."""
        words, found = text.split(), []
        if text.strip() in self.names:
            return [text.strip()]
        while words:
            # the most words that are a name together; a single one may be anything
            for count in range(len(words), 0, -1):
                word = " ".join(words[:count])
                known = (self.names, self.location_categories, self.object_categories)
                if count == 1 or any(word in names for names in known):
                    found.append(word)
                    del words[:count]
                    break
        return found

    def wall_height(self, part: Room | Hallway) -> float:
        """Height of the walls of a room or hallway [m]."""
        return part.height if part.height > 0.0 else self.params.wall_height

    # -- derived polygons ------------------------------------------------------------------------------------

    @property
    def free_space(self) -> Geometry:
        """Where the centre of a robot may be, closed doors respected; prepared for many questions."""
        return self._derive("free", lambda: compute_free_space(self))

    def known_space(self, robot: WorldRobot, radius: float | None = None) -> Geometry:
        """The free space as a robot takes it to be: with the doors closed that it believes to be closed."""
        return self._find_space([hallway for hallway in self.hallways if robot.knows_closed(hallway)], radius)

    def find_space_with(self, closed: list[Hallway]) -> Geometry:
        """The free space with other doors closed than are."""
        return self._find_space(closed, None)

    def free_space_at(self, radius: float) -> Geometry:
        """The free space at another inflation radius [m]."""
        return self._find_space(self.closed_hallways, radius)

    def _find_space(self, closed: list[Hallway], radius: float | None) -> Geometry:
        """One polygon for every radius and set of closed doors; the same object until something changes."""
        same = radius is None or radius == self.inflation_radius
        if same and closed == self.closed_hallways:
            return self.free_space
        key = ("free", None if same else radius, *(hallway.name for hallway in closed))
        return self._derive(key, lambda: compute_free_space(self, radius, closed))

    @property
    def sensing_space(self) -> Geometry:
        """What is inside of walls and closed doors: where light goes, over furniture."""
        return self._derive("sensing", lambda: compute_sensing_space(self))

    @property
    def open_space(self) -> Geometry:
        """The sensing space without furniture: where a beam at the height of furniture goes."""
        return self._derive("open", lambda: compute_open_space(self, self.sensing_space))

    @property
    def solid_space(self) -> Geometry:
        """Walls, closed doors and furniture as polygons: what stands on the floor."""
        return self._derive("solid", lambda: compute_solid_space(self, self.open_space))

    def is_free(self, x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which of the points [m] a robot of the inflation radius may stand on; the edge counts as free."""
        found: npt.NDArray[np.bool_] = np.asarray(shapely.intersects_xy(self.free_space, x, y))
        return found

    def refresh(self) -> None:
        """Forget what was derived; call it after changing entities directly."""
        self._derived.clear()

    def set_inflation_radius(self, radius: float) -> None:
        """Take another radius [m]: free polygons follow; navigation poses stay (:meth:`update_navigation`)."""
        self.inflation_radius = radius
        update_free_polygons(self)
        self.refresh()

    def update_navigation(self) -> None:
        """Bring free polygons, navigation poses and way points up to the inflation radius."""
        update_navigation(self)
        self.refresh()

    def _derive(self, key: Hashable, compute: Callable[[], Geometry]) -> Geometry:
        found = self._derived.get(key)
        if found is None:
            found = compute()
            # many points are asked of the same polygon
            shapely.prepare(found)
            self._derived[key] = found
        return found

    # -- state -------------------------------------------------------------------------------------------------

    def open(self, name: str) -> str:
        """Open a hallway or a location; the empty text, or why not."""
        return self._set_open(self.find(name), True)

    def close(self, name: str, ignore: Iterable[WorldRobot] = ()) -> str:
        """Close a hallway or a location; the empty text, or why not.  Robots in the doorway forbid it."""
        return self._set_open(self.find(name), False, ignore)

    def lock(self, name: str) -> str:
        """Lock, so that it can be neither opened nor closed; the empty text, or why not."""
        return self._set_locked(self.find(name), True)

    def unlock(self, name: str) -> str:
        """Unlock; the empty text, or why not."""
        return self._set_locked(self.find(name), False)

    def _set_open(self, entity: Entity, state: bool, ignore: Iterable[WorldRobot] = ()) -> str:
        if not isinstance(entity, (Hallway, Location)):
            return f"{entity.name!r} cannot be {'opened' if state else 'closed'}"
        if entity.is_open is state:
            return ""
        if entity.is_locked:
            return f"{entity.name!r} is locked and cannot be {'open' if state else 'closed'}"
        if isinstance(entity, Hallway):
            blocking = None if state else self._find_robot_in(entity, set(ignore))
            if blocking is not None:
                return f"the robot {blocking.name!r} stands in {entity.name!r}"
            self.refresh()  # free and sensing space have the doors in them; locations have none
        entity.is_open = state
        return ""

    def _find_robot_in(self, hallway: Hallway, ignore: set[WorldRobot]) -> WorldRobot | None:
        others = (robot for robot in self.robots if robot not in ignore)
        return next((robot for robot in others if is_in_hallway(hallway, robot.pose)), None)

    @staticmethod
    def _set_locked(entity: Entity, state: bool) -> str:
        if not isinstance(entity, (Hallway, Location)):
            return f"{entity.name!r} has no lock"
        entity.is_locked = state
        return ""

    def locate(self, pose: WorldPose) -> Place | None:
        """The spawn or location whose navigation pose it is, else the hallway or room it is in, if any."""
        # hallways come first: their navigation poses lie in the free floor of a room
        for hallway in self.hallways:
            if any(pose.is_near(other) for other in hallway.nav_poses) or is_in_hallway(hallway, pose):
                return hallway
        for room in self.rooms:
            if shapely.intersects_xy(room.free, pose.x, pose.y):
                return _find_furniture(room, pose) or room
        return None


def _find_furniture(room: Room, pose: WorldPose) -> Place | None:
    """The surface or location that the pose is a navigation pose of."""
    for location in room.locations:
        for spawn in location.spawns:
            if any(pose.is_near(other) for other in spawn.nav_poses):
                return spawn
        if any(pose.is_near(other) for other in location.nav_poses):
            return location
    return None


# what actions change of a robot and of an object; everything else of them is as the file says
_ROBOT = ("pose", "location", "battery_level", "held")
_OBJECT = ("spawn", "pose", "polygon", "collision")


@dataclass(frozen=True, slots=True, eq=False)
class WorldSnapshot:
    """What can change, as it was."""

    doors: dict[str, tuple[bool, bool]]
    objects: dict[str, tuple[Any, ...]]
    surfaces: dict[str, list[Any]]
    robots: dict[str, tuple[Any, ...]]
    knowledge: dict[str, tuple[frozenset[str], frozenset[str]]]
    poses: list[tuple[list[WorldPose], list[WorldPose]]]
    """Lists of navigation poses and what they held; paths turn them in reference mode only."""


def take_snapshot(world: World) -> WorldSnapshot:
    """Remember the state of a world."""
    return WorldSnapshot(
        {entity.name: (entity.is_open, entity.is_locked) for entity in _list_doors(world)},
        {item.name: tuple(getattr(item, key) for key in _OBJECT) for item in world.objects},
        {spawn.name: list(spawn.objects) for spawn in world.spawns},
        {robot.name: tuple(getattr(robot, key) for key in _ROBOT) for robot in world.robots},
        {r.name: (frozenset(r.known_objects), frozenset(r.known_closed)) for r in world.robots},
        [(poses, list(poses)) for poses in _list_nav_poses(world)] if world.reference else [],
    )


def restore_snapshot(world: World, snapshot: WorldSnapshot) -> None:
    """Bring a world back to a state that was taken from it."""
    changed = False
    for entity in _list_doors(world):
        state = snapshot.doors[entity.name]
        # only doors change derived polygons; forgetting them without need costs a union
        changed |= state[0] is not entity.is_open
        entity.is_open, entity.is_locked = state
    for item in world.objects:
        for key, value in zip(_OBJECT, snapshot.objects[item.name], strict=True):
            setattr(item, key, value)
    for spawn in world.spawns:
        # in place: others hold the list
        spawn.objects[:] = snapshot.surfaces[spawn.name]
    for robot in world.robots:
        for key, value in zip(_ROBOT, snapshot.robots[robot.name], strict=True):
            setattr(robot, key, value)
        known, closed = snapshot.knowledge[robot.name]
        robot.known_objects, robot.known_closed = set(known), set(closed)
    for poses, before in snapshot.poses:
        poses[:] = before
    if changed:
        world.refresh()


def _list_nav_poses(world: World) -> list[list[WorldPose]]:
    places: list[Place] = [*world.rooms, *world.hallways, *world.locations, *world.spawns]
    return [place.nav_poses for place in places] + [hallway.waypoints for hallway in world.hallways]


def _list_doors(world: World) -> list[Hallway | Location]:
    return [*world.hallways, *world.locations]
