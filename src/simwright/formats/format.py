# SPDX-License-Identifier: Apache-2.0
"""What a format is: a name, the files it claims, and lazily imported functions; and where a result goes.

A format folder's ``__init__`` holds one :class:`Format` constant named ``FORMAT`` and nothing heavy; the
reader is imported when a file of the format is read.

A result goes into a folder of its own, or its files beside others.  A new folder appears whole; one that is there is
filled, and no file is touched but those of the result and of an earlier one (:mod:`simwright.core.swap`).  A file
named in a folder with other things in it (``simwright convert robot.usda robot.urdf`` where one works) is put beside
them, with what it needs in a folder of its own (``robot_urdf``); no file that is there and says something else is
touched unless the user asked for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

from simwright.core.collector import pause_collector
from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError
from simwright.core.gate import Gate
from simwright.core.packages import PackageMap
from simwright.core.registry import import_object
from simwright.core.swap import is_staging, recover, write_folder
from simwright.formats.holds import NO, NOTHING, Held, Table, report_losses
from simwright.model.asset import Asset
from simwright.model.mass import DEFAULT_DENSITY
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a reader may be told.

    ``packages`` resolve ``package://`` addresses; ``arguments`` are xacro arguments; ``variants`` selects
    USD variants (``{set: name}``); ``time`` is the USD time code to read at, None for the default; ``look_variants``
    asks for the looks of USD variants that change materials only; ``fine_colliders`` for the meshes of which USD
    colliders are the hulls, where the asset has both;
    ``schema_resolvers`` are the solvers whose USD attributes count, the first before the second (names or
    ``SchemaResolver`` objects; Newton alone would be ``("newton",)``, none at all ``()``).  ``gate`` is that of the
    file that names this one; without it, a reader makes one around its own file (:meth:`make_gate`).
    ``unsaid_meters_per_unit`` is the length unit of a USD stage that says none; None for OpenUSD's own, 0.01 (Newton
    takes 1).  ``default_density`` is that of USD colliders for which nobody says one [kg/m^3].
    ``read_elsewhere`` are types of USD geometry that the caller reads from the stage: they are not reported as lost.
    ``hidden_shapes`` reads invisible USD geometry too, as shapes that are neither seen nor touched; without
    ``visuals``, USD geometry that does not collide is left out, and so are looks that no collider has, cameras
    and lights.
    ``lock_unlimited_axes`` locks the axes of generic USD joints that no limit is applied to, as Newton does; by
    UsdPhysics they are free.
    """

    packages: PackageMap = field(default_factory=PackageMap)
    arguments: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    time: float | None = None
    look_variants: bool = False
    fine_colliders: bool = False
    schema_resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER
    gate: Gate | None = None
    unsaid_meters_per_unit: float | None = None
    default_density: float = DEFAULT_DENSITY
    hidden_shapes: bool = False
    visuals: bool = True
    read_elsewhere: frozenset[str] = frozenset()
    lock_unlimited_axes: bool = False

    def make_gate(self, path: Path, reporter: Reporter) -> Gate:
        """The gate through which everything passes that a file names."""
        # An included file passes the gate of the file that includes it, with its limits and packages.
        return self.gate or Gate.around(path, self.packages, reporter)


def _approve() -> None:
    """Default of ``approve``: write whatever the result is."""


