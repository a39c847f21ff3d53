# SPDX-License-Identifier: Apache-2.0
"""Options and output that several commands share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])


def format_option(*choices: str) -> Callable[[F], F]:
    """``--format``, the first choice being the default."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(choices),
        default=choices[0],
        show_default=True,
        help="How to print the result.",
    )


package_option = click.option(
    "--package",
    "assignments",
    multiple=True,
    metavar="NAME=DIR",
    help="Where a ROS package is; may be repeated.",
)


def _allow(context: click.Context, _option: click.Parameter, folders: tuple[str, ...]) -> None:
    from simwright.core.gate import VARIABLE, allow_folders

    _restore(context, VARIABLE)
    allow_folders(folders)


def _raise_limits(context: click.Context, _option: click.Parameter, pairs: tuple[str, ...]) -> None:
    from simwright.core.limits import VARIABLE, set_limits

    _restore(context, VARIABLE)
    set_limits(pairs)


def _restore(context: click.Context, variable: str) -> None:
    """What a command tells its worker processes by the environment ends with it."""
    before = os.environ.get(variable)

    def restore() -> None:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before

    context.call_on_close(restore)


allow_option = click.option(
    "--allow-outside",
    multiple=True,
    metavar="DIR",
    expose_value=False,
    callback=_allow,
    help="A folder outside the asset in which it may name files; may be repeated.",
)
limit_option = click.option(
    "--limit",
    "budgets",
    multiple=True,
    metavar="NAME=VALUE",
    expose_value=False,
    callback=_raise_limits,
    help="How much an asset may ask for, see docs/security.md; may be repeated.",
)


def gate_options(command: F) -> F:
    """What an asset may name, and how much it may ask for."""
    return allow_option(limit_option(command))


def console(*, stderr: bool = False) -> Console:
    """A rich console: colour only on a terminal, never cut when piped."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False, soft_wrap=not stream.isatty(), emoji=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output, strictly valid (no NaN)."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


def parse_pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """``NAME=VALUE`` (or ``NAME:=VALUE``, as ROS writes it) of a repeated option."""
    from simwright.core.errors import UsageError

    result = {}
    for value in values:
        key, separator, item = value.partition("=")
        if not separator:
            key, separator, item = value.partition(":=")
        if not separator or not key:
            raise UsageError(f"{option} takes NAME=VALUE, got {value!r}")
        result[key.removesuffix(":")] = item
    return result
