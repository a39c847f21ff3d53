# SPDX-License-Identifier: Apache-2.0
"""From a source in a scene to a file: beside the scene, in the working folder, from the text, or from git.

Relative paths count from the folder of the scene; where nothing is there, from the working folder, which is told.  With
``compat="sap"`` it is the other way round, as SAP Warp reads them.  XML in the scene itself, and MJCF files that have
external assets laid beside them, become files in a scratch folder that goes when the program ends.
"""

from __future__ import annotations

import atexit
import hashlib
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.errors import InputError, NotFoundError
from simwright.core.files import suggest_sibling
from simwright.core.gate import Gate, find_root
from simwright.core.packages import is_private
from simwright.core.swap import Scratch
from simwright.core.trust import is_untrusted
from simwright.scenes.document_assets import AssetOptions, MjcfAsset
from simwright.scenes.document_sources import ExternalAsset, Source
from simwright.scenes.git_cache import GitCache
from simwright.scenes.messages import FILE_ELSEWHERE

if TYPE_CHECKING:
    from simwright.scenes.document import SceneFile

_SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf", "usd": ".usda"}


def find_scene_roots(folder: Path) -> set[Path]:
    """Folders in which a scene may name files: around its own, and the working folder if that is not the home."""
    here = Path.cwd().resolve()
    roots = {find_root(folder / "scene"), folder.resolve()}
    return roots if is_untrusted() or is_private(here) else roots | {here}


class SourceFinder:
    """Finds the files of one scene.  ``cache`` fetches git sources; it is not asked unless the scene has one."""

    def __init__(
        self, file: SceneFile, reporter: Reporter | None = None, cache: GitCache | None = None
    ) -> None:
        self._folder = file.folder
        self._compat = file.compat
        self._reporter = Reporter() if reporter is None else reporter
        self._cache = cache
        self.roots = find_scene_roots(self._folder)
        """Folders that the scene and its assets may name files in: it is the scene that the user named."""

    def find_file(self, path: str, where: Where = NOWHERE) -> Path:
        """An existing file."""
        if "\0" in path:
            raise NotFoundError("the path has a NUL character", where=where)
        places = list(dict.fromkeys((self._folder / path, Path.cwd() / path)))
        if self._compat == "sap":
            places.reverse()
        for number, place in enumerate(places):
            if _is_file(place):
                Gate(self.roots).admit(place, where, path)
                if number and self._compat is None:
                    self._reporter.report(FILE_ELSEWHERE, where, path=path)
                return place
        raise NotFoundError(
            f"there is no file {path!r}", hint=suggest_sibling(self._folder / path), where=where
        )

    def find_asset(self, asset: AssetOptions, where: Where = NOWHERE) -> Path:
        """The file of an asset, its external assets laid beside it."""
        file = self.find_source(asset.source, getattr(asset, "type", ""), where)
        external = asset.external_assets if isinstance(asset, MjcfAsset) else ()
        return self._lay_beside(file, external, where) if external else file

    def find_source(self, source: Source, kind: str, where: Where = NOWHERE) -> Path:
        """The file of a source of type ``kind``."""
        if source.text is not None:
            return self._write_text(source.text, kind)
        if source.git is not None:
            if self._cache is None:
                self._cache = GitCache()
            return self._cache.find(source.git, where)
        assert source.path is not None, "a source says one of three"
        return self.find_file(source.path, where)

    def _write_text(self, text: str, kind: str) -> Path:
        """XML as a file, beside links to what is beside the scene: its relative paths count from there."""
        name = f"inline{_SUFFIXES[kind]}"
        folder = _make_folder((text, str(self._folder.resolve())))
        if folder is None:
            return _scratch() / _digest((text, str(self._folder.resolve()))) / name
        if self._folder.is_dir():
            _link_siblings(self._folder, folder, {name})
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    def _lay_beside(self, file: Path, external: Sequence[ExternalAsset], where: Where) -> Path:
        """A folder of links: everything beside ``file``, and each external file under its target name."""
        origins = [(entry.target, self.find_source(entry.origin, "mjcf", where)) for entry in external]
        self.roots |= {find_root(file), *(origin.resolve().parent for _, origin in origins)}
        key = [str(file.resolve()), *(f"{target} {origin.resolve()}" for target, origin in origins)]
        folder = _make_folder(key)
        if folder is None:
            return _scratch() / _digest(key) / file.name
        _link_siblings(file.parent, folder, {Path(target).parts[0] for target, _ in origins})
        for target, origin in origins:
            link = folder / target
            link.parent.mkdir(parents=True, exist_ok=True)
            if link.is_symlink():
                link.unlink()
            if link.exists():
                raise InputError(f"the external asset {target!r} has the name of a folder", where=where)
            link.symlink_to(origin.resolve())
        return folder / file.name


@cache
def _scratch() -> Path:
    scratch = Scratch()
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            scratch.close()

    atexit.register(remove)
    return scratch.path


def _digest(key: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _make_folder(key: Iterable[str]) -> Path | None:
    """A new folder for a key; None if it was made before."""
    folder = _scratch() / _digest(key)
    if folder.exists():
        return None
    folder.mkdir()
    return folder


def _link_siblings(source: Path, target: Path, taken: set[str]) -> None:
    """Links to everything in ``source``; folders in ``taken`` become folders, so that more can be put into them."""
    for entry in sorted(source.iterdir()):
        if entry.name not in taken:
            (target / entry.name).symlink_to(entry.resolve())
        elif entry.is_dir():
            (target / entry.name).mkdir()
            _link_files(entry, target / entry.name)


def _link_files(source: Path, target: Path) -> None:
    for entry in sorted(source.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            (target / entry.name).mkdir()
            _link_files(entry, target / entry.name)
        else:
            (target / entry.name).symlink_to(entry.resolve())


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
