# SPDX-License-Identifier: Apache-2.0
"""What is rendered, and what renderers share: the list of them, words and places, the source line under a finding.

A package adds a renderer through the entry-point group ``simwright.reports``.

A source line is cut to fit, with the columns to underline.  Files are read when a finding needs them, once each, and
only if they are text of a bounded size; anything else gives no excerpt.  A line of any length costs only the part
that is shown.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from simwright import __version__
from simwright.core.diag import (
    CATALOGUE,
    Diagnostic,
    Fixable,
    Level,
    Reporter,
    count_levels,
    sort_diagnostics,
)
from simwright.core.errors import SimwrightError
from simwright.core.files import MIB, read_bytes
from simwright.core.registry import Registry
from simwright.core.visible import show_character

TOOL_NAME = "simwright"
DOCUMENTATION = "https://simwright.invalid/docs"
"""Where the documentation is, as in the metadata of the package."""


@dataclass(slots=True)
class AssetReport:
    """The findings of one asset; ``path`` is the file as the user named it."""

    path: str
    findings: list[Diagnostic] = field(default_factory=list)
    view: str = field(default="", repr=False)
    """How it looks, as HTML, for pages."""

    def summary(self) -> dict[str, int]:
        """``{"error": n, "warning": n, "info": n}``."""
        return count_levels(self.findings)


@dataclass(slots=True)
class Report:
    """The findings of every asset that was looked at, also of those without findings."""

    assets: list[AssetReport] = field(default_factory=list)
    tool_version: str = __version__

    def summary(self) -> dict[str, int]:
        """``{"error": n, "warning": n, "info": n}`` over all assets."""
        return count_levels(finding for _, finding in self)

    def __iter__(self) -> Iterator[tuple[AssetReport, Diagnostic]]:
        for asset in self.assets:
            for finding in asset.findings:
                yield asset, finding


def build_asset_report(
    path: str | os.PathLike[str], findings: Reporter | Iterable[Diagnostic]
) -> AssetReport:
    """The findings of one asset in the stable order of :func:`~simwright.core.diag.sort_diagnostics`."""
    return AssetReport(os.fspath(path), sort_diagnostics(findings))


_PLURALS = {"error": "errors", "warning": "warnings", "info": "infos"}


def replace_surrogates(text: str) -> str:
    """The text with lone surrogates, which no encoding takes, as replacement characters."""
    if text.isascii():
        return text
    # by UTF-16, in which two halves that belong together become one character again
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def name_file(asset: AssetReport, finding: Diagnostic) -> str:
    """The file a finding is in: its own, else the asset's."""
    return finding.where.file or asset.path


def name_prim(finding: Diagnostic) -> str:
    """``/prim.property`` of a finding, or an empty text."""
    where = finding.where
    return f"{where.prim}.{where.prop}" if where.prop else where.prim


def name_position(finding: Diagnostic) -> str:
    """``:line:column`` of a finding as far as it is known."""
    line, column = find_position(finding)
    return (f":{line}" if line else "") + (f":{column}" if column else "")


def find_position(finding: Diagnostic) -> tuple[int | None, int | None]:
    """Line and column from 1; a column counts only with a line, and neither where it is out of range."""
    line, column = finding.where.line, finding.where.column
    if line is None or line < 1:
        return None, None
    return line, column if column is not None and column >= 1 else None


def name_section(finding: Diagnostic) -> str:
    """The part of the standard a finding refers to, or an empty text."""
    section = finding.section
    if not section or section.upper().startswith("REP"):
        return section
    return f"REP-0158 section {section}"


def name_fix(finding: Diagnostic) -> str:
    """What the attached fix would do and how far it can be trusted, or an empty text."""
    if finding.fix is None or finding.fixable is Fixable.NO:
        return ""
    grade = {Fixable.SAFE: "safe", Fixable.UNSAFE: "unsafe, needs your consent"}
    return f"{finding.fix.title} ({grade.get(finding.fixable, 'a suggestion, not applied')})"


_SHOWN_RELATED = 6


def name_related(finding: Diagnostic) -> str:
    """The rules that found the same fault, with how often where more than once, or an empty text."""
    tally = Counter(other.kind for other in finding.related)
    words = [f"{code} ({count} places)" if count > 1 else code for code, count in tally.items()]
    more = len(words) - _SHOWN_RELATED
    return ", ".join([*words[:_SHOWN_RELATED], *([f"{more} more rules"] if more > 0 else [])])


