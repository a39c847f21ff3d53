"""One damaged file and one command: made from a number, run in a folder of its own.

:func:`run_case` says what went wrong, or nothing.  Exit codes 0 (clean), 1 (findings) and 2 (refused, with one line)
are how damaged input is meant to end; anything else is a bug: exit code 3, a file outside the folder for results, a
started program, a connection, a file outside of the asset that is read (:mod:`canary`), a control character on the
terminal.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import canary
from .commands import draw_command, draw_kind
from .mutation import BINARY, CANARY, SECRETS, mutate
from .seeds import find_main

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LINKED_SHARE = 0.03
"""How many cases have a file that is a link to one outside."""
_BUGS = ("check-failed", "check-rule-crashed", "fix-crashed", "convert-internal-error", "Traceback")
"""Words in what a command says that mean a bug of ours, in a run that goes on."""
_SETTINGS = ("simwright.toml", "known.json", "plan.yaml")
"""Files of the user, whom a command names or finds: they may be links to anywhere."""
_allowed: list[Path] = []
_offences: list[str] = []
_said = io.StringIO()
"""What commands say: one for all of them, since click keeps every stream that it has written to."""


def run_case(number: int, seeds: Path, work: Path) -> dict[str, Any]:
    """Run one case; ``seeds`` has a folder for each kind of file, ``work`` is emptied."""
    rng = random.Random(number)
    kind = draw_kind(rng)
    text = draw_command(kind, rng)
    main = _make_files(seeds / kind, work, rng)
    places = {"main": main, "seed": seeds / kind / main.name, "in": main.parent, "out": work / "out"}
    arguments = [word.format(**places) for word in shlex.split(text)]
    result: dict[str, Any] = {"number": number, "kind": kind, "command": " ".join(text.split()[:2])}
    with _watched(work):
        code, said = run_command(arguments, work)
    result["end"] = str(code)
    problems = [*_offences]
    _offences.clear()
    if code not in (0, 1, 2):
        problems.append(f"exit code {code}: {said[-5000:]}")
    problems += find_problems(said, work)
    if problems:
        result["bug"] = f"{shlex.join(arguments)}\n" + "\n".join(problems)
    return result


def run_command(arguments: list[str], work: Path) -> tuple[int, str]:
    """The exit code of a command, and all it said."""
    from simwright.app.cli.main import run

    _said.seek(0)
    _said.truncate()
    before = Path.cwd()
    os.chdir(work / "out")
    try:
        with contextlib.redirect_stdout(_said), contextlib.redirect_stderr(_said):
            code = run(arguments)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the result of the case
        return -1, "".join(traceback.format_exception(error))
    finally:
        os.chdir(before)
    return code, _said.getvalue()


def find_problems(said: str, work: Path) -> list[str]:
    """What a command left behind or showed that it must not."""
    from simwright.core.visible import make_visible

    problems = []
    if make_visible(said, keep="\n") != said:
        hidden = sorted({char for char in said if char != "\n" and make_visible(char) != char})
        problems.append(f"shows hidden characters {hidden}: {said[:3000]!r}")
    problems += [f"hides a bug: {said[-3000:]}" for code in _BUGS if code in said]
    if canary.MARK.decode() in said:
        problems.append(f"tells what an outside file says: {said[:3000]!r}")
    problems += [
        f"{file} has bytes of an outside file" for file in canary.search([work / "in", work / "out"])
    ]
    problems += [f"the outside file {name} was read" for name in canary.find_read(work)]
    strays = _list_strays(work)
    if strays:
        gc.collect()  # some folders go with the object that holds them
        strays = _list_strays(work)
    if strays:
        problems.append(f"left behind: {strays}")
    return problems


def _list_strays(work: Path) -> list[str]:
    strays = sorted(path.name for path in work.iterdir() if path.name not in ("in", "out", "tmp", "home"))
    strays += sorted(path.name for path in (work / "tmp").iterdir())
    hidden = [
        path for place in ("in", "out") for path in (work / place).rglob(".*") if ".simwright" in path.name
    ]
    return strays + sorted(map(str, hidden))


def _make_files(folder: Path, work: Path, rng: random.Random) -> Path:
    """Copy a seed and damage one of its files: mostly the first, the one that is opened."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder, work / "in")
    for name in ("tmp", "out"):
        (work / name).mkdir()
    canary.plant(work)
    tempfile.tempdir = str(work / "tmp")
    files = sorted(path for path in (work / "in").iterdir() if path.is_file())
    main = find_main(work / "in")
    victim = main if rng.random() < 0.7 else rng.choice(files)
    # of a package its name is read, also where that is a link, as after an installation by links
    victim = main if victim.name == "package.xml" else victim
    if victim != main and victim.name not in _SETTINGS and rng.random() < _LINKED_SHARE * 10:
        alike = [name for name in SECRETS if Path(name).suffix == victim.suffix] or ["passwd"]
        victim.unlink()
        victim.symlink_to(work / canary.FOLDER / rng.choice(alike))
        return main
    data = mutate(victim.read_bytes(), rng, victim.suffix)
    if victim.suffix not in BINARY:
        data = data.replace(CANARY.encode(), os.fsencode(work / canary.FOLDER))
    victim.write_bytes(data)
    return main


@contextmanager
def _watched(work: Path) -> Iterator[None]:
    """Note every attempt to write outside of ``work``, to start a program or to connect."""
    own = [os.environ[name] for name in ("XDG_CACHE_HOME", "SIMWRIGHT_FUZZ_SCRATCH") if name in os.environ]
    _allowed[:] = [(work / name).resolve() for name in ("in", "out", "tmp")] + [
        Path(place).resolve() for place in own
    ]
    try:
        yield
    finally:
        _allowed.clear()


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not _allowed:
        return
    if event in (
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
        "socket.connect",
        "socket.getaddrinfo",
    ):
        _offences.append(f"{event}{arguments[:2]}")
    elif event == "open":
        path, _, flags = arguments
        if isinstance(path, str) and canary.FOLDER in os.path.realpath(path):
            _offences.append("".join(traceback.format_stack(limit=6)[:-1]))
        if isinstance(path, str | bytes | os.PathLike) and isinstance(flags, int) and flags & _WRITING:
            _judge(event, path)
    elif (
        event in ("os.mkdir", "os.remove", "os.rmdir") and arguments[-1] == -1
    ):  # else inside an opened folder
        _judge(event, arguments[0])
    elif event in ("os.rename", "os.link", "os.symlink"):
        _judge(event, arguments[1])


def _judge(event: str, path: Any) -> None:
    text = os.path.realpath(os.fsdecode(path))
    harmless = text in ("/dev/null", "/dev/zero", "/dev/tty") or f"{os.sep}__pycache__{os.sep}" in text
    if not harmless and not any(Path(text).is_relative_to(root) for root in _allowed):
        _offences.append(f"{event} {text}")


sys.addaudithook(_audit)
