# SPDX-License-Identifier: Apache-2.0
"""Floor plans of other programs as world files: what every reader gives, and the rooms that are found in it.

A reader says of every storey where one can stand (``free``) and where doors are, as lines across openings.  The rooms
are what is left when the free floor is cut along the doors.  Walls of a world stand around its rooms, so a room has an
outline without holes: what stands in it alone becomes a location of its own shape, and a room around other rooms is cut
in two, with open hallways along the cut.

Storeys lie side by side in the plane; the ``simwright`` block says which room is on which floor, and what connects
them.  Lengths are metres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.errors import InputError
from simwright.core.names import NameScope
from simwright.worlds import messages
from simwright.worlds.polygons import Geometry, cut_polygons, grow, join_polygons

Point = tuple[float, float]
MIN_ROOM = 0.4
"""What is narrower than this everywhere [m] is no room: nobody could stand in it."""
MIN_WAY = 0.3
"""Openings that are narrower [m] are walls."""
_REACH = (0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05)
"""How far a hallway goes into its rooms [m]; the largest that fits."""
_GAP = 2.0
"""Between storeys in the plane [m]."""
_SHRINK = 1e-3
"""Things in a room are made smaller by this [m]: two that touch at a corner would not be taken."""
_DIGITS = 5
_NOTCH = 0.012
_COLORS = ("lightsteelblue", "palegoldenrod", "lightpink", "palegreen", "lavender", "wheat", "powderblue")


@dataclass(frozen=True, slots=True)
class PlanDoor:
    """A line across an opening; without a name it is an opening without a door."""

    start: Point
    end: Point
    name: str = ""
    is_open: bool = True
    is_locked: bool = False
    where: Where = NOWHERE


@dataclass(frozen=True, slots=True)
class PlanSpot:
    """A named point of a plan: where robots wait, charge (``is_charger``) or start (``robot``)."""

    name: str
    at: Point
    is_charger: bool = False
    robot: str = ""
    yaw: float = 0.0


@dataclass(frozen=True, slots=True)
class PlanLift:
    """A lift: the cabin's outline in the plane, the storeys that it stops at, and its speed [m/s]."""

    name: str
    stops: tuple[str, ...]
    cabin: Geometry
    kind: str = "lift"
    speed: float = 1.0


@dataclass(slots=True)
class Storey:
    """One storey as it was drawn."""

    name: str
    free: Geometry
    """Where one can stand: floors less walls and everything else that stands there."""
    doors: list[PlanDoor] = field(default_factory=list)
    spots: list[PlanSpot] = field(default_factory=list)
    elevation: float = 0.0
    thickness: float = 0.1
    """Of walls [m]."""
    tolerance: float = 0.0
    """How far outlines may be straightened [m]."""
    where: Where = NOWHERE


@dataclass(slots=True)
class Building:
    """What a reader gives."""

    name: str
    storeys: list[Storey]
    lifts: list[PlanLift] = field(default_factory=list)
    wall_height: float = 2.5
    robot_radius: float = 0.2


@dataclass(slots=True)
class _RoomFace:
    """A room to be: its outline, what stands in it, and its name."""

    outline: Geometry
    blocks: list[Geometry]
    name: str = ""
    spots: list[PlanSpot] = field(default_factory=list)
    wall: float = 0.0

    def list_names(self) -> list[str]:
        """Names of points that may be the name of the room."""
        return sorted(
            {spot.name for spot in self.spots if spot.name and not spot.robot and not spot.is_charger}
        )


@dataclass(slots=True)
class _PlannedHall:
    """A hallway to be, between two rooms."""

    cut: PlanDoor
    first: _RoomFace
    second: _RoomFace
    width: float
    ends: list[Any]
    wall: float = 0.0

    @property
    def polygon(self) -> Geometry:
        return grow(shapely.LineString(self.ends), self.width / 2.0)


def make_files(building: Building, reporter: Reporter) -> dict[str, Any]:
    """The content of the files of a world, as :mod:`simwright.worlds.writing` has it, for a building."""
    return _PlanWriter(building, reporter).write()


