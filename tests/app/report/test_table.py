from __future__ import annotations

import subprocess
import sys

import pytest

from simwright.app.report.report import RENDERERS, Report, render_report
from simwright.core.errors import UnknownNameError

NAMES = ["text", "json", "json-lines", "sarif", "junit", "github", "md", "html"]


def test_the_table_lists_our_renderers_in_order() -> None:
    assert RENDERERS.names()[: len(NAMES)] == NAMES
    assert RENDERERS.group == "simwright.reports"


@pytest.mark.parametrize("name", NAMES)
def test_every_renderer_gives_text_that_ends_with_a_newline(name: str, report: Report) -> None:
    text = render_report(name, report)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "mesh file" in text


@pytest.mark.parametrize("name", [name for name in NAMES if name != "text"])
def test_only_text_has_colour_and_width(name: str, report: Report) -> None:
    assert render_report(name, report, color=True, width=20) == render_report(name, report)


@pytest.mark.parametrize("name", NAMES)
def test_rendering_twice_gives_the_same(name: str, report: Report) -> None:
    assert render_report(name, report) == render_report(name, report)


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown report format 'jsn'.*'json'"):
        render_report("jsn", Report())


def test_the_table_imports_no_renderer() -> None:
    code = (
        "import sys, simwright.app.report.report;"
        "heavy = {'rich', 'lxml', 'pxr'} & {name.split('.')[0] for name in sys.modules};"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
