# SPDX-License-Identifier: Apache-2.0
"""``simwright robots list|show|add|check|inspect|schema``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from simwright.app.cli.options import console, echo, format_option, print_json, report_option, trust_options

if TYPE_CHECKING:
    from simwright.app.robots import RobotRow

EPILOG = """\b
Examples:
  simwright robots list
  simwright robots show sample_arm
  simwright robots inspect path/to/any.urdf > robot.yaml
  simwright robots check robot.yaml
  simwright robots add robot.yaml --to project
"""


@click.group("robots", epilog=EPILOG)
def robots() -> None:
    """List, show, check, infer and add robots that tasks can use.

    Robots are found in the folders of SIMWRIGHT_ROBOTS, in robots/ of the project, in the user's own folder, in
    installed packages (entry points 'simwright.robots') and among the samples of Simwright, in this order.
    """


@robots.command(
    "list", epilog="\b\nExamples:\n  simwright robots list\n  simwright robots list --quick --format json\n"
)
@click.option("--quick", is_flag=True, help="Show what manifests say, without opening the robots' files.")
@format_option("text", "json")
def list_command(quick: bool, output_format: str) -> int:
    """List the robots that --robot takes by name."""
    from simwright.app.cli.findings import exit_code
    from simwright.app.robots import list_rows, make_plain
    from simwright.core.diag import Reporter

    reporter = Reporter()
    rows = list_rows(reporter, quick=quick)
    if output_format == "json":
        found = [
            {"code": d.kind, "level": str(d.level), "message": d.message, "where": str(d.where)}
            for d in reporter
        ]
        print_json({"version": 1, "robots": [make_plain(row) for row in rows], "findings": found})
        return exit_code(reporter)
    _print_rows(rows)
    for finding in reporter:
        console(stderr=True).print(str(finding))
    return exit_code(reporter)


def _print_rows(rows: list[RobotRow]) -> None:
    from rich.table import Table

    out = console()
    if not rows:
        out.print("No robots found. simwright robots add FILE adds one; --robot also takes any robot file.")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("ROBOT", "KIND", "BASE", "DOFS", "GRIPPER", "REACH", "SOURCE", "WHAT"):
        table.add_column(title, no_wrap=title != "WHAT")
    for row in rows:
        table.add_row(
            row.id,
            row.kind or "-",
            row.base or "-",
            "-" if row.dofs is None else str(row.dofs),
            "-" if row.gripper is None else "yes" if row.gripper else "no",
            "-" if not row.reach else f"{row.reach:.2f} m",
            row.source,
            row.description,
        )
    out.print(table)


@robots.command(
    "show", epilog="\b\nExamples:\n  simwright robots show sample_arm\n  simwright robots show arm.xml\n"
)
@trust_options
@click.argument("robot")
@format_option("text", "json")
def show_command(robot: str, output_format: str) -> None:
    """Show what is known of ROBOT: its manifest, and what was inferred.

    ROBOT is an id, a robot.yaml, a robot file, menagerie:NAME, package://... or python:PACKAGE/path.
    """
    from simwright.app.robots import describe_robot
    from simwright.tasks.draft import render_manifest
    from simwright.tasks.robot import open_robot

    found = open_robot(robot)
    facts = describe_robot(found)
    said = found.manifest.model_dump(mode="json", exclude_unset=True) if found.manifest else None
    if output_format == "json":
        print_json({"version": 1, "manifest": said, "facts": facts})
        return
    if said is not None:
        click.echo(render_manifest(said, "what its manifest says"))
    click.echo(render_manifest(facts, "what is known of it"), nl=False)


@robots.command(
    "check",
    epilog="\b\nExamples:\n  simwright robots check robot.yaml\n  simwright robots check sample_arm\n",
)
@trust_options
@click.argument("names", nargs=-1, required=True, metavar="ROBOT...")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@report_option
def check_command(names: tuple[str, ...], notes: bool, output_format: str) -> int:
    """Check manifests: every problem with its line, and what was meant.

    The robot is opened and put on a floor: names that its file does not have, a start outside the limits, parts that
    overlap.  Exit code 1 means that there are errors.
    """
    from simwright.app.cli.findings import print_results
    from simwright.app.robots import check_robot

    results = [check_robot(name) for name in names]
    return print_results(results, output_format, notes=notes)


@robots.command(
    "inspect",
    epilog="\b\nExamples:\n  simwright robots inspect arm.urdf\n"
    "  simwright robots inspect menagerie:franka_emika_panda -o robots/panda.robot.yaml\n",
)
@trust_options
@click.argument("file")
@click.option("--id", "name", default="", help="The id to give; the file's name by default.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write it there.")
def inspect_command(file: str, name: str, output: Path | None) -> None:
    """Infer a manifest from a robot FILE (MJCF, URDF, xacro, OpenUSD, SDFormat) and print it as YAML.

    Sort, base, tool frame, gripper, start and reach are found from its structure.
    """
    from simwright.app.robots import draft_text
    from simwright.core.files import write_atomic

    folder = Path.cwd() if output is None else output.absolute().parent
    text = draft_text(file, folder, name=name)
    if output is None:
        click.echo(text, nl=False)
        return
    write_atomic(output, text)


@robots.command(
    "add",
    epilog="\b\nExamples:\n  simwright robots add arm.urdf --id my_arm\n"
    "  simwright robots add menagerie:franka_emika_panda\n",
)
@trust_options
@click.argument("source")
@click.option(
    "--to", type=click.Choice(["user", "project"]), default="user", show_default=True, help="Whose folder."
)
@click.option(
    "--id", "name", default="", help="The id to give; that of the manifest, or the file's name, by default."
)
@click.option("--force", is_flag=True, help="Replace a manifest of the same name.")
def add_command(source: str, to: Literal["user", "project"], name: str, force: bool) -> None:
    """Add a robot, so that --robot takes it by name: from a manifest, a robot file or an address."""
    from simwright.app.robots import add_robot

    echo(str(add_robot(source, to=to, name=name, force=force)))


@robots.command("schema", epilog="\b\nExample:\n  simwright robots schema > robot.schema.json\n")
def schema_command() -> None:
    """Print the JSON Schema of robot manifests, for editors to complete and check by."""
    from simwright.tasks.manifest import SCHEMA_FILE

    click.echo(SCHEMA_FILE.read_text(encoding="utf-8"), nl=False)
