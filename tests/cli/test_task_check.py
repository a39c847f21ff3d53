# SPDX-License-Identifier: Apache-2.0
"""``simwright task check`` and ``export``, and what stops ``run``."""

from __future__ import annotations

import json

from simwright.app.cli.main import run


def test_check_is_the_report_before_the_flight(capsys):
    assert run(["task", "check", "pick_place", "--robot", "sample_arm", "--notes"]) == 0
    assert "preflight-servos-added" in capsys.readouterr().out
    assert run(["task", "check", "stack", "--robot", "sample_quadruped", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    codes = [finding["rule"] for finding in told["assets"][0]["findings"]]
    assert {"preflight-needs-fixed-base", "preflight-needs-gripper"} <= set(codes)


def test_a_robot_that_cannot_do_it_is_stopped_unless_forced(capsys):
    far = ["--set", "goal_range=[[3, 4], [3, 4], [0, 1]]", "--max-steps", "3"]
    assert run(["task", "run", "reach", "--robot", "sample_arm", *far]) == 2
    assert "none of the 8 corners" in capsys.readouterr().out
    assert run(["task", "run", "reach", "--robot", "sample_arm", *far, "--force"]) == 0
    assert "preflight-out-of-reach" in capsys.readouterr().err
    assert run(["task", "run", "reach", "--robot", "sample_arm", *far, "--fit"]) == 0


def test_export_writes_what_check_takes(capsys, tmp_path):
    target = tmp_path / "reach" / "reach.usda"
    assert run(["task", "export", "reach", "--robot", "sample_arm", "-o", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert run(["check", str(target)]) == 0
    mjcf = ["task", "export", "reach", "--robot", "sample_arm", "-o", str(tmp_path / "reach.xml")]
    assert [run(mjcf), run(mjcf), run([*mjcf, "--overwrite"])] == [0, 2, 0]
    assert run(["task", "export", "reach", "--robot", "sample_arm", "-o", str(tmp_path / "reach.what")]) == 2
