"""Solver attributes on small stages: what reaches the model, in which unit, and by whose word."""

from __future__ import annotations

import math

import pytest

from simwright.resolve import schema_attrs

DEG = math.pi / 180
PNM, MNP = ("physx", "newton", "mjc"), ("mjc", "newton", "physx")


def joint(content: str, kind: str = "PhysicsRevoluteJoint", apis: str = "") -> str:
    applied = f"( prepend apiSchemas = [{apis}] )" if apis else ""
    return f"""
def Xform "R" {{
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{}}
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{}}
    def {kind} "j" {applied} {{
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
        {content}
    }}
}}"""


def dof_of(found, index: int = 0):
    return found.asset.joint("j").dofs[index]


@pytest.mark.parametrize(
    ("order", "value"), [(("newton", "physx", "mjc"), 0.01), (PNM, 0.02), (MNP, 0.03), (("mjc",), 0.03)]
)
def test_armature_by_priority(read, order, value):
    found = read(
        joint("double newton:armature = 0.01\ndouble physxJoint:armature = 0.02\ndouble mjc:armature = 0.03"),
        resolvers=order,
    )
    assert dof_of(found).armature == value
    origin = found.asset.origins["/R/j"]["armature"]
    assert (origin.value, origin.origin, origin.namespace) == (value, "authored", order[0])
    assert len(origin.lost) == len(order) - 1
    assert ("usd-solvers-differ" in found.kinds) == (len(order) > 1)


def test_equal_values_do_not_differ(read):
    found = read(joint("float newton:armature = 0.1\ndouble mjc:armature = 0.1"))
    assert "usd-solvers-differ" not in found.kinds


def test_no_resolver_at_all(read):
    found = read(joint("float newton:armature = 0.5\nfloat ext_physics:joint:friction = 2"), resolvers=())
    assert (dof_of(found).armature, dof_of(found).friction) == (None, 2.0)
    assert found.asset.extras.get("newton", "/R/j", "newton:armature") == 0.5


PASSIVE = """
double newton:armature = 2
double newton:friction = 3
double newton:damping = 4
double newton:velocityLimit = 90
double newton:limitStiffness = 5
double newton:limitDamping = 6
"""


@pytest.mark.parametrize(("kind", "step"), [("PhysicsRevoluteJoint", DEG), ("PhysicsPrismaticJoint", 1.0)])
def test_newton_joint(read, kind, step):
    dof = dof_of(read(joint(PASSIVE, kind)))
    assert (dof.armature, dof.friction) == (2.0, 3.0)
    assert dof.damping == pytest.approx(4 / step)
    assert dof.velocity_limit == pytest.approx(90 * step)
    assert (dof.limit_stiffness, dof.limit_damping) == pytest.approx((5 / step, 6 / step))


def test_stage_units(read):
    """Centimetres and grams: torques carry 1e-4 * 1e-3, forces 1e-2 * 1e-3."""
    turning = dof_of(read(joint(PASSIVE), meters=0.01, kilograms=0.001))
    assert turning.armature == pytest.approx(2e-7)
    assert turning.friction == pytest.approx(3e-7)
    assert turning.damping == pytest.approx(4e-7 / DEG)
    assert turning.velocity_limit == pytest.approx(math.pi / 2)
    sliding = dof_of(read(joint(PASSIVE, "PhysicsPrismaticJoint"), meters=0.01, kilograms=0.001))
    assert sliding.armature == pytest.approx(2e-3)
    assert sliding.friction == pytest.approx(3e-5)
    assert sliding.damping == pytest.approx(4e-3)
    assert sliding.velocity_limit == pytest.approx(0.9)


def test_physx_joint(read):
    dof = dof_of(
        read(
            joint("""
double physxJoint:maxJointVelocity = 180
double physxLimit:angular:stiffness = 1000
double physxLimit:angular:damping = 10
double state:angular:physics:position = 90
double state:angular:physics:velocity = 45""")
        )
    )
    assert dof.velocity_limit == pytest.approx(math.pi)
    assert (dof.limit_stiffness, dof.limit_damping) == pytest.approx((1000 / DEG, 10 / DEG))
    assert (dof.position, dof.velocity) == pytest.approx((math.pi / 2, math.pi / 4))


