# SPDX-License-Identifier: Apache-2.0
"""Options and output that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from simwright.core.pool import Limits

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


def limit_options(command: F) -> F:
    """``--timeout`` and ``--max-memory`` of each file; they are read with :func:`read_limits`."""
    for option in (
        click.option(
            "--max-memory",
            type=click.FloatRange(min=0, min_open=True),
            metavar="GIB",
            help="Give up a file that takes more memory than this.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Give up a file that takes longer than this.",
        ),
    ):
        command = option(command)
    return command


def read_limits(options: dict[str, Any]) -> Limits:
    """The limits that were set."""
    from simwright.core.pool import Limits

    return Limits(options["timeout"], options["max_memory"])


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
