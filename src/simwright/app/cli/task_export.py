# SPDX-License-Identifier: Apache-2.0
"""``simwright task export``."""

from __future__ import annotations

from pathlib import Path

import click

from simwright.app.cli.options import console, echo, trust_options

EPILOG = """\b
Examples:
  simwright task export tabletop_push --robot sample_arm -o out/push.usda
  simwright task export drawer --robot arm.urdf --seed 3 -o out/drawer.sdf
  simwright task export reach --robot sample_arm --set goal_radius=0.05 -o out/reach.xml
"""


@click.command("export", epilog=EPILOG)
@trust_options
@click.argument("name", metavar="TASK")
@click.option("--robot", required=True, help="A robot of the list, menagerie:NAME, or a file.")
@click.option("-o", "--output", required=True, type=click.Path(), help="The file or folder to write.")
@click.option("--to", help="The format to write; the name of the output decides by default.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which episode.")
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="An option of the task; may be repeated."
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
def export_command(
    name: str,
    robot: str,
    output: str,
    to: str | None,
    seed: int,
    sets: tuple[str, ...],
    overwrite: bool,
    notes: bool,
) -> int:
    """Write the beginning of an episode of TASK with a robot as OpenUSD, SDFormat, glTF or MJCF."""
    from simwright.app.cli.findings import exit_code
    from simwright.app.tasking import read_sets
    from simwright.core.diag import Level, Reporter
    from simwright.formats.format import WriteOptions
    from simwright.tasks.export import export_scene
    from simwright.tasks.robot import open_robot
    from simwright.tasks.scenes.table import SCENES

    reporter = Reporter()
    scene = SCENES.get(name)
    written = export_scene(
        scene,
        open_robot(robot, reporter=reporter),
        Path(output),
        options=read_sets(scene, sets),
        seed=seed,
        to=to,
        writing=WriteOptions(overwrite=overwrite),
        reporter=reporter,
    )
    for finding in reporter:
        if notes or finding.level is not Level.INFO:
            console(stderr=True).print(str(finding))
    echo(str(written))
    return exit_code(reporter)
