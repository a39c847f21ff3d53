"""Real assets become faultless ones that simulate as they did, and that a second fix does not change."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sanitizer.repairs import PEERS, convert_with_peer, find_peer, find_robots, repair
from tests.sanitizer.simulated import compare_in_mujoco

import simwright

SHARED = Path(__file__).resolve().parents[3] / "shared" / "assets"
TOLERANCE = 1e-6
ROBOTS = [(kind, robot) for kind in PEERS for robot in find_robots(SHARED, kind)]


def name_robot(value: object) -> str:
    return f"{value.parent.name}-{value.stem}" if isinstance(value, Path) else str(value)


def hold_to_all(stage: Path, folder: Path) -> None:
    repaired = repair(stage, folder)
    assert repaired.proven
    assert repaired.left == []
    assert not {"fix-crashed", "fix-undone", "fix-unstable"} & set(repaired.notes)
    assert not repaired.changed_again
    likeness = compare_in_mujoco(stage, repaired.after, folder)
    assert likeness.worst <= TOLERANCE
    assert likeness.lost == []


@pytest.mark.realworld
@pytest.mark.parametrize("stage", find_robots(SHARED, "usd"), ids=name_robot)
def test_stages_of_others(stage: Path, tmp_path: Path) -> None:
    hold_to_all(stage, tmp_path)


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["ant", "ant_mixed", "boxes_fourbar"])
def test_what_a_person_has_to_decide_is_told(shared_assets: Path, name: str) -> None:
    result = simwright.fix(shared_assets / f"usd/{name}.usda", dry_run=True, unsafe=True)
    errors = [finding for finding in result.after if finding.level.value == "error"]
    refused = {note.where.prim + note.where.prop: note.message for note in result.notes}
    assert errors
    for finding in errors:
        said = refused[finding.where.prim + finding.where.prop]
        assert "--set unknown-physics=remove" in said
        assert f"keeps them as userProperties:{finding.where.prop}" in said


@pytest.mark.judge("converters")
@pytest.mark.realworld
@pytest.mark.parametrize(("kind", "robot"), ROBOTS, ids=name_robot)
def test_stages_of_other_converters(kind: str, robot: Path, tmp_path: Path) -> None:
    python = find_peer(kind)
    assert python, f"SIMWRIGHT_PEER_{PEERS[kind].upper()} names no interpreter that has the converter"
    hold_to_all(convert_with_peer(python, kind, robot, tmp_path / "peer"), tmp_path)
