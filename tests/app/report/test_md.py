from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from simwright.app.report.md import escape_text, render, write_code
from simwright.app.report.report import Report

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def test_the_whole_report(report: Report, folder: Path) -> None:
    assert (
        render(report)
        == f"""\
## simwright: 1 error, 1 warning, 1 info in 3 assets

### `arm.urdf`: 1 error, 1 warning

| level | rule | place | finding |
| --- | --- | --- | --- |
| **error** | `test-mesh-missing` | `arm.urdf:3:13`<br>`/arm/base.mesh` | \
mesh file 'a.stl' does not exist<br>*Help:* check the path of a.stl<br>*See:* REP-0158 section 2.1 |
| warning | `test-mass-negative` | `arm.urdf:4` | the mass is -2 kg<br>*Help:* a mass is positive<br>\
*Fix:* compute the mass (unsafe, needs your consent) |

### `clean.usda`: no findings

### `{folder}/other.usda`: 1 info

| level | rule | place | finding |
| --- | --- | --- | --- |
| info | `test-units` | `{folder}/other.usda`<br>`/World` | the unit is cm<br>*Fix:* set it (safe) |

<sub>simwright 1.2.3</sub>
"""
    )


@pytest.mark.parametrize(
    "text", ["a|b", "a\\|b", "*x* _y_ ~~z~~", "`a`", "[a](b)", "<b>x</b>", "&amp;", "# x", "$x$"]
)
def test_text_means_itself(text: str) -> None:
    for written in (escape_text(text), write_code(text)):
        table = MARKDOWN.parse(f"| h |\n| --- |\n| {written} |\n")
        (cell,) = [token for number, token in enumerate(table) if table[number - 1].type == "td_open"]
        assert "".join(child.content for child in cell.children or []) == text


def test_a_line_break_stays_in_its_cell() -> None:
    assert escape_text("a\nb") == "a<br>b"
