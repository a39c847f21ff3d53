"""Mass properties: authored, scaled, computed, shifted; densities in their order."""

from __future__ import annotations

import math

import numpy as np
import pytest

MASS = "PhysicsMassAPI"


def body(attributes: str = "", colliders: str = "", mass_api: bool = True) -> str:
    apis = '"PhysicsRigidBodyAPI", "PhysicsMassAPI"' if mass_api else '"PhysicsRigidBodyAPI"'
    return f'def Xform "R" ( prepend apiSchemas = [{apis}] ) {{ {attributes}\n {colliders} }}'


def cube(name: str = "c", attributes: str = "", apis: str = "", x: float = 0.0) -> str:
    extra = f', "{apis}"' if apis else ""
    return f"""
def Cube "{name}" ( prepend apiSchemas = ["PhysicsCollisionAPI"{extra}] ) {{
    double size = 1
    double3 xformOp:translate = ({x}, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    {attributes}
}}"""


def inertial_of(found):
    return found.asset.body("R").inertial


def test_everything_authored(read):
    half = math.sqrt(0.5)
    found = read(
        body(
            f"""float physics:mass = 2
    point3f physics:centerOfMass = (1, 2, 3)
    float3 physics:diagonalInertia = (1, 2, 2.5)
    quatf physics:principalAxes = ({half}, 0, 0, {half})""",
            cube(),
        )
    )
    inertial = inertial_of(found)
    assert inertial.mass == 2
    np.testing.assert_allclose(inertial.com, (1, 2, 3))
    np.testing.assert_allclose(inertial.inertia, np.diag((2, 1, 2.5)), atol=1e-6)
    assert found.kinds == set()


def test_numbers_are_the_decimals_that_were_written_and_not_their_single_precision(read):
    inertial = inertial_of(
        read(body("float physics:mass = 4.2\n float3 physics:diagonalInertia = (0.013, 0.02, 0.021)", cube()))
    )
    assert inertial.mass == 4.2
    assert np.diag(inertial.inertia).tolist() == [0.013, 0.02, 0.021]


def test_principal_axes_are_identity_if_unsaid(read):
    found = read(body("float physics:mass = 2\n float3 physics:diagonalInertia = (1, 2, 2.5)", cube(x=3)))
    inertial = inertial_of(found)
    np.testing.assert_allclose(inertial.inertia, np.diag((1, 2, 2.5)))
    np.testing.assert_allclose(inertial.com, (3, 0, 0))


def test_mass_without_inertia_scales_the_colliders(read):
    inertial = inertial_of(read(body("float physics:mass = 6", cube())))
    np.testing.assert_allclose(inertial.inertia, np.eye(3), atol=1e-12)


def test_authored_centre_moves_a_computed_inertia(read):
    found = read(body("float physics:mass = 6\n point3f physics:centerOfMass = (0.5, 0, 0)", cube()))
    inertial = inertial_of(found)
    np.testing.assert_allclose(inertial.com, (0.5, 0, 0))
    np.testing.assert_allclose(inertial.inertia, np.diag((1.0, 2.5, 2.5)))


def test_fallback_values_mean_not_authored(read):
    found = read(
        body(
            """float physics:mass = 0
    float physics:density = 0
    point3f physics:centerOfMass = (-inf, -inf, -inf)
    float3 physics:diagonalInertia = (0, 0, 0)
    quatf physics:principalAxes = (0, 0, 0, 0)""",
            cube(x=1),
        )
    )
    inertial = inertial_of(found)
    assert inertial.mass == pytest.approx(1000)
    np.testing.assert_allclose(inertial.com, (1, 0, 0))
    np.testing.assert_allclose(inertial.inertia, np.eye(3) * 1000 / 6)
    assert found.kinds == set()


MATERIAL = """
def Material "m" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) { float physics:density = 300 }
"""
BOUND = "rel material:binding:physics = </R/m>"