def test_infinite_is_not_said(read):
    found = read(joint("float physxJoint:maxJointVelocity = 3.4028235e38\nfloat newton:velocityLimit = inf"))
    assert dof_of(found).velocity_limit is None
    origin = found.asset.origins["/R/j"]["velocity_limit"]
    assert (origin.origin, origin.value) == ("importer default", None)


def test_mujoco_joint(read):
    found = read(
        joint("""
double mjc:damping = 2
double mjc:frictionloss = 3
double mjc:stiffness = 4
double mjc:springref = 90
double mjc:ref = 45
double mjc:actuatorfrcrange:min = -3
double mjc:actuatorfrcrange:max = 8
double[] mjc:solreflimit = [0.02, 1]""")
    )
    dof = dof_of(found)
    assert (dof.damping, dof.friction, dof.stiffness, dof.effort_limit) == (2.0, 3.0, 4.0, 8.0)
    assert (dof.spring_ref, dof.ref) == pytest.approx((math.pi / 2, math.pi / 4))
    assert (dof.limit_stiffness, dof.limit_damping) == (None, None)


def test_mujoco_compiler_angle(read):
    scene = 'def PhysicsScene "s" { uniform token mjc:compiler:angle = "radian" }'
    assert dof_of(read(joint("double mjc:springref = 0.5") + scene)).spring_ref == 0.5


@pytest.mark.parametrize("order", [("newton", "physx"), ("physx", "newton")])
def test_stops_for_all_axes_come_first(read, order):
    found = read(
        joint("double newton:limitStiffness = 2\ndouble physxLimit:angular:stiffness = 5"), resolvers=order
    )
    assert dof_of(found).limit_stiffness == pytest.approx(2 / DEG)
    origin = found.asset.origins["/R/j"]["limit_angular_ke"]
    assert (origin.attribute, origin.lost[0].attribute) == (
        "newton:limitStiffness",
        "physxLimit:angular:stiffness",
    )


@pytest.mark.parametrize(
    ("stiffness", "damping", "expected"),
    [("inf", "3", (math.inf, 0.0)), ("-inf", "-inf", (None, None)), ("2", "inf", (2 / DEG, 0.0))],
)
def test_sentinels_of_stops(read, stiffness, damping, expected):
    dof = dof_of(
        read(
            joint(f"""
float newton:limitStiffness = {stiffness}
float newton:limitDamping = {damping}
float physxLimit:angular:stiffness = 7
float physxLimit:angular:damping = 7""")
        )
    )
    assert (dof.limit_stiffness, dof.limit_damping) == pytest.approx(expected)


def test_generic_joint_by_axis(read):
    locked = "\n".join(
        f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1"
        for axis in ("transY", "transZ", "rotX", "rotY")
    )
    apis = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in ("transY", "transZ", "rotX", "rotY"))
    found = read(
        joint(
            f"""{locked}
double newton:damping = 2
double physxLimit:transX:stiffness = 3
double physxLimit:rotZ:stiffness = 4
double state:transX:physics:position = 5
double newton:rotZ:position = 90
double mjc:ref = 1""",
            "PhysicsJoint",
            apis,
        )
    )
    slide, hinge = found.asset.joint("j").dofs
    assert (slide.damping, hinge.damping) == pytest.approx((2.0, 2.0 / DEG))
    assert (slide.limit_stiffness, hinge.limit_stiffness) == pytest.approx((3.0, 4.0 / DEG))
    assert (slide.position, hinge.position) == pytest.approx((5.0, math.pi / 2))
    assert (slide.ref, hinge.ref) == (0.0, 0.0)
    assert set(found.asset.origins["/R/j"]) == {
        "transX_damping", "rotZ_damping", "limit_transX_ke", "limit_rotZ_ke", "transX_position",
        "rotZ_position",
    }  # fmt: skip
    assert "usd-reference-ignored" in found.kinds


