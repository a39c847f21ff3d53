"""Dispatch of rules, levels, places, and what a crash of one rule does."""

from __future__ import annotations

import pytest
from pxr import Sdf, Usd

import simwright
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, Rule, Word, rule
from simwright.checker.run import all_rules, run_rules
from simwright.core.diag import Fixable, Level
from simwright.usd.open import open_stage
from simwright.usd.plugins import register_plugins

register_plugins()

TEXT = """#usda 1.0
def Xform "r"
{
    def PhysicsRevoluteJoint "j" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    ) {}
    def PhysicsFixedJoint "k" {}
    def Mesh "m" (
        prepend apiSchemas = ["RosFrameAPI", "NobodysAPI"]
    )
    {
        double size = 3
    }
    def NobodysType "n" {}
}
"""


def make_rule(on, findings=None, *, word="must", heuristic=False, fix="no", code="test-rule") -> Rule:
    def check(*subject):
        made = findings if findings is not None else [Finding("found")]
        yield from (made(*subject) if callable(made) else made)

    decorate = rule(code, "1.1", word, on=on, heuristic=heuristic, fix=fix, fix_title="do it")
    made = decorate(check)
    assert isinstance(made, Rule)
    return made


def snap(text: str = TEXT) -> StageSnapshot:
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    return StageSnapshot(stage)


def found_at(on) -> list[str]:
    return [d.where.prim for d in run_rules(snap(), [make_rule(on)])]


@pytest.mark.parametrize(
    ("on", "prims"),
    [
        ("prim", ["/r", "/r/j", "/r/k", "/r/m", "/r/n"]),
        ("type:Mesh", ["/r/m"]),
        ("type:PhysicsJoint", []),
        ("type:NobodysType", ["/r/n"]),
        ("isa:PhysicsJoint", ["/r/j", "/r/k"]),
        ("isa:Xformable", ["/r", "/r/m"]),
        ("api:PhysicsDriveAPI", ["/r/j"]),
        ("api:Ros*", ["/r/m"]),
        ("api:NobodysAPI", ["/r/m"]),
        ("api:Nobody", []),
        (("api:RosFrameAPI", "type:Mesh", "isa:PhysicsJoint"), ["/r/j", "/r/k", "/r/m"]),
        ("stage", [""]),
        ("layer", [""]),
    ],
)
def test_rules_get_what_they_subscribed_to_and_each_prim_once(on, prims):
    assert found_at(on) == prims


def test_a_crash_is_one_diagnostic_and_the_rest_goes_on():
    def crash(node, snapshot):
        yield Finding("before")
        raise ValueError("oh")

    found = list(
        run_rules(snap(), [make_rule("prim", crash, code="bad"), make_rule("type:Mesh", code="good")])
    )
    crashes = [d for d in found if d.kind == "check-rule-crashed"]
    assert len(crashes) == 1
    assert crashes[0].level is Level.ERROR
    assert "bad" in crashes[0].message
    assert "ValueError: oh" in crashes[0].message
    assert [d.where.prim for d in found if d.kind == "good"] == ["/r/m"]
    assert len([d for d in found if d.kind == "bad"]) == 5


def test_a_check_may_give_nothing():
    silent = Rule("none", "1.1", Word.MUST, ("prim",), check=lambda *_: None)
    assert list(run_rules(snap(), [silent])) == []


@pytest.mark.parametrize(
    ("word", "heuristic", "asked", "level"),
    [
        ("must", False, None, Level.ERROR),
        ("must not", False, None, Level.ERROR),
        ("should", False, None, Level.WARNING),
        ("should not", True, None, Level.INFO),
        ("may", False, None, Level.INFO),
        ("must", True, None, Level.WARNING),
        ("must", False, Level.INFO, Level.INFO),
        ("should", False, Level.ERROR, Level.WARNING),
        ("must", True, Level.ERROR, Level.WARNING),
    ],
)
def test_levels_follow_the_word_heuristics_are_lower_and_findings_only_milder(word, heuristic, asked, level):
    made = make_rule("stage", [Finding("x", level=asked)], word=word, heuristic=heuristic)
    (found,) = run_rules(snap(), [made])
    assert found.level is level
    assert found.message.endswith("(heuristic)") is heuristic
    assert found.section == "1.1"


