# SPDX-License-Identifier: Apache-2.0
"""Occupancy grids: which points of a raster are free, by scan lines; and maps for Nav2.

Every edge of the free polygon crosses some rows of the raster; between an odd and an even crossing a row is inside.
That decides all points at once, in time that grows with the outline and not with the area.  Points that lie on an edge
up to rounding are asked of the polygon itself, whose edge counts as free.

Nav2 gets an occupancy image with its YAML, way points, and a route graph as GeoJSON.  The image is named relative to
the YAML, so the two can be moved together.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.errors import UsageError
from simwright.worlds.entities import Hallway, Room, Spawn, WorldRobot
from simwright.worlds.floors import GROUND, WorldFloor
from simwright.worlds.free_space import compute_building, compute_free_space
from simwright.worlds.graph import WorldGraph
from simwright.worlds.polygons import Geometry, list_edges
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

MAX_CELLS = 100_000_000
PADDING = 0.05
_NEAR = 1e-9
_DIGITS = set("-.0123456789")


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """``occupied[i, j]`` belongs to the cell ``i`` along x and ``j`` along y, of ``resolution`` [m].

    ``origin`` is the lower left corner of the first cell [m].  Our grids look at the middle of a cell (``sample`` 0.5),
    PyRoboSim's at its lower left corner (``sample`` 0).
    """

    occupied: npt.NDArray[np.bool_]
    resolution: float
    origin: tuple[float, float]
    sample: float = 0.5

    @property
    def shape(self) -> tuple[int, int]:
        """Cells along x and along y."""
        return self.occupied.shape[0], self.occupied.shape[1]

    def moved(self, x: float, y: float) -> Grid:
        """The same cells elsewhere [m]."""
        return Grid(self.occupied, self.resolution, (self.origin[0] + x, self.origin[1] + y), self.sample)

    def to_cell(self, x: float, y: float) -> tuple[int, int]:
        """The cell that a point [m] is in, which may lie outside of the grid."""
        return (
            int(np.floor((x - self.origin[0]) / self.resolution)),
            int(np.floor((y - self.origin[1]) / self.resolution)),
        )

    def to_point(self, i: int, j: int) -> tuple[float, float]:
        """The point [m] at which a cell is looked at."""
        return (
            self.origin[0] + (i + self.sample) * self.resolution,
            self.origin[1] + (j + self.sample) * self.resolution,
        )

    def is_occupied(self, i: int, j: int) -> bool:
        """Is the cell occupied?  Outside of the grid everything is."""
        width, height = self.shape
        return not (0 <= i < width and 0 <= j < height) or bool(self.occupied[i, j])


def make_grid(
    world: World,
    resolution: float,
    inflation: float = 0.0,
    *,
    robot: WorldRobot | None = None,
    x_limits: tuple[float, float] | None = None,
    y_limits: tuple[float, float] | None = None,
    space: Geometry | None = None,
) -> Grid:
    """The occupancy of a world at a resolution [m], for a robot of the radius ``inflation`` [m].

    The grid covers the world and a margin of 5 % of its size.  With ``robot``, the doors are those it knows of;
    ``space`` is a polygon of free points that is known already.  In reference mode the cells are those of PyRoboSim.
    """
    low_x, low_y, high_x, high_y = world.bounds
    if x_limits is None:
        margin = (high_x - low_x) * PADDING
        x_limits = (low_x - margin, high_x + margin)
    if y_limits is None:
        margin = (high_y - low_y) * PADDING
        y_limits = (low_y - margin, high_y + margin)
    _check_size(resolution, x_limits, y_limits)
    # the middle of a cell; PyRoboSim looks at its lower left corner
    sample = 0.0 if world.reference else 0.5
    x = np.arange(x_limits[0], x_limits[1] + resolution, resolution) + sample * resolution
    y = np.arange(y_limits[0], y_limits[1] + resolution, resolution) + sample * resolution
    if space is None:
        closed = None if robot is None else [h for h in world.hallways if robot.knows_closed(h)]
        space = compute_free_space(world, inflation, closed)
    return Grid(~rasterize(space, x, y), resolution, (x_limits[0], y_limits[0]), sample)


def make_floor_grid(world: World, floor: WorldFloor, resolution: float) -> Grid:
    """The occupancy of one floor, in the plane of the world; of all of it where there is only one."""
    parts = [part.polygon.bounds for part in world.floors if world.floor_table.find(part) is floor]
    if floor is GROUND or not parts:
        return make_grid(world, resolution)
    low, high = np.min(parts, axis=0)[:2], np.max(parts, axis=0)[2:]
    margin = (high - low) * PADDING
    x, y = zip(low - margin, high + margin, strict=True)
    return make_grid(
        world, resolution, x_limits=(float(x[0]), float(x[1])), y_limits=(float(y[0]), float(y[1]))
    )


def rasterize(
    space: Geometry, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]
) -> npt.NDArray[np.bool_]:
    """Which points of the raster ``x`` by ``y`` (both evenly rising) are in a polygon or on its edge."""
    inside = np.zeros((len(y), len(x)), dtype=bool)
    start, end = list_edges(space)
    if not len(start):
        return inside.T
    rows, columns, doubtful = _find_crossings(start, end, x, y)
    flips = np.zeros((len(y), len(x) + 1), dtype=np.uint8)
    # several edges may cross a row between the same two points: an even number of flips cancels
    np.bitwise_xor.at(flips, (rows, columns), 1)
    # every flip from left to right changes between outside and inside
    inside = np.bitwise_xor.accumulate(flips[:, :-1], axis=1).astype(bool)
    doubtful = np.concatenate((doubtful, _find_flat(start, end, x, y)))
    if len(doubtful):
        row, column = np.divmod(np.unique(doubtful), len(x))
        shapely.prepare(space)
        inside[row, column] = shapely.intersects_xy(space, x[column], y[row])
    return inside.T


def _find_crossings(start: Any, end: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Rows and first columns right of every crossing of an edge with a row, and points that are near one."""
    low, high = np.minimum(start[:, 1], end[:, 1]), np.maximum(start[:, 1], end[:, 1])
    first = np.searchsorted(y, low, side="left")
    # half open: a corner shared by two edges counts once
    count = np.searchsorted(y, high, side="left") - first
    edge = np.repeat(np.arange(len(start)), count)
    offset = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    rows = first[edge] + offset
    rise = end[edge, 1] - start[edge, 1]
    share = (y[rows] - start[edge, 1]) / rise
    at = start[edge, 0] + share * (end[edge, 0] - start[edge, 0])
    columns = np.searchsorted(x, at, side="left")
    left = np.searchsorted(x, at - _NEAR, side="left")
    right = np.searchsorted(x, at + _NEAR, side="right")
    # a point this near to a crossing may be on either side of it by rounding
    near = np.flatnonzero((right > left) & (left < len(x)))
    doubtful = rows[near] * len(x) + left[near]
    return rows, np.minimum(columns, len(x)), doubtful


