# SPDX-License-Identifier: Apache-2.0
"""Ask an engine, in a process and an environment of its own, what it sees of a USD file."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numpy as np

import simwright
from simwright.formats.format import WriteOptions

from .mujoco_model import describe
from .seen import Configuration, Seen, load, name_of

REPO = Path(__file__).resolve().parents[2]

FOR_ENGINE = {"mujoco_usd": "mujoco", "newton": "newton", "physx": "isaac"}
"""Which assets each engine is given: the word of ``simwright convert --for``."""

FOR_KEYWORD = "for_"
"""The keyword of ``simwright.convert`` for it; a Simwright without it writes one asset for all of them."""

MODULES = {"mujoco_usd": "mujoco", "newton": "newton", "physx": "ovphysx"}
"""What the interpreter of an engine's environment imports; ``SIMWRIGHT_PEER_<MODULE>`` may name another interpreter."""

CONFIGURATIONS = 3


class NotSeenError(Exception):
    """An engine refuses a file, crashes, or takes too long; the message is the engine's."""


def convert(file: Path, folder: Path, engine: str) -> Path:
    """The asset that an engine is given."""
    known = {row.name for row in dataclasses.fields(WriteOptions)}
    wishes: dict[str, Any] = {FOR_KEYWORD: FOR_ENGINE[engine]} if FOR_KEYWORD in known else {}
    return simwright.convert(file, folder, to="usd", **wishes)


def find_wish(engine: str) -> str:
    """What two engines must have in common to be given the same asset."""
    known = {row.name for row in dataclasses.fields(WriteOptions)}
    return FOR_ENGINE[engine] if FOR_KEYWORD in known else "all"


def see_reference(file: Path) -> tuple[Seen, list[Configuration]]:
    """What plain MuJoCo sees of an MJCF file, in the reference pose and in poses within the limits.

    Raises ``ValueError`` where MuJoCo refuses the file.
    """
    model = mujoco.MjModel.from_xml_path(str(file))
    random = np.random.default_rng(18)
    configurations: list[Configuration] = []
    for _ in range(CONFIGURATIONS):
        joints, bodies = {}, {}
        for joint in range(model.njnt):
            name = name_of(model.joint(joint).name)
            kind = mujoco.mjtJoint(model.jnt_type[joint])
            scalar = kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
            alone = model.body_jntnum[model.jnt_bodyid[joint]] == 1  # others become one joint of many axes
            if scalar and alone:
                low, high = model.jnt_range[joint] - model.qpos0[model.jnt_qposadr[joint]]
                low, high = (low, high) if model.jnt_limited[joint] else (-0.8, 0.8)
                chosen = float(random.uniform(low, high))
                bodies[name_of(model.body(model.jnt_bodyid[joint]).name)] = chosen
                if name:
                    joints[name] = chosen
        bodies.pop("", None)  # of a body without a name nobody can tell which it is
        configurations.append({"joints": joints, "bodies": bodies})
    return describe(model, configurations), configurations


def ask(engine: str, asset: Path, configurations: Sequence[Configuration], seconds: float = 300.0) -> Seen:
    """What an engine sees of an asset; raises ``NotSeenError``."""
    environments = _load_environments()
    environment = environments.list_environments()[engine]
    python = os.environ.get(f"SIMWRIGHT_PEER_{MODULES[engine].upper()}") or str(environment.python)
    unfinished = python == str(environment.python) and not (environment.folder / ".ready").is_file()
    if unfinished or not Path(python).is_file():
        raise NotSeenError(f"no environment: `python scripts/judge {engine}` makes it")
    told = asset.parent / "configurations.json"
    told.write_text(json.dumps(configurations))
    command = [python, "-m", f"scripts.engines.see_{engine}", str(asset), str(told)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            cwd=REPO,
            env=variables | environment.make_variables(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotSeenError(f"no answer after {seconds:.0f} s") from error
    finally:
        told.unlink()
    if done.returncode:
        raise NotSeenError(_find_reason(done.returncode, done.stderr))
    return load(done.stdout)


def _find_reason(code: int, printed: str) -> str:
    """The exception at the end of what a worker printed, with all of its lines; else how the process ended."""
    if code < 0:
        return f"crashes with signal {-code}"
    found = list(re.finditer(r"^[\w.]*(?:Error|Exception): ", printed, re.MULTILINE))
    told = printed[found[-1].end() :] if found else printed[-300:]
    return " ".join(told.split()) or f"ends with {code}"


def _load_environments() -> ModuleType:
    """``scripts/judge/environments.py``, which is no package: ``python scripts/judge`` runs the folder."""
    if "judge_environments" not in sys.modules:
        place = REPO / "scripts" / "judge" / "environments.py"
        spec = importlib.util.spec_from_file_location("judge_environments", place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    return sys.modules["judge_environments"]
