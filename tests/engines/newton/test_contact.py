"""Whose contact gains count: the shape's or the material's, in every order of the resolvers, as in Newton."""

from __future__ import annotations

import numpy as np
import pytest

import simwright

pytestmark = pytest.mark.judge("newton")

STAGE = """#usda 1.0
( metersPerUnit = 1
 kilogramsPerUnit = 1
 upAxis = "Z" )
def Material "stone" ( prepend apiSchemas = ["PhysicsMaterialAPI", "NewtonMaterialAPI"] ) {
    float physics:dynamicFriction = 0.4
    MATERIAL
}
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    def Sphere "c" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", "MjcCollisionAPI"] ) {
        rel material:binding:physics = </stone>
        SHAPE
    }
}
"""
MATERIALS = ("", "float newton:contactStiffness = 5000\nfloat newton:contactDamping = 50")
SHAPES = ("", "double[] mjc:solref = [0.1, 1]", "double[] mjc:solref = [-300, -30]")
ORDERS = (("newton",), ("newton", "physx", "mjc"), ("mjc", "newton", "physx"), ("physx", "mjc"))


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("material", MATERIALS)
def test_gains(import_both, tmp_path, order, shape, material):
    path = tmp_path / "stage.usda"
    path.write_text(STAGE.replace("MATERIAL", material).replace("SHAPE", shape).replace("}", "\n}\n"))
    ours, theirs = import_both(path, order)
    for field in ("ke", "kd", "kf", "ka", "mu", "mu_torsional", "mu_rolling", "restitution"):
        mine, his = (getattr(builder, f"shape_material_{field}") for builder in (ours, theirs))
        assert mine == pytest.approx(his, rel=1e-5), field


BEADS = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1"/>
<body name="chain" pos="0 0 1.151"><freejoint/>
<inertial pos="-0.06 -0.05 -0.37" mass="40" fullinertia="%s"/>
%s</body></worldbody></mujoco>"""


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_a_body_of_several_shapes_does_not_fall_through_the_ground(tmp_path, seed):
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    tensor = turn @ np.diag((120.0, 100.0, 90.0)) @ turn.T
    six = " ".join(str(tensor[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    beads = (f'<geom type="sphere" size="0.05" pos="{0.1 * i - 0.6} 0 {-0.1 * i}"/>' for i in range(12))
    file = tmp_path / "beads.xml"
    file.write_text(BEADS % (six, "".join(beads)))
    heights = [
        simwright.run(file, engine=engine, frames=200).positions[0, 2] for engine in ("mujoco", "newton")
    ]
    assert heights[0] == pytest.approx(heights[1], abs=2e-3)
    assert heights[0] > 1.0
