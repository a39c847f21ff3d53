# SPDX-License-Identifier: Apache-2.0
"""``simwright task list|show|check|run|teleop|export``: tasks in which the robot is a flag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import (
    FORMATS,
    emit_report,
    is_job,
    job_options,
    own_format,
    refuse_flags,
    run_job,
)
from simwright.app.cli.options import (
    console,
    echo,
    format_option,
    gate_options,
    live_options,
    print_json,
    read_limits,
    report_option,
    ros_options,
)

if TYPE_CHECKING:
    from simwright.app.jobs.store import JobStore

EPILOG = """\b
Examples:
  simwright task list
  simwright task show tabletop_push
  simwright task run tabletop_push --robot panda --episodes 10 --policy push
  simwright task run env.yaml --record out.mp4
  simwright task check pick_place --robot arm.urdf
  simwright task export drawer --robot sample_arm -o out/drawer.usda
"""
RUN_EPILOG = """\b
Examples:
  simwright task run tabletop_push --robot panda --episodes 10 --seed 0 --policy push
  simwright task run reach --robot arm.urdf --fit --policy reach --record out.mp4
  simwright task run tabletop_push --robot panda --set cube_mass=0.1 --format json
  simwright task run locomotion_flat --robot h1.xml --policy random --num-worlds 64 --episodes 64
  simwright task run env.yaml --dataset data/push
  simwright task run tabletop_push --robot panda --policy push --episodes 50 --report out/push
  simwright task run tabletop_push --robot panda --policy push --view
  simwright task run reach --robot sample_arm --ros --max-steps 100000
  simwright task run reach --robot sample_arm --policy reach --episodes 1000 --jobs 8 --format json
"""
TELEOP_EPILOG = """\b
Examples:
  simwright task teleop reach --robot sample_arm --view
  simwright task teleop pick_place --robot sample_arm --episodes 20 --record demos.npz
  simwright task teleop pick_place --robot panda --control osc --view --dataset data/pick
"""
CHECK_EPILOG = """\b
Examples:
  simwright task check tabletop_push --robot sample_arm
  simwright task check pick_place --robot arm.urdf --fit --notes
  simwright task check reach --robot menagerie:franka_emika_panda --control torque --format json
"""
EXPORT_EPILOG = """\b
Examples:
  simwright task export tabletop_push --robot sample_arm -o out/push.usda
  simwright task export drawer --robot arm.urdf --seed 3 -o out/drawer.sdf
  simwright task export reach --robot sample_arm --set goal_radius=0.05 -o out/reach.xml
