"""What users install: a wheel and a source distribution outside of the checkout; lowest and newest dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent


@pytest.mark.judge("packages")
@pytest.mark.parametrize("kind", ["wheel", "sdist", "lowest", "newest"])
def test_an_environment_of_this_kind_works(kind):
    """``wheel`` and ``sdist`` take the tour of ``make demo`` where nothing but the package is."""
    command = [sys.executable, "scripts/check_versions.py", kind]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
