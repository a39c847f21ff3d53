# SPDX-License-Identifier: Apache-2.0
"""Equal keys found without sorting them: points at one place, rows that repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_MIX = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_LEAST_BITS = 4


def find_first(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """For every key, where it is first.

    Keys are dealt into a table by some of their bits, the first one of a place wins it, and those that lost to another
    key are dealt again by other bits: a third of the time of a sort.  Keys made to collide are sorted in the end.
    """
    result: npt.NDArray[np.int64] = np.empty(len(keys), np.int64)
    waiting: npt.NDArray[Any] = np.arange(len(keys))
    bits = max(_LEAST_BITS, (2 * len(keys)).bit_length())
    room: npt.NDArray[Any] = np.empty(1 << bits, np.int64 if len(keys) >= 2**31 else np.int32)
    left = keys
    for factor in _MIX:
        place = ((left * factor) >> np.uint64(64 - bits)).view(np.int64)
        room[place[::-1]] = waiting[::-1]  # the last one written stays: the first of its place
        winner = room.take(place)
        won = keys.take(winner) == left
        if bool(won.all()):
            result[waiting] = winner
            return result
        result[waiting[won]] = winner[won]
        waiting = waiting[~won]
        left = keys[waiting]
    _, first, inverse = np.unique(left, return_index=True, return_inverse=True)
    result[waiting] = waiting[first[inverse]]
    return result
