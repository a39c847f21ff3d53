"""Workers and drivers that are killed for good: nothing is lost, and nothing but what was in flight is done twice."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from job_things import start

from simwright.app.jobs.model import JobSpec, number_items
from simwright.app.jobs.store import JobStore, create_store

PAUSE = 0.02


@pytest.fixture
def variables(tmp_path) -> dict[str, str]:
    """An installed package whose entry point is the job of slow_kind.py."""
    place = tmp_path / "site"
    info = place / "slow_kind-1.dist-info"
    info.mkdir(parents=True)
    (place / "slow_kind.py").write_text((Path(__file__).parent / "slow_kind.py").read_text())
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-kind\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[simwright.jobs]\nslow = slow_kind:SLOW\n")
    return {"PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}


def make_job(tmp_path: Path, names: list[str], **options) -> tuple[Path, Path]:
    folder, log = tmp_path / "job", tmp_path / "log"
    log.write_text("")
    spec = JobSpec("slow", {"log": str(log), "word": "hello", "pause": PAUSE, **options})
    create_store(folder, spec, number_items([(name, {}) for name in names]), {}).close()
    return folder, log


def wait_for(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def list_children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def read_names(log: Path) -> list[str]:
    return log.read_text().split("\n")[:-1]


def test_a_killed_driver_is_followed_by_another(tmp_path, variables):
    names = [f"a{number:03d}" for number in range(150)]
    folder, log = make_job(tmp_path, names)
    in_flight: set[int] = set()
    for kills in (1, 2):
        driver = start("jobs", "resume", folder, "--jobs", 2, folder=tmp_path, **variables)
        wait_for(lambda goal=40 * kills: len(read_names(log)) >= goal)
        workers = list_children(driver.pid)
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        # workers end with their driver, whatever they are at
        wait_for(lambda gone=workers: not any(map(is_alive, gone)))
        with JobStore(folder) as store:
            done = {row.item.number for row in store.iterate()}
            assert 0 < len(done) < 150
            in_flight |= set(store.count_attempts()) - done
    driver = start("jobs", "resume", folder, "--jobs", 2, folder=tmp_path, **variables)
    said, wrong = driver.communicate(timeout=120)
    assert driver.returncode == 0, wrong
    assert "150 of 150 done" in said
    tally = Counter(read_names(log))
    assert set(tally) == set(names)
    # what was done twice had gone out, and nobody knew that it was done; that is a second of work at most
    assert {name for name, count in tally.items() if count > 1} <= {names[number] for number in in_flight}
    assert len(in_flight) <= 2 * 2 * (1.0 / PAUSE)
    with JobStore(folder) as store:
        assert [row.item.asset for row in store.iterate()] == names
        assert all(row.outcome.result == {"word": "hello"} for row in store.iterate())


def test_a_killed_worker_costs_what_it_had_in_hand(tmp_path, variables):
    names = [f"a{number:03d}" for number in range(120)]
    folder, log = make_job(tmp_path, [*names, "kill", "kill-once"])
    driver = start("jobs", "resume", folder, "--jobs", 2, "--format", "json", folder=tmp_path, **variables)
    wait_for(lambda: len(read_names(log)) >= 30)
    for pid in list_children(driver.pid):
        if "multiprocessing" in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)
            break
    _, wrong = driver.communicate(timeout=120)
    assert driver.returncode == 1, wrong
    tally = Counter(read_names(log))
    assert set(tally) == {*names, "kill", "kill-once"}
    assert (tally["kill"], tally["kill-once"]) == (2, 2)
    assert sum(tally[name] - 1 for name in names) <= 1
    with JobStore(folder) as store:
        rows = {row.item.asset: row.outcome for row in store.iterate()}
    assert rows["kill"].status == "failed"
    assert [one["kind"] for one in rows["kill"].findings] == ["job-process-died"]
    assert {outcome.status for name, outcome in rows.items() if name != "kill"} == {"done"}


def test_an_item_that_hangs_is_given_up_and_the_others_are_done(tmp_path, variables):
    folder, log = tmp_path / "job", tmp_path / "log"
    log.write_text("")
    spec = JobSpec("slow", {"log": str(log), "word": "hello", "pause": 0.0})
    slow = ("hangs", {"pause": 600.0, "timeout": 1.0})
    create_store(folder, spec, number_items([("a", {}), slow, ("b", {})]), {}).close()
    driver = start("jobs", "resume", folder, "--jobs", 1, folder=tmp_path, **variables)
    said, wrong = driver.communicate(timeout=120)
    assert driver.returncode == 1, wrong
    assert "it took more than 1 s" in said
    assert read_names(log) == ["a", "hangs", "b"]


def test_a_second_driver_is_turned_away(tmp_path, variables):
    folder, log = make_job(tmp_path, ["a"], pause=5.0)
    first = start("jobs", "resume", folder, "--jobs", 1, folder=tmp_path, **variables)
    try:
        wait_for(lambda: read_names(log))
        second = start("jobs", "resume", folder, folder=tmp_path, **variables)
        _, wrong = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "another process works on this job" in wrong
    finally:
        first.kill()
        first.communicate()
