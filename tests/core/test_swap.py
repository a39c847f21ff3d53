"""Files that go into a folder: all of them or none, whatever happens, and nothing else is touched."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from simwright.core import swap
from simwright.core.errors import OutputError
from simwright.core.files import write_atomic, write_staged
from simwright.core.swap import Move, Staging, put_files, recover, write_folder

WRITER = """
import sys, itertools
from simwright.core.files import write_staged
from simwright.core.swap import write_folder
print("ready", flush=True)
for number in itertools.count():
    with write_folder(sys.argv[1], last="part0") as staging:
        write_staged(staging, {f"part{i}": str(number).encode() for i in range(5)})
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from simwright.core.files import write_staged
from simwright.core import swap
limit, count = int(sys.argv[2]), 0
if sys.argv[3] == "steps":
    swap.exchange = lambda one, other: False
def watch(event, arguments):
    global count
    if event.startswith(("os.", "shutil.")) or event == "open":
        if "simwright/" in str(arguments) or ".simwright" in str(arguments):
            count += 1
            if count == limit:
                os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
names = sys.argv[4].split(",")
with swap.write_folder(sys.argv[1], last="entry", remove=["obsolete"]) as staging:
    write_staged(staging, {name: b"new " + name.encode() for name in names})
print(count)
"""


def read(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*") if file.is_file()
    }


def fill(folder: Path, *names: str, **options) -> None:
    with write_folder(folder, **options) as staging:
        write_staged(staging, {name: b"new " + name.encode() for name in names})


def test_a_folder_that_is_there_stays_the_same_folder(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.mkdir()
    before = target.stat().st_ino
    monkeypatch.chdir(target)
    fill(Path(), "entry", "sub/part", last="entry")
    assert target.stat().st_ino == before
    assert os.listdir() == os.listdir(target)
    assert read(target) == {"entry": "new entry", "sub/part": "new sub/part"}


def test_nothing_is_written_beside_a_folder_that_is_there(tmp_path):
    """As in a mount point, whose parent belongs to somebody else."""
    target = tmp_path / "parent" / "out"
    target.mkdir(parents=True)
    target.parent.chmod(0o500)
    try:
        fill(target, "entry")
    finally:
        target.parent.chmod(0o700)
    assert read(target) == {"entry": "new entry"}


def test_other_files_are_let_be(tmp_path):
    target = tmp_path / "out"
    (target / "sub").mkdir(parents=True)
    (target / "sub" / "mine").write_text("mine")
    (target / "broken").symlink_to("nowhere")
    (target / "entry").write_text("old")
    (target / "obsolete").write_text("old")
    (target / "entry").chmod(0o640)
    written: list[Path] = []
    fill(target, "entry", "sub/part", last="entry", remove=["obsolete", "missing"], written=written)
    assert read(target) == {"entry": "new entry", "sub/part": "new sub/part", "sub/mine": "mine"}
    assert (target / "broken").is_symlink()
    assert written == [target / "entry", target / "sub/part"]
    assert (target / "entry").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(target)) == ["broken", "entry", "sub"]


@pytest.mark.parametrize("way", ["exchange", "steps"])
@pytest.mark.parametrize("names", ["entry", "entry,fresh/part", "entry,a,b,fresh/part"])
def test_a_kill_at_any_moment_is_recovered(tmp_path, way, names):
    def run(folder: Path, limit: int) -> subprocess.CompletedProcess[str]:
        folder.mkdir()
        for name in ("entry", "a", "b", "obsolete", "mine"):
            (folder / name).write_text(f"old {name}")
        command = [sys.executable, "-c", KILLED, str(folder), str(limit), way, names]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    whole = run(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    new = read(tmp_path / "whole")
    old = {name: f"old {name}" for name in ("entry", "a", "b", "obsolete", "mine")}
    total, seen = int(whole.stdout), set()
    moments = list(range(1, total + 1))
    chosen = random.Random(len(names)).sample(moments, min(5, total)) + moments[-3:]
    for limit in sorted(set(chosen)):
        folder = tmp_path / str(limit)
        assert run(folder, limit).returncode == -signal.SIGKILL
        visible = {name: text for name, text in read(folder).items() if not name.startswith(".")}
        if "entry" in visible and names.count(",") > 1:
            parts = {visible[name].split()[0] for name in ("entry", "a", "b")}
            assert len(parts) == 1, f"a mixture can be opened after event {limit}"
        recover(folder, "entry")
        assert read(folder) in (old, new), f"event {limit} of {total}"
        assert not [name for name in os.listdir(folder) if swap.is_staging(name)]
        seen.add(read(folder) == new)
    assert False in seen


def test_what_somebody_changes_meanwhile_stops_everything(tmp_path):
    for name in ("entry", "a"):
        (tmp_path / name).write_text("old")
    expected = {name: swap.compute_digest(tmp_path / name) for name in ("entry", "a")}
    staging = Staging(tmp_path, "entry")
    write_staged(staging.new, {"entry": b"new", "a": b"new"})
    (tmp_path / "a").write_text("edited")
    with pytest.raises(OutputError, match="changed by somebody else"):
        put_files(staging, tmp_path, last="entry", expected=expected)
    staging.close()
    assert read(tmp_path) == {"entry": "old", "a": "edited"}


@pytest.mark.parametrize("names", [("entry",), ("a", "entry")])
def test_what_changes_between_looking_and_moving_is_put_back(tmp_path, monkeypatch, names):
    for name in names:
        (tmp_path / name).write_text("old")
    staging = Staging(tmp_path, "entry")
    write_staged(staging.new, dict.fromkeys(names, b"new"))
    write = swap._write_synced

    def write_and_edit(file: Path, data: bytes) -> None:
        write(file, data)
        (tmp_path / names[0]).unlink()
        (tmp_path / names[0]).write_text("edited")

    monkeypatch.setattr(swap, "_write_synced", write_and_edit)
    with pytest.raises(OutputError, match="changed by somebody else"):
        put_files(staging, tmp_path, last="entry", backups={name: f"{name}.orig" for name in names})
    staging.close()
    assert read(tmp_path) == {**dict.fromkeys(names, "old"), names[0]: "edited"}


def test_an_edit_after_a_kill_is_not_undone(tmp_path, monkeypatch):
    for name in ("entry", "a", "b"):
        (tmp_path / name).write_text(f"old {name}")

    def stop(file: Path, target: Path) -> None:
        if target.name == "b":
            raise KeyboardInterrupt
        move(file, target)

    move = swap._move_to_free
    with monkeypatch.context() as patch:  # two interrupts: the second while the first is undone
        patch.setattr(swap, "_move_to_free", stop)
        patch.setattr(swap, "_undo", lambda _path: None)
        with pytest.raises(KeyboardInterrupt):
            fill(tmp_path, "entry", "a", "b", last="entry")
    assert (tmp_path / "a").read_text() == "new a"
    (tmp_path / "a").write_text("my edit")
    with pytest.raises(OutputError, match=r"changed afterwards; the old files are in .*\.entry\.simwright"):
        recover(tmp_path, "entry")
    assert (tmp_path / "a").read_text() == "my edit"
    assert (tmp_path / ".entry.simwright/old/entry").read_text() == "old entry"
    (tmp_path / "a").write_text("new a")
    recover(tmp_path, "entry")
    assert read(tmp_path) == {name: f"old {name}" for name in ("entry", "a", "b")}


def test_a_folder_that_was_removed_after_a_kill_comes_back(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    for name in ("entry", "sub/a"):
        (tmp_path / name).write_text("old")

    def stop(file: Path, target: Path) -> None:
        if target.name == "a":
            raise KeyboardInterrupt
        move(file, target)

    move = swap._move_to_free
    with monkeypatch.context() as patch:
        patch.setattr(swap, "_move_to_free", stop)
        patch.setattr(swap, "_undo", lambda _path: None)
        with pytest.raises(KeyboardInterrupt):
            fill(tmp_path, "entry", "sub/a", last="entry")
    (tmp_path / "sub").rmdir()
    recover(tmp_path, "entry")
    assert read(tmp_path) == {"entry": "old", "sub/a": "old"}


def test_an_interrupt_puts_everything_back(tmp_path, monkeypatch):
    for name in ("entry", "a", "b"):
        (tmp_path / name).write_text("old")

    def stop(file: Path, target: Path) -> None:
        if target.name == "b":
            raise KeyboardInterrupt
        move(file, target)

    move = swap._move_to_free
    monkeypatch.setattr(swap, "_move_to_free", stop)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path, "entry", "a", "b", last="entry")
    assert read(tmp_path) == dict.fromkeys(("entry", "a", "b"), "old")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "entry"]


def test_a_journal_that_came_with_an_asset_is_not_followed(tmp_path):
    folder = tmp_path / "asset"
    staging = folder / ".entry.simwright"
    staging.mkdir(parents=True)
    (tmp_path / "mine").write_text("mine")
    (folder / "mine").write_text("mine")
    digest = swap.compute_digest(tmp_path / "mine")
    moves = [Move("x", "../mine", None, digest), Move("y", "mine", None, digest)]
    journal = {"staging": 1, "moves": [asdict(move) for move in moves], "folders": []}
    for text in (json.dumps(journal), "no JSON", "[]"):
        (staging / "journal").write_text(text)
        recover(folder, "entry")
        assert (tmp_path / "mine").exists()
        assert (folder / "mine").exists()
    fill(folder, "entry", last="entry")
    assert (folder / "entry").exists()


def test_a_writer_that_lives_is_let_be(tmp_path):
    first = Staging(tmp_path, "entry")
    recover(tmp_path, "entry")
    second = Staging(tmp_path, "entry")
    assert first.path.is_dir()
    assert second.path != first.path
    first.close()
    second.close()
    assert os.listdir(tmp_path) == []


def test_all_writers_that_were_killed_together_are_cleaned_up(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from simwright.core.swap import Staging;"
        " kept = [Staging(Path(sys.argv[1]), 'entry') for _ in range(3)]; os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(os.listdir(tmp_path)) == 3
    recover(tmp_path, "entry")
    assert os.listdir(tmp_path) == []


def test_killed_writers_leave_whole_files_and_no_litter(tmp_path):
    source = random.Random(11)
    target = tmp_path / "asset"
    for _ in range(10):
        with Writer(target) as writer:
            time.sleep(source.uniform(0.0, 0.03))
            writer.send_signal(signal.SIGKILL)
        if target.exists():
            recover(target, "part0")
            assert len({(target / f"part{i}").read_text() for i in range(5)}) == 1
            assert sorted(os.listdir(target)) == [f"part{i}" for i in range(5)]
    with write_folder(target, last="part0") as staging:
        write_staged(staging, {"part0": b"x"})
    assert os.listdir(tmp_path) == ["asset"]


def test_a_temporary_file_of_a_killed_process_is_used_again(tmp_path):
    (tmp_path / ".f.part").write_text("a long rest of something that was never finished")
    write_atomic(tmp_path / "f", "new")
    assert (tmp_path / "f").read_text() == "new"
    assert os.listdir(tmp_path) == ["f"]


class Writer:
    """A process that fills a folder again and again."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __enter__(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", WRITER, str(self.target)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_a_folder_that_was_made_anew_meanwhile_is_not_cleaned(tmp_path, monkeypatch):
    """One process waits for the lock of a folder that goes; another has claimed its name before the first looks."""
    path = tmp_path / ".asset.simwright"
    path.mkdir()
    lock_file = swap.lock_file

    def lock_late(folder, **more):
        lock = lock_file(folder, **more)
        Path(folder).rmdir()
        (Path(folder) / "new").mkdir(parents=True)
        return lock

    monkeypatch.setattr(swap, "lock_file", lock_late)
    swap._clean(path)
    assert (path / "new").is_dir()
