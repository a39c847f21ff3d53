# SPDX-License-Identifier: Apache-2.0
"""Run six commands and count the files of the source they pass through: files, and calls from one file into another.

``python scripts/trace_journeys.py [JOURNEY ...] [--list]`` runs each journey in a process of its own on the sample
assets, with results in a temporary folder.  A file counts when one of its functions is called (importing it does not
count); an edge is a pair of files of which one calls into the other.  ``--list`` prints the files of a journey.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = str(ROOT / "src" / "simwright")
SAMPLES = ROOT / "samples" / "simwright_samples"
BAD_ROBOT = """#usda 1.0
(
    defaultPrim = "cart"
    upAxis = "Y"
    metersPerUnit = 1
)

def Xform "cart" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
    float physics:mass = 0
}
"""
JOURNEYS = {
    "convert": ["convert", f"{SAMPLES}/arm/urdf/arm.urdf", "OUT/arm", "--no-check"],
    "check": ["check", f"{SAMPLES}/fourbar/fourbar.usda", "--no-cache"],
    "fix": ["fix", "OUT/bad.usda", "-o", "OUT/fixed"],
    "run": ["run", f"{SAMPLES}/quadruped/scene.xml", "--frames", "20"],
    "task run": ["task", "run", "reach", "--robot", "sample_arm", "--policy", "reach", "--episodes", "1"],
    "world build": ["world", "build", f"{SAMPLES}/lab/lab.yaml", "-o", "OUT/lab", "--format", "usd"],
}


class CallRecorder:
    """Files that were called into and pairs of files with a call between them."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.edges: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call, as ``sys.setprofile`` reports it."""
        name = frame.f_code.co_filename
        if event != "call" or _is_import(frame) or not name.startswith(SOURCE):
            return
        self.files.add(name)
        # Between two of our files there may be frames of a library (click, a decorator): the nearest of ours called.
        back = frame.f_back
        while back is not None and not back.f_code.co_filename.startswith(SOURCE):
            back = back.f_back
        if back is not None and back.f_code.co_filename != name and not _is_import(back):
            self.edges.add((back.f_code.co_filename, name))


def _is_import(frame: FrameType) -> bool:
    """Is it the body of a module or of a class, which runs when the file is imported?"""
    return not frame.f_code.co_flags & inspect.CO_OPTIMIZED


def trace(journey: str) -> dict[str, Any]:
    """Run one journey in this process."""
    from click.testing import CliRunner

    from simwright.app.cli.main import cli

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bad.usda").write_text(BAD_ROBOT)
        words = [word.replace("OUT", folder) for word in JOURNEYS[journey]]
        recorder = CallRecorder()
        sys.setprofile(recorder)
        try:
            outcome = CliRunner().invoke(cli, words)
        finally:
            sys.setprofile(None)
    files = sorted(name.removeprefix(SOURCE + "/") for name in recorder.files)
    return {"journey": journey, "exit": outcome.exit_code, "files": files, "edges": len(recorder.edges)}


def main() -> None:
    """Trace each journey in a process of its own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("journeys", nargs="*", metavar="JOURNEY", help=", ".join(JOURNEYS))
    parser.add_argument("--list", action="store_true", help="print the files of each journey")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.journeys) - set(JOURNEYS):
        parser.error(f"unknown journey {min(unknown)!r}; there are {', '.join(JOURNEYS)}")
    if options.in_process:
        print(json.dumps(trace(options.journeys[0])))
        return
    for journey in options.journeys or JOURNEYS:
        command = [sys.executable, __file__, journey, "--in-process"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = json.loads(answer.splitlines()[-1])
        print(
            f"{journey:12} {len(found['files']):4} files {found['edges']:5} edges  exit {found['exit']}",
            flush=True,
        )
        if options.list:
            print("\n".join(f"    {name}" for name in found["files"]))


if __name__ == "__main__":
    main()
