# SPDX-License-Identifier: Apache-2.0
"""Sparse checkouts of git repositories, shared by all scenes.

The cache is ``$SIMWRIGHT_ASSET_CACHE``, else ``$SAP_WARP_ASSET_CACHE``, else ``~/.cache/simwright/assets``; a
checkout is ``git/<repository>/<revision>`` in it, the layout that SAP Warp has.  Folders of a checkout are only ever
added to: what one scene fetched stays when another asks for more.  A lock lets one process fetch at a time.  With
``$SIMWRIGHT_OFFLINE`` or ``$SAP_WARP_ASSET_OFFLINE`` set, nothing is fetched.  Git runs without a shell, without
prompts, without hooks, and with no transport but https, ssh and file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simwright.core.diag import NOWHERE, Where
from simwright.core.errors import InputError, NotFoundError, UnsafePathError
from simwright.core.trust import is_offline, is_untrusted
from simwright.scenes.document_sources import GitSource

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
PROTOCOLS = "https:ssh:file"
TIMEOUT = 600.0
"""Longest one git command may take [s]."""


class GitError(InputError):
    """A file cannot be fetched from a git repository."""

    code = "git"


def find_cache(environment: Mapping[str, str]) -> Path:
    """The folder of the cache."""
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
            begun("remote", "add", "--", "origin", source.repo)
            begun("config", "remote.origin.promisor", "true")
            begun("config", "remote.origin.partialclonefilter", "blob:none")
            begun(
                "fetch", "--quiet", "--depth=1", "--no-tags", "--filter=blob:none", "origin", "--", source.rev
            )
            begun("sparse-checkout", "init", "--cone")
            begun("sparse-checkout", "set", "--", *source.folders)
            begun("checkout", "--quiet", "--detach", "FETCH_HEAD")
            _keep_present(checkout, fresh)
            if checkout.exists():
                shutil.rmtree(checkout)
            fresh.rename(checkout)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def _add_folders(self, run: _Git, source: GitSource) -> None:
        """The union of the folders that are there and those asked for."""
        missing = [folder for folder in source.folders if not (run.folder / folder).exists()]
        if "" in source.folders and not (run.folder / source.path).is_file():
            run("sparse-checkout", "disable")
        elif missing or not (run.folder / source.path).is_file():
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
            self.program, "-C", str(self.folder), "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never",
            "-c", "core.symlinks=false", "-c", "submodule.recurse=false", "-c", "core.fsmonitor=false",
            "-c", "uploadpack.packObjectsHook=",
        )  # fmt: skip
        environment = {
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
