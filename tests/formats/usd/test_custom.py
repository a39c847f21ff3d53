"""Custom attributes: declared on the scene, given values on prims (seed section "Custom Attributes from USD")."""

from __future__ import annotations

import math

import pytest


def declaration(
    kind: str, name: str, default: str = "", assignment: str = "model", frequency: str = "body"
) -> str:
    value = f"= {default}" if default else ""
    return f"""custom {kind} newton:{name} {value} (
    customData = {{
        string assignment = "{assignment}"
        string frequency = "{frequency}"
    }}
)
"""


def body(name: str, inside: str = "", apis: str = "") -> str:
    return f"""
def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"{apis}] ) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    {inside}
}}
"""


def stage(declarations: str, content: str = "") -> str:
    return f'def Xform "R" {{ {content} }}\ndef PhysicsScene "S" {{ {declarations} }}'


def attributes(found) -> dict:
    return {(a.namespace, a.name): a for a in found.asset.custom_attributes}


SEED = (
    declaration("float", "mass_scale", "1.0")
    + declaration("float3", "local_marker", "(0, 0, 0)")
    + declaration("bool", "is_sensor", "false")
    + declaration("float3", "target_position", "(0, 0, 0)", "state")
    + declaration("float", "namespace_a:mass_scale", "1.0", "state")
    + declaration("float", "namespace_a:gear_ratio", "1.0", "model", "joint")
    + declaration("float2", "namespace_a:pid_gains", "(0, 0)", "control", "joint")
    + declaration("float", "articulation_stiffness", "100.0", "model", "articulation")
)


def test_the_example_of_the_seed(read):
    values = """
    custom float newton:mass_scale = 1.5
    custom float3 newton:local_marker = (0.1, 0.2, 0.3)
    custom bool newton:is_sensor = true
    custom float3 newton:target_position = (1, 2, 3)
    custom float newton:namespace_a:mass_scale = 2.5
    """
    joint = """
    def PhysicsRevoluteJoint "joint1" {
        rel physics:body1 = </R/robot_body>
        custom float newton:namespace_a:gear_ratio = 2.25
        custom float2 newton:namespace_a:pid_gains = (100, 10)
    }
    def Xform "art" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
        custom float newton:articulation_stiffness = 150
    """
    found = read(stage(SEED, body("robot_body", values) + joint + body("link") + "}"))
    table = attributes(found)
    assert len(table) == 8
    scale, inner = table["", "mass_scale"], table["namespace_a", "mass_scale"]
    assert (scale.assignment, scale.frequency, scale.type, scale.default) == ("model", "body", "float", 1.0)
    assert (scale.values, inner.values) == ({"robot_body": 1.5}, {"robot_body": 2.5})
    assert inner.assignment == "state"
    assert table["", "local_marker"].values["robot_body"] == pytest.approx((0.1, 0.2, 0.3))
    assert table["", "is_sensor"].values == {"robot_body": True}
    assert table["", "target_position"].assignment == "state"
    assert table["namespace_a", "gear_ratio"].values == {"joint1": 2.25}
    assert table["namespace_a", "pid_gains"].values == {"joint1": (100, 10)}
    assert table["", "articulation_stiffness"].values == {"art": 150}
    assert (scale.source.prim, scale.source.prop) == ("/S", "newton:mass_scale")
    assert found.kinds == set()
    assert found.asset.extras.get("newton", "/R/robot_body", "newton:mass_scale") == 1.5


