"""What a layer holds, and the role that follows from it."""

from __future__ import annotations

import pytest
from pxr import Sdf, Usd

from simwright.checker.facts.domains import Domain, domain_of_api, domain_of_property, domain_of_type
from simwright.checker.facts.layers import LayerFacts, encoding_of
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.usd.open import open_stage
from simwright.usd.plugins import register_plugins

register_plugins()

ROOT = """#usda 1.0
(
    subLayers = [@./zz_sub.usda@]
)
def Xform "r" (
    references = @./ref.usda@
    payload = @./mesh.usdc@</m>
) {}
"""


def facts_of(text: str) -> LayerFacts:
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString("#usda 1.0\n" + text)
    return StageSnapshot(stage).layers[0]


def write_asset(folder) -> StageSnapshot:
    (folder / "root.usda").write_text(ROOT)
    (folder / "zz_sub.usda").write_text('#usda 1.0\nover "r" {}\n')
    (folder / "ref.usda").write_text('#usda 1.0\n(\n    defaultPrim = "x"\n)\ndef Xform "x" {}\n')
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString('#usda 1.0\ndef Mesh "m"\n{\n    point3f[] points = [(0, 0, 0), (1, 0, 0)]\n}\n')
    layer.Export(str(folder / "mesh.usdc"), args={"format": "usdc"})
    return StageSnapshot(open_stage(folder / "root.usda"))


def test_every_used_layer_is_there_root_first_session_aside(tmp_path):
    snapshot = write_asset(tmp_path)
    assert [facts.name for facts in snapshot.layers] == ["root.usda", "mesh.usdc", "ref.usda", "zz_sub.usda"]
    assert [facts.is_root for facts in snapshot.layers] == [True, False, False, False]


def test_arcs_are_kept_as_authored(tmp_path):
    root = write_asset(tmp_path).layers[0]
    assert {(arc.kind, arc.asset, str(arc.target)) for arc in root.arcs} == {
        ("sublayer", "./zz_sub.usda", ""),
        ("reference", "./ref.usda", ""),
        ("payload", "./mesh.usdc", "/m"),
    }
    assert root.has_payloads


def test_deleted_arcs_and_apis_do_not_count():
    facts = facts_of("""over "r" (
    delete references = @./gone.usda@
    delete apiSchemas = ["PhysicsRigidBodyAPI"]
) {}""")
    assert facts.arcs == []
    assert not facts.counts[Domain.PHYSICS]


def test_arrays_are_counted_with_their_samples(tmp_path):
    mesh = write_asset(tmp_path).layers[1]
    assert mesh.elements == 2
    assert mesh.bytes == 24
    assert mesh.role == "geometry"
    moving = facts_of("""def Points "p"
{
    point3f[] points.timeSamples = { 0: [(0, 0, 0)], 1: [(0, 0, 0), (1, 1, 1)] }
}""")
    assert moving.elements == 3


@pytest.mark.parametrize(
    ("name", "kind"), [("a.usda", "usda"), ("a.usdc", "usdc"), ("text.usd", "usda"), ("bin.usd", "usdc")]
)
def test_the_encoding_is_that_of_the_bytes(tmp_path, name, kind):
    path = tmp_path / name
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString('#usda 1.0\ndef "a" {}\n')
    assert layer.Export(str(path), args={"format": kind})
    assert encoding_of(Sdf.Layer.FindOrOpen(str(path))) == kind


def test_variants_are_looked_into_selected_or_not():
    facts = facts_of("""def Xform "r" (
    prepend variantSets = "v"
)
{
    variantSet "v" = {
        "a" (
            prepend apiSchemas = ["PhysicsRigidBodyAPI"]
        ) {
            def Mesh "m"
            {
                float3 xformOp:scale = (2, 2, 2)
            }
        }
    }
}""")
    assert facts.counts[Domain.PHYSICS] == 1
    assert facts.defines[Domain.GEOMETRY] == 1
    assert [str(path) for path in facts.other_ops] == ["/r{v=a}m.xformOp:scale"]


def test_transform_ops_other_than_a_pose_are_listed():
    facts = facts_of("""def Xform "a"
{
    quatf xformOp:orient = (1, 0, 0, 0)
    double3 xformOp:translate = (0, 0, 0)
    double3 xformOp:translate:pivot = (0, 0, 0)
    float xformOp:rotateX = 0
    uniform token[] xformOpOrder = []
}""")
    assert sorted(path.name for path in facts.other_ops) == ["xformOp:rotateX", "xformOp:translate:pivot"]


