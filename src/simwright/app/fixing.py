# SPDX-License-Identifier: Apache-2.0
"""Fixing one asset or several with the settings of their project."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from simwright.app.report.json import make_plain
from simwright.checker.config import Config, find_config, read_config
from simwright.core.diag import Level, declare, diagnostic_from_error
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.pool import NO_LIMITS, JobLimits, Loss, describe_loss, run_each

if TYPE_CHECKING:
    from simwright.sanitizer.result import FixResult

FIXER_DIED = declare(
    "fix-process-died",
    Level.ERROR,
    "the process that fixed this asset died",
    hint="the file makes OpenUSD crash; please report it",
    doc="A worker process ended without a result while it fixed an asset, which is as it was.",
)
FixTask: TypeAlias = tuple[str, str | None]
"""An asset and where its fixed copy goes; None for in place or nowhere."""


@dataclass(frozen=True, slots=True)
class FixRequest:
    """What the user asked for; the words of :func:`simwright.fix`."""

    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    unsafe: bool = False
    in_place: bool = False
    dry_run: bool = False
    diff: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, Path] = field(default_factory=dict)
    config: Path | None = None


def fix_one(source: str, target: str | None, request: FixRequest) -> FixResult:
    """Fix one asset."""
    from simwright.app.api import fix

    config = _load_config(source, request)
    return fix(
        source,
        target,
        select=request.select or config.select,
        # added, while select replaces: what a project ignores stays ignored
        ignore=[*config.ignore, *request.ignore],
        unsafe=request.unsafe,
        in_place=request.in_place,
        dry_run=request.dry_run,
        diff=request.diff,
        # the command line counts over the file of the project
        values={**_read_values(config), **request.values},
        settings=config.settings,
        packages=request.packages,
    )


def fix_in_place(
    inputs: Sequence[str], request: FixRequest, *, jobs: int = 1, limits: JobLimits = NO_LIMITS
) -> list[FixResult]:
    """Fix every asset that the inputs mean, where it is; ``jobs`` is the number of processes.

    ``limits`` are those of each asset.  One that cannot be written does not stop the others.
    """
    from simwright.checker.entry_points import find_assets

    assert request.in_place
    paths = find_assets(inputs)
    return fix_all([(path, None) for path in paths], request, jobs=jobs, limits=limits)


def fix_all(
    tasks: Sequence[FixTask], request: FixRequest, *, jobs: int = 1, limits: JobLimits = NO_LIMITS
) -> list[FixResult]:
    """Fix assets, each given with its target or None, among others; the results in their order."""
    from simwright.sanitizer.result import FixResult

    done: dict[FixTask, FixResult] = {}

    def lose(task: FixTask, loss: Loss) -> FixResult:
        return FixResult(task[0], notes=[describe_loss(loss, task[0], limits, FIXER_DIED)])

    work = functools.partial(_fix_safely, request=request)
    if limits or (jobs > 1 and len(tasks) > 1):
        run_each(work, tasks, done.__setitem__, lose, jobs=jobs, limits=limits)
    else:
        done = {task: work(task) for task in tasks}
    return [done[task] for task in tasks]


def _fix_safely(task: FixTask, request: FixRequest) -> FixResult:
    """Fix one asset among others; the result can be sent between processes."""
    from simwright.sanitizer.result import FixResult

    try:
        result = fix_one(*task, request)
    # the same for all assets: told once, not as a finding of each
    except UsageError:
        raise
    except SimwrightError as error:
        result = FixResult(task[0], notes=[diagnostic_from_error(error)])
    for found in (result.before, result.after, result.notes):
        # findings hold fixes (functions) and OpenUSD values, which cannot be pickled
        found[:] = [make_plain(finding) for finding in found]
    return result


def check_ways(target: str | None, *, in_place: bool, dry_run: bool) -> None:
    """One of the three ways has to be chosen; a dry run may stand with the other two."""
    if target is not None and in_place:
        raise UsageError("-o and --in-place exclude each other", hint="choose one of them")
    if target is None and not in_place and not dry_run:
        raise UsageError(
            "say where the fixed asset goes",
            hint="-o OUT for a new folder, --in-place, or --dry-run to look first",
        )


def _read_values(config: Config) -> dict[str, str]:
    """Values of the project, every one of which some fix asks for."""
    from simwright.sanitizer.values import check_name

    for value in config.fix:
        check_name(value.name, value.where)
    return {value.name: value.text for value in config.fix}


def _load_config(source: str, request: FixRequest) -> Config:
    file = request.config or find_config([source])
    return read_config(file) if file else Config()
