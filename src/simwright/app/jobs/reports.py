# SPDX-License-Identifier: Apache-2.0
"""Reports about a job, made from its rows one after the other: the same for the same rows, in memory that stays small.

==========  ==========================================================================================
text        totals, what was found most, what failed
json        one document; an asset is a line of it
json-lines  one JSON object for each asset
junit       JUnit XML, a suite for each asset
sarif       one SARIF run
html        one page with filters (:mod:`simwright.app.jobs.page`)
prometheus  counters in the text format that Prometheus reads
==========  ==========================================================================================

Nothing in a report but that of Prometheus depends on the executor, the number of workers or the time it took.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright import __version__
from simwright.app.jobs.model import ItemOutcome, JobItem, combine_codes
from simwright.app.jobs.store import JobStore, JobTotals, TextSink
from simwright.app.report.json import build_asset
from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    build_asset_report,
    count_words,
    replace_surrogates,
    shorten_finding,
    shorten_path,
)
from simwright.core.diag import Diagnostic
from simwright.core.registry import Registry
from simwright.core.visible import make_visible

VERSION = 1
"""Of the JSON report, ``schemas/job.v1.schema.json``."""
_MOST_SHOWN = 20
_TOLD_OF_FIXES = ("version", "tool", "source", "status", "notes", "left")


JOB_REPORTS: Registry[Callable[[JobStore, TextSink], None]] = Registry(
    "report of jobs",
    "simwright.job_reports",
    {
        "text": "simwright.app.jobs.reports:write_text",
        "json": "simwright.app.jobs.reports:write_json",
        "json-lines": "simwright.app.jobs.reports:write_lines",
        "junit": "simwright.app.jobs.reports:write_junit",
        "sarif": "simwright.app.jobs.reports:write_sarif",
        "html": "simwright.app.jobs.page:write_html",
        "prometheus": "simwright.app.jobs.reports:write_prometheus",
    },
)
"""Reports about a job, by the name that ``--format`` has for them."""


def write_report(store: JobStore, name: str, out: TextSink) -> None:
    """Write the report called ``name`` about what is done."""
    JOB_REPORTS.get(name)(store, out)


def report_row(command: str, asset: str, outcome: ItemOutcome) -> AssetReport:
    """The part of a report about one item, as the command itself would have it."""
    if command == "check":
        # one fault is one finding, as in the report of a check
        from simwright.app.checking import decode_check, report_asset

        report = report_asset(decode_check(asset, outcome))
    else:
        report = build_asset_report(asset, map(shorten_finding, outcome.decode_findings()))
    report.path = shorten_path(report.path)
    return report


def describe_row(command: str, item: JobItem, outcome: ItemOutcome) -> dict[str, Any]:
    """One item as an object of the JSON reports."""
    plain = build_asset(report_row(command, item.asset, outcome))
    return {
        "number": item.number,
        "path": plain["path"],
        "status": outcome.status,
        "code": outcome.code,
        "findings": plain["findings"],
        "result": _describe_result(command, item.asset, outcome),
    }


def _describe_result(command: str, asset: str, outcome: ItemOutcome) -> dict[str, Any]:
    """What a command says of an asset beside its findings."""
    if command == "fix":
        from simwright.app.fixing import decode_fix, describe_fix

        # without what is the same for all, and what is told as findings
        told = describe_fix(decode_fix(asset, outcome))
        return {name: value for name, value in told.items() if name not in _TOLD_OF_FIXES}
    return {name: value for name, value in outcome.result.items() if name != "suppressed"}


def write_line(command: str, item: JobItem, outcome: ItemOutcome) -> str:
    """One item as a line of ``json-lines``."""
    return json.dumps(describe_row(command, item, outcome), allow_nan=False) + "\n"


@dataclass(slots=True)
class JobTrend:
    """What is new and what is gone since the job before, by ``level rule``; assets that were not there are left out."""

    new: Counter[str] = field(default_factory=Counter)
    gone: Counter[str] = field(default_factory=Counter)
    assets: int = 0
    """Assets that the job before did not have."""


def find_trend(store: JobStore) -> JobTrend | None:
    """The trend against the last run; None where there was none."""
    rows = store.compare_previous()
    if rows is None:
        return None
    trend = JobTrend()
    for now, before in rows:
        if before is None:
            trend.assets += 1
            continue
        trend.new.update(Counter(now) - Counter(before))
        trend.gone.update(Counter(before) - Counter(now))
    return trend


def summarize(store: JobStore) -> dict[str, Any]:
    """The totals of a job as the JSON report has them, with the exit code and the trend."""
    totals, trend = store.measure(), find_trend(store)
    plain: dict[str, Any] = {
        "items": totals.items,
        "done": totals.done,
        "statuses": totals.statuses,
        "findings": totals.findings,
        "code": find_code(store, totals),
    }
    if trend is not None:
        plain["trend"] = {
            "new": dict(sorted(trend.new.items())),
            "gone": dict(sorted(trend.gone.items())),
            "assets": trend.assets,
        }
    return plain


def find_code(store: JobStore, totals: JobTotals | None = None) -> int:
    """The exit code of the job as far as it is done."""
    spec = store.spec
    return combine_codes(spec.command, (totals or store.measure()).codes, spec.options)


def write_json(store: JobStore, out: TextSink) -> None:
    """One document; an asset is a line of it."""
    command = store.spec.command
    head = {"version": VERSION, "tool": {"name": TOOL_NAME, "version": __version__}, "command": command}
    out.write(json.dumps(head)[:-1] + ', "assets": [')
    for number, row in enumerate(store.iterate()):
        out.write((",\n" if number else "\n") + write_line(command, row.item, row.outcome).rstrip())
    out.write(f'\n], "summary": {json.dumps(summarize(store))}}}\n')


def write_lines(store: JobStore, out: TextSink) -> None:
    """One JSON object for each asset."""
    command = store.spec.command
    for row in store.iterate():
        out.write(write_line(command, row.item, row.outcome))


def write_junit(store: JobStore, out: TextSink) -> None:
    """JUnit XML, a suite for each asset."""
    from lxml import etree

    from simwright.app.report.junit import add_suite, count_cases, write_counts

    command = store.spec.command
    cases = errors = 0
    # the counts stand before what is counted: suites go to a file of the system first
    with tempfile.TemporaryFile("w+", encoding="utf-8") as body:
        for report in _list_reports(store, command):
            root = etree.Element("testsuites")
            add_suite(root, report)
            cases += count_cases(report)
            errors += report.summary()["error"]
            etree.indent(root)
            body.write(etree.tostring(root[0], encoding="unicode").rstrip() + "\n")
        head = etree.tostring(
            etree.Element("testsuites", write_counts(TOOL_NAME, cases, errors)), encoding="unicode"
        )
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n{head.removesuffix("/>")}>\n')
        body.seek(0)
        for line in body:
            out.write(line)
    out.write("</testsuites>\n")


def write_sarif(store: JobStore, out: TextSink) -> None:
    """One SARIF run."""
    from simwright.app.report.sarif import ROOT, SCHEMA, build_result, build_rule

    command = store.spec.command
    order: dict[str, int] = {}
    firsts: list[Diagnostic] = []
    run = {
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that the tool ran in."}}},
    }
    out.write(json.dumps({"$schema": SCHEMA, "version": "2.1.0"})[:-1])
    out.write(', "runs": [' + json.dumps(run)[:-1] + ', "results": [')
    between = "\n"
    for report in _list_reports(store, command):
        # fingerprints name the asset: equal findings are told apart within it
        seen: Counter[str] = Counter()
        for finding in report.findings:
            if finding.kind not in order:
                order[finding.kind] = len(firsts)
                firsts.append(finding)
            out.write(between + json.dumps(build_result(report, finding, order, seen), allow_nan=False))
            between = ",\n"
    declare_rules(command)
    driver = {"name": TOOL_NAME, "version": __version__, "rules": [build_rule(one) for one in firsts]}
    out.write(f'\n], "tool": {json.dumps({"driver": driver}, allow_nan=False)}}}]}}\n')


def write_text(store: JobStore, out: TextSink) -> None:
    """Totals, what was found most, what failed."""
    totals, trend = store.measure(), find_trend(store)
    rules: Counter[str] = Counter()
    failed: list[str] = []
    for row in store.iterate():
        rules.update(row.tally)
        if row.outcome.status == "failed" and len(failed) <= _MOST_SHOWN:
            reason = row.outcome.findings[0]["message"] if row.outcome.findings else ""
            failed.append(f"{shorten_path(row.item.asset)}: {reason}")
    lines = [f"{totals.done} of {totals.items} done: {_spell(totals.statuses)}", count_words(totals.findings)]
    ranked = sorted(rules.items(), key=lambda one: (-one[1], one[0]))
    width = max((len(str(count)) for _, count in ranked), default=1)
    for name, count in ranked[:_MOST_SHOWN]:
        level, _, rule = name.partition(" ")
        lines.append(f"{count:>{width}}  {level:<7}  {rule}")
    if len(ranked) > _MOST_SHOWN:
        lines.append(f"and {len(ranked) - _MOST_SHOWN} more rules")
    shown = failed[:_MOST_SHOWN]
    lines += ["failed:", *(f"  {line}" for line in shown)] if shown else []
    if totals.statuses.get("failed", 0) > len(shown):
        lines.append(f"  and {totals.statuses['failed'] - len(shown)} more")
    if trend is not None:
        lines.append(f"since the last run: {trend.new.total()} new, {trend.gone.total()} gone")
    out.write(make_visible("\n".join(lines), keep="\n") + "\n")


def write_prometheus(store: JobStore, out: TextSink) -> None:
    """Counters in the text format that Prometheus reads."""
    command, totals = store.spec.command, store.measure()
    rules: Counter[str] = Counter()
    for row in store.iterate():
        rules.update(row.tally)
    job = f'command="{command}"'
    _write_metric(out, "items", "Assets of the job.", {job: totals.items})
    _write_metric(out, "done", "Assets that are done.", {job: totals.done})
    _write_metric(
        out,
        "status",
        "Assets by status.",
        {f'{job},status="{_escape(name)}"': count for name, count in totals.statuses.items()},
    )
    found = {}
    for name, count in sorted(rules.items()):
        level, _, rule = name.partition(" ")
        found[f'{job},level="{level}",rule="{_escape(rule)}"'] = count
    _write_metric(out, "findings", "Findings by level and rule.", found)
    _write_metric(out, "work_seconds", "Work of all workers.", {job: round(totals.seconds, 3)})
    _write_metric(out, "begun_seconds", "When the job began, since 1970.", {job: round(store.begun)})


def _write_metric(out: TextSink, name: str, about: str, rows: Mapping[str, float]) -> None:
    # gauges: a job that begins anew starts at nothing
    out.write(f"# HELP simwright_job_{name} {about}\n# TYPE simwright_job_{name} gauge\n")
    for labels, value in rows.items():
        out.write(f"simwright_job_{name}{{{labels}}} {value}\n")


def _escape(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return replace_surrogates(escaped)


def _list_reports(store: JobStore, command: str) -> Iterator[AssetReport]:
    for row in store.iterate():
        yield report_row(command, row.item.asset, row.outcome)


def declare_rules(command: str) -> None:
    """Load the rules of the checker: a report shows their titles, and stored findings have only their codes."""
    if command in ("check", "fix", "convert"):
        from simwright.checker.run import all_rules

        all_rules()


def _spell(statuses: dict[str, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in statuses.items()) or "nothing"
