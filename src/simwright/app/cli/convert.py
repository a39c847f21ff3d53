# SPDX-License-Identifier: Apache-2.0
"""``simwright convert``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, list_manifest, own_format, run_job
from simwright.app.cli.options import (
    EngineName,
    FormatCommand,
    console,
    echo,
    gate_options,
    package_option,
    parse_pairs,
    print_json,
    read_limits,
)

if TYPE_CHECKING:
    from simwright.app.converting import Conversion, ConvertOptions
    from simwright.core.diag import Diagnostic
    from simwright.core.pool import JobLimits

EPILOG = """\b
Examples:
  simwright convert robot.urdf out/robot
  simwright convert robot.urdf.xacro out/robot --arg gripper=false --package my_robot=src/my_robot
  simwright convert scene.usda out/scene.usda --variant tool=gripper
  simwright convert robot.usda robot.usdz
  simwright convert robot.usda flat.usdc --flatten --variant tool=gripper
  simwright convert robot.xml out/robot --strict --report json
  simwright convert out/robot/robot.usda robot.xml
  simwright convert robot.xml out/drake --for drake
  simwright convert robots/ out/ --jobs 4
  simwright convert 'robots/**/*.urdf' out/
  simwright convert robots/ out/ --job out/.job --jobs 8 --timeout 120
  simwright convert --manifest fleet.yaml out/
