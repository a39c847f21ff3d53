"""Layers are written whole, the same each time, and only where they may be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd, UsdGeom

from simwright.core.errors import OutputError, UnsafePathError, UsageError
from simwright.usd.guard import check_file
from simwright.usd.layers import encode_layer, write_layer
from simwright.usd.open import open_stage


@pytest.fixture
def layer() -> Any:
    root = Sdf.Layer.CreateAnonymous(".usda")
    stage = Usd.Stage.Open(root)
    mesh = UsdGeom.Mesh.Define(stage, "/Ünit/Mesh")
    mesh.CreatePointsAttr([(i, 0, 0) for i in range(100)])
    return root


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".usda", b"#usda"), (".usdc", b"PXR-USDC"), (".usd", b"PXR-USDC")]
)
def test_written_layers_open(tmp_path: Path, layer: Any, suffix: str, magic: bytes) -> None:
    file = write_layer(layer, tmp_path / f"ä{suffix}")
    assert file.read_bytes().startswith(magic)
    assert check_file(file)
    assert open_stage(file).GetPrimAtPath("/Ünit/Mesh")
    assert os.listdir(tmp_path) == [file.name], "nothing is left beside it"


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_same_layer_same_bytes(layer: Any, suffix: str) -> None:
    assert encode_layer(layer, suffix) == encode_layer(layer, suffix)
    copy = Sdf.Layer.CreateAnonymous(".usda")
    copy.TransferContent(layer)
    assert encode_layer(copy, suffix) == encode_layer(layer, suffix)


def test_unknown_extension(tmp_path: Path, layer: Any) -> None:
    with pytest.raises(UsageError, match="txt"):
        write_layer(layer, tmp_path / "a.txt")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("path", ["../out.usda", "/tmp/out.usda", "a/../../out.usda", "link/out.usda"])
def test_paths_stay_below_the_root(tmp_path: Path, layer: Any, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(UnsafePathError):
        write_layer(layer, path, root=root)
    assert sorted(os.listdir(tmp_path)) == ["root"]
    assert write_layer(layer, "sub/a.usda", root=root) == root / "sub/a.usda"


def test_a_failed_write_keeps_the_old_file(
    tmp_path: Path, layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.usda"
    file.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match="No space"):
        write_layer(layer, file)
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.usda"]
