# SPDX-License-Identifier: Apache-2.0
"""Where the files are that a world names: ``$PWD``, ``$HOME`` and ``$DATA``, and paths relative to the world file."""

from __future__ import annotations

import os
from pathlib import Path

DATA_VARIABLE = "SIMWRIGHT_WORLD_DATA"


_TOKENS = ("$PWD", "$HOME", "$DATA")


def locate_file(text: str, folder: Path, data: Path | None = None, base: Path | None = None) -> Path:
    """The path that a text means.  ``folder`` is that of the world file, ``base`` what relative paths start from.

    ``$DATA`` is ``data``, or what the environment variable SIMWRIGHT_WORLD_DATA names, or the folder of the world.
    """
    if not any(token in text for token in _TOKENS):
        return (folder if base is None else base) / text
    if "$DATA" in text:
        given = os.environ.get(DATA_VARIABLE, "")
        root = data if data is not None else Path(given) if given else folder
        text = text.replace("$DATA", root.as_posix())
    if "$HOME" in text:
        text = text.replace("$HOME", Path.home().as_posix())
    return Path(text.replace("$PWD", folder.as_posix()))
