# SPDX-License-Identifier: Apache-2.0
"""Every hostile file of docs/security.md: how the command ends, what it says, what it takes, what it leaves."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path

import pytest

from simwright.app.cli.main import run
from simwright.core.visible import make_visible

from .hostile import MARK, OUTSIDE, ROWS, Hostile, write

SECONDS = 10.0
BYTES = 2 << 30


def measure_peak(*, reset: bool = False) -> int:
    """Most memory of this process since it was last reset [bytes]; 0 where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.category}: {row.name}")
def test_hostile_file(
    row: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asset = write(row, tmp_path)
    monkeypatch.chdir(asset)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = set(tmp_path.rglob("*"))
    measure_peak(reset=True)
    begun = time.process_time()
    code = run(shlex.split(row.command))
    seconds, peak = time.process_time() - begun, measure_peak()
    said = "".join(capsys.readouterr())
    assert (code, row.says in said) == (row.code, True), said
    assert "Traceback" not in said
    assert make_visible(said, keep="\n") == said
    assert seconds < SECONDS
    assert peak < BYTES
    assert MARK not in said
    for path in set(tmp_path.rglob("*")) - before:
        allowed = ("cache", "asset/out")
        assert path.relative_to(tmp_path).as_posix().startswith(allowed), path
        assert not path.is_file() or MARK.encode() not in path.read_bytes(), path


def test_the_table_has_every_category() -> None:
    assert len(ROWS) >= 40
    assert len({(row.category, row.name, row.tries) for row in ROWS}) == len(ROWS)
    assert all(OUTSIDE not in row.command for row in ROWS)
