# SPDX-License-Identifier: Apache-2.0
"""Relative addresses in opinions that move to a layer in another folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pxr import Sdf

from simwright.usd.edit import Refused

_WITH_ADDRESSES = ("references", "payload", "clips")


def check_definition(spec: Any, home: Any) -> None:
    """Refuse to move arcs to another folder."""
    arcs = [key for key in _WITH_ADDRESSES if spec.HasInfo(key)]
    if arcs and _find_folder(spec.layer) != _find_folder(home):
        raise Refused(
            f"{spec.path} brings in files beside {spec.layer.GetDisplayName()}; name them from the entry"
        )


def move_addresses(spec: Any, source: Any) -> None:
    """Let an attribute that was in a layer of another folder name the same files."""
    if not isinstance(spec, Sdf.AttributeSpec) or str(spec.typeName.scalarType) != "asset":
        return
    folders = (_find_folder(source), _find_folder(spec.layer))
    if folders[0] == folders[1]:
        return
    if spec.default is not None:
        spec.default = _move_value(spec.default, *folders)
    for time in spec.layer.ListTimeSamplesForPath(spec.path):
        value = spec.layer.QueryTimeSample(spec.path, time)
        spec.layer.SetTimeSample(spec.path, time, _move_value(value, *folders))


def _move_value(value: Any, old: Path, new: Path) -> Any:
    if isinstance(value, Sdf.AssetPath):
        return Sdf.AssetPath(_move_text(value.path, old, new))
    if isinstance(value, Sdf.AssetPathArray):
        return Sdf.AssetPathArray([Sdf.AssetPath(_move_text(item.path, old, new)) for item in value])
    return value


def _move_text(text: str, old: Path, new: Path) -> str:
    is_relative = text.startswith(("./", "../")) or (old / text).exists()
    if not text or not is_relative or Path(text).is_absolute():
        return text
    moved = Path(os.path.relpath(old / text, new)).as_posix()
    return moved if moved.startswith("../") else f"./{moved}"


def _find_folder(layer: Any) -> Path:
    return Path(layer.realPath).parent
