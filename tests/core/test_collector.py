from __future__ import annotations

import gc

import pytest

from simwright.core import collector
from simwright.core.collector import pause_collector


@pytest.fixture(autouse=True)
def _as_in_a_command():
    """Nothing is frozen, as tests/conftest.py does with what pytest has collected."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


def test_the_collector_rests_and_goes_on():
    assert gc.isenabled()
    with pause_collector():
        assert not gc.isenabled()
        with pause_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ValueError, match="stop"), pause_collector():
        raise ValueError("stop")
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off():
    gc.disable()
    try:
        with pause_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_was_made_counts_as_old_and_is_not_looked_through_at_once(monkeypatch):
    monkeypatch.setattr(collector, "_believed_until", -1e9)
    gc.collect()
    with pause_collector():
        made = [[number] for number in range(50_000)]
    old = {id(item) for item in gc.get_objects(generation=2)}
    assert sum(id(item) in old for item in made) == 50_000


def test_what_was_frozen_stays_frozen(monkeypatch):
    monkeypatch.setattr(collector, "_believed_until", -1e9)
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with pause_collector():
            pass
        assert gc.get_freeze_count() == pytest.approx(frozen, abs=500)
    finally:
        gc.unfreeze()


def test_what_is_frozen_after_a_look_stays_frozen_where_little_is_made(monkeypatch):
    """What was found before is believed for a while: a process that freezes meanwhile lost it with the next robot."""
    monkeypatch.setattr(collector, "_believed_until", -1e9)
    with pause_collector():
        _made = [[number] for number in range(50_000)]
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with pause_collector():
            pass
        assert gc.get_freeze_count() == pytest.approx(frozen, abs=500)
    finally:
        gc.unfreeze()


def test_cycles_of_earlier_work_go_when_memory_has_grown(monkeypatch):
    class Part:
        alive = 0

        def __init__(self):
            self.own = self
            Part.alive += 1

        def __del__(self):
            Part.alive -= 1

    used = 100 << 20
    monkeypatch.setattr(collector, "_measure_memory", lambda: used)
    monkeypatch.setattr(collector, "_noted", None)
    with pause_collector():
        for _ in range(100):
            Part()
    with pause_collector():
        assert Part.alive == 100
    used = 300 << 20
    with pause_collector():
        assert Part.alive == 0


def test_frozen_objects_are_not_counted_again_while_counting_takes_long(monkeypatch):
    clock, counted = [100.0], []

    def count():
        counted.append(clock[0])
        clock[0] += 0.07
        return 5

    monkeypatch.setattr(collector, "_believed_until", -1e9)
    monkeypatch.setattr(collector.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(collector.gc, "get_freeze_count", count)
    made = []
    for moment in (100.0, 130.0, 160.0, 180.0):
        clock[0] = moment
        with pause_collector():
            made += [[number] for number in range(50_000)]
    assert counted == [100.0, 180.0]


def test_libraries_that_the_first_use_imports_are_no_growth(monkeypatch):
    """A search through all objects finds nothing there, and takes a fifth of the time of a small robot."""
    used = [100 << 20]
    searches = []
    monkeypatch.setattr(collector, "_measure_memory", lambda: used[0])
    monkeypatch.setattr(collector, "_noted", None)
    monkeypatch.setattr(collector.gc, "collect", lambda: searches.append(used[0]))
    with pause_collector():
        used[0] += 200 << 20
    with pause_collector():
        used[0] += 100 << 20
    assert not searches
    with pause_collector():
        pass
    assert searches == [400 << 20]
