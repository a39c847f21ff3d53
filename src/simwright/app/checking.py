# SPDX-License-Identifier: Apache-2.0
"""One run of the checker over many inputs: configuration, choice of rules, cache, baseline, report.

Assets are the items of a job (:mod:`simwright.app.jobs`); :func:`check_item` is what is done with one.  The order
matters for speed: until an asset is found that has to be checked, nothing imports OpenUSD.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobKind,
    JobOptions,
    JobSpec,
    note_environment,
    number_items,
)
from simwright.app.jobs.running import POOL_WORTHWHILE, JobListener, LocalExecutor, count_cores, run_items
from simwright.app.report.report import AssetReport, Report, build_asset_report, shorten_finding
from simwright.app.scenes import check_scene, split_scenes
from simwright.checker.batch import CHECKER_DIED, AssetChecker, CheckPlan
from simwright.checker.cache import open_cache
from simwright.checker.catalogue import CatalogueEntry, load_catalogue
from simwright.checker.config import FAIL_ON, Config, FindingPolicy, build_policy, find_config, read_config
from simwright.checker.entry_points import find_assets
from simwright.checker.result import (
    AssetResult,
    decode_result,
    encode_result,
    group_findings,
    read_baseline,
    subtract_baseline,
    write_baseline,
)
from simwright.checker.select import choose_rules, match_words
from simwright.core.diag import Diagnostic, Level, sort_diagnostics
from simwright.core.errors import EXIT_BAD_INPUT, EXIT_CLEAN, EXIT_FINDINGS, UnknownNameError, UsageError
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


def run_check(request: CheckRequest, listener: JobListener | None = None) -> CheckOutcome:
    """Check every asset that the inputs mean."""
    spec, items = plan_check(request)
    outcomes = run_items(
        spec,
        items,
        # a number that was given is meant: without one a few assets are checked in this process, which is
        # faster
        LocalExecutor(
            jobs=request.jobs or count_cores(), least=2 if request.jobs is not None else POOL_WORTHWHILE
        ),
        listener,
    )
    trim_cache(request, outcomes)
    prepared = _prepare(_make_key(spec.options, spec.run))
    results = [decode_check(item.asset, one) for item, one in zip(items, outcomes, strict=True)]
    outcome = CheckOutcome(results, prepared.entries, prepared.fail_on)
    if request.stamp:
        outcome.stamped = _stamp(outcome.results, prepared.profile)
    if request.baseline is not None:
        if request.write_baseline:
            outcome.written = write_baseline(request.baseline, outcome.results)
        else:
            outcome.known = sum(one.result["known"] for one in outcomes)
            outcome.gone = prepared.count_known() - outcome.known
    return outcome


def plan_check(request: CheckRequest) -> tuple[JobSpec, list[JobItem]]:
    """The job of a request: what is wrong with its options is told here, before an asset is opened."""
    if request.write_baseline and request.baseline is None:
        raise UsageError("--write-baseline needs to know where", hint="add --baseline FILE")
    config = _find_config(request)
    baseline = request.baseline.absolute() if request.baseline and not request.write_baseline else None
    options: JobOptions = {
        "select": list(request.select),
        "ignore": list(request.ignore),
        "profile": request.profile,
        "fail_on": request.fail_on,
        "variants": request.variants,
        "interfaces": [str(path.absolute()) for path in request.interfaces],
        "packages": {name: str(path) for name, path in sorted(request.packages.items())},
        "config": str(config.absolute()) if config else None,
        "cache": request.use_cache,
        "baseline": str(baseline) if baseline else None,
    }
    spec = JobSpec("check", options, request.limits, environment=note_environment())
    prepared = _prepare(_make_key(options, spec.run))
    _refuse_partial_stamp(request, prepared.config)
    scenes, others = split_scenes(request.inputs)
    # with a manifest alone there are no inputs
    paths = [*scenes, *(find_assets(others, prepared.checker.cache) if others else [])]
    return spec, number_items([(path, {}) for path in paths])


@dataclass(slots=True)
class PreparedCheck:
    """What the options of a check mean, for all assets that have the same ones."""

    config: Config
    profile: str
    fail_on: str
    entries: list[CatalogueEntry]
    policy: FindingPolicy
    checker: AssetChecker
    baseline: Path | None
    known: Counter[str] | None

    def count_known(self) -> int:
        """Number of findings in the baseline."""
        return sum((self.known or {}).values())

    def judge(self, result: AssetResult) -> ItemOutcome:
        """The result by the settings of the project, without what the baseline knows."""
        result = self.policy.apply(result)
        known = 0
        # fingerprints name the asset: what is known of one says nothing about another
        if self.known is not None and self.baseline is not None:
            known = subtract_baseline([result], self.known, self.baseline)
        plain = encode_result(result)
        code = EXIT_BAD_INPUT if result.failed else _find_code(result.findings, self.fail_on)
        status = "failed" if result.failed else "findings" if result.findings else "clean"
        return ItemOutcome(
            status, code, plain["findings"], {"suppressed": plain["suppressed"], "known": known}
        )


def _make_key(options: JobOptions, run: str) -> str:
    return json.dumps({**options, "run": run, "asset": ""}, sort_keys=True)


@lru_cache(maxsize=32)
def _prepare(key: str) -> PreparedCheck:
    """What options mean; ``key`` is their text, with the run: another run looks at files again."""
    options: JobOptions = json.loads(key)
    if options["fail_on"] is not None and options["fail_on"] not in FAIL_ON:
        raise UnknownNameError("level", options["fail_on"], FAIL_ON)
    config = read_config(options["config"]) if options["config"] else Config()
    profile = options["profile"] or config.profile
    baseline = Path(options["baseline"]) if options["baseline"] else None
    # read before anything is checked: a baseline that is broken is told at once
    known = read_baseline(baseline) if baseline else None
    cache = open_cache(options["cache"])
    entries = load_catalogue(cache)
    match_words(entries, [*options["select"], *options["ignore"]])  # typing errors here are not the file's
    choice = choose_rules(
        entries,
        options["select"] or config.select,
        [*config.ignore, *options["ignore"]],
        profile,
        config.where,
    )
    # the interface folders of the command line come after those of the project
    extra = tuple(Path(path) for path in options["interfaces"])
    settings = dataclasses.replace(config.settings, interfaces=(*config.settings.interfaces, *extra))
    packages = tuple(sorted(options["packages"].items()))
    return PreparedCheck(
        config,
        profile,
        options["fail_on"] or config.fail_on,
        entries,
        build_policy(config, entries, choice.hidden),
        AssetChecker(CheckPlan(choice.codes, settings, options["variants"], packages), cache),
        baseline,
        known,
    )


def check_item(options: JobOptions) -> ItemOutcome:
    """Check one asset or scene."""
    prepared, asset = _prepare(_make_key(options, options["run"])), options["asset"]
    if split_scenes([asset])[0]:
        return prepared.judge(check_scene(asset))
    checker = prepared.checker
    return prepared.judge(checker.find(asset) or checker.check(asset))


def find_checked(options: JobOptions) -> ItemOutcome | None:
    """The outcome of an asset in which nothing has changed; this loads neither OpenUSD nor a rule."""
    prepared = _prepare(_make_key(options, options["run"]))
    result = prepared.checker.find(options["asset"])
    return prepared.judge(result) if result is not None else None


def decode_check(path: str, outcome: ItemOutcome) -> AssetResult:
    """The result in an outcome of :func:`check_item`, or of an asset that was lost."""
    suppressed = outcome.result.get("suppressed", [])
    plain = {"findings": outcome.findings, "suppressed": suppressed, "failed": outcome.status == "failed"}
    return decode_result(path, plain)


def trim_cache(request: CheckRequest, outcomes: Iterable[ItemOutcome]) -> None:
    """Keep the cache small."""
    # what was known took no time; a run of hits adds nothing, and trimming lists the whole folder
    if request.use_cache and any(outcome.seconds for outcome in outcomes):
        open_cache(True).trim()


def _find_code(findings: Iterable[Diagnostic], fail_on: str) -> int:
    if fail_on == "never":
        return EXIT_CLEAN
    limit = Level(fail_on).rank
    return EXIT_FINDINGS if any(found.level.rank <= limit for found in findings) else EXIT_CLEAN


def _combine_codes(codes: Mapping[int, int], options: JobOptions) -> int:
    """As :attr:`CheckOutcome.exit_code` has it."""
    if set(codes) == {EXIT_BAD_INPUT}:
        return EXIT_BAD_INPUT
    if options["fail_on"] == "never":
        return EXIT_CLEAN
    return EXIT_FINDINGS if set(codes) - {EXIT_CLEAN} else EXIT_CLEAN


CHECK_JOB = JobKind(check_item, find_checked, CHECKER_DIED, combine=_combine_codes)


def build_check_report(outcome: CheckOutcome, *, show_suppressed: bool = False) -> Report:
    """The outcome as a report, findings with one cause as one; files below the working folder have relative names."""
    return Report([report_asset(result, show_suppressed=show_suppressed) for result in outcome.results])


def report_asset(result: AssetResult, *, show_suppressed: bool = False) -> AssetReport:
    """The part of the report about one asset."""
    findings = list(result.findings)
    if show_suppressed:
        findings += [_show(item.finding, item.reason) for item in result.suppressed]
    grouped = group_findings(sort_diagnostics(shorten_finding(finding) for finding in findings))
    return build_asset_report(result.path, grouped)


def _find_config(request: CheckRequest) -> Path | None:
    # the settings beside an untrusted asset are not the user's
    return request.config or (None if is_untrusted() else find_config(request.inputs))


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


def _show(finding: Diagnostic, reason: str) -> Diagnostic:
    """A suppressed finding as information."""
    return dataclasses.replace(
        finding,
        level=Level.INFO,
        message=f"{finding.message} (suppressed: {reason})",
        data={**finding.data, "suppressed": reason},
    )
