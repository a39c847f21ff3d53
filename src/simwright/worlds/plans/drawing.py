# SPDX-License-Identifier: Apache-2.0
"""Floor plans drawn as SVG or DXF: lines by what they mean, and the floor that is between them.

What a line means is told by the name of its layer, group, class or id: ``wall``, ``door``, ``window``, ``furniture``,
``text``.  In a drawing without any such name every line is a wall.  Doors may be drawn across their opening, or with
the swing of their leaf; openings are found where the floor is narrow, and have a door where a door is drawn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter, Where
from simwright.core.errors import LimitError, MissingExtraError, ParseError, UsageError
from simwright.core.files import read_bytes
from simwright.worlds import messages
from simwright.worlds.plans.storey import Building, PlanDoor, PlanSpot, Storey, find_openings
from simwright.worlds.polygons import Geometry, cut_polygons, join_polygons

# words of CAD layers (AIA: A-WALL, A-DOOR, A-GLAZ, A-FURN) and their German, French, Spanish and Italian names
_WORDS = {
    "wall": ("wall", "wand", "wände", "mur", "pared", "muro", "parete", "column", "pillar", "stütze"),
    "door": ("door", "tür", "tuer", "porte", "puerta", "porta"),
    "window": ("window", "glaz", "fenster", "fenêtre", "ventana", "finestra"),
    "furniture": ("furn", "möbel", "moebel", "meuble", "mueble", "mobili", "equip", "sanit"),
    "left": ("dim", "grid", "axis", "hatch", "north", "legend", "title", "frame", "viewport", "defpoints"),
}
_MAX_BYTES = 64 * 2**20
_MAX_LINES = 200_000
THIN = 0.02
"""How thick a line without a width is [m]."""
DOOR_WIDTH = 1.2
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TOKEN = re.compile(r"[MmLlHhVvCcSsQqTtAaZz]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_STEPS = 16


@dataclass(slots=True)
class _Drawing:
    """Lines and areas in metres, by what they mean."""

    lines: dict[str, list[tuple[Any, float, str]]] = field(default_factory=dict)
    """Role -> points, thickness [m], name."""
    areas: dict[str, list[Any]] = field(default_factory=dict)
    labels: list[PlanSpot] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def add_line(self, role: str, points: Any, width: float, name: str = "") -> None:
        points = np.asarray(points, dtype=float)
        if len(points) > 1 and np.isfinite(points).all() and np.abs(points).max() < 1e6:
            rows = self.lines.setdefault(role, [])
            rows.append((points, width, name))
            if len(rows) > _MAX_LINES:
                raise LimitError(f"the drawing has more than {_MAX_LINES} lines")

    def skip(self, kind: str) -> None:
        self.skipped[kind] = self.skipped.get(kind, 0) + 1


def read_svg(path: Path, options: dict[str, Any], reporter: Reporter) -> Building:
    """Read an SVG drawing; ``scale`` of the options is how many metres a user unit is."""
    scale = options.get("scale")
    if not scale:
        raise UsageError(
            "an SVG does not say how large its building is",
            hint="--scale METRES, the length of one user unit, such as 0.01",
        )
    drawing = _SvgReader(path, float(scale)).read()
    return _make_building(drawing, path, options, reporter)


def read_dxf(path: Path, options: dict[str, Any], reporter: Reporter) -> Building:
    """Read a DXF drawing; its units count unless ``scale`` says how many metres one is."""
    try:
        import ezdxf
        from ezdxf import disassemble, units
    except ImportError:
        raise MissingExtraError("ezdxf", "plans", "reading DXF drawings") from None
    try:
        document = ezdxf.readfile(_check_size(path))
    except (
        OSError,
        ezdxf.DXFError,
        UnicodeError,
        ValueError,
        KeyError,
        IndexError,
        AttributeError,
        TypeError,
    ) as error:
        raise ParseError(f"the DXF file cannot be read: {str(error)[:120]}", where=Where(str(path))) from None
    scale = options.get("scale")
    if not scale:
        if document.units == 0:
            raise UsageError(
                "the DXF file does not say its units ($INSUNITS is 0)",
                hint="--scale METRES, the length of one unit, such as 0.001",
            )
        scale = units.conversion_factor(document.units, units.M)
    drawing = _Drawing()
    for entity in disassemble.recursive_decompose(document.modelspace()):
        _add_entity(drawing, entity, float(scale))
    return _make_building(drawing, path, options, reporter)


def _check_size(path: Path) -> Path:
    if not path.is_file():
        raise ParseError("the file cannot be read", where=Where(str(path)))
    if path.stat().st_size > _MAX_BYTES:
        raise LimitError(f"the drawing is larger than {_MAX_BYTES // 2**20} MiB", where=Where(str(path)))
    return path


def _add_entity(drawing: _Drawing, entity: Any, scale: float) -> None:
    """One entity of a DXF: flattened to a line of points."""
    from ezdxf import path as paths

    kind = entity.dxftype()
    role = find_role(entity.dxf.get("layer", "0"))
    if role == "left":
        drawing.skip(f"layer {entity.dxf.get('layer', '0')}")
        return
    if kind in ("TEXT", "MTEXT", "ATTRIB"):
        text = entity.dxf.text if kind != "MTEXT" else entity.plain_text()
        at = entity.dxf.insert
        drawing.labels.append(PlanSpot(_clean(text), (at.x * scale, at.y * scale)))
        return
    try:
        made = paths.make_path(entity)
        points = np.array([(p.x, p.y) for p in made.flattening(0.01 / scale)], dtype=float)
    except (TypeError, ValueError, AttributeError, ZeroDivisionError):
        drawing.skip(kind)
        return
    # only light polylines have one; to ask others for it is an error
    width = float(entity.dxf.const_width) * scale if entity.dxf.hasattr("const_width") else 0.0
    drawing.add_line(role, points * scale, width)


def find_role(name: str) -> str:
    """What a layer, group, class or id is for; empty where the name does not say."""
    word = name.lower()
    return next((role for role, words in _WORDS.items() if any(known in word for known in words)), "")


def _clean(text: str) -> str:
    return re.sub(r"\s+", "_", re.sub(r"[^\w\s.-]", "", text.strip()))[:60]


# -- SVG -----------------------------------------------------------------------------------------------------------


class _SvgReader:
    def __init__(self, path: Path, scale: float) -> None:
        from lxml import etree

        self._path, self._scale = path, scale
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
        )
        try:
            self._root = etree.fromstring(read_bytes(path, _MAX_BYTES), parser)
        except etree.XMLSyntaxError as error:
            raise ParseError(
                f"the SVG cannot be read: {error.msg}", where=Where(str(path), error.lineno or 1)
            ) from None
        if _local(self._root) != "svg":
            raise ParseError("the file is no SVG drawing", where=Where(str(path), 1))
        self._drawing = _Drawing()

    def read(self) -> _Drawing:
        # y of SVG points down
        self._walk(self._root, np.array(((self._scale, 0, 0), (0, -self._scale, 0), (0, 0, 1.0))), "", {})
        return self._drawing

    def _walk(self, element: Any, above: Any, role: str, style: dict[str, str]) -> None:
        if not isinstance(element.tag, str) or _local(element) in (
            "defs",
            "symbol",
            "clipPath",
            "mask",
            "metadata",
            "style",
        ):
            return
        own = style | _read_style(element)
        if own.get("display") == "none" or own.get("visibility") == "hidden":
            return
        matrix = above @ self._read_transform(element)
        role = find_role(" ".join(_names(element))) or role
        self._take(element, matrix, role, own)
        for child in element:
            self._walk(child, matrix, role, own)

    def _take(self, element: Any, matrix: Any, role: str, style: dict[str, str]) -> None:
        # text is a label; shapes are lines, or areas where they are filled and have no stroke
        kind = _local(element)
        if kind == "text":
            x, y = (self._number(element, key) for key in ("x", "y"))
            at = matrix @ (x, y, 1.0)
            self._drawing.labels.append(
                PlanSpot(_clean("".join(element.itertext())), (float(at[0]), float(at[1])))
            )
            return
        if kind not in _SHAPES:
            if kind in ("image", "use"):
                self._drawing.skip(kind)
            return
        if role == "left":
            self._drawing.skip("marks")
            return
        scale = math.sqrt(abs(float(np.linalg.det(matrix[:2, :2]))))
        stroked = style.get("stroke", "none") != "none"
        width = _first_number(style.get("stroke-width", "1")) * scale if stroked else 0.0
        filled = style.get("fill", "black" if not stroked else "none") != "none"
        for points in _SHAPES[kind](self, element):
            flat = (np.column_stack((points, np.ones(len(points)))) @ matrix.T)[:, :2]
            # a filled shape without a stroke is an area: a wall drawn as a polygon
            if filled and not stroked and len(flat) > 2 and role in ("wall", "furniture", "window", ""):
                self._drawing.areas.setdefault(role, []).append(flat)
            else:
                self._drawing.add_line(role, flat, width, element.get("id") or "")

    def _read_transform(self, element: Any) -> Any:
        matrix = np.eye(3)
        for name, text in re.findall(r"(\w+)\s*\(([^)]*)\)", element.get("transform") or ""):
            values = [float(v) for v in _NUMBER.findall(text)]
            try:
                make: Any = _TRANSFORMS[name]
                matrix = matrix @ make(values)
            except (KeyError, IndexError, ValueError):
                raise ParseError(
                    f"the transform {name}({text[:40]}) is not understood",
                    where=Where(str(self._path), element.sourceline or 1),
                ) from None
        return matrix

    def _number(self, element: Any, key: str, default: float = 0.0) -> float:
        text = element.get(key)
        return default if text is None else _first_number(text)

    def take_line(self, element: Any) -> Iterator[Any]:
        """The points of ``<line>``."""
        x1, y1, x2, y2 = (self._number(element, key) for key in ("x1", "y1", "x2", "y2"))
        yield np.array(((x1, y1), (x2, y2)))

    def take_points(self, element: Any) -> Iterator[Any]:
        """The points of ``<polyline>`` and ``<polygon>``."""
        numbers = [float(v) for v in _NUMBER.findall(element.get("points") or "")]
        points = np.array(numbers[: len(numbers) // 2 * 2]).reshape(-1, 2)
        if len(points) > 1:
            yield np.vstack((points, points[:1])) if _local(element) == "polygon" else points

    def take_rect(self, element: Any) -> Iterator[Any]:
        """The corners of ``<rect>``."""
        x, y, w, h = (self._number(element, key) for key in ("x", "y", "width", "height"))
        if w > 0.0 and h > 0.0:
            yield np.array(((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)))

    def take_ellipse(self, element: Any) -> Iterator[Any]:
        """Points on ``<circle>`` and ``<ellipse>``."""
        x, y, r = (self._number(element, key) for key in ("cx", "cy", "r"))
        rx, ry = self._number(element, "rx", r), self._number(element, "ry", r)
        angles = np.linspace(0.0, 2.0 * math.pi, 4 * _STEPS + 1)
        if rx > 0.0 and ry > 0.0:
            yield np.column_stack((x + rx * np.cos(angles), y + ry * np.sin(angles)))

    def take_path(self, element: Any) -> Iterator[Any]:
        """Points along ``<path>``, one line for each of its parts."""
        try:
            yield from _flatten_path(element.get("d") or "")
        except (IndexError, ValueError):
            raise ParseError(
                "the data of a path are not complete", where=Where(str(self._path), element.sourceline or 1)
            ) from None


_SHAPES = {
    "line": _SvgReader.take_line,
    "polyline": _SvgReader.take_points,
    "polygon": _SvgReader.take_points,
    "rect": _SvgReader.take_rect,
    "circle": _SvgReader.take_ellipse,
    "ellipse": _SvgReader.take_ellipse,
    "path": _SvgReader.take_path,
}


def _turn_by(values: list[float]) -> Any:
    angle = math.radians(values[0])
    turn = np.array(
        ((math.cos(angle), -math.sin(angle), 0), (math.sin(angle), math.cos(angle), 0), (0, 0, 1.0))
    )
    if len(values) < 3:
        return turn
    return _shift_by(values[1:3]) @ turn @ _shift_by([-values[1], -values[2]])


def _shift_by(values: list[float]) -> Any:
    return np.array(((1, 0, values[0]), (0, 1, values[1] if len(values) > 1 else 0.0), (0, 0, 1.0)))


def _stretch_by(values: list[float]) -> Any:
    return np.diag((values[0], values[1] if len(values) > 1 else values[0], 1.0))


_TRANSFORMS = {
    "translate": _shift_by,
    "scale": _stretch_by,
    "rotate": _turn_by,
    "matrix": lambda v: np.array(((v[0], v[2], v[4]), (v[1], v[3], v[5]), (0, 0, 1.0))),
    "skewX": lambda v: np.array(((1, math.tan(math.radians(v[0])), 0), (0, 1, 0), (0, 0, 1.0))),
    "skewY": lambda v: np.array(((1, 0, 0), (math.tan(math.radians(v[0])), 1, 0), (0, 0, 1.0))),
}


def _local(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _names(element: Any) -> list[str]:
    # Inkscape keeps the name of a layer in an attribute of its own
    return [
        value
        for key, value in element.attrib.items()
        if key in ("id", "class", "data-name") or key.endswith("}label")
    ]


def _read_style(element: Any) -> dict[str, str]:
    keys = ("stroke", "stroke-width", "fill", "display", "visibility")
    found = {key: element.get(key) for key in keys if element.get(key) is not None}
    for part in (element.get("style") or "").split(";"):
        key, _, value = part.partition(":")
        if key.strip() in keys:
            found[key.strip()] = value.strip()
    return found


def _first_number(text: str) -> float:
    match = _NUMBER.search(text)
    return float(match.group()) if match else 0.0


_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


def _flatten_path(data: str) -> Iterator[Any]:
    """Lines of points along the data of a path."""
    tokens = _TOKEN.findall(data)
    at, number, here, begin = 0, "", np.zeros(2), np.zeros(2)
    control: Any = None
    points: list[Any] = []
    while at < len(tokens):
        if tokens[at].isalpha():
            number = tokens[at]
            at += 1
        elif number in "Zz":
            raise ValueError("numbers after the end of a part")
        word = number.upper()
        count = _ARGUMENTS[word]
        values = [float(v) for v in tokens[at : at + count]]
        if len(values) < count:
            raise IndexError("numbers are missing")
        at += count
        base = here if number.islower() else np.zeros(2)
        if word == "M":
            if len(points) > 1:
                yield np.array(points)
            here = begin = base + values
            points = [here]
            number = "l" if number == "m" else "L"  # further pairs are lines
            control = None
            continue
        if word == "Z":
            points.append(begin)
            here, control = begin, None
            continue
        made, control = _trace_segment(word, values, here, base, control)
        points += made
        here = points[-1]
    if len(points) > 1:
        yield np.array(points)


def _trace_segment(
    word: str, values: list[float], here: Any, base: Any, control: Any
) -> tuple[list[Any], Any]:
    """Points of one segment after ``here``, and the control point that a smooth one goes on from."""
    if word == "H":
        return [np.array((base[0] + values[0], here[1]))], None
    if word == "V":
        return [np.array((here[0], base[1] + values[0]))], None
    if word == "L":
        return [base + values], None
    if word == "A":
        return _trace_arc(here, base + values[5:7], values[:5]), None
    pairs = [base + values[i : i + 2] for i in range(0, len(values), 2)]
    if word in "ST":
        # the first control point mirrors the last one of the segment before
        pairs = [here if control is None else 2 * here - control, *pairs]
    corners = np.array([here, *pairs])
    share = np.linspace(0.0, 1.0, _STEPS + 1)[1:, None]
    degree = len(corners) - 1
    curve = sum(
        math.comb(degree, k) * share**k * (1.0 - share) ** (degree - k) * corners[k]
        for k in range(degree + 1)
    )
    return list(np.asarray(curve)), corners[-2]


def _trace_arc(start: Any, end: Any, values: list[float]) -> list[Any]:
    """Points on an elliptic arc, by the formulas of SVG 1.1, appendix F.6."""
    rx, ry, turn, large, sweep = values
    if rx == 0.0 or ry == 0.0 or np.allclose(start, end):
        return [end]
    angle = math.radians(turn)
    matrix = np.array(((math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))))
    half = matrix @ ((start - end) / 2.0)
    rx, ry = abs(rx), abs(ry)
    grow = (half[0] / rx) ** 2 + (half[1] / ry) ** 2
    if grow > 1.0:
        rx, ry = rx * math.sqrt(grow), ry * math.sqrt(grow)
    rest = (rx * ry) ** 2 - (rx * half[1]) ** 2 - (ry * half[0]) ** 2
    factor = math.sqrt(max(rest, 0.0) / ((rx * half[1]) ** 2 + (ry * half[0]) ** 2))
    factor = -factor if bool(large) == bool(sweep) else factor
    middle = factor * np.array((rx * half[1] / ry, -ry * half[0] / rx))
    first = math.atan2((half[1] - middle[1]) / ry, (half[0] - middle[0]) / rx)
    last = math.atan2((-half[1] - middle[1]) / ry, (-half[0] - middle[0]) / rx)
    span = (last - first) % (2.0 * math.pi)
    span = span if sweep else span - 2.0 * math.pi
    angles = first + span * np.linspace(0.0, 1.0, _STEPS + 1)[1:]
    circle = np.column_stack((rx * np.cos(angles), ry * np.sin(angles))) + middle
    return list(circle @ matrix + (start + end) / 2.0)


# -- lines to floors -----------------------------------------------------------------------------------------------


def _make_building(drawing: _Drawing, path: Path, options: dict[str, Any], reporter: Reporter) -> Building:
    where = Where(str(path))
    width = float(options.get("door_width") or DOOR_WIDTH)
    wall_role = _find_walls(drawing, where, reporter)
    walls = _make_solid(drawing, (wall_role, "window"))
    if drawing.lines.get("window") or drawing.areas.get("window"):
        reporter.report(
            messages.PLAN_LEFT, where, what="windows", reason="walls of a world have none; they are closed"
        )
    furniture = _make_solid(drawing, ("furniture",))
    # what walls enclose once openings as wide as a door are closed
    closed = walls.buffer(width / 2.0, join_style="mitre").buffer(-width / 2.0, join_style="mitre")
    floor = join_polygons(
        [shapely.Polygon(part.exterior) for part in shapely.get_parts(closed) if part.geom_type == "Polygon"]
    )
    free = cut_polygons(floor, [walls, *([furniture] if not furniture.is_empty else [])])
    # slits between the two lines of a wall are no floor
    free = _drop_slits(free)
    thickness = _find_thickness(walls)
    doors = _match_doors(drawing, free, width)
    for kind, count in sorted(drawing.skipped.items()):
        reporter.report(
            messages.PLAN_LEFT, where, what=f"{count} times {kind!r}", reason="it is no part of a floor plan"
        )
    storey = Storey("plan", free, doors, drawing.labels, thickness=thickness, tolerance=1e-3, where=where)
    return Building(path.stem, [storey])


def _find_walls(drawing: _Drawing, where: Where, reporter: Reporter) -> str:
    """The role of the lines that are walls: all of them where no name says which."""
    wall_role = "wall" if drawing.lines.get("wall") or drawing.areas.get("wall") else ""
    if not drawing.lines.get(wall_role) and not drawing.areas.get(wall_role):
        raise ParseError(
            "the drawing has no lines that could be walls",
            where=where,
            hint="put walls on a layer called 'walls'",
        )
    if not wall_role:
        reporter.report(
            messages.PLAN_ASSUMED,
            where,
            what="which lines are walls",
            value="every line",
            option="put them on a layer called 'walls'",
        )
    else:
        lost = len(drawing.lines.get("", ())) + len(drawing.areas.get("", ()))
        if lost:
            reporter.report(
                messages.PLAN_LEFT, where, what=f"{lost} lines and areas", reason="no name says what they are"
            )
    return wall_role


def _make_solid(drawing: _Drawing, roles: Iterable[str]) -> Geometry:
    parts = []
    for role in roles:
        for points, width, _ in drawing.lines.get(role, ()):
            line = shapely.LineString(points)
            if line.length > 0.0:
                parts.append(line.buffer(max(width, THIN) / 2.0, cap_style="square", join_style="mitre"))
        parts += [shapely.make_valid(shapely.Polygon(points)) for points in drawing.areas.get(role, ())]
    return join_polygons([part for part in parts if part.area > 0.0]) if parts else shapely.Polygon()


def _drop_slits(free: Geometry) -> Geometry:
    parts = [part for part in shapely.get_parts(free) if not part.buffer(-0.2).is_empty]
    return shapely.multipolygons(parts) if parts else shapely.Polygon()


def _find_thickness(walls: Geometry) -> float:
    """How thick walls are: twice their area by their outline, for long and narrow shapes."""
    length = float(walls.length)
    return float(np.clip(2.0 * walls.area / length if length else 0.1, 0.04, 0.4))


def _match_doors(drawing: _Drawing, free: Geometry, width: float) -> list[PlanDoor]:
    """Openings with the doors that are drawn at them, and doors that are drawn across an opening."""
    # doors across their openings first: they have names of their own
    drawn = [(shapely.LineString(points), name) for points, _, name in drawing.lines.get("door", ())]
    doors: list[PlanDoor] = []
    for line, name in drawn:
        if _spans_opening(line, free, width):
            doors.append(PlanDoor(line.coords[0], line.coords[1], name or f"door{len(doors)}"))
    known = [shapely.LineString([door.start, door.end]) for door in doors]
    for opening in find_openings(free, width):
        line = shapely.LineString([opening.start, opening.end])
        if any(line.distance(other) < _NEAR for other in known):
            continue
        near = next((name for other, name in drawn if other.distance(line) < _NEAR), None)
        label = "" if near is None else near or f"door{len(doors)}"
        doors.append(PlanDoor(opening.start, opening.end, label))
        known.append(line)
    return doors


# how far from its opening a door is drawn [m]
_NEAR = 0.3


def _spans_opening(line: Geometry, free: Geometry, width: float) -> bool:
    """Is it a straight line between two walls, and so the door itself?"""
    if len(line.coords) != 2 or not 0.4 < line.length < 2.0 * width:
        return False
    ends = [shapely.Point(point) for point in line.coords]
    inside = bool(free.contains(line.interpolate(0.5, normalized=True)))
    return inside and all(shapely.distance(free.boundary, end) < 0.1 for end in ends)
