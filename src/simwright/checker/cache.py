# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH112, PTH116, PTH123
# ruff: noqa: PTH116, PTH118, PTH123
"""Results of earlier checks that are still valid: a folder of small files.

The name of a file is a digest of everything that decides the result: this program with its rules and plugins
(:func:`hash_tool`), the settings and the path of the asset.  The entry in it lists the files the asset depends on,
each with a signature (:func:`take_signature`).  An entry that is damaged, or that another version wrote, counts as
absent.  Failure to write is not a problem: the next run checks again.

Nothing but the standard library and core is imported, so a hit costs neither OpenUSD nor a rule module.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from simwright import __version__
from simwright.core.files import open_temporary, remove_temporary

MAX_BYTES = 256 << 20
MAX_ENTRIES = 50_000
_DIGEST_SIZE = 20
_SUFFIX = ".json"
_ROOMS = ("checker", "core", "resolve", "usd")
# touching an entry once a day is enough to know what is in use, and saves a write per hit
_REFRESH_S = 86_400.0


class Cache:
    """A store of JSON entries; with no folder it holds nothing and takes nothing."""

    __slots__ = ("_rooms", "folder", "written")

    def __init__(self, folder: Path | None, rooms: tuple[str, ...] = _ROOMS) -> None:
        self.folder = folder
        self.written = 0
        self._rooms = rooms

    def make_key(self, *parts: Any) -> str:
        """The name of an entry: a digest of this program and of the parts, which are JSON data."""
        tool = hash_tool(self._rooms) if self.folder else ""
        text = json.dumps([tool, *parts], sort_keys=True, default=str)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_SIZE).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry, if it is there and undamaged."""
        if self.folder is None:
            return None
        file = self._file(key)
        try:
            checksum, _, body = file.read_bytes().partition(b"\n")
            if checksum != _checksum(body):
                return None
            entry = json.loads(body)
            if time.time() - file.stat().st_mtime > _REFRESH_S:
                os.utime(file)  # used entries outlive unused ones
        except (OSError, ValueError, RecursionError):
            return None
        return entry if isinstance(entry, dict) else None

    def put(self, key: str, entry: dict[str, Any]) -> None:
        """Store an entry, whole or not at all."""
        if self.folder is None:
            return
        body = json.dumps(entry).encode("utf-8", "surrogatepass")
        file = self._file(key)
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # written aside and renamed, so that two runs at once never see half an entry
            handle, new = open_temporary(file)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(_checksum(body) + b"\n" + body)
                    stream.flush()
                    new.replace(file)  # while it is locked
                self.written += 1
            except OSError:
                new.unlink(missing_ok=True)

    def get_result(self, key: str) -> dict[str, Any] | None:
        """The stored result of an asset, if every file it depends on is still what it was."""
        entry = self.get(key)
        try:
            if entry is None:
                return None
            files, result = entry["files"], entry["result"]
            confirmed = {}
            for path, signature in files.items():
                current = confirm_signature(path, signature)
                if current is None:
                    return None
                confirmed[path] = current
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
        # a checkout changes times but not contents
        if confirmed != files:
            self.put(key, {"files": confirmed, "result": result})  # so that they are not read next time
        return result if isinstance(result, dict) else None

    def put_result(self, key: str, result: dict[str, Any], files: Iterable[str], started_ns: int) -> None:
        """Store a result, unless one of its files changed after the check had started."""
        if self.folder is None:
            return
        signatures = {path: take_signature(path) for path in files}
        # a file that was saved during the check may not be what the check saw
        if all(signature[2] < started_ns for signature in signatures.values()):
            self.put(key, {"files": signatures, "result": result})

    def trim(self, max_bytes: int = MAX_BYTES, max_entries: int = MAX_ENTRIES) -> None:
        """Remove the entries that were not used for the longest time until the rest fits."""
        if self.folder is None:
            return
        for left in self.folder.glob(f"??/.*{_SUFFIX}.part*"):
            remove_temporary(left)
        entries = []
        for file in self.folder.glob(f"??/*{_SUFFIX}"):
            with contextlib.suppress(OSError):
                state = file.stat()
                entries.append((state.st_mtime, state.st_size, file))
        entries.sort(key=lambda entry: entry[0], reverse=True)
        total = 0
        for number, (_, size, file) in enumerate(entries):
            total += size
            if total > max_bytes or number >= max_entries:
                with contextlib.suppress(OSError):
                    file.unlink()

    def _file(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}{_SUFFIX}"


