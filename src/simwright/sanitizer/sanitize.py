# SPDX-License-Identifier: Apache-2.0
"""One asset from end to end: copy, fix until stable, prove, write, and tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeAlias

from pxr import Sdf

from simwright.core.diag import Fixable, Reporter, Where, diagnostic_from_error, sort_diagnostics
from simwright.core.errors import InputError
from simwright.core.packages import PackageMap
from simwright.sanitizer.delivery import check_target, write_in_place, write_new
from simwright.sanitizer.layer_text import describe_layer, diff_layers
from simwright.sanitizer.messages import MOMENTS_MENDED, NEWLY_FOUND, UNPROVEN
from simwright.sanitizer.proof import Original, Selected, read_original
from simwright.sanitizer.result import Change, FixResult
from simwright.sanitizer.rounds import Course, Order, Run, name_originals
from simwright.sanitizer.workspace import Workspace
from simwright.usd.plugins import register_plugins

_PATHS = "path-relative"
Read: TypeAlias = Callable[[Selected], Original]
"""Reads the asset as it was with a selection of variants, when that is first asked for."""


def sanitize(
    source: Path,
    order: Order,
    packages: PackageMap,
    *,
    target: Path | None = None,
    in_place: bool = False,
    with_diff: bool = False,
) -> FixResult:
    """Fix an asset.  Without ``target`` and ``in_place`` nothing is written.

    An asset that cannot be opened gives a result that says so; what cannot be written raises an OutputError.
    """
    register_plugins()
    result = FixResult(str(source))
    name = "" if target is None else (target.parent if target.suffix else target).absolute().name
    original = cache(
        lambda selected: read_original(
            source, packages, selected, order.wishes.values, stage=workspace.original
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
        keeps_inner = target is not None or (order.unsafe and _PATHS in order.codes)
        workspace.keeps_inner = keeps_inner
        course = _fix(workspace, order, original)
        if course is None:
            workspace.close()
            workspace = Workspace(source, packages, name=name)
            workspace.keeps_inner = keeps_inner
            course = _fix_carefully(workspace, order, original)
        _tell(course, workspace, result, original)
        if course.failed:
            return result
        if with_diff:
            result.diffs = _diff(workspace)
        if target is not None:
            write_new(workspace, target, result)
        elif in_place and workspace.changed_places:
            write_in_place(workspace, result)
    finally:
        workspace.close()
    return result


def _fix(workspace: Workspace, order: Order, original: Read) -> Course | None:
    """All fixes, then the proof; None if it fails."""
    run = Run(workspace, order, original)
    course = run.go()
    if not course.changes or course.failed:
        return course
    return None if course.crashed or run.prove() else course


def _fix_carefully(workspace: Workspace, order: Order, original: Read) -> Course:
    run = Run(workspace, order, original)
    run.careful = True
    return run.go()


def _tell(course: Course, workspace: Workspace, result: FixResult, original: Read) -> None:
    result.before = name_originals(course.before, workspace)
    result.after = name_originals(course.after, workspace)
    result.rounds = course.rounds
    if course.failed:
        result.notes += sort_diagnostics(course.notes)
        return
    result.changes = course.changes
    if workspace.keeps_inner:
        result.changes += [
            Change(_PATHS, Fixable.UNSAFE, place, "/", f"@{new}@ for @{old}@")
            for place, addresses in sorted(workspace.inner.items())
            for new, old in sorted(addresses.items())
        ]
    result.status = "fixed" if workspace.changed_places else "unchanged"
    where = Where(result.source)
    notes = Reporter()
    notes.extend(course.notes)
    counts = [Counter(finding.kind for finding in found) for found in (course.before, course.after)]
    for code, more in sorted((counts[1] - counts[0]).items()):
        notes.report(NEWLY_FOUND, where, rule=code, count=more)
    for path, moments in sorted(course.shifts.mended.items()):
        before, after = (f"({', '.join(f'{value:.6g}' for value in row)})" for row in moments)
        notes.report(MOMENTS_MENDED, Where(result.source, prim=path), before=before, after=after)
    if course.changes:
        problem = original(course.shifts.frozen_selection).problem
        result.proven = not problem
        if problem:
            notes.report(UNPROVEN, where, reason=problem)
    result.notes += sort_diagnostics(notes)


def _diff(workspace: Workspace) -> dict[str, str]:
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
