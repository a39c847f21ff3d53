# SPDX-License-Identifier: Apache-2.0
"""``simwright world``: worlds of rooms, hallways, furniture, objects and robots."""

from __future__ import annotations

from typing import Any

import click

from simwright.app.cli.options import console, echo, print_json, report_option
from simwright.app.cli.world_options import world_options
from simwright.app.cli.world_plan import plan
from simwright.app.cli.world_run import run

EPILOG = """\b
Examples:
  simwright world check flat.yaml
  simwright world render flat.yaml -o flat.png
  simwright world build flat.yaml -o flat
  simwright world plan flat.yaml --robot cleaner --to kitchen --picture way.png
  simwright world run flat.yaml --plan plan.yaml
"""
CHECK_EPILOG = """\b
Examples:
  simwright world check flat.yaml
  simwright world check flat.yaml --seed 7 --strict
  simwright world check flat.yaml --reference --format json
"""
RENDER_EPILOG = """\b
Examples:
  simwright world render flat.yaml -o flat.png
  simwright world render flat.yaml -o flat.svg --seed 7 --no-nav-poses
  simwright world render site.yaml -o site.png --size 4000 --no-names
"""
BUILD_EPILOG = """\b
Examples:
  simwright world build flat.yaml -o flat
  simwright world build flat.yaml -o flat --format usd --format nav2 --seed 7
  simwright world build site.yaml -o site --format nav2 --resolution 0.1
"""


@click.group("world", epilog=EPILOG)
def world() -> None:
    """Check, draw, build, plan in and run 2D world files (PyRoboSim's format)."""


world.add_command(plan)
world.add_command(run)


@world.command("check", epilog=CHECK_EPILOG)
@world_options
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@report_option
def check(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    notes: bool,
    output_format: str,
) -> int:
    """Load FILE and say what is wrong with it.

    What PyRoboSim drops without a word is named with its line; rooms that cannot be reached, blocked doorways, doors
    that do nothing, objects out of reach and occupied navigation poses are found in the finished world.  Exit code 1
    means that there are errors, or with --strict (2) anything above info.
    """
    from simwright.app.api import raise_findings
    from simwright.app.cli.findings import exit_code, print_findings, print_shown
    from simwright.app.worlds import check_world, describe_world
    from simwright.core.diag import Level, Reporter, sort_diagnostics

    reporter = Reporter()
    found = check_world(file, seed=seed, reference=reference, data_folder=data_folder, reporter=reporter)
    ordered = sort_diagnostics(reporter)
    if output_format == "json":
        findings = [_describe_finding(item) for item in ordered]
        print_json({"world": describe_world(found), "findings": findings})
    elif output_format != "text":
        shown = [item for item in ordered if notes or item.level is not Level.INFO]
        print_findings(file, shown, output_format)
    else:
        console().print(_summarize(found))
        print_shown(file, ordered, notes=notes)
    if strict:
        raise_findings(reporter, file)
    return exit_code(reporter)


@world.command("render", epilog=RENDER_EPILOG)
@world_options
@click.option("-o", "--output", required=True, type=click.Path(), help="The picture, .png or .svg.")
@click.option(
    "--size", type=click.IntRange(200, 8000), default=1600, show_default=True, help="Longer side [px]."
)
@click.option("--names/--no-names", default=True, help="Write the names of things.")
@click.option("--nav-poses/--no-nav-poses", default=True, help="Draw navigation poses as arrow heads.")
@click.option(
    "--path", "targets", multiple=True, metavar="PLACE", help="Draw the path of --robot to a place."
)
@click.option("--robot", default="", help="Whose path; not needed where there is only one robot.")
@click.option("--plan", "plan_file", type=click.Path(), help="Run a plan first, and draw where robots went.")
def render(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    output: str,
    size: int,
    names: bool,
    nav_poses: bool,
    targets: tuple[str, ...],
    robot: str,
    plan_file: str | None,
) -> int:
    """Draw the top view of the world in FILE."""
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.worlds import load_world, render_world
    from simwright.core.diag import Level, Reporter

    reporter = Reporter()
    found = load_world(
        file, seed=seed, reference=reference, data_folder=data_folder, strict=strict, reporter=reporter
    )
    paths = _find_paths(found, targets, robot, plan_file)
    path = render_world(found, output, size=size, names=names, nav_poses=nav_poses, paths=paths)
    shown = [item for item in reporter if item.level is not Level.INFO]
    if shown:
        print_findings(file, shown)
    echo(f"wrote {path}")
    return exit_code(reporter)


@world.command("build", epilog=BUILD_EPILOG)
@world_options
@click.option("-o", "--output", required=True, type=click.Path(), help="A folder; each format has one in it.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("all",),
    show_default=True,
    type=click.Choice(("all", "usd", "mjcf", "sdf", "glb", "nav2")),
    help="What to write; may be given several times.",
)
@click.option("--resolution", type=float, default=0.05, show_default=True, help="Cells of the Nav2 map [m].")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
def build(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    output: str,
    formats: tuple[str, ...],
    resolution: float,
    notes: bool,
) -> int:
    """Write the world in FILE as real scenes: OpenUSD, MJCF, SDFormat, glTF, and a map for Nav2.

    Walls, floors, closed doors and furniture stand still; objects are free bodies; robots are the files that the
    simwright block names, or drums of their size.
    """
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.world_build import build_world
    from simwright.app.worlds import load_world
    from simwright.core.diag import Level, Reporter, sort_diagnostics

    reporter = Reporter()
    found = load_world(
        file, seed=seed, reference=reference, data_folder=data_folder, strict=strict, reporter=reporter
    )
    built = build_world(
        found, output, formats, resolution=resolution, data_folder=data_folder, reporter=reporter
    )
    shown = [item for item in sort_diagnostics(reporter) if notes or item.level is not Level.INFO]
    if shown:
        print_findings(file, shown)
    for path in (*built.entries.values(), built.facts):
        echo(f"wrote {path}")
    return exit_code(reporter)


def _find_paths(found: Any, targets: tuple[str, ...], robot: str, plan_file: str | None) -> list[Any]:
    """What a plan leads along, and paths to places; a place that cannot be reached is an error."""
    from simwright.app.world_runs import find_path, run_plans
    from simwright.core.errors import UsageError
    from simwright.worlds.acting.task_plan import choose_robot, read_plan

    paths: list[Any] = []
    if plan_file is not None:
        paths += run_plans(found, read_plan(plan_file, found, robot))[0].trails.values()
    for target in targets:
        who = next(other for other in found.robots if other.name == choose_robot(found, robot))
        answer = find_path(found, who, target, seed=found.seed)
        if answer.path is None:
            raise UsageError(f"there is no path to {target!r}: {answer.reason}")
        paths.append(answer.path.poses)
    return paths


def _summarize(found: Any) -> str:
    parts = ("rooms", "hallways", "locations", "objects", "robots")
    told = ", ".join(f"{len(getattr(found, part))} {part}" for part in parts)
    return f"{found.name}: {told}; {found.free_space.area:.1f} m2 free for a robot of {found.inflation_radius:g} m"


def _describe_finding(item: Any) -> dict[str, Any]:
    return {
        "code": item.kind,
        "level": str(item.level),
        "message": item.message,
        "hint": item.hint,
        "file": item.where.file,
        "line": item.where.line,
    }
