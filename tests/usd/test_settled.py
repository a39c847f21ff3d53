# SPDX-License-Identifier: Apache-2.0
"""What is remembered about files, and when it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simwright.core.errors import LimitError
from simwright.usd.guard import MAX_NESTING, check_file
from simwright.usd.open import open_stage
from simwright.usd.settled import once_per_file, vouch

LONG_AGO = 1_000_000_000


@pytest.fixture(name="asked")
def fixture_asked() -> list[str]:
    return []


@pytest.fixture(name="read")
def fixture_read(asked):
    @once_per_file
    def read(path: str) -> str:
        asked.append(path)
        return Path(path).read_text()

    return read


def age(file: Path, monkeypatch) -> None:
    """As if the file were written long before now (its change time cannot be set back)."""
    os.utime(file, (LONG_AGO, LONG_AGO))
    monkeypatch.setattr("simwright.usd.settled._MOMENT", -10_000_000_000)


def test_an_old_file_is_asked_about_once(tmp_path, read, asked, monkeypatch):
    file = tmp_path / "a"
    file.write_text("one")
    age(file, monkeypatch)
    assert [read(str(file)), read(str(file))] == ["one", "one"]
    assert len(asked) == 1


def test_a_changed_file_is_asked_about_again(tmp_path, read, asked, monkeypatch):
    file = tmp_path / "a"
    file.write_text("one")
    age(file, monkeypatch)
    read(str(file))
    os.utime(file, (LONG_AGO + 1, LONG_AGO + 1))
    read(str(file))
    file.write_text("three")
    assert read(str(file)) == "three"
    assert len(asked) == 3


def test_a_replaced_file_is_asked_about_again(tmp_path, read, monkeypatch):
    file, other = tmp_path / "a", tmp_path / "b"
    file.write_text("one")
    other.write_text("two")
    age(file, monkeypatch)
    age(other, monkeypatch)
    assert read(str(file)) == "one"
    other.replace(file)
    assert read(str(file)) == "two"


def test_a_fresh_file_is_asked_about_every_time(tmp_path, read, asked):
    file = tmp_path / "a"
    file.write_text("one")
    read(str(file))
    read(str(file))
    assert len(asked) == 2


def test_what_is_raised_is_raised_again(tmp_path, monkeypatch):
    file = tmp_path / "deep.usda"
    file.write_text("#usda 1.0\n" + "(" * (MAX_NESTING + 1))
    age(file, monkeypatch)
    for _ in range(2):
        with pytest.raises(LimitError, match="nested"):
            check_file(file)


def test_what_is_no_file_is_not_remembered(asked):
    @once_per_file
    def count(path: str) -> int:
        asked.append(path)
        return len(asked)

    assert [count(""), count(""), count("a.usdz[b.usda]"), count("\0")] == [1, 2, 3, 4]


def test_a_good_layer_that_turns_bad_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "a.usda"
    file.write_text('#usda 1.0\ndef "A" {\n}\n')
    age(file, monkeypatch)
    assert open_stage(file)
    file.write_text("#usda 1.0\n" + "(" * (MAX_NESTING + 1))
    with pytest.raises(LimitError):
        open_stage(file)


def test_new_arcs_of_a_layer_are_followed(tmp_path, monkeypatch):
    root, part = tmp_path / "root.usda", tmp_path / "part.usda"
    root.write_text('#usda 1.0\ndef "A" {\n}\n')
    part.write_text('#usda 1.0\n(\n defaultPrim = "B"\n)\ndef "B" {\n' + "(" * (MAX_NESTING + 1))
    age(root, monkeypatch)
    assert open_stage(root)
    root.write_text('#usda 1.0\ndef "A" (references = @part.usda@) {\n}\n')
    with pytest.raises(LimitError):
        open_stage(root)


def test_a_private_copy_is_known_as_long_as_it_is_one(tmp_path, read, asked, monkeypatch):
    source, copy = tmp_path / "a.txt", tmp_path / "copy.txt"
    source.write_text("one")
    age(source, monkeypatch)
    assert read(str(source)) == "one"
    copy.write_bytes(source.read_bytes())
    vouch(str(copy), str(source))
    monkeypatch.setattr("simwright.usd.settled._MOMENT", 2_000_000_000)
    assert read(str(copy)) == "one"
    assert asked == [str(source)]
    copy.write_text("other")
    assert read(str(copy)) == "other"
    assert asked == [str(source), str(copy)]