def _wrote(_files: Sequence[Path]) -> None:
    """Default of ``wrote``: nobody asks which files were written."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a writer may be told.

    ``approve`` is called when the result is complete and nothing is written yet; it may raise to stop there;
    ``wrote`` is told the files that were written.  With ``consume`` nobody looks at the asset afterwards: arrays that
    came from mesh files may be let go as soon as they are written.
    ``for_`` is the engine an OpenUSD asset is for: ``neutral``, ``mujoco``, ``newton`` or ``isaac``; empty for all
    (``formats.dialects`` has the words of every engine).
    ``exact`` notes the doubles that single-precision attributes round (OpenUSD).  ``lod`` adds decimated levels of
    detail to visuals, ``decompose`` convex parts to mesh colliders (OpenUSD; each needs the extra of its name).
    ``overwrite`` lets files beside a named file be replaced.  ``mesh_format`` is the format of mesh files (stl, obj,
    dae, glb), empty for the writer's own choice; ``mesh_paths`` how they are named: ``relative`` to the file or in the
    ROS ``package`` ``package_name`` (URDF).  ``flatten`` makes one layer of an OpenUSD asset.  ``side`` is the writer's
    own: what the names of files beside the entry begin with.  ``collision`` writes colliders too, ``quantize`` stores
    meshes in fewer bits (glTF).  ``world`` decides between a world and a model, which is else decided by the content;
    ``sdf_version`` is a version such as 1.11, empty for the oldest one that has a word for everything (SDFormat).
    ``zero_mass`` says of links without mass that they have none, for engines that make up one (URDF);
    ``possible_inertia`` writes the nearest possible one for an inertia that no solid has (URDF; the other formats
    always do); ``loops`` lets joints close loops, for which some engines have constraints of their own instead, and
    ``rotors`` says that the engine reads armature as the rotor of a motor (SDFormat).
    """

    for_: str = ""
    exact: bool = False
    lod: bool = False
    decompose: bool = False
    flatten: bool = False
    overwrite: bool = False
    mesh_format: str = ""
    mesh_paths: str = "relative"
    package_name: str = ""
    side: str = ""
    collision: bool = False
    quantize: bool = False
    world: bool | None = None
    sdf_version: str = ""
    zero_mass: bool = False
    possible_inertia: bool = False
    loops: bool = True
    rotors: bool = False
    consume: bool = False
    approve: Callable[[], None] = _approve
    wrote: Callable[[Sequence[Path]], None] = _wrote


Reader: TypeAlias = Callable[[Path, ReadOptions, Reporter], Asset]
Writer: TypeAlias = Callable[[Asset, Path, WriteOptions, Reporter], Path]
"""Writes an asset and gives the path of the file to open."""


@dataclass(frozen=True, slots=True)
class Format:
    """A row of the format table.

    ``extensions`` are lower case with the dot, longest first where one ends another (``.urdf.xacro``);
    ``shared_extensions`` (``.xml``) decide only where the content says nothing; ``root_tags`` are XML root
    elements that decide before any extension;
    ``magic`` are leading bytes that decide; ``top_keys`` are keys of YAML and JSON documents, of which one is enough.
    ``reader`` and ``writer`` are
    ``"module:function"``, empty where there is none.  ``table`` is ``"module:HOLDS"``: what the writer has a place for
    (see ``simwright.formats.holds``); without one, everything that is written is reported as lost.
    ``carries_fine_colliders`` says that the writer wants the meshes of which colliders are the hulls.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    reader: str = ""
    root_tags: tuple[str, ...] = ()
    shared_extensions: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    top_keys: tuple[str, ...] = ()
    writer: str = ""
    table: str = ""
    carries_fine_colliders: bool = False

    def read(self, path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
        """Read a file into the neutral model."""
        with pause_collector():
            return cast("Reader", import_object(self.reader))(path, options, reporter)

    def write(self, asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
        """Write the neutral model; gives the path of the file to open.  What has no place in it is reported."""
        # First, so that losses are reported even if the writer stops with an error.
        self.report_losses(asset, reporter)
        with pause_collector():
            return cast("Writer", import_object(self.writer))(asset, target, options, reporter)

    def load_table(self) -> Table:
        """What the format can hold, by key."""
        return cast("Table", import_object(self.table)) if self.table else NOTHING

    def holds(self, key: str) -> bool:
        """Has the format a place for this, at least partly?"""
        return self.load_table().get(key, NO).held is not Held.NO

    def report_losses(self, asset: Asset, reporter: Reporter) -> None:
        """Report what an asset says and the format has no place for."""
        report_losses(asset, self.load_table(), self.title, reporter)


_MOST_READ = 64 << 20
"""Bytes of an earlier result that are searched for the files it names."""

_FILE_NAME = re.compile(rb"""["'@>]([^"'<>@\n\0]{1,400}\.[A-Za-z]\w{1,4})["'@<]""")
"""What looks like the name of a file in XML, JSON and OpenUSD's text."""


