# SPDX-License-Identifier: Apache-2.0
"""What all commands that work on many assets share: options of jobs, and running one from the command line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simwright.app.cli.options import echo, limit_options

if TYPE_CHECKING:
    from simwright.app.jobs.listing import OptionKinds
    from simwright.app.jobs.model import ItemOutcome, JobItem, JobOptions, JobSpec
    from simwright.app.jobs.running import JobExecutor
    from simwright.app.jobs.store import JobStore

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "json", "json-lines", "junit", "sarif", "html", "prometheus")
"""Names of ``app.jobs.reports.JOB_REPORTS``, which is not loaded for --help."""
_EXECUTOR_OPTIONS = (
    click.option(
        "--executor",
        metavar="[local|ray]",
        default="local",
        show_default=True,
        help="Where the work is done: processes of this machine, or a Ray cluster.",
    ),
    click.option(
        "--address",
        metavar="HOST:PORT",
        help="Ray: the cluster.  [one of this machine, for this job only]",
    ),
    click.option(
        "--ship", is_flag=True, help="Ray: send assets with their files; else workers see the same paths."
    ),
)


def executor_options(command: F) -> F:
    """``--executor`` and what it needs to know, for commands that have ``--jobs`` of their own."""
    for option in reversed(_EXECUTOR_OPTIONS):
        command = option(command)
    return command


def job_options(command: F) -> F:
    """Manifest, state, retries, limits and executor."""
    for option in (
        click.option(
            "--retries",
            type=click.IntRange(0, 100),
            default=1,
            show_default=True,
            help="How often to try an asset again whose process died.",
        ),
        click.option(
            "--restart",
            is_flag=True,
            help="Start the unfinished job in --job from the beginning.",
        ),
        click.option(
            "--resume", is_flag=True, help="Continue the job in --job; finished assets are not repeated."
        ),
        click.option(
            "--job",
            "job_folder",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="FOLDER",
            help="Keep the state of the job here: it can be resumed and reported (simwright jobs).",
        ),
        click.option(
            "--manifest",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="A list of assets with their own options (docs/jobs.md); can be combined with PATHs.",
        ),
    ):
        command = option(command)
    return limit_options(executor_options(command))


def is_job(options: dict[str, Any], output_format: str = "") -> bool:
    """Do the options ask for a job: state, a manifest, another executor, or results as they come?"""
    asked = options["job_folder"] or options["manifest"] or options["resume"] or options["restart"]
    return bool(asked) or options["executor"] != "local" or output_format == "json-lines"


def own_format(name: str, *choices: str) -> str:
    """The format of a report about one asset; others are for jobs."""
    if name not in choices:
        raise click.UsageError(f"--format {name} is for jobs over several assets (--job FOLDER)")
    return name


def refuse_flags(options: dict[str, Any], *names: str) -> None:
    """Refuse options that have no meaning in a job."""
    given = [f"--{name.rstrip('_').replace('_', '-')}" for name in names if options[name]]
    if given:
        raise click.UsageError(f"a job cannot be used with {', '.join(given)}")


def list_manifest(options: dict[str, Any], kinds: OptionKinds) -> list[tuple[str, JobOptions]]:
    """Assets of ``--manifest``, each with its own words."""
    from simwright.app.jobs.listing import read_manifest

    return read_manifest(options["manifest"], kinds) if options["manifest"] else []


def make_executor(options: dict[str, Any]) -> JobExecutor:
    """The executor that was asked for."""
    from simwright.app.jobs.running import JOB_EXECUTORS

    make = JOB_EXECUTORS.get(options["executor"])
    return make(jobs=options.get("jobs"), address=options["address"], ship=options["ship"])


def run_job(
    spec: JobSpec,
    items: Sequence[JobItem],
    options: dict[str, Any],
    output_format: str,
    output: Path | None = None,
    *,
    word: str,
    report: Callable[[JobStore, str, Path | None], None] | None = None,
) -> int:
    """Run a job and print its report; gives the exit code.

    Without ``--job`` its state is in a temporary folder.  What is done is written at once, so that an interrupt loses
    only what was in flight.  ``report`` prints it in the command's own way.
    """
    from simwright.app.cli.progress import end_on_term, show_progress
    from simwright.app.jobs.reports import find_code, write_line
    from simwright.app.jobs.running import run_stored

    executor = make_executor(options)
    streaming = output_format == "json-lines" and output is None

    def tell(item: JobItem, outcome: ItemOutcome) -> None:
        click.echo(write_line(spec.command, item, outcome), nl=False)

    with contextlib.ExitStack() as stack:
        store = stack.enter_context(_open_store(spec, items, options, stack))
        if streaming and options["resume"]:
            # whoever reads the lines gets all of them: first those of the runs before
            for row in store.iterate():
                tell(row.item, row.outcome)
        try:
            with show_progress(word) as listener, end_on_term():
                run_stored(store, executor, listener, tell if streaming else None)
        except KeyboardInterrupt:
            folder = options["job_folder"]
            if folder:
                echo(f"interrupted; continue with: simwright jobs resume {folder}", err=True)
            raise
        if not streaming:
            (report or emit_report)(store, output_format, output)
        return find_code(store)


@contextlib.contextmanager
def _open_store(
    spec: JobSpec, items: Sequence[JobItem], options: dict[str, Any], stack: contextlib.ExitStack
) -> Iterator[JobStore]:
    from simwright.app.jobs.store import FILE, JobStore, create_store, describe_asked
    from simwright.core.diag import Where
    from simwright.core.errors import UsageError
    from simwright.core.scratch import scratch_folder

    folder: Path | None = options["job_folder"]
    if folder is None:
        if options["resume"] or options["restart"]:
            raise click.UsageError("--resume and --restart need to know which job: add --job FOLDER")
        folder = stack.enter_context(scratch_folder())
    # a job is resumed from anywhere: its items are named by where they are
    named = items if options.get("names") else [_place(item) for item in items]
    asked = {"inputs": options.get("inputs", []), "manifest": str(options["manifest"] or "")}
    if options["resume"]:
        store = JobStore(folder, writing=True)
        if store.asked != describe_asked(spec, asked):
            store.close()
            raise UsageError(
                "the job was begun with other options or inputs",
                hint=f"continue with: simwright jobs resume {folder}; or start from the beginning with --restart",
                where=Where(str(folder)),
            )
    else:
        if (folder / FILE).exists() and not options["restart"]:
            with JobStore(folder) as old:
                done, total = old.count_done(), old.count_items()
            if done < total:
                raise UsageError(
                    f"there is an unfinished job in this folder, {done} of {total} done",
                    hint="continue it with --resume, or start from the beginning with --restart",
                    where=Where(str(folder)),
                )
        store = create_store(folder, spec, named, asked)
    with store:
        yield store


def _place(item: JobItem) -> JobItem:
    return item._replace(asset=os.path.abspath(item.asset))  # noqa: PTH100 - text


def emit_report(store: JobStore, output_format: str, output: Path | None) -> None:
    """Write a report to standard output, or to a file that appears whole."""
    from simwright.app.jobs.reports import write_report
    from simwright.core.files import PartFile

    if output is None:
        write_report(store, output_format, _StandardOutput())
        return
    part = PartFile(Path(output))
    try:
        with part.path.open("w", encoding="utf-8", newline="\n") as stream:
            write_report(store, output_format, stream)
        part.finish()
    finally:
        part.discard()
    echo(f"wrote {output}", err=True)


class _StandardOutput:
    """Standard output as click has it at this moment, for tests and notebooks too."""

    def write(self, text: str, /) -> None:
        """Write a text."""
        click.echo(text, nl=False)
