# SPDX-License-Identifier: Apache-2.0
"""Films, arrays and data sets of runs: whole or not at all."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest

from simwright.core.errors import MissingExtraError, OutputError, UnknownNameError, UsageError
from simwright.tasks.baselines.policy import HoldPolicy, make_policy
from simwright.tasks.environments import make_rollout
from simwright.tasks.recording import ArraysRecorder, VideoRecorder, open_recorder
from simwright.tasks.recording_dataset import DatasetRecorder
from simwright.tasks.runner import SimRunner

pytestmark = pytest.mark.filterwarnings(
    # imageio's reader, which only these tests use, leaves pipes to the garbage collector
    "ignore::pytest.PytestUnraisableExceptionWarning"
)


class Broken(HoldPolicy):
    """Fails at the third action."""

    def act(self, observation):
        self.count = getattr(self, "count", 0) + 1
        if self.count == 3:
            raise RuntimeError("broken")
        return super().act(observation)


def test_arrays_hold_what_was_observed_and_done(arm, tmp_path):
    rollout = make_rollout("reach", arm, mode="pose", max_steps=6)
    file = tmp_path / "out" / "run.npz"
    summary = SimRunner(rollout, make_policy("random"), listeners=[open_recorder(file)]).run(2, 4)
    with np.load(file, allow_pickle=False) as found:
        count = sum(episode.steps for episode in summary.episodes)
        assert found["action"].shape == (count, rollout.action_size)
        assert found["observation.qpos"].shape == (count, 8)
        assert found["episode"].tolist() == [
            i for i, e in enumerate(summary.episodes) for _ in range(e.steps)
        ]
        assert found["done"].sum() == 2
        meta = json.loads(str(found["meta"]))
        assert meta["episodes"][1]["seed"] == 5
        assert meta["task"] == "reach"
        again = make_rollout("reach", arm, mode="pose")
        start = again.reset(seed=4)
        assert found["observation.qpos"][0] == pytest.approx(start["qpos"])
        second = again.step(found["action"][0])
        assert found["observation.tool"][1] == pytest.approx(second.observation["tool"]), (
            "it can be played again"
        )
        assert found["reward"][0] == pytest.approx(second.reward)


def test_a_film_has_a_picture_for_every_other_action(arm, tmp_path):
    pytest.importorskip("imageio")
    rollout = make_rollout("tabletop_push", arm, max_steps=10)
    file = tmp_path / "run.mp4"
    SimRunner(rollout, HoldPolicy(), listeners=[VideoRecorder(file, width=96, height=64)]).run(2)
    frames = _read(file)
    assert len(frames) == 2 * 6, "the start, and every second of ten actions"
    assert frames[0].shape == (64, 96, 3)
    assert np.ptp(frames[0].astype(int)) > 50, "something is to be seen"
    assert [path.name for path in tmp_path.iterdir()] == ["run.mp4"]


def _read(file):
    import imageio.v2

    with imageio.v2.get_reader(file) as reader:
        return [np.asarray(frame) for frame in reader]


def test_a_run_that_fails_leaves_nothing(arm, tmp_path):
    pytest.importorskip("imageio")
    rollout = make_rollout("reach", arm)
    recorders = [
        VideoRecorder(tmp_path / "run.mp4", width=32, height=32),
        ArraysRecorder(tmp_path / "run.npz"),
    ]
    with pytest.raises(RuntimeError, match="broken"):
        SimRunner(rollout, Broken(), listeners=recorders).run(1)
    assert list(tmp_path.iterdir()) == []


def test_unknown_endings_and_cameras_are_refused(arm, tmp_path):
    with pytest.raises(UsageError, match=r"\.mp4, \.gif or \.npz, not as \.avi"):
        open_recorder(tmp_path / "run.avi")
    pytest.importorskip("imageio")
    rollout = make_rollout("reach", arm)
    with pytest.raises(UnknownNameError, match="did you mean 'side'"):
        SimRunner(rollout, HoldPolicy(), listeners=[VideoRecorder(tmp_path / "a.mp4", camera="sid")]).run(1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("package", "extra"), [("imageio", "video"), ("pyarrow", "dataset")])
def test_a_missing_package_names_the_line_that_installs_it(package, extra, tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else real(name))
    with pytest.raises(MissingExtraError, match=rf"pip install 'simwright\[{extra}\]'"):
        VideoRecorder(tmp_path / "a.mp4") if extra == "video" else DatasetRecorder(tmp_path / "a")


class TestDataset:
    """LeRobot's layout."""

    @pytest.fixture(autouse=True)
    def _need(self):
        pytest.importorskip("pyarrow")
        pytest.importorskip("imageio")

    def test_every_number_of_a_term_has_a_name(self, arm, tmp_path):
        rollout = make_rollout("reach", arm, max_steps=2)
        rollout.add_terms([{"offset": ["tool", "goal"]}, "action", "efforts", "time"])
        SimRunner(rollout, HoldPolicy(), listeners=[DatasetRecorder(tmp_path / "set", cameras=[])]).run(1, 1)
        info = json.loads((tmp_path / "set" / "meta" / "info.json").read_text())
        found = info["features"]["observation.environment_state"]
        names = [*(f"goal.{axis}" for axis in "xyz"), *(f"offset_tool_goal.{axis}" for axis in "xyz")]
        names += [*(f"action.{number}" for number in range(7)), *(f"efforts.{number}" for number in range(8))]
        assert found["names"] == [*names, "time"]
        assert found["shape"] == [len(found["names"])]

    def test_everything_is_where_it_belongs(self, arm, tmp_path):
        import pyarrow.parquet as pq

        rollout = make_rollout("tabletop_push", arm, max_steps=4)
        root = tmp_path / "set"
        recorder = DatasetRecorder(root, cameras=["top", "wrist"], width=64, height=48)
        SimRunner(rollout, HoldPolicy(), listeners=[recorder]).run(3, 1)
        info = json.loads((root / "meta" / "info.json").read_text())
        assert info["codebase_version"] == "v3.0"
        assert (info["total_episodes"], info["total_frames"], info["fps"]) == (3, 12, 50)
        assert info["robot_type"] == "sample_arm"
        features = info["features"]
        assert features["observation.state"]["shape"] == [8]
        assert features["observation.state"]["names"][0] == "joint_1"
        assert features["observation.environment_state"]["names"][:4] == [
            "cube.x",
            "cube.y",
            "cube.z",
            "cube.qw",
        ]
        assert len(features["action"]["names"]) == features["action"]["shape"][0] == 7
        table = pq.read_table(root / info["data_path"].format(chunk_index=0, file_index=0))
        assert table.num_rows == 12
        assert table["index"].to_pylist() == list(range(12))
        assert table["frame_index"].to_pylist() == [0, 1, 2, 3] * 3
        assert table["timestamp"].to_pylist()[:3] == pytest.approx([0.0, 0.02, 0.04])
        assert table["next.done"].to_pylist() == [False, False, False, True] * 3
        episodes = pq.read_table(root / "meta" / "episodes" / "chunk-000" / "file-000.parquet").to_pylist()
        assert [(e["dataset_from_index"], e["dataset_to_index"]) for e in episodes] == [
            (0, 4),
            (4, 8),
            (8, 12),
        ]
        assert episodes[1]["videos/observation.images.top/from_timestamp"] == pytest.approx(0.08)
        assert episodes[0]["tasks"] == ["push the red cube onto the green goal marker"]
        tasks = pq.read_table(root / "meta" / "tasks.parquet")
        assert tasks["task"].to_pylist() == episodes[0]["tasks"]
        assert json.loads((root / "meta" / "stats.json").read_text())["action"]["count"] == [12]
        films = {
            key: _read(root / info["video_path"].format(video_key=key, chunk_index=0, file_index=0))
            for key in ("observation.images.top", "observation.images.wrist")
        }
        assert [len(film) for film in films.values()] == [12, 12]
        top, wrist = (film[0].astype(int) for film in films.values())
        assert np.abs(top - wrist).mean() > 5, "every camera has pictures of its own"

    def test_a_folder_that_is_there_is_left_alone(self, arm, tmp_path):
        (tmp_path / "mine").write_text("keep")
        with pytest.raises(OutputError, match="is there already"):
            DatasetRecorder(tmp_path)
        assert (tmp_path / "mine").read_text() == "keep"

    def test_a_run_that_fails_leaves_nothing(self, arm, tmp_path):
        recorder = DatasetRecorder(tmp_path / "set", cameras=["top"], width=32, height=32)
        with pytest.raises(RuntimeError, match="broken"):
            SimRunner(make_rollout("reach", arm), Broken(), listeners=[recorder]).run(1)
        assert list(tmp_path.iterdir()) == []
