"""Joints: ends, frames, limits, drives, cones, distances, topology."""

from __future__ import annotations

import math

import numpy as np
import pytest

import simwright
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.joint import JointKind, Motion
from simwright.model.kinematics import forward_kinematics

DEG = math.pi / 180


def two_bodies(joint: str, **places: str) -> str:
    def body(name: str, inner: str = "") -> str:
        place = places.get(name, "(0, 0, 0)")
        return f"""
    def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        double3 xformOp:translate = {place}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {inner}
    }}"""

    tip = """def Xform "tip" {
            double3 xformOp:translate = (0, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }"""
    return f'def Xform "R" {{ {body("a", tip)} {body("b")} {joint} }}'


ENDS = "rel physics:body0 = </R/a>\n rel physics:body1 = </R/b>"


def test_revolute_with_limits_drive_and_breaking(read):
    found = read(
        two_bodies(
            f"""
def PhysicsRevoluteJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {{
    {ENDS}
    uniform token physics:axis = "Z"
    point3f physics:localPos0 = (1, 0, 0)
    float physics:lowerLimit = -90
    float physics:upperLimit = 3.4028235e38
    float physics:breakForce = 10
    bool physics:collisionEnabled = true
    bool physics:jointEnabled = false
    bool physics:excludeFromArticulation = true
    custom string ros:joint:name = "shoulder-pan"
    uniform token drive:angular:physics:type = "acceleration"
    float drive:angular:physics:stiffness = 2
    float drive:angular:physics:damping = 3
    float drive:angular:physics:maxForce = 7
    float drive:angular:physics:targetPosition = 45
    float drive:angular:physics:targetVelocity = 90
}}""",
            b="(1, 0, 0)",
        )
    )
    joint = found.asset.joint("j")
    (dof,) = joint.dofs
    assert (joint.kind, joint.parent, joint.child) == (JointKind.REVOLUTE, "a", "b")
    assert joint.parent_frame.is_close(Pose.of((1, 0, 0)))
    assert joint.child_frame.is_identity()
    np.testing.assert_array_equal(dof.axis, (0, 0, 1))
    assert (dof.lower, dof.upper) == (pytest.approx(-math.pi / 2), math.inf)
    assert (joint.break_force, joint.break_torque) == (10, math.inf)
    assert joint.collide
    assert joint.closes_loop
    assert not joint.enabled
    assert joint.public_name == "shoulder-pan"
    assert dof.name == "j"
    drive = dof.drive
    assert drive.acceleration
    assert drive.stiffness == pytest.approx(2 / DEG)
    assert drive.damping == pytest.approx(3 / DEG)
    assert drive.max_force == 7
    assert drive.target_position == pytest.approx(math.pi / 4)
    assert drive.target_velocity == pytest.approx(math.pi / 2)
    assert found.kinds == set()


def test_prismatic_units(read):
    found = read(
        two_bodies(f"""
def PhysicsPrismaticJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:linear"] ) {{
    {ENDS}
    uniform token physics:axis = "Y"
    float physics:lowerLimit = -50
    float physics:upperLimit = 20
    float physics:breakTorque = 1000
    float drive:linear:physics:stiffness = 4
    float drive:linear:physics:maxForce = 300
    float drive:linear:physics:targetPosition = 10
}}"""),
        meters=0.01,
        kilograms=0.5,
    )
    joint = found.asset.joint("j")
    (dof,) = joint.dofs
    assert dof.motion is Motion.SLIDE
    np.testing.assert_array_equal(dof.axis, (0, 1, 0))
    assert (dof.lower, dof.upper) == (pytest.approx(-0.5), pytest.approx(0.2))
    assert joint.break_torque == pytest.approx(1000 * 0.5 * 1e-4)
    assert dof.drive.stiffness == pytest.approx(2.0)
    assert dof.drive.max_force == pytest.approx(300 * 0.5 * 0.01)
    assert dof.drive.target_position == pytest.approx(0.1)


