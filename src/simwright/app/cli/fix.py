# SPDX-License-Identifier: Apache-2.0
"""``simwright fix``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import (
    echo,
    gate_options,
    limit_options,
    package_option,
    parse_pairs,
    print_json,
    read_limits,
)

if TYPE_CHECKING:
    from simwright.sanitizer.result import FixResult

EPILOG = """\b
Examples:
  simwright fix robot.usda -o fixed/robot
  simwright fix robot.usda --dry-run --diff
  simwright fix robot.usda --in-place --select 1.1,default-prim
  simwright fix robot.usda -o fixed/robot --set identifier=acme/robot --set version=1.2.0
  simwright fix robot.usda -o fixed/robot --unsafe --ignore axis-up-z
  simwright fix robot.usda -o fixed/robot --unsafe --set unknown-physics=remove
"""


@click.command("fix", epilog=EPILOG)
@click.argument("asset", type=click.Path())
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
@limit_options
@package_option
@gate_options
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Use this configuration file."
)
@click.option(
    "--report",
    "--format",
    "report",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How to print what was fixed, what is left and why.",
)
def fix(asset: str, target: str | None, **options: Any) -> int:
    """Repair what `simwright check` finds in a USD asset, and prove that nothing else changed.

    The fixes are made on a private copy and repeated until a check finds nothing more to fix.  Then the asset before
    and after is compared: poses and geometry of all prims, masses, inertia, joints, limits, drives and motion.  A fix
    that changes anything but what it is for is undone and told.

    Safe fixes keep the meaning of the asset.  The others need intent: --unsafe makes all that are selected, and
    --set tells single ones what is meant.

    Exit code 0 means that no errors are left, 1 that some are, 2 that the asset could not be opened or written.
    """
    from simwright.app.fixing import FixRequest, check_ways, describe_fix, fix_all, fix_one
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
