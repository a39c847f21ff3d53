# SPDX-License-Identifier: Apache-2.0
"""Scenes as one asset: names, places and references of every part."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.asset import (
    Asset,
    Body,
    ContactFilter,
    Keyframe,
    Sensor,
    Shape,
    Site,
)
from simwright.model.geometry import Box
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Mimic, Motion
from simwright.model.kinematics import forward_kinematics
from simwright.model.material import PhysicsMaterial, RenderMaterial
from simwright.model.merging import merge_scene
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.model.scene import Placement, Scene

QUARTER = Pose.of((3.0, 0.0, 0.5), quat_from_axis_angle((0, 0, 1), np.pi / 2))


def make_arm() -> Asset:
    """Two links on the ground, with things that refer to each other."""
    arm = Asset("arm")
    mass = Inertial(1.0, inertia=np.eye(3))
    arm.bodies = [Body("base", inertial=mass), Body("tip", Pose.of((1.0, 0.0, 0.0)), inertial=mass)]
    arm.joints = [
        Joint("anchor", JointKind.FIXED, "", "base"),
        Joint(
            "elbow", JointKind.REVOLUTE, "base", "tip", Pose.of((1.0, 0.0, 0.0)),
            dofs=[Dof(Motion.HINGE, name="elbow")],
        ),
    ]  # fmt: skip
    arm.materials = [RenderMaterial("red", diffuse=(1.0, 0.0, 0.0))]
    arm.physics_materials = [PhysicsMaterial("rubber", 1.0, 1.0)]
    arm.shapes = [
        Shape("stick", Box.of(1, 1, 1), "tip", collision=True, material="red", physics_material="rubber"),
        Shape("plate", Box.of(1, 1, 1), material="red"),
    ]
    arm.sites = [Site("tool", "tip")]
    arm.sensors = [Sensor("encoder", "joint_position", target="elbow")]
    arm.mimics = [Mimic("elbow", "elbow")]
    arm.contact_filters = [ContactFilter("base", "tip")]
    arm.interfaces = [Interface(InterfaceKind.TOPIC, "publisher", "joint_states", "t", at="tip")]
    arm.controllers = [
        Controller("states", "joint_state_broadcaster", {"state": ["elbow"]}, {"publisher": "joint_states"})
    ]
    arm.keyframes = [Keyframe("home")]
    return arm


@pytest.fixture
def merged() -> Asset:
    arm = make_arm()
    return merge_scene(
        Scene("two", [Placement("a", arm, namespace="a"), Placement("b", arm, QUARTER, namespace="b")])
    )


def test_every_part_has_its_own_names(merged: Asset) -> None:
    assert [body.name for body in merged.bodies] == ["a::base", "a::tip", "b::base", "b::tip"]
    assert [shape.body for shape in merged.shapes] == ["a::tip", "", "b::tip", ""]
    assert merged.joint("b::elbow").parent == "b::base"
    assert merged.joint("b::elbow").dofs[0].name == "b::elbow"
    assert merged.sensors[1].target == "b::elbow"
    assert merged.mimics[1].leader == "b::elbow"
    assert merged.contact_filters[1].a == "b::base"
    assert [interface.name for interface in merged.interfaces] == ["a/joint_states", "b/joint_states"]
    assert merged.controllers[1].joints == {"state": ["b::elbow"]}
    assert merged.controllers[1].interfaces == {"publisher": "b/joint_states"}


def test_looks_are_kept_once(merged: Asset) -> None:
    assert [material.name for material in merged.materials] == ["red"]
    assert {shape.material for shape in merged.shapes} == {"red"}


def test_parts_are_where_they_are_placed(merged: Asset) -> None:
    assert merged.body("b::tip").pose.p == pytest.approx((3.0, 1.0, 0.5))
    assert merged.shapes[3].pose.p == pytest.approx((3.0, 0.0, 0.5))
    found = forward_kinematics(merged)
    assert found["b::tip"].p == pytest.approx((3.0, 1.0, 0.5))
    assert found["a::tip"].p == pytest.approx((1.0, 0.0, 0.0))


def test_the_source_is_not_touched() -> None:
    arm = make_arm()
    merge_scene(Scene("one", [Placement("a", arm, QUARTER)]))
    assert arm.bodies[1].name == "tip"
    assert arm.bodies[1].pose.p == pytest.approx((1.0, 0.0, 0.0))
    assert arm.controllers[0].interfaces == {"publisher": "joint_states"}


def test_a_single_body_has_the_name_of_its_place_and_absent_things_are_absent() -> None:
    cup = Asset("cup", bodies=[Body("body", inertial=Inertial(1.0, inertia=np.eye(3)))])
    scene = Scene("s", [Placement("blue", cup), Placement("red", cup, present=False)])
    assert [body.name for body in merge_scene(scene).bodies] == ["blue"]


def test_different_looks_of_one_name_stay_apart() -> None:
    one = Asset("one", materials=[RenderMaterial("paint", diffuse=(1.0, 0.0, 0.0))])
    two = Asset("two", materials=[RenderMaterial("paint", diffuse=(0.0, 1.0, 0.0))])
    one.shapes = [Shape("s", Box.of(1, 1, 1), material="paint")]
    two.shapes = [Shape("s", Box.of(1, 1, 1), material="paint")]
    whole = merge_scene(Scene("s", [Placement("a", one), Placement("b", two)]))
    colors = {material.name: material.diffuse for material in whole.materials}
    assert [colors[shape.material] for shape in whole.shapes] == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]


def test_what_is_left_out_is_said() -> None:
    arm = make_arm()
    arm.environment.timestep = 0.001
    reporter = Reporter()
    merge_scene(Scene("two", [Placement("a", arm), Placement("b", arm)]), reporter)
    assert [found.kind for found in reporter] == ["scene-states", "scene-settings"]
