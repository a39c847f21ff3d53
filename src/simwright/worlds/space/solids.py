# SPDX-License-Identifier: Apache-2.0
"""Solids of a world: outlines raised to solids; floors, walls with openings, doors and furniture made of them.

A solid stands between two heights on a convex outline: a box, a cylinder or an upright prism of triangles, with one
look and one contact material.  The origin of an asset is at the bottom centre, so that what stands on the ground does
so wherever it is put; ``shift`` tells how far the origin went from where the outlines had it.

Every point of the plane belongs to one thing: floors first, then walls, the higher ones before the lower, so that no
two solids fill the same space.  Walls therefore stand exactly where the plane has them: around the floors and never on
one.  Where a corridor is lower than the wall it goes through, the wall goes on above it.

Furniture is filled from the floor up to its lowest surface, with boards for every surface above: in the plane a
location blocks its whole footprint, so in space it does from the floor on.  A surface that is lower than the furniture
and takes (nearly) all of it makes a cabinet: open at the sides, with a top over it where things fit in.  Any other low
surface is open to the top, so that things on it can be seen and reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import shapely

from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.core.names import NameScope
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Approximation, Box, Cylinder, Mesh, MeshData, Sphere, box_bounds
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD
from simwright.model.mass import shape_inertial
from simwright.model.material import PhysicsMaterial, RenderMaterial, Rgb
from simwright.worlds.entities import Hallway, Room
from simwright.worlds.floors import GROUND, WorldFloor
from simwright.worlds.polygons import (
    GRID,
    Geometry,
    Points,
    cut_convex,
    cut_polygons,
    grow,
    list_polygons,
)
from simwright.worlds.world import World

Solid: TypeAlias = tuple[Box | Cylinder | Mesh, Pose]
"""A geometry and where it is."""
_SQUARE = 1e-7
_ROUND = 1e-9
_FOLLOWING = np.array((1, 2, 3, 0))
# corners of prisms that are meant to be equal are equal [decimals of a metre]
_DIGITS = 6
MANY_CORNERS = 32
"""A regular outline of so many corners was meant to be a circle."""
ROUND_ERROR = 5e-4
"""How far the circle may stand out of its polygon [m]; larger ones stay prisms, so that plane and space agree."""


def raise_prism(outline: Geometry, bottom: float, top: float, *, is_round: bool = True) -> Solid:
    """The solid on a convex polygon between two heights [m]."""
    points = shapely.get_coordinates(shapely.orient_polygons(outline))[:-1]
    middle, height = (bottom + top) / 2.0, top - bottom
    box = _find_box(points)
    if box is not None:
        (x, y), (length, width), yaw = box
        return Box.of(length, width, height), Pose.of((x, y, middle), quat_from_axis_angle((0, 0, 1), yaw))
    circle = _find_circle(points) if is_round else None
    if circle is not None:
        (x, y), radius = circle
        return Cylinder(radius, height), Pose.of((x, y, middle))
    low, high = points.min(axis=0), points.max(axis=0)
    x, y = (low + high) / 2.0
    # + 0.0 turns -0.0 into 0.0: equal prisms are found by their bytes
    corners = np.round(points - (x, y), _DIGITS) + 0.0
    return make_prism(corners, -height / 2.0, height / 2.0), Pose.of((x, y, middle))


def make_prism(points: Points, bottom: float, top: float) -> Mesh:
    """A closed mesh of triangles on a convex ring of corners, which runs to the left."""
    count = len(points)
    ring = np.arange(count, dtype=np.int32)
    following = np.roll(ring, -1)
    fan = np.column_stack((np.zeros(count - 2, dtype=np.int32), ring[1:-1], ring[2:]))
    sides = np.concatenate(
        (
            np.column_stack((ring, following, following + count)),
            np.column_stack((ring, following + count, ring + count)),
        )
    )
    triangles = np.concatenate((fan[:, ::-1], fan + count, sides)).astype(np.int32)
    vertices = np.concatenate(
        (np.column_stack((points, np.full(count, bottom))), np.column_stack((points, np.full(count, top))))
    )
    return Mesh(MeshData(vertices, triangles.reshape(-1), smooth=False), source="prism")


def _find_box(points: Points) -> tuple[Points, tuple[float, float], float] | None:
    """Centre, edge lengths [m] and heading [rad] of a rectangle; along the axes where it can be."""
    if len(points) != 4:
        return None
    edges = points[_FOLLOWING] - points
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    if np.abs(edges[0] + edges[2]).max() > _SQUARE or abs(edges[0] @ edges[1]) > _SQUARE * lengths.max():
        return None
    ways = edges.tolist()
    first = min(range(4), key=lambda number: _turn(ways[number]))
    yaw = math.atan2(ways[first][1], ways[first][0])
    yaw = 0.0 if abs(yaw) < _ROUND else yaw
    return points.mean(axis=0), (float(lengths[first]), float(lengths[(first + 1) % 4])), yaw


def _turn(edge: Sequence[float]) -> float:
    """How far an edge is from +x, edges that are equally far in a fixed order."""
    angle = math.atan2(edge[1], edge[0])
    return round(abs(angle), 9) + (1e-10 if angle < 0.0 else 0.0)


def _find_circle(points: Points) -> tuple[Points, float] | None:
    """Centre and radius [m] of a regular polygon of many corners."""
    if len(points) < MANY_CORNERS:
        return None
    center = points.mean(axis=0)
    radii = np.hypot(*(points - center).T)
    edges = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    radius = float(radii.mean())
    if np.ptp(radii) > 1e-6 * radius + _SQUARE * 4 or np.ptp(edges) > 1e-5 * radius + _SQUARE * 4:
        return None
    # how far the circle stands out of the middle of an edge
    error = radius * (1.0 - math.cos(math.pi / len(points)))
    return (center, round(radius, 6)) if error <= ROUND_ERROR else None


DENSITY = 300.0
"""Of what says no mass [kg/m^3]: between a filled carton and a mug."""
FRICTION = 0.8
ROUGH = 0.8
MIN_HEIGHT = 1e-4
_HULL = Approximation("convexHull")


@dataclass(slots=True)
class SolidPart:
    """Solids with names and colours, on one body or (``body`` empty) as part of the ground."""

    name: str
    body: str = WORLD
    friction: float = FRICTION
    round_shapes: bool = True
    kinematic: bool = False
    shapes: list[Shape] = field(default_factory=list)
    looks: dict[tuple[float, ...], RenderMaterial] = field(default_factory=dict)
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    _meshes: dict[bytes, Mesh] = field(default_factory=dict)

    def raise_outline(self, name: str, outline: Geometry, bottom: float, top: float, color: Rgb) -> None:
        """Solids on an outline of any shape between two heights [m]."""
        if top - bottom < MIN_HEIGHT:
            return
        pieces = cut_convex(outline)
        for number, piece in enumerate(pieces):
            geometry, pose = raise_prism(piece, bottom, top, is_round=self.round_shapes)
            if isinstance(geometry, Mesh):  # equal ones are kept once
                geometry = self._meshes.setdefault(geometry.data.vertices.tobytes(), geometry)
            label = name if len(pieces) == 1 else f"{name}_{number}"
            look = self._find_look(color)
            self.shapes.append(
                Shape(
                    label,
                    geometry,
                    self.body,
                    pose,
                    collision=True,
                    material=look.name,
                    physics_material="contact",
                    approximation=_HULL if isinstance(geometry, Mesh) else None,
                )
            )

    def add_look(
        self, name: str, geometry: Box | Sphere, pose: Pose, color: Rgb, *, roughness: float = ROUGH
    ) -> None:
        """What is seen and cannot be touched."""
        look = self._find_look(color, roughness)
        self.shapes.append(Shape(name, geometry, self.body, pose, material=look.name))

    def settle(self) -> None:
        """Move the origin to the bottom centre."""
        low, high = find_bounds(self.shapes)
        x, y = (low[:2] + high[:2]) / 2.0
        self.shift = (float(x), float(y), float(low[2]))
        away = Pose.of((-x, -y, -low[2]))
        for shape in self.shapes:
            shape.pose = away @ shape.pose

    def spell(self) -> tuple[object, ...]:
        """The same for parts that are alike."""
        rows: list[object] = list(self.looks)
        for shape in self.shapes:
            geometry = shape.geometry
            if isinstance(geometry, Mesh):
                size = geometry.data.vertices.tobytes()
            else:
                bounds = box_bounds(geometry)
                assert bounds is not None
                size = np.round(bounds[1], _DIGITS).tobytes()
            # + 0.0 turns -0.0 into 0.0, which has other bytes
            place = np.round((*shape.pose.p, *shape.pose.q), _DIGITS) + 0.0
            rows += [shape.name, geometry.kind, size, place.tobytes()]
        return tuple(rows)

    def weigh(self, mass: float | None, known: Inertial | None = None) -> Inertial:
        """Mass properties: those known where the outlines were, or of all solids; for a mass [kg] that is said."""
        if known is None:
            whole = combine([shape_inertial(shape, DENSITY) for shape in self.shapes])
        else:
            whole = known.moved(~Pose.of(self.shift))
        return whole if mass is None else whole.scaled_to(mass)

    def finish(self, inertial: Inertial | None = None) -> Asset:
        """The asset; with ``inertial`` a single free body."""
        asset = Asset(self.name, shapes=_number(self.shapes), materials=list(self.looks.values()))
        asset.physics_materials = [PhysicsMaterial("contact", self.friction, self.friction, restitution=0.0)]
        if self.body:
            asset.bodies = [Body(self.body, inertial=inertial, kinematic=self.kinematic)]
        return asset

    def _find_look(self, color: Rgb, roughness: float = ROUGH) -> RenderMaterial:
        key = (*color, roughness)
        look = self.looks.get(key)
        if look is None:
            name = "paint" if not self.looks else f"paint_{len(self.looks) + 1}"
            look = self.looks[key] = RenderMaterial(name, diffuse=color, roughness=roughness)
        return look


def mix(color: Rgb, other: Rgb, share: float) -> Rgb:
    """A colour between two."""
    red, green, blue = (round(a + (b - a) * share, 4) for a, b in zip(color, other, strict=True))
    return red, green, blue


def find_bounds(shapes: Iterable[Shape]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of boxes, upright cylinders and prisms [m]."""
    lows, highs = [], []
    for shape in shapes:
        if isinstance(shape.geometry, Mesh):
            corners = shape.pose.apply(shape.geometry.data.vertices)
        else:
            bounds = box_bounds(shape.geometry)
            assert bounds is not None
            reach = np.maximum(np.abs(bounds[0]), np.abs(bounds[1]))
            if isinstance(shape.geometry, Box):
                reach = np.abs(shape.pose.rotation) @ reach
            corners = np.stack((shape.pose.p - reach, shape.pose.p + reach))
        lows.append(corners.min(axis=0))
        highs.append(corners.max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _number(shapes: list[Shape]) -> list[Shape]:
    """Names that are there several times get numbers."""
    scope = NameScope()
    for shape in shapes:
        shape.name = scope.claim(shape.name)
    return shapes


FLOOR_THICKNESS = 0.1
WHITE = (1.0, 1.0, 1.0)
FLOOR_TINT, WALL_TINT = 0.3, 0.72
DOOR: Rgb = (0.5, 0.34, 0.22)
LOCKED_DOOR: Rgb = (0.42, 0.16, 0.14)


@dataclass(frozen=True, slots=True)
class Wall:
    """Walls of a room or hallway as an outline, and the heights between which they stand [m]."""

    owner: Room | Hallway
    outline: Geometry
    bottom: float
    top: float


def list_floors(world: World) -> list[tuple[Room | Hallway, Geometry]]:
    """What each room and hallway has of the floor; what two of them share is the first one's."""
    outlines = [part.polygon for part in world.floors]
    return list(zip(world.floors, _share_out(outlines, range(len(outlines))), strict=True))


def list_walls(world: World) -> list[Wall]:
    """Walls that do not overlap each other or any floor, and what is above openings."""
    parts = world.floors
    floors = [part.polygon for part in parts]
    outers = [part.outer if isinstance(part, Room) else grow(part.polygon, part.wall_width) for part in parts]
    outlines = [
        _subtract(outer, floors, near) for outer, near in zip(outers, _pair(outers, floors), strict=True)
    ]
    # higher walls keep their corners, lower ones end at them; rooms before hallways of the same height
    order = sorted(
        range(len(parts)), key=lambda i: (-world.wall_height(parts[i]), isinstance(parts[i], Hallway))
    )
    found: list[Wall] = []
    for part, outline in zip(parts, _share_out(outlines, order), strict=True):
        found.append(Wall(part, outline, 0.0, world.wall_height(part)))
        if isinstance(part, Room):
            found += _list_lintels(world, part)
    return found


def _share_out(outlines: list[Geometry], order: Sequence[int]) -> list[Geometry]:
    """Every outline without those that come before it in an order."""
    rank = {number: place for place, number in enumerate(order)}
    return [
        _subtract(outline, outlines, [other for other in near if rank[other] < rank[number]])
        for number, (outline, near) in enumerate(zip(outlines, _pair(outlines, outlines), strict=True))
    ]


def _pair(outlines: list[Geometry], others: list[Geometry]) -> list[list[int]]:
    """The numbers of the others that meet each outline."""
    found: list[list[int]] = [[] for _ in outlines]
    if outlines:
        first, second = shapely.STRtree(others).query(outlines, predicate="intersects")
        for number, other in zip(first.tolist(), second.tolist(), strict=True):
            found[number].append(other)
    return found


def _subtract(outline: Geometry, others: list[Geometry], numbers: list[int]) -> Geometry:
    if not numbers:
        return outline
    # sorted, so that the union has the same corners whatever the tree answers first
    return cut_polygons(outline, [others[number] for number in sorted(numbers)])


def _list_lintels(world: World, room: Room) -> list[Wall]:
    """The wall above corridors that are lower than the room."""
    top = world.wall_height(room)
    lintels = []
    for hallway in room.hallways:
        bottom = world.wall_height(hallway)
        if bottom < top:
            # room.walls has the opening cut out; here it is the opening that is wanted
            ring = room.outer.difference(room.polygon)
            lintels.append(Wall(room, ring.intersection(hallway.polygon), bottom, top))
    return lintels


def make_building(world: World, floor: WorldFloor = GROUND) -> SolidPart:
    """All floors and walls of one floor, which stand still."""
    part = SolidPart("building", round_shapes=False)
    table = world.floor_table
    for owner, outline in list_floors(world):
        if table.find(owner) is not floor:
            continue
        color = mix(owner.color, WHITE, FLOOR_TINT)
        part.raise_outline(f"{owner.name}_floor", outline, -FLOOR_THICKNESS, 0.0, color)
    for wall in list_walls(world):
        if table.find(wall.owner) is not floor:
            continue
        word = "wall" if wall.bottom == 0.0 else "lintel"
        color = mix(wall.owner.color, WHITE, WALL_TINT)
        part.raise_outline(f"{wall.owner.name}_{word}", wall.outline, wall.bottom, wall.top, color)
    return part


def make_door(world: World, hallway: Hallway) -> SolidPart:
    """What a closed door fills: from the floor to the top of the corridor."""
    part = SolidPart("door", round_shapes=False)
    color = LOCKED_DOOR if hallway.is_locked else DOOR
    part.raise_outline("panel", hallway.slab, 0.0, world.wall_height(hallway), color)
    return part


BOARD = 0.03
"""Thickness of a board [m]."""
CLEARANCE = 0.3
"""The least height of a compartment [m]."""
COVER = 0.8
"""How much of the footprint the surface of a cabinet takes."""
_BLACK = (0.0, 0.0, 0.0)
_SAME = 1e-6


@dataclass(frozen=True, slots=True)
class SurfaceOutline:
    """Where things stand: an outline and its height above the floor [m]."""

    outline: Geometry
    height: float


@dataclass(frozen=True, slots=True)
class _Column:
    """A part of the plane and the heights of the surfaces over it; ``filled`` where the footprint is."""

    outline: Geometry
    levels: tuple[float, ...]
    filled: bool


def raise_furniture(
    part: SolidPart,
    outline: Geometry,
    top: float,
    surfaces: Sequence[SurfaceOutline],
    *,
    clearance: float,
    color: Rgb,
) -> None:
    """Add the solids of one piece of furniture; ``clearance`` is what the highest thing needs [m]."""
    needed = max(CLEARANCE, clearance)
    spread = [_spread(surface, outline, top - BOARD - needed) for surface in surfaces]
    is_cabinet = any(new is not old for new, old in zip(spread, surfaces, strict=True))
    # a top that would leave no room for things is left out
    lid = top if is_cabinet and top - BOARD - needed >= max(surface.height for surface in surfaces) else None
    for column in _list_columns(outline, top, spread, lid):
        below = 0.0
        for number, level in enumerate(column.levels):
            solid = number == 0 and column.filled
            # boards are thinner where two surfaces are nearer than a board
            bottom = 0.0 if solid else max(level - BOARD, (level + below) / 2.0)
            name = "body" if solid else "board"
            part.raise_outline(
                name, column.outline, bottom, level, color if solid else mix(color, _BLACK, 0.12)
            )
            below = level


def _spread(surface: SurfaceOutline, outline: Geometry, highest: float) -> SurfaceOutline:
    """The surface of a cabinet goes on to its edges."""
    if surface.height > highest or surface.outline.intersection(outline).area < COVER * outline.area:
        return surface
    return SurfaceOutline(surface.outline.union(outline), surface.height)


def _list_columns(
    outline: Geometry, top: float, surfaces: Sequence[SurfaceOutline], lid: float | None
) -> list[_Column]:
    columns = [_Column(outline, (), True)]
    for surface in surfaces:
        known = shapely.union_all([column.outline for column in columns])
        level = surface.height
        columns = [
            part
            for column in columns
            for part in (
                _Column(column.outline.intersection(surface.outline), (*column.levels, level), column.filled),
                _Column(column.outline.difference(surface.outline), column.levels, column.filled),
            )
        ]
        columns.append(_Column(surface.outline.difference(known), (level,), False))
    merged: dict[tuple[tuple[float, ...], bool], list[Geometry]] = {}
    for column in columns:
        levels = _settle_levels(column, top, lid)
        if not column.outline.is_empty and levels:
            merged.setdefault((levels, column.filled), []).append(column.outline)
    return [
        _Column(shapely.union_all(parts, grid_size=GRID), levels, filled)
        for (levels, filled), parts in merged.items()
        if list_polygons(shapely.union_all(parts, grid_size=GRID))
    ]


def _settle_levels(column: _Column, top: float, lid: float | None) -> tuple[float, ...]:
    """Heights that are apart, from below; the top of the furniture where nothing else is."""
    levels: list[float] = []
    for level in sorted(column.levels):
        if level > _SAME and (not levels or level - levels[-1] > _SAME):
            levels.append(level)
    if column.filled and top > _SAME and not levels:
        return (top,)
    if column.filled and lid is not None:
        levels.append(lid)
    return tuple(levels)
