"""Plans in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.errors import ParseError, SimwrightError, UnknownNameError, UsageError
from simwright.worlds.acting.task_plan import choose_robot, parse_action, read_plan
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

from ..flat import make_flat


@pytest.fixture
def flat(tmp_path: Path) -> World:
    return make_flat(tmp_path)


def test_both_ways_to_write_a_step(flat: World, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("""
one:
  - navigate right table
  - pick can
  - {type: navigate, target_location: table}
  - {type: navigate, target: [1.0, 2.0, 0.0, 0.5]}
  - {type: place, pose: [0.3, -1.3]}
  - {type: detect, object: can0}
two: [open, "navigate 1.5,-0.5,1"]
""")
    plans = read_plan(file, flat)
    assert [str(action) for action in plans["one"]] == [
        "navigate right table",
        "pick can",
        "navigate table",
        "navigate (1, 2)",
        "place",
        "detect can0",
    ]
    assert plans["one"][4].pose == WorldPose(0.3, -1.3)
    assert plans["two"][1].target == WorldPose.from_yaw(1.5, -0.5, 0.0, 1.0)
    assert parse_action("navigate a,b").target == "a,b"


def test_a_list_belongs_to_a_named_robot(flat: World, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("- navigate desk")
    assert list(read_plan(file, flat, "two")) == ["two"]
    with pytest.raises(UsageError, match="2 robots"):
        read_plan(file, flat)
    with pytest.raises(UnknownNameError, match="robot"):
        choose_robot(flat, "thre")
    flat.robots.clear()
    with pytest.raises(UsageError, match="no robot"):
        choose_robot(flat)


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("one:\n  - navigat desk", "navigate", 2),
        ("one:\n  - {type: pik}", "pick", 2),
        ("ones: []", "one", 1),
        ("one: 3", "list", 1),
        ("3", "list", 1),
        ("one:\n  - 7", "step", 2),
        ("one:\n  - {target: desk}", "no type", 2),
        ("one:\n  - {type: pick, objet: can}", "objet", 2),
        ("one:\n  - {type: pick, object: 3}", "text", 2),
        ("one:\n  - {type: place, pose: [1]}", "pose", 2),
        ("one:\n  - {type: place, pose: [1, yes]}", "pose", 2),
        ("one:\n  - {type: place, pose: here}", "pose", 2),
        ("one: [", "YAML", 2),
    ],
)
def test_mistakes_have_a_line(flat: World, tmp_path: Path, text: str, words: str, line: int) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(text)
    with pytest.raises((ParseError, UnknownNameError)) as caught:
        read_plan(file, flat)
    assert words in str(caught.value)
    assert isinstance(caught.value, SimwrightError)
    assert caught.value.where is not None
    assert caught.value.where.line == line
