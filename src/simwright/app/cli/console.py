# SPDX-License-Identifier: Apache-2.0
"""A console that shows hidden characters of what it prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from simwright.core.visible import make_visible


class VisibleConsole(Console):
    """Escape codes are those of styles and progress bars only: none comes out of a text."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Texts and cells of tables, before their width is measured."""
        return super().render_str(make_visible(text, keep="\n"), **options)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Everything else."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=make_visible(segment.text, keep="\n"))
