# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md from the commands' own help."""

from __future__ import annotations

import click

from generate import NOTE
from simwright.app.cli.main import cli


def generate() -> str:
    """Every command's help, as printed 100 columns wide."""
    parts = [NOTE, "# Command line\n\n", _help(["simwright"], cli)]
    root = click.Context(cli, info_name="simwright")
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        parts.append(f"\n## simwright {name}\n\n")
        parts.append(_help(["simwright", name], command))
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=name, parent=root)
            for sub in command.list_commands(context):
                child = command.get_command(context, sub)
                assert child is not None
                parts.append(f"\n### simwright {name} {sub}\n\n")
                parts.append(_help(["simwright", name, sub], child))
    return "".join(parts)


def _help(path: list[str], command: click.Command) -> str:
    context: click.Context | None = None
    for word in path[:-1]:
        context = click.Context(click.Group(word), info_name=word, parent=context)
    own = click.Context(
        command, info_name=path[-1], parent=context, terminal_width=100, max_content_width=100
    )
    text = "\n".join(line.rstrip() for line in command.get_help(own).splitlines())
    return f"```text\n{text}\n```\n"
