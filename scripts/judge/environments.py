# SPDX-License-Identifier: Apache-2.0
"""Environments of other projects, below the user's cache: made when first needed, kept while their versions stay.

``environments.toml`` lists them.  Each is a folder ``<name>-<hash of all that is installed>``; the file ``.ready`` in
it says that it was finished.  Virtual environments cannot be moved, so they are made in place: one without ``.ready``
was interrupted and is made again.  A lock beside each folder keeps a second run from using what a first one still
makes, and from removing what a first one still uses.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parents[1]
_TEST_TOOLS = ("pytest", "pytest-xdist")
_OF_VENV = frozenset({"pip", "setuptools", "wheel"})
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[a-z,]+\])?==[0-9][^\s;]*")


class NoEnvironmentError(Exception):
    """An environment cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One row of ``environments.toml``, which says what the fields mean."""

    name: str
    about: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    inside: bool = False
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def requirements(self) -> list[str]:
        """What pip is asked for: the pins, and what runs our tests."""
        pins = _read_lines(HERE / f"{self.name}.txt")
        if not self.inside:
            return pins
        project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
        return [*pins, *project["dependencies"], *_TEST_TOOLS]

    @property
    def constraints(self) -> list[str]:
        """Versions of everything that may come along; the environment's own pins go before ours."""
        pins = _read_lines(HERE / f"{self.name}.txt")
        own = {name_of_pin(line) for line in pins}
        ours = _read_lines(REPO / "constraints.txt") if self.inside else []
        return [line for line in ours if name_of_pin(line) not in own]

    @property
    def folder(self) -> Path:
        """Where it is, whether it was made or not: another version of anything is another folder."""
        python = [platform.python_implementation(), platform.python_version(), platform.machine()]
        told = json.dumps([python, self.requirements, self.constraints, self.modules])
        return find_cache() / f"{self.name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def make_variables(self) -> dict[str, str]:
        """Environment variables for tests: its own, and where the interpreter of each of its modules is."""
        own = {name: value.format(cache=find_cache()) for name, value in self.variables.items()}
        return own | {f"SIMWRIGHT_PEER_{module.upper()}": str(self.python) for module in self.modules}


def list_environments() -> dict[str, Environment]:
    """All rows of the table by name."""
    rows = tomllib.loads((HERE / "environments.toml").read_text())
    return {
        name: Environment(name, **{**row, "modules": tuple(row["modules"]), "tests": tuple(row["tests"])})
        for name, row in rows.items()
    }


def find_environment(module: str) -> Environment:
    """The environment that has a module."""
    return next(row for row in list_environments().values() if module in row.modules)


def find_cache() -> Path:
    """The folder of all environments, below the user's cache."""
    place = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(place) / "simwright" / "judge"


def name_of_pin(line: str) -> str:
    """The name of a package as registries compare it, of a line ``name==version``; raises ``ValueError``."""
    found = _PIN.fullmatch(line)
    if found is None:
        raise ValueError(f"{line!r} is not a name with an exact version: name==1.2.3")
    return _normalize(found[1])


@contextlib.contextmanager
def hold(environment: Environment, say: Callable[[str], None]) -> Iterator[Path]:
    """Its interpreter, made if it is not there; nobody removes it meanwhile.  Raises ``NoEnvironmentError``."""
    folder = environment.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock_of(folder).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / ".ready").is_file():
            _make(environment, say)
        _remove_older(environment)
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield environment.python


def _make(environment: Environment, say: Callable[[str], None]) -> None:
    folder = environment.folder
    say(f"making the environment for {environment.about}")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], f"cannot make {folder.name}")
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(environment.constraints) + "\n")
    say(f"installing {len(environment.requirements)} packages and what they need")
    pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--constraint", str(constraints), *environment.requirements]
    _run(install, f"cannot install what {environment.name}.txt lists")
    listed = json.loads(_run([*pip, "list", "--format", "json"], "cannot list the packages"))
    known = _OF_VENV | {name_of_pin(line) for line in _read_lines(HERE / f"{environment.name}.txt")}
    known |= {name_of_pin(line) for line in environment.constraints}
    loose = [f"{row['name']}=={row['version']}" for row in listed if _normalize(row["name"]) not in known]
    if loose:
        raise NoEnvironmentError(
            f"add these to {environment.name}.txt, which must name all: {' '.join(loose)}"
        )
    for module in environment.modules:
        _run([str(environment.python), "-c", f"import {module}"], f"cannot import {module}")
    (folder / ".ready").touch()


def _remove_older(environment: Environment) -> None:
    """Remove environments of this name with other versions, but for those that another run uses."""
    for folder in environment.folder.parent.glob(f"{environment.name}-*/"):
        if folder == environment.folder:
            continue
        with _lock_of(folder).open("w") as lock, contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _run(command: list[str], problem: str) -> str:
    """What a command prints; where it fails, the problem and the end of what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEnvironmentError(f"{problem}:\n{(done.stdout + done.stderr)[-4000:].strip()}")
    return done.stdout


def _read_lines(file: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return [line for line in lines if line]


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
