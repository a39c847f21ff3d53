# SPDX-License-Identifier: Apache-2.0
"""``simwright ros graph|check|doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.options import (
    console,
    format_option,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
    report_option,
)

if TYPE_CHECKING:
    from simwright.core.diag import Reporter
    from simwright.ros.frames import FrameTree
    from simwright.ros.graph import GraphRobot, RosEndpoint, RosGraph

EPILOG = """\b
Examples:
  simwright ros graph robot.usda
  simwright ros graph robot.urdf --format json
  simwright ros graph robot.usda -o tf.svg
  simwright ros check robot.usda --interfaces src/my_msgs
  simwright ros doctor
"""
interfaces_option = click.option(
    "--interfaces",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="A folder of ROS packages with interface types; may be repeated.",
)
variant_option = click.option(
    "--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select."
)


@click.group("ros", epilog=EPILOG)
def ros() -> None:
    """Show and check the ROS 2 interfaces of an asset, and which transports are installed.

    'simwright run ASSET --ros' runs it.
    """


@ros.command(
    "graph",
    epilog="\b\nExamples:\n  simwright ros graph robot.usda\n  simwright ros graph robot.usda -o tf.svg\n",
)
@click.argument("file", type=click.Path())
@package_option
@gate_options
@variant_option
@interfaces_option
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the TF tree (SVG)."
)
@format_option("text", "json")
def graph_command(
    file: str,
    assignments: tuple[str, ...],
    variants: tuple[str, ...],
    interfaces: tuple[str, ...],
    output: str | None,
    output_format: str,
) -> int:
    """Show the robots of FILE with their topics, services, actions, controllers and TF frames.

    Names are absolute and QoS policies resolved, as a simulator serves them.
    """
    from simwright.core.diag import Reporter

    reporter = Reporter()
    graph = _load_graph(file, assignments, variants, interfaces, reporter)
    if output is not None:
        _draw(graph, Path(output))
    if output_format == "json":
        print_json(graph.describe())
        return 0
    out = console()
    for line in _render(graph):
        out.print(line)
    if output is not None:
        out.print(f"\ndrawn: {output}")
    return 0


@ros.command(
    "check",
    epilog="\b\nExamples:\n  simwright ros check robot.usda\n  simwright ros check robot.usda --format json\n",
)
@click.argument("file", type=click.Path())
@package_option
@gate_options
@variant_option
@interfaces_option
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@report_option
def check_command(
    file: str,
    assignments: tuple[str, ...],
    variants: tuple[str, ...],
    interfaces: tuple[str, ...],
    notes: bool,
    output_format: str,
) -> int:
    """List what would break ROS nodes: clashes, unknown types, policies that do not match, double frames.

    'simwright check' checks an asset against REP-0158; this checks the ROS graph that it makes.  Exit code 1 means
    errors.
    """
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.core.diag import Level, Reporter, sort_diagnostics
    from simwright.ros.checking import check_graph

    reporter = Reporter()
    graph = _load_graph(file, assignments, variants, interfaces, reporter)
    check_graph(graph, reporter)
    found = [item for item in sort_diagnostics(reporter) if notes or item.level is not Level.INFO]
    print_findings(file, found, output_format)
    return exit_code(reporter)


@ros.command("doctor", epilog="\b\nExamples:\n  simwright ros doctor\n  simwright ros doctor --format json\n")
@format_option("text", "json")
def doctor_command(output_format: str) -> int:
    """List which transports work here, and what is missing for the others.  Exit code 1 means that none works."""
    from simwright.ros.simulator import FEATURES
    from simwright.ros.transports.table import examine_transports

    rows = examine_transports()
    if output_format == "json":
        print_json({"version": 1, "transports": rows, "simulator": sorted(FEATURES)})
    else:
        out = console()
        for row in rows:
            out.print(f"{'ok' if row['works'] else '--'}  {row['name']:<8} {row['about']}")
            for note in row["notes"]:
                out.print(f"              {note}")
        out.print("\nfeatures of simulation_interfaces that 'simwright run --ros' serves:")
        out.print(f"  {', '.join(sorted(FEATURES)).lower()}")
    return 0 if any(row["works"] for row in rows) else 1


def _load_graph(
    file: str,
    assignments: tuple[str, ...],
    variants: tuple[str, ...],
    interfaces: tuple[str, ...],
    reporter: Reporter,
) -> RosGraph:
    from simwright.app.api import load
    from simwright.core.packages import parse_assignments
    from simwright.ros.graph import build_graph, find_known_types

    asset = load(
        file,
        packages=parse_assignments(assignments),
        variants=parse_pairs(variants, "--variant"),
        reporter=reporter,
    )
    return build_graph(asset, reporter, types=find_known_types(Path(folder) for folder in interfaces))


def _draw(graph: RosGraph, target: Path) -> None:
    from simwright.core.errors import UsageError
    from simwright.core.files import write_atomic
    from simwright.ros.graph import draw_frames

    if target.suffix.lower() != ".svg":
        raise UsageError(f"{str(target)!r} is no picture that is drawn", hint="end the name in .svg")
    write_atomic(target, draw_frames(graph))


def _render(graph: RosGraph) -> Iterator[str]:
    if not graph.robots:
        yield f"{graph.asset.name}: nothing for ROS"
    for number, robot in enumerate(graph.robots):
        if number:
            yield ""
        domain = "" if robot.domain_id is None else f", domain {robot.domain_id}"
        yield f"{robot.name}: namespace {robot.namespace or '/'}{domain}"
        yield from _render_endpoints(robot)
        for entry in robot.controllers:
            state = "" if entry.controller.starts_enabled else ", not enabled at start"
            yield f"  controller {entry.controller.name} ({entry.controller.kind}){state}"
        yield f"  frames on {robot.tf_topic} and {robot.static_tf_topic}"
        yield from _render_frames(robot.frames)


def _render_endpoints(robot: GraphRobot) -> Iterator[str]:
    for endpoint in robot.endpoints:
        yield f"  {endpoint.kind.value} {endpoint.role} {endpoint.name}  {endpoint.type}"
        facts = ", ".join(_list_facts(endpoint))
        if facts:
            yield f"      {facts}"


def _list_facts(endpoint: RosEndpoint) -> Iterator[str]:
    if endpoint.problem:
        yield f"DISABLED: {endpoint.problem}"
    elif not endpoint.enabled:
        yield "not enabled at start"
    if endpoint.kind.value == "topic":
        if endpoint.rate is not None:
            yield f"{endpoint.rate:g} Hz"
        yield str(endpoint.qos)
    if endpoint.frame_id:
        yield f"frame {endpoint.frame_id}"
    if endpoint.joints:
        count = len(endpoint.joints)
        yield f"{count} joint{'s' * (count > 1)}"
    if endpoint.domain_id is not None:
        yield f"domain {endpoint.domain_id}"


def _render_frames(tree: FrameTree) -> Iterator[str]:
    below: dict[str, list[Any]] = {}
    for frame in tree.frames:
        below.setdefault(frame.parent, []).append(frame)
    waiting = [(0, frame) for frame in reversed(below.get("", []))]
    while waiting:
        level, frame = waiting.pop()
        told = "" if not frame.parent else "  static" if frame.static else "  moving"
        # a chain of a thousand links is not a thousand columns wide
        yield f"    {'  ' * min(level, 40)}{frame.id}{told}"
        waiting += [(level + 1, child) for child in reversed(below.get(frame.id, []))]
