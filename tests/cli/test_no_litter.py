"""Commands leave nothing in the user's folder but what they are asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WARNED = '<mujoco><size nuser_site="1"/><worldbody><geom size="1"/><site user="nan"/></worldbody></mujoco>'


@pytest.mark.parametrize("arguments", [("inspect", "a.xml"), ("convert", "a.xml", "out")])
def test_what_mujoco_warns_of_is_a_finding_and_no_file(arguments, tmp_path: Path) -> None:
    """In a process of its own: MuJoCo logs where nobody listens, and tests do."""
    (tmp_path / "a.xml").write_text(WARNED)
    done = subprocess.run(
        [sys.executable, "-m", "simwright", *arguments],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "MuJoCo warns" in done.stdout + done.stderr
    assert {file.name for file in tmp_path.iterdir()} <= {"a.xml", "out"}
