# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH112, PTH116, PTH123
"""Is a file still the one it was?  By size, time and inode where that is safe, else by its content.

A file that was written less than a moment before it was hashed may be written again within the same tick of
the file system's clock, so for such a file the times prove nothing and the content is read again.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import Any, TypeAlias

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
