# SPDX-License-Identifier: Apache-2.0
"""ROS packages: where they are, and what a ``package://`` address means.

Packages are found in this order, first one wins (:func:`find_packages`):

1. explicit ``NAME=DIR`` pairs (the ``--package`` option);
2. ``AMENT_PREFIX_PATH``: every ``PREFIX/share/NAME`` that the ament index lists or that has a package.xml;
3. ``ROS_PACKAGE_PATH``: every folder with a package.xml below its entries;
4. the package.xml found upwards from the file that holds the address, and its siblings;
5. for a name that none of these knows: a folder of that name at, or directly in, one of the folders above
   the file (:func:`find_named_folder`), because many collections of models come without package.xml.

A folder found by its name alone must look like a package, and is never the user's home (:func:`find_named_folder`).
An address may never leave its package (:func:`split_uri`); where links in it lead is for
:mod:`simwright.core.gate` to judge.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import (
    InputError,
    NotFoundError,
    UnknownNameError,
    UnsafePathError,
    UsageError,
)
from simwright.core.limits import is_untrusted

SCHEME = "package://"
_PACKAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*\Z")
_NAME_TAG = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")
_MAX_DEPTH = 8
_MAX_PACKAGE_XML = 1 << 20
_MANIFEST = "package.xml"
_MAX_ENTRIES = 10_000
_USUAL_FOLDERS = frozenset({
    "materials", "media", "meshes", "mjcf", "models", "robots", "sdf", "textures", "urdf", "usd", "worlds", "xacro",
})  # fmt: skip
_USUAL_ENDINGS = (
    "package.xml", "model.config", ".urdf", ".xacro", ".sdf", ".stl", ".dae", ".obj", ".glb", ".gltf", ".usd", ".usda",
    ".usdc",
)  # fmt: skip


_NEARBY = "package.xml"
"""Origin of packages found around a file."""


@dataclass(frozen=True, slots=True)
class Package:
    """A ROS package: its name, its folder and how it was found."""

    name: str
    path: Path
    origin: str

    def list_folders(self) -> set[Path]:
        """Its folder with links resolved, and the one its manifest is a link to, as after a symlink install.

        The second counts only where the user's environment names the package: an asset may bring links of its own.
        """
        folders = {self.path.resolve()}
        manifest = self.path / _MANIFEST
        # colcon build --symlink-install leaves links in the install folder whose targets are in the
        # sources
        if self.origin != _NEARBY and manifest.is_symlink():
            real = manifest.resolve()
            if real.name == _MANIFEST and real.is_file():
                folders.add(real.parent)
        return folders


@dataclass(slots=True)
class PackageMap:
    """Packages by name, with :meth:`resolve` for addresses.

    ``near`` are folders around which a package without package.xml is looked for; ``allowed`` further folders in
    which the user lets an asset name files (:mod:`simwright.core.gate`).
    """

    packages: dict[str, Package] = field(default_factory=dict)
    near: list[Path] = field(default_factory=list)
    allowed: tuple[Path, ...] = ()

    def add(self, package: Package) -> None:
        """Add a package unless its name is taken: the first one wins."""
        self.packages.setdefault(package.name, package)

    def find(self, name: str, near: Path | None = None) -> Package | None:
        """The package called ``name``, or a folder of that name around ``near`` or the map's own places."""
        known = self.packages.get(name)
        # an untrusted asset has no say in which folders of the disk become packages
        if known is not None or is_untrusted() or not _PACKAGE_NAME.match(name):
            return known
        for place in [*([near] if near else []), *self.near]:
            folder = find_named_folder(name, place)
            if folder is not None:
                return Package(name, folder, "folder name")
        return None

    def resolve(
        self,
        uri: str,
        where: Where | None = None,
        near: Path | None = None,
        follow: Callable[[Path], Path] = Path.resolve,
    ) -> Path:
        """The file of a ``package://name/path`` address; it stays inside its package and exists.

        ``follow`` resolves links, perhaps from memory.
        """
        name, relative = split_uri(uri, where)
        package = self.find(name, near)
        if package is None:
            raise self.make_unknown_error(name, where)
        target = follow(package.path / relative)
        if not target.exists():
            raise NotFoundError(
                f"{uri} does not exist (package {name!r} is {package.path})",
                hint="check the path inside the package",
                where=where,
            )
        return target

    def make_unknown_error(self, name: str, where: Where | None = None) -> InputError:
        """The error for a package that was not found."""
        near = UnknownNameError("ROS package", name, self.packages)
        # a typing error in the name is more likely than a missing workspace, so it is told first
        advice = f"give it with --package {name}=DIR, or source its workspace"
        if near.hint.startswith("did you mean"):
            advice = f"{near.hint} or {advice}"
        return NotFoundError(f"ROS package {name!r} was not found", hint=advice, where=where)

    def __iter__(self) -> Iterator[Package]:
        return iter(sorted(self.packages.values(), key=lambda p: p.name))

    def __len__(self) -> int:
        return len(self.packages)

    def __contains__(self, name: object) -> bool:
        return name in self.packages


