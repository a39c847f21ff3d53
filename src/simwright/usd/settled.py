# SPDX-License-Identifier: Apache-2.0
"""What was found out about a file holds for as long as the file stays as it is.

A layer is looked at before OpenUSD opens it, and a process often opens the same file again: a checker opens a stage
with and without payloads, a training run loads its robot for every experiment.  A file is taken as unchanged while
device, inode, size and both times are the same; one that was written a moment ago is looked at again, since the
clock of a file system is too coarse to tell two quick changes apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

_MOMENT = 2_000_000_000
"""Nanoseconds after a change until a file counts as settled."""
_MOST = 4096
"""Files that are remembered; then it starts anew."""

Identity = tuple[str, int, int, int, int, int]
_MEMORIES: list[dict[Identity, Any]] = []
_VOUCHED: set[Identity] = set()
_BY_FUNCTION: dict[Any, dict[Identity, Any]] = {}

P = ParamSpec("P")
T = TypeVar("T")


def once_per_file(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Remember what a function says about the file with a path; what it raises is not remembered."""
    known: dict[Identity, T] = {}
    _MEMORIES.append(known)

    @wraps(function)
    def ask(path: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        identity = identify(path)
        # too fresh to be told from its next version, or no file: asked every time
        if identity is None:
            return function(path, *args, **kwargs)
        if identity not in known:
            result = function(path, *args, **kwargs)
            if len(known) >= _MOST:
                known.clear()
            known[identity] = result
        return known[identity]

    _BY_FUNCTION[ask] = known
    return ask


def recall(function: Callable[Concatenate[str, P], T], path: str) -> T | None:
    """What a function of :func:`once_per_file` said about a file as it is now; None where it was not asked."""
    identity = identify(path)
    found: T | None = _BY_FUNCTION[function].get(identity) if identity is not None else None
    return found


def vouch(copy: str, source: str) -> None:
    """A private copy, byte by byte, is what its source is: nothing has to be found out again."""
    original, identity = identify(source), _read_identity(copy)
    if original is None or identity is None:
        return
    if len(_VOUCHED) >= _MOST:
        _VOUCHED.clear()
    # the copy was written a moment ago: without this it would be looked at again
    _VOUCHED.add(identity)
    for known in _MEMORIES:
        if original in known:
            known[identity] = known[original]


def identify(path: str) -> Identity | None:
    """What tells whether a file is still the same; None for a fresh one and for what is not a file of its own."""
    identity = _read_identity(path)
    if identity is None or identity in _VOUCHED:
        return identity
    return identity if max(identity[4:]) <= time.time_ns() - _MOMENT else None


def _read_identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - the path is a text
    except (OSError, ValueError):
        return None
    return path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