def test_angular_force_drive_units(read):
    found = read(
        two_bodies(f"""
def PhysicsRevoluteJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:angular"] ) {{
    {ENDS}
    float drive:angular:physics:stiffness = 10
    float drive:angular:physics:maxForce = 40
}}"""),
        meters=0.1,
        kilograms=2.0,
    )
    drive = found.asset.joint("j").dofs[0].drive
    assert drive.stiffness == pytest.approx(10 * 2 * 0.01 / DEG)
    assert drive.max_force == pytest.approx(40 * 2 * 0.01)


def test_spherical_and_distance(read):
    found = read(
        two_bodies(f"""
def PhysicsSphericalJoint "s" {{
    {ENDS}
    uniform token physics:axis = "Z"
    float physics:coneAngle0Limit = 30
}}
def PhysicsDistanceJoint "d" {{
    {ENDS}
    float physics:maxDistance = 2
}}""")
    )
    ball, far = found.asset.joints
    assert ball.kind is JointKind.BALL
    assert ball.dofs[0].swing == (pytest.approx(30 * DEG), math.inf)
    np.testing.assert_array_equal(ball.dofs[0].axis, (0, 0, 1))
    assert far.kind is JointKind.DISTANCE
    assert far.distance == (0.0, 2.0)
    assert "usd-joint-cycle" not in found.kinds


def test_d6_is_free_without_limit_and_locked_where_low_is_above_high(read):
    locked = ["transY", "transZ", "rotX"]
    apis = [f"PhysicsLimitAPI:{a}" for a in (*locked, "rotY")] + [
        "PhysicsDriveAPI:rotY",
        "PhysicsDriveAPI:rotX",
    ]
    values = "\n".join(f"float limit:{a}:physics:low = 1\nfloat limit:{a}:physics:high = -1" for a in locked)
    names = ", ".join(f'"{a}"' for a in apis)
    found = read(
        two_bodies(f"""
def PhysicsJoint "j" ( prepend apiSchemas = [{names}] ) {{
    {ENDS}
    {values}
    float limit:rotY:physics:low = -10
    float limit:rotY:physics:high = 20
    float limit:rotZ:physics:low = 5
    float drive:rotY:physics:stiffness = 1
}}""")
    )
    joint = found.asset.joint("j")
    assert joint.kind is JointKind.D6
    assert [d.name for d in joint.dofs] == ["j_transX", "j_rotY", "j_rotZ"]
    slide, hinge, free = joint.dofs
    assert (slide.lower, slide.upper) == (-math.inf, math.inf)
    assert (hinge.lower, hinge.upper) == (pytest.approx(-10 * DEG), pytest.approx(20 * DEG))
    assert hinge.drive.stiffness == pytest.approx(1 / DEG)
    assert free.drive is None
    assert not free.is_limited
    assert {"usd-drive-unused", "usd-joint-schema-unapplied"} <= found.kinds


def test_d6_with_every_axis_locked_is_fixed(read):
    axes = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    names = ", ".join(f'"PhysicsLimitAPI:{a}"' for a in axes)
    values = "\n".join(f"float limit:{a}:physics:low = 1\nfloat limit:{a}:physics:high = -1" for a in axes)
    found = read(
        two_bodies(f'def PhysicsJoint "j" ( prepend apiSchemas = [{names}] ) {{ {ENDS}\n {values} }}')
    )
    assert found.asset.joint("j").kind is JointKind.FIXED


def test_frame_on_an_xform_below_a_body(read):
    found = read(
        two_bodies(
            """
def PhysicsFixedJoint "j" {
    rel physics:body0 = </R/a/tip>
    rel physics:body1 = </R/b>
    point3f physics:localPos0 = (1, 0, 0)
    quatf physics:localRot0 = (0.7071068, 0, 0, 0.7071068)
}""",
            b="(1, 0, 1)",
        )
    )
    joint = found.asset.joint("j")
    assert joint.parent == "a"
    turn = quat_from_axis_angle((0, 0, 1), math.pi / 2)
    assert joint.parent_frame.is_close(Pose.of((1, 0, 1), turn), 1e-6)
    assert "usd-joint-frames-apart" not in found.kinds


def test_joint_frames_take_the_scale_of_their_body(read):
    found = read("""
def Xform "R" {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        double3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
    def PhysicsFixedJoint "j" {
        rel physics:body1 = </R/a>
        point3f physics:localPos0 = (2, 0, 0)
        point3f physics:localPos1 = (1, 0, 0)
    }
}""")
    joint = found.asset.joint("j")
    assert (joint.parent, joint.child) == ("", "a")
    np.testing.assert_allclose(joint.child_frame.p, (2, 0, 0))
    assert found.kinds == set()


