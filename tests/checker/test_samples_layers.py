"""The composed samples follow the rules on structure, composition and isolation: not one finding above info."""

from __future__ import annotations

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.core.diag import Level
from simwright.usd.open import open_stage

SECTIONS = {"1.2", "1.2.1", "1.2.2", "1.2.3", "1.2.4", "1.2.5", "1.4"}
RULES = [rule for rule in all_rules() if rule.section in SECTIONS]


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor", "warehouse"])
def test_sample_is_clean(samples, name):
    path = samples / name / f"{name}.usda"
    found = list(run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES))
    assert not [str(d) for d in found if d.level is not Level.INFO]
    assert not [d for d in found if d.kind == "check-rule-crashed"]


@pytest.mark.realworld
def test_real_stages_do_not_crash_a_rule(shared_assets):
    for path in sorted((shared_assets / "usd").glob("*.usda")):
        found = list(run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES))
        assert not [d.message for d in found if d.kind == "check-rule-crashed"]
        assert found, f"{path.name} is a plain physics stage, far from the REP"
