# SPDX-License-Identifier: Apache-2.0
"""``simwright jobs list|show|resume|report``: jobs over many assets, from the folders that hold their state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simwright.app.cli.job_options import FORMATS, emit_report, executor_options, make_executor
from simwright.app.cli.options import console, echo, format_option, print_json

if TYPE_CHECKING:
    from simwright.app.jobs.store import JobStore

EPILOG = """\b
Examples:
  simwright check robots/ --job nightly --jobs 8
  simwright jobs list
  simwright jobs show nightly
  simwright jobs resume nightly
  simwright jobs report nightly --format html -o nightly.html
"""
_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group("jobs", epilog=EPILOG)
def jobs() -> None:
    """List, show, resume and report jobs: one command over many assets.

    check, fix, convert, diff, prove, render and task run begin a job with --job FOLDER; see docs/jobs.md.
    """


@jobs.command(
    "list", epilog="\b\nExamples:\n  simwright jobs list\n  simwright jobs list results/ --format json\n"
)
@click.argument("folders", nargs=-1, type=_FOLDER)
@format_option("text", "json")
def list_command(folders: tuple[Path, ...], output_format: str) -> int:
    """List the jobs in FOLDERS and below them.  [the working folder]"""
    from rich.table import Table

    from simwright.app.jobs.store import JobStore, find_stores
    from simwright.core.diag import Where
    from simwright.core.errors import NotFoundError

    lost = next((folder for folder in folders if not folder.is_dir()), None)
    if lost is not None:
        raise NotFoundError("no such folder", where=Where(str(lost)))
    rows: list[dict[str, Any]] = []
    for folder in find_stores(folders or [Path()]):
        with JobStore(folder) as store:
            rows.append(_describe(store))
    if output_format == "json":
        print_json({"version": 1, "jobs": rows})
        return 0
    table = Table("folder", "command", "begun", "done", "errors", "warnings", box=None, pad_edge=False)
    for row in rows:
        done = f"{row['done']} of {row['items']}"
        counts = (str(row["findings"][level]) for level in ("error", "warning"))
        table.add_row(row["folder"], row["command"], row["begun"], done, *counts)
    console().print(table if rows else "no jobs")
    return 0


@jobs.command("show", epilog="\b\nExample:\n  simwright jobs show nightly --format json\n")
@click.argument("folder", type=_FOLDER)
@format_option("text", "json")
def show_command(folder: Path, output_format: str) -> int:
    """Show the progress of the job in FOLDER, and what was tried more than once."""
    from simwright.app.jobs.store import JobStore

    with JobStore(folder) as store:
        told = _describe(store)
        attempts = store.count_attempts()
        told["options"] = store.spec.options
        told["seconds"] = round(store.measure().seconds, 3)
        told["repeated"] = sum(count > 1 for count in attempts.values())
        told["history"] = store.history
        if output_format == "json":
            print_json({"version": 1, **told})
            return 0
        echo(f"{told['command']}, begun {told['begun']}, {told['seconds']:g} s of work")
        emit_report(store, "text", None)
        if told["repeated"]:
            echo(f"{told['repeated']} went out more than once, because a worker or a run ended in between")
        if told["done"] < told["items"]:
            echo(f"continue with: simwright jobs resume {folder}")
    return 0


@jobs.command(
    "resume",
    epilog="\b\nExample:\n  simwright jobs resume nightly --jobs 16\n",
)
@click.argument("folder", type=_FOLDER)
@click.option("--jobs", type=click.IntRange(min=1), help="Number of processes.  [one per core]")
@executor_options
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report here."
)
def resume_command(folder: Path, output_format: str, output: Path | None, **options: Any) -> int:
    """Continue the job in FOLDER where it stopped; finished assets are not repeated."""
    from simwright.app.cli.progress import end_on_term, show_progress
    from simwright.app.jobs.reports import find_code
    from simwright.app.jobs.running import run_stored
    from simwright.app.jobs.store import JobStore

    executor = make_executor(options)
    with JobStore(folder, writing=True) as store:
        with show_progress(store.spec.command) as listener, end_on_term():
            run_stored(store, executor, listener)
        emit_report(store, output_format, output)
        return find_code(store)


REPORT_EPILOG = """\b
Examples:
  simwright jobs report nightly
  simwright jobs report nightly --format html -o nightly.html
  simwright jobs report nightly --format sarif -o nightly.sarif
  simwright jobs report nightly --format prometheus -o /var/lib/node_exporter/nightly.prom
"""


@jobs.command("report", epilog=REPORT_EPILOG)
@click.argument("folder", type=_FOLDER)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How to print the report.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report here."
)
def report_command(folder: Path, output_format: str, output: Path | None) -> int:
    """Report what the job in FOLDER has found so far; the exit code is that of the job."""
    from simwright.app.jobs.reports import find_code
    from simwright.app.jobs.store import JobStore

    with JobStore(folder) as store:
        emit_report(store, output_format, output)
        return find_code(store)


def _describe(store: JobStore) -> dict[str, Any]:
    from datetime import UTC, datetime

    totals = store.measure()
    return {
        "folder": str(store.folder),
        "command": store.spec.command,
        "begun": datetime.fromtimestamp(store.begun, UTC).strftime("%Y-%m-%d %H:%M:%SZ"),
        "items": totals.items,
        "done": totals.done,
        "statuses": totals.statuses,
        "findings": totals.findings,
    }
