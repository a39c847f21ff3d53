"""Where each key is first, by a table instead of a sort."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.model.geometry import find_first


def by_sort(keys: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first[inverse]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 1000, 100_000])
@pytest.mark.parametrize("kinds", [1, 5, 10_000, 2**63])
def test_says_what_a_sort_says(count: int, kinds: int) -> None:
    keys = np.random.default_rng(count).integers(0, kinds, count, dtype=np.uint64)
    assert np.array_equal(find_first(keys), by_sort(keys))


def test_keys_that_share_all_high_bits_are_sorted() -> None:
    inverse = pow(0x9E3779B97F4A7C15, -1, 2**64)
    keys = np.array(
        [(k * inverse) % 2**64 for k in (3, 1, 3, 2, 1)], np.uint64
    )  # one place in the first round
    assert find_first(keys).tolist() == [0, 1, 0, 3, 1]
