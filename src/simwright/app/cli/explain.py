# SPDX-License-Identifier: Apache-2.0
"""``simwright explain``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import console, format_option, print_json

if TYPE_CHECKING:
    from simwright.checker.catalogue import CatalogueEntry

EPILOG = """\b
Examples:
  simwright explain units-meters
  simwright explain units-meters --format json
"""
_PART = re.compile(r"^(Why|Fails|Passes|Fix|Reading|Notes?|See):[ \t]*", re.MULTILINE)
_TITLES = {"Reading": "How Simwright reads the REP"}
_CODE = re.compile(r"`([^`\n]+)`")
_PLAIN_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*[,;.:]?(?=\s|$)")


@click.command("explain", epilog=EPILOG)
@click.argument("code")
@format_option("text", "json")
def explain(code: str, output_format: str) -> None:
    """Explain what the rule CODE asks for, why, and how to get there."""
    from dataclasses import asdict

    from simwright.checker.cache import open_cache
    from simwright.checker.catalogue import find_entry, load_catalogue

    entry = find_entry(load_catalogue(open_cache()), code)
    if output_format == "json":
        print_json({"version": 1, **asdict(entry)})
    else:
        _print_entry(entry)


def _print_entry(entry: CatalogueEntry) -> None:
    from rich.text import Text

    out = console()
    style = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}[entry.level.value]
    out.print(Text.assemble((entry.code, "bold"), "  ", (entry.level.value, style)))
    for line in _describe(entry):
        out.print(Text(line, "dim"))
    for position, (title, body) in enumerate(split_parts(entry.doc)):
        if position:
            out.print()
        if title:
            out.print(Text(title, "bold"))
        for line in body.splitlines():
            text = Text(f"  {line}" if line else "")
            text.highlight_regex(_CODE.pattern, "cyan")
            out.print(text)


def split_parts(doc: str) -> list[tuple[str, str]]:
    """The parts of a teaching text, title and body; the summary at its head has no title."""
    summary, *rest = _PART.split(doc)
    parts = [("", summary.strip())] if summary.strip() else []
    parts += [(_TITLES.get(n, n), _capitalise(b.strip())) for n, b in zip(rest[::2], rest[1::2], strict=True)]
    return parts


def _capitalise(text: str) -> str:
    """The text with a capital first letter, unless it begins with a name (``base.usda``, ``body0``)."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def _describe(entry: CatalogueEntry) -> list[str]:
    if not entry.is_rule:
        return ["not a rule of the standard", ""]
    kind = ", a heuristic" if entry.heuristic else ""
    source = "REP-0158 section" if entry.statement else "no statement of REP-0158; about its section"
    fix = f"{entry.fixable}: {entry.fix_title}" if entry.fix_title else entry.fixable
    return [
        f"{source} {entry.section}, {entry.word}{kind}; profile {entry.profile}",
        f"fix: {fix}",
        "",
    ]
