# SPDX-License-Identifier: Apache-2.0
"""``simwright robots list|show|add|check|inspect|schema``."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from simwright.app.cli.options import console, echo, format_option, print_json, report_option, trust_options
from simwright.core.diag import Level, declare

if TYPE_CHECKING:
    from simwright.checker.result import AssetResult
    from simwright.core.diag import Reporter
    from simwright.tasks.catalog import CatalogEntry
    from simwright.tasks.robot import TaskRobot

EPILOG = """\b
Examples:
  simwright robots list
  simwright robots show sample_arm
  simwright robots inspect path/to/any.urdf > robot.yaml
  simwright robots check robot.yaml
  simwright robots add robot.yaml --to project
"""
_YAML = (".yaml", ".yml", ".json")

ROBOT_BROKEN = declare(
    "robot-broken",
    Level.WARNING,
    "the robot {id!r} cannot be opened: {reason}",
    hint="simwright robots check {id} shows all that is wrong with it",
    doc="A manifest can be read, but the robot it describes cannot be used; the other robots are still listed.",
)
ROBOT_AWAY = declare(
    "robot-file-not-installed",
    Level.INFO,
    "the file of robot {id!r} is not on this machine: {reason}",
    hint="{advice}",
    doc="A robot that comes with Simwright is described here, but its file is part of another project.",
)
LICENCE_UNSAID = declare(
    "robot-licence-unsaid",
    Level.INFO,
    "the manifest does not say under which licence the robot's file is",
    hint="add licence: with an SPDX expression, such as Apache-2.0",
    doc="Who passes a robot on has to know its licence.",
)


@dataclass(frozen=True, slots=True)
class RobotRow:
    """One line of ``simwright robots list``; None where only opening the robot would tell."""

    id: str
    kind: str | None
    base: str | None
    dofs: int | None
    actuators: int | None
    gripper: bool | None
    reach: float | None
    licence: str
    source: str
    file: str
    description: str


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
    from simwright.core.diag import Reporter

    reporter = Reporter()
    rows = _list_rows(reporter, quick=quick)
    if output_format == "json":
        found = [
            {"code": d.kind, "level": str(d.level), "message": d.message, "where": str(d.where)}
            for d in reporter
        ]
        print_json({"version": 1, "robots": [asdict(row) for row in rows], "findings": found})
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
    from simwright.tasks.export import render_manifest
    from simwright.tasks.robot import open_robot

    found = open_robot(robot)
    facts = _describe_robot(found)
    said = found.manifest.model_dump(mode="json", exclude_unset=True) if found.manifest else None
    if output_format == "json":
        print_json({"version": 1, "manifest": said, "facts": facts})
        return
    if said is not None:
        click.echo(render_manifest(said, "what its manifest says"))
    click.echo(render_manifest(facts, "what is known about it"), nl=False)


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

    results = [_check_robot(name) for name in names]
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

    Kind, base, tool frame, gripper, start and reach are inferred from its structure.
    """
    from simwright.core.files import write_atomic

    folder = Path.cwd() if output is None else output.absolute().parent
    text = _draft_text(file, folder, name=name)
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
    "--to",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Your own folder, or that of the project.",
)
@click.option(
    "--id", "name", default="", help="The id to give; that of the manifest, or the file's name, by default."
)
@click.option("--force", is_flag=True, help="Replace a manifest of the same name.")
def add_command(source: str, to: Literal["user", "project"], name: str, force: bool) -> None:
    """Add a robot, so that --robot takes it by name: from a manifest, a robot file or an address."""
    echo(str(_add_robot(source, to=to, name=name, force=force)))


@robots.command("schema", epilog="\b\nExample:\n  simwright robots schema > robot.schema.json\n")
def schema_command() -> None:
    """Print the JSON Schema of robot manifests, so that editors complete keys and mark mistakes."""
    from simwright.tasks.manifest import SCHEMA_FILE

    click.echo(SCHEMA_FILE.read_text(encoding="utf-8"), nl=False)


