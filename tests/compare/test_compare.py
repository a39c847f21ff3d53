"""What the comparison finds, and what it does not take for a difference."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import simwright
from simwright.compare.difference import SECTIONS, make_settings
from simwright.compare.run import compare_assets
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle, vec3
from simwright.model.asset import (
    Actuator,
    Asset,
    Body,
    ContactFilter,
    Environment,
    Sensor,
    Shape,
    Site,
)
from simwright.model.geometry import Approximation, Box, Cylinder, Mesh, Plane, Polyline, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Equality, EqualityKind, Joint, JointKind, Mimic, Motion
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture


def solid(mass=1.0, com=(0.0, 0.0, 0.1)) -> Inertial:
    return Inertial(mass, vec3(com), np.diag((0.1, 0.2, 0.25)))


def hinge(name: str, axis=(0, 0, 1), **values) -> Dof:
    return Dof(Motion.HINGE, vec3(axis), name, **values)


CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
SIDES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def build_robot() -> Asset:
    """A free trunk with a shoulder ball, an elbow and a wrist of two crossed hinges."""
    bodies = [
        Body(name, inertial=solid(1 + i)) for i, name in enumerate(("trunk", "upper-arm", "fore-arm", "hand"))
    ]
    frame = Pose.of((0.1, 0.2, 0.3), (0.9, 0.1, -0.2, 0.3))
    joints = [
        Joint("shoulder", JointKind.BALL, "trunk", "upper-arm", frame, dofs=[Dof(Motion.BALL, name="shoulder")]),
        Joint("elbow", JointKind.REVOLUTE, "upper-arm", "fore-arm", Pose.of((0, 0, 0.4)),
              dofs=[hinge("elbow", (0, 1, 0), lower=-1.0, upper=2.0, drive=Drive(10.0, 1.0), armature=0.01)]),
        Joint("wrist", JointKind.UNIVERSAL, "fore-arm", "hand", Pose.of((0, 0, 0.3)), Pose.of((0, 0, -0.1)),
              dofs=[hinge("wrist_x", (1, 0, 0)), hinge("wrist_y", (0, 1, 0))]),
    ]  # fmt: skip
    shapes = [
        Shape("palm", Box.of(0.1, 0.05, 0.2), "hand", collision=True, material="skin", physics_material="rubber"),
        Shape("trunk", Cylinder(0.1, 0.5), "trunk", collision=True),
        Shape("bone", Mesh.of(CORNERS, SIDES), "fore-arm"),
    ]  # fmt: skip
    return Asset(
        "robot",
        bodies=bodies,
        joints=joints,
        shapes=shapes,
        sites=[Site("tip", "hand", Pose.of((0, 0, 0.1)))],
        sensors=[Sensor("touch", "contact", "hand", rate=100.0)],
        actuators=[Actuator("biceps", "motor", "elbow", gear=(2.0,))],
        mimics=[Mimic("wrist_y", "wrist_x", 0.5)],
        materials=[RenderMaterial("skin", (0.5, 0.4, 0.3))],
        physics_materials=[PhysicsMaterial("rubber", 0.9, 0.8)],
        environment=Environment(gravity=vec3(0, 0, -9.81)),
    )


def differing(a: Asset, b: Asset, **options) -> dict[str, list[str]]:
    difference = compare_assets(a, b, make_settings(**options))
    return {s.name: [f"{i.element}: {i.what}" for i in s.items] for s in difference.sections if not s.equal}


def test_a_robot_is_itself():
    difference = compare_assets(build_robot(), build_robot())
    assert difference.equal
    assert [s.name for s in difference.sections] == list(SECTIONS)
    assert difference.section("motion").compared == 6 + 3 + 1 + 2
    assert difference.section("masses").compared == 4
    assert difference.figure("mass matrix").error < 1e-14


@pytest.mark.parametrize(
    ("change", "section", "what"),
    [
        (lambda a: setattr(a.joint("elbow").dofs[0], "upper", 2.1), "limits", "upper limit"),
        (lambda a: setattr(a.joint("elbow").dofs[0], "effort_limit", 5.0), "limits", "effort limit"),
        (lambda a: setattr(a.joint("elbow").dofs[0], "ref", 0.1), "limits", "reference"),
        (lambda a: setattr(a.joint("elbow").dofs[0].drive, "stiffness", 11.0), "drives", "drive stiffness"),
        (lambda a: setattr(a.joint("elbow").dofs[0], "friction", 0.1), "drives", "friction"),
        (lambda a: setattr(a.joint("elbow").dofs[0], "axis", vec3(0, -1, 0)), "joints", "axis"),
        (lambda a: setattr(a.joint("elbow").dofs[0], "anchor", vec3(0.01, 0, 0)), "joints", "axis position"),
        (lambda a: setattr(a.joint("elbow"), "parent", "trunk"), "joints", "parent"),
        (lambda a: a.joints.reverse(), "order", "order"),
        (lambda a: setattr(a.body("hand"), "inertial", solid(4.1)), "masses", "mass"),
        (lambda a: setattr(a.body("hand"), "inertial", solid(4.0, (0, 0, 0.2))), "masses", "centre of mass"),
        (lambda a: setattr(a.body("hand"), "gravity_scale", 0.0), "bodies", "gravity scale"),
        (lambda a: setattr(a.environment, "gravity", vec3(0, 0, -1.62)), "gravity", "gravity"),
        (lambda a: setattr(a.sites[0], "pose", Pose.of((0, 0, 0.2))), "frames", "position"),
        (lambda a: setattr(a.sites[0], "body", "trunk"), "frames", "hangs on"),
        (lambda a: setattr(a.sensors[0], "rate", 50.0), "sensors", "rate"),
        (lambda a: a.sensors.clear(), "sensors", "sensor"),
        (lambda a: setattr(a.actuators[0], "gear", (3.0,)), "actuators", "gear"),
        (lambda a: setattr(a.mimics[0], "multiplier", -0.5), "constraints", "law"),
        (lambda a: a.mimics.clear(), "constraints", "leader"),
        (lambda a: setattr(a.shapes[0], "geometry", Box.of(0.1, 0.05, 0.3)), "visuals", "place"),
        (lambda a: setattr(a.shapes[1], "geometry", Cylinder(0.2, 0.5)), "collisions", "radius"),
        (lambda a: setattr(a.shapes[1], "geometry", Sphere(0.2)), "collisions", "kind"),
        (lambda a: setattr(a.materials[0], "diffuse", (0.5, 0.4, 0.4)), "materials", "colour"),
        (lambda a: setattr(a.physics_materials[0], "static_friction", 1.0), "materials", "static friction"),
        (
            lambda a: a.contact_filters.append(ContactFilter("hand", "trunk")),
            "contacts", "contact of 1 collider pair(s)",
        ),
    ],
)  # fmt: skip
def test_each_change_is_found_where_it_belongs(change, section, what):
    other = build_robot()
    change(other)
    found = differing(build_robot(), other)
    assert any(entry.endswith(f": {what}") for entry in found[section]), found


def test_a_changed_mass_moves_the_mass_matrix_and_bias():
    other = build_robot()
    other.body("hand").inertial = solid(4.1)
    difference = compare_assets(build_robot(), other, make_settings(["motion"]))
    matrix, bias = difference.figure("mass matrix"), difference.figure("bias")
    assert not difference.equal
    assert 1e-3 < matrix.error < 1.0
    assert bias.error > 1e-4
    assert "configuration" in matrix.where or "nothing moved" in matrix.where


def test_another_reference_is_one_difference():
    other = build_robot()
    dof = other.joint("elbow").dofs[0]
    dof.ref, dof.lower, dof.upper = 0.5, -0.5, 2.5
    dof.drive = Drive(10.0, 1.0, target_position=0.5)
    assert differing(build_robot(), other) == {"limits": ["DOF 'elbow': reference"]}


def test_frames_of_joints_may_be_turned():
    """Ball and hinge frames turned on both sides, the hinge's axis with them: the same machine."""
    other = build_robot()
    turn = Pose.of(q=quat_from_axis_angle((1, 2, 3), 1.1))
    for name in ("shoulder", "elbow"):
        joint = other.joint(name)
        joint.parent_frame, joint.child_frame = joint.parent_frame @ turn, joint.child_frame @ turn
        for dof in joint.dofs:
            dof.axis = (~turn).apply(dof.axis)
    assert differing(build_robot(), other) == {}