def _find_flat(start: Any, end: Any, x: Any, y: Any) -> Any:
    """Points that lie on an edge along a row, or at the end of an edge, up to rounding."""
    low, high = np.minimum(start[:, 1], end[:, 1]), np.maximum(start[:, 1], end[:, 1])
    found = []
    for level in (low, high):
        row = np.clip(np.searchsorted(y, level - _NEAR), 0, len(y) - 1)
        for edge in np.flatnonzero(np.abs(y[row] - level) <= _NEAR):
            flat = high[edge] - low[edge] <= 2 * _NEAR
            ends = (start[edge, 0], end[edge, 0])
            spans = [(min(ends), max(ends))] if flat else [(value, value) for value in ends]
            for left, right in spans:
                columns = np.arange(
                    np.searchsorted(x, left - _NEAR), np.searchsorted(x, right + _NEAR, "right")
                )
                found.append(row[edge] * len(x) + columns)
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _check_size(resolution: float, x_limits: tuple[float, float], y_limits: tuple[float, float]) -> None:
    if resolution <= 0.0:
        raise UsageError(f"the resolution of a grid has to be positive, not {resolution}")
    cells = ((x_limits[1] - x_limits[0]) / resolution + 2) * ((y_limits[1] - y_limits[0]) / resolution + 2)
    if cells > MAX_CELLS:
        raise UsageError(
            f"a grid of {cells:.3g} cells is larger than {MAX_CELLS:.0e}", hint="take a coarser resolution"
        )


