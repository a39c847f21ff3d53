"""Differences between what two engines see are found, told by name, and not invented."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from scripts.engines.asking import NotSeenError, ask, see_reference
from scripts.engines.comparing import compare, find_servos, refuse
from scripts.engines.seen import Actuator, Freedom, Seen, bound, find_position, join_blocks, load, name_of
from tests.engines_judged.twins import write_mjcf


@pytest.fixture
def twin(tmp_path: Path) -> Seen:
    return see_reference(write_mjcf(tmp_path))[0]


def set_on(seen: Seen, chosen: str, /, **values: object) -> None:
    row = next(row for row in seen.freedoms if row.joint == chosen)
    for name, value in values.items():
        setattr(row, name, value)


def make_driven(seen: Seen) -> Seen:
    """As an engine sees it that has drives and no actuators."""
    other = copy.deepcopy(seen)
    other.actuators = []
    set_on(other, "turn", stiffness=200.0, damping=20.0, max_force=30.0)
    return other


def test_a_drive_says_what_a_servo_says(twin: Seen) -> None:
    outcome = compare("physx", twin, make_driven(twin))
    assert outcome.right
    assert outcome.reason == ""
    assert outcome.counts == {"dofs": "2/2", "base": "fixed", "drives": "1/1"}
    assert outcome.matrix_error == 0.0


@pytest.mark.parametrize(
    ("values", "aspect", "told"),
    [
        ({"stiffness": 100.0}, "drives", "turn: stiffness 100 instead of 200"),
        ({"max_force": None}, "drives", "turn: max force None instead of 30.0"),
        ({"damping": 0.0}, "damping", "turn: damping 0.6 instead of 20.6"),
        ({"armature": 0.0}, "armature", "turn: armature 0 instead of 0.3"),
        ({"friction": 0.0}, "friction", "turn: friction 0 instead of 0.4"),
        ({"limit": (-1.0, None)}, "limits", "turn: limits (-1.0, None) instead of (-1.0, 2.0)"),
        ({"joint": "other", "body": "other"}, "dofs", "turn: 0 DOFs instead of 1"),
    ],
)
def test_one_difference(twin: Seen, values: dict[str, object], aspect: str, told: str) -> None:
    other = make_driven(twin)
    set_on(other, "turn", **values)
    assert compare("physx", twin, other).differences[aspect] == told


def test_masses_and_mass_matrix(twin: Seen) -> None:
    other = make_driven(twin)
    other.masses["upper"] = 2.1
    other.mass_matrices[2][0][1] += 0.1
    found = compare("physx", twin, other).differences
    assert found["masses"] == "upper weighs 2.1 instead of 2"
    assert "(configuration 2, others held)" in found["matrix"]


def test_actuators_are_compared_one_by_one(twin: Seen) -> None:
    other = copy.deepcopy(twin)
    other.actuators[0].force_range = None
    assert "max force" in compare("mujoco_usd", twin, other).differences["drives"]
    other = copy.deepcopy(twin)
    other.actuators[0].control_range = (-1.0, 1.0)
    assert "control_range" in compare("mujoco_usd", twin, other).differences["drives"]
    other.actuators = [other.actuators[0], copy.deepcopy(other.actuators[0])]
    found = compare("mujoco_usd", twin, other).differences
    assert "stiffness 0 instead of 200" in found["drives"]  # two actuators on a joint are no servo


def test_a_gear_belongs_to_the_gains_of_a_servo() -> None:
    row = Freedom("turn", "upper", "hinge")
    motor = Actuator(
        "m", "turn", "joint", [5.0, 0, 0], [0, -5.0, -1.0], [2.0, 0, 0, 0, 0, 0], True, (-3.0, 3.0)
    )
    servo = find_servos(Seen("test", [row], actuators=[motor]))["turn"]
    assert (servo.stiffness, servo.damping, servo.max_force) == (20.0, 4.0, 6.0)


@pytest.mark.parametrize(
    "change",
    [{"simple": False}, {"bias": [0.0, 0.0, 0.0]}, {"transmission": "tendon"}, {"gain": [4.0, 0, 0]}],
)
def test_what_is_no_servo(change: dict[str, object]) -> None:
    motor = Actuator("m", "turn", "joint", [5.0, 0, 0], [0, -5.0, -1.0], [1.0, 0, 0, 0, 0, 0], True)
    for name, value in change.items():
        setattr(motor, name, value)
    assert find_servos(Seen("test", [Freedom("turn", "upper", "hinge")], actuators=[motor])) == {}


def make_floating(turn: Callable[[np.ndarray], np.ndarray]) -> Seen:
    """A floating body with two hinges; ``turn`` changes the coordinates of its base."""
    root = np.random.default_rng(0).normal(size=(8, 8))
    change = np.eye(8)
    change[:6, :6] = turn(np.eye(6))
    matrix = change.T @ (root @ root.T + np.eye(8)) @ change
    rows = [Freedom("free", "trunk", "free") for _ in range(6)]
    rows += [Freedom(f"hinge{number}", f"leg{number}", "hinge") for number in range(2)]
    return Seen("test", rows, ["trunk"], mass_matrices=[matrix.tolist()])


def test_engines_may_count_the_base_in_their_own_axes() -> None:
    change = np.random.default_rng(1).normal(size=(6, 6))
    other = make_floating(lambda eye: eye @ change)
    outcome = compare("physx", make_floating(lambda eye: eye), other)
    assert outcome.right
    assert outcome.matrix_error is not None
    assert 0.0 < outcome.matrix_error < 1e-9
    other.mass_matrices[0][0][0] += 1.0  # the base alone: held joints do not show it
    assert "others free" in compare("physx", make_floating(lambda eye: eye), other).differences["matrix"]


def test_a_joint_that_is_called_otherwise_is_known_by_its_body(twin: Seen) -> None:
    """A joint with the name of a body beside it gets another name in OpenUSD."""
    other = copy.deepcopy(twin)
    set_on(other, "turn", joint="turn_joint")
    other.actuators[0].target = "turn_joint"
    assert compare("mujoco_usd", twin, other).right
    other.actuators[0].target = "push"
    assert not compare("mujoco_usd", twin, other).right


def test_positions_of_joints() -> None:
    configuration = {"joints": {"turn": 1.0}, "bodies": {"upper": 2.0}}
    assert find_position(configuration, "turn", "upper") == 1.0
    assert find_position(configuration, "turn_joint", "upper") == 2.0
    assert find_position(configuration, "turn_joint", "lower") == 0.0
    assert find_position({}, "turn", "upper") == 0.0


def test_base_that_should_be_held() -> None:
    floating = make_floating(lambda eye: eye)
    held = Seen(
        "test", floating.freedoms[6:], mass_matrices=[np.array(floating.mass_matrices)[0, 6:, 6:].tolist()]
    )
    assert compare("physx", held, floating).differences["base"] == "trunk floats, should be held"
    assert compare("physx", floating, held).differences["base"] == "trunk is held, should float"


def test_several_joints_of_a_body_are_one_joint_elsewhere() -> None:
    wanted = Seen(
        "test", [Freedom(name, "ankle", "hinge", armature=a) for name, a in (("roll", 1.0), ("pitch", 2.0))]
    )
    wanted.mass_matrices = [np.eye(2).tolist()]
    found = Seen("test", [Freedom("ankle_joint", "ankle", "axis", armature=a) for a in (2.0, 1.0)])
    found.mass_matrices = [np.eye(2).tolist()]
    outcome = compare("physx", wanted, found)
    assert outcome.right
    assert "matrix" in outcome.absent


def test_what_goes_from_a_worker_comes_back(twin: Seen) -> None:
    assert compare("mujoco_usd", twin, load(json.dumps(asdict(twin)))).right


def test_small_things() -> None:
    assert name_of("/robot/arm/joint 1") == "joint_1"
    assert name_of("2nd") == "_2nd"
    assert bound(3.4e38) is None
    assert bound(-2.0) == -2.0
    assert join_blocks([np.eye(1), 2.0 * np.eye(2)]) == [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    assert refuse("physx", "no").reason == "no"


def test_an_engine_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMWRIGHT_PEER_OVPHYSX", str(tmp_path / "python"))
    with pytest.raises(NotSeenError, match="python scripts/judge physx"):
        ask("physx", tmp_path / "robot.usda", [])


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'Traceback'; echo 'ValueError: bad' >&2; echo ' thing' >&2; exit 1", "^bad thing$"),
        ("kill -SEGV $$", "signal 11"),
        ("exec sleep 60", "no answer after 1 s"),
    ],
)
def test_an_engine_that_fails(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    monkeypatch.setenv("SIMWRIGHT_PEER_OVPHYSX", str(python))
    with pytest.raises(NotSeenError, match=told):
        ask("physx", tmp_path / "robot.usda", [], seconds=1.0)
