"""Many tasks in worker processes: each costs what it costs itself, and no more."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from simwright.core.errors import UsageError
from simwright.core.pool import JobLimits, Loss, run_each


def work(task: str) -> str:
    """What the tests ask a worker to do; ``log`` notes every try."""
    word, log = task.split(":", 1)
    with Path(log).open("a") as stream:
        stream.write(f"{word}\n")
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "die once" and Path(log).read_text().split("\n").count("die once") == 1:
        os._exit(9)
    if word == "sleep":
        time.sleep(60)
    if word == "eat":
        eaten = []
        while True:
            eaten.append(bytearray(b"x") * (16 << 20))
    if word == "raise":
        raise UsageError("no such word")
    return word.upper()


def run(tmp_path: Path, words: list[str], **options) -> tuple[dict[str, object], list[str]]:
    log, found = tmp_path / "log", {}
    log.write_text("")
    tasks = [f"{word}:{log}" for word in words]
    run_each(
        work,
        tasks,
        lambda task, result: found.__setitem__(task.split(":")[0], result),
        lambda _task, loss: loss,
        **{"jobs": 2, **options},
    )
    return found, log.read_text().split("\n")[:-1]


def test_a_killed_worker_costs_its_task_one_retry(tmp_path):
    words = [f"w{number}" for number in range(6)]
    found, tried = run(tmp_path, ["die", "die once", *words])
    assert found == {"die": Loss.DIED, "die once": "DIE ONCE", **{word: word.upper() for word in words}}
    assert sorted(tried) == sorted(["die", "die", "die once", "die once", *words])


def test_limits_end_one_task_only(tmp_path):
    found, tried = run(tmp_path, ["sleep", "eat", "a", "b"], limits=JobLimits(seconds=10, gibibytes=0.5))
    assert found == {"sleep": Loss.TIME, "eat": Loss.MEMORY, "a": "A", "b": "B"}
    assert sorted(tried) == ["a", "b", "eat", "sleep"]


def test_an_exception_is_raised_and_ends_the_workers(tmp_path):
    with pytest.raises(UsageError, match="no such word"):
        run(tmp_path, ["sleep", "raise"])


def test_one_worker_does_all(tmp_path):
    found, tried = run(tmp_path, ["a", "b", "c"], jobs=1)
    assert list(found.values()) == ["A", "B", "C"]
    assert tried == ["a", "b", "c"]


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"gibibytes": -1.0}, {"seconds": float("nan")}])
def test_limits_are_positive(limits):
    with pytest.raises(UsageError, match="positive"):
        JobLimits(**limits)
