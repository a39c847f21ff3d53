# SPDX-License-Identifier: Apache-2.0
"""Writing an asset as SDFormat and reading it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simwright.formats.table import read_asset
from simwright.model.asset import Asset

from ...written import WrittenXml, make_pair, make_solid, random_pose, write_xml

__all__ = ["Written", "make_pair", "make_solid", "random_pose", "write", "write_text"]


class Written(WrittenXml):
    """An SDFormat file."""

    @property
    def version(self) -> str:
        return str(self.root.get("version"))

    def find(self, tag: str, name: str) -> Any:
        return self.root.find(f".//{tag}[@name='{name}']")

    def text(self, path: str) -> str:
        return str(self.root.findtext(f".//{path}"))


def write(asset: Asset, folder: Path, **options: Any) -> Written:
    return write_xml(Written, asset, folder / "written" / "robot.sdf", options)


def write_text(text: str, folder: Path, **options: Any) -> Written:
    """Write what an SDFormat text says."""
    file = folder / "source" / "robot.sdf"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'<sdf version="1.11">{text}</sdf>')
    return write(read_asset(file), folder, **options)
