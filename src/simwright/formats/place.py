# SPDX-License-Identifier: Apache-2.0
"""Where a result goes: a folder of its own, or files beside others.

A folder that is new, empty or holds an earlier result is replaced whole, in one step.  A file named in a folder with
other things in it (``simwright convert robot.usda robot.urdf`` where one works) is put beside them, with what it
needs in a folder of its own (``robot_urdf``); no file that is there and says something else is touched unless the user
asked for it.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import OutputError
from simwright.core.files import resolve_inside, write_folder
from simwright.model.asset import Asset


@dataclass(frozen=True, slots=True)
class Place:
    """A folder and the name of the file to open in it; ``whole`` where the folder is the result's own."""

    folder: Path
    entry: str
    whole: bool
    overwrite: bool = False

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
        """A folder to write the result into; it goes where it belongs when the block ends without an error."""
        if self.whole:
            with write_folder(self.folder) as new:
                yield new
            return
        staging: Path | None = None
        try:
            staging = Path(tempfile.mkdtemp(prefix=f".{self.entry}.", dir=self.folder))
            yield staging
            self._move_beside(staging)
        except OSError as error:
            raise OutputError(
                f"cannot be written: {error.strerror or error}", where=Where(str(self.path))
            ) from None
        finally:
            if staging is not None:
                shutil.rmtree(staging, ignore_errors=True)

    def _move_beside(self, staging: Path) -> None:
        """Move every file, the one to open last, so that it never names what is not there yet."""
        files = [path for path in sorted(staging.rglob("*")) if path.is_file()]
        files.sort(key=lambda path: path.name == self.entry and path.parent == staging)
        moves = [
            (path, resolve_inside(self.folder, path.relative_to(staging).as_posix(), Where(str(self.path))))
            for path in files
        ]
        for path, target in moves:
            if not self.overwrite and target != self.path.resolve() and _differs(path, target):
                raise OutputError(
                    "is there already and says something else; nothing was written",
                    hint="name a folder of its own, or use --overwrite",
                    where=Where(str(target)),
                )
        for path, target in moves:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def choose_place(
    asset: Asset, folder: Path, entry: str, own: frozenset[str], *, named: bool, overwrite: bool = False
) -> Place:
    """Where a result may go; ``own`` names what it may bring beside its entry, ``named`` tells that a file was named.

    The source is never touched.
    """
    where = Where(str(folder))
    if folder.exists() and not folder.is_dir():
        raise OutputError("is a file, not a folder", hint="name a folder for the asset", where=where)
    if not folder.exists():
        return Place(folder, entry, whole=True)
    source = Path(asset.provenance.file).resolve() if asset.provenance.file else None
    if source is not None and source == (folder / entry).resolve():
        raise OutputError("is the source itself", hint="name another file", where=Where(str(folder / entry)))
    there = {item.name for item in folder.iterdir()}
    foreign = sorted(there - own - {entry})
    holds_source = source is not None and source.parent == folder.resolve()
    if not there or (entry in there and not foreign and not holds_source):
        return Place(folder, entry, whole=True)
    if named:
        return Place(folder, entry, whole=False, overwrite=overwrite)
    if holds_source:
        raise OutputError("the folder holds the source file", hint="name a folder of its own", where=where)
    raise OutputError(
        f"the folder holds {(foreign or sorted(there))[0]!r}, which is no part of the asset",
        hint=f"name a new folder, or a file in this one: {folder / entry}",
        where=where,
    )


def _differs(path: Path, target: Path) -> bool:
    """Is there something else at the target?"""
    if not target.exists():
        return False
    if not target.is_file() or target.stat().st_size != path.stat().st_size:
        return True
    return target.read_bytes() != path.read_bytes()
