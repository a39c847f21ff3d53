# SPDX-License-Identifier: Apache-2.0
"""Equal rows found again: points at one place, corners that say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_FACTOR = np.uint64(0xD6E8FEB86659FD93)


def find_distinct(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of the first row of each sort, in order, and the sort of each row.  Rows are of 32-bit numbers."""
    if rows.dtype == np.float32:
        rows = rows + np.float32(0.0)  # -0 is 0
    bits = np.ascontiguousarray(rows).view(np.uint32)
    keys = bits[:, 0].astype(np.uint64)
    for column in range(1, bits.shape[1]):
        keys = (keys ^ (keys >> np.uint64(31))) * _FACTOR + bits[:, column]
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    if not np.array_equal(bits[first[number]], bits):  # two sorts with one key
        _, first, number = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        number = number.reshape(-1)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]
