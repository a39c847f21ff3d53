# SPDX-License-Identifier: Apache-2.0
"""Where a result goes: a folder of its own, or files beside others.

A new folder appears whole; one that is there is filled, and no file is touched but those of the result and of an
earlier one (:mod:`simwright.core.swap`).  A file named in a folder with other things in it (``simwright convert
robot.usda robot.urdf`` where one works) is put beside them, with what it needs in a folder of its own (``robot_urdf``);
no file that is there and says something else is touched unless the user asked for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import OutputError
from simwright.core.swap import is_staging, recover, write_folder
from simwright.formats.format import WriteOptions
from simwright.model.asset import Asset

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
        raise OutputError("the folder holds the source file", hint="name a folder of its own", where=where)
    raise OutputError(
        f"the folder holds {min(foreign or there)!r}, which is no part of the asset",
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
