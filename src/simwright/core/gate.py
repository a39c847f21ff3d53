# SPDX-License-Identifier: Apache-2.0
"""Which files an asset may name: everything a reader or writer opens because a file says so passes here.

A file is admitted if, with every link and ``..`` resolved, it lies below one of

* the root of the asset (:func:`find_root`): the ROS package or Gazebo model that holds the file the user named, else
  the folder of that file, else, where that folder is ``urdf``, ``meshes`` or the like, the one that holds it;
* a ROS package that is known or was found by its name (:mod:`simwright.core.packages`), a folder of the Gazebo
  variables, or a model found by its name;
* a model that Gazebo downloaded from Fuel, named by its address: that model alone, not the whole cache;
* a folder that the user allows: ``--allow-outside DIR``, ``allow_outside`` of the functions, or the environment
  variable :data:`VARIABLE`, which worker processes inherit.

How the file is named (relative, absolute, ``file://``, ``package://``, by a link) makes no difference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from simwright.core.diag import NOWHERE, Level, Reporter, Where, declare
from simwright.core.errors import NotFoundError, UnsafePathError, UsageError
from simwright.core.limits import Tally, is_untrusted
from simwright.core.packages import Package, PackageMap, find_named_folder, is_private

FILE_OUTSIDE = declare(
    "file-outside",
    Level.WARNING,
    "{file!r} is not used: {reason}",
    hint="{advice}",
    doc="A file names another one that lies outside the asset, its packages and the folders the user allows.",
    loss=True,
)

MODEL_PATH_VARIABLES = ("GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH", "IGN_GAZEBO_RESOURCE_PATH")
"""Environment variables whose folders hold models, in the order they are searched."""

FUEL_CACHES = (("GZ_FUEL_CACHE_PATH", ".gz/fuel"), ("IGN_FUEL_CACHE_PATH", ".ignition/fuel"))
"""Where Gazebo puts what it downloads: an environment variable, else a folder of the home; the newer one first."""
_FUEL_SERVERS = ("fuel.gazebosim.org", "fuel.ignitionrobotics.org")

VARIABLE = "SIMWRIGHT_ALLOW_OUTSIDE"
"""Environment variable that lists folders in which every asset may name files."""

_MARKS = ("package.xml", "model.config")
_MAX_LEVELS = 8
_PARTS_OF_ASSETS = frozenset({
    "configuration", "description", "materials", "meshes", "mjcf", "payloads", "sdf", "textures", "urdf", "usd",
    "worlds", "xacro",
})  # fmt: skip
"""Names of folders that hold a part of an asset and nobody gives to a whole one, as robot or models."""


def find_root(file: str | os.PathLike[str]) -> Path:
    """The root folder of the asset that a file belongs to, every link resolved."""
    return _find_root_of(_find_folder(file))


def _find_folder(file: str | os.PathLike[str]) -> Path:
    # the file itself may be a link; as text, since this is asked for every asset
    return Path(os.path.realpath(os.path.dirname(os.path.abspath(file))))  # noqa: PTH100, PTH120


def _find_root_of(folder: Path) -> Path:
    above = str(folder)
    for _ in range(_MAX_LEVELS):
        for mark in _MARKS:
            # a package.xml in the user's home must not make all of it the asset
            if os.path.isfile(f"{above}/{mark}") and not is_private(Path(above)):  # noqa: PTH113 - asked for every asset
                return Path(above)
        here, above = above, os.path.dirname(above)  # noqa: PTH120
        if here == above:
            break
    is_part = folder.name.lower() in _PARTS_OF_ASSETS and not is_private(folder.parent)
    return folder.parent if is_part else folder


def list_model_folders() -> Iterator[Path]:
    """Folders of the Gazebo variables, in the order they are searched; an untrusted asset has none."""
    if is_untrusted():
        return
    for variable in MODEL_PATH_VARIABLES:
        for entry in os.environ.get(variable, "").split(os.pathsep):
            if entry:
                yield Path(entry)


def list_fuel_caches() -> Iterator[Path]:
    """Folders with what Gazebo has downloaded."""
    home = os.environ.get("HOME", "")
    for variable, usual in FUEL_CACHES:
        if os.environ.get(variable):
            yield Path(os.environ[variable])
        elif home:
            yield Path(home) / usual


def allow_folders(folders: Iterable[str | os.PathLike[str]]) -> None:
    """Let every asset of this process, and of those it starts, name files in these folders."""
    given = [str(folder) for folder in parse_folders(folders)]
    if given:
        # added to what the environment has: a worker keeps the folders of its parent
        known = filter(None, [os.environ.get(VARIABLE, "")])
        os.environ[VARIABLE] = os.pathsep.join([*known, *given])


def list_allowed() -> tuple[Path, ...]:
    """Folders of the environment variable."""
    entries = os.environ.get(VARIABLE, "").split(os.pathsep)
    return tuple(Path(entry).resolve() for entry in entries if entry)


def parse_folders(folders: Iterable[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """Folders that the user allows, which must exist."""
    found = []
    for folder in folders:
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise UsageError(f"--allow-outside: {os.fspath(folder)!r} is not a folder")
        found.append(path.resolve())
    return tuple(found)


class Gate:
    """The folders that one asset may name files in, and what it has asked for so far (``tally``).

    ``roots`` are the folders of the asset itself, ``packages`` those of its ROS packages and what the user allows.
    :meth:`take` reports to ``reporter``; the other methods raise.
    """

    __slots__ = ("_covered", "_folders", "_known", "_real", "_told", "packages", "reporter", "roots", "tally")

    def __init__(
        self, roots: Iterable[Path], packages: PackageMap | None = None, reporter: Reporter | None = None
    ) -> None:
        self.roots = tuple(roots)
        self.packages = PackageMap() if packages is None else packages
        self.reporter = reporter
        self.tally = Tally()
        # as text: sets of paths are compared part by part, and every file is looked up with all folders above it
        self._folders = {str(folder) for folder in (*self.roots, *self.packages.allowed, *list_allowed())}
        self._known: dict[tuple[str, Path | None], Package] = {}
        # where folders really are: an asset names hundreds of files in a few of them
        self._real: dict[str, Path] = {}
        self._covered: set[str] = set()
        # a file that is named by a thousand prims is told once for each place
        self._told: set[tuple[Where, str]] = set()

    @classmethod
    def around(
        cls,
        file: str | os.PathLike[str],
        packages: PackageMap | None = None,
        reporter: Reporter | None = None,
    ) -> Gate:
        """The gate of the asset whose file the user named, also by a link to where it really is."""
        folders = {_find_folder(file)}
        if os.path.islink(file):  # noqa: PTH114 - asked for every asset
            folders.add(Path(file).resolve().parent)
        gate = cls({_find_root_of(folder) for folder in folders}, packages, reporter)
        gate._real.update((str(folder), folder) for folder in folders)
        return gate

    @classmethod
    def of_layer(
        cls, path: str, packages: PackageMap | None = None, reporter: Reporter | None = None
    ) -> Gate:
        """The gate of the asset whose root layer is at ``path``.

        One without a path was made in memory, by a caller who may name what he likes.
        """
        return cls.around(path, packages, reporter) if path else cls([Path(Path.cwd().anchor)], packages)

    def admits(self, path: str | os.PathLike[str]) -> bool:
        """May the file be used?  Links are resolved first."""
        # an asset names hundreds of files in a few folders: what holds for one plain file of a folder holds for all
        folder, name = os.path.split(os.fspath(path))
        is_plain = name[:1] not in ("", ".") and "\0" not in name
        if is_plain and folder in self._covered and not os.path.islink(path):  # noqa: PTH114
            return True
        target = self.resolve(path)
        if not self._covers(target):
            return False
        # a link into the asset says nothing about the folder that the link is in
        if is_plain and str(target) not in self._folders and self._real.get(folder) == target.parent:
            self._covered.add(folder)
        return True

    def admit(self, path: str | os.PathLike[str], where: Where | None = None, said: str = "") -> Path:
        """The path with every link resolved; an UnsafePathError if it lies outside.  ``said`` is how it is named."""
        try:
            target = self.resolve(path)
        except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a NUL character
            shown = said or os.fspath(path)
            raise NotFoundError(f"{shown[:200]!r} cannot be looked up: {error}", where=where) from None
        if not self._covers(target):
            raise UnsafePathError(
                f"refused: {(said or os.fspath(path))[:200]!r} lies outside the asset and its packages",
                hint=f"put it into the asset, or allow its folder with --allow-outside {target.parent}",
                where=where,
            )
        return target

    def take(self, path: str | os.PathLike[str], where: Where = NOWHERE, said: str = "") -> Path | None:
        """The same, but what lies outside is reported, once for each place, and gives None."""
        try:
            return self.admit(path, where, said)
        except (UnsafePathError, NotFoundError) as error:
            shown = (said or os.fspath(path))[:200]
            if self.reporter is not None and (where, shown) not in self._told:
                self._told.add((where, shown))
                self.reporter.report(FILE_OUTSIDE, where, file=shown, reason=error.message, advice=error.hint)
            return None

    def find_package(self, name: str, near: Path | None = None) -> Package | None:
        """The ROS package called ``name``, in which files may be named from then on."""
        package = self._known.get((name, near))
        if package is None:
            package = self.packages.find(name, near)
            if package is not None:
                self._folders.update(map(str, package.list_folders()))
                self._known[name, near] = package
        return package

    def find_model(self, name: str, near: Path) -> Path | None:
        """The folder of a Gazebo model, in which files may be named from then on."""
        places = (place / name for place in list_model_folders() if (place / name).is_dir())
        folder = next(places, None) or find_named_folder(name, near)
        # by its name alone a model may be found beside the asset: the user did not offer that one
        if folder is not None and is_untrusted() and not self.admits(folder):
            folder = None
        if folder is None:
            package = self.find_package(name)
            return package.path if package else None
        self._folders.add(str(folder.resolve()))
        return folder

    def find_fuel(self, server: str, owner: str, kind: str, name: str, version: str = "") -> Path | None:
        """What Gazebo has downloaded from Fuel, in which files may be named from then on.

        ``kind`` is models or worlds; without a ``version`` (a number), the newest that is there.
        """
        # The server was renamed, and Gazebo serves both names from one cache or the other.
        servers = (server, *(other for other in _FUEL_SERVERS if other != server))
        for cache in list_fuel_caches():
            for place in servers:
                folder: Path | None = cache / place
                for word in (owner, kind, name):
                    folder = None if folder is None else _find_entry(folder, word)
                found = None if folder is None else _find_version(folder, version)
                # A link that leads out of the cache is no download.
                if found is not None and found.resolve().is_relative_to(cache.resolve()):
                    self._folders.add(str(found.resolve()))
                    return found
        return None

    def resolve(self, path: str | os.PathLike[str]) -> Path:
        """The path with every link resolved; those of its folder are followed once for all files in it."""
        folder, name = os.path.split(os.fspath(path))
        # a name with a NUL is left to resolve(), which refuses it
        if name not in ("", ".", "..") and "\0" not in name:
            if folder not in self._real:
                self._real[folder] = Path(folder).resolve()
            target = self._real[folder] / name
            if not target.is_symlink():
                return target
        return Path(path).resolve()

    def _covers(self, target: Path) -> bool:
        # as text: paths are compared part by part
        path = str(target)
        if any(_holds(folder, path) and self._is_own(folder, target) for folder in self._folders):
            return True
        # ROS and Gazebo installations have hundreds of folders, which most assets never ask for
        known = {folder for package in self.packages for folder in package.list_folders()}
        known |= {folder.resolve() for folder in list_model_folders() if folder.is_dir()}
        return any(_holds(str(folder), path) for folder in known)

    def _is_own(self, folder: str, target: Path) -> bool:
        """An asset that lies in the user's home has no part in what is hidden there: keys, settings, histories."""
        root = next((root for root in self.roots if str(root) == folder), None)
        if root is None or not is_private(root) or root == root.parent:
            return True
        return not any(part.startswith(".") for part in target.relative_to(root).parts)


def _holds(folder: str, path: str) -> bool:
    """Is the path the folder, or below it?"""
    return path.startswith(folder) and (
        len(path) == len(folder) or folder.endswith("/") or path[len(folder)] == "/"
    )


def _find_entry(folder: Path, name: str) -> Path | None:
    """A folder by its name in any case: Gazebo writes small letters, older versions did not."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(e.name for e in entries if e.name.lower() == name.lower() and e.is_dir())
    except OSError:
        return None
    return folder / names[0] if names else None


def _find_version(folder: Path, version: str) -> Path | None:
    """The folder of a version of a Fuel model, or of the newest one where the version is not a number."""
    try:
        with os.scandir(folder) as entries:
            numbers = [entry.name for entry in entries if entry.name.isdecimal() and entry.is_dir()]
    except OSError:
        return None
    if version.isdecimal():
        return folder / version if version in numbers else None
    return folder / max(numbers, key=int) if numbers else None