def test_a_finding_may_grade_its_fix():
    findings = [Finding("a"), Finding("b", fix=Fixable.SAFE), Finding("c", fix=Fixable.NO)]
    grades = {d.message: d.fixable for d in run_rules(snap(), [make_rule("stage", findings, fix="unsafe")])}
    assert grades == {"a": Fixable.UNSAFE, "b": Fixable.SAFE, "c": Fixable.NO}
    (none,) = run_rules(snap(), [make_rule("stage", [Finding("d", fix=Fixable.SAFE)])])
    assert none.fix is None


def test_findings_name_file_line_and_property(tmp_path):
    path = tmp_path / "root.usda"
    path.write_text(TEXT)
    snapshot = StageSnapshot(open_stage(path), path=str(path))
    findings = [Finding("a", prop="size"), Finding("b"), Finding("c", prop="absent")]
    where = {d.message: d.where for d in run_rules(snapshot, [make_rule("type:Mesh", findings)])}
    assert where["a"].file == str(path)
    assert (where["a"].line, where["a"].prim, where["a"].prop) == (12, "/r/m", "size")
    assert where["b"].line == 8
    assert where["c"].line == 8


def test_findings_in_a_weaker_layer_are_placed_there(tmp_path):
    (tmp_path / "base.usda").write_text('#usda 1.0\ndef Mesh "m"\n{\n    double size = 3\n}\n')
    path = tmp_path / "root.usda"
    path.write_text("#usda 1.0\n(\n    subLayers = [@./base.usda@]\n)\n")
    snapshot = StageSnapshot(open_stage(path), path=str(path))
    (found,) = run_rules(snapshot, [make_rule("type:Mesh", [Finding("a", prop="size")])])
    assert found.where.file.endswith("base.usda")
    assert found.where.line == 4
    layer = next(facts.layer for facts in snapshot.layers if not facts.is_root)
    by_path = [Finding("b", at=Sdf.Path("/m"), prop="size", layer=layer)]
    (found,) = run_rules(snapshot, [make_rule("stage", by_path)])
    assert found.where.file.endswith("base.usda")
    assert (found.where.line, found.where.prim, found.where.prop) == (4, "/m", "size")


def test_prototypes_are_judged_once_and_shown_below_their_first_instance():
    snapshot = snap("""#usda 1.0
def Xform "a" (
    instanceable = true
    references = </part>
) {}
def Xform "b" (
    instanceable = true
    references = </part>
) {}
class Xform "part"
{
    def Mesh "m" {}
}
""")
    assert [d.where.prim for d in run_rules(snapshot, [make_rule("type:Mesh")])] == ["/a/m"]


def test_a_stage_in_memory_has_places_without_lines():
    (found,) = run_rules(snap(), [make_rule("type:Mesh")])
    assert found.where.line is None
    assert found.where.file.startswith("anon:")


def test_all_rules_run_on_a_stage_in_memory_without_a_crash():
    for text in ("#usda 1.0\n", TEXT):
        found = list(run_rules(snap(text), all_rules()))
        assert [d for d in found if d.kind == "check-rule-crashed"] == []
        assert "units-meters" in {d.kind for d in found}


def test_rules_are_sorted_by_section_and_have_one_code_each():
    rules = all_rules()
    sections = [tuple(int(part) for part in r.section.split(".")) for r in rules]
    assert sections == sorted(sections)
    assert len({r.code for r in rules}) == len(rules)
    for r in rules:
        assert r.code == r.module.rpartition(".")[2].replace("_", "-") or not r.module.startswith(
            "simwright.checker.rules"
        )
        assert r.title


def test_a_fix_is_offered_only_where_it_helps(tmp_path):
    """A leading slash can go; which name replaces one with a blank is for the author to say."""
    grades = {}
    for name in ("/tool0", "tool 0", "/tool 0"):
        file = tmp_path / "frame.usda"
        file.write_text(
            '#usda 1.0\ndef Xform "a" (prepend apiSchemas = ["RosFrameAPI"])\n'
            f'{{\n    string ros:frame:id = "{name}"\n}}\n'
        )
        ((_, found),) = simwright.check(file, select=["frame-id"])
        grades[name] = found.fixable
    assert grades == {"/tool0": Fixable.SAFE, "tool 0": Fixable.NO, "/tool 0": Fixable.NO}
