# SPDX-License-Identifier: Apache-2.0
"""One asset from end to end: copy, fix until stable, prove, write, and tell.

The result is written as a new folder, as a package, or in the place of the old asset.  In place, the asset's own files
that change are replaced, all of them or none (:mod:`simwright.core.swap`); each is kept beside the new one as
``*.orig``.  Nothing else in the folder is touched.  A file that somebody edits while the asset is being fixed stops
that.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pxr import Sdf

from simwright.core.diag import Fixable, Reporter, Where, diagnostic_from_error, sort_diagnostics
from simwright.core.errors import InputError, OutputError, UsageError
from simwright.core.files import write_staged
from simwright.core.packages import PackageMap
from simwright.core.swap import Staging, compute_digest, guard_writing, is_staging, put_files, write_folder
from simwright.formats.format import ReadOptions
from simwright.formats.usd.delivery import PACKAGE_SUFFIX, pack_file
from simwright.sanitizer.fixes.translation.engine_words import find_losses
from simwright.sanitizer.proof import Original, Selected, read_original
from simwright.sanitizer.result import (
    COMMENTS_LOST,
    ENGINE_LOSS,
    MOMENTS_MENDED,
    NEWLY_FOUND,
    UNPROVEN,
    Change,
    FixResult,
)
from simwright.sanitizer.rounds import FixOptions, FixProgress, FixRun, name_originals
from simwright.sanitizer.workspace import Workspace
from simwright.usd.plugins import register_plugins

_PATHS = "path-relative"
Read: TypeAlias = Callable[[Selected], Original]
"""Reads the asset as it was with a selection of variants, when that is first asked for."""


def sanitize(
    source: Path,
    options: FixOptions,
    packages: PackageMap,
    *,
    target: Path | None = None,
    in_place: bool = False,
    with_diff: bool = False,
) -> FixResult:
    """Fix an asset.  Without ``target`` and ``in_place`` nothing is written.

    An asset that cannot be opened gives a result that says so; what cannot be written raises an OutputError.
    """
    # one function: the order of these steps is the whole of it, and every exit has to close the workspace
    register_plugins()
    result = FixResult(str(source))
    # the folder of the copy has the name that the folder of the result is going to have
    name = "" if target is None else (target.parent if target.suffix else target).absolute().name
    original = cache(
        lambda selected: read_original(
            source, packages, selected, options.values.by_name, stage=workspace.original
        )
    )
    try:
        workspace = Workspace(source, packages, name=name)
    except InputError as error:
        result.notes.append(diagnostic_from_error(error))
        return result
    try:
        if target is not None:
            check_target(target, workspace)
        # in place, absolute addresses of own files stay as the author wrote them unless path-relative may
        # change them
        keeps_inner = target is not None or (options.unsafe and _PATHS in options.codes)
        workspace.keeps_inner = keeps_inner
        progress = _fix_at_once(workspace, options, original)
        # the proof of all fixes together failed: start again from the source, with a proof after each rule
        if progress is None:
            workspace.close()
            workspace = Workspace(source, packages, name=name)
            workspace.keeps_inner = keeps_inner
            progress = _fix_rule_by_rule(workspace, options, original)
        _fill_result(progress, workspace, result, original)
        if progress.failed:
            return result
        if with_diff:
            result.diffs = _describe_differences(workspace)
        if target is not None:
            _settle_encoding(result, workspace, target)
            write_new(workspace, target, result)
        elif in_place and workspace.changed_places:
            write_in_place(workspace, result)
        _tell_comments(workspace, result)
    finally:
        workspace.close()
    return result


def _fix_at_once(workspace: Workspace, options: FixOptions, original: Read) -> FixProgress | None:
    """Make all fixes, then give the proof once; None if it fails."""
    run = FixRun(workspace, options, original)
    progress = run.fix_all()
    if not progress.changes or progress.failed:
        return progress
    return None if progress.crashed or run.prove() else progress


def _fix_rule_by_rule(workspace: Workspace, options: FixOptions, original: Read) -> FixProgress:
    run = FixRun(workspace, options, original)
    run.proves_each = True
    return run.fix_all()


def _fill_result(progress: FixProgress, workspace: Workspace, result: FixResult, original: Read) -> None:
    # one function: it fills the result field by field, and a failed run stops after the first three
    result.before = name_originals(progress.before, workspace)
    result.after = name_originals(progress.after, workspace)
    result.rounds = progress.rounds
    if progress.failed:
        result.notes += sort_diagnostics(progress.notes)
        return
    result.changes = progress.changes
    # the copy has made these addresses relative already, so no fix has told of them
    if workspace.keeps_inner:
        result.changes += [
            Change(_PATHS, Fixable.UNSAFE, place, "/", f"@{new}@ for @{old}@")
            for place, addresses in sorted(workspace.inner.items())
            for new, old in sorted(addresses.items())
        ]
    result.status = "fixed" if workspace.changed_places else "unchanged"
    where = Where(result.source)
    notes = Reporter()
    notes.extend(progress.notes)
    counts = [Counter(finding.kind for finding in found) for found in (progress.before, progress.after)]
    # a Counter drops what is zero or less: only rules that find more now are left
    for code, more in sorted((counts[1] - counts[0]).items()):
        notes.report(NEWLY_FOUND, where, rule=code, count=more)
    for path, moments in sorted(progress.expected.mended_moments.items()):
        before, after = (f"({', '.join(f'{value:.6g}' for value in row)})" for row in moments)
        notes.report(MOMENTS_MENDED, Where(result.source, prim=path), before=before, after=after)
    if progress.changes:
        known = original(progress.expected.variant_key)
        problem = known.problem
        result.proven = not problem
        _tell_losses(progress, workspace, known, notes)
        if problem:
            notes.report(UNPROVEN, where, reason=problem)
    result.notes += sort_diagnostics(notes)


def _settle_encoding(result: FixResult, workspace: Workspace, target: Path) -> None:
    """An entry that gets the name of a text layer is written as one, which no fix does before."""
    if target.suffix.lower() != ".usda" or workspace.entry.suffix == target.suffix.lower():
        return
    entry = workspace.name_original(str(workspace.entry))
    result.after = [f for f in result.after if (f.kind, f.where.file) != (_ENCODING, entry)]
    result.notes = [n for n in result.notes if (n.data.get("rule"), n.where.file) != (_ENCODING, entry)]


def _tell_comments(workspace: Workspace, result: FixResult) -> None:
    """Name the layers that were written without some of their comments."""
    notes = Reporter()
    for place, count in sorted(workspace.lost_remarks.items()):
        notes.report(
            COMMENTS_LOST, Where(workspace.name_original(str(workspace.folder / place))), count=count
        )
    result.notes += notes


def _tell_losses(progress: FixProgress, workspace: Workspace, original: Original, notes: Reporter) -> None:
    """Name the engines that are told less than before; fixes that need no intent leave words of engines alone."""
    if any(change.grade is Fixable.UNSAFE for change in progress.changes):
        where = Where(workspace.name_original(str(workspace.entry)))
        for loss in find_losses(original.poses.stage, workspace.open(), progress.expected.follow):
            notes.report(ENGINE_LOSS, where, engine=loss.engine, what=loss.tell())


def _describe_differences(workspace: Workspace) -> dict[str, str]:
    found = {}
    for place in sorted(workspace.changed_places.intersection(workspace.layer_places)):
        name = workspace.origin.parent / place
        before = describe_layer(Sdf.Layer.OpenAsAnonymous(str(name))) if name.exists() else []
        after = Sdf.Layer.CreateAnonymous(Path(place).name)
        data = workspace.folder / place
        after.TransferContent(Sdf.Layer.FindOrOpen(str(data)))
        workspace.restore_addresses(after, place)
        text = diff_layers(before, describe_layer(after), place)
        if text:
            found[place] = text
    return found


_LAYERS = (".usda", ".usdc", ".usd")
_ENCODING = "layer-enc-ascii"


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
    # one chain of refusals, before any work: each protects something that writing would destroy
    mine, source = folder.resolve(), workspace.source.parent.resolve()
    if mine == source or mine in source.parents:
        raise OutputError(
            "the folder holds the source", hint="name an empty folder, or ask for --in-place", where=where
        )
    if folder.is_dir():
        known = {place.split("/")[0] for place in workspace.places} - {workspace.entry.name} | {entry}
        foreign = sorted({item.name for item in folder.iterdir() if not is_staging(item.name)} - known)
        if foreign:
            message = f"the folder holds {foreign[0]!r}, which is not part of the asset"
            raise OutputError(message, hint="name a new folder, which is the asset's own", where=where)


def write_new(workspace: Workspace, target: Path, result: FixResult) -> None:
    """Write the asset as a folder of its own, or as a package."""
    if target.suffix.lower() == PACKAGE_SUFFIX:
        options = ReadOptions(packages=workspace.packages)
        workspace.save()
        result.entry = str(pack_file(workspace.entry, target, options, Reporter()))
        result.files = [target.name]
        return
    folder, entry = split_target(target, workspace)
    if entry != workspace.entry.name:
        _refuse_back_reference(workspace, target)
    names = {place: entry if place == workspace.collection.entry else place for place in workspace.places}
    # the entry appears last: whoever watches the folder never opens an asset without its parts
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
            workspace.save()
            pack_file(workspace.entry, staging.new / source.name, options, Reporter())
            changed = [source.name]
        else:
            # the entry first, so that the first backup is the old entry
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
    """Refuse to write if somebody changed a file of the asset since it was read: the proof is about what was read."""
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
        # renaming would replace the link, and writing through it would change somebody else's file
        if base not in file.parents:
            raise OutputError(
                f"is a link to {file}, outside the asset's folder; nothing was written",
                hint="fix that file itself, or write to a new folder with -o",
                where=Where(str(folder / place)),
            )
        if file.exists():
            real[place] = file.relative_to(base).as_posix()
    number, suffix = 1, ".orig"
    # an older backup is never overwritten, and all files of one run have the same ending
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
    """A layer that names the entry would name a file that no longer exists."""
    for place in workspace.layer_places:
        layer = Sdf.Layer.FindOrOpen(str(workspace.folder / place))
        for name in layer.GetCompositionAssetDependencies():
            if layer.ComputeAbsolutePath(name) == str(workspace.entry):
                raise UsageError(
                    f"{place} refers to the entry as {name}, which keeps its name therefore",
                    hint="name a folder",
                    where=Where(str(target)),
                )


_MAX_LINE = 200
_NUMBERS = re.compile(r"\[([^\[\]]{160,})\]")


def describe_layer(layer: Any) -> list[str]:
    """The lines of a layer; arrays of many values are counted instead of listed."""
    text: str = layer.ExportToString()
    return [_shorten(line) for line in text.splitlines()]


def diff_layers(before: list[str], after: list[str], name: str) -> str:
    """A unified difference; empty if the two are the same.  A layer that is new has no lines before."""
    old = f"a/{name}" if before else "/dev/null"
    lines = difflib.unified_diff(before, after, old, f"b/{name}", lineterm="", n=3)
    return "\n".join(lines)


def _shorten(line: str) -> str:
    if len(line) <= _MAX_LINE:
        return line
    short = _NUMBERS.sub(_count_values, line)
    return short if len(short) <= 2 * _MAX_LINE else f"{short[:_MAX_LINE]}... ({len(line)} characters)"


def _count_values(match: re.Match[str]) -> str:
    """A few values, their number, and a sum that shows when any other one changes."""
    import zlib

    body = match.group(1)
    # commas inside tuples do not separate values
    depth_free = re.sub(r"\([^()]*\)", "x", body)
    count = depth_free.count(",") + 1
    return f"[{body[:40]}... {count} values, {zlib.crc32(body.encode()):08x}]"
