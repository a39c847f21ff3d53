"""The cache: true or not there."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from simwright.checker.cache import Cache, confirm_signature, open_cache, take_signature


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "cache")


def list_entries(cache: Cache) -> list[Path]:
    assert cache.folder
    return sorted(cache.folder.glob("??/*.json"))


def age(file: Path, seconds: float = 10.0) -> None:
    """Let a file look settled."""
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_put_and_get(cache):
    key = cache.make_key("a", 1)
    assert cache.get(key) is None
    cache.put(key, {"x": [1, None, "ä\udc80"]})
    assert cache.get(key) == {"x": [1, None, "ä\udc80"]}
    assert cache.make_key("a", 2) != key


def test_without_a_folder_nothing_is_kept():
    cache = Cache(None)
    cache.put("00", {"x": 1})
    cache.put_result("00", {}, [], 0)
    cache.trim()
    assert cache.get("00") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + b"!",
        lambda data: b"\0" * len(data),
        lambda data: data.partition(b"\n")[2],
    ],
)
def test_a_damaged_entry_is_not_there(cache, damage):
    key = cache.make_key("a")
    cache.put(key, {"x": 1})
    (file,) = list_entries(cache)
    file.write_bytes(damage(file.read_bytes()))
    assert cache.get(key) is None
    cache.put(key, {"x": 2})
    assert cache.get(key) == {"x": 2}


def test_an_entry_of_another_shape_is_no_result(cache):
    key = cache.make_key("a")
    for entry in (
        {},
        {"files": 3, "result": {}},
        {"files": {"/x": [1]}, "result": {}},
        {"files": {}, "result": 1},
    ):
        cache.put(key, entry)
        assert cache.get_result(key) is None


def test_a_result_holds_while_its_files_do(cache, tmp_path):
    file, absent = tmp_path / "a.usda", tmp_path / "b.png"
    file.write_text("one")
    age(file)
    key = cache.make_key("a")
    cache.put_result(key, {"r": 1}, [str(file), str(absent)], time.time_ns())
    assert cache.get_result(key) == {"r": 1}
    absent.write_text("it came")
    assert cache.get_result(key) is None
    absent.unlink()
    file.write_text("two")
    assert cache.get_result(key) is None
    file.write_text("one")
    assert cache.get_result(key) == {"r": 1}, "the same content at another time is the same file"


def test_a_file_with_another_time_is_read_once(cache, tmp_path, monkeypatch):
    file = tmp_path / "a.usda"
    file.write_text("one")
    age(file, 20)
    key = cache.make_key("a")
    cache.put_result(key, {"r": 1}, [str(file)], time.time_ns())
    age(file, 10)
    assert cache.get_result(key) == {"r": 1}
    monkeypatch.setattr("simwright.checker.cache.hash_file", lambda path: pytest.fail("was read again"))
    assert cache.get_result(key) == {"r": 1}


def test_a_file_that_changed_during_the_check_is_not_stored(cache, tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    key = cache.make_key("a")
    cache.put_result(key, {"r": 1}, [str(file)], time.time_ns() - 60_000_000_000)
    assert cache.get_result(key) is None


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    state = file.stat()
    signature = take_signature(str(file))
    file.write_text("two")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert confirm_signature(str(file), signature) is None


def test_settled_files_are_not_read_again(tmp_path, monkeypatch):
    file = tmp_path / "a.usda"
    file.write_text("one")
    age(file)
    signature = take_signature(str(file))
    monkeypatch.setattr("simwright.checker.cache.hash_file", lambda path: pytest.fail("was read"))
    assert confirm_signature(str(file), signature) == signature


def test_a_folder_stands_for_its_names(tmp_path):
    signature = take_signature(str(tmp_path))
    assert confirm_signature(str(tmp_path), signature) == signature
    (tmp_path / "tile.1001.png").touch()
    assert confirm_signature(str(tmp_path), signature) is None


def test_trim_keeps_the_newest(cache):
    keys = [cache.make_key(number) for number in range(6)]
    for number, key in enumerate(keys):
        cache.put(key, {"n": number})
        age(cache._file(key), 1000 - number)
    cache.trim(max_entries=2)
    assert [key for key in keys if cache.get(key)] == keys[-2:]
    cache.trim(max_bytes=0)
    assert not list_entries(cache)


def test_a_folder_that_cannot_be_written_is_no_problem(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    cache = Cache(blocker / "cache")
    cache.put(cache.make_key("a"), {"x": 1})
    assert cache.get(cache.make_key("a")) is None
    assert cache.written == 0


def test_the_place_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert open_cache().folder == tmp_path / "simwright" / "check"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_cache().folder == tmp_path / ".cache" / "simwright" / "check"
    monkeypatch.setenv("HOME", "")
    assert open_cache().folder is None
    assert open_cache(enabled=False).folder is None
