# SPDX-License-Identifier: Apache-2.0
"""Interpreters of peers that must not share ours: those of ``scripts/judge``, made when first needed.

``SIMWRIGHT_PEER_<NAME>`` names the interpreter of an environment that is there already.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.judge.environments import NoEnvironmentError, find_environment, hold

from benchmarks.measure import Result


def find_peer(name: str) -> str:
    """The interpreter that can import a peer; empty where it cannot be installed."""
    given = os.environ.get(f"SIMWRIGHT_PEER_{name.upper()}", "")
    if given:
        done = subprocess.run([given, "-c", f"import {name}"], check=False, capture_output=True)
        return "" if done.returncode else given
    try:
        with hold(find_environment(name), lambda _: None) as python:
            return str(python)
    except NoEnvironmentError:
        return ""


def explain_absence(name: str) -> str:
    """What to do about a peer that is not there."""
    variable = f"SIMWRIGHT_PEER_{name.upper()}"
    listed = f"scripts/judge/{find_environment(name).name}.txt"
    return f"left out, {listed} cannot be installed; {variable} may name an interpreter that has {name}"


def run_in_environment(name: str, module: str) -> Iterator[Result | str]:
    """A benchmark module by the interpreter that has a peer, on this checkout; its progress is shown as it comes."""
    python = find_peer(name)
    if not python:
        yield f"{module}: {explain_absence(name)}"
        return
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        subprocess.run(
            [python, "-m", "benchmarks", module, "--format", "json", "--results", str(file)],
            # peers print there, too: Warp tells each kernel that it compiles
            cwd=root, stdout=subprocess.DEVNULL, check=False,
            env=os.environ
            | find_environment(name).make_variables()
            | {"PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))},
        )  # fmt: skip
        found = json.loads(file.read_text())["modules"][module]
    for row in found["rows"]:
        yield Result(**{key: value for key, value in row.items() if key not in ("ratio", "verdict")})
    yield from found["remarks"]
    if found["error"]:
        raise RuntimeError(found["error"])
