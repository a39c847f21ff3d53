"""Setting up: progress is shown, and an installation that fails is told and ends in an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIP = """#!/bin/sh
case "$*" in
  *"pip install"*) echo "Collecting usd-core>=25.11"; sleep 1.5; echo "$SAID"; exit "$CODE" ;;
  *) exit 0 ;;
esac
"""


@pytest.mark.parametrize(
    ("code", "said"), [(0, "Successfully installed"), (1, "ERROR: No matching distribution")]
)
def test_setting_up_tells_what_pip_does_and_fails_with_it(tmp_path: Path, code: int, said: str) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP)
    python.chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "setup.sh")], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHON": sys.executable, "VENV": str(tmp_path / "venv"), "CODE": str(code), "SAID": said},
    )  # fmt: skip
    assert done.returncode == code
    assert "Collecting usd-core" in done.stdout
    assert (said in done.stderr) == (code != 0)
    assert ("setup.log" in done.stderr) == (code != 0)
