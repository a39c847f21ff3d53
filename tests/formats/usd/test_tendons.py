"""Tendons of MuJoCo, and those of PhysX that are only kept."""

from __future__ import annotations

import math

import pytest

from simwright.model.joint import TendonPoint


def machine(content: str) -> str:
    def body(name: str, inner: str = "") -> str:
        return f"""
    def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        {inner}
    }}"""

    def joint(kind: str, name: str, body: str) -> str:
        ends = f"rel physics:body0 = </R/base>\n rel physics:body1 = </R/{body}>"
        return f'def Physics{kind}Joint "{name}" {{ {ends} }}\n'

    inner = "".join(
        f'def Sphere "{name}" ( prepend apiSchemas = ["MjcSiteAPI"] ) {{ double radius = 0.1 }}\n'
        for name in "stu"
    )
    return f"""
def Xform "R" {{
    {body("base", inner + 'def Cylinder "drum" {}')} {body("a")} {body("b")} {body("c")}
    {joint("Revolute", "h", "a")} {joint("Prismatic", "p", "b")} {joint("Spherical", "k", "c")}
    {content}
}}"""


def fixed(path: str, inside: str = "double[] mjc:path:coef = [0.5, 2]") -> str:
    return machine(
        f'def MjcTendon "t1" {{ uniform token mjc:type = "fixed"\n rel mjc:path = [{path}]\n {inside} }}'
    )


def test_fixed_tendon(read):
    inside = """
    double[] mjc:path:coef = [0.5, 2]
    int[] mjc:path:indices = [1, 0]
    double mjc:stiffness = 3
    double mjc:damping = 4
    double mjc:frictionloss = 5
    double mjc:armature = 6
    double mjc:range:min = -1
    double mjc:range:max = 7
    double[] mjc:springlength = [0.25]
    """
    found = read(fixed("</R/h>, </R/p>", inside))
    (tendon,) = found.asset.tendons
    assert tendon.path == [TendonPoint("joint", "p", 0.5), TendonPoint("joint", "h", 2)]
    assert (tendon.stiffness, tendon.damping, tendon.friction, tendon.armature) == (3, 4, 5, 6)
    assert (tendon.lower, tendon.upper, tendon.rest_length) == (-1, 7, (0.25, 0.25))
    assert found.kinds == set()


def test_fixed_tendon_in_centimetres_does_the_same_work(read):
    """The length has no unit as soon as a hinge is in it; the energy k L^2 / 2 has to stay the same."""
    (tendon,) = read(
        fixed("</R/h>, </R/p>", "double[] mjc:path:coef = [1, 1]\n double mjc:stiffness = 3"), meters=0.01
    ).asset.tendons
    assert [point.value for point in tendon.path] == pytest.approx([1, 100])
    assert tendon.stiffness == pytest.approx(3e-4)
    (slides,) = read(
        fixed("</R/p>", "double[] mjc:path:coef = [1]\n double mjc:stiffness = 3\n double mjc:range:max = 5"),
        meters=0.01,
    ).asset.tendons
    assert (slides.path[0].value, slides.stiffness, slides.upper) == (1, 3, pytest.approx(0.05))


def test_spatial_tendon_with_wraps_and_pulleys(read):
    content = machine("""
    def MjcTendon "t1" {
        rel mjc:path = [</R/base/s>, </R/base/drum>, </R/base/t>]
        int[] mjc:path:indices = [0, 1, 2, 2, 0]
        int[] mjc:path:segments = [0, 0, 0, 1, 1]
        double[] mjc:path:divisors = [1, 4]
        rel mjc:sideSites = [</R/base/u>]
        int[] mjc:sideSites:indices = [-1, 0, -1, -1, -1]
        double mjc:width = 0.01
    }""")
    (tendon,) = read(content).asset.tendons
    assert tendon.path == [
        TendonPoint("site", "s"),
        TendonPoint("wrap", "drum", side="u"),
        TendonPoint("site", "t"),
        TendonPoint("pulley", value=4),
        TendonPoint("site", "t"),
        TendonPoint("site", "s"),
    ]
    assert (tendon.width, tendon.rest_length) == (0.01, None)
    assert (tendon.lower, tendon.upper) == (-math.inf, math.inf)


