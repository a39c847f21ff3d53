# SPDX-License-Identifier: Apache-2.0
"""A world for every simulator: one scene of it, as OpenUSD, MJCF, SDFormat and glTF; maps for Nav2 and Open-RMF.

Each format has a folder of its own below the one that is named, and ``<name>.json`` beside them says what is where.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.app.worlds import describe_world, load_world, write_world_files
from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError, UnknownNameError, UsageError
from simwright.core.files import write_staged
from simwright.core.names import make_identifier
from simwright.core.registry import import_object
from simwright.core.swap import recover, write_folder

if TYPE_CHECKING:
    from simwright.model.asset import Asset
    from simwright.model.scene import Scene
    from simwright.worlds.world import World

RESOLUTION = 0.05
PRISM = "prism"


@dataclass(slots=True)
class Built:
    """The files to open, by format, and the scene they were made from."""

    scene: Scene
    entries: dict[str, Path] = field(default_factory=dict)
    facts: Path | None = None


def build_world(
    world: World,
    folder: str | os.PathLike[str],
    formats: Sequence[str] = ("all",),
    *,
    resolution: float = RESOLUTION,
    data_folder: str | os.PathLike[str] | None = None,
    reporter: Reporter | None = None,
) -> Built:
    """Write a world in the formats that are named; ``resolution`` is that of the map [m].

    The same world gives the same bytes.  All formats appear together, or none.  Files of an earlier result are
    replaced; a folder that holds anything else is left alone.
    """
    reporter = Reporter() if reporter is None else reporter
    target, wanted = Path(folder), choose_formats(formats)
    if not (math.isfinite(resolution) and resolution > 0.0):
        raise UsageError(f"the resolution of a map has to be positive, not {resolution}")
    scene = make_scene(world, data_folder=data_folder, reporter=reporter)
    name = make_identifier(world.name, "world")
    built = Built(scene)
    facts = f"{name}.json"
    recover(target.resolve(), facts)  # a killed process is no reason to take its files for somebody else's
    for word in wanted:
        # all places are looked at before the first file is made: either every format is written or none
        _check_place(target / word, _ENTRIES[word].format(name=name))
    # files that others open come last, so that nobody opens a scene whose parts are still missing
    last = [*(f"{word}/{_ENTRIES[word].format(name=name)}" for word in wanted), facts]
    with write_folder(target, last=last) as staging:
        for word in wanted:
            place = staging / word / _ENTRIES[word].format(name=name)
            entry = _WRITERS[word](world, scene, place, resolution, reporter)
            built.entries[word] = target / entry.relative_to(staging)
        write_staged(staging, {facts: _describe(world, scene).encode()})
    built.facts = target / facts
    return built


def save_world(world: World, folder: str | os.PathLike[str], *, reporter: Reporter | None = None) -> Path:
    """Write a world as it is now, in PyRoboSim's format: ``world.yaml`` and the files of its categories."""
    from simwright.worlds.writing import describe_files, encode_files

    reporter = Reporter() if reporter is None else reporter
    return write_world_files(Path(folder), encode_files(describe_files(world, reporter)))


PLANS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rmf": ("simwright.worlds.plans.rmf:read_building", (".building.yaml", ".building.yml")),
    "nav2": ("simwright.worlds.plans.raster:read_map", (".yaml", ".yml")),
    "svg": ("simwright.worlds.plans.drawing:read_svg", (".svg",)),
    "dxf": ("simwright.worlds.plans.drawing:read_dxf", (".dxf",)),
}
"""Sources of floor plans: their readers, and how the names of their files end."""


