# SPDX-License-Identifier: Apache-2.0
"""``simwright inspect``."""

from __future__ import annotations

import click

from simwright.app.cli.options import (
    console,
    format_option,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
)

EPILOG = """\b
Examples:
  simwright inspect robot.urdf
  simwright inspect robot.urdf.xacro --arg gripper=false
  simwright inspect scene.usda --variant tool=gripper --format json
  simwright inspect world.sdf --package my_robot=src/my_robot --depth 3
"""


@click.command("inspect", epilog=EPILOG)
@click.argument("file", type=click.Path())
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option("--time", type=float, help="USD time code to read at.")
@click.option("--depth", type=click.IntRange(min=1), help="Show at most this many levels of the tree.")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@click.option("--strict", is_flag=True, help="Any finding above info is an error (exit code 2).")
@format_option("text", "json")
def inspect(
    file: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    time: float | None,
    depth: int | None,
    notes: bool,
    strict: bool,
    output_format: str,
) -> int:
    """Show the bodies, joints, masses, shapes and interfaces of FILE.

    FILE may be in any format that is read, such as URDF, xacro, SDFormat, MJCF, OpenUSD or a scene.  Exit code 1 means
    that the file could be read but has errors; they are listed.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import exit_code, print_shown
    from simwright.core.diag import Reporter, sort_diagnostics
    from simwright.core.packages import parse_assignments

    reporter = Reporter()
    asset = load(
        file,
        packages=parse_assignments(assignments),
        arguments=parse_pairs(arguments, "--arg"),
        variants=parse_pairs(variants, "--variant"),
        time=time,
        strict=strict,
        reporter=reporter,
    )
    if output_format == "json":
        from simwright.app.describe import describe_asset

        print_json(describe_asset(asset, sort_diagnostics(reporter)))
    else:
        from simwright.app.tree_text import render_tree

        out = console()
        for line in render_tree(asset, depth=depth):
            out.print(line)
        print_shown(file, list(reporter), notes=notes)
    return exit_code(reporter)
