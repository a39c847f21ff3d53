# SPDX-License-Identifier: Apache-2.0
"""Options that the ``simwright world`` commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from simwright.app.cli.options import console, gate_options

F = TypeVar("F", bound=Callable[..., Any])


def world_options(command: F) -> F:
    """What every command takes that reads a world."""
    options = (
        click.argument("file", type=click.Path()),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="What random choices are made from."),
        click.option(
            "--reference", is_flag=True, help="Agree with PyRoboSim 5.0.1, its draws and defects included."
        ),
        click.option("--data", "data_folder", type=click.Path(), help="The folder that $DATA means."),
        click.option("--strict", is_flag=True, help="Any finding above info is an error (exit code 2)."),
    )
    for option in reversed(options):
        command = option(command)
    return gate_options(command)


def load_quietly(file: str, **options: Any) -> Any:
    """Load a world; what is wrong with it goes to standard error, errors and warnings only."""
    from simwright.app.worlds import load_world
    from simwright.core.diag import Level, Reporter, sort_diagnostics

    reporter = Reporter()
    world = load_world(file, reporter=reporter, **options)
    out = console(stderr=True)
    for item in sort_diagnostics(reporter):
        if item.level is not Level.INFO:
            out.print(f"{item.where}: {item.level}: {item.message}")
    return world


def read_values(pairs: tuple[str, ...]) -> dict[str, Any]:
    """``NAME=VALUE`` of ``--option``: numbers, true and false, else text."""
    from simwright.app.cli.options import parse_pairs

    return {name: _read_value(text) for name, text in parse_pairs(pairs, "--option").items()}


def _read_value(text: str) -> Any:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
