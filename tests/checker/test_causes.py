"""One fault is one finding in a report; every rule that saw it is named there."""

from __future__ import annotations

import json

import pytest

from simwright.app.cli.main import run as run_command
from simwright.checker.asset import check_file
from simwright.checker.result import CAUSES, group_findings
from simwright.checker.run import all_rules
from simwright.core.diag import Diagnostic, Fixable, Level, Where

JOINT = """#usda 1.0
def Xform "arm"
{
    def PhysicsRevoluteJoint "elbow"
    {
        rel physics:body1 = </arm>
        float physics:lowerLimit = 0
        float physics:upperLimit = 1
        float physxJoint:armature = 0.1
    }
}
"""


def count(findings):
    return sum(1 + len(finding.related) for finding in findings)


def test_causes_name_rules_that_exist_and_each_rule_has_one_cause():
    named = [code for cause in CAUSES for code in cause.codes]
    assert len(named) == len(set(named))
    assert set(named) <= {rule.code for rule in all_rules()}


def test_one_engine_attribute_is_one_finding(tmp_path):
    file = tmp_path / "arm.usda"
    file.write_text(JOINT)
    flat = check_file(file).findings
    about = [finding for finding in flat if "armature" in finding.message or "physx" in finding.message]
    assert len(about) >= 6
    grouped = group_findings(flat)
    (one,) = [finding for finding in grouped if "physx" in f"{finding.message} {finding.where.prop}"]
    assert one.kind == "proprietary-confined"
    assert {finding.kind for finding in about} <= {one.kind, *(other.kind for other in one.related)}
    assert count(grouped) == len(flat), "grouping loses nothing"


def test_two_engines_in_one_layer_are_two_findings(tmp_path):
    file = tmp_path / "arm.usda"
    file.write_text(JOINT.replace("float physxJoint", "float mjc:armature = 0.2\n        float physxJoint"))
    grouped = group_findings(check_file(file).findings)
    found = {one.data["vendor"]: one for one in grouped if one.kind == "proprietary-confined"}
    assert set(found) == {"mujoco", "physx"}
    words = [other for other in found["mujoco"].related if other.kind == "xphys-no-vendor"]
    assert [other.where.prop for other in words] == ["mjc:armature"]


def test_the_worst_speaks_for_all_and_other_prims_stay_apart():
    def make(kind, level, prim):
        return Diagnostic(kind, level, "m", where=Where("a.usda", prim=prim))

    mild = make("xform-no-matrix", Level.INFO, "/a")
    bad = make("xform-minimal-stack", Level.ERROR, "/a")
    other = make("xform-no-matrix", Level.ERROR, "/b")
    grouped = group_findings([mild, bad, other])
    assert [(one.kind, one.where.prim, len(one.related)) for one in grouped] == [
        ("xform-minimal-stack", "/a", 1),
        ("xform-no-matrix", "/b", 0),
    ]


def test_states_of_variants_are_told_apart():
    where = Where("a.usda", prim="/a")
    default = Diagnostic("xform-no-matrix", Level.ERROR, "m", where=where)
    other = Diagnostic("xform-etl-euler", Level.ERROR, "m", where=where, data={"variant": {"name": "b"}})
    assert len(group_findings([default, other])) == 2


@pytest.mark.parametrize(
    ("layer", "prim"),
    [
        ("", "prepend references = @./parts/gone.usda@"),
        ("", "prepend payload = @./parts/gone.usda@"),
        ("    subLayers = [\n        @./gone.usda@\n    ]\n", ""),
    ],
)
def test_a_layer_that_is_not_there_is_one_finding(tmp_path, layer, prim):
    file = tmp_path / "arm.usda"
    file.write_text(
        f'#usda 1.0\n(\n    defaultPrim = "arm"\n{layer})\ndef Xform "arm" (\n    {prim}\n)\n{{\n}}\n'
    )
    told = [one for one in group_findings(check_file(file).findings) if "gone.usda" in one.message]
    assert [one.kind for one in told] == ["usd-composition-error"]
    assert [one.kind for one in told[0].related] == ["path-self-contained"]


def test_the_report_says_what_can_be_fixed_and_how(tmp_path, capsys):
    file = tmp_path / "arm.usda"
    file.write_text(JOINT)
    assert run_command(["check", str(file), "--no-cache"]) == 1
    text = capsys.readouterr().out
    assert "= also: " in text
    command = next(line for line in text.splitlines() if "can be fixed: simwright fix" in line)
    words = command.partition(": simwright ")[2].partition(" (")[0].split()
    assert run_command(words) in (0, 1), "the command that is printed runs"
    assert (tmp_path / "arm_fixed" / "physx.usda").exists()


