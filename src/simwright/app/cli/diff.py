# SPDX-License-Identifier: Apache-2.0
"""``simwright diff``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, list_manifest, own_format, run_job
from simwright.app.cli.options import (
    allow_option,
    console,
    format_option,
    package_option,
    parse_pairs,
    print_json,
    read_limits,
    trust_options,
)

if TYPE_CHECKING:
    from simwright.app.jobs.model import JobOptions
    from simwright.compare.difference import Difference, DifferenceItem, DifferenceSection
    from simwright.model.asset import Asset

EPILOG = """\b
Examples:
  simwright diff robot.urdf out/robot/robot.usda
  simwright diff robot.xml robot.usda --only kinematics,dynamics --rtol 1e-9
  simwright diff a.sdf b.sdf --ignore visuals,materials,order
  simwright diff robot.urdf.xacro robot.urdf --arg gripper=false --format json
  simwright diff robot.urdf robot.xml --format html -o diff.html
  simwright diff robots/ converted/ --jobs 4

\b
Sections by group:
  structure   bodies, joints, order, limits, constraints, frames, sensors, cameras, lights, ros
  kinematics  poses, keyframes
  dynamics    gravity, masses, motion, drives, actuators
  geometry    visuals, collisions, materials, contacts
"""
_MANIFEST = {
    "other": "path", "only": "texts", "ignore": "texts", "rtol": "number", "arguments": "pairs", "variants": "pairs",
    "packages": "pairs",
}  # fmt: skip
"""What a file of a manifest may say for itself."""
STYLES = {"good": "green", "bad": "red", "dim": "dim", "bold": "bold"}
_WIDE = 44
"""Characters of a value that are shown."""


@click.command("diff", epilog=EPILOG)
@click.argument("a", type=click.Path(), required=False)
@click.argument("b", type=click.Path(), required=False)
@click.option("--only", default="", metavar="NAME,...", help="Compare only these groups or sections.")
@click.option("--ignore", default="", metavar="NAME,...", help="Leave these groups or sections out.")
@click.option(
    "--rtol", type=float, default=1e-6, show_default=True, help="Relative error that is still equal."
)
@click.option(
    "--configurations", type=int, default=20, show_default=True, help="Random configurations to move through."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random configurations.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Differences shown of a section.",
)
@package_option
@allow_option  # not --limit NAME=VALUE of the other commands: --limit is a number here
@trust_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@job_options
@format_option(*FORMATS)
@click.option("-o", "--output", type=click.Path(), help="Write the page of --format html to this file.")
def diff(
    a: str | None,
    b: str | None,
    only: str,
    ignore: str,
    rtol: float,
    configurations: int,
    seed: int,
    limit: int,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    output_format: str,
    output: str | None,
    **options: Any,
) -> int:
    """Compare A and B (URDF, xacro, SDFormat, MJCF or OpenUSD, in any combination) as machines.

    Structure, kinematics, dynamics and geometry: bodies and joints by name, poses, mass matrix and bias force at
    random configurations, masses, shapes, contacts, motors, sensors, ROS interfaces.  How a file says it does not
    count, what it says does.  Two folders are compared file by file, by names without their endings.  Exit code 0
    means equal, 1 that something differs (or that a file has errors), 2 bad input.
    """
    from simwright.core.packages import parse_assignments

    job_options: JobOptions = {
        "only": _split(only),
        "ignore": _split(ignore),
        "rtol": rtol,
        "configurations": configurations,
        "seed": seed,
        "packages": {name: str(path) for name, path in parse_assignments(assignments).items()},
        "arguments": parse_pairs(arguments, "--arg"),
        "variants": parse_pairs(variants, "--variant"),
    }
    if is_job(options, output_format) or a is None or b is None or Path(a).is_dir():
        return _run_job(a, b, job_options, options, output_format, Path(output) if output else None)
    own_format(output_format, "text", "json", "html")
    return _compare(a, b, job_options, limit, output_format, output)


def _compare(
    a: str, b: str, job_options: JobOptions, limit: int, output_format: str, output: str | None
) -> int:
    """Compare two files and print what came of it."""
    from simwright.app.api import load, read_image
    from simwright.app.cli.findings import exit_code, print_findings
    from simwright.app.describe import describe_difference
    from simwright.compare.difference import make_settings
    from simwright.compare.run import compare_assets
    from simwright.core.diag import Level, Reporter, sort_diagnostics

    figures = {name: job_options[name] for name in ("rtol", "configurations", "seed")}
    settings = make_settings(job_options["only"], job_options["ignore"], read_image=read_image, **figures)
    reading = {name: job_options[name] for name in ("packages", "arguments", "variants")}
    # one for each file, so that findings are told under the right name
    reporters = (Reporter(), Reporter())
    first, second = (
        load(file, reporter=reporter, **reading) for file, reporter in zip((a, b), reporters, strict=True)
    )
    difference = compare_assets(first, second, settings)
    difference.a, difference.b = a, b
    if output_format == "json":
        findings = [found for reporter in reporters for found in sort_diagnostics(reporter)]
        print_json(describe_difference(difference, settings, findings))
    elif output_format == "html":
        _write_page(difference, first, second, output)
    else:
        out = console()
        out.print(f"{a} -> {b}", style="bold")
        for line, style in _render_difference(difference, limit=limit):
            out.print(line, style=STYLES.get(style))
        for file, reporter in zip((a, b), reporters, strict=True):
            # warnings of readers are left out: the question here is whether the machines are equal
            if any(found.level is Level.ERROR for found in reporter):
                print_findings(file, reporter)
    return max(0 if difference.equal else 1, *(exit_code(reporter) for reporter in reporters))


def _run_job(
    a: str | None,
    b: str | None,
    job_options: JobOptions,
    options: dict[str, Any],
    output_format: str,
    output: Path | None,
) -> int:
    """Compare pairs of files as a job."""
    from simwright.app.jobs.listing import pair_files
    from simwright.app.jobs.model import JobSpec, note_environment, number_items

    entries = list_manifest(options, _MANIFEST)
    lonely = next((asset for asset, own in entries if "other" not in own), None)
    if lonely is not None:
        raise click.UsageError(f"{lonely}: an asset of this manifest needs 'other', the file to compare with")
    if (a is None) != (b is None) or (a is None and not entries):
        raise click.UsageError("name two files or two folders, or a --manifest")
    pairs = []
    if a is not None and b is not None:
        pairs = pair_files(a, b) if Path(a).is_dir() else [(a, b)]
    found: list[tuple[str, JobOptions]] = [(one, {"other": str(Path(two).absolute())}) for one, two in pairs]
    spec = JobSpec("diff", job_options, read_limits(options), options["retries"], note_environment())
    options = {**options, "inputs": [a, b]}
    return run_job(spec, number_items([*found, *entries]), options, output_format, output, word="comparing")


def _write_page(difference: Difference, first: Asset, second: Asset, output: str | None) -> None:
    from simwright.app.report.html import render_diff
    from simwright.core.files import write_atomic

    page = render_diff(difference, first, second, _show)
    if output is None:
        click.echo(page.rstrip("\n"))
    else:
        write_atomic(Path(output), page)


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


def _render_difference(difference: Difference, *, limit: int = 5) -> Iterator[tuple[str, str]]:
    """Lines with a style: good, bad or dim.  At most ``limit`` items of a section are shown."""
    group = ""
    for section in difference.sections:
        if section.group != group:
            group = section.group
            yield "", "bold"
            yield group, "bold"
        yield from _render_section(section, limit)
    differing = [section.name for section in difference.sections if not section.equal]
    yield "", ""
    if differing:
        yield f"different in: {', '.join(differing)}", "bad"
    else:
        yield f"equal in all {len(difference.sections)} sections", "good"


def _render_section(section: DifferenceSection, limit: int) -> Iterator[tuple[str, str]]:
    head = f"  {section.name:<12}"
    if not section.equal:
        count = len(section.items) or sum(not figure.equal for figure in section.figures)
        yield f"{head}{count} difference(s), {section.compared} compared", "bad"
    elif section.compared == 0:
        yield f"{head}nothing to compare", "dim"
    else:
        yield f"{head}equal, {section.compared} compared{_tell_figures(section)}", "good"
    if not section.equal:
        for figure in section.figures:
            if not figure.equal:
                yield f"    {figure.name}: largest error {figure.error:.2g} at {figure.where}", "bad"
        yield from _render_items(section, limit)
    for note in section.notes:
        yield f"    note: {note}", "dim"


def _tell_figures(section: DifferenceSection) -> str:
    """``(position to 2e-16, ...)``."""
    told = [f"{figure.name} to {figure.error:.1g}" for figure in section.figures]
    return f" ({', '.join(told)})" if told else ""


def _render_items(section: DifferenceSection, limit: int) -> Iterator[tuple[str, str]]:
    """The first ones in order, and the largest where there are more."""
    for item in section.items[:limit]:
        yield f"    {item.element}: {item.what}: {_show(item.a)} -> {_show(item.b)}{_tell_error(item)}", ""
    if len(section.items) > limit:
        # an infinite error means that one side has nothing to compare with: it is no largest difference
        numbers = [item for item in section.items if item.error < float("inf")]
        largest = max(numbers, key=lambda item: item.error, default=None)
        more = f"    ... {len(section.items) - limit} more"
        if largest is not None:
            more += f"; the largest is {largest.element}: {largest.what}{_tell_error(largest)}"
        yield more, "dim"


def _tell_error(item: DifferenceItem) -> str:
    return f"  (by {item.error:.2g})" if item.error < float("inf") else ""


def _show(value: Any) -> str:
    from simwright.app.describe import to_plain

    if value is None:
        return "none"
    text = _show_plain(to_plain(value))
    # each item is one line, whatever its names hold
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 3]}..."


def _show_plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, list):
        return f"[{', '.join(_show_plain(item) for item in value)}]"
    return str(value)
