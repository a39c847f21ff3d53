from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from simwright.app.report import report
from simwright.app.report.report import Sources, cut_line, read_lines


def underlined(line: str, column: int | None, width: int = 80) -> str:
    excerpt = cut_line(1, line, column, width)
    return excerpt.text[excerpt.start : excerpt.start + excerpt.length]


@pytest.mark.parametrize(
    ("line", "column", "mark"),
    [
        ('<mesh filename="a b.stl"/>', 1, "<mesh"),
        ('<mesh filename="a b.stl"/>', 7, "filename"),
        ('<mesh filename="a b.stl"/>', 16, '"a b.stl"'),
        ("float physics:mass = -1", 7, "physics:mass"),
        ("  </link>  ", 3, "</link"),
        ("  </link>  ", None, "</link>"),
        ("abc", 99, ""),
    ],
)
def test_the_token_at_the_column_is_underlined(line: str, column: int | None, mark: str) -> None:
    assert underlined(line, column) == mark


def test_tabs_and_wide_characters_keep_the_mark_in_place() -> None:
    assert cut_line(1, "\tx", 2, 80).start == 4
    assert cut_line(1, "机器人 x", 5, 80).start == 7


def test_a_long_line_is_cut_around_the_column() -> None:
    line = "a" * 500 + " target " + "b" * 500
    excerpt = cut_line(1, line, 502, 60)
    assert excerpt.text.startswith("...")
    assert excerpt.text.endswith("...")
    assert len(excerpt.text) == 60
    assert excerpt.text[excerpt.start : excerpt.start + excerpt.length] == "target"


def test_a_long_line_is_filled_to_the_left_at_its_end() -> None:
    excerpt = cut_line(1, "a" * 500 + " end", 502, 60)
    assert excerpt.text.endswith("a end")
    assert len(excerpt.text) == 57


@given(
    line=st.text(st.characters(exclude_characters="\r\n"), max_size=300),
    column=st.none() | st.integers(1, 400),
    width=st.integers(20, 120),
)
def test_an_excerpt_fits_and_its_mark_is_on_it(line: str, column: int | None, width: int) -> None:
    excerpt = cut_line(1, line, column, width)
    assert cell_len(excerpt.text) <= width
    assert 0 <= excerpt.start <= width
    assert 1 <= excerpt.length <= width + 1


def test_lines_end_as_xml_counts_them(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\x0bstill\xe2\x80\xa8three\nfour")
    assert read_lines(str(file)) == ["one", "two", "three\x0bstill\u2028three", "four"]


def test_a_file_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("first\nsecond\n")
    sources = Sources()
    before = sources.find_excerpt(str(file), 1, 1, 80)
    file.unlink()
    after = sources.find_excerpt(str(file), 2, 1, 80)
    assert before is not None
    assert after is not None
    assert (before.text, after.text) == ("first", "second")


@pytest.mark.parametrize("file", ["", "absent.txt", "\0", "\ud800", "x" * 5000, "."])
def test_a_file_that_cannot_be_read_has_no_excerpt(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Sources().find_excerpt(file, 1, 1, 80) is None


def test_binary_and_large_files_have_no_excerpt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary, large = tmp_path / "a.usdc", tmp_path / "a.usda"
    binary.write_bytes(b"PXR-USDC\0\0\n")
    large.write_text("x" * 101)
    monkeypatch.setattr(report, "MAX_SOURCE_BYTES", 100)
    assert read_lines(str(binary)) is None
    assert read_lines(str(large)) is None


def test_a_line_outside_the_file_has_no_excerpt(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    assert Sources().find_excerpt(str(file), 2, 1, 80) is None
    assert Sources().find_excerpt(str(file), None, None, 80) is None
