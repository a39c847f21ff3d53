"""What counts as a node, what a node says, and what the collections hold."""

from __future__ import annotations

from pxr import Sdf, Usd

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.settings import CheckSettings
from simwright.usd.open import open_stage
from simwright.usd.plugins import register_plugins

register_plugins()

INSTANCED = """
def Xform "r"
{
    def Xform "a" (
        instanceable = true
        references = </lib/part>
    ) {}
    def Xform "b" (
        instanceable = true
        references = </lib/part>
    ) {}
}
class "lib"
{
    def Xform "part"
    {
        def Mesh "mesh" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        ) {}
        def Xform "inner" (
            instanceable = true
            references = </lib/screw>
        ) {}
    }
    def Xform "screw"
    {
        def Mesh "thread" {}
    }
}
"""


def snap(text: str) -> StageSnapshot:
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString("#usda 1.0\n" + text)
    return StageSnapshot(stage)


def paths(snapshot: StageSnapshot) -> list[str]:
    return [node.path for node in snapshot.nodes]


def test_inactive_abstract_and_undefined_prims_are_no_nodes():
    s = snap("""def "live"
{
    def "off" (
        active = false
    )
    {
        def "below" {}
    }
    over "ghost" {}
}
class "kind"
{
    def "inside" {}
}
over "nobody"
{
    def "child" {}
}""")
    assert paths(s) == ["/live"]
    assert s.node("/live/off") is None
    assert s.node("/nowhere") is None


def test_prims_below_an_unloaded_payload_root_are_simply_not_there_but_the_root_is(tmp_path):
    (tmp_path / "heavy.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "h"\n)\ndef "h"\n{\n    def Mesh "m" {}\n}\n'
    )
    root = tmp_path / "root.usda"
    root.write_text("""#usda 1.0
def Xform "r" (
    payload = @./heavy.usda@
)
{
    def Xform "local" {}
}
def Xform "z" {}
""")
    loaded = StageSnapshot(open_stage(root))
    assert set(paths(loaded)) == {"/r", "/r/m", "/r/local", "/z"}
    assert loaded.unloaded is not None
    assert set(paths(loaded.unloaded)) == {"/r", "/r/local", "/z"}
    assert loaded.folder == tmp_path
    without = StageSnapshot(open_stage(tmp_path / "heavy.usda"))
    assert without.unloaded is None


def test_a_prototype_is_visited_once_and_shown_below_its_first_instance():
    s = snap(INSTANCED)
    assert paths(s).count("/r/a/mesh") == 1
    assert "/r/b/mesh" not in paths(s)
    mesh = s.node("/r/a/mesh")
    assert mesh is not None
    assert mesh.in_prototype
    assert s.node("/r/b/mesh") is mesh
    assert s.node(mesh.prim.GetPath()) is mesh
    assert s.colliders == [mesh]
    a, b = s.node("/r/a"), s.node("/r/b")
    assert a.prototype is b.prototype is not None
    assert a.prototype.users == [a, b]
    assert not a.in_prototype


def test_instances_within_prototypes_are_shown_below_the_first_instance_too():
    s = snap(INSTANCED)
    thread = s.node("/r/a/inner/thread")
    assert thread is not None
    assert thread.path == "/r/a/inner/thread"
    assert [n.path for n in s.node("/r").descendants()] == [
        "/r/a", "/r/a/mesh", "/r/a/inner", "/r/a/inner/thread",
        "/r/b", "/r/a/mesh", "/r/a/inner", "/r/a/inner/thread",
    ]  # fmt: skip


def test_unregistered_schemas_count():
    s = snap("""def NoSuchType "a" (
    prepend apiSchemas = ["NoSuchAPI", "AlsoUnknownAPI:left", "PhysicsRigidBodyAPI"]
) {}""")
    (node,) = s.nodes
    assert node.type == "NoSuchType"
    assert node.is_a("NoSuchType")
    assert not node.is_a("Xformable")
    assert node.has("NoSuchAPI")
    assert node.has("AlsoUnknownAPI")
    assert node.instances("AlsoUnknownAPI") == ["left"]
    assert s.having("NoSuchAPI", "Other") == [node]
    assert s.bodies == [node]


def test_multiple_apply_apis_count_with_any_instance_but_not_by_prefix():
    s = snap("""def PhysicsJoint "j" (
    prepend apiSchemas = ["PhysicsDriveAPI:rotX", "PhysicsDriveAPI:rotY"]
) {}""")
    (joint,) = s.joints
    assert joint.has("PhysicsDriveAPI")
    assert joint.has("PhysicsDriveAPI:rotX")
    assert not joint.has("PhysicsDrive")
    assert joint.instances("PhysicsDriveAPI") == ["rotX", "rotY"]