def open_cache(enabled: bool = True, name: str = "check", rooms: tuple[str, ...] = _ROOMS) -> Cache:
    """The user's cache (``XDG_CACHE_HOME`` or ``~/.cache``); one that holds nothing where that is not wanted.

    ``name`` is its folder; ``rooms`` are the packages of Simwright whose sources decide the results in it.
    """
    if not enabled:
        return Cache(None)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(base).is_absolute():
        home = os.environ.get("HOME", "")
        if not Path(home).is_absolute():
            return Cache(None)
        base = str(Path(home) / ".cache")
    return Cache(Path(base) / "simwright" / name, rooms)


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).hexdigest().encode()


Signature: TypeAlias = list[Any]
"""``[kind, size, mtime_ns, inode, digest, hashed_at_ns]``; kind is ``file``, ``folder`` or ``absent``."""

ABSENT: Signature = ["absent", 0, 0, 0, "", 0]
_SETTLED_NS = 100_000_000
_CHUNK = 1 << 20


def take_signature(path: str) -> Signature:
    """The signature of a file, of a folder's list of names, or of nothing."""
    now = time.time_ns()
    try:
        state = os.stat(path)
        # a folder stands for the tiles of a texture: names count, not what is in the files
        if os.path.isdir(path):
            return ["folder", 0, 0, 0, _hash_names(path), now]
        return ["file", state.st_size, state.st_mtime_ns, state.st_ino, hash_file(path), now]
    except (OSError, ValueError):
        return list(ABSENT)


def confirm_signature(path: str, signature: Signature) -> Signature | None:
    """The signature, if the path still holds what it was taken of, with newer times where only they changed."""
    kind, size, mtime, inode, digest, hashed_at = signature
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return signature if kind == "absent" else None
    if kind == "file" and state.st_size == size:
        # a file system's clock ticks: two writes within one tick have the same time
        if state.st_mtime_ns == mtime and state.st_ino == inode and mtime < hashed_at - _SETTLED_NS:
            return signature
        again = take_signature(path)
        return again if again[0] == "file" and again[4] == digest else None
    return signature if kind == "folder" and _hash_names(path) == digest else None


def hash_file(path: str) -> str:
    """Digest of the content."""
    digest = hashlib.blake2b(digest_size=20)
    with open(path, "rb", buffering=0) as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()


def _hash_names(path: str) -> str:
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return ""
    return hashlib.blake2b(os.fsencode("\0".join(names)), digest_size=20).hexdigest()


_GROUPS = ("simwright.rules", "simwright.resolvers")
_SKIPPED = ("__pycache__",)


@cache
def hash_tool(rooms: tuple[str, ...] = _ROOMS) -> str:
    """Digest of the version, the sources that take part in a check, plugins and the OpenUSD in use."""
    digest = hashlib.blake2b(f"{__version__}\0{sys.version}\0".encode(), digest_size=20)
    package = Path(__file__).resolve().parent.parent
    # every source file: a changed rule or reader must not serve old results
    for room in rooms:
        for file in _list_files(str(package / room)):
            digest.update(os.fsencode(os.path.relpath(file, package)) + b"\0")
            with open(file, "rb", buffering=0) as stream:
                digest.update(hashlib.blake2b(stream.read()).digest())
    for text in (*_describe_plugins(), _describe_openusd()):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def _list_files(folder: str) -> list[str]:
    found: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found.extend(os.path.join(base, name) for name in sorted(names))
    return found


def _describe_plugins() -> list[str]:
    """Plugins of rules and solvers with their versions; an edited plugin counts by the time of its module file."""
    from importlib.metadata import entry_points

    texts = []
    points = [point for group in _GROUPS for point in entry_points(group=group)]
    for point in sorted(points, key=lambda p: (p.group, p.name)):
        texts.append(f"{point.name}={point.value}=={point.dist.version if point.dist else ''}")
        # a plugin that is being developed keeps its version number while its files change
        texts.append(_describe_module(point.value.partition(":")[0].partition(".")[0]))
    return texts


def _describe_openusd() -> str:
    return _describe_module("pxr")


def _describe_module(name: str) -> str:
    """Place and time of a module that is not imported for it."""
    try:
        spec = importlib.util.find_spec(name)
        state = os.stat(spec.origin) if spec and spec.origin else None
    except (ImportError, ValueError, OSError):
        return f"{name}?"
    return f"{name}@{spec.origin if spec else ''}:{state.st_mtime_ns if state else 0}"
