# SPDX-License-Identifier: Apache-2.0
"""``simwright view``."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import (
    announce_page,
    gate_options,
    package_option,
    parse_pairs,
    place_options,
)

if TYPE_CHECKING:
    from simwright.app.viewing import ViewRequest

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
    from simwright.app.viewing import ViewRequest
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
    ended.wait()
    page.close()
    return 0


def _open(files: tuple[str, ...], recording: str | None, request: ViewRequest) -> Any:
    """The page that is asked for; findings of the files go to standard output first."""
    from simwright.app.cli.findings import print_shown
    from simwright.app.viewing import open_comparison, open_replay, open_view
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


def _catch_end() -> threading.Event:
    """What Ctrl-C, or the end of the terminal, sets."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    return ended
