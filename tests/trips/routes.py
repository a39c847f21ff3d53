# SPDX-License-Identifier: Apache-2.0
"""Robots sent through other formats and back, and all that is different afterwards, as lines of text.

A line is ``section: element: what: before -> after`` for a difference, ``section: figure`` for a figure beyond the
tolerance, ``lost in FORMAT: kind: message`` for what a writer said it had to leave out, ``from the stage: ...`` for a
look that the stage on the way had.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import simwright
from simwright.compare.difference import Difference
from simwright.core.diag import Reporter
from simwright.model.asset import Asset

ENDINGS = {"mjcf": ".xml", "urdf": ".urdf", "sdf": ".sdf", "usd": ".usda"}
ROUTES = {
    "MJCF-USD-MJCF": ("mjcf", "usd", "mjcf"),
    "URDF-USD-URDF": ("urdf", "usd", "urdf"),
    "SDF-USD-SDF": ("sdf", "usd", "sdf"),
    "MJCF-USD-URDF-USD": ("mjcf", "usd", "urdf", "usd"),
}
NO_ROBOTS = frozenset({"package.xml", "keyframes.xml"})
"""XML files that are no models by themselves."""
REFUSED = {"nv_humanoid.xml": "MuJoCo refuses it: an unrecognized name"}
"""Files that their own engine does not read."""
FIGURES = ("position", "orientation", "mass", "inertia", "mass matrix", "bias")
_BARE = ("poses", "motion")
"""Sections in which figures stand for themselves."""


@dataclass(slots=True)
class Trip:
    """``stops`` are the files on the way, the source first; ``lines`` all that differs at the end."""

    route: str
    robot: str
    stops: list[Path]
    lines: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def end(self) -> Path:
        """The last file."""
        return self.stops[-1]


def find_robots(assets: Path, kind: str) -> list[Path]:
    """Every file of a format in the shared folder."""
    found = sorted(assets.rglob(f"*{ENDINGS[kind]}"))
    return [file for file in found if file.name not in NO_ROBOTS and file.name not in REFUSED]


def name_robot(file: Path) -> str:
    """What a robot is called in tables: the file in its folder."""
    return f"{file.parent.name}/{file.name}"


def travel(route: str, source: Path, folder: Path, strip: Callable[[Asset], None] | None = None) -> Trip:
    """Convert a robot along a route and compare the ends; ``strip`` takes from the source what no stop can hold."""
    start = time.process_time()
    trip = Trip(route, name_robot(source), [source])
    for number, kind in enumerate(ROUTES[route][1:]):
        said = Reporter()
        target = folder / f"{number}_{kind}" / f"{source.stem}{ENDINGS[kind]}"
        trip.stops.append(simwright.convert(trip.end, target, reporter=said))
        trip.lines += [f"lost in {kind}: {d.kind}: {d.message}" for d in said if d.loss]
    first, last = simwright.load(source), simwright.load(trip.end)
    if strip is not None:
        strip(first)
    difference = simwright.diff(first, last)
    trip.lines += list_lines(difference)
    if ROUTES[route][0] == ROUTES[route][-1]:  # looks of mesh files are in the model once a stage was written
        looks = simwright.diff(trip.stops[1], last, only=("materials",))
        trip.lines += [f"from the stage: {line}" for line in list_lines(looks)]
    trip.figures = {
        figure.name: figure.error
        for section in difference.sections
        for figure in section.figures
        if figure.name in FIGURES
    }
    trip.seconds = time.process_time() - start
    return trip


def list_lines(difference: Difference) -> Iterator[str]:
    """Differences as text."""
    for section in difference.sections:
        for item in section.items:
            yield f"{section.name}: {item.element}: {item.what}: {item.a} -> {item.b}"
        if section.name in _BARE:
            for figure in section.figures:
                if figure.error > figure.tolerance:
                    yield f"{section.name}: {figure.name}"
