# SPDX-License-Identifier: Apache-2.0
"""What a format is: a name, the files it claims, and lazily imported functions.

A format folder's ``__init__`` holds one :class:`Format` constant named ``FORMAT`` and nothing heavy; the
reader is imported when a file of the format is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

from simwright.core.diag import Reporter
from simwright.core.gate import Gate
from simwright.core.packages import PackageMap
from simwright.core.registry import import_object
from simwright.formats.holds import NO, NOTHING, Held, Table, report_losses
from simwright.model.asset import Asset
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a reader may be told.

    ``packages`` resolve ``package://`` addresses; ``arguments`` are xacro arguments; ``variants`` selects
    USD variants (``{set: name}``); ``time`` is the USD time code to read at, None for the default; ``look_variants``
    asks for the looks of USD variants that change materials only; ``fine_colliders`` for the meshes of which USD
    colliders are the hulls, where the asset has both;
    ``resolvers`` are the solvers whose USD attributes count, the first before the second (names or
    ``SchemaResolver`` objects; Newton alone would be ``("newton",)``, none at all ``()``).  ``gate`` is that of the
    file that names this one; without it, a reader makes one around its own file (:meth:`make_gate`).
    """

    packages: PackageMap = field(default_factory=PackageMap)
    arguments: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    time: float | None = None
    look_variants: bool = False
    fine_colliders: bool = False
    resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER
    gate: Gate | None = None

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
    ``wrote`` is told the files that were written.
    ``for_`` is the engine an OpenUSD asset is for: ``neutral``, ``mujoco``, ``newton`` or ``isaac``; empty for all.
    ``exact`` notes the doubles that single-precision attributes round (OpenUSD).  ``lod`` adds decimated levels of
    detail to visuals, ``decompose`` convex parts to mesh colliders (OpenUSD; each needs the extra of its name).
    ``overwrite`` lets files beside a named file be replaced.  ``mesh_format`` is the format of mesh files (stl, obj,
    dae, glb), empty for the writer's own choice; ``mesh_paths`` how they are named: ``relative`` to the file or in the
    ROS ``package`` ``package_name`` (URDF).  ``flatten`` makes one layer of an OpenUSD asset.  ``side`` is the writer's
    own: what the names of files beside the entry begin with.  ``collision`` writes colliders too, ``quantize`` stores
    meshes in fewer bits (glTF).  ``world`` decides between a world and a model, which is else decided by the content;
    ``sdf_version`` is a version such as 1.11, empty for the oldest one that has a word for everything (SDFormat).
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
        return cast("Reader", import_object(self.reader))(path, options, reporter)

    def write(self, asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
        """Write the neutral model; gives the path of the file to open.  What has no place in it is reported."""
        # First, so that losses are reported even if the writer stops with an error.
        self.report_losses(asset, reporter)
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
