# SPDX-License-Identifier: Apache-2.0
"""``simwright prove``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import (
    console,
    echo,
    format_option,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
)

if TYPE_CHECKING:
    from simwright.prover.proving import Proof

EPILOG = """\b
Examples:
  simwright prove robot.urdf
  simwright prove robot.xml --engines drake,physx --level structure
  simwright prove robot.usda --against physx --format md > proof.md
  simwright prove robot.sdf --format junit > proof.xml

\b
Levels:
  structure  links, joints, limits, masses, inertias, drives, mimics, armature, friction, damping
  dynamics   link poses, mass matrix, gravity and Coriolis forces at 20 configurations
"""


@click.command("prove", epilog=EPILOG)
@click.argument("asset", type=click.Path())
@click.option("--engines", default="", metavar="NAME,...", help="Whom to ask; else all that are installed.")
@click.option(
    "--level", default="structure,dynamics", show_default=True, metavar="NAME,...", help="What to ask."
)
@click.option(
    "--against", default="mujoco", show_default=True, metavar="NAME", help="Whom to hold others against."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the configurations.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help="Seconds for one question to an engine.",
)
@click.option("--keep", type=click.Path(), metavar="DIR", help="Keep the files that engines are given.")
@package_option
@gate_options
@format_option("text", "json", "md", "junit")
def prove(
    asset: str,
    engines: str,
    level: str,
    against: str,
    seed: int,
    timeout: float,
    keep: str | None,
    assignments: tuple[str, ...],
    output_format: str,
) -> int:
    """Ask several engines about an asset: is it the same machine in all of them?

    Every engine gets the asset as it reads it, in a process and an environment of its own ('simwright engines').  A
    cell of the table is ok, NO, '-' where the robot has nothing of the kind, or blank where the engine or its format
    cannot tell.  Exit code 1 means that an engine differs or has no answer.
    """
    from simwright.app import proving

    proof = proving.prove(
        asset,
        engines=_split(engines),
        levels=_split(level),
        against=against,
        seed=seed,
        timeout=timeout,
        keep=keep,
        packages=parse_pairs(assignments, "--package"),
        progress=_show_progress if sys.stderr.isatty() else None,
    )
    if output_format == "json":
        print_json(proving.describe_proof(proof))
    elif output_format == "md":
        echo(proving.render_markdown(proof), nl=False)
    elif output_format == "junit":
        echo(proving.render_junit(proof), nl=False)
    else:
        _print_proof(proof)
    return 0 if proof.same else 1


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _show_progress(engine: str) -> None:
    echo(f"asking {engine} ...", err=True)


def _print_proof(proof: Proof) -> None:
    from rich.table import Table
    from rich.text import Text

    from simwright.app.proving import tell_differences, tell_end, tell_head, tell_table

    out = console()
    out.print(tell_head(proof), style="bold")
    heads, *rows = tell_table(proof)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    # turned: engines are few and aspects many
    for title in ("", *(row[0] for row in rows)):
        table.add_column(title, no_wrap=True)
    for number, head in enumerate(heads[1:], 1):
        cells = [row[number] for row in rows]
        table.add_row(head, *(Text(cell, "red" if cell.startswith("NO") else "") for cell in cells))
    out.print(table)
    for line in tell_differences(proof):
        out.print(line)
    out.print(tell_end(proof), style="green" if proof.same else "red")
