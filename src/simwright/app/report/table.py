# SPDX-License-Identifier: Apache-2.0
"""The visible list of renderers.  A package adds one through the entry-point group ``simwright.reports``."""

from __future__ import annotations

from typing import Protocol

from simwright.app.report.report import Report
from simwright.core.registry import Registry


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
