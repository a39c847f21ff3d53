"""Every kind of joint, written and read back: the same motion, limits and drives."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdPhysics
from writing import assert_same_bodies, assert_same_joints, find_joint, make_trip

import simwright
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer.entry import write
from simwright.formats.usd.writer.joints import find_single
from simwright.model.asset import (
    Actuator,
    Articulation,
    Asset,
    Body,
    ContactFilter,
    ContactPair,
    Keyframe,
    PhysicsMaterial,
    Shape,
)
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Box
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Drive,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
)
from simwright.model.kinematics import place_bodies

SLIDE, HINGE, BALL = Motion.SLIDE, Motion.HINGE, Motion.BALL
FRAMES = (
    Pose.of((0.1, -0.2, 0.3), quat_from_rpy((0.3, -0.5, 1.1))),
    Pose.of((0.05, 0.0, -0.1), quat_from_rpy((-0.2, 0.4, 0.7))),
)


def make_body(name: str) -> Body:
    return Body(name, inertial=Inertial(2.0, np.array((0.01, 0.02, 0.03)), np.diag((0.1, 0.2, 0.25))))


def make_pair(kind: JointKind, *dofs: Dof, **extra: object) -> Asset:
    """Two bodies and a joint between frames that are nowhere special."""
    joint = Joint("j", kind, "a", "b", *FRAMES, dofs=list(dofs), **extra)  # type: ignore[arg-type]
    asset = Asset("pair", [make_body("a"), make_body("b")], [joint])
    asset.articulations.append(Articulation("pair", "a"))
    place_bodies(asset)
    return asset


def dof(motion: Motion, axis: tuple[float, float, float], **extra: object) -> Dof:
    vector = np.array(axis, dtype=np.float64)
    return Dof(motion, axis=vector / np.linalg.norm(vector), **extra)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (1, 2, -3)]
)
@pytest.mark.parametrize(("kind", "motion"), [(JointKind.REVOLUTE, HINGE), (JointKind.PRISMATIC, SLIDE)])
def test_any_axis(axis, kind, motion, tmp_path):
    anchor = np.array((0.2, 0.1, -0.3))
    trip = make_trip(
        make_pair(kind, dof(motion, axis, lower=-0.4, upper=1.3, anchor=anchor)), tmp_path / "out"
    )
    assert_same_bodies(trip)
    assert_same_joints(trip)
    assert trip.back.joints[0].kind is kind
    assert len(trip.said) == 0


@pytest.mark.parametrize(("axis", "letter"), [((-1, 0, 0), "X"), ((0, -1, 0), "Y"), ((0, 0, -1), "Z")])
def test_an_axis_that_points_back_is_a_half_turn(axis, letter):
    """Single precision holds half turns as they are; quarter turns, which Z would need, it rounds."""
    freedom = dof(HINGE, axis)
    joint = Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[freedom])
    prim = find_single(joint, freedom)
    assert prim.axis == letter
    for frame in (prim.parent_frame, prim.child_frame):
        assert sorted(np.abs(frame.q)) == [0.0, 0.0, 0.0, 1.0]
        assert np.array_equal(frame.rotation @ np.eye(3)["XYZ".index(letter)], axis)


def test_continuous_joint_says_its_infinite_limits(tmp_path):
    trip = make_trip(make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 0, 1))), tmp_path / "out")
    prim = trip.stage.GetPrimAtPath("/pair/a/j")
    assert prim.GetAttribute("physics:lowerLimit").Get() == -math.inf
    assert prim.GetAttribute("physics:upperLimit").Get() == math.inf


@pytest.mark.parametrize("acceleration", [True, False])
@pytest.mark.parametrize(("kind", "motion"), [(JointKind.REVOLUTE, HINGE), (JointKind.PRISMATIC, SLIDE)])
def test_drive(kind, motion, acceleration, tmp_path):
    drive = Drive(120.0, 3.0, 0.25, -0.5, 40.0, acceleration)
    trip = make_trip(make_pair(kind, dof(motion, (0, 1, 0), drive=drive)), tmp_path / "out")
    assert_same_joints(trip)
    assert trip.back.joints[0].dofs[0].drive is not None


def test_drive_is_per_degree(tmp_path):
    drive = Drive(stiffness=180.0 / math.pi)
    trip = make_trip(make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), drive=drive)), tmp_path / "out")
    stiffness = trip.stage.GetPrimAtPath("/pair/a/j").GetAttribute("drive:angular:physics:stiffness")
    assert stiffness.Get() == pytest.approx(1.0)


STACKS = {
    "universal": (JointKind.UNIVERSAL, [dof(HINGE, (0, 0, 1), lower=-1.0, upper=1.0), dof(HINGE, (0, 1, 0))]),
    "planar": (JointKind.PLANAR, [dof(SLIDE, (0, 1, 0)), dof(SLIDE, (0, 0, 1)), dof(HINGE, (1, 0, 0))]),
    "generic": (JointKind.D6, [dof(SLIDE, (1, 0, 0), lower=0.0, upper=0.2), dof(HINGE, (0, 0, 1))]),
    "slanted": (JointKind.D6, [dof(HINGE, (1, 1, 0)), dof(HINGE, (1, -1, 0))]),
    "one freedom": (JointKind.D6, [dof(HINGE, (0, 1, 0), lower=-1.0, upper=0.5)]),
}


@pytest.mark.parametrize("name", STACKS)
def test_several_freedoms(name, tmp_path):
    kind, dofs = STACKS[name]
    trip = make_trip(make_pair(kind, *dofs), tmp_path / "out")
    assert_same_joints(trip)


ODD_STACKS = {
    "x, z, y": [("x", HINGE, (1, 0, 0)), ("z", HINGE, (0, 0, 1)), ("y", HINGE, (0, 1, 0))],
    "hinge, then slide": [("turn", HINGE, (0, 0, 1)), ("push", SLIDE, (1, 0, 0))],
    "slanted": [("a", HINGE, (1, 0, 0)), ("b", HINGE, (1, 1, 0))],
    "twice the same": [("a", HINGE, (1, 0, 0)), ("b", HINGE, (0, 1, 0)), ("c", HINGE, (1, 0, 0))],
}


@pytest.mark.parametrize("name", ODD_STACKS)
def test_order_that_no_generic_joint_has(name, tmp_path):
    """Other tools see the nearest generic joint; the way back gives the same freedoms."""
    dofs = [dof(motion, axis, name=word, lower=-1.0, upper=2.0) for word, motion, axis in ODD_STACKS[name]]
    dofs[-1].anchor = np.array((0.1, 0.2, 0.0))
    trip = make_trip(make_pair(JointKind.D6, *dofs), tmp_path / "out")
    assert trip.kinds == {"usd-write-joint-order"}
    assert_same_joints(trip)


def test_ball_after_a_slide(tmp_path):
    stack = [dof(SLIDE, (1, 0, 0), name="rail"), dof(BALL, (0, 0, 1), name="socket")]
    trip = make_trip(make_pair(JointKind.D6, *stack), tmp_path / "out", exact=True)
    assert [(d.name, d.motion) for d in trip.back.joints[0].dofs] == [("rail", SLIDE), ("socket", BALL)]
    q = [0.2, *quat_from_rpy((0.1, 0.2, 0.3))]
    assert trip.asset.joints[0].transform(q).is_close(trip.back.joints[0].transform(q), 1e-9)


def test_freedoms_that_differ(tmp_path):
    """A generic joint says one value for all; the others are noted."""
    ends = {"lower": -1.0, "upper": 1.0}
    dofs = [
        dof(SLIDE, (0, 1, 0), damping=1.0, **ends),
        dof(SLIDE, (1, 0, 0), damping=2.0, armature=0.1, **ends),
    ]
    trip = make_trip(make_pair(JointKind.D6, *dofs), tmp_path / "out")
    assert trip.kinds == {"usd-write-noted"}
    assert [(d.damping, d.armature) for d in trip.back.joints[0].dofs] == [(1.0, None), (2.0, 0.1)]


def test_ball_with_a_cone(tmp_path):
    ball = dof(BALL, (0, 0, 1), swing=(0.5, 0.75))
    trip = make_trip(make_pair(JointKind.BALL, ball), tmp_path / "out")
    found = trip.back.joints[0]
    assert found.kind is JointKind.BALL
    assert found.dofs[0].swing == pytest.approx((0.5, 0.75), rel=1e-6)


def test_distance(tmp_path):
    asset = make_pair(JointKind.DISTANCE, Dof(Motion.FREE), distance=(0.25, math.inf))
    found = make_trip(asset, tmp_path / "out").back.joints[0]
    assert found.kind is JointKind.DISTANCE
    assert found.distance == (0.25, math.inf)


def test_switches_and_breaking(tmp_path):
    asset = make_pair(
        JointKind.REVOLUTE, dof(HINGE, (1, 0, 0)), enabled=False, collide=True, break_force=50.0
    )
    found = make_trip(asset, tmp_path / "out").back.joints[0]
    assert (found.enabled, found.collide, found.break_force, found.break_torque) == (
        False,
        True,
        50.0,
        math.inf,
    )


def test_what_usd_has_no_word_for_is_said(tmp_path):
    screw = make_pair(JointKind.SCREW, dof(HINGE, (0, 0, 1), pitch=0.01))
    gears = make_pair(JointKind.GEARBOX, dof(HINGE, (1, 0, 0)), dof(HINGE, (0, 1, 0)), gear=Gear(2.0))
    for number, asset in enumerate((screw, gears)):
        trip = make_trip(asset, tmp_path / str(number))
        assert trip.kinds == {"usd-write-noted"}
        assert_same_joints(trip)
        assert [d.pitch for d in trip.back.joints[0].dofs] == [d.pitch for d in asset.joints[0].dofs]
        assert trip.back.joints[0].gear == asset.joints[0].gear


def test_reference_shifts_limits(tmp_path):
    """The layers count from where the frames meet; the way back counts as the source did."""
    shifted = dof(HINGE, (0, 0, 1), lower=0.5, upper=1.5, ref=1.0)
    trip = make_trip(make_pair(JointKind.REVOLUTE, shifted), tmp_path / "out")
    assert_same_joints(trip)
    assert len(trip.said) == 0
    limit = trip.stage.GetPrimAtPath("/pair/a/j").GetAttribute("physics:lowerLimit").Get()
    assert limit == pytest.approx(math.degrees(-0.5))


def make_chain() -> Asset:
    """A triangle of three bodies: the last joint closes a loop."""
    asset = Asset("chain", [make_body(name) for name in "abc"])
    for name, parent, child in (("ab", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a")):
        hinge = dof(HINGE, (0, 1, 0), name=name)
        asset.joints.append(Joint(name, JointKind.REVOLUTE, parent, child, dofs=[hinge]))
    return asset


def test_loop_is_excluded(tmp_path):
    trip = make_trip(make_chain(), tmp_path / "out")
    assert sum(joint.closes_loop for joint in trip.back.joints) == 1
    assert [a.root for a in trip.back.articulations] == ["a"]


def test_equalities_are_loop_joints(tmp_path):
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 0, 1)))
    asset.equalities = [
        Equality("pin", EqualityKind.CONNECT, "a", "b"),
        Equality("glue", EqualityKind.WELD, "b", frame_b=Pose.of((0.0, 0.0, 1.0)), torque_scale=3.0),
        Equality("cord", EqualityKind.DISTANCE, "a", "b"),
    ]
    trip = make_trip(asset, tmp_path / "out")
    assert [j.name for j in trip.back.joints] == ["j"]
    for equality, found in zip(asset.equalities[:2], trip.back.equalities, strict=True):
        assert (found.name, found.kind, found.a, found.b) == (
            equality.name,
            equality.kind,
            equality.a,
            equality.b,
        )
        assert found.frame_a.is_close(equality.frame_a)
        assert found.frame_b.is_close(equality.frame_b)
    prim = trip.stage.GetPrimAtPath("/pair/a/pin")
    assert prim.GetTypeName() == "PhysicsSphericalJoint"
    assert prim.GetAttribute("physics:excludeFromArticulation").Get()
    # MuJoCo's reader and Newton take them for its equalities, softness included, by their schemas alone
    assert prim.GetPrimTypeInfo().GetAppliedAPISchemas()[-1] == "MjcEqualityConnectAPI"
    weld = trip.stage.GetPrimAtPath(trip.back.equalities[1].source.prim)
    assert weld.GetPrimTypeInfo().GetAppliedAPISchemas()[-1] == "MjcEqualityWeldAPI"
    assert weld.GetAttribute("mjc:torqueScale").Get() == trip.back.equalities[1].torque_scale == 3.0
    assert "cord" in next(d.message for d in trip.said if d.kind == "usd-write-not-carried")


def test_free_base_has_no_joint(tmp_path):
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 0, 1)))
    asset.joints.append(Joint("float", JointKind.FLOATING, "", "a", dofs=[Dof(Motion.FREE, name="float")]))
    trip = make_trip(asset, tmp_path / "out")
    assert not trip.stage.GetPrimAtPath("/pair/float")
    assert [(j.name, j.kind) for j in trip.back.joints] == [
        ("j", JointKind.REVOLUTE),
        ("float", JointKind.FLOATING),
    ]
    assert len(trip.said) == 0


def test_mimic_between_a_hinge_and_a_slide(tmp_path):
    asset = make_chain()
    asset.joints.pop()
    asset.joints[1].kind = JointKind.PRISMATIC
    asset.joints[1].dofs[0].motion = SLIDE
    asset.mimics.append(Mimic("bc", "ab", multiplier=0.02, offset=0.1))
    (mimic,) = make_trip(asset, tmp_path / "out").back.mimics
    assert (mimic.follower, mimic.leader) == ("bc", "ab")
    assert (mimic.multiplier, mimic.offset) == pytest.approx((0.02, 0.1), rel=1e-6)


def test_joint_dynamics_are_neutral(tmp_path):
    values = {
        "armature": 0.1, "friction": 0.2, "damping": 0.3, "stiffness": 4.0, "spring_ref": 0.5, "effort_limit": 60.0,
        "velocity_limit": 7.0, "limit_stiffness": 800.0, "limit_damping": 9.0,
    }  # fmt: skip
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (1, 0, 0), **values))
    trip = make_trip(asset, tmp_path / "out")
    found = trip.back.joints[0].dofs[0]
    assert {name: getattr(found, name) for name in values} == pytest.approx(values, rel=1e-6)
    assert "ext_physics" not in (trip.entry.parent / "physics.usda").read_text()
    assert len(trip.said) == 0


def test_joint_named_like_its_link(tmp_path):
    """Siblings cannot share a name; ROS still knows the joint by its own."""
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (1, 0, 0)))
    asset.joints[0].name = "b"
    asset.shapes.append(Shape("box", Box.of(1, 1, 1), "b", visual=True))
    trip = make_trip(asset, tmp_path / "out")
    assert find_joint(trip.back, "b").path == "/pair/a/b_joint"


def make_engine_trip(asset: Asset, folder: Path, engine: str) -> tuple[Usd.Stage, Asset, Reporter]:
    said = Reporter()
    entry = write(asset, folder, WriteOptions(for_=engine), said)
    return Usd.Stage.Open(str(entry)), simwright.load(entry), said


def list_prims(stage: Usd.Stage, kind: str) -> list[Usd.Prim]:
    return [prim for prim in stage.Traverse() if prim.GetTypeName() == kind]


def test_mujoco_gets_a_servo_for_a_drive(tmp_path):
    """Its reader has no PhysicsDriveAPI; reading back, the joint is driven once."""
    drive = Drive(stiffness=50.0, damping=2.0, max_force=9.0, target_position=0.3)
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j", drive=drive))
    stage, back, said = make_engine_trip(asset, tmp_path / "out", "mujoco")
    (servo,) = list_prims(stage, "MjcActuator")
    assert servo.GetAttribute("mjc:gainPrm").Get()[0] == 50.0
    assert list(servo.GetAttribute("mjc:biasPrm").Get())[:3] == [0.0, -50.0, -2.0]
    assert servo.GetAttribute("mjc:forceRange:max").Get() == 9.0
    assert back.actuators == []
    assert find_joint(back, "j").dofs[0].drive.stiffness == pytest.approx(50.0, rel=1e-6)
    # it starts with a command of zero
    assert any("the first target of the drive" in found.message for found in said)


def test_keyframes_count_servos_of_drives(tmp_path):
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j", drive=Drive(stiffness=5.0)))
    asset.actuators.append(Actuator("motor", "motor", "j"))
    asset.keyframes.append(Keyframe("home", controls={"motor": 0.7}))
    stage, back, _ = make_engine_trip(asset, tmp_path / "out", "mujoco")
    (keyframe,) = list_prims(stage, "MjcKeyframe")
    assert list(keyframe.GetAttribute("mjc:ctrl").Get()) == [0.7, 0.0]
    assert [actuator.name for actuator in back.actuators] == ["motor"]
    assert back.keyframes[0].controls == {"motor": 0.7}


def test_mujoco_gets_links_where_joint_frames_meet(tmp_path):
    """Its reader counts coordinates from where links are; the start that is lost is told."""
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j"))
    met = asset.body("b").pose
    asset.joints[0].dofs[0].position = np.array((0.8,))
    place_bodies(asset)
    assert not asset.body("b").pose.is_close(met, 0.1)
    _, back, said = make_engine_trip(asset, tmp_path / "out", "mujoco")
    assert back.body("b").pose.is_close(met, 1e-6)
    assert any("the position at the start" in found.message for found in said)


def test_mujoco_gets_two_points_of_a_hinge_that_closes_a_loop(tmp_path):
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j"))
    twin = Joint(
        "closing", JointKind.REVOLUTE, "a", "b", *FRAMES, dofs=[dof(HINGE, (0, 1, 0), name="closing")]
    )
    twin.closes_loop = True
    asset.joints.append(twin)
    stage, back, _ = make_engine_trip(asset, tmp_path / "out", "mujoco")
    points = [
        np.array(prim.GetAttribute("physics:localPos0").Get())
        for prim in list_prims(stage, "PhysicsSphericalJoint")
    ]
    assert len(points) == 2
    axis = FRAMES[0].rotation @ (0.0, 1.0, 0.0)
    np.testing.assert_allclose(points[0] - points[1], 0.2 * axis, atol=1e-6)
    assert [joint.name for joint in back.joints] == ["j", "closing"]


def test_physx_gets_a_drive_for_a_spring(tmp_path):
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j", stiffness=3.0, spring_ref=0.2))
    stage, back, _ = make_engine_trip(asset, tmp_path / "out", "isaac")
    (joint,) = list_prims(stage, "PhysicsRevoluteJoint")
    assert joint.GetAttribute("drive:angular:physics:stiffness").Get() == pytest.approx(math.radians(3.0))
    assert joint.GetAttribute("drive:angular:physics:targetPosition").Get() == pytest.approx(
        math.degrees(0.2)
    )
    found = find_joint(back, "j").dofs[0]
    assert found.drive is None
    assert (found.stiffness, found.spring_ref) == pytest.approx((3.0, 0.2))


@pytest.mark.parametrize(("engine", "written"), [("isaac", True), ("newton", True), ("neutral", False)])
def test_the_exact_gravity_is_for_engines(engine, written, tmp_path):
    """An asset brings no scene for the difference between 9.8067 and 9.81, but what an engine opens alone does."""
    asset = make_pair(JointKind.REVOLUTE, dof(HINGE, (0, 1, 0), name="j"))
    asset.environment.gravity = np.array((0.0, 0.0, -9.8067))
    stage, _, _ = make_engine_trip(asset, tmp_path / "out", engine)
    scenes = list_prims(stage, "PhysicsScene")
    assert [prim.GetAttribute("physics:gravityMagnitude").Get() for prim in scenes] == (
        [pytest.approx(9.8067)] if written else []
    )


def test_laws_that_cannot_follow_a_reference_are_told(tmp_path):
    """A law that a program adds to MuJoCo may use the coordinate in any way."""
    file = tmp_path / "arm.xml"
    file.write_text(
        '<mujoco><compiler angle="radian"/><worldbody><body name="lower"><joint name="elbow" ref="0.3"/>'
        '<geom size="0.1"/></body></worldbody>'
        '<actuator><general name="biceps" joint="elbow" gaintype="user"/></actuator></mujoco>'
    )
    asset = simwright.load(file)
    trip = make_trip(asset, tmp_path / "out")
    found = [one.message for one in trip.said if one.kind == "usd-write-setting-lost"]
    assert any("the reference coordinate in the law of 1 element(s)" in m and "'biceps'" in m for m in found)


def test_mujoco_gets_pairs_of_bodies_alone(tmp_path):
    """Its reader has no words for bits or groups, and refuses a file that filters a collider."""
    asset = Asset("crowd", [Body(name) for name in "abcd"])
    # a and b never touch; d touches a and b with one of two colliders; c touches all but the floor
    for name, bits in (("a", 2), ("b", 2), ("c", 1), ("d", 2), ("d2", 1), ("floor", 1)):
        shape = Shape(name, Box.of(1, 1, 1), "" if name == "floor" else name[0], collision=True)
        shape.category_bits, shape.collide_bits = bits, 1
        asset.shapes.append(shape)
    asset.contact_filters = [ContactFilter("", "c"), ContactFilter("c", "d2", "shape")]
    stage, back, said = make_engine_trip(asset, tmp_path / "out", "mujoco")
    pairs = {
        str(prim.GetPath()): [
            str(path) for path in UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets()
        ]
        for prim in stage.Traverse()
        if prim.HasRelationship("physics:filteredPairs")
    }
    assert pairs == {"/crowd/a": ["/crowd/b"]}
    (told,) = [one for one in said if one.kind == "usd-write-pairs-touch"]
    assert told.message.startswith("MuJoCo's USD reader lets 4 pair(s)")
    named = {(pair.a, pair.b, pair.of) for pair in back.contact_filters}
    assert named == {("floor", "c", "shape"), ("c", "d2", "shape")}
    assert {frozenset(pair) for pair in find_filtered_pairs(back)} == {
        frozenset(pair) for pair in find_filtered_pairs(asset)
    }


def test_colliders_that_a_pair_names_touch_in_groups_too(tmp_path):
    """MJCF's pairs count before bits, and engines without words for them have the groups."""
    asset = Asset("crowd", [Body("a"), Body("b")])
    for name, body in (("floor", ""), ("foot", "a"), ("heel", "a"), ("knee", "b")):
        shape = Shape(name, Box.of(1, 1, 1), body, collision=True)
        shape.category_bits = shape.collide_bits = 0
        asset.shapes.append(shape)
    asset.contact_pairs = [
        ContactPair("floor", "foot"),
        ContactPair("heel", "floor"),
        ContactPair("knee", "foot"),
    ]
    trip = make_trip(asset, tmp_path / "out")
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(trip.stage)
    groups = {
        str(path).rpartition("/")[2]: prim.GetPath()
        for prim in trip.stage.Traverse()
        if prim.GetTypeName() == "PhysicsCollisionGroup"
        for path in prim.GetRelationship("collection:colliders:includes").GetTargets()
    }
    touching = {
        pair
        for pair in combinations(sorted(groups), 2)
        if table.IsCollisionEnabled(*(groups[name] for name in pair))
    }
    assert touching == {("floor", "foot"), ("floor", "heel"), ("foot", "knee")}
    assert [shape.category_bits for shape in trip.back.shapes if shape.collision] == [0] * 4


def test_friction_that_only_a_pair_has_is_told(tmp_path):
    asset = Asset("robot", [Body("a"), Body("b"), Body("c")])
    asset.physics_materials = [
        PhysicsMaterial("rubber", dynamic_friction=0.8),
        PhysicsMaterial("ice", dynamic_friction=0.0),
    ]
    for name, material in (("a", "rubber"), ("b", "ice"), ("c", "ice")):
        asset.shapes.append(Shape(name, Box.of(1, 1, 1), name, collision=True, physics_material=material))
    same = {"condim": 3, "friction": [0.8, 0.8, 0.005, 0.0001, 0.0001]}
    asset.contact_pairs = [
        ContactPair("a", "b", settings=same),
        ContactPair("b", "c", settings={**same, "condim": 1}),
    ]
    assert "usd-write-pair-friction" not in {one.kind for one in make_trip(asset, tmp_path / "same").said}
    asset.contact_pairs += [ContactPair("c", "b", settings=same)]
    (told,) = [
        one for one in make_trip(asset, tmp_path / "other").said if one.kind == "usd-write-pair-friction"
    ]
    assert told.message.startswith(
        "1 contact pair(s) have a friction that their colliders have not, the first 'c' and 'b'"
    )
