"""Decimals are exactly the numbers they stand for, or there are none."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.formats.mesh.writer.obj import write_decimals, write_singles, write_whole


def parse(text: bytes, dtype: type) -> np.ndarray:
    return np.array([[float(word) for word in line.split()[1:]] for line in text.splitlines()]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("places", [2, 4, 6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 150.0])
def test_numbers_come_back(dtype, places, size):
    rows = np.round(np.random.default_rng(places).uniform(-size, size, (200, 3)), places).astype(dtype)
    text = write_decimals("v", rows)
    assert text is not None
    assert text.startswith(b"v ")
    assert np.array_equal(parse(text, dtype), rows)


def test_small_text():
    rows = np.array(((0.0, -1.5), (12.25, -0.0625)), dtype=np.float32)
    assert write_decimals("vt", rows) == b"vt  00.0000 -01.5000\nvt  12.2500 -00.0625\n"


@pytest.mark.parametrize("value", [1.0 / 3.0, 1e-7, 1e9, np.nan, np.inf])
def test_other_numbers_have_none(value):
    assert write_decimals("v", np.array(((0.0, value, 1.0),))) is None
    assert write_decimals("v", np.zeros((0, 3))) is None


def test_whole_numbers_have_no_zeros_in_front():
    numbers = np.array(((1, 10, 123), (4000000000, 5, 60)), dtype=np.int64)
    assert write_whole("f", (" ", "//", "/"), numbers) == b"f 1//10/123\nf 4000000000//5/60\n"
    assert write_whole("f", (" ",), np.zeros((0, 1), dtype=np.int32)) == b""


def test_any_single_comes_back():
    rng = np.random.default_rng(1)
    rows = (rng.standard_normal((5000, 3)) * 10.0 ** rng.integers(-30, 30, (5000, 3))).astype(np.float32)
    limits = np.finfo(np.float32)
    rows[:2] = ((0.0, limits.max, limits.tiny), (0.99999999, -9.9999999, limits.smallest_subnormal))
    assert np.array_equal(parse(write_singles("v", rows), np.float32), rows)
    assert write_singles("vn", np.float32([[0.0, -0.02]])) == b"vn  0.00000000e+00 -1.99999996e-02\n"
