# SPDX-License-Identifier: Apache-2.0
"""``simwright world``: worlds of rooms, hallways, furniture, objects and robots."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simwright.app.cli.options import (
    console,
    echo,
    format_option,
    gate_options,
    live_options,
    parse_pairs,
    print_json,
    report_option,
    ros_options,
)
from simwright.core.registry import import_object

if TYPE_CHECKING:
    from simwright.app.bridging import RosOptions
    from simwright.app.watching import LiveOptions
    from simwright.core.diag import Reporter

F = TypeVar("F", bound=Callable[..., Any])
INTERRUPTED = 130
EPILOG = """\b
Examples:
  simwright world check flat.yaml
  simwright world render flat.yaml -o flat.png
  simwright world build flat.yaml -o flat
  simwright world import office.building.yaml -o office
  simwright world plan flat.yaml --robot cleaner --to kitchen --picture way.png
  simwright world run flat.yaml --plan plan.yaml
  simwright world generate --rooms 12 --style office --seed 7 -o office
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
PLAN_EPILOG = """\b
Examples:
  simwright world plan lab.yaml --robot tender --to desk0
  simwright world plan lab.yaml --robot courier --from office --to 4.5,0.5 --planner astar --picture way.png
  simwright world plan lab.yaml --robot tender --to "storage shelf" --planner prm --option max_nodes=200 --format json
  simwright world plan lab.yaml --robot tender --to desk0 --planner rrt --option max_time=2
"""
RUN_EPILOG = """\b
Examples:
  simwright world run lab.yaml --plan plan.yaml
  simwright world run lab.yaml --robot tender --goal "gear0 at desk0" --goal "at dock" --seed 7
  simwright world run lab.yaml --plan plan.yaml --format json --picture after.png
  simwright world run lab.yaml --ros
  simwright world run lab.yaml --plan plan.yaml --bag run.mcap
  simwright world run lab.yaml --view
"""


_OF_FILES = "simwright.app.cli.world_files"
OTHERS = {word: f"{_OF_FILES}:{name}" for word, name in (
    ("build", "build"), ("import", "import_plan"), ("generate", "generate"), ("save", "save"), ("solve", "solve")
)}  # fmt: skip
"""Commands that write files: imported when they are run."""


class WorldGroup(click.Group):
    """The commands of this file, then those of :data:`OTHERS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names: what looks at a world, what makes one, what moves in one."""
        own = list(self.commands)
        return [*own[:2], *OTHERS, *own[2:]]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in OTHERS:
            return super().get_command(ctx, cmd_name)
        command = import_object(OTHERS[cmd_name])
        assert isinstance(command, click.Command)
        return command


@click.group("world", cls=WorldGroup, epilog=EPILOG)
def world() -> None:
    """Check, draw, build, plan in and run 2D world files (PyRoboSim's format)."""


