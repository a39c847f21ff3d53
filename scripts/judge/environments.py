# SPDX-License-Identifier: Apache-2.0
"""Who judges us: rows of ``environments.toml``, each an environment below the user's cache, or those of all engines."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simwright.prover.environments import IsolatedEnvironment, NoEnvironmentError, Say, hold, name_of_pin
from simwright.prover.table import list_engines

__all__ = ["NoEnvironmentError", "hold"]

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
FAMILY = "judge"
DEFINITIONS = REPO / "src" / "simwright" / "ros" / "definitions"
_TEST_TOOLS = ("pytest", "pytest-xdist")


@dataclass(frozen=True, slots=True)
class Judge:
    """One row of ``environments.toml``, which says what the fields mean; ``environments`` are what it needs."""

    name: str
    tests: tuple[str, ...]
    inside: bool
    environments: tuple[IsolatedEnvironment, ...]
    interfaces: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()

    def make_variables(self) -> dict[str, str]:
        """IsolatedEnvironment variables for tests: its own, and where the interpreter of each of its modules is."""
        found: dict[str, str] = {}
        for environment in self.environments:
            found |= environment.make_variables()
            for module in environment.modules:
                found[f"SIMWRIGHT_PEER_{module.upper()}"] = str(environment.python)
        return found


def list_judges() -> dict[str, Judge]:
    """All rows of the table by name."""
    rows = tomllib.loads((HERE / "environments.toml").read_text())
    return {name: _make_judge(name, row) for name, row in rows.items()}


def find_environment(module: str) -> IsolatedEnvironment:
    """The environment that has a module."""
    rows = (environment for judge in list_judges().values() for environment in judge.environments)
    return next(environment for environment in rows if module in environment.modules)


@contextlib.contextmanager
def hold_all(judge: Judge, say: Say) -> Iterator[list[Path]]:
    """The interpreters of a judge, made if they are not there; nobody removes them meanwhile."""
    for program in judge.programs:
        install_program(program, say)
    with contextlib.ExitStack() as stack:
        pythons = [stack.enter_context(hold(environment, say)) for environment in judge.environments]
        if judge.interfaces:
            build_interfaces(pythons[0], judge.interfaces, say)
        yield pythons


def install_program(name: str, say: Say) -> None:
    """A command of the system, from Debian's package of its name where it is missing."""
    if shutil.which(name):
        return
    say(f"installing {name}")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", name]
    for command in (["apt-get", "update", "-qq"], install):
        try:
            done = subprocess.run([*prefix, *command], capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise NoEnvironmentError(f"{name} is missing and cannot be installed: {error}") from None
    if not shutil.which(name):
        raise NoEnvironmentError(f"{name} is missing and cannot be installed:\n{done.stderr[-2000:].strip()}")


def build_interfaces(python: Path, packages: tuple[str, ...], say: Say) -> None:
    """Build ROS 2 packages into an environment, each unless that was done with the same definitions."""
    folder = python.parents[1]
    with (folder / ".interfaces.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for package in packages:
            sources = (HERE / "interfaces.py", DEFINITIONS / f"{package}.txt")
            told = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
            marker = folder / f".interfaces-{package}"
            if marker.is_file() and marker.read_text() == told:
                continue
            say(f"building {package}")
            done = subprocess.run(
                [str(python), str(HERE / "interfaces.py"), package],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise NoEnvironmentError((done.stdout + done.stderr)[-4000:].strip())
            marker.write_text(told)


def make_environment(name: str, row: dict[str, Any]) -> IsolatedEnvironment:
    """The environment of a row, with the versions that ``<name>.txt`` has."""
    pins = _read_lines(HERE / f"{name}.txt")
    others, constraints = [], []
    if row.get("inside"):
        project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
        others = [*project["dependencies"], *_TEST_TOOLS]
        # the environment's own pins go before ours
        own = {name_of_pin(line) for line in pins}
        ours = _read_lines(REPO / "constraints.txt")
        constraints = [line for line in ours if name_of_pin(line) not in own]
        # wheels of ROS packages have the metadata of the package in them, which pip lists too
        constraints += [line.removeprefix("ros-") for line in pins if line.startswith("ros-")]
    return IsolatedEnvironment(
        name,
        row["about"],
        tuple(row["modules"]),
        tuple(pins),
        FAMILY,
        tuple(others),
        tuple(constraints),
        row.get("variables", {}),
        row.get("python", ""),
    )


def _make_judge(name: str, row: dict[str, Any]) -> Judge:
    if row.get("engines"):
        environments = tuple(engine.environment for engine in list_engines().values())
    else:
        environments = (make_environment(name, row),)
    interfaces = tuple(row.get("interfaces", ()))
    programs = tuple(row.get("programs", ()))
    return Judge(name, tuple(row["tests"]), bool(row.get("inside")), environments, interfaces, programs)


def _read_lines(file: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line]
