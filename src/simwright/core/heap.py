# SPDX-License-Identifier: Apache-2.0
"""Memory of the process that is of no use to it any more, or will be in a moment.

Reading a mesh takes many times the memory of its arrays for a moment, and what is free then is in holes too small for
what comes next.  After reading, and while meshes are written and let go, the C library is asked to give whole pages
back.  Where it has no word for that (only glibc has), nothing happens.

Looking at meshes is the opposite: arrays of some megabytes come and go by the thousand.  At first glibc asks the system
for each of more than 128 KiB and gives it back at once, and the system clears every page anew, which takes a sixth of
the time.  It keeps blocks of a size once it has seen one of them freed.

OpenUSD maps a crate into memory and gives out its arrays where they stand in the file.  Each page that is looked at
counts as memory of the process from then on, although the system can take it back at any time: after a look at every
mesh, the whole file does.  A :class:`PageTally` lets go of such pages while it goes on.  The file stays in the system's
cache, so a page that is wanted again is there at once, with the same content.  Only Linux tells enough about mappings;
elsewhere nothing happens.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

_WORTH = 1 << 20
"""Bytes that have to be noted first: giving back and asking again takes time as well."""


class _Tally:
    """How much was freed since the last request, more or less."""

    count = 0


def note_freed(count: int) -> None:
    """Some bytes of arrays are free, or of a file that became arrays by way of others."""
    _Tally.count += count


@cache
def keep_freed() -> None:
    """From now on free blocks of up to 4 MiB are kept, and up to twice that at the end of the heap."""
    try:
        library = ctypes.CDLL(None)
        # not an object of Python: that would be filled with zeros first
        library.malloc.restype = ctypes.c_void_p
        library.free(ctypes.c_void_p(library.malloc(ctypes.c_size_t(_KEPT))))
    except (OSError, AttributeError, TypeError):  # no C library that Python can ask
        return


_KEPT = 4 << 20


def give_back() -> None:
    """Return free memory to the system, if enough was freed to be worth it."""
    if _Tally.count < _WORTH:
        return
    _Tally.count = 0
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # no glibc
        return
    trim(0)


_WORTH_PAGES = 8 << 20
"""Bytes that are worth it: finding the mapping takes most of a millisecond."""
_AT_LEAST = 64 << 10
"""Around a page that is asked for, Linux brings in the others that it has, up to this many bytes."""
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_DONTNEED = 4
_MAPPINGS, _SIZES, _STATES = "/proc/self/maps", "/proc/self/statm", "/proc/self/pagemap"
_THERE, _OF_FILE = np.uint64(3 << 62), np.uint64(1 << 61)
"""Bits of the state of a page: it is in memory or swapped out; it is a page of the file."""


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
        if self._count < _WORTH_PAGES:
            return
        self._count = 0
        if _measure_files() - self._least >= _WORTH_PAGES:
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
            begin, end = (int(limit, 16) for limit in head.split("-"))
            if begin <= address < end:
                # permissions, offset, device, inode, path; memory that is no file has inode 0
                is_file = rest.split()[3] != "0"
                return (begin, end) if is_file and not _has_own_pages(begin, end) else None
    return None


def _has_own_pages(begin: int, end: int) -> bool:
    """Has the process written to pages of a mapping?  What it wrote is in memory, or was swapped out."""
    with open(_STATES, "rb", buffering=0) as stream:  # noqa: PTH123 - as above
        stream.seek(begin // _PAGE * 8)
        count = (end - begin) // _PAGE
        states = np.frombuffer(stream.read(8 * count), np.uint64)
    is_there = states & _THERE != 0
    return len(states) < count or bool(np.any(is_there & (states & _OF_FILE == 0)))
