"""STL: binary, ASCII, and everything that only looks like it."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simwright.core.errors import InputError, ParseError
from simwright.formats.mesh import load_mesh, stl
from simwright.formats.mesh.stl import merge_vertices, read_stl

TETRAHEDRON = np.array(
    [
        [[0, 0, 0], [0, 1, 0], [1, 0, 0]],
        [[0, 0, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 0, 0], [0, 0, 1], [0, 1, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ],
    dtype=np.float32,
)


def binary(corners: np.ndarray, header: bytes = b"made by a test", count: int | None = None) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *triangle.reshape(-1).tolist(), 0) for triangle in corners)
    return header.ljust(80, b"\0") + struct.pack("<I", len(corners) if count is None else count) + rows


def ascii_text(corners: np.ndarray) -> bytes:
    lines = ["solid thing"]
    for triangle in corners:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x} {y} {z}" for x, y, z in triangle.tolist()]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid thing"]).encode()


@pytest.mark.parametrize("content", [binary(TETRAHEDRON), ascii_text(TETRAHEDRON)], ids=["binary", "ascii"])
def test_corners_are_merged_and_triangles_kept(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.STL"
    file.write_bytes(content)
    mesh = load_mesh(file)
    assert len(mesh.vertices) == 4
    assert np.array_equal(mesh.vertices[mesh.triangles()], TETRAHEDRON.astype(float))
    assert mesh.vertices.dtype == np.float64


def test_a_binary_file_whose_header_says_solid_is_binary() -> None:
    mesh = read_stl(binary(TETRAHEDRON, header=b"solid facet of my heart"), Path("a.stl"))
    assert mesh.face_count == 4


def test_a_lying_count_is_a_parse_error_and_no_memory_error(tmp_path: Path) -> None:
    file = tmp_path / "big.stl"
    file.write_bytes(binary(TETRAHEDRON, count=4_000_000_000))
    with pytest.raises(ParseError, match="announces 4000000000 triangles") as caught:
        load_mesh(file)
    assert caught.value.where is not None
    assert caught.value.where.file == str(file)


def test_trailing_bytes_do_not_matter() -> None:
    assert read_stl(binary(TETRAHEDRON) + b"extra", Path("a.stl")).face_count == 4


@pytest.mark.parametrize(
    "content",
    [
        b"garbage",
        binary(TETRAHEDRON)[:-1],
        binary(TETRAHEDRON[:0]),
        ascii_text(TETRAHEDRON)[:180],
        ascii_text(TETRAHEDRON).replace(b"vertex 1.0", b"vertex one"),
        ascii_text(TETRAHEDRON).replace(b"vertex 1.0", b"vertex nan"),
        b"solid empty\nendsolid empty\n",
    ],
)
def test_damaged_files_are_parse_errors(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.stl"
    file.write_bytes(content)
    with pytest.raises(ParseError):
        load_mesh(file)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=400))
def test_no_bytes_raise_anything_but_an_input_error(content: bytes) -> None:
    with contextlib.suppress(InputError):
        assert read_stl(content, Path("fuzz.stl")).face_count > 0


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-2, 2, width=32)))
def test_merging_keeps_every_corner_and_only_distinct_vertices(corners: np.ndarray) -> None:
    vertices, indices = merge_vertices(corners)
    assert np.array_equal(vertices[indices], corners)
    assert len(np.unique(vertices + 0.0, axis=0)) == len(vertices)
    assert indices[0] == 0


def test_rows_that_share_a_hash_stay_apart(monkeypatch) -> None:
    corners = np.random.default_rng(3).integers(-2, 2, (500, 3)).astype(np.float32)
    expected = stl.merge_vertices(corners)
    assert len(np.unique(corners, axis=0)) == len(expected[0])
    assert np.array_equal(expected[0][expected[1]], corners)
    first = np.unique(expected[1], return_index=True)[1]
    assert np.all(np.diff(first) > 0)
    monkeypatch.setattr(stl, "_hash_rows", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    again = stl.merge_vertices(corners)
    assert np.array_equal(again[0], expected[0])
    assert np.array_equal(again[1], expected[1])