def test_a_bias_that_is_only_rounding_is_no_difference():
    """Gravity asks nothing of an upright hinge, whatever sixteen digits make of it; a tilt is felt."""

    def build(tilt: float) -> Asset:
        turn = Pose.of(q=quat_from_axis_angle((1, 2, 3), 1.1))
        frame = Pose.of(q=quat_from_axis_angle((1, 0, 0), tilt)) @ turn
        axis = (~turn).apply((0, 0, 1))
        joint = Joint("post", JointKind.REVOLUTE, "", "door", frame, turn, dofs=[hinge("post", axis)])
        door = Body("door", inertial=solid(5.0, (0.4, 0.1, 0.0)))
        return Asset(
            "gate", bodies=[door], joints=[joint], environment=Environment(gravity=vec3(0, 0, -9.81))
        )

    upright = build(0.0)
    upright.joints[0].parent_frame = upright.joints[0].child_frame = Pose.of()
    upright.joints[0].dofs[0].axis = vec3(0, 0, 1)
    assert differing(upright, build(0.0), only=["motion"]) == {}
    assert "motion" in differing(upright, build(1e-4), only=["motion"])


def test_a_mirrored_axis_is_another_convention():
    other = build_robot()
    dof = other.joint("elbow").dofs[0]
    dof.axis, dof.lower, dof.upper = -dof.axis, -2.0, 1.0
    found = differing(build_robot(), other)
    assert "DOF 'elbow': axis" in found["joints"]
    assert {"poses", "motion", "limits"} <= found.keys()


