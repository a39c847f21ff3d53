# SPDX-License-Identifier: Apache-2.0
"""On which line of a .usda text a prim or a property is declared.

Sdf gives values without positions, so the text is scanned for the two kinds of declaration.  A place that is
not found has no line; nothing depends on one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PRIM = re.compile(r'\s*(?:class|def|over)\s+(?:[\w:]+\s+)?"([^"]+)"')
_PROPERTY = re.compile(
    r"\s*(?:(?:custom|uniform|varying|config|prepend|append|delete|add|reorder)\s+)*"
    r"\w+(?:\[\])?\s+([A-Za-z_]\w*(?::\w+)*)(?:\.\w+)?\s*(?:=|\(|$)"
)
_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|#.*')


@dataclass(frozen=True, slots=True)
class LineMap:
    """Line numbers, from 1, by prim path and by (prim path, property name)."""

    prims: dict[str, int] = field(default_factory=dict)
    properties: dict[tuple[str, str], int] = field(default_factory=dict)

    def find(self, prim: str, prop: str = "") -> int | None:
        """The line of a property, else of its prim, else None."""
        line = self.properties.get((prim, prop)) if prop else None
        return line if line is not None else self.prims.get(prim)


def map_lines(text: str) -> LineMap:
    """Scan the text of a layer."""
    result = LineMap()
    scan = _Scan()
    for number, line in enumerate(text.splitlines(), start=1):
        # long quoted text is documentation, in which a declaration may be shown
        marks = line.count('"""')
        if scan.in_text:
            code = line.rpartition('"""')[2] if marks % 2 else ""
        else:
            code = line.partition('"""')[0] if marks else line
            # in parentheses there is metadata, which looks like properties
            if scan.parentheses == 0:
                _note_declaration(line, number, scan, result)
        scan.follow(_QUOTED.sub("", code))
        scan.in_text ^= marks % 2 == 1
    return result


@dataclass(slots=True)
class _Scan:
    """Where the scan is: the open braces by prim name, metadata nesting, and inside a long text or not."""

    braces: list[str] = field(default_factory=list)
    opening: str = ""
    parentheses: int = 0
    in_text: bool = False

    @property
    def path(self) -> str:
        return "".join(f"/{name}" for name in self.braces if name)

    def follow(self, code: str) -> None:
        """Take in the brackets of a line whose quotes and comments are gone."""
        for character in code:
            if character == "(":
                self.parentheses += 1
            elif character == ")":
                self.parentheses = max(0, self.parentheses - 1)
            elif character == "{" and self.parentheses == 0:
                self.braces.append(self.opening)
                self.opening = ""
            elif character == "}" and self.parentheses == 0 and self.braces:
                self.braces.pop()


def _note_declaration(line: str, number: int, scan: _Scan, result: LineMap) -> None:
    if match := _PRIM.match(line):
        scan.opening = match.group(1)
        result.prims.setdefault(f"{scan.path}/{scan.opening}", number)
    elif match := _PROPERTY.match(line):
        result.properties.setdefault((scan.path, match.group(1)), number)
