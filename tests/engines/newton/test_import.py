"""The builder filled from our model, against the builder that Newton's own importer fills."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_angle, quat_from_axis_angle
from simwright.engines.newton import add_asset, add_file, add_usd
from simwright.model.asset import Actuator, Articulation, Asset, Body, ContactFilter, Environment, Shape, Site
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import (
    Approximation,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
)
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Drive,
    Equality,
    EqualityKind,
    Joint,
    JointKind,
    Mimic,
    Motion,
)
from simwright.model.material import PhysicsMaterial

pytestmark = pytest.mark.judge("newton")

FILES = (
    "ant",
    "ant_mixed",
    "boxes_fourbar",
    "cartpole",
    "cartpole_mjc",
    "cube_cylinder",
    "four_link_chain_articulation",
    "humanoid",
    "pendulum_revolute_vs_d6",
    "revolute_articulation",
    "simple_articulation_with_mesh",
)
DOF_FIELDS = (
    "limit_lower", "limit_upper", "limit_ke", "limit_kd", "target_ke", "target_kd", "target_mode", "target_qd",
    "armature", "friction", "damping", "effort_limit", "velocity_limit", "qd",
)  # fmt: skip
SHAPE_FIELDS = (
    "margin", "gap", "is_solid", "collision_group", "material_mu", "material_ke", "material_kd", "material_kf",
    "material_ka", "material_kh", "material_restitution", "material_mu_torsional", "material_mu_rolling",
)  # fmt: skip
SOLID = Inertial(2.0, np.array((0.1, 0.0, 0.0)), np.diag((0.1, 0.2, 0.3)))


def theirs(newton, path):
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder.add_usd(str(path))
    return builder


def assert_same_frame(ours, expected):
    ours, expected = np.array(ours, dtype=float), np.array(expected, dtype=float)
    np.testing.assert_allclose(ours[:3], expected[:3], atol=1e-5)
    assert quat_angle(ours[[6, 3, 4, 5]], expected[[6, 3, 4, 5]]) < 1e-5


@pytest.mark.realworld
@pytest.mark.parametrize("name", FILES)
def test_bodies_weigh_and_stand_as_in_newton(newton, builder, shared_assets, name):
    path = shared_assets / "usd" / f"{name}.usda"
    other = theirs(newton, path)
    add_usd(builder, path, schema_resolvers=("newton",))
    assert builder.body_label == other.body_label
    # a mechanism without an articulation root stays outside of articulations, as in Newton
    model = builder.finalize(device="cpu", skip_validation_joints=name == "boxes_fourbar")
    assert model.body_mass.numpy() == pytest.approx(np.array(other.body_mass), rel=1e-5)
    for i in range(builder.body_count):
        np.testing.assert_allclose(builder.body_com[i], other.body_com[i], atol=1e-5)
        expected = np.array(other.body_inertia[i]).reshape(3, 3)
        found = np.array(builder.body_inertia[i]).reshape(3, 3)
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
        assert_same_frame(builder.body_q[i], other.body_q[i])


@pytest.mark.realworld
@pytest.mark.parametrize("name", FILES)
def test_joints_stand_in_the_same_order_and_hold_as_in_newton(newton, builder, shared_assets, name):
    path = shared_assets / "usd" / f"{name}.usda"
    other = theirs(newton, path)
    result = add_usd(builder, path, schema_resolvers=("newton",))
    named = [label for label in other.joint_label if label in result["path_joint_map"]]
    assert [label for label in builder.joint_label if label in result["path_joint_map"]] == named
    assert named or name == "cube_cylinder"
    for label in named:
        i, j = builder.joint_label.index(label), other.joint_label.index(label)
        assert_same_frame(builder.joint_X_p[i], other.joint_X_p[j])
        assert_same_frame(builder.joint_X_c[i], other.joint_X_c[j])
        assert builder.joint_type[i] == other.joint_type[j]
        assert builder.joint_dof_dim[i] == other.joint_dof_dim[j]
        for k in range(sum(other.joint_dof_dim[j])):
            a, b = builder.joint_qd_start[i] + k, other.joint_qd_start[j] + k
            np.testing.assert_allclose(builder.joint_axis[a], other.joint_axis[b], atol=1e-6)
            for field in DOF_FIELDS:
                mine, his = getattr(builder, f"joint_{field}")[a], getattr(other, f"joint_{field}")[b]
                assert mine == pytest.approx(his, rel=1e-5, abs=1e-6), (label, field)


@pytest.mark.realworld
@pytest.mark.parametrize("name", FILES)
def test_shapes_and_filters_are_those_of_newton(newton, builder, shared_assets, name):
    path = shared_assets / "usd" / f"{name}.usda"
    other = theirs(newton, path)
    add_usd(builder, path, schema_resolvers=("newton",))
    assert set(other.shape_label) <= set(builder.shape_label)
    for j, label in enumerate(other.shape_label):
        i = builder.shape_label.index(label)
        assert builder.shape_type[i] == other.shape_type[j], label
        assert builder.shape_flags[i] == other.shape_flags[j], label
        assert_same_frame(builder.shape_transform[i], other.shape_transform[j])
        np.testing.assert_allclose(builder.shape_scale[i], other.shape_scale[j], atol=1e-6)
        for field in SHAPE_FIELDS:
            mine, his = getattr(builder, f"shape_{field}")[i], getattr(other, f"shape_{field}")[j]
            assert mine == pytest.approx(his, rel=1e-5), (label, field)
    assert list_filters(builder) == list_filters(other)


@pytest.mark.realworld
@pytest.mark.parametrize("order", ["newton", "physx,newton,mjc", "mjc,newton,physx"])
@pytest.mark.parametrize("name", FILES)
def test_the_result_has_what_newtons_has(make_builder, make_resolvers, shared_assets, name, order):
    """Values and paths of the dictionary that ``add_usd`` returns, and the gaps that schemas fall back to."""
    names, path = order.split(","), shared_assets / "usd" / f"{name}.usda"
    mine, his = make_builder(), make_builder()
    result = add_usd(mine, path, schema_resolvers=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = his.add_usd(str(path), schema_resolvers=make_resolvers(names))
    for key in ("physics_dt", "max_solver_iterations", "linear_unit", "mass_unit", "physics_scene_path"):
        assert result[key] == pytest.approx(expected[key]), key
    for key in ("path_body_map", "path_joint_map"):
        assert result[key].keys() == expected[key].keys(), key
    assert result["path_shape_map"].keys() >= expected["path_shape_map"].keys()
    for solver, prims in expected["schema_attrs"].items():
        for prim, attributes in prims.items():
            assert result["schema_attrs"][solver].get(prim, {}).keys() >= attributes.keys(), prim
    for label, gap in zip(his.shape_label, his.shape_gap, strict=True):
        if label in mine.shape_label:
            assert mine.shape_gap[mine.shape_label.index(label)] == pytest.approx(gap), label


def list_filters(builder):
    return {
        frozenset((builder.shape_label[a], builder.shape_label[b]))
        for a, b in builder.shape_collision_filter_pairs
    }


def make_asset(*joints: Joint, bodies: str = "ab") -> Asset:
    return Asset("test", bodies=[Body(name, inertial=SOLID) for name in bodies], joints=list(joints))


def one_dof(builder, name):
    return {k: getattr(builder, f"joint_{k}")[0] for k in name.split()}


def test_a_drive_becomes_gains_and_a_mode(newton, builder):
    drive = Drive(stiffness=10.0, damping=1.0, target_position=0.3, max_force=7.0)
    dof = Dof(
        Motion.HINGE, lower=-1.0, upper=2.0, armature=0.1, friction=0.2, damping=0.3, effort_limit=5.0,
        velocity_limit=9.0, position=0.5, velocity=0.25, drive=drive,
    )  # fmt: skip
    add_asset(builder, make_asset(Joint("j", JointKind.REVOLUTE, "", "a", dofs=[dof]), bodies="a"))
    found = one_dof(
        builder, "limit_lower limit_upper armature friction damping effort_limit velocity_limit q qd "
        "target_q target_ke target_kd target_mode"
    )  # fmt: skip
    assert found == {
        "limit_lower": -1.0, "limit_upper": 2.0, "armature": 0.1, "friction": 0.2, "damping": 0.3,
        "effort_limit": 5.0, "velocity_limit": 9.0, "q": 0.5, "qd": 0.25, "target_q": 0.3,
        "target_ke": 10.0, "target_kd": 1.0, "target_mode": int(newton.JointTargetMode.POSITION),
    }  # fmt: skip


def test_what_is_not_said_is_the_builders_default(builder):
    builder.default_joint_cfg.armature = 0.7
    builder.default_joint_cfg.limit_ke = 123.0
    joint = Joint("j", JointKind.PRISMATIC, "", "a", dofs=[Dof(Motion.SLIDE)])
    add_asset(builder, make_asset(joint, bodies="a"))
    assert one_dof(builder, "armature limit_ke effort_limit") == {
        "armature": 0.7,
        "limit_ke": 123.0,
        "effort_limit": 1e6,
    }


@pytest.mark.parametrize(
    ("kind", "dofs", "type_name", "dims"),
    [
        (JointKind.FIXED, [], "FIXED", (0, 0)),
        (JointKind.REVOLUTE, [Motion.HINGE], "REVOLUTE", (0, 1)),
        (JointKind.PRISMATIC, [Motion.SLIDE], "PRISMATIC", (1, 0)),
        (JointKind.BALL, [Motion.BALL], "BALL", (0, 3)),
        (JointKind.FLOATING, [Motion.FREE], "FREE", (3, 3)),
        (JointKind.UNIVERSAL, [Motion.HINGE, Motion.HINGE], "D6", (0, 2)),
        (JointKind.PLANAR, [Motion.SLIDE, Motion.SLIDE, Motion.HINGE], "D6", (2, 1)),
        (JointKind.D6, [Motion.HINGE], "D6", (0, 1)),
        (JointKind.DISTANCE, [Motion.FREE], "DISTANCE", (3, 3)),
    ],
)
def test_every_kind_of_joint(newton, builder, reporter, kind, dofs, type_name, dims):
    axes = np.eye(3)
    freedoms = [Dof(m, axis=axes[i]) for i, m in enumerate(dofs)]
    distance = (0.1, 0.5) if kind is JointKind.DISTANCE else None
    asset = make_asset(
        Joint("root", JointKind.FIXED, "", "a"), Joint("j", kind, "a", "b", dofs=freedoms, distance=distance)
    )
    result = add_asset(builder, asset, reporter=reporter)
    index = result.joints["j"]
    assert builder.joint_type[index] == newton.JointType[type_name]
    assert builder.joint_dof_dim[index] == dims
    assert builder.articulation_count == 1
    assert not list(reporter)
    builder.finalize(device="cpu")


@pytest.mark.parametrize("anchor", [(0.0, 0.0, 0.0), (0.2, 0.0, 0.1)])
def test_forward_kinematics_is_that_of_the_model(newton, builder, anchor):
    """Two hinges with a common anchor, one of them walked backwards."""
    frames = (Pose.of((0.1, 0.2, 0.3), quat_from_axis_angle((1, 2, 3), 0.4)), Pose.of((0.0, 0.3, 0.0)))
    dofs = [
        Dof(Motion.HINGE, axis=np.eye(3)[i], anchor=np.array(anchor), position=q)
        for i, q in ((0, 0.3), (2, -0.5))
    ]
    asset = make_asset(
        Joint("root", JointKind.FIXED, "", "a"),
        Joint("ab", JointKind.UNIVERSAL, "a", "b", *frames, dofs=dofs),
        Joint("cb", JointKind.REVOLUTE, "c", "b", *frames, dofs=[Dof(Motion.HINGE, position=0.7)]),
        bodies="abc",
    )
    from simwright.model.kinematics import forward_kinematics

    expected = forward_kinematics(asset)
    result = add_asset(builder, asset)
    model = builder.finalize(device="cpu")
    state = model.state()
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    for name, index in result.bodies.items():
        assert_same_frame(
            state.body_q.numpy()[index],
            (*expected[name].p, *expected[name].q[1:], expected[name].q[0]),
        )


def test_a_loop_is_closed_outside_the_articulation(builder):
    def hinge(name, a, b):
        return Joint(name, JointKind.REVOLUTE, a, b, dofs=[Dof(Motion.HINGE)])

    asset = make_asset(hinge("ab", "a", "b"), hinge("bc", "b", "c"), hinge("ca", "c", "a"), bodies="abc")
    result = add_asset(builder, asset)
    assert builder.joint_articulation[result.joints["ca"]] == -1
    assert builder.joint_count == 4, "the free base, two joints of the tree, one that closes the loop"
    builder.finalize(device="cpu")


def test_a_floating_body_moves_as_authored_on_a_y_up_builder(newton):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
    body = Body("a", Pose.of((1.0, 2.0, 3.0)), SOLID, linear_velocity=np.array((0.0, 0.0, 4.0)))
    asset = Asset("t", bodies=[body], environment=Environment(gravity=np.array((0.0, 0.0, -5.0))))
    add_asset(builder, asset)
    np.testing.assert_allclose(builder.body_q[0][:3], (1.0, 3.0, -2.0), atol=1e-6)
    np.testing.assert_allclose(builder.joint_q[:3], (1.0, 3.0, -2.0), atol=1e-6)
    np.testing.assert_allclose(builder.joint_qd[:3], (0.0, 4.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(builder.gravity, (0.0, -5.0, 0.0), atol=1e-6)


SHAPES = {
    "BOX": (Box.of(1, 2, 3), (0.5, 1.0, 1.5)),
    "SPHERE": (Sphere(0.2), (0.2, 0.0, 0.0)),
    "ELLIPSOID": (Ellipsoid(np.array((1.0, 2.0, 3.0))), (1.0, 2.0, 3.0)),
    "CAPSULE": (Capsule(0.1, 0.4), (0.1, 0.2, 0.0)),
    "CYLINDER": (Cylinder(0.1, 0.4), (0.1, 0.2, 0.0)),
    "CONE": (Cone(0.1, 0.4), (0.1, 0.2, 0.0)),
    "PLANE": (Plane(np.array((3.0, 4.0))), (3.0, 4.0, 0.0)),
    "HFIELD": (Heightfield(np.arange(6.0).reshape(2, 3), np.array((2.0, 1.0))), (1.0, 1.0, 1.0)),
    "MESH": (Mesh.of([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]),
             (1.0, 1.0, 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("kind", SHAPES)
def test_every_geometry(newton, builder, reporter, kind):
    geometry, scale = SHAPES[kind]
    add_asset(builder, Asset("t", shapes=[Shape("s", geometry)]), reporter=reporter)
    assert builder.shape_type == [newton.GeoType[kind]]
    assert builder.shape_scale[0] == pytest.approx(scale)
    assert not list(reporter)
    builder.finalize(device="cpu")


def test_an_uneven_cylinder_is_meshed_and_an_outline_is_reported(newton, builder, reporter):
    outline = Polyline((np.array(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))),), 1.0)
    shapes = [
        Shape("c", Cylinder(0.5, 1.0), scale=np.array((1.0, 2.0, 1.0)), collision=True),
        Shape("p", outline),
    ]
    add_asset(builder, Asset("t", shapes=shapes), reporter=reporter)
    assert builder.shape_type == [newton.GeoType.CONVEX_MESH]
    extent = np.ptp(builder.shape_source[0].vertices, axis=0) * builder.shape_scale[0]
    np.testing.assert_allclose(extent, (1.0, 2.0, 1.0), atol=1e-5)
    assert [d.kind for d in reporter] == ["newton-geometry-meshed", "newton-geometry-lost"]


def test_contact_values_and_flags(newton, builder):
    rubber = PhysicsMaterial(
        "rubber", static_friction=0.9, dynamic_friction=0.8, torsional_friction=0.1, rolling_friction=0.2,
        restitution=0.3, stiffness=4e4, damping=5.0,
    )  # fmt: skip
    shapes = [
        Shape(
            "c",
            Sphere(1.0),
            "a",
            visual=False,
            collision=True,
            physics_material="rubber",
            margin=0.01,
            gap=0.02,
        ),
        Shape("v", Sphere(1.0), "a"),
        Shape("d", Sphere(1.0), "a", visual=False, collision=True, enabled=False),
    ]
    asset = Asset("t", bodies=[Body("a", inertial=SOLID)], shapes=shapes, physics_materials=[rubber])
    add_asset(builder, asset)
    found = {
        k: getattr(builder, f"shape_{k}")[0]
        for k in (
            "material_mu", "material_mu_torsional", "material_mu_rolling", "material_restitution",
            "material_ke", "material_kd", "margin", "gap",
        )
    }  # fmt: skip
    assert list(found.values()) == [0.8, 0.1, 0.2, 0.3, 4e4, 5.0, 0.01, 0.02]
    flags = newton.ShapeFlags
    assert builder.shape_flags == [flags.COLLIDE_SHAPES | flags.COLLIDE_PARTICLES, flags.VISIBLE, 0]
    assert builder.body_mass == [2.0], "shapes add no mass"


def test_a_mesh_is_shared_and_hulled(newton, builder):
    mesh = SHAPES["MESH"][0]
    hull = Approximation("convexHull")
    shapes = [
        Shape(n, mesh, "a", visual=False, collision=True, approximation=hull if n == "h" else None)
        for n in "mnh"
    ]
    add_asset(builder, Asset("t", bodies=[Body("a", inertial=SOLID)], shapes=shapes))
    assert builder.shape_source[0] is builder.shape_source[1]
    kinds = newton.GeoType
    assert builder.shape_type == [kinds.MESH, kinds.MESH, kinds.CONVEX_MESH]


def test_filters_of_joints_bodies_and_articulations(builder):
    bodies = [Body(n, inertial=SOLID, path=f"/r/{n}") for n in "abc"] + [Body("d", inertial=SOLID)]
    joints = [
        Joint("ab", JointKind.REVOLUTE, "a", "b", dofs=[Dof(Motion.HINGE)]),
        Joint("bc", JointKind.REVOLUTE, "b", "c", dofs=[Dof(Motion.HINGE)], collide=True),
    ]
    shapes = [Shape(n.upper(), Sphere(0.1), n, collision=True) for n in "abcd"]
    asset = Asset("t", bodies=bodies, joints=joints, shapes=shapes)
    asset.contact_filters = [ContactFilter("d", "a")]
    add_asset(builder, asset)
    assert list_filters(builder) == {frozenset("AB"), frozenset("AD")}


def test_an_articulation_that_does_not_touch_itself(newton):
    builder = newton.ModelBuilder()
    bodies = [Body(n, inertial=SOLID, path=f"/r/{n}") for n in "abc"]
    joints = [Joint(f"a{n}", JointKind.REVOLUTE, "a", n, dofs=[Dof(Motion.HINGE)]) for n in "bc"]
    shapes = [Shape(n.upper(), Sphere(0.1), n, collision=True) for n in "abc"]
    asset = Asset("t", bodies=bodies, joints=joints, shapes=shapes)
    asset.articulations = [Articulation("r", "/r", self_collide=False, path="/r")]
    add_asset(builder, asset)
    assert list_filters(builder) == {frozenset("AB"), frozenset("AC"), frozenset("BC")}
    assert builder.articulation_label == ["/r"]


def test_the_softness_of_a_joint_equality_is_said_to_be_lost(builder, reporter, tmp_path):
    file = tmp_path / "pair.xml"
    file.write_text(
        "<mujoco><worldbody>"
        "<body name='a'><joint name='j'/><geom size='0.1'/>"
        "<body name='b' pos='1 0 0'><joint name='k'/><geom size='0.1'/></body></body>"
        "</worldbody><equality><joint name='e' joint1='k' joint2='j' solref='0.1 1'/></equality></mujoco>"
    )
    asset = simwright.load(file)
    add_asset(builder, asset, reporter=reporter)
    (found,) = [d for d in reporter if d.kind == "newton-mimic-softness"]
    assert found.data["what"] == "solref"
    asset.extras.table.clear()
    add_asset(type(builder)(), asset, reporter=(other := Reporter()))
    assert not [d for d in other if d.kind == "newton-mimic-softness"]


def test_a_mimic_of_a_mimic_follows_the_first_leader(builder, reporter):
    joints = [
        Joint(n, JointKind.REVOLUTE, "a", b, dofs=[Dof(Motion.HINGE, name=n)]) for n, b in ("jb", "kc", "ld")
    ]
    asset = make_asset(*joints, bodies="abcd")
    asset.mimics = [Mimic("l", "k", 2.0, 0.5), Mimic("k", "j", 3.0, 0.25), Mimic("j", "gone")]
    result = add_asset(builder, asset, reporter=reporter)
    assert builder.joint_mimic_joint[result.joints["l"]] == -1, "its chain ends at a joint that is not there"
    assert [d.kind for d in reporter] == ["newton-mimic-lost"] * 3
    asset.mimics.pop()
    other = type(builder)()
    result = add_asset(other, asset)
    assert other.joint_mimic_joint[result.joints["l"]] == result.joints["j"]
    assert other.joint_mimic_coeffs[result.joints["l"]] == (1.0, 6.0)
    other.finalize(device="cpu")


def test_motors_equalities_and_sites(newton, builder, reporter):
    joint = Joint("j", JointKind.REVOLUTE, "", "a", dofs=[Dof(Motion.HINGE, name="j")])
    asset = make_asset(joint)
    asset.actuators = [
        Actuator("p", "position", "j", stiffness=3.0, damping=0.5, force_range=(-2.0, 2.0)),
        Actuator("g", "general", "j"),
    ]
    asset.equalities = [Equality("e", EqualityKind.CONNECT, "a", "b", Pose.of((0, 0, 1)), Pose.of((0, 0, 2)))]
    asset.sites = [Site("s", "a", Pose.of((0.0, 0.1, 0.0)))]
    add_asset(builder, asset, reporter=reporter)
    assert one_dof(builder, "target_ke target_kd effort_limit") == {
        "target_ke": 3.0,
        "target_kd": 0.5,
        "effort_limit": 2.0,
    }
    assert builder.joint_type[-1] == newton.JointType.BALL
    assert builder.shape_flags == [newton.ShapeFlags.SITE]
    assert [(d.kind, d.data["first"]) for d in reporter] == [("newton-elements-lost", "g")]
    builder.finalize(device="cpu")


def test_custom_attributes_reach_model_and_state(builder, reporter):
    joint = Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[Dof(Motion.HINGE)])
    asset = make_asset(joint)
    asset.custom_attributes = [
        CustomAttribute("scale", "model", "body", "float", 1.0, values={"b": 2.5}),
        CustomAttribute("marker", "state", "body", "float3", (0.0, 0.0, 0.0), "ns", {"a": (1.0, 2.0, 3.0)}),
        CustomAttribute("turn", "model", "joint", "quatf", (1.0, 0.0, 0.0, 0.0), values={"j": (0, 0, 0, 2)}),
        CustomAttribute("gain", "control", "joint_dof", "float", 0.0, values={"j": 4.0}),
        CustomAttribute("word", "model", "body", "string", "x"),
    ]
    add_asset(builder, asset, reporter=reporter)
    model = builder.finalize(device="cpu")
    assert model.scale.numpy().tolist() == [1.0, 2.5]
    assert model.state().ns.marker.numpy().tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    assert model.turn.numpy().tolist()[-1] == [0.0, 0.0, 1.0, 0.0]
    assert model.control().gain.numpy().tolist() == [0.0] * 6 + [4.0]
    assert [d.kind for d in reporter] == ["newton-attribute-lost"]


def test_what_newton_has_no_place_for_is_said(builder, reporter):
    hinge = Dof(Motion.HINGE, pitch=0.1, stiffness=3.0, drive=Drive(1.0, acceleration=True))
    ball = Dof(Motion.BALL, swing=(0.1, 0.1))
    asset = make_asset(
        Joint("screw", JointKind.SCREW, "", "a", dofs=[hinge]),
        Joint("ball", JointKind.BALL, "a", "b", dofs=[ball]),
    )
    asset.bodies[1].kinematic = True
    asset.bodies[0].gravity_scale = 0.0
    add_asset(builder, asset, reporter=reporter)
    assert sorted(d.kind for d in reporter) == [
        "newton-body-not-kinematic",
        "newton-drive-acceleration",
        "newton-gravity-scale",
        "newton-joint-approximated",
        "newton-joint-cone",
        "newton-spring-lost",
    ]


def test_any_format_goes_in(newton, builder, samples):
    urdf = next(iter(sorted(samples.rglob("*.urdf"))))
    reporter = Reporter()
    result = add_file(builder, urdf, reporter=reporter)
    assert result.bodies
    assert builder.articulation_count == 1
    assert math.isfinite(sum(builder.body_mass))
    builder.finalize(device="cpu")
