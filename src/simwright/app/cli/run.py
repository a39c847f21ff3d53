# SPDX-License-Identifier: Apache-2.0
"""``simwright run``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import (
    console,
    format_option,
    gate_options,
    live_options,
    package_option,
    parse_pairs,
    parse_size,
    print_json,
    ros_options,
)
from simwright.app.cli.progress import end_on_term

if TYPE_CHECKING:
    from simwright.app.running import RunResult
    from simwright.core.diag import Diagnostic

EPILOG = """\b
Examples:
  simwright run scene.yaml
  simwright run robot.xml --keyframe home --ground --steps 2000 --record stand.mp4
  simwright run robot.urdf --fixed --control wave.json
  simwright run scene.yaml --num-worlds 64 --dt 0.002 --format json
  simwright run scene.yaml --control wave.json --record wave.npz
  simwright run scene.yaml --engine newton --solver featherstone --device cuda
  simwright run scene.yaml --engine drake --set contact_model=point
  simwright run robot.usda --ros
  simwright run robot.xml --ground --view
  simwright run robot.urdf --fixed --bag run.mcap --steps 5000
  simwright run scene.yaml --set integrator=rk4 --set iterations=50
"""
INTERRUPTED = 130


@click.command("run", epilog=EPILOG)
@click.argument("source", metavar="SCENE|ASSET", type=click.Path())
@click.option(
    "--engine", default="mujoco", show_default=True, help="mujoco, newton, drake, or that of a plugin."
)
@click.option("--solver", default="", metavar="NAME", help="A solver of the engine; else its default.")
@click.option("--set", "options", multiple=True, metavar="NAME=VALUE", help="An option of the solver.")
@click.option(
    "--steps",
    "--frames",
    "frames",
    type=click.IntRange(min=0),
    help="Time steps.  [default: 1000; with --ros or --view, until Ctrl-C]",
)
@click.option("--num-worlds", type=click.IntRange(min=1), help="Copies of the world; else the scene's.")
@click.option(
    "--dt", type=click.FloatRange(min=0, min_open=True), help="Time step [s]; else the file's, or 0.002."
)
@click.option("--control", type=click.Path(), help="Targets or controls over time (JSON or YAML).")
@click.option("--loop", is_flag=True, help="Begin the control file again at its end.")
@click.option("--keyframe", default="", metavar="NAME", help="Robot files: start from this keyframe.")
@click.option(
    "--record", type=click.Path(), metavar="FILE", help="Coordinates to .npz, or pictures to .mp4 or .gif."
)
@click.option("--record-every", type=click.IntRange(min=1), metavar="N", help="Record every N-th frame.")
@click.option(
    "--fps",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Frames per second.",
)
@click.option(
    "--size", default="1280x720", show_default=True, metavar="WxH", help="Size of pictures [pixel]."
)
@click.option("--device", default="cpu", show_default=True, help="cpu, or cuda where the engine can.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads; else one for each core.")
@click.option(
    "--floating/--fixed", default=None, help="Robot files: a free or a fixed base; else as the file says."
)
@click.option("--ground/--no-ground", default=False, help="Robot files: add a plane to stand on.")
@package_option
@click.option(
    "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="Robot files: a xacro argument."
)
@click.option(
    "--variant", "variants", multiple=True, metavar="SET=NAME", help="Robot files: a USD variant to select."
)
@ros_options
@live_options
@gate_options
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@format_option("text", "json")
def run(
    source: str,
    options: tuple[str, ...],
    size: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    notes: bool,
    output_format: str,
    **more: object,
) -> int:
    """Run a scene or a robot file, and tell how fast it went.

    A robot file is run as it is: its own time step, options and start, without a ground unless it has one.
    Ctrl-C stops and keeps what was recorded.  Exit code 1 means that the simulation became unstable, or that reading
    found errors.
    """
    from simwright.app.running import run as run_source
    from simwright.core.packages import parse_assignments

    width, height = parse_size(size)
    with show_bars() as progress, end_on_term():
        result = run_source(
            source,
            options=parse_pairs(options, "--set"),
            size=(width, height),
            packages=parse_assignments(assignments),
            arguments=parse_pairs(arguments, "--arg"),
            variants=parse_pairs(variants, "--variant"),
            progress=progress,
            **more,  # type: ignore[arg-type]
        )
    if output_format == "json":
        print_json(result.describe())
    else:
        _print_result(result, notes=notes)
    # what was recorded is kept, but a script should see that the run is not complete
    if result.stopped == "interrupted":
        return INTERRUPTED
    return 1 if result.has_errors else 0


@contextlib.contextmanager
def show_bars() -> Iterator[Callable[[str, int, int], None] | None]:
    """Bars on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        tasks = {}

        def listen(word: str, done: int, total: int) -> None:
            if word not in tasks:
                tasks[word] = bar.add_task(word)
            bar.update(tasks[word], completed=done, total=total)

        yield listen


def _matters(found: Diagnostic) -> bool:
    """Is it more than information?  What changes how the machine moves is at least a warning, whoever finds it."""
    from simwright.core.diag import Level

    return found.level is not Level.INFO


def _print_result(result: RunResult, *, notes: bool) -> None:
    from simwright.app.cli.findings import print_report

    shown = [found for found in result.findings if notes or _matters(found)]
    if shown:
        print_report([(result.source, shown)], "text")
    out = console()
    hidden = len(result.findings) - len(shown)
    if hidden:
        out.print(f"{hidden} {'note is' if hidden == 1 else 'notes are'} not shown (--notes shows them)")
    sizes = result.sizes
    out.print(result.engine, style="bold", end="")
    out.print(
        f" ({result.solver}) on {result.device}, {result.threads} threads: "
        f"{result.worlds} worlds of {sizes['bodies']} bodies, {sizes['dofs']} dofs, {sizes['shapes']} shapes"
    )
    out.print(
        f"{result.frames:,} frames of {result.dt:g} s = {result.simulated_time:.3f} s in {result.wall_time:.3f} s "
        f"(loading {result.load_time:.2f} s, opening {result.open_time:.2f} s)"
    )
    out.print(
        f"real-time factor {result.real_time_factor:,.2f}, {result.throughput:,.0f} world-steps a second"
    )
    if result.recorded:
        out.print(f"recorded: {result.recorded}")
    if result.stopped:
        out.print(result.stopped, style="yellow", end="")
        out.print(f" after {result.frames:,} of {result.asked:,} frames")
