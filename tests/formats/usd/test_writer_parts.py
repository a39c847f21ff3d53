"""Names, frames, ROS, motors, vendor layers, and where an asset may be written."""

from __future__ import annotations

import math

import numpy as np
import pytest
from writing import assert_same_bodies, assert_same_joints, make_trip

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import OutputError, UsageError
from simwright.core.math3d import Pose, quat_from_rpy
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer.entry import write
from simwright.model.asset import (
    Actuator,
    Articulation,
    Asset,
    Body,
    Camera,
    Keyframe,
    Light,
    LightKind,
    Sensor,
    Shape,
    Site,
)
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion, Tendon, TendonPoint
from simwright.model.kinematics import place_bodies
from simwright.model.material import to_linear
from simwright.model.ros import Controller, Interface, InterfaceKind, Qos, RosContext

POSE = Pose.of((0.1, 0.2, 0.3), quat_from_rpy((0.4, -0.3, 1.0)))


def make_body(name: str) -> Body:
    return Body(name, inertial=Inertial(2.0, np.zeros(3), np.diag((0.1, 0.2, 0.25))))


def make_robot() -> Asset:
    """base - arm, with a hinge."""
    hinge = Joint("elbow", JointKind.REVOLUTE, "base", "arm", POSE, dofs=[Dof(Motion.HINGE, name="elbow")])
    asset = Asset("robot", [make_body("base"), make_body("arm")], [hinge])
    place_bodies(asset)
    return asset


def test_inertia_is_exact_but_for_single_precision(tmp_path):
    asset = make_robot()
    turn = POSE.rotation
    asset.bodies[0].inertial = Inertial(
        3.7, np.array((0.1, -0.2, 0.3)), turn @ np.diag((0.1, 0.2, 0.25)) @ turn.T
    )
    asset.bodies[1].kinematic = True
    asset.bodies[1].linear_velocity = np.array((1.0, 2.0, 3.0))
    asset.bodies[1].angular_velocity = np.array((0.1, 0.2, 0.3))
    trip = make_trip(asset, tmp_path / "out")
    assert_same_bodies(trip)
    arm = trip.back.body("arm")
    assert arm.linear_velocity == pytest.approx((1.0, 2.0, 3.0), rel=1e-6)
    assert arm.angular_velocity == pytest.approx((0.1, 0.2, 0.3), rel=1e-6)


def test_massless_frames_are_no_bodies(tmp_path):
    """world - mount - base - arm - flange - tool: mount and flange are only places."""
    asset = make_robot()
    asset.bodies += [Body("mount"), Body("flange"), make_body("tool")]
    for name, parent, child in (
        ("to_world", "", "mount"),
        ("to_base", "mount", "base"),
        ("to_flange", "arm", "flange"),
        ("to_tool", "flange", "tool"),
    ):
        asset.joints.append(Joint(name, JointKind.FIXED, parent, child, POSE))
    place_bodies(asset)
    asset.sites.append(Site("tip", "flange", POSE))
    trip = make_trip(asset, tmp_path / "out")
    assert {b.name for b in trip.back.bodies} == {"base", "arm", "tool"}
    assert_same_bodies(trip)
    assert_same_joints(trip)
    poses = {body.name: body.pose for body in asset.bodies}
    sites = {
        s.name: (trip.back.body(s.body).pose if s.body else Pose.identity()) @ s.pose for s in trip.back.sites
    }
    assert sites["mount"].is_close(poses["mount"], 1e-9)
    assert sites["flange"].is_close(poses["flange"], 1e-9)
    assert sites["tip"].is_close(poses["flange"] @ POSE, 1e-9)
    assert [d.kind for d in trip.said] == ["usd-write-frame-folded"] * 2
    for body in trip.back.bodies:
        assert body.pose.is_close(poses[body.name], 1e-9)


@pytest.mark.parametrize(
    ("focal_length", "wide"),
    [(0.05, 0.04), (None, 16 / 9 * 2 * 0.024 * math.tan(0.4))],
    ids=["a real camera", "only angles"],
)
def test_a_camera_is_as_wide_as_its_sensor_where_its_lens_is_known(focal_length, wide, tmp_path):
    asset = make_robot()
    asset.cameras = [
        Camera(
            "eye",
            "arm",
            POSE,
            fov_y=0.8,
            resolution=(1920, 1080),
            focal_length=focal_length,
            aperture=(0.04, 0.03),
        )
    ]
    trip = make_trip(asset, tmp_path / "out")
    (camera,) = (prim for prim in trip.stage.Traverse() if prim.GetTypeName() == "Camera")
    # in tenths of a metre
    assert camera.GetAttribute("horizontalAperture").Get() == pytest.approx(10 * wide, rel=1e-6)


