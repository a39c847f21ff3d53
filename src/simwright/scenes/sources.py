# SPDX-License-Identifier: Apache-2.0
"""From a source in a scene to a file: beside the scene, in the working folder, from the text, or from git.

Relative paths count from the folder of the scene; where nothing is there, from the working folder, which is told.  With
``compat="sap"`` it is the other way round, as SAP Warp reads them.  XML in the scene itself, and MJCF files that have
external assets laid beside them, become files in a scratch folder that goes when the program ends.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.errors import InputError, NotFoundError, UnsafePathError
from simwright.core.files import suggest_sibling
from simwright.core.gate import Gate, find_root
from simwright.core.limits import is_offline, is_untrusted
from simwright.core.packages import is_private
from simwright.core.scratch import Scratch
from simwright.scenes.document_assets import AssetOptions, MjcfAsset
from simwright.scenes.document_sources import ExternalAsset, GitSource, SourceFields
from simwright.scenes.messages import FILE_ELSEWHERE

if TYPE_CHECKING:
    from simwright.scenes.document import SceneFile

_SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf", "usd": ".usda"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
PROTOCOLS = "https:ssh:file"
TIMEOUT = 600.0
"""Longest one git command may take [s]."""


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
        # one place where the scene is in the working folder
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

    def find_source(self, source: SourceFields, kind: str, where: Where = NOWHERE) -> Path:
        """The file of a source of type ``kind``."""
        if source.text is not None:
            return self._write_text(source.text, kind)
        if source.git is not None:
            # a scene without git sources works without git and without a home folder
            if self._cache is None:
                self._cache = GitCache()
            return self._cache.find(source.git, where)
        assert source.path is not None, "a source says one of three"
        return self.find_file(source.path, where)

    def _write_text(self, text: str, kind: str) -> Path:
        """XML as a file, beside links to what is beside the scene: its relative paths count from there."""
        name = f"inline{_SUFFIXES[kind]}"
        # the scene's folder belongs to the key: relative paths in the text count from it
        folder, is_new = _find_folder((text, str(self._folder.resolve())))
        if not is_new:
            return folder / name
        if self._folder.is_dir():
            _link_siblings(self._folder, folder, {name})
        (folder / name).write_text(text, encoding="utf-8")
        return folder / name

    def _lay_beside(self, file: Path, external: Sequence[ExternalAsset], where: Where) -> Path:
        """A folder of links: everything beside ``file``, and each external file under its target name."""
        origins = [(entry.target, self.find_source(entry.origin, "mjcf", where)) for entry in external]
        # links lead out of the scratch folder: the security gate has to know where to
        self.roots |= {find_root(file), *(origin.resolve().parent for _, origin in origins)}
        key = [str(file.resolve()), *(f"{target} {origin.resolve()}" for target, origin in origins)]
        folder, is_new = _find_folder(key)
        if not is_new:
            return folder / file.name
        _link_siblings(file.parent, folder, {Path(target).parts[0] for target, _ in origins})
        for target, origin in origins:
            link = folder / target
            link.parent.mkdir(parents=True, exist_ok=True)
            # a link to the original of that name, which the external file replaces
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
        # forked workers run atexit too, and must not take the files away from their parent
        if os.getpid() == owner:
            scratch.close()

    atexit.register(remove)
    return scratch.path


def _digest(key: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _find_folder(key: Iterable[str]) -> tuple[Path, bool]:
    """The scratch folder of this process for what the texts of ``key`` describe, and whether it was made just now."""
    folder = _scratch() / _digest(key)
    is_new = not folder.exists()
    if is_new:
        folder.mkdir()
    return folder, is_new


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


class GitError(InputError):
    """A file cannot be fetched from a git repository."""

    code = "git"


def find_cache(environment: Mapping[str, str]) -> Path:
    """The folder of the cache."""
    # programs written for SAP Warp find their cache again
    for name in ("SIMWRIGHT_ASSET_CACHE", "SAP_WARP_ASSET_CACHE"):
        if environment.get(name):
            return Path(environment[name]).expanduser()
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "simwright" / "assets"


def name_repository(repo: str) -> str:
    """The folder name of a repository: every run of other characters is an underscore."""
    return _UNSAFE.sub("_", repo).strip("._-") or "repository"


@dataclass(slots=True)
class GitCache:
    """Checkouts in ``folder``; nothing is fetched when ``offline``."""

    folder: Path = field(default_factory=lambda: find_cache(os.environ))
    offline: bool = field(default_factory=is_offline)
    timeout: float = TIMEOUT

    def find(self, source: GitSource, where: Where = NOWHERE) -> Path:
        """The file of a source, fetched if it is not in the cache."""
        if is_untrusted():
            raise UnsafePathError(
                f"refused: an untrusted scene gets nothing from git, and this one names {source.repo}",
                hint="leave --untrusted out if you trust the scene and the repository",
                where=where,
            )
        checkout = self.find_checkout(source)
        target = checkout / source.path
        if not self._is_complete(checkout, source):
            if self.offline:
                raise NotFoundError(
                    f"{source.path!r} of {source.repo} is not in the cache, and fetching is switched off",
                    hint=f"fetch it once without --offline and SIMWRIGHT_OFFLINE, or put it into {checkout}",
                    where=where,
                )
            self._fetch(source, checkout, where)
        if not target.is_file():
            raise NotFoundError(f"{source.repo} at {source.rev} has no file {source.path!r}", where=where)
        # a repository may hold links to anywhere
        root = checkout.resolve()
        if root not in target.resolve().parents:
            raise UnsafePathError(f"{source.path!r} of {source.repo} leads out of the checkout", where=where)
        return target

    def find_checkout(self, source: GitSource) -> Path:
        """The folder of a repository at a revision."""
        return self.folder / "git" / name_repository(source.repo) / source.rev.replace("/", "_")

    def _is_complete(self, checkout: Path, source: GitSource) -> bool:
        """Are the file and the folders asked for there?  A folder without git is taken as it is."""
        if not (checkout / source.path).is_file():
            return False
        # people without network put files there by hand
        if not (checkout / ".git").exists() or self.offline:
            return True
        return all((checkout / folder).exists() for folder in source.folders)

    def _fetch(self, source: GitSource, checkout: Path, where: Where) -> None:
        git = shutil.which("git")
        if git is None:
            raise GitError(
                "git is not installed, and the scene has a git source",
                hint=f"install git, or put the files into {checkout}",
                where=where,
            )
        checkout.parent.mkdir(parents=True, exist_ok=True)
        with self._lock(checkout, where):
            # another process may have fetched it while this one waited for the lock
            if self._is_complete(checkout, source):
                return
            run = _Git(git, checkout, self.timeout, where)
            if not (checkout / ".git").exists():
                self._start_checkout(run, source, checkout)
            self._add_folders(run, source)

    def _start_checkout(self, run: _Git, source: GitSource, checkout: Path) -> None:
        """A clone without files; made beside and moved, so that a failed one leaves nothing."""
        fresh = checkout.with_name(f".{checkout.name}.{os.getpid()}")
        for left in checkout.parent.glob(f".{checkout.name}.[0-9]*"):  # of a killed process: we have the lock
            shutil.rmtree(left, ignore_errors=True)
        try:
            fresh.mkdir(parents=True)
            begun = _Git(run.program, fresh, self.timeout, run.where)
            begun("init", "--quiet")
            # "--" everywhere: no address, revision or folder can be read as an option
            begun("remote", "add", "--", "origin", source.repo)
            # git fetches missing files of a partial clone when a later scene asks for more folders
            begun("config", "remote.origin.promisor", "true")
            begun("config", "remote.origin.partialclonefilter", "blob:none")
            begun(
                "fetch", "--quiet", "--depth=1", "--no-tags", "--filter=blob:none", "origin", "--", source.rev
            )
            begun("sparse-checkout", "init", "--cone")
            begun("sparse-checkout", "set", "--", *source.folders)
            begun("checkout", "--quiet", "--detach", "FETCH_HEAD")
            # files put there by hand before the first fetch
            _keep_present(checkout, fresh)
            if checkout.exists():
                shutil.rmtree(checkout)
            fresh.rename(checkout)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _add_folders(self, run: _Git, source: GitSource) -> None:
        """The union of the folders that are there and those asked for."""
        # added, never set: SAP Warp's "set" deletes the files of other scenes that share the checkout
        missing = [folder for folder in source.folders if not (run.folder / folder).exists()]
        # the top folder cannot be named in a sparse checkout: all of it is checked out
        if "" in source.folders and not (run.folder / source.path).is_file():
            run("sparse-checkout", "disable")
        # once that is done, nothing can be added: what is not there is nowhere
        elif run("config", "--default", "false", "core.sparseCheckout").strip() == "true" and (
            missing or not (run.folder / source.path).is_file()
        ):
            own = str(Path(source.path).parent)
            wanted = [*source.folders, *([own] if own != "." else [])]
            run("sparse-checkout", "add", "--", *wanted)

    @contextlib.contextmanager
    def _lock(self, checkout: Path, where: Where) -> Iterator[None]:
        """One process at a time; the lock goes with the process that holds it."""
        file = checkout.with_name(f".{checkout.name}.lock")
        with file.open("w") as stream:
            end = time.monotonic() + self.timeout
            while True:
                try:
                    # the kernel lets go of it when the process dies: no stale lock files
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise GitError(f"another process keeps {checkout} locked", where=where) from None
                    time.sleep(0.05)
            yield


@dataclass(slots=True)
class _Git:
    """Git in one folder: no shell, no prompts, no hooks, no configuration of the user's that could run anything."""

    program: str
    folder: Path
    timeout: float
    where: Where

    def __call__(self, *arguments: str) -> str:
        fixed: Sequence[str] = (
            # nothing from the repository or the user's configuration may run: hooks, helpers, monitors, links
            self.program, "-C", str(self.folder), "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never",
            "-c", "core.symlinks=false", "-c", "submodule.recurse=false", "-c", "core.fsmonitor=false",
            "-c", "uploadpack.packObjectsHook=",
        )  # fmt: skip
        environment = {
            # variables such as GIT_DIR or GIT_CONFIG_COUNT would change what git does
            **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_ASKPASS": "",
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program, every argument checked by document_sources
                [*fixed, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.timeout,
                stdin=subprocess.DEVNULL,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            message = f"git {arguments[0]} took more than {self.timeout:g} s"
            raise GitError(message, hint="is the network there?", where=self.where) from None
        except OSError as error:
            raise GitError(f"git cannot be started: {error.strerror or error}", where=self.where) from None
        if done.returncode != 0:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            reason = lines[-1].strip() if lines else f"exit code {done.returncode}"
            raise GitError(
                f"git {arguments[0]} failed: {reason}",
                hint="check repo, rev and network access",
                where=self.where,
            )
        return done.stdout


def _keep_present(old: Path, fresh: Path) -> None:
    """Carry files that were put there without git into the checkout, where it has none of that name."""
    if not old.is_dir():
        return
    for file in sorted(old.rglob("*")):
        target = fresh / file.relative_to(old)
        if file.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
