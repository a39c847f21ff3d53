# SPDX-License-Identifier: Apache-2.0
"""Start-up of the command line against a bare interpreter."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.measure import PYTHON, Result, command_cpu_time


def run() -> Iterator[Result]:
    floor = command_cpu_time([PYTHON, "-c", "pass"])
    for arguments in (["--help"], ["inspect", "--help"], ["plugin-path"]):
        seconds = command_cpu_time([PYTHON, "-m", "simwright", *arguments])
        yield Result(f"simwright {' '.join(arguments)}", seconds, "python -c pass", floor, limit=10.0)
