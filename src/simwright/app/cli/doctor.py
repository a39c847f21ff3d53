# SPDX-License-Identifier: Apache-2.0
"""``simwright doctor``."""

from __future__ import annotations

from typing import Any

import click

from simwright.app.cli.options import console, format_option, print_json

EPILOG = """\b
Examples:
  simwright doctor
  simwright doctor --format json
"""


@click.command("doctor", epilog=EPILOG)
@format_option("text", "json")
def doctor(output_format: str) -> int:
    """Show versions, optional extras, engines and tools that are found.

    Exit code 1 means that something Simwright itself needs is missing or broken.
    """
    from simwright.app.health import examine

    report = examine()
    if output_format == "json":
        print_json(report)
    else:
        _print_report(report)
    return 0 if report["healthy"] else 1


def _print_report(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    head = Text(f"simwright {report['simwright']}", "bold")
    out.print(head.append(f"  Python {report['python']}  {report['platform']}", "not bold"))
    for title, key in (
        ("Needed", "packages"),
        ("Extras", "extras"),
        ("Engines", "engines"),
        ("Tools", "tools"),
    ):
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for row in report[key]:
            found = row["version"] is not None
            said = ("ok", "green") if found else ("--", "yellow") if key != "packages" else ("!!", "red")
            version, note = Text(row["version"] or "not found"), Text(row["note"], "dim")
            table.add_row(Text("  ").append(*said), row["name"], version, note)
        out.print(f"\n{title}", style="bold")
        out.print(table)
    out.print("\nROS and OpenUSD", style="bold")
    for name, value in report["environment"].items():
        out.print(f"  {name} = {value or '(not set)'}")
    out.print()
    if report["healthy"]:
        out.print("All that Simwright needs is here.", style="green")
    else:
        out.print("Something Simwright needs is missing:", style="red", end=" ")
        out.print("pip install --force-reinstall simwright")
