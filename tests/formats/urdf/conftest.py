"""Reading URDF from a text, with its findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.core.packages import PackageMap
from simwright.formats.format import ReadOptions
from simwright.formats.urdf.read import read
from simwright.model.asset import Asset

Load = Callable[..., tuple[Asset, Reporter]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load_text(
        body: str,
        name: str = "robot.urdf",
        arguments: Mapping[str, str] | None = None,
        packages: PackageMap | None = None,
    ) -> tuple[Asset, Reporter]:
        text = body if "<robot" in body else f'<robot name="r">{body}</robot>'
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        reporter = Reporter()
        options = ReadOptions(packages=packages or PackageMap(), arguments=arguments or {})
        return read(file, options, reporter), reporter

    return load_text
