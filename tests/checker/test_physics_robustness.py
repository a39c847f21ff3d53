"""Physics rules on strange stages: wrong types, blocked values, targets to nowhere, sessions, memory."""

from __future__ import annotations

import pytest
from pxr import Sdf, Usd

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.run import RULE_CRASHED, all_rules, run_rules

SECTIONS = {"1.2.6", "1.3", "1.3.1", "1.3.2", "1.3.3", "1.3.4"}
RULES = [rule for rule in all_rules() if rule.section in SECTIONS]

STRANGE = """#usda 1.0
def Xform "robot" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
)
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsFilteredPairsAPI"]
    )
    {
        string physics:mass = "heavy"
        string physics:density = "x"
        float physics:diagonalInertia = 3
        float3[] physics:principalAxes = [(1, 2, 3)]
        string physics:centerOfMass = "here"
        token physics:kinematicEnabled = "yes"
        rel physics:filteredPairs = [</robot/nowhere>, </robot/base.physics:mass>, </robot/base>]
        custom double[] inertia
        custom double[] inertia2 = None
        double[] newton:inertia.timeSamples = { 0: [1, 2] }
    }
    def PhysicsRevoluteJoint "a"
    {
        rel physics:body0 = </robot/nowhere>
        rel physics:body1 = </robot/base.physics:mass>
        token physics:lowerLimit = "low"
        float physics:upperLimit = None
    }
    def PhysicsFixedJoint "b"
    {
        token physics:body0 = "robot"
        rel physics:body1 = [</robot/base>, </robot>]
    }
    def PhysicsPrismaticJoint "c"
    {
        float physics:lowerLimit = nan
        float physics:upperLimit = 1
        token physics:excludeFromArticulation = "maybe"
    }
    def PhysicsJoint "d" (
        prepend apiSchemas = ["PhysicsLimitAPI:rotX", "PhysicsLimitAPI"]
    )
    {
        token limit:rotX:physics:low = "x"
        float limit:odd = 1
    }
    def PhysicsCollisionGroup "g"
    {
        rel collection:colliders:includes = </robot/base.physics:mass>
        rel physics:filteredGroups = [</nowhere>, </robot/base.x>]
    }
    def PhysicsDistanceJoint "e"
    {
        token physics:minDistance = "x"
    }
    def PhysicsSphericalJoint "f"
    {
        token physics:coneAngle0Limit = "x"
    }
    def Mesh "broken" (
        prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI"]
    )
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 9]
        point3f[] points = [(0, 0, 0)]
        float physics:approximation = 3
        float purpose = 3
        token material:binding:physics = "x"
        rel material:binding = </robot/base.physics:mass>
    }
    def Cube "lost" (
        prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", "UnknownAPI:x"]
    )
    {
        rel material:binding:physics = </robot/base.physics:mass>
        rel material:binding:collection:physics:x = [</robot/base>, </robot/lost>]
        rel material:binding:collection:physics:y = </nowhere.collection:y>
        rel material:binding:collection:physics:z = [</nowhere.collection:z>, </nowhere>]
    }
    def Material "m" (
        prepend apiSchemas = ["PhysicsMaterialAPI"]
    )
    {
        token physics:staticFriction = "x"
        float physics:dynamicFriction = nan
        float physics:restitution = None
    }
    def Scope "visual" (
        variants = {
            string visual_representation = "nowhere"
        }
        prepend variantSets = ["visual_representation", "collision_fidelity"]
    )
    {
        variantSet "visual_representation" = {
            "empty" {
            }
        }
    }
    def PointInstancer "p"
    {
        rel prototypes = [</nowhere>, </robot/base>]
    }
}
"""


def open_text(text):
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    return stage


def crashes(stage):
    return [str(d) for d in run_rules(StageSnapshot(stage), RULES) if d.kind == RULE_CRASHED.code]


def test_strange_values_crash_no_rule():
    assert not crashes(open_text(STRANGE))


def test_empty_stage():
    assert list(run_rules(StageSnapshot(Usd.Stage.CreateInMemory()), RULES)) == []


@pytest.mark.parametrize("instanceable", [True, False])
def test_strange_values_by_reference(instanceable):
    inner = Sdf.Layer.CreateAnonymous(".usda")
    inner.ImportFromString(STRANGE)
    stage = Usd.Stage.CreateInMemory()
    for name in ("a", "b", "c", "d", "e"):
        prim = stage.DefinePrim(f"/{name}", "Xform")
        prim.GetReferences().AddReference(inner.identifier, "/robot")
        prim.SetInstanceable(instanceable)
    assert not crashes(stage)


VARIANTS = """#usda 1.0
def Scope "collision" (
    variants = {
        string collision_fidelity = "baseline"
    }
    prepend variantSets = "collision_fidelity"
)
{
    variantSet "collision_fidelity" = {
        "baseline" {
            def Cube "c" (
                prepend apiSchemas = ["PhysicsCollisionAPI"]
            )
            {
            }
        }
        "advanced" {
            def Mesh "m" (
                prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
            )
            {
                uniform token physics:approximation = "sdf"
            }
        }
    }
}
"""


def test_a_variant_chosen_in_the_session_is_not_the_default():
    rules = [rule for rule in RULES if rule.code == "coll-default-baseline"]
    stage = open_text(VARIANTS)
    prim = stage.GetPrimAtPath("/collision")
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        prim.GetVariantSet("collision_fidelity").SetVariantSelection("advanced")
    assert stage.GetPrimAtPath("/collision/m")
    assert not list(run_rules(StageSnapshot(stage), rules))
    stage.GetSessionLayer().Clear()
    prim.GetVariantSet("collision_fidelity").SetVariantSelection("advanced")
    assert len(list(run_rules(StageSnapshot(stage), rules))) == 1


def test_the_stage_is_not_edited():
    text = VARIANTS.replace("collision_fidelity", "visual_representation")
    stage = open_text(text)
    before = [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())]
    found = [d.kind for d in run_rules(StageSnapshot(stage), RULES)]
    assert "vis-not-collision" in found
    assert [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())] == before
    assert stage.GetPrimAtPath("/collision/c")
