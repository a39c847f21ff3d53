"""The sample assets are compliant: every rule, nothing above info."""

from __future__ import annotations

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.core.diag import Level
from simwright.usd.open import open_stage


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor", "warehouse"])
def test_sample_is_compliant(name, samples):
    stage = open_stage(samples / name / f"{name}.usda")
    found = [d for d in run_rules(StageSnapshot(stage), all_rules()) if d.level is not Level.INFO]
    assert not found, "\n".join(str(d) for d in found)


@pytest.mark.realworld
def test_no_rule_crashes_on_any_shared_stage(shared_assets):
    files = [
        p for p in sorted(shared_assets.rglob("*.usd*")) if p.suffix in (".usd", ".usda", ".usdc", ".usdz")
    ]
    assert files
    crashed = {}
    for file in files:
        found = run_rules(StageSnapshot(open_stage(file)), all_rules())
        crashed |= {(file.name, d.data["rule"]): d.message for d in found if d.kind == "check-rule-crashed"}
    assert not crashed