class _PlanWriter:
    def __init__(self, building: Building, reporter: Reporter) -> None:
        self._building, self._reporter = building, reporter
        self._names = NameScope()
        self._blocks: dict[bytes, str] = {}
        self._categories: dict[str, Any] = {}
        self._floors: dict[str, Any] = {}
        self._places: dict[str, list[float]] = {}
        self._lift_rooms: dict[str, dict[str, str]] = {}
        self._data: dict[str, list[Any]] = {
            key: [] for key in ("rooms", "hallways", "locations", "objects", "robots")
        }

    def write(self) -> dict[str, Any]:
        building = self._building
        # storeys side by side; the block of ours follows from what was found in them
        left = 0.0
        for storey in building.storeys:
            left = self._add_storey(storey, left)
        if not self._data["rooms"]:
            raise InputError(
                "no room was found in the plan",
                hint="rooms are closed areas of at least 0.4 m; is the scale right?",
                where=building.storeys[0].where if building.storeys else None,
            )
        extension: dict[str, Any] = {"seed": 0}
        if self._places:
            extension["places"] = self._places
        if len(building.storeys) > 1:
            extension["floors"] = self._floors
            for word in ("lift", "stairs"):
                rows = {
                    lift.name: {"stops": self._lift_rooms[lift.name], "speed": lift.speed}
                    for lift in building.lifts
                    if lift.kind == word and len(self._lift_rooms.get(lift.name, {})) > 1
                }
                if rows:
                    extension["lifts" if word == "lift" else word] = rows
        world = {
            "params": {"name": building.name, "wall_height": building.wall_height},
            "metadata": {"locations": ["$PWD/locations.yaml"], "objects": ["$PWD/objects.yaml"]},
            **{key: rows for key, rows in self._data.items() if rows},
            "simwright": extension,
        }
        return {"world": world, "locations": self._categories, "objects": {}}

    # -- one storey ------------------------------------------------------------------------------------------------

    def _add_storey(self, storey: Storey, left: float) -> float:
        """Add a storey beside what is there; where the next one may begin."""
        # names come after the rooms are found, walls after the hallways are known
        faces, cuts = _find_rooms(storey, self._reporter)
        if not faces:
            self._reporter.report(
                messages.PLAN_LEFT,
                storey.where,
                what=f"the storey {storey.name!r}",
                reason="no room is in it",
            )
            return left
        # the first storey keeps its coordinates: goals and maps of the plan stay valid
        bounds = np.array([face.outline.bounds for face in faces])
        shift = 0.0 if not self._floors else math.ceil(left - float(bounds[:, 0].min()))
        away = np.array((shift, 0.0))
        faces, cuts = _move(faces, shift), [_move_cut(cut, shift) for cut in cuts]
        self._name_rooms(storey, faces, self._list_cabins(storey, away), shift)
        halls = [hall for cut in cuts if (hall := self._plan_hallway(storey, faces, cut)) is not None]
        _set_walls(faces, halls, storey.thickness)
        for number, face in enumerate(faces):
            self._add_room(face, number)
        for hall in halls:
            self._add_hallway(hall)
        for face in faces:
            self._add_spots(face, shift)
        self._floors[storey.name] = {
            "elevation": round(storey.elevation, _DIGITS),
            "offset": [shift, 0.0],
            "rooms": [face.name for face in faces],
        }
        return float(bounds[:, 2].max()) + shift + _GAP

    def _list_cabins(self, storey: Storey, away: Any) -> list[tuple[PlanLift, Geometry]]:
        """Lifts that stop at a storey, where their cabins are in the plane of the world."""
        lifts = self._building.lifts if len(self._building.storeys) > 1 else []
        return [
            (lift, shapely.transform(lift.cabin, lambda points: points + away))
            for lift in lifts
            if storey.name in lift.stops
        ]

    def _name_rooms(self, storey: Storey, faces: list[_RoomFace], cabins: Any, shift: float) -> None:
        """By the lift that a room is the cabin of, by the only named point in it, or by a number."""
        # names are unique in the building: what several storeys have begins with the name of the storey
        prefix = f"{storey.name}_" if len(self._building.storeys) > 1 else ""
        for face in faces:
            face.spots = [
                spot
                for spot in storey.spots
                if shapely.intersects_xy(face.outline, spot.at[0] + shift, spot.at[1])
            ]
            lift = next((lift for lift, cabin in cabins if cabin.contains(face.outline.centroid)), None)
            if lift is not None:
                face.name = self._names.claim(f"{lift.name}_{storey.name}")
                self._lift_rooms.setdefault(lift.name, {})[storey.name] = face.name
                continue
            face.name = self._names.claim(self._choose_name(face.list_names(), prefix))
        self._keep_places(faces, shift)

    def _choose_name(self, words: list[str], prefix: str) -> str:
        word = words[0] if len(words) == 1 else "room"
        plain = word.startswith(prefix) or (word != "room" and self._count_storeys(word) == 1)
        return word if plain else f"{prefix}{word}"

    def _keep_places(self, faces: list[_RoomFace], shift: float) -> None:
        """Named points that are not the names of rooms."""
        for face in faces:
            for spot in face.spots:
                at = [round(spot.at[0] + shift, _DIGITS), round(spot.at[1], _DIGITS), spot.yaw]
                if spot.name and spot.name not in self._places and not self._names_room(faces, spot.name):
                    self._places[spot.name] = at

    def _count_storeys(self, name: str) -> int:
        return sum(any(spot.name == name for spot in storey.spots) for storey in self._building.storeys)

    @staticmethod
    def _names_room(faces: list[_RoomFace], name: str) -> bool:
        return any(face.name == name for face in faces)

    def _add_room(self, face: _RoomFace, number: int) -> None:
        poses = [
            [round(x, _DIGITS), round(y, _DIGITS), 0.0, 0.0]
            for x, y in _list_nav_points(face, self._building)
        ]
        self._data["rooms"].append(
            {
                "name": face.name,
                "footprint": {"type": "polygon", "coords": _list_points(face.outline)},
                "wall_width": round(face.wall, 6),
                "nav_poses": poses,
                "color": _COLORS[number % len(_COLORS)],
            }
        )
        for block in face.blocks:
            self._add_block(face.name, block)

    def _add_block(self, room: str, block: Geometry) -> None:
        """What stands in a room alone: equal shapes are one category."""
        x, y = (round(value, _DIGITS) for value in block.bounds[:2])
        outline = shapely.transform(block, lambda points: np.round(points - (x, y), _DIGITS) + 0.0)
        key = bytes(shapely.to_wkb(shapely.normalize(outline)))
        name = self._blocks.setdefault(key, f"block{len(self._blocks)}")
        self._categories[name] = {
            "footprint": {
                "type": "polygon",
                "coords": _list_points(outline),
                "height": self._building.wall_height,
            },
            "color": "dimgray",
        }
        self._data["locations"].append(
            {
                "name": self._names.claim("obstacle"),
                "category": name,
                "parent": room,
                "pose": {"position": {"x": x, "y": y}},
            }
        )

    def _plan_hallway(self, storey: Storey, faces: list[_RoomFace], cut: PlanDoor) -> _PlannedHall | None:
        """A hallway through an opening, as far into both rooms as it does not leave them."""
        start, end = np.array(cut.start), np.array(cut.end)
        width = float(np.hypot(*(end - start)))
        along = (end - start) / width
        across, middle = np.array((-along[1], along[0])), (start + end) / 2.0
        half = storey.thickness / 2.0
        # the rooms just behind the opening on either side
        first, second = (
            next(
                (f for f in faces if f.outline.contains(shapely.Point(middle + s * (half + 0.02) * across))),
                None,
            )
            for s in (1.0, -1.0)
        )
        if first is None or second is None or first is second or width < MIN_WAY:
            reason = (
                "it leads out of the rooms" if first is None or second is None
                else "it is inside of one room" if first is second else f"it is {width:.2f} m wide"
            )  # fmt: skip
            if cut.name:
                self._reporter.report(messages.PLAN_DOOR, cut.where, name=cut.name, reason=reason)
            else:
                what = f"an opening at ({middle[0]:.2f}, {middle[1]:.2f})"
                self._reporter.report(messages.PLAN_LEFT, storey.where, what=what, reason=reason)
            return None
        width -= 2e-4  # rounding of corners must not let it touch the walls beside it
        ends = [
            _reach_in(face, middle, s * across, width, half) for face, s in ((first, 1.0), (second, -1.0))
        ]
        return _PlannedHall(cut, first, second, width, ends)

    def _add_hallway(self, hall: _PlannedHall) -> None:
        cut = hall.cut
        row: dict[str, Any] = {
            "room_start": hall.first.name,
            "room_end": hall.second.name,
            "width": round(hall.width, _DIGITS),
            "wall_width": round(hall.wall, 6),
            "conn_method": "points",
            "conn_points": [[round(float(v), _DIGITS) for v in point] for point in hall.ends],
            "is_open": cut.is_open,
            "is_locked": cut.is_locked,
        }
        self._data["hallways"].append(({"name": self._names.claim(cut.name)} if cut.name else {}) | row)

    def _add_spots(self, face: _RoomFace, shift: float) -> None:
        for spot in face.spots:
            if spot.robot:
                self._data["robots"].append(
                    {
                        "name": self._names.claim(spot.robot),
                        "radius": self._building.robot_radius,
                        "height": 0.5,
                        "location": face.name,
                        "pose": {
                            "position": {
                                "x": round(spot.at[0] + shift, _DIGITS),
                                "y": round(spot.at[1], _DIGITS),
                            },
                            "rotation_eul": {"yaw": spot.yaw},
                        },
                        "path_planner": {"type": "world_graph"},
                        "path_executor": {"type": "constant_velocity", "linear_velocity": 0.7, "dt": 0.1},
                    }
                )


