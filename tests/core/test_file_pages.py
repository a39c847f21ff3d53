"""Pages of a crate file are let go after its arrays were looked at, and nothing else is."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, Vt

from simwright.core.heap import PageTally, let_go

COUNT = 200_000


def read_points(file: Path) -> tuple[Usd.Stage, np.ndarray]:
    layer = Sdf.Layer.CreateNew(str(file))
    mesh = Sdf.PrimSpec(layer, "mesh", Sdf.SpecifierDef, "Mesh")
    points = Sdf.AttributeSpec(mesh, "points", Sdf.ValueTypeNames.Point3fArray)
    points.default = Vt.Vec3fArray.FromNumpy(np.arange(3 * COUNT, dtype=np.float32).reshape(-1, 3))
    layer.Save()
    del layer, mesh, points
    stage = Usd.Stage.Open(str(file))
    return stage, np.asarray(stage.GetPrimAtPath("/mesh").GetAttribute("points").Get())


def measure(file: Path) -> int:
    """KiB of a file's mapping that are in memory."""
    text = Path("/proc/self/smaps").read_text()
    return sum(int(kib) for kib in re.findall(rf"{re.escape(str(file))}\n(?:.+\n)*?Rss: +(\d+)", text))


def test_pages_go_and_come_back_with_the_same_content(tmp_path: Path) -> None:
    file = tmp_path / "big.usdc"
    stage, points = read_points(file)
    before = points.sum(dtype=np.float64)
    assert measure(file) >= points.nbytes >> 10
    assert let_go(points)
    assert measure(file) < 100
    assert points.sum(dtype=np.float64) == before == 3 * COUNT * (3 * COUNT - 1) / 2
    assert stage


def test_what_stands_in_no_file_is_left_alone() -> None:
    points = np.arange(3 * COUNT, dtype=np.float32)
    assert not let_go(points)
    assert points[-1] == 3 * COUNT - 1


def test_a_mapping_that_was_written_to_is_left_alone(tmp_path: Path) -> None:
    # as OpenUSD does where a layer goes while somebody has its arrays: the page becomes the process's own
    file = tmp_path / "numbers"
    file.write_bytes(bytes(1 << 20))
    with file.open("rb") as stream:
        numbers = np.frombuffer(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
    assert numbers.sum() == 0
    assert let_go(numbers)
    numbers[1 << 19] = 7
    assert not let_go(numbers)
    assert numbers.sum() == 7


def test_the_tally_lets_go_after_some_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "big.usdc"
    stage, points = read_points(file)
    monkeypatch.setattr("simwright.core.heap._WORTH_PAGES", 1 << 20)
    tally = PageTally()
    tally.note(points[:10])
    assert points.sum() > 0
    assert measure(file) >= points.nbytes >> 10
    tally.note(points)
    assert measure(file) < 100
    # nothing has come since
    assert points[:10].sum() > 0
    few = measure(file)
    tally.note(points)
    assert measure(file) == few > 0
    assert stage
