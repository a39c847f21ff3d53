# SPDX-License-Identifier: Apache-2.0
"""What XML does not allow and libsdformat reads all the same; each text is held against libsdformat itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Level, Reporter
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.read import read
from simwright.formats.xml import repair

MODEL = '<model name="m"><link name="a"/></model>'

READABLE = {
    "two hyphens in a comment": f"<!-- gz sim --levels -->\n<sdf version='1.9'>{MODEL}</sdf>",
    "a hyphen at the end of a comment": f"<sdf version='1.9'>\n<!--------->{MODEL}</sdf>",
    "a prefix nobody declares": f"<sdf version='1.9'><world name='w'><gz:x>1</gz:x>{MODEL}</world></sdf>",
    "an attribute with such a prefix": "<sdf version='1.9'><model name='m'><link name='a' x:y='1'/></model></sdf>",
    "a name with two colons": f"<sdf version='1.9'><world name='w'><gz::x>1</gz::x>{MODEL}</world></sdf>",
    "blanks before the declaration": f"\n<?xml version='1.0'?>\n<sdf version='1.9'>{MODEL}</sdf>",
    "text before the root": f"hello <sdf version='1.9'>{MODEL}</sdf>",
    "two roots": f"<sdf version='1.9'>{MODEL}</sdf><sdf version='1.9'>{MODEL}</sdf>",
    "a bare ampersand": "<sdf version='1.9'><model name='m &amp; n & o &p;'><link name='a'/></model></sdf>",
    "a bracket in an attribute": "<sdf version='1.9'><model name='a&lt;b<c'><link name='a'/></model></sdf>",
    "no blank between attributes": "<sdf version='1.9'a='b'>" + MODEL + "</sdf>",
    "a default namespace": f"<sdf version='1.9' xmlns='http://sdformat.org'>{MODEL}</sdf>",
    "bytes of another encoding": f"<sdf version='1.9'><!-- \udce9 -->{MODEL}</sdf>",
}
REFUSED = {
    "a missing end tag": "<sdf version='1.9'><!-- -- --><model name='m'></sdf>",
    "an attribute given twice": "<sdf version='1.9'><model name='m' name='n'><link name='a'/></model></sdf>",
    "a declaration after a comment": f"<!-- c --><?xml version='1.0'?><sdf version='1.9'>{MODEL}</sdf>",
    "a comment without end": f"<sdf version='1.9'>{MODEL}<!-- </sdf>",
}


def write(folder: Path, text: str) -> Path:
    file = folder / "main.sdf"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return file


@pytest.mark.parametrize("case", READABLE)
def test_it_is_read_with_a_note(case: str, tmp_path: Path, reporter: Reporter) -> None:
    asset = read(write(tmp_path, READABLE[case]), ReadOptions(), reporter)
    assert [body.name for body in asset.bodies] == ["a"]
    notes = [finding for finding in reporter if finding.kind == "xml-not-well-formed"]
    assert len(notes) == (0 if case == "a default namespace" else 1)
    assert all(note.level is Level.INFO and note.where.line for note in notes)


@pytest.mark.parametrize("case", READABLE)
def test_libsdformat_reads_it_too(case: str, tmp_path: Path, accept_sdf) -> None:
    accept_sdf(write(tmp_path, READABLE[case]))


@pytest.mark.parametrize("case", REFUSED)
def test_what_libsdformat_refuses_is_refused(case: str, tmp_path: Path, reporter: Reporter) -> None:
    with pytest.raises(ParseError, match="not well-formed"):
        read(write(tmp_path, REFUSED[case]), ReadOptions(), reporter)


@pytest.mark.parametrize("case", REFUSED)
def test_libsdformat_refuses_it(case: str, tmp_path: Path, accept_sdf) -> None:
    with pytest.raises(AssertionError, match="refuses"):
        accept_sdf(write(tmp_path, REFUSED[case]))


def test_entities_stay_refused(tmp_path: Path, reporter: Reporter) -> None:
    text = f'<!DOCTYPE sdf [<!ENTITY a "b">]><sdf version="1.9"><!-- -- --><gz:x>&a;</gz:x>{MODEL}</sdf>'
    with pytest.raises(ParseError, match="entities"):
        read(write(tmp_path, text), ReadOptions(), reporter)


def test_lines_stay_where_they_are(tmp_path: Path, reporter: Reporter) -> None:
    text = f"\n<?xml version='1.0'?>\n<!-- a --\n b -->\n<sdf version='1.9'\n  z:a='1'>\n{MODEL}\n</sdf>"
    asset = read(write(tmp_path, text), ReadOptions(), reporter)
    assert asset.body("a").source.line == 7


def test_values_come_through_as_they_are(tmp_path: Path, reporter: Reporter) -> None:
    text = "<sdf version='1.9'><!-- -- --><model name='a &amp; b &x; &#65;'><link name='<'/></model></sdf>"
    asset = read(write(tmp_path, text), ReadOptions(), reporter)
    assert asset.name == "a & b &x; A"
    assert asset.bodies[0].name == "<"


@pytest.mark.parametrize("text", [b"<a " * 40_000, b"<!-- " * 40_000, b"<a b='" * 40_000, b"&" * 200_000])
def test_garbage_takes_no_time(text: bytes) -> None:
    assert repair(text) is None


def test_what_other_tools_say_comes_back(tmp_path: Path, reporter: Reporter, accept_sdf) -> None:
    text = """<sdf version='1.9'><world name='w'><gz:policies><skip>1</skip></gz:policies>
      <model name='m'><link name='a'><sensor name='s' type='custom' gz:type='odometer'/></link></model></world></sdf>"""
    asset = read(write(tmp_path, text), ReadOptions(), reporter)
    from simwright.formats.table import write_asset

    written = write_asset(asset, tmp_path / "out", format_name="sdf", reporter=reporter)
    content = written.read_text()
    assert "<gz:policies>" in content
    assert 'gz:type="odometer"' in content
    accept_sdf(written)
    assert not [finding for finding in reporter if finding.kind == "sdf-write-extras"]


def test_a_file_that_says_nothing_is_legal(tmp_path: Path, reporter: Reporter, accept_sdf) -> None:
    file = write(tmp_path, "<sdf version='1.9'/>")
    assert read(file, ReadOptions(), reporter).bodies == []
    assert [finding.kind for finding in reporter] == ["sdf-empty"]
    accept_sdf(file)


def test_a_file_of_which_nothing_is_found(tmp_path: Path, reporter: Reporter) -> None:
    file = write(tmp_path, "<sdf version='1.9'><include><uri>nowhere</uri></include></sdf>")
    with pytest.raises(ParseError, match=r"nothing that the file includes can be read.*nowhere"):
        read(file, ReadOptions(), reporter)
