# SPDX-License-Identifier: Apache-2.0
"""``simwright world build``, ``import``, ``generate``, ``save`` and ``solve``: commands that write files of worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, own_format, run_job
from simwright.app.cli.options import echo, format_option, print_json, read_limits
from simwright.app.cli.world import load_quietly, print_problems, world_options

BUILD_EPILOG = """\b
Examples:
  simwright world build flat.yaml -o flat
  simwright world build flat.yaml -o flat --format usd --format nav2 --seed 7
  simwright world build site.yaml -o site --format nav2 --resolution 0.1
"""
IMPORT_EPILOG = """\b
Examples:
  simwright world import office.building.yaml -o office
  simwright world import hotel.building.yaml -o lobby --level L1
  simwright world import warehouse.yaml -o warehouse --door-width 1.5
  simwright world import flat.svg -o flat --scale 0.01
  simwright world import flat.dxf -o flat
"""
SOLVE_EPILOG = """\b
Examples:
  simwright world solve lab.yaml --robot tender --goal "all mugs on desk0" -o plan.yaml
  simwright world solve lab.yaml --robot tender --goal "gear0 at desk0" --goal "at dock" --run
  simwright world solve lab.yaml --robot tender --goal "all gears in the office" --pddl task
"""
GENERATE_EPILOG = """\b
Examples:
  simwright world generate --rooms 12 --style office --seed 7 -o office
  simwright world generate --rooms 40 --style hospital --seed 1 --count 100 -o hospitals
  simwright world generate --rooms 8 --style home --count 1000 -o homes --job homes-job --jobs 2
"""
SAVE_EPILOG = """\b
Examples:
  simwright world save lab.yaml -o copy
  simwright world save lab.yaml --plan plan.yaml -o after --seed 7
"""


@click.command("build", epilog=BUILD_EPILOG)
@world_options
@click.option("-o", "--output", required=True, type=click.Path(), help="A folder; each format has one in it.")
@click.option(
    "--format",
    "formats",
    multiple=True,
    default=("all",),
    show_default=True,
    type=click.Choice(("all", "usd", "mjcf", "sdf", "glb", "nav2", "rmf")),
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
    """Write the world in FILE as real scenes: OpenUSD, MJCF, SDFormat, glTF, a map for Nav2, a building for RMF.

    Walls, floors, closed doors and furniture stand still; objects are free bodies; robots are the files that the
    simwright block names, or cylinders of their size.
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


@click.command("import", epilog=IMPORT_EPILOG)
@click.argument("file", type=click.Path())
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    help="The folder to write world.yaml and its files to.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(("rmf", "nav2", "svg", "dxf")),
    help="What FILE is; found by its ending and content, unless given.",
)
@click.option("--level", default="", help="Of a building with several levels: only this one.")
@click.option(
    "--scale",
    type=click.FloatRange(min=0, min_open=True),
    help="Of a drawing: metres of one unit (SVG needs it).",
)
@click.option(
    "--door-width",
    type=click.FloatRange(min=0, min_open=True),
    help="Of maps and drawings: openings narrower than this [m] are doors between rooms (default 1.2).",
)
@format_option("text", "json")
def import_plan(
    file: str,
    output: str,
    source: str | None,
    level: str,
    scale: float | None,
    door_width: float | None,
    output_format: str,
) -> int:
    """Make a world of a floor plan: a building of Open-RMF, a map of Nav2, an SVG or a DXF drawing.

    Rooms are found between the walls, doors become hallways.  What a world has no place for is listed, with its
    line; exit code 1 means that the world has errors.
    """
    from simwright.app.cli.findings import exit_code
    from simwright.app.world_build import import_plan as make
    from simwright.app.worlds import describe_world
    from simwright.core.diag import Reporter, sort_diagnostics

    reporter = Reporter()
    written, found = make(
        file, output, source=source, level=level, scale=scale, door_width=door_width, reporter=reporter
    )
    if output_format == "json":
        rows = [
            {"code": item.kind, "level": str(item.level), "message": item.message, "line": item.where.line}
            for item in sort_diagnostics(reporter)
        ]
        print_json({"file": str(written), "world": describe_world(found), "findings": rows})
        return exit_code(reporter)
    print_problems(reporter, notes=True)
    echo(
        f"wrote {written}: {len(found.rooms)} rooms, {len(found.hallways)} hallways, {len(found.locations)} locations, "
        f"{len(found.robots)} robots; {found.open_space.area:.1f} m2 of floor"
    )
    return exit_code(reporter)


