"""Reference mode against PyRoboSim 5.0.1: 80 generated worlds and the stock ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.worlds.read import read_world

from .oracle import compare_world

NUMBERS = range(80)


@pytest.fixture
def oracles(shared_assets: Path) -> Path:
    return shared_assets.parent / "oracles" / "worlds"


@pytest.mark.realworld
@pytest.mark.parametrize("number", NUMBERS)
def test_a_generated_world_is_what_the_reference_makes_of_it(oracles: Path, number: int) -> None:
    row = json.loads((oracles / "index.json").read_text())[number]
    file = oracles / row["file"]
    reporter = Reporter()
    if row["status"] == "raises":
        with pytest.raises(InputError) as error:
            read_world(file, reference=True, reporter=reporter)
        assert error.value.where is not None
        assert error.value.where.line
        return
    world = read_world(file, reference=True, reporter=reporter)
    expected = json.loads(file.with_suffix(".expected.json").read_text())
    assert compare_world(world, expected) == []
    left_out = sum("Cannot add" in line or "did not resolve" in line for line in row["warnings"])
    assert sum(found.message.endswith("left out") for found in reporter) == left_out
