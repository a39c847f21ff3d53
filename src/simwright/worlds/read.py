# SPDX-License-Identifier: Apache-2.0
"""Reading a world file: the table of contents.

The format is PyRoboSim's (5.0.1).  What it does not have stands in one block of its own, ``simwright``, which PyRoboSim
passes over::

    simwright:
      seed: 7                       # what random choices are made from, unless the caller says
      relative_mode: frame          # relative_to turns with its base; default: reference (offsets along world axes)
      entities:
        hall_kitchen_bath: {height: 2.2}
        robot: {asset: robots/rover.urdf}
      categories:
        apple: {mass: 0.15}

``reference=True`` gives what PyRoboSim gives, its draws and its defects included; where the default differs is listed
in docs/worlds-differences.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

import shapely

from simwright.core.collector import pause_collector
from simwright.core.diag import Level, Reporter
from simwright.core.documents.read import parse_document, read_document
from simwright.core.documents.tree import Document
from simwright.core.errors import ParseError, StrictError, UsageError
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, read_extensions
from simwright.worlds.entities import Location, Params
from simwright.worlds.free_space import update_free_polygons
from simwright.worlds.metadata import read_metadata
from simwright.worlds.polygons import grow
from simwright.worlds.poses import WorldPose
from simwright.worlds.read_locations import add_location, add_object
from simwright.worlds.read_robots import add_robots
from simwright.worlds.read_rooms import add_hallway, add_room
from simwright.worlds.read_state import MeshReader, ModelReader, WorldReading
from simwright.worlds.sampling import ReferenceSampler, Sampler, SeededSampler
from simwright.worlds.world import World

SECTIONS = frozenset(
    {"params", "metadata", "rooms", "hallways", "locations", "objects", "robots", "simwright"}
)
_PARAMS = frozenset({"name", "inflation_radius", "object_radius", "wall_height"})
# the fixed order of PyRoboSim, not that of the file: names may only refer to what comes before
_ADDERS: dict[str, Callable[[WorldReading, WorldEntry], None]] = {
    "rooms": add_room,
    "hallways": add_hallway,
    "locations": add_location,
    "objects": add_object,
}


class WorldOptions(TypedDict, total=False):
    """How a world is read: see :func:`build_world`."""

    seed: int | None
    reference: bool
    strict: bool
    relative_mode: str | None
    data_folder: str | os.PathLike[str] | None
    read_mesh: MeshReader | None
    read_model: ModelReader | None
    reporter: Reporter | None


def read_world(path: str | os.PathLike[str], **options: Unpack[WorldOptions]) -> World:
    """Read a world file and make every choice in it; options are those of :func:`build_world`."""
    return build_world(read_document(path), **options)


def parse_world(text: str, *, name: str = "world.yaml", **options: Unpack[WorldOptions]) -> World:
    """The same from text; ``name`` is the file it is taken to stand in."""
    return build_world(parse_document(text, name=name), **options)


def build_world(
    document: Document,
    *,
    seed: int | None = None,
    reference: bool = False,
    strict: bool = False,
    relative_mode: str | None = None,
    data_folder: str | os.PathLike[str] | None = None,
    read_mesh: MeshReader | None = None,
    read_model: ModelReader | None = None,
    reporter: Reporter | None = None,
) -> World:
    """A world from a document that was read before.

    ``seed`` decides random choices (default: the file's, else 0); ``reference`` agrees with PyRoboSim 5.0.1; ``strict``
    raises :class:`StrictError` for any finding above info; ``relative_mode`` is ``reference`` or ``frame``;
    ``data_folder`` is what ``$DATA`` means; ``read_mesh`` gives the points of mesh files, ``read_model`` what the
    ``model.sdf`` beside them says (not in reference mode).
    """
    reporter = Reporter() if reporter is None else reporter
    if not isinstance(document.data, dict):
        raise ParseError("a world file is a mapping of sections", where=document.find_where())
    root = WorldEntry(document, (), document.data)
    # thousands of entities that refer to each other and all live on: collecting cycles finds nothing
    with pause_collector():
        reading = _begin(root, reporter, seed=seed, reference=reference, relative_mode=relative_mode)
        reading.data_folder = None if data_folder is None else Path(data_folder)
        reading.read_mesh, reading.read_model = read_mesh, read_model
        _read_sections(reading, root)
        _finish(reading)
    # after everything was read, so that the error can say how many findings there are
    if strict and reporter.has(Level.WARNING):
        found = [diagnostic for diagnostic in reporter if diagnostic.level is not Level.INFO]
        first = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise StrictError(f"{first.message}{more}", hint=first.hint, where=first.where)
    return reading.world


def _begin(
    root: WorldEntry,
    reporter: Reporter,
    *,
    seed: int | None,
    reference: bool,
    relative_mode: str | None,
) -> WorldReading:
    extensions = read_extensions(root, reporter)
    mode = relative_mode or extensions.relative_mode
    if mode not in {"reference", "frame"}:
        raise UsageError(f"relative_mode {mode!r} is neither 'reference' nor 'frame'")
    number = seed if seed is not None else extensions.seed
    if not 0 <= number < 2**32:
        raise UsageError(f"the seed {number} is not from 0 to 4294967295")
    sampler: Sampler = ReferenceSampler(number) if reference else SeededSampler(number)
    world = World(
        params=Params(), seed=number, reference=reference, extensions=extensions, file=root.document.file
    )
    return WorldReading(
        world,
        reporter,
        sampler,
        folder=Path(root.document.file).parent,
        # reference mode is what PyRoboSim does, whatever the file asks for
        frame_mode=mode == "frame" and not reference,
    )


def _read_sections(reading: WorldReading, root: WorldEntry) -> None:
    reading.check_loose_keys(root, SECTIONS)
    # PyRoboSim fails on a section without content
    for section in ("params", *_ADDERS, "robots"):
        if section in root.data and root.data[section] is None:
            refusal = Refusal(messages.SECTION_NULL, root.find_where(section), key=section)
            reading.settle(refusal)
    _take(reading, lambda: _read_params(reading, root))
    _take(reading, lambda: read_metadata(reading, root))
    for section, add in _ADDERS.items():
        _take(reading, partial(_read_list, reading, root, section, add))
    # robots are placed in the free space of the furnished world
    update_free_polygons(reading.world)
    _take(reading, lambda: add_robots(reading, root))


def _read_list(
    reading: WorldReading, root: WorldEntry, section: str, add: Callable[[WorldReading, WorldEntry], None]
) -> None:
    for index, value in enumerate(root.items(section)):
        try:
            add(reading, root.item(section, index, value))
        except Refusal as refusal:
            reading.settle(refusal)


def _take(reading: WorldReading, step: Callable[[], None]) -> None:
    try:
        step()
    except Refusal as refusal:
        reading.settle(refusal)


def _read_params(reading: WorldReading, root: WorldEntry) -> None:
    entry = root.child("params")
    if entry is None:
        return
    reading.check_keys(entry, _PARAMS)
    params = Params(
        name=entry.text("name", "world"),
        inflation_radius=entry.number("inflation_radius", 0.0),
        object_radius=entry.number("object_radius", 0.0375),
        wall_height=entry.number("wall_height", 2.0),
    )
    for key in ("inflation_radius", "object_radius", "wall_height"):
        if getattr(params, key) < 0.0:
            reading.settle(entry.refuse_sort(getattr(params, key), "not negative", key))
    reading.world.params = params
    reading.world.inflation_radius = params.inflation_radius


def _finish(reading: WorldReading) -> None:
    world = reading.world
    if reading.reference:
        world.refresh()
        return
    # with robots it was done when the largest of them was known
    if not world.robots:
        world.update_navigation()
    report_occupied_nav_poses(reading)
    _apply_heights(world)


def _apply_heights(world: World) -> None:
    """Heights of the ``simwright`` block: PyRoboSim has none for hallways."""
    for part in world.floors:
        height = world.extensions.entities.get(part.name, {}).get("height")
        if height is not None:
            part.height = float(height)


def report_occupied_nav_poses(reading: WorldReading) -> None:
    """Report the poses that PyRoboSim would keep as goals although they are occupied."""
    radius = reading.world.params.inflation_radius
    for location in reading.world.locations:
        sets = [(location.name, location.nav_candidates, location.nav_poses)]
        sets += [
            (spawn.name, spawn.nav_candidates, spawn.nav_poses)
            for spawn in location.spawns
            if spawn.nav_candidates is not location.nav_candidates
        ]
        for name, candidates, kept in sets:
            if len(kept) == len(candidates):
                continue
            gone = [pose for pose in candidates if pose not in kept]
            count = sum(_was_free(location, pose, radius) for pose in gone)
            if count:
                reading.report(
                    messages.STALE_NAV_POSE,
                    location.where,
                    name=name,
                    count=count,
                    total=len(candidates),
                    radius=reading.world.inflation_radius,
                )


def _was_free(location: Location, pose: WorldPose, radius: float) -> bool:
    """Free at the inflation radius of the file, with the locations before this one."""
    room = location.room
    if not shapely.intersects_xy(grow(room.polygon, -radius), pose.x, pose.y):
        return False
    # PyRoboSim judged when the location was added: later furniture was not there yet
    before = room.locations[: room.locations.index(location)]
    return not any(shapely.contains_xy(grow(other.polygon, radius), pose.x, pose.y) for other in before)
