"""Folders that change places: at once where the system can, safely where it cannot."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from simwright.core import swap

WRITER = """
import sys, itertools
from simwright.core.files import write_folder, write_staged
print("ready", flush=True)
for number in itertools.count():
    with write_folder(sys.argv[1]) as staging:
        write_staged(staging, {f"part{i}": str(number).encode() for i in range(5)})
"""


def make(folder, word):
    folder.mkdir()
    (folder / "word").write_text(word)
    return folder


def test_a_new_place_and_a_taken_one(tmp_path):
    target = tmp_path / "asset"
    swap.replace_folder(make(tmp_path / "s", "one"), target)
    assert (target / "word").read_text() == "one"
    swap.replace_folder(make(tmp_path / "s", "two"), target)
    assert (target / "word").read_text() == "two"
    assert os.listdir(tmp_path) == ["asset"]


def test_without_the_system_call(tmp_path, monkeypatch):
    monkeypatch.setattr(swap, "exchange", lambda one, other: False)
    target = make(tmp_path / "asset", "one")
    swap.replace_folder(make(tmp_path / "s", "two"), target)
    assert (target / "word").read_text() == "two"
    assert os.listdir(tmp_path) == ["asset"]
    with pytest.raises(OSError, match="No such file"):
        swap.replace_folder(tmp_path / "missing", target)
    assert (target / "word").read_text() == "two"
    assert os.listdir(tmp_path) == ["asset"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs renameat2")
def test_a_killed_writer_leaves_a_whole_folder(tmp_path):
    if not swap.exchange(make(tmp_path / "a", "1"), make(tmp_path / "b", "2")):
        pytest.skip("this file system cannot exchange folders")
    assert (tmp_path / "a/word").read_text() == "2"
    source = random.Random(11)
    target = tmp_path / "asset"
    with swap_writer(target):
        pass
    for _ in range(12):
        with swap_writer(target) as writer:
            time.sleep(source.uniform(0.0, 0.03))
            writer.send_signal(signal.SIGKILL)
        parts = {(target / f"part{i}").read_text() for i in range(5)}
        assert len(parts) == 1
        assert sorted(os.listdir(target)) == [f"part{i}" for i in range(5)]


class swap_writer:  # noqa: N801 - reads as a phrase
    """A process that replaces a folder again and again."""

    def __init__(self, target):
        self.target = target

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(self.target)], stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        while not self.target.exists():
            time.sleep(0.001)
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
