# SPDX-License-Identifier: Apache-2.0
"""``simwright world plan``: a path for a robot."""

from __future__ import annotations

import click

from simwright.app.cli.options import echo, format_option, print_json
from simwright.app.cli.world_options import load_quietly, read_values, world_options

EPILOG = """\b
Examples:
  simwright world plan lab.yaml --robot tender --to desk0
  simwright world plan lab.yaml --robot courier --from office --to 4.5,0.5 --planner astar --picture way.png
  simwright world plan lab.yaml --robot tender --to "storage shelf" --planner prm --option max_nodes=200 --format json
"""


@click.command("plan", epilog=EPILOG)
@world_options
@click.option("--robot", default="", help="Who goes; not needed where there is only one.")
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
    from simwright.app.world_runs import describe_path, find_path
    from simwright.app.worlds import render_world
    from simwright.worlds.acting.task_plan import choose_robot

    world = load_quietly(file, seed=seed, reference=reference, data_folder=data_folder, strict=strict)
    name = choose_robot(world, robot)
    who = next(other for other in world.robots if other.name == name)
    answer = find_path(
        world, who, target, start=start, planner=planner, options=read_values(pairs), seed=world.seed
    )
    if picture is not None:
        render_world(world, picture, paths=[] if answer.path is None else [answer.path.poses])
    if output_format == "json":
        print_json({"robot": who.name, **describe_path(answer)})
    elif answer.path is None:
        echo(f"{who.name}: no path to {target}: {answer.reason}")
    else:
        echo(f"{who.name}: {answer.path.length:.3f} m over {len(answer.path.poses)} poses to {target}")
        for pose in answer.path.poses:
            echo(f"  {pose.x:9.3f} {pose.y:9.3f}  yaw {pose.yaw:7.3f}")
    if picture is not None and output_format == "text":
        echo(f"wrote {picture}")
    return 0 if answer.found else 1
