# SPDX-License-Identifier: Apache-2.0
"""Writing a fixed asset: as a new folder, as a package, or in the place of the old one.

In place, the asset's own files that change are replaced, all of them or none (:mod:`simwright.core.swap`); each is kept
beside the new one as ``*.orig``.  Nothing else in the folder is touched.  A file that somebody edits while the asset is
being fixed stops that.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from pxr import Sdf

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError, UsageError
from simwright.core.files import write_staged
from simwright.core.swap import Staging, compute_digest, guard_writing, is_staging, put_files, write_folder
from simwright.formats.format import ReadOptions
from simwright.formats.usd.delivery import PACKAGE_SUFFIX, pack_file
from simwright.sanitizer.result import FixResult
from simwright.sanitizer.workspace import Workspace

_LAYERS = (".usda", ".usdc", ".usd")


def split_target(target: Path, workspace: Workspace) -> tuple[Path, str]:
    """The folder of the result and the name of its entry."""
    if target.suffix.lower() in _LAYERS:
        return target.parent, target.name
    return target, workspace.entry.name


def check_target(target: Path, workspace: Workspace) -> None:
    """Refuse a target that would damage something: called before any work is done."""
    if target.suffix.lower() == PACKAGE_SUFFIX:
        if target.exists() and target.resolve() == workspace.source.resolve():
            raise UsageError("is the source", hint="ask for --in-place", where=Where(str(target)))
        return
    folder, entry = split_target(target, workspace)
    where = Where(str(folder))
    if folder.exists() and not folder.is_dir():
        raise OutputError("is a file, not a folder", hint="name a folder for the asset", where=where)
    if Path(entry).suffix not in (workspace.entry.suffix, ".usda"):
        raise UsageError(
            f"the entry stays {workspace.entry.suffix}, or becomes .usda", where=Where(str(target))
        )
    mine, source = folder.resolve(), workspace.source.parent.resolve()
    if mine == source or mine in source.parents:
        raise OutputError(
            "the folder holds the source", hint="name a folder of its own, or ask for --in-place", where=where
        )
    if folder.is_dir():
        known = {place.split("/")[0] for place in workspace.places} - {workspace.entry.name} | {entry}
        foreign = sorted({item.name for item in folder.iterdir() if not is_staging(item.name)} - known)
        if foreign:
            message = f"the folder holds {foreign[0]!r}, which is no part of the asset"
            raise OutputError(message, hint="name a new folder, which is the asset's own", where=where)


def write_new(workspace: Workspace, target: Path, result: FixResult) -> None:
    """Write the asset as a folder of its own, or as a package."""
    if target.suffix.lower() == PACKAGE_SUFFIX:
        options = ReadOptions(packages=workspace.packages)
        result.entry = str(pack_file(workspace.entry, target, options, Reporter()))
        result.files = [target.name]
        return
    folder, entry = split_target(target, workspace)
    if entry != workspace.entry.name:
        _refuse_back_reference(workspace, target)
    names = {place: entry if place == workspace.collection.entry else place for place in workspace.places}
    with write_folder(folder, last=entry) as staging:
        for place, name in names.items():
            _write_place(workspace, place, staging / name, folder.resolve())
    result.entry = str(folder / entry)
    result.files = sorted(names.values())


def write_in_place(workspace: Workspace, result: FixResult) -> None:
    """Put the fixed asset where the old one is, and keep the files it replaces beside it."""
    source = workspace.source
    with guard_writing(source), contextlib.closing(Staging(source.parent, source.name)) as staging:
        if source.suffix.lower() == PACKAGE_SUFFIX:
            options = ReadOptions(packages=workspace.packages)
            pack_file(workspace.entry, staging.new / source.name, options, Reporter())
            changed = [source.name]
        else:
            changed = sorted(workspace.changed_places, key=lambda place: (place != source.name, place))
            data = {place: workspace.encode_result(place, restore=True) for place in changed}
            write_staged(staging.new, data)
        backups = _choose_backups(source.parent, changed)
        expected = {**dict.fromkeys(changed), **workspace.digests}
        _refuse_edited(workspace)
        put_files(staging, source.parent, last=source.name, expected=expected, backups=backups)
    result.backups = [str(source.parent / name) for name in backups.values()]
    result.files = sorted(changed)
    result.entry = str(source)


def _refuse_edited(workspace: Workspace) -> None:
    """What was proven was proven of the files that were read: also of those that stay as they are."""
    for place, digest in workspace.digests.items():
        file = workspace.source.parent / place
        if compute_digest(file) != digest:
            raise OutputError(
                "was changed by somebody else meanwhile; nothing was written",
                hint="look at the change, then run the command again",
                where=Where(str(file)),
            )


def _choose_backups(folder: Path, places: list[str]) -> dict[str, str]:
    """Names under which the files that are there are kept, the same ending for all; links lead to the file itself."""
    base, real = folder.resolve(), {}
    for place in places:
        file = (folder / place).resolve()
        if base not in file.parents:
            raise OutputError(
                f"is a link to {file}, outside the asset's folder; nothing was written",
                hint="fix that file itself, or write to a new folder with -o",
                where=Where(str(folder / place)),
            )
        if file.exists():
            real[place] = file.relative_to(base).as_posix()
    number, suffix = 1, ".orig"
    while any(os.path.lexists(folder / f"{name}{suffix}") for name in real.values()):
        number += 1
        suffix = f".orig.{number}"
    return {place: f"{name}{suffix}" for place, name in real.items()}


def _write_place(workspace: Workspace, place: str, file: Path, folder: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != Path(place).suffix:
        file.write_bytes(workspace.encode_result(place, restore=False, target=folder, suffix=file.suffix))
    elif place in workspace.changed_places or workspace.is_readdressed(place):
        workspace.write_result(place, file, folder)
    else:
        shutil.copyfile(workspace.folder / place, file)


def _refuse_back_reference(workspace: Workspace, target: Path) -> None:
    """A layer that names the entry would name a file that is not there any more."""
    for place in workspace.layer_places:
        layer = Sdf.Layer.FindOrOpen(str(workspace.folder / place))
        for name in layer.GetCompositionAssetDependencies():
            if layer.ComputeAbsolutePath(name) == str(workspace.entry):
                raise UsageError(
                    f"{place} refers to the entry as {name}, which keeps its name therefore",
                    hint="name a folder",
                    where=Where(str(target)),
                )
