"""Whose names are whose, and what neutral word says the same."""

from __future__ import annotations

import pytest
from pxr import Usd

from simwright.checker.facts.types import find_bases, find_heads
from simwright.checker.facts.vendors import (
    NEUTRAL_APIS,
    NEUTRAL_PROPERTIES,
    NEUTRAL_TYPES,
    find_neutral_property,
    find_neutral_schema,
    vendor_of_property,
    vendor_of_schema,
)
from simwright.usd.plugins import register_plugins

register_plugins()


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("newton:armature", "newton"),
        ("mjc:damping", "mujoco"),
        ("mujoco:solref", "mujoco"),
        ("physxJoint:armature", "physx"),
        ("physxRigidBody:disableGravity", "physx"),
        ("isaac:nameOverride", "isaac"),
        ("isaacSensor:type", "isaac"),
        ("omni:kit:locked", "isaac"),
        ("state:angular:physics:position", "physx"),
        ("gz:topic", "gazebo"),
        ("physics:mass", None),
        ("physxless", None),
        ("newtonian:force", None),
        ("state:angular:mine", None),
        ("ros:topic:name", None),
        ("ext_physics:joint:armature", None),
        ("", None),
    ],
)
def test_properties(name, vendor):
    assert vendor_of_property(name) == vendor


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("PhysxJointAPI", "physx"),
        ("NewtonMassAPI", "newton"),
        ("MjcActuator", "mujoco"),
        ("MujocoThing", "mujoco"),
        ("IsaacRobotAPI", "isaac"),
        ("OmniGraph", "isaac"),
        ("ComputeNode", "isaac"),
        ("GazeboPluginAPI", "gazebo"),
        ("O3DEThing", "o3de"),
        ("PhysicsMassAPI", None),
        ("Newtonian", None),
        ("Omnidirectional", None),
        ("RosTopicAPI", None),
        ("", None),
    ],
)
def test_schemas(name, vendor):
    assert vendor_of_schema(name) == vendor


def test_neutral_words():
    assert find_neutral_property("physxJoint:armature") == "ext_physics:joint:armature"
    assert find_neutral_property("physics:mass") is None
    assert find_neutral_schema("PhysxMimicJointAPI:rotX") == "ExtendedPhysicsMimicAPI"
    assert find_neutral_schema("MjcActuator") is None  # depends on its law
    assert find_neutral_schema("PhysxSceneAPI") is None


def test_every_row_is_a_vendors_and_leads_to_a_neutral_name():
    for name, neutral in NEUTRAL_PROPERTIES.items():
        assert vendor_of_property(name), name
        assert all(vendor_of_property(word) is None for word in neutral.split(" and ")), neutral
    for name, neutral in NEUTRAL_APIS.items():
        assert name == "MimicJointAPI" or vendor_of_schema(name), name
        assert vendor_of_schema(neutral) is None
        assert Usd.SchemaRegistry().FindAppliedAPIPrimDefinition(neutral), neutral
    assert all(vendor_of_schema(name) for name in NEUTRAL_TYPES)


def test_bases_of_types():
    assert {"Mesh", "Gprim", "Boundable", "Xformable", "Imageable"} <= find_bases("Mesh")
    assert {"PhysicsRevoluteJoint", "PhysicsJoint"} <= find_bases("PhysicsRevoluteJoint")
    assert "Xformable" not in find_bases("PhysicsJoint")
    assert find_bases("NobodysType") == {"NobodysType"}
    assert find_bases("") == frozenset()


def test_heads_of_apis():
    assert find_heads(("A", "B:x")) == {"A", "B", "B:x"}
