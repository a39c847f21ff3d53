"""The state of a job: what is kept, what is left to do, who may write."""

from __future__ import annotations

import os

import pytest

from simwright.app.jobs.model import ItemOutcome, JobItem, JobSpec, number_items
from simwright.app.jobs.store import FILE, JobStore, create_store, find_stores
from simwright.core.errors import InputError, NotFoundError, UsageError
from simwright.core.pool import JobLimits

SPEC = JobSpec("check", {"select": ["a"]}, JobLimits(3.0, 0.5), 2, {"SIMWRIGHT_OFFLINE": "1"})
FOUND = {"kind": "units-meters", "level": "error", "message": "m"}
ITEMS = number_items([(f"/a/{n}.usda", {"timeout": n} if n else {}) for n in range(1200)])


def test_what_is_kept_is_there_for_the_next_process(tmp_path):
    with create_store(tmp_path, SPEC, ITEMS, {}) as store:
        store.note_handed("w", ITEMS[:3])
        store.keep(ITEMS[1], ItemOutcome("findings", 1, [FOUND, FOUND], {"known": 0}, 0.25))
    with JobStore(tmp_path) as store:
        spec = store.spec
        assert (spec.options, spec.limits, spec.retries, spec.environment) == (
            SPEC.options,
            SPEC.limits,
            2,
            {"SIMWRIGHT_OFFLINE": "1"},
        )
        waiting = list(store.list_waiting())
        assert waiting == [ITEMS[0], *ITEMS[2:]]
        (row,) = store.iterate()
        assert row.item == ITEMS[1]
        assert row.outcome == ItemOutcome("findings", 1, [FOUND, FOUND], {"known": 0}, 0.25)
        assert row.tally == {"error units-meters": 2}
        totals = store.measure()
        assert (totals.items, totals.done, totals.codes) == (1200, 1, {1: 1})
        assert totals.findings == {"error": 2, "warning": 0, "info": 0}
        assert store.count_attempts() == {0: 1, 1: 1, 2: 1}
        assert (store.count_done(), store.count_items()) == (1, 1200)


def test_a_second_result_of_an_item_changes_nothing(tmp_path):
    with create_store(tmp_path, SPEC, ITEMS[:1], {}) as store:
        store.keep(ITEMS[0], ItemOutcome("clean", 0))
        store.keep(ITEMS[0], ItemOutcome("findings", 1, [FOUND]))
        assert [row.outcome.status for row in store.iterate()] == ["clean"]


def test_one_process_writes_at_a_time(tmp_path):
    with create_store(tmp_path, SPEC, ITEMS[:1], {}):
        with pytest.raises(UsageError, match="another process"):
            JobStore(tmp_path, writing=True)
        JobStore(tmp_path).close()
    JobStore(tmp_path, writing=True).close()


def test_a_new_job_keeps_the_one_before(tmp_path):
    for count in (1, 2):
        with create_store(tmp_path, SPEC, ITEMS[:2], {}) as store:
            for item in ITEMS[:2]:
                store.keep(item, ItemOutcome("findings", 1, [FOUND] * count))
            store.finish()
    with JobStore(tmp_path) as store:
        assert list(store.compare_previous()) == [({"error units-meters": 2}, {"error units-meters": 1})] * 2
        assert [row["error"] for row in store.history] == [2]


def test_names_that_are_not_utf8(tmp_path):
    item = JobItem(0, os.fsdecode(b"/a/\xff.usda"), {})
    with create_store(tmp_path, SPEC, [item], {}) as store:
        assert list(store.list_waiting()) == [item]


def test_what_is_no_job(tmp_path):
    with pytest.raises(NotFoundError):
        JobStore(tmp_path)
    (tmp_path / FILE).write_text("not a database, but long enough to be looked at " * 20)
    with pytest.raises(InputError, match="cannot be read"):
        JobStore(tmp_path, writing=True)
    # the lock was given back
    with pytest.raises(InputError, match="cannot be read"):
        JobStore(tmp_path, writing=True)
    assert list(find_stores([tmp_path])) == [tmp_path]


def test_a_job_makes_the_folders_it_stands_in(tmp_path):
    with create_store(tmp_path / "jobs" / "first", SPEC, ITEMS[:1], {}) as store:
        assert store.count_items() == 1
