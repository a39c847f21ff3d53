# SPDX-License-Identifier: Apache-2.0
"""``simwright resolve``."""

from __future__ import annotations

from typing import Any

import click

from simwright.app.cli.options import echo, format_option, package_option, print_json, trust_options

EPILOG = """\b
Examples:
  simwright resolve robot.usda
  simwright resolve robot.usda --order physx,newton,mjc
  simwright resolve robot.usda --order mjc,newton --prim /robot/joints/elbow
  simwright resolve robot.usda --defaults --format json
"""


@click.command("resolve", epilog=EPILOG)
@trust_options
@click.argument("file", type=click.Path())
@click.option(
    "--order",
    default="",
    show_default="every solver, newton first",
    metavar="SOLVER,...",
    help="Whose attributes count, the first before the second.",
)
@click.option("--prim", default="", metavar="PATH", help="Only this prim and what is below it.")
@click.option("--defaults", is_flag=True, help="Also show values that only a schema's fallback gives.")
@package_option
@format_option("text", "json")
def resolve(
    file: str,
    order: str,
    prim: str,
    defaults: bool,
    assignments: tuple[str, ...],
    output_format: str,
) -> int:
    """Show which solver's attribute decides each value of FILE, and which values lost.

    Solver schemas (Newton, PhysX, MuJoCo ...) say the same things under different names.  The neutral
    ExtendedPhysics schemas count before all of them; then the solvers in the order given.  Values are SI and
    radians.  Exit code 1 means that the file could be read but has errors; they are listed.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.resolution import describe_resolution
    from simwright.core.diag import Level, Reporter
    from simwright.core.packages import parse_assignments
    from simwright.resolve import DEFAULT_ORDER, ResolverOrder, make_resolvers

    names = [name.strip() for name in order.split(",") if name.strip()] or list(DEFAULT_ORDER)
    resolvers = make_resolvers(names)
    reporter = Reporter()
    asset = load(file, packages=parse_assignments(assignments), resolvers=names, reporter=reporter)
    result = describe_resolution(asset, ResolverOrder(resolvers), prim=prim, defaults=defaults)
    if output_format == "json":
        print_json(result)
    else:
        _print_text(result)
        if any(found.level is Level.ERROR for found in reporter):
            print_findings(file, reporter)
    return exit_code(reporter)


def _print_text(result: dict[str, Any]) -> None:
    if not result["prims"]:
        echo(f"no value is authored by any of {', '.join(result['order'])}")
    width = max((len(row["key"]) for prim in result["prims"] for row in prim["values"]), default=0)
    for prim in result["prims"]:
        echo(f"{prim['path']}  ({', '.join(prim['types'])})")
        for row in prim["values"]:
            source = f"{row['namespace']}: {row['attribute']}" if row["namespace"] else ""
            value = _show(row["value"])
            echo(f"  {row['key']:<{width}}  {value:<12}  {row['origin']:<16}  {source}".rstrip())
            for lost in row["lost"]:
                value = _show(lost["value"])
                echo(f"  {'':<{width}}  {value:<12}  {'lost':<16}  {lost['namespace']}: {lost['attribute']}")


def _show(value: Any) -> str:
    if value is None:
        return "engine's own"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
