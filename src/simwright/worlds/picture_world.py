# SPDX-License-Identifier: Apache-2.0
"""The top view of a world: floors and walls, doors, furniture, objects, robots, navigation poses, paths and names.

Names do not cover each other: each tries its place, then those around it; the less important ones give way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import shapely

from simwright.core.errors import UsageError
from simwright.worlds.entities import Hallway, Location, Room
from simwright.worlds.picture import Area, Disc, Drawing, Ink, Line, Point, Words, measure_words, mix
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

_HALO: Ink = (252, 251, 249)


class PictureLabels:
    """The names in a picture and the boxes they take."""

    def __init__(self, picture: Drawing) -> None:
        self._picture = picture
        self._boxes: list[tuple[float, float, float, float]] = []

    def block(self, x: float, y: float, radius: float) -> None:
        """Keep names away from a disc."""
        self._boxes.append((x - radius, y - radius, x + radius, y + radius))

    def put(
        self,
        text: str,
        center: Point,
        size: float,
        color: Ink,
        *,
        apart: float,
        outside: bool = False,
        bold: bool = False,
        force: bool = False,
    ) -> None:
        """Write a name at ``center`` (not if ``outside``) or ``apart`` [px] from it; with ``force`` in any case."""
        width, height = measure_words(text, size)
        x, y = center
        beside = width / 2 + apart
        spots = [(x, y - apart), (x, y + apart), (x + beside, y), (x - beside, y)]
        spots += [(x, y - 2 * apart), (x, y + 2 * apart)]
        if not outside:
            spots.insert(0, center)
        for spot in spots:
            box = (spot[0] - width / 2, spot[1] - height / 2, spot[0] + width / 2, spot[1] + height / 2)
            if self._is_free(box):
                break
        else:
            if not force:
                return
            spot, box = center, (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        self._boxes.append(box)
        self._picture.add(Words(spot, text, size, color, _HALO, bold))

    def _is_free(self, box: tuple[float, float, float, float]) -> bool:
        left, top, right, bottom = box
        if left < 2 or top < 2 or right > self._picture.width - 2 or bottom > self._picture.height - 40:
            return False
        return all(
            right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]
            for other in self._boxes
        )


PAPER: Ink = (248, 247, 244)
_WHITE: Ink = (255, 255, 255)
_WALL: Ink = (58, 66, 82)
_INK: Ink = (40, 46, 58)
_MUTED: Ink = (118, 124, 136)
_GRID: Ink = (232, 230, 224)
_HALL: Ink = (236, 234, 228)
_CLOSED: Ink = (196, 78, 62)
_OPEN: Ink = (120, 164, 118)
_NAV: Ink = (58, 118, 196)
_PATHS: tuple[Ink, ...] = ((232, 120, 30), (150, 80, 190), (20, 150, 140), (200, 50, 110))
_MARGIN = 46


class _PixelView:
    """From metres to pixels."""

    def __init__(self, world: World, size: int) -> None:
        low_x, low_y, high_x, high_y = _find_bounds(world)
        self.scale = (size - 2 * _MARGIN) / max(high_x - low_x, high_y - low_y)
        self.low_x, self.high_y = low_x, high_y
        self.span = (high_x - low_x, high_y - low_y)
        self.width = round(self.span[0] * self.scale) + 2 * _MARGIN
        self.height = round(self.span[1] * self.scale) + 2 * _MARGIN + 22
        self.corner = (low_x, low_y, high_x, high_y)

    def point(self, x: float, y: float) -> Point:
        return _MARGIN + (x - self.low_x) * self.scale, _MARGIN + (self.high_y - y) * self.scale

    def ring(self, polygon: Geometry) -> list[Point]:
        return [self.point(x, y) for x, y in shapely.get_coordinates(polygon.exterior)[:-1].tolist()]


def draw_world(
    world: World,
    *,
    size: int = 1600,
    names: bool = True,
    nav_poses: bool = True,
    paths: Mapping[str, Sequence[WorldPose]] | Iterable[Sequence[WorldPose]] = (),
) -> Drawing:
    """A top view, at most ``size`` pixels wide and high; ``paths`` are drawn over the floors."""
    if not 200 <= size <= 8000:
        raise UsageError(f"a picture of {size} pixels cannot be drawn; 200 to 8000 can")
    view = _PixelView(world, size)
    picture = Drawing(view.width, view.height, PAPER)
    labels = PictureLabels(picture)
    _draw_ground(picture, view)
    _draw_floors(picture, view, world)
    for hallway in world.hallways:
        _draw_door(picture, view, hallway)
    for location in world.locations:
        _draw_location(picture, view, location)
    if nav_poses:
        _draw_nav_poses(picture, view, world)
    ways = list(paths.values() if isinstance(paths, Mapping) else paths)
    _draw_paths(picture, view, [part for way in ways for part in _split_floors(world, way)])
    _draw_robots(picture, view, world)
    if names:
        _draw_names(labels, view, world)
    _draw_caption(picture, view, world)
    return picture


def _find_bounds(world: World) -> tuple[float, float, float, float]:
    low_x, low_y, high_x, high_y = world.bounds
    # walls stand outside of the floors, which bounds are made of
    margin = max([0.2, *(part.wall_width for part in world.floors)])
    points = [robot.pose.xy for robot in world.robots]
    low_x, high_x = (
        min([low_x - margin, *(x for x, _ in points)]),
        max([high_x + margin, *(x for x, _ in points)]),
    )
    low_y, high_y = (
        min([low_y - margin, *(y for _, y in points)]),
        max([high_y + margin, *(y for _, y in points)]),
    )
    return low_x, low_y, high_x, high_y


def _draw_ground(picture: Drawing, view: _PixelView) -> None:
    """A line every metre, or every five or more in large worlds."""
    low_x, low_y, high_x, high_y = view.corner
    step = choose_step(60.0 / view.scale)
    for number in range(math.ceil(low_x / step), math.floor(high_x / step) + 1):
        x = number * step
        picture.add(Line([view.point(x, low_y), view.point(x, high_y)], _GRID, 1.0))
    for number in range(math.ceil(low_y / step), math.floor(high_y / step) + 1):
        y = number * step
        picture.add(Line([view.point(low_x, y), view.point(high_x, y)], _GRID, 1.0))


def choose_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * 0.999)


def _draw_floors(picture: Drawing, view: _PixelView, world: World) -> None:
    # walls of all first: the floors are painted over them, so openings need no cutting
    for part in world.floors:
        _fill(picture, view, part.outer, _WALL)
    for hallway in world.hallways:
        _fill(picture, view, hallway.polygon, _HALL)
    for room in world.rooms:
        _fill(picture, view, room.polygon, mix(room.color, _WHITE, 0.86))


def _draw_door(picture: Drawing, view: _PixelView, hallway: Hallway) -> None:
    """The closed door fills its slab, the locked one has a lock; an open one is two leaves along the walls."""
    if not hallway.is_open:
        _fill(picture, view, hallway.slab, _CLOSED)
        if hallway.is_locked and not hallway.slab.is_empty:
            x, y = view.point(*hallway.slab.representative_point().coords[0])
            size = max(5.0, min(11.0, 0.18 * view.scale))
            picture.add(Disc((x, y - 0.35 * size), 0.55 * size, _CLOSED, _WHITE, 0.22 * size))
            box = [(x - 0.8 * size, y - 0.2 * size), (x + 0.8 * size, y - 0.2 * size)]
            picture.add(Area([*box, (x + 0.8 * size, y + size), (x - 0.8 * size, y + size)], _WHITE))
        return
    if len(hallway.nav_poses) < 2:
        return
    for pose in hallway.nav_poses:
        across = pose.yaw + math.pi / 2
        half = hallway.width / 2 * 0.92
        ends = [(pose.x + s * half * math.cos(across), pose.y + s * half * math.sin(across)) for s in (-1, 1)]
        picture.add(Line([view.point(*end) for end in ends], _OPEN, 1.6, 5.0))


def _draw_location(picture: Drawing, view: _PixelView, location: Location) -> None:
    color = location.color
    _fill(picture, view, location.polygon, mix(color, _WHITE, 0.5), (mix(color, _INK, 0.45), 1.6))
    for spawn in location.spawns:
        for part in shapely.get_parts(spawn.polygon):
            ring = view.ring(part)
            picture.add(Line([*ring, ring[0]], mix(color, _INK, 0.3), 0.9, 4.0))
        for item in spawn.objects:
            edge = mix(item.color, _INK, 0.55)
            _fill(picture, view, item.polygon, mix(item.color, _WHITE, 0.1), (edge, 1.1))
    if location.is_charger:
        x, y = view.point(*location.polygon.representative_point().coords[0])
        s = max(5.0, min(12.0, 0.14 * view.scale))
        bolt = [(0.1, -1), (-0.6, 0.2), (-0.05, 0.2), (-0.1, 1), (0.6, -0.2), (0.05, -0.2)]
        picture.add(Area([(x + a * s, y + b * s) for a, b in bolt], (250, 196, 40), _INK, 0.8))


def _draw_nav_poses(picture: Drawing, view: _PixelView, world: World) -> None:
    """Small arrow heads."""
    poses = [pose for room in world.rooms for pose in room.nav_poses]
    poses += [pose for hallway in world.hallways for pose in hallway.nav_poses]
    for location in world.locations:
        # surfaces without poses of their own share the list of their location: drawn once
        groups = {id(spawn.nav_poses): spawn.nav_poses for spawn in location.spawns}
        groups[id(location.nav_poses)] = location.nav_poses
        poses += [pose for group in groups.values() for pose in group]
    size = max(4.0, min(8.0, 0.07 * view.scale))
    for pose in poses:
        _draw_arrow(picture, view, pose, size, (_NAV, _WHITE))


def _draw_arrow(
    picture: Drawing, view: _PixelView, pose: WorldPose, size: float, colors: tuple[Ink, Ink]
) -> None:
    x, y = view.point(*pose.xy)
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
    shape = [(1.1, 0.0), (-0.8, 0.75), (-0.4, 0.0), (-0.8, -0.75)]
    # y of pixels goes down, so the turn is the other way round
    points = [(x + size * (a * cosine - b * sine), y - size * (a * sine + b * cosine)) for a, b in shape]
    picture.add(Area(points, *colors, 1.0))


def _split_floors(world: World, poses: Sequence[WorldPose]) -> list[Sequence[WorldPose]]:
    """A way cut where it goes on on another floor: rides are no lines in the plane."""
    if not world.floor_table.floors:
        return [poses]
    floors = [world.floor_table.locate(world, pose).name for pose in poses]
    ends = [number for number in range(1, len(poses)) if floors[number] != floors[number - 1]]
    return [poses[a:b] for a, b in zip([0, *ends], [*ends, len(poses)], strict=True)]


def _draw_paths(picture: Drawing, view: _PixelView, paths: Sequence[Sequence[WorldPose]]) -> None:
    for number, path in enumerate(paths):
        if len(path) < 2:
            continue
        color = _PATHS[number % len(_PATHS)]
        points = [view.point(*pose.xy) for pose in path]
        # a light edge below, so that paths stand out on any floor
        picture.add(Line(points, _WHITE, 5.5))
        picture.add(Line(points, color, 3.0))
        picture.add(Disc(points[0], 4.5, _WHITE, color, 2.0))
        picture.add(Disc(points[-1], 5.5, color, _WHITE, 1.5))


def _draw_robots(picture: Drawing, view: _PixelView, world: World) -> None:
    for robot in world.robots:
        radius = max(robot.radius * view.scale, 7.0)
        center = view.point(*robot.pose.xy)
        picture.add(Disc(center, radius + 1.5, _WHITE))
        picture.add(Disc(center, radius, mix(robot.color, _WHITE, 0.15), mix(robot.color, _INK, 0.5), 1.6))
        _draw_arrow(picture, view, robot.pose, 0.62 * radius, (_WHITE, mix(robot.color, _INK, 0.5)))


def _draw_names(labels: PictureLabels, view: _PixelView, world: World) -> None:
    """Robots and rooms first, then furniture, objects and hallways where there is room left."""
    small = max(9.0, min(13.0, 0.12 * view.scale))
    for robot in world.robots:
        x, y = view.point(*robot.pose.xy)
        labels.block(x, y, max(robot.radius * view.scale, 7.0))
        labels.put(robot.name, (x, y), small, _INK, apart=max(robot.radius * view.scale, 7.0) + small)
    for room in world.rooms:
        size = max(11.0, min(22.0, 0.22 * view.scale))
        color = mix(room.color, _INK, 0.72)
        labels.put(
            room.name, view.point(*_find_room_spot(room)), size, color, bold=True, force=True, apart=size
        )
    for location in world.locations:
        low_x, low_y, high_x, high_y = location.polygon.bounds
        center = view.point((low_x + high_x) / 2, (low_y + high_y) / 2)
        apart = (high_y - low_y) / 2 * view.scale + small * 0.8
        covered = location.is_charger or any(spawn.objects for spawn in location.spawns)
        labels.put(location.name, center, small, _INK, apart=apart, outside=covered)
    for item in world.objects:
        x, y = view.point(*item.polygon.centroid.coords[0])
        low_x, low_y, high_x, high_y = item.polygon.bounds
        apart = (high_y - low_y) / 2 * view.scale + small * 0.7
        labels.put(item.name, (x, y), small * 0.85, _INK, apart=apart, outside=True)
    for hallway in world.hallways:
        _draw_hallway_name(labels, view, hallway, small)


def _find_room_spot(room: Room) -> tuple[float, float]:
    """Where most of the floor is free of furniture [m]."""
    polygon = room.polygon.difference(shapely.union_all([location.polygon for location in room.locations]))
    if not polygon.area:
        return room.centroid
    spot: tuple[float, float] = shapely.maximum_inscribed_circle(polygon, tolerance=0.05).coords[0]
    return spot


def _draw_hallway_name(labels: PictureLabels, view: _PixelView, hallway: Hallway, size: float) -> None:
    if hallway.is_locked and not hallway.is_open and not hallway.slab.is_empty:
        # the lock that _draw_door paints there
        labels.block(*view.point(*hallway.slab.representative_point().coords[0]), 12.0)
    outer = hallway.outer
    spot = hallway.polygon.centroid if outer.is_empty else outer.representative_point()
    labels.put(hallway.name, view.point(spot.x, spot.y), size * 0.85, _MUTED, apart=size * 1.4)


def _draw_caption(picture: Drawing, view: _PixelView, world: World) -> None:
    """A scale at the lower left, what the picture shows at the lower right."""
    step = choose_step(80.0 / view.scale)
    length, y = step * view.scale, view.height - 24.0
    picture.add(Line([(_MARGIN, y), (_MARGIN + length, y)], _INK, 2.0))
    for x in (_MARGIN, _MARGIN + length):
        picture.add(Line([(x, y - 4), (x, y + 4)], _INK, 2.0))
    picture.add(Words((_MARGIN + length / 2, y - 11), f"{step:g} m", 12.0, _INK))
    counts = (
        (len(world.rooms), "room"), (len(world.hallways), "hallway"), (len(world.locations), "location"),
        (len(world.objects), "object"), (len(world.robots), "robot"),
    )  # fmt: skip
    told = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)
    text = f"{world.name}: {told} (seed {world.seed})"
    width = 0.5 * 12.0 * len(text)
    # in narrow pictures the caption would run into the scale
    if width < view.width - 3 * _MARGIN - length:
        picture.add(Words((view.width - _MARGIN - width / 2, y), text, 12.0, _MUTED))


def _fill(
    picture: Drawing,
    view: _PixelView,
    shape: Geometry,
    fill: Ink,
    edge: tuple[Ink, float] | None = None,
) -> None:
    for part in shapely.get_parts(shape):
        if part.geom_type == "Polygon" and not part.is_empty:
            picture.add(Area(view.ring(part), fill, *(edge or (None, 0.0))))
