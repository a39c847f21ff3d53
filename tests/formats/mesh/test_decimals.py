"""Many decimal numbers at once: the same doubles as ``float``, or nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from simwright.formats.mesh import obj_columns
from simwright.formats.mesh.obj_columns import find_decimals, read_numbers


def parse_decimals(text: bytes):
    found = find_decimals(b" " + text + b"\n")
    return None if found is None else found.values


def test_the_same_doubles_as_float():
    source = random.Random(2)
    words = ["0", "-0", "-0.0", "+1.5", "5.", ".5", "-.25", "1e5", "-2.5E-7", "123456789012345", "0.1"]
    words += [f"{source.uniform(-9, 9):.{source.randrange(18)}f}" for _ in range(5000)]
    words += [repr(source.gauss(0, 10 ** source.randrange(-12, 12))) for _ in range(5000)]
    words += [f"{source.uniform(0, 1):.6g}" for _ in range(50_000)]
    text = "".join(word + source.choice((" ", "\n", "\t  ")) for word in words)
    expected = np.array([float(word) for word in words])
    found = parse_decimals(text.encode())
    assert found is not None
    assert np.array_equal(found, expected)
    assert np.array_equal(np.signbit(found), np.signbit(expected))
    assert np.array_equal(parse_decimals(text.strip().encode()), expected)


def test_mostly_exponents():
    assert parse_decimals(b"1e-3 2e-3 3.5e2 4").tolist() == [1e-3, 2e-3, 350.0, 4.0]


@pytest.mark.parametrize("text", [b"", b" \n "])
def test_nothing(text):
    assert parse_decimals(text).tolist() == []


@pytest.mark.parametrize(
    "word",
    [
        "x",
        "1x",
        "-",
        ".",
        "+-1",
        "1-2",
        "1.2.3",
        "1..2",
        "1e",
        "e5",
        "1e5e5",
        "1_000",
        "0x10",
        "nan",
        "inf",
        "1,5",
    ],
)
def test_anything_else(word):
    assert parse_decimals(f"1 2.5 {word} 3 4 5 6 7 8 9".encode()) is None
    assert parse_decimals(word.encode()) is None


@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
def test_numbers_of_a_long_text(chunk, monkeypatch):
    monkeypatch.setattr(obj_columns, "_CHUNK", chunk)
    source = random.Random(3)
    words = [f"{source.uniform(-9, 9):.{source.randrange(9)}f}" for _ in range(300)]
    text = "".join(word + source.choice((" ", "\n", " \t ")) for word in words)
    assert read_numbers(text).tolist() == [float(word) for word in words]
    assert read_numbers("").tolist() == []


@pytest.mark.parametrize("text", ["1 nan 2", "1, 2", "1 \u00b2", "1 2 x"])
def test_a_text_with_anything_else(text):
    assert read_numbers(text) is None
