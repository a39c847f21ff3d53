# SPDX-License-Identifier: Apache-2.0
"""``simwright world run``: plans of robots in simulated time."""

from __future__ import annotations

from typing import Any

import click

from simwright.app.cli.options import echo, format_option, print_json
from simwright.app.cli.world_options import load_quietly, world_options

EPILOG = """\b
Examples:
  simwright world run lab.yaml --plan plan.yaml
  simwright world run lab.yaml --robot tender --goal "gear0 at desk0" --goal "at dock" --seed 7
  simwright world run lab.yaml --plan plan.yaml --format json --picture after.png
"""


@click.command("run", epilog=EPILOG)
@world_options
@click.option("--plan", "plan_file", type=click.Path(), help="What each robot does, YAML or JSON.")
@click.option(
    "--goal", "goals", multiple=True, help="'at PLACE', 'OBJECT at PLACE', 'PLACE open' or 'PLACE closed'."
)
@click.option("--robot", default="", help="Who acts, for goals and for plans without names.")
@click.option("--picture", type=click.Path(), help="Draw the world afterwards and where the robots went.")
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
    output_format: str,
) -> int:
    """Run plans in the world of FILE, in simulated time.

    Several robots act at the same time; the same seed gives the same log.  Goals are turned into plans one after the
    other, each from the state that the one before led to.  Exit code 1 means that a plan failed.
    """
    from simwright.app.world_runs import describe_run, run_plans
    from simwright.app.worlds import render_world
    from simwright.core.errors import UsageError

    if (plan_file is None) == (not goals):
        raise UsageError(
            "a plan or goals are needed, not both", hint="--plan plan.yaml, or --goal 'at kitchen'"
        )
    world = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    if plan_file is not None:
        from simwright.worlds.acting.task_plan import read_plan

        simulation, answers = run_plans(world, read_plan(plan_file, world, robot), seed=seed)
    else:
        simulation, answers = _run_goals(world, goals, robot, seed)
    if picture is not None:
        render_world(world, picture, paths=simulation.trails)
    if output_format == "json":
        print_json(describe_run(simulation, answers))
    else:
        _print(simulation, answers)
        if picture is not None:
            echo(f"wrote {picture}")
    return 0 if all(answer.ok for answer in answers.values()) else 1


def _run_goals(world: Any, goals: tuple[str, ...], robot: str, seed: int | None) -> Any:
    from simwright.app.world_runs import run_plans
    from simwright.worlds.acting.task_plan import choose_robot, make_plan

    name = choose_robot(world, robot)
    simulation, answers = run_plans(world, {name: []}, seed=seed)
    whole = answers[name]
    for goal in goals:
        actions = make_plan(world, simulation.find_robot(name), goal)
        answer = simulation.run({name: actions})[name]
        whole.total += answer.total
        whole.results += answer.results
        whole.finished = answer.finished
        if not answer.ok:
            break
    return simulation, answers


def _print(simulation: Any, answers: Any) -> None:
    for event in simulation.events:
        echo(str(event))
    for name, answer in answers.items():
        words = (
            "done" if answer.ok else f"stopped: {answer.results[-1].message}" if answer.results else "stopped"
        )
        echo(f"{name}: {answer.completed} of {answer.total} actions in {answer.finished:.2f} s, {words}")
