"""The composed samples are compliant: no rule of sections 3.1 to 3.6 finds anything above info in them."""

from __future__ import annotations

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.core.diag import Level
from simwright.usd.open import open_stage

SECTIONS = ("3.1", "3.2", "3.3", "3.4", "3.5", "3.6")
RULES = [rule for rule in all_rules() if rule.section in SECTIONS]


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor", "warehouse"])
def test_sample_exports(name, samples):
    path = samples / name / f"{name}.usda"
    found = list(run_rules(StageSnapshot(open_stage(path), path=str(path)), RULES))
    assert [str(d) for d in found if d.level is not Level.INFO] == []
