# SPDX-License-Identifier: Apache-2.0
"""Environments of peers that must not share ours: one virtual environment each, made when it is first needed.

``SIMWRIGHT_PEER_<NAME>`` names the interpreter of an environment that is there already.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "out" / "peers"
PACKAGES = {
    "mujoco_usd_converter": "mujoco-usd-converter==0.8.0",
    "urdf_usd_converter": "urdf-usd-converter==0.3.4",
    "pyrobosim": "pyrobosim==5.0.1",
    "usd2gltf": "usd2gltf==0.3.5",
}


def find_peer(name: str) -> str:
    """The interpreter that can import a peer; empty where it cannot be installed."""
    given = os.environ.get(f"SIMWRIGHT_PEER_{name.upper()}", "")
    python = Path(given) if given else FOLDER / name / "bin" / "python"
    if not given and not _can_import(python, name):
        _install(python, name)
    return str(python) if _can_import(python, name) else ""


def explain_absence(name: str) -> str:
    """What to do about a peer that is not there."""
    variable = f"SIMWRIGHT_PEER_{name.upper()}"
    return f"left out, {PACKAGES[name]} cannot be installed; {variable} may name an interpreter that has it"


def _can_import(python: Path, name: str) -> bool:
    if not python.exists():
        return False
    done = subprocess.run([python, "-c", f"import {name}"], check=False, capture_output=True)
    return done.returncode == 0


def _install(python: Path, name: str) -> None:
    folder = python.parents[1]
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGES[name]],
    )
    for command in commands:
        if subprocess.run(command, check=False, capture_output=True).returncode:
            return
