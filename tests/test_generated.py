"""What is generated from code is fresh."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent


def test_docs_and_schemas_are_fresh():
    result = subprocess.run(
        [sys.executable, "scripts/generate_docs.py", "--check"],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_readme_commands_exist():
    text = (REPO / "README.md").read_text()
    makefile = (REPO / "Makefile").read_text()
    assert "make demo" in text
    assert "make test" in text
    assert "\ndemo:" in makefile
    assert "\ntest:" in makefile
