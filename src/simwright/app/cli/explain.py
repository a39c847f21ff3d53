# SPDX-License-Identifier: Apache-2.0
"""``simwright explain``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import console, format_option, print_json

if TYPE_CHECKING:
    from simwright.check.catalogue import Entry

EPILOG = """\b
Examples:
  simwright explain units-meters
  simwright explain units-meters --format json
"""
_PART = re.compile(r"(Why|Fails|Passes|Fix|Note|Notes|See):\s*")
_CODE = re.compile(r"`([^`\n]+)`")


@click.command("explain", epilog=EPILOG)
@click.argument("code")
@format_option("text", "json")
def explain(code: str, output_format: str) -> None:
    """Explain what the rule CODE asks for, why, and how to get there."""
    from dataclasses import asdict

    from simwright.check.cache import open_cache
    from simwright.check.catalogue import find_entry, load_catalogue

    entry = find_entry(load_catalogue(open_cache()), code)
    if output_format == "json":
        print_json({"version": 1, **asdict(entry)})
    else:
        _print_entry(entry)


def _print_entry(entry: Entry) -> None:
    from rich.text import Text

    out = console()
    style = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}[entry.level.value]
    out.print(Text.assemble((entry.code, "bold"), "  ", (entry.level.value, style)))
    for line in _describe(entry):
        out.print(Text(line, "dim"))
    for line in entry.doc.splitlines():
        part = _PART.match(line)
        if part:
            out.print(Text(part.group(1), "bold"))
        rest = line[part.end() :] if part else line
        if rest or not part:
            text = Text(f"  {rest}" if rest else "")
            text.highlight_regex(_CODE.pattern, "cyan")
            out.print(text)


def _describe(entry: Entry) -> list[str]:
    if not entry.is_rule:
        return ["not a rule of the standard", ""]
    kind = ", a heuristic" if entry.heuristic else ""
    fix = f"{entry.fixable}: {entry.fix_title}" if entry.fix_title else entry.fixable
    return [
        f"REP-0158 section {entry.section}, {entry.word}{kind}; profile {entry.profile}",
        f"fix: {fix}",
        "",
    ]
