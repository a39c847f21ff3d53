# SPDX-License-Identifier: Apache-2.0
"""Parsers of other projects, asked whether they accept what we write.

``scripts/install_parsers.sh`` (part of ``make test``) installs them.  A test takes the fixture ``accept_urdf``,
``accept_sdf`` or ``accept_gltf`` and calls it with a file; what the parser says about it is given back.  Where a parser
is not there the test is skipped, saying so; ``tests/allowed_skips.toml`` makes a failure of it where ``CI=true``.
"""

from __future__ import annotations

import atexit
import os
import re
import select
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


class ParserProcess:
    """A parser that stays open: it reads names of files and answers each (``urdfdom`` alone is started for each)."""

    def __init__(self, command: list[str]) -> None:
        environment = {**os.environ, "NODE_PATH": str(TOOLS / "node_modules")}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
        )

    def ask(self, file: Path) -> tuple[int, str]:
        """Its code for a file, and what it says; a parser that crashes or hangs is closed, and its code is -1."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{file}\n".encode())
        self._process.stdin.flush()
        said = b""
        while not (end := re.search(rb"(?:^|\n)done (\d)\n$", said)):
            ready, _, _ = select.select([self._process.stdout], [], [], 120)
            more = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                self.close()
                return -1, said.decode(errors="replace") + "\n(it crashed or did not answer)"
            said += more
        return int(end[1]), said[: end.start()].decode(errors="replace")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


_open_parsers: dict[tuple[str, ...], ParserProcess] = {}


@atexit.register
def _close_parsers() -> None:
    for process in _open_parsers.values():
        process.close()


def ask_parser(command: list[str], file: Path) -> tuple[int, str]:
    """The code that a parser has for a file (0: accepted), and what it says."""
    if Path(command[0]).name == "check_urdf":
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False, timeout=120)
        return done.returncode, done.stdout + done.stderr
    key = tuple(command)
    if key not in _open_parsers:
        _open_parsers[key] = ParserProcess(command)
    code, said = _open_parsers[key].ask(file.absolute())
    if code == -1:
        del _open_parsers[key]
    return code, said


def need(command: list[str], name: str) -> Accept:
    """A function that asks a parser; skips the test where there is none."""
    if not command:
        pytest.skip(f"{name} is not installed: {HOW}")

    def accept(file: Path) -> str:
        code, said = ask_parser(command, file)
        assert code == 0, f"{name} refuses {file.name}:\n{said[:4000]}"
        return said

    return accept
