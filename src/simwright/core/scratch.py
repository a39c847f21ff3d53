# SPDX-License-Identifier: Apache-2.0
"""Private folders for temporary files, removed even if the process that made them is killed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import OutputError
from simwright.core.swap import Staging, recover


class Scratch:
    """A private folder for files that others take by their names, below the folder of the system for such files.

    What killed processes left there is removed by the next one.  Where the system has no room, there is an OutputError.
    """

    def __init__(self) -> None:
        # by user: a staging folder of somebody else cannot be looked into
        name = f"simwright-{os.getuid()}" if hasattr(os, "getuid") else "simwright"
        with guard_scratch():
            parent = Path(tempfile.gettempdir()).resolve()
            recover(parent, name)
            self._staging = Staging(parent, name)
            # a new name every time: OpenUSD knows layers by their paths
            self.path = Path(tempfile.mkdtemp(dir=self._staging.new))

    def close(self) -> None:
        """Remove it."""
        self._staging.close()


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A :class:`Scratch` folder that is gone when the block ends."""
    scratch = Scratch()
    try:
        with guard_scratch():
            yield scratch.path
    finally:
        scratch.close()


@contextlib.contextmanager
def guard_scratch() -> Iterator[None]:
    """What the system refuses of temporary files becomes an OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"temporary files cannot be written: {error.strerror or error}",
            hint="set the environment variable TMPDIR to a folder with room",
            where=Where(str(error.filename or tempfile.tempdir or "")),
        ) from None
