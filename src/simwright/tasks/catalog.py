# SPDX-License-Identifier: Apache-2.0
"""Which robots there are: manifests in the project, in the user's folder, in ``SIMWRIGHT_ROBOTS`` and from plugins.

Folders are searched for ``robot.yaml``, ``*/robot.yaml`` and ``*.robot.yaml``.  The first robot of a name wins, in this
order: ``SIMWRIGHT_ROBOTS`` (folders, separated as in ``PATH``), ``robots/`` of the project around the current folder,
the user's folder (``~/.config/simwright/robots``), entry points of the group ``simwright.robots`` (each names a
function that gives a folder), and the robots that come with Simwright.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.documents.tree import Document
from simwright.core.errors import InputError, SimwrightError, UnknownNameError
from simwright.core.packages import PackageMap
from simwright.tasks.addresses import find_project, resolve_address
from simwright.tasks.manifest import FILE_NAME, RobotManifest, read_manifest

VARIABLE = "SIMWRIGHT_ROBOTS"
GROUP = "simwright.robots"
_PACKAGE = Path(__file__).resolve().parent.parent
# the sample robots: in an installed package, and in a clone; and manifests of robots that are elsewhere
_BUILTIN = (
    _PACKAGE / "samples",
    _PACKAGE.parent.parent / "samples" / "simwright_samples",
    _PACKAGE / "tasks" / "robots",
)
_PATTERNS = (FILE_NAME, f"*/{FILE_NAME}", f"*.{FILE_NAME}")

MANIFEST_BROKEN = declare(
    "robot-manifest-broken",
    Level.WARNING,
    "the manifest is left out: {reason}",
    hint="simwright robots check FILE shows all that is wrong with it",
    doc="A robot manifest in one of the searched folders cannot be read; the other robots are still listed.",
)
MANIFEST_SHADOWED = declare(
    "robot-manifest-shadowed",
    Level.INFO,
    "robot {id!r} is also described in {winner}, which is used",
    doc="Two manifests have the same id; the first one in the order of the search wins.",
)
PLUGIN_BROKEN = declare(
    "robot-plugin-broken",
    Level.WARNING,
    "the robots plugin {name!r} cannot be used: {reason}",
    hint="update or uninstall the package that provides it",
    doc="A package announces robots through an entry point, but asking it for its folder fails.",
)


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A robot that can be asked for by name: its manifest, the manifest's file and how it was found."""

    manifest: RobotManifest
    file: Path
    origin: str
    document: Document

    def find_asset(self, packages: PackageMap | None = None) -> Path:
        """The robot's own file."""
        key = next(iter(self.manifest.sim.list_uris()))
        where = self.document.find_where("sim", key)
        # manifests of the user may name files anywhere: nobody else wrote them
        own = self.file.absolute().is_relative_to(find_user_folder().absolute())
        return resolve_address(
            self.manifest.sim.uri, self.file.parent, packages=packages, where=where, anywhere=own
        )


def list_robots(
    reporter: Reporter | None = None, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> dict[str, CatalogEntry]:
    """Every robot by id; manifests that cannot be read are findings."""
    reporter = Reporter() if reporter is None else reporter
    found: dict[str, CatalogEntry] = {}
    for origin, place in list_folders(reporter, environ=environ, folder=folder):
        for file in _list_files(place):
            try:
                manifest, document = read_manifest(file)
            except SimwrightError as error:
                where = error.where or Where(str(file))
                reporter.report(MANIFEST_BROKEN, where, reason=error.message.splitlines()[0])
                continue
            known = found.get(manifest.id)
            if known is None:
                found[manifest.id] = CatalogEntry(manifest, file, origin, document)
            # one file found through two folders is no second robot
            elif known.file.resolve() != file.resolve():
                where = document.find_where("id")
                reporter.report(MANIFEST_SHADOWED, where, id=manifest.id, winner=str(known.file))
    return found


def find_robot(
    name: str, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> CatalogEntry:
    """The robot with this id; an unknown one lists those there are."""
    robots = list_robots(environ=environ, folder=folder)
    if name not in robots:
        error = UnknownNameError("robot", name, robots)
        # a near miss hints at one name; here all of them help
        if not error.hint.startswith("known"):
            error.hint += f" known: {', '.join(sorted(robots))}"
        raise error
    return robots[name]


def open_manifest(file: Path) -> CatalogEntry:
    """A manifest by its file."""
    manifest, document = read_manifest(file)
    return CatalogEntry(manifest, file, "file", document)


def list_folders(
    reporter: Reporter, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> Iterator[tuple[str, Path]]:
    """Where manifests are looked for, and why there."""
    environ = os.environ if environ is None else environ
    for entry in environ.get(VARIABLE, "").split(os.pathsep):
        if entry:
            yield VARIABLE, Path(entry)
    yield "project", find_project(Path.cwd() if folder is None else folder) / "robots"
    yield "user", find_user_folder(environ)
    for point in entry_points(group=GROUP):
        try:
            yield f"plugin {point.name}", Path(point.load()())
        except Exception as error:  # noqa: BLE001 - whatever a plugin does, the other robots are there
            reporter.report(
                PLUGIN_BROKEN, Where(), name=point.name, reason=str(error) or type(error).__name__
            )
    for place in _BUILTIN:
        yield "built in", place


def find_user_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The user's own robots."""
    environ = os.environ if environ is None else environ
    base = environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "simwright" / "robots"


def _list_files(folder: Path) -> list[Path]:
    try:
        if not folder.is_dir():
            return []
        return sorted({file for pattern in _PATTERNS for file in folder.glob(pattern)})
    except OSError as error:
        raise InputError(f"cannot look for robots: {error}", where=Where(str(folder))) from None