# -- rooms in a storey ---------------------------------------------------------------------------------------------


def _find_rooms(storey: Storey, reporter: Reporter) -> tuple[list[_RoomFace], list[PlanDoor]]:
    """Rooms, and the lines between them: doors first, then what cuts rooms around others open."""
    cuts = []
    for door in storey.doors:
        line = _fit_opening(storey, door)
        if line is None:
            reporter.report(
                messages.PLAN_DOOR,
                door.where,
                name=door.name or "without a name",
                reason="no opening is there",
            )
        else:
            cuts.append(line)
    cuts = _keep_separating(storey, cuts, reporter)
    faces = _split(storey, cuts)
    for _ in range(200):  # every round cuts one room open; a plan has fewer
        ring = _find_ring(faces)
        if ring is None:
            break
        cuts += _cut_open(*ring, cuts)
        faces = _split(storey, cuts)
    return _settle_rooms(storey, faces, reporter), cuts


def _settle_rooms(storey: Storey, faces: list[Geometry], reporter: Reporter) -> list[_RoomFace]:
    """Rooms that are wide enough; what is left out is told."""
    rooms: list[_RoomFace] = []
    small: list[Geometry] = []
    slits = 0
    for face in faces:
        if _is_narrow(face):
            small.append(face)
            continue
        # a slit may divide what was one room: every half of it counts, and the larger one in any case
        parts = sorted(_straighten(storey, face), key=lambda part: -part.area)
        wide = [part for number, part in enumerate(parts) if number == 0 or not _is_narrow(part)]
        small += [part for part in parts[1:] if _is_narrow(part)]
        rooms += [_settle(part) for part in wide]
        slits += max(0, len(wide) - 1)
    if slits:
        reporter.report(
            messages.PLAN_LEFT, storey.where, what=f"{slits} openings of {storey.name!r}",
            reason=f"they are narrower than {2.0 * _NOTCH:g} m",
        )  # fmt: skip
    if small:
        area = sum(face.area for face in small)
        reporter.report(
            messages.PLAN_LEFT, storey.where, what=f"{len(small)} areas ({area:.2f} m2) of {storey.name!r}",
            reason=f"they are narrower than {MIN_ROOM} m",
        )  # fmt: skip
    return rooms


