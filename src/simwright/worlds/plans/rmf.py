# SPDX-License-Identifier: Apache-2.0
"""Open-RMF's ``building.yaml`` (traffic editor): levels with floors, walls, doors, lanes and named points; lifts.

Points of ``reference_image`` are pixels with y downwards; measured edges of the reference level give metres per pixel,
fiducials of the same name bring other levels to it.  Measures that the file does not have are those of the building map
tools, which make Gazebo worlds of it: walls are 0.1 m thick and 2.5 m high, and go on by half their thickness at both
ends; lift cabins have walls of 0.05 m and a gap of 0.05 m to the shaft.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter, Where
from simwright.core.documents.read import read_document
from simwright.core.documents.tree import Document, Step
from simwright.core.errors import ParseError, UnknownNameError
from simwright.worlds import messages
from simwright.worlds.plans.storey import Building, PlanDoor, PlanLift, PlanSpot, Storey
from simwright.worlds.polygons import Geometry, cut_polygons, join_polygons

WALL_THICKNESS, WALL_HEIGHT = 0.1, 2.5
CABIN_WALL, SHAFT_GAP = 0.05, 0.05
LIFT_SPEED = 2.0
_SYSTEMS = ("reference_image", "cartesian_meters")
# a plan with more points than this is no building that anybody drew
_MAX_POINTS = 200_000


def read_building(path: Path, options: dict[str, Any], reporter: Reporter) -> Building:
    """Read a building; ``level`` of the options names the only level that is wanted."""
    document = read_document(path)
    if (
        not isinstance(document.data, dict)
        or not isinstance(document.data.get("levels"), dict)
        or not document.data["levels"]
    ):
        raise ParseError(
            "a building of Open-RMF has 'levels'", where=document.find_where(),
            hint="name the .building.yaml of the traffic editor",
        )  # fmt: skip
    return _RmfReader(document, reporter).read(options.get("level") or "")


class _RmfReader:
    def __init__(self, document: Document, reporter: Reporter) -> None:
        self._document, self._reporter, self._data = document, reporter, document.data
        system = self._data.get("coordinate_system", "reference_image")
        if system not in _SYSTEMS:
            raise ParseError(
                f"the coordinate system {system!r} cannot be read, only {' and '.join(_SYSTEMS)}",
                where=document.find_where("coordinate_system"),
                hint="bring the map to metres in the traffic editor first",
            )
        # pixels count downwards
        self._flip = -1.0 if system == "reference_image" else 1.0
        self._is_image = system == "reference_image"

    def read(self, wanted: str) -> Building:
        levels = self._check_levels(wanted)
        reference = self._data.get("reference_level_name") or next(iter(levels))
        if reference not in levels:
            raise UnknownNameError("level", str(reference), levels, where=self._where("reference_level_name"))
        # only the reference level is measured; fiducials bring the others to it
        scale = self._measure(reference)
        moves = {name: self._find_move(name, reference, scale) for name in levels}
        names = self._list_mapping(self._data.get("lifts"), "lifts")
        lifts = [lift for name in names if (lift := self._read_lift(name, moves, reference)) is not None]
        storeys = [
            self._read_level(name, moves[name], [lift for lift in lifts if name in lift[0].stops])
            for name in ([wanted] if wanted else levels)
        ]
        title = self._data.get("name") or self._data.get("building_name") or "building"
        return Building(str(title), storeys, [lift for lift, _ in lifts], WALL_HEIGHT)

    def _check_levels(self, wanted: str) -> dict[str, Any]:
        levels: dict[str, Any] = self._data["levels"]
        for name, level in levels.items():
            if not isinstance(level, dict):
                raise ParseError("a level is a mapping", where=self._where("levels", name))
        if wanted and wanted not in levels:
            raise UnknownNameError("level", wanted, levels, where=self._where("levels"))
        return levels

    # -- values ----------------------------------------------------------------------------------------------------

    def _where(self, *steps: Step) -> Where:
        return self._document.find_where(*steps)

    def _number(self, value: Any, *steps: Step) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
            or abs(value) > 1e9
        ):
            raise ParseError(f"a number is needed, not {value!r}"[:120], where=self._where(*steps))
        return float(value)

    def _list_mapping(self, value: Any, *steps: Step) -> list[str]:
        if value is None:
            return []
        if not isinstance(value, dict):
            raise ParseError("a mapping of names is needed", where=self._where(*steps))
        return [str(key) for key in value]

    def _rows(self, level: str, key: str) -> Iterator[tuple[int, Any]]:
        rows = self._data["levels"][level].get(key) or []
        if not isinstance(rows, list):
            raise ParseError(f"{key!r} is a list", where=self._where("levels", level, key))
        yield from enumerate(rows)

    def _edges(self, level: str, key: str, count: int) -> Iterator[tuple[int, int, dict[str, Any], Where]]:
        """Pairs of point numbers with their parameters, each parameter without its type."""
        for number, row in self._rows(level, key):
            where = self._where("levels", level, key, number)
            good = isinstance(row, list) and len(row) >= 2 and all(
                isinstance(v, int) and not isinstance(v, bool) and 0 <= v < count for v in row[:2]
            )  # fmt: skip
            if not good:
                raise ParseError(
                    f"a row of {key!r} names two of the {count} vertices of the level, not {row!r}"[:160],
                    where=where,
                )
            yield row[0], row[1], _read_parameters(row[2] if len(row) > 2 else {}), where

    def _points(self, level: str) -> Any:
        rows = []
        for number, row in self._rows(level, "vertices"):
            if not isinstance(row, list) or len(row) < 2:
                raise ParseError(
                    "a vertex is a list [x, y, z, name, {...}]",
                    where=self._where("levels", level, "vertices", number),
                )
            place = ("levels", level, "vertices", number)
            rows.append((self._number(row[0], *place, 0), self._flip * self._number(row[1], *place, 1)))
        if len(rows) > _MAX_POINTS:
            raise ParseError(
                f"a level of {len(rows)} vertices is too large", where=self._where("levels", level)
            )
        return np.array(rows, dtype=float).reshape(-1, 2)

    # -- scale and place of levels -----------------------------------------------------------------------------------

    def _measure(self, level: str) -> float:
        """Metres per pixel of the reference level: the mean of all measurements."""
        if not self._is_image:
            return 1.0
        points = self._points(level)
        found: list[float] = []
        for a, b, values, where in self._edges(level, "measurements", len(points)):
            pixels = float(np.hypot(*(points[a] - points[b])))
            meters = self._number(values.get("distance"), "levels", level, "measurements", len(found))
            if pixels <= 0.0 or meters <= 0.0:
                raise ParseError("a measurement has to be longer than nothing", where=where)
            found.append(meters / pixels)
        if not found:
            raise ParseError(
                f"the level {level!r} has no measurement, so the size of a pixel is unknown",
                where=self._where("levels", level), hint="add a measured edge in the traffic editor",
            )  # fmt: skip
        return float(np.mean(found))

    def _find_move(self, level: str, reference: str, scale: float) -> Any:
        """From pixels of a level to metres: turn and scale as a matrix, and a shift."""
        if not self._is_image:
            parameters = _read_parameters(self._data.get("parameters") or {})
            away = [self._number(parameters.get(f"offset_{axis}", 0.0), "parameters") for axis in "xy"]
            return np.eye(2), -np.array(away)
        if level == reference:
            return np.eye(2) * scale, np.zeros(2)
        here, there = self._read_fiducials(level), self._read_fiducials(reference)
        names = [name for name in there if name in here]
        if len(names) < 2:
            self._reporter.report(
                messages.PLAN_ASSUMED, self._where("levels", level), what=f"where the level {level!r} is (it shares "
                f"{len(names)} fiducials with {reference!r}, two are needed)",
                value=f"the place of {reference!r}", option="add fiducials",
            )  # fmt: skip
            return np.eye(2) * scale, np.zeros(2)
        ours = np.array([here[name] for name in names])
        theirs = np.array([there[name] for name in names])
        pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
        mine = np.array([ours[b] - ours[a] for a, b in pairs])
        other = np.array([theirs[b] - theirs[a] for a, b in pairs])
        if min(np.hypot(*mine.T).min(), np.hypot(*other.T).min()) <= 0.0:
            raise ParseError(
                "two fiducials are in one place", where=self._where("levels", level, "fiducials")
            )
        # circular mean of the turns, plain mean of the ratios: as the building map tools do
        turns = np.arctan2(other[:, 1], other[:, 0]) - np.arctan2(mine[:, 1], mine[:, 0])
        turn = math.atan2(float(np.sin(turns).sum()), float(np.cos(turns).sum()))
        ratio = float(np.mean(np.hypot(*mine.T) / np.hypot(*other.T)))
        cosine, sine = math.cos(turn), math.sin(turn)
        matrix = np.array(((cosine, -sine), (sine, cosine))) / ratio
        shift = (theirs - ours @ matrix.T).mean(axis=0)
        return matrix * scale, shift * scale

    def _read_fiducials(self, level: str) -> dict[str, tuple[float, float]]:
        found = {}
        for number, row in self._rows(level, "fiducials"):
            place = ("levels", level, "fiducials", number)
            if not isinstance(row, list) or len(row) < 3:
                raise ParseError("a fiducial is a list [x, y, name]", where=self._where(*place))
            found[str(row[2])] = (
                self._number(row[0], *place, 0),
                self._flip * self._number(row[1], *place, 1),
            )
        return found

    # -- one level ---------------------------------------------------------------------------------------------------

    def _read_level(self, name: str, move: Any, lifts: list[tuple[PlanLift, list[PlanDoor]]]) -> Storey:
        matrix, shift = move
        raw = self._points(name)
        points = raw @ matrix.T + shift
        walls = [
            _raise_wall(points[a], points[b])
            for a, b, _, _ in self._edges(name, "walls", len(points))
            if np.any(points[a] != points[b])
        ]
        floor = self._read_areas(name, "floors", points)
        if floor.is_empty:
            # a map without a floor: what the walls enclose
            floor = shapely.union_all(
                [shapely.Polygon(part.exterior) for part in shapely.get_parts(join_polygons(walls))]
            )
            self._reporter.report(
                messages.PLAN_ASSUMED, self._where("levels", name), what=f"the floor of {name!r}",
                value="what walls enclose", option="draw floors in the traffic editor",
            )  # fmt: skip
        free = cut_polygons(floor, [*walls, self._read_areas(name, "holes", points)])
        doors = [
            PlanDoor(
                tuple(points[a]),
                tuple(points[b]),
                str(values.get("name") or f"{name}_door{number}"),
                where=where,
            )
            for number, (a, b, values, where) in enumerate(self._edges(name, "doors", len(points)))
        ]
        for lift, gates in lifts:
            free = _open_shaft(free, lift, gates)
            doors += gates
        elevation = self._data["levels"][name].get("elevation") or 0.0
        self._report_lost(name)
        self._report_models(name)
        self._report_edges(name, free, walls)
        return Storey(
            name, free, doors, self._read_spots(name, points), self._number(elevation, "levels", name, "elevation"),
            WALL_THICKNESS, where=self._where("levels", name),
        )  # fmt: skip

    def _read_areas(self, level: str, key: str, points: Any) -> Geometry:
        areas = []
        for number, row in self._rows(level, key):
            where = self._where("levels", level, key, number)
            numbers = row.get("vertices") if isinstance(row, dict) else None
            if not isinstance(numbers, list) or any(
                isinstance(v, bool) or not isinstance(v, int) or not 0 <= v < len(points) for v in numbers
            ):
                raise ParseError(f"a row of {key!r} lists vertices of the level", where=where)
            if len(numbers) > 2:
                # outlines that cross themselves are drawn now and then: their even-odd area counts
                areas.append(shapely.make_valid(shapely.Polygon(points[numbers])))
            else:
                self._reporter.report(
                    messages.PLAN_LEFT,
                    where,
                    what=f"one of the {key}",
                    reason="it has fewer than three corners",
                )
        return join_polygons(areas) if areas else shapely.Polygon()

    def _read_spots(self, level: str, points: Any) -> list[PlanSpot]:
        spots = []
        for number, row in self._rows(level, "vertices"):
            name = str(row[3]) if len(row) > 3 and row[3] is not None else ""
            values = _read_parameters(row[4] if len(row) > 4 else {})
            robot = str(values.get("spawn_robot_name") or "")
            if name or robot:
                at = (float(points[number][0]), float(points[number][1]))
                spots.append(PlanSpot(name, at, bool(values.get("is_charger")), robot))
        if any(spot.robot for spot in spots):
            self._reporter.report(
                messages.PLAN_ASSUMED, self._where("levels", level), what="how large its robots are",
                value="a radius of 0.2 m", option="correct 'radius' in the world file",
            )  # fmt: skip
        return spots

    def _report_lost(self, level: str) -> None:
        rows = self._data["levels"][level]
        for key, why in (
            ("lanes", "robots of a world plan their own ways (world build --format rmf writes lanes)"),
            ("human_lanes", "worlds have no people"),
        ):
            if rows.get(key):
                what = f"{len(rows[key])} {key.replace('_', ' ')} of {level!r}"
                self._reporter.report(
                    messages.PLAN_LEFT, self._where("levels", level, key), what=what, reason=why
                )

    def _report_models(self, level: str) -> None:
        rows = self._data["levels"][level].get("models") or []
        if not isinstance(rows, list) or not rows:
            return
        kinds = sorted({str(row.get("model_name")) for row in rows if isinstance(row, dict)})
        shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
        self._reporter.report(
            messages.PLAN_LEFT, self._where("levels", level, "models"),
            what=f"{len(rows)} models of {level!r} ({shown})", reason="the map names them without their shape",
        )  # fmt: skip

    def _report_edges(self, level: str, free: Geometry, walls: list[Geometry]) -> None:
        """How much of the floor ends without a wall."""
        solid = join_polygons(walls).buffer(0.01) if walls else shapely.Polygon()
        bare = sum(
            float(shapely.LineString(part.exterior.coords).difference(solid).length)
            for part in shapely.get_parts(free)
            if part.geom_type == "Polygon"
        )
        if bare > 0.5:
            self._reporter.report(messages.PLAN_EDGE, self._where("levels", level), length=bare, name=level)

    # -- lifts -------------------------------------------------------------------------------------------------------

    def _read_lift(
        self, name: str, moves: dict[str, Any], reference: str
    ) -> tuple[PlanLift, list[PlanDoor]] | None:
        data, place = self._data["lifts"][name], ("lifts", name)
        if not isinstance(data, dict):
            raise ParseError("a lift is a mapping", where=self._where(*place))
        x, y, yaw, width, depth = (
            self._number(data.get(key), *place) for key in ("x", "y", "yaw", "width", "depth")
        )
        if min(width, depth) <= 2.5 * CABIN_WALL:
            raise ParseError("a lift needs a positive width and depth", where=self._where(*place))
        level = data.get("reference_floor_name") or reference
        if level not in moves:
            raise UnknownNameError("level", str(level), moves, where=self._where(*place))
        matrix, shift = moves[level]
        center = np.array((x, self._flip * y)) @ matrix.T + shift
        turn = np.array(((math.cos(yaw), -math.sin(yaw)), (math.sin(yaw), math.cos(yaw))))
        inner = np.array((width / 2 - CABIN_WALL, depth / 2 - CABIN_WALL))
        corners = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1))) * inner
        cabin = shapely.Polygon(corners @ turn.T + center)
        stops = tuple(
            str(key)
            for key in self._list_mapping(data.get("level_doors"), *place, "level_doors")
            if key in moves
        )
        gates = [
            self._read_gate(name, word, (width, depth), turn, center)
            for word in self._list_mapping(data.get("doors"), *place, "doors")
        ]
        if len(stops) < 2 or not gates:
            self._reporter.report(
                messages.PLAN_LEFT, self._where(*place), what=f"the lift {name!r}",
                reason="it connects no two levels by a door",
            )  # fmt: skip
            return None
        return PlanLift(name, stops, cabin, speed=LIFT_SPEED), gates

    def _read_gate(self, lift: str, name: str, size: tuple[float, float], turn: Any, center: Any) -> PlanDoor:
        data, place = self._data["lifts"][lift]["doors"][name], ("lifts", lift, "doors", name)
        if not isinstance(data, dict):
            raise ParseError("a door of a lift is a mapping", where=self._where(*place))
        x, y, width = (self._number(data.get(key), *place) for key in ("x", "y", "width"))
        # at the side of the cabin that it is nearest to
        beside = abs(abs(x) - size[0] / 2) <= abs(abs(y) - size[1] / 2)
        middle = np.array(
            (math.copysign(size[0] / 2, x), y) if beside else (x, math.copysign(size[1] / 2, y))
        )
        along = np.array((0.0, width / 2) if beside else (width / 2, 0.0))
        start, end = (middle - along) @ turn.T + center, (middle + along) @ turn.T + center
        return PlanDoor(tuple(start), tuple(end), "", where=self._where(*place))


def _read_parameters(value: Any) -> dict[str, Any]:
    """Parameters are pairs of a type and a value; the type is not needed."""
    if not isinstance(value, dict):
        return {}
    return {str(key): row[1] for key, row in value.items() if isinstance(row, list) and len(row) == 2}


def _raise_wall(start: Any, end: Any) -> Geometry:
    along = (end - start) / np.hypot(*(end - start)) * WALL_THICKNESS / 2
    return shapely.LineString([start - along, end + along]).buffer(WALL_THICKNESS / 2, cap_style="flat")


def _open_shaft(free: Geometry, lift: PlanLift, gates: list[PlanDoor]) -> Geometry:
    """The floor of a level with the cabin at it: the shaft is no floor, the cabin is, and doors lead into it."""
    shaft = lift.cabin.buffer(CABIN_WALL + SHAFT_GAP, cap_style="flat", join_style="mitre")
    doorways = [
        shapely.LineString([gate.start, gate.end]).buffer(CABIN_WALL + SHAFT_GAP + 0.02, cap_style="flat")
        for gate in gates
    ]
    return join_polygons([cut_polygons(free, [shaft]), lift.cabin, *doorways])
