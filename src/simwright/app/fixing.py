# SPDX-License-Identifier: Apache-2.0
"""Fixing one asset or several with the settings of their project; the result as JSON and in a few lines.

The JSON is described by ``schemas/fix.v1.schema.json``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobKind,
    JobOptions,
    JobSpec,
    encode_findings,
    note_environment,
    number_items,
)
from simwright.app.jobs.running import LocalExecutor, run_items
from simwright.app.report.json import build_document
from simwright.app.report.report import TOOL_NAME, AssetReport, Report, replace_surrogates
from simwright.checker.config import Config, find_config, read_config
from simwright.checker.result import group_findings
from simwright.core.diag import Diagnostic, Fixable, Level, count_levels, declare, decode_finding
from simwright.core.errors import UsageError
from simwright.core.pool import NO_LIMITS, JobLimits
from simwright.sanitizer.result import Change, FixResult

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
    spec, items = plan_fixes(tasks, request, limits)
    outcomes = run_items(spec, items, LocalExecutor(jobs))
    return [decode_fix(item.asset, one) for item, one in zip(items, outcomes, strict=True)]


def plan_fixes(
    tasks: Sequence[FixTask], request: FixRequest, limits: JobLimits = NO_LIMITS
) -> tuple[JobSpec, list[JobItem]]:
    """The job of fixing assets."""
    options: JobOptions = {
        **asdict(request),
        "select": list(request.select),
        "ignore": list(request.ignore),
        "packages": {name: str(path) for name, path in request.packages.items()},
        "config": str(request.config.absolute()) if request.config else None,
    }
    spec = JobSpec("fix", options, limits, environment=note_environment())
    return spec, number_items([(asset, {"target": target} if target else {}) for asset, target in tasks])


def name_targets(assets: Sequence[str], folder: str) -> list[str | None]:
    """A folder below ``folder`` for each asset, by its path below what all of them have in common."""
    places = [os.path.abspath(asset) for asset in assets]  # noqa: PTH100 - text
    root = os.path.commonpath([os.path.dirname(place) for place in places])  # noqa: PTH120 - text
    names = [str(Path(os.path.relpath(place, root)).with_suffix("")) for place in places]
    tally = Counter(names)
    found: list[str | None] = []
    for name, place in zip(names, places, strict=True):
        # two assets that differ by their endings only
        own = name if tally[name] == 1 else f"{name}_{Path(place).suffix[1:]}"
        found.append(str(Path(folder).absolute() / own))
    return found


def fix_item(options: JobOptions) -> ItemOutcome:
    """Fix one asset among others."""
    own = {one.name: options[one.name] for one in fields(FixRequest)}
    config = Path(options["config"]) if options["config"] else None
    result = fix_one(options["asset"], options.get("target"), FixRequest(**{**own, "config": config}))
    plain = {one.name: getattr(result, one.name) for one in fields(FixResult) if one.name != "source"}
    for name in ("before", "after", "notes"):
        plain[name] = encode_findings(plain[name])
    plain["changes"] = [asdict(change) for change in result.changes]
    # what is left is what a report is about; what was there before is in the result
    return ItemOutcome(result.status, result.exit_code, [*plain.pop("notes"), *plain.pop("after")], {
        **plain, "notes": len(result.notes),
    })  # fmt: skip


def decode_fix(source: str, outcome: ItemOutcome) -> FixResult:
    """The result in an outcome of :func:`fix_item`, or of an asset that was lost."""
    found, told = outcome.decode_findings(), dict(outcome.result)
    notes = told.pop("notes", len(found))
    before = [decode_finding(plain) for plain in told.pop("before", [])]
    changes = [Change(**{**one, "grade": Fixable(one["grade"])}) for one in told.pop("changes", [])]
    told["status"] = outcome.status
    return FixResult(source, **told, before=before, changes=changes, notes=found[:notes], after=found[notes:])


FIX_JOB = JobKind(fix_item, died=FIXER_DIED)


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
    from simwright.sanitizer.fixer import check_name

    for value in config.fix:
        check_name(value.name, value.where)
    return {value.name: value.text for value in config.fix}


def _load_config(source: str, request: FixRequest) -> Config:
    file = request.config or find_config([source])
    return read_config(file) if file else Config()


VERSION = 1
_MOST_SHOWN = 3
_MOST_NAMED = 8


def describe_fix(result: FixResult) -> dict[str, Any]:
    """The report of one asset."""
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "source": replace_surrogates(result.source),
        "status": result.status,
        "entry": replace_surrogates(result.entry) or None,
        "backup": replace_surrogates(result.backup) or None,
        "backups": [replace_surrogates(file) for file in result.backups],
        "files": [replace_surrogates(file) for file in result.files],
        "rounds": result.rounds,
        "proven": result.proven,
        "fixed": result.fixed,
        "changes": [
            {
                "rule": change.rule,
                "grade": change.grade.value,
                "layer": replace_surrogates(change.file),
                "path": replace_surrogates(change.path),
                "change": replace_surrogates(change.what),
            }
            for change in result.changes
        ],
        "notes": _list_findings(result.notes),
        "left": _list_findings(result.after),
        "diffs": {replace_surrogates(k): replace_surrogates(v) for k, v in result.diffs.items()},
        "summary": {"before": count_levels(result.before), "after": count_levels(result.after)},
    }


def summarize_fix(result: FixResult, *, dry_run: bool = False) -> list[str]:
    """A few lines for people."""
    lines = [f"  {code}: {count} fixed" for code, count in result.fixed.items()]
    # as check counts them
    total, left = sum(result.fixed.values()), group_findings(result.after)
    rounds = f" in {_count(result.rounds, 'round')}" if result.rounds else ""
    lines.append(f"{_count(total, 'finding')} fixed{rounds}, {len(left)} left{_show_levels(left)}")
    if result.changes and result.proven:
        lines.append("compared before and after: the machine is the same, but for what was fixed")
    lines += _tell_left(result, left)
    if dry_run:
        lines.append("nothing was written: this was a dry run")
    return lines


def choose_notes(result: FixResult) -> tuple[list[Diagnostic], list[str]]:
    """Notes for people to read, a few of each sort, and lines that count the others."""
    shown: list[Diagnostic] = []
    notes = _drop_related(result)
    # a fix that is refused is refused for every prim alike: hundreds of equal notes would hide the
    # others
    sorts = Counter(_sort_of(note) for note in notes)
    seen: Counter[tuple[str, str]] = Counter()
    for note in notes:
        seen[_sort_of(note)] += 1
        if seen[_sort_of(note)] <= _MOST_SHOWN:
            shown.append(note)
    more = [
        f"{count - _MOST_SHOWN} more {kind}{f' of {rule}' if rule else ''}: --report json lists them all"
        for (kind, rule), count in sorts.items()
        if count > _MOST_SHOWN
    ]
    return shown, more


def _drop_related(result: FixResult) -> list[Diagnostic]:
    """Notes without those about findings that are one with another one that is told: one fault, one note."""
    told = {_about(str(note.data.get("rule", "")), note) for note in result.notes}
    idle = {
        _about(other.kind, other)
        for finding in group_findings(result.after)
        if _about(finding.kind, finding) in told
        for other in finding.related
    }
    return [note for note in result.notes if _about(str(note.data.get("rule", "")), note) not in idle]


def _about(rule: str, told: Diagnostic) -> tuple[str, str, str, str]:
    return rule, told.where.file, told.where.prim, told.where.prop


def _sort_of(note: Diagnostic) -> tuple[str, str]:
    return note.kind, str(note.data.get("rule", ""))


def _tell_left(result: FixResult, left: list[Diagnostic]) -> list[str]:
    """Why findings that have a fix are left: it was tried, or it waits for a word."""
    # one function: it sorts what is left into two groups and says each in a line. A fix that was
    # refused is not offered again, even with --unsafe
    tried = {
        (note.data["rule"], note.where.prim, note.where.prop)
        for note in result.notes
        if note.kind in ("fix-refused", "fix-undone", "fix-idle")
    }
    fixable = [finding for finding in left if finding.fixable is Fixable.UNSAFE]
    waiting = [f for f in fixable if (f.kind, f.where.prim, f.where.prop) not in tried]
    lines = []
    if len(waiting) < len(fixable):
        lines.append(f"{len(fixable) - len(waiting)} of them cannot be fixed as they are: see the warnings")
    if waiting:
        lines.append(
            f"{len(waiting)} of them have a fix that was not asked for (by --unsafe, --set or --select):"
        )
        counts = Counter(finding.kind for finding in waiting)
        names = [f"{code} {count}" if count > 1 else code for code, count in counts.most_common(_MOST_NAMED)]
        more = len(counts) - len(names)
        others = f" and {_count(more, 'more rule')}" if more else ""
        lines.append(f"  {', '.join(names)}{others}")
    return lines


def _show_levels(findings: Iterable[Diagnostic]) -> str:
    words = {"error": "error", "warning": "warning", "info": "remark"}
    counts = count_levels(findings)
    shown = [_count(counts[level], word) for level, word in words.items() if counts.get(level)]
    return f" ({', '.join(shown)})" if shown else ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _list_findings(findings: Iterable[Diagnostic]) -> list[Any]:
    document = build_document(Report([AssetReport("", list(findings))]))
    listed: list[Any] = document["assets"][0]["findings"]
    return listed


def describe_backups(result: FixResult) -> str:
    """Where the old files are, in words."""
    more = len(result.backups) - 1
    return f"{result.backups[0]}" + (f" and {more} more" if more > 0 else "")
