"""The column reader of OBJ files: the same mesh as the reader of lines, or nothing."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from simwright.core.errors import ParseError
from simwright.formats.mesh.obj import _assemble, _read_lines
from simwright.formats.mesh.obj_columns import read_columns

FILE = Path("a.obj")
TIDY = """# made by hand
o thing
v 0 0 0
v 1e0 0 0
v 1 1.5 0
v 0 1 -2.25
vt 0 0
vt 1 0
vt 1 1
vn 0 0 1
usemtl red
f 1/1/1 2/2/1 3/3/1
s off
usemtl blue  # comment
f 1/1/1 3/3/1 4/2/1 2/1/1
usemtl red
f 1/1/1 2/2/1 4/3/1
"""


def assert_same(one, other):
    for name in ("vertices", "indices", "counts", "normals", "uvs", "colors"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert a.dtype == b.dtype
            assert np.array_equal(a, b), name
    assert [(s.name, s.faces.tolist()) for s in one.subsets] == [
        (s.name, s.faces.tolist()) for s in other.subsets
    ]


@pytest.mark.parametrize(
    "text",
    [
        TIDY,
        TIDY.replace("\n", "\r\n"),
        TIDY.rstrip("\n"),
        TIDY.replace(" ", "\t").replace("#\tmade", "# made"),
        TIDY.replace("v 0 0 0", "v  0  0 0 "),
        TIDY.replace("1/1/1", "1//1").replace("/1/", "//").replace("/2/", "//").replace("/3/", "//"),
        TIDY.replace("/1/1", "/1").replace("/2/1", "/2").replace("/3/1", "/3"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nv 0 0 1\nf 2 3 4\n",
        "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n",
        "v 0 0 0 1\nv 1 0 0 1\nv 0 1 0 1\nvt 0 0 0\nf 1/1 2/1 3/1\n",
    ],
)
def test_tidy_files_are_read_alike(text):
    columns = read_columns(text.encode())
    assert columns is not None
    assert_same(_assemble(columns), _assemble(_read_lines(text.encode(), FILE)))


@pytest.mark.parametrize(
    "text",
    [
        TIDY.replace("f 1/1/1 2/2/1", "f -4/1/1 2/2/1"),
        TIDY.replace("f 1/1/1 2/2/1", "f 1 2/2/1"),
        TIDY.replace("f 1/1/1 2/2/1", "f 1//1 2/2/1"),
        TIDY.replace("f 1/1/1", "f 0/1/1"),
        TIDY.replace("f 1/1/1", "f 1e0/1/1"),
        TIDY.replace("f 1/1/1", "f 9/1/1"),
        TIDY.replace("v 1 1.5 0", "v 1 1.5"),
        TIDY.replace("v 1 1.5 0", "v 1 1.5 x"),
        TIDY.replace("v 1 1.5 0", "v 1 1.5 nan"),
        TIDY.replace("v 1 1.5 0", " v 1 1.5 0"),
        TIDY.replace("v 1 1.5 0", "v 1 1.5 \\\n 0"),
        "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n",
        "v 0 0 0\n",
        "",
        "\n",
    ],
)
def test_anything_else_is_left_to_the_reader_of_lines(text):
    assert read_columns(text.encode()) is None


def test_damaged_files_are_never_read_differently():
    source = random.Random(5)
    accepted = 0
    for _ in range(3000):
        content = bytearray(TIDY.encode())
        for _ in range(source.randrange(1, 4)):
            place = source.randrange(len(content))
            content[place : place + source.randrange(3)] = bytes(
                source.choices(b"0123456789 /.-ef\nv#", k=source.randrange(3))
            )
        columns = read_columns(bytes(content))
        if columns is None:
            continue
        accepted += 1
        try:
            expected = _assemble(_read_lines(bytes(content), FILE))
        except ParseError as error:
            pytest.fail(f"{bytes(content)!r} is wrong: {error}")
        assert_same(_assemble(columns), expected)
    assert accepted > 300


@pytest.mark.parametrize("chunk", [1, 50, 1000])
def test_pieces_of_any_size_give_the_same(chunk, monkeypatch):
    points = "".join(f"v {i} {i * 0.5} -{i}\nvt 0.{i} 1\n" for i in range(1, 60))
    faces = "".join(f"f {i}/{i} {i + 1}/1 {i + 2}/2\n" for i in range(1, 40))
    text = (points + "usemtl a\n" + faces + "usemtl b\nf 1/1 2/2 3/3 4/4\n" + points + faces).encode()
    expected = _assemble(_read_lines(text, FILE))
    monkeypatch.setattr("simwright.formats.mesh.obj_columns._CHUNK", chunk)
    columns = read_columns(text)
    assert columns is not None
    assert_same(_assemble(columns), expected)