# one function: one or several assets, with safe fixes, unsafe ones or both, in one sentence
def name_command(report: Report) -> str:
    """How many findings can be fixed and the command that does it, or an empty text."""
    grades = Counter(finding.fixable for _, finding in report)
    safe, unsafe = grades[Fixable.SAFE], grades[Fixable.UNSAFE]
    if not safe and not unsafe:
        return ""
    # a conversion reports its source too, where only what was written can be fixed
    paths = [
        asset.path
        for asset in report.assets
        if any(finding.fixable in (Fixable.SAFE, Fixable.UNSAFE) for finding in asset.findings)
    ]
    if len(paths) > 1:
        command = "simwright check ... --fix" if safe else "simwright fix ASSET -o FOLDER --unsafe"
        words = f"{safe + unsafe} can be fixed"
        words += f", {safe} safely in place: {command}" if safe else f": {command}"
        return words + ("; the others asset by asset with simwright fix --unsafe" if safe and unsafe else "")
    path = PurePath(paths[0])
    folder = shlex.quote((path.parent / f"{path.stem}_fixed").as_posix())
    command = f"simwright fix {shlex.quote(paths[0])} -o {folder}"
    if not unsafe:
        return f"{safe} can be fixed: {command}"
    rest = f" ({safe} without --unsafe)" if safe else ""
    return f"{safe + unsafe} can be fixed: {command} --unsafe{rest}"


_FEW = 8
"""So many findings are seen at a glance; beyond, a summary tells what they are about."""


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one rule, or of one cause that several rules see; ``about`` says what is asked for, or the cause."""

    code: str
    about: str
    findings: list[Diagnostic]

    @property
    def level(self) -> Level:
        """The worst of them."""
        return min((finding.level for finding in self.findings), key=lambda level: level.rank)


def group_by_cause(findings: Iterable[Diagnostic]) -> list[FindingGroup]:
    """The findings by cause or rule, worst first, then most; nothing where they are few enough to see at once."""
    found: dict[str, list[Diagnostic]] = {}
    for finding in findings:
        found.setdefault(finding.cause or finding.kind, []).append(finding)
    if sum(map(len, found.values())) <= _FEW:
        return []
    groups = [
        FindingGroup(group[0].kind, group[0].cause or describe_kind(group[0].kind), group)
        for group in found.values()
    ]
    return sorted(groups, key=lambda group: (group.level.rank, -len(group.findings), group.code))


def describe_kind(code: str) -> str:
    """What a kind of finding is about, in one line; empty where nobody declared it."""
    kind = CATALOGUE.get(code)
    return head_line(kind.doc) if kind else ""


def head_line(text: str) -> str:
    """The first line of a text; that of a teaching text is a title, and has no full stop."""
    head, newline, _ = text.partition("\n")
    return head.rstrip(".") if newline else head


def find_page(code: str) -> str:
    """The address of a rule's page; empty for findings that have none."""
    kind = CATALOGUE.get(code)
    return kind.url if kind else ""


def count_words(summary: Mapping[str, int]) -> str:
    """``2 errors, 1 warning``: the levels that occur, or ``no findings``."""
    parts = [f"{n} {level if n == 1 else _PLURALS[level]}" for level, n in summary.items() if n]
    return ", ".join(parts) or "no findings"


def count_assets(number: int) -> str:
    """``1 asset`` or ``3 assets``."""
    return f"{number} asset" if number == 1 else f"{number} assets"


def shorten_path(file: str) -> str:
    """The path relative to the working folder where it lies below it, with forward slashes."""
    path = PurePath(file)
    try:
        here = Path.cwd()
    # the working folder may have been deleted under us
    except OSError:
        return path.as_posix()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def shorten_finding(finding: Diagnostic) -> Diagnostic:
    """The finding with a file below the working folder named from there."""
    where = finding.where
    if not where.file:
        return finding
    return dataclasses.replace(finding, where=dataclasses.replace(where, file=shorten_path(where.file)))


class Renderer(Protocol):
    """A function from a report to text.

    ``color`` asks for terminal colours and ``width`` [columns] for line breaking; a renderer for machines
    ignores both.  The text is complete: it ends with a newline unless it is empty.
    """

    def __call__(self, report: Report, *, color: bool = False, width: int | None = None) -> str:
        """The report as text."""