@dataclass(frozen=True, slots=True)
class OutputPlace:
    """A folder and the name of the file to open in it; ``whole`` where the folder is the result's own."""

    folder: Path
    entry: str
    whole: bool
    own: frozenset[str]
    overwrite: bool
    wrote: Callable[[Sequence[Path]], None]

    @property
    def path(self) -> Path:
        """The file to open."""
        return self.folder / self.entry

    @property
    def side(self) -> str:
        """What the names of accompanying files begin with: robot.xml and robot.urdf in one folder have their own."""
        stem, _, suffix = self.entry.rpartition(".")
        return "" if self.whole else f"{stem}_{suffix.lower()}/"

    @contextlib.contextmanager
    def fill(self) -> Iterator[Path]:
        """A folder to write the result into; its files go where they belong when the block ends without an error."""
        written: list[Path] = []
        earlier = self._find_earlier() if self.whole else []
        with write_folder(
            self.folder,
            last=self.entry,
            remove=earlier,
            protect=not self.whole and not self.overwrite,
            written=written,
        ) as staging:
            yield staging
        # Folders that held nothing but an earlier result go with it.
        for folder in {parent for name in earlier for parent in list(Path(name).parents)[:-1]}:
            with contextlib.suppress(OSError):  # it holds something
                (self.folder / folder).rmdir()
        self.wrote(written)

    def _find_earlier(self) -> list[str]:
        """Files of an earlier result: those with names of ours, and what they name in folders of ours."""
        files = [name for name in sorted(self.own) if (self.folder / name).is_file()]
        # Only in folders with names of ours, and only files that the earlier result names: others may be the user's.
        folders = [name for name in sorted(self.own) if (self.folder / name).is_dir()]
        found = dict.fromkeys(files)
        for name in (self.entry, *files) if folders else ():
            for match in _FILE_NAME.finditer(_read_head(self.folder / name)):
                text = os.fsdecode(match[1])
                for folder in folders:  # MJCF names files from their folder, URDF perhaps from a package
                    found[f"{folder}/{text.rpartition(f'{folder}/')[2]}"] = None
        return [name for name in found if ".." not in name.split("/") and (self.folder / name).is_file()]


def choose_place(
    asset: Asset, folder: Path, entry: str, own: frozenset[str], options: WriteOptions, *, named: bool
) -> OutputPlace:
    """Where a result may go; ``own`` names what it may bring beside its entry, ``named`` tells that a file was named.

    The source is never touched.
    """
    # One function: the cases exclude each other in this order, and each ends in an answer or an error.
    where = Where(str(folder))
    if folder.exists() and not folder.is_dir():
        raise OutputError("is a file, not a folder", hint="name a folder for the asset", where=where)
    place = OutputPlace(folder, entry, True, own, options.overwrite, options.wrote)
    if not folder.exists():
        return place
    # A write that was interrupted is finished or undone first; what is there decides about the rest.
    recover(folder.resolve(), entry)
    source = _find_source(asset, folder, entry)
    there = {name for name in os.listdir(folder) if not is_staging(name)}
    foreign = there - own - {entry}
    holds_source = source is not None and source.parent == folder.resolve()
    # Our own earlier result may be replaced; a folder with anything else in it may not.
    if not there or (entry in there and not foreign and not holds_source):
        return place
    if named:
        return dataclasses.replace(place, whole=False)
    if holds_source:
        raise OutputError("the folder holds the source file", hint="name an empty folder", where=where)
    raise OutputError(
        f"the folder holds {min(foreign or there)!r}, which is not part of the asset",
        hint=f"name a new folder, or a file in this one: {folder / entry}",
        where=where,
    )


def _find_source(asset: Asset, folder: Path, entry: str) -> Path | None:
    """The file the asset was read from, if any; an OutputError where the result would replace it."""
    source = Path(asset.provenance.file).resolve() if asset.provenance.file else None
    if source is not None and source == (folder / entry).resolve():
        raise OutputError("is the source itself", hint="name another file", where=Where(str(folder / entry)))
    return source


def _read_head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_READ)
    except OSError:
        return b""
