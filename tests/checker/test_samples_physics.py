"""The physics rules on whole assets: our samples are clean, third-party files get the findings they deserve."""

from __future__ import annotations

from collections import Counter

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import RULE_CRASHED, all_rules, run_rules
from simwright.core.diag import Level
from simwright.usd.open import open_stage

SECTIONS = {"1.2.6", "1.3", "1.3.1", "1.3.2", "1.3.3", "1.3.4"}
RULES = [rule for rule in all_rules() if rule.section in SECTIONS]


def run(path, **options):
    return list(run_rules(StageSnapshot(open_stage(path, **options), path=str(path)), RULES))


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor", "warehouse"])
def test_sample_is_clean(samples, name):
    found = run(samples / name / f"{name}.usda")
    assert not [str(d) for d in found if d.level is not Level.INFO]


@pytest.mark.parametrize("name", ["fourbar", "rack", "box", "floor"])
@pytest.mark.parametrize("visual", ["mesh_low", "mesh_high"])
def test_sample_is_clean_in_its_other_variants(samples, name, visual):
    variants = {"collision_fidelity": "advanced", "visual_representation": visual}
    found = run(samples / name / f"{name}.usda", variants=variants)
    assert not [str(d) for d in found if d.level is not Level.INFO]


def test_sample_without_payloads_gives_no_error(samples):
    found = run(samples / "fourbar" / "fourbar.usda", load=False)
    assert not [str(d) for d in found if d.level is not Level.INFO]


@pytest.mark.realworld
def test_third_party_files_do_not_crash_a_rule(shared_assets):
    files = sorted((shared_assets / "usd").glob("*.usda"))
    assert files
    for path in files:
        assert RULE_CRASHED.code not in {d.kind for d in run(path)}, path.name


@pytest.mark.realworld
def test_four_bar_loop_is_found(shared_assets):
    kinds = Counter(d.kind for d in run(shared_assets / "usd" / "boxes_fourbar.usda"))
    assert kinds["loop-exclude"] == 1
    assert kinds["artic-self-contained"] == 1


@pytest.mark.realworld
def test_swapped_anchor_and_missing_masses_are_found(shared_assets):
    chain = Counter(d.kind for d in run(shared_assets / "usd" / "four_link_chain_articulation.usda"))
    assert chain["anchor-fixedjoint"] == 1
    cart = [
        d for d in run(shared_assets / "usd" / "cartpole.usda") if d.kind in ("anchor-mass", "mass-positive")
    ]
    assert [(d.kind, d.where.prim) for d in cart] == [("anchor-mass", "/cartPole/rail")]