def _list_rows(reporter: Reporter, *, quick: bool = False) -> list[RobotRow]:
    """Every robot of the catalog.  ``quick`` does not open their files."""
    from simwright.core.diag import Where
    from simwright.core.errors import NotFoundError, SimwrightError
    from simwright.tasks.catalog import list_robots
    from simwright.tasks.robot import open_entry

    rows = []
    for name, entry in sorted(list_robots(reporter).items()):
        robot = None
        if not quick:
            try:
                robot = open_entry(entry)
            except SimwrightError as error:
                where = error.where or Where(str(entry.file))
                reason = error.message.splitlines()[0]
                # one broken robot is not to hide the others of the list
                if entry.origin == "built in" and isinstance(error, NotFoundError):
                    reporter.report(ROBOT_AWAY, where, id=name, reason=reason, advice=error.hint)
                else:
                    reporter.report(ROBOT_BROKEN, where, id=name, reason=reason)
        rows.append(_make_row(entry, robot))
    return rows


def _make_row(entry: CatalogEntry, robot: TaskRobot | None) -> RobotRow:
    manifest = entry.manifest
    common = {
        "id": manifest.id,
        "licence": manifest.licence,
        "source": entry.origin,
        "file": str(entry.file),
        "description": manifest.description,
    }
    if robot is None:
        kind = str(manifest.kind) if manifest.kind else None
        return RobotRow(
            kind=kind,
            base=manifest.base,
            dofs=None,
            actuators=None,
            gripper=True if manifest.gripper else None,
            reach=manifest.reach,
            **common,
        )
    return RobotRow(
        kind=str(robot.facts.kind),
        base="floating" if robot.facts.is_floating else "fixed",
        dofs=robot.facts.dofs,
        actuators=len(robot.facts.actuators),
        gripper=robot.has_gripper,
        reach=round(robot.reach, 3),
        **common,
    )


def _describe_robot(robot: TaskRobot) -> dict[str, Any]:
    """What is known of a robot, as plain data: said by its manifest or inferred."""
    from simwright.tasks.export import describe_actuators, find_start

    facts, tool = robot.facts, robot.tool
    grip = robot.gripper_actuators
    origin, joints = find_start(robot)
    return {
        "id": robot.id,
        "file": str(robot.file),
        "kind": str(facts.kind),
        "base": "floating" if facts.is_floating else "fixed",
        "roots": len(facts.roots),
        "dofs": facts.dofs,
        "actuators": describe_actuators(robot),
        "servos_added": robot.servos,
        "takes": str(facts.mode),
        "tool": tool.model_dump() if tool is not None else None,
        "gripper": [facts.actuators[index].name for index in grip],
        "reach": round(robot.reach, 3),
        # degrees, and said in the key: people read this, while the model has radians
        "forward_deg": round(float(robot.forward) * 57.29577951308232, 3),
        "cameras": list(robot.cameras),
        "home": {"from": origin, "joints": joints},
    }


def _check_robot(text: str) -> AssetResult:
    """Every finding of a manifest (an id or a file), or of a robot file without one."""
    from simwright.checker.result import AssetResult
    from simwright.core.diag import Reporter, diagnostic_from_error, sort_diagnostics
    from simwright.core.documents.validate import InvalidDocumentError
    from simwright.core.errors import SimwrightError
    from simwright.tasks.catalog import find_robot, open_manifest
    from simwright.tasks.preflight import inspect_robot
    from simwright.tasks.robot import open_entry, open_robot

    reporter = Reporter()
    result = AssetResult(text)
    try:
        if _is_named(text) or text.lower().endswith(_YAML):
            entry = find_robot(text) if _is_named(text) else open_manifest(Path(text))
            result.path = str(entry.file)
            if not entry.manifest.licence:
                reporter.report(LICENCE_UNSAID, entry.document.find_where())
            robot = open_entry(entry, reporter=reporter)
        else:
            robot = open_robot(text, reporter=reporter)
        inspect_robot(robot, reporter)
    except InvalidDocumentError as error:
        reporter.extend(error.problems)
    except SimwrightError as error:
        result.failed = True
        reporter.add(diagnostic_from_error(error))
    result.findings = sort_diagnostics(reporter)
    return result


