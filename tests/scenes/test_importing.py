"""Assets in the builder: poses against the model's kinematics, masses against MuJoCo, options one by one."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from simwright import load
from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import Pose, pose_to_seven, vec3
from simwright.model.asset import Actuator, Asset, Body, Shape, Site
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import Approximation, Box, Mesh, Polyline, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Equality, EqualityKind, Joint, JointKind, Mimic, Motion
from simwright.model.mass import body_inertials
from simwright.runtime.kinds import JointType, ShapeFlag, ShapeType, TargetMode
from simwright.scenes.builder import Builder
from simwright.scenes.finish import WorldArrays, finish_world
from simwright.scenes.importing import ImportedAsset, import_asset
from simwright.scenes.importing_options import ImportOptions

BASE = Pose.of((1.0, 2.0, 3.0), (0.5, 0.5, 0.5, 0.5))


def bring(
    asset: Asset, builder: Builder | None = None, **options: Any
) -> tuple[Builder, ImportedAsset, WorldArrays]:
    builder = Builder() if builder is None else builder
    found = import_asset(builder, asset, ImportOptions(**options))
    return builder, found, finish_world(builder)


def make_arm() -> Asset:
    """A base and two links; a mimicked slide at the end."""
    asset = Asset("arm")
    asset.provenance.format = "urdf"
    place = Pose.of((0.0, 0.0, 0.5))
    for number, name in enumerate(("base", "upper", "finger")):
        pose = Pose.of((0.0, 0.0, 0.5 * number))
        asset.bodies.append(Body(name, pose, Inertial(1.0 + number, vec3(), np.eye(3) * 0.1)))
        asset.shapes.append(Shape(f"{name}_seen", Box.of(0.1, 0.1, 0.1), name))
        asset.shapes.append(Shape(f"{name}_hit", Sphere(0.1), name, visual=False, collision=True))
    hinge = Dof(Motion.HINGE, vec3(0, 1, 0), "elbow", lower=-1.0, upper=2.0, damping=0.3, friction=0.2)
    hinge.effort_limit, hinge.velocity_limit, hinge.drive = 7.0, 8.0, Drive(10.0, 1.0, target_position=0.4)
    slide = Dof(Motion.SLIDE, vec3(1, 0, 0), "grip", lower=0.0, upper=0.1)
    asset.joints = [
        Joint("elbow", JointKind.REVOLUTE, "base", "upper", place, dofs=[hinge]),
        Joint("grip", JointKind.PRISMATIC, "upper", "finger", place, dofs=[slide]),
    ]
    return asset


@pytest.mark.parametrize(
    "file",
    ["warehouse/warehouse.usda", "warehouse/warehouse.sdf", "quadruped/quadruped.xml", "rover/model.sdf",
     "fourbar/fourbar.usda", "arm/urdf/arm.urdf"],
)  # fmt: skip
def test_bodies_stand_and_weigh_as_in_the_model(file: str, samples: Path) -> None:
    asset = load(samples / file)
    _, found, world = bring(asset, xform=BASE)
    masses = body_inertials(asset)
    for body in asset.bodies:
        row = found.bodies[body.name]
        expected, pose = np.array(pose_to_seven(BASE @ body.pose)), world.arrays["body_q"][row]
        turned = pose * np.array((1, 1, 1, *[np.sign(pose[3:] @ expected[3:])] * 4))
        np.testing.assert_allclose(turned, expected, atol=1e-7)
        assert world.arrays["body_mass"][row] == pytest.approx(masses[body.name].mass, rel=1e-9)
        np.testing.assert_allclose(
            world.arrays["body_inertia"][row], masses[body.name].inertia, rtol=1e-9, atol=1e-12
        )


@pytest.mark.realworld
@pytest.mark.parametrize(
    "file", ["unitree_h1/h1.xml", "kuka_iiwa_14/iiwa14.xml", "agility_cassie/cassie.xml"]
)
def test_mujoco_says_the_same(file: str, shared_assets: Path) -> None:
    path = shared_assets / "mjcf" / file
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    _, found, world = bring(load(path))
    for name, row in found.bodies.items():
        index = model.body(name).id
        np.testing.assert_allclose(world.arrays["body_q"][row, :3], data.xpos[index], atol=1e-6)
        assert world.arrays["body_mass"][row] == pytest.approx(model.body_mass[index])
        com = data.xipos[index]
        turned = Pose(data.xpos[index], data.xquat[index]).apply(world.arrays["body_com"][row])
        np.testing.assert_allclose(turned, com, atol=1e-6)


def test_a_joint_keeps_all_it_says() -> None:
    builder, found, world = bring(make_arm())
    elbow = found.joints["elbow"]
    assert builder.joint_label == ["arm/fixed_base", "arm/elbow", "arm/grip"]
    assert builder.joint_type == [JointType.FIXED, JointType.REVOLUTE, JointType.PRISMATIC]
    at = builder.joint_qd_start[elbow]
    said = {
        "joint_limit_lower": -1.0, "joint_limit_upper": 2.0, "joint_damping": 0.3, "joint_friction": 0.2,
        "joint_effort_limit": 7.0, "joint_velocity_limit": 8.0, "joint_target_ke": 10.0, "joint_target_kd": 1.0,
        "joint_target_pos": 0.4, "joint_target_mode": TargetMode.POSITION,
    }  # fmt: skip
    for name, value in said.items():
        assert world.arrays[name][at] == value, name
    assert world.arrays["joint_ancestor"].tolist() == [-1, 0, 1]


def test_defaults_count_where_nothing_is_said() -> None:
    builder = Builder()
    builder.default_joint = builder.default_joint.with_values(
        {"armature": 0.25, "limit_ke": 77.0, "friction": 5.0}
    )
    _, _, world = bring(make_arm(), builder)
    assert world.arrays["joint_armature"].tolist() == [0.25, 0.25]
    assert world.arrays["joint_limit_ke"].tolist() == [77.0, 77.0]
    assert world.arrays["joint_friction"].tolist() == [0.2, 5.0]


def test_sap_reads_less_of_urdf_joints() -> None:
    builder = Builder(compat="sap")
    builder.default_joint = builder.default_joint.with_values({"armature": 0.25})
    _, _, world = bring(make_arm(), builder)
    assert world.arrays["joint_armature"].tolist() == [0.0, 0.0]
    assert world.arrays["joint_target_kd"].tolist() == [0.3, 0.0]
    assert world.arrays["joint_effort_limit"].tolist() == [1e6, 1e6]


@pytest.mark.parametrize(
    ("floating", "form", "kind"),
    [
        (None, "urdf", JointType.FIXED),
        (None, "sdf", JointType.FREE),
        (True, "urdf", JointType.FREE),
        (False, "sdf", JointType.FIXED),
    ],
)
def test_what_holds_the_root(floating: bool | None, form: str, kind: JointType) -> None:
    asset = make_arm()
    asset.provenance.format = form
    builder, _, world = bring(asset, floating=floating, xform=BASE)
    assert builder.joint_type[0] == kind
    np.testing.assert_allclose(world.arrays["body_q"][0, :3], BASE.p)
    if kind is JointType.FREE:
        assert builder.joint_label[0] == "arm/floating_base"
        np.testing.assert_allclose(builder.joint_q[:3], BASE.p)


def flags_of(builder: Builder) -> list[ShapeFlag]:
    return [ShapeFlag(flags) for flags in builder.shape_flags]


def test_which_shapes_come_and_show() -> None:
    seen, hit = ShapeFlag.VISIBLE, ShapeFlag.COLLIDE_SHAPES | ShapeFlag.COLLIDE_PARTICLES
    assert flags_of(bring(make_arm())[0]) == [seen, hit] * 3
    assert flags_of(bring(make_arm(), load_visual_shapes=False)[0]) == [seen | hit] * 3
    assert flags_of(bring(make_arm(), load_visual_shapes=False, hide_collision_shapes=True)[0]) == [hit] * 3
    assert flags_of(bring(make_arm(), force_show_colliders=True)[0]) == [seen, seen | hit] * 3
    assert flags_of(bring(make_arm(), parse_visuals_as_colliders=True)[0]) == [seen | hit] * 3


def test_self_collisions_can_be_switched_off() -> None:
    def count(**options: Any) -> int:
        return len(bring(make_arm(), **options)[2].filters)

    assert count() == 2
    assert count(enable_self_collisions=False) == 3


def test_material_of_scene_and_file() -> None:
    builder, _, _ = bring(
        make_arm(), config={"mu": 0.3, "restitution": 0.4}, forced={"ke": 5.0, "shape_gap": 0.7}
    )
    assert set(builder.shape_material_mu) == {0.3}
    assert set(builder.shape_material_restitution) == {0.4}
    assert set(builder.shape_material_ke) == {5.0}
    assert set(builder.shape_gap) == {0.7}


def test_masses_can_be_ignored() -> None:
    builder, _, world = bring(make_arm(), ignore_inertial_definitions=True, config={"density": 100.0})
    ball = 100.0 * 4.0 / 3.0 * np.pi * 0.1**3
    np.testing.assert_allclose(world.arrays["body_mass"], ball)
    assert builder.body_locked == [False] * 3


def test_everything_scales() -> None:
    _, _, plain = bring(make_arm())
    builder, found, world = bring(make_arm(), scale=2.0, mesh_scale=(3.0, 3.0, 3.0))
    np.testing.assert_allclose(world.arrays["body_q"][:, :3], 2.0 * plain.arrays["body_q"][:, :3])
    assert builder.shape_scale[1] == (0.2, 0.0, 0.0)
    assert world.arrays["joint_limit_upper"].tolist() == [2.0, 0.2]
    np.testing.assert_allclose(world.arrays["body_inertia"], 4.0 * plain.arrays["body_inertia"])
    assert found.shapes["base_hit"] == 1
    with pytest.raises(UsageError, match="scale"):
        bring(make_arm(), scale=0.0)


def test_parts_can_be_left_out() -> None:
    builder, found, _ = bring(make_arm(), ignore_names=["fing.*"])
    assert set(found.bodies) == {"base", "upper"}
    assert builder.joint_count == 2
    with pytest.raises(UsageError, match="regular expression"):
        bring(make_arm(), ignore_names=["("])


def test_gains_scale_and_drives_take_both_targets() -> None:
    builder, _, _ = bring(make_arm(), joint_drive_gains_scaling=2.0, force_position_velocity_actuation=True)
    assert builder.joint_target_ke[0] == 20.0
    assert builder.joint_target_mode[0] == TargetMode.POSITION_VELOCITY


def test_orders() -> None:
    asset = Asset("tree")
    names = ["root", "a", "b", "a1"]
    asset.bodies = [Body(name, inertial=Inertial(1.0, vec3(), np.eye(3))) for name in names]
    asset.joints = [
        Joint(f"to_{child}", JointKind.REVOLUTE, parent, child, dofs=[Dof(Motion.HINGE)])
        for parent, child in (("root", "a"), ("root", "b"), ("a", "a1"))
    ]
    assert [name.split("/")[1] for name in bring(asset)[0].body_label] == ["root", "a", "a1", "b"]
    assert [name.split("/")[1] for name in bring(asset, joint_ordering="bfs")[0].body_label] == names
    builder, _, _ = bring(asset, bodies_follow_joint_ordering=False)
    assert [name.split("/")[1] for name in builder.body_label] == names


def test_mimics_follow_their_first_leader() -> None:
    asset = make_arm()
    asset.mimics = [Mimic("grip", "elbow", 2.0, 0.5)]
    builder, found, _ = bring(asset)
    grip = found.joints["grip"]
    assert builder.joint_mimic_joint[grip] == found.joints["elbow"]
    assert builder.joint_mimic_coeffs[grip] == (0.5, 2.0)


def test_custom_attributes_are_arrays() -> None:
    asset = make_arm()
    asset.custom_attributes = [
        CustomAttribute("warmth", "state", "body", "float", 20.0, "lab", {"upper": 40.0}),
        CustomAttribute("dofs", "model", "joint_dof", "vec2", [0.0, 1.0], values={"grip": [[3.0, 4.0]]}),
        CustomAttribute("name", "model", "once", "string", "arm"),
        CustomAttribute("odd", "model", "body", "matrix99", 0),
    ]
    builder, reporter = Builder(), Reporter()
    import_asset(builder, asset, reporter=reporter)
    world = finish_world(builder)
    assert world.custom["lab:warmth"].values.tolist() == [20.0, 40.0, 20.0]
    assert world.custom["dofs"].values.tolist() == [[0.0, 1.0], [3.0, 4.0]]
    assert world.custom["name"].values.tolist() == ["arm"]
    assert [found.kind for found in reporter.found] == ["scene-attribute-lost"]


def test_the_same_asset_twice_has_its_own_labels() -> None:
    builder = Builder()
    import_asset(builder, make_arm())
    import_asset(builder, make_arm(), prefix="second/")
    assert len(set(builder.body_label)) == 6
    assert builder.body_label[3] == "second/arm/base"
    assert builder.articulation_label == ["arm", "second/arm"]
    assert builder.articulation_start == [0, 3]


def test_boxes_that_are_stretched_stay_boxes_and_balls_become_ellipsoids() -> None:
    asset = make_arm()
    for shape in asset.shapes:
        shape.scale = vec3(1.0, 2.0, 3.0)
    builder, _, _ = bring(asset)
    assert builder.shape_type[:2] == [ShapeType.BOX, ShapeType.ELLIPSOID]
    assert builder.shape_scale[1] == pytest.approx((0.1, 0.2, 0.3))


def test_a_shape_that_arrays_cannot_hold_is_told() -> None:
    outline = Polyline((np.array(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))),), 0.1)
    asset = Asset(
        "a", bodies=[Body("b")], shapes=[Shape("wall", outline, "b"), Shape("ball", Sphere(0.1), "b")]
    )
    reporter = Reporter()
    found = import_asset(Builder(), asset, reporter=reporter)
    assert len(found.shapes) == 1
    (lost,) = [one for one in reporter if one.kind == "scene-geometry-lost"]
    assert "'wall'" in lost.message
    assert "polyline" in lost.message


def test_gravity_of_the_file_counts_unless_the_scene_says_its_own() -> None:
    asset = make_arm()
    asset.environment.gravity = vec3(0.0, 0.0, -1.6)
    _, _, world = bring(asset, xform=BASE)
    np.testing.assert_allclose(world.gravity, BASE.rotation @ (0.0, 0.0, -1.6), atol=1e-12)
    _, _, world = bring(asset, Builder(gravity=-3.7, gravity_said=True))
    assert world.gravity.tolist() == [0.0, 0.0, -3.7]
    asset.provenance.format = "usd"
    assert bring(asset, Builder(compat="sap", gravity=-3.7, gravity_said=True))[0].gravity == -1.6


@pytest.mark.parametrize(
    ("token", "kind", "scale"),
    [
        ("none", ShapeType.MESH, (1.0, 2.0, 1.0)),
        ("convexHull", ShapeType.CONVEX_MESH, (1.0, 2.0, 1.0)),
        ("boundingCube", ShapeType.BOX, (0.5, 1.0, 0.5)),
        ("boundingSphere", ShapeType.SPHERE, (math.sqrt(1.5), 0.0, 0.0)),
        ("convexDecomposition", ShapeType.CONVEX_MESH, (1.0, 2.0, 1.0)),
        ("meshSimplification", ShapeType.MESH, (1.0, 2.0, 1.0)),
    ],
)
def test_meshes_are_approximated_as_asked(
    token: str, kind: ShapeType, scale: tuple[float, float, float]
) -> None:
    asset = make_arm()
    mesh = Mesh.of([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    shape = Shape("lump", mesh, "base", scale=vec3(1.0, 2.0, 1.0), collision=True, visual=False)
    shape.approximation = Approximation(token)
    asset.shapes = [shape]
    builder, reporter = Builder(), Reporter()
    import_asset(builder, asset, reporter=reporter)
    assert builder.shape_type == [kind]
    assert builder.shape_scale[0] == pytest.approx(scale)
    if kind in (ShapeType.BOX, ShapeType.SPHERE):
        assert builder.shape_transform[0][:3] == pytest.approx((0.5, 1.0, 0.5))
    warned = token in ("convexDecomposition", "meshSimplification")
    assert [found.kind for found in reporter.found] == ["scene-approximation-skipped"] * warned
    kept = Builder()
    import_asset(kept, asset, ImportOptions(skip_mesh_approximation=True))
    assert kept.shape_type == [ShapeType.MESH]


def test_equalities_close_loops() -> None:
    asset = make_arm()
    asset.equalities = [
        Equality(
            "pin", EqualityKind.CONNECT, "finger", "", Pose.of((0.0, 0.0, 0.1)), Pose.of((0.0, 0.0, 1.1))
        ),
        Equality("glue", EqualityKind.WELD, "base", "finger"),
        Equality("rope", EqualityKind.TENDON, "left", "right"),
        Equality("off", EqualityKind.WELD, "base", "finger", enabled=False),
    ]
    builder, reporter = Builder(), Reporter()
    import_asset(builder, asset, ImportOptions(xform=BASE), reporter=reporter)
    assert builder.joint_type[3:] == [JointType.BALL, JointType.FIXED]
    assert builder.joint_articulation[3:] == [-1, -1]
    assert builder.joint_parent[3:] == [-1, 0]
    np.testing.assert_allclose(builder.joint_X_p[3][:3], BASE.apply(vec3(0.0, 0.0, 1.1)))
    assert [found.kind for found in reporter.found] == ["scene-elements-lost"]
    finish_world(builder)


def test_motors_are_modes_and_gains() -> None:
    asset = make_arm()
    asset.joints[0].dofs[0].drive = None
    asset.actuators = [
        Actuator("p", "position", "elbow", stiffness=4.0, damping=0.5, force_range=(-9.0, 3.0)),
        Actuator("v", "velocity", "elbow", damping=2.0),
        Actuator("m", "motor", "grip"),
        Actuator("g", "general", "grip"),
    ]
    builder, reporter = Builder(), Reporter()
    import_asset(builder, asset, reporter=reporter)
    assert builder.joint_target_mode == [TargetMode.POSITION_VELOCITY, TargetMode.EFFORT]
    assert (builder.joint_target_ke[0], builder.joint_target_kd[0]) == (4.0, 2.0)
    assert builder.joint_effort_limit[0] == 9.0
    assert [found.kind for found in reporter.found] == ["scene-elements-lost"]


def test_sites_mark_frames() -> None:
    asset = make_arm()
    asset.sites = [Site("tool", "finger", Pose.of((0.0, 0.0, 0.2)))]
    builder, found, _ = bring(asset)
    index = found.sites["tool"]
    assert builder.shape_flags[index] == ShapeFlag.SITE
    assert builder.shape_label[index] == "arm/tool"
    assert bring(asset, load_sites=False)[0].shape_count == 6


def test_joints_are_turned_round_where_the_child_is_the_root() -> None:
    asset = make_arm()
    asset.joints.append(Joint("mount", JointKind.FIXED, "", "upper", Pose.of((0.0, 0.0, 0.5))))
    builder, found, world = bring(asset)
    elbow = found.joints["elbow"]
    assert builder.joint_parent[elbow] == found.bodies["upper"]
    assert builder.joint_axis[builder.joint_qd_start[elbow]] == (0.0, -1.0, 0.0)
    np.testing.assert_allclose(world.arrays["body_q"][found.bodies["base"], :3], 0.0, atol=1e-12)


def test_moving_bodies_and_kinematic_roots() -> None:
    asset = make_arm()
    asset.provenance.format = "sdf"
    base = asset.bodies[0]
    base.linear_velocity, base.angular_velocity, base.gravity_scale = vec3(1, 2, 3), vec3(0, 0, 4), 0.5
    base.kinematic = True
    builder, _, world = bring(
        asset, xform=Pose.of((0.0, 0.0, 0.0), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))
    )
    assert builder.joint_qd[:6] == pytest.approx([-2.0, 1.0, 3.0, 0.0, 0.0, 4.0])
    assert world.arrays["body_gravity_scale"].tolist() == [0.5, 1.0, 1.0]
    assert world.arrays["body_flags"].tolist() == [2, 1, 1]
    assert world.arrays["body_inv_mass"][0] == 0.0