def test_ball_joint_takes_what_holds_for_all(read):
    found = read(joint(PASSIVE + "double physxLimit:rotX:stiffness = 3", "PhysicsSphericalJoint"))
    dof = dof_of(found)
    assert (dof.armature, dof.friction) == (2.0, 3.0)
    assert dof.damping == pytest.approx(4 / DEG)
    assert dof.limit_stiffness is None


SHAPE = """
def Xform "R" {{
    def Cube "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{
        {content}
    }}
}}"""


def shape_of(read, content: str, **options):
    (shape,) = read(SHAPE.format(content=content), **options).asset.shapes
    return shape


def test_newton_shape(read):
    shape = shape_of(
        read,
        """
double newton:contactMargin = 2
double newton:contactGap = 3
int newton:maxHullVertices = 32
token newton:massModel = "shell"
double newton:shellThickness = 4
double newton:contact_ke = 5
double newton:sdfPadding = -inf
bool newton:hydroelasticEnabled = true""",
        meters=0.5,
        kilograms=2.0,
    )
    assert (shape.margin, shape.gap) == (1.0, 1.5)
    assert shape.settings == {
        "max_hull_vertices": 32,
        "mass_model": "shell",
        "shell_thickness": 2.0,
        "ke": 10.0,
        "hydroelastic_enabled": True,
    }


@pytest.mark.parametrize(
    ("content", "order", "margin", "gap"),
    [
        ("float newton:contactGap = -inf\ndouble mjc:gap = 3", ("newton", "mjc"), None, None),
        ("float newton:contactGap = -inf\ndouble mjc:gap = 3", ("mjc", "newton"), None, 3.0),
        ("float physxCollision:contactOffset = 5\nfloat physxCollision:restOffset = 1", PNM, 1.0, 4.0),
        ("float physxCollision:contactOffset = 5\nfloat physxCollision:restOffset = -inf", PNM, None, None),
        ("double mjc:margin = 5\ndouble mjc:gap = 1", PNM, 5.0, 1.0),
        ("double mjc:margin = 5\nfloat ext_physics:contact:margin = 2", MNP, 2.0, 0.0),
    ],
)
def test_contact_distances(read, content, order, margin, gap):
    shape = shape_of(read, content, resolvers=order)
    assert (shape.margin, shape.gap) == (margin, gap)


FALLBACKS = """
def PhysicsScene "scene" { SCENE }
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    def Sphere "touched" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { SHAPE }
    def Sphere "seen" {}
}"""


@pytest.mark.parametrize(
    ("order", "gap", "iterations", "setting"),
    [
        (("newton", "physx", "mjc"), None, -1, None),
        (PNM, None, 255, 255),
        (MNP, 0.0, 100, 100),
        (("mjc",), 0.0, 100, 100),
    ],
)
@pytest.mark.parametrize("other", ["", "float newton:contactMargin = 2"])
def test_what_nobody_authors_is_the_fallback_of_the_first_schema(
    read, order, gap, iterations, setting, other
):
    asset = read(FALLBACKS.replace("SCENE", "").replace("SHAPE", other), resolvers=order).asset
    touched, seen = asset.shapes
    assert (touched.gap, seen.gap) == (gap, None)
    known = asset.origins.get("/R/touched", {})
    if gap is None:
        assert "gap" not in known
    else:
        assert (known["gap"].value, known["gap"].origin) == (gap, "schema default")
        assert known["gap"].attribute == "mjc:gap"
    count = asset.origins["/scene"]["max_solver_iterations"]
    assert (count.value, count.origin, count.namespace) == (iterations, "schema default", order[0])
    assert asset.environment.settings.get("max_solver_iterations") == setting


def test_fallbacks_come_after_what_is_authored(read):
    text = FALLBACKS.replace("SCENE", "int physxScene:maxVelocityIterationCount = 7")
    asset = read(text.replace("SHAPE", "float newton:contactGap = -inf"), resolvers=MNP).asset
    assert asset.shapes[0].gap is None, "-inf is authored: use your own"
    assert asset.origins["/R/touched"]["gap"].origin == "importer default"
    assert asset.environment.settings["max_solver_iterations"] == 7
    assert asset.origins["/scene"]["max_solver_iterations"].origin == "authored"


