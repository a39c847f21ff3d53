# SPDX-License-Identifier: Apache-2.0
"""``simwright convert``."""

from __future__ import annotations

import click

from simwright.app.cli.options import package_option, parse_pairs

EPILOG = """\b
Examples:
  simwright convert robot.urdf out/robot
  simwright convert robot.urdf.xacro out/robot --arg gripper=false --package my_robot=src/my_robot
  simwright convert scene.usda out/scene.usda --variant tool=gripper
  simwright convert robot.xml out/robot --strict --report json
"""


@click.command("convert", epilog=EPILOG)
@click.argument("source", metavar="IN", type=click.Path())
@click.argument("target", metavar="OUT", type=click.Path())
@package_option
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option("--to", "to", metavar="FORMAT", help="The format to write; else the name of OUT decides.")
@click.option(
    "--strict", is_flag=True, help="Any loss or guess is an error (exit code 2); nothing is written."
)
@click.option(
    "--report",
    "report",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How to print what was lost or guessed.",
)
def convert(
    source: str,
    target: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    to: str | None,
    strict: bool,
    report: str,
) -> int:
    """Convert IN (URDF, xacro, SDFormat, MJCF or OpenUSD) to OUT.

    OUT is a folder, or the entry layer in a folder of its own: the layers of REP-0158.  A folder that holds an
    earlier result is replaced whole.  Everything that is lost or guessed is listed; silence means nothing was.
    Exit code 1 means that IN has errors; what could be read is written.
    """
    from simwright.app.api import convert as convert_file
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.core.diag import Reporter
    from simwright.core.packages import parse_assignments

    reporter = Reporter()
    entry = convert_file(
        source,
        target,
        to=to,
        packages=parse_assignments(assignments),
        arguments=parse_pairs(arguments, "--arg"),
        variants=parse_pairs(variants, "--variant"),
        strict=strict,
        reporter=reporter,
    )
    if report == "json":
        print_findings(source, reporter, "json")
    else:
        if len(reporter):
            print_findings(source, reporter)
        click.echo(f"wrote {entry}")
    return exit_code(reporter)
