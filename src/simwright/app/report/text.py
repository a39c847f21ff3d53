# SPDX-License-Identifier: Apache-2.0
"""For people at a terminal: findings in the manner of a compiler, with the source line they are about.

::

    error[urdf-mesh-missing]: mesh file 'a.stl' does not exist
      --> arm.urdf:12:7 </arm/base.mesh>
       |
    12 |       <mesh filename="a.stl"/>
       |       ^^^^^
       = help: check the path
       = note: REP-0158 section 2.1

A line is a list of ``(text, style)`` pieces; styles become escape codes only when colour is asked for.
Decoration is ASCII, so that any terminal shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from simwright.app.report.report import (
    AssetReport,
    Excerpt,
    Report,
    Sources,
    count_assets,
    count_words,
    find_position,
    group_by_cause,
    name_command,
    name_file,
    name_fix,
    name_position,
    name_prim,
    name_related,
    name_section,
)
from simwright.core.diag import Diagnostic, Level
from simwright.core.visible import make_visible

DEFAULT_WIDTH = 120
MIN_WIDTH = 40

Line: TypeAlias = list[tuple[str, str]]

LEVEL_STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.INFO: "bold cyan"}
GUTTER = "bold blue"


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:
    """The report for a terminal; ``width`` [columns] breaks long messages, None leaves them long."""
    lines: list[Line] = []
    sources = Sources()
    # a header over a single asset would only repeat the command line
    many = len(report.assets) > 1
    for asset in report.assets:
        if many:
            lines += [_draw_header(asset), []]
        for finding in asset.findings:
            lines += [*_draw_finding(asset, finding, sources, width), []]
    lines += _draw_summary(report)
    return "".join(_paint(line, color) + "\n" for line in lines)


def _draw_header(asset: AssetReport) -> Line:
    words = count_words(asset.summary())
    return [
        ("== ", GUTTER),
        (make_visible(asset.path), "bold"),
        (f"  {words}", "" if asset.findings else "green"),
    ]


def _draw_finding(
    asset: AssetReport, finding: Diagnostic, sources: Sources, width: int | None
) -> Iterator[Line]:
    file = name_file(asset, finding)
    line, column = find_position(finding)
    digits = len(str(line or 0))
    style = LEVEL_STYLES[finding.level]
    # in a narrower terminal lines wrap by themselves, which is still easier to read than one word a
    # line
    breadth = max(width, MIN_WIDTH) if width is not None else None

    title: Line = [(f"{finding.level.value}[{make_visible(finding.kind)}]", style), (": ", "bold")]
    yield from _flow(title, finding.message, "bold", digits, breadth)
    yield _draw_place(file, finding, digits)
    excerpt = sources.find_excerpt(file, line, column, (breadth or DEFAULT_WIDTH) - digits - 3)
    if excerpt is not None:
        yield from _draw_excerpt(excerpt, digits, style)
    for name, text in (
        ("help", finding.hint),
        ("fix", name_fix(finding)),
        ("also", name_related(finding)),
        ("note", name_section(finding)),
    ):
        if text:
            label: Line = [(" " * (digits + 1) + "= ", GUTTER), (f"{name}: ", "bold")]
            yield from _flow(label, text, "", digits, breadth)


def _draw_place(file: str, finding: Diagnostic, digits: int) -> Line:
    line: Line = [(" " * digits + "--> ", GUTTER), (make_visible(file) + name_position(finding), "")]
    prim = name_prim(finding)
    if prim:
        line.append((f" <{make_visible(prim)}>", "cyan"))
    return line


def _draw_excerpt(excerpt: Excerpt, digits: int, style: str) -> Iterator[Line]:
    bar = " " * (digits + 1) + "|"
    yield [(bar, GUTTER)]
    yield [(f"{excerpt.number} | ", GUTTER), (excerpt.text, "")]
    yield [(f"{bar} ", GUTTER), (" " * excerpt.start, ""), ("^" * excerpt.length, style)]


def _draw_summary(report: Report) -> list[Line]:
    summary = report.summary()
    assets = count_assets(len(report.assets))
    worst = next((level for level in Level if summary[level.value]), None)
    if worst is None:
        return [[("no findings", "bold green"), (f" in {assets}", "")]]
    lines: list[Line] = [[(count_words(summary), LEVEL_STYLES[worst]), (f" in {assets}", "")]]
    groups = group_by_cause(finding for _, finding in report)
    digits = max((len(str(len(group.findings))) for group in groups), default=0)
    for group in groups:
        count: Line = [(f"  {len(group.findings):>{digits}} ", "")]
        lines.append(
            [
                *count,
                (f"{make_visible(group.code):<24}", LEVEL_STYLES[group.level]),
                (f" {make_visible(group.about)}", ""),
            ]
        )
    command = name_command(report)
    if command:
        lines.append([(make_visible(command), "bold")])
    return lines


def _flow(head: Line, text: str, style: str, digits: int, width: int | None) -> Iterator[Line]:
    """Text after a head; further lines stand below the first, behind the gutter.

    The gutter also keeps quoted input from the start of a line, where a build log may read commands.
    """
    start = sum(cell_len(piece) for piece, _ in head)
    # after a long rule code further lines would be squeezed into the right margin
    indent = start if width is None or start <= width // 3 else digits + 3
    rest: Line = [(" " * (digits + 1) + "|", GUTTER), (" " * (indent - digits - 2), "")]
    rooms = (None, None) if width is None else (width - start, width - indent)
    for number, part in enumerate(_break_text(text, *rooms)):
        yield [*(rest if number else head), (part, style)]


def _break_text(text: str, first_room: int | None, room: int | None) -> Iterator[str]:
    """Lines of the text, broken at newlines and, where a room [cells] is given, at spaces."""
    limit = first_room
    for paragraph in make_visible(text, keep="\n").split("\n"):
        current = ""
        for word in paragraph.split(" "):
            longer = f"{current} {word}" if current else word
            if limit is not None and current and cell_len(longer) > limit:
                yield current
                current, limit = word, room
            else:
                current = longer
        yield current
        limit = room


def _paint(line: Line, color: bool) -> str:
    if not color:
        # reports are compared and kept in repositories: no spaces at the end of lines
        return "".join(text for text, _ in line).rstrip(" ")
    return "".join(
        Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style else text
        for text, style in line
    )
