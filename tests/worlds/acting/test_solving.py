# SPDX-License-Identifier: Apache-2.0
"""Goals become PDDL, a solver's plan becomes actions, and these bring the goals about."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from unified_planning.io import PDDLReader

from simwright.app.cli.main import run
from simwright.app.worlds import load_world, run_plans, solve_goals
from simwright.core.errors import MissingExtraError, UsageError
from simwright.worlds.acting.solving import DOMAIN, describe_problem
from simwright.worlds.world import World

# up-aries 0.5 ends its server without waiting for it
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
DESK = {
    "footprint": {"type": "box", "dims": [1.2, 0.6], "height": 0.7},
    "nav_poses": [[0.0, -0.8, 0.0, 1.57]],
    "locations": [{"name": "top", "footprint": {"type": "parent", "padding": 0.02, "height": 0.7}}],
}
APPLE = {"footprint": {"type": "circle", "radius": 0.04, "height": 0.08}}


def make_world(folder: Path, *, is_open: bool = True, is_locked: bool = False) -> Path:
    """A kitchen with apples on two tables, a door, and a study with a desk."""
    state = {"is_open": is_open, "is_locked": is_locked}
    data = {
        "params": {"name": "two rooms", "object_radius": 0.02},
        "metadata": {"locations": ["$PWD/furniture.yaml"], "objects": ["$PWD/things.yaml"]},
        "rooms": [
            {"name": "kitchen", "footprint": {"type": "box", "dims": [5, 5]}},
            {"name": "study", "footprint": {"type": "box", "dims": [4, 5]}, "pose": [6.0, 0.0]},
        ],
        "hallways": [
            {"name": "door", "room_start": "kitchen", "room_end": "study", "width": 1.2} | state
        ],
        "locations": [
            {"name": "left table", "category": "desk", "parent": "kitchen", "pose": [-1.5, 1.8]},
            {"name": "table", "category": "desk", "parent": "kitchen", "pose": [0.5, 1.8]},
            {"name": "writing desk", "category": "desk", "parent": "study", "pose": [6.0, 1.8]},
        ],
        "objects": [
            {"category": "apple", "parent": "left table"},
            {"category": "apple", "parent": "table"},
            {"category": "pear", "parent": "table"},
        ],
        "robots": [
            {
                "name": "ada", "radius": 0.2, "location": "kitchen", "pose": [0.0, -1.0],
                "path_planner": {"type": "world_graph"},
                "path_executor": {"type": "constant_velocity", "linear_velocity": 1.0, "dt": 0.1},
            }
        ],
    }  # fmt: skip
    for name, content in (
        ("world", data),
        ("furniture", {"desk": DESK}),
        ("things", {"apple": APPLE, "pear": APPLE}),
    ):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    return folder / "world.yaml"


def list_stands(world: World, kind: str) -> list[str]:
    return [
        item.spawn.location.name if item.spawn else "" for item in world.objects if item.category.name == kind
    ]


def test_all_apples_come_to_the_desk(tmp_path: Path) -> None:
    world = load_world(make_world(tmp_path), strict=True)
    ada = world.robots[0]
    actions = solve_goals(world, ada, ["all apples on the writing desk"])
    assert [action.type for action in actions] == ["navigate", "pick", "navigate", "place"] * 2
    answer = run_plans(world, {"ada": actions})[1]["ada"]
    assert answer.ok, answer.results
    assert list_stands(world, "apple") == ["writing desk", "writing desk"]
    assert list_stands(world, "pear") == ["table"]


def test_a_closed_door_is_opened_before_anything_is_carried(tmp_path: Path) -> None:
    world = load_world(make_world(tmp_path, is_open=False), strict=True)
    actions = solve_goals(world, world.robots[0], ["pear0 at study"])
    assert [action.type for action in actions] == [
        "navigate",
        "open",
        "navigate",
        "pick",
        "navigate",
        "place",
    ]
    assert run_plans(world, {"ada": actions})[1]["ada"].ok
    assert list_stands(world, "pear") == ["writing desk"]


def test_goals_hold_together(tmp_path: Path) -> None:
    world = load_world(make_world(tmp_path), strict=True)
    actions = solve_goals(world, world.robots[0], ["pear0 at left table", "door closed"])
    assert run_plans(world, {"ada": actions})[1]["ada"].ok
    assert list_stands(world, "pear") == ["left table"]
    assert not world.hallways[0].is_open


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    world = load_world(make_world(tmp_path, is_open=False, is_locked=True))
    ada = world.robots[0]
    with pytest.raises(UsageError, match="does not get to 'study'"):
        solve_goals(world, ada, ["pear0 at study"])
    for goal, text in (
        ("all plums on table", "no category of objects 'plums'"),
        ("pear0 at cellar", "'cellar' is no place"),
        ("pear0 upstairs", "not understood"),
        ("pear0 closed", "neither opened nor closed"),
        ("pear0 at door", "nothing can be placed"),
    ):
        with pytest.raises(UsageError) as raised:
            describe_problem(world, ada, [goal])
        assert text in str(raised.value)


def test_problems_are_pddl_that_others_read(tmp_path: Path) -> None:
    world = load_world(make_world(tmp_path, is_open=False))
    problem = describe_problem(world, world.robots[0], ["all apples at desk", "at study", "door open"])
    task = PDDLReader().parse_problem_string(DOMAIN, problem.text)
    assert {action.name for action in task.actions} >= {"move", "pass", "pick", "place"}
    assert len(list(task.objects(task.user_type("item")))) == 2


def test_without_the_extra_the_line_to_install_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = load_world(make_world(tmp_path))
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("unified_planning"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"simwright\[planning\]"):
        solve_goals(world, world.robots[0], ["pear0 at table"])


def test_solve_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(make_world(tmp_path))
    plan = str(tmp_path / "plan.yaml")
    assert (
        run(
            [
                "world",
                "solve",
                file,
                "--goal",
                "pear0 on the writing desk",
                "-o",
                plan,
                "--run",
                "--format",
                "json",
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["plan"][0].startswith("navigate table")
    assert answer["run"]["robots"]["ada"]["ok"]
    assert run(["world", "run", file, "--plan", plan]) == 0
    assert run(["world", "solve", file, "--goal", "pear0 on table", "--pddl", str(tmp_path / "task")]) == 0
    assert "(define (domain world)" in (tmp_path / "task" / "domain.pddl").read_text()
    assert run(["world", "solve", file, "--goal", "nonsense"]) == 2
    assert run(["world", "solve", file, "--goal", "pear0 on table", "--solver", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
