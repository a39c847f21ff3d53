# SPDX-License-Identifier: Apache-2.0
"""docs/diagnostics.md from the catalogue of declared kinds."""

from __future__ import annotations

import html
import importlib
import pkgutil

import simwright
from generate import NOTE
from simwright.core.diag import CATALOGUE

INTRO = """Every finding that is not a rule of the checker has one of these permanent codes. A *loss* says that
something of the source is not in the result; one that changes how the machine moves is at least a warning
([what each format can hold](formats.md)).
"""


def generate() -> str:
    """One row per code, by room."""
    for module in pkgutil.walk_packages(simwright.__path__, "simwright."):
        # workers of engines import what is not here, and declare nothing
        if not module.name.endswith("__main__") and ".workers." not in module.name:
            importlib.import_module(module.name)
    # two columns, so that all of it can be read on a phone too
    lines = [
        NOTE + "# Diagnostics\n",
        INTRO,
        "| code | message, *what to do*, and what it means |",
        "|---|---|",
    ]
    for code, kind in sorted(CATALOGUE.items()):
        level = kind.level.value + (", loss" if kind.loss else "")
        # a message may have words like <link>, which Markdown would take as HTML
        texts = [html.escape(text, quote=False) for text in (kind.message, kind.hint, kind.doc)]
        parts = [texts[0], f"*{texts[1]}*" if texts[1] else "", texts[2]]
        cells = (f"`{code}`<br>{level}", "<br>".join(part for part in parts if part))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
