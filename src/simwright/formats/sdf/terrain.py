# SPDX-License-Identifier: Apache-2.0
"""Geometry made from images: ``<heightmap>`` and ``<image>`` (SDFormat specification, geometry).

A height map is stretched so that its brightest pixel lies ``size.z`` above its black ones, as Gazebo does; the top row
of the image is at +y.  An elevation model (floating point) keeps its lowest elevation and is stretched above it.  An
``<image>`` is a floor plan: every pixel that is not brighter than ``threshold`` stands ``height`` tall, from the corner
of the image at the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, declare
from simwright.core.errors import LimitError, ParseError
from simwright.core.limits import Tally
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.formats.images import Samples, load_samples
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document
from simwright.formats.xml import Element
from simwright.model.geometry import Approximation, Box, Geometry, Heightfield

DEM_SIZE = declare(
    "sdf-dem-size",
    Level.WARNING,
    "the elevation model of {owner!r} has no <size>, and where it lies on Earth is not read",
    hint="its samples are put 1 m apart; write <size>",
    doc="Without a size, an elevation model has the true size of the land, which needs its map projection.",
    loss=True,
)

MAX_BOXES = 5_000
"""Most boxes a floor plan may be made of."""

_TERRAIN_CARRIED = {"uri", "size", "pos", "sampling"}
_TERRAIN_KNOWN = {"texture", "blend", "use_terrain_paging"}
_PLAN_CARRIED = {"uri", "scale", "threshold", "height", "granularity"}


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A geometry, how it lies in its element, its scale and its simplification.

    ``others`` are further geometries of the same element, where one is not enough.
    """

    geometry: Geometry
    pose: Pose = IDENTITY
    scale: Array | None = None
    approximation: Approximation | None = None
    others: tuple[Placed, ...] = ()


def read_heightmap(reading: Reading, document: Document, element: Element, owner: str) -> Placed:
    """A grid of heights."""
    file = reading.resolve(document, element, document.text(element, "uri"))
    samples = load_samples(file, reading.gate.tally)
    if min(samples.values.shape) < 2:
        raise ParseError("a height map needs two rows and two columns", where=document.where(element))
    if not np.all(np.isfinite(samples.values)):
        raise ParseError("the elevation model has values that are not finite", where=document.where(element))
    stated = document.child(element, "size") is not None
    size = document.values(element, "size", 3, (1.0, 1.0, 1.0))
    if samples.full is None and not stated:
        reading.reporter.report(DEM_SIZE, document.where(element), owner=owner)
        rows, columns = samples.values.shape
        size = np.array((columns - 1.0, rows - 1.0, np.ptp(samples.values)))
    if not np.all(size[:2] > 0.0):
        document.report_number(document.child(element, "size"), str(size), "a positive extent", "1 1 1")
        size = np.ones(3)
    heights = _refine(_stretch(samples, float(size[2])), document, element, reading.gate.tally)
    position = document.values(element, "pos", 3, (0.0, 0.0, 0.0))
    reading.keep_rest(document, element, owner, _TERRAIN_CARRIED, _TERRAIN_KNOWN)
    field = Heightfield(np.ascontiguousarray(heights[::-1]), size[:2], source=str(file))
    return Placed(field, Pose.of(position) if np.any(position) else IDENTITY)


def _stretch(samples: Samples, tall: float) -> Array:
    """Heights [m]: up to ``tall``; a negative one means that black is high (an old habit)."""
    values = samples.values
    if samples.full is None:
        low, span = float(values.min()), float(np.ptp(values))
        stretched: Array = low + (values - low) * (abs(tall) / span if span else 1.0)
        return -stretched if tall < 0.0 else stretched
    bright = float(values.max())
    shares = values / bright if bright else values
    return abs(tall) * (1.0 - shares if tall < 0.0 else shares)


def _refine(heights: Array, document: Document, element: Element, tally: Tally) -> Array:
    """``sampling`` points for every pixel, on straight lines between them."""
    sampling = int(min(document.positive(element, "sampling", default=1.0), 64.0))
    if sampling <= 1:
        return heights
    rows, columns = ((count - 1) * sampling + 1 for count in heights.shape)
    tally.add("height-samples", rows * columns, document.where(element))
    for axis, count in ((0, rows), (1, columns)):
        at = np.arange(count) / sampling
        low = np.minimum(at.astype(np.int64), heights.shape[axis] - 2)
        share = np.expand_dims(at - low, 1 - axis)
        lower, upper = np.take(heights, low, axis), np.take(heights, low + 1, axis)
        heights = lower + (upper - lower) * share
    return heights


def read_plan(reading: Reading, document: Document, element: Element, owner: str) -> Placed:
    """Boxes where an image is dark."""
    file = reading.resolve(document, element, document.text(element, "uri"))
    samples = load_samples(file, reading.gate.tally)
    scale = document.positive(element, "scale", default=1.0)
    height = document.positive(element, "height", default=1.0)
    threshold = document.positive(element, "threshold", default=200.0)
    tall = samples.values * (255.0 / (samples.full or 255.0)) <= threshold
    boxes = []
    for x0, y0, x1, y1 in _merge_boxes(tall):
        size = ((x1 - x0) * scale, (y1 - y0) * scale, height)
        middle = ((x0 + x1) * scale / 2.0, (y0 + y1) * scale / 2.0, height / 2.0)
        boxes.append(Placed(Box.of(*size), Pose.of(middle)))
    if not boxes:
        raise ParseError("no pixel of the image is dark enough to stand", hint="raise <threshold>")
    reading.keep_rest(document, element, owner, _PLAN_CARRIED)
    return replace(boxes[0], others=tuple(boxes[1:]))


def _merge_boxes(tall: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Rectangles (x0, y0, x1, y1) in pixels: runs of a row, joined with equal runs of the rows below."""
    open_runs: dict[tuple[int, int], int] = {}
    made = 0
    for row in range(len(tall) + 1):
        runs = set(_find_runs(tall[row])) if row < len(tall) else set()
        for run in [run for run in open_runs if run not in runs]:
            made += 1
            if made > MAX_BOXES:
                raise LimitError(f"the image stands for more than {MAX_BOXES} boxes", hint="use a mesh")
            yield run[0], open_runs.pop(run), run[1], row
        for run in runs:
            open_runs.setdefault(run, row)


def _find_runs(row: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
    return zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


FROM_IMAGES: dict[str, Callable[[Reading, Document, Element, str], Placed]] = {
    "heightmap": read_heightmap,
    "image": read_plan,
}
"""Geometries that need an image, and the functions that read them."""
