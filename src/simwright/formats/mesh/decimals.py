# SPDX-License-Identifier: Apache-2.0
"""Many decimal numbers in a text, read at once.

A number of at most 15 digits is an integer that a double holds exactly, divided by a power of ten that a double holds
exactly: one division gives the nearest double, the same as ``float`` does.  Numbers that are longer or have an
exponent are given to ``float``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array

Places = npt.NDArray[np.int64]

_EXACT_DIGITS = 15
_TENS = np.array([10.0**k for k in range(_EXACT_DIGITS + 1)])
_BLANK, _PLUS, _MINUS, _DOT, _EXPONENT = 32, ord("+"), ord("-"), ord("."), ord("e")


class Decimals(NamedTuple):
    """Numbers of a text: their values, where each starts, and the place behind its end."""

    values: Array
    starts: Places
    ends: Places


def find_decimals(text: bytes) -> Decimals | None:
    """The numbers between the blanks of a text that starts and ends with one; None if it has anything else."""
    assert text[:1] <= b" " and text[-1:] <= b" ", "a text without blanks around it"  # noqa: PT018 - one thing
    raw = np.frombuffer(text, dtype=np.uint8)
    is_word = raw > _BLANK
    edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    if not len(starts):
        return Decimals(np.zeros(0), starts, ends)
    first = raw[starts]
    negative = first == _MINUS
    signed = negative | (first == _PLUS)
    dots, exponents = np.flatnonzero(raw == _DOT), np.flatnonzero((raw | 32) == _EXPONENT)
    after = raw[exponents + 1] if len(exponents) else exponents
    marks = len(dots) + int(np.count_nonzero(signed)) + len(exponents)
    marks += int(np.count_nonzero((after == _PLUS) | (after == _MINUS)))
    digits = raw - np.uint8(48)
    if int(np.count_nonzero(is_word)) != marks + int(np.count_nonzero(digits < 10)):
        return None
    decimals = _count_decimals(starts, ends, dots)
    if decimals is None:
        return None
    counts = ends - starts - signed - (decimals >= 0)
    hard = counts > _EXACT_DIGITS
    hard[np.searchsorted(starts, exponents, side="right") - 1] = True
    counts[hard] = 1
    if np.any(counts < 1):
        return None
    values = _sum_digits(digits, ends, counts, decimals)
    values /= _TENS[np.where(hard, 0, np.maximum(decimals, 0))]
    values[negative] *= -1.0
    return Decimals(values, starts, ends) if _read_hard(text, starts, ends, hard, values) else None


def _count_decimals(starts: Places, ends: Places, dots: Places) -> Places | None:
    """Characters behind the dot of each number, -1 without a dot; None where a number has two."""
    if len(dots) == len(starts) and np.all(dots >= starts) and np.all(dots < ends):
        return ends - dots - 1
    owners = np.searchsorted(starts, dots, side="right") - 1
    if np.any(owners[1:] == owners[:-1]):
        return None
    decimals = np.full(len(starts), -1, dtype=np.int64)
    decimals[owners] = ends[owners] - dots - 1
    return decimals


def _sum_digits(digits: npt.NDArray[np.uint8], ends: Places, counts: Places, decimals: Places) -> Array:
    """The integers that the digits of numbers are without the dot, from the last digit on."""
    values = np.zeros(len(ends))
    at = ends - 1
    uniform = int(decimals[0]) if np.all(decimals == decimals[0]) else None
    least, most = int(counts.min()), int(counts.max())
    for place in range(most):
        at -= (decimals == place) if uniform is None else int(place == uniform)
        if place < least:
            values += digits.take(at) * _TENS[place]
        else:
            longer = np.flatnonzero(counts > place)
            values[longer] += digits.take(at[longer]) * _TENS[place]
        at -= 1
    return values


def _read_hard(text: bytes, starts: Places, ends: Places, hard: npt.NDArray[np.bool_], values: Array) -> bool:
    """Numbers that need ``float``; False where it refuses one."""
    chosen = np.flatnonzero(hard)
    try:
        values[chosen] = [
            float(text[a:b]) for a, b in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)
        ]
    except ValueError:
        return False
    return True
