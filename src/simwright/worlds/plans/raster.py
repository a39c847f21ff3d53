# SPDX-License-Identifier: Apache-2.0
"""Occupancy maps as Nav2's map server reads them: an image and a YAML beside it.

Free cells are floor; occupied and unknown ones are not.  Rooms are found where the floor gets narrow.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.diag import Reporter, Where
from simwright.core.documents.read import read_document
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import read_bytes
from simwright.core.gate import Gate
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry
from simwright.worlds.plans.storey import Building, Storey, find_openings
from simwright.worlds.polygons import Geometry

DOOR_WIDTH = 1.2
_MAX_CELLS = 100_000_000
_MAX_BYTES = 256 * 2**20
_MODES = ("trinary", "scale", "raw")
# parts of the floor below this [m^2] are specks that a laser saw through a window
_SPECK = 0.5


def read_map(path: Path, options: dict[str, Any], reporter: Reporter) -> Building:
    """Read a map; ``door_width`` of the options is how wide openings between rooms are at most [m]."""
    document = read_document(path)
    if not isinstance(document.data, dict):
        raise ParseError(
            "the YAML of a map is a mapping with 'image' and 'resolution'", where=document.find_where()
        )
    entry = WorldEntry(document, (), document.data)
    try:
        free, resolution = _read_cells(path, entry, reporter)
        origin = entry.numbers("origin", (3, 2)) if "origin" in entry else [0.0, 0.0, 0.0]
    except Refusal as refusal:
        raise ParseError(str(refusal), where=refusal.where) from None
    floor = _trace(free, resolution, (origin[0], origin[1]))
    yaw = origin[2] if len(origin) > 2 else 0.0
    if yaw:
        # Nav2 turns maps about their origin
        cosine, sine = math.cos(yaw), math.sin(yaw)
        turn = np.array(((cosine, sine), (-sine, cosine)))
        floor = shapely.transform(floor, lambda points: (points - origin[:2]) @ turn + origin[:2])
    floor = _drop_specks(floor, path, reporter)
    width = float(options.get("door_width") or DOOR_WIDTH)
    # half a cell: outlines stay where they are to a cell
    storey = Storey(
        "map", floor, find_openings(floor, width), thickness=max(2.0 * resolution, 0.1), tolerance=0.45 * resolution,
        where=document.find_where(),
    )  # fmt: skip
    reporter.report(
        messages.PLAN_ASSUMED,
        Where(str(path)),
        what="how high walls are",
        value="2.5 m",
        option="correct wall_height",
    )
    return Building(path.stem, [storey])


def _read_cells(path: Path, entry: WorldEntry, reporter: Reporter) -> tuple[npt.NDArray[np.bool_], float]:
    """Which cells are free, row by row from the top, and their size [m]."""
    resolution = entry.number("resolution")
    if resolution <= 0.0:
        raise entry.refuse_sort(resolution, "positive", "resolution")
    mode = entry.text("mode", "trinary")
    if mode not in _MODES:
        raise entry.refuse_name(mode, "mode", _MODES, "mode")
    where = entry.find_where("image")
    image = Gate.around(path).admit(path.parent / entry.text("image"), where)
    if not image.is_file():
        raise ParseError(f"the image {entry.text('image')!r}: no such file", where=where)
    levels = read_gray(image, where)
    # Nav2: the share of black, turned over by negate
    dark = levels if entry.get("negate", 0) else 1.0 - levels
    if mode == "raw":
        occupied = np.round(levels * 255.0)
        free, solid = occupied == 0, (occupied > 0) & (occupied <= 100)
    else:
        free = dark < entry.number("free_thresh", 0.25)
        solid = dark > entry.number("occupied_thresh", 0.65)
    unknown = float(1.0 - (free | solid).mean())
    if not free.any():
        raise ParseError("no cell of the map is free", where=where, hint="look at negate and free_thresh")
    if unknown > 0.0:
        reporter.report(
            messages.PLAN_LEFT,
            where,
            what=f"unknown cells ({100 * unknown:.1f} % of the map)",
            reason="they count as walls",
        )
    return free, resolution


def read_gray(image: Path, where: Where) -> npt.NDArray[np.float64]:
    """An image as shares of white: the mean of its colours; what is transparent counts as Nav2 has it."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(
            io.BytesIO(read_bytes(image, _MAX_BYTES)), formats=("PPM", "PNG", "BMP", "JPEG", "TIFF")
        ) as found:
            if found.width * found.height > _MAX_CELLS:
                raise LimitError(
                    f"an image of {found.width} by {found.height} is too large", where=Where(str(image))
                )
            pixels = np.asarray(
                found.convert("L" if found.mode in ("L", "1", "P", "I;16", "I") else "RGB"), dtype=np.float64
            )
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise ParseError(f"the image {image.name} cannot be read: {error}", where=where) from None
    return (pixels if pixels.ndim == 2 else pixels.mean(axis=2)) / 255.0


def _trace(free: npt.NDArray[np.bool_], resolution: float, origin: tuple[float, float]) -> Geometry:
    """The outline of free cells [m]."""
    rows, columns = free.shape
    padded = np.zeros((rows, columns + 2), dtype=np.int8)
    padded[:, 1:-1] = free
    row, at = np.nonzero(np.diff(padded, axis=1))
    # every row begins with a rise, so ends alternate: starts and ends of runs of free cells
    row, starts, ends = row[::2], at[::2], at[1::2]
    top = rows - row
    boxes = shapely.box(
        origin[0] + starts * resolution, origin[1] + (top - 1) * resolution,
        origin[0] + ends * resolution, origin[1] + top * resolution,
    )  # fmt: skip
    return shapely.union_all(boxes, grid_size=resolution / 64.0)


def _drop_specks(floor: Geometry, path: Path, reporter: Reporter) -> Geometry:
    parts = shapely.get_parts(floor)
    small = shapely.area(parts) < _SPECK
    if small.any():
        area = float(shapely.area(parts[small]).sum())
        what = f"{int(small.sum())} free areas below {_SPECK} m2 ({area:.2f} m2 in all)"
        reporter.report(messages.PLAN_LEFT, Where(str(path)), what=what, reason="they are specks")
    return shapely.multipolygons(parts[~small]) if (~small).any() else floor