def test_legal_names_are_the_same_names():
    other = build_robot()
    for body in other.bodies:
        body.name = body.name.replace("-", "_")
    for element in (*other.joints, *other.shapes):
        for end in ("parent", "child", "body"):
            if hasattr(element, end):
                setattr(element, end, getattr(element, end).replace("-", "_"))
    assert differing(build_robot(), other) == {}


def test_the_name_ros_uses_counts():
    other = build_robot()
    elbow = other.joint("elbow")
    elbow.name, elbow.ros_name = "joint_7", "elbow"
    elbow.dofs[0].name = "joint_7"
    other.actuators[0].target = "joint_7"
    assert differing(build_robot(), other) == {}


def test_a_massless_fixed_link_may_be_a_site():
    first, second = build_robot(), build_robot()
    first.bodies.append(Body("tool"))
    first.joints.append(Joint("tool_mount", JointKind.FIXED, "hand", "tool", Pose.of((0.1, 0, 0))))
    first.sensors.append(Sensor("camera", "camera", "tool"))
    second.sites.append(Site("tool", "hand", Pose.of((0.1, 0, 0))))
    second.sensors.append(Sensor("camera", "camera", "hand", Pose.of((0.1, 0, 0))))
    assert differing(first, second) == {}
    second.sites[-1].pose = Pose.of((0.2, 0, 0))
    assert differing(first, second) == {"frames": ["frame 'tool': position"]}


def test_a_heavy_fixed_link_may_be_merged():
    first, second = build_robot(), build_robot()
    first.bodies.append(Body("tool", inertial=solid(0.5)))
    first.joints.append(
        Joint("mount", JointKind.FIXED, "hand", "tool", Pose.of((0.1, 0, 0), (0.6, 0.8, 0, 0)))
    )
    from simwright.model.inertia import combine

    hand, mount = second.body("hand"), first.joint("mount").transform(())
    hand.inertial = combine((hand.inertial, solid(0.5).moved(mount)))
    difference = compare_assets(first, second)
    assert [s.name for s in difference.sections if not s.equal] == ["bodies"]
    assert difference.section("masses").notes
    assert difference.figure("mass matrix").error < 1e-12


def test_a_body_that_is_gone_is_missed_in_the_total_mass():
    other = build_robot()
    other.bodies.append(Body("ballast", inertial=solid(5.0)))
    difference = compare_assets(build_robot(), other, make_settings(["masses"]))
    assert difference.figure("mass").error == 0.0
    assert difference.figure("total mass").error == pytest.approx(5.0 / 15.0)


