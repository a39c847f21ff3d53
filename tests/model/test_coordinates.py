"""Coordinates counted from another zero: the same positions, forces and couplings."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from simwright.model.asset import Actuator, Asset, Body, Keyframe
from simwright.model.coordinates import find_references, shift_coordinates
from simwright.model.joint import Dof, Drive, Joint, JointKind, Mimic, Motion, Tendon, TendonPoint
from simwright.model.servo import make_law

SHIFTS = {"a": 0.25, "b": -0.5}


def make_asset() -> Asset:
    dofs = {
        name: Dof(Motion.HINGE, name=name, lower=-1.0, upper=2.0, ref=0.25, spring_ref=0.1, position=0.3)
        for name in "ab"
    }
    dofs["a"].drive = Drive(stiffness=2.0, target_position=0.4)
    joints = [Joint(n, JointKind.REVOLUTE, "", n, dofs=[dof]) for n, dof in dofs.items()]
    asset = Asset("two", [Body("a"), Body("b")], joints)
    asset.mimics = [Mimic("b", "a", 0.5, 0.1, (0.2, 0.0, 0.0))]
    asset.tendons = [
        Tendon(
            "t",
            [TendonPoint("joint", "a", 2.0), TendonPoint("joint", "b", 4.0)],
            -1.0,
            1.0,
            rest_length=(0.0, 0.5),
        )
    ]
    affine = {
        **make_law("motor"),
        "mjcf": "general",
        "bias_type": "affine",
        "bias": [1.0, 3.0, 0.5, *[0.0] * 7],
    }
    asset.actuators = [
        Actuator("servo", "position", "a", gear=(3.0,), stiffness=8.0, control_range=(-1.0, 1.0)),
        Actuator("law", "general", "a", gear=(2.0,), settings=affine),
        Actuator("pull", "position", "t", "tendon", stiffness=8.0, control_range=(-1.0, 1.0)),
        Actuator("still", "motor", "b"),
    ]
    asset.keyframes = [Keyframe("home", {"a": 1.0, "b": 1.0}, {}, {"servo": 0.5, "still": 0.5})]
    return asset


def test_the_same_places():
    asset = make_asset()
    joint = asset.joints[0]
    before = joint.transform([0.6])
    assert shift_coordinates(asset, SHIFTS) == []
    assert joint.transform([0.85]).is_close(before, 1e-15)
    dof = joint.dofs[0]
    assert (dof.ref, dof.lower, dof.upper, dof.position) == (0.5, -0.75, 2.25, 0.55)
    assert (dof.spring_ref, dof.drive.target_position) == pytest.approx((0.35, 0.65))


def test_the_same_couplings():
    asset = make_asset()
    shift_coordinates(asset, SHIFTS)
    (mimic,) = asset.mimics
    for a in (-0.3, 0.0, 0.7):
        follower = 0.1 + 0.5 * a + 0.2 * a**2
        moved = a + SHIFTS["a"]
        powers = (mimic.offset, mimic.multiplier, *mimic.polynomial)
        assert np.polyval(powers[::-1], moved) == pytest.approx(follower + SHIFTS["b"])
    (tendon,) = asset.tendons
    assert (tendon.lower, tendon.upper, tendon.rest_length) == (-2.5, -0.5, (-1.5, -1.0))


def test_the_same_forces():
    asset = make_asset()
    shift_coordinates(asset, SHIFTS)
    servo, law, pull, still = asset.actuators
    assert servo.control_range == (-0.25, 1.75)
    assert pull.control_range == (-2.5, -0.5)
    # at q the motor measures 2 q; its force is 1 + 3 (2 q) in the old count
    assert law.settings["bias"][0] + 3.0 * 2.0 * (0.6 + 0.25) == pytest.approx(1.0 + 3.0 * 2.0 * 0.6)
    assert still.control_range is None
    assert asset.keyframes[0].positions == {"a": 1.25, "b": 0.5}
    assert asset.keyframes[0].controls == {"servo": 1.25, "still": 0.5}


def test_there_and_back():
    asset, other = make_asset(), make_asset()
    shift_coordinates(other, SHIFTS)
    shift_coordinates(other, {name: -by for name, by in SHIFTS.items()})
    for actuator, found in zip(asset.actuators, other.actuators, strict=True):
        assert (actuator.kind, actuator.settings, actuator.control_range) == (
            found.kind,
            found.settings,
            found.control_range,
        )
    assert find_references(other) == find_references(asset) == {"a": 0.25, "b": 0.25}


def test_a_law_that_cannot_follow_is_named():
    asset = make_asset()
    asset.actuators[1].settings["bias_type"] = "user"
    assert shift_coordinates(asset, SHIFTS) == ["law"]


def test_no_shift_changes_nothing():
    asset = make_asset()
    before = copy.deepcopy(asset.actuators[1].settings)
    assert shift_coordinates(asset, {}) == []
    assert asset.actuators[1].settings == before
