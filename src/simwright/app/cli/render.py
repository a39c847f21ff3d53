# SPDX-License-Identifier: Apache-2.0
"""``simwright render``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import FORMATS, is_job, job_options, list_manifest, own_format, run_job
from simwright.app.cli.options import (
    console,
    format_option,
    gate_options,
    package_option,
    parse_pairs,
    parse_size,
    print_json,
    read_limits,
)

if TYPE_CHECKING:
    from simwright.app.jobs.model import JobOptions

_MANIFEST = {
    "target": "path", "camera": "text", "keyframe": "text", "show": "text", "turntable": "flag", "floor": "flag",
    "transparent": "flag", "arguments": "pairs", "variants": "pairs", "packages": "pairs",
}  # fmt: skip
"""What a file of a manifest may say for itself."""
EPILOG = """\b
Examples:
  simwright render robot.urdf -o robot.png
  simwright render robot.xml -o robot.png --keyframe home --camera 150,-25
  simwright render robot.urdf -o cut.png --transparent --q elbow=0.8 --q wrist=-0.5
  simwright render robot.usda -o robot.mp4 --turntable --size 1920x1080
  simwright render robot.usda -o colliders.png --show collision
  simwright render lab.yaml -o lab.png --size 1600x1000 --format json
  simwright render reach --robot arm.urdf -o reach.png
"""


@click.command("render", epilog=EPILOG)
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path())
@click.option(
    "-o", "--output", required=True, type=click.Path(), help="The picture (.png) or film (.gif, .mp4)."
)
@package_option
@gate_options
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@click.option("--size", default="1280x800", show_default=True, metavar="WxH", help="Size [pixel].")
@click.option(
    "--camera",
    default="",
    metavar="NAME|AZ,EL[,DIST]",
    help="A camera of the file, or angles [degrees] and distance [m]; 90 looks along +Y, -20 down.",
)
@click.option("--q", "coordinates", multiple=True, metavar="JOINT=VALUE", help="Where a joint is [rad or m].")
@click.option("--keyframe", default="", metavar="NAME", help="Show this keyframe of the file.")
@click.option(
    "--turntable", is_flag=True, help="Turn the camera around the model (every .gif and .mp4 does)."
)
@click.option(
    "--seconds", type=click.FloatRange(0, 600, min_open=True), default=4.0, show_default=True,
    help="Films: duration of one turn [s].",
)  # fmt: skip
@click.option(
    "--fps", type=click.FloatRange(0, 240, min_open=True),
    help="Films: frames per second.  [default: 30; .gif 15]",
)  # fmt: skip
@click.option(
    "--show", type=click.Choice(("visual", "collision")), default="visual", show_default=True,
    help="Draw visual or collision shapes.",
)  # fmt: skip
@click.option("--floor/--no-floor", default=True, show_default=True, help="Lay a floor where there is none.")
@click.option("--transparent", is_flag=True, help="Nothing behind it: no sky, no floor (.png).")
@click.option("--robot", default="", metavar="NAME|FILE", help="Tasks: the robot.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@job_options
@format_option(*FORMATS)
def render(
    files: tuple[str, ...],
    output: str,
    assignments: tuple[str, ...],
    arguments: tuple[str, ...],
    variants: tuple[str, ...],
    size: str,
    coordinates: tuple[str, ...],
    output_format: str,
    **more: Any,
) -> int:
    """Draw FILE without a screen: a picture, or a film that turns around it.

    FILE may be in any format that is read, such as URDF, SDFormat, MJCF, OpenUSD, a scene, a world or an environment
    file, or the name of a task.  The camera stands where everything fills the picture.  MuJoCo draws, with EGL or
    OSMesa.  Several files are drawn into the folder OUTPUT, as .png.
    """
    from simwright.app.cli.findings import print_shown
    from simwright.app.cli.run import show_bars
    from simwright.app.jobs.listing import means_many
    from simwright.app.rendering import RenderResult
    from simwright.app.rendering import render as draw
    from simwright.core.diag import Reporter
    from simwright.core.packages import parse_assignments
    from simwright.view.configuration import parse_coordinates

    names = ("job_folder", "manifest", "resume", "restart", "executor", "address", "ship", "retries", "jobs")
    options = {name: more.pop(name) for name in (*names, "timeout", "max_memory")}
    if not files and not options["manifest"]:
        raise click.UsageError("name at least one FILE, or a --manifest")
    reporter = Reporter()
    asked: dict[str, Any] = {
        "packages": parse_assignments(assignments),
        "arguments": parse_pairs(arguments, "--arg"),
        "variants": parse_pairs(variants, "--variant"),
        "q": parse_coordinates(parse_pairs(coordinates, "--q")),
        **more,
    }
    if is_job(options, output_format) or len(files) > 1 or means_many(files[0]):
        return _run_job(files, output, {"size": parse_size(size), **asked}, options, output_format)
    own_format(output_format, "text", "json")
    file = files[0]
    with show_bars() as progress:
        result = draw(file, output, size=parse_size(size), reporter=reporter, progress=progress, **asked)
    assert isinstance(result, RenderResult)
    if output_format == "json":
        print_json(result.describe())
        return 0
    print_shown(file, list(reporter), notes=False)
    pictures = f", {result.frames} pictures" if result.frames > 1 else ""
    console().print(
        f"wrote {result.path} ({result.size[0]} x {result.size[1]}{pictures})",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return 0


def _run_job(
    files: tuple[str, ...], output: str, job_options: JobOptions, options: dict[str, Any], output_format: str
) -> int:
    """Draw several files as a job."""
    from simwright.app.fixing import name_targets
    from simwright.app.jobs.listing import DESCRIPTIONS, expand_inputs
    from simwright.app.jobs.model import JobSpec, note_environment, number_items

    if Path(output).suffix:
        raise click.UsageError("several files are drawn into a folder, not a file: -o FOLDER")
    entries = list_manifest(options, _MANIFEST)
    paths = [*(expand_inputs(list(files), DESCRIPTIONS) if files else []), *(path for path, _ in entries)]
    own: list[JobOptions] = [{}] * (len(paths) - len(entries)) + [said for _, said in entries]
    targets = [f"{target}.png" for target in name_targets(paths, output)]
    job_options["packages"] = {name: str(path) for name, path in job_options["packages"].items()}
    spec = JobSpec("render", job_options, read_limits(options), options["retries"], note_environment())
    rows = zip(paths, targets, own, strict=True)
    items = number_items([(path, {"target": target, **said}) for path, target, said in rows])
    return run_job(spec, items, {**options, "inputs": [*files, output]}, output_format, word="drawing")
