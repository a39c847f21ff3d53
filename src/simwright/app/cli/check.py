# SPDX-License-Identifier: Apache-2.0
"""``simwright check``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, list_manifest, refuse_flags, run_job
from simwright.app.cli.options import (
    console,
    echo,
    gate_options,
    package_option,
    read_limits,
    report_option,
)

if TYPE_CHECKING:
    from simwright.app.checking import CheckOutcome, CheckRequest
    from simwright.app.report.report import Report

EPILOG = """\b
Examples:
  simwright check robot.usda
  simwright check robots/ --profile ros --fail-on warning
  simwright check robot.usda --select 1.3 --select units-* --ignore joint-limits
  simwright check robots/ --format sarif --output findings.sarif
  simwright check robots/ --baseline known.json --write-baseline
  simwright check robots/ --baseline known.json
  simwright check robot.usda --fix
  simwright check robot.usda --watch
  simwright check robot/physics.usda --changed
  simwright check robot.usda --variants --package my_robot=src/my_robot
  simwright check robots/ --job nightly --jobs 8 --timeout 60
  simwright check robots/ --job nightly --resume
  simwright check --manifest fleet.yaml --format json-lines
"""
_MANIFEST = {
    "select": "texts", "ignore": "texts", "profile": "text", "fail_on": "text", "variants": "flag",
    "packages": "pairs", "config": "path",
}  # fmt: skip
"""What an asset of a manifest may say for itself."""
_UNREADABLE = ("bad-input", "not-found", "parse-error", "limit", "unsafe-path")
"""What the check itself says of a file too."""


@click.command("check", epilog=EPILOG)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    help="Only these rules: codes, prefixes, patterns (units-*) or REP sections (1.3).",
)
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules; the same words as --select.")
@click.option("--profile", type=click.Choice(["core", "ros", "export", "all"]), help="Group of rules.  [all]")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "info", "never"]),
    help="Least level that gives exit code 1.  [error]",
)
@report_option
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to this file."
)
@click.option(
    "--baseline", type=click.Path(dir_okay=False, path_type=Path), help="File of findings that are known."
)
@click.option("--write-baseline", is_flag=True, help="Write what is found now to the --baseline file.")
@click.option("--jobs", type=click.IntRange(min=1), help="Number of processes.  [one per core]")
@job_options
@click.option("--variants", is_flag=True, help="Also check every variant, one at a time.")
@click.option(
    "--interfaces",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with ROS interface definitions; may be repeated.",
)
@package_option
@gate_options
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Use this configuration file."
)
@click.option("--no-cache", is_flag=True, help="Check everything again.")
@click.option("--statistics", is_flag=True, help="Also count the findings of each rule.")
@click.option("--show-suppressed", is_flag=True, help="Also show suppressed findings, with their reason.")
@click.option(
    "--fix", "fixes", is_flag=True, help="Make the safe fixes in place first; *.orig keeps the old asset."
)
@click.option(
    "--changed",
    is_flag=True,
    help="PATHs are layers that changed: check the assets below this folder that they are part of (for hooks).",
)
@click.option("--watch", is_flag=True, help="Check again whenever a file of the asset changes, until Ctrl-C.")
@click.option("--stamp", is_flag=True, help="Record the result in the asset as a UsdProfiles claim.")
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Check USD assets against REP-0158.

    PATH is a file, a pattern, or a folder, in which every asset is checked: each layer that is not a part of
    another one beside or above it.  Settings are read from simwright.toml or pyproject.toml.

    Exit code 0 means clean, 1 that there are errors (see --fail-on), 2 that nothing could be checked.
    --stamp rewrites the root layer; comments in a text layer stay.
    """
    from simwright.app.checking import CheckRequest
    from simwright.core.packages import parse_assignments

    if options["changed"]:
        paths = _find_owners(paths, use_cache=not options["no_cache"])
    request = CheckRequest(
        inputs=paths,
        select=options["select"],
        ignore=options["ignore"],
        profile=options["profile"],
        fail_on=options["fail_on"],
        variants=options["variants"],
        interfaces=options["interfaces"],
        packages=parse_assignments(options["assignments"]),
        config=options["config"],
        use_cache=not options["no_cache"],
        jobs=options["jobs"],
        limits=read_limits(options),
        baseline=options["baseline"],
        write_baseline=options["write_baseline"],
        stamp=options["stamp"],
    )
    if not paths and not options["manifest"]:
        raise click.UsageError("name at least one PATH, or a --manifest")
    if is_job(options, options["output_format"]):
        return _run_job(request, options)
    if options["watch"]:
        return _watch(paths, request, options)
    # before the check, so that the report says what is left
    if options["fixes"]:
        _fix(paths, request)
    return _check_once(request, options)


