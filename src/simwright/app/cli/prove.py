# SPDX-License-Identifier: Apache-2.0
"""``simwright prove``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import (
    FORMATS,
    is_job,
    job_options,
    list_manifest,
    own_format,
    refuse_flags,
    run_job,
)
from simwright.app.cli.options import console, echo, gate_options, package_option, parse_pairs, read_limits

if TYPE_CHECKING:
    from simwright.model.asset import Asset
    from simwright.prover.proving import Proof

EPILOG = """\b
Examples:
  simwright prove robot.urdf
  simwright prove robot.xml --engines drake,physx --level structure
  simwright prove robot.urdf --format html -o report.html
  simwright prove robot.usda --against physx --format md > proof.md
  simwright prove robot.sdf --format junit > proof.xml
  simwright prove out/robot/robot.usda --stamp
  simwright prove scene.yaml --no-cache
  simwright prove robots/ --engines drake --job nightly --format html -o nightly.html

\b
Levels:
  structure  links, joints, limits, masses, inertias, drives, mimics, armature, friction, damping
  dynamics   link poses, mass matrix, gravity and Coriolis forces at 20 configurations
  motion     free swing, drives, couplings, drop, slope and loops, each at two timesteps
  ros        names of joints
"""
OWN_FORMATS = ("text", "json", "md", "junit", "html")
"""Names of ``app.proving.FORMATS``, which is not loaded for --help."""
_MANIFEST = {
    "engines": "texts", "levels": "texts", "against": "text", "arguments": "pairs", "variants": "pairs",
    "packages": "pairs",
}  # fmt: skip
"""What an asset of a manifest may say for itself."""
_BY_ENDING = {".json": "json", ".md": "md", ".xml": "junit", ".html": "html", ".htm": "html"}


@click.command("prove", epilog=EPILOG)
@click.argument("assets", metavar="ASSET|SCENE...", nargs=-1, type=click.Path())
@click.option(
    "--engines", default="", metavar="NAME,...", help="Engines to ask; by default all that are installed."
)
@click.option("--level", default="", metavar="NAME,...", help="What to compare; by default all levels.")
@click.option(
    "--against",
    default="mujoco",
    show_default=True,
    metavar="NAME",
    help="The engine to compare the others with.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of configurations and motions.")
@click.option(
    "--question-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for one question to an engine; for one asset, --timeout is the same.",
)
@click.option("--keep", type=click.Path(), metavar="DIR", help="Keep the files that engines are given.")
@click.option("--no-cache", is_flag=True, help="Ask every engine again.")
@click.option("--stamp", is_flag=True, help="Record the result in the asset as UsdProfiles claims.")
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="A xacro argument.")
@click.option("--variant", "variants", multiple=True, metavar="SET=NAME", help="A USD variant to select.")
@package_option
@gate_options
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Number of processes.")
@job_options
@click.option(
    "--format",
    "output_format",
    type=click.Choice(tuple(dict.fromkeys((*OWN_FORMATS, *FORMATS)))),
    help="How to print the result.  [text, or by the ending of -o]",
)
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write the result to this file.")
def prove(assets: tuple[str, ...], **options: Any) -> int:
    """Ask several engines about an asset: is it the same machine in all of them?

    Every engine gets the asset as it reads it, in a process and an environment of its own ('simwright engines').  A
    cell of the table is ok, NO, '-' where the robot has nothing of the kind, or blank where the engine or its format
    cannot tell.  A scene file is proved for each kind of its worlds.  Answers are taken from the user's cache while
    asset, engine, settings and Simwright stay the same.

    --format html writes one page that stands alone, with plots and pictures.  --stamp rewrites the root layer of an
    OpenUSD asset; comments in a text layer are lost.  Exit code 1 means that an engine differs or has no answer, 2
    that the input or the call is wrong.  Several assets are a job (docs/jobs.md).
    """
    from simwright.app.jobs.listing import means_many
    from simwright.app.proving import ReadWords, check_stampable, prove_source
    from simwright.prover.aspects import LEVELS
    from simwright.prover.proving import ProofSettings

    output = options["output"]
    shape = options["output_format"] or _BY_ENDING.get(Path(output or "").suffix.lower(), "text")
    if not assets and not options["manifest"]:
        raise click.UsageError("name at least one ASSET, or a --manifest")
    if is_job(options, shape) or len(assets) > 1 or means_many(assets[0]):
        return _run_job(assets, options, shape)
    asset = assets[0]
    _check_output(output, asset, own_format(shape, *OWN_FORMATS))
    settings = ProofSettings(
        tuple(_split(options["engines"])),
        tuple(_split(options["level"])) or LEVELS,
        options["against"],
        options["seed"],
        # --timeout is of an asset where there are several; alone it was always one of a question
        seconds=options["timeout"] or options["question_timeout"],
    )
    reading = ReadWords(
        packages=parse_pairs(options["assignments"], "--package"),
        arguments=parse_pairs(options["arguments"], "--arg"),
        variants=parse_pairs(options["variants"], "--variant"),
    )
    # what can be refused is refused before engines work for minutes
    settings.check()
    if options["stamp"]:
        check_stampable(asset)
    opened: list[Asset] = []
    with _show_work(len(settings.list_columns())) as progress:
        proofs = prove_source(
            asset,
            settings,
            reading=reading,
            keep=options["keep"],
            cache=not options["no_cache"],
            progress=progress,
            opened=opened.extend,
        )
    _emit(asset, proofs, opened, shape, output)
    if options["stamp"]:
        _stamp(asset, proofs)
    return 0 if all(proof.same for proof in proofs) else 1


def _run_job(assets: tuple[str, ...], options: dict[str, Any], shape: str) -> int:
    """Prove several assets as a job."""
    from simwright.app.jobs.listing import DESCRIPTIONS, expand_inputs
    from simwright.app.jobs.model import JobOptions, JobSpec, note_environment, number_items
    from simwright.prover.aspects import LEVELS
    from simwright.prover.proving import ProofSettings

    refuse_flags(options, "stamp", "keep")
    if shape not in FORMATS:
        raise click.UsageError(f"a job is reported as {', '.join(FORMATS)}")
    job_options: JobOptions = {
        "engines": _split(options["engines"]),
        "levels": _split(options["level"]) or list(LEVELS),
        "against": options["against"],
        "seed": options["seed"],
        "seconds": options["question_timeout"],
        "cache": not options["no_cache"],
        "packages": parse_pairs(options["assignments"], "--package"),
        "arguments": parse_pairs(options["arguments"], "--arg"),
        "variants": parse_pairs(options["variants"], "--variant"),
    }
    ProofSettings(tuple(job_options["engines"]), tuple(job_options["levels"]), job_options["against"]).check()
    paths = expand_inputs(list(assets), DESCRIPTIONS) if assets else []
    found: list[tuple[str, JobOptions]] = [(path, {}) for path in paths]
    items = number_items([*found, *list_manifest(options, _MANIFEST)])
    spec = JobSpec("prove", job_options, read_limits(options), options["retries"], note_environment())
    output = Path(options["output"]) if options["output"] else None
    return run_job(spec, items, {**options, "inputs": list(assets)}, shape, output, word="proving")


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _check_output(output: str | None, asset: str, shape: str) -> None:
    """Refuse a place that cannot be written, before engines work for minutes."""
    from simwright.core.diag import Where
    from simwright.core.errors import OutputError, UsageError

    if output is None:
        if shape == "html" and sys.stdout.isatty():
            raise UsageError("a page is not for a terminal", hint="name a file for it: -o report.html")
        return
    target, where = Path(output), Where(output)
    if target.is_dir():
        raise OutputError("is a folder", hint="name a file in it", where=where)
    if target.exists() and Path(asset).exists() and target.samefile(asset):
        raise OutputError("is the asset itself", hint="name another file", where=where)
    parent = next((folder for folder in target.absolute().parents if folder.exists()), Path("/"))
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise OutputError(f"cannot be written: {parent} is not a folder that you may write to", where=where)


@contextlib.contextmanager
def _show_work(total: int) -> Iterator[Callable[[str], None] | None]:
    """Whom is asked now, and for how long already, on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading the asset")
        done = 0

        def watch(engine: str) -> None:
            nonlocal done
            done += 1
            # the reference is asked first, and counts for nothing where it is not a column
            bar.update(task, description=f"asking {engine} ({min(done, total + 1)} of {total + 1})")

        yield watch


def _emit(
    asset: str, proofs: Sequence[Proof], assets: Sequence[Asset], shape: str, output: str | None
) -> None:
    """To standard output, or to a file that appears whole."""
    from simwright.app.proving import render_proofs
    from simwright.core.files import write_atomic

    is_terminal = output is None and sys.stdout.isatty()
    text = render_proofs(shape, asset, proofs, assets, color=is_terminal)
    if output is None:
        click.echo(text, nl=False, color=is_terminal)
    else:
        write_atomic(output, text)
        echo(f"wrote {output}", err=True)


def _stamp(asset: str, proofs: Sequence[Proof]) -> None:
    from simwright.app.proving import stamp_proof

    stamp = stamp_proof(asset, proofs[0])
    for level, engines in stamp.claimed.items():
        echo(f"{asset}: {level} is claimed for {', '.join(engines)}", err=True)
    if not stamp.claimed:
        echo(f"{asset}: nothing is claimed: no engine is the same", err=True)
