# SPDX-License-Identifier: Apache-2.0
"""``simwright engines list|install|remove|doctor``."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import console, echo, format_option, print_json

if TYPE_CHECKING:
    from simwright.prover.table import IsolatedEngine

EPILOG = """\b
Examples:
  simwright engines list
  simwright engines install drake pinocchio
  simwright engines install physx --accept-licence
  simwright engines doctor
  simwright engines remove drake
"""


@click.group("engines", epilog=EPILOG)
def engines() -> None:
    """List, install, remove and test the engines that 'simwright prove' asks.

    Each has an environment of its own below the user's cache, with exact versions: their packages do not go together,
    and none of them is ever imported by Simwright itself.
    """


@engines.command(
    "list", epilog="\b\nExamples:\n  simwright engines list\n  simwright engines list --format json\n"
)
@format_option("text", "json")
def list_command(output_format: str) -> int:
    """List the engines, what each is given, and which are installed."""
    from simwright.prover.table import list_engines

    rows = [_describe(row) for row in list_engines().values()]
    if output_format == "json":
        print_json({"version": 1, "engines": rows})
        return 0
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("engine", "installed", "reads", "licence", ""):
        table.add_column(title)
    table.add_row("mujoco", "part of simwright", "mjcf", "Apache-2.0", "MuJoCo, in this process")
    for row in rows:
        table.add_row(
            row["name"], "yes" if row["installed"] else "no", row["format"], row["licence"], row["title"]
        )
    console().print(table)
    return 0


def _describe(row: IsolatedEngine) -> dict[str, Any]:
    return {
        "name": row.name,
        "title": row.title,
        "installed": row.environment.ready,
        "format": row.format,
        "licence": row.licence,
        "proprietary": row.proprietary,
        "pins": list(row.environment.pins),
        "blank": dict(row.blank),
    }


@engines.command(
    "install",
    epilog="\b\nExamples:\n  simwright engines install drake\n  simwright engines install physx --accept-licence\n",
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--accept-licence", is_flag=True, help="You have read the licence of a proprietary engine and accept it."
)
def install(names: tuple[str, ...], accept_licence: bool) -> int:
    """Install engines, each into an environment of its own.

    The licence of a proprietary one is shown, and has to be accepted.  Exit code 1 means that one could not be
    installed; the others are.
    """
    from simwright.core.errors import UsageError
    from simwright.prover.environments import NoEnvironmentError, hold
    from simwright.prover.table import find_engine

    rows = [find_engine(name) for name in dict.fromkeys(names)]
    for row in rows:
        if row.proprietary and not row.environment.ready:
            echo(f"{row.name} is proprietary. Its licence: {row.licence}", err=True)
            asks = sys.stdin.isatty() and not accept_licence
            if not accept_licence and not (asks and click.confirm("Do you accept it?", err=True)):
                raise UsageError(
                    f"the licence of {row.name} is not accepted", hint="--accept-licence accepts it"
                )
    failed = False
    for row in rows:
        try:
            with hold(row.environment, functools.partial(_say, row.name)):
                echo(f"{row.name} is installed")
        except NoEnvironmentError as error:
            failed = True
            echo(f"{row.name}: {error}", err=True)
    return 1 if failed else 0


def _say(name: str, text: str) -> None:
    echo(f"{name}: {text}", err=True)


@engines.command("remove", epilog="\b\nExamples:\n  simwright engines remove drake\n")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def remove_command(names: tuple[str, ...]) -> int:
    """Remove engines and their kept answers.  Exit code 1 means that one is in use."""
    from simwright.prover.caching import forget
    from simwright.prover.environments import remove
    from simwright.prover.table import find_engine

    rows = [find_engine(name) for name in dict.fromkeys(names)]
    failed = False
    for row in rows:
        if remove(row.environment):
            forget(row.name)
            echo(f"{row.name} is removed")
        else:
            failed = True
            echo(f"{row.name} is in use, and stays", err=True)
    return 1 if failed else 0


@engines.command(
    "doctor", epilog="\b\nExamples:\n  simwright engines doctor\n  simwright engines doctor drake\n"
)
@click.argument("names", nargs=-1, metavar="[NAME...]")
def doctor(names: tuple[str, ...]) -> int:
    """Let installed engines open a small robot.  Exit code 1 means that one of them cannot."""
    from simwright.prover.proving import examine
    from simwright.prover.table import find_engine, list_engines

    rows = [find_engine(name) for name in names] or [
        row for row in list_engines().values() if row.environment.ready
    ]
    if not rows:
        echo("no engine is installed; 'simwright engines list' shows what there is")
    failed = False
    for row in rows:
        problem = examine(row)
        failed = failed or bool(problem)
        echo(f"{row.name}: {problem or 'ok'}")
    return 1 if failed else 0
