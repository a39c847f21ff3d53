"""Stages that other converters make of real robots, fixed: errors before and after, and whether they simulate alike.

The converters are never installed beside Simwright: ``SIMWRIGHT_PEER_MUJOCO_USD_CONVERTER`` and
``SIMWRIGHT_PEER_URDF_USD_CONVERTER`` name interpreters that can import them.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import simwright
from simwright.core.diag import Level

PEERS = {"mjcf": "mujoco_usd_converter", "urdf": "urdf_usd_converter"}
NO_ROBOTS = frozenset({"package.xml", "keyframes.xml"})
VALUES = {"unknown-physics": "isolate", "mass.l_gripper": "0.1", "mass.r_gripper": "0.1"}
"""What a person decides about the assets of the shared folder, and about grippers of Romeo that weigh nothing."""


@dataclass(slots=True)
class Repair:
    """One asset: its stage before and after, and how many errors each has."""

    before: Path
    after: Path
    errors: tuple[int, int] = (0, 0)
    proven: bool = False
    notes: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    changed_again: bool = False


def find_peer(kind: str) -> str:
    """The interpreter of a converter; empty where none is named."""
    return os.environ.get(f"SIMWRIGHT_PEER_{PEERS[kind].upper()}", "")


def find_robots(assets: Path, kind: str) -> list[Path]:
    """Robots below a folder, or its folder of that kind, that a converter reads; scenes are made of them."""
    if kind == "usd":
        return sorted((assets / "usd").glob("*.usda"))
    folder = assets / kind if (assets / kind).is_dir() else assets
    found = sorted(folder.rglob("*.xml" if kind == "mjcf" else "*.urdf"))
    robots = [file for file in found if file.name not in NO_ROBOTS and "scene" not in file.stem]
    return [file for file in robots if kind != "mjcf" or "<worldbody" in file.read_text(errors="replace")]


def convert_with_peer(python: str, kind: str, robot: Path, folder: Path) -> Path:
    """The stage that the peer makes of a robot."""
    command = [python, "-m", PEERS[kind], str(robot), str(folder)]
    for above in robot.parents if kind == "urdf" else ():
        manifest = above / "package.xml"
        if manifest.is_file():
            name = re.search(r"<name>\s*([^<\s]+)", manifest.read_text())
            command += ["--package", f"{name[1] if name else above.name}={above}"]
        elif above.parent.name == kind:
            command += ["--package", f"{above.name}={above}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    made = sorted(folder.glob("*.usda"))
    # a converter that fails half-way leaves an entry layer with nothing in it
    is_made = done.returncode == 0 and len(made) == 1
    assert is_made, f"{PEERS[kind]} does not convert {robot.name}: {done.stderr[-500:]}"
    return made[0]


def repair(stage: Path, folder: Path) -> Repair:
    """Fix an asset with all that needs intent, check the result from scratch, and fix that once more."""
    result = simwright.fix(stage, folder / "fixed", unsafe=True, values=VALUES)
    after = Path(result.entry)
    report = simwright.check(after, profile="all")
    errors = [found for asset in report.assets for found in asset.findings if found.level is Level.ERROR]
    again = simwright.fix(after, folder / "again", unsafe=True, values=VALUES)
    return Repair(
        stage,
        after,
        (sum(found.level is Level.ERROR for found in result.before), len(errors)),
        result.proven,
        Counter(note.kind for note in result.notes),
        [f"{found.kind} {found.where.prim}: {found.message}" for found in errors],
        read_files(after.parent) != read_files(Path(again.entry).parent),
    )


def read_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
