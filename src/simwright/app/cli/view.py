# SPDX-License-Identifier: Apache-2.0
"""``simwright view``."""

from __future__ import annotations

import os
import signal
import sys
import threading
import webbrowser

import click

from simwright.app.cli.options import console, gate_options, package_option, parse_pairs

EPILOG = """\b
Examples:
  simwright view robot.urdf
  simwright view robot.usda --variant tool=gripper --q elbow=0.5
  simwright view scene.yaml --no-browser --port 8080
"""


@click.command("view", epilog=EPILOG)
@click.argument("file", type=click.Path())
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option(
    "--q", "coordinates", multiple=True, metavar="JOINT=VALUE", help="Where a joint starts [rad or m]."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; else one that is free.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
def view(
    file: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    coordinates: tuple[str, ...],
    host: str,
    port: int,
    browser: bool,
) -> int:
    """Show FILE in the browser: its links, joints, colliders, masses and frames; move its joints.

    FILE may be in any format that is read, such as URDF, SDFormat, MJCF, OpenUSD, a scene or a world.  The page is
    served on this machine only unless --host says otherwise, and only to those who have the address that is printed.
    Ctrl-C ends it.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import print_shown
    from simwright.core.diag import Reporter, sort_diagnostics
    from simwright.core.packages import parse_assignments
    from simwright.view import open_page
    from simwright.view.configuration import parse_coordinates
    from simwright.view.serving import import_viser

    import_viser()  # before the file is read: what is missing is said at once
    reporter = Reporter()
    asset = load(
        file,
        packages=parse_assignments(assignments),
        arguments=parse_pairs(arguments, "--arg"),
        variants=parse_pairs(variants, "--variant"),
        reporter=reporter,
    )
    print_shown(file, list(reporter), notes=False)
    start = parse_coordinates(parse_pairs(coordinates, "--q"))
    page = open_page(asset, sort_diagnostics(reporter), coordinates=start, host=host, port=port)
    ended = _catch_end()
    out = console()
    out.print(f"{page.address}", soft_wrap=True, highlight=False, markup=False)
    out.print("Ctrl-C ends it.")
    sys.stdout.flush()
    # a browser of a terminal would take the terminal away from this program
    if browser and (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    ):
        webbrowser.open(page.address)
    ended.wait()
    page.close()
    return 0


def _catch_end() -> threading.Event:
    """What Ctrl-C, or the end of the terminal, sets."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())
    return ended
