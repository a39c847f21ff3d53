"""Whose contact gains count: the shape's or the material's, in every order of the resolvers, as in Newton."""

from __future__ import annotations

import pytest

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