def _is_narrow(face: Geometry) -> bool:
    return bool(grow(face, -MIN_ROOM / 2.0).is_empty)


def _fit_opening(storey: Storey, door: PlanDoor) -> PlanDoor | None:
    """The door as wide as the opening that it is in."""
    (x, y), (to_x, to_y) = door.start, door.end
    length = math.hypot(to_x - x, to_y - y)
    if length < 1e-6:
        return None
    # a drawn door may end before the wall begins, or in it
    more = storey.thickness / length
    line = shapely.LineString(
        [(x - more * (to_x - x), y - more * (to_y - y)), (to_x + more * (to_x - x), to_y + more * (to_y - y))]
    )
    pieces = [piece for piece in shapely.get_parts(line.intersection(storey.free)) if piece.length > 1e-6]
    if not pieces:
        return None
    start, end = max(pieces, key=lambda piece: piece.length).coords[:2]
    return PlanDoor(start, end, door.name, door.is_open, door.is_locked, door.where)


def _make_strip(storey: Storey, cut: PlanDoor) -> Geometry:
    """What a cut takes out of the floor: as thick as a wall, and a little into the walls beside it."""
    start, end = np.array(cut.start), np.array(cut.end)
    along = (end - start) / np.hypot(*(end - start)) * (storey.thickness * 0.25 + 1e-3)
    return shapely.LineString([start - along, end + along]).buffer(storey.thickness / 2.0, cap_style="flat")