def test_authored_values_are_told_from_fallbacks_and_blocks():
    s = snap("""def Cube "c"
{
    double size = None
    uniform token purpose = "guide"
    double radius.timeSamples = { 0: 1, 1: 2 }
    rel empty = None
}""")
    (cube,) = s.nodes
    assert cube.value("visibility") == "inherited"
    assert cube.authored("visibility") is None
    assert cube.authored("size") is None
    assert cube.authored("purpose") == "guide"
    assert cube.authored("nothing") is None
    assert cube.value("nothing") is None
    assert cube.authored("radius", Usd.TimeCode(1)) == 2
    assert cube.targets("empty") == []
    assert cube.targets("nothing") == []
    assert not cube.has_targets_authored("nothing")


def test_relationships_are_forwarded():
    s = snap("""def "a"
{
    rel direct = </b>
    rel through = </b.onward>
}
def "b"
{
    rel onward = </c>
}
def "c" {}""")
    a = s.node("/a")
    assert a.targets("direct") == [Sdf.Path("/b")]
    assert a.targets("through") == [Sdf.Path("/c")]
    assert a.has_targets_authored("direct")
    assert a.property_names() == ["direct", "through"]
    assert a.property_names("ros") == []


def test_owning_body_is_the_nearest():
    body = 'prepend apiSchemas = ["PhysicsRigidBodyAPI"]'
    s = snap(f"""def "r"
{{
    def "a" (
        {body}
    )
    {{
        def "b" (
            {body}
        )
        {{
            def "c" {{}}
        }}
    }}
}}""")
    assert s.owning_body(s.node("/r/a/b/c")) is s.node("/r/a/b")
    assert s.owning_body(s.node("/r/a/b")) is s.node("/r/a/b")
    assert s.owning_body(s.node("/r")) is None


def test_collections_of_ros_prims():
    s = snap("""def "a" (
    prepend apiSchemas = ["RosContextAPI"]
)
{
    def "t" (
        prepend apiSchemas = ["RosTopicAPI"]
    ) {}
    def "s" (
        prepend apiSchemas = ["RosServiceAPI"]
    ) {}
    def "f" (
        prepend apiSchemas = ["RosFrameAPI"]
    ) {}
    def "c" (
        prepend apiSchemas = ["RosControlSomethingNewAPI"]
    ) {}
}""")
    assert [n.name for n in s.contexts] == ["a"]
    assert [n.name for n in s.interfaces] == ["t", "s"]
    assert [n.name for n in s.frames] == ["f"]
    assert [n.name for n in s.controllers] == ["c"]


def test_a_stage_in_memory_and_an_empty_one():
    s = snap("")
    assert s.nodes == []
    assert s.default_node is None
    assert s.folder is None
    assert s.unloaded is None
    assert [facts.is_root for facts in s.layers] == [True]
    assert s.graph.components == []
    missing = snap("""(
    defaultPrim = "gone"
)
def "here" {}""")
    assert missing.default_node is None


def test_shared_facts_are_built_once():
    s = snap('def "a" {}')
    calls = []

    def build(snapshot: StageSnapshot) -> int:
        calls.append(snapshot)
        return len(snapshot.nodes)

    assert s.shared("count", build) == s.shared("count", build) == 1
    assert calls == [s]


def test_settings_are_kept():
    stage = Usd.Stage.CreateInMemory()
    assert StageSnapshot(stage, CheckSettings(repeat_count=7), path="x.usda").settings.repeat_count == 7


def test_variants_only_the_selected_state_is_there():
    s = snap("""def Xform "r" (
    variants = {
        string head = "camera"
    }
    prepend variantSets = "head"
)
{
    variantSet "head" = {
        "camera" {
            def "eye" {}
        }
        "plain" {
            def "cap" {}
        }
    }
}""")
    assert paths(s) == ["/r", "/r/eye"]


def test_a_stage_is_plain_unless_layers_that_are_not_looked_into_have_a_say(tmp_path):
    file = tmp_path / "r.usda"
    file.write_text('#usda 1.0\n(\n    defaultPrim = "r"\n)\ndef Xform "r" {}\n')
    stage = open_stage(file)
    plain = StageSnapshot(stage, CheckSettings())
    assert plain.is_plain
    assert not plain.may_move
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.GetPrimAtPath("/r").CreateAttribute("size", Sdf.ValueTypeNames.Float).Set(1.0, 2.0)
    other = StageSnapshot(stage, CheckSettings())
    assert not other.is_plain
    assert other.may_move
