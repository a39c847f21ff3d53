# SPDX-License-Identifier: Apache-2.0
"""How a world looks: furniture of boards, legs and fronts, windows, the ground, and the light of MuJoCo.

Nothing here can be touched.  Furniture keeps the solid that it is in the plane as its collider, from the floor up; what
is seen stays inside of it, for beams of lidars meet what is seen too.  Which parts it has follows from words in the
name of its category, else from its size; its front is the side that robots reach it from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import shapely

from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.asset import Asset, Light
from simwright.model.geometry import Box, Sphere
from simwright.model.material import Rgb
from simwright.worlds.entities import Location, Room
from simwright.worlds.floors import WorldFloor
from simwright.worlds.poses import WorldPose
from simwright.worlds.space.solids import SolidPart, find_bounds, mix
from simwright.worlds.world import World

BLACK: Rgb = (0.0, 0.0, 0.0)
WHITE: Rgb = (1.0, 1.0, 1.0)
STEEL: Rgb = (0.34, 0.36, 0.39)
GLASS: Rgb = (0.62, 0.78, 0.88)
FRAME: Rgb = (0.93, 0.93, 0.91)
GROUND_COLOR: Rgb = (0.71, 0.74, 0.68)
_TOP = 0.035
_LEG = 0.05
_FRONT = 0.018
# smaller pieces are left as they are [m]
_SMALLEST = 0.18


class _FurniturePart(NamedTuple):
    """A board: middle and size [m] in the frame of the piece, x to the right of who stands before it, y to the back."""

    name: str
    middle: tuple[float, float, float]
    size: tuple[float, float, float]
    color: Rgb
    round: bool = False
    """A ball as large as fits instead."""

    @property
    def form(self) -> Box | Sphere:
        """Its shape."""
        return Sphere(min(self.size) / 2.0) if self.round else Box.of(*self.size)


@dataclass(frozen=True, slots=True)
class _FurniturePiece:
    """Width, depth and height of a piece [m], and its colour; z counts from the floor."""

    width: float
    depth: float
    height: float
    color: Rgb

    def add(  # noqa: PLR0917 - a row of a table: name, place, heights, size, colour
        self, name: str, x: float, y: float, z: tuple[float, float], size: tuple[float, float], color: Rgb
    ) -> _FurniturePart:
        """A board between two heights."""
        return _FurniturePart(name, (x, y, (z[0] + z[1]) / 2.0), (size[0], size[1], z[1] - z[0]), color)

    def list_legs(self, top: float, color: Rgb) -> Iterator[_FurniturePart]:
        """Four legs up to a height."""
        leg = min(_LEG, self.width / 5.0, self.depth / 5.0)
        for x in (-1.0, 1.0):
            for y in (-1.0, 1.0):
                at = (x * (self.width / 2 - leg * 0.9), y * (self.depth / 2 - leg * 0.9))
                yield self.add("leg", *at, (0.0, top), (leg, leg), color)


def _make_table(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    top = min(_TOP, piece.height / 4.0)
    yield piece.add(
        "top", 0.0, 0.0, (piece.height - top, piece.height), (piece.width, piece.depth), piece.color
    )
    yield from piece.list_legs(piece.height - top, mix(piece.color, BLACK, 0.35))
    rail = mix(piece.color, BLACK, 0.22)
    low = piece.height - top - min(0.08, piece.height / 6.0)
    for y in (-1.0, 1.0):
        at = y * (piece.depth / 2 - _LEG * 0.9)
        yield piece.add("rail", 0.0, at, (low, piece.height - top), (piece.width - 2.4 * _LEG, 0.02), rail)


def _make_desk(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    yield from _make_table(piece)
    if piece.width < 0.9 or piece.height < 0.5:
        return
    # a block of drawers under the right end, and a panel before the knees
    block = _FurniturePiece(
        min(0.42, piece.width / 3.0), piece.depth * 0.86, piece.height - 0.16, mix(piece.color, WHITE, 0.12)
    )
    x = piece.width / 2 - block.width / 2 - _LEG * 1.6
    for part in _make_drawers(block, columns=1, rows=3):
        yield part._replace(middle=(part.middle[0] + x, part.middle[1], part.middle[2] + 0.09))
    back = piece.depth / 2 - 0.04
    size = (piece.width - 2.6 * _LEG, 0.015)
    yield piece.add(
        "panel", 0.0, back, (piece.height * 0.45, piece.height - _TOP), size, mix(piece.color, BLACK, 0.15)
    )


def _make_shelf(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    board = 0.028
    side = mix(piece.color, BLACK, 0.18)
    for x in (-1.0, 1.0):
        at = x * (piece.width - board) / 2
        yield piece.add("side", at, 0.0, (0.0, piece.height), (board, piece.depth), side)
    back = piece.depth / 2 - 0.006
    yield piece.add(
        "back", 0.0, back, (0.04, piece.height), (piece.width - 2 * board, 0.012), mix(side, BLACK, 0.25)
    )
    count = max(2, round(piece.height / 0.36))
    for number in range(count + 1):
        top = board + (piece.height - board) * number / count
        size = (piece.width - 2 * board, piece.depth - 0.02)
        yield piece.add("shelf", 0.0, -0.008, (top - board, top), size, piece.color)
        if number < count and piece.depth > 0.2:
            yield from _list_books(piece, top, (piece.height - board) / count - board, number)


_BOOKS: tuple[Rgb, ...] = (
    (0.62, 0.22, 0.2), (0.2, 0.34, 0.5), (0.84, 0.76, 0.55), (0.27, 0.43, 0.33), (0.82, 0.52, 0.24), (0.4, 0.38, 0.44),
)  # fmt: skip


def _list_books(piece: _FurniturePiece, low: float, room: float, row: int) -> Iterator[_FurniturePart]:
    """A row of folders and books on a board, which leaves some of it free."""
    left, end = -piece.width / 2 + 0.05, piece.width / 2 - 0.05
    number = 0
    while True:
        width = 0.05 + 0.035 * ((7 * row + 3 * number) % 4)
        if left + width > end:
            return
        if (5 * row + number) % 6 != 4:
            tall = room * (0.6 + 0.08 * ((3 * row + 2 * number) % 5))
            color = _BOOKS[(2 * row + number) % len(_BOOKS)]
            deep = piece.depth * 0.62
            yield piece.add(
                "book", left + width / 2, 0.04 * piece.depth, (low, low + tall), (width - 0.006, deep), color
            )
        left += width
        number += 1


def _make_rack(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    yield from piece.list_legs(piece.height, (0.16, 0.28, 0.5))
    count = max(1, round(piece.height / 0.7))
    for number in range(1, count + 1):
        top = piece.height * number / count
        yield piece.add(
            "deck", 0.0, 0.0, (top - 0.03, top), (piece.width - 0.02, piece.depth - 0.02), (0.72, 0.6, 0.44)
        )
        for y in (-1.0, 1.0):
            at = y * (piece.depth / 2 - 0.025)
            yield piece.add(
                "beam", 0.0, at, (top - 0.11, top - 0.03), (piece.width - 0.02, 0.04), piece.color
            )
    # cartons on all decks but the top one, which things of the world stand on, and on the floor
    for number in range(count):
        low = piece.height * number / count
        yield from _list_cartons(piece, low, piece.height / count - 0.12, number)


_CARTON: Rgb = (0.74, 0.58, 0.4)


def _list_cartons(piece: _FurniturePiece, low: float, room: float, row: int) -> Iterator[_FurniturePart]:
    count = max(1, int(piece.width / 0.46))
    width = (piece.width - 0.14) / count
    for number in range(count):
        kind = (3 * row + 2 * number) % 5
        if kind == 4 or room < 0.15:
            continue
        tall, deep = room * (0.55 + 0.1 * kind), piece.depth * (0.7 + 0.05 * kind)
        x = (number + 0.5) * width - (piece.width - 0.14) / 2
        color = mix(_CARTON, BLACK if kind % 2 else WHITE, 0.06 * kind)
        yield piece.add(
            "carton", x, 0.0, (low, low + tall), (width * 0.86, min(deep, piece.depth - 0.1)), color
        )
        yield piece.add(
            "tape",
            x,
            0.0,
            (low + tall, low + tall + 0.002),
            (0.05, min(deep, piece.depth - 0.1)),
            (0.85, 0.79, 0.66),
        )


def _make_drawers(piece: _FurniturePiece, columns: int = 0, rows: int = 0) -> Iterator[_FurniturePart]:
    """A body with a plinth, and fronts with handles at the side that robots come to."""
    plinth = min(0.07, piece.height / 6.0)
    inner = mix(piece.color, BLACK, 0.30)
    deep = piece.depth - _FRONT - 0.014
    yield piece.add(
        "plinth", 0.0, 0.01, (0.0, plinth), (piece.width - 0.06, deep - 0.04), mix(piece.color, BLACK, 0.6)
    )
    body = (piece.width, deep)
    yield piece.add("carcass", 0.0, (piece.depth - deep) / 2, (plinth, piece.height - 0.025), body, inner)
    yield piece.add(
        "top", 0.0, 0.0, (piece.height - 0.025, piece.height), (piece.width, piece.depth), piece.color
    )
    columns = columns or max(1, round(piece.width / 0.55))
    rows = rows or (3 if piece.height < 1.1 else 1)
    width, height = piece.width / columns, (piece.height - 0.025 - plinth) / rows
    front = -piece.depth / 2 + 0.012 + _FRONT / 2
    face = mix(piece.color, WHITE, 0.22)
    for column in range(columns):
        x = (column + 0.5) * width - piece.width / 2
        for row in range(rows):
            low = plinth + row * height
            yield piece.add(
                "front", x, front, (low + 0.006, low + height - 0.006), (width - 0.012, _FRONT), face
            )
            # drawers have a bar at the top, doors one beside their edge
            bar = (min(0.16, width / 2.5), 0.012)
            at = low + height - min(0.05, height / 4.0)
            if rows == 1:
                side = 0.5 if column % 2 == 0 else -0.5
                yield piece.add(
                    "handle",
                    x + side * (width - 0.1),
                    front - 0.014,
                    (at * 0.62, at * 0.74),
                    (0.014, 0.012),
                    STEEL,
                )
            else:
                yield piece.add("handle", x, front - 0.014, (at - 0.012, at), bar, STEEL)


def _make_bed(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    frame = mix((0.52, 0.38, 0.26), piece.color, 0.15)
    yield from piece.list_legs(piece.height * 0.4, mix(frame, BLACK, 0.3))
    low, middle = piece.height * 0.3, piece.height * 0.55
    yield piece.add("frame", 0.0, 0.0, (low, middle), (piece.width, piece.depth), frame)
    soft = (piece.width - 0.03, piece.depth - 0.03)
    yield piece.add("mattress", 0.0, 0.0, (middle, piece.height - 0.03), soft, mix(piece.color, WHITE, 0.75))
    cover = (piece.width - 0.02, piece.depth * 0.66)
    yield piece.add("cover", 0.0, -piece.depth * 0.16, (middle + 0.02, piece.height), cover, piece.color)
    pillow = (piece.width * 0.6, piece.depth * 0.2)
    yield piece.add(
        "pillow", 0.0, piece.depth * 0.34, (piece.height - 0.06, piece.height), pillow, (0.96, 0.96, 0.94)
    )


def _make_sofa(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    """Cushions on a base; higher ones have a back and arms as well."""
    yield from piece.list_legs(piece.height * 0.12, (0.2, 0.15, 0.12))
    dark, light = mix(piece.color, BLACK, 0.2), mix(piece.color, WHITE, 0.15)
    tall = piece.height > 0.6
    seat, arm, back = (piece.height * 0.55, 0.16, 0.2) if tall else (piece.height, 0.0, 0.0)
    base = (piece.height * 0.12, seat - 0.12)
    yield piece.add("base", 0.0, 0.0, base, (piece.width, piece.depth), dark)
    if tall:
        at = (piece.depth - back) / 2
        yield piece.add("back", 0.0, at, (base[1], piece.height), (piece.width, back), dark)
        for side in (-1.0, 1.0):
            x = side * (piece.width - arm) / 2
            yield piece.add(
                "arm", x, -back / 2, (base[1], piece.height * 0.75), (arm, piece.depth - back), dark
            )
    inner = piece.width - 2 * arm - 0.02
    count = max(1, round(inner / 0.7))
    for number in range(count):
        x = (number + 0.5) * inner / count - inner / 2
        size = (inner / count - 0.02, piece.depth - back - 0.03)
        yield piece.add("cushion", x, -back / 2, (base[1], seat), size, light)
        if tall:
            rest = (inner / count - 0.04, 0.1)
            yield piece.add(
                "cushion", x, piece.depth / 2 - back - 0.05, (seat, piece.height * 0.94), rest, light
            )


def _make_set(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    """A table with chairs pushed under it at both sides; robots come to its ends."""
    # made with the chairs at front and back, then turned by a quarter
    turned = _FurniturePiece(piece.depth, piece.width, piece.height, piece.color)
    parts = list(
        _make_table(_FurniturePiece(turned.width, turned.depth - 1.6 * _CHAIR, turned.height, turned.color))
    )
    count = max(1, int(turned.width / 0.68))
    for side in (-1.0, 1.0):
        for number in range(count):
            parts += _make_chair(turned, (number + 0.5) * turned.width / count - turned.width / 2, side)
    for part in parts:
        (x, y, z), (wide, deep, tall) = part.middle, part.size
        yield part._replace(middle=(y, x, z), size=(deep, wide, tall))


_CHAIR = 0.42
_FABRIC: Rgb = (0.27, 0.33, 0.4)


def _make_chair(piece: _FurniturePiece, x: float, side: float) -> Iterator[_FurniturePart]:
    """A chair at the front (-1) or the back (1) of a piece; its rest is outside."""
    seat = min(0.45, piece.height * 0.62)
    y = side * (piece.depth - _CHAIR) / 2
    yield piece.add("seat", x, y, (seat - 0.05, seat), (_CHAIR, _CHAIR), _FABRIC)
    rest = side * (piece.depth - 0.04) / 2
    yield piece.add("rest", x, rest, (seat + 0.08, piece.height), (_CHAIR, 0.04), mix(_FABRIC, WHITE, 0.12))
    for leg_x in (-1.0, 1.0):
        for leg_y in (-1.0, 1.0):
            at = (x + leg_x * (_CHAIR / 2 - 0.02), y + leg_y * (_CHAIR / 2 - 0.02))
            top = seat + 0.08 if leg_y == side else seat - 0.05
            yield piece.add("leg", *at, (0.0, top), (0.03, 0.03), STEEL)


_LEAVES = (
    (0.0, 0.0, 0.86, 0.30), (0.19, 0.08, 0.68, 0.24), (-0.18, 0.12, 0.62, 0.24), (0.05, -0.20, 0.66, 0.24),
    (-0.14, -0.15, 0.80, 0.22), (0.12, 0.17, 0.84, 0.22), (0.0, 0.02, 0.6, 0.3),
)  # fmt: skip
"""Middles of bunches as shares of width, depth and height, and how large they are at most as a share of the height."""


def _make_plant(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    pot = min(0.34 * piece.height, piece.width * 0.9)
    size = (piece.width * 0.62, piece.depth * 0.62)
    yield piece.add("pot", 0.0, 0.0, (0.0, pot), size, (0.87, 0.85, 0.8))
    yield piece.add("soil", 0.0, 0.0, (pot, pot + 0.01), (size[0] * 0.9, size[1] * 0.9), (0.24, 0.17, 0.12))
    trunk = (pot, piece.height * 0.7)
    yield piece.add("trunk", 0.0, 0.0, trunk, (0.03, 0.03), (0.4, 0.29, 0.19))
    for number, (x, y, z, share) in enumerate(_LEAVES):
        # none reaches the sides, the first one the top
        wide = min((1.0 - 2.0 * max(abs(x), abs(y))) * min(piece.width, piece.depth), share * piece.height)
        middle = piece.height - wide / 2 if number == 0 else min(piece.height * z, piece.height - wide / 2)
        part = piece.add(
            "leaves", x * piece.width, y * piece.depth, (middle - wide / 2, middle + wide / 2), (wide, wide),
            mix(piece.color, BLACK, 0.1 * (number % 3)),
        )  # fmt: skip
        yield part._replace(round=True)


def _make_tub(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    rim, water = 0.07, piece.height - 0.12
    for x in (-1.0, 1.0):
        at = x * (piece.width - rim) / 2
        yield piece.add("wall", at, 0.0, (0.0, piece.height), (rim, piece.depth), piece.color)
    for y in (-1.0, 1.0):
        at = y * (piece.depth - rim) / 2
        yield piece.add("wall", 0.0, at, (0.0, piece.height), (piece.width - 2 * rim, rim), piece.color)
    inner = (piece.width - 2 * rim, piece.depth - 2 * rim)
    yield piece.add("water", 0.0, 0.0, (0.0, water), inner, (0.6, 0.78, 0.84))


def _make_pallet(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    dark = mix(piece.color, BLACK, 0.25)
    for x in (-1.0, 0.0, 1.0):
        at = x * (piece.width / 2 - 0.05)
        yield piece.add("stringer", at, 0.0, (0.0, piece.height - 0.025), (0.08, piece.depth), dark)
    count = max(3, round(piece.depth / 0.15))
    for number in range(count):
        y = (number + 0.5) * piece.depth / count - piece.depth / 2
        size = (piece.width, piece.depth / count * 0.75)
        yield piece.add("slat", 0.0, y, (piece.height - 0.025, piece.height), size, piece.color)


def _make_charger(piece: _FurniturePiece) -> Iterator[_FurniturePart]:
    yield piece.add(
        "base", 0.0, 0.0, (0.0, piece.height * 0.25), (piece.width, piece.depth), (0.2, 0.21, 0.23)
    )
    deep = piece.depth * 0.55
    at = (piece.depth - deep) / 2
    yield piece.add(
        "tower", 0.0, at, (piece.height * 0.25, piece.height), (piece.width * 0.9, deep), (0.88, 0.89, 0.9)
    )
    sign = at - deep / 2 - 0.004
    yield piece.add(
        "sign", 0.0, sign, (piece.height * 0.7, piece.height * 0.8), (piece.width * 0.6, 0.012), piece.color
    )


_MAKERS: tuple[tuple[tuple[str, ...], Callable[[_FurniturePiece], Iterator[_FurniturePart]]], ...] = (
    (("_set",), _make_set),
    (("plant",), _make_plant),
    (("tub",), _make_tub),
    (("desk",), _make_desk),
    (("table", "bench"), _make_table),
    (("rack",), _make_rack),
    (("shelf", "shelv", "bookcase"), _make_shelf),
    (
        ("cabinet", "counter", "dresser", "drawer", "cupboard", "fridge", "wardrobe", "sideboard", "pantry"),
        _make_drawers,
    ),
    (("bed",), _make_bed),
    (("sofa", "couch"), _make_sofa),
    (("pallet",), _make_pallet),
    (("charger", "dock"), _make_charger),
)
"""Words in the name of a category, and what is made of it."""


def _choose_maker(
    category: str, piece: _FurniturePiece
) -> Callable[[_FurniturePiece], Iterator[_FurniturePart]] | None:
    word = category.lower()
    for words, make in _MAKERS:
        if any(known in word for known in words):
            return make
    # of other names the size decides: what a person would sit at, or put things into
    if min(piece.width, piece.depth) >= 0.4 and 0.35 <= piece.height <= 1.3:
        return _make_table if piece.height < 0.8 else _make_drawers
    return None


def find_front(location: Location, pose: WorldPose) -> int:
    """Where robots reach a location from, in quarter turns from -y to the left, in its own frame."""
    if not location.nav_candidates:
        return 0
    near = location.nav_candidates[0]
    angle = math.atan2(near.y - pose.y, near.x - pose.x) - pose.yaw + math.pi / 2
    return round(angle / (math.pi / 2)) % 4


def dress_furniture(part: SolidPart, category: str, front: int) -> None:
    """Let a piece be seen as boards, legs and fronts; solids that are no boxes stay as they are."""
    solids = [
        shape for shape in part.shapes if shape.name.startswith("body") and isinstance(shape.geometry, Box)
    ]
    # a piece of several solids has a shape of its own
    if len(solids) != 1:
        return
    solid = solids[0]
    assert isinstance(solid.geometry, Box)
    x, y, height = (float(value) for value in solid.geometry.size)
    # the frame of the box may be turned against that of the piece
    yaw = 2.0 * math.atan2(float(solid.pose.q[3]), float(solid.pose.q[0]))
    turn = (front - round(yaw / (math.pi / 2))) % 4
    width, depth = (x, y) if turn % 2 == 0 else (y, x)
    color = next((look.diffuse for look in part.looks.values() if look.name == solid.material), WHITE)
    piece = _FurniturePiece(width, depth, height, color)
    make = _choose_maker(category, piece)
    if make is None or min(width, depth) < _SMALLEST or height < 0.08:
        return
    frame = solid.pose @ Pose.of(
        (0.0, 0.0, -height / 2.0), quat_from_axis_angle((0, 0, 1), turn * math.pi / 2)
    )
    solid.visual, solid.material = False, ""
    for row in make(piece):
        if min(row.size) > 1e-4:
            part.add_look(row.name, row.form, frame @ Pose.of(row.middle), row.color)


# -- windows and ground ----------------------------------------------------------------------------------------

_SILL, _LINTEL = 0.9, 2.0
_WINDOW = 1.3
# walls of at least this length have a window in every piece of this length [m]
_BAY = 2.6


def add_windows(world: World, part: SolidPart, floor: WorldFloor) -> None:
    """Panes with frames in walls that have nothing behind them."""
    table = world.floor_table
    rooms = [room for room in world.rooms if table.find(room) is floor]
    if not rooms:
        return
    outers = [room.outer for room in rooms] + [
        hall.polygon for hall in world.hallways if table.find(hall) is floor
    ]
    tree = shapely.STRtree(outers)
    # walls that are too low or too thin for a window, then bays with something behind them, have none
    for number, room in enumerate(rooms):
        top = min(_LINTEL, world.wall_height(room) - 0.25)
        if top - _SILL < 0.5 or room.wall_width <= 0.01:
            continue
        for middle, along, out in _list_bays(room):
            behind = shapely.LineString([middle + out * (room.wall_width + 0.02), middle + out * 3.0])
            if all(int(n) == number for n in tree.query(behind, predicate="intersects")):
                _add_window(part, middle + out * room.wall_width / 2, along, room.wall_width, top)


def _list_bays(room: Room) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Middles of pieces of walls, with the way along them and the way out."""
    ring = shapely.get_coordinates(shapely.orient_polygons(room.polygon).exterior)
    for start, end in itertools.pairwise(ring):
        length = float(np.hypot(*(end - start)))
        if length < _WINDOW + 0.8:
            continue
        along = (end - start) / length
        count = max(1, int(length // _BAY))
        for number in range(count):
            yield start + along * length * (number + 0.5) / count, along, np.array((along[1], -along[0]))


def _add_window(part: SolidPart, middle: np.ndarray, along: np.ndarray, wall: float, top: float) -> None:
    turn = quat_from_axis_angle((0, 0, 1), math.atan2(along[1], along[0]))
    height, bar = top - _SILL, 0.06
    frame = Pose.of((float(middle[0]), float(middle[1]), (_SILL + top) / 2), turn)
    part.add_look("pane", Box.of(_WINDOW, wall + 0.012, height), frame, GLASS, roughness=0.05)
    for x, z, size in (
        (0.0, height / 2, (_WINDOW + bar, bar)), (0.0, -height / 2, (_WINDOW + bar, bar)),
        (-_WINDOW / 2, 0.0, (bar, height)), (_WINDOW / 2, 0.0, (bar, height)), (0.0, 0.0, (bar * 0.7, height)),
    ):  # fmt: skip
        part.add_look("window", Box.of(size[0], wall + 0.04, size[1]), frame @ Pose.of((x, 0.0, z)), FRAME)


def add_ground(part: SolidPart) -> None:
    """A plate below the building, a little wider than it is, as models of architects stand on."""
    low, high = find_bounds(part.shapes)
    size, middle = high[:2] - low[:2] + _AROUND, (low[:2] + high[:2]) / 2.0
    # a little below: two faces in one plane flicker
    pose = Pose.of((float(middle[0]), float(middle[1]), float(low[2]) - 0.01 - _PLATE / 2))
    part.add_look("ground", Box.of(float(size[0]), float(size[1]), _PLATE), pose, GROUND_COLOR)


_AROUND, _PLATE = 1.2, 0.2
"""How much wider than the building the plate is, and how thick [m]."""


# -- light ---------------------------------------------------------------------------------------------------------

_SUN, _FILL = 0.36, 0.10
_AMBIENT, _HEADLIGHT = 0.48, 0.05


def light_mujoco(asset: Asset) -> None:
    """Light and sky for MuJoCo, whose lights add up per channel and are cut off at white.

    A floor that faces up gets 0.48 from everywhere, 0.36 times 0.83 from the sun, 0.10 times 0.71 from the other side
    and 0.05 times 0.88 from the camera: 0.89 of its colour, and 0.6 of it in the shadow of a wall.
    """
    for light in asset.lights:
        share = _SUN if light.name == "sun" else _FILL
        _dim(asset, light, share)
    for key, value in (
        ("headlight.ambient", _AMBIENT), ("headlight.diffuse", _HEADLIGHT), ("headlight.specular", 0.0),
    ):  # fmt: skip
        asset.extras.keep("mjc", "visual", key, [value] * 3)
    asset.extras.keep("mjc", "visual", "quality.shadowsize", 8192)
    # beams of lidars are drawn over everything else; faint ones show where they are without hiding the room
    asset.extras.keep("mjc", "visual", "rgba.rangefinder", [1.0, 0.85, 0.1, 0.08])
    for key, size in (("global.offwidth", 1920), ("global.offheight", 1200)):
        asset.extras.keep("mjc", "visual", key, size)
    sky = {"type": "skybox", "builtin": "gradient", "rgb1": [0.46, 0.63, 0.84], "rgb2": [0.86, 0.91, 0.95],
           "width": 512, "height": 3072}  # fmt: skip
    for name, word in sky.items():
        asset.extras.keep("mjc", "texture/sky", name, word)


def _dim(asset: Asset, light: Light, share: float) -> None:
    red, green, blue = (round(share * value, 4) for value in light.color)
    light.color, light.intensity = (red, green, blue), 1.0
    asset.extras.keep("mjc", f"light/{light.name}", "specular", [0.1, 0.1, 0.1])
    asset.extras.keep("mjc", f"light/{light.name}", "ambient", [0.0, 0.0, 0.0])
