"""Op stacks, their values over time, and which prims a scale reaches."""

from __future__ import annotations

import pytest
from pxr import Usd

from simwright.checker.facts.kinematics import (
    KinematicRole,
    find_common_path,
    is_leaf_geometry,
    list_kinematic,
    walk_inheritors,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.transforms import (
    find_rotation,
    find_scale,
    is_mirrored,
    is_unit_scale,
    list_local,
    list_strays,
    parse_order,
    read_in,
    read_stack,
    read_transforms,
    split_rotation,
)
from simwright.checker.run import all_rules, run_rules
from simwright.usd.plugins import register_plugins

register_plugins()


def snap(text: str) -> StageSnapshot:
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString("#usda 1.0\n" + text)
    return StageSnapshot(stage)


def node_of(snapshot: StageSnapshot, path: str):
    node = snapshot.node(path)
    assert node is not None
    return node


def test_order_is_parsed_with_suffixes_inverses_and_resets():
    stack = parse_order(
        ["xformOp:scale", "!resetXformStack!", "xformOp:translate:pivot", "!invert!xformOp:orient"]
    )
    assert stack.resets
    assert [(op.kind, op.suffix, op.inverse) for op in stack.ops] == [
        ("translate", "pivot", False),
        ("orient", "", True),
    ]
    assert stack.tokens == "[!resetXformStack!, translate:pivot, !invert!orient]"
    assert parse_order(["nonsense"]).ops[0].kind == "nonsense"


def test_only_xformable_prims_have_a_stack():
    text = """def {} "a"
{{
    float3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}}"""
    assert read_stack(node_of(xform := snap(text.format("Xform")), "/a"), xform).ops
    assert not read_stack(node_of(scope := snap(text.format("Scope")), "/a"), scope).ops
    assert not read_transforms(scope).scales


def test_strays_are_ops_that_no_order_names():
    s = snap("""def Xform "a"
{
    float3 xformOp:scale = (2, 2, 2)
    double3 xformOp:translate = (0, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}""")
    assert list_strays(node_of(s, "/a"), s) == ["xformOp:scale"]
    assert find_scale(node_of(s, "/a"), s) is None


def test_scale_is_asked_at_every_time_and_float_noise_is_none():
    s = snap("""def Xform "a"
{
    float3 xformOp:scale.timeSamples = { 0: (1, 1, 1), 5: (1, 1, 3) }
    uniform token[] xformOpOrder = ["xformOp:scale"]
}
def Xform "b"
{
    float3 xformOp:scale = (1, 0.9999999, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}""")
    a, b = node_of(s, "/a"), node_of(s, "/b")
    assert find_scale(a, s) == (1, 1, 3)
    assert not is_unit_scale(a, read_stack(a, s).ops[0])
    assert find_scale(b, s) is None
    assert is_unit_scale(b, read_stack(b, s).ops[0])


@pytest.mark.parametrize(
    ("ops", "mirrored"),
    [
        ("float3 xformOp:scale = (1, -1, 1)", True),
        ("float3 xformOp:scale = (-1, -1, 1)", False),
        ("float3 xformOp:scale = (-1, -1, -1)", True),
        ("float3 xformOp:scale.timeSamples = { 0: (1, 1, 1), 1: (1, 1, -1) }", True),
    ],
)
def test_mirrors(ops, mirrored):
    s = snap(f'def Xform "a"\n{{\n    {ops}\n    uniform token[] xformOpOrder = ["xformOp:scale"]\n}}')
    assert is_mirrored(node_of(s, "/a"), s) is mirrored


def test_rotation_of_any_op_and_none_for_minus_identity():
    s = snap("""def Xform "euler"
{
    float xformOp:rotateX = -90
    uniform token[] xformOpOrder = ["xformOp:rotateX"]
}
def Xform "minus"
{
    quatf xformOp:orient = (-1, 0, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:orient"]
}""")
    angle, axis = find_rotation(node_of(s, "/euler"), s)
    assert angle == pytest.approx(90)
    assert axis == pytest.approx((-1, 0, 0))
    assert find_rotation(node_of(s, "/minus"), s) is None
    assert split_rotation((1.0, 0.0, 0.0, 0.0))[0] == 0.0


ZEROS = "( (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0) )"
DAMAGED = [
    'uniform token[] xformOpOrder = ["xformOp:translate"]',
    'float3 xformOp:orient = (1, 2, 3)\n    uniform token[] xformOpOrder = ["xformOp:orient"]',
    'double3 xformOp:scale = None\n    uniform token[] xformOpOrder = ["xformOp:scale"]',
    'string xformOp:scale = "x"\n    uniform token[] xformOpOrder = ["xformOp:scale"]',
    "uniform token[] xformOpOrder = None",
    'quatf xformOp:orient = (0, 0, 0, 0)\n    uniform token[] xformOpOrder = ["xformOp:orient"]',
    f'matrix4d xformOp:transform = {ZEROS}\n    uniform token[] xformOpOrder = ["xformOp:transform"]',
    'float3 xformOp:scale = (0, 0, nan)\n    uniform token[] xformOpOrder = ["xformOp:scale"]',
]


@pytest.mark.parametrize("ops", DAMAGED)
def test_nothing_crashes_on_damaged_ops_and_nothing_is_printed(ops, capfd):
    s = snap(f'def Xform "a"\n{{\n    {ops}\n    def Xform "b" {{}}\n}}')
    a = node_of(s, "/a")
    list_local(a, s)
    find_rotation(a, s)
    find_scale(a, s)
    is_mirrored(a, s)
    for op in read_stack(a, s).ops:
        is_unit_scale(a, op)
    read_in(node_of(s, "/a/b"), a, s)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("ops", DAMAGED)
def test_no_rule_crashes_on_damaged_ops(ops):
    body = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "RosFrameAPI"]'
    s = snap(f"""(
    defaultPrim = "a"
)
def Xform "a" (
    kind = "component"
)
{{
    {ops}
    def Sphere "b" (
        {body}
    )
    {{
        {ops}
    }}
    def PhysicsFixedJoint "j"
    {{
        {ops}
    }}
    def Mesh "m"
    {{
        {ops}
        def Camera "front_camera" {{}}
    }}
    def Capsule "c" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {{
        {ops}
    }}
}}""")
    found = run_rules(s, [rule for rule in all_rules() if rule.section == "1.1"])
    assert [d.message for d in found if d.kind == "check-rule-crashed"] == []