OCCUPIED, FREE = 0, 254
UNKNOWN = 128
"""Between the thresholds of any map server: 205, which others write, is free where free_thresh is above 0.196."""
OCCUPIED_THRESHOLD, FREE_THRESHOLD = 0.65, 0.25
FRAME = "map"


def find_outside(world: World, grid: Grid) -> npt.NDArray[np.bool_]:
    """The cells outside of the building, of which a map knows nothing."""
    width, height = grid.shape
    x, y = (
        np.asarray(start + (np.arange(count) + grid.sample) * grid.resolution, dtype=np.float64)
        for start, count in zip(grid.origin, (width, height), strict=True)
    )
    return ~rasterize(compute_building(world), x, y)


def encode_pgm(grid: Grid, outside: npt.NDArray[np.bool_] | None = None) -> bytes:
    """The image of a grid: the first row is the one with the largest y; cells ``outside`` are unknown."""
    width, height = grid.shape
    pixels = np.where(grid.occupied, np.uint8(OCCUPIED), np.uint8(FREE))
    if outside is not None:
        pixels[outside] = UNKNOWN
    # images begin at the top, maps at the bottom
    pixels = np.ascontiguousarray(pixels.T[::-1])
    return f"P5\n{width} {height}\n255\n".encode() + pixels.tobytes()


def encode_map(grid: Grid, image: str) -> str:
    """The YAML beside the image."""
    return (
        f"image: {json.dumps(image)}\n"
        # 254 and 0 with these thresholds are free and occupied in Nav2, whatever its defaults are
        "mode: trinary\n"
        f"resolution: {grid.resolution!r}\n"
        f"origin: [{float(grid.origin[0])!r}, {float(grid.origin[1])!r}, 0.0]\n"
        "negate: 0\n"
        f"occupied_thresh: {OCCUPIED_THRESHOLD}\n"
        f"free_thresh: {FREE_THRESHOLD}\n"
    )


def list_waypoints(world: World, floor: WorldFloor = GROUND) -> list[dict[str, Any]]:
    """Every navigation pose of a floor with the place it belongs to; several of one place are numbered."""
    rows: list[dict[str, Any]] = []
    places: list[tuple[str, Room | Hallway | Spawn]] = [("room", room) for room in world.rooms]
    places += [("hallway", hallway) for hallway in world.hallways]
    places += [("surface", spawn) for spawn in world.spawns]
    for kind, entity in places:
        if not _is_on(world, floor, entity):
            continue
        for number, pose in enumerate(entity.nav_poses):
            row: dict[str, Any] = {
                "name": f"{entity.name}_{number}",
                "place": entity.name,
                "kind": kind,
                "frame_id": FRAME,
            }
            if isinstance(entity, Spawn):
                row["is_charger"] = entity.location.is_charger
            rows.append({**row, **_describe_pose(_move_pose(pose, floor))})
    return rows


def encode_waypoints(world: World, floor: WorldFloor = GROUND) -> str:
    """The way points as YAML."""
    import yaml

    # the one in C is ten times as fast, and not in every build
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    rows = list_waypoints(world, floor)

    def spell(value: Any) -> str:
        return str(yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True))

    # plain rows, which are most of them, as text at once: in a large world the dumper takes seconds
    text = "".join(_spell_waypoint(row) or spell([row]) for row in rows)
    return f"# Navigation poses of {world.name}\n" + (
        f"waypoints:\n{text}" if rows else spell({"waypoints": []})
    )


_PLAIN_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,60}")
# what YAML takes for a truth value or for nothing
_YAML_WORDS = {"yes", "true", "off", "null", "false"}


def _spell_waypoint(row: dict[str, Any]) -> str:
    """A way point as the YAML dumper writes it; empty where it takes the dumper to write it."""
    lines = []
    for key, value in row.items():
        if isinstance(value, dict):
            numbers = [repr(number) for number in value.values() if type(number) is float]
            # exponents, infinity and what is no float are written in another way
            if len(numbers) < len(value) or not all(set(text) <= _DIGITS for text in numbers):
                return ""
            lines += [f"{key}:", *(f"  {name}: {text}" for name, text in zip(value, numbers, strict=True))]
        elif isinstance(value, bool):
            lines.append(f"{key}: {'true' if value else 'false'}")
        elif _PLAIN_WORD.fullmatch(value) and value.lower() not in _YAML_WORDS:
            lines.append(f"{key}: {value}")
        else:
            return ""
    return "- " + "\n  ".join(lines) + "\n"


