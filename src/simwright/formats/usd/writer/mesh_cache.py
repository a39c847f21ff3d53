# SPDX-License-Identifier: Apache-2.0
"""Meshes that were expensive to make, kept in the user's cache folder by a digest of what they were made from.

An entry is an archive of arrays under a name that covers the input, the work with its settings, and the version of
the package that does it.  A damaged entry is not there; failure to write is no problem.
"""

from __future__ import annotations

import contextlib
import io
import os
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simwright.core.files import write_atomic
from simwright.formats.usd.writer.meshes import digest_mesh
from simwright.model.geometry import MeshData

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


def find_folder() -> Path | None:
    """The folder of made meshes in ``XDG_CACHE_HOME`` or ``~/.cache``; None where there is neither."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        base = Path(os.environ.get("HOME", "")) / ".cache"
    return base / "simwright" / "meshes" if base.is_absolute() else None


def make_or_recall(data: MeshData, work: str, package: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays that ``make`` gives, from the cache where they were made before."""
    folder = find_folder()
    import hashlib  # brings OpenSSL, which most conversions do not need

    name = hashlib.blake2b(f"{work}|{package}|{version(package)}|".encode(), digest_size=20)
    name.update(digest_mesh(data))
    file = None if folder is None else folder / f"{name.hexdigest()}.npz"
    known = None if file is None else _read(file)
    if known is not None:
        return known
    made = make()
    if file is not None:
        stream = io.BytesIO()
        np.savez_compressed(stream, **made)  # type: ignore[arg-type]
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(file, stream.getvalue())
    return made


def _read(file: Path) -> Arrays | None:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