def test_unusual_ops_are_found_through_references_that_rename():
    s = snap("""class "lib"
{
    def Xform "part"
    {
        float3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
}
def "renamed" (
    references = </lib/part>
) {}
def Xform "kept" (
    references = </lib>
) {}""")
    assert [node.path for node, _ in read_transforms(s).scales] == ["/renamed", "/kept/part"]


def test_scale_reaches_what_does_not_reset_its_stack():
    s = snap("""def Xform "a"
{
    def Scope "s"
    {
        def Mesh "m" {}
    }
    def Xform "free"
    {
        uniform token[] xformOpOrder = ["!resetXformStack!"]
        def Mesh "n" {}
    }
}""")
    assert [n.path for n in walk_inheritors(node_of(s, "/a"), s)] == ["/a/s/m"]


def test_leaf_geometry():
    s = snap("""def Mesh "leaf"
{
    def GeomSubset "subset" {}
}
def Mesh "holder"
{
    def Mesh "inner" {}
}
def Xform "group"
{
    def Mesh "m" {}
}
def Xform "instance" (
    instanceable = true
    references = </group>
) {}""")
    leaves = [
        path for path in ("/leaf", "/holder", "/group", "/instance") if is_leaf_geometry(node_of(s, path), s)
    ]
    assert leaves == ["/leaf", "/instance"]


def test_kinematic_prims_and_their_roles():
    body = 'prepend apiSchemas = ["PhysicsRigidBodyAPI"]'
    s = snap(f"""def Xform "robot"
{{
    def Xform "base" (
        {body}
    )
    {{
        def Xform "mid"
        {{
            def Scope "s"
            {{
                def Xform "arm" (
                    {body}
                ) {{}}
            }}
        }}
        def Xform "grasp" (
            prepend apiSchemas = ["RosFrameAPI"]
        ) {{}}
        def Xform "visual" {{}}
    }}
}}""")
    roles = {node.path: role for node, role in list_kinematic(s).values()}
    assert roles == {
        "/robot/base": KinematicRole.BODY,
        "/robot/base/mid/s/arm": KinematicRole.BODY,
        "/robot/base/mid": KinematicRole.BETWEEN,
        "/robot/base/grasp": KinematicRole.FRAME,
    }


@pytest.mark.parametrize(
    ("paths", "common"),
    [
        ([], ""),
        (["/r/a"], "/r/a"),
        (["/r/a", "/r/ab"], "/r"),
        (["/r/a/x", "/r/a", "/r/a/y/z"], "/r/a"),
        (["/q/a", "/r/a"], ""),
        (["/r/a/0", "/r/a_b", "/r/aZ"], "/r"),
    ],
)
def test_common_path(paths, common):
    assert find_common_path(paths) == common
