# SPDX-License-Identifier: Apache-2.0
"""``simwright fix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, list_manifest, own_format, run_job
from simwright.app.cli.options import (
    echo,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
    read_limits,
)

if TYPE_CHECKING:
    from simwright.app.fixing import FixRequest
    from simwright.app.jobs.model import JobOptions
    from simwright.core.pool import JobLimits
    from simwright.sanitizer.result import FixResult

EPILOG = """\b
Examples:
  simwright fix robot.usda -o fixed/robot
  simwright fix robot.usda --dry-run --diff
  simwright fix robot.usda --in-place --select 1.1,default-prim
  simwright fix robot.usda -o fixed/robot --set identifier=acme/robot --set version=1.2.0
  simwright fix robot.usda -o fixed/robot --unsafe --ignore axis-up-z
  simwright fix robot.usda -o fixed/robot --unsafe --set unknown-physics=remove
  simwright fix robots/ -o fixed --jobs 8 --job fixed/.job
"""
_MANIFEST = {
    "target": "path", "select": "texts", "ignore": "texts", "unsafe": "flag", "values": "pairs", "packages": "pairs",
    "config": "path",
}  # fmt: skip
"""What an asset of a manifest may say for itself."""


@click.command("fix", epilog=EPILOG)
@click.argument("assets", metavar="ASSET...", nargs=-1, type=click.Path())
@click.option(
    "-o",
    "--output",
    "target",
    metavar="OUT",
    type=click.Path(),
    help="Folder to write; also FOLDER/NAME.usda or NAME.usdz.",
)
@click.option("--in-place", is_flag=True, help="Replace the asset; the old one is kept as *.orig.")
@click.option("--select", multiple=True, metavar="RULES", help="Fix only these rules; words as for check.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Do not fix these rules.")
@click.option(
    "--safe/--unsafe", "safe", default=True, help="Also make fixes that need intent.  [default: --safe]"
)
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    help="What is meant, for fixes that need to know; see docs/fix.md.",
)
@click.option("--dry-run", is_flag=True, help="Fix, prove and report, but write nothing.")
@click.option("--diff", is_flag=True, help="Show what changes in each layer.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@job_options
@package_option
@gate_options
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Use this configuration file."
)
@click.option(
    "--report",
    "--format",
    "report",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print what was fixed, what is left and why; several assets have all of these.",
)
@click.option(
    "--report-output", type=click.Path(path_type=Path), metavar="FILE", help="Write the report here."
)
def fix(assets: tuple[str, ...], target: str | None, **options: Any) -> int:
    """Repair what `simwright check` finds in a USD asset, and prove that nothing else changed.

    The fixes are made on a private copy and repeated until a check finds nothing more to fix.  Then the asset before
    and after is compared: poses and geometry of all prims, masses, inertia, joints, limits, drives and motion.  A fix
    that also changed something else is taken back, and the report says which and why.

    Safe fixes keep the meaning of the asset.  The others need intent: --unsafe makes all that are selected, and
    --set tells single ones what is meant.

    Several assets, a folder or a pattern are fixed one by one, each into a folder of its own below OUT.

    Exit code 0 means that no errors are left, 1 that some are, 2 that the asset could not be opened or written.
    """
    from simwright.app.fixing import FixRequest, check_ways, describe_fix, fix_all, fix_one
    from simwright.app.jobs.listing import means_many
    from simwright.core.packages import parse_assignments

    check_ways(target, in_place=options["in_place"], dry_run=options["dry_run"])
    dry_run = options["dry_run"]
    request = FixRequest(
        select=options["select"],
        ignore=options["ignore"],
        unsafe=not options["safe"],
        # a dry run may stand with -o or --in-place, to see what the same command would do
        in_place=options["in_place"] and not dry_run,
        dry_run=dry_run,
        diff=options["diff"],
        values=parse_pairs(options["values"], "--set"),
        packages=parse_assignments(options["assignments"]),
        config=options["config"],
    )
    limits, place = read_limits(options), None if dry_run else target
    if not assets and not options["manifest"]:
        raise click.UsageError("name at least one ASSET, or a --manifest")
    if is_job(options, options["report"]) or len(assets) > 1 or means_many(assets[0]):
        return _run_job(assets, place, request, limits, options)
    asset = assets[0]
    own_format(options["report"], "text", "json")
    if limits:
        # limits need a process that can be ended, even for one asset
        (result,) = fix_all([(asset, place)], request, limits=limits)
    else:
        result = fix_one(asset, place, request)
    if options["report"] == "json":
        print_json(describe_fix(result))
    else:
        print_result(result, dry_run=dry_run)
    return result.exit_code


def _run_job(
    assets: tuple[str, ...],
    target: str | None,
    request: FixRequest,
    limits: JobLimits,
    options: dict[str, Any],
) -> int:
    """Fix several assets: the state of the job is kept, its report made from rows."""
    from dataclasses import replace

    from simwright.app.fixing import name_targets, plan_fixes
    from simwright.app.jobs.model import number_items
    from simwright.checker.entry_points import find_assets

    entries = list_manifest(options, _MANIFEST)
    paths = [*(find_assets(assets) if assets else []), *(path for path, _ in entries)]
    targets = name_targets(paths, target) if target is not None else [None] * len(paths)
    spec, items = plan_fixes(list(zip(paths, targets, strict=True)), request, limits)
    own: list[JobOptions] = [{}] * (len(paths) - len(entries)) + [one for _, one in entries]
    items = number_items([(one.asset, {**one.options, **more}) for one, more in zip(items, own, strict=True)])
    options = {**options, "inputs": [*assets, target]}
    spec = replace(spec, retries=options["retries"])
    return run_job(spec, items, options, options["report"], options["report_output"], word="fixing")


def print_result(result: FixResult, *, dry_run: bool = False) -> None:
    """What was done, for people."""
    from simwright.app.cli.findings import print_report
    from simwright.app.fixing import choose_notes, describe_backups, summarize_fix
    from simwright.core.errors import SimwrightError

    if result.status == "failed":
        problem = next(iter([*result.after, *result.notes]), None)
        assert problem is not None
        raise SimwrightError(problem.message, hint=problem.hint, where=problem.where)
    for text in result.diffs.values():
        echo(text)
    notes, more = choose_notes(result)
    if notes:
        print_report([(result.source, notes)])
    for line in (*more, *summarize_fix(result, dry_run=dry_run)):
        echo(line)
    if result.backups:
        echo(f"kept the old asset as {describe_backups(result)}")
    if result.entry:
        echo(f"wrote {result.entry}")