def test_world_side_of_a_y_up_stage(read):
    found = read(
        """
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 1
    double3 xformOp:translate = (0, 3, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def PhysicsFixedJoint "j" {
        rel physics:body1 = </R>
        point3f physics:localPos0 = (0, 3, 0)
    }
}""",
        up="Y",
    )
    joint = found.asset.joint("j")
    body = found.asset.body("R")
    np.testing.assert_allclose(joint.parent_frame.p, (0, 0, 3), atol=1e-12)
    assert forward_kinematics(found.asset)["R"].is_close(body.pose, 1e-9)


NEARLY = """
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI"] ) {
    float physics:mass = 1
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
        double3 xformOp:translate = (0.3333333333333333, 0, 0.123)
        quatd xformOp:orient = (0.7071067811865476, 0, 0.7071067811865476, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }
    def PhysicsRevoluteJoint "j" {
        rel physics:body0 = </R>
        rel physics:body1 = </R/a>
        point3f physics:localPos0 = (0.33333334, 0, {z})
        quatf physics:localRot0 = (0.70710677, 0, 0.70710677, 0)
    }
}"""


def test_frames_that_meet_in_single_precision_do_so_in_double(read):
    """Bodies are placed by doubles: what the frames of joints round is still there."""
    asset = read(NEARLY.replace("{z}", "0.123")).asset
    assert forward_kinematics(asset)["a"].is_close(asset.body("a").pose, 1e-15)
    assert asset.joint("j").parent_frame.p[2] == 0.123


def test_frames_that_were_moved_apart_stay_so(read):
    joint = read(NEARLY.replace("{z}", "0.12301")).asset.joint("j")
    assert joint.parent_frame.p.tolist() == [0.33333334, 0.0, 0.12301]


def test_joint_with_only_body0_is_turned_round(read):
    found = read(
        two_bodies("""
def PhysicsRevoluteJoint "j" {
    rel physics:body0 = </R/a>
    uniform token physics:axis = "Z"
    float physics:lowerLimit = 10
    float physics:upperLimit = 20
}""")
    )
    joint = found.asset.joint("j")
    (dof,) = joint.dofs
    assert (joint.parent, joint.child) == ("", "a")
    assert (dof.lower, dof.upper) == (pytest.approx(10 * DEG), pytest.approx(20 * DEG))
    # the world turns by q about z as seen from the body, so the body turns by -q as seen from the world
    posed = forward_kinematics(found.asset, {"j": [0.3]})["a"]
    assert posed.is_close(Pose.of((0, 0, 0), quat_from_axis_angle((0, 0, 1), -0.3)))


@pytest.mark.parametrize(
    ("joint", "kind"),
    [
        ('def PhysicsFixedJoint "j" { rel physics:body0 = </R/gone>\n rel physics:body1 = </R/b> }',
         "usd-joint-target-missing"),
        ('def PhysicsFixedJoint "j" { rel physics:body0 = </R/a>\n rel physics:body1 = </R/a/tip> }',
         "usd-joint-on-itself"),
        ('def PhysicsFixedJoint "j" {}', "usd-joint-on-itself"),
    ],
)  # fmt: skip
def test_joints_that_hold_nothing_are_left_out(read, joint, kind):
    found = read(two_bodies(joint))
    assert found.asset.joints == []
    assert kind in found.kinds


def test_faults_that_leave_a_joint(read):
    found = read(
        two_bodies(
            f"""
def PhysicsRevoluteJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:linear", "PhysicsLimitAPI:rotX"] ) {{
    rel physics:body0 = [</R/a>, </R/b>]
    rel physics:body1 = </R/b>
    float physics:lowerLimit = 30
    float physics:upperLimit = -30
}}
def PhysicsFixedJoint "k" {{ {ENDS} }}
""",
            b="(0, 0, 2)",
        )
    )
    (dof,) = found.asset.joint("j").dofs
    assert (dof.lower, dof.upper) == (pytest.approx(-30 * DEG), pytest.approx(30 * DEG))
    assert dof.drive is None
    assert found.kinds == {
        "usd-joint-targets-many", "usd-limit-inverted", "usd-drive-unused", "usd-limit-unused",
        "usd-joint-frames-apart", "usd-joint-cycle",
    }  # fmt: skip