def _find_owners(paths: tuple[str, ...], *, use_cache: bool) -> tuple[str, ...]:
    """The assets below the working folder that layers are part of: hooks name files, and a layer is not an asset."""
    from simwright.checker.cache import open_cache
    from simwright.checker.entry_points import find_owners

    return tuple(find_owners(paths, ".", open_cache(use_cache)))


def _run_job(request: CheckRequest, options: dict[str, Any]) -> int:
    """Check as a job: its state is kept, its report made from rows."""
    from dataclasses import replace

    from simwright.app.checking import plan_check
    from simwright.app.jobs.model import number_items

    flags = ("watch", "stamp", "write_baseline", "show_suppressed", "statistics")
    refuse_flags({**options, "fix": options["fixes"]}, *flags, "fix")
    if options["output_format"] not in FORMATS:
        raise click.UsageError(f"a job is reported as {', '.join(FORMATS)}")
    entries = list_manifest(options, _MANIFEST)
    spec, items = plan_check(request)
    spec = replace(spec, retries=options["retries"])
    items = number_items([*((item.asset, item.options) for item in items), *entries])
    return run_job(
        spec,
        items,
        {**options, "inputs": list(request.inputs)},
        options["output_format"],
        options["output"],
        word="checking",
    )


def _watch(paths: tuple[str, ...], request: CheckRequest, options: dict[str, Any]) -> int:
    changing = [f"--{name.replace('_', '-')}" for name in ("stamp", "write_baseline") if options[name]]
    changing += ["--fix"] if options["fixes"] else []
    if changing:
        raise click.UsageError(f"--watch only looks, so it cannot be used with {', '.join(changing)}")

    def tell(changed: list[str]) -> None:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        echo(f"\n-- {changed[0]}{more} changed --", err=True)

    return repeat_on_change(paths, lambda: _check_once(request, options), tell)


def _check_once(request: CheckRequest, options: dict[str, Any]) -> int:
    from simwright.app.checking import build_check_report, run_check
    from simwright.app.cli.progress import show_progress

    with show_progress("checking") as listener:
        outcome = run_check(request, listener)
    report = build_check_report(outcome, show_suppressed=options["show_suppressed"])
    if outcome.written is None:
        _emit(report, outcome, options["output_format"], options["output"], {"packages": request.packages})
    if options["statistics"]:
        # standard output is one document for programs: numbers for people would break it
        _print_statistics(report, to_stderr=options["output_format"] != "text")
    _print_notes(outcome, request.baseline, shown=options["show_suppressed"])
    return outcome.exit_code


def _fix(paths: tuple[str, ...], request: CheckRequest) -> None:
    """The safe fixes of the selected rules, where the assets are; what was done goes to standard error."""
    from simwright.app.fixing import FixRequest, describe_backups, fix_in_place

    wanted = FixRequest(
        select=request.select,
        ignore=request.ignore,
        in_place=True,
        packages=request.packages,
        config=request.config,
    )
    for result in fix_in_place(paths, wanted, jobs=request.jobs or 1, limits=request.limits):
        count = sum(result.fixed.values())
        if count:
            kept = f", the old asset is {describe_backups(result)}" if result.backups else ""
            echo(f"{result.source}: {_count(count, 'finding')} fixed{kept}", err=True)
        for note in result.notes:
            # a file that cannot be read is told once, by the check that follows
            if result.status != "failed" or note.kind not in _UNREADABLE:
                echo(str(note), err=True)


def _emit(
    report: Report,
    outcome: CheckOutcome,
    output_format: str,
    output: Path | None,
    reading: dict[str, Any],
) -> None:
    """Render to standard output, or to a file that appears whole."""
    from simwright.app.report.report import render_report
    from simwright.core.files import write_atomic

    # those describe rules; for others the rules are not loaded
    if output_format in ("sarif", "html", "text"):
        _declare_rules(outcome)
    if output_format == "html":
        from simwright.app.report.views import add_views

        add_views(report, reading)
    if output is not None:
        write_atomic(output, render_report(output_format, report))
        return
    is_terminal = sys.stdout.isatty()
    width = console().width if is_terminal else None
    text = render_report(output_format, report, color=is_terminal, width=width)
    click.echo(text.rstrip("\n"), color=is_terminal)