def test_freedoms_of_one_joint_may_be_a_chain_of_joints():
    chain = build_robot()
    wrist = chain.joint("wrist")
    x, y = wrist.dofs
    chain.bodies.append(Body("between"))
    place = chain.joints.index(wrist)
    chain.joints[place : place + 1] = [
        Joint("wrist_x", JointKind.REVOLUTE, "fore-arm", "between", wrist.parent_frame, dofs=[x]),
        Joint("wrist_y", JointKind.REVOLUTE, "between", "hand", child_frame=wrist.child_frame, dofs=[y]),
    ]
    assert differing(build_robot(), chain) == {}
    difference = compare_assets(build_robot(), chain)
    assert difference.section("motion").compared == 12
    assert any("between" in note for note in difference.section("bodies").notes)


def test_a_floating_joint_and_no_joint_are_the_same():
    other = build_robot()
    other.joints.append(
        Joint("float", JointKind.FLOATING, "", "trunk", dofs=[Dof(Motion.FREE, name="float")])
    )
    assert differing(build_robot(), other) == {}


def test_a_fixed_base_is_a_difference_but_the_rest_is_compared():
    other = build_robot()
    other.joints.append(Joint("weld", JointKind.FIXED, "", "trunk"))
    difference = compare_assets(build_robot(), other)
    assert [s.name for s in difference.sections if not s.equal] == ["joints"]
    assert difference.section("motion").compared == 6
    assert difference.section("motion").notes == [
        "at rest, because only one side has them: 6 degree(s) of freedom"
    ]


def test_springs_rest_where_both_say():
    def sprung(rest: float | None) -> Asset:
        robot = build_robot()
        robot.joint("elbow").dofs[0].stiffness = 5.0
        robot.joint("elbow").dofs[0].spring_ref = rest
        return robot

    assert differing(sprung(0.3), sprung(0.3)) == {}
    assert differing(sprung(None), sprung(0.0)) == {}
    assert differing(sprung(0.3), sprung(0.4)) == {"drives": ["DOF 'elbow': rest of the spring"]}


def test_joints_that_close_loops_are_compared_by_their_anchors():
    """They are in no pose of the tree, so nothing else would show that one is elsewhere."""

    def looped(place: float) -> Asset:
        robot = build_robot()
        frames = Pose.of((1, 0, 0)), Pose.of((0, place, 0))
        dofs = [hinge("link", (0, 1, 0))]
        loop = Joint("link", JointKind.REVOLUTE, "trunk", "hand", *frames, dofs, closes_loop=True)
        robot.joints.append(loop)
        return robot

    assert differing(looped(0.1), looped(0.1)) == {}
    assert differing(looped(0.1), looped(0.2)) == {"joints": ["joint 'link': anchor on its child"]}


def test_loops_may_be_joints_or_equalities():
    first, second = build_robot(), build_robot()
    frame = Pose.of((0, 0.1, 0))
    first.equalities.append(
        Equality("loop", EqualityKind.CONNECT, "hand", "trunk", frame, Pose.of((1, 0, 0)))
    )
    second.joints.append(
        Joint(
            "loop",
            JointKind.BALL,
            "trunk",
            "hand",
            Pose.of((1, 0, 0)),
            frame,
            [Dof(Motion.BALL)],
            closes_loop=True,
            collide=True,
        )
    )
    assert differing(first, second) == {}
    second.joints[-1].child_frame = Pose.of((0, 0.2, 0))
    assert differing(first, second) == {"constraints": ["equality 'loop': where it holds"]}