def split_uri(uri: str, where: Where | None = None) -> tuple[str, str]:
    """``package://name/a/b`` -> ``("name", "a/b")``; refuses anything that leaves the package."""
    if not uri.startswith(SCHEME):
        raise UsageError(f"{uri!r} is not a package:// address", where=where)
    rest = uri[len(SCHEME) :]
    name, _, relative = rest.partition("/")
    # public robots have a third slash, with which Pinocchio finds them
    if not name and "/" in relative:
        name, _, relative = relative.partition("/")
    # Windows tools write backslashes, by which .. could pass unseen
    parts = relative.replace("\\", "/").split("/")
    if not _PACKAGE_NAME.match(name) or ".." in parts or "\0" in relative or relative.startswith("/"):
        raise UnsafePathError(
            f"refused: {uri!r} does not name a place inside a ROS package",
            hint="write package://PACKAGE/path/inside/it, without '..'",
            where=where,
        )
    return name, "/".join(part for part in parts if part not in ("", "."))


def parse_assignments(pairs: Iterable[str]) -> dict[str, Path]:
    """``["my_robot=/ws/src/my_robot"]`` -> mapping; the folders must exist."""
    result: dict[str, Path] = {}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not equals or not _PACKAGE_NAME.match(name):
            raise UsageError(f"--package takes NAME=DIR, got {pair!r}")
        path = Path(folder).expanduser()
        if not path.is_dir():
            raise UsageError(f"--package {name}: {folder!r} is not a folder")
        result[name] = path.resolve()
    return result


def find_packages(
    explicit: Mapping[str, Path] | None = None,
    near: Sequence[str | os.PathLike[str]] = (),
    environ: Mapping[str, str] | None = None,
    allowed: Iterable[Path] = (),
) -> PackageMap:
    """Every package that can be found; ``near`` names files whose surroundings are searched.

    ``allowed`` are further folders in which an asset may name files.  An untrusted asset has the package that holds it,
    and those of ``explicit``.
    """
    # the environment lists whole ROS installations, in which an untrusted asset has nothing to look
    # for
    environ = {} if is_untrusted() else os.environ if environ is None else environ
    found = PackageMap(allowed=tuple(allowed))
    for name, path in (explicit or {}).items():
        found.add(Package(name, path, "--package"))
    for prefix in _split_path(environ.get("AMENT_PREFIX_PATH", "")):
        for package in _ament_packages(prefix):
            found.add(package)
    for folder in _split_path(environ.get("ROS_PACKAGE_PATH", "")):
        for package in _crawl(folder, "ROS_PACKAGE_PATH"):
            found.add(package)
    for place in (folder if isinstance(folder, Path) else Path(folder) for folder in near):
        around = _surrounding(place)
        if is_untrusted():
            # the first is the package that holds the asset; the others are its neighbours
            around = itertools.islice(around, 1)
        else:
            found.near.append(place)
        for package in around:
            found.add(package)
    return found


