# SPDX-License-Identifier: Apache-2.0
"""docs/source-map.md: every folder of the source, what it is for, and the first line of every file in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from generate import NOTE

SOURCE = Path(__file__).resolve().parent.parent.parent / "src" / "simwright"
HEAD = """# Source map

Where things are. [Architecture](architecture.md) says how the packages fit together; this page lists their folders and
files, each with the first sentence of its own docstring.
"""


def generate() -> str:
    """The page."""
    return NOTE + HEAD + "".join(describe_folder(folder) for folder in list_folders(SOURCE))


def list_folders(folder: Path) -> Iterator[Path]:
    """A folder and those below it that hold code, in the order of their names."""
    if any(folder.glob("*.py")):
        yield folder
    for child in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield from list_folders(child)


def describe_folder(folder: Path) -> str:
    """A heading, what the folder is for, and a row for every file."""
    name = folder.relative_to(SOURCE.parent)
    start = folder / "__init__.py"
    if folder.parent == SOURCE / "checker" / "rules":
        return ""  # one file for each rule: they have pages of their own under docs/rules
    about = read_summary(start) if start.exists() else ""
    rows = [
        f"| [{path.name}](../src/{path.relative_to(SOURCE.parent)}) | {read_summary(path)} |\n"
        for path in sorted(folder.glob("*.py"))
        if path.name != "__init__.py"
    ]
    table = "\n| file | what it does |\n|---|---|\n" + "".join(rows) if rows else ""
    return f"\n## {name}\n\n{about}\n{table}"


def read_summary(path: Path) -> str:
    """The first paragraph of a file's docstring on one line, safe in a table."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("|", "\\|").replace("<", "&lt;")