@pytest.mark.parametrize(
    ("kind", "default", "type_", "expected"),
    [
        ("bool", "true", "bool", True),
        ("int", "-7", "int", -7),
        ("uchar", "200", "int", 200),
        ("uint", "4000000000", "int64", 4_000_000_000),
        ("int64", "9007199254740993", "int64", 9_007_199_254_740_993),
        ("half", "0.5", "float", 0.5),
        ("float", "inf", "float", math.inf),
        ("double", "0.1", "float", 0.1),
        ("timecode", "3", "float", 3.0),
        ("float2", "(1, 2)", "vec2", (1, 2)),
        ("double3", "(1, 2, 3)", "vec3", (1, 2, 3)),
        ("color4f", "(1, 2, 3, 4)", "vec4", (1, 2, 3, 4)),
        ("int3", "(1, 2, 3)", "ivec3", (1, 2, 3)),
        ("quatf", "(0, 0, 0, 2)", "quat", (0, 0, 0, 1)),
        ("quatd", "(3, 0, 4, 0)", "quat", (0.6, 0, 0.8, 0)),
        ("matrix2d", "((1, 2), (3, 4))", "mat2", ((1, 2), (3, 4))),
        ("matrix3d", "((1, 2, 3), (4, 5, 6), (7, 8, 9))", "mat3", ((1, 2, 3), (4, 5, 6), (7, 8, 9))),
        ("token", '"ab"', "string", "ab"),
        ("string", '"a longer text"', "string", "a longer text"),
        ("asset", "@a.txt@", "string", "a.txt"),
        ("float[]", "[1, 2, 3, 4, 5]", "float[]", [1, 2, 3, 4, 5]),
        ("float3[]", "[(1, 2, 3)]", "vec3[]", [(1, 2, 3)]),
        ("quatf[]", "[(2, 0, 0, 0)]", "quat[]", [(1, 0, 0, 0)]),
        ("token[]", '["a", "b"]', "string[]", ["a", "b"]),
        ("bool", "", "bool", False),
        ("quatf", "", "quat", (1, 0, 0, 0)),
        ("matrix2d", "", "mat2", ((0, 0), (0, 0))),
        ("int[]", "", "int[]", []),
    ],
)
def test_types(read, kind, default, type_, expected):
    found = read(stage(declaration(kind, "x", default)))
    (attribute,) = found.asset.custom_attributes
    assert attribute.type == type_
    assert attribute.default == expected
    assert type(attribute.default) is type(expected)
    assert found.kinds == set()


def test_values_take_the_declared_type(read):
    declarations = declaration("float", "f", "1") + declaration("int", "i", "1") + declaration("quatf", "q")
    values = """
    custom int newton:f = 3
    custom double newton:i = 4
    custom quatd newton:q = (0, 5, 0, 0)
    """
    table = attributes(read(stage(declarations, body("a", values))))
    assert table["", "f"].values["a"] == 3.0
    assert isinstance(table["", "f"].values["a"], float)
    assert table["", "i"].values == {"a": 4}
    assert table["", "q"].values == {"a": (0, 1, 0, 0)}


@pytest.mark.parametrize(
    ("declared", "authored", "why"),
    [
        ("float", 'string newton:x = "much"', "no float"),
        ("float", "float3 newton:x = (1, 2, 3)", "no float"),
        ("float3", "float newton:x = 1", "no vec3"),
        ("int", "double newton:x = 1.5", "whole number"),
        ("int", "int64 newton:x = 3000000000", "too large"),
        ("quatf", "quatf newton:x = (0, 0, 0, 0)", "without a direction"),
        ("quatf", "quatf newton:x = (nan, 0, 0, 0)", "without a direction"),
        ("string", "float newton:x = 1", "not text"),
        ("float[]", "float newton:x = 1", "not an array"),
        ("matrix3d", "matrix2d newton:x = ((1, 2), (3, 4))", "no mat3"),
    ],
)
def test_values_that_do_not_fit_fall_back_to_the_default(read, declared, authored, why):
    found = read(stage(declaration(declared, "x"), body("a", f"custom {authored}")))
    assert found.asset.custom_attributes[0].values == {}
    (finding,) = found.reporter
    assert finding.kind == "usd-custom-value"
    assert why in finding.message
    assert (finding.where.prim, finding.where.prop) == ("/R/a", "newton:x")