"""
_MANIFEST = {
    "target": "path", "to": "text", "packages": "pairs", "arguments": "pairs", "variants": "pairs", "strict": "flag",
    "check": "flag", "for_": "text", "exact": "flag", "lod": "flag", "decompose": "flag", "flatten": "flag",
    "overwrite": "flag", "mesh_format": "text", "mesh_paths": "text", "package_name": "text", "collision": "flag",
    "quantize": "flag", "world": "flag", "sdf_version": "text",
}  # fmt: skip
"""What a file of a manifest may say for itself."""
VERSION = 1
"""Of the JSON report, ``schemas/convert.v1.schema.json``."""


@click.command("convert", cls=FormatCommand, epilog=EPILOG)
@click.argument("sources", metavar="IN...", nargs=-1, type=click.Path())
@click.argument("target", metavar="OUT", type=click.Path())
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option(
    "--variant", "--set", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select."
)
@click.option("--to", "to", metavar="FORMAT", help="The format to write: {targets}.")
@click.option(
    "--for",
    "for_",
    type=EngineName(),
    help="The engine that reads the result: its format, unless OUT or --to says another, and its dialect.",
)
@click.option("--strict", is_flag=True, help="Any loss or guess is an error; nothing is written.")
@click.option(
    "--lod",
    is_flag=True,
    help="OpenUSD: add decimated levels of detail, visual_representation=mesh_low and so on.",
)
@click.option(
    "--decompose", is_flag=True, help="OpenUSD: add convex parts of colliders, collision_fidelity=decomposed."
)
@click.option(
    "--exact",
    is_flag=True,
    help="OpenUSD: keep the double-precision value of every float attribute in customData.",
)
@click.option("--flatten", is_flag=True, help="OpenUSD: one layer of all, at the chosen variants.")
@click.option(
    "--overwrite", is_flag=True, help="Replace files next to OUT that already exist with other content."
)
@click.option(
    "--mesh-format", type=click.Choice(("stl", "obj", "dae", "glb")), help="URDF: format of mesh files."
)
@click.option(
    "--mesh-paths", type=click.Choice(("relative", "package")), help="URDF: how mesh files are named."
)
@click.option("--package-name", metavar="NAME", help="URDF: the ROS package of --mesh-paths package.")
@click.option("--collision", is_flag=True, help="glTF: write colliders too.")
@click.option("--quantize", is_flag=True, help="glTF: store meshes in fewer bits (KHR_mesh_quantization).")
@click.option(
    "--world/--model", default=None, help="SDFormat: write a world or a model; else the content decides."
)
@click.option(
    "--sdf-version", metavar="VERSION", help="SDFormat: the version, 1.9 to 1.12; else the oldest that fits."
)
@click.option("--no-check", is_flag=True, help="Do not check the result against REP-0158.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@job_options
@click.option("--notes", is_flag=True, help="Also show findings that are for information only.")
@click.option(
    "--report",
    "--format",
    "report",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print what was lost, guessed, found and written; jobs have all of these.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Jobs: write the report here."
)
def convert(sources: tuple[str, ...], target: str, **options: Any) -> int:
    """Convert IN ({reads}) to OUT ({writes}).

    The name of OUT decides what is written: a folder or *.usda is a layered OpenUSD asset (REP-0158), *.usdz a
    package of one, *.xml is MJCF, *.urdf is URDF and so on; --to says it for a folder.  --for ENGINE writes what that
    engine reads, in its dialect ('simwright prove' gives engines the same files).  A new folder appears
    whole; one that holds an earlier result gets the new files, and a file goes beside what is there.  Where IN is a
    folder, a pattern or several files, each file found becomes a folder of its own in OUT.

    Everything that is lost or guessed is listed.  The result is checked, and warnings
    that are left are listed as well.

    Exit code 1 means that IN or the result has errors (what could be read is written), or a loss with --strict
    (nothing is written); 2 that nothing could be converted.
    """
    from simwright.app.cli.progress import show_progress
    from simwright.app.converting import (
        WRITING,
        ConvertOptions,
        convert_all,
        convert_one,
        plan_tasks,
    )
    from simwright.app.jobs.model import combine_exit_codes
    from simwright.core.packages import parse_assignments
    from simwright.formats.dialects import choose_format, fit_words
    from simwright.formats.table import choose_writer

    asked = ConvertOptions(
        to=choose_format(target, options["to"], options["for_"] or ""),
        packages=parse_assignments(options["assignments"]),
        arguments=parse_pairs(options["arguments"], "--arg"),
        variants=parse_pairs(options["variants"], "--variant"),
        strict=options["strict"],
        check=not options["no_check"],
        writing={name: options[name] for name in WRITING if options[name] not in (None, "")},
    )
    # before folders are searched: a wrong --to or --for is told at once
    fit_words(asked.writing, choose_writer(target, asked.to).name)
    limits = read_limits(options)
    if not sources and not options["manifest"]:
        raise click.UsageError("name at least one IN, or a --manifest")
    if is_job(options, options["report"]):
        return _run_job(sources, target, asked, limits, options)
    own_format(options["report"], "text", "json")
    tasks = plan_tasks(sources, target, asked.to)
    # alone, a mistake of ours is raised, and SIMWRIGHT_DEBUG=1 shows where; among others it costs one
    # file
    if len(tasks) == 1 and tasks[0].target == target and not limits:
        conversions = [convert_one(tasks[0], asked)]
    else:
        with show_progress("converting") as listener:
            conversions = convert_all(tasks, asked, jobs=options["jobs"], limits=limits, listener=listener)
    if options["report"] == "json":
        print_json(_describe_conversions(conversions))
    elif len(conversions) == 1:
        _print_one(conversions[0], notes=options["notes"])
    else:
        _print_many(conversions, notes=options["notes"])
    return combine_exit_codes(conversion.exit_code for conversion in conversions)


def _run_job(
    sources: tuple[str, ...], target: str, asked: ConvertOptions, limits: JobLimits, options: dict[str, Any]
) -> int:
    """Convert as a job: its state is kept, its report made from rows."""
    from dataclasses import replace

    from simwright.app.converting import plan_conversions, plan_manifest, plan_tasks
    from simwright.app.jobs.model import number_items

    folder = str(Path(target).absolute())
    tasks = plan_tasks(sources, folder, asked.to) if sources else []
    spec, items = plan_conversions(tasks, asked, limits)
    entries = plan_manifest(list_manifest(options, _MANIFEST), folder, options["manifest"])
    items = number_items([*((item.asset, item.options) for item in items), *entries])
    options = {**options, "inputs": [*sources, target]}
    spec = replace(spec, retries=options["retries"])
    return run_job(spec, items, options, options["report"], options["output"], word="converting")


def _print_one(conversion: Conversion, *, notes: bool) -> None:
    from simwright.core.errors import SimwrightError

    problem = conversion.problem
    if problem is not None:
        # it is raised below as the error of the command, and would be shown twice
        conversion.findings.remove(problem)
    _print_shown([conversion], notes=notes)
    if problem is not None:
        raise SimwrightError(problem.message, hint=problem.hint, where=problem.where)
    if conversion.status == "written":
        summary = _summarize_check(conversion)
        if summary:
            echo(summary)
        echo(f"wrote {conversion.entry}")
    elif conversion.status == "refused":
        echo(f"strict mode: {_explain_refusal(conversion)}; nothing is written", err=True)


def _print_many(conversions: Sequence[Conversion], *, notes: bool) -> None:
    from rich.table import Table

    from simwright.core.diag import Level

    _print_shown(conversions, notes=notes)
    table = Table(box=None, pad_edge=False)
    table.add_column("SOURCE", overflow="fold")
    table.add_column("RESULT", overflow="fold")
    for title in ("ERRORS", "WARNINGS", "LOSSES"):
        table.add_column(title, justify="right")
    for conversion in conversions:
        found = [*conversion.findings, *(conversion.checked or [])]
        counts = [sum(f.level is level for f in found) for level in (Level.ERROR, Level.WARNING)]
        result = conversion.entry or conversion.status
        table.add_row(conversion.source, result, *(str(count) for count in (*counts, len(conversion.losses))))
    console().print(table)
    tally = {
        status: sum(c.status == status for c in conversions) for status in ("written", "refused", "failed")
    }
    echo(", ".join(f"{count} {status}" for status, count in tally.items() if count))


def _print_shown(conversions: Sequence[Conversion], *, notes: bool) -> None:
    """Findings that matter to people, and how many others there are."""
    from simwright.app.cli.findings import print_report

    shown = [part for conversion in conversions for part in _list_shown(conversion, notes=notes)]
    if shown:
        print_report(shown)
    total = sum(len(c.findings) + len(c.checked or []) for c in conversions)
    hidden = total - sum(len(findings) for _, findings in shown)
    if hidden:
        echo(f"{hidden} {'note' if hidden == 1 else 'notes'} not shown (--notes shows them)")


def _explain_refusal(conversion: Conversion) -> str:
    found = sum(len(findings) for _, findings in _list_shown(conversion, notes=False))
    return f"{found} {'finding' if found == 1 else 'findings'} that it does not allow"


def _describe_conversions(conversions: Sequence[Conversion]) -> dict[str, Any]:
    """The conversion report."""
    from simwright.app.report.report import TOOL_NAME, Report
    from simwright.core.diag import count_levels

    found = [finding for conversion in conversions for finding in conversion.findings]
    left = [finding for conversion in conversions for finding in conversion.checked or []]
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "conversions": [_describe_conversion(conversion) for conversion in conversions],
        "summary": {
            **{status: _count(conversions, status) for status in ("written", "refused", "failed")},
            "losses": sum(len(conversion.losses) for conversion in conversions),
            "findings": count_levels(found),
            "check": count_levels(left),
        },
    }


def _describe_conversion(conversion: Conversion) -> dict[str, Any]:
    from simwright.app.report.report import replace_surrogates

    others = [finding for finding in conversion.findings if not finding.loss]
    return {
        "source": replace_surrogates(conversion.source),
        "status": conversion.status,
        "entry": replace_surrogates(conversion.entry) or None,
        "files": [replace_surrogates(file) for file in conversion.files],
        "losses": _list_findings(conversion.losses),
        "findings": _list_findings(others),
        "check": None if conversion.checked is None else _list_findings(conversion.checked),
    }


def _list_findings(findings: Iterable[Diagnostic]) -> list[Any]:
    from simwright.app.report.json import build_document
    from simwright.app.report.report import AssetReport, Report

    document = build_document(Report([AssetReport("", list(findings))]))
    listed: list[Any] = document["assets"][0]["findings"]
    return listed


def _count(conversions: Sequence[Conversion], status: str) -> int:
    return sum(conversion.status == status for conversion in conversions)


def _list_shown(conversion: Conversion, *, notes: bool) -> list[tuple[str, list[Diagnostic]]]:
    """Findings that are shown to people, by file: losses, warnings and errors; with ``notes`` everything.

    What the check found is about the asset that was written, which is also what `simwright fix` can repair.
    """
    from simwright.core.diag import Level

    # losses are shown even where they are only information: silence means that nothing was lost
    found = [f for f in conversion.findings if notes or f.level is not Level.INFO or f.loss]
    checked = [f for f in conversion.checked or [] if notes or f.level is not Level.INFO]
    parts = [(conversion.source, found), (conversion.entry or conversion.source, checked)]
    return [(path, findings) for path, findings in parts if findings]


def _summarize_check(conversion: Conversion) -> str:
    """What the checker said, in a line; empty if it was not asked."""
    from simwright.core.diag import Level, count_levels

    if conversion.checked is None:
        return ""
    counts = count_levels(conversion.checked)
    words = [_count_words(counts[level.value], level.value) for level in (Level.ERROR, Level.WARNING)]
    told = " and ".join(word for word in words if word)
    return f"checked: {told or 'all rules hold'}"


def _count_words(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""
