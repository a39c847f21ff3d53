"""Attaching and detaching: names, references, places, and what cannot be carried."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.asset import (
    Actuator,
    Articulation,
    Asset,
    Body,
    Camera,
    CollisionGroup,
    ContactFilter,
    ContactPair,
    Keyframe,
    Sensor,
    Shape,
    Site,
)
from simwright.model.elements import Movement, Track
from simwright.model.extras import CustomAttribute, Resolved
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Box, Mesh, MeshData, Subset
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Equality,
    EqualityKind,
    Joint,
    JointKind,
    Mimic,
    Motion,
    Tendon,
    TendonPoint,
)
from simwright.model.material import LookVariant, PhysicsMaterial, RenderMaterial
from simwright.model.ros import Controller, Interface, InterfaceKind, RosContext

QUARTER = Pose.of((0.0, 0.0, 0.1), quat_from_axis_angle((0, 0, 1), np.pi / 2))
MASS = Inertial(1.0, inertia=np.eye(3))


def make_arm() -> Asset:
    arm = Asset("arm")
    arm.bodies = [Body("base", inertial=MASS), Body("tip", Pose.of((1.0, 0.0, 0.0)), inertial=MASS)]
    arm.joints = [
        Joint("anchor", JointKind.FIXED, "", "base"),
        Joint(
            "elbow", JointKind.REVOLUTE, "base", "tip", Pose.of((1.0, 0.0, 0.0)),
            dofs=[Dof(Motion.HINGE, name="elbow")],
        ),
    ]  # fmt: skip
    arm.shapes = [Shape("stick", Box.of(1, 1, 1), "tip", collision=True)]
    arm.sites = [Site("flange", "tip", Pose.of((0.0, 0.0, 0.5)))]
    arm.keyframes = [Keyframe("home", {"elbow": 0.5})]
    return arm


def make_hand() -> Asset:
    """Something of every sort, all of it referring to something else."""
    triangle = MeshData(
        np.eye(3), np.array([0, 1, 2], np.int32), subsets=(Subset("f", np.array([0]), "red"),)
    )
    hand = Asset("hand")
    hand.bodies = [
        Body("palm", inertial=MASS, path="/hand/palm"),
        Body("left", Pose.of((0.0, 0.1, 0.0)), inertial=MASS, linear_velocity=np.array((1.0, 0.0, 0.0))),
        Body("right", Pose.of((0.0, -0.1, 0.0)), inertial=MASS),
    ]
    slide = {"axis": np.array((0.0, 1.0, 0.0)), "upper": 0.04}
    hand.joints = [
        Joint("hold", JointKind.FIXED, "", "palm"),
        Joint(
            "left_slide", JointKind.PRISMATIC, "palm", "left", Pose.of((0.0, 0.1, 0.0)), ros_name="left_ros",
            dofs=[Dof(Motion.SLIDE, name="left_slide", **slide)],
        ),
        Joint(
            "right_slide", JointKind.PRISMATIC, "palm", "right", Pose.of((0.0, -0.1, 0.0)),
            dofs=[Dof(Motion.SLIDE, name="right_slide", **slide)],
        ),
    ]  # fmt: skip
    hand.shapes = [
        Shape("pad", Mesh(triangle), "left", collision=True, material="red", physics_material="rubber"),
        Shape("other_pad", Box.of(1, 1, 1), "right", collision=True),
        Shape("plate", Box.of(1, 1, 1), "", Pose.of((0.0, 0.0, -0.1)), material="red"),
    ]
    hand.materials = [RenderMaterial("red", diffuse=(1.0, 0.0, 0.0))]
    hand.physics_materials = [PhysicsMaterial("rubber", 1.0)]
    hand.sites = [Site("grip", "palm", ros_frame="grip_frame")]
    hand.cameras = [Camera("eye", "palm")]
    hand.sensors = [
        Sensor("touch", "touch", "left", target="grip", settings={"reference": "palm", "topic": "touch"}),
        Sensor("pull", "tendon_length", target="rope"),
    ]
    hand.tendons = [Tendon("rope", [TendonPoint("joint", "left_slide"), TendonPoint("joint", "right_slide")])]
    hand.actuators = [
        Actuator("squeeze", "motor", "rope", "tendon", settings={"slider_site": "grip", "plugin": "pid"})
    ]
    hand.equalities = [Equality("tie", EqualityKind.CONNECT, "left", "")]
    hand.mimics = [Mimic("right_slide", "left_slide", name="both")]
    hand.collision_groups = [CollisionGroup("fingers", ["left", "other_pad"], ["fingers"])]
    hand.contact_filters = [ContactFilter("palm", "left")]
    hand.contact_pairs = [ContactPair("pad", "other_pad", "pinch")]
    hand.interfaces = [
        Interface(InterfaceKind.TOPIC, "publisher", "touch", "t", at="touch", frame_override="grip_frame"),
        Interface(InterfaceKind.TOPIC, "publisher", "/tf", "t"),
    ]
    hand.contexts = [RosContext("hand_space", at="hand")]
    hand.controllers = [
        Controller(
            "squeezer", "joint_trajectory", {"command": ["left_ros"]}, {"server": "squeeze"},
            {"joints": {"left_slide": {"min": 0}}, "body": "palm", "state_interfaces": ["position"]},
        )
    ]  # fmt: skip
    hand.keyframes = [Keyframe("home", {"left_slide": 0.01}, {}, {"squeeze": 1.0})]
    hand.custom_attributes = [CustomAttribute("w", "model", "body", "float", 0.0, values={"left": 2.0})]
    hand.look_variants = [LookVariant("look", "blue", {("pad", "f"): "red"})]
    hand.extras.keep("mjc", "joint/left_slide", "margin", 0.1)
    hand.extras.keep("mjc", "camera/eye", "target", "palm")
    hand.extras.keep("mjc", "option", "ccd_iterations", 5)
    hand.extras.keep("mjc", "material/red", "texture_rgb", "wood")
    hand.extras.keep("mjc", "texture/wood", "builtin", "checker")
    hand.extras.keep("mjc", "plugin/pid", "plugin", "mujoco.pid")
    hand.extras.keep("urdf", "left_slide", "limit.acceleration", 3.0)
    hand.extras.keep("physx", "/hand/palm", "physx:sleep", 1)
    hand.origins = {"/hand/palm": {"mass": Resolved(1.0)}}
    track = Track(np.zeros((2, 3)), np.tile((1.0, 0, 0, 0), (2, 1)), np.ones((2, 3)))
    hand.motion = Movement(np.array((0.0, 1.0)), bodies={"palm": track})
    return hand


def find_dangling(asset: Asset) -> list[str]:
    """References to nothing."""
    bodies = {"", *asset.body_names}
    shapes = {shape.name for shape in asset.shapes}
    dofs = {dof.name for joint in asset.joints for dof in joint.dofs}
    published = {name for joint in asset.joints for name in (joint.name, joint.ros_name)}
    looks = {"", *(material.name for material in asset.materials)}
    touches = {"", *(material.name for material in asset.physics_materials)}
    tendons = {tendon.name for tendon in asset.tendons}
    sites = {site.name for site in asset.sites}
    actuators = {actuator.name for actuator in asset.actuators}
    anything = bodies | shapes | dofs | tendons | sites | actuators | {s.name for s in asset.sensors}
    checks = [
        *((joint.parent, bodies) for joint in asset.joints),
        *((joint.child, bodies) for joint in asset.joints),
        *((e.body, bodies) for f in ("shapes", "sites", "cameras", "sensors") for e in getattr(asset, f)),
        *((shape.material, looks) for shape in asset.shapes),
        *((shape.physics_material, touches) for shape in asset.shapes),
        *((s.material, looks) for m in asset.geometries() if isinstance(m, Mesh) for s in m.data.subsets),
        *((point.name, dofs) for tendon in asset.tendons for point in tendon.path),
        *((actuator.target, tendons | dofs) for actuator in asset.actuators),
        *((actuator.settings.get("slider_site", ""), sites | {""}) for actuator in asset.actuators),
        *((sensor.target, anything) for sensor in asset.sensors),
        *((sensor.settings.get("reference", ""), bodies) for sensor in asset.sensors),
        *((end, bodies) for equality in asset.equalities for end in (equality.a, equality.b)),
        *((end, dofs) for mimic in asset.mimics for end in (mimic.leader, mimic.follower)),
        *((member, bodies | shapes) for group in asset.collision_groups for member in group.members),
        *((end, bodies) for pair in asset.contact_filters for end in (pair.a, pair.b)),
        *((end, shapes) for pair in asset.contact_pairs for end in (pair.a, pair.b)),
        *((interface.at, anything) for interface in asset.interfaces),
        *((context.at, anything) for context in asset.contexts),
        *((name, published) for c in asset.controllers for names in c.joints.values() for name in names),
        *((name, published) for c in asset.controllers for name in c.settings.get("joints", ())),
        *((controller.settings.get("body", ""), bodies) for controller in asset.controllers),
        *((name, dofs) for keyframe in asset.keyframes for name in keyframe.positions),
        *((name, actuators) for keyframe in asset.keyframes for name in keyframe.controls),
        *((name, bodies) for custom in asset.custom_attributes for name in custom.values),
        *((name, shapes) for variant in asset.look_variants for name, _ in variant.materials),
        *((look, looks) for variant in asset.look_variants for look in variant.materials.values()),
        *((name, bodies) for name in (asset.motion.bodies if asset.motion else ())),
    ]
    return [name for name, known in checks if name not in known]


def test_the_example_is_sound():
    assert find_dangling(make_arm()) == []
    hand = make_hand()
    assert find_dangling(hand) == ["hand"], "its context speaks of the whole asset"


def test_everything_gets_the_prefix_and_refers_to_what_it_did():
    arm = make_arm()
    added = arm.attach(make_hand(), at="flange", prefix="g_")
    assert find_dangling(arm) == []
    assert arm.body_names == ["base", "tip", "g_palm", "g_left", "g_right"]
    assert added.bodies == ["g_left", "g_palm", "g_right"]
    assert arm.joint("g_left_slide").ros_name == "g_left_ros"
    assert arm.joint("g_left_slide").dofs[0].name == "g_left_slide"
    assert arm.site("g_grip").ros_frame == "g_grip_frame"
    assert arm.sensor("g_touch").settings == {"reference": "g_palm", "topic": "g_touch"}
    assert [i.name for i in arm.interfaces] == ["g_touch", "/tf"]
    assert arm.interfaces[0].frame_override == "g_grip_frame"
    assert arm.contexts[0].at == "g_palm"
    controller = arm.controller("g_squeezer")
    assert controller.settings["state_interfaces"] == ["position"]
    assert controller.interfaces == {"server": "g_squeeze"}
    assert arm.keyframe("g_home").controls == {"g_squeeze": 1.0}
    assert arm.contact_pairs[0].name == "g_pinch"
    assert arm.mimics[0].name == "g_both"
    assert arm.collision_groups[0].filtered == ["g_fingers"]


def test_what_is_kept_beside_the_model_follows():
    arm = make_arm()
    arm.attach(make_hand(), at="flange", prefix="g_")
    assert arm.extras.values() == {
        "mjc": {
            "joint/g_left_slide": {"margin": 0.1},
            "camera/g_eye": {"target": "g_palm"},
            "material/g_red": {"texture_rgb": "g_wood"},
            "texture/g_wood": {"builtin": "checker"},
            "plugin/g_pid": {"plugin": "mujoco.pid"},
        },
        "urdf": {"g_left_slide": {"limit.acceleration": 3.0}},
        "physx": {"/hand/palm": {"physx:sleep": 1}},
    }
    assert set(arm.origins) == {"/hand/palm"}
    assert arm.actuator("g_squeeze").settings == {"slider_site": "g_grip", "plugin": "g_pid"}


def test_a_material_beside_the_model_is_renamed_as_materials_are_if_the_asset_has_it():
    arm, hand = make_arm(), make_hand()
    for skin, material in (("glove", "red"), ("ring", "brass")):
        hand.extras.keep("mjc", f"skin/{skin}", "material", material)
    arm.attach(hand, at="flange", prefix="g_")
    kept = arm.extras.values()["mjc"]
    assert kept["skin/g_glove"] == {"material": "g_red"}
    assert kept["skin/g_ring"] == {"material": "brass"}, "nobody knows what this is"


def test_one_asset_twice_keeps_both_apart():
    arm = make_arm()
    hand = make_hand()
    arm.attach(hand, at="flange", prefix="a_")
    arm.attach(hand, at="tip", prefix="b_", pose=Pose.of((0.0, 1.0, 0.0)))
    assert find_dangling(arm) == []
    assert [arm.body(name).path for name in ("a_palm", "b_palm")] == ["/hand/palm", "/b/hand/palm"]
    assert set(arm.extras.table["physx"]) == set(arm.origins) == {"/hand/palm", "/b/hand/palm"}
    assert arm.custom_attributes[0].values == {"a_left": 2.0, "b_left": 2.0}
    assert hand.body_names == ["palm", "left", "right"], "what is attached is a copy"


def test_it_lies_on_the_place():
    arm = make_arm()
    arm.attach(make_hand(), at="flange", prefix="g_", pose=QUARTER)
    expected = Pose.of((1.0, 0.0, 0.5)) @ QUARTER
    assert arm.body("g_palm").pose.is_close(expected)
    assert arm.body("g_left").pose.is_close(expected @ Pose.of((0.0, 0.1, 0.0)))
    assert arm.body("g_left").linear_velocity == pytest.approx((0.0, 1.0, 0.0))
    assert arm.joint("g_hold").parent == "tip"
    assert arm.shape("g_plate").body == "tip"
    assert arm.shape("g_plate").pose.is_close(Pose.of((0.0, 0.0, 0.5)) @ QUARTER @ Pose.of((0.0, 0.0, -0.1)))
    assert arm.equalities[0].b == "tip"
    assert arm.sensor("g_pull").body == "", "a tendon's sensor is nowhere"
    assert arm.motion is not None
    assert arm.motion.bodies["g_palm"].positions[0] == pytest.approx(expected.p)
    moved = arm.forward_kinematics({"elbow": np.pi / 2, "g_left_slide": 0.02})
    fresh = arm.forward_kinematics()
    assert all(fresh[body.name].is_close(body.pose) for body in arm.bodies)
    assert moved["g_palm"].p == pytest.approx((1.0, 0.0, 0.6))
    assert not moved["g_palm"].is_close(fresh["g_palm"])


@pytest.mark.parametrize("form", ["pose", "pair", "matrix", "lists"])
def test_poses_are_taken_as_people_write_them(form):
    given = {
        "pose": QUARTER,
        "pair": (QUARTER.p, QUARTER.q),
        "matrix": QUARTER.matrix,
        "lists": QUARTER.matrix.tolist(),
    }[form]
    arm = make_arm()
    assert arm.attach(make_hand(), at="tip", prefix="g_", pose=given).pose.is_close(QUARTER)


@pytest.mark.parametrize(
    "pose", [(1, 2, 3), np.eye(3), np.eye(4) * 2, ((0, 0), (1, 0, 0, 0)), ((0, 0, 0), (0, 0, 0, 0)), 5, "x"]
)
def test_what_is_no_pose_is_told(pose):
    arm = make_arm()
    with pytest.raises(UsageError, match="is not a pose"):
        arm.attach(make_hand(), at="tip", prefix="g_", pose=pose)
    assert arm.body_names == ["base", "tip"]


def test_bodies_and_sites_themselves_are_places():
    arm = make_arm()
    arm.sites.append(Site("tip", "base", Pose.of((0.0, 0.0, 9.0))))
    arm.attach(make_hand(), at=arm.site("tip"), prefix="a_")
    arm.attach(make_hand(), at="tip", prefix="b_")
    arm.attach(make_hand(), at=arm.body("base"), prefix="c_")
    arm.attach(make_hand(), prefix="d_")
    assert [arm.joint(f"{p}_hold").parent for p in "abcd"] == ["base", "tip", "base", ""]
    assert arm.body("a_palm").pose.p == pytest.approx((0.0, 0.0, 9.0))


def test_a_place_that_is_not_there_names_near_ones():
    with pytest.raises(UnknownNameError, match="did you mean 'flange'"):
        make_arm().attach(make_hand(), at="flnge", prefix="g_")


def test_names_of_both_are_told_and_nothing_is_changed():
    arm = make_arm()
    other = make_arm()
    before = arm.extras.values(), [len(getattr(arm, f.name)) for f in dataclasses.fields(arm)[1:20]]
    with pytest.raises(UsageError, match=r"both have 'base' \(bodies\), 'tip' .* and 1 more.*prefix='arm_'"):
        arm.attach(other, at="flange")
    assert before == (arm.extras.values(), [len(getattr(arm, f.name)) for f in dataclasses.fields(arm)[1:20]])
    arm.attach(other, at="flange", prefix="arm_")


def test_materials_that_are_the_same_are_one_and_others_clash():
    arm, hand = make_arm(), make_hand()
    arm.materials = [RenderMaterial("red", diffuse=(1.0, 0.0, 0.0))]
    arm.attach(hand, at="tip")
    assert [material.name for material in arm.materials] == ["red"]
    arm = make_arm()
    arm.materials = [RenderMaterial("red", diffuse=(0.0, 1.0, 0.0))]
    with pytest.raises(UsageError, match=r"'red' \(materials\)"):
        arm.attach(hand, at="tip")


def test_states_of_one_name_become_states_of_the_whole():
    arm = make_arm()
    arm.attach(make_hand(), at="tip")
    assert arm.keyframe("home").positions == {"elbow": 0.5, "left_slide": 0.01}


def test_roots_without_a_joint_get_one_and_free_ones_are_fixed(reporter):
    box = Asset("box", bodies=[Body("a", Pose.of((0, 0, 1.0))), Body("b", Pose.of((0, 0, 2.0)))])
    box.joints = [Joint("free", JointKind.FLOATING, "", "b", dofs=[Dof(Motion.FREE, name="free")])]
    box.actuators = [Actuator("thrust", "motor", "free")]
    box.keyframes = [Keyframe("up", {"free": [0, 0, 5.0, 1, 0, 0, 0]})]
    arm = make_arm()
    arm.attach(box, at="tip", prefix="x_", reporter=reporter)
    assert [(j.name, j.kind, j.parent, j.child) for j in arm.joints[2:]] == [
        ("x_free", JointKind.FIXED, "tip", "x_b"),
        ("x_a_mount", JointKind.FIXED, "tip", "x_a"),
    ]
    poses = arm.forward_kinematics()
    assert poses["x_b"].p == pytest.approx((1.0, 0.0, 2.0))
    assert poses["x_a"].p == pytest.approx((1.0, 0.0, 1.0))
    assert arm.actuators == []
    assert arm.keyframe("x_up").positions == {}
    assert [found.kind for found in reporter] == ["attach-freedom"]


def test_joints_from_the_world_start_at_the_place():
    cart = Asset("cart", bodies=[Body("cart")])
    axis = np.array((1.0, 0.0, 0.0))
    cart.joints = [Joint("rail", JointKind.PRISMATIC, "", "cart", dofs=[Dof(Motion.SLIDE, axis, "rail")])]
    arm = make_arm()
    arm.attach(cart, at="flange")
    assert arm.joint("rail").kind is JointKind.PRISMATIC
    assert arm.forward_kinematics({"rail": 2.0})["cart"].p == pytest.approx((3.0, 0.0, 0.5))


def test_a_joint_of_ones_own():
    arm = make_arm()
    turn = Joint("wrist", JointKind.REVOLUTE, "", "", dofs=[Dof(Motion.HINGE)])
    arm.attach(make_hand(), at="flange", prefix="g_", joint=turn)
    assert (turn.parent, turn.child) == ("", ""), "the one that is given is left alone"
    wrist = arm.joint("wrist")
    assert (wrist.parent, wrist.child, wrist.dofs[0].name) == ("tip", "g_palm", "wrist")
    assert "g_hold" not in arm.joint_names
    assert arm.forward_kinematics({"wrist": np.pi / 2})["g_left"].p == pytest.approx((0.9, 0.0, 0.5))
    pair = Asset("pair", bodies=[Body("a"), Body("b")])
    with pytest.raises(UsageError, match="2 root bodies"):
        arm.attach(pair, joint=turn, prefix="p_")


def test_another_world_is_a_warning(reporter):
    arm, hand = make_arm(), make_hand()
    hand.environment.gravity, hand.environment.timestep = np.array((0, 0, -9.81)), 0.002
    hand.environment.magnetic_field = np.array((0.0, 1.0, 0.0))
    arm.attach(hand, at="tip", prefix="a_", reporter=reporter)
    assert list(reporter) == [], "that is what counts where nobody says anything"
    hand.environment.gravity, hand.environment.settings = np.array((0, 0, -1.6)), {"integrator": "rk4"}
    arm.environment.timestep = 0.01
    arm.attach(hand, at="tip", prefix="b_", reporter=reporter)
    (found,) = reporter
    assert found.kind == "attach-world"
    assert "gravity (0 0 -1.6), timestep 0.002, integrator rk4" in found.message
    assert "gravity not said, timestep 0.01, integrator not said" in found.message
    assert arm.environment.gravity is None


def test_movements_with_other_times_are_left_out(reporter):
    arm, hand = make_arm(), make_hand()
    arm.attach(hand, at="tip", prefix="a_")
    assert hand.motion is not None
    hand.motion = dataclasses.replace(hand.motion, times=np.array((0.0, 2.0)))
    arm.attach(hand, at="tip", prefix="b_", reporter=reporter)
    assert [found.kind for found in reporter] == ["attach-motion"]
    assert arm.motion is not None
    assert set(arm.motion.bodies) == {"a_palm"}


@pytest.mark.parametrize(("ours", "theirs"), [(True, False), (False, True), (False, False), (True, True)])
def test_contacts_stay_as_both_have_them(ours, theirs):
    """An articulation speaks of a whole tree; here two trees become one."""
    arm = make_arm()
    arm.shapes.append(Shape("far", Box.of(1, 1, 1), "base", collision=True))
    arm.joint("elbow").collide = True
    arm.articulations = [Articulation("arm", "base", self_collide=ours)]
    hand = make_hand()
    hand.collision_groups, hand.contact_filters = [], []
    hand.articulations = [Articulation("hand", "palm", self_collide=theirs)]
    arm.attach(hand, at="tip", prefix="g_")
    pairs = find_filtered_pairs(arm)
    assert (("stick", "far") in pairs) == (not ours)
    assert (("g_pad", "g_other_pad") in pairs) == (not theirs)
    assert (("far", "g_pad") in pairs) == (not ours and not theirs)
    assert [found.name for found in arm.articulations] == ["arm"]


def test_detaching_what_was_attached_gives_it_back():
    arm = make_arm()
    added = arm.attach(make_hand(), at="flange", prefix="g_", pose=QUARTER)
    reporter = Reporter()
    part = arm.detach(added, reporter=reporter)
    assert list(reporter) == []
    hand = make_hand()
    for family in dataclasses.fields(Asset):
        ours, theirs = getattr(part, family.name), getattr(hand, family.name)
        if isinstance(ours, list):
            names = [getattr(e, "name", "") for e in ours], [getattr(e, "name", "") for e in theirs]
            assert names[0] == names[1], family.name
    assert find_dangling(part) == []
    assert all(part.body(body.name).pose.is_close(body.pose) for body in hand.bodies)
    assert part.shape("plate").body == ""
    assert part.shape("plate").pose.is_close(hand.shape("plate").pose)
    assert part.equalities[0].b == ""
    hand.extras.table["mjc"].pop("option")
    assert part.extras.values() == hand.extras.values()
    assert part.controllers == hand.controllers
    assert part.mimics == hand.mimics
    assert part.keyframes == hand.keyframes
    assert part.custom_attributes == hand.custom_attributes
    assert part.motion is not None
    assert part.motion.bodies["palm"].positions == pytest.approx(np.zeros((2, 3)))
    left = make_arm()
    assert [arm.body_names, arm.joint_names] == [left.body_names, left.joint_names]
    assert (len(arm.shapes), len(arm.sites), arm.materials, arm.interfaces) == (1, 1, [], [])
    assert arm.keyframes == left.keyframes
    assert not any(arm.extras.table.values())
    assert arm.motion is None


def test_detaching_by_prefix():
    arm = make_arm()
    arm.attach(make_hand(), at="flange", prefix="g_", pose=QUARTER)
    part = arm.detach("g_")
    assert part.name == "g"
    assert part.body_names == ["palm", "left", "right"]
    assert part.body("palm").pose.is_identity(1e-12)
    assert find_dangling(part) == find_dangling(arm) == []
    assert arm.body_names == ["base", "tip"]


def test_detaching_a_body_takes_what_hangs_on_it_and_the_joint_it_hung_by():
    arm = make_arm()
    arm.attach(make_hand(), at="flange", prefix="g_")
    place = arm.body("tip").pose
    part = arm.detach("tip")
    assert arm.body_names == ["base"]
    assert part.body_names == ["tip", "g_palm", "g_left", "g_right"]
    assert (part.joint("elbow").parent, part.joint("elbow").child) == ("", "tip")
    assert arm.keyframe("home").positions == {}
    arm.attach(part, at="base", pose=place)
    assert arm.forward_kinematics({"elbow": np.pi / 2})["g_left"].p == pytest.approx((0.9, 0.0, 0.5))
    assert arm.keyframe("home").positions == {"elbow": 0.5}


def test_what_connects_both_sides_is_left_out_and_told(reporter):
    hand = make_hand()
    part = hand.detach("left", reporter=reporter)
    (found,) = reporter
    assert found.kind == "detach-severed"
    for word in ("tendon 'rope'", "actuator 'squeeze'", "sensor 'touch'", "equality 'tie'", "and 4 more"):
        assert word in found.message, found.message
    assert find_dangling(part) == []
    assert find_dangling(hand) == ["hand"]
    assert [group.members for group in (*part.collision_groups, *hand.collision_groups)] == [
        ["left"],
        ["other_pad"],
    ]
    assert [material.name for material in part.materials] == ["red"]
    assert [material.name for material in hand.materials] == ["red"], "the plate has it too"
    assert hand.physics_materials == []
    assert [c.name for c in part.controllers] == ["squeezer"]


def test_controllers_of_joints_on_both_sides_stay(reporter):
    hand = make_hand()
    joints = ["left_slide", "right_slide"]
    hand.controllers = [Controller("c", "ros2_control", {"state": joints}, settings={"joints": list(joints)})]
    hand.detach("left", reporter=reporter)
    assert hand.controller("c").joints == {"state": ["right_slide"]}
    assert hand.controller("c").settings["joints"] == ["right_slide"]
    assert "joint 'left_slide' of the controller 'c'" in reporter.found[0].data["severed"]


def test_articulations_that_do_not_touch_themselves_are_on_both_sides():
    arm = make_arm()
    arm.articulations = [Articulation("arm", "base", self_collide=False)]
    part = arm.detach("tip")
    assert [(a.name, a.root, a.self_collide) for a in part.articulations] == [("arm", "tip", False)]
    arm.attach(part, at="base")
    assert [(a.name, a.self_collide) for a in arm.articulations] == [("arm", False)]
    assert arm.contact_filters == []


@pytest.mark.parametrize("what", ["nobody", ""])
def test_what_is_not_there_cannot_be_detached(what):
    with pytest.raises(UnknownNameError, match="unknown body or prefix"):
        make_arm().detach(what)