def test_names_are_legal_and_reversible(tmp_path):
    asset = make_robot()
    asset.name = "my robot-2"
    asset.bodies[1].name = asset.joints[0].child = "link 1/a"
    asset.joints[0].name = "joint-1"
    trip = make_trip(asset, tmp_path / "out")
    assert trip.entry.name == "my_robot_2.usda"
    prim = trip.stage.GetPrimAtPath("/my_robot_2/base/link_1_a")
    assert prim.GetDisplayName() == "link 1/a"
    assert trip.back.joints[0].public_name == "joint-1"


def test_ros_interfaces_sit_where_they_belong(tmp_path):
    asset = make_robot()
    asset.contexts = [RosContext("bot", 7, at="robot")]
    asset.cameras = [Camera("eye", "arm", POSE, fov_y=0.9, near=0.1, far=9.0)]
    asset.sensors = [Sensor("eye", "camera", "arm", target="eye"), Sensor("laser", "lidar", "arm", POSE)]
    asset.sites = [Site("tool0", "arm", POSE, ros_frame="tool0", static=False)]
    qos = Qos("best_effort", "volatile", "keep_last", 3)
    topic, action = InterfaceKind.TOPIC, InterfaceKind.ACTION
    asset.interfaces = [
        Interface(topic, "publisher", "image", "sensor_msgs/msg/Image", 30.0, qos, at="eye"),
        Interface(topic, "publisher", "scan", "sensor_msgs/msg/LaserScan", 10.0, at="laser"),
        Interface(topic, "publisher", "odom", "nav_msgs/msg/Odometry", 20.0, at="base"),
        Interface(action, "server", "go", "control_msgs/action/FollowJointTrajectory"),
    ]
    asset.controllers = [
        Controller(
            "arm_control", "joint_trajectory", {"command": ["elbow"]}, {"server": "go"}, {"timeout": 2.0}
        ),
        Controller("claw", "gripper_action"),
    ]
    trip = make_trip(asset, tmp_path / "out")
    found = {interface.name: interface for interface in trip.back.interfaces}
    assert {name: i.path for name, i in found.items()} == {
        "image": "/robot/base/arm/eye/eye_optical_frame/image",
        "scan": "/robot/base/arm/laser/scan",
        "odom": "/robot/Interfaces/odom",
        "go": "/robot/Interfaces/go",
    }
    assert (found["image"].qos, found["image"].rate) == (qos, 30.0)
    (context,) = trip.back.contexts
    assert (context.namespace, context.domain_id) == ("bot", 7)
    sites = {site.name: site for site in trip.back.sites}
    assert sites["eye_optical_frame"].pose.is_close(POSE @ Pose.of(q=(0, 1, 0, 0)), 1e-9)
    assert sites["tool0"].static is False
    controller, claw = trip.back.controllers
    assert (controller.joints, controller.settings["timeout"]) == ({"command": ["elbow"]}, 2.0)
    assert (claw.name, claw.kind) == ("claw", "gripper_action")
    assert [i.at for i in trip.back.interfaces] == ["eye", "laser", "base", ""]
    assert "usd-write-drive-empty" in trip.kinds
    (camera,) = trip.back.cameras
    assert (camera.fov_y, camera.near, camera.far) == pytest.approx((0.9, 0.1, 9.0), rel=1e-6)


MOTORS = [
    Actuator("m", "motor", "elbow", gear=(50.0,), control_range=(-1.0, 2.0), force_range=(-3.0, 4.0)),
    Actuator("m", "position", "elbow", stiffness=140.0, damping=3.0, control_range=(-0.8, 0.7)),
    Actuator("m", "velocity", "elbow", damping=3.0, control_range=(-0.8, 0.7)),
]


@pytest.mark.parametrize("motor", MOTORS, ids=lambda m: m.kind)
def test_motor(motor, tmp_path):
    asset = make_robot()
    asset.actuators = [motor]
    (found,) = make_trip(asset, tmp_path / "out").back.actuators
    assert (found.name, found.kind, found.target) == ("m", motor.kind, "elbow")
    assert (found.stiffness, found.damping) == pytest.approx((motor.stiffness, motor.damping), rel=1e-6)
    assert found.gear == motor.gear
    assert found.control_range == pytest.approx(motor.control_range, rel=1e-6)
    assert found.force_range == (motor.force_range and pytest.approx(motor.force_range))


