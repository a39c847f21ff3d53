# SPDX-License-Identifier: Apache-2.0
"""``simwright task``: the robot is a flag."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simwright.app.cli.main import run as run_command

from ..conftest import SAMPLES

ARM = str(SAMPLES / "arm" / "robot.yaml")


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = run_command(["task", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_list_and_show(capsys):
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert "tabletop_push" in out
    assert "locomotion_flat" in out
    code, out, _ = run(capsys, "show", "tabletop_push")
    assert code == 0
    assert "cube_spawn_xy_range" in out
    assert "[[-0.15, 0.15], [0.18, 0.3]]" in out
    told = json.loads(run(capsys, "show", "pick_place", "--format", "json")[1])
    assert told["needs"]["gripper"] is True
    assert {"name": "cube_mass", "default": 0.05, "description": ""} in told["options"]
    code, _, err = run(capsys, "show", "tabletop_posh")
    assert code == 2
    assert "did you mean 'tabletop_push'" in err


def test_a_run_reports_every_episode(capsys):
    code, out, _ = run(
        capsys,
        "run",
        "reach",
        "--robot",
        ARM,
        "--policy",
        "reach",
        "--episodes",
        "2",
        "--seed",
        "5",
        "--format",
        "json",
    )
    assert code == 0
    told = json.loads(out)
    assert told["success_rate"] == 1.0
    assert [e["seed"] for e in told["episodes"]] == [5, 6]
    assert told["control"] == "pose", "the policy's own"
    code, out, _ = run(capsys, "run", "reach", "--robot", ARM, "--max-steps", "3")
    assert code == 0, "a run that finished is not a failure"
    assert "0 of 1 episodes succeeded (0 %; 95 % interval 0 to 79 %)" in out


def test_options_are_set_on_the_command_line(capsys, tmp_path):
    file = tmp_path / "run.npz"
    words = ("run", "tabletop_push", "--robot", ARM, "--max-steps", "2", "--record", str(file))
    assert (
        run(capsys, *words, "--set", "cube_mass=0.2", "--set", "cube_spawn_xy_range=[[0, 0], [0.25, 0.25]]")[
            0
        ]
        == 0
    )
    with np.load(file) as found:
        options = json.loads(str(found["meta"]))["options"]
        assert options["cube_mass"] == 0.2
        assert found["observation.cube"][0][:2] == pytest.approx([0.0, 0.25])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tabletop_push",), "needs a robot"),
        (("tabletop_push", "--robot", "no_such"), "unknown robot 'no_such'"),
        (("tabletop_posh", "--robot", ARM), "did you mean 'tabletop_push'"),
        (("reach", "--robot", ARM, "--policy", "rech"), "did you mean 'reach'"),
        (("reach", "--robot", ARM, "--set", "goal_radios=1"), "did you mean 'goal_radius'"),
        (("reach", "--robot", ARM, "--set", "goal_radius=-1"), "greater than 0"),
        (("reach", "--robot", ARM, "--set", "goal_radius"), "KEY=VALUE"),
        (("reach", "--robot", ARM, "--policy", "reach", "--control", "torque"), "control mode 'pose'"),
        (("reach", "--robot", ARM, "--policy", "reach", "--num-worlds", "2"), "one world at a time"),
        (("reach", "--robot", ARM, "--record", "out.avi"), ".mp4, .gif or .npz"),
        (("no_such.yaml",), "no_such.yaml"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, words, message):
    code, out, err = run(capsys, "run", *words)
    assert code == 2
    assert message in err
    assert "Traceback" not in err + out


def test_many_worlds(capsys):
    words = (
        "run",
        "tabletop_push",
        "--robot",
        ARM,
        "--num-worlds",
        "4",
        "--episodes",
        "6",
        "--max-steps",
        "3",
    )
    told = json.loads(run(capsys, *words, "--policy", "random", "--format", "json")[1])
    assert [e["seed"] for e in told["episodes"]] == list(range(6))


def test_an_environment_file_and_what_counts_over_it(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(SAMPLES))
    file = tmp_path / "env.yaml"
    file.write_text(
        f"task: reach\nrobot: {ARM}\nepisodes: 2\nseed: 4\npolicy: reach\nmax_steps: 50\n"
        "options: {goal_radius: 0.04}\nrandomize: {joints: 0.05}\nrecord: out.npz\n"
    )
    code, out, err = run(capsys, "run", str(file), "--format", "json")
    assert code == 0, err
    told = json.loads(out)
    assert [e["seed"] for e in told["episodes"]] == [4, 5]
    with np.load(tmp_path / "out.npz") as found:
        assert json.loads(str(found["meta"]))["options"]["goal_radius"] == 0.04
    told = json.loads(run(capsys, "run", str(file), "--seed", "9", "--episodes", "1", "--format", "json")[1])
    assert [e["seed"] for e in told["episodes"]] == [9]
    file.write_text("task: reach\nrobto: x\n")
    code, _, err = run(capsys, "run", str(file))
    assert code == 2
    assert "env.yaml:2:1: unknown key 'robto' (did you mean 'robot'?)" in err