def test_extended_joint_and_mimic(read):
    found = read(
        two_bodies(f"""
def PhysicsRevoluteJoint "lead" ( prepend apiSchemas = ["ExtendedPhysicsJointAPI"] ) {{
    {ENDS}
    float ext_physics:joint:armature = 0.5
    float ext_physics:joint:damping = 2
    float ext_physics:joint:friction = 0.25
    float ext_physics:joint:velocityLimit = 180
}}
def PhysicsPrismaticJoint "follow" ( prepend apiSchemas = ["ExtendedPhysicsMimicAPI"] ) {{
    {ENDS}
    bool physics:excludeFromArticulation = true
    rel ext_physics:mimic:joint = </R/lead>
    float ext_physics:mimic:multiplier = 0.01
    float ext_physics:mimic:offset = 0.5
}}
def PhysicsRevoluteJoint "self" ( prepend apiSchemas = ["ExtendedPhysicsMimicAPI"] ) {{
    {ENDS}
    bool physics:excludeFromArticulation = true
    rel ext_physics:mimic:joint = </R/self>
}}""")
    )
    (dof,) = found.asset.joint("lead").dofs
    assert (dof.armature, dof.friction) == (0.5, 0.25)
    assert dof.damping == pytest.approx(2 / DEG)
    assert dof.velocity_limit == pytest.approx(math.pi)
    assert dof.effort_limit is None
    (mimic,) = found.asset.mimics
    assert (mimic.follower, mimic.leader, mimic.offset) == ("follow", "lead", 0.5)
    assert mimic.multiplier == pytest.approx(0.01 / DEG)
    assert found.kinds == {"usd-mimic-invalid"}
    assert "ext_physics" not in found.asset.extras.table


def test_instanced_mechanisms_keep_their_own_bodies(read):
    found = read("""
class Xform "proto" {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {}
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {}
    def PhysicsFixedJoint "j" {
        rel physics:body0 = </proto/a>
        rel physics:body1 = </proto/b>
    }
}
def Xform "R" {
    def Xform "x" ( instanceable = true
        prepend inherits = </proto> ) {}
    def Xform "y" ( instanceable = true
        prepend inherits = </proto> ) {}
}""")
    ends = [(j.name, j.parent, j.child) for j in found.asset.joints]
    assert ends == [("x_j", "x_a", "x_b"), ("y_j", "y_a", "y_b")]


MOVED = """
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    double3 xformOp:translate = (5, 3, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def TYPE "root_joint" {
        rel physics:body1 = </R/base>
        PLACE
    }
}
"""


def test_the_empty_world_side_of_a_base_joint_is_where_the_base_stands(read):
    found = read(MOVED.replace("TYPE", "PhysicsFixedJoint").replace("PLACE", ""))
    (joint,) = found.asset.joints
    assert joint.parent_frame.p.tolist() == pytest.approx([5, 3, 1])
    assert "usd-joint-unplaced" in found.kinds
    # a side that says where it is stays there
    placed = read(
        MOVED.replace("TYPE", "PhysicsFixedJoint").replace("PLACE", "point3f physics:localPos0 = (0, 0, 2)")
    )
    assert placed.asset.joints[0].parent_frame.p.tolist() == pytest.approx([0, 0, 2])
    assert "usd-joint-unplaced" not in placed.kinds


PLANAR = """
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
    double3 xformOp:translate = AT
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) { }
    def PhysicsPrismaticJoint "along_x" {
        rel physics:body1 = </R/base>
        uniform token physics:axis = "X"
    }
    def PhysicsPrismaticJoint "along_y" {
        rel physics:body1 = </R/base>
        uniform token physics:axis = "Y"
    }
    def PhysicsRevoluteJoint "about_z" {
        rel physics:body1 = </R/base>
        uniform token physics:axis = "Z"
    }
}
"""


