"""Things that files say in different words: contacts, frames of messages, joints of broadcasters, rates."""

from __future__ import annotations

import numpy as np

from simwright.compare.difference import Difference, make_settings
from simwright.compare.run import compare_assets
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body, Camera, ContactFilter, Sensor, Shape, Site
from simwright.model.geometry import Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.ros import OPTICAL, Controller, Interface, InterfaceKind


def build_arm() -> Asset:
    """Two links with colliders, and a camera that ROS knows."""
    inertial = Inertial(1.0, np.zeros(3), np.eye(3))
    hinge = Dof(Motion.HINGE, vec3(0, 0, 1), "elbow")
    asset = Asset(
        "arm",
        [Body("upper", inertial=inertial), Body("lower", inertial=inertial)],
        [Joint("elbow", JointKind.REVOLUTE, "upper", "lower", dofs=[hinge], collide=False)],
        shapes=[
            Shape("a", Sphere(1.0), "upper", collision=True),
            Shape("b", Sphere(1.0), "lower", collision=True),
        ],
    )
    asset.cameras = [Camera("eye", "lower", Pose.of((0, 0, 0.1)))]
    asset.sensors = [Sensor("eye", "camera", "lower", Pose.of((0, 0, 0.1)), rate=30.0)]
    asset.interfaces = [
        Interface(InterfaceKind.TOPIC, "publisher", "image", "sensor_msgs/msg/Image", 30.0, at="eye"),
        Interface(InterfaceKind.TOPIC, "publisher", "joint_states", "sensor_msgs/msg/JointState"),
    ]
    asset.controllers = [Controller("states", "joint_state_broadcaster")]
    return asset


def compare(first: Asset, second: Asset) -> Difference:
    return compare_assets(first, second, make_settings())


def list_items(difference: Difference) -> dict[str, list[str]]:
    return {s.name: [f"{i.element}: {i.what}" for i in s.items] for s in difference.sections if not s.equal}


def test_contacts_are_judged_by_who_may_touch_whom():
    """A joint that lets its links touch beside a filter that does not is a joint that does not."""
    first, second = build_arm(), build_arm()
    second.joints[0].collide = True
    second.contact_filters = [ContactFilter("a", "b", "shape")]
    assert list_items(compare(first, second)) == {}
    second.contact_filters = []
    assert list_items(compare(first, second)) == {
        "contacts": ["'lower' and 'upper': contact of 1 collider pair(s)"]
    }


def test_joint_without_colliders_says_nothing_of_contacts():
    first, second = build_arm(), build_arm()
    first.shapes, second.shapes = [], []
    second.joints[0].collide = True
    assert list_items(compare(first, second)) == {}


def test_optical_frame_of_a_camera_in_ros_is_implied():
    first, second = build_arm(), build_arm()
    second.sites = [Site("eye_optical_frame", "lower", Pose.of((0, 0, 0.1)) @ OPTICAL)]
    difference = compare(first, second)
    assert list_items(difference) == {}
    assert "eye_optical_frame" in difference.section("frames").notes[0]
    assert list_items(compare(second, first)) == {}
    second.sites[0].pose = Pose.of((0, 0, 0.2)) @ OPTICAL
    assert list_items(compare(first, second)) == {"frames": ["frame 'eye_optical_frame': frame"]}


def test_frame_of_a_sensor_on_no_link_is_implied():
    first, second = build_arm(), build_arm()
    for asset in (first, second):
        asset.sensors.append(Sensor("wall", "lidar"))
    second.sites = [Site("wall", "", Pose.of((0, 0, 0)))]
    assert list_items(compare(first, second)) == {}


def test_frames_of_messages_count_and_not_how_they_are_said():
    first, second = build_arm(), build_arm()
    for asset in (first, second):
        asset.sites = [Site("optics", "lower", Pose.of((0, 0, 0.1)) @ OPTICAL)]
    first.interfaces[0].frame_override = "optics"
    assert list_items(compare(first, second)) == {}
    first.interfaces[0].frame_override = "map"
    assert list_items(compare(first, second)) == {"ros": ["topic 'image': frame"]}


def test_rate_of_one_side_is_a_note():
    first, second = build_arm(), build_arm()
    second.interfaces[1].rate = 50.0
    difference = compare(first, second)
    assert list_items(difference) == {}
    assert difference.section("ros").notes == ["rate is said by one side only: 1 topic(s)"]
    second.interfaces[0].rate = 29.0
    assert list_items(compare(first, second)) == {"ros": ["topic 'image': rate"]}


def test_broadcaster_without_joints_speaks_of_all():
    first, second = build_arm(), build_arm()
    second.controllers[0].joints = {"state": ["elbow"]}
    assert list_items(compare(first, second)) == {}
    second.controllers[0].joints = {"state": ["knee"]}
    assert list_items(compare(first, second)) == {"ros": ["controller 'states': joints"]}
