# SPDX-License-Identifier: Apache-2.0
"""Expand a generated xacro file with the xacro package, in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import xacro


def expand_xacro(files: Mapping[str, bytes], path: str) -> bytes:
    """The URDF of ``path`` with its default arguments; ``files`` holds it and what it includes.

    The xacro package's banner names the temporary folder, so it is replaced by a fixed one.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            if name.endswith(".xacro"):
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        text = xacro.process_file(str(Path(folder, path))).toprettyxml(indent="  ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("<!-- ")]
    banner = f"<!-- Expanded from {Path(path).name}; edit that one. -->"
    return ("\n".join([lines[0], banner, *lines[1:]]) + "\n").encode("utf-8")
