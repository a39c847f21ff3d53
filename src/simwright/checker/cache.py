# SPDX-License-Identifier: Apache-2.0
"""Results that are still true: a folder of small files, each named by a digest of everything it depends on.

The name covers the program, the rules, the settings and the path of the asset; the entry lists the files the
asset depends on with their signatures (:mod:`simwright.checker.signature`).  An entry that is damaged, or was
written by another version, is not there.  Failure to write is no problem: the next run works again.

Nothing but the standard library and core is imported, so a hit costs neither OpenUSD nor a rule module.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simwright.checker.identity import hash_tool
from simwright.checker.signature import confirm_signature, take_signature
from simwright.core.files import open_temporary, remove_temporary

MAX_BYTES = 256 << 20
MAX_ENTRIES = 50_000
_DIGEST_SIZE = 20
_SUFFIX = ".json"
_REFRESH_S = 86_400.0


class Cache:
    """A store of JSON entries; with no folder it holds nothing and takes nothing."""

    __slots__ = ("folder", "written")

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.written = 0

    def make_key(self, *parts: Any) -> str:
        """The name of an entry: a digest of this program and of the parts, which are JSON data."""
        tool = hash_tool() if self.folder else ""
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
        if confirmed != files:
            self.put(key, {"files": confirmed, "result": result})  # so that they are not read next time
        return result if isinstance(result, dict) else None

    def put_result(self, key: str, result: dict[str, Any], files: Iterable[str], started_ns: int) -> None:
        """Store a result, unless one of its files changed after the check had started."""
        if self.folder is None:
            return
        signatures = {path: take_signature(path) for path in files}
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


def open_cache(enabled: bool = True) -> Cache:
    """The user's cache (``XDG_CACHE_HOME`` or ``~/.cache``); one that holds nothing where that is not wanted."""
    if not enabled:
        return Cache(None)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(base).is_absolute():
        home = os.environ.get("HOME", "")
        if not Path(home).is_absolute():
            return Cache(None)
        base = str(Path(home) / ".cache")
    return Cache(Path(base) / "simwright" / "check")


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_SIZE).hexdigest().encode()