def world_options(command: F) -> F:
    """What every command takes that reads a world."""
    options = (
        click.argument("file", type=click.Path()),
        click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="Seed of the random choices."),
        click.option(
            "--reference",
            is_flag=True,
            help="Behave like PyRoboSim 5.0.1, including its random choices and bugs.",
        ),
        click.option("--data", "data_folder", type=click.Path(), help="The folder that $DATA means."),
        click.option("--strict", is_flag=True, help="Any finding above info is an error (exit code 2)."),
    )
    for option in reversed(options):
        command = option(command)
    return gate_options(command)


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
    """Load FILE and list what is wrong with it.

    What PyRoboSim drops silently is listed with its line; rooms that cannot be reached, blocked doorways, doors
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
@click.option("--robot", default="", help="The robot of the path; not needed if there is only one.")
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


@world.command("plan", epilog=PLAN_EPILOG)
@world_options
@click.option("--robot", default="", help="The robot that moves; not needed if there is only one.")
@click.option("--from", "start", help="A place or x,y[,yaw]; where the robot is, unless given.")
@click.option("--to", "target", required=True, help="A place or x,y[,yaw].")
@click.option("--planner", help="astar, rrt, prm or world_graph; the robot's own, unless given.")
@click.option("--option", "pairs", multiple=True, metavar="NAME=VALUE", help="A property of the planner.")
@click.option("--picture", type=click.Path(), help="Draw the path, .png or .svg.")
@format_option("text", "json")
def plan(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    robot: str,
    start: str | None,
    target: str,
    planner: str | None,
    pairs: tuple[str, ...],
    picture: str | None,
    output_format: str,
) -> int:
    """Plan a path in the world of FILE.

    Exit code 1 means that there is no path; the reason is printed.
    """
    from simwright.app.worlds import describe_path, find_path, render_world
    from simwright.worlds.acting.task_plan import choose_robot

    # one function: the answer is printed as text, as JSON and as a picture
    found = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    name = choose_robot(found, robot)
    who = next(other for other in found.robots if other.name == name)
    answer = find_path(
        found, who, target, start=start, planner=planner, options=_read_values(pairs), seed=found.seed
    )
    if picture is not None:
        render_world(
            found,
            picture,
            paths=[] if answer.path is None else [leg.poses for leg in answer.path.list_legs()],
        )
    if output_format == "json":
        print_json({"robot": who.name, **describe_path(answer)})
    elif answer.path is None:
        echo(f"{who.name}: no path to {target}: {answer.reason}")
    else:
        echo(f"{who.name}: {answer.path.length:.3f} m over {len(answer.path.poses)} poses to {target}")
        rides = {ride.index: ride for ride in answer.path.rides}
        for number, pose in enumerate(answer.path.poses):
            echo(f"  {pose.x:9.3f} {pose.y:9.3f}  yaw {pose.yaw:7.3f}")
            if number in rides:
                echo(f"  {rides[number].link} to {rides[number].floor}, {rides[number].seconds:.1f} s")
    if picture is not None and output_format == "text":
        echo(f"wrote {picture}")
    return 0 if answer.found else 1


@world.command("run", epilog=RUN_EPILOG)
@world_options
@click.option("--plan", "plan_file", type=click.Path(), help="What each robot does, YAML or JSON.")
@click.option(
    "--goal", "goals", multiple=True, help="'at PLACE', 'OBJECT at PLACE', 'PLACE open' or 'PLACE closed'."
)
@click.option("--robot", default="", help="The robot that acts, for goals and for plans that name none.")
@click.option("--picture", type=click.Path(), help="Draw the world afterwards and where the robots went.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="With --ros, --bag or --view: simulated time to run.",
)
@ros_options
@live_options
@format_option("text", "json")
def run(
    file: str,
    seed: int | None,
    reference: bool,
    data_folder: str | None,
    strict: bool,
    plan_file: str | None,
    goals: tuple[str, ...],
    robot: str,
    picture: str | None,
    seconds: float | None,
    output_format: str,
    ros: RosOptions,
    view: LiveOptions | None,
) -> int:
    """Run plans in the world of FILE, in simulated time.

    Several robots act at the same time; the same seed gives the same log.  Goals are turned into plans one after the
    other, each from the state that the one before led to.  Exit code 1 means that a plan failed.
    """
    from simwright.app.worlds import check_picture, describe_run, render_world, run_plans
    from simwright.core.errors import UsageError

    # one function: each way to run has its own arguments.  True where both are given and where none is; with ROS peers
    # may say what to do, on a page those who watch
    if (plan_file is None) == (not goals) and (goals or not (ros.is_asked or view)):
        raise UsageError(
            "a plan or goals are needed, not both", hint="--plan plan.yaml, or --goal 'at kitchen'"
        )
    if picture is not None:
        check_picture(picture)
    found = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    interrupted = False
    if view is not None:
        simulation, answers = _watch(
            found, ros, view, plan_file, goals, robot, seed=seed, seconds=seconds, data_folder=data_folder
        )
    elif ros.is_asked:
        simulation, answers, interrupted = _serve(
            found, ros, plan_file, goals, robot, seed=seed, seconds=seconds
        )
    elif plan_file is not None:
        from simwright.worlds.acting.task_plan import read_plan

        simulation, answers = run_plans(found, read_plan(plan_file, found, robot), seed=seed)
    else:
        simulation, answers = _run_goals(found, goals, robot, seed)
    if picture is not None:
        render_world(found, picture, paths=simulation.trails)
    if output_format == "json":
        print_json(describe_run(simulation, answers))
    else:
        _print_run(simulation, answers)
        if picture is not None:
            echo(f"wrote {picture}")
    if interrupted:
        return INTERRUPTED
    return 0 if all(answer.ok for answer in answers.values()) else 1


def _serve(
    found: Any,
    ros: RosOptions,
    plan_file: str | None,
    goals: tuple[str, ...],
    robot: str,
    *,
    seed: int | None,
    seconds: float | None,
) -> Any:
    """Run beside ROS; what could not be served goes to standard error."""
    from simwright.app.cli.progress import end_on_term
    from simwright.app.worlds import open_world, serve_world
    from simwright.core.diag import Reporter
    from simwright.worlds.acting.task_plan import read_plan

    plans = None if plan_file is None else read_plan(plan_file, found, robot)
    simulation, reporter = open_world(found, seed=seed), Reporter()
    with end_on_term():
        answers, interrupted = serve_world(
            simulation, ros, plans=plans, goals=goals, robot=robot, seconds=seconds, reporter=reporter
        )
    print_problems(reporter)
    return simulation, answers, interrupted


def _watch(
    found: Any,
    ros: RosOptions,
    view: LiveOptions,
    plan_file: str | None,
    goals: tuple[str, ...],
    robot: str,
    *,
    seed: int | None,
    seconds: float | None,
    data_folder: str | None,
) -> Any:
    """Run on a page, until Ctrl-C."""
    from simwright.app.cli.progress import end_on_term
    from simwright.app.watching import check_view, watch_plans
    from simwright.app.worlds import open_world
    from simwright.core.diag import Reporter
    from simwright.worlds.acting.task_plan import read_plan

    check_view(view)
    plans = None if plan_file is None else read_plan(plan_file, found, robot)
    simulation, reporter = open_world(found, seed=seed), Reporter()
    with end_on_term():
        answers = watch_plans(
            simulation, view, plans=plans, goals=goals, robot=robot, seconds=seconds, data_folder=data_folder,
            ros=ros if ros.is_asked else None, reporter=reporter,
        )  # fmt: skip
    print_problems(reporter)
    return simulation, answers


def _find_paths(found: Any, targets: tuple[str, ...], robot: str, plan_file: str | None) -> list[Any]:
    """What a plan leads along, and paths to places; a place that cannot be reached is an error."""
    from simwright.app.worlds import find_path, run_plans
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


def _run_goals(found: Any, goals: tuple[str, ...], robot: str, seed: int | None) -> Any:
    from simwright.app.worlds import run_plans
    from simwright.worlds.acting.task_plan import choose_robot, make_plan

    name = choose_robot(found, robot)
    # an empty plan first: it gives the simulation in which goals are planned, each from where the one
    # before led
    simulation, answers = run_plans(found, {name: []}, seed=seed)
    whole = answers[name]
    for goal in goals:
        actions = make_plan(found, simulation.find_robot(name), goal)
        answer = simulation.run({name: actions})[name]
        whole.total += answer.total
        whole.results += answer.results
        whole.finished = answer.finished
        if not answer.ok:
            break
    return simulation, answers


def _print_run(simulation: Any, answers: Any) -> None:
    for event in simulation.events:
        echo(str(event))
    for name, answer in answers.items():
        words = (
            "done" if answer.ok else f"stopped: {answer.results[-1].message}" if answer.results else "stopped"
        )
        echo(f"{name}: {answer.completed} of {answer.total} actions in {answer.finished:.2f} s, {words}")


def load_quietly(file: str, **options: Any) -> Any:
    """Load a world; what is wrong with it goes to standard error, errors and warnings only."""
    from simwright.app.worlds import load_world
    from simwright.core.diag import Reporter

    reporter = Reporter()
    world = load_world(file, reporter=reporter, **options)
    print_problems(reporter)
    return world


def print_problems(reporter: Reporter, *, notes: bool = False) -> None:
    """Errors and warnings on standard error; with ``notes`` what is for information too."""
    from simwright.core.diag import Level, sort_diagnostics

    out = console(stderr=True)
    for item in sort_diagnostics(reporter):
        if notes or item.level is not Level.INFO:
            out.print(f"{item.where}: {item.level}: {item.message}")


def _read_values(pairs: tuple[str, ...]) -> dict[str, Any]:
    """``NAME=VALUE`` of ``--option``: numbers, true and false, else text."""
    return {name: _read_value(text) for name, text in parse_pairs(pairs, "--option").items()}


def _read_value(text: str) -> Any:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    # int first: 200 is a number of nodes, which 200.0 is not
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
