"""Facts about layers: roles by content, assets of a stage, session layers, stages in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdUtils

import simwright
from simwright.checker.facts.assets import find_assets
from simwright.checker.facts.domains import Domain, domain_of_api, domain_of_property, domain_of_type
from simwright.checker.facts.layer_walk import gather_layer
from simwright.checker.facts.layers import LayerFacts, encoding_of
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import vendor_of_key, vendor_of_property, vendor_of_schema
from simwright.checker.run import all_rules, run_rules
from simwright.usd.guard import check_file, recall_outline
from simwright.usd.open import open_stage

RULES = {rule.code: rule for rule in all_rules()}


def find(snapshot: StageSnapshot, code: str) -> list[str]:
    return [d.message for d in run_rules(snapshot, [RULES[code]])]


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("physxJoint:armature", "physx"),
        ("state:angular:physics:position", "physx"),
        ("mjc:solref", "mujoco"),
        ("mujoco:solref", "mujoco"),
        ("omni:kit:centerOfInterest", "isaac"),
        ("isaacSensor:rate", "isaac"),
        ("primvars:omni", None),
        ("collection:physx:includes", None),
        ("newtonian", None),
        ("physics:mass", None),
        ("omniscient:x", None),
    ],
)
def test_vendor_of_property(name, vendor):
    assert vendor_of_property(name) == vendor


def test_vendor_of_schema_and_key():
    assert vendor_of_schema("PhysxRigidBodyAPI") == "physx"
    assert vendor_of_schema("OmniGraphNode") == "isaac"
    assert vendor_of_schema("PhysicsRigidBodyAPI") is None
    assert vendor_of_schema("NewtonianAPI") is None
    assert vendor_of_key("omni_layer") == "isaac"
    assert vendor_of_key("creator") is None


def test_domains():
    assert domain_of_api("ExtendedPhysicsMimicAPI") is Domain.EXTENDED
    assert domain_of_api("RosControlDiffDriveAPI") is Domain.CONTROL
    assert domain_of_api("MaterialBindingAPI") is None
    assert domain_of_property("material:binding:physics") is Domain.PHYSICS
    assert domain_of_property("material:binding") is None
    assert domain_of_type("DomeLight_1") is Domain.LIGHT


def test_roles_follow_content(samples):
    stage = open_stage(samples / "warehouse" / "warehouse.usda")
    snapshot = StageSnapshot(stage)
    roles = {facts.name: facts.role for facts in snapshot.layers}
    assert roles["warehouse.usda"] == "entry"
    assert roles["physics.usda"] == "physics"
    assert roles["ros.usda"] == "ros"
    assert roles["materials.usda"] == "material"
    assert roles["geometries.usdc"] == "geometry"
    assert roles["lights.usda"] == "light"
    assert roles["base.usda"] == "base"


def test_each_asset_of_a_scene_has_its_own_layers(samples):
    snapshot = StageSnapshot(open_stage(samples / "warehouse" / "warehouse.usda"))
    assets = find_assets(snapshot)
    assert assets[0].name == "warehouse.usda"
    assert {asset.name for asset in assets[1:]} == {"floor.usda", "rack.usda", "box.usda", "fourbar.usda"}
    assert sum(len(asset.layers) for asset in assets) == len(snapshot.layers)
    assert sorted(facts.name for facts in assets[0].layers) == [
        "base.usda", "lights.usda", "physics.usda", "warehouse.usda",
    ]  # fmt: skip


def test_session_layers_are_not_the_asset(tmp_path):
    path = tmp_path / "robot.usda"
    path.write_text('#usda 1.0\n(\n    defaultPrim = "robot"\n)\ndef Xform "robot" {}\n')
    stage = open_stage(path)
    extra = Sdf.Layer.CreateNew(str(tmp_path / "session_part.usda"))
    stage.GetSessionLayer().subLayerPaths.append(extra.identifier)
    with Usd.EditContext(stage, extra):
        prim = stage.GetPrimAtPath("/robot")
        prim.CreateAttribute("mjc:margin", Sdf.ValueTypeNames.Float).Set(1.0)
        prim.SetAssetInfoByKey("identifier", "robot")
    snapshot = StageSnapshot(stage)
    assert [facts.name for facts in snapshot.layers] == ["robot.usda"]
    assert not find(snapshot, "proprietary-confined")
    assert find(snapshot, "assetinfo-identifier")


def test_a_selection_in_the_session_layer_is_no_default(tmp_path):
    path = tmp_path / "robot.usda"
    path.write_text(
        '#usda 1.0\ndef Xform "robot" (\n    prepend variantSets = "v"\n)\n{\n'
        '    variantSet "v" = {\n        "a" {\n        }\n    }\n}\n'
    )
    stage = open_stage(path, variants={"v": "a"})
    assert stage.GetPrimAtPath("/robot").GetVariantSet("v").GetVariantSelection() == "a"
    assert "has no default selection" in find(StageSnapshot(stage), "variant-default")[0]


def make_stage_in_memory() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    overlay = Sdf.Layer.CreateAnonymous("overlay.usda")
    stage.GetRootLayer().subLayerPaths.append(overlay.identifier)
    UsdGeom.Mesh.Define(stage, "/robot/shape").CreatePointsAttr([(0, 0, 0)] * 20_000)
    with Usd.EditContext(stage, overlay):
        stage.GetPrimAtPath("/robot").AddAppliedSchema("RosContextAPI")
    return stage


def test_stages_in_memory_are_judged_without_files():
    snapshot = StageSnapshot(make_stage_in_memory())
    assert len(snapshot.layers) == 2
    found = list(run_rules(snapshot, RULES.values()))
    kinds = {d.kind for d in found}
    assert "check-rule-crashed" not in kinds
    assert "default-prim" in kinds
    assert "payload-heavy" in kinds
    assert not kinds & {"layer-enc-crate", "layer-enc-ascii", "entry-name", "layer-functional"}


def test_encoding_is_what_the_bytes_are(tmp_path):
    binary = Sdf.Layer.CreateNew(str(tmp_path / "a.usd"))
    binary.Save()
    text = tmp_path / "b.usd"
    text.write_text("#usda 1.0\n")
    assert encoding_of(binary) == "usdc"
    assert encoding_of(Sdf.Layer.FindOrOpen(str(text))) == "usda"


def test_layers_of_a_package_are_gathered(tmp_path):
    (tmp_path / "base.usda").write_text('#usda 1.0\ndef Xform "robot" {}\n')
    entry = tmp_path / "robot.usda"
    entry.write_text(
        '#usda 1.0\n(\n    defaultPrim = "robot"\n)\n'
        'def Xform "robot" (\n    references = @base.usda@</robot>\n)\n{\n}\n'
    )
    package = tmp_path / "robot.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(entry), str(package))
    snapshot = StageSnapshot(open_stage(package), path=str(package))
    assert len(snapshot.layers) == 2
    assert not find(snapshot, "path-relative"), "paths inside a package are anchored in it"
    assert not find(snapshot, "path-self-contained")
    assert not find(snapshot, "entry-name")


def test_variants_of_a_layer_that_does_not_name_their_set(tmp_path):
    """Another layer of the stack names the set and selects the variant; what is said in it counts all the same."""
    (tmp_path / "root.usda").write_text(
        '#usda 1.0\n(\n    subLayers = [@./more.usda@]\n)\ndef Xform "robot" (\n    variants = {\n'
        '        string motor = "big"\n    }\n    prepend variantSets = "motor"\n)\n{\n    variantSet "motor" = {\n'
        '        "big" {\n            def PhysicsRevoluteJoint "j"\n            {\n            }\n        }\n    }\n}\n'
    )
    (tmp_path / "more.usda").write_text(
        '#usda 1.0\nover "robot"\n{\n    variantSet "motor" = {\n        "big" {\n            over "j"\n            {\n'
        "                float physics:lowerLimit = -10\n                float physics:upperLimit = 10\n"
        "            }\n        }\n    }\n}\n"
    )
    report = simwright.check(tmp_path / "root.usda", select=["joint-limits"])
    assert [finding.kind for asset in report.assets for finding in asset.findings] == []


LINKS = """#usda 1.0
(
    defaultPrim = "robot"
)
class Xform "_arm"
{
}
def Xform "robot" (
    kind = "component"
    prepend apiSchemas = ["PhysicsArticulationRootAPI", "StrangeAPI"]
    assetInfo = { asset identifier = @robot.usdc@ }
)
{
    def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
            int[] faceVertexIndices = [0, 1, 2]
            int[] faceVertexCounts = [3]
        }
    }
    def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 2
        double3 xformOp:translate = (0, 0, 2)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "shape" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            point3f[] points = [(0, 0, 0), (2, 0, 0), (0, 2, 0)]
            int[] faceVertexIndices = [0, 1, 2]
            int[] faceVertexCounts = [3]
        }
    }
    def Xform "c" (instanceable = true
        prepend inherits = </_arm>)
    {
        float3 xformOp:scale = (1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
    over "d" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        custom string physx:note = "textures/wood.png"
    }
    def "e" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
    }
    def PhysicsRevoluteJoint "j"
    {
        rel physics:body0 = </robot/b>
        rel physics:body1 = </robot/a>
    }
    def Material "paint" (customData = { asset map = @textures/a.png@ })
    {
        def Shader "s"
        {
            asset inputs:file = @textures/b.png@
        }
    }
}
"""


def write_crate(file: Path, text: str) -> Path:
    """A crate that counts as written long ago."""
    source = Sdf.Layer.CreateAnonymous(".usda")
    assert source.ImportFromString(text)
    assert source.Export(str(file))
    os.utime(file, (1e9, 1e9))
    return file


def list_facts(facts: LayerFacts) -> dict[str, Any]:
    """All that was noted, the contents of opinions by their names instead of by their place in memory."""
    values = {name: getattr(facts, name) for name in LayerFacts.__slots__ if not name.startswith("_")}
    values["sayings"] = [(path, [one.what for one in facts.said[key]]) for path, key in facts.sayings]
    values["said"] = len(facts.said)
    return values


@pytest.fixture(name="settled")
def fixture_settled(monkeypatch):
    """Files count as settled as soon as they are written."""
    monkeypatch.setattr("simwright.usd.settled._MOMENT", -10_000_000_000)


@pytest.mark.usefixtures("settled")
def test_one_spec_of_equal_ones_tells_what_opening_all_of_them_tells(tmp_path, monkeypatch):
    file = write_crate(tmp_path / "robot.usdc", LINKS)
    stage = open_stage(file)
    layer = stage.GetRootLayer()
    outline = recall_outline(layer)
    assert outline is not None
    # the bodies a and b, and their shapes, have equal fields
    assert len(outline.sets) == 12
    assert len(set(outline.sets.tolist())) == 10
    short = list_facts(gather_layer(layer, is_root=True))
    monkeypatch.setattr("simwright.checker.facts.layer_walk.recall_outline", lambda _: None)
    assert short == list_facts(gather_layer(layer, is_root=True))
    assert [str(path) for path, _ in short["defined_bodies"]] == ["/robot/b", "/robot/a", "/robot/e"]
    assert [is_typed for _, is_typed in short["defined_bodies"]] == [True, True, False]


@pytest.mark.usefixtures("settled")
def test_a_file_with_a_relative_path_is_known_by_its_layer(tmp_path, monkeypatch):
    write_crate(tmp_path / "robot.usdc", LINKS)
    monkeypatch.chdir(tmp_path)
    assert recall_outline(open_stage("robot.usdc").GetRootLayer()) is not None


@pytest.mark.usefixtures("settled")
def test_an_edited_layer_is_not_what_was_checked(tmp_path):
    layer = open_stage(write_crate(tmp_path / "robot.usdc", LINKS)).GetRootLayer()
    assert recall_outline(layer) is not None
    layer.GetPrimAtPath("/robot/a").typeName = "Scope"
    assert recall_outline(layer) is None
    assert layer.Save()
    assert recall_outline(layer) is None


@pytest.mark.usefixtures("settled")
def test_a_layer_that_is_older_than_its_file_is_not_what_was_checked(tmp_path):
    file = write_crate(tmp_path / "robot.usdc", LINKS)
    stage = open_stage(file)
    other = write_crate(tmp_path / "other.usdc", '#usda 1.0\ndef Scope "robot" {}\n')
    other.replace(file)
    check_file(file)
    assert recall_outline(stage.GetRootLayer()) is None


@pytest.mark.usefixtures("settled")
def test_variants_are_opened_one_by_one(tmp_path):
    text = """#usda 1.0