def _split(storey: Storey, cuts: Sequence[PlanDoor]) -> list[Geometry]:
    """The parts of the floor, cut along lines, from left to right."""
    rest = cut_polygons(storey.free, [_make_strip(storey, cut) for cut in cuts])
    parts = [part for part in shapely.get_parts(rest) if part.geom_type == "Polygon" and part.area > 1e-4]
    return sorted(parts, key=lambda part: (part.bounds, part.area))


def _keep_separating(storey: Storey, cuts: list[PlanDoor], reporter: Reporter) -> list[PlanDoor]:
    """Without cuts that have the same room on both sides: there the floor is whole."""
    while True:
        faces = _split(storey, cuts)
        tree = shapely.STRtree(faces)
        idle = [cut for cut in cuts if not _separates(storey, tree, cut)]
        if not idle:
            return cuts
        for cut in idle:
            if cut.name:
                reporter.report(
                    messages.PLAN_DOOR, cut.where, name=cut.name, reason="both of its sides are one room"
                )
        cuts = [cut for cut in cuts if cut not in idle]


def _separates(storey: Storey, tree: Any, cut: PlanDoor) -> bool:
    start, end = np.array(cut.start), np.array(cut.end)
    along = (end - start) / np.hypot(*(end - start))
    across = np.array((-along[1], along[0])) * (storey.thickness / 2.0 + 0.02)
    found = []
    for sign in (1.0, -1.0):
        point = shapely.Point((start + end) / 2.0 + sign * across)
        hits = [int(n) for n in tree.query(point, predicate="intersects")]
        found.append(hits[0] if hits else None)
    # a door to nowhere stays a wall: what is behind it is not floor; an opening to nowhere is none
    if None in found:
        return bool(cut.name)
    return found[0] != found[1]


def _find_ring(faces: list[Geometry]) -> tuple[Geometry, Geometry] | None:
    """A room around another one, and the hole that the other one is in."""
    tree = shapely.STRtree(faces)
    for face in faces:
        for ring in face.interiors:
            hole = shapely.Polygon(ring)
            inside = [
                int(n) for n in tree.query(hole, predicate="contains")
                if faces[int(n)] is not face and not _is_narrow(faces[int(n)])
            ]  # fmt: skip
            if inside:
                return face, hole
    return None


def _cut_open(face: Geometry, hole: Geometry, cuts: Sequence[PlanDoor]) -> list[PlanDoor]:
    """Openings all along a line through the hole, so that both sides of the line are apart."""
    low_x, low_y, high_x, high_y = face.bounds
    left, bottom, right, top = hole.bounds
    lines = []
    for share in _SHARES:
        x, y = left + share * (right - left), bottom + share * (top - bottom)
        lines.append(shapely.LineString([(low_x - 1.0, y), (high_x + 1.0, y)]))
        lines.append(shapely.LineString([(x, low_y - 1.0), (x, high_y + 1.0)]))
    doors = shapely.multilinestrings([[cut.start, cut.end] for cut in cuts]) if cuts else None

    def weigh(line: Geometry) -> float:
        inside = line.intersection(face)
        near = 0.0
        # a cut before a door would leave the door with two rooms on one side
        if doors is not None and not inside.is_empty:
            near = sum(max(0.0, _APART - float(inside.distance(door))) for door in shapely.get_parts(doors))
        return float(inside.length) + 50.0 * near

    line = min(lines, key=weigh)
    pieces = [piece for piece in shapely.get_parts(line.intersection(face)) if piece.length > 1e-6]
    return [PlanDoor(*piece.coords[:2]) for piece in pieces]