def _is_on(world: World, floor: WorldFloor, entity: Room | Hallway | Spawn) -> bool:
    return (
        floor is GROUND
        or world.floor_table.find(entity.room if isinstance(entity, Spawn) else entity) is floor
    )


def _move_pose(pose: WorldPose, floor: WorldFloor) -> WorldPose:
    """A pose of the plane on the map of its floor."""
    return dataclasses.replace(pose, x=pose.x - floor.offset[0], y=pose.y - floor.offset[1])


def take_floor(world: World, graph: WorldGraph, floor: WorldFloor) -> WorldGraph:
    """The part of a graph that is on a floor."""
    if floor is GROUND:
        return graph
    kept = np.array([_is_on(world, floor, node.entity) for node in graph.nodes], dtype=bool)
    numbers = np.cumsum(kept) - 1
    inside = kept[graph.edges].all(axis=1) if len(graph.edges) else np.zeros(0, dtype=bool)
    nodes = [node for node, keep in zip(graph.nodes, kept, strict=True) if keep]
    return WorldGraph(nodes, numbers[graph.edges[inside]], graph.lengths[inside])


def encode_route_graph(
    graph: WorldGraph, name: str, hallways: Sequence[Hallway] = (), floor: WorldFloor = GROUND
) -> str:
    """The world graph as Nav2's route server reads it: points, and a line for every way and direction.

    Ways through the door of one of ``hallways`` have its name and state in their metadata.
    """
    # as text at once: in a large world there are a hundred times as many ways as rooms
    points = [json.dumps(_move_pose(node.pose, floor).xy) for node in graph.nodes]
    rows = []
    for number, (node, point) in enumerate(zip(graph.nodes, points, strict=True)):
        facts = {"id": number, "frame": FRAME, "metadata": {"place": node.entity.name, "yaw": node.pose.yaw}}
        rows.append(_spell_feature(json.dumps(facts), "Point", point))
    doors = {edge: f', "metadata": {json.dumps(door)}' for edge, door in find_doors(graph, hallways).items()}
    for edge, (start, end) in enumerate(graph.edges.tolist()):
        # edges of a route graph are one-way
        for a, b in ((start, end), (end, start)):
            about = f'{{"id": {len(rows)}, "startid": {a}, "endid": {b}{doors.get(edge, "")}}}'
            # a MultiLineString, not a LineString: that is what the route server reads
            rows.append(_spell_feature(about, "MultiLineString", f"[[{points[a]}, {points[b]}]]"))
    # a line for each feature: to be read by people, and fast to write
    text = ",\n".join(rows)
    return f'{{"type": "FeatureCollection", "name": {json.dumps(name)}, "features": [\n{text}\n]}}\n'


def find_doors(graph: WorldGraph, hallways: Sequence[Hallway]) -> dict[int, dict[str, Any]]:
    """For every way through a door, the door."""
    if not len(graph.edges) or not hallways:
        return {}
    points = np.array([node.pose.xy for node in graph.nodes])
    lines = shapely.linestrings(points[graph.edges])
    tree = shapely.STRtree([hallway.slab for hallway in hallways])
    ways, found = tree.query(lines, predicate="intersects")
    return {
        int(way): {
            "door": hallways[door].name,
            "is_open": hallways[door].is_open,
            "is_locked": hallways[door].is_locked,
        }
        for way, door in zip(ways.tolist(), found.tolist(), strict=True)
    }


def _spell_feature(facts: str, kind: str, coordinates: str) -> str:
    geometry = f'{{"type": "{kind}", "coordinates": {coordinates}}}'
    return f'{{"type": "Feature", "properties": {facts}, "geometry": {geometry}}}'


def _describe_pose(pose: WorldPose) -> dict[str, Any]:
    w, x, y, z = pose.quaternion
    return {
        "position": {"x": pose.x, "y": pose.y, "z": pose.z},
        "orientation": {"x": x, "y": y, "z": z, "w": w},
    }
