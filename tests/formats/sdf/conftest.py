"""Reading SDFormat text and finding what was reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from simwright.core.diag import Diagnostic, Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.read import read
from simwright.model.asset import Asset

ReadText = Callable[..., Asset]


@pytest.fixture
def read_text(tmp_path: Path, reporter: Reporter) -> ReadText:
    """Read text as an SDFormat file; further files are given as ``{"folder/name": text}``."""

    def run(text: str, files: dict[str, str] | None = None) -> Asset:
        for name, content in (files or {}).items():
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)
        main = tmp_path / "main.sdf"
        main.write_text(text)
        return read(main, ReadOptions(), reporter)

    return run


@pytest.fixture
def read_model(read_text: ReadText) -> ReadText:
    """Read the content of one model called ``m``."""

    def run(content: str, version: str = "1.10", files: dict[str, str] | None = None) -> Asset:
        return read_text(f'<sdf version="{version}">\n<model name="m">\n{content}\n</model>\n</sdf>', files)

    return run


@pytest.fixture
def found(reporter: Reporter) -> Callable[[str], list[Diagnostic]]:
    """The findings of one kind."""
    return lambda kind: [d for d in reporter if d.kind == kind]
