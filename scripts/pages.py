# SPDX-License-Identifier: Apache-2.0
"""Run the commands and the Python of a documentation page, and compare what they print with what the page shows.

    python scripts/pages.py docs/tutorials/urdf-to-everywhere.md            # tell what differs
    python scripts/pages.py docs/tutorials/urdf-to-everywhere.md --write    # put what is printed into the page

A page runs from top to bottom in an empty folder. Samples are in ``samples``, unless the page copies them there:

- ``console``: lines that start with ``$`` are commands. What stands below one is its output; nothing below means that
  the output is not shown. The exit code has to be 0.
- ``python`` blocks share their names; a ``text`` block right below one is what it prints. ``pycon`` is a session.
- ``...`` stands for any words in a line, and alone in a line for any lines.

A comment before a block says what is different about it:

- ``<!-- file: robot.yaml -->`` the block is the content of that file
- ``<!-- exit: 1 -->`` the exit code of its commands
- ``<!-- judge: newton -->`` it needs what that environment of ``make judge`` has, and runs there alone
- ``<!-- install: folder target -->`` its command installs a package by pip; building one needs a network, so what pip
  would put into the target is put there without building
- ``<!-- not run: reason -->`` it is only shown
"""

from __future__ import annotations

import atexit
import contextlib
import doctest
import functools
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "samples" / "simwright_samples"
WIDTH = "110"
"""Columns of the terminal that pages show."""
NOTE = r"<!-- ([a-z ]+): ([^>]*?) -->\n+"
FENCE = re.compile(rf"^(?P<notes>(?:{NOTE})*)```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = set("|>&;$`*(")


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    line: int
    start: int
    end: int
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether there is something to run in it."""
        return self.kind in ("console", "python", "pycon") and not {"not run", "file"} & set(self.notes)

    @property
    def judge(self) -> str:
        """The environment of ``make judge`` that it needs, or nothing."""
        return self.notes.get("judge", "")


@dataclass
class Command:
    """A command of a console block: its words, the output that the page shows, or None."""

    line: str
    shown: str | None


@dataclass
class Difference:
    """What a page shows and what came instead; ``span`` is where the shown text stands in the page."""

    line: int
    command: str
    shown: str
    came: str
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.command}\n--- shown\n{self.shown}\n--- came\n{self.came}\n"


def parse(page: str) -> list[Block]:
    """All fenced blocks of a page, in order, with the notes before them."""
    blocks = []
    for found in FENCE.finditer(page):
        notes = dict(re.findall(NOTE, found["notes"]))
        line = page.count("\n", 0, found.start("text"))
        blocks.append(
            Block(found["kind"], found["text"], line, found.start("text"), found.end("text"), notes)
        )
    return blocks


def split_commands(text: str) -> list[Command]:
    """The commands of a console block, each with the output below it."""
    commands: list[Command] = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        commands.append(Command(line, shown.rstrip("\n") or None))
    return commands


def matches(shown: str, came: str) -> bool:
    """Whether an output is the one that is shown, with ``...`` for anything."""
    pattern = ""
    for line in shown.strip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += r".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    # what is cut off at the end of an output may be cut in the middle of its last line
    return re.fullmatch(pattern, came.strip("\n") + "\n") is not None


class PageRun:
    """A page that is run from top to bottom in a folder."""

    def __init__(self, page: str, folder: Path, name: str = "page"):
        self.page = page
        self.folder = folder
        self.name = name
        self.names: dict[str, object] = {"__name__": "__main__"}

    def run(self, judge: str = "") -> Iterator[Difference]:
        """Run what needs nothing, and what needs the given environment; gives what differs."""
        copied = "$ simwright samples copy samples" in self.page
        if not copied and not (self.folder / "samples").exists():
            (self.folder / "samples").symlink_to(SAMPLES)
        blocks = parse(self.page)
        with contextlib.chdir(self.folder), _terminal():
            for block, after in zip_longest(blocks, blocks[1:]):
                if "file" in block.notes:
                    target = Path(block.notes["file"])
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(block.text)
                elif "install" in block.notes:
                    install(*(Path(word) for word in block.notes["install"].split()))
                elif block.runs and block.judge in ("", judge):
                    yield from self._run_block(block, after)

    def _run_block(self, block: Block, after: Block | None) -> Iterator[Difference]:
        if block.kind == "console":
            yield from self._run_console(block)
        elif block.kind == "pycon":
            yield from self._run_session(block)
        else:
            with contextlib.redirect_stdout(io.StringIO()) as heard:
                exec(compile(block.text, f"{self.name}, line {block.line}", "exec"), self.names)
            gap = self.page[block.end : after.start] if after else ""
            if after and after.kind == "text" and gap.strip() == "```\n\n```text":
                came = self._hide(heard.getvalue())
                if not matches(after.text, came):
                    yield Difference(
                        block.line, "the Python above", after.text, came, (after.start, after.end)
                    )

    def _run_console(self, block: Block) -> Iterator[Difference]:
        wanted = int(block.notes.get("exit", 0))
        place = block.start
        for command in split_commands(block.text):
            place = self.page.index(command.line, place) + len(command.line) + 1
            code, came = self._call(command.line)
            if code != wanted:
                yield Difference(block.line, command.line, f"exit code {wanted}", f"exit code {code}\n{came}")
            elif command.shown is not None and not matches(command.shown, came):
                span = (place, place + len(command.shown) + 1)
                yield Difference(block.line, command.line, command.shown, came, span)

    def _call(self, line: str) -> tuple[int, str]:
        words = shlex.split(line, comments=True)
        if words[0] == "simwright" and not SHELL & set(line.partition("  #")[0]):
            from simwright.app.cli.main import run

            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                code = run(words[1:])
            return code, self._hide(out.getvalue())
        path = os.pathsep.join([make_command(), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
        )
        return done.returncode, self._hide(done.stdout + done.stderr)

    def _run_session(self, block: Block) -> Iterator[Difference]:
        heard = io.StringIO()
        test = doctest.DocTestParser().get_doctest(block.text, self.names, self.name, None, block.line)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(test, out=heard.write, clear_globs=False)
        self.names |= test.globs
        if runner.failures:
            yield Difference(block.line, "a session", block.text, heard.getvalue())

    def _hide(self, text: str) -> str:
        """Without the place of this run."""
        return text.replace(f"{self.folder.resolve()}/", "").replace(f"{self.folder}/", "")


@functools.cache
def make_command() -> str:
    """A folder with a ``simwright`` for shells: environments of ``make judge`` have none of their own."""
    folder = tempfile.mkdtemp(prefix="simwright-command-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = Path(folder) / "simwright"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m simwright "$@"\n')
    command.chmod(0o755)
    return folder


def install(package: Path, target: Path) -> None:
    """Copy the modules of a package and write the records of it that an installer writes: name and entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text())
    name, version = (project["project"][key] for key in ("name", "version"))
    for module in project["tool"]["setuptools"]["packages"]:
        shutil.copytree(package / module, target / module)
    records = target / f"{name.replace('-', '_')}-{version}.dist-info"
    records.mkdir()
    (records / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["project"]["entry-points"].items()
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())
        for group, rows in groups
    ]
    (records / "entry_points.txt").write_text("\n".join(lines))


@contextlib.contextmanager
def _terminal() -> Iterator[None]:
    set_here = {"COLUMNS": WIDTH, "NO_COLOR": "1"}
    before = {key: os.environ.get(key) for key in set_here}
    os.environ |= set_here
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def write(page: str, differences: list[Difference]) -> str:
    """The page with what came in the place of what it showed."""
    for difference in sorted(
        (one for one in differences if one.span), key=lambda one: one.span, reverse=True
    ):
        assert difference.span is not None
        start, end = difference.span
        came = "\n".join(line.rstrip() for line in difference.came.strip("\n").split("\n"))
        page = f"{page[:start]}{came}\n{page[end:]}"
    return page


def main(arguments: list[str]) -> int:
    """Run the pages that are named; 1 where one differs."""
    writing = "--write" in arguments
    judge = next((word.partition("=")[2] for word in arguments if word.startswith("--judge=")), "")
    failed = 0
    for name in (word for word in arguments if not word.startswith("--")):
        path = Path(name)
        page = path.read_text()
        with tempfile.TemporaryDirectory(prefix="simwright-page-") as folder:
            differences = list(PageRun(page, Path(folder), name).run(judge))
        for difference in differences:
            print(f"{name}, {difference}")
        if writing:
            path.write_text(write(page, differences))
            differences = [difference for difference in differences if difference.span is None]
        failed += len(differences)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
