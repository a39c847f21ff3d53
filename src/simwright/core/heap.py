# SPDX-License-Identifier: Apache-2.0
"""Memory that is free and still ours: the C library keeps it, in holes too small for what comes next.

Reading a mesh takes many times the memory of its arrays for a moment.  After reading, and while meshes are written and
let go, the C library is asked to give whole pages back.  Where it has no word for that (only glibc has), nothing
happens.

Looking at meshes is the opposite: arrays of some megabytes come and go by the thousand.  At first glibc asks the system
for each of more than 128 KiB and gives it back at once, and the system clears every page anew, which takes a sixth of
the time.  It keeps blocks of a size once it has seen one of them freed.
"""

from __future__ import annotations

import ctypes
from functools import cache

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
