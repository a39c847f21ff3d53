# SPDX-License-Identifier: Apache-2.0
"""``simwright sketch``."""

from __future__ import annotations

import click

EPILOG = """\b
Example:
  simwright sketch
"""


@click.command("sketch", epilog=EPILOG)
def sketch() -> None:
    """Say that it is there."""
    click.echo("a sketch")
