# SPDX-License-Identifier: Apache-2.0
"""A world as a building of Open-RMF: ``building.yaml`` for the traffic editor, and the navigation graph of fleets.

Coordinates are metres (``cartesian_meters``), those of the plane with the offset of each floor taken back.  Walls of
RMF are lines of 0.1 m thickness that go on by half of it at both ends; they are drawn so that their inner faces are
where the floors of the world end.  Lanes are the ways of the world graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter
from simwright.core.names import NameScope
from simwright.worlds import messages
from simwright.worlds.entities import Hallway, Room, Spawn
from simwright.worlds.floors import GROUND, FloorLink, WorldFloor
from simwright.worlds.graph import GraphNode, WorldGraph, build_graph
from simwright.worlds.grid import find_doors
from simwright.worlds.plans.rmf import CABIN_WALL, WALL_HEIGHT, WALL_THICKNESS
from simwright.worlds.polygons import Geometry, grow, join_polygons
from simwright.worlds.world import World

_HALF = WALL_THICKNESS / 2.0
_TEXT, _INT, _FLOAT, _FLAG = 1, 2, 3, 4
"""Types of parameters, which RMF writes before every value."""
_WALL = {
    "alpha": [_FLOAT, 1.0], "texture_height": [_FLOAT, WALL_HEIGHT], "texture_name": [_TEXT, "default"],
    "texture_scale": [_FLOAT, 1.0], "texture_width": [_FLOAT, 1.0],
}  # fmt: skip
_FLOOR = {
    "ceiling_scale": [_FLOAT, 1.0], "ceiling_texture": [_TEXT, "blue_linoleum"], "indoor": [_INT, 0],
    "texture_name": [_TEXT, "blue_linoleum"], "texture_rotation": [_FLOAT, 0.0], "texture_scale": [_FLOAT, 1.0],
}  # fmt: skip
_LANE = {
    "bidirectional": [_FLAG, True], "demo_mock_floor_name": [_TEXT, ""], "demo_mock_lift_name": [_TEXT, ""],
    "graph_idx": [_INT, 0], "orientation": [_TEXT, ""], "speed_limit": [_FLOAT, 0.0],
}  # fmt: skip
_DIGITS = 4


@dataclass(slots=True)
class _RmfLevel:
    """A level while it is written; points are shared by everything that uses them."""

    floor: WorldFloor
    vertices: list[list[Any]] = field(default_factory=list)
    numbers: dict[tuple[float, float], int] = field(default_factory=dict)

    def add_point(self, x: float, y: float) -> int:
        """The number of a corner."""
        key = (
            round(float(x) - self.floor.offset[0], _DIGITS) + 0.0,
            round(float(y) - self.floor.offset[1], _DIGITS) + 0.0,
        )
        if key not in self.numbers:
            self.numbers[key] = len(self.vertices)
            self.vertices.append([*key, 0.0, "", {}])
        return self.numbers[key]

    def add_node(self, x: float, y: float, name: str, facts: dict[str, Any]) -> int:
        """The number of a way point, which is nobody else's."""
        self.vertices.append(
            [
                round(x - self.floor.offset[0], _DIGITS),
                round(y - self.floor.offset[1], _DIGITS),
                0.0,
                name,
                facts,
            ]
        )
        return len(self.vertices) - 1


def encode_building(world: World, reporter: Reporter) -> dict[str, bytes]:
    """The files ``<name>.building.yaml`` and ``nav_graphs/0.yaml``, by name."""
    import yaml

    from simwright.core.names import make_identifier

    building, graph = describe_building(world, reporter)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return {
        name: yaml.dump(
            data, Dumper=dumper, sort_keys=True, default_flow_style=None, width=200, allow_unicode=True
        ).encode()
        for name, data in (
            (f"{make_identifier(world.name, 'world')}.building.yaml", building),
            ("nav_graphs/0.yaml", graph),
        )
    }


def describe_building(world: World, reporter: Reporter) -> tuple[dict[str, Any], dict[str, Any]]:
    """The content of the building and of its navigation graph."""
    return _RmfWriter(world, reporter).write()