def test_what_has_no_place_is_said(tmp_path):
    asset = make_robot()
    asset.tendons = [Tendon("cord", [TendonPoint("site", "nowhere")])]
    asset.keyframes = [Keyframe("home", {"nobody": 0.5})]
    asset.actuators = [Actuator("muscle", "general", "cord", "tendon")]
    asset.lights = [Light("panel", LightKind.AREA), Light("bulb", LightKind.POINT, intensity=3.0)]
    asset.extras.keep("mjc", "nowhere", "mjc:solref", [0.02, 1.0])
    trip = make_trip(asset, tmp_path / "out")
    said = " ".join(d.message for d in trip.said)
    for word in ("cord", "home", "muscle", "panel", "mjc:solref"):
        assert word in said
    assert [light.name for light in trip.back.lights] == ["bulb"]


def test_vendor_attributes_are_in_layers_of_their_own(tmp_path):
    asset = make_robot()
    asset.bodies[1].linear_damping = 0.5
    asset.joints[0].path = "/old/elbow"
    asset.extras.keep("newton", "/old/elbow", "newton:armature", 0.1)  # neutral: in the model if anywhere
    asset.extras.keep("physx", "/old/elbow", "physxJoint:enableProjection", True)
    trip = make_trip(asset, tmp_path / "out")
    physx = (trip.entry.parent / "physx.usda").read_text()
    assert "bool physxJoint:enableProjection = 1" in physx
    assert "armature" not in physx
    assert not (trip.entry.parent / "newton.usda").exists()
    assert trip.back.body("arm").linear_damping == 0.5
    report = simwright.check(trip.entry, select="1.4")
    assert [str(d) for a in report.assets for d in a.findings] == []


def test_articulation_that_does_not_touch_itself(tmp_path):
    asset = make_robot()
    asset.bodies.append(make_body("hand"))
    asset.joints.append(
        Joint("wrist", JointKind.REVOLUTE, "arm", "hand", dofs=[Dof(Motion.HINGE, name="wrist")])
    )
    asset.shapes = [Shape(f"{b.name}_ball", Sphere(0.1), b.name, collision=True) for b in asset.bodies]
    asset.articulations = [Articulation("robot", "base", self_collide=False)]
    back = make_trip(asset, tmp_path / "out").back
    assert find_filtered_pairs(back) == find_filtered_pairs(asset)
    assert len(find_filtered_pairs(asset)) == 3


def test_gravity_of_another_world(tmp_path):
    asset = make_robot()
    asset.environment.gravity = np.array((0.0, 0.0, -1.62))
    trip = make_trip(asset, tmp_path / "out")
    assert trip.back.environment.gravity == pytest.approx((0.0, 0.0, -1.62))


def test_origin_is_told(samples, tmp_path):
    trip = make_trip(simwright.load(samples / "rover/model.sdf"), tmp_path / "out")
    info = trip.stage.GetDefaultPrim().GetAssetInfo()
    assert info["identifier"] == "rover.usda"
    assert info["version"] == "1.0.0"
    assert info["ros"] == {"source_file": "model.sdf", "source_format": "sdf"}


def test_only_an_earlier_result_is_replaced(tmp_path):
    asset = make_robot()
    entry = make_trip(asset, tmp_path / "out").entry
    asset.bodies[0].inertial = Inertial(9.0, np.zeros(3), np.eye(3))
    assert make_trip(asset, tmp_path / "out").back.body("base").inertial.mass == 9.0
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        write(asset, tmp_path / "out", WriteOptions(), Reporter())
    assert entry.exists()
    assert (tmp_path / "out/notes.txt").read_text() == "mine"
    with pytest.raises(OutputError, match="is a file"):
        write(asset, entry.parent / "base.usda" / "x.usda", WriteOptions(), Reporter())


def test_source_is_never_replaced(tmp_path):
    entry = make_trip(make_robot(), tmp_path / "out").entry
    with pytest.raises(OutputError, match="source"):
        write(simwright.load(entry), tmp_path / "out", WriteOptions(), Reporter())


