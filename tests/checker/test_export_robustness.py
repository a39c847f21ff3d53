"""Rules of sections 3.1 to 3.6 on nonsense: blocked values, wrong types, missing targets, circles, memory."""

from __future__ import annotations

import pytest
from pxr import Usd

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import RULE_CRASHED, all_rules, run_rules
from simwright.usd.silence import capture

RULES = [rule for rule in all_rules() if rule.section.startswith("3.") and rule.section < "3.7"]

NONSENSE = {
    "blocked arrays": """
def Mesh "a" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"])
{
    point3f[] points = None
    int[] faceVertexCounts = None
    int[] faceVertexIndices = None
    uniform bool doubleSided = true
    rel material:binding = None
    rel material:binding:full = </nowhere>
    def GeomSubset "s" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        int[] indices = None
        rel material:binding = </nowhere>
    }
}
def PointInstancer "p"
{
    int[] protoIndices = None
    rel prototypes = </nowhere>
}
""",
    "wrong types": """
def Mesh "a" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    string points = "many"
    float faceVertexCounts = 3
    token[] faceVertexIndices = ["a", "b"]
    string doubleSided = "yes"
    int orientation = 3
    float holeIndices = 1
    double3[] normals = []
}
def Mesh "b" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    float[] points = [1, 2, 3, 4]
    int[] faceVertexCounts = [-3, 6]
    int[] faceVertexIndices = [0, 1, 2]
    uniform bool doubleSided = true
}
def DomeLight "d"
{
    string inputs:texture:file = "sky.exr"
    asset[] inputs:extra = [@a.exr@]
}
def PointInstancer "p"
{
    string protoIndices = "x"
    rel prototypes = </a>
}
def GeomSubset "loose"
{
    string indices = "x"
    rel material:binding = </a>
}
""",
    "strange networks": """
def Material "m"
{
    token outputs:surface.connect = [</m/p.outputs:surface>, </m/q.outputs:surface>]
    token outputs:displacement.connect = </m.outputs:displacement>
    def Shader "p"
    {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </m/t.outputs:rgb>
        float inputs:roughness.connect = </m/p.inputs:roughness>
        string inputs:emissiveColor = "green"
        token outputs:surface
    }
    def Shader "t"
    {
        uniform token info:id = "UsdUVTexture"
        asset[] inputs:file = [@a.png@, @@, @b.exr@]
        float inputs:wrapS = 3
        float2 inputs:st.connect = </m/x.outputs:result>
        float3 outputs:rgb
    }
    def Shader "x"
    {
        uniform token info:id = "UsdTransform2d"
        string inputs:scale = "big"
        float2 inputs:in.connect = </m/x.outputs:result>
        float2 outputs:result
    }
    def Shader "n"
    {
        uniform token info:id = None
        uniform token info:implementationSource = "sourceCode"
        asset inputs:file = None
    }
}
def Mesh "led" (prepend apiSchemas = ["MaterialBindingAPI"])
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (nan, 0, 0)]
    string primvars:st = "x"
    rel material:binding = </m>
}
def Mesh "bulb"
{
    rel material:binding = </led>
}
""",
    "nothing": "",
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_makes_no_rule_crash(name):
    stage = Usd.Stage.CreateInMemory()
    with capture():
        assert stage.GetRootLayer().ImportFromString(f"#usda 1.0\n{NONSENSE[name]}")
        found = list(run_rules(StageSnapshot(stage), RULES))
    assert [str(d) for d in found if d.kind == RULE_CRASHED.code] == []