class _RmfWriter:
    def __init__(self, world: World, reporter: Reporter) -> None:
        self._world, self._reporter = world, reporter
        table = world.floor_table
        self._floors = list(table.floors.values()) or [GROUND]
        self._links = [link for link in table.links.values() if link.kind == "lift"]
        self._cabins = {room for link in self._links for room in link.stops.values()}
        self._names = NameScope()

    def write(self) -> tuple[dict[str, Any], dict[str, Any]]:
        world = self._world
        graph = build_graph(world)
        doors = find_doors(graph, world.hallways)
        building: dict[str, Any] = {
            "name": world.name, "coordinate_system": "cartesian_meters", "graphs": {}, "levels": {},
            "lifts": {link.name: self._describe_lift(link) for link in self._links},
        }  # fmt: skip
        nav: dict[str, Any] = {"building_name": world.name, "doors": {}, "levels": {}, "lifts": {}}
        for floor in self._floors:
            name, level = floor.name or "L1", _RmfLevel(floor)
            rows = self._describe_level(level)
            lanes, ways = self._add_lanes(level, graph, doors)
            building["levels"][name] = {**rows, "lanes": lanes, "vertices": level.vertices}
            nav["levels"][name] = ways
            nav["doors"] |= {
                row[2]["name"][1]: {"endpoints": [level.vertices[i][:2] for i in row[:2]], "map": name}
                for row in rows["doors"]
            }
        nav["lifts"] = {
            name: {"position": [row["x"], row["y"], row["yaw"]], "dims": [row["width"], row["depth"]]}
            for name, row in building["lifts"].items()
        }
        self._report_lost()
        return building, nav

    def _report_lost(self) -> None:
        world = self._world
        stairs = [link.name for link in world.floor_table.links.values() if link.kind == "stairs"]
        for count, what, why in (
            (len(world.locations), "locations", "models of RMF come from servers of models"),
            (len(world.objects), "objects", "RMF has no things that robots carry"),
            (len(stairs), "stairs", "RMF knows lifts only"),
        ):
            if count:
                self._reporter.report(messages.RMF_LEFT, what=f"{count} {what}", reason=why)

    # -- floors, walls, doors ----------------------------------------------------------------------------------------

    def _list_parts(self, floor: WorldFloor) -> list[Room | Hallway]:
        """Rooms and hallways of a floor, without the cabins of lifts."""
        table = self._world.floor_table
        return [
            part for part in self._world.floors if table.find(part) is floor and part.name not in self._cabins
        ]

    def _describe_level(self, level: _RmfLevel) -> dict[str, Any]:
        parts = self._list_parts(level.floor)
        area = join_polygons([part.polygon for part in parts])
        floors = [
            {"parameters": _FLOOR, "vertices": [level.add_point(x, y) for x, y in part.exterior.coords[:-1]]}
            # a little wider than the floors, so that what is between two rooms with a thin wall is one floor
            for part in shapely.get_parts(grow(grow(area, _HALF), -_HALF + 1e-4))
        ]
        walls = [
            [level.add_point(*a), level.add_point(*b), _WALL]
            for line in _list_wall_lines(parts)
            for a, b in zip(line.coords, line.coords[1:], strict=False)
        ]
        doors = [
            self._describe_door(level, part)
            for part in parts
            if isinstance(part, Hallway) and not {room.name for room in part.rooms} & self._cabins
        ]
        return {
            "doors": doors, "elevation": level.floor.elevation, "fiducials": [], "floors": floors, "layers": {},
            "measurements": [], "models": [], "walls": [wall for wall in walls if wall[0] != wall[1]],
            "drawing": {"filename": ""},
        }  # fmt: skip

    def _describe_door(self, level: _RmfLevel, hallway: Hallway) -> list[Any]:
        start, end = _find_door_line(hallway)
        facts = {
            "motion_axis": [_TEXT, "start"], "motion_degrees": [_FLOAT, 90.0], "motion_direction": [_INT, 1],
            "name": [_TEXT, hallway.name], "plugin": [_TEXT, "normal"], "right_left_ratio": [_FLOAT, 1.0],
            "type": [_TEXT, "hinged" if hallway.width < 1.3 else "double_hinged"],
        }  # fmt: skip
        return [level.add_point(*start), level.add_point(*end), facts]

    def _describe_lift(self, link: FloorLink) -> dict[str, Any]:
        """A lift at the cabin of its first stop; its doors are where hallways lead into the cabin."""
        world = self._world
        floor, name = next(iter(link.stops.items()))
        room = world.names[name]
        assert isinstance(room, Room)
        offset = np.array(world.floor_table.floors[floor].offset)
        center, size, yaw = _find_rectangle(room.polygon)
        doors = {}
        turn = np.array(((math.cos(yaw), math.sin(yaw)), (-math.sin(yaw), math.cos(yaw))))
        for number, hallway in enumerate(room.hallways):
            line = shapely.LineString(hallway.points).intersection(grow(room.polygon, 1e-3).exterior)
            at = turn @ (np.array((line.centroid.x, line.centroid.y)) - center)
            beside = abs(abs(at[0]) - size[0] / 2) <= abs(abs(at[1]) - size[1] / 2)
            doors[f"{link.name}_door{number}"] = {
                "door_type": 2, "motion_axis_orientation": math.pi / 2 if beside else 0.0,
                "width": round(float(hallway.width), _DIGITS),
                "x": round(math.copysign(size[0] / 2 + CABIN_WALL, at[0]) if beside else float(at[0]), _DIGITS),
                "y": round(float(at[1]) if beside else math.copysign(size[1] / 2 + CABIN_WALL, at[1]), _DIGITS),
            }  # fmt: skip
        x, y = (float(value) for value in center - offset)
        return {
            "depth": round(size[1] + 2 * CABIN_WALL, _DIGITS), "width": round(size[0] + 2 * CABIN_WALL, _DIGITS),
            "doors": doors, "highest_floor": "", "lowest_floor": "", "initial_floor_name": floor,
            "level_doors": {stop: list(doors) for stop in link.stops}, "plugins": True, "reference_floor_name": floor,
            "x": round(x, _DIGITS), "y": round(y, _DIGITS), "yaw": round(yaw, 6),
        }  # fmt: skip

    # -- lanes -------------------------------------------------------------------------------------------------------

    def _add_lanes(
        self, level: _RmfLevel, graph: WorldGraph, doors: dict[int, dict[str, Any]]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Lanes of the building, and the level of the navigation graph."""
        nodes = {
            number: node for number, node in enumerate(graph.nodes) if self._find_floor(node) is level.floor
        }
        points = {number: self._add_node(level, node) for number, node in nodes.items()}
        order = {number: place for place, number in enumerate(nodes)}
        lanes, ways = [], []
        for edge, (a, b) in enumerate(graph.edges.tolist()):
            if a not in nodes or b not in nodes:
                continue
            lanes.append([points[a], points[b], _LANE])
            facts = {"door_name": doors[edge]["door"]} if edge in doors else {}
            # lanes of a navigation graph lead one way
            ways += [[order[a], order[b], dict(facts)], [order[b], order[a], dict(facts)]]
        self._add_robots(level, nodes, points, lanes)
        vertices = []
        for number, node in nodes.items():
            x, y, _, name, _ = level.vertices[points[number]]
            lift = self._find_lift(node)
            charger = {"is_charger": True} if _is_charger(node) else {}
            vertices.append([x, y, {"name": name} | charger | ({"lift": lift} if lift else {})])
        return lanes, {"lanes": ways, "vertices": vertices}

    def _find_floor(self, node: GraphNode) -> WorldFloor:
        entity = node.entity
        return self._world.floor_table.find(entity.room if isinstance(entity, Spawn) else entity)

    def _find_lift(self, node: GraphNode) -> str:
        room = node.entity.name
        return next((link.name for link in self._links if room in link.stops.values()), "")

    def _add_node(self, level: _RmfLevel, node: GraphNode) -> int:
        # names of way points are unique in a building
        name = self._names.claim(node.entity.name) if not isinstance(node.entity, Hallway) else ""
        facts = {"is_charger": [_FLAG, True], "is_parking_spot": [_FLAG, True]} if _is_charger(node) else {}
        return level.add_node(node.pose.x, node.pose.y, name, facts)

    def _add_robots(
        self, level: _RmfLevel, nodes: dict[int, GraphNode], points: dict[int, int], lanes: list[Any]
    ) -> None:
        """Robots start at way points of their own, with a lane to the nearest one."""
        world = self._world
        for robot in world.robots:
            if not nodes or world.floor_table.locate(world, robot.pose) is not level.floor:
                continue
            facts = {
                "spawn_robot_name": [_TEXT, robot.name],
                "spawn_robot_type": [_TEXT, "Open-RMF/TinyRobot"],
            }
            here = level.add_node(robot.pose.x, robot.pose.y, self._names.claim(f"{robot.name}_start"), facts)
            near = min(nodes, key=lambda number: math.dist(nodes[number].pose.xy, robot.pose.xy))
            lanes.append([here, points[near], _LANE])


def _is_charger(node: GraphNode) -> bool:
    return isinstance(node.entity, Spawn) and node.entity.location.is_charger


def _list_wall_lines(parts: Iterable[Room | Hallway]) -> list[Any]:
    """Middle lines of walls: around every floor, half a wall away, and open where another floor goes on."""
    parts = list(parts)
    tree = shapely.STRtree([part.polygon for part in parts])
    lines = []
    for number, part in enumerate(parts):
        near = [
            parts[int(n)]
            for n in tree.query(part.polygon, predicate="dwithin", distance=1.0)
            if int(n) != number
        ]
        # floors that go on into this one end its wall; others are behind it
        open_to = [other for other in near if _joins(part, other)]
        apart = [other for other in near if other not in open_to and not isinstance(other, Hallway)]
        gap = min((float(part.polygon.distance(other.polygon)) for other in apart), default=1.0)
        ring = grow(part.polygon, min(_HALF, max(gap, 1e-3) / 2.0)).exterior
        for other in open_to:
            # walls of RMF go on by half their thickness, so they end that much before an opening
            ring = ring.difference(grow(other.polygon, _HALF - 1e-3))
        lines.append(ring)
    merged = shapely.line_merge(shapely.union_all(lines, grid_size=1e-4))
    return [
        line for line in shapely.get_parts(merged) if line.geom_type == "LineString" and line.length > 1e-3
    ]


def _joins(part: Room | Hallway, other: Room | Hallway) -> bool:
    if isinstance(part, Hallway) and isinstance(other, Room):
        return other in part.rooms
    return isinstance(other, Hallway) and isinstance(part, Room) and part in other.rooms


def _find_door_line(hallway: Hallway) -> tuple[Any, Any]:
    """Across the middle of the way between the two rooms, from wall to wall."""
    line = shapely.LineString(hallway.points)
    inside = line.intersection(hallway.slab) if not hallway.slab.is_empty else line
    middle = (
        np.array((inside.centroid.x, inside.centroid.y))
        if not inside.is_empty
        else np.array(line.centroid.coords[0])
    )
    place = line.project(shapely.Point(middle))
    ahead, behind = (np.array(line.interpolate(max(place + step, 0.0)).coords[0]) for step in (0.01, -0.01))
    along = (ahead - behind) / np.hypot(*(ahead - behind))
    across = np.array((-along[1], along[0])) * (hallway.width / 2.0 + _HALF)
    return middle - across, middle + across


def _find_rectangle(polygon: Geometry) -> tuple[Any, tuple[float, float], float]:
    """Centre, width and depth [m], and heading [rad] of the smallest rectangle around a polygon."""
    corners = np.array(shapely.oriented_envelope(polygon).exterior.coords)[:4]
    first, second = corners[1] - corners[0], corners[2] - corners[1]
    yaw = math.atan2(first[1], first[0])
    # a quarter turn at most: width goes along x where it can
    if abs(math.remainder(yaw, math.pi)) > math.pi / 4:
        first, second = second, first
        yaw = math.atan2(first[1], first[0])
    return (
        corners.mean(axis=0),
        (float(np.hypot(*first)), float(np.hypot(*second))),
        math.remainder(yaw, math.pi),
    )
