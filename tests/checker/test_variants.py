"""The variant sweep."""

from __future__ import annotations

import pytest
from pxr import Sdf, Usd

from simwright.checker.asset import check_stage, sweep_variants
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.checker.run import run_rules

TEXT = """#usda 1.0
(
    defaultPrim = "Robot"
)
def Xform "Robot" (
    variants = { string tool = "none" }
    prepend variantSets = ["tool", "paint"]
)
{
    def Cube "Body" {}
    variantSet "tool" = {
        "none" {}
        "gripper" {
            def Sphere "Gripper" {}
        }
        "camera" {
            def Sphere "Camera" {}
        }
    }
    variantSet "paint" = {
        "red" {
            def Cone "Red" {}
        }
    }
}
"""


@rule("no-shapes", "1.1", "must", on=("type:Cube", "type:Sphere", "type:Cone"))
def no_shapes(node, snapshot):
    yield Finding(f"{node.name} is a shape", hint="remove it")


@pytest.fixture
def stage() -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(TEXT)
    return Usd.Stage.Open(layer)


def test_only_the_default_state_without_the_option(stage):
    assert [d.where.prim for d in check_stage(stage, rules=[no_shapes]).findings] == ["/Robot/Body"]


def test_every_variant_once_with_its_state_and_nothing_twice(stage):
    found = check_stage(stage, rules=[no_shapes], variants=True).findings
    assert sorted((d.where.prim, d.data.get("variant", {}).get("name", "")) for d in found) == [
        ("/Robot/Body", ""),
        ("/Robot/Camera", "camera"),
        ("/Robot/Gripper", "gripper"),
        ("/Robot/Red", "red"),
    ]
    (gripper,) = [d for d in found if d.where.prim == "/Robot/Gripper"]
    assert gripper.message == "Gripper is a shape (with /Robot {tool=gripper})"
    assert gripper.data["variant"] == {"prim": "/Robot", "set": "tool", "name": "gripper"}


def test_the_stage_is_not_touched(stage):
    before = stage.GetRootLayer().ExportToString(), stage.GetSessionLayer().ExportToString()
    check_stage(stage, rules=[no_shapes], variants=True)
    assert (stage.GetRootLayer().ExportToString(), stage.GetSessionLayer().ExportToString()) == before
    assert not stage.GetPrimAtPath("/Robot/Red")


def test_a_selection_in_the_session_counts_as_the_default_state(stage):
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.GetPrimAtPath("/Robot").GetVariantSet("tool").SetVariantSelection("camera")
    found = check_stage(stage, rules=[no_shapes], variants=True).findings
    assert {d.where.prim: "variant" in d.data for d in found}["/Robot/Camera"] is False


def test_the_sweep_is_bounded_and_says_so(stage):
    snapshot = StageSnapshot(stage)
    default = list(run_rules(snapshot, [no_shapes]))
    found = list(sweep_variants(snapshot, [no_shapes], default, limit=1))
    assert [d.kind for d in found] == ["no-shapes", "check-variants-left-out"]
    assert "3 further variant states" in found[-1].message


def test_a_broken_arc_in_a_variant_is_found():
    layer = Sdf.Layer.CreateAnonymous(".usda")
    text = (
        '#usda 1.0\ndef "A" (prepend variantSets = "v")\n{\n'
        'variantSet "v" = { "x" (references = @./gone.usda@) {} }\n}\n'
    )
    assert layer.ImportFromString(text)
    stage = Usd.Stage.Open(layer)
    assert not check_stage(stage, rules=[]).findings
    (found,) = check_stage(stage, rules=[], variants=True).findings
    assert found.kind == "usd-composition-error"
    assert found.data["variant"]["name"] == "x"
