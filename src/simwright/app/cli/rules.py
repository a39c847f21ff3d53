# SPDX-License-Identifier: Apache-2.0
"""``simwright rules``."""

from __future__ import annotations

import click

from simwright.app.cli.options import console, format_option, print_json

EPILOG = """\b
Examples:
  simwright rules
  simwright rules --select 1.3
  simwright rules --profile ros --format json
"""


@click.command("rules", epilog=EPILOG)
@click.option("--select", multiple=True, metavar="RULES", help="Only these; as for simwright check.")
@click.option(
    "--profile",
    type=click.Choice(["core", "ros", "export", "all"]),
    default="all",
    show_default=True,
    help="Group of rules.",
)
@format_option("text", "json")
def rules(select: tuple[str, ...], profile: str, output_format: str) -> None:
    """List the rules that simwright check knows, by REP-0158 section."""
    from simwright.checker.cache import open_cache
    from simwright.checker.catalogue import load_catalogue
    from simwright.checker.select import choose_rules

    entries = load_catalogue(open_cache())
    chosen = set(choose_rules(entries, select, profile=profile).codes)
    rows = [entry for entry in entries if entry.code in chosen]
    if output_format == "json":
        keys = ("code", "level", "section", "profile", "word", "heuristic", "fixable", "title")
        plain = [{key: getattr(entry, key) for key in keys} for entry in rows]
        print_json({"version": 1, "rules": plain})
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("CODE", "LEVEL", "SECTION", "FIXABLE", "WHAT IS RIGHT"):
        table.add_column(title, overflow="fold", no_wrap=title != "WHAT IS RIGHT")
    for entry in rows:
        level = f"{entry.level.value}*" if entry.heuristic else entry.level.value
        table.add_row(entry.code, level, entry.section, entry.fixable, entry.title)
    out = console()
    out.print(table)
    out.print(
        f"\n{len(rows)} rules; * is a heuristic. Explain one with: simwright explain CODE", markup=False
    )