@pytest.mark.parametrize("at", ["(5, 3, 1)", "(5, 0, 0)", "(0, 5, 0)"])
def test_the_empty_world_side_of_a_planar_base_is_where_the_base_stands(read, at):
    found = read(PLANAR.replace("AT", at))
    (joint,) = found.asset.joints
    assert len(joint.dofs) == 3
    stands = pytest.approx([float(part) for part in at.strip("()").split(",")])
    assert joint.parent_frame.p.tolist() == stands
    # it turns about where it stands, not about the origin
    for dof in joint.dofs:
        assert joint.parent_frame.apply(dof.anchor).tolist() == stands
    assert joint.child_frame.p.tolist() == pytest.approx([0, 0, 0])
    assert "usd-joint-unplaced" in found.kinds
    assert "usd-joint-stack-apart" not in found.kinds


LIMITED = ("transX", "transY", "transZ", "rotZ")


def test_the_empty_world_side_of_a_slide_is_the_origin_where_the_slide_reaches_the_base(read):
    slide = MOVED.replace("TYPE", "PhysicsPrismaticJoint").replace(
        "PLACE", 'uniform token physics:axis = "X"'
    )
    (joint,) = read(slide.replace("(5, 3, 1)", "(5, 0, 0)")).asset.joints
    assert joint.parent_frame.p.tolist() == pytest.approx([0, 0, 0])
    (joint,) = read(slide).asset.joints
    assert joint.parent_frame.p.tolist() == pytest.approx([5, 3, 1])
    generic = """float limit:transX:physics:low = -1
        float limit:transX:physics:high = 1
        float limit:rotZ:physics:low = -90
        float limit:rotZ:physics:high = 90
        float limit:transY:physics:low = 1
        float limit:transY:physics:high = -1
        float limit:transZ:physics:low = 1
        float limit:transZ:physics:high = -1"""
    generic = slide.replace(
        'PhysicsPrismaticJoint "root_joint" {', 'PhysicsJoint "root_joint" ( APIS ) {'
    ).replace('uniform token physics:axis = "X"', generic)
    apis = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in LIMITED)
    generic = generic.replace("APIS", f"prepend apiSchemas = [{apis}]")
    for place, stands in (("(5, 0, 0)", [0, 0, 0]), ("(5, 3, 1)", [5, 3, 1])):
        (joint,) = read(generic.replace("(5, 3, 1)", place)).asset.joints
        assert joint.parent_frame.p.tolist() == pytest.approx(stands)


def test_a_generic_joint_without_limits_holds_the_base_of_an_articulation(read):
    found = read(MOVED.replace("TYPE", "PhysicsJoint").replace("PLACE", ""))
    (joint,) = found.asset.joints
    assert (joint.kind, joint.dofs) == (JointKind.FIXED, [])
    assert joint.parent_frame.p.tolist() == pytest.approx([5, 3, 1])
    assert "usd-generic-holds-base" in found.kinds


def test_bodies_of_a_joint_that_says_nothing_do_not_collide(read):
    for said, collide in (("", False), ("= false", False), ("= true", True)):
        line = f"bool physics:collisionEnabled {said}" if said else ""
        found = read(two_bodies(f'def PhysicsRevoluteJoint "j" {{\n{ENDS}\n{line}\n}}'))
        assert found.asset.joint("j").collide is collide, said


def test_many_slides_on_the_world_are_compared_once(tmp_path, monkeypatch):
    """Each slide that stands away from its origin asks whether others hold its body."""
    count = 60
    slides = "".join(
        f"""
    def Xform "b{i}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        double3 xformOp:translate = ({i + 1}, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
    def PhysicsPrismaticJoint "j{i}"
    {{
        rel physics:body1 = </w/b{i}>
        uniform token physics:axis = "X"
    }}"""
        for i in range(count)
    )
    path = tmp_path / "slides.usda"
    path.write_text(
        '#usda 1.0\n(\n    defaultPrim = "w"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        f'def Xform "w"\n{{{slides}\n}}\n'
    )
    asked = []
    real = StageReader.get_targets

    def get_targets(self, at, name):
        asked.append(name)
        return real(self, at, name)

    monkeypatch.setattr(StageReader, "get_targets", get_targets)
    asset = simwright.load(path)
    assert len(asset.joints) == count
    assert len(asked) < 40 * count
