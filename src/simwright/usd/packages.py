# SPDX-License-Identifier: Apache-2.0
"""``@package://my_robot/usd/robot.usda@`` for the stock OpenUSD resolver (REP-0158 1.2.4).

OpenUSD's resolver cannot be extended from Python, but on POSIX it joins an address that is not a path to each
folder of its search path.  A folder that holds a directory named ``package:`` with one link per ROS package
therefore makes the scheme work, for us (:func:`context`, which changes no global state) and for every other
OpenUSD tool (:func:`environment`).  The folder is kept in the user's cache, named by the content of the map,
and appears there whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from simwright.core.errors import OutputError, UsageError
from simwright.core.packages import PackageMap

VARIABLE = "PXR_AR_DEFAULT_SEARCH_PATH"
SCHEME_FOLDER = "package:"
_STALE = 60.0
"""After this long, a folder that is not in its place is of a killed process [s]."""


def search_path(packages: PackageMap) -> Path:
    """The folder that makes ``package://`` work for these packages; it is made when it is not there."""
    if sys.platform == "win32":
        raise UsageError(
            "package:// addresses need links with a colon in their name, which Windows does not have",
            hint="use relative paths, or work on Linux or macOS",
        )
    # resolved: the folder must not depend on where the command was run
    links = {package.name: str(package.path.resolve()) for package in packages}
    # NUL is in no name and in no path, so two maps never give the same text
    listing = "".join(f"{name}\0{target}\0" for name, target in sorted(links.items()))
    key = hashlib.sha256(os.fsencode(listing)).hexdigest()[:24]
    problem: OSError | None = None
    for root in _cache_roots():
        try:
            return _ensure_folder(root / key, links)
        except OSError as error:
            problem = error
    raise OutputError(
        f"no folder for package:// links can be made: {problem}",
        hint="set XDG_CACHE_HOME to a folder you can write to",
    )


def environment(packages: PackageMap) -> dict[str, str]:
    """The environment variable that gives any OpenUSD tool these packages; keeps what is already set."""
    present = os.environ.get(VARIABLE, "")
    folder = str(search_path(packages))
    entries = [entry for entry in present.split(os.pathsep) if entry and entry != folder]
    return {VARIABLE: os.pathsep.join([folder, *entries])}


def context(packages: PackageMap | None, root: Path | None = None) -> Any:
    """An ``Ar.DefaultResolverContext`` with these packages, and the folder of ``root`` as OpenUSD has it."""
    from pxr import Ar

    folders = [os.path.dirname(os.path.realpath(root))] if root is not None else []  # noqa: PTH120 - asked for every stage
    if packages is not None and len(packages):
        folders.append(str(search_path(packages)))
    return Ar.DefaultResolverContext(folders)


def _cache_roots() -> list[Path]:
    """Where the folder may go, best first; none may have the colon that separates search paths."""
    roots = []
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if Path(cache).is_absolute():
        roots.append(Path(cache) / "simwright" / "packages")
    elif "HOME" in os.environ:
        roots.append(Path(os.environ["HOME"]) / ".cache" / "simwright" / "packages")
    roots.append(Path(tempfile.gettempdir()) / f"simwright-{os.getuid()}" / "packages")
    return [root for root in roots if os.pathsep not in str(root)]


def _ensure_folder(folder: Path, links: dict[str, str]) -> Path:
    if _is_current(folder, links):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # in a shared /tmp somebody else could have prepared links to files of their choice
    if folder.parent.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder.parent} belongs to another user")
    _remove_stale(folder.parent)
    staging = Path(tempfile.mkdtemp(prefix=".new.", dir=folder.parent))
    try:
        (staging / SCHEME_FOLDER).mkdir()
        for name, target in links.items():
            (staging / SCHEME_FOLDER / name).symlink_to(target, target_is_directory=True)
        _move_into_place(staging, folder, links)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return folder


def _remove_stale(place: Path) -> None:
    """Remove what killed processes left; links are made in a moment."""
    for left in (*place.glob(".new.*"), *place.glob(".old.*")):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)


def _move_into_place(staging: Path, folder: Path, links: dict[str, str]) -> None:
    """Rename; if somebody else was first, theirs is as good unless it is damaged."""
    # another process may put its folder there between our look and our rename
    for _ in range(10):
        try:
            staging.rename(folder)
        except OSError:
            if _is_current(folder, links):
                return
            damaged = Path(tempfile.mkdtemp(prefix=".old.", dir=folder.parent))
            try:
                folder.rename(damaged / "x")
            except FileNotFoundError:
                pass
            finally:
                shutil.rmtree(damaged, ignore_errors=True)
        else:
            return
    raise OSError(f"{folder} cannot be replaced")


def _is_current(folder: Path, links: dict[str, str]) -> bool:
    try:
        with os.scandir(folder / SCHEME_FOLDER) as entries:
            found = {entry.name: str(Path(entry.path).readlink()) for entry in entries}
    except OSError:
        return False
    return found == links
