# SPDX-License-Identifier: Apache-2.0
"""Reports of evaluations: rate with its interval, every episode, films of failures."""

from __future__ import annotations

import json
from dataclasses import replace

from simwright.app.report.html import write_evaluation
from simwright.app.tasking import RunRequest, prepare_run
from simwright.tasks.runner import Episode, RunSummary

from ..conftest import SAMPLES

ARM = str(SAMPLES / "arm" / "robot.yaml")


def make_episode(seed: int, *, success: bool) -> Episode:
    ended = "success" if success else "truncated"
    return Episode(seed, seed, success, 40, 1.5, ended, 0.1, 0.2, {"distance": 0.02, "odd": float("nan")})


def test_the_page_has_rate_interval_and_every_episode(tmp_path):
    summary = RunSummary("reach", "<arm>", "reach", "pose", 0)
    summary.episodes = [make_episode(seed, success=seed != 3) for seed in range(10)]
    page = write_evaluation(tmp_path / "out", summary, {3: "seed_3.mp4"}).read_text()
    assert "9 of 10 episodes succeeded" in page
    assert "between 60 and 98 %" in page
    assert 'src="seed_3.mp4"' in page
    assert "&lt;arm&gt;" in page
    assert "<arm>" not in page
    assert "nan" not in page
    told = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert told["successes"] == 9
    assert told["films"] == {"3": "seed_3.mp4"}


def test_a_run_writes_films_of_failures_only(tmp_path):
    out = tmp_path / "report"
    asked = RunRequest("reach", ARM, episodes=4, policy="reach")
    steps = sorted(episode.steps for episode in prepare_run(asked).run().episodes)
    # some goals are too far for so few actions
    ready = prepare_run(replace(asked, max_steps=steps[1], report=str(out)))
    summary = ready.run()
    page = write_evaluation(out, summary, ready.films).read_text()
    lost = {episode.seed for episode in summary.episodes if not episode.success}
    assert 0 < len(lost) < 4, "some succeed and some do not"
    assert {path.name for path in out.glob("*.mp4")} == {f"seed_{seed}.mp4" for seed in lost}
    assert all(path.stat().st_size > 1000 for path in out.glob("*.mp4"))
    assert page.count("<video") == len(lost)
