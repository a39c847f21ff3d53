# SPDX-License-Identifier: Apache-2.0
"""Where the files are that a world names: ``$PWD``, ``$HOME`` and ``$DATA``, and paths relative to the world file."""

from __future__ import annotations

import os
from pathlib import Path

from simwright.core.gate import Gate, find_root
from simwright.core.trust import is_untrusted

DATA_VARIABLE = "SIMWRIGHT_WORLD_DATA"


_TOKENS = ("$PWD", "$HOME", "$DATA")


def locate_file(text: str, folder: Path, data: Path | None = None, base: Path | None = None) -> Path:
    """The path that a text means; an UnsafePathError where a world may name no files.

    ``folder`` is that of the world file, ``base`` what relative paths start from.  ``$DATA`` is ``data``, or what the
    environment variable SIMWRIGHT_WORLD_DATA names, or the folder of the world.  A world may name what lies around its
    own file, in ``$DATA`` and in the folders that the user allows.
    """
    given = "" if is_untrusted() else os.environ.get(DATA_VARIABLE, "")
    root = data if data is not None else Path(given) if given else folder
    path = (folder if base is None else base) / text
    if any(token in text for token in _TOKENS):
        text = text.replace("$DATA", root.as_posix()).replace("$HOME", Path.home().as_posix())
        path = Path(text.replace("$PWD", folder.as_posix()))
    Gate([find_root(folder / "world"), folder.resolve(), root.resolve()]).admit(path, said=str(path))
    return path