def test_the_json_report_holds_related_findings(tmp_path, capsys):
    file = tmp_path / "arm.usda"
    file.write_text(JOINT)
    run_command(["check", str(file), "--no-cache", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    findings = document["assets"][0]["findings"]
    assert sum(document["summary"].values()) == len(findings)
    confined = next(finding for finding in findings if finding["rule"] == "proprietary-confined")
    assert confined["cause"]
    assert {"isol-vendor-layer", "isol-physics-no-vendor"} <= {other["rule"] for other in confined["related"]}


def test_sarif_brings_the_teaching_text_of_rules_and_their_pages(tmp_path, capsys):
    file = tmp_path / "arm.usda"
    file.write_text(JOINT)
    run_command(["check", str(file), "--no-cache", "--format", "sarif", "--select", "units-meters"])
    (rule,) = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"].endswith("/rules/units-meters")
    assert rule["shortDescription"]["text"] == "The root layer sets metersPerUnit = 1"
    for part in ("Why:", "Fails:", "Passes:", "Fix:"):
        assert part in rule["help"]["text"]
        assert f"**{part}**" in rule["help"]["markdown"]


LINK = """#usda 1.0
def Xform "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI"%s])
{
    float physics:mass = %s
    float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
    point3f physics:centerOfMass = (0, 0, 0)
}
"""


def test_a_schema_that_is_not_applied_is_one_finding(tmp_path):
    file = tmp_path / "link.usda"
    file.write_text(LINK % ("", 1))
    grouped = group_findings(check_file(file).findings)
    (one,) = [finding for finding in grouped if finding.cause == "PhysicsMassAPI is not applied"]
    assert one.kind == "mass-positive"
    (other,) = one.related
    assert "physics:mass, physics:diagonalInertia and physics:centerOfMass are authored" in other.message


def test_a_negative_mass_is_one_finding(tmp_path):
    file = tmp_path / "link.usda"
    file.write_text(LINK % (', "PhysicsMassAPI"', -1))
    grouped = group_findings(check_file(file).findings)
    (one,) = [finding for finding in grouped if "mass" in finding.cause]
    assert (one.kind, [other.kind for other in one.related]) == ("mass-no-zero-static", ["isol-physics-spec"])


def test_the_only_root_is_what_the_default_prim_is_set_to(tmp_path):
    """Neither what is below it nor a physics scene beside it makes that a matter of choice."""
    file = tmp_path / "robot.usda"
    file.write_text(
        '#usda 1.0\ndef Xform "robot"\n{\n    def Xform "link" {}\n}\ndef PhysicsScene "scene" {}\n'
    )
    (finding,) = (one for one in check_file(file).findings if one.kind == "default-prim")
    assert 'defaultPrim = "robot"' in finding.hint
    assert finding.fix is not None
    assert finding.fix.grade is Fixable.SAFE


def test_an_address_of_a_vendor_that_cannot_be_opened_is_one_finding(tmp_path):
    file = tmp_path / "scene.usda"
    file.write_text(
        '#usda 1.0\ndef Xform "scene"\n{\n    def Xform "hall" (references = @omniverse://server/hall.usd@)\n'
        "    {\n    }\n}\n"
    )
    about = [f for f in group_findings(check_file(file).findings) if "hall.usd" in f.message]
    assert [(f.kind, [other.kind for other in f.related]) for f in about] == [
        ("path-no-proprietary", ["usd-composition-error"])
    ]


@pytest.mark.parametrize("arc", ["references", "payload"])
def test_a_layer_outside_of_the_asset_is_one_finding(tmp_path, arc):
    (tmp_path / "asset").mkdir()
    (tmp_path / "parts").mkdir()
    for name in ("a", "b"):
        (tmp_path / "parts" / f"{name}.usda").write_text('#usda 1.0\ndef Xform "part" {}\n')
    file = tmp_path / "asset" / "robot.usda"
    file.write_text(
        '#usda 1.0\ndef Xform "robot"\n{\n'
        + "".join(
            f'    def Xform "{name}" (\n        {arc} = @../parts/{name}.usda@</part>\n    )\n    {{\n    }}\n'
            for name in "ab"
        )
        + "}\n"
    )
    about = [f for f in group_findings(check_file(file).findings) if "../parts" in f.message]
    assert [(f.kind, [other.kind for other in f.related]) for f in about] == [
        ("usd-layer-outside", ["path-self-contained"])
    ] * 2


def test_a_prim_above_a_model_that_has_no_kind_is_one_finding(tmp_path):
    file = tmp_path / "scene.usda"
    file.write_text(
        '#usda 1.0\n(\n    defaultPrim = "scene"\n)\ndef Xform "scene"\n{\n'
        '    def Xform "robot" (kind = "component")\n    {\n    }\n}\n'
    )
    (one,) = [f for f in group_findings(check_file(file).findings) if f.kind.startswith("kind-")]
    assert (one.kind, [other.kind for other in one.related]) == ("kind-assembly", ["kind-hierarchy"])


def test_a_wrong_name_is_one_finding_on_however_many_prims(tmp_path):
    file = tmp_path / "robot.usda"
    joint = '    def PhysicsRevoluteJoint "{}"\n    {{\n        float physics:jointEquivalentInertia = 1\n    }}\n'
    file.write_text('#usda 1.0\ndef Xform "robot"\n{\n' + "".join(map(joint.format, "abc")) + "}\n")
    (one,) = [
        f for f in group_findings(check_file(file).findings) if "quivalent" in f"{f.message}{f.where.prop}"
    ]
    assert (one.kind, len(one.related)) == ("xphys-no-core", 2)
