"""Reading with limits and writing whole."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import pytest

from simwright.core.errors import InputError, LimitError, NotFoundError, OutputError, UnsafePathError
from simwright.core.files import (
    check_readable,
    check_writable,
    read_bytes,
    resolve_inside,
    write_atomic,
    write_staged,
)
from simwright.core.swap import write_folder


@pytest.mark.parametrize(
    "write", [write_atomic, lambda path, data: write_folder_of(path.parent, {path.name: data})]
)
def test_content_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch, write):
    target = tmp_path / "new" / "entry"
    synced = {}

    def note(handle: int) -> None:
        # where the file will be seen, nothing stands as long as its content may be lost in a power cut
        synced[os.fstat(handle).st_ino] = target.exists()

    monkeypatch.setattr(os, "fsync", note)
    write(target, b"content")
    assert synced[target.stat().st_ino] is False


def write_folder_of(folder, files):
    with write_folder(folder, last="entry") as staging:
        write_staged(staging, files)


def test_missing_file_suggests_a_sibling(tmp_path):
    (tmp_path / "robot.urdf").write_text("x")
    with pytest.raises(NotFoundError) as caught:
        check_readable(tmp_path / "robt.urdf")
    assert "robot.urdf" in caught.value.hint


def test_folder_empty_and_nul(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        check_readable(tmp_path)
    (tmp_path / "e").write_text("")
    with pytest.raises(InputError, match="empty"):
        check_readable(tmp_path / "e")
    with pytest.raises(NotFoundError, match="NUL"):
        check_readable("a\0b")
    with pytest.raises(NotFoundError, match="not valid text"):
        check_readable("lone \ud800 surrogate")


def test_fifo_is_refused_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        check_readable(tmp_path / "pipe")


def test_size_limit_is_checked_before_reading(tmp_path):
    big = tmp_path / "big.xml"
    with big.open("wb") as stream:
        stream.truncate(200 << 20)
    with pytest.raises(LimitError, match="200 MiB; the limit"):
        read_bytes(big)


@pytest.mark.parametrize("bad", ["../x", "a/../../x", "/etc/passwd"])
def test_path_may_not_leave_its_root(tmp_path, bad):
    with pytest.raises(UnsafePathError):
        resolve_inside(tmp_path, bad)


def test_link_may_not_leave_its_root(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    with pytest.raises(UnsafePathError):
        resolve_inside(tmp_path / "in", "out/secret")
    assert resolve_inside(tmp_path / "in", "a/./b") == (tmp_path / "in" / "a" / "b").resolve()


def test_atomic_write_replaces_and_keeps_the_mode(tmp_path):
    target = tmp_path / "deep" / "f.txt"
    write_atomic(target, "one")
    target.chmod(0o640)
    write_atomic(target, b"two")
    assert target.read_text() == "two"
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(target.parent) == ["f.txt"]


def test_failed_write_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError):
        write_atomic(tmp_path / "file" / "below", "y")
    assert (tmp_path / "file").read_text() == "x"


def test_folder_appears_whole_or_not_at_all(tmp_path):
    target = tmp_path / "asset"
    with write_folder(target) as staging:
        (staging / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    with contextlib.suppress(RuntimeError), write_folder(target) as staging:
        (staging / "b").write_text("2")
        raise RuntimeError
    assert os.listdir(target) == ["a"]
    with write_folder(target) as staging:
        (staging / "c").write_text("3")
    assert sorted(os.listdir(target)) == ["a", "c"]
    assert os.listdir(tmp_path) == ["asset"]


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with write_folder(tmp_path / "link") as staging:
        write_staged(staging, {"sub/a": b"1"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real/sub/a").read_bytes() == b"1"
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError), write_folder(tmp_path / "file" / "asset"):
        pass
    with pytest.raises(OutputError), write_folder(tmp_path / "asset") as staging:
        write_staged(staging, {"a": b"1", "a/b": b"2"})
    with pytest.raises(UnsafePathError), write_folder(tmp_path / "asset") as staging:
        write_staged(staging, {"../../out": b"1"})
    assert os.listdir(tmp_path) == ["file"]


def test_a_place_is_looked_at_before_the_work(tmp_path):
    """What is there stays, and nothing is made, no folder either."""
    kept = tmp_path / "kept.txt"
    kept.write_text("as it was")
    check_writable(kept)
    check_writable(tmp_path / "new" / "deeper" / "out.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert kept.read_text() == "as it was"
    with pytest.raises(OutputError, match="cannot be written"):
        check_writable(kept / "below" / "a file.npz")


def test_core_needs_only_the_standard_library_and_numpy():
    code = (
        "import sys, pkgutil, importlib, simwright.core as c\n"
        "[importlib.import_module('simwright.core.' + m.name) for m in pkgutil.iter_modules(c.__path__)]\n"
        "heavy = {'pxr', 'mujoco', 'lxml', 'trimesh', 'rich', 'click', 'xacro', 'scipy'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
