# SPDX-License-Identifier: Apache-2.0
"""Robots for the command line: what is known of each, what is wrong with a manifest, and adding one."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from simwright.checker.result import AssetResult
from simwright.core.diag import Level, Reporter, Where, declare, diagnostic_from_error, sort_diagnostics
from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import OutputError, SimwrightError
from simwright.core.files import write_atomic
from simwright.tasks.addresses import SCHEMES, find_project
from simwright.tasks.catalog import CatalogEntry, find_robot, find_user_folder, list_robots, open_manifest
from simwright.tasks.draft import describe_actuators, draft_manifest, find_start, make_id, render_manifest
from simwright.tasks.manifest import FILE_NAME, check_id
from simwright.tasks.preflight import inspect_robot
from simwright.tasks.robot import TaskRobot, open_entry, open_robot

_YAML = (".yaml", ".yml", ".json")

ROBOT_BROKEN = declare(
    "robot-broken",
    Level.WARNING,
    "the robot {id!r} cannot be opened: {reason}",
    hint="simwright robots check {id} shows all that is wrong with it",
    doc="A manifest can be read, but the robot it describes cannot be used; the other robots are listed all the same.",
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


def list_rows(reporter: Reporter, *, quick: bool = False) -> list[RobotRow]:
    """Every robot of the catalog.  ``quick`` does not open their files."""
    rows = []
    for name, entry in sorted(list_robots(reporter).items()):
        robot = None
        if not quick:
            try:
                robot = open_entry(entry)
            except SimwrightError as error:
                where = error.where or Where(str(entry.file))
                reporter.report(ROBOT_BROKEN, where, id=name, reason=error.message.splitlines()[0])
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


def describe_robot(robot: TaskRobot) -> dict[str, Any]:
    """What is known of a robot, as plain data: said by its manifest or inferred."""
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
        "forward_deg": round(float(robot.forward) * 57.29577951308232, 3),
        "cameras": list(robot.cameras),
        "home": {"from": origin, "joints": joints},
    }


def check_robot(text: str) -> AssetResult:
    """Every finding of a manifest (an id or a file), or of a robot file without one."""
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


def draft_text(file: str, folder: Path, *, name: str = "") -> str:
    """A manifest for a robot file or address, to be kept in ``folder``."""
    robot = open_robot(file)
    comments = [f"Inferred from {file}; correct what is wrong, leave out what is right anyway."]
    if str(robot.facts.mode) != "position":
        comments.append(f"Its actuators take {robot.facts.mode}: a controller turns positions into it.")
    address = _find_address(file, robot.file, folder)
    if address is None:
        address = robot.file.name
        comments.append(f"Keep this beside {file}.")
    return render_manifest(draft_manifest(robot, address, name=name), *comments)


def add_robot(
    source: str, *, to: Literal["user", "project"] = "user", name: str = "", force: bool = False
) -> Path:
    """Write a manifest for a robot file, or another manifest, into a folder where it is found; gives its path."""
    is_manifest = source.lower().endswith(_YAML)
    robot = open_robot(source)
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
        data["sim"] = {**data["sim"], key: address}
    else:
        data = draft_manifest(robot, address, name=chosen)
    return write_atomic(target, render_manifest(data))


def _choose_address(source: str, robot: TaskRobot, folder: Path, *, anywhere: bool) -> str:
    said = robot.manifest.sim.uri if robot.manifest is not None else source
    if said.startswith(SCHEMES):
        return said
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
    if said.startswith(SCHEMES):
        return said
    place, root = file.resolve(), find_project(folder).resolve()
    if not place.is_relative_to(root):
        return None
    return Path(os.path.relpath(place, folder.resolve())).as_posix()


def _is_named(text: str) -> bool:
    """Is it an id, not a file or an address?"""
    return (
        "/" not in text
        and not Path(text).suffix
        and not text.startswith(SCHEMES)
        and not Path(text).is_file()
    )


def make_plain(row: RobotRow) -> dict[str, Any]:
    """A row as plain data."""
    return asdict(row)
