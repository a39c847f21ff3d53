# SPDX-License-Identifier: Apache-2.0
"""What a world consists of: rooms, hallways, locations with their surfaces (spawns), objects and robots.

Polygons are in world coordinates, lengths in metres, angles in radians.  Entities hold references to each other and are
compared by identity; :class:`~simwright.worlds.world.World` changes them and keeps what is derived in step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from simwright.core.diag import NOWHERE, Where
from simwright.model.inertia import Inertial
from simwright.worlds.document import WorldEntry
from simwright.worlds.polygons import Geometry, grow
from simwright.worlds.poses import ORIGIN, WorldPose

FULL_BATTERY = 100.0


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Largest speeds [m/s, rad/s] and accelerations [m/s^2, rad/s^2]; infinite where nothing is said."""

    max_linear_velocity: float = math.inf
    max_angular_velocity: float = math.inf
    max_linear_acceleration: float = math.inf
    max_angular_acceleration: float = math.inf


@dataclass(frozen=True, slots=True)
class ActionOptions:
    """How an action is carried out: ``delay`` [s], chance of success, seed, battery per metre or per attempt [%]."""

    delay: float = 0.0
    success_probability: float = 1.0
    rng_seed: int | None = None
    battery_usage: float = 0.0


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """A planner, executor, grasp generator or sensor: its type and every property, defaults filled in."""

    type: str
    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


@dataclass(slots=True, eq=False)
class WorldRobot:
    """A robot: a disc of ``radius`` [m].  ``pose`` and what follows it change as it acts."""

    name: str
    radius: float = 0.0
    height: float = 0.0
    color: tuple[float, float, float] = (0.8, 0.0, 0.8)
    limits: MotionLimits = MotionLimits()
    initial_battery_level: float = FULL_BATTERY
    partial_obs_objects: bool = False
    partial_obs_hallways: bool = False
    start_sensor_threads: bool = True
    path_planner: ComponentOptions | None = None
    path_executor: ComponentOptions | None = None
    grasping: ComponentOptions | None = None
    sensors: dict[str, ComponentOptions] = field(default_factory=dict)
    actions: dict[str, ActionOptions] = field(default_factory=dict)
    where: Where = NOWHERE

    pose: WorldPose = ORIGIN
    location: Place | None = field(default=None, repr=False)
    """The room, hallway or spawn it is at."""
    battery_level: float = FULL_BATTERY
    """Charge [%]."""
    held: WorldObject | None = field(default=None, repr=False)
    known_objects: set[str] = field(default_factory=set)
    """Names of the objects it has detected; counts with ``partial_obs_objects``."""
    known_closed: set[str] = field(default_factory=set)
    """Names of the hallways it found closed; counts with ``partial_obs_hallways``."""

    def spend(self, amount: float) -> None:
        """Use battery [%]; it ends at zero."""
        self.battery_level = max(0.0, self.battery_level - amount)

    def charge(self) -> None:
        """Fill the battery."""
        self.battery_level = FULL_BATTERY

    def knows_closed(self, hallway: Hallway) -> bool:
        """Does it take the door for closed?"""
        # such a robot takes every door for open until it has met it
        if self.partial_obs_hallways:
            return hallway.name in self.known_closed
        return not hallway.is_open

    def list_known_objects(self, objects: Iterable[WorldObject]) -> list[WorldObject]:
        """Those of the world's objects that it knows of."""
        return [item for item in objects if not self.partial_obs_objects or item.name in self.known_objects]


Rgb: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Params:
    """The ``params`` section.  ``inflation_radius`` is what the file says; the world's may be larger [m]."""

    # defaults are those of PyRoboSim 5.0.1
    name: str = "world"
    inflation_radius: float = 0.0
    object_radius: float = 0.0375
    wall_height: float = 2.0


@dataclass(slots=True, eq=False)
class Room:
    """A floor with walls around it: the walls stand outside of ``polygon``, ``wall_width`` [m] thick."""

    name: str
    polygon: Geometry
    outer: Geometry
    """The floor and its walls."""
    pose: WorldPose
    centroid: tuple[float, float]
    nav_poses: list[WorldPose]
    wall_width: float
    height: float
    """Height of the walls as stated [m]; 0 where the world's ``wall_height`` counts (:meth:`World.wall_height`)."""
    color: Rgb
    where: Where = NOWHERE
    hallways: list[Hallway] = field(default_factory=list, repr=False)
    locations: list[Location] = field(default_factory=list, repr=False)
    free: Geometry = field(default=None, repr=False)
    """Where the centre of a robot may be: the floor less the inflation radius and the inflated furniture."""

    @property
    def walls(self) -> Geometry:
        """The walls, open where hallways meet them."""
        # hallways reach into the rooms, so taking out their floor cuts the opening
        walls = self.outer.difference(self.polygon)
        for hallway in self.hallways:
            walls = walls.difference(hallway.polygon)
        return walls


