# SPDX-License-Identifier: Apache-2.0
"""docs/diagnostics.md from the catalogue of declared kinds."""

from __future__ import annotations

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
    lines = [
        NOTE + "# Diagnostics\n",
        INTRO,
        "| code | level | message | what to do | meaning |",
        "|---|---|---|---|---|",
    ]
    for code, kind in sorted(CATALOGUE.items()):
        cells = (
            f"`{code}`",
            kind.level.value + (", loss" if kind.loss else ""),
            kind.message,
            kind.hint,
            kind.doc,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
