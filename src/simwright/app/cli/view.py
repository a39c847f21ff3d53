# SPDX-License-Identifier: Apache-2.0
"""``simwright view``: files of any format, tasks with their robot, two files at once, recordings."""

from __future__ import annotations

import contextlib
import contextvars
import json
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from simwright.app.api import load
from simwright.app.cli.options import (
    announce_page,
    gate_options,
    package_option,
    parse_pairs,
    place_options,
)
from simwright.core.diag import Diagnostic, Reporter, Where, sort_diagnostics
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.gate import Gate, find_root
from simwright.model.asset import Asset

if TYPE_CHECKING:
    from simwright.view.comparing import ComparePage
    from simwright.view.page import VariantChoices, ViewPage
    from simwright.view.replay import Recording, ReplayPage


YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """How files are read and where they are shown; ``robot`` makes a task of what is named."""

    packages: Mapping[str, Path] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    coordinates: Mapping[str, float] = field(default_factory=dict)
    robot: str | None = None
    host: str = "127.0.0.1"
    port: int = 0


def read_shown(file: str, request: ViewRequest, reporter: Reporter) -> Asset:
    """The asset of a file in any format, or of a task with its robot at the beginning of an episode."""
    if request.robot is not None or is_task_file(file):
        return read_task_asset(file, request.robot, reporter)
    return load(
        file,
        packages=request.packages,
        arguments=request.arguments,
        variants=request.variants,
        reporter=reporter,
    )


def is_task_file(file: str) -> bool:
    """Is it an environment file: YAML or JSON that names a task?"""
    from simwright.core.documents.read import read_document

    if Path(file).suffix.lower() not in YAML or not Path(file).is_file():
        return False
    # a file that cannot be read is told by whoever reads it for good
    with contextlib.suppress(SimwrightError):
        data = read_document(Path(file)).data
        return isinstance(data, dict) and isinstance(data.get("task"), str)
    return False


def read_task_asset(task: str, robot: str | None, reporter: Reporter, sets: tuple[str, ...] = ()) -> Asset:
    """A task with its robot as one asset, at the beginning of the episode with the first seed."""
    from simwright.app.tasking import RunRequest, prepare_run
    from simwright.core.scratch import Scratch
    from simwright.tasks.export import read_task

    ready = prepare_run(RunRequest(task, robot=robot, force=True, sets=sets))
    reporter.extend(ready.findings)
    ready.rollout.reset(seed=ready.said.seed)
    # meshes are read when they are looked at: the folder stays as long as the program
    folder = Scratch()
    _KEPT.append(folder)
    asset = read_task(ready.rollout, folder.path, reporter)
    asset.name = f"{ready.rollout.scene.name} with {ready.rollout.robot.id}"
    return asset


_KEPT: list[Any] = []


def open_view(file: str, request: ViewRequest, reporter: Reporter) -> ViewPage:
    """The page of one file; what ``simwright check`` finds in an OpenUSD asset comes to it later."""
    from simwright.view import open_page

    asset = read_shown(file, request, reporter)
    page = open_page(
        asset,
        sort_diagnostics(reporter),
        coordinates=request.coordinates,
        variants=_list_variants(file, asset, request),
        host=request.host,
        port=request.port,
    )
    if asset.provenance.format == "usd":
        # in the context of the command: what is trusted and what is allowed are said there
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(_check, page, file, request, list(reporter)), daemon=True).start()
    return page


def _check(page: ViewPage, file: str, request: ViewRequest, read: list[Diagnostic]) -> None:
    """Check beside the page: it takes longer than showing the asset does."""
    from simwright.app.api import check

    try:
        report = check(file, packages=dict(request.packages))
    except SimwrightError as error:
        page.show_findings(sort_diagnostics(read), f"could not be checked: {type(error).__name__}")
        return
    found = [finding for asset in report.assets for finding in asset.findings]
    page.show_findings(sort_diagnostics([*found, *read]))


def _list_variants(file: str, asset: Asset, request: ViewRequest) -> VariantChoices | None:
    """The variant sets of an OpenUSD file; None for other formats."""
    if asset.provenance.format != "usd":
        return None
    from simwright.core.packages import find_packages
    from simwright.usd.open import list_variant_sets, open_stage
    from simwright.view.page import VariantChoices

    packages = find_packages(dict(request.packages), near=[Path(file).parent])
    # what is wrong with the file was told when it was read
    stage = open_stage(file, packages=packages, variants=request.variants, reporter=Reporter())

    def read(chosen: dict[str, str]) -> tuple[Asset, list[Diagnostic]]:
        reporter = Reporter()
        found = load(file, packages=request.packages, variants=chosen, reporter=reporter)
        return found, sort_diagnostics(reporter)

    return VariantChoices(list_variant_sets(stage), read)