def test_asset_paths_of_attributes_and_relationships_are_found():
    facts = facts_of("""def Shader "s"
{
    asset inputs:file = @./wood.png@
    asset[] inputs:many = [@a.png@, @b.png@]
    rel friend = </s>
}""")
    assert sorted(found.text for found in facts.asset_paths) == ["./wood.png", "a.png", "b.png"]
    assert facts.relationships == 1


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ('over "r" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n) {}', "physics"),
        ('over "r" (\n    prepend apiSchemas = ["RosTopicAPI"]\n) {}', "ros"),
        ('over "r" (\n    prepend apiSchemas = ["RosContextAPI", "RosControlDiffDriveAPI"]\n) {}', "ros"),
        ('over "r" (\n    prepend apiSchemas = ["ExtendedPhysicsMimicAPI"]\n) {}', "extended physics"),
        ('over "r" (\n    prepend apiSchemas = ["PhysxJointAPI"]\n) {}', "mixed"),
        ('over "r" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI", "RosTopicAPI"]\n) {}', "mixed"),
        ('def Mesh "m" (\n    prepend apiSchemas = ["PhysicsCollisionAPI"]\n) {}', "mixed"),
        ('def Mesh "m"\n{\n    point3f[] points = [(0, 0, 0)]\n}', "geometry"),
        ('def Material "m" {}', "material"),
        ('def Mesh "g" {}\ndef Material "m" {}', "mixed"),
        ('def Xform "r" {}', "entry"),
        ("", "entry"),
        ('def Material "m" (\n    prepend apiSchemas = ["PhysicsMaterialAPI"]\n) {}', "physics"),
    ],
)
def test_roles_follow_what_is_held(text, role):
    assert facts_of(text).role == role


def test_a_vendor_layer_is_one_that_can_be_left_out(tmp_path):
    text = '#usda 1.0\nover "r" (\n    prepend apiSchemas = ["PhysxJointAPI"]\n) {}\n'
    (tmp_path / "physx.usda").write_text(text)
    (tmp_path / "root.usda").write_text("#usda 1.0\n(\n    subLayers = [@./physx.usda@]\n)\n")
    _, physx = StageSnapshot(open_stage(tmp_path / "root.usda")).layers
    assert physx.is_vendor
    assert physx.role == "vendor"
    entry = StageSnapshot(open_stage(tmp_path / "physx.usda")).layers[0]
    assert not entry.is_vendor
    assert entry.role == "mixed"


@pytest.mark.parametrize(
    ("ask", "name", "domain"),
    [
        (domain_of_type, "Mesh", Domain.GEOMETRY),
        (domain_of_type, "Xform", Domain.KINEMATIC),
        (domain_of_type, "Material", Domain.MATERIAL),
        (domain_of_type, "PhysicsScene", Domain.PHYSICS),
        (domain_of_type, "DomeLight_1", Domain.LIGHT),
        (domain_of_type, "OmniGraph", Domain.VENDOR),
        (domain_of_type, "Whatever", None),
        (domain_of_api, "PhysicsMassAPI", Domain.PHYSICS),
        (domain_of_api, "PhysxRigidBodyAPI", Domain.VENDOR),
        (domain_of_api, "RosFrameAPI", Domain.ROS),
        (domain_of_api, "RosControlIntegratedAPI", Domain.CONTROL),
        (domain_of_api, "MaterialBindingAPI", None),
        (domain_of_property, "points", Domain.GEOMETRY),
        (domain_of_property, "xformOp:translate", Domain.KINEMATIC),
        (domain_of_property, "physics:mass", Domain.PHYSICS),
        (domain_of_property, "drive:angular:physics:damping", Domain.PHYSICS),
        (domain_of_property, "ext_physics:joint:armature", Domain.EXTENDED),
        (domain_of_property, "ros:topic:name", Domain.ROS),
        (domain_of_property, "physxJoint:armature", Domain.VENDOR),
        (domain_of_property, "inputs:diffuseColor", Domain.MATERIAL),
        (domain_of_property, "visibility", None),
    ],
)
def test_domains(ask, name, domain):
    assert ask(name) == domain
