"""What tests of jobs share: small assets, and running the command line as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BOX = """#usda 1.0
(
    defaultPrim = "box_{number}"
    metersPerUnit = {units}
    upAxis = "Z"
)
def Xform "box_{number}" {{}}
"""
RULES = ("--select", "units-meters,axis-up-z", "--no-cache", "--jobs", "1")


def write_boxes(folder: Path, count: int) -> list[Path]:
    """Assets in two folders; every third has a finding of units-meters."""
    files = []
    for number in range(count):
        file = folder / f"part{number % 2}" / f"box_{number:03d}.usda"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(BOX.format(number=number, units=0.01 if number % 3 == 0 else 1))
        files.append(file)
    return files


def start(*arguments: object, folder: Path, **variables: str) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "simwright", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
