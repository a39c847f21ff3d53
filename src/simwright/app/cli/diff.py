# SPDX-License-Identifier: Apache-2.0
"""``simwright diff``."""

from __future__ import annotations

import click

from simwright.app.cli.options import (
    allow_option,
    console,
    format_option,
    package_option,
    parse_pairs,
    print_json,
    trust_options,
)

EPILOG = """\b
Examples:
  simwright diff robot.urdf out/robot/robot.usda
  simwright diff robot.xml robot.usda --only kinematics,dynamics --rtol 1e-9
  simwright diff a.sdf b.sdf --ignore visuals,materials,order
  simwright diff robot.urdf.xacro robot.urdf --arg gripper=false --format json

\b
Sections by group:
  structure   bodies, joints, order, limits, constraints, frames, sensors, cameras, lights, ros
  kinematics  poses, keyframes
  dynamics    gravity, masses, motion, drives, actuators
  geometry    visuals, collisions, materials, contacts
"""
STYLES = {"good": "green", "bad": "red", "dim": "dim", "bold": "bold"}


@click.command("diff", epilog=EPILOG)
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option("--only", default="", metavar="NAME,...", help="Compare only these groups or sections.")
@click.option("--ignore", default="", metavar="NAME,...", help="Leave these groups or sections out.")
@click.option(
    "--rtol", type=float, default=1e-6, show_default=True, help="Relative error that is still equal."
)
@click.option(
    "--configurations", type=int, default=20, show_default=True, help="Random configurations to move through."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random configurations.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Differences shown of a section.",
)
@package_option
@allow_option
@trust_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@format_option("text", "json")
def diff(
    a: str,
    b: str,
    only: str,
    ignore: str,
    rtol: float,
    configurations: int,
    seed: int,
    limit: int,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    output_format: str,
) -> int:
    """Compare A and B (URDF, xacro, SDFormat, MJCF or OpenUSD, in any combination) as machines.

    Structure, kinematics, dynamics and geometry: bodies and joints by name, poses, mass matrix and bias force at
    random configurations, masses, shapes, contacts, motors, sensors, ROS interfaces.  How a file says it does not
    count, what it says does.  Exit code 0 means equal, 1 that something differs (or that a file has errors), 2 bad
    input.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.diffing import describe_difference, render_difference
    from simwright.compare.run import compare_assets
    from simwright.compare.settings import make_settings
    from simwright.core.diag import Level, Reporter, sort_diagnostics
    from simwright.core.packages import parse_assignments

    settings = make_settings(
        _split(only), _split(ignore), rtol=rtol, configurations=configurations, seed=seed
    )
    reporters = (Reporter(), Reporter())
    first, second = (
        load(
            file,
            packages=parse_assignments(assignments),
            arguments=parse_pairs(arguments, "--arg"),
            variants=parse_pairs(variants, "--variant"),
            reporter=reporter,
        )
        for file, reporter in zip((a, b), reporters, strict=True)
    )
    difference = compare_assets(first, second, settings)
    difference.a, difference.b = a, b
    if output_format == "json":
        findings = [found for reporter in reporters for found in sort_diagnostics(reporter)]
        print_json(describe_difference(difference, settings, findings))
    else:
        out = console()
        out.print(f"{a} -> {b}", style="bold")
        for line, style in render_difference(difference, limit=limit):
            out.print(line, style=STYLES.get(style))
        for file, reporter in zip((a, b), reporters, strict=True):
            if any(found.level is Level.ERROR for found in reporter):
                print_findings(file, reporter)
    return max(0 if difference.equal else 1, *(exit_code(reporter) for reporter in reporters))


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]
