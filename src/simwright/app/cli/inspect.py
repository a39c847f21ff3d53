# SPDX-License-Identifier: Apache-2.0
"""``simwright inspect``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from simwright.app.cli.options import (
    console,
    format_option,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
)

if TYPE_CHECKING:
    from rich.text import Text

    from simwright.model.asset import Asset, Sensor, Shape
    from simwright.model.inertia import Inertial
    from simwright.model.joint import Dof, Joint, Mimic
    from simwright.model.kinematics import Edge, Tree
    from simwright.model.ros import Interface

EPILOG = """\b
Examples:
  simwright inspect robot.urdf
  simwright inspect robot.urdf.xacro --arg gripper=false
  simwright inspect scene.usda --variant tool=gripper --format json
  simwright inspect world.sdf --package my_robot=src/my_robot --depth 3
"""
_MAX_INDENT = 120
"""A chain deeper than this many columns is no longer indented; its level is told instead."""

_BODY, _JOINT, _NUMBER, _DIM, _TITLE = "bold", "cyan", "green", "dim", "bold underline"


@click.command("inspect", epilog=EPILOG)
@click.argument("file", type=click.Path())
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option("--time", type=float, help="USD time code to read at.")
@click.option("--depth", type=click.IntRange(min=1), help="Show at most this many levels of the tree.")
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@click.option("--strict", is_flag=True, help="Any finding above info is an error (exit code 2).")
@format_option("text", "json")
def inspect(
    file: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    time: float | None,
    depth: int | None,
    notes: bool,
    strict: bool,
    output_format: str,
) -> int:
    """Show the bodies, joints, masses, shapes and interfaces of FILE.

    FILE may be in any format that is read, such as URDF, xacro, SDFormat, MJCF, OpenUSD or a scene.  Exit code 1 means
    that the file could be read but has errors; they are listed.
    """
    from simwright.app.api import load
    from simwright.app.cli.findings import exit_code, print_shown
    from simwright.core.diag import Reporter, sort_diagnostics
    from simwright.core.packages import parse_assignments

    reporter = Reporter()
    asset = load(
        file,
        packages=parse_assignments(assignments),
        arguments=parse_pairs(arguments, "--arg"),
        variants=parse_pairs(variants, "--variant"),
        time=time,
        strict=strict,
        reporter=reporter,
    )
    if output_format == "json":
        from simwright.app.describe import describe_asset

        print_json(describe_asset(asset, sort_diagnostics(reporter)))
    else:
        out = console()
        for line in _render_tree(asset, depth=depth):
            out.print(line)
        print_shown(file, list(reporter), notes=notes)
    return exit_code(reporter)


def _text(content: str = "", style: str = "") -> Text:
    # rich is imported here, so that `simwright inspect --help` does without it
    from rich.text import Text

    return Text(content, style)


def _render_tree(asset: Asset, *, depth: int | None = None) -> Iterator[Text]:
    """Line by line: a heading, the kinematic tree, then everything that hangs on it."""
    from simwright.model.kinematics import build_tree
    from simwright.model.mass import body_inertials

    # long but flat: one line per section of the screen, in the order in which they are shown
    tree = build_tree(asset)
    inertials = body_inertials(asset)
    yield from _heading(asset, tree, inertials)
    yield _text()
    yield from _body_lines(asset, tree, inertials, depth)
    yield from _section("Loops", [_loop_line(joint) for joint in tree.loops])
    yield from _section("Mimic", [_mimic_line(m) for m in asset.mimics])
    yield from _section("Tendons", [_named(t.name, f"{len(t.path)} points") for t in asset.tendons])
    yield from _section(
        "Equalities", [_named(e.name, f"{e.kind} {e.a} = {e.b or 'world'}") for e in asset.equalities]
    )
    yield from _section(
        "Actuators", [_named(a.name, f"{a.kind} on {a.transmission} {a.target}") for a in asset.actuators]
    )
    yield from _section("Sensors", [_sensor_line(s) for s in asset.sensors])
    yield from _section("Controllers", [_named(c.name, c.kind) for c in asset.controllers])
    yield from _section("ROS interfaces", [_interface_line(i) for i in asset.interfaces])
    yield from _section("Frames", [_named(s.name, f"on {s.body or 'world'}") for s in asset.sites])
    yield from _section("Cameras and lights", [_named(c.name, "camera") for c in asset.cameras]
                        + [_named(light.name, f"{light.kind} light") for light in asset.lights])  # fmt: skip


def _heading(asset: Asset, tree: Tree, inertials: dict[str, Inertial]) -> Iterator[Text]:
    from simwright.app.describe import summarize

    facts = summarize(asset, tree, inertials)
    title = _text(asset.name or "unnamed", "bold")
    origin = f"  {asset.provenance.format.upper()}  {asset.provenance.file}"
    yield title + _text(origin, _DIM)
    roles = f" ({facts['visuals']} visual, {facts['collisions']} collision)"
    parts = [
        _count(facts["bodies"], "body", "bodies"),
        f"{_count(facts['joints'], 'joint', 'joints')} ({facts['dofs']} DOF"
        + (f", {_count(facts['loops'], 'loop', 'loops')}" if facts["loops"] else "") + ")",
        _count(facts["shapes"], "shape", "shapes") + roles,
        f"{_kilograms(facts['mass'])}",
    ]  # fmt: skip
    for key, one, many in (
        ("actuators", "actuator", "actuators"),
        ("sensors", "sensor", "sensors"),
        ("interfaces", "ROS interface", "ROS interfaces"),
    ):
        if facts[key]:
            parts.append(_count(facts[key], one, many))
    yield _text(" · ".join(parts))


def _body_lines(
    asset: Asset, tree: Tree, inertials: dict[str, Inertial], depth: int | None
) -> Iterator[Text]:
    """The forest, walked with a stack of our own: a chain may be as long as it likes."""
    from simwright.model.joint import WORLD

    shapes: dict[str, list[Shape]] = {}
    for shape in asset.shapes:
        shapes.setdefault(shape.body, []).append(shape)
    children = tree.children()
    anchored = children.get(WORLD, [])
    if anchored or shapes.get(WORLD):
        line = _text("world", _BODY)
        line.append(_shape_summary(shapes.get(WORLD, [])), _DIM)
        yield line
        yield from _branches(anchored, children, shapes, inertials, depth)
    for root in tree.roots:
        yield _body_line(_text(), root, None, shapes, inertials)
        yield from _branches(children.get(root, []), children, shapes, inertials, depth)


def _branches(
    edges: list[Edge],
    children: dict[str, list[Edge]],
    shapes: dict[str, list[Shape]],
    inertials: dict[str, Inertial],
    depth: int | None,
) -> Iterator[Text]:
    # a stack of our own: chains of thousands of links would end at Python's recursion limit
    stack = [(edge, "", index == len(edges) - 1, 1) for index, edge in enumerate(edges)][::-1]
    while stack:
        edge, indent, last, level = stack.pop()
        if depth is not None and level > depth:
            yield _text(f"{indent}└── ... (deeper than --depth {depth})", _DIM)
            # siblings of what is too deep are as deep: one line stands for all of them
            while stack and stack[-1][3] >= level:
                stack.pop()
            continue
        shown = indent if len(indent) <= _MAX_INDENT else f"{indent[:_MAX_INDENT]}… {level} "
        lead = _text(shown + ("└── " if last else "├── "), _DIM)
        yield _body_line(lead, edge.child, edge, shapes, inertials)
        below = children.get(edge.child, [])
        wider = indent if len(indent) > _MAX_INDENT else indent + ("    " if last else "│   ")
        stack.extend((e, wider, i == len(below) - 1, level + 1) for i, e in reversed(list(enumerate(below))))


def _body_line(
    lead: Text,
    name: str,
    edge: Edge | None,
    shapes: dict[str, list[Shape]],
    inertials: dict[str, Inertial],
) -> Text:
    line = lead
    line.append(name, _BODY)
    mass = inertials[name].mass
    if mass:
        line.append(f"  {_kilograms(mass)}", _NUMBER)
    line.append(_shape_summary(shapes.get(name, [])), _DIM)
    if edge is not None:
        # a joint may be written from child to parent: the arrow shows which way the file has it
        line.append("  ← " if not edge.reversed else "  → ", _DIM)
        line.append(edge.joint.name, _JOINT)
        line.append(f" {_joint_text(edge.joint)}", _DIM)
    return line


def _joint_text(joint: Joint) -> str:
    from simwright.model.joint import JointKind

    # the word of URDF, which most readers know
    if joint.kind is JointKind.REVOLUTE and joint.dofs and not joint.dofs[0].is_limited:
        return "continuous" + _effort(joint.dofs[0])
    parts = [str(joint.kind)]
    parts += [_range(dof) + _effort(dof) for dof in joint.dofs if dof.is_limited]
    return " ".join(parts)


def _range(dof: Dof) -> str:
    from simwright.core.math3d import DEGREE
    from simwright.model.joint import Motion

    if dof.motion is Motion.SLIDE:
        return f"[{dof.lower:.4g}, {dof.upper:.4g}] m"
    return f"[{dof.lower / DEGREE:.4g}°, {dof.upper / DEGREE:.4g}°]"


def _effort(dof: Dof) -> str:
    from simwright.model.joint import Motion

    if dof.effort_limit is None or not math.isfinite(dof.effort_limit):
        return ""
    unit = "N" if dof.motion is Motion.SLIDE else "N·m"
    return f" {dof.effort_limit:.4g} {unit}"


def _shape_summary(shapes: list[Shape]) -> str:
    if not shapes:
        return ""
    kinds: dict[str, int] = {}
    for shape in shapes:
        role = "" if shape.visual and shape.collision else " visual" if shape.visual else " collision"
        kinds[f"{shape.geometry.kind}{role}"] = kinds.get(f"{shape.geometry.kind}{role}", 0) + 1
    texts = [kind if n == 1 else f"{n}x {kind}" for kind, n in kinds.items()]
    return f"  [{', '.join(texts)}]"


def _section(title: str, lines: list[Text]) -> Iterator[Text]:
    if lines:
        yield _text()
        yield _text(title, _TITLE)
        for line in lines:
            yield _text("  ") + line


def _named(name: str, rest: str) -> Text:
    return _text(name or "(unnamed)", _BODY) + _text(f"  {rest}", _DIM)


def _loop_line(joint: Joint) -> Text:
    return _named(joint.name, f"{joint.kind} closes {joint.parent or 'world'} - {joint.child or 'world'}")


def _mimic_line(mimic: Mimic) -> Text:
    return _named(mimic.follower, f"= {mimic.multiplier:g} * {mimic.leader} + {mimic.offset:g}")


def _sensor_line(sensor: Sensor) -> Text:
    rate = f" at {sensor.rate:g} Hz" if sensor.rate else ""
    return _named(sensor.name, f"{sensor.kind} on {sensor.body or sensor.target or 'world'}{rate}")


def _interface_line(interface: Interface) -> Text:
    rate = f" at {interface.rate:g} Hz" if interface.rate else ""
    return _named(interface.name, f"{interface.kind} {interface.role}  {interface.type}{rate}")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _kilograms(mass: float | str) -> str:
    return f"{mass} kg" if isinstance(mass, str) else f"{mass:.4g} kg"
