# SPDX-License-Identifier: Apache-2.0
"""One run of the checker over many inputs: configuration, choice of rules, cache, baseline, report.

The order matters for speed: until an asset is found that has to be checked, nothing imports OpenUSD.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simwright.app.report.report import Report, build_asset_report, shorten_path
from simwright.app.scenes import check_scene, split_scenes
from simwright.checker.batch import CheckPlan, Listener, check_paths
from simwright.checker.cache import open_cache
from simwright.checker.catalogue import CatalogueEntry, load_catalogue
from simwright.checker.config import Config, build_policy, find_config, read_config
from simwright.checker.entry_points import find_assets
from simwright.checker.result import (
    AssetResult,
    group_findings,
    read_baseline,
    subtract_baseline,
    write_baseline,
)
from simwright.checker.select import choose_rules, match_words
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Diagnostic, Level, sort_diagnostics
from simwright.core.errors import EXIT_BAD_INPUT, EXIT_CLEAN, EXIT_FINDINGS, UsageError
from simwright.core.limits import is_untrusted
from simwright.core.pool import NO_LIMITS, JobLimits


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What the user asked for; None leaves the choice to the configuration."""

    inputs: Sequence[str]
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    profile: str | None = None
    fail_on: str | None = None
    variants: bool = False
    interfaces: Sequence[Path] = ()
    packages: dict[str, Path] = field(default_factory=dict)
    config: Path | None = None
    use_cache: bool = True
    jobs: int | None = None
    limits: JobLimits = NO_LIMITS
    baseline: Path | None = None
    write_baseline: bool = False
    stamp: bool = False


@dataclass(slots=True)
class CheckOutcome:
    """What came out.  ``known`` and ``gone`` count findings of the baseline, seen and no longer seen."""

    results: list[AssetResult]
    entries: list[CatalogueEntry]
    fail_on: str = "error"
    known: int = 0
    gone: int = 0
    written: int | None = None
    stamped: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings at or above the level that fails, 2 when nothing could be opened."""
        if all(result.failed for result in self.results):
            return EXIT_BAD_INPUT
        # who writes a baseline accepts what is found
        if self.written is not None or self.fail_on == "never":
            return EXIT_CLEAN
        limit = Level(self.fail_on).rank
        levels = (finding.level for result in self.results for finding in result.findings)
        return EXIT_FINDINGS if any(level.rank <= limit for level in levels) else EXIT_CLEAN

    @property
    def suppressed(self) -> int:
        """Number of suppressed findings."""
        return sum(len(result.suppressed) for result in self.results)


def run_check(request: CheckRequest, listener: Listener | None = None) -> CheckOutcome:
    """Check every asset that the inputs mean."""
    if request.write_baseline and request.baseline is None:
        raise UsageError("--write-baseline needs to know where", hint="add --baseline FILE")
    # one function: the steps of a check in their order, each of which needs what the ones before
    # found
    config = _load_config(request)
    profile = request.profile or config.profile
    _refuse_partial_stamp(request, config)
    # read before anything is checked: a baseline that is broken is told at once
    known = read_baseline(request.baseline) if request.baseline and not request.write_baseline else None
    cache = open_cache(request.use_cache)
    entries = load_catalogue(cache)
    match_words(entries, [*request.select, *request.ignore])  # typing errors here are not the file's
    choice = choose_rules(
        entries, request.select or config.select, [*config.ignore, *request.ignore], profile, config.where
    )
    policy = build_policy(config, entries, choice.hidden)
    packages = tuple(sorted((name, str(path)) for name, path in request.packages.items()))
    scenes, others = split_scenes(request.inputs)
    results = [check_scene(path) for path in scenes]
    results += check_paths(
        find_assets(others, cache),
        CheckPlan(choice.codes, _choose_settings(request, config), request.variants, packages),
        cache,
        jobs=request.jobs or _count_cores(),
        # a number that was given is meant: without one a few assets are checked in this process, which is
        # faster
        force_pool=request.jobs is not None,
        limits=request.limits,
        listener=listener,
    )
    outcome = CheckOutcome([policy.apply(result) for result in results], entries)
    outcome.fail_on = request.fail_on or config.fail_on
    if request.stamp:
        outcome.stamped = _stamp(outcome.results, profile)
    if request.baseline is not None:
        _apply_baseline(outcome, request.baseline, known)
    return outcome


def build_check_report(outcome: CheckOutcome, *, show_suppressed: bool = False) -> Report:
    """The outcome as a report, findings with one cause as one; files below the working folder have relative names."""
    report = Report()
    for result in outcome.results:
        findings = list(result.findings)
        if show_suppressed:
            findings += [_show(item.finding, item.reason) for item in result.suppressed]
        grouped = group_findings(sort_diagnostics(_shorten(finding) for finding in findings))
        report.assets.append(build_asset_report(result.path, grouped))
    return report


def _load_config(request: CheckRequest) -> Config:
    # the settings beside an untrusted asset are not the user's
    file = request.config or (None if is_untrusted() else find_config(request.inputs))
    return read_config(file) if file else Config()


def _choose_settings(request: CheckRequest, config: Config) -> CheckSettings:
    """The settings of the project, with the interface folders of the command line after its own."""
    extra = tuple(path.absolute() for path in request.interfaces)
    return dataclasses.replace(config.settings, interfaces=(*config.settings.interfaces, *extra))


def _apply_baseline(outcome: CheckOutcome, file: Path, known: Counter[str] | None) -> None:
    """Take known findings out of the results; without known ones, write what was found."""
    if known is None:
        outcome.written = write_baseline(file, outcome.results)
    else:
        outcome.known, outcome.gone = subtract_baseline(outcome.results, known, file)


def _refuse_partial_stamp(request: CheckRequest, config: Config) -> None:
    """Refuse options that leave rules out: a claim says that every rule of a profile was checked."""
    chosen = request.select or request.ignore or config.select or config.ignore or config.severity
    if request.stamp and chosen:
        raise UsageError(
            "--stamp claims a whole profile and cannot be used with selected rules or other severities",
            hint="leave them out; suppress single findings in the asset, with a reason",
        )


def _stamp(results: list[AssetResult], profile: str) -> list[tuple[str, bool]]:
    from simwright.checker.suppress import stamp_asset

    return [(result.path, stamp_asset(result, profile)) for result in results]


def _count_cores() -> int:
    try:
        # not os.cpu_count: a container or a CI job often may use fewer cores than the machine has
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _show(finding: Diagnostic, reason: str) -> Diagnostic:
    """A suppressed finding as information."""
    return dataclasses.replace(
        finding,
        level=Level.INFO,
        message=f"{finding.message} (suppressed: {reason})",
        data={**finding.data, "suppressed": reason},
    )


def _shorten(finding: Diagnostic) -> Diagnostic:
    where = finding.where
    if not where.file:
        return finding
    return dataclasses.replace(finding, where=dataclasses.replace(where, file=shorten_path(where.file)))