"""


@click.group("task", epilog=EPILOG)
def task() -> None:
    """List, show and run tasks, with any robot that can do them."""


@task.command("list", epilog="\b\nExample:\n  simwright task list --format json\n")
@format_option("text", "json")
def list_command(output_format: str) -> None:
    """List the tasks."""
    from simwright.tasks.scenes.table import SCENES

    scenes = [scene for _, scene in SCENES.items()]
    if output_format == "json":
        plain = [{"name": s.name, "title": s.title, "robot": s.fixed_robot or None} for s in scenes]
        print_json({"version": 1, "tasks": plain})
        return
    from rich.table import Table

    table = Table("task", "what it is", "robot", box=None, pad_edge=False)
    for scene in scenes:
        table.add_row(scene.name, scene.title, scene.fixed_robot or "any")
    console().print(table)


@task.command("show", epilog="\b\nExample:\n  simwright task show tabletop_push\n")
@click.argument("name")
@format_option("text", "json")
def show_command(name: str, output_format: str) -> None:
    """Show what task NAME needs, and its options with their defaults."""
    from simwright.app.tasking import describe_task
    from simwright.tasks.scenes.table import SCENES

    told = describe_task(SCENES.get(name))
    if output_format == "json":
        print_json({"version": 1, **told})
        return
    from rich.table import Table

    out = console()
    out.print(f"{told['name']}: {told['title']}")
    out.print(f'"{told["instruction"]}"')
    out.print(f"needs {_spell_needs(told['needs'])}; at most {told['max_steps']} actions")
    out.print(f"cameras {', '.join(told['cameras'])}; policies {', '.join(told['policies'])}\n")
    table = Table("option", "default", "", box=None, pad_edge=False)
    for option in told["options"]:
        table.add_row(option["name"], json.dumps(option["default"]), option["description"])
    out.print(table)
    joints = f"; joints {', '.join(told['joints'])}" if told["joints"] else ""
    out.print(f"\nterms to observe, and for success; places are {', '.join(told['places'])}{joints}")
    table = Table("term", "takes", "unit", "", box=None, pad_edge=False)
    for term in told["terms"]:
        table.add_row(term["name"], ", ".join(term["takes"]), term["unit"], term["description"])
    out.print(table)


def _spell_needs(needs: dict[str, Any]) -> str:
    base = {"any": "any base", "fixed": "a fixed base", "floating": "a floating base"}[needs["base"]]
    parts = [base, *(f"a {what}" for what in ("tool", "gripper") if needs[what])]
    if needs["reach"]:
        parts.append(f"{needs['reach']:g} m of reach")
    return ", ".join(parts)


@task.command("run", epilog=RUN_EPILOG)
@gate_options
@click.argument("what", metavar="TASK|FILE")
@click.option(
    "--robot", help="A robot of the list, menagerie:NAME, or a file: MJCF, URDF, SDFormat, OpenUSD."
)
@click.option(
    "--episodes", type=click.IntRange(1), help="How many episodes.  [default: 1; with --view, until Ctrl-C]"
)
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of the first; each next has one more.  [default: 0]"
)
@click.option(
    "--policy",
    help="What chooses the actions: hold, random, a scripted baseline, or a plugin.  [default: hold]",
)
@click.option(
    "--control",
    type=click.Choice(["position", "velocity", "torque", "pose", "osc"]),
    help="What actions mean.",
)
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="An option of the task; may be repeated."
)
@click.option("--fit", is_flag=True, help="Scale and move the workspace to where the robot reaches.")
@click.option("--force", is_flag=True, help="Run even if the pre-flight report has errors.")
@click.option("--max-steps", type=click.IntRange(1), help="Actions of an episode at most.")
@click.option("--num-worlds", type=click.IntRange(1), help="Run as many episodes at once.")
@click.option("--record", type=click.Path(), help="Write a film (.mp4) or arrays (.npz).")
@click.option("--camera", default="", help="Camera of the film.  [default: side]")
@click.option("--dataset", type=click.Path(), help="Write a data set in LeRobot's layout into this folder.")
@click.option(
    "--report",
    type=click.Path(),
    metavar="FOLDER",
    help="Write a page of the evaluation: rate, films of failures.",
)
@ros_options
@live_options
@click.option("--jobs", type=click.IntRange(min=1), help="Spread episodes over as many processes.")
@job_options
@format_option(*FORMATS)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Jobs: write the report here."
)
def run_command(output_format: str, what: str, output: Path | None, **asked: Any) -> int:
    """Run episodes of a TASK with a robot, or what an environment FILE (YAML) says.

    The robot is checked for the task first (as by simwright task check); errors stop the run, unless --force is given.
    The exit code is 0 when the run finished; how many episodes succeeded is in the report.

    With --jobs, --job or --executor ray episodes are spread over processes or machines; each is the same wherever it
    runs.  A data set is then written in parts.
    """
    from simwright.app.cli.findings import print_findings
    from simwright.app.cli.progress import end_on_term, show_progress
    from simwright.app.tasking import RunRequest, prepare_run
    from simwright.core.diag import Level, Reporter
    from simwright.core.errors import EXIT_BAD_INPUT
    from simwright.tasks.findings import PreflightError

    names = ("job_folder", "manifest", "resume", "restart", "executor", "address", "ship", "retries", "jobs")
    options = {name: asked.pop(name) for name in (*names, "timeout", "max_memory")}
    if is_job(options, output_format) or options["jobs"]:
        return _run_job(what, asked, options, output_format, output)
    own_format(output_format, "text", "json")
    try:
        ready = prepare_run(RunRequest(what, **asked))
    # told as a report with all errors, not as the first of them
    except PreflightError as error:
        print_findings(f"{error.report.task} with {error.report.robot}", error.report.errors, output_format)
        return EXIT_BAD_INPUT
    for finding in ready.findings:
        if finding.level is not Level.INFO:
            console(stderr=True).print(str(finding))
    reporter = Reporter()
    with show_progress("episodes") as progress, end_on_term():
        summary = ready.run(progress, reporter)
    page = None
    if asked["report"]:
        from simwright.app.report.html import write_evaluation

        page = write_evaluation(Path(asked["report"]), summary, ready.films)
    for finding in reporter:
        if finding.level is not Level.INFO:
            console(stderr=True).print(str(finding))
    if output_format == "json":
        print_json(summary.describe())
        return 0
    out = console()
    out.print(
        f"{summary.task} with {summary.robot}, {summary.policy} ({summary.mode}), seed {summary.seed}\n"
    )
    _print_episodes(summary)
    rate, (low, high) = 100.0 * summary.success_rate, summary.interval
    out.print(
        f"\n{summary.successes} of {len(summary.episodes)} episodes succeeded ({rate:.0f} %; "
        f"95 % interval {100 * low:.0f} to {100 * high:.0f} %)"
    )
    # an environment file may name the recording as well
    for path in (asked["record"] or ready.said.record, asked["dataset"], page):
        if path:
            out.print(f"wrote {path}")
    return 0


def _run_job(
    what: str, asked: dict[str, Any], options: dict[str, Any], output_format: str, output: Path | None
) -> int:
    """Spread the episodes of a run over workers."""
    from simwright.app.jobs.kinds import plan_evaluation
    from simwright.app.jobs.model import JobSpec, note_environment

    refuse_flags(asked, "record", "report", "num_worlds", "view")
    refuse_flags(options, "manifest", "ship")
    if asked.pop("ros").is_asked:
        raise click.UsageError("a job cannot be used with --ros")
    job_options, items = plan_evaluation(what, asked)
    spec = JobSpec("evaluate", job_options, read_limits(options), options["retries"], note_environment())
    options = {**options, "inputs": [what], "names": True}
    if output_format not in ("text", "json"):
        return run_job(spec, items, options, output_format, output, word="episodes")
    return run_job(spec, items, options, output_format, output, word="episodes", report=_report_episodes)


def _report_episodes(store: JobStore, output_format: str, output: Path | None) -> None:
    """The report of a run, as it would be of one process."""
    from simwright.app.jobs.kinds import collect_episodes
    from simwright.core.files import write_atomic

    summary = collect_episodes(store.iterate())
    if summary is None:
        emit_report(store, output_format, output)
    elif output is not None:
        write_atomic(output, json.dumps(summary, indent=2) + "\n")
    elif output_format == "json":
        print_json(summary)
    else:
        failed = store.measure().statuses.get("failed", 0)
        count = len(summary["episodes"])
        rate = 100.0 * summary["success_rate"]
        echo(f"{summary['task']} with {summary['robot']}, {summary['policy']} ({summary['control']})")
        echo(f"{summary['successes']} of {count} episodes succeeded ({rate:.0f} %)")
        if failed:
            emit_report(store, "text", None)


def _print_episodes(summary: Any) -> None:
    from rich.table import Table

    table = Table("episode", "seed", "end", "steps", "return", "policy ms", "", box=None, pad_edge=False)
    for episode in summary.episodes:
        details = " ".join(f"{key} {value:.3g}" for key, value in episode.details.items())
        table.add_row(
            str(episode.index),
            str(episode.seed),
            episode.ended,
            str(episode.steps),
            f"{episode.total_reward:.2f}",
            f"{episode.mean_latency_ms:.2f}",
            details,
        )
    console().print(table)


@task.command("teleop", epilog=TELEOP_EPILOG)
@gate_options
@click.argument("what", metavar="TASK|FILE")
@click.option(
    "--robot", help="A robot of the list, menagerie:NAME, or a file: MJCF, URDF, SDFormat, OpenUSD."
)
@click.option("--episodes", type=click.IntRange(1), help="How many episodes to keep.  [default: 1]")
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of the first; each next has one more.  [default: 0]"
)
@click.option(
    "--control",
    type=click.Choice(["pose", "osc"]),
    default="pose",
    show_default=True,
    help="How the tool is moved: by inverse kinematics, or softly by torques.",
)
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="An option of the task; may be repeated."
)
@click.option("--fit", is_flag=True, help="Scale and move the workspace to where the robot reaches.")
@click.option("--force", is_flag=True, help="Drive even if the pre-flight report has errors.")
@click.option("--record", type=click.Path(), help="Write a film (.mp4) or arrays (.npz) of what was kept.")
@click.option("--camera", default="", help="Camera of the film.  [default: side]")
@click.option("--dataset", type=click.Path(), help="Write a data set in LeRobot's layout into this folder.")
@live_options
def teleop_command(what: str, **asked: Any) -> int:
    """Drive the robot through a TASK by hand, with the keys of this terminal or on a page, and keep what was done.

    Episodes that succeed are kept; Enter keeps one that did not, Backspace starts it again, Esc ends. Kept episodes are
    recorded as those of simwright task run are.
    """
    from simwright.app.tasking import RunRequest, prepare_run
    from simwright.core.diag import Reporter
    from simwright.core.errors import EXIT_BAD_INPUT
    from simwright.tasks.findings import PreflightError

    try:
        ready = prepare_run(RunRequest(what, policy="hold", **asked))
    except PreflightError as error:
        from simwright.app.cli.findings import print_findings

        print_findings(f"{error.report.task} with {error.report.robot}", error.report.errors, "text")
        return EXIT_BAD_INPUT
    summary = ready.drive(Reporter(), echo)
    echo(f"{len(summary.episodes)} episodes kept, {summary.successes} of them done")
    for path in (asked["record"] or ready.said.record, asked["dataset"]):
        if path and summary.episodes:
            echo(f"wrote {path}")
    return 0


@task.command("check", epilog=CHECK_EPILOG)
@gate_options
@click.argument("name", metavar="TASK")
@click.option("--robot", required=True, help="A robot of the list, menagerie:NAME, or a file.")
@click.option(
    "--control",
    type=click.Choice(["position", "velocity", "torque", "pose", "osc"]),
    help="What actions mean.",
)
@click.option(
    "--set", "sets", multiple=True, metavar="KEY=VALUE", help="An option of the task; may be repeated."
)
@click.option("--fit", is_flag=True, help="Scale and move the workspace to where the robot reaches.")
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
    """Check whether a robot can do TASK, before anything moves: reach, base, gripper, start, actuators, time step.

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


@task.command("export", epilog=EXPORT_EPILOG)
@gate_options
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
    """Write the start of an episode of TASK with a robot as OpenUSD, SDFormat, glTF or MJCF."""
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