@dataclass(slots=True, eq=False)
class Hallway:
    """A corridor between two rooms with one door.  ``points`` is its centre line, ``width`` its full width [m]."""

    name: str
    alias: str
    """The automatic name with the rooms the other way round; the name itself where it was given."""
    room_start: Room
    room_end: Room
    width: float
    wall_width: float
    offset: float
    points: list[tuple[float, float]]
    polygon: Geometry
    """The floor; it reaches into both rooms."""
    outer: Geometry
    """Floor and walls, outside of the two rooms and their walls."""
    slab: Geometry
    """What the closed door fills."""
    color: Rgb
    height: float = 0.0
    is_open: bool = True
    is_locked: bool = False
    nav_poses: list[WorldPose] = field(default_factory=list)
    """One before each end of the corridor, looking into it."""
    waypoints: list[WorldPose] = field(default_factory=list)
    """The nodes of the world graph: the part of the centre line outside of the rooms' free floors."""
    where: Where = NOWHERE
    free: Geometry = field(default=None, repr=False)
    """Where the centre of a robot may be in the corridor, the rooms' floors excluded; as if the door were open."""
    passage: Geometry = field(default=None, repr=False)
    """The same with what of it lies in the rooms: it overlaps with their free floors, so that no gap can be between."""
    slab_inflated: Geometry = field(default=None, repr=False)

    @property
    def walls(self) -> Geometry:
        """The walls along the corridor, up to the outer faces of the rooms' walls."""
        return (
            # up to the outer wall faces: the rooms have their own walls
            grow(self.polygon, self.wall_width)
            .difference(self.polygon)
            .difference(self.room_start.outer)
            .difference(self.room_end.outer)
        )

    @property
    def rooms(self) -> tuple[Room, Room]:
        """Both rooms."""
        return self.room_start, self.room_end


@dataclass(slots=True, eq=False)
class Spawn:
    """A surface of a location that objects stand on: ``polygon`` in the plane, ``height`` [m] above the floor."""

    name: str
    location: Location
    polygon: Geometry
    height: float
    pose: WorldPose
    color: Rgb
    nav_poses: list[WorldPose] = field(default_factory=list)
    """The free ones of ``nav_candidates``: where a robot can stand to reach the surface."""
    nav_candidates: list[WorldPose] = field(default_factory=list, repr=False)
    objects: list[WorldObject] = field(default_factory=list, repr=False)
    stated_color: Any = None

    @property
    def room(self) -> Room:
        """The room it is in."""
        return self.location.room

    @property
    def elevation(self) -> float:
        """Height of the surface in the world [m]: its own above that of the location."""
        return self.location.pose.z + self.height


@dataclass(slots=True, eq=False)
class Location:
    """A piece of furniture, a charger, a container: stands in a room and has surfaces (``spawns``)."""

    name: str
    category: Category
    room: Room
    pose: WorldPose
    raw_polygon: Geometry
    """The footprint in its own frame."""
    polygon: Geometry
    height: float
    color: Rgb
    is_open: bool = True
    is_locked: bool = False
    is_charger: bool = False
    nav_poses: list[WorldPose] = field(default_factory=list)
    """The free ones of ``nav_candidates``, which the category lists."""
    nav_candidates: list[WorldPose] = field(default_factory=list, repr=False)
    spawns: list[Spawn] = field(default_factory=list)
    where: Where = NOWHERE
    stated_color: Any = None
    """The colour as PyRoboSim has it: the text of a category's colour is not read there."""
    inflated: Geometry = field(default=None, repr=False)
    """The footprint grown by the inflation radius."""


@dataclass(slots=True, eq=False)
class WorldObject:
    """Something on a spawn that can be picked up.  ``pose.z`` is the height of the surface it stands on [m]."""

    name: str
    category: Category
    spawn: Spawn | None
    """The surface it is on; None while a robot holds it."""
    pose: WorldPose
    raw_polygon: Geometry
    polygon: Geometry
    collision: Geometry
    """The footprint grown by the world's ``object_radius``."""
    height: float
    color: Rgb
    where: Where = NOWHERE
    stated_color: Any = None
    inertial: Inertial | None = None
    """What the model of its mesh says that it weighs, seen from the bottom of its raw polygon."""

    @property
    def room(self) -> Room | None:
        """The room it is in; None while it is held."""
        return None if self.spawn is None else self.spawn.room


Entity: TypeAlias = Room | Hallway | Location | Spawn | WorldObject | WorldRobot
Place: TypeAlias = Room | Hallway | Location | Spawn
"""Where a robot can be said to be."""


@dataclass(frozen=True, slots=True, eq=False)
class Category:
    """What all tables, or all apples, have in common: ``entry`` is the mapping of the file, read when it is used."""

    name: str
    entry: WorldEntry = field(repr=False)
    where: Where = NOWHERE


@dataclass(slots=True, eq=False, kw_only=True)
class FloorPlan:
    """What free space follows from: floors, doors, furniture and the radius that robots keep to them."""

    reference: bool = False
    """Made to agree with PyRoboSim 5.0.1 instead of following Simwright's own policy."""
    rooms: list[Room] = field(default_factory=list)
    hallways: list[Hallway] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    inflation_radius: float = 0.0
    """The largest of ``params.inflation_radius`` and the radii of the robots [m]."""

    @property
    def floors(self) -> list[Room | Hallway]:
        """Rooms and hallways."""
        return [*self.rooms, *self.hallways]

    @property
    def closed_hallways(self) -> list[Hallway]:
        """Those whose door is closed."""
        return [hallway for hallway in self.hallways if not hallway.is_open]
