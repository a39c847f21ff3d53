# SPDX-License-Identifier: Apache-2.0
"""Writing a fixed asset: as a new folder, as a package, or in the place of the old one.

In place, one changed file is replaced as a file; several are replaced by exchanging the whole folder in one step, so
that whoever looks, and whenever the process is killed, the old asset or the new one is there.  The old one is kept.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from pxr import Sdf

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError, UsageError
from simwright.core.files import write_atomic, write_folder
from simwright.core.swap import exchange
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
        foreign = sorted({item.name for item in folder.iterdir()} - known)
        if foreign:
            message = f"the folder holds {foreign[0]!r}, which is no part of the asset"
            raise OutputError(
                message, hint="name a new folder; an asset's folder is replaced whole", where=where
            )


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
    with write_folder(folder) as staging:
        for place, name in names.items():
            _write_place(workspace, place, staging / name, folder.resolve())
    result.entry = str(folder / entry)
    result.files = sorted(names.values())


def write_in_place(workspace: Workspace, result: FixResult) -> None:
    """Put the fixed asset where the old one is, and keep the old one beside it."""
    source = workspace.source
    if source.suffix.lower() == PACKAGE_SUFFIX:
        result.backup = str(_keep_file(source))
        options = ReadOptions(packages=workspace.packages)
        pack_file(workspace.entry, source, options, Reporter())
        result.files = [source.name]
    else:
        changed = {place: workspace.encode_result(place, restore=True) for place in workspace.changed_places}
        if len(changed) == 1:
            [(place, data)] = changed.items()
            file = source.parent / place
            result.backup = str(_keep_file(file))
            write_atomic(file.resolve(), data)
        elif changed:
            result.backup = str(_exchange_folder(source.parent, changed))
        result.files = sorted(changed)
    result.entry = str(source)


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


def _keep_file(file: Path) -> Path:
    """A copy of a file under a name of its own."""
    backup = _choose_backup(file)
    return write_atomic(backup, file.read_bytes())


def _choose_backup(path: Path) -> Path:
    number = 1
    backup = path.with_name(f"{path.name}.orig")
    while backup.exists() or backup.is_symlink():
        number += 1
        backup = path.with_name(f"{path.name}.orig.{number}")
    return backup


def _exchange_folder(folder: Path, changed: dict[str, bytes]) -> Path:
    """Make a whole copy of a folder with the changed files, and let the two change places."""
    target = folder.resolve()
    if target.parent == target or target.is_mount():
        raise OutputError(
            "several layers change, and this folder cannot be exchanged as a whole",
            hint="move the asset into a folder of its own, or write to a new one with -o",
            where=Where(str(folder)),
        )
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    fresh = staging / target.name
    try:
        shutil.copytree(target, fresh, symlinks=True)
        for place, data in changed.items():
            _write_synced(fresh / place, data)
        shutil.copystat(target, fresh)
        backup = _choose_backup(target)
        if exchange(fresh, target):
            fresh.rename(backup)
        else:
            target.rename(backup)
            fresh.rename(target)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=Where(str(folder))) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return backup


def _write_synced(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():
        file.unlink()
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
