# SPDX-License-Identifier: Apache-2.0
"""How far files are trusted: ``--offline`` and ``--untrusted``.

Offline, nothing is fetched.  An untrusted file moreover gets nothing from git, not even from the cache, names nothing
outside its own folder, package or model, and has a tenth of every budget (:mod:`simwright.core.limits`).  Packages,
folders and limits that the same command names still count.  Both are environment variables, which worker processes
inherit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

OFFLINE = "SIMWRIGHT_OFFLINE"
UNTRUSTED = "SIMWRIGHT_UNTRUSTED"
ARCHIVES = (".usdz",)
"""Files that come in one piece from somewhere else: ``check`` trusts them only if it is told to."""
_OFFLINE_VARIABLES = (OFFLINE, "SAP_WARP_ASSET_OFFLINE")
_YES = frozenset({"1", "true", "yes", "on"})


def is_offline(environment: Mapping[str, str] | None = None) -> bool:
    """Is fetching switched off?"""
    return any(_is_set(name, environment) for name in (*_OFFLINE_VARIABLES, UNTRUSTED))


def is_untrusted() -> bool:
    """Are files taken for hostile?"""
    return _is_set(UNTRUSTED)


def distrusts(path: str | os.PathLike[str]) -> bool:
    """Is this file taken for hostile by ``check``?  Archives are, unless the user says whether."""
    said = os.environ.get(UNTRUSTED, "").strip()
    return is_untrusted() if said else os.fspath(path).lower().endswith(ARCHIVES)


@contextlib.contextmanager
def distrust(path: str | os.PathLike[str]) -> Iterator[None]:
    """Take a file that :func:`distrusts` names for hostile in the block."""
    if is_untrusted() or not distrusts(path):
        yield
        return
    before = os.environ.get(UNTRUSTED)
    os.environ[UNTRUSTED] = "1"
    try:
        yield
    finally:
        os.environ.pop(UNTRUSTED)
        if before is not None:
            os.environ[UNTRUSTED] = before


def _is_set(name: str, environment: Mapping[str, str] | None = None) -> bool:
    found = os.environ if environment is None else environment
    return found.get(name, "").strip().lower() in _YES
