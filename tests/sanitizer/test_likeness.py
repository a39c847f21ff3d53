# SPDX-License-Identifier: Apache-2.0
"""Two readings that are alike but for rounding do not have to be measured; all others do."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Mesh, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.sanitizer.proof import AssetComparison

ROUNDED = 1.0 + 1e-7
WRONG = 1.0 + 5e-7


@pytest.fixture
def machine() -> Asset:
    asset = Asset("arm")
    inertial = Inertial(2.0, np.array([0.1, 0.0, 0.0]), np.diag([0.1, 0.2, 0.3]))
    asset.bodies = [Body("base"), Body("link", pose=Pose.of((1.0, 2.0, 3.0)), inertial=inertial)]
    dof = Dof(Motion.HINGE, lower=-1.0, upper=1.0)
    frame = Pose.of((0.5, 0.0, 0.0))
    asset.joints = [Joint("elbow", JointKind.REVOLUTE, "base", "link", parent_frame=frame, dofs=[dof])]
    return asset


def _scale(asset: Asset, factor: float) -> Asset:
    other = copy.deepcopy(asset)
    link, elbow = other.bodies[1], other.joints[0]
    link.pose = Pose.of(link.pose.p * factor, link.pose.q)
    link.inertial = Inertial(2.0 * factor, link.inertial.com * factor, link.inertial.inertia * factor)
    elbow.dofs[0].upper *= factor
    return other


def test_what_single_precision_rounds_away_is_alike(machine: Asset) -> None:
    assert AssetComparison().are_alike(machine, _scale(machine, ROUNDED))


def test_more_than_rounding_is_not(machine: Asset) -> None:
    assert not AssetComparison().are_alike(machine, _scale(machine, WRONG))


def test_a_centre_of_mass_that_is_nowhere_but_for_noise_is_alike(machine: Asset) -> None:
    other = copy.deepcopy(machine)
    for asset, noise in ((machine, 1e-18), (other, -3e-17)):
        link = asset.bodies[1]
        link.inertial = Inertial(2.0, np.array([noise, 0.0, 0.0]), link.inertial.inertia)
    assert AssetComparison().are_alike(machine, other)


@pytest.mark.parametrize("part", ["parent_frame", "child_frame", "axis"])
def test_joints_have_to_point_the_same_way(machine: Asset, part: str) -> None:
    """A turn that rounding could explain adds up along a chain."""
    other = copy.deepcopy(machine)
    elbow = other.joints[0]
    if part == "axis":
        elbow.dofs[0].axis = elbow.dofs[0].axis + np.array([1e-8, 0.0, 0.0])
    else:
        frame = getattr(elbow, part)
        setattr(elbow, part, Pose(frame.p, frame.q + np.array([0.0, 1e-8, 0.0, 0.0])))
    assert not AssetComparison().are_alike(machine, other)
    other.bodies[1].pose = Pose(machine.bodies[1].pose.p, np.array([1.0, 1e-8, 0.0, 0.0]))
    other.joints = machine.joints
    assert AssetComparison().are_alike(machine, other)


def test_names_of_shapes_do_not_count_and_all_else_of_them_does(machine: Asset) -> None:
    other = copy.deepcopy(machine)
    machine.shapes = [Shape("skin", Sphere(0.1), body="link")]
    other.shapes = [Shape("visual_skin", Sphere(0.1), body="link")]
    assert AssetComparison().are_alike(machine, other)
    other.shapes = [Shape("skin", Sphere(0.1), body="base")]
    assert not AssetComparison().are_alike(machine, other)


def test_meshes_are_followed_to_where_they_are_now(machine: Asset) -> None:
    """What is known of a mesh by its path is not looked at again."""
    other = copy.deepcopy(machine)
    machine.shapes, other.shapes = (
        [Shape("skin", Mesh.of(size * np.eye(3), (0, 1, 2), source), body="link")]
        for source, size in (("/link/skin", 1.0), ("/link/visual/skin", 2.0))
    )
    assert not AssetComparison({"/link/visual/skin"}).are_alike(machine, other)
    follow = {"/link/skin": "/link/visual/skin"}.__getitem__
    assert AssetComparison({"/link/visual/skin"}, follow).are_alike(machine, other)
    assert not AssetComparison(set(), follow).are_alike(machine, other)