PLACES = {
    "body": ("a", {"a": 2.0}),
    "shape": ("a/ball", {"ball": 2.0}),
    "joint": ("j", {"j": 2.0}),
    "joint_dof": ("j", {"j": [2.0]}),
    "joint_coord": ("j", {"j": [2.0]}),
    "articulation": ("", {"R": 2.0}),
}


@pytest.mark.parametrize("assignment", ["model", "state", "control", "contact"])
@pytest.mark.parametrize("frequency", PLACES)
def test_every_frequency_with_every_assignment(read, frequency, assignment):
    """The same name twice, in two namespaces: each has its own default, assignment and value."""
    place, expected = PLACES[frequency]

    def say(at):
        return "custom float newton:x = 2\ncustom float newton:ns:x = 7" if at == place else ""

    other = "state" if assignment == "model" else "model"
    declared = declaration("float", "x", "1", assignment, frequency)
    declared += declaration("float", "ns:x", "5", other, frequency)
    found = read(f"""
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{
    {say("")}
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{
        {say("a")}
        def Sphere "ball" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ {say("a/ball")} }}
    }}
    def PhysicsRevoluteJoint "j" {{ rel physics:body1 = </R/a> \n {say("j")} }}
}}
def PhysicsScene "S" {{ {declared} }}""")
    table = attributes(found)
    plain, spaced = table["", "x"], table["ns", "x"]
    assert (plain.assignment, plain.frequency, plain.default) == (assignment, frequency, 1.0)
    assert (spaced.assignment, spaced.frequency, spaced.default) == (other, frequency, 5.0)
    assert plain.values == expected
    sevens = {name: [7.0] if isinstance(value, list) else 7.0 for name, value in expected.items()}
    assert spaced.values == sevens
    assert "usd-custom-declaration" not in found.kinds


WRONG = [
    ("custom float newton:x = 1", "no assignment"),
    ('custom float newton:x = 1 ( customData = { string assignment = "model" } )', "no frequency"),
    ('float newton:x = 1 ( customData = { string frequency = "body" } )', "no assignment"),
    (declaration("float", "x", "1", "everywhere"), "'everywhere'"),
    (declaration("float", "x", "1", "model", "particle"), "'particle'"),
    (declaration("float", "x", "1", "model", "contact"), "'contact'"),
    (declaration("float", "a:b:x", "1"), "more parts"),
    (declaration("opaque", "x"), "opaque"),
    (declaration("quatf", "x", "(0, 0, 0, 0)"), "without a direction"),
]


@pytest.mark.parametrize(("declared", "why"), WRONG)
def test_wrong_declarations(read, declared, why):
    found = read(stage(declared, body("a", "custom float newton:x = 2")))
    assert found.asset.custom_attributes == []
    (finding,) = found.reporter
    assert finding.kind == "usd-custom-declaration"
    assert why in finding.message
    assert finding.where.prim == "/S"
    assert finding.where.prop.startswith("newton:")


def test_words_may_be_written_in_capitals(read):
    (attribute,) = read(stage(declaration("float", "x", "1", "STATE", "Body"))).asset.custom_attributes
    assert (attribute.assignment, attribute.frequency) == ("state", "body")


def test_ordinary_scene_attributes_declare_nothing(read):
    found = read(
        stage(
            "int newton:maxSolverIterations = 5\n custom bool newton:collapse_fixed_joints = true\n float newton:y = 1"
        )
    )
    assert found.asset.custom_attributes == []
    assert found.kinds == set()


def test_a_second_scene_may_repeat_but_not_contradict(read):
    same = declaration("float", "x", "1")
    other = declaration("float", "x", "1", "state")
    found = read(stage(same) + f'def PhysicsScene "T" {{ {same} }}')
    assert len(found.asset.custom_attributes) == 1
    assert found.kinds == {"usd-scenes-many"}
    found = read(stage(same) + f'def PhysicsScene "T" {{ {other} }}')
    assert [a.assignment for a in found.asset.custom_attributes] == ["model"]
    (finding,) = (d for d in found.reporter if d.kind == "usd-custom-declaration")
    assert finding.where.prim == "/T"