@click.command("generate", epilog=GENERATE_EPILOG)
@click.option("-o", "--output", required=True, type=click.Path(), help="The folder to write.")
@click.option(
    "--style",
    type=click.Choice(("office", "home", "warehouse", "hospital")),
    default="office",
    show_default=True,
    help="Rooms, furniture and things.",
)
@click.option(
    "--rooms",
    type=click.IntRange(1, 5000),
    default=12,
    show_default=True,
    help="Number of rooms, without corridors.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**31), default=0, show_default=True, help="Seed of the random choices."
)
@click.option(
    "--count",
    type=click.IntRange(1, 100_000),
    default=1,
    show_default=True,
    help="Number of worlds, with consecutive seeds.",
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Processes at once.  [one for each core]")
@job_options
@format_option(*FORMATS)
def generate(
    output: str, style: str, rooms: int, seed: int, count: int, output_format: str, **options: Any
) -> int:
    """Draw worlds at random: rooms along corridors, with doors, furniture and things on it.

    Every room and every surface can be reached.  The same style, number of rooms and seed give the same files, in
    PyRoboSim's format.
    """
    if options["manifest"]:
        raise click.UsageError("worlds are drawn from --seed and --count, not from a manifest")
    if is_job(options, output_format) or options["jobs"]:
        return _generate_many(Path(output), style, rooms, seed, count, output_format, options)
    from simwright.app.worlds import generate_worlds

    output_format = own_format(output_format, "text", "json")
    files = generate_worlds(output, style, rooms, seed, count)
    if output_format == "json":
        print_json({"files": [str(file) for file in files]})
    else:
        echo(f"wrote {files[0]}" if count == 1 else f"wrote {count} worlds, {files[0]} to {files[-1]}")
    return 0


def _generate_many(
    folder: Path, style: str, rooms: int, seed: int, count: int, output_format: str, options: dict[str, Any]
) -> int:
    """Several worlds as a job."""
    from simwright.app.jobs.kinds import plan_worlds
    from simwright.app.jobs.model import JobSpec, note_environment

    job_options, items = plan_worlds(folder, style, rooms, seed, count)
    spec = JobSpec("generate", job_options, read_limits(options), options["retries"], note_environment())
    return run_job(spec, items, {**options, "inputs": [str(folder)]}, output_format, word="drawing worlds")


@click.command("save", epilog=SAVE_EPILOG)
@world_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    help="A folder: world.yaml and the files of its categories are written there.",
)
@click.option("--plan", "plan_file", type=click.Path(), help="Run a plan first, and save the world after it.")
@click.option("--robot", default="", help="The robot that acts, for plans that name none.")
def save(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    output: str,
    plan_file: str | None,
    robot: str,
) -> int:
    """Save the world of FILE in PyRoboSim's format, every random choice made and every pose absolute.

    Doors and furniture are in their states, objects where they stand, batteries as full as they are.
    """
    from simwright.app.world_build import save_world
    from simwright.app.worlds import run_plans
    from simwright.core.diag import Reporter
    from simwright.worlds.acting.task_plan import read_plan

    found = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    if plan_file is not None:
        run_plans(found, read_plan(plan_file, found, robot), seed=seed)
    reporter = Reporter()
    written = save_world(found, output, reporter=reporter)
    print_problems(reporter)
    echo(f"wrote {written}")
    return 0


@click.command("solve", epilog=SOLVE_EPILOG)
@world_options
@click.option(
    "--goal",
    "goals",
    multiple=True,
    required=True,
    help="'all CATEGORY at PLACE', 'OBJECT at PLACE', 'at PLACE', 'PLACE open' or 'PLACE closed'; all hold at the end.",
)
@click.option("--robot", default="", help="Who acts; not needed where there is only one.")
@click.option(
    "--pddl", type=click.Path(), help="Write domain.pddl and problem.pddl to a folder, and solve nothing."
)
@click.option(
    "--solver", default="", help="An engine of unified-planning, such as aries; any that fits, unless given."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="For the solver [s].",
)
@click.option("-o", "--output", type=click.Path(), help="Write the plan as YAML, for world run --plan.")
@click.option("--run", "runs", is_flag=True, help="Run the plan.")
@format_option("text", "json")
def solve(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    goals: tuple[str, ...],
    robot: str,
    pddl: str | None,
    solver: str,
    timeout: float,
    output: str | None,
    runs: bool,
    output_format: str,
) -> int:
    """Find the actions that bring goals about, all of them together, by a PDDL solver (extra planning).

    Exit code 1 means that the plan failed when it ran; without a plan it is 2.
    """
    from simwright.app.worlds import describe_run, run_plans, write_plan
    from simwright.core.files import write_staged
    from simwright.core.swap import write_folder
    from simwright.worlds.acting.solving import DOMAIN, describe_problem, solve_goals
    from simwright.worlds.acting.task_plan import choose_robot

    # one function: what is found is written, run and printed
    found = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    who = next(other for other in found.robots if other.name == choose_robot(found, robot))
    if pddl is not None:
        texts = {"domain.pddl": DOMAIN, "problem.pddl": describe_problem(found, who, goals).text}
        with write_folder(Path(pddl)) as staging:
            write_staged(staging, {name: text.encode() for name, text in texts.items()})
        echo(f"wrote {Path(pddl) / 'domain.pddl'} and problem.pddl")
        return 0
    actions = solve_goals(found, who, goals, solver=solver, timeout=timeout)
    if output is not None:
        write_plan(output, {who.name: actions})
    simulation: Any = None
    answer: Any = None
    if runs:
        simulation, answers = run_plans(found, {who.name: actions}, seed=seed)
        answer = answers[who.name]
    if output_format == "json":
        plan = {"robot": who.name, "plan": [str(action) for action in actions]}
        ran = {} if simulation is None else {"run": describe_run(simulation, {who.name: answer})}
        print_json(plan | ran)
    else:
        _print_solution(who.name, actions, output, answer)
    return 0 if answer is None or answer.ok else 1


def _print_solution(name: str, actions: list[Any], output: str | None, answer: Any) -> None:
    for action in actions:
        echo(f"{name}: {action}")
    if output is not None:
        echo(f"wrote {output}")
    if answer is not None:
        said = "done" if answer.ok else f"stopped: {answer.results[-1].message}"
        echo(f"{name}: {answer.completed} of {answer.total} actions in {answer.finished:.2f} s, {said}")