# where lines through a hole are tried, as shares of its size, and how far from doors they should be [m]
_SHARES = (0.5, 0.3, 0.7, 0.15, 0.85, 0.4, 0.6, 0.05, 0.95)
_APART = 1.2


def _straighten(storey: Storey, face: Geometry) -> list[Geometry]:
    """A room without notches: several where nothing but a slit was between them."""
    if storey.tolerance > 0.0:
        simple = face.simplify(storey.tolerance, preserve_topology=True)
        face = simple if simple.is_valid and not simple.is_empty else face
    # floor that is narrower than this is a notch of the drawing; its sharp corners would give walls with spikes
    plain = grow(grow(face, -_NOTCH), _NOTCH).intersection(face)
    face = shapely.set_precision(plain if not plain.is_empty else face, 10.0**-_DIGITS)
    parts = [part for part in shapely.get_parts(face) if part.geom_type == "Polygon"]
    return [part for part in parts if part.area > 1e-4] or parts


def _settle(face: Geometry) -> _RoomFace:
    """Outline and blocks of a room."""
    # rooms that meet at a corner, as free cells of a map do, would not be taken
    outline = max(
        shapely.get_parts(grow(shapely.Polygon(face.exterior), -_SHRINK)), key=lambda part: part.area
    )
    blocks = [
        part
        for ring in face.interiors
        for part in shapely.get_parts(grow(shapely.Polygon(ring), -_SHRINK).intersection(outline))
        if part.geom_type == "Polygon" and part.area > 1e-5
    ]
    return _RoomFace(outline, blocks)


def _set_walls(faces: list[_RoomFace], halls: list[_PlannedHall], thickness: float) -> None:
    """Walls as thick as drawn, or half of what is between two rooms: the walls of both fill it.

    Walls keep sharp corners, which stand out farther than the wall is thick: no wall may reach another room.
    """
    outlines = [face.outline for face in faces]
    lanes = [hall.polygon for hall in halls]
    rooms, ways = shapely.STRtree(outlines), shapely.STRtree(lanes)
    reach = 6.0 * thickness  # shapely's mitre limit is 5
    for number, face in enumerate(faces):
        near = [
            outlines[int(n)]
            for n in rooms.query(face.outline, predicate="dwithin", distance=reach)
            if int(n) != number
        ]
        others = near + [
            lanes[int(n)] for n in ways.query(face.outline, predicate="dwithin", distance=reach)
            if face not in (halls[int(n)].first, halls[int(n)].second)
        ]  # fmt: skip
        gap = min((float(face.outline.distance(other)) for other in near), default=2.0 * thickness)
        face.wall = _thin(face.outline, max(min(thickness, gap / 2.0), _THINNEST), others)
    for number, hall in enumerate(halls):
        near = [
            lanes[int(n)]
            for n in ways.query(lanes[number], predicate="dwithin", distance=reach)
            if int(n) != number
        ]
        hall.wall = _thin(lanes[number], min(hall.first.wall, hall.second.wall), near)


_THINNEST = 1e-4


def _thin(outline: Geometry, wall: float, others: list[Geometry]) -> float:
    """A wall around an outline that meets none of the others."""
    while wall > _THINNEST and any(grow(outline, wall).intersects(other) for other in others):
        wall *= 0.7
    return wall


def _reach_in(face: _RoomFace, middle: Any, way: Any, width: float, half: float) -> Any:
    """The end of a hallway in a room: as far in as its whole width stays in the room."""
    # the outline was made a little smaller than the floor
    outline = face.outline.buffer(2.0 * _SHRINK)
    for reach in _REACH:
        end = middle + way * (half + reach)
        if outline.covers(grow(shapely.LineString([middle + way * half, end]), width / 2.0)):
            return end
    return middle + way * (half + _REACH[-1])


