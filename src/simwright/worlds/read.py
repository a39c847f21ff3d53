# SPDX-License-Identifier: Apache-2.0
"""Reading a world file: the table of contents; and what is wrong with a world that can be read.

The format is PyRoboSim's (5.0.1).  What it does not have stands in one block of its own, ``simwright``, which PyRoboSim
passes over::

    simwright:
      seed: 7                       # what random choices are made from, unless the caller says
      relative_mode: frame          # relative_to turns with its base; default: reference (offsets along world axes)
      entities:
        hall_kitchen_bath: {height: 2.2}
        robot: {asset: robots/rover.urdf}
      categories:
        apple: {mass: 0.15}

``reference=True`` gives what PyRoboSim gives, its draws and its defects included; where the default differs is listed
in docs/worlds-differences.md.

Rooms that nobody gets into, doors that do nothing and objects out of reach are found for a robot of the world's
inflation radius.  It starts where the robots are, or, in a world without robots, where most rooms are; it can open
doors that are not locked.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import shapely

from simwright.core.collector import pause_collector
from simwright.core.diag import Level, Reporter
from simwright.core.documents.read import read_document
from simwright.core.documents.tree import Document
from simwright.core.errors import ParseError, StrictError, UsageError
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, read_extensions
from simwright.worlds.entities import Hallway, Location, Params, Room, Spawn
from simwright.worlds.floors import add_linked, read_floors
from simwright.worlds.free_space import blocks_way, compute_free_space, update_free_polygons
from simwright.worlds.metadata import read_metadata
from simwright.worlds.polygons import Geometry, cut_polygons, grow, join_polygons
from simwright.worlds.poses import WorldPose
from simwright.worlds.read_locations import add_location, add_object
from simwright.worlds.read_robots import add_robots
from simwright.worlds.read_rooms import add_hallway, add_room
from simwright.worlds.read_state import MeshReader, ModelReader, WorldReading
from simwright.worlds.sampling import ReferenceSampler, Sampler, SeededSampler
from simwright.worlds.world import World

SECTIONS = frozenset(
    {"params", "metadata", "rooms", "hallways", "locations", "objects", "robots", "simwright"}
)
_PARAMS = frozenset({"name", "inflation_radius", "object_radius", "wall_height"})
# the fixed order of PyRoboSim, not that of the file: names may only refer to what comes before
_ADDERS: dict[str, Callable[[WorldReading, WorldEntry], None]] = {
    "rooms": add_room,
    "hallways": add_hallway,
    "locations": add_location,
    "objects": add_object,
}


class WorldOptions(TypedDict, total=False):
    """How a world is read: see :func:`build_world`."""

    seed: int | None
    reference: bool
    strict: bool
    relative_mode: str | None
    data_folder: str | os.PathLike[str] | None
    read_mesh: MeshReader | None
    read_model: ModelReader | None
    reporter: Reporter | None


def read_world(path: str | os.PathLike[str], **options: Unpack[WorldOptions]) -> World:
    """Read a world file and make every choice in it; options are those of :func:`build_world`."""
    return build_world(read_document(path), **options)


def build_world(
    document: Document,
    *,
    seed: int | None = None,
    reference: bool = False,
    strict: bool = False,
    relative_mode: str | None = None,
    data_folder: str | os.PathLike[str] | None = None,
    read_mesh: MeshReader | None = None,
    read_model: ModelReader | None = None,
    reporter: Reporter | None = None,
) -> World:
    """A world from a document that was read before.

    ``seed`` decides random choices (default: the file's, else 0); ``reference`` agrees with PyRoboSim 5.0.1; ``strict``
    raises :class:`StrictError` for any finding above info; ``relative_mode`` is ``reference`` or ``frame``;
    ``data_folder`` is what ``$DATA`` means; ``read_mesh`` gives the points of mesh files, ``read_model`` what the
    ``model.sdf`` beside them says (not in reference mode).
    """
    reporter = Reporter() if reporter is None else reporter
    if not isinstance(document.data, dict):
        raise ParseError("a world file is a mapping of sections", where=document.find_where())
    root = WorldEntry(document, (), document.data)
    # thousands of entities that refer to each other and all live on: collecting cycles finds nothing
    with pause_collector():
        reading = _begin(root, reporter, seed=seed, reference=reference, relative_mode=relative_mode)
        reading.data_folder = None if data_folder is None else Path(data_folder)
        reading.read_mesh, reading.read_model = read_mesh, read_model
        _read_sections(reading, root)
        _finish(reading)
    # after everything was read, so that the error can say how many findings there are
    if strict and reporter.has(Level.WARNING):
        found = [diagnostic for diagnostic in reporter if diagnostic.level is not Level.INFO]
        first = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise StrictError(f"{first.message}{more}", hint=first.hint, where=first.where)
    return reading.world


def _begin(
    root: WorldEntry,
    reporter: Reporter,
    *,
    seed: int | None,
    reference: bool,
    relative_mode: str | None,
) -> WorldReading:
    extensions = read_extensions(root, reporter)
    mode = relative_mode or extensions.relative_mode
    if mode not in {"reference", "frame"}:
        raise UsageError(f"relative_mode {mode!r} is neither 'reference' nor 'frame'")
    number = seed if seed is not None else extensions.seed
    if not 0 <= number < 2**32:
        raise UsageError(f"the seed {number} is not from 0 to 4294967295")
    sampler: Sampler = ReferenceSampler(number) if reference else SeededSampler(number)
    world = World(
        params=Params(), seed=number, reference=reference, extensions=extensions, file=root.document.file
    )
    return WorldReading(
        world,
        reporter,
        sampler,
        folder=Path(root.document.file).parent,
        # reference mode is what PyRoboSim does, whatever the file asks for
        frame_mode=mode == "frame" and not reference,
    )


def _read_sections(reading: WorldReading, root: WorldEntry) -> None:
    reading.check_loose_keys(root, SECTIONS)
    # PyRoboSim fails on a section without content
    for section in ("params", *_ADDERS, "robots"):
        if section in root.data and root.data[section] is None:
            refusal = Refusal(messages.SECTION_NULL, root.find_where(section), key=section)
            reading.settle(refusal)
    _take(reading, lambda: _read_params(reading, root))
    _take(reading, lambda: read_metadata(reading, root))
    for section, add in _ADDERS.items():
        _take(reading, partial(_read_list, reading, root, section, add))
    reading.world.floor_table = read_floors(reading, root)
    # robots are placed in the free space of the furnished world
    update_free_polygons(reading.world)
    _take(reading, lambda: add_robots(reading, root))


def _read_list(
    reading: WorldReading, root: WorldEntry, section: str, add: Callable[[WorldReading, WorldEntry], None]
) -> None:
    for index, value in enumerate(root.items(section)):
        try:
            add(reading, root.item(section, index, value))
        except Refusal as refusal:
            reading.settle(refusal)


def _take(reading: WorldReading, step: Callable[[], None]) -> None:
    try:
        step()
    except Refusal as refusal:
        reading.settle(refusal)


def _read_params(reading: WorldReading, root: WorldEntry) -> None:
    entry = root.child("params")
    if entry is None:
        return
    reading.check_keys(entry, _PARAMS)
    params = Params(name=entry.text("name", "world"))
    numbers: dict[str, Any] = {}
    # each on its own: one wrong number must not take the name and the others with it
    for key in ("inflation_radius", "object_radius", "wall_height"):
        try:
            number = entry.number(key, getattr(params, key))
        except Refusal as refusal:
            reading.settle(refusal)
            continue
        if number < 0.0:
            reading.settle(entry.refuse_sort(number, "not negative", key))
        numbers[key] = number
    params = replace(params, **numbers)
    reading.world.params = params
    reading.world.inflation_radius = params.inflation_radius


def _finish(reading: WorldReading) -> None:
    world = reading.world
    if reading.reference:
        world.refresh()
        return
    # with robots it was done when the largest of them was known
    if not world.robots:
        world.update_navigation()
    report_occupied_nav_poses(reading)
    _apply_heights(world)


def _apply_heights(world: World) -> None:
    """Heights of the ``simwright`` block: PyRoboSim has none for hallways."""
    for part in world.floors:
        height = world.extensions.entities.get(part.name, {}).get("height")
        if height is not None:
            part.height = float(height)


def report_occupied_nav_poses(reading: WorldReading) -> None:
    """Report the poses that PyRoboSim would keep as goals although they are occupied."""
    radius = reading.world.params.inflation_radius
    for location in reading.world.locations:
        sets = [(location.name, location.nav_candidates, location.nav_poses)]
        sets += [
            (spawn.name, spawn.nav_candidates, spawn.nav_poses)
            for spawn in location.spawns
            if spawn.nav_candidates is not location.nav_candidates
        ]
        for name, candidates, kept in sets:
            if len(kept) == len(candidates):
                continue
            gone = [pose for pose in candidates if pose not in kept]
            count = sum(_was_free(location, pose, radius) for pose in gone)
            if count:
                reading.report(
                    messages.STALE_NAV_POSE,
                    location.where,
                    name=name,
                    count=count,
                    total=len(candidates),
                    radius=reading.world.inflation_radius,
                )


def _was_free(location: Location, pose: WorldPose, radius: float) -> bool:
    """Free at the inflation radius of the file, with the locations before this one."""
    room = location.room
    if not shapely.intersects_xy(grow(room.polygon, -radius), pose.x, pose.y):
        return False
    # PyRoboSim judged when the location was added: later furniture was not there yet
    before = room.locations[: room.locations.index(location)]
    return not any(shapely.contains_xy(grow(other.polygon, radius), pose.x, pose.y) for other in before)


# smaller areas [m2] are rounding
_SPECK = 1e-6


@dataclass(frozen=True, slots=True)
class ReachableSpace:
    """Where a robot gets: as the doors are (``now``), and after opening all that are not locked (``later``)."""

    now: Geometry
    later: Geometry


def check_quality(world: World, reporter: Reporter) -> None:
    """Report everything that a person would want to know before using the world."""
    reach = find_reachable_space(world)
    for room in world.rooms:
        _check_room(world, room, reach, reporter)
    for hallway in world.hallways:
        _check_hallway(world, hallway, reporter)
    for spawn in world.spawns:
        _check_spawn(world, spawn, reach, reporter)


def find_reachable_space(world: World) -> ReachableSpace:
    """The parts of the free space that robots get to."""
    locked = [hallway for hallway in world.hallways if not hallway.is_open and hallway.is_locked]
    now = _take_reached(world, world.free_space)
    # no door could be opened: the second union would be the first again
    if all(hallway.is_open or hallway.is_locked for hallway in world.hallways):
        return ReachableSpace(now, now)
    return ReachableSpace(now, _take_reached(world, compute_free_space(world, closed=locked)))


def is_passable(hallway: Hallway) -> bool:
    """Does a robot get from one room through the open door into the other?"""
    start, end = hallway.rooms
    furniture = [location.inflated for room in hallway.rooms for location in room.locations]
    space = cut_polygons(join_polygons([start.free, hallway.passage, end.free]), furniture)
    # a common edge counts as a way only if the rooms meet there as well
    parts = shapely.get_parts(space.buffer(_SPECK))
    return any(part.intersects(start.free) and part.intersects(end.free) for part in parts)


def _take_reached(world: World, space: Geometry) -> Geometry:
    parts = shapely.get_parts(space)
    if not len(parts):
        return shapely.Polygon()
    shapely.prepare(parts)
    chosen = np.zeros(len(parts), dtype=bool)
    for robot in world.robots:
        chosen |= shapely.intersects_xy(parts, robot.pose.x, robot.pose.y)
    # no robot, or none in free space: the part with most rooms is where one would be
    if not chosen.any():
        floors = np.array([room.polygon for room in world.rooms], dtype=object)
        rooms = shapely.intersects(parts[:, None], floors[None, :]).sum(axis=1)
        chosen[np.lexsort((shapely.area(parts), rooms))[-1]] = True
    add_linked(world, parts, chosen)
    reached = join_polygons(parts[chosen])
    shapely.prepare(reached)
    return reached


def _check_room(world: World, room: Room, reach: ReachableSpace, reporter: Reporter) -> None:
    occupied = _count_occupied(world, room.nav_poses)
    if occupied:
        reporter.report(
            messages.NAV_POSE_OUTSIDE,
            room.where,
            name=room.name,
            count=occupied,
            total=len(room.nav_poses),
            radius=world.inflation_radius,
        )
    if _enters(reach.now, room):
        return
    if _enters(reach.later, room):
        reporter.report(messages.ROOM_BEHIND_DOOR, room.where, name=room.name)
        return
    why, meant = _explain_room(world, room)
    reporter.report(messages.ROOM_UNREACHABLE, room.where, name=room.name, why=why, meant=meant)


def _enters(space: Geometry, room: Room) -> bool:
    return not room.free.is_empty and bool(space.intersection(room.free).area > _SPECK)


def _explain_room(world: World, room: Room) -> tuple[str, str]:
    if room.free.is_empty:
        fit = f": a robot of {world.inflation_radius} m does not fit into it"
        return fit, "make the room larger, or the robot smaller"
    if not room.hallways:
        return ": no hallway leads there", "add a hallway"
    locked = [hallway.name for hallway in room.hallways if hallway.is_locked and not hallway.is_open]
    if locked:
        return f": the door of {locked[0]!r} is closed and locked", "unlock it, or add a hallway"
    return "", "look at its hallways"


def _check_hallway(world: World, hallway: Hallway, reporter: Reporter) -> None:
    if not is_passable(hallway):
        reason, meant = _explain_hallway(world, hallway)
        reporter.report(
            messages.DOORWAY_BLOCKED,
            hallway.where,
            name=hallway.name,
            start=hallway.room_start.name,
            end=hallway.room_end.name,
            reason=reason,
            meant=meant,
        )
        return
    if hallway.slab.is_empty:
        reason = "the rooms are so close that nothing is between their outer walls"
    elif not blocks_way(hallway, hallway.slab):
        reason = "it leaves a way beside it when it is closed"
    else:
        return
    reporter.report(messages.DOOR_USELESS, hallway.where, name=hallway.name, reason=reason)


def _explain_hallway(world: World, hallway: Hallway) -> tuple[str, str]:
    radius = world.inflation_radius
    for room in hallway.rooms:
        if not hallway.polygon.intersects(room.polygon):
            return f"it does not touch {room.name!r}", "let its first and last point lie in its rooms"
        if room.free.is_empty:
            return f"a robot of {radius} m does not fit into {room.name!r}", "make the room larger"
    if hallway.free.is_empty or hallway.width <= 2 * radius:
        return (
            f"it is {hallway.width} m wide, a robot needs more than {2 * radius:g} m",
            "make it wider, or the robot smaller",
        )
    # inflated furniture blocks from a robot radius away
    mouth = hallway.polygon.buffer(radius)
    for room in hallway.rooms:
        for location in room.locations:
            if location.inflated.intersects(mouth):
                return f"{location.name!r} stands in front of it", "move the furniture, or the hallway"
    return "walls or furniture leave no way", "move the hallway"


def _check_spawn(world: World, spawn: Spawn, reach: ReachableSpace, reporter: Reporter) -> None:
    # only there: by our own policy occupied poses were left out and reported while reading
    if world.reference:
        _report_stale(world, spawn, reporter)
    if not spawn.objects:
        return
    location = spawn.location
    if not spawn.nav_poses:
        reason, meant = (
            "it has no free navigation pose",
            "clear the space in front of it, or give it nav_poses",
        )
    elif not any(shapely.intersects_xy(reach.later, pose.x, pose.y) for pose in spawn.nav_poses):
        reason, meant = "no robot gets to its navigation poses", "look at what is said of its room"
    elif not location.is_open and location.is_locked:
        reason, meant = f"{location.name!r} is closed and locked", "unlock it"
    else:
        return
    reporter.report(
        messages.OBJECT_OUT_OF_REACH,
        location.where,
        spawn=spawn.name,
        name=spawn.objects[0].name,
        others=f" and {len(spawn.objects) - 1} more" if len(spawn.objects) > 1 else "",
        reason=reason,
        meant=meant,
    )


def _report_stale(world: World, spawn: Spawn, reporter: Reporter) -> None:
    occupied = _count_occupied(world, spawn.nav_poses, spawn.room.free)
    if occupied:
        reporter.report(
            messages.STALE_NAV_POSE,
            spawn.location.where,
            name=spawn.name,
            count=occupied,
            total=len(spawn.nav_poses),
            radius=world.inflation_radius,
        )


def _count_occupied(world: World, poses: list[WorldPose], space: Any = None) -> int:
    free = world.free_space if space is None else space
    return sum(not shapely.intersects_xy(free, pose.x, pose.y) for pose in poses)
