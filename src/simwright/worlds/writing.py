# SPDX-License-Identifier: Apache-2.0
"""World files that we write: worlds drawn at random in a style, and any world saved as it is.

Both give the content of PyRoboSim's files as plain values: ``world``, ``locations`` and ``objects``, one file each.
PyRoboSim reads them; what its format has no place for is in the ``simwright`` block, which it passes over.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.worlds import messages
from simwright.worlds.entities import Category, Hallway, Location, Room, WorldObject, WorldRobot
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

Files = dict[str, Any]
"""Content of ``world``, ``locations`` and ``objects``."""
MAX_ROOMS = 5000
_WALL, _GAP, _DOOR = 0.1, 0.3, 1.0
_AISLE, _ROW_AISLE = 0.85, 1.3
"""What is kept free around furniture in the middle of a room, and between rows of it [m]."""
_IN_ROWS = frozenset({"rack", "pallet"})
_FloorBox = tuple[float, float, float, float]
"""Smallest x and y, largest x and y [m]."""
# rooms on one corridor; larger buildings have several, side by side
_WING = 16


def _make_piece(
    size: tuple[float, float], height: float, color: str, boards: tuple[float, ...] = ()
) -> dict[str, Any]:
    """Furniture with its back at +y: reached from the front; ``boards`` are heights of surfaces [m]."""
    width, depth = size
    surfaces = [
        {
            "name": f"board{number}" if len(boards) > 1 else "top",
            "footprint": {"type": "parent", "padding": 0.03, "height": board},
        }
        for number, board in enumerate(boards)
    ]
    return {
        "footprint": {"type": "box", "dims": [width, depth], "height": height},
        "nav_poses": [[0.0, -(depth / 2.0 + 0.45), 0.0, 1.5708]],
        "color": color,
        "locations": surfaces,
    }


def _make_island(
    size: tuple[float, float], height: float, color: str, surface: tuple[float, float]
) -> dict[str, Any]:
    """Furniture that stands free, with chairs on its long sides: reached from its short ends."""
    width, _ = size
    side = width / 2.0 + 0.45
    return {
        "footprint": {"type": "box", "dims": list(size), "height": height},
        "nav_poses": [[-side, 0.0], [side, 0.0, 0.0, 3.1416]],
        "color": color,
        "locations": [{"name": "top", "footprint": {"type": "box", "dims": list(surface), "height": height}}],
    }


_PIECES = {
    "desk": _make_piece((1.4, 0.7), 0.74, "burlywood", (0.74,)),
    "table": _make_piece((1.2, 0.7), 0.72, "peru", (0.72,)),
    "shelf": _make_piece((1.2, 0.4), 1.6, "sienna", (1.6,)),
    "cabinet": _make_piece((1.0, 0.5), 0.9, "slategray", (0.9,)),
    "wardrobe": _make_piece((1.2, 0.6), 1.9, "tan"),
    "counter": _make_piece((1.5, 0.6), 0.9, "gainsboro", (0.9,)),
    "bed": _make_piece((1.1, 2.0), 0.5, "steelblue", (0.5,)),
    "bathtub": _make_piece((1.6, 0.75), 0.55, "whitesmoke"),
    "sofa": _make_piece((1.7, 0.85), 0.8, "cadetblue"),
    "coffee_table": _make_piece((1.0, 0.6), 0.42, "burlywood", (0.42,)),
    "dining_set": _make_island((1.5, 1.6), 0.74, "peru", (1.4, 0.7)),
    "conference_set": _make_island((2.4, 1.8), 0.74, "burlywood", (2.2, 0.9)),
    "desk_set": _make_island((1.6, 2.2), 0.74, "tan", (1.5, 1.3)),
    "rack": _make_piece((1.5, 0.6), 1.7, "darkorange", (1.7,)),
    "pallet": _make_piece((1.2, 0.8), 0.15, "tan", (0.15,)),
    "plant": _make_piece((0.4, 0.4), 1.1, "seagreen"),
    "dock": _make_piece((0.5, 0.4), 0.3, "seagreen", (0.3,)),
}
_THINGS = {
    "mug": {"footprint": {"type": "circle", "radius": 0.04, "height": 0.1}, "color": "firebrick"},
    "book": {"footprint": {"type": "box", "dims": [0.2, 0.14], "height": 0.03}, "color": "royalblue"},
    "bottle": {"footprint": {"type": "circle", "radius": 0.035, "height": 0.24}, "color": "seagreen"},
    "apple": {"footprint": {"type": "circle", "radius": 0.04, "height": 0.08}, "color": "crimson"},
    "box": {"footprint": {"type": "box", "dims": [0.25, 0.2], "height": 0.18}, "color": "tan"},
    "tray": {"footprint": {"type": "box", "dims": [0.3, 0.22], "height": 0.04}, "color": "silver"},
}


@dataclass(frozen=True, slots=True)
class _Style:
    """Kinds of rooms with what stands along their walls; sizes of rooms, width of corridors [m]; what lies around.

    ``islands`` stand in the middle of a kind of room where there is space around them; of racks and pallets there are
    as many rows as the room takes.
    """

    rooms: Mapping[str, tuple[str, ...]]
    sizes: tuple[float, float]
    corridor: float
    things: tuple[str, ...]
    islands: Mapping[str, str] = field(default_factory=dict)


STYLES: Mapping[str, _Style] = {
    "office": _Style(
        {
            "office": ("desk", "desk", "shelf", "cabinet"),
            "meeting": ("cabinet", "shelf"),
            "kitchen": ("counter", "counter", "cabinet"),
            "archive": ("shelf", "shelf", "shelf", "cabinet"),
        },
        (3.8, 5.8),
        2.0,
        ("mug", "book", "bottle"),
        {
            "office": "desk_set",
            "meeting": "conference_set",
            "kitchen": "dining_set",
            "archive": "table",
        },
    ),
    "home": _Style(
        {
            "bedroom": ("bed", "wardrobe", "cabinet"),
            "kitchen": ("counter", "counter", "cabinet"),
            "living": ("sofa", "sofa", "shelf", "cabinet"),
            "study": ("desk", "shelf", "shelf"),
            "bathroom": ("bathtub", "cabinet"),
        },
        (3.6, 5.0),
        1.8,
        ("mug", "apple", "book", "bottle"),
        {"kitchen": "dining_set", "living": "coffee_table", "study": "coffee_table"},
    ),
    "warehouse": _Style(
        {
            "bay": ("rack", "rack", "rack", "rack"),
            "packing": ("table", "table", "rack", "rack"),
            "store": ("rack", "shelf", "shelf", "rack"),
            "dispatch": ("table", "cabinet", "rack", "rack"),
            "office": ("desk", "cabinet", "shelf", "shelf"),
        },
        (6.0, 9.0),
        4.0,
        ("box", "tray"),
        {
            "bay": "rack",
            "packing": "pallet",
            "store": "rack",
            "dispatch": "pallet",
            "office": "conference_set",
        },
    ),
    "hospital": _Style(
        {
            "ward": ("bed", "bed", "bed", "cabinet"),
            "surgery": ("counter", "cabinet", "cabinet"),
            "pharmacy": ("shelf", "shelf", "shelf", "counter"),
            "office": ("desk", "shelf", "cabinet"),
        },
        (4.2, 6.0),
        2.6,
        ("bottle", "tray", "box"),
        {"surgery": "table", "pharmacy": "table", "office": "conference_set"},
    ),
}


def generate_world(style: str, rooms: int, seed: int) -> Files:
    """A building in a style: rooms along corridors, each with a door, furniture in it and things on that.

    Every room and every surface can be reached; the same numbers give the same files.
    """
    if style not in STYLES:
        raise UnknownNameError("style of worlds", style, STYLES)
    if not 1 <= rooms <= MAX_ROOMS:
        raise UsageError(f"a world has from 1 to {MAX_ROOMS:,} rooms, not {rooms}")
    return _Building(STYLES[style], np.random.default_rng((seed, rooms, sorted(STYLES).index(style)))).make(
        f"{style}_{rooms}_{seed}", rooms, seed
    )


def _add_points(room: dict[str, Any], points: list[tuple[float, float]]) -> None:
    """Further navigation poses of a room, from which one sees along its aisles: the world graph goes by them."""
    room["nav_poses"] += [[round(x, 4), round(y, 4), 0.0, 0.0] for x, y in points]


def _overlap(first: _FloorBox, second: _FloorBox) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


class _Building:
    def __init__(self, style: _Style, random: np.random.Generator) -> None:
        self._style, self._random = style, random
        self._counts: dict[str, int] = {}
        self._data: dict[str, list[Any]] = {
            key: [] for key in ("rooms", "hallways", "locations", "objects", "robots")
        }

    def make(self, name: str, rooms: int, seed: int) -> Files:
        """The files of a building with so many rooms besides its corridors."""
        bottom = 0.0
        corridors = []
        while rooms > 0:
            count = min(rooms, _WING)
            rooms -= count
            corridor, top = self._add_wing(count, bottom)
            corridors.append(corridor)
            bottom = top + _GAP
        self._join_corridors(corridors)
        self._add_robots(corridors)
        data = self._data
        used = sorted({row["category"] for row in data["locations"]})
        things = sorted({row["category"] for row in data["objects"]})
        world = {
            "params": {"name": name, "object_radius": 0.01, "wall_height": 2.6},
            "metadata": {"locations": ["$PWD/locations.yaml"], "objects": ["$PWD/objects.yaml"]},
            **data,
            "simwright": {"seed": seed},
        }
        return {
            "world": world,
            "locations": {key: _PIECES[key] for key in used},
            "objects": {key: _THINGS[key] for key in things},
        }

    def _add_wing(self, count: int, bottom: float) -> tuple[dict[str, Any], float]:
        """Rooms below and above a corridor; the corridor, and where the wing ends."""
        low, high = self._style.sizes
        sizes = self._random.uniform(low, high, (count, 2)).round(2)
        below, above = sizes[: count // 2], sizes[count // 2 :]
        depth = float(below[:, 1].max()) if len(below) else 0.0
        floor = round(bottom + depth + _GAP, 2)
        width = self._style.corridor
        length = max((float((row[:, 0] + _GAP).sum()) for row in (below, above) if len(row)), default=0.0)
        corridor: dict[str, Any] = {
            "name": self._name("corridor"),
            "box": (0.0, floor, round(length, 2), round(floor + width, 2)),
        }
        self._add_room(corridor, "gainsboro")
        for row, up in ((below, False), (above, True)):
            at = 0.0
            for size, depth_here in row.tolist():
                start = corridor["box"][3] + _GAP if up else floor - _GAP - depth_here
                box = (at, start, at + size, start + depth_here)
                self._furnish(corridor, box, up)
                at += size + _GAP
        top = corridor["box"][3] + (_GAP + float(above[:, 1].max()) if len(above) else 0.0)
        return corridor, top

    def _name(self, kind: str) -> str:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return f"{kind}{number}"

    def _add_room(self, room: dict[str, Any], color: str) -> None:
        x0, y0, x1, y1 = room["box"]
        self._data["rooms"].append(
            {
                "name": room["name"],
                "footprint": {"type": "box", "dims": [round(x1 - x0, 4), round(y1 - y0, 4)]},
                "pose": {"position": {"x": round((x0 + x1) / 2, 4), "y": round((y0 + y1) / 2, 4)}},
                "wall_width": _WALL,
                "color": color,
            }
        )

    def _furnish(self, corridor: dict[str, Any], box: tuple[float, float, float, float], up: bool) -> None:
        """A room with its door to the corridor, furniture along the far wall and one piece at each side."""
        kinds = list(self._style.rooms)
        kind = kinds[int(self._random.integers(len(kinds)))]
        room = {"name": self._name(kind), "box": box}
        colors = ("burlywood", "lightsteelblue", "rosybrown", "darkseagreen", "wheat")
        self._add_room(room, colors[kinds.index(kind) % len(colors)])
        x0, y0, x1, y1 = box
        # robots that go to the room stop behind the door: furniture may be in its middle
        behind = (y0 + 0.45, math.pi / 2) if up else (y1 - 0.45, -math.pi / 2)
        room["nav_poses"] = [[round((x0 + x1) / 2, 4), round(behind[0], 4), 0.0, round(behind[1], 4)]]
        # deep enough into both rooms that the floors overlap for robots of any usual radius
        middle, inner = (x0 + x1) / 2, 0.8
        edge = y0 if up else y1
        far = corridor["box"][3] if up else corridor["box"][1]
        self._data["hallways"].append(
            {
                "room_start": corridor["name"],
                "room_end": room["name"],
                "width": _DOOR,
                "wall_width": _WALL,
                "conn_method": "points",
                "conn_points": [
                    [round(middle, 4), round(far - inner if up else far + inner, 4)],
                    [round(middle, 4), round(edge + inner if up else edge - inner, 4)],
                ],
            }
        )
        self._fill(room, kind, up)
        self._data["rooms"][-1]["nav_poses"] = room["nav_poses"]

    def _fill(self, room: dict[str, Any], kind: str, up: bool) -> None:
        """Furniture along the far wall, one piece at each side, and in the middle what has space around it."""
        x0, y0, x1, y1 = room["box"]
        edge, inwards = (y0, 1.0) if up else (y1, -1.0)
        pieces, island = list(self._style.rooms[kind]), self._style.islands.get(kind, "")
        slots = max(1, int((x1 - x0 - 0.4) // 1.8))
        taken = self._fill_far_wall(room, pieces[:slots], slots, up)
        if island in _IN_ROWS:
            # rows reach up to the side walls
            self._add_rows(room, island, up)
            return
        # side walls only where robots can still pass between the two and before the far wall
        rest = [piece for piece in pieces[slots:] if _PIECES[piece]["footprint"]["dims"][1] < 1.0]
        sides = rest[:2] if x1 - x0 >= 3.9 and y1 - y0 >= 4.1 else []
        for number, piece in enumerate(sides):
            width, depth = _PIECES[piece]["footprint"]["dims"]
            x = x0 + depth / 2 + 0.05 if number == 0 else x1 - depth / 2 - 0.05
            y = edge + (0.35 + width / 2) * inwards
            taken.append(self._add_piece(room, piece, (x, y), math.pi / 2 if number == 0 else -math.pi / 2))
        if len(sides) < 2 and x1 - x0 >= 3.4:
            corner = (x1 - 0.3, edge + 0.3 * inwards)
            taken.append(self._add_piece(room, "plant", corner, math.pi if up else 0.0))
        if island:
            self._add_island(room, island, taken)

    def _fill_far_wall(
        self, room: dict[str, Any], pieces: list[str], slots: int, up: bool
    ) -> list[_FloorBox]:
        """Furniture side by side, and points before it from which robots get from one piece to the other."""
        x0, y0, x1, y1 = room["box"]
        middles = [x0 + (number + 0.5) * (x1 - x0) / slots for number in range(slots)]
        taken, deepest = [], 0.0
        for piece, x in zip(pieces, middles, strict=False):
            depth = _PIECES[piece]["footprint"]["dims"][1]
            deepest = max(deepest, depth)
            y = y1 - depth / 2 - 0.05 if up else y0 + depth / 2 + 0.05
            taken.append(self._add_piece(room, piece, (x, y), 0.0 if up else math.pi))
        lane = y1 - deepest - 0.5 if up else y0 + deepest + 0.5
        _add_points(room, [(x, lane) for x in [*middles, (x0 + x1) / 2]])
        return taken

    def _add_island(self, room: dict[str, Any], piece: str, taken: list[_FloorBox]) -> None:
        """A piece in the middle, one way or the other round, if robots can go around it."""
        x0, y0, x1, y1 = room["box"]
        width, depth = _PIECES[piece]["footprint"]["dims"]
        ways = itertools.product((False, True), (0.5, 0.42, 0.58, 0.35, 0.65))
        for turned, share in ways:
            half_x, half_y = (depth / 2, width / 2) if turned else (width / 2, depth / 2)
            x, y = (x0 + x1) / 2, y0 + share * (y1 - y0)
            around = (x - half_x - _AISLE, y - half_y - _AISLE, x + half_x + _AISLE, y + half_y + _AISLE)
            inside = around[0] >= x0 and around[1] >= y0 and around[2] <= x1 and around[3] <= y1
            if inside and not any(_overlap(around, box) for box in taken):
                self._add_piece(room, piece, (x, y), math.pi / 2 if turned else 0.0)
                away_x, away_y = half_x + _AISLE / 2, half_y + _AISLE / 2
                signs = itertools.product((-1.0, 1.0), (-1.0, 1.0))
                _add_points(room, [(x + a * away_x, y + b * away_y) for a, b in signs])
                return

    def _add_rows(self, room: dict[str, Any], piece: str, up: bool) -> None:
        """Rows of two pieces back to back, with aisles between them."""
        x0, y0, x1, y1 = room["box"]
        width, depth = _PIECES[piece]["footprint"]["dims"]
        # from the door inwards: the aisle at the door, then rows up to the aisle before the far wall
        start, end = (y0 + 1.5, y1 - 0.65 - _ROW_AISLE) if up else (y1 - 1.5, y0 + 0.65 + _ROW_AISLE)
        row, inwards = 2.0 * depth + 0.06, 1.0 if up else -1.0
        rows = int((abs(end - start) + _ROW_AISLE) // (row + _ROW_AISLE))
        count = int((x1 - x0 - 2.4) // (width + 0.05))
        left = (x0 + x1) / 2 - count * (width + 0.05) / 2
        ends = (left - 0.6, left + count * (width + 0.05) + 0.6)
        _add_points(room, [(x, start - 0.75 * inwards) for x in ends])
        for number in range(rows):
            near = start + number * (row + _ROW_AISLE) * inwards
            _add_points(room, [(x, near + (row + _ROW_AISLE / 2) * inwards) for x in ends])
            for column in range(count):
                x = left + (column + 0.5) * (width + 0.05)
                for at, yaw in (
                    (depth / 2, 0.0 if up else math.pi),
                    (row - depth / 2, math.pi if up else 0.0),
                ):
                    self._add_piece(room, piece, (x, near + at * inwards), yaw)

    def _add_piece(
        self, room: dict[str, Any], category: str, at: tuple[float, float], yaw: float, **more: Any
    ) -> _FloorBox:
        """Add furniture with things on it; the floor that it takes."""
        name = self._name(category)
        pose = {
            "position": {"x": round(at[0], 4), "y": round(at[1], 4)},
            "rotation_eul": {"yaw": round(yaw, 6)},
        }
        self._data["locations"].append(
            {"name": name, "category": category, "parent": room["name"], "pose": pose, **more}
        )
        width, depth = _PIECES[category]["footprint"]["dims"]
        half_x, half_y = (width / 2, depth / 2) if abs(math.sin(yaw)) < 0.5 else (depth / 2, width / 2)
        box = (at[0] - half_x, at[1] - half_y, at[0] + half_x, at[1] + half_y)
        if category == "dock" or not _PIECES[category]["locations"]:
            return box
        for _ in range(int(self._random.integers(0, 3))):
            things = self._style.things
            thing = things[int(self._random.integers(len(things)))]
            self._data["objects"].append({"name": self._name(thing), "category": thing, "parent": name})
        return box

    def _join_corridors(self, corridors: list[dict[str, Any]]) -> None:
        """A lobby beside the first ends of all corridors."""
        if len(corridors) < 2:
            return
        low, high = corridors[0]["box"][1], corridors[-1]["box"][3]
        lobby = {"name": "lobby", "box": (-_GAP - 3.0, low, -_GAP, high)}
        self._add_room(lobby, "gainsboro")
        for corridor in corridors:
            y = round((corridor["box"][1] + corridor["box"][3]) / 2, 4)
            self._data["hallways"].append(
                {
                    "room_start": "lobby",
                    "room_end": corridor["name"],
                    "width": _DOOR + 0.4,
                    "wall_width": _WALL,
                    "conn_method": "points",
                    "conn_points": [[-_GAP - 0.8, y], [0.8, y]],
                }
            )

    def _add_robots(self, corridors: list[dict[str, Any]]) -> None:
        first = corridors[0]
        x0, y0, x1, y1 = first["box"]
        # the charger stands at the far end of the corridor, its back to the end
        self._add_piece(first, "dock", (x1 - 0.25, (y0 + y1) / 2), -math.pi / 2, is_charger=True)
        self._data["robots"] = [
            {
                "name": "porter",
                "radius": 0.2,
                "height": 0.6,
                "location": first["name"],
                "pose": {"position": {"x": round(x0 + 0.8, 4), "y": round((y0 + y1) / 2, 4)}},
                "max_linear_velocity": 1.0,
                "max_angular_velocity": 2.0,
                "max_linear_acceleration": 1.0,
                "max_angular_acceleration": 4.0,
                "path_planner": {"type": "world_graph"},
                "path_executor": {"type": "constant_velocity", "linear_velocity": 1.0, "dt": 0.1},
                "action_execution_options": {"navigate": {"battery_usage": 0.2}},
            }
        ]


# -- saving ----------------------------------------------------------------------------------------------------------


def describe_files(world: World, reporter: Reporter) -> Files:
    """A world as it is now: every pose absolute, doors and furniture in their states, objects where they stand.

    The format has no place for what robots hold and for what they have found out: the first is reported, and comes to
    stand anywhere when the file is read.  Meshes stay where their categories name them.
    """
    for robot in world.robots:
        if robot.held is not None:
            reporter.report(messages.HELD_LEFT, robot.where, name=robot.name, item=robot.held.name)
    data = {
        "params": {
            "name": world.name,
            "inflation_radius": world.params.inflation_radius,
            "object_radius": world.params.object_radius,
            "wall_height": world.params.wall_height,
        },
        "metadata": {"locations": ["$PWD/locations.yaml"], "objects": ["$PWD/objects.yaml"]},
        "rooms": [_describe_room(room) for room in world.rooms],
        "hallways": [_describe_hallway(hallway) for hallway in world.hallways],
        "locations": [_describe_location(location) for location in world.locations],
        "objects": [_describe_object(item) for item in world.objects],
        "robots": [_describe_robot(robot) for robot in world.robots],
        "simwright": _describe_extensions(world),
    }
    return {
        "world": {key: value for key, value in data.items() if value not in ([], {})},
        "locations": _describe_categories(world.location_categories),
        "objects": _describe_categories(world.object_categories),
    }


def _describe_categories(categories: Mapping[str, Category]) -> dict[str, Any]:
    return {name: category.entry.data for name, category in categories.items()}


def _describe_pose(pose: WorldPose, z: float | None = None) -> dict[str, Any]:
    w, x, y, k = pose.quaternion
    rotation = {"w": w, "x": x, "y": y, "z": k}
    position = {"x": pose.x, "y": pose.y, "z": pose.z if z is None else z}
    return {"position": position, "rotation_quat": rotation}


def _list_corners(polygon: Geometry) -> list[list[float]]:
    return [[float(x), float(y)] for x, y in shapely.get_coordinates(polygon.exterior)[:-1]]


def _describe_room(room: Room) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": room.name,
        "footprint": {"type": "polygon", "coords": _list_corners(room.polygon)},
        "nav_poses": [_describe_pose(pose) for pose in room.nav_poses],
        "wall_width": room.wall_width,
        "color": list(room.color),
    }
    if room.height:
        row["footprint"]["height"] = room.height
    return row


def _describe_hallway(hallway: Hallway) -> dict[str, Any]:
    # an automatic name comes back by itself, with its second one; a given one has no second
    name = {} if hallway.alias != hallway.name else {"name": hallway.name}
    return {
        **name,
        "room_start": hallway.room_start.name,
        "room_end": hallway.room_end.name,
        "width": hallway.width,
        "wall_width": hallway.wall_width,
        "conn_method": "points",
        "conn_points": [[float(x), float(y)] for x, y in hallway.points],
        "color": list(hallway.color),
        "is_open": hallway.is_open,
        "is_locked": hallway.is_locked,
    }


def _describe_location(location: Location) -> dict[str, Any]:
    return {
        "name": location.name,
        "category": location.category.name,
        "parent": location.room.name,
        "pose": _describe_pose(location.pose),
        "color": list(location.color),
        "is_open": location.is_open,
        "is_locked": location.is_locked,
        "is_charger": location.is_charger,
    }


def _describe_object(item: WorldObject) -> dict[str, Any]:
    row: dict[str, Any] = {"name": item.name, "category": item.category.name, "color": list(item.color)}
    if item.spawn is not None:
        # heights count from the surface
        pose = _describe_pose(item.pose, item.pose.z - item.spawn.elevation)
        row |= {"parent": item.spawn.name, "pose": pose}
    return row


def _describe_robot(robot: WorldRobot) -> dict[str, Any]:
    limits = {
        key: value
        for key in (
            "max_linear_velocity",
            "max_angular_velocity",
            "max_linear_acceleration",
            "max_angular_acceleration",
        )
        if math.isfinite(value := getattr(robot.limits, key))
    }
    row: dict[str, Any] = {
        "name": robot.name,
        "radius": robot.radius,
        "height": robot.height,
        "color": list(robot.color),
        "pose": _describe_pose(robot.pose),
        "initial_battery_level": robot.battery_level,
        "partial_obs_objects": robot.partial_obs_objects,
        "partial_obs_hallways": robot.partial_obs_hallways,
        **limits,
    }
    for key, word, options in (
        ("path_planner", "type", robot.path_planner),
        ("path_executor", "type", robot.path_executor),
        ("grasping", "generator", robot.grasping),
    ):
        if options is not None:
            row[key] = {word: options.type} | _drop_none(options.values)
    if robot.sensors:
        row["sensors"] = {
            name: {"type": options.type} | _drop_none(options.values)
            for name, options in robot.sensors.items()
        }
    if robot.actions:
        row["action_execution_options"] = {
            name: _drop_none(
                {
                    "delay": options.delay,
                    "success_probability": options.success_probability,
                    "rng_seed": options.rng_seed,
                    "battery_usage": options.battery_usage,
                }
            )
            for name, options in robot.actions.items()
        }
    return row


def _drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    # a property of nothing is its default; a sensor that has no name is no sensor
    return {key: value for key, value in values.items() if value is not None and value != ""}


def _describe_extensions(world: World) -> dict[str, Any]:
    found: dict[str, Any] = {"seed": world.seed}
    for key, rows in (("entities", world.extensions.entities), ("categories", world.extensions.categories)):
        if rows:
            found[key] = {name: dict(row) for name, row in rows.items()}
    return found | _describe_floors(world)


def _describe_floors(world: World) -> dict[str, Any]:
    table = world.floor_table
    found: dict[str, Any] = {}
    if table.floors:
        found["floors"] = {
            floor.name: {
                "elevation": floor.elevation,
                "offset": list(floor.offset),
                "rooms": list(floor.rooms),
            }
            for floor in table.floors.values()
        }
    for key, kind in (("lifts", "lift"), ("stairs", "stairs")):
        rows = {
            link.name: {"stops": dict(link.stops), "speed": link.speed, "door_time": link.door_time}
            | ({} if link.robots is None else {"robots": list(link.robots)})
            for link in table.links.values()
            if link.kind == kind
        }
        if rows:
            found[key] = rows
    if table.places:
        found["places"] = {name: [pose.x, pose.y, pose.yaw] for name, pose in table.places.items()}
    return found


def encode_files(files: Files) -> dict[str, bytes]:
    """The files by name, as YAML."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return {
        f"{name}.yaml": yaml.dump(
            content, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
        ).encode()
        for name, content in files.items()
    }
