"""Hollow colliders: whose word makes them so, how thick they are, and what they weigh."""

from __future__ import annotations

import math

import numpy as np
import pytest

SHELL = 'uniform token newton:massModel = "shell"'
FULL, INNER = 4 / 3 * math.pi * 0.5**3, 4 / 3 * math.pi * 0.4**3


def ball(attributes: str, body: str = "", apis: str = "") -> str:
    return f"""def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{ {body}
def Sphere "c" ( prepend apiSchemas = ["PhysicsCollisionAPI", "NewtonMassAPI"{apis}] ) {{
    double radius = 0.5
    {attributes}
}} }}"""


def test_a_thick_shell(read):
    found = read(ball(f"{SHELL}\nfloat newton:shellThickness = 0.1"))
    inertial = found.asset.body("R").inertial
    assert inertial.mass == pytest.approx(1000 * (FULL - INNER), rel=1e-6)
    assert inertial.inertia[0, 0] == pytest.approx(400 * (FULL * 0.25 - INNER * 0.16), rel=1e-6)
    assert found.kinds == set()


def test_the_margin_is_the_thickness_if_none_is_authored(read):
    found = read(ball(f"{SHELL}\nfloat newton:contactMargin = 0.1"))
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * (FULL - INNER), rel=1e-6)
    assert found.asset.shapes[0].margin == pytest.approx(0.1)


def test_units_of_the_stage_go_onto_the_thickness(read):
    content = ball(f"{SHELL}\nfloat newton:shellThickness = 10").replace("radius = 0.5", "radius = 50")
    found = read(content, meters=0.01)
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * (FULL - INNER), rel=1e-6)


def test_mass_of_the_collider_is_spread_over_the_wall(read):
    found = read(
        ball(f"{SHELL}\nfloat newton:shellThickness = 0.1\nfloat physics:mass = 3", apis=', "PhysicsMassAPI"')
    )
    inertial = found.asset.body("R").inertial
    assert inertial.mass == 3
    ratio = (FULL * 0.25 - INNER * 0.16) / (FULL - INNER)
    assert inertial.inertia[0, 0] == pytest.approx(0.4 * 3 * ratio, rel=1e-6)


def test_mass_of_the_body_scales_the_wall(read):
    found = read(ball(f"{SHELL}\nfloat newton:shellThickness = 0.1", "float physics:mass = 3"))
    inertial = found.asset.body("R").inertial
    assert inertial.mass == 3
    ratio = (FULL * 0.25 - INNER * 0.16) / (FULL - INNER)
    assert inertial.inertia[0, 0] == pytest.approx(0.4 * 3 * ratio, rel=1e-6)


def test_a_solid_ignores_the_thickness(read):
    found = read(ball("float newton:shellThickness = 0.1"))
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * FULL)


def test_a_wall_without_thickness_weighs_nothing_and_says_so(read):
    found = read(ball(SHELL))
    assert found.asset.body("R").inertial is None
    assert "usd-shell-without-thickness" in found.kinds


def test_a_wall_without_thickness_carries_an_authored_mass(read):
    found = read(ball(f"{SHELL}\nfloat physics:mass = 3", apis=', "PhysicsMassAPI"'))
    np.testing.assert_allclose(found.asset.body("R").inertial.inertia, np.eye(3) * 0.5, rtol=1e-6, atol=1e-9)


def test_a_wall_as_thick_as_the_ball_is_a_solid_and_says_so(read):
    found = read(ball(f"{SHELL}\nfloat newton:shellThickness = 0.5"))
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * FULL)
    (diagnostic,) = (d for d in found.reporter if d.kind == "usd-shell-full")
    assert diagnostic.where.prim == "/R/c"


@pytest.mark.parametrize("thickness", ["-1", "inf"])
def test_an_impossible_thickness_is_the_margin_and_says_so(read, thickness):
    found = read(
        ball(f"{SHELL}\nfloat newton:shellThickness = {thickness}\nfloat newton:contactMargin = 0.1")
    )
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * (FULL - INNER), rel=1e-6)
    assert "usd-shell-thickness-invalid" in found.kinds


def test_mujoco_weighs_a_shell_by_area(read):
    """As MuJoCo does: ``shellinertia`` makes density a mass per area."""
    mujoco = pytest.importorskip("mujoco")
    compiled = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><geom type="sphere" size="0.5" density="7" shellinertia="true"/></body>'
        "</worldbody></mujoco>"
    )
    found = read(
        ball(
            "bool mjc:shellinertia = true\nfloat physics:density = 7",
            apis=', "PhysicsMassAPI", "MjcCollisionAPI"',
        )
    )
    inertial = found.asset.body("R").inertial
    assert inertial.mass == pytest.approx(compiled.body_mass[1], rel=1e-6)
    np.testing.assert_allclose(np.diag(inertial.inertia), compiled.body_inertia[1], rtol=1e-6)


def test_the_order_of_the_resolvers_decides(read):
    content = ball(f"{SHELL}\nfloat newton:shellThickness = 0.1\nbool mjc:shellinertia = false")
    hollow = read(content, resolvers=("newton", "mjc")).asset.body("R").inertial.mass
    solid = read(content, resolvers=("mjc", "newton")).asset.body("R").inertial.mass
    assert hollow == pytest.approx(1000 * (FULL - INNER), rel=1e-6)
    assert solid == pytest.approx(1000 * FULL)


MESHES = {
    "full": ("[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]", "1e6", "usd-shell-full"),
    "broken": ("[(nan, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]", "0.1", "usd-mesh-topology"),
    "a point": ("[(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)]", "0.1", "usd-collider-without-volume"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mesh", MESHES)
def test_meshes_that_have_no_wall(read, mesh):
    points, thickness, kind = MESHES[mesh]
    content = (
        ball(f"{SHELL}\nfloat newton:shellThickness = {thickness}")
        .replace("Sphere", "Mesh")
        .replace(
            "double radius = 0.5",
            f"point3f[] points = {points}\nint[] faceVertexCounts = [3, 3, 3, 3]\n"
            "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]",
        )
    )
    found = read(content)
    assert kind in found.kinds
    assert ("usd-shell-full" in found.kinds) is (mesh == "full")
