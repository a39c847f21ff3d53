"""One damaged file: made from its number, read, described and converted in a folder of its own.

:func:`run_case` says what went wrong, or nothing.  A refusal (a SimwrightError) and findings are how damaged input is
meant to end; anything else is a bug: another exception, a file outside the folder for results, a started
program, a connection.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mutation import mutate

BINARY = (".usdc", ".stl", ".glb", ".png")
CONVERTED_SHARE = 8
"""One in so many of the files that can be read is also converted."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_allowed: list[Path] = []
_offences: list[str] = []


def run_case(number: int, seeds: Path, work: Path) -> dict[str, Any]:
    """Run one case; ``seeds`` has a folder for each kind of file, ``work`` is emptied."""
    rng = random.Random(number)
    folders = sorted(path for path in seeds.iterdir() if path.is_dir())
    folder = folders[number % len(folders)]
    source = _make_files(folder, work, rng)
    result: dict[str, Any] = {"number": number, "kind": folder.name, "end": "read"}
    with _watched(work):
        try:
            _use(source, work / "out", convert=number % CONVERTED_SHARE == 0, result=result)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the result of the case
            from simwright.core.errors import SimwrightError

            result["end"] = "refused"
            if not isinstance(error, SimwrightError):
                result["bug"] = "".join(traceback.format_exception(error))[-6000:]
    strays = sorted(path.name for path in work.iterdir() if path.name not in ("in", "out", "tmp"))
    strays += sorted(path.name for path in (work / "tmp").iterdir())
    if strays or _offences:
        result["bug"] = f"left behind: {strays}; did: {_offences}"
    _offences.clear()
    return result


def _make_files(folder: Path, work: Path, rng: random.Random) -> Path:
    """Copy a seed and damage one of its files: mostly the first, the one that is opened."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(folder, work / "in")
    (work / "tmp").mkdir()
    tempfile.tempdir = str(work / "tmp")
    files = sorted(path for path in (work / "in").iterdir() if path.is_file())
    source = next(path for path in files if path.stem == "main")
    victim = source if rng.random() < 0.8 else rng.choice(files)
    victim.write_bytes(mutate(victim.read_bytes(), rng, binary=victim.suffix in BINARY))
    return source


def _use(source: Path, out: Path, *, convert: bool, result: dict[str, Any]) -> None:
    """What ``simwright inspect`` and ``simwright convert`` do."""
    from simwright.app.api import load
    from simwright.app.describe import describe_asset
    from simwright.app.report.report import build_report
    from simwright.app.report.table import render_report
    from simwright.app.tree_text import render_tree
    from simwright.core.diag import Reporter, sort_diagnostics
    from simwright.formats.table import write_asset

    reporter = Reporter()
    asset = load(source, reporter=reporter)
    describe_asset(asset, sort_diagnostics(reporter))
    list(render_tree(asset))
    if convert:
        result["end"] = "converted"
        write_asset(asset, out / "robot", reporter=reporter)
    render_report("text", build_report(str(source), sort_diagnostics(reporter)))


@contextmanager
def _watched(work: Path) -> Iterator[None]:
    """Note every attempt to write outside of ``work``, to start a program or to connect."""
    _allowed[:] = [work.resolve()]
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
        "socket.connect",
        "socket.getaddrinfo",
    ):
        _offences.append(f"{event}{arguments[:2]}")
    elif event == "open":
        path, _, flags = arguments
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
