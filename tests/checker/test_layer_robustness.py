"""Stages with odd or broken content: a rule may find faults in them, but never fails itself."""

from __future__ import annotations

import pytest

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import all_rules, run_rules
from simwright.usd.open import open_stage

ODD = {
    "empty": "",
    "blocked values": """
def Xform "robot" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
    asset inputs:file = None
    asset[] many = None
    point3f[] points = None
    string note = None
    float mjc:margin = None
    rel physics:body0 = None
}
""",
    "wrong types": """
def Xform "robot" (
    assetInfo = {
        int identifier = 3
        dictionary version = {
        }
        string[] ros = ["a"]
    }
    customData = {
        dictionary omni = {
            dictionary omni = {
                asset[] deep = [@x.usd@, @@]
            }
        }
    }
)
{
    float ros:topic:name = 1
    string[] points = ["./a.usd", "b"]
    double3 xformOpOrder = (1, 2, 3)
    point3f faceVertexIndices = (1, 2, 3)
}
""",
    "list edits only": """
def Xform "robot" (
    delete apiSchemas = ["PhysicsArticulationRootAPI"]
    delete references = @./gone.usda@
    prepend variantSets = ["none_there"]
    kind = "no_such_kind"
)
{
}
""",
    "odd default prim": """
def Xform "robot" (
    references = @./part.usda@
    inherits = [</robot/child>, </nowhere>]
)
{
}
""",
    "a circle": """
def Xform "robot" (
    references = </robot/child>
)
{
    def Xform "child" (
        references = </robot>
    )
    {
    }
}
""",
}


@pytest.mark.parametrize("name", sorted(ODD))
@pytest.mark.parametrize("default", ["robot", "/robot/child", "", "no such prim"])
def test_odd_stages_do_not_crash_a_rule(tmp_path, name, default):
    path = tmp_path / "root.usda"
    path.write_text(f'#usda 1.0\n(\n    defaultPrim = "{default}"\n)\n{ODD[name]}')
    (tmp_path / "part.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "a/b"\n)\ndef Xform "a" (\n    kind = "component"\n)\n{\n}\n'
    )
    found = run_rules(StageSnapshot(open_stage(path), path=str(path)), all_rules())
    assert not [d.message for d in found if d.kind == "check-rule-crashed"]