def test_entry_may_be_named(tmp_path):
    entry = write(make_robot(), tmp_path / "out" / "bot.usda", WriteOptions(), Reporter())
    assert entry == tmp_path / "out" / "bot.usda"
    assert simwright.load(entry).name == "robot"
    with pytest.raises(UsageError, match="usdc"):
        write(make_robot(), tmp_path / "bot.usdc", WriteOptions(), Reporter())


def test_nothing_is_written_without_approval(tmp_path):
    def refuse() -> None:
        raise UsageError("no")

    with pytest.raises(UsageError):
        write(make_robot(), tmp_path / "out", WriteOptions(approve=refuse), Reporter())
    assert list(tmp_path.iterdir()) == []


def test_motor_on_a_fixed_joint_is_kept(tmp_path):
    asset = make_robot()
    asset.bodies.append(make_body("finger"))
    asset.joints.append(Joint("grip", JointKind.FIXED, "arm", "finger", POSE))
    place_bodies(asset)
    settings = {"transmission": "grip_trans", "hardware_interfaces": ["EffortJointInterface"]}
    asset.actuators = [
        Actuator("grip_motor", "motor", "grip", gear=(5.0,), force_range=(-1.0, 2.0), settings=settings),
        Actuator("elbow_motor", "motor", "elbow"),
    ]
    trip = make_trip(asset, tmp_path / "out")
    assert "usd-write-not-carried" not in trip.kinds
    idle, moving = trip.back.actuators
    assert (idle.name, idle.target, idle.gear, idle.force_range) == (
        "grip_motor",
        "grip",
        (5.0,),
        (-1.0, 2.0),
    )
    assert idle.settings == settings
    assert moving.name == "elbow_motor"


@pytest.mark.parametrize("note", ["{", "[]", '{"name": "x"}', '{"gear": 3}', 7])
def test_notes_of_motors_by_others_are_no_motors(note, tmp_path):
    asset = make_robot()
    trip = make_trip(asset, tmp_path / "out")
    trip.stage.GetDefaultPrim().SetCustomDataByKey("simwright:motor", note)
    trip.stage.GetRootLayer().customLayerData = {"simwright": {"notes": 1}}
    trip.stage.GetRootLayer().Save()
    assert simwright.load(trip.entry).actuators == []


def make_scanner() -> Asset:
    asset = make_robot()
    asset.sites = [Site("tool", "arm", Pose.of((0, 0, 0.5)))]
    asset.sensors = [Sensor("lidar", "lidar", "arm", Pose.of((0, 0, 0.1)))]
    asset.interfaces = [
        Interface(InterfaceKind.TOPIC, "publisher", "scan", "sensor_msgs/msg/LaserScan", 10.0, at="lidar")
    ]
    return asset


@pytest.mark.parametrize(
    ("frame", "is_authored", "is_told"),
    [
        ("map", True, False),
        ("arm", False, False),
        ("tool", False, True),
        ("base", False, True),
        ("", False, False),
    ],
)
def test_frame_that_a_topic_names_is_kept(frame, is_authored, is_told, tmp_path):
    """REP-0158 2.4 allows only frames that the asset has not; others are noted."""
    asset = make_scanner()
    asset.interfaces[0].frame_override = frame
    trip = make_trip(asset, tmp_path / "out")
    (topic,) = trip.back.interfaces
    assert (topic.frame_override, topic.at) == (frame, "lidar")
    prim = next(p for p in trip.stage.Traverse() if p.GetAttribute("ros:topic:name"))
    assert prim.GetAttribute("ros:topic:override_frame_id").HasAuthoredValue() is is_authored
    assert ("usd-write-frame-override" in trip.kinds) is is_told


@pytest.mark.parametrize("kind", [LightKind.POINT, LightKind.SPOT, LightKind.DIRECTIONAL])
def test_light_keeps_its_reach_and_its_bulb(kind, tmp_path):
    asset = make_robot()
    asset.lights = [Light("lamp", kind, "arm", POSE, radius=0.02, range=7.1, cone=(0.2, 0.4))]
    asset.lights[0].color = (1.0, 0.5, 0.1)
    trip = make_trip(asset, tmp_path / "out")
    (found,) = trip.back.lights
    assert (found.kind, found.range, found.radius) == (kind, 7.1, pytest.approx(0.02))
    assert found.color == pytest.approx((1.0, 0.5, 0.1), rel=2e-7)
    lamp = next(prim for prim in trip.stage.Traverse() if prim.GetName() == "lamp")
    assert lamp.GetAttribute("inputs:color").Get() == pytest.approx((1.0, to_linear(0.5), to_linear(0.1)))