def test_no_resolver_has_no_fallback(read):
    asset = read(FALLBACKS.replace("SCENE", "").replace("SHAPE", ""), resolvers=()).asset
    assert (asset.origins, asset.shapes[0].gap, asset.environment.settings) == ({}, None, {})


def test_mujoco_shape(read):
    shape = shape_of(
        read, "bool mjc:shellinertia = true\ndouble[] mjc:solref = [0.02, 1]\nint mjc:maxhullvert = 8"
    )
    assert (shape.settings.pop("mass_model"), shape.settings.pop("shell_density")) == ("shell", "area")
    assert shape.settings == pytest.approx({"ke": 2500.0, "kd": 100.0, "max_hull_vertices": 8})


def test_what_does_not_collide_is_not_asked(read):
    found = read('def Xform "R" { def Cube "c" { float newton:contactMargin = 1 } }')
    assert found.asset.shapes[0].margin is None
    assert found.asset.origins == {}


MATERIAL = """
def Xform "R" {{
    def Material "m" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) {{
        {content}
    }}
}}"""


@pytest.mark.parametrize(
    ("content", "order", "expected", "settings"),
    [
        (
            """
float newton:torsionalFriction = 2
float newton:rollingFriction = 3
float newton:contactStiffness = 4
float newton:contactDamping = 5
float newton:contactFrictionGain = 6
float newton:contactAdhesion = 7""",
            PNM,
            (1.0, 1.5, 8.0, 10.0),
            {"kf": 12.0, "ka": 3.5},
        ),
        (
            "double mjc:torsionalfriction = 2\nint mjc:priority = 3\ndouble mjc:solmix = 4",
            PNM,
            (1.0, None, None, None),
            {"priority": 3, "weight": 4.0},
        ),
        (
            """
float physxMaterial:compliantContactStiffness = 3
float newton:contactStiffness = 4
float physxMaterial:compliantContactDamping = 5""",
            PNM,
            (None, None, 6.0, 10.0),
            {},
        ),
        (
            "float newton:contactStiffness = -inf\nfloat physxMaterial:compliantContactStiffness = 3",
            ("newton", "physx"),
            (None, None, None, None),
            {},
        ),
        (
            "float ext_physics:contact:adhesion = 2\nfloat newton:contactAdhesion = 7",
            PNM,
            (None,) * 4,
            {"ka": 1.0},
        ),
    ],
)
def test_materials(read, content, order, expected, settings):
    found = read(MATERIAL.format(content=content), resolvers=order, meters=0.5, kilograms=2.0)
    (material,) = found.asset.physics_materials
    ours = (material.torsional_friction, material.rolling_friction, material.stiffness, material.damping)
    assert ours == pytest.approx(expected)
    assert material.settings == settings


@pytest.mark.parametrize(
    ("content", "order", "step", "iterations", "gravity"),
    [
        ("int newton:timeStepsPerSecond = 200\nint newton:maxSolverIterations = 7", PNM, 0.005, 7, -9.81),
        (
            "uint physxScene:timeStepsPerSecond = 50\nuint newton:timeStepsPerSecond = 200",
            PNM,
            0.02,
            255,
            -9.81,
        ),
        ("double mjc:option:timestep = 0.003\nint mjc:option:iterations = 9", PNM, 0.003, 9, -9.81),
        ("uint physxScene:maxVelocityIterationCount = 16", PNM, None, 16, -9.81),
        ("bool newton:gravityEnabled = false", PNM, None, 255, 0.0),
        ("bool physxRigidBody:disableGravity = true", PNM, None, 255, 0.0),
        ("bool mjc:flag:gravity = false\nbool newton:gravityEnabled = true", PNM, None, 255, -9.81),
        ("bool mjc:flag:gravity = false\nbool newton:gravityEnabled = true", MNP, None, 100, 0.0),
    ],
)
def test_scene(read, content, order, step, iterations, gravity):
    scene = 'def Xform "R" {}\ndef PhysicsScene "s" {\n' + content + "\n}"
    environment = read(scene, resolvers=order).asset.environment
    assert environment.timestep == (None if step is None else pytest.approx(step))
    assert environment.settings.get("max_solver_iterations") == iterations
    assert environment.gravity[2] == pytest.approx(gravity)