def find_named_folder(name: str, place: Path) -> Path | None:
    """A folder called ``name`` at, or directly in, ``place`` or a folder above it (not the root folder).

    It holds what a package or a model holds: else an asset could name any folder beside it or around it.
    """
    start = place.resolve()
    for folder in [start, *start.parents][: _MAX_DEPTH + 1]:
        # the root folder of the disk would make every top folder a package
        if folder == folder.parent:
            return None
        for candidate in (folder, folder / name):
            if candidate.name == name and not is_private(candidate) and _looks_like_package(candidate):
                return candidate
    return None


def is_private(folder: Path) -> bool:
    """Is it the user's home, a folder that holds it, or one at the top of the file system?"""
    home, text = _resolve_home(os.environ.get("HOME", "/")), str(folder)
    # as text: asked for every file of an asset, and paths are compared part by part
    return len(folder.parts) < 3 or home == text or home.startswith(f"{text}/")


@cache
def _resolve_home(home: str) -> str:
    # a home does not move while a command runs
    return os.path.realpath(home)


def _looks_like_package(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            # a folder of a million files takes seconds to list, and an asset can name one
            for entry in itertools.islice(entries, _MAX_ENTRIES):
                word = entry.name.lower()
                if word.endswith(_USUAL_ENDINGS) or (word in _USUAL_FOLDERS and entry.is_dir()):
                    return True
    except OSError:
        return False
    return False


def _split_path(value: str) -> list[Path]:
    return [Path(entry) for entry in value.split(os.pathsep) if entry and Path(entry).is_dir()]


def _ament_packages(prefix: Path) -> Iterator[Package]:
    names: set[str] = set()
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    # not every package registers itself in the index, and isolated installs have no index at all
    for source in (index, prefix / "share"):
        if source.is_dir():
            names.update(entry.name for entry in os.scandir(source))
    for name in sorted(names):
        folder = prefix / "share" / name
        if (folder / _MANIFEST).is_file() or ((index / name).is_file() and folder.is_dir()):
            yield Package(name, folder, "AMENT_PREFIX_PATH")


def _crawl(folder: Path, origin: str, depth: int = 0) -> Iterator[Package]:
    """Packages at or below ``folder``; a package is not searched for further packages."""
    name = read_package_name(folder)
    if name:
        yield Package(name, folder, origin)
        return
    if depth >= _MAX_DEPTH:
        return
    try:
        entries = sorted(
            # links are not followed: they can lead in circles
            (e for e in os.scandir(folder) if e.is_dir(follow_symlinks=False)),
            key=lambda e: e.name,
        )
    except OSError:
        return
    if any((folder / stop).exists() for stop in ("CATKIN_IGNORE", "COLCON_IGNORE", "AMENT_IGNORE")):
        return
    for entry in entries:
        if not entry.name.startswith("."):
            yield from _crawl(Path(entry.path), origin, depth + 1)


def _surrounding(place: Path) -> Iterator[Package]:
    """The package that holds ``place``, and the packages beside that one."""
    # as text: every folder above an asset is asked, and hardly any is a package
    above = os.path.realpath(place)
    for _ in range(_MAX_DEPTH + 1):
        name = read_package_name(Path(above)) if os.path.isfile(f"{above}/{_MANIFEST}") else None  # noqa: PTH113
        if name:
            folder = Path(above)
            yield Package(name, folder, _NEARBY)
            for sibling in sorted(folder.parent.iterdir()):
                other = read_package_name(sibling)
                if other and sibling != folder:
                    yield Package(other, sibling, _NEARBY)
            return
        here, above = above, os.path.dirname(above)  # noqa: PTH120
        if here == above:
            return


def read_package_name(folder: Path) -> str | None:
    """The name in ``folder/package.xml``, if there is one."""
    # as text first: hardly any folder is a package
    if not os.path.isfile(f"{folder}/{_MANIFEST}"):  # noqa: PTH113
        return None
    manifest = folder / _MANIFEST
    try:
        if not manifest.is_file() or manifest.stat().st_size > _MAX_PACKAGE_XML:
            return None
        # searched, not parsed: package.xml files are many, and only this tag is needed
        match = _NAME_TAG.search(manifest.read_bytes())
    except OSError:
        return None
    name = match.group(1).decode("utf-8", "replace") if match else folder.name
    return name if _PACKAGE_NAME.match(name) else None
