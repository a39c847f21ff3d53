"""What is wrong with worlds that can be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.worlds.read import check_quality

from .text import HALL, ROOMS, TABLE, load

CAN = "objects: [{category: can, parent: table0}]\n"
IN_DOORWAY = "locations: [{category: table, parent: left, pose: [1.65, 0.0, 0.0, 1.5707963]}]\n"
IN_LEFT = "robots: [{pose: [-1, 0]}]\n"
SHUT = HALL.replace("}", ", is_open: false}")
LOCKED = HALL.replace("}", ", is_open: false, is_locked: true}")


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        (HALL + TABLE + CAN, set()),
        (TABLE + CAN + IN_LEFT, {"world-room-unreachable"}),
        (LOCKED + TABLE + CAN + IN_LEFT, {"world-room-unreachable"}),
        (SHUT + TABLE + CAN, {"world-room-behind-door"}),
        (HALL.replace("1.0", "0.15"), {"world-doorway-blocked", "world-room-unreachable"}),
        (HALL + IN_DOORWAY, {"world-doorway-blocked", "world-room-unreachable"}),
        (LOCKED + TABLE + CAN + "robots: [{pose: [6, 0]}]", {"world-room-unreachable", "world-object-out-of-reach"}),
        (HALL + TABLE.replace("}", ", is_open: false, is_locked: true}") + CAN, {"world-object-out-of-reach"}),
        (HALL + "locations: [{category: table, parent: left, pose: [0, 0]}]", {"world-nav-pose-occupied"}),
    ],
)  # fmt: skip
def test_each_defect_is_found_and_nothing_else(tmp_path: Path, more: str, codes: set[str]) -> None:
    world, _ = load(tmp_path, ROOMS + more)
    reporter = Reporter()
    check_quality(world, reporter)
    assert {found.kind for found in reporter} == codes
    assert all(found.where.line for found in reporter)


def test_the_door_of_the_reference_that_does_nothing_is_named(tmp_path: Path) -> None:
    text = ROOMS.replace("pose: [6, 0]", "pose: [4.3, 0]") + SHUT
    for reference, expected in ((True, ["world-door-useless"]), (False, [])):
        reporter = Reporter()
        check_quality(load(tmp_path, text, reference=reference)[0], reporter)
        assert [found.kind for found in reporter if found.kind == "world-door-useless"] == expected
