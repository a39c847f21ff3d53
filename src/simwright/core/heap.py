# SPDX-License-Identifier: Apache-2.0
"""Memory that is free and still ours: the C library keeps it, in holes too small for what comes next.

Reading a mesh takes many times the memory of its arrays for a moment.  After reading, and while meshes are written and
let go, the C library is asked to give whole pages back.  Where it has no word for that (only glibc has), nothing
happens.
"""

from __future__ import annotations

import ctypes

_WORTH = 1 << 20
"""Bytes that have to be noted first: giving back and asking again takes time as well."""


class _Tally:
    """How much was freed since the last request, more or less."""

    count = 0


def note_freed(count: int) -> None:
    """Some bytes of arrays are free, or of a file that became arrays by way of others."""
    _Tally.count += count


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