def _declare_rules(outcome: CheckOutcome) -> None:
    """Give renderers that describe rules something to say: results may come from the cache."""
    from simwright.app.report.report import DOCUMENTATION
    from simwright.core.diag import CATALOGUE, DESCRIBED, Kind

    for entry in outcome.entries:
        if entry.code not in CATALOGUE:
            page = f"{DOCUMENTATION}/rules/{entry.code}" if entry.statement else ""
            DESCRIBED.add(entry.code)
            CATALOGUE[entry.code] = Kind(
                entry.code, entry.level, entry.title, doc=entry.doc, section=entry.section, url=page
            )


def _print_statistics(report: Report, *, to_stderr: bool) -> None:
    from collections import Counter

    every = (found for _, finding in report for found in (finding, *finding.related))
    tally = Counter((finding.kind, finding.level.value) for finding in every)
    rows = sorted(tally.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(count)) for _, count in rows), default=1)
    echo(err=to_stderr)
    for (code, level), count in rows:
        echo(f"{count:>{width}}  {level:<7}  {code}", err=to_stderr)


def _print_notes(outcome: CheckOutcome, baseline: Path | None, *, shown: bool) -> None:
    """What the report itself does not tell, on standard error."""
    if outcome.written is not None:
        echo(f"{_count(outcome.written, 'finding')} written to {baseline}", err=True)
    if outcome.known:
        echo(f"{_count(outcome.known, 'finding')} known from the baseline", err=True)
    if outcome.gone:
        echo(f"{_count(outcome.gone, 'entry', 'entries')} of the baseline no longer found", err=True)
    if outcome.suppressed and not shown:
        echo(f"{_count(outcome.suppressed, 'finding')} suppressed (--show-suppressed)", err=True)
    for path, claimed in outcome.stamped:
        echo(f"{path}: {'stamped' if claimed else 'not stamped: there are errors'}", err=True)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


MAX_WATCHED = 20_000
"""Most files that are looked at; further ones are not watched."""
_WATCH_PAUSE = 0.5

FileStamps: TypeAlias = Mapping[str, tuple[int, int]]
"""Size [bytes] and time of change [ns] by path."""


# watching: files by name, size and time, twice a second; that works on every file system, also across containers


def take_stamps(paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """The files that an input names, and all beside and below it: an asset is a folder of layers and images."""
    found: dict[str, tuple[int, int]] = {}
    for file in _list_files(paths):
        if len(found) >= MAX_WATCHED:
            break
        try:
            state = Path(file).stat()
        except OSError:
            continue  # it was removed meanwhile
        found[file] = (state.st_size, state.st_mtime_ns)
    return found


def _list_files(paths: Iterable[str]) -> Iterator[str]:
    folders = {str(Path(path) if Path(path).is_dir() else Path(path).parent) for path in paths}
    for folder in sorted(folders):
        for base, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith("."))
            yield from (str(Path(base) / name) for name in sorted(names) if not name.startswith("."))


def name_changes(before: FileStamps, after: FileStamps) -> list[str]:
    """Files that are new, gone or other than before."""
    return sorted(file for file in {*before, *after} if before.get(file) != after.get(file))


def repeat_on_change(
    paths: Iterable[str],
    run: Callable[[], int],
    tell: Callable[[list[str]], None],
    *,
    pause: Callable[[float], None] = time.sleep,
) -> int:
    """Run once, and again after every change, until Ctrl-C; gives what the last run gave."""
    inputs = list(paths)
    stamps = take_stamps(inputs)
    code = run()
    try:
        while True:
            pause(_WATCH_PAUSE)
            now = take_stamps(inputs)
            changed = name_changes(stamps, now)
            if not changed:
                continue
            # an editor or a converter may be in the middle of several files: wait until nothing moves
            while (later := _settle(inputs, pause)) != now:
                now = later
            stamps = now
            tell(changed)
            code = run()
    except KeyboardInterrupt:
        return code


def _settle(inputs: list[str], pause: Callable[[float], None]) -> dict[str, tuple[int, int]]:
    pause(_WATCH_PAUSE / 2)
    return take_stamps(inputs)
