# SPDX-License-Identifier: Apache-2.0
"""A progress bar for commands that work on many files."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator

from simwright.app.cli.options import console


@contextlib.contextmanager
def show_progress(word: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error, if that is a terminal and there is more than one file."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(word), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(word, total=None, visible=False)

        def listen(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=total > 1)

        yield listen


@contextlib.contextmanager
def end_on_term() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does: what was recorded is kept, bags are completed, nothing is left behind."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        # signals are for the main thread; elsewhere, whoever started it has to end it
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