def test_bodies(read):
    found = read("""
def Xform "R" {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        float physxRigidBody:linearDamping = 2
        float physxRigidBody:angularDamping = 3
        bool physxRigidBody:disableGravity = true
    }
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) { double mjc:gravcomp = 0.25 }
    def Xform "c" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {}
}""")
    a, b, c = found.asset.bodies
    assert (a.linear_damping, a.angular_damping, a.gravity_scale) == (2.0, 3.0, 0.0)
    assert (b.linear_damping, b.gravity_scale) == (None, 0.75)
    assert (c.angular_damping, c.gravity_scale) == (None, 1.0)


@pytest.mark.parametrize(
    ("content", "order", "expected"),
    [
        ("", PNM, True),
        ("bool newton:selfCollisionEnabled = false", PNM, False),
        ("bool physxArticulation:enabledSelfCollisions = false", PNM, False),
        ("bool physxArticulation:enabledSelfCollisions = false", ("newton",), True),
        (
            "bool physxArticulation:enabledSelfCollisions = false\nbool newton:selfCollisionEnabled = true",
            MNP,
            True,
        ),
    ],
)
def test_self_collision(read, content, order, expected):
    body = 'def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {}'
    found = read(
        f'def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{\n{content}\n{body}\n}}',
        resolvers=order,
    )
    assert found.asset.articulations[0].self_collide is expected


def test_values_of_the_wrong_kind_are_named_and_left_out(read):
    found = read(
        joint('string newton:armature = "big"\ndouble mjc:armature = nan\ndouble physxJoint:armature = 2')
    )
    assert dof_of(found).armature == 2.0
    named = {d.data["name"] for d in found.reporter if d.kind == "usd-value-invalid"}
    assert named == {"newton:armature", "mjc:armature"}


def test_blocked_attributes_are_not_authored(read):
    found = read(joint("double newton:armature = None\ndouble physxJoint:armature = 2"))
    assert dof_of(found).armature == 2.0
    assert "newton" not in found.asset.extras.table


def test_attributes_are_kept_by_solver(read):
    found = read(
        joint(
            """
float drive:angular:physics:stiffness = 2
float state:angular:physics:position = 3
float physxJoint:jointFriction = 4
float newton:namespace_a:gear_ratio = 5""",
            apis='"PhysicsDriveAPI:angular"',
        )
    )
    assert schema_attrs(found.asset) == {
        "newton": {"/R/j": {"newton:namespace_a:gear_ratio": 5.0}},
        "physx": {
            "/R/j": {
                "drive:angular:physics:stiffness": 2.0,
                "physxJoint:jointFriction": 4.0,
                "state:angular:physics:position": 3.0,
            }
        },
        "mjc": {},
    }
    assert found.asset.copy().origins == found.asset.origins


def test_words_of_physx_that_change_motion_and_that_nobody_reads_are_said(read):
    said = """
float physxJoint:jointFriction = 0.1
float physxJointAxis:angular:dynamicFrictionEffort = 3
float physxLimit:angular:restitution = 0"""
    found = read(joint(said))
    told = {d.data["attribute"]: d for d in found.reporter if d.kind == "usd-solver-word-unread"}
    # a restitution of 0 changes nothing
    assert told.keys() == {"physxJoint:jointFriction", "physxJointAxis:angular:dynamicFrictionEffort"}
    assert told["physxJoint:jointFriction"].where.prim == "/R/j"
    assert schema_attrs(found.asset)["physx"]["/R/j"]["physxJoint:jointFriction"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("order", "first"), [(("mjc", "newton"), True), (("newton", "mjc"), False), (("mjc",), True)]
)
def test_a_solref_beats_the_material_if_mujoco_comes_before_newton(read, order, first):
    found = read(
        """def Sphere "R" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MjcCollisionAPI"] ) {
        double[] mjc:solref = [0.02, 1]
        }""",
        resolvers=order,
    )
    assert found.asset.shapes[0].settings.get("contact_first", False) is first