JOINTS = """
def PhysicsSphericalJoint "k" { rel physics:body1 = </R/a>\n %s }
def PhysicsRevoluteJoint "h" { rel physics:body0 = </R/a>\n rel physics:body1 = </R/b>\n %s }
def PhysicsFixedJoint "f" { rel physics:body0 = </R/b>\n rel physics:body1 = </R/c>\n %s }
"""


def joints(declared: str, ball: str = "", hinge: str = "", fixed: str = "") -> str:
    return stage(declared, body("a") + body("b") + body("c") + JOINTS % (ball, hinge, fixed))


def test_values_per_degree_of_freedom(read):
    declared = declaration("float", "d", "0", "model", "joint_dof") + declaration(
        "float", "c", "0", "state", "joint_coord"
    )
    table = attributes(
        read(
            joints(
                declared,
                "custom float[] newton:d = [1, 2, 3]\n custom float newton:c = 5",
                "custom float newton:d = 4",
                "custom float newton:d = 9",
            )
        )
    )
    assert table["", "d"].values == {"k": [1, 2, 3], "h": [4], "f": []}
    assert table["", "c"].values == {"k": [5, 5, 5, 5]}


def test_vectors_per_degree_of_freedom(read):
    declared = declaration("float2", "d", "(0, 0)", "control", "joint_dof")
    found = read(
        joints(
            declared, "custom float2[] newton:d = [(1, 2), (3, 4), (5, 6)]", "custom float2 newton:d = (7, 8)"
        )
    )
    assert found.asset.custom_attributes[0].values == {"k": [(1, 2), (3, 4), (5, 6)], "h": [(7, 8)]}


def test_a_list_of_the_wrong_length_is_reported(read):
    declared = declaration("float", "d", "0", "model", "joint_coord")
    found = read(joints(declared, "custom float[] newton:d = [1, 2, 3]"))
    assert found.asset.custom_attributes[0].values == {}
    (finding,) = found.reporter
    assert finding.kind == "usd-custom-value"
    assert "3 values, joint 'k' has 4" in finding.message


def test_shapes_and_values_on_the_parent_of_an_articulation(read):
    declared = declaration("token", "tag", '"none"', frequency="shape") + declaration(
        "float", "stiff", "1", frequency="articulation"
    )
    content = f"""
    def Sphere "ball" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ custom token newton:tag = "soft" }}
    def Xform "robot" {{
        custom float newton:stiff = 7
        {body("root", apis=', "PhysicsArticulationRootAPI"')}
    }}"""
    found = read(stage(declared, content))
    table = attributes(found)
    assert table["", "tag"].values == {"ball": "soft"}
    assert table["", "stiff"].values == {"root": 7}
    assert found.kinds == set()


def test_values_shared_by_instances(read):
    declared = declaration("int", "tag", "0", frequency="shape")
    content = """
    def Xform "one" ( instanceable = true
        references = </Proto> ) {}
    def Xform "two" ( instanceable = true
        references = </Proto> ) {}
    """
    proto = 'class Xform "Proto" { def Cube "c" { custom int newton:tag = 3 } }'
    found = read(stage(declared, content) + proto)
    assert found.asset.custom_attributes[0].values == {"one_c": 3, "two_c": 3}


def test_a_value_where_nothing_reads_it(read):
    found = read(stage(declaration("float", "x", "1"), 'def Xform "plain" { custom float newton:x = 2 }'))
    assert found.asset.custom_attributes[0].values == {}
    (finding,) = found.reporter
    assert (finding.kind, finding.where.prim) == ("usd-custom-misplaced", "/R/plain")


def test_one_value_for_all(read):
    found = read(
        stage(
            declaration("float", "x", "4", "model", "once") + declaration("int", "y", "2", "state", "world")
        )
    )
    assert [(a.frequency, a.default) for a in found.asset.custom_attributes] == [("once", 4), ("world", 2)]