RENDERERS: Registry[Renderer] = Registry(
    "report format",
    "simwright.reports",
    {
        "text": "simwright.app.report.text:render",
        "json": "simwright.app.report.json:render",
        "json-lines": "simwright.app.report.json:render_lines",
        "sarif": "simwright.app.report.sarif:render",
        "junit": "simwright.app.report.junit:render",
        "github": "simwright.app.report.github:render",
        "md": "simwright.app.report.md:render",
        "html": "simwright.app.report.html:render",
    },
)


def render_report(name: str, report: Report, *, color: bool = False, width: int | None = None) -> str:
    """Render with the renderer called ``name``; an unknown name lists the known ones."""
    return RENDERERS.get(name)(report, color=color, width=width)


MAX_SOURCE_BYTES = 8 * MIB
TAB = "    "
CUT = "..."

_LINE_END = re.compile(r"\r\n|\n|\r")
_TOKEN = re.compile(r"</?[\w:.-]+|\"[^\"]*\"|[\w:.-]+|\S")
_BINARY = b"\0"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A source line ready to show; ``start`` and ``length`` [cells] say what to underline."""

    number: int
    text: str
    start: int
    length: int


class Sources:
    """Lines of source files, each file read at most once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str] | None] = {}

    def find_excerpt(self, file: str, line: int | None, column: int | None, width: int) -> Excerpt | None:
        """The excerpt of a place, at most ``width`` cells wide; None if there is nothing to show."""
        if line is None:
            return None
        if file not in self._files:
            self._files[file] = read_lines(file)
        lines = self._files[file]
        if lines is None or line > len(lines):
            return None
        return cut_line(line, lines[line - 1], column, width)


def read_lines(file: str) -> list[str] | None:
    """The lines of a text file, or None if it is not there, too large or not text."""
    try:
        content = read_bytes(file, MAX_SOURCE_BYTES)
    except (SimwrightError, ValueError):  # a path may hold characters that no file name can
        return None
    if _BINARY in content:
        return None
    return _LINE_END.split(content.decode("utf-8-sig", "replace"))


def cut_line(number: int, line: str, column: int | None, width: int) -> Excerpt:
    """A window of the line around the column (counted from 1), hidden characters made visible."""
    from rich.cells import cell_len

    width = max(width, 4 * len(CUT))
    begin, length = _find_span(line, column)
    # only the part around the column is looked at: a USD layer may hold a line of megabytes
    first = max(0, begin - width)
    shown = [TAB if char == "\t" else show_character(char) for char in line[first : begin + width]]
    cells = [cell_len(piece) for piece in shown]
    target = begin - first
    left, right = _choose_window(cells, target, width, whole=len(shown) == len(line))
    head = CUT if first + left > 0 else ""
    tail = CUT if first + right < len(line) else ""
    marked = sum(cells[target : min(target + length, right)])
    return Excerpt(
        number=number,
        text=head + "".join(shown[left:right]) + tail,
        start=len(head) + sum(cells[left:target]),
        length=max(marked, 1),
    )


def _find_span(line: str, column: int | None) -> tuple[int, int]:
    """Index and number of the characters to underline: a token, or the whole line without a column."""
    if column is None:
        stripped = line.strip()
        return (line.index(stripped), len(stripped)) if stripped else (0, 0)
    begin = min(column - 1, len(line))
    token = _TOKEN.match(line, begin)
    return begin, (token.end() - begin if token else 1)


def _choose_window(cells: list[int], target: int, width: int, whole: bool) -> tuple[int, int]:
    """First and last index (exclusive) of a window with the target in it, leaving room for the cuts."""
    if whole and sum(cells) <= width:
        return 0, len(cells)
    right = min(target + 1, len(cells))
    room = width - 2 * len(CUT) - sum(cells[target:right])
    # a third of the room before the mark: what follows it tells more
    left = _grow_left(cells, target, room // 3)
    room -= sum(cells[left:target])
    while right < len(cells) and cells[right] <= room:
        room -= cells[right]
        right += 1
    return _grow_left(cells, left, room), right


def _grow_left(cells: list[int], left: int, room: int) -> int:
    while left > 0 and cells[left - 1] <= room:
        left -= 1
        room -= cells[left]
    return left
