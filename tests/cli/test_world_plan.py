# SPDX-License-Identifier: Apache-2.0
"""``simwright world plan`` and ``world run``, and paths in ``world render``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simwright.app.cli.main import run

PLAN = """
tender: [navigate bench, pick gear, navigate desk0, place desk0]
courier: [navigate desk1, detect]
"""


@pytest.fixture
def lab(samples: Path) -> str:
    return str(samples / "lab" / "lab.yaml")


def test_what_is_wrong_with_a_world_is_said_beside_the_result(
    lab: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that reads the answer must not find warnings in it."""
    world = tmp_path / "lab.yaml"
    for file in Path(lab).parent.iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    world.write_text(f"{world.read_text()}\nunknown_word: 1\n")
    assert run(["world", "plan", str(world), "--robot", "tender", "--to", "bench", "--format", "json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)
    assert "unknown_word" in said.err


@pytest.mark.parametrize("planner", ["astar", "rrt", "prm", "world_graph"])
def test_a_path_as_json_and_as_a_picture(
    lab: str, planner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "way.svg"
    more = ["--option", "max_nodes=300"] if planner == "prm" else []
    options = ["--planner", planner, "--format", "json", "--picture", str(picture), *more]
    assert (
        run(["world", "plan", lab, "--robot", "courier", "--from", "-1,4", "--to", "4.5,0.5", *options]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["found"]
    assert told["poses"][0][:2] == [-1.0, 4.0]
    assert told["poses"][-1][:2] == [4.5, 0.5]
    assert told["length"] >= 6.5
    assert picture.stat().st_size > 1000


def test_no_path_is_a_finding(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["world", "plan", lab, "--robot", "tender", "--to", "server_room"]) == 1
    assert "hall_server_room_storage" in capsys.readouterr().out
    assert run(["world", "plan", lab, "--robot", "tender", "--to", "bench", "--format", "json"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--robot", "tendr", "--to", "bench"], "did you mean 'tender'"),
        (["--to", "bench"], "name one: tender, courier"),
        (["--robot", "tender", "--to", "banch"], "did you mean 'bench'"),
        (["--robot", "tender", "--from", "banch", "--to", "bench"], "did you mean 'bench'"),
        (["--robot", "tender", "--to", "bench", "--planner", "astr"], "did you mean 'astar'"),
        (["--robot", "tender", "--to", "bench", "--option", "max_tme=3"], "did you mean 'max_time'"),
        (["--robot", "tender", "--to", "bench", "--option", "max_time=long"], "has to be"),
        (["--robot", "tender", "--to", "bench", "--option", "x"], "NAME=VALUE"),
    ],
)
def test_mistakes_are_bad_usage(
    lab: str, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["world", "plan", lab, *arguments]) == 2
    assert words in capsys.readouterr().err


def test_plans_run(lab: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    picture = tmp_path / "after.png"
    command = ["world", "run", lab, "--plan", str(plan), "--seed", "7", "--format", "json"]
    told = []
    for _ in range(2):
        assert run([*command, "--picture", str(picture)]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    answer = json.loads(told[0])
    assert answer["robots"]["tender"]["ok"]
    assert {event["kind"] for event in answer["events"]} >= {"start", "finish", "path"}
    assert [item["spawn"] for item in answer["world"]["objects"]].count("desk0_top") >= 1
    assert picture.stat().st_size > 1000


def test_goals_run(lab: str, capsys: pytest.CaptureFixture[str]) -> None:
    goals = [
        "--goal",
        "wrench0 at shelf0",
        "--goal",
        "hall_server_room_storage open",
        "--goal",
        "at server_room",
    ]
    assert run(["world", "run", lab, "--robot", "tender", *goals]) == 0
    told = capsys.readouterr().out
    assert "open hall_server_room_storage" in told
    assert told.splitlines()[-1].endswith("done")


def test_a_plan_that_fails_is_a_finding(lab: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("- navigate server_room\n")
    assert run(["world", "run", lab, "--robot", "courier", "--plan", str(plan)]) == 1
    assert "stopped: " in capsys.readouterr().out
    for arguments in (
        [],
        ["--plan", str(plan), "--goal", "at office"],
        ["--plan", str(tmp_path / "no.yaml")],
    ):
        assert run(["world", "run", lab, "--robot", "courier", *arguments]) == 2
    plan.write_text("- navigat office\n")
    assert run(["world", "run", lab, "--robot", "courier", "--plan", str(plan)]) == 2
    assert "did you mean 'navigate'" in capsys.readouterr().err


def test_pictures_with_paths(lab: str, tmp_path: Path) -> None:
    plain, drawn, gone = (tmp_path / f"{name}.svg" for name in ("plain", "drawn", "gone"))
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    assert run(["world", "render", lab, "-o", str(plain)]) == 0
    assert run(["world", "render", lab, "-o", str(drawn), "--robot", "tender", "--path", "bench"]) == 0
    assert run(["world", "render", lab, "-o", str(gone), "--plan", str(plan)]) == 0
    assert plain.read_bytes() != drawn.read_bytes() != gone.read_bytes()
    assert run(["world", "render", lab, "-o", str(drawn), "--robot", "tender", "--path", "server_room"]) == 2
