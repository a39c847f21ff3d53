# SPDX-License-Identifier: Apache-2.0
"""``simwright scene check|schema|operations``."""

from __future__ import annotations

import click

from simwright.app.cli.options import console, format_option, gate_options, print_json, report_option

EPILOG = """\b
Examples:
  simwright scene check arm.yaml
  simwright scene check arm.yaml --document-only --format json
  simwright scene schema > scene.schema.json
  simwright scene operations
  simwright convert arm.yaml out/arm
"""


@click.group("scene", epilog=EPILOG)
def scene() -> None:
    """Check scene files (YAML, JSON), and show which keys they may have."""


@scene.command("check", epilog="\b\nExample:\n  simwright scene check arm.yaml cart.yaml\n")
@gate_options
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--compat", type=click.Choice(["sap"]), help="Read as SAP Warp's loader reads.")
@click.option("--document-only", is_flag=True, help="Look at the file alone, not at the assets it names.")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@report_option
def check_command(
    files: tuple[str, ...], compat: str | None, document_only: bool, notes: bool, output_format: str
) -> int:
    """Check scene FILES: every problem with its line, and what was meant.

    Exit code 1 means that there are errors.
    """
    from simwright.app.cli.findings import print_results
    from simwright.app.scenes import check_scene

    results = [check_scene(file, compat=compat, build=not document_only) for file in files]
    return print_results(results, output_format, notes=notes)


@scene.command("schema", epilog="\b\nExample:\n  simwright scene schema > scene.schema.json\n")
def schema_command() -> None:
    """Print the JSON Schema of scene files, so that editors complete keys and mark mistakes.

    Operations of installed packages are part of it.
    """
    from simwright.scenes.document import render_schema

    click.echo(render_schema(), nl=False)


@scene.command("operations", epilog="\b\nExample:\n  simwright scene operations --format json\n")
@format_option("text", "json")
def operations_command(output_format: str) -> None:
    """List the operations of post_build and their keys."""
    from simwright.scenes.ops.registry import load_operations

    found = load_operations()
    if output_format == "json":
        plain = [
            {
                "name": name,
                "summary": one.summary,
                "keys": sorted({k for m in one.models for k in m.model_fields}),
            }
            for name, one in found.items()
        ]
        print_json({"version": 1, "operations": plain})
        return
    from rich.table import Table

    table = Table("operation", "what it does", box=None, pad_edge=False)
    for name, one in found.items():
        table.add_row(name, one.summary)
    console().print(table)
