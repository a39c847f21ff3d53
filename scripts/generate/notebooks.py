# SPDX-License-Identifier: Apache-2.0
"""docs/notebooks: the tutorials as Jupyter notebooks, from the same Markdown; outputs are those that the pages show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pages

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def generate() -> dict[str, str]:
    """Every notebook by its path."""
    sources = [path for path in sorted(TUTORIALS.glob("*.md")) if path.name != "index.md"]
    return {f"docs/notebooks/{path.stem}.ipynb": make_notebook(path.read_text()) for path in sources}


def make_notebook(page: str) -> str:
    """A page as the text of a notebook: words, cells that run, and what they print."""
    cells: list[dict[str, object]] = []
    place = 0
    blocks = pages.parse(page)
    for block in blocks:
        start = page.rfind("```", 0, block.start)
        while found := re.search(r"<!-- [^>]*-->\n+\Z", page[:start]):
            start = found.start()
        if start < place:  # the output of the block before
            continue
        _add_words(cells, page[place:start])
        place = block.end + len("```\n")
        code = _make_code(block)
        if code is None:
            _add_words(cells, f"```{block.kind}\n{block.text}```")
            continue
        folder = Path(block.notes.get("file", "")).parent
        if folder != Path():  # %%writefile does not make it
            _add_code(cells, f"!mkdir -p {folder}")
        shown = _find_shown(block)
        following = re.match(r"\n```text\n(.*?)^```\n", page[place:], re.MULTILINE | re.DOTALL)
        if block.kind == "python" and following:
            shown = following[1]
            place += following.end()
        _add_code(cells, code, shown)
    _add_words(cells, page[place:])
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number}"
    content = {"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _make_code(block: pages.Block) -> str | None:
    """What a cell runs for a block; None where it is only shown."""
    if "file" in block.notes:
        return f"%%writefile {block.notes['file']}\n{block.text}"
    if "not run" in block.notes or block.kind not in ("console", "python"):
        return None
    if block.kind == "python":
        return block.text
    return "".join(f"!{command.line}\n" for command in pages.split_commands(block.text))


def _find_shown(block: pages.Block) -> str:
    if block.kind != "console":
        return ""
    return "".join(f"{command.shown}\n" for command in pages.split_commands(block.text) if command.shown)


def _add_code(cells: list[dict[str, object]], code: str, shown: str = "") -> None:
    outputs = [{"name": "stdout", "output_type": "stream", "text": _split(shown)}] if shown else []
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": _split(code),
    }
    if cell not in cells:  # a folder is made once
        cells.append(cell)


def _add_words(cells: list[dict[str, object]], text: str) -> None:
    # tutorials stand beside each other, notebooks in a folder of their own
    text = re.sub(r"\]\((?!\.\./|https?:|#)([^)]+\.md)", r"](../tutorials/\1", text.strip("\n"))
    text = re.sub(r"^\[This page as a notebook\]\(.*\)\n+", "", text, flags=re.MULTILINE)
    if text.strip():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": _split(text)})


def _split(text: str) -> list[str]:
    return text.rstrip("\n").splitlines(keepends=True)