def test_shapes_are_what_they_are():
    """A cube turned by a quarter, a cylinder about its axis, a sphere by a scale."""
    first = Asset("a", shapes=[
        Shape("cube", Box.of(1, 1, 2)), Shape("tin", Cylinder(0.1, 1.0)), Shape("ball", Sphere(2.0)),
        Shape("hull", Mesh.of([*CORNERS, (0.1, 0.1, 0.1)], SIDES), visual=False, collision=True),
    ])  # fmt: skip
    hull = Approximation("convexHull")
    second = Asset("b", shapes=[
        Shape("cube", Box.of(1, 2, 1), pose=Pose.of(q=quat_from_axis_angle((1, 0, 0), math.pi / 2))),
        Shape("tin", Cylinder(0.1, 1.0), pose=Pose.of(q=quat_from_axis_angle((1, 0, 0), math.pi))),
        Shape("ball", Sphere(1.0), scale=vec3(2, 2, 2), pose=Pose.of(q=quat_from_axis_angle((1, 2, 3), 0.7))),
        Shape("hull", Mesh.of(CORNERS[::-1], SIDES), visual=False, collision=True, approximation=hull),
    ])  # fmt: skip
    assert differing(first, second) == {}
    second.shapes[0].pose = Pose.of(q=quat_from_axis_angle((0, 0, 1), math.pi / 4))
    assert list(differing(first, second)) == ["visuals"]


def test_a_shape_that_only_one_side_has_is_told():
    less = build_robot()
    less.shapes = [shape for shape in less.shapes if shape.name != "bone"]
    for a, b, names in ((build_robot(), less, ("bone", None)), (less, build_robot(), (None, "bone"))):
        (item,) = compare_assets(a, b).section("visuals").items
        assert (item.element, item.what) == ("visual 'bone'", "mesh on fore-arm")
        assert (item.a, item.b) == names


@pytest.mark.parametrize(
    ("one", "other"), [(Cylinder(1e-3, 1.0), Cylinder(1.001e-3, 1.0)), (Sphere(1e-3), Sphere(1.001e-3))]
)
def test_a_radius_is_measured_against_itself(one, other):
    """A thousandth of a millimetre is much for what is a millimetre thin."""
    first, second = (Asset("a", shapes=[Shape("rod", geometry)]) for geometry in (one, other))
    assert differing(first, second, rtol=1e-5) == {"visuals": ["visual 'rod': radius"]}
    assert differing(first, second, rtol=1e-2) == {}


def test_laws_between_tendons_are_compared():
    def build(**changes):
        law = Equality("law", EqualityKind.TENDON, "left", "right", polynomial=(0.0, 2.0))
        return Asset("a", bodies=[Body("b")], equalities=[dataclasses.replace(law, **changes)])

    assert differing(build(), build()) == {}
    assert differing(build(), build(polynomial=(0.0, 2.5))) == {"constraints": ["equality 'law': law"]}
    assert differing(build(), build(b="other")) == {"constraints": ["equality 'law': end b"]}
    assert differing(build(), build(enabled=False)) == {"constraints": ["equality 'law': enabled"]}
    assert differing(build(), Asset("a", bodies=[Body("b")])) == {"constraints": ["equality 'law': tendon"]}


def test_extruded_outlines_are_compared_by_points_loops_and_height():
    square = np.array(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)))

    def build(*loops, height=0.5, **more):
        return Asset("a", shapes=[Shape("plate", Polyline(loops, height), **more)])

    assert differing(build(square), build(square / 2, height=0.25, scale=vec3(2, 2, 2))) == {}
    for other in (build(square * 1.1), build(square, height=0.6), build(square[:2], square[2:])):
        assert list(differing(build(square), other)) == ["visuals"]


def test_what_is_inside_counts_unless_one_side_is_a_hull():
    def build(token, inner):
        mesh = Mesh.of([*CORNERS, inner], [*SIDES, (0, 1, 4)])
        shape = Shape("s", mesh, visual=False, collision=True, approximation=Approximation(token))
        return Asset("a", shapes=[shape])

    places = (0.1, 0.1, 0.1), (0.2, 0.2, 0.1)
    for tokens, different in ((("none", "none"), True), (("none", "convexHull"), False)):
        first, second = (build(token, inner) for token, inner in zip(tokens, places, strict=True))
        assert (differing(first, second, only=["collisions"]) != {}) == different


def test_planes_without_end_may_slide():
    first = Asset("a", shapes=[Shape("floor", Plane(), pose=Pose.of((3, 4, 1)), collision=True)])
    second = Asset("b", shapes=[Shape("floor", Plane(), pose=Pose.of((0, 0, 1)), collision=True)])
    assert differing(first, second) == {}
    second.shapes[0].pose = Pose.of((0, 0, 2))
    assert set(differing(first, second)) == {"visuals", "collisions"}


