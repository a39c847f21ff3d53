# SPDX-License-Identifier: Apache-2.0
"""Environments of other projects, below the user's cache: made when asked for, kept while their versions stay.

Each is a folder ``<name>-<hash of all that is installed>``; the file ``.ready`` in it says that it was finished.
Virtual environments cannot be moved, so they are made in place: one without ``.ready`` was interrupted and is made
again.  A lock beside each folder keeps a second run from using what a first one still makes, and from removing what a
first one still uses.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from simwright.core.errors import SimwrightError

Say = Callable[[str], None]
"""Told what is being done, a line at a time."""

_OF_VENV = frozenset({"pip", "setuptools", "wheel"})
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[a-z,]+\])?==[0-9][^\s;]*")


class NoEnvironmentError(SimwrightError):
    """An environment cannot be made; the message says why."""

    code = "no-environment"


@dataclass(frozen=True, slots=True)
class IsolatedEnvironment:
    """One interpreter with packages of its own.

    ``pins`` are exact versions, ``others`` what is asked for beside them and ``constraints`` the versions of all
    that may come along with those.  ``modules`` is what the interpreter must be able to import.  ``family`` is the
    folder of the cache it is in; in the values of ``variables``, ``{cache}`` is that folder.
    """

    name: str
    about: str
    modules: tuple[str, ...]
    pins: tuple[str, ...]
    family: str
    others: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    """The Python it needs (``3.12``); empty for the one that runs this."""

    @property
    def requirements(self) -> list[str]:
        """What pip is asked for."""
        return [*self.pins, *self.others]

    @property
    def folder(self) -> Path:
        """Where it is, whether it was made or not: another version of anything is another folder."""
        python = [platform.python_implementation(), platform.python_version(), platform.machine()]
        told = json.dumps(
            [python, self.requirements, list(self.constraints), self.modules, *filter(None, [self.version])]
        )
        return find_cache(self.family) / f"{self.name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether it was made, to the end."""
        return (self.folder / ".ready").is_file()

    def make_variables(self) -> dict[str, str]:
        """Its own environment variables."""
        cache = find_cache(self.family)
        return {name: value.format(cache=cache) for name, value in self.variables.items()}


def find_cache(family: str) -> Path:
    """The folder of all environments of a family, below the user's cache."""
    place = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(place) / "simwright" / family


def name_of_pin(line: str) -> str:
    """The name of a package as registries compare it, of a line ``name==version``; raises ``ValueError``."""
    found = _PIN.fullmatch(line)
    if found is None:
        raise ValueError(f"{line!r} is not a name with an exact version: name==1.2.3")
    return _normalize(found[1])


@contextlib.contextmanager
def hold(environment: IsolatedEnvironment, say: Say) -> Iterator[Path]:
    """Its interpreter, made if it is not there; nobody removes it meanwhile.  Raises ``NoEnvironmentError``."""
    folder = environment.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock_of(folder).open("w") as lock:
        # shared where it is there: a benchmark does not wait for a judge that runs its tests in it
        fcntl.flock(lock, fcntl.LOCK_SH)
        while not environment.ready:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # between the two locks another run may have made it, and before the next one removed it
            if not environment.ready:
                _make(environment, say)
            fcntl.flock(lock, fcntl.LOCK_SH)
        _remove_older(environment)
        yield environment.python


def remove(environment: IsolatedEnvironment) -> bool:
    """Remove it and what an interrupted installation left; False where another run uses it."""
    folder = environment.folder
    # not looked for before: the lock of an environment that was never made belongs to nobody
    if not folder.parent.is_dir():
        return True
    return _remove_unused(folder)


def _make(environment: IsolatedEnvironment, say: Say) -> None:
    folder = environment.folder
    say(f"making the environment for {environment.about}")
    shutil.rmtree(folder, ignore_errors=True)
    _run([_find_python(environment), "-m", "venv", str(folder)], f"cannot make {folder.name}")
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(environment.constraints) + "\n")
    say(f"installing {len(environment.requirements)} packages and what they need")
    pip = [str(environment.python), "-m", "pip", "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--constraint", str(constraints), *environment.requirements]
    _run(install, f"cannot install what {environment.name} pins")
    listed = json.loads(_run([*pip, "list", "--format", "json"], "cannot list the packages"))
    known = _OF_VENV | {name_of_pin(line) for line in (*environment.pins, *environment.constraints)}
    loose = [f"{row['name']}=={row['version']}" for row in listed if _normalize(row["name"]) not in known]
    if loose:
        raise NoEnvironmentError(
            f"{environment.name} came with packages that are not pinned: {' '.join(loose)}",
            hint="add them to its pins, which must name all",
        )
    for module in environment.modules:
        say(f"importing {module}")
        _run([str(environment.python), "-c", f"import {module}"], f"cannot import {module}")
    (folder / ".ready").touch()


def _find_python(environment: IsolatedEnvironment) -> str:
    """The interpreter that makes it: this one, or the first of the version that it needs."""
    version = environment.version
    if not version or version == ".".join(platform.python_version_tuple()[:2]):
        return sys.executable
    # pyenv has interpreters that are not on the path, and names on the path that start none
    installed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    places = [shutil.which(f"python{version}"), *sorted(installed.glob(f"{version}.*/bin/python"))]
    for place in filter(None, places):
        if subprocess.run([str(place), "-c", ""], check=False, capture_output=True).returncode == 0:  # noqa: S603
            return str(place)
    raise NoEnvironmentError(
        f"{environment.name} needs Python {version}, which is not on this machine",
        hint=f"install python{version}",
    )


def _remove_older(environment: IsolatedEnvironment) -> None:
    """Remove environments of this name with other versions, but for those that another run uses."""
    named = re.compile(re.escape(environment.name) + r"-[0-9a-f]{12}")
    for folder in environment.folder.parent.glob(f"{environment.name}-*/"):
        # "mujoco-usd-..." is none of "mujoco-..."
        if folder != environment.folder and named.fullmatch(folder.name):
            _remove_unused(folder)


def _remove_unused(folder: Path) -> bool:
    with _lock_of(folder).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(folder, ignore_errors=True)
    return True


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


def _run(command: list[str], problem: str) -> str:
    """What a command prints; where it fails, the problem and the end of what it said."""
    # the command is our own, with versions that have been checked to be such
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise NoEnvironmentError(f"{problem}:\n{(done.stdout + done.stderr)[-4000:].strip()}")
    return done.stdout


def _normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
