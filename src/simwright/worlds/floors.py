# SPDX-License-Identifier: Apache-2.0
"""Several floors in one plane: which room is on which, what connects them, and named points.

All floors lie side by side in the plane of the world, so that everything flat stays as it is; PyRoboSim reads such a
file as a building of parts that no hallway connects.  The ``simwright`` block says what belongs where::

    simwright:
      floors:
        ground: {elevation: 0.0, rooms: [lobby, lift_ground]}
        first: {elevation: 3.2, offset: [40, 0], rooms: [office, lift_first]}
      lifts:
        lift: {stops: {ground: lift_ground, first: lift_first}, speed: 1.0, door_time: 4.0}
      stairs:
        steps: {stops: {ground: lobby, first: office}, speed: 0.3, robots: [climber]}
      places:
        reception: [2.0, 1.5, 3.14]

``offset`` is how far a floor was moved in the plane [m]: scenes and maps take it back and put the floor at its
``elevation`` [m].  A stop is a room: robots go to its first navigation pose, ride, and go on from that of the room at
the other stop.  ``speed`` is upwards [m/s], ``door_time`` what the doors take at each stop [s].  Everybody may ride a
lift, stairs only those that ``robots`` lists.  ``places`` are points [x, y, yaw] that can be goals.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.diag import NOWHERE, Where
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.entities import Hallway, Room, WorldRobot
from simwright.worlds.poses import WorldPose

if TYPE_CHECKING:
    from simwright.worlds.read_state import WorldReading
    from simwright.worlds.world import World

_FLOOR_KEYS = frozenset({"elevation", "offset", "rooms"})
_LINK_KEYS = frozenset({"stops", "speed", "door_time", "robots"})
LIFT_SPEED, STAIRS_SPEED, DOOR_TIME = 1.0, 0.3, 4.0


@dataclass(frozen=True, slots=True)
class WorldFloor:
    """A storey: its height in space [m], how far it was moved in the plane [m], and its rooms."""

    name: str
    elevation: float = 0.0
    offset: tuple[float, float] = (0.0, 0.0)
    rooms: tuple[str, ...] = ()
    where: Where = NOWHERE


@dataclass(frozen=True, slots=True)
class FloorLink:
    """A lift or stairs: the room at each of its floors."""

    name: str
    kind: str
    stops: Mapping[str, str]
    speed: float
    door_time: float
    robots: tuple[str, ...] | None = None
    """Who may use it; None for everybody."""
    where: Where = NOWHERE

    def admits(self, robot: WorldRobot) -> bool:
        """May a robot use it?"""
        return self.robots is None or robot.name in self.robots


@dataclass(frozen=True, slots=True)
class Ride:
    """From one floor to another: after pose ``index`` of a path, for so many seconds."""

    index: int
    link: str
    floor: str
    """Where it leads."""
    seconds: float


@dataclass(slots=True)
class FloorTable:
    """Floors, links and named points of a world; ``by_room`` has the floor of every room."""

    floors: dict[str, WorldFloor] = field(default_factory=dict)
    links: dict[str, FloorLink] = field(default_factory=dict)
    places: dict[str, WorldPose] = field(default_factory=dict)
    by_room: dict[str, WorldFloor] = field(default_factory=dict)

    def find(self, part: Room | Hallway | None) -> WorldFloor:
        """The floor of a room or hallway; the ground where there is only one."""
        room = part.room_start if isinstance(part, Hallway) else part
        return GROUND if room is None else self.by_room.get(room.name, GROUND)

    def locate(self, world: World, pose: WorldPose) -> WorldFloor:
        """The floor of a pose of the plane."""
        if not self.floors:
            return GROUND
        place = world.locate(pose)
        if isinstance(place, (Room, Hallway)) or place is None:
            return self.find(place)
        return self.find(place.room)


GROUND = WorldFloor("")


# -- reading -------------------------------------------------------------------------------------------------------


def read_floors(reading: WorldReading, root: WorldEntry) -> FloorTable:
    """Read the parts of the ``simwright`` block that are about floors, after the rooms were read."""
    table = FloorTable()
    block = root.data.get("simwright")
    if not isinstance(block, dict):
        return table
    entry = WorldEntry(root.document, ("simwright",), block)
    for name, row in _list_rows(reading, entry, "floors"):
        _settle(reading, lambda name=name, row=row: _add_floor(reading, table, name, row))
    # from below, in whatever order the file has them
    table.floors = dict(sorted(table.floors.items(), key=lambda item: item[1].elevation))
    for key, kind in (("lifts", "lift"), ("stairs", "stairs")):
        for name, row in _list_rows(reading, entry, key):
            _settle(reading, lambda name=name, row=row, kind=kind: _add_link(reading, table, name, row, kind))
    _settle(reading, lambda: _add_places(table, entry))
    _check(reading, table)
    return table


def _settle(reading: WorldReading, step: Any) -> None:
    try:
        step()
    except Refusal as refusal:
        reading.settle(refusal)


def _list_rows(reading: WorldReading, entry: WorldEntry, key: str) -> Iterator[tuple[str, WorldEntry]]:
    try:
        section = entry.child(key)
    except Refusal as refusal:
        reading.settle(refusal)
        return
    for name in section.data if section is not None else ():
        assert section is not None
        try:
            row = section.child(name)
        except Refusal as refusal:
            reading.settle(refusal)
            continue
        if row is not None:
            yield str(name), row


def _add_floor(reading: WorldReading, table: FloorTable, name: str, row: WorldEntry) -> None:
    reading.check_keys(row, _FLOOR_KEYS)
    offset = row.numbers("offset", (2,)) if "offset" in row else [0.0, 0.0]
    names = []
    for index, value in enumerate(row.items("rooms")):
        room = reading.world.names.get(str(value))
        if not isinstance(room, Room):
            raise row.refuse_name(str(value), "room", [room.name for room in reading.world.rooms], "rooms")
        if str(value) in table.by_room:
            raise Refusal(
                messages.FLOOR_WRONG, row.find_where("rooms", index), name=name,
                reason=f"the room {value!r} is on {table.by_room[str(value)].name!r} already",
            )  # fmt: skip
        names.append(room.name)
    floor = WorldFloor(
        name, row.number("elevation", 0.0), (offset[0], offset[1]), tuple(names), row.find_where()
    )
    table.floors[name] = floor
    table.by_room |= dict.fromkeys(names, floor)


def _add_link(reading: WorldReading, table: FloorTable, name: str, row: WorldEntry, kind: str) -> None:
    reading.check_keys(row, _LINK_KEYS)
    section = row.child("stops")
    if section is None:
        raise row.refuse_absent("stops")
    stops: dict[str, str] = {}
    # a stop is a room on the floor that it is the stop of
    for floor in section.data:
        room = section.text(floor)
        if floor not in table.floors:
            raise section.refuse_name(str(floor), "floor", table.floors, floor)
        if table.by_room.get(room, GROUND).name != floor:
            raise section.refuse_name(room, f"room of the floor {floor!r}", table.floors[floor].rooms, floor)
        stops[floor] = room
    if len(stops) < 2:
        raise Refusal(
            messages.FLOOR_WRONG, row.find_where(), name=name, reason="it stops at fewer than two floors"
        )
    speed = row.number("speed", LIFT_SPEED if kind == "lift" else STAIRS_SPEED)
    wait = row.number("door_time", DOOR_TIME if kind == "lift" else 0.0)
    if speed <= 0.0:
        raise row.refuse_sort(speed, "positive", "speed")
    if wait < 0.0:
        raise row.refuse_sort(wait, "not negative", "door_time")
    robots = (
        tuple(str(value) for value in row.items("robots")) if "robots" in row or kind == "stairs" else None
    )
    table.links[name] = FloorLink(name, kind, stops, speed, wait, robots, row.find_where())


def _add_places(table: FloorTable, entry: WorldEntry) -> None:
    section = entry.child("places")
    for name in section.data if section is not None else ():
        assert section is not None
        values = section.numbers(name, (2, 3))
        table.places[str(name)] = WorldPose.from_yaw(
            values[0], values[1], 0.0, values[2] if len(values) > 2 else 0.0
        )


def _check(reading: WorldReading, table: FloorTable) -> None:
    """What cannot be of several floors: rooms on none, hallways between two, floors in each other."""
    world = reading.world
    if not table.floors:
        return
    for room in world.rooms:
        if room.name not in table.by_room:
            reading.report(messages.FLOOR_ROOM, room.where, name=room.name)
    for hallway in world.hallways:
        first, second = (table.find(room) for room in hallway.rooms)
        if first is not second:
            reading.report(
                messages.FLOOR_WRONG, hallway.where, name=hallway.name,
                reason=f"a hallway cannot lead from {first.name!r} to {second.name!r}; use a lift or stairs",
            )  # fmt: skip
    levels = sorted(table.floors.values(), key=lambda floor: floor.elevation)
    for low, high in itertools.pairwise(levels):
        rooms = [room for room in world.rooms if table.by_room.get(room.name) is low]
        top = low.elevation + max((world.wall_height(room) for room in rooms), default=0.0)
        if top > high.elevation + 1e-9:
            reading.report(
                messages.FLOOR_WRONG, high.where, name=high.name,
                reason=f"it is {high.elevation:g} m high, where the walls of {low.name!r} end at {top:g} m",
            )  # fmt: skip


# -- ways between floors -------------------------------------------------------------------------------------------


def time_ride(world: World, link: FloorLink, start: str, end: str) -> float:
    """How long a ride takes [s], the doors at both stops included."""
    floors = world.floor_table.floors
    return abs(floors[end].elevation - floors[start].elevation) / link.speed + 2.0 * link.door_time


def list_routes(
    world: World, robot: WorldRobot, start: str, end: str
) -> Iterator[list[tuple[FloorLink, str, str]]]:
    """Ways from one floor to another as rides (link, from, to), the fewest seconds first, no floor twice."""
    queue: list[tuple[float, int, str, list[tuple[FloorLink, str, str]]]] = [(0.0, 0, start, [])]
    count = 0
    while queue:
        cost, _, floor, rides = heapq.heappop(queue)
        if floor == end:
            yield rides
            continue
        seen = {start, *(stop for _, _, stop in rides)}
        for link in world.floor_table.links.values():
            if floor not in link.stops or not link.admits(robot):
                continue
            for stop in link.stops:
                if stop not in seen:
                    count += 1
                    seconds = cost + time_ride(world, link, floor, stop)
                    heapq.heappush(queue, (seconds, count, stop, [*rides, (link, floor, stop)]))


def find_stop(world: World, link: FloorLink, floor: str) -> WorldPose | None:
    """Where robots wait for a lift or begin to climb, on a floor."""
    room = world.names[link.stops[floor]]
    assert isinstance(room, Room)
    return room.nav_poses[0] if room.nav_poses else None


def add_linked(world: World, parts: npt.NDArray[Any], chosen: npt.NDArray[np.bool_]) -> None:
    """Choose of the parts of a free space also those that lifts and stairs lead to from chosen ones."""
    links = []
    for link in world.floor_table.links.values():
        stops = [pose for floor in link.stops if (pose := find_stop(world, link, floor)) is not None]
        if stops and (not world.robots or any(link.admits(robot) for robot in world.robots)):
            links.append(np.any([shapely.intersects_xy(parts, pose.x, pose.y) for pose in stops], axis=0))
    # a link may lead to another one: as many rounds as there are links
    for _ in links:
        for link_parts in links:
            if (link_parts & chosen).any():
                chosen |= link_parts


def place_in_space(floor: WorldFloor, point: tuple[float, float, float]) -> tuple[float, float, float]:
    """A point of the plane where it is in space [m]."""
    x, y, z = point
    return x - floor.offset[0], y - floor.offset[1], z + floor.elevation


def measure(poses: tuple[WorldPose, ...], rides: tuple[Ride, ...]) -> float:
    """The length of a path in the plane, without what is ridden [m]."""
    jumps = {ride.index for ride in rides}
    pairs = itertools.pairwise(poses)
    return sum(math.dist(a.xy, b.xy) for number, (a, b) in enumerate(pairs) if number not in jumps)