def open_replay(file: str, recording: str, request: ViewRequest, reporter: Reporter) -> ReplayPage:
    """A recording, with the file that was run: the one that is named, or else the one that the recording names."""
    from simwright.view.replay import ReplayPage, read_recording

    found = read_recording(recording)
    where = Where(recording)
    if found.task:
        return _replay_task(file, found, request, reporter, where)
    if not file:
        if not found.source:
            raise UsageError(
                "the recording does not say what was run",
                hint=f"simwright view FILE --recording {recording}",
                where=where,
            )
        beside = Path(recording).parent / found.source
        # a recording may come from somebody else: it names files of its own project only
        gate = Gate([find_root(Path(recording)), Path(recording).resolve().parent, Path.cwd()])
        gate.admit(beside, where, said=found.source)
        file = str(beside)
    asset = read_shown(file, request, reporter)
    return ReplayPage(asset, found, host=request.host, port=request.port, where=where)


def _replay_task(
    file: str, found: Recording, request: ViewRequest, reporter: Reporter, where: Where
) -> ReplayPage:
    """Episodes of a task; a robot that is a file of the user has to be named again."""
    from simwright.tasks.catalog import list_robots
    from simwright.view.replay import ReplayPage

    robot = request.robot
    if robot is None:
        robot = found.robot
        # a recording may come from somebody else: it names robots of the list only, no files
        if robot not in list_robots():
            raise UsageError(
                f"the robot {robot!r} of this recording is in no list of robots",
                hint=f"simwright view {file or found.task} --robot FILE --recording {where.file}",
                where=where,
            )
    sets = tuple(f"{name}={json.dumps(value)}" for name, value in found.options.items())
    asset = read_task_asset(file or found.task, robot, reporter, sets)
    return ReplayPage(asset, found, host=request.host, port=request.port, where=where)


def open_comparison(files: Sequence[str], request: ViewRequest, reporters: Sequence[Reporter]) -> ComparePage:
    """Two files on one page, with what differs between them."""
    from simwright.app.api import read_image
    from simwright.compare.difference import make_settings
    from simwright.compare.run import compare_assets
    from simwright.view.comparing import ComparePage

    first, second = (
        read_shown(file, request, reporter) for file, reporter in zip(files, reporters, strict=True)
    )
    difference = compare_assets(first, second, make_settings(read_image=read_image))
    difference.a, difference.b = files
    return ComparePage(
        (first, second), difference, coordinates=request.coordinates, host=request.host, port=request.port
    )


EPILOG = """\b
Examples:
  simwright view robot.urdf
  simwright view robot.usda --variant tool=gripper --q elbow=0.5
  simwright view scene.yaml --no-browser --port 8080
  simwright view before.urdf after.usda
  simwright view robot.xml --recording run.npz
  simwright view tabletop_push --robot panda
"""


@click.command("view", epilog=EPILOG)
@click.argument("files", metavar="FILE [OTHER]", type=click.Path(), nargs=-1, required=True)
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option(
    "--q", "coordinates", multiple=True, metavar="JOINT=VALUE", help="Where a joint starts [rad or m]."
)
@click.option("--recording", type=click.Path(), metavar="FILE", help="Replay what run --record wrote (.npz).")
@click.option("--robot", help="FILE is a task, by name or as a file: the robot that does it.")
@place_options
def view(
    files: tuple[str, ...],
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    coordinates: tuple[str, ...],
    recording: str | None,
    robot: str | None,
    host: str,
    port: int,
    browser: bool,
) -> int:
    """Show FILE in the browser: its links, joints, colliders, masses and frames; move its joints.

    FILE may be in any format that is read, such as URDF, SDFormat, MJCF, OpenUSD, a scene or a world, a task, or a
    recording.  With OTHER, the two are shown together, with what simwright diff finds.  The page is served on this
    machine only unless --host says otherwise, and only to those who have the address that is printed.  Ctrl-C ends it.
    """
    from simwright.core.packages import parse_assignments
    from simwright.view.configuration import parse_coordinates
    from simwright.view.serving import import_viser

    if len(files) > 2:
        raise click.UsageError(f"one file, or two to compare, not {len(files)}")
    import_viser()  # before the file is read: what is missing is said at once
    request = ViewRequest(
        packages=parse_assignments(assignments),
        arguments=parse_pairs(arguments, "--arg"),
        variants=parse_pairs(variants, "--variant"),
        coordinates=parse_coordinates(parse_pairs(coordinates, "--q")),
        robot=robot,
        host=host,
        port=port,
    )
    page = _open(files, recording, request)
    ended = _catch_end()
    announce_page(page.address, browser=browser)
    ended.get()
    page.close()
    return 0


def _open(files: tuple[str, ...], recording: str | None, request: ViewRequest) -> Any:
    """The page that is asked for; findings of the files go to standard output first."""
    from simwright.app.cli.findings import print_shown
    from simwright.core.diag import Reporter

    reporters = [Reporter() for _ in files]
    if len(files) == 2:
        page: Any = open_comparison(files, request, reporters)
    elif recording is not None or files[0].lower().endswith(".npz"):
        page = open_replay(
            files[0] if recording is not None else "", recording or files[0], request, reporters[0]
        )
    else:
        page = open_view(files[0], request, reporters[0])
    for file, reporter in zip(files, reporters, strict=True):
        print_shown(file, list(reporter), notes=False)
    return page


def _catch_end() -> SimpleQueue[None]:
    """Where Ctrl-C, or the end of the terminal, puts something."""
    # handlers run in the thread that waits: a queue takes that, the lock of an Event may not
    ended: SimpleQueue[None] = SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.put(None))
    return ended