def import_plan(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    source: str | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> tuple[Path, World]:
    """Make a world of a floor plan (:data:`PLANS`), write it into a folder, and read it back.

    ``level`` takes one level of a building only, ``scale`` is how many metres a unit of a drawing is, openings narrower
    than ``door_width`` [m] are doors in maps and drawings.  Losses are reported.
    """
    from simwright.core.files import check_readable
    from simwright.worlds.plans.storey import make_files
    from simwright.worlds.writing import encode_files

    reporter = Reporter() if reporter is None else reporter
    file = check_readable(path)
    word = source or _find_source(file)
    if word not in PLANS:
        raise UnknownNameError("source of floor plans", word, PLANS)
    read: Any = import_object(PLANS[word][0])
    building = read(file, options, reporter)
    written = write_world_files(Path(folder), encode_files(make_files(building, reporter)))
    return written, load_world(written, reporter=reporter)


def _find_source(file: Path) -> str:
    """By the ending of the name; buildings and maps, which are both YAML, by their keys."""
    from simwright.core.documents.read import read_document

    name = file.name.lower()
    found = next((word for word, (_, ends) in PLANS.items() if name.endswith(ends)), None)
    if found is None:
        ends = ", ".join(end for _, rows in PLANS.values() for end in rows)
        raise UsageError(
            f"{file.name} is no floor plan that is known", hint=f"known endings: {ends}; or name it by --from"
        )
    if found == "nav2":
        data = read_document(file).data
        found = "rmf" if isinstance(data, dict) and "levels" in data else "nav2"
    return found


def make_scene(
    world: World,
    *,
    data_folder: str | os.PathLike[str] | None = None,
    reporter: Reporter | None = None,
) -> Scene:
    """The scene of a world; files that it names for robots and props may be in any format we read."""
    from simwright.formats.table import read_asset
    from simwright.worlds.space.scene import build_scene

    reporter = Reporter() if reporter is None else reporter

    def read(file: Path) -> Asset:
        return read_asset(file, reporter=reporter)

    folder = None if data_folder is None else Path(data_folder)
    return build_scene(world, read_asset=read, data_folder=folder, reporter=reporter)


def choose_formats(words: Iterable[str]) -> list[str]:
    """The formats that are meant, in a fixed order; ``all`` means every one."""
    asked = list(words)
    for word in asked:
        if word != "all" and word not in _WRITERS:
            raise UnknownNameError("format of worlds", word, ("all", *_WRITERS))
    return [word for word in _WRITERS if "all" in asked or word in asked]


def merge_for(scene: Scene, word: str, reporter: Reporter) -> Asset:
    """The scene as one asset, as a format wants it."""
    from simwright.model.merging import merge_scene

    asset = merge_scene(scene, reporter)
    if word == "sdf":
        _name_models(scene, asset)
    if word == "mjcf":
        from simwright.worlds.space.looks import light_mujoco

        _drive(scene, asset)
        light_mujoco(asset)
    return asset


def _drive(scene: Scene, asset: Asset) -> None:
    """Robots of the plane on joints and motors of their own, and beams for their lidars."""
    from simwright.worlds.entities import MotionLimits
    from simwright.worlds.space.machines import drive_drums, fan_out_lidars

    limits = {
        item.name: MotionLimits(**{f"max_{key}": value for key, value in item.facts["limits"].items()})
        for item in scene.list_present()
        if item.group == "robots"
    }
    drive_drums(asset, limits)
    fan_out_lidars(asset)


# -- one function per format ---------------------------------------------------------------------------------------


def _write_usd(_world: World, scene: Scene, entry: Path, _resolution: float, reporter: Reporter) -> Path:
    from simwright.formats.usd.writer.assembly import write_assembly

    return write_assembly(scene, entry.parent, reporter)


def _write_merged(word: str) -> Callable[[World, Scene, Path, float, Reporter], Path]:
    def write(_world: World, scene: Scene, entry: Path, _resolution: float, reporter: Reporter) -> Path:
        from simwright.formats.format import WriteOptions
        from simwright.formats.table import write_asset

        # several models need an SDFormat world; by content the writer would take one static model for a
        # model
        options = WriteOptions(world=True) if word == "sdf" else WriteOptions()
        return write_asset(merge_for(scene, word, reporter), entry, options=options, reporter=reporter)

    return write


def _write_nav2(world: World, _scene: Scene, entry: Path, resolution: float, _reporter: Reporter) -> Path:
    from simwright.worlds.floors import GROUND
    from simwright.worlds.graph import build_graph
    from simwright.worlds.grid import (
        encode_map,
        encode_pgm,
        encode_route_graph,
        encode_waypoints,
        find_outside,
        make_floor_grid,
        take_floor,
    )

    graph = build_graph(world)
    files: dict[str, bytes] = {}
    for number, floor in enumerate(world.floor_table.floors.values() or (GROUND,)):
        # the first floor has the plain names; others add theirs
        end = f"_{make_identifier(floor.name, 'floor')}" if number else ""
        grid = make_floor_grid(world, floor, resolution)
        image = f"{entry.stem}{end}.pgm"
        outside = find_outside(world, grid)
        moved = grid.moved(-floor.offset[0], -floor.offset[1])
        files |= {
            f"{entry.stem}{end}.yaml": encode_map(moved, image).encode(),
            image: encode_pgm(grid, outside),
            f"waypoints{end}.yaml": encode_waypoints(world, floor).encode(),
            f"route_graph{end}.geojson": encode_route_graph(
                take_floor(world, graph, floor), world.name, world.hallways, floor
            ).encode(),
        }
    with write_folder(entry.parent) as staging:
        write_staged(staging, files)
    return entry


def _write_rmf(world: World, _scene: Scene, entry: Path, _resolution: float, reporter: Reporter) -> Path:
    encode: Any = import_object("simwright.worlds.plans.rmf_writing:encode_building")
    write_staged(entry.parent, encode(world, reporter))
    return entry


_ENTRIES = {
    "usd": "{name}.usda",
    "mjcf": "{name}.xml",
    "sdf": "{name}.sdf",
    "glb": "{name}.glb",
    "nav2": "{name}.yaml",
    "rmf": "{name}.building.yaml",
}
_WRITERS: dict[str, Callable[[World, Scene, Path, float, Reporter], Path]] = {
    "usd": _write_usd,
    "mjcf": _write_merged("mjcf"),
    "sdf": _write_merged("sdf"),
    "glb": _write_merged("glb"),
    "nav2": _write_nav2,
    "rmf": _write_rmf,
}
FORMATS = tuple(_WRITERS)


def _name_models(scene: Scene, asset: Asset) -> None:
    """A static model of its own for everything that stands still; prisms are their own hulls."""
    from simwright.model.asset import Site
    from simwright.model.geometry import Mesh
    from simwright.model.merging import SEPARATOR

    for placement in scene.list_present():
        if not placement.asset.bodies and placement.asset.shapes:
            path = f"{placement.name}{SEPARATOR}link"
            # what stands still has no body; the SDFormat writer makes a static model of a site and of the
            # shapes whose paths begin with the site's
            asset.sites.append(Site(path, pose=placement.pose, path=path))
    for shape in asset.shapes:
        if isinstance(shape.geometry, Mesh) and shape.geometry.source == PRISM:
            # a prism is convex: asking for its hull would only need a newer SDFormat (1.11)
            shape.approximation = None
        if not shape.body:
            model, _, name = shape.name.partition(SEPARATOR)
            shape.path, shape.name = f"{model}{SEPARATOR}link{SEPARATOR}{name}", name
    _separate(asset)


def _separate(asset: Asset) -> None:
    from simwright.core.names import NameScope

    # the names of the models were cut off above, so that shapes of two models may now be called the
    # same
    scope = NameScope()
    for shape in asset.shapes:
        shape.name = scope.claim(shape.name)


def _check_place(folder: Path, entry: str) -> None:
    """A folder is ours if it is new, empty, or holds an earlier result."""
    where = Where(str(folder))
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError("is a file, not a folder", hint="name another folder", where=where)
    there = [item.name for item in folder.iterdir()]
    # the file to open tells an earlier result from a folder with somebody's own files
    if there and entry not in there:
        raise OutputError(
            f"the folder holds {min(there)!r}, which is not part of the world",
            hint="name a new folder",
            where=where,
        )


def _describe(world: World, scene: Scene) -> str:
    """What is where, as JSON."""
    from simwright.worlds.space.machines import find_lidar_height

    rows: list[dict[str, Any]] = [
        {
            "name": item.name,
            "group": item.group,
            "asset": item.asset.name,
            "present": item.present,
            "xyz": [float(v) for v in item.pose.p],
            "quaternion": [float(v) for v in item.pose.q],
            **item.facts,
        }
        for item in scene.placements
    ]
    document = {"world": describe_world(world), "lidar_height": find_lidar_height(world), "placements": rows}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
