# SPDX-License-Identifier: Apache-2.0
"""Pages of crate files that stay in memory after an array in them was looked at.

OpenUSD maps a crate into memory and gives out its arrays where they stand in the file.  Each page that is looked at
counts as memory of the process from then on, although the system can take it back at any time: after a look at every
mesh, the whole file does.  Here the process lets go of such pages while it goes on.  The file stays in the system's
cache, so a page that is wanted again is there at once, with the same content.

Only Linux tells enough about mappings; elsewhere nothing happens.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy.typing as npt

_WORTH = 8 << 20
"""Bytes that are worth it: finding the mapping takes some milliseconds."""
_AT_LEAST = 64 << 10
"""Around a page that is asked for, Linux brings in the others that it has, up to this many bytes."""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_DONTNEED = 4
_MAPPINGS, _SIZES = "/proc/self/smaps", "/proc/self/statm"


class PageTally:
    """Counts what was looked at in arrays."""

    __slots__ = ("_count", "_least")

    def __init__(self) -> None:
        self._count = 0
        self._least: int | None = None
        """Memory that files had when pages were let go, or when counting began [bytes]."""

    def note(self, array: npt.NDArray[Any]) -> None:
        """An array of a stage was looked at; once files take some megabytes more, those of its file are let go."""
        if self._least is None:
            self._least = _measure_files()
        self._count += max(array.nbytes, _AT_LEAST)
        if self._count < _WORTH:
            return
        self._count = 0
        if _measure_files() - self._least >= _WORTH:
            let_go(array)
            self._least = _measure_files()


def _measure_files() -> int:
    """Memory of the process that stands in files [bytes]; 0 where the system does not tell."""
    try:
        with open(_SIZES, "rb") as stream:  # noqa: PTH123 - asked often
            return int(stream.read().split()[2]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def let_go(array: npt.NDArray[Any]) -> bool:
    """Let go of the pages of the file that an array stands in; False where it stands in none, or the system has no way.

    A mapping that was written to keeps its pages: what was written is nowhere else.
    """
    try:
        found = _find_clean_mapping(array.__array_interface__["data"][0])
        if found is None:
            return False
        begin, end = found
        advise = ctypes.CDLL(None).madvise
        return bool(advise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _DONTNEED) == 0)
    except (OSError, AttributeError, TypeError, ValueError):  # another system, or one that hides its files
        return False


def _find_clean_mapping(address: int) -> tuple[int, int] | None:
    """The mapping of a file around an address, unless the process has pages of its own in it."""
    with open(_MAPPINGS) as stream:  # noqa: PTH123 - not a file that pathlib is for
        for line in stream:
            head, _, rest = line.partition(" ")
            if head.endswith(":"):
                continue
            begin, _, end = head.partition("-")
            if int(begin, 16) <= address < int(end, 16):
                # permissions, offset, device, inode, path; memory that is no file has inode 0
                if rest.split()[3] == "0":
                    return None
                own = next(line for line in stream if line.startswith("Anonymous:"))
                return (int(begin, 16), int(end, 16)) if int(own.split()[1]) == 0 else None
    return None
