# SPDX-License-Identifier: Apache-2.0
"""Parsers of other projects, asked whether they accept what we write.

``scripts/install_parsers.sh`` (part of ``make test``) installs them.  A test takes the fixture ``accept_urdf``,
``accept_sdf`` or ``accept_gltf`` and calls it with a file; what the parser says about it is given back.  Where a parser
is not there the test is skipped, saying so; ``tests/allowed_skips.toml`` makes a failure of it where ``CI=true``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent.parent
TOOLS = REPO / ".parsers"
HOW = "run scripts/install_parsers.sh"

Accept = Callable[[Path], str]
"""Fails unless the parser takes the file; gives what it printed."""


def find_check_urdf() -> list[str]:
    """The command that reads a URDF file with urdfdom, empty if it is not there."""
    tool = shutil.which("check_urdf")
    return [tool] if tool else []


def find_sdf_check() -> list[str]:
    """The command that reads an SDFormat file with libsdformat, empty if it was not built."""
    tool = TOOLS / "sdf_check"
    return [str(tool)] if tool.is_file() else []


def find_gltf_check() -> list[str]:
    """The command that validates a glTF file with Khronos' validator, empty if it is not there."""
    node = shutil.which("node")
    is_there = (TOOLS / "node_modules" / "gltf-validator").is_dir()
    return [node, str(Path(__file__).with_name("gltf_check.js"))] if node and is_there else []


def need(command: list[str], name: str) -> Accept:
    """A function that asks a parser; skips the test where there is none."""
    if not command:
        pytest.skip(f"{name} is not installed: {HOW}")

    def accept(file: Path) -> str:
        environment = {**os.environ, "NODE_PATH": str(TOOLS / "node_modules")}
        result = subprocess.run(
            [*command, str(file)], capture_output=True, text=True, check=False, timeout=120, env=environment
        )
        said = result.stdout + result.stderr
        assert result.returncode == 0, f"{name} refuses {file.name}:\n{said[:4000]}"
        return said

    return accept
