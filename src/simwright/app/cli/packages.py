# SPDX-License-Identifier: Apache-2.0
"""``simwright packages``."""

from __future__ import annotations

from pathlib import Path

import click

from simwright.app.cli.options import console, format_option, package_option, print_json

EPILOG = """\b
Examples:
  simwright packages
  simwright packages --package my_robot=src/my_robot
  simwright packages --near robots/arm.usda --format json
  eval "$(simwright packages --env)"     # package:// for every OpenUSD tool in this shell
"""


@click.command("packages", epilog=EPILOG)
@package_option
@click.option(
    "--near",
    type=click.Path(exists=True, path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Also look for package.xml around this file or folder.",
)
@click.option("--env", "only_env", is_flag=True, help="Print only the shell line that exports the variable.")
@format_option("text", "json")
def packages(assignments: tuple[str, ...], near: Path, only_env: bool, output_format: str) -> None:
    """List the ROS packages that package:// addresses can use.

    They come from --package, AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and the package.xml files around --near, in
    this order.  The environment variable printed at the end gives every OpenUSD tool the package:// scheme.
    """
    import shlex

    from simwright.core.packages import find_packages, parse_assignments
    from simwright.usd.packages import environment

    found = find_packages(parse_assignments(assignments), near=[near])
    variables = environment(found)
    if output_format == "json":
        rows = [{"name": p.name, "path": str(p.path), "origin": p.origin} for p in found]
        print_json({"version": 1, "packages": rows, "environment": variables})
        return
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    # nothing but the lines: they are meant for eval
    if only_env:
        click.echo("\n".join(exports))
        return
    from rich.table import Table

    out = console()
    if not len(found):
        out.print("No ROS package found. Source a workspace or give one with --package NAME=DIR.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("PACKAGE", "FOLDER", "FOUND BY"):
        table.add_column(title, no_wrap=True)
    for package in found:
        table.add_row(package.name, str(package.path), package.origin)
    out.print(table)
    out.print("\nFor other OpenUSD tools:")
    for line in exports:
        out.print(f"  {line}", markup=False, soft_wrap=True)
