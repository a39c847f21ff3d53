from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from simwright.app.report.report import AssetReport, Report, build_asset_report
from simwright.app.report.text import render
from simwright.core.diag import Diagnostic, Level, Where

EXPECTED = """\
== arm.urdf  1 error, 1 warning

error[test-mesh-missing]: mesh file 'a.stl' does not exist
 --> arm.urdf:3:13 </arm/base.mesh>
  |
3 |     <visual><mesh filename="a.stl"/></visual>
  |             ^^^^^
  = help: check the path of a.stl
  = note: REP-0158 section 2.1

warning[test-mass-negative]: the mass is -2 kg
 --> arm.urdf:4
  |
4 |     <mass value="-2"/>
  |     ^^^^^^^^^^^^^^^^^^
  = help: a mass is positive
  = fix: compute the mass (unsafe, needs your consent)

== clean.usda  no findings

== {folder}/other.usda  1 info

info[test-units]: the unit is cm
 --> {folder}/other.usda </World>
  = fix: set it (safe)

1 error, 1 warning, 1 info in 3 assets
2 can be fixed, 1 safely in place: simwright check ... --fix; the others asset by asset with simwright fix --unsafe
"""


def strip_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def render_one(finding: Diagnostic, *, width: int | None = None) -> str:
    return render(Report([AssetReport("a.urdf", [finding])]), width=width)


def test_the_whole_report(report: Report, folder: Path) -> None:
    assert render(report) == EXPECTED.replace("{folder}", str(folder))


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "NO_COLOR"])
def test_colour_is_the_callers_choice(report: Report, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "1")
    plain, coloured = render(report), render(report, color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[test-mesh-missing]\x1b[0m" in coloured
    assert "\x1b[1;33mwarning[" in coloured
    assert "\x1b[1;36minfo[" in coloured
    assert strip_colours(coloured) == plain


def test_a_clean_report_says_so() -> None:
    assert render(Report([build_asset_report("a.urdf", [])])) == "no findings in 1 asset\n"
    assert render(Report()) == "no findings in 0 assets\n"


def test_a_single_asset_has_no_header() -> None:
    assert render(Report([build_asset_report("a.urdf", [Diagnostic("k", Level.ERROR, "m")])])) == (
        "error[k]: m\n --> a.urdf\n\n1 error in 1 asset\n"
    )


def test_markup_and_escape_codes_are_shown_not_obeyed() -> None:
    text = render_one(Diagnostic("k", Level.ERROR, "[bold]x[/bold] \x1b[31m :smile:"))
    assert "[bold]x[/bold] \u241b[31m :smile:" in text


def test_quoted_input_never_starts_a_line() -> None:
    text = render_one(Diagnostic("k", Level.ERROR, "a\n::add-mask::b", hint="c\n::stop-commands::d"))
    assert "  |       ::add-mask::b\n" in text
    assert not re.search(r"^\s*::", text, re.MULTILINE)


def test_the_gutter_grows_with_the_line_number(folder: Path) -> None:
    (folder / "long.urdf").write_text("\n" * 99 + "<x/>\n")
    text = render_one(Diagnostic("k", Level.ERROR, "m", hint="h", where=Where("long.urdf", 100, 1)))
    assert text.splitlines()[1:6] == [
        "   --> long.urdf:100:1",
        "    |",
        "100 | <x/>",
        "    | ^^",
        "    = help: h",
    ]


@pytest.mark.parametrize("width", [1, 40, 60, 100])
def test_words_are_broken_to_the_width(width: int, folder: Path) -> None:
    (folder / "wide.urdf").write_text("<x/>" * 200)
    sentence = "the quick brown fox jumps over the lazy dog " * 5
    text = render_one(
        Diagnostic("some-rule", Level.WARNING, sentence, hint=sentence, where=Where("wide.urdf", 1, 300)),
        width=width,
    )
    assert max(cell_len(line) for line in text.splitlines()) <= max(width, 40)
    assert text.count("fox") == 10


def test_messages_stay_whole_without_a_width() -> None:
    sentence = "word " * 100 + "end"
    assert f"error[k]: {sentence}\n" in render_one(Diagnostic("k", Level.ERROR, sentence))
