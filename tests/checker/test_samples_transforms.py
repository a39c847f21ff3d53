"""The composed samples are right in units, axes and transforms (section 1.1), not even an info is left."""

from __future__ import annotations

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.usd.open import open_stage

RULES = [rule for rule in all_rules() if rule.section == "1.1"]


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor", "warehouse"])
def test_sample_has_no_finding(samples, name):
    path = samples / name / f"{name}.usda"
    found = run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES)
    assert [str(d) for d in found] == []


@pytest.mark.realworld
def test_converted_robots_are_judged_without_a_crash(shared_assets):
    files = sorted((shared_assets / "usd").glob("*.usda"))
    assert files
    for path in files:
        found = list(run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES))
        assert "check-rule-crashed" not in {d.kind for d in found}, path.name
        assert "units-timecodes" in {d.kind for d in found}, f"{path.name} has 24, 60 or 1000 time codes"


@pytest.mark.realworld
def test_humanoid_has_matrices_everywhere(shared_assets):
    path = shared_assets / "usd" / "humanoid.usda"
    found = list(run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES))
    matrices = [d for d in found if d.kind == "xform-no-matrix"]
    assert len(matrices) == path.read_text().count("matrix4d xformOp:transform")
    assert all(d.where.line for d in matrices)
    assert len([d for d in found if d.kind == "xform-etl-matrix"]) == 1