def test_numbers_that_are_none_are_never_equal():
    other = build_robot()
    other.body("hand").inertial = Inertial(math.nan, vec3(), np.eye(3))
    found = differing(build_robot(), other)
    assert {"masses", "motion"} <= found.keys()


def test_machines_with_nothing_in_common_are_never_equal():
    other = Asset("other", bodies=[Body("rock", inertial=solid())])
    found = differing(build_robot(), other, only=["poses", "motion"])
    assert found == {
        "poses": ["asset: bodies, none of them shared"],
        "motion": ["asset: freedoms, none of them shared"],
    }


def test_empty_assets_are_equal():
    assert differing(Asset("a"), Asset("b")) == {}


def test_configurations_follow_the_seed():
    other = build_robot()
    other.joint("elbow").parent_frame = Pose.of((0, 1e-3, 0.4))
    runs = [
        compare_assets(build_robot(), other, make_settings(["motion"], seed=s)).figure("bias").error
        for s in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_crowd_is_compared_tree_by_tree():
    """Many free bodies: the mass matrix is never built whole."""
    crowd = [Body(f"b{i}", Pose.of((i, 0, 0)), solid(1.0 + i)) for i in range(300)]
    first, second = Asset("a", bodies=crowd), Asset("b", bodies=[dataclasses.replace(b) for b in crowd])
    assert differing(first, second, only=["dynamics"]) == {}
    second.bodies[250].inertial = solid(1.0)
    assert set(differing(first, second, only=["dynamics"])) == {"masses", "motion"}


def test_options():
    settings = make_settings(["dynamics", "poses"], ["motion"])
    assert settings.sections == ("poses", "gravity", "options", "masses", "drives", "actuators")
    with pytest.raises(UnknownNameError, match="did you mean 'dynamics'"):
        make_settings(["dynamic"])
    with pytest.raises(UsageError, match="nothing is left"):
        make_settings(["poses"], ["kinematics"])
    for wrong in ({"rtol": -1.0}, {"rtol": math.nan}, {"configurations": -1}, {"seed": -1}):
        with pytest.raises(UsageError):
            make_settings(**wrong)


def test_public_function(samples):
    arm = samples / "arm/urdf"
    difference = simwright.diff(arm / "arm.urdf", arm / "arm.urdf.xacro")
    assert difference.equal
    assert not simwright.diff(arm / "arm.urdf", build_robot(), only="bodies").equal
    assert simwright.diff(build_robot(), build_robot(), ignore=["geometry"], rtol=0.0, configurations=0).equal


def test_where_coordinates_start_is_not_what_they_mean():
    """A joint at 0.5 in the file, and one whose frame is turned back by that: equal poses at equal coordinates."""
    first, second = build_robot(), build_robot()
    dof, joint = first.joint("elbow").dofs[0], second.joint("elbow")
    dof.ref, dof.position = 0.5, 0.5
    turn = Pose.of(q=quat_from_axis_angle(joint.dofs[0].axis, -0.5))
    joint.parent_frame @= turn
    assert differing(first, second) == {"keyframes": ["DOF 'elbow': initial position"]}
    assert differing(second, first) == {"keyframes": ["DOF 'elbow': initial position"]}
    joint.parent_frame @= turn
    assert "poses" in differing(first, second)


def test_where_a_free_body_begins_is_one_difference():
    other = build_robot()
    root = other.body("trunk")
    root.pose = Pose.of((0, 0, 0.4)) @ root.pose
    assert differing(build_robot(), other) == {"poses": ["start of body 'trunk': position"]}


def test_a_mesh_with_the_looks_of_its_file_says_none_of_its_own():
    other = build_robot()
    other.materials.append(RenderMaterial("bone", textures={"diffuse": Texture("bone.png")}))
    next(s for s in other.shapes if s.name == "bone").material = "bone"
    assert differing(build_robot(), other) == {}
    assert "textures is said by one side only: 1 shape(s)" in (
        compare_assets(build_robot(), other).section("materials").notes
    )