@pytest.mark.parametrize(
    ("collider", "body_density", "expected"),
    [
        ("", 0, 300),
        ("", 200, 200),
        ("float physics:density = 150", 200, 150),
        ("float physics:density = 150\n float physics:mass = 7", 200, 7),
    ],
)
def test_density_precedence(read, collider, body_density, expected):
    apis = 'PhysicsMassAPI", "MaterialBindingAPI'
    text = body(f"float physics:density = {body_density}", cube("c", f"{collider}\n{BOUND}", apis) + MATERIAL)
    assert inertial_of(read(text)).mass == pytest.approx(expected)


def test_default_density_and_disabled_colliders(read):
    off = cube("off", "bool physics:collisionEnabled = false", x=5)
    found = read(body("", cube() + off, mass_api=False))
    inertial = inertial_of(found)
    assert inertial.mass == pytest.approx(1000)
    np.testing.assert_allclose(inertial.com, (0, 0, 0))


def test_two_colliders_by_the_parallel_axis_theorem(read):
    inertial = inertial_of(read(body("", cube("a", x=-1) + cube("b", x=1), mass_api=False)))
    own = 2 * 1000 / 6
    np.testing.assert_allclose(np.diag(inertial.inertia), (own, own + 2000, own + 2000))


def test_collider_with_its_own_mass_inertia_and_centre(read):
    own = """float physics:mass = 3
    float3 physics:diagonalInertia = (1, 2, 2)
    point3f physics:centerOfMass = (0, 1, 0)"""
    inertial = inertial_of(read(body("", cube("a", own, MASS, x=2), mass_api=False)))
    assert inertial.mass == 3
    np.testing.assert_allclose(inertial.com, (2, 1, 0))
    np.testing.assert_allclose(np.diag(inertial.inertia), (1, 2, 2))


def test_axial_collider_with_a_centre_of_its_own(read):
    rod = """
def Capsule "rod" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
    uniform token axis = "X"
    float physics:mass = 2
    point3f physics:centerOfMass = (0.25, 0, 0)
}"""
    inertial = inertial_of(read(body("", rod, mass_api=False)))
    np.testing.assert_allclose(inertial.com, (0.25, 0, 0), atol=1e-12)
    diagonal = np.diag(inertial.inertia)
    assert diagonal[0] < diagonal[1] == pytest.approx(diagonal[2])


def test_unevenly_scaled_mesh_uses_second_moments(read):
    # a 1 x 1 x 4 box scaled by (1, 3, 1) at density 1000 weighs 12 t: Ixx = m (3^2 + 4^2) / 12
    mesh = """
def Mesh "m" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
    point3f[] points = [(-.5,-.5,-2), (.5,-.5,-2), (.5,.5,-2), (-.5,.5,-2),
        (-.5,-.5,2), (.5,-.5,2), (.5,.5,2), (-.5,.5,2)]
    int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = [0,3,2,1, 4,5,6,7, 0,1,5,4, 1,2,6,5, 2,3,7,6, 3,0,4,7]
    double3 xformOp:scale = (1, 3, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
}"""
    inertial = inertial_of(read(body("", mesh, mass_api=False)))
    assert inertial.mass == pytest.approx(12_000)
    assert inertial.inertia[0, 0] == pytest.approx(25_000)


def test_nothing_to_weigh(read):
    found = read(body(mass_api=False))
    assert inertial_of(found) is None
    assert found.kinds == {"usd-mass-unknown"}


def test_mass_without_any_shape_is_a_small_ball(read):
    found = read(body("float physics:mass = 2"))
    np.testing.assert_allclose(inertial_of(found).inertia, np.eye(3) * 0.4 * 2 * 0.01)
    assert found.kinds == {"usd-inertia-guessed"}


def test_invalid_values_are_reported_and_not_used(read):
    found = read(body("float physics:mass = -3\n float3 physics:diagonalInertia = (-1, 1, 1)", cube()))
    assert inertial_of(found).mass == pytest.approx(1000)
    assert [d.kind for d in found.reporter] == ["usd-mass-invalid"] * 2