def _list_nav_points(face: _RoomFace, building: Building) -> list[Point]:
    """The named points of a room that are free for a robot, or the one that is farthest from all walls."""
    floor = cut_polygons(face.outline, face.blocks)
    free = grow(floor, -building.robot_radius * 1.05)
    circle = shapely.maximum_inscribed_circle(floor, 0.02)
    center = circle.coords[0]
    points = [(center[0], center[1])]
    return [point for point in points if shapely.intersects_xy(free, *point)] or points


def _move(faces: Iterable[_RoomFace], shift: float) -> list[_RoomFace]:
    away = np.array((shift, 0.0))
    return [
        _RoomFace(
            shapely.transform(face.outline, lambda points: points + away),
            [shapely.transform(block, lambda points: points + away) for block in face.blocks],
        )
        for face in faces
    ]


def _move_cut(cut: PlanDoor, shift: float) -> PlanDoor:
    (x, y), (to_x, to_y) = cut.start, cut.end
    return PlanDoor((x + shift, y), (to_x + shift, to_y), cut.name, cut.is_open, cut.is_locked, cut.where)


def _list_points(polygon: Geometry) -> list[list[float]]:
    return [
        [round(float(x), _DIGITS), round(float(y), _DIGITS)]
        for x, y in shapely.get_coordinates(polygon.exterior)[:-1]
    ]


# -- openings that nobody named ------------------------------------------------------------------------------------

_TURNS = 36
_BETWEEN = MIN_ROOM + 0.2
"""From one opening to the next [m]: a room and the thickness of two walls."""
_CHORD = 20.0


def find_openings(free: Geometry, width: float) -> list[PlanDoor]:
    """Where a floor is narrower than ``width`` [m] between two wider parts: the shortest lines across.

    Narrow corridors, which lead to several parts or are long, get a line at every end, so that they are rooms too.
    """
    half = width / 2.0
    wide = [part for part in shapely.get_parts(free.buffer(-half, quad_segs=4)) if part.area > 1e-3]
    if len(wide) < 2:
        return []
    # a little more than the floor was shrunk by: parts that touch a room are at it
    rooms = [part.buffer(half * 1.001, quad_segs=8) for part in wide]
    rest = cut_polygons(free, [join_polygons(rooms)])
    tree = shapely.STRtree(rooms)
    found: list[PlanDoor] = []
    for part in shapely.get_parts(rest):
        near = [rooms[int(n)] for n in tree.query(part, predicate="dwithin", distance=half * 0.05)]
        if len(near) < 2 or part.geom_type != "Polygon":
            continue
        if len(near) == 2 and part.area < (1.5 * width) ** 2:
            points = [part.representative_point()]
        else:
            points = [_find_mouth(part, room, half) for room in near]
        found += [line for point in points if (line := _find_chord(free, point, width)) is not None]
    return _keep_apart(found)


def _keep_apart(doors: list[PlanDoor]) -> list[PlanDoor]:
    """One line, the shortest, where several are so close that no room is between them: it would be lost."""
    kept: list[PlanDoor] = []
    for door in sorted(doors, key=lambda door: (math.dist(door.start, door.end), door.start, door.end)):
        middle = np.add(door.start, door.end) / 2.0
        if all(math.dist(middle, np.add(other.start, other.end) / 2.0) > _BETWEEN for other in kept):
            kept.append(door)
    return kept


def _find_mouth(part: Geometry, room: Geometry, half: float) -> Geometry:
    """A point of a corridor where it meets a room."""
    mouth = part.intersection(room.buffer(half * 0.1))
    return (part if mouth.is_empty else mouth).representative_point()


def _find_chord(free: Geometry, point: Geometry, width: float) -> PlanDoor | None:
    """The shortest line across a floor through a point."""
    best = None
    for turn in range(_TURNS):
        angle = math.pi * turn / _TURNS
        x, y = _CHORD * math.cos(angle), _CHORD * math.sin(angle)
        line = shapely.LineString([(point.x - x, point.y - y), (point.x + x, point.y + y)])
        pieces = [
            piece for piece in shapely.get_parts(line.intersection(free))
            if piece.length > 1e-6 and shapely.distance(piece, point) < 1e-6
        ]  # fmt: skip
        for piece in pieces:
            if best is None or piece.length < best.length - 1e-9:
                best = piece
    if best is None or best.length > 1.5 * width:
        return None
    return PlanDoor(*best.coords[:2])
