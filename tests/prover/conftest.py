"""Engines that are none: rows of the table whose interpreter is a script, or our own interpreter."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simwright.prover.environments import IsolatedEnvironment
from simwright.prover.table import FAMILY, IsolatedEngine, list_engines

MakeEngine = Callable[..., IsolatedEngine]


@pytest.fixture
def make_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeEngine:
    """Adds a row ``name``: MuJoCo on MJCF in a process of its own, or the script that is given instead of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(name: str, script: str = f'exec {sys.executable} "$@"', **changes: object) -> IsolatedEngine:
        environment = IsolatedEnvironment(name, "a test", ("json",), (), FAMILY)
        environment.python.parent.mkdir(parents=True)
        environment.python.write_text(f"#!/bin/sh\n{script}\n")
        environment.python.chmod(0o755)
        (environment.folder / ".ready").touch()
        row = IsolatedEngine(name, "a test", "mujoco", "mjcf", "double", "none", environment)
        row = dataclasses.replace(row, **changes)
        monkeypatch.setitem(list_engines(), name, row)  # type: ignore[arg-type]
        return row

    return make