def test_open_collider_adds_nothing(read):
    plane = 'def Plane "p" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {}'
    found = read(body("", cube() + plane, mass_api=False))
    assert inertial_of(found).mass == pytest.approx(1000)
    assert "usd-collider-without-volume" in found.kinds


def test_agrees_with_openusd(read):
    """The same numbers as UsdPhysicsRigidBodyAPI.ComputeMassProperties, given the geometry of the cubes."""
    from pxr import Gf, UsdPhysics

    from .conftest import make_stage

    def measure(prim):
        info = UsdPhysics.RigidBodyAPI.MassInformation()
        info.volume = 1.0
        info.inertia = Gf.Matrix3f(1 / 6)
        info.localPos = Gf.Vec3f(prim.GetAttribute("xformOp:translate").Get())
        info.localRot = Gf.Quatf(1)
        return info

    text = body(
        "float physics:density = 50",
        cube("a", "float physics:mass = 3", MASS, x=1)
        + cube("b", "float physics:density = 20", MASS)
        + cube("d", x=4),
    )
    stage = make_stage(text)
    api = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/R"))
    mass, diagonal, com, _ = api.ComputeMassProperties(measure)
    ours = inertial_of(read(text))
    assert ours.mass == pytest.approx(mass, rel=1e-6)
    np.testing.assert_allclose(ours.com, com, atol=1e-6)
    np.testing.assert_allclose(sorted(np.linalg.eigvalsh(ours.inertia)), sorted(diagonal), rtol=1e-5)


def newton_body(inertia: str, more: str = "") -> str:
    text = body(f"float physics:mass = 6\n double[] newton:inertia = {inertia}\n {more}", cube())
    return text.replace('"PhysicsMassAPI"', '"PhysicsMassAPI", "NewtonMassAPI"')


def test_a_whole_inertia_comes_before_a_diagonal_one(read):
    found = read(newton_body("[2, 3, 4, 0.1, 0.2, 0.3]", "float3 physics:diagonalInertia = (1, 1, 1)"))
    expected = ((2, 0.1, 0.2), (0.1, 3, 0.3), (0.2, 0.3, 4))
    np.testing.assert_allclose(inertial_of(found).inertia, expected)
    assert found.kinds == set()


@pytest.mark.parametrize(
    "six",
    [
        "[1e308, 1, 1, 0, 0, 0]",
        "[1, 2, 3]",
        "[1, 2, nan, 0, 0, 0]",
        "[1, 1, -1, 0, 0, 0]",
        "[1, 1, 1, 5, 0, 0]",
    ],
)
def test_an_impossible_whole_inertia_is_reported_and_left_out(read, six):
    found = read(newton_body(six))
    np.testing.assert_allclose(inertial_of(found).inertia, np.eye(3), atol=1e-12)
    (diagnostic,) = found.reporter
    assert (diagnostic.kind, diagnostic.where.prop) == ("usd-mass-invalid", "newton:inertia")


def test_a_small_whole_inertia_is_read_and_none_at_all_is_impossible(read):
    found = read(newton_body("[2e-3, 3e-3, 4e-3, 0, 0, 1e-4]"))
    expected = ((2e-3, 0, 0), (0, 3e-3, 1e-4), (0, 1e-4, 4e-3))
    np.testing.assert_allclose(inertial_of(found).inertia, expected, atol=1e-15)
    assert read(newton_body("[0, 0, 0, 0, 0, 0]")).kinds == {"usd-mass-invalid"}


def test_an_empty_whole_inertia_says_nothing(read):
    found = read(newton_body("[]"))
    np.testing.assert_allclose(inertial_of(found).inertia, np.eye(3), atol=1e-12)
    assert found.kinds == set()


@pytest.mark.parametrize("value", ['string newton:inertia = "x"', "float newton:inertia = 3"])
def test_a_whole_inertia_of_another_type_is_reported(read, value):
    content = newton_body("[]").replace("double[] newton:inertia = []", value)
    found = read(content)
    assert found.kinds == {"usd-mass-invalid"}
