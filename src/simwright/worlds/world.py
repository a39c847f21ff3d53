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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.diag import NOWHERE, Where
from simwright.core.errors import UnknownNameError
from simwright.model.inertia import Inertial
from simwright.worlds.document_extensions import NOTHING_MORE, Extensions
from simwright.worlds.metadata import Category
from simwright.worlds.poses import WorldPose
from simwright.worlds.robots import WorldRobot

Geometry: TypeAlias = Any
"""A shapely Polygon or MultiPolygon, possibly empty."""
Rgb: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Params:
    """The ``params`` section.  ``inflation_radius`` is what the file says; the world's may be larger [m]."""

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
    slab_inflated: Geometry = field(default=None, repr=False)

    @property
    def walls(self) -> Geometry:
        """The walls along the corridor, up to the outer faces of the rooms' walls."""
        return (
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


def grow(polygon: Geometry, distance: float) -> Geometry:
    """The polygon grown (or with a negative ``distance`` [m] shrunk), corners kept sharp."""
    return polygon.buffer(distance, cap_style="flat", join_style="mitre")


@dataclass(slots=True, eq=False, repr=False)
class World:
    """Rooms, hallways, locations, objects and robots, in the order in which the file has them."""

    params: Params
    seed: int
    """What random choices were made from; the same file and seed give the same world."""
    reference: bool = False
    """Made to agree with PyRoboSim 5.0.1 instead of following Simwright's own policy."""
    rooms: list[Room] = field(default_factory=list)
    hallways: list[Hallway] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    objects: list[WorldObject] = field(default_factory=list)
    robots: list[WorldRobot] = field(default_factory=list)
    location_categories: dict[str, Category] = field(default_factory=dict)
    object_categories: dict[str, Category] = field(default_factory=dict)
    inflation_radius: float = 0.0
    """The largest of ``params.inflation_radius`` and the radii of the robots [m]."""
    extensions: Extensions = NOTHING_MORE
    """What the ``simwright`` block of the file says of entities and categories , :class:`Extensions`."""
    file: str = ""
    names: dict[str, Entity] = field(default_factory=dict, repr=False)
    """Every entity by its names; hallways have two."""
    _derived: dict[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        kinds = ("rooms", "hallways", "locations", "objects", "robots")
        counts = ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in kinds)
        return f"<World {self.name[:60]!r}: {counts}, seed {self.seed}>"

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.params.name

    @property
    def floors(self) -> list[Room | Hallway]:
        """Rooms and hallways."""
        return [*self.rooms, *self.hallways]

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

    def wall_height(self, part: Room | Hallway) -> float:
        """Height of the walls of a room or hallway [m]."""
        return part.height if part.height > 0.0 else self.params.wall_height

    # -- derived polygons ------------------------------------------------------------------------------------

    @property
    def free_space(self) -> Geometry:
        """Where the centre of a robot may be, closed doors respected; prepared for many questions."""
        from simwright.worlds.free_space import compute_free_space

        return self._derive("free", lambda: compute_free_space(self))

    def known_space(self, robot: WorldRobot, radius: float | None = None) -> Geometry:
        """The free space as a robot takes it to be: with the doors closed that it believes to be closed."""
        return self._find_space([hallway for hallway in self.hallways if robot.knows_closed(hallway)], radius)

    def free_space_at(self, radius: float) -> Geometry:
        """The free space at another inflation radius [m]."""
        return self._find_space([hallway for hallway in self.hallways if not hallway.is_open], radius)

    def _find_space(self, closed: list[Hallway], radius: float | None) -> Geometry:
        """One polygon for every radius and set of closed doors; the same object until something changes."""
        from simwright.worlds.free_space import compute_free_space

        same = radius is None or radius == self.inflation_radius
        if same and closed == [hallway for hallway in self.hallways if not hallway.is_open]:
            return self.free_space
        key = " ".join(("free", "" if same else repr(radius), *(hallway.name for hallway in closed)))
        return self._derive(key, lambda: compute_free_space(self, radius, closed))

    @property
    def sensing_space(self) -> Geometry:
        """What is inside of walls and closed doors: where light goes, over furniture."""
        from simwright.worlds.free_space import compute_sensing_space

        return self._derive("sensing", lambda: compute_sensing_space(self))

    @property
    def open_space(self) -> Geometry:
        """The sensing space without furniture: where a beam at the height of furniture goes."""
        from simwright.worlds.free_space import compute_open_space

        return self._derive("open", lambda: compute_open_space(self))

    @property
    def solid_space(self) -> Geometry:
        """Walls, closed doors and furniture as polygons: what stands on the floor."""
        from simwright.worlds.free_space import compute_solid_space

        return self._derive("solid", lambda: compute_solid_space(self))

    def is_free(self, x: npt.ArrayLike, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which of the points [m] a robot of the inflation radius may stand on; the edge counts as free."""
        import shapely

        found: npt.NDArray[np.bool_] = np.asarray(shapely.intersects_xy(self.free_space, x, y))
        return found

    def refresh(self) -> None:
        """Forget what was derived; call it after changing entities directly."""
        self._derived.clear()

    def set_inflation_radius(self, radius: float) -> None:
        """Take another radius [m]: free polygons follow; navigation poses stay (:func:`.free_space.renew`)."""
        from simwright.worlds.free_space import update_free_polygons

        self.inflation_radius = radius
        update_free_polygons(self)
        self.refresh()

    def _derive(self, key: str, compute: Any) -> Any:
        found = self._derived.get(key)
        if found is None:
            import shapely

            found = compute()
            shapely.prepare(found)
            self._derived[key] = found
        return found

    # -- state -------------------------------------------------------------------------------------------------

    def open(self, name: str) -> str:
        """Open a hallway or a location; the empty text, or why not."""
        from simwright.worlds.world_state import set_open

        return set_open(self, self.find(name), True)

    def close(self, name: str, ignore: Iterable[WorldRobot] = ()) -> str:
        """Close a hallway or a location; the empty text, or why not.  Robots in the doorway forbid it."""
        from simwright.worlds.world_state import set_open

        return set_open(self, self.find(name), False, ignore)

    def lock(self, name: str) -> str:
        """Lock: what is locked can be neither opened nor closed."""
        from simwright.worlds.world_state import set_locked

        return set_locked(self.find(name), True)

    def unlock(self, name: str) -> str:
        """Unlock."""
        from simwright.worlds.world_state import set_locked

        return set_locked(self.find(name), False)

    def locate(self, pose: WorldPose) -> Place | None:
        """The spawn or location whose navigation pose it is, else the hallway or room it is in, if any."""
        from simwright.worlds.world_state import locate_pose

        return locate_pose(self, pose)
