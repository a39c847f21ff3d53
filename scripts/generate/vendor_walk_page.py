# SPDX-License-Identifier: Apache-2.0
"""docs/vendor-walk.md: an asset as simulators save them, from the first check to no error, as commands say it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from generate import NOTE

ASSET = Path(__file__).resolve().parents[2] / "tests" / "sanitizer" / "vendor_asset" / "rover.usda"
FIX = [
    "fix",
    "rover.usda",
    "-o",
    "fixed",
    "--unsafe",
    "--set",
    "identifier=acme/rover",
    "--set",
    "version=1.0.0",
]
COMMANDS = [
    ["check", "rover.usda", "--no-cache"],
    ["explain", "proprietary-confined"],
    FIX,
    ["check", "fixed", "--no-cache"],
    [*FIX[:1], "fixed/rover.usda", "-o", "again", *FIX[4:]],
]
_RUN = """
import contextlib, io, json, sys
from simwright.app.cli.main import run
answers = []
for words in json.loads(sys.argv[1]):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(words)
    answers.append([code, out.getvalue()])
sys.__stdout__.write(json.dumps(answers))
"""
INTRO = """# From a simulator's file to an asset that passes

A small rover as an editor for Isaac Sim saves it: one file, centimetres, Y up, 60 time codes per second, PhysX schemas
on bodies, joints and materials, an OmniGraph that talks to ROS, materials in MDL. All that follows is what the commands
say; the file is [rover.usda](../tests/sanitizer/vendor_asset/rover.usda).

## Look

Every fault is told once, with the line it is on, what to do, and the other rules that see it. Two of the findings, and
the summary at the end:
"""
EXPLAIN = "\n## Understand\n\nEvery rule says why it is there and what passes.\n"
FIXED = """
## Fix

`--unsafe` lets `fix` do what needs consent: convert units and axes, divide the file into layers, say in neutral words
what PhysX was told. The identifier and the version are the only things that nobody can guess. What changes is proven:
the machine before and after is compared, and a fix that would change it is taken back. Comments stay where they stand.
"""
LEFT = """
## Look again

No error is left. What is left are warnings that a person decides: an MDL file that is not there, links that stand side
by side.
"""
LAYERS = """
The file became the layers that REP-0158 names; what only Isaac Sim and PhysX read is in layers of their own, which
others leave out:
"""
AGAIN = "\nFixing it once more changes nothing, to the byte:\n"


def generate() -> str:
    """The text of the page."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(ASSET, Path(folder) / "rover.usda")
        command = [sys.executable, "-c", _RUN, json.dumps(COMMANDS)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        answers = [
            (code, text.replace(f"{Path(folder).resolve()}/", "")) for code, text in json.loads(done.stdout)
        ]
        layers = sorted(file.name for file in (Path(folder) / "fixed").iterdir())
        names = [file.name for file in (Path(folder) / "fixed").iterdir()]
        same = all(
            (Path(folder) / "fixed" / name).read_bytes() == (Path(folder) / "again" / name).read_bytes()
            for name in names
        )
    codes = [code for code, _ in answers]
    # the page may not promise what is not so
    assert codes == [1, 0, 0, 0, 0], f"the walk ends otherwise: {codes}"
    assert same, "the second fix changed something"
    check, explain, fix, left, again = (text for _, text in answers)
    found = _split(check)
    shown = [
        part for part in found if part.startswith(("error[units-meters]", "error[proprietary-confined]"))
    ][:2]
    parts = [
        INTRO, _show(COMMANDS[0], "\n\n".join([*shown, "...", found[-1]])),
        EXPLAIN, _show(COMMANDS[1], explain),
        FIXED, _show(COMMANDS[2], "...\n" + _split(fix)[-1]),
        LEFT, _show(COMMANDS[3], "\n\n".join(part for part in _split(left) if not part.startswith("info["))),
        LAYERS, "```\n" + "\n".join(layers) + "\n```\n",
        AGAIN, _show(COMMANDS[4], _split(again)[-1]),
    ]  # fmt: skip
    return NOTE + "\n".join(part.strip("\n") + "\n" for part in parts)


def _split(text: str) -> list[str]:
    return [part.strip("\n") for part in text.strip("\n").split("\n\n") if part.strip()]


def _show(words: list[str], text: str) -> str:
    command = " ".join(word for word in words if word != "--no-cache")
    return f"```\n$ simwright {command}\n{text.rstrip()}\n```\n"