def _draft_text(file: str, folder: Path, *, name: str = "") -> str:
    """A manifest for a robot file or address, to be kept in ``folder``."""
    from simwright.tasks.export import draft_manifest, render_manifest
    from simwright.tasks.robot import open_robot

    robot = open_robot(file)
    comments = [
        "yaml-language-server: $schema=robot.schema.json",  # read by editors; has to be a line of its own
        f"Inferred from {file}. Correct what is wrong; lines that are right may be deleted, they are inferred again.",
        "'simwright robots schema > robot.schema.json' lets editors complete and check this file.",
    ]
    if str(robot.facts.mode) != "position":
        comments.append(f"Its actuators take {robot.facts.mode}: a controller turns positions into it.")
    address = _find_address(file, robot.file, folder)
    if address is None:
        address = robot.file.name
        comments.append(f"Keep this beside {file}.")
    return render_manifest(draft_manifest(robot, address, name=name), *comments)


def _add_robot(
    source: str, *, to: Literal["user", "project"] = "user", name: str = "", force: bool = False
) -> Path:
    """Write a manifest for a robot file, or another manifest, into a folder where it is found; gives its path."""
    from simwright.core.diag import Where
    from simwright.core.errors import OutputError
    from simwright.core.files import write_atomic
    from simwright.tasks.addresses import find_project
    from simwright.tasks.catalog import find_user_folder, open_manifest
    from simwright.tasks.export import draft_manifest, make_id, render_manifest
    from simwright.tasks.manifest import FILE_NAME, check_id
    from simwright.tasks.robot import open_robot

    is_manifest = source.lower().endswith(_YAML)
    robot = open_robot(source)
    # the id of a manifest is kept as it is; the name of a file becomes a legal one
    chosen = check_id(name or (robot.id if is_manifest else make_id(robot.id)))
    folder = find_user_folder() if to == "user" else find_project(Path.cwd()) / "robots"
    target = folder / f"{chosen}.{FILE_NAME}"
    if target.exists() and not force:
        raise OutputError(
            "there is a manifest already",
            hint="--force replaces it, --id gives another name",
            where=Where(str(target)),
        )
    address = _choose_address(source, robot, folder, anywhere=to == "user")
    if is_manifest:
        entry = open_manifest(Path(source))
        key = next(iter(entry.manifest.sim.list_uris()))
        data = {**entry.document.data, "id": chosen}
        # the manifest moves to another folder: a relative address would point nowhere
        data["sim"] = {**data["sim"], key: address}
    else:
        data = draft_manifest(robot, address, name=chosen)
    return write_atomic(target, render_manifest(data))


def _choose_address(source: str, robot: TaskRobot, folder: Path, *, anywhere: bool) -> str:
    from simwright.core.diag import Where
    from simwright.core.errors import OutputError
    from simwright.tasks.addresses import SCHEMES

    said = robot.manifest.sim.uri if robot.manifest is not None else source
    if said.startswith(SCHEMES):
        return said
    # the user's own folder is on this machine only; a project is shared, so its addresses stay
    # relative
    if anywhere:
        return str(robot.file.resolve())
    address = _find_address(said, robot.file, folder)
    if address is None:
        raise OutputError(
            "the robot's file is outside of the project",
            hint="add it to the user's folder (--to user), or move the file into the project",
            where=Where(str(robot.file)),
        )
    return address


def _find_address(said: str, file: Path, folder: Path) -> str | None:
    """What a manifest in ``folder`` says of the file; None where it is outside of the folder's project."""
    from simwright.tasks.addresses import SCHEMES, find_project

    if said.startswith(SCHEMES):
        return said
    place, root = file.resolve(), find_project(folder).resolve()
    if not place.is_relative_to(root):
        return None
    return Path(os.path.relpath(place, folder.resolve())).as_posix()


def _is_named(text: str) -> bool:
    """Is it an id, not a file or an address?"""
    from simwright.tasks.addresses import SCHEMES

    return (
        "/" not in text
        and not Path(text).suffix
        and not text.startswith(SCHEMES)
        and not Path(text).is_file()
    )
