# SPDX-License-Identifier: Apache-2.0
"""``simwright task check``: the pre-flight report."""

from __future__ import annotations

import click

from simwright.app.cli.options import report_option, trust_options

EPILOG = """\b
Examples:
  simwright task check tabletop_push --robot sample_arm
  simwright task check pick_place --robot arm.urdf --fit --notes
  simwright task check reach --robot menagerie:franka_emika_panda --control torque --format json
"""


@click.command("check", epilog=EPILOG)
@trust_options
@click.argument("name", metavar="TASK")
@click.option("--robot", required=True, help="A robot of the list, menagerie:NAME, or a file.")
@click.option(
    "--control", type=click.Choice(["position", "velocity", "torque", "pose"]), help="What actions mean."
)
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="An option of the task; may be repeated."
)
@click.option("--fit", is_flag=True, help="Draw the workspace to what the robot reaches.")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@report_option
def check_command(
    name: str,
    robot: str,
    control: str | None,
    sets: tuple[str, ...],
    fit: bool,
    notes: bool,
    output_format: str,
) -> int:
    """Hold a robot against TASK before anything moves: reach, base, gripper, start, actuators, time step.

    Exit code 1 means that the robot cannot do the task.
    """
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.tasking import read_sets
    from simwright.core.diag import Level
    from simwright.tasks.preflight import preflight
    from simwright.tasks.scenes.table import SCENES

    scene = SCENES.get(name)
    report = preflight(scene, robot, options=read_sets(scene, sets), mode=control, fit=fit)
    shown = [found for found in report.findings if notes or found.level is not Level.INFO]
    print_findings(f"{name} with {report.robot}", shown, output_format)
    return exit_code(report.findings)