DRUMS = """
    def Scope "shared" { over "one" { def Cylinder "mesh" {} }
        over "two" { def Cylinder "left" {}
            def Cylinder "right" {} } }
    def MjcTendon "t1" { rel mjc:path = [</R/base/s>, </R/base/around>, </R/base/t>] }"""


def around(number: str) -> str:
    instance = f'def Xform "around" ( instanceable = true\n prepend references = </R/shared/{number}> ) {{}}'
    return machine(DRUMS).replace('def Cylinder "drum" {}', instance)


def test_a_tendon_goes_round_the_geometry_of_an_instance(read):
    found = read(around("one"))
    (tendon,) = found.asset.tendons
    assert [point.kind for point in tendon.path] == ["site", "wrap", "site"]
    shape = next(shape for shape in found.asset.shapes if shape.name == tendon.path[1].name)
    assert shape.path == "/R/base/around/mesh"
    assert "usd-tendon-invalid" not in found.kinds


def test_an_instance_of_two_geometries_is_nothing_to_go_round(read):
    found = read(around("two"))
    assert not found.asset.tendons
    assert "usd-tendon-invalid" in found.kinds


def test_spatial_tendon_that_starts_on_a_pulley(read):
    (tendon,) = read(
        machine(
            'def MjcTendon "t1" { rel mjc:path = [</R/base/s>, </R/base/t>]\n double[] mjc:path:divisors = [2] }'
        )
    ).asset.tendons
    assert tendon.path[0] == TendonPoint("pulley", value=2)


def test_an_actuator_may_pull_a_tendon(read):
    content = fixed("</R/h>, </R/p>").replace(
        "def MjcTendon", 'def MjcActuator "m" { rel mjc:target = </R/t1> }\n def MjcTendon'
    )
    (actuator,) = read(content).asset.actuators
    assert (actuator.transmission, actuator.target) == ("tendon", "t1")


FIXED = 'uniform token mjc:type = "fixed"\n'
SIDE = "rel mjc:sideSites = </R/h>\n int[] mjc:sideSites:indices = [0]"


@pytest.mark.parametrize(
    ("inside", "why"),
    [
        ("", "path is empty"),
        ("rel mjc:path = </R/gone>", "not a site or geometry"),
        ("rel mjc:path = </R/base/s>\n int[] mjc:path:indices = [1]", "target 1 of 1"),
        ("rel mjc:path = </R/base/s>\n int[] mjc:path:segments = [0, 1]", "1 numbers"),
        ("rel mjc:path = </R/base/drum>\n int[] mjc:sideSites:indices = [0]", "no side site 0"),
        (f"rel mjc:path = </R/base/drum>\n {SIDE}", "is not a site"),
        (f"{FIXED} rel mjc:path = </R/h>", "1 numbers"),
        (f"{FIXED} rel mjc:path = </R/k>\n double[] mjc:path:coef = [1]", "one degree of freedom"),
        (f"{FIXED} rel mjc:path = </R/base>\n double[] mjc:path:coef = [1]", "one degree of freedom"),
    ],
)
def test_paths_that_do_not_fit(read, inside, why):
    found = read(machine(f'def MjcTendon "t1" {{ {inside} }}'))
    assert found.asset.tendons == []
    (finding,) = found.reporter
    assert finding.kind == "usd-tendon-invalid"
    assert why in finding.message


def test_physx_tendons_are_kept_and_reported_once(read):
    found = read(
        machine("""
    def Scope "x" ( prepend apiSchemas = ["PhysxTendonAxisRootAPI:a"] ) { float physxTendon:a:stiffness = 9 }
    def Scope "y" ( prepend apiSchemas = ["PhysxTendonAxisAPI:a"] ) { float[] physxTendon:a:gearing = [1] }
    """)
    )
    assert found.asset.tendons == []
    assert [(d.kind, d.data["count"]) for d in found.reporter] == [("usd-tendon-physx", 2)]
    assert found.asset.extras.get("physx", "/R/x", "physxTendon:a:stiffness") == 9