def Xform "robot" (prepend variantSets = "look")
{
    variantSet "look" = {
        "plain" {
            def Xform "x"
            {
            }
        }
    }
}
"""
    layer = open_stage(write_crate(tmp_path / "robot.usdc", text)).GetRootLayer()
    assert recall_outline(layer) is None
    assert gather_layer(layer).has_variants


@pytest.mark.parametrize("kept", [0, 4096])
def test_opinions_can_be_asked_for_again_and_by_number(kept, monkeypatch):
    monkeypatch.setattr("simwright.checker.facts.layers._KEPT", kept)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(LINKS)
    facts = gather_layer(layer)
    found = facts.of(Domain.PHYSICS)
    listed = [(opinion.path, opinion.what) for opinion in found]
    assert listed == [(opinion.path, opinion.what) for opinion in found]
    assert len(found) == len(listed) > 3
    assert (found[0].path, found[-1].what) == (listed[0][0], listed[-1][1])
    assert [opinion.what for opinion in found[1:3]] == [what for _, what in listed[1:3]]
    with pytest.raises(IndexError):
        found[len(listed)]
    # outer prims first, whatever is asked for first
    depths = [path.GetPrimPath().pathElementCount for path, _ in listed]
    assert depths == sorted(depths)
    assert not facts.of(Domain.ROS)
    assert [opinion.what for opinion in facts.find(lambda content: content.kind == "type")][-1] == "Shader"
