"""Suppressions inside the asset."""

from __future__ import annotations

import pytest
from pxr import Sdf, Usd

from simwright.checker.asset import check_file, check_stage
from simwright.checker.rule import Finding, rule


@rule("units-meters", "1.1", "must", on="prim")
def everything_is_wrong(node, snapshot):
    yield Finding(f"{node.name} is wrong", hint="mend it")


def make_stage(root: str = "", prim: str = "") -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    text = f"""#usda 1.0
(
    {root}
)
def Xform "A" ( {prim} )
{{
    def Xform "B" {{}}
}}
def Xform "AB" {{}}
"""
    assert layer.ImportFromString(text)
    return Usd.Stage.Open(layer)


def entries(text: str) -> str:
    return f"= {{ dictionary simwright = {{ dictionary ignore = {{ {text} }} }} }}"


def check(stage):
    return check_stage(stage, rules=[everything_is_wrong])


def test_nothing_is_suppressed_without_a_word():
    result = check(make_stage())
    assert {d.where.prim for d in result.findings} == {"/A", "/A/B", "/AB"}
    assert not result.suppressed


def test_a_prim_covers_its_subtree_and_not_its_neighbour():
    result = check(make_stage(prim="customData " + entries('string "units-meters" = "by design"')))
    assert [d.where.prim for d in result.findings] == ["/AB"]
    assert {(s.finding.where.prim, s.reason) for s in result.suppressed} == {
        ("/A", "by design"),
        ("/A/B", "by design"),
    }


def test_the_layer_covers_everything():
    result = check(make_stage(root="customLayerData " + entries('string "units-meters" = "by design"')))
    assert not result.findings
    assert len(result.suppressed) == 3


@pytest.mark.parametrize(
    "reason", ['string "units-meters" = ""', 'string "units-meters" = "  "', 'int "units-meters" = 3']
)
def test_a_suppression_without_a_reason_is_a_finding_and_suppresses_nothing(reason):
    result = check(make_stage(prim="customData " + entries(reason)))
    assert sorted(d.kind for d in result.findings) == ["check-suppression-unreasoned", *["units-meters"] * 3]
    (found,) = [d for d in result.findings if d.kind.startswith("check")]
    assert found.where.prim == "/A"
    assert not result.suppressed


def test_an_unknown_code_is_a_finding_with_a_suggestion():
    result = check(make_stage(root="customLayerData " + entries('string "unit-meters" = "why"')))
    (found,) = [d for d in result.findings if d.kind == "check-suppression-unknown"]
    assert "'unit-meters'" in found.message
    assert "units-meters" in found.hint


def test_something_else_than_a_dictionary_is_a_finding():
    stage = make_stage(prim='customData = { dictionary simwright = { string ignore = "all" } }')
    assert [d.kind for d in check(stage).findings if d.kind != "units-meters"] == [
        "check-suppression-malformed"
    ]


def test_the_finding_names_file_and_line(tmp_path):
    file = tmp_path / "a.usda"
    stage = make_stage(prim="customData " + entries('string "nonsense" = "why"'))
    file.write_text(stage.GetRootLayer().ExportToString())
    result = check_file(file, rules=[])
    (found,) = result.findings
    assert found.where.file == str(file)
    assert found.where.line
    assert 'def Xform "A"' in file.read_text().splitlines()[found.where.line - 1]
